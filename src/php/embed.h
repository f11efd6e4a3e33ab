/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PHP_EMBED_H
#define EPHPM_PHP_EMBED_H

/*
 * PHP in this process: our own SAPI on libphp (NTS, 8.2 to 8.5).
 *
 * Life cycle: embed_startup() once (module startup: extensions, OPcache's shared segment); then, in
 * a prototype, fork; in each child embed_after_fork(); then embed_run() for one request at a time;
 * embed_shutdown() at the end. One thread. PHP's state is global, so there is one embed per process
 * and these functions take no handle.
 *
 * The host (engine) fills struct embed_host with where bodies come from and where output goes. Its
 * callbacks run inside embed_run() only (log: also during startup and shutdown), and may block.
 *
 * Files in reading order: embed.c (start, stop, the SAPI table), request.c (one request, its end,
 * bailouts), variables.c ($_SERVER, getenv, headers to names), output.c (headers and body out),
 * ini.c (settings of paths, .user.ini), extensions.c (those that are asked for by name), builtin.c
 * (when PHP is a part of this program), crash.c (signals, PHP backtrace), opcache.c (cached
 * scripts, status), timer.c (max_execution_time with fewer system calls), session.c (sessions in
 * the store), sanitizer.c, huge.c (huge pages),
 * functions/ (what PHP code can call; kv.c is the key-value store),
 * compat.h (all differences between PHP versions).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct kv_store;

struct embed_field {
    struct str name;
    struct str value;
};

/* As script_filename: the script comes on standard input. Only without the limit of extensions. */
#define EMBED_SCRIPT_STDIN "-"

/*
 * One request. All strings are NUL-terminated (the NUL is not counted) and stay valid until
 * embed_run() returns. Those that do not apply have p == NULL and then have no key in $_SERVER,
 * except where compat rules say "empty".
 */
struct embed_request {
    struct str method; /* verbatim */
    struct str uri;    /* REQUEST_URI: raw target, absolute form already reduced to its path */
    struct str query;  /* QUERY_STRING, never NULL */
    struct str script_filename; /* absolute, links resolved with the root */
    struct str script_name;     /* URL path of the script, decoded */
    struct str path_info;       /* decoded, NULL when there is none */
    struct str document_root;   /* resolved, no trailing slash */
    struct str document_uri;    /* script_name + path_info after rewriting */
    struct str path;            /* what was asked for: decoded, normalised, before rewriting */
    struct str protocol;        /* "HTTP/1.1" */
    struct str scheme;          /* "http" or "https" */
    struct str server_name, server_addr, server_port;
    struct str remote_addr, remote_port;
    struct str server_software;
    struct str content_type;  /* NULL when the request had none */
    struct str cookie;        /* joined with "; ", NULL when none */
    struct str authorization; /* NULL when none */
    struct str request_id;
    int64_t content_length; /* -1: no body and no header */
    bool body_streaming;    /* the length is not known yet; read_body delivers as it comes */
    double time;            /* arrival, seconds since 1970 with fraction */
    /* As sent, duplicates joined already, names checked; all of them, Host, Cookie, Content-Type,
     * Authorization and so on included (the latter two have variables of their own besides HTTP_*).
     * Proxy and Transfer-Encoding may be among them: they get no variable. Names longer than
     * 250 bytes have none either. */
    const struct embed_field *headers;
    size_t nheaders;
    char **argv; /* $argv of a command line, the program first; NULL: a request */
    int argc;
    bool router;                   /* run for its value: see embed_result.declined */
    const struct embed_field *env; /* the site's env entries: $_SERVER and getenv() */
    size_t nenv;
};

/* Final response head. Valid during the callback. fields are raw lines of PHP's list, split at the
 * first colon; they are not validated beyond having a name (the front does that). */
struct embed_head {
    int status;        /* as PHP has it, may be outside 100-599 */
    struct str reason; /* from header("HTTP/1.1 299 Foo Bar"), else p == NULL */
    const struct embed_field *fields;
    size_t nfields;
};

enum embed_log_kind { EMBED_LOG_PHP_MESSAGE, EMBED_LOG_ERROR_LOG, EMBED_LOG_STDERR };

struct embed_host {
    void *arg;
    /* Up to n bytes of the body; *got == 0 at the end. Blocks. ERR_CLOSED: the client is gone. */
    int (*read_body)(void *arg, char *p, size_t n, size_t *got);
    /* Called once per request at most, before any write(). ERR_CLOSED: the client is gone. */
    int (*send_head)(void *arg, const struct embed_head *head);
    /* A 103 (or other 1xx) response before the final one. */
    int (*send_informational)(void *arg, const struct embed_head *head);
    int (*write)(void *arg, const char *p, size_t n);
    /* Everything written so far goes to the client now. */
    int (*flush)(void *arg);
    /* fastcgi_finish_request(): the response is complete, the script goes on. Called for that only:
     * without it the response is complete when embed_run() returns. No write() or flush() follows.
     */
    int (*finish)(void *arg);
    /* Is the client known to be gone? Cheap. */
    bool (*aborted)(void *arg);
    /* A message for the log, which may have several lines: PHP's messages and error_log(). No
     * trailing newline. script and line are those that execute or where the error was raised,
     * NULL/0 when there are none. php://stderr is descriptor 2 itself. Before embed_startup()
     * returns, and outside embed_run(), messages come here too. */
    void (*log)(
        void *arg, enum embed_log_kind kind, struct str message, const char *script, uint32_t line);
    /* The script forked, and this is the child: what the parent shares with others is not its own
     * any more. No other callback but log() follows; the process ends with the request. NULL is
     * allowed. */
    void (*forked)(void *arg);
    /* OPcache was reset by PHP code (opcache_reset()): the host may want to know. NULL is allowed.
     */
    void (*opcache_reset)(void *arg);
};

/* Settings of the requests for a path and what is below it ("/admin/" is for "/admin", too). */
struct embed_path {
    const char *path;
    const char *const *values; /* "name", "value" pairs, NULL-terminated */
    const char *const *admin;  /* the same; locked against .user.ini and ini_set() */
};

struct embed_options {
    const char *sapi_name;         /* "fpm-fcgi" */
    const char *ini_file;          /* NULL: PHP's own search */
    bool ini_none;                 /* neither php.ini nor what is scanned; an ini_file is read */
    const char *ini_scan_dir;      /* NULL: PHP's own, else like $PHP_INI_SCAN_DIR */
    const char *ini_entries;       /* "name=value\n" lines that override php.ini */
    const char *const *ini_names;  /* names among them, NULL-terminated; an unknown one is logged */
    const char *const *extensions; /* names ("redis", "xdebug") or paths, NULL-terminated; whether
                                      it is a zend_extension is found out, and one that an ini file
                                      loads already is skipped */
    const char *php_binary;        /* PHP_BINARY; NULL: empty */
    const char *const
        *admin_ini; /* "name", "value" pairs, NULL-terminated: locked against ini_set() */
    const struct embed_path *paths; /* applied in this order, so the outer before the inner */
    size_t npaths;
    bool clear_env;            /* getenv() and children see only PATH, TMPDIR and env entries */
    bool chdir_per_request;    /* cwd is the script's directory (stock behaviour); false saves three
                                  system calls */
    bool limit_extensions_off; /* run any file, not only .php and .phar */
    bool cgi_environment;      /* as CGI: $_SERVER is the process environment and PHP_SELF, nothing
                                  of the request, which getallheaders() shows; a line
                                  "#!" at a script's start is no output */
    bool user_ini;             /* honour .user.ini */
    struct kv_store *kv;       /* what ephpm_kv_...() and session.save_handler=ephpm work on; NULL:
                                  there are no such functions, and not this handler */
    bool huge_pages;           /* PHP asks for huge pages, unless USE_ZEND_ALLOC_HUGE_PAGES says */
};

/* Starts PHP. What opt points to stays valid and unchanged until embed_shutdown(). On failure err
 * names what PHP said, or the extension that does not fit and why. ERR_VERSION when the loaded
 * libphp is not the one of the headers. */
int embed_startup(
    const struct embed_options *opt, const struct embed_host *host, struct err *err) MUST_CHECK;
void embed_shutdown(void);
/* Huge pages, where there are some: for the code that runs most and for OPcache's memory. Before
 * the first fork. */
void embed_settle_startup(void);
/* OPcache's memory is looked at again and what has been filled gets huge pages, for all processes
 * that share it. In the process of embed_settle_startup(), between requests. False: nothing has
 * changed. */
bool embed_settle_scripts(void);
/* In a forked child, before its first request: new random state, own process id in messages, signal
 * handlers, crash handler. */
void embed_after_fork(void);

enum embed_end {
    EMBED_OK,      /* ran to its end, also by exit() */
    EMBED_FATAL,   /* fatal error or uncaught exception (status 500 unless already sent or shown) */
    EMBED_TIMEOUT, /* max_execution_time or embed_interrupt() */
    EMBED_MEMORY,  /* memory_limit */
    EMBED_BROKEN,  /* request startup or shutdown failed: the process must be replaced */
};

/* What a request did with sessions in the store. */
struct embed_sessions {
    uint16_t opened;      /* how often one was opened */
    uint16_t taken_over;  /* of these: from a worker that had died with it */
    uint16_t not_written; /* there was no room */
    uint64_t waited_ns;   /* for other requests */
};

struct embed_result {
    enum embed_end end;
    int status;         /* as sent */
    int exit_status;    /* of exit(), 255 after a fatal error */
    size_t memory_peak; /* bytes */
    bool client_gone;
    bool declined; /* a router returned false: what it wrote is not meant, the host answers */
    bool replace;  /* the process must not take another request */
    bool forked;   /* the script made child processes and may have left some */
    struct embed_sessions sessions;
};

/* Runs one request to its end, shutdown functions included. Never longjmps out. */
void embed_run(const struct embed_request *req, struct embed_result *out);

/* Asks the running request to stop at the next VM interrupt, logging its PHP backtrace
 * (EMBED_LOG_PHP_MESSAGE). The script ends by a fatal error, its shutdown functions run. Without a
 * running request, and when one starts, it is forgotten: the caller makes sure which request it
 * means. Async-signal-safe; a blocking system call is cut short only if a signal arrives without
 * SA_RESTART. */
void embed_interrupt(void);
/* The PHP call stack of the running request, "#0 file(line): func()" lines, for logs. Best effort;
 * called from a signal handler after a crash it may itself fault, which the crash handler copes
 * with. */
size_t embed_backtrace(char *out, size_t cap);
/* Installs handlers for SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT that print signal, script, URI and
 * PHP backtrace to fd 2 as one log block, then die by that signal. Stack overflow is survived by an
 * alternate stack. */
void embed_install_crash_handler(void);

/* Cached scripts of this process's OPcache segment: cb per absolute path. Runs inside its own small
 * request. ERR_UNSUPPORTED when OPcache is off. */
typedef void embed_script_cb(void *arg, struct str path);
int embed_opcache_scripts(embed_script_cb *cb, void *arg) MUST_CHECK;
/* Compiles a file into OPcache without running it. On a compile error: ERR_INVAL and err holds
 * PHP's message with file and line. */
int embed_compile(const char *path, struct err *err) MUST_CHECK;

struct embed_status {
    char php_version[32];
    char sapi[32];
    char vm_kind[16]; /* "HYBRID", "CALL", ... */
    bool opcache;
    bool opcache_full;
    uint64_t opcache_used, opcache_free, opcache_wasted;
    uint64_t cached_scripts;
    bool jit;          /* on and compiled in */
    char jit_mode[16]; /* "tracing", "function", "disable" */
    uint64_t jit_buffer_size, jit_buffer_free;
};
void embed_get_status(struct embed_status *out);
/* The same without entering a request: versions, opcache and JIT flags only, numbers are 0. Cheap,
 * for a worker's start. */
void embed_get_status_quick(struct embed_status *out);
/* "Not Found", or NULL for a status that has no text. Static. */
const char *embed_status_text(int status);
/* "8.2.36": of the loaded library, without starting it. */
const char *embed_php_version(void);
/* Is the opcache built in, as from PHP 8.5 on? Else it is an extension to load. */
bool embed_has_opcache(void);
/* How its interpreter goes from one instruction to the next: "HYBRID", "CALL", "TAILCALL"; and
 * whether that kind can have the JIT. Without starting it. Static. */
const char *embed_vm_kind(void);
bool embed_vm_has_jit(void);

#endif
