/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PHP_INTERNAL_H
#define EPHPM_PHP_INTERNAL_H

/*
 * What the files of this folder share.  PHP's own state is global, so is ours: one struct, embed_g,
 * written by the thread that runs PHP (and `interrupted` by a signal handler).
 */

#include <signal.h>

#include "php/embed.h"

struct buf;
struct _zend_module_entry;
struct _zend_function_entry;
struct _zval_struct;

struct embed_global {
    struct embed_options
        opt; /* strings are the caller's or static until startup ends, then unused but for flags */
    struct embed_host host;
    bool started;
    bool broken;                     /* request startup failed: PHP may not be entered again */
    const struct embed_request *req; /* NULL: no request, or a small one of our own */
    uint64_t nrequests;

    /* of the running request */
    bool head_sent; /* host.send_head was called */
    bool finished;  /* fastcgi_finish_request() was called */
    bool client_gone;
    bool declined;        /* a router returned false, nothing of it is sent */
    bool body_done;       /* read_body said end, or PHP is past the point where a body matters */
    bool quiet;           /* messages go to `collect` instead of the log */
    int status;           /* as sent */
    int open_errno;       /* why the script could not be opened, 0 when it could */
    bool fatal;           /* a fatal error was raised */
    bool memory;          /* it was about memory_limit */
    char error_file[256]; /* where the last error was raised, for messages that come after its
                             frames are gone */
    uint32_t error_line;
    bool interrupt_hit;  /* embed_interrupt() ended the script */
    struct err *collect; /* takes the first fatal message, or NULL */
    volatile sig_atomic_t interrupted;
    bool forked;        /* this process is the child of a script's pcntl_fork() */
    bool has_children;  /* the running script called it */
    uint64_t waited_ns; /* by functions that wait, since the limit of execution time began */
    bool spent;         /* a script changed the process for good: no other request shall have it */

    char *out; /* output not yet given to the host */
    size_t out_len;
};

extern struct embed_global embed_g;

enum { EMBED_OUT_CAP = 32768 };

/* embed.c */
/* ERR_VERSION when the loaded libphp is not the one of the headers; err says so. */
int embed_check_version(struct err *err) MUST_CHECK;
/* This process is a child that the script made: nothing of it reaches the client. */
void embed_forked(void);
/* A request of our own without client, body and variables, around fn. ERR_IO when PHP could not
 * start it. */
int embed_mini_request(void (*fn)(void *arg), void *arg) MUST_CHECK;
void embed_log_line(enum embed_log_kind kind, const char *text);
void embed_logf(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* request.c: hooks installed at startup. */
void embed_request_hooks_early(void); /* before extensions like OPcache take the old ones */
void embed_request_hooks_late(void);

/* variables.c */
void embed_variables_startup(void);
void embed_variables_register(struct _zval_struct *array);
/* Before a script asks the extension `filter` for what it kept of the request's variables. */
void embed_variables_feed_filter(void);
char *embed_variables_getenv(const char *name, size_t len);
/* The request's headers as getallheaders() names them ("X-Forwarded-For"), into an initialised
 * array. */
void embed_variables_headers(struct _zval_struct *array);
/* Puts the site's env entries into the process environment, when they differ from the last
 * request's. */
void embed_variables_apply_env(const struct embed_request *req);
void embed_variables_clear_env(void);
void embed_variables_shutdown(void);

/* output.c */
void embed_output_reset(void);
size_t embed_output_write(const char *p, size_t n);
void embed_output_flush(void *server_context);
/* Gives what is buffered to the host; no PHP is run. */
void embed_output_drain(void);
/* For functions that wait: has the client gone? Then the request ends here, as it would by output,
 * unless ignore_user_abort is on. */
void embed_output_check_client(void);
int embed_output_send_head(void *sapi_headers);
/* The current header list as an informational response. */
int embed_output_send_informational(int status);

/* ini.c */
/* The settings of this request: of its path, of [HOST=] and [PATH=] sections, of .user.ini. */
void embed_ini_apply(const struct embed_request *req);
/* The extension lines, ini_entries, and the admin values after them; freed by the caller
 * (mem_free). */
char *embed_ini_text(const struct embed_options *opt, struct str extensions);
void embed_ini_lock_admin(const struct embed_options *opt);
void embed_ini_check_names(const struct embed_options *opt);
/* Once PHP has started: what the options say of paths becomes ready for use. */
void embed_ini_startup(const struct embed_options *opt);
void embed_ini_shutdown(void);

/* extensions.c */
/* While PHP reads its settings: appends the extension= lines for opt.extensions. */
void embed_extensions_find(struct buf *lines);
/* Once PHP has started: what was wrong with one, or is not there; first is what PHP said first. */
int embed_extensions_verify(const struct err *first, struct err *err) MUST_CHECK;

/* ini_search.c */
/* Changes a constant of PHP's own, between its startup and the first request. */
void embed_set_constant(const char *name, const char *value);

/* sanitizer.c */
/* Is this a build with sanitizers? Linking this in also makes PHP's extensions loadable there. */
bool embed_sanitizer_on(void);

/* timer.c */
/* Before PHP starts. */
void embed_timer_startup(void);
/* Whoever may have changed SIGPROF or its timer says so: after a fork, after pcntl_signal(). */
void embed_timer_forget(void);
/* max_execution_time is over: PHP ends the script when it looks next. */
void embed_timer_expire(void);

/* functions/functions.c */
extern struct _zend_module_entry embed_module;
/* opcache_reset() tells the host; chdir() and pcntl_signal() are noticed; chroot() is gone. */
void embed_functions_wrap(void);
extern bool embed_functions_cwd_changed;
/* ini_get_all() says INI_SYSTEM of what is locked for a path. */
void embed_functions_hide_locks(void);

/* functions/kv.c: while modules start, if there is a store. */
bool embed_kv_register(void);
void embed_kv_after_fork(void);

/* session.c: while modules start, if there is a store and PHP has sessions. */
bool embed_session_register(void);
/* After a request, however it ended: nothing of a session stays with this process. */
void embed_session_end(struct embed_sessions *out);
/* In a forked child, that of a script too. */
void embed_session_after_fork(void);

/* opcache.c: to be called while modules start: notes OPcache's functions before php.ini can disable
 * them. */
void embed_watch_opcache(void);

#endif
