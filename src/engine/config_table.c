/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/config_table.h"

#include "engine/config.h"
#include "kv/store.h"

/*
 * Every key, in the order of the dump and of the reference page. A row is: key, member, kind,
 * default as TOML (NULL: unset), what a change needs, help; then bounds, names, checks by name.
 */
#define ROW(key_, member_, kind_, def_, flags_, help_, ...) \
    {.key = (key_),                                         \
        .kind = (kind_),                                    \
        .offset = offsetof(struct config, member_),         \
        .def = (def_),                                      \
        .flags = (flags_),                                  \
        .help = (help_),                                    \
        __VA_ARGS__}
#define RANGE(min_, max_) .min = (min_), .max = (max_)
#define ALIAS(key_, of_)  {.key = (key_), .alias = (of_)}

#define ITEM(type_, key_, member_, kind_, flags_, help_, check_) \
    {.key = (key_),                                              \
        .kind = (kind_),                                         \
        .offset = offsetof(struct type_, member_),               \
        .flags = (flags_),                                       \
        .help = (help_),                                         \
        .check = (check_)}
#define TABLES(type_, rows_)                            \
    &(const struct conf_item)                           \
    {                                                   \
        (rows_), ARRAY_LEN(rows_), sizeof(struct type_) \
    }

enum {
    RESTART = 0,
    RELOAD = CONF_RELOADABLE,
    SITE = CONF_SITE_STARTUP | CONF_RELOADABLE,
    ANY = INT32_MAX,
};

/* A day in milliseconds: longer time limits are mistakes of unit. */
#define DAY_MS INT64_C(86400000)

static const struct conf_row internal_rows[] = {
    ITEM(config_internal, "path", path, CONF_STRING, CONF_REQUIRED,
        "Where the folder appears: `\"/protected/\"`. Clients get 404 for it.",
        config_check_prefix),
    ITEM(config_internal, "dir", dir, CONF_STRING, CONF_REQUIRED,
        "The folder, an absolute path; links in it that lead out of it are refused.",
        config_check_absolute),
    ITEM(config_internal, "site", site, CONF_STRING, CONF_NOT_EMPTY,
        "The one site that it is for. When not set: all.", config_check_site),
};

static const struct conf_row site_rows[] = {
    ITEM(config_php_site, "site", site, CONF_STRING, CONF_REQUIRED | CONF_NOT_EMPTY,
        "The site: the name of its folder in `server.sites_dir`, or `\"default\"` for the one of "
        "`server.document_root`.",
        config_check_site),
    ITEM(config_php_site, "values", values, CONF_PAIRS, 0,
        "As `php.values`, and wins over everything that holds for all sites.", config_check_ini),
    ITEM(config_php_site, "admin_values", admin_values, CONF_PAIRS, 0,
        "The same, and scripts cannot change them.", config_check_ini),
    ITEM(config_php_site, "env", env, CONF_PAIRS, CONF_SECRET, "As `php.env`, and wins over it.",
        config_check_env),
};

static const struct conf_row path_rows[] = {
    ITEM(config_php_path, "path", path, CONF_STRING, CONF_REQUIRED,
        "The path that was asked for, before any rewrite, or one that it lies below: "
        "`\"/admin/\"` is for `/admin` and `/admin/x`, not for `/administrator`.",
        config_check_prefix),
    ITEM(config_php_path, "site", site, CONF_STRING, CONF_NOT_EMPTY,
        "The one site that it is for. When not set: all.", config_check_site),
    ITEM(config_php_path, "values", values, CONF_PAIRS, 0,
        "PHP settings of these requests; `.user.ini` and scripts may change them.",
        config_check_path_ini),
    ITEM(config_php_path, "admin_values", admin_values, CONF_PAIRS, 0,
        "PHP settings of these requests that nothing else changes.", config_check_path_ini),
};

static const struct conf_row rows[] = {
    ROW("server.listen", server.listen, CONF_STRING, "\"0.0.0.0:8080\"", RESTART,
        "Address and port of the HTTP listener. `[::]:8080` for IPv6; port 0 takes a free one.",
        .check = config_check_listen),
    ROW("server.document_root", server.document_root, CONF_STRING, "\".\"", RELOAD | CONF_NOT_EMPTY,
        "Directory that is served. Relative to the working directory."),
    ROW("server.sites_dir", server.sites_dir, CONF_STRING, NULL, RELOAD | CONF_NOT_EMPTY,
        "Directory with one directory per host name; setting it turns on multi-site mode."),
    ROW("server.sites_domain_suffix", server.sites_domain_suffix, CONF_STRING, NULL, RELOAD,
        "Removed from the end of a host name before its directory is looked up."),
    ROW("server.run_as_user", server.run_as_user, CONF_STRING, NULL, RESTART | CONF_NOT_EMPTY,
        "User that everything but the master runs as when started as root (Unix)."),
    ROW("server.run_as_group", server.run_as_group, CONF_STRING, NULL, RESTART | CONF_NOT_EMPTY,
        "Group for run_as_user; the user's own when not set."),
    ROW("server.index_files", server.index_files, CONF_LIST, "[\"index.php\", \"index.html\"]",
        RELOAD, "File names tried in a directory, in this order.", .check = config_check_index),
    ROW("server.fallback", server.fallback, CONF_LIST,
        "[\"$uri\", \"$uri/\", \"/index.php?$query_string\"]", RELOAD | CONF_NOT_EMPTY,
        "Tried in turn for each request; the last is a rewrite or a status (`=404`).",
        .check = config_check_fallback),
    ROW("server.backlog", server.backlog, CONF_INT, "1024", RESTART,
        "Connections that the kernel holds before they are accepted.", RANGE(1, 1 << 20)),
    ROW("server.control_socket", server.control_socket, CONF_STRING, NULL, RESTART,
        "Socket for `ephpm deploy`, `reload` and `status`. When not set: `/run/ephpm/<hash>.sock` "
        "as root, else "
        "`$XDG_RUNTIME_DIR/ephpm-<hash>.sock` or `/tmp/ephpm-<uid>/<hash>.sock`; the hash is of "
        "the listen address. Empty: none, and no command reaches the server."),
    ROW("server.pid_file", server.pid_file, CONF_STRING, NULL, RESTART | CONF_NOT_EMPTY,
        "File that holds the master's process id while it runs."),
    ROW("server.internal", server.internal, CONF_TABLES, NULL, RELOAD,
        "A folder outside of the document root whose files the application hands out by "
        "`X-Accel-Redirect` or `X-Sendfile`. PHP finds `X-Sendfile-Type` and `X-Accel-Mapping` "
        "among the request's headers, which Symfony's BinaryFileResponse acts on.",
        .item = TABLES(config_internal, internal_rows), .check = config_check_internal),

    ROW("server.request.max_body_size", server.request.max_body_size, CONF_SIZE, "10485760", RELOAD,
        "A larger body is answered 413. 0: no limit."),
    ROW("server.request.max_header_size", server.request.max_header_size, CONF_SIZE, "32768",
        RELOAD,
        "Bytes of the request line and all headers together; beyond it 431. The reference server's "
        "default is 8192, "
        "which cookies of real applications exceed.",
        RANGE(1024, 1 << 20)),
    ROW("server.request.max_headers", server.request.max_headers, CONF_INT, "100", RELOAD,
        "Number of header lines; beyond it 431.", RANGE(1, 10000)),
    ROW("server.request.max_uri", server.request.max_uri, CONF_SIZE, "8192", RELOAD,
        "Bytes of the request target; beyond it 414. It is a part of max_header_size.",
        RANGE(256, 1 << 20)),
    ROW("server.request.memory_buffer", server.request.memory_buffer, CONF_SIZE, "65536", RELOAD,
        "Bodies up to this size are kept in memory; larger ones are spooled to a file.",
        RANGE(0, 1 << 28)),
    ROW("server.request.spool_dir", server.request.spool_dir, CONF_STRING, NULL,
        RELOAD | CONF_NOT_EMPTY, "Directory of spooled bodies. When not set: `$TMPDIR` or `/tmp`."),
    ROW("server.request.streaming_paths", server.request.streaming_paths, CONF_LIST, "[]", RELOAD,
        "Globs of paths whose body reaches PHP while it arrives, instead of complete.",
        .check = config_check_filled),
    ROW("server.request.underscores_in_headers", server.request.underscores_in_headers, CONF_BOOL,
        "false", RELOAD,
        "Accept header names with underscores, which PHP cannot tell from dashes. Otherwise they "
        "are dropped."),
    ROW("server.request.trusted_hosts", server.request.trusted_hosts, CONF_LIST, "[]", RELOAD,
        "Host names that are answered, others get 421. Empty: all.", .check = config_check_filled),

    ROW("server.timeouts.header_read", server.timeouts.header_read, CONF_DURATION, "30", RELOAD,
        "Time for a request's headers to arrive. 0: no limit.", RANGE(0, DAY_MS)),
    ROW("server.timeouts.idle", server.timeouts.idle, CONF_DURATION, "60", RELOAD,
        "Time a connection may stay open between requests.", RANGE(0, DAY_MS)),
    ALIAS("server.timeouts.keep_alive", "server.timeouts.idle"),
    ROW("server.timeouts.body", server.timeouts.body, CONF_DURATION, "30", RELOAD,
        "Time between two pieces of a request body. 0: no limit.", RANGE(0, DAY_MS)),
    ROW("server.timeouts.send", server.timeouts.send, CONF_DURATION, "60", RELOAD,
        "Time in which a client must take some of the answer. 0: no limit.", RANGE(0, DAY_MS)),
    ROW("server.timeouts.request", server.timeouts.request, CONF_DURATION, "300", RELOAD,
        "Wall-clock limit of one request, 504 beyond it. 0: no limit.", RANGE(0, DAY_MS)),
    ROW("server.timeouts.shutdown", server.timeouts.shutdown, CONF_DURATION, "30", RELOAD,
        "Time for requests in flight to end when the server stops.", RANGE(0, DAY_MS)),

    ROW("server.response.compression", server.response.compression, CONF_BOOL, "true", RELOAD,
        "Compress answers with brotli, zstd or gzip."),
    ROW("server.response.compression_level", server.response.compression_level, CONF_INT, "1",
        RELOAD, "Effort, higher is smaller and slower.", RANGE(1, 9)),
    ROW("server.response.compression_min_size", server.response.compression_min_size, CONF_SIZE,
        "1024", RELOAD, "Smaller answers are sent as they are."),
    ROW("server.response.compression_streaming", server.response.compression_streaming, CONF_ENUM,
        "\"off\"", RELOAD, "Compress answers that are streamed: none, event streams, or all.",
        .names = "off|sse|all"),
    ROW("server.response.headers", server.response.headers, CONF_PAIRS, "[]", RELOAD,
        "Headers added to every answer.", .check = config_check_headers),
    ROW("server.response.error_pages", server.response.error_pages, CONF_PAIRS, "[]", RELOAD,
        "Pages for statuses that the server itself answers: `[[\"404\", \"/errors/404.html\"]]`; "
        "below the document root, else a path of its own.",
        .check = config_check_error_pages),
    ROW("server.response.buffer_memory", server.response.buffer_memory, CONF_SIZE, "1048576",
        RELOAD,
        "Memory for an answer that its client takes slowly, before it is spooled to a file.",
        RANGE(4096, 1 << 30)),
    ROW("server.response.max_spool", server.response.max_spool, CONF_SIZE, "1073741824", RELOAD,
        "Disk for such an answer; beyond it, PHP waits for the client. 0: nothing is spooled."),
    ROW("server.response.server_header", server.response.server_header, CONF_STRING, "\"ephpm\"",
        RELOAD, "The Server header; empty: none.", .check = config_check_header_value),

    ROW("server.static.cache_control", server.static_.cache_control, CONF_STRING, "\"\"", RELOAD,
        "Cache-Control header of static files; empty: none.", .check = config_check_header_value),
    ROW("server.static.hidden_files", server.static_.hidden_files, CONF_ENUM, "\"deny\"", RELOAD,
        "Paths with a part that starts with a dot: 403, 404, or served.",
        .names = "deny|ignore|allow"),
    ROW("server.static.etag", server.static_.etag, CONF_BOOL, "true", RELOAD,
        "Send an ETag with static files."),

    ROW("server.security.trusted_proxies", server.security.trusted_proxies, CONF_LIST, "[]", RELOAD,
        "Addresses and networks whose X-Forwarded-* headers are believed.",
        .check = config_check_cidrs),
    ROW("server.security.blocked_paths", server.security.blocked_paths, CONF_LIST, "[]", RELOAD,
        "Globs of paths that are answered 403.", .check = config_check_filled),
    ROW("server.security.allowed_php_paths", server.security.allowed_php_paths, CONF_LIST, "[]",
        RELOAD, "Globs of scripts that may run, others get 403. Empty: all.",
        .check = config_check_filled),
    ROW("server.security.open_basedir", server.security.open_basedir, CONF_TRI, NULL, SITE,
        "Confine each site's PHP to its own directories. Auto: on in multi-site mode, the only "
        "mode it acts in."),
    ROW("server.security.disable_shell_exec", server.security.disable_shell_exec, CONF_TRI, NULL,
        SITE,
        "Disable PHP functions that start programs. Auto: on in multi-site mode, the only mode it "
        "acts in."),
    ROW("server.security.multi_tenant_hardening", server.security.multi_tenant_hardening, CONF_TRI,
        NULL, SITE,
        "Disable PHP functions that reach beyond a site. Auto: on in multi-site mode, the only "
        "mode it acts in."),
    ROW("server.security.proxy_protocol", server.security.proxy_protocol, CONF_ENUM, "\"off\"",
        RELOAD, "Expect the PROXY protocol from trusted proxies.", .names = "off|on"),

    ROW("server.logging.access", server.logging.access, CONF_STRING, "\"\"", RELOAD,
        "File of the access log; empty: none.", .check = config_check_one_line),
    ROW("server.logging.level", server.logging.level, CONF_ENUM, "\"info\"", RELOAD,
        "Least important level that is logged.", .names = "alert|error|warn|info|debug|trace"),
    ROW("server.logging.format", server.logging.format, CONF_ENUM, "\"text\"", RELOAD,
        "Form of the server's log lines.", .names = "text|json"),
    ROW("server.logging.access_format", server.logging.access_format, CONF_ENUM, "\"combined\"",
        RELOAD, "Form of access log lines.", .names = "combined|json"),

    ROW("server.metrics.enabled", server.metrics.enabled, CONF_BOOL, "false", RELOAD,
        "Count what the server does, and show it to Prometheus."),
    ROW("server.metrics.path", server.metrics.path, CONF_STRING, "\"/metrics\"", RELOAD,
        "Where it is shown, for every host.", .check = config_check_metrics_path),
    ROW("server.metrics.listen", server.metrics.listen, CONF_STRING, NULL, RESTART | CONF_NOT_EMPTY,
        "Address and port of a listener for metrics alone: `\"127.0.0.1:9100\"`. The path is the "
        "application's on all others then.",
        .check = config_check_listen),
    ROW("server.metrics.allow", server.metrics.allow, CONF_LIST, "[]", RELOAD,
        "Addresses and networks that may see the metrics, others get 403. Empty: this machine "
        "alone, and on `server.metrics.listen` everybody who reaches it.",
        .check = config_check_cidrs),

    ROW("server.diagnostics.request_log", server.diagnostics.request_log, CONF_TRI, NULL, RELOAD,
        "Keep the last requests for `/_ephpm/requests`. Auto: on in dev, off in serve."),

    ROW("server.limits.max_connections", server.limits.max_connections, CONF_INT, "0", RELOAD,
        "Open client connections, 503 beyond. 0: no limit.", RANGE(0, ANY)),
    ROW("server.limits.per_ip_max_connections", server.limits.per_ip_max_connections, CONF_INT, "0",
        RELOAD, "The same for one client address. 0: no limit.", RANGE(0, ANY)),
    ROW("server.limits.per_ip_rate", server.limits.per_ip_rate, CONF_FLOAT, "0.0", RELOAD,
        "Requests per second of one client address, 429 beyond. 0: no limit.", RANGE(0, 1000000)),
    ROW("server.limits.per_ip_burst", server.limits.per_ip_burst, CONF_INT, "50", RELOAD,
        "Requests that per_ip_rate lets through at once.", RANGE(1, ANY)),
    ROW("server.limits.per_site_rate", server.limits.per_site_rate, CONF_FLOAT, "0.0", RELOAD,
        "PHP requests per second of one site, 429 beyond. 0: no limit.", RANGE(0, 1000000)),
    ROW("server.limits.per_site_burst", server.limits.per_site_burst, CONF_INT, "20", RELOAD,
        "Requests that per_site_rate lets through at once.", RANGE(1, ANY)),

    ROW("server.file_cache.enabled", server.file_cache.enabled, CONF_BOOL, "true", RELOAD,
        "Keep static files and what is known about them in memory. Changes are noticed at once, so "
        "unlike elsewhere this is on by default."),
    ROW("server.file_cache.max_entries", server.file_cache.max_entries, CONF_INT, "10000", RELOAD,
        "Number of files.", RANGE(1, 10000000)),
    ROW("server.file_cache.valid_secs", server.file_cache.valid_secs, CONF_INT, "30", RELOAD,
        "Seconds before a file is checked for changes again although no change was noticed.",
        RANGE(0, 86400)),
    ROW("server.file_cache.inactive_secs", server.file_cache.inactive_secs, CONF_INT, "60", RELOAD,
        "Seconds after which an unused file is closed.", RANGE(1, 86400)),
    ROW("server.file_cache.inline_threshold", server.file_cache.inline_threshold, CONF_SIZE,
        "1048576", RELOAD,
        "Files up to this size, at most 64K, are kept with their content; the kernel's own cache "
        "serves "
        "larger ones without a copy."),
    ROW("server.file_cache.precompress", server.file_cache.precompress, CONF_BOOL, "true", RELOAD,
        "Keep the compressed form of what was compressed once."),

    ROW("php.mode", php.mode, CONF_ENUM, "\"fpm\"", SITE,
        "`fpm`: every request starts PHP afresh. `worker` is not available in this version.",
        .names = "fpm|worker"),
    ROW("php.binary", php.binary, CONF_STRING, NULL, SITE | CONF_NOT_EMPTY,
        "The ephpm-php executable. When not set: the one beside ephpm."),
    ROW("php.sapi_name", php.sapi_name, CONF_STRING, "\"fpm-fcgi\"", SITE | CONF_NOT_EMPTY,
        "What php_sapi_name() says. Applications look for this one to find "
        "fastcgi_finish_request().",
        .check = config_check_one_line),
    ROW("php.workers", php.workers, CONF_INT, "0", SITE,
        "PHP processes, that is, requests at the same time. 0: derived, 4 per core, between 2 and "
        "64, as memory allows.",
        RANGE(0, 10000)),
    ROW("php.workers_min", php.workers_min, CONF_INT, "1", SITE,
        "Processes that are kept when there is little to do.", RANGE(1, 10000)),
    ROW("php.worker_idle_secs", php.worker_idle, CONF_DURATION, "30", RELOAD,
        "Processes beyond workers_min end after so long without a request.", RANGE(1, DAY_MS)),
    ROW("php.max_requests", php.max_requests, CONF_INT, "10000", SITE,
        "A process is replaced after this many requests. 0: never.", RANGE(0, ANY)),
    ROW("php.max_worker_memory", php.max_worker_memory, CONF_SIZE, "0", SITE,
        "A process that keeps more memory than this between requests is replaced. 0: derived, "
        "twice memory_limit."),
    ROW("php.queue_size", php.queue_size, CONF_INT, "0", RELOAD,
        "Requests that wait for a process. 0: derived, 64 per worker and at least 256.",
        RANGE(0, 1000000)),
    ROW("php.overload_policy", php.overload_policy, CONF_ENUM, "\"shed\"", RELOAD,
        "`shed`: a request that cannot start in time gets 503 and Retry-After. `wait`: it waits. "
        "(Compatible "
        "servers default to `wait`.)",
        .names = "shed|wait"),
    ROW("php.shed_after_ms", php.shed_after, CONF_DURATION, "0", RELOAD | CONF_MS,
        "With `shed`: longest wait in the queue, in milliseconds. 0: derived, 10 seconds.",
        RANGE(0, DAY_MS)),
    ROW("php.crash_loop_count", php.crash_loop_count, CONF_INT, "5", RELOAD,
        "So many deaths within crash_loop_seconds replace the generation by one without JIT.",
        RANGE(1, 1000)),
    ROW("php.crash_loop_seconds", php.crash_loop_seconds, CONF_INT, "10", RELOAD,
        "See crash_loop_count.", RANGE(1, 3600)),
    ROW("php.max_execution_time", php.max_execution_time, CONF_INT, "30", SITE,
        "PHP's max_execution_time in seconds. 0: no limit.", RANGE(0, ANY)),
    ROW("php.memory_limit", php.memory_limit, CONF_STRING, NULL, SITE | CONF_PHP_SIZE,
        "PHP's memory_limit. When not set: derived from the memory budget in serve, `128M` in "
        "dev."),
    ALIAS("php.php_memory_limit", "php.memory_limit"),
    ROW("php.opcache_validate_timestamps", php.opcache_validate_timestamps, CONF_TRI, NULL, SITE,
        "Check scripts for changes. Auto: off in serve (code goes live by `ephpm deploy`), on in "
        "dev."),
    ROW("php.opcache_revalidate_freq", php.opcache_revalidate_freq, CONF_INT, NULL, SITE,
        "Seconds between checks. When not set: 0 in dev.", RANGE(0, ANY)),
    ROW("php.opcache_memory_consumption", php.opcache_memory_consumption, CONF_MB, NULL, SITE,
        "Megabytes for compiled scripts. When not set: in serve 18 % of the memory budget, 64 to "
        "512.",
        RANGE(8, 65536)),
    ROW("php.opcache_interned_strings_buffer", php.opcache_interned_strings_buffer, CONF_MB, NULL,
        SITE, "Megabytes for shared strings. When not set: in serve 1/16 of the above, 8 to 64.",
        RANGE(0, 32767)),
    ROW("php.opcache_jit_buffer_size", php.opcache_jit_buffer_size, CONF_MB, NULL, SITE,
        "Megabytes for machine code. When not set: with the JIT on, 1/64 of the memory budget, 32 "
        "to 64.",
        RANGE(0, 4096)),
    ROW("php.opcache_jit", php.opcache_jit, CONF_ENUM, NULL, SITE,
        "When not set: in serve `tracing`, or `function` for PHP versions with a known fault in "
        "the tracing JIT; "
        "`disable` in dev. `auto`: measured, for a single site in serve (see docs/deploy.md).",
        .names = "|tracing|function|disable|auto"),
    ROW("php.opcache_jit_auto_secs", php.opcache_jit_auto, CONF_DURATION, "900", RELOAD,
        "With opcache_jit `auto`: how long a revision is measured at most, with two generations at "
        "work.",
        RANGE(1000, DAY_MS)),
    ROW("php.opcache_jit_auto_file", php.opcache_jit_auto_file, CONF_STRING, NULL,
        RELOAD | CONF_NOT_EMPTY,
        "Where it is kept what was measured. When not set: `/var/lib/ephpm/jit-auto.json`, without "
        "root `/tmp/ephpm-UID/jit-auto.json`.",
        .check = config_check_one_line),
    ROW("php.opcache_max_accelerated_files", php.opcache_max_accelerated_files, CONF_INT, NULL,
        SITE, "Number of scripts. When not set: 20000 in serve.", RANGE(200, 1000000)),
    ROW("php.realpath_cache_size", php.realpath_cache_size, CONF_STRING, NULL, SITE | CONF_PHP_SIZE,
        "PHP's realpath_cache_size. When not set: `16M` in serve."),
    ROW("php.realpath_cache_ttl", php.realpath_cache_ttl, CONF_INT, NULL, SITE,
        "PHP's realpath_cache_ttl in seconds. When not set: 600 in serve.", RANGE(0, ANY)),
    ROW("php.zend_assertions", php.zend_assertions, CONF_INT, NULL, SITE,
        "PHP's zend.assertions. When not set: -1 in serve, 1 in dev.", RANGE(-1, 1)),
    ROW("php.ini_file", php.ini_file, CONF_STRING, NULL, SITE | CONF_NOT_EMPTY,
        "A php.ini. What it sets wins over what is derived, and loses to keys of this section.",
        .check = config_check_one_line),
    ROW("php.ini_scan_dir", php.ini_scan_dir, CONF_STRING, NULL, SITE,
        "Directories of further ini files, separated by colons; they win over what is derived, "
        "too. "
        "Empty: none. When not set: `$PHP_INI_SCAN_DIR`, else the one PHP was built with.",
        .check = config_check_one_line),
    ROW("php.huge_pages", php.huge_pages, CONF_BOOL, "true", SITE,
        "Huge pages for PHP's memory, for OPcache's as it fills, and for the code of PHP that runs "
        "most: 5 to 10 percent less CPU for applications, up to 2 MB more memory per worker and 6 "
        "per site. Tools that name functions by their file (`perf`) do not see that code."),
    ROW("php.user_ini", php.user_ini, CONF_BOOL, "true", SITE, "Read .user.ini files."),
    ROW("php.ini_overrides", php.ini_overrides, CONF_PAIRS, "[]", SITE,
        "PHP settings that win over everything else here: `[[\"date.timezone\", \"UTC\"]]`.",
        .check = config_check_ini),
    ROW("php.admin_values", php.admin_values, CONF_PAIRS, "[]", SITE,
        "PHP settings that scripts cannot change.", .check = config_check_ini),
    ROW("php.values", php.values, CONF_PAIRS, "[]", SITE, "PHP settings that scripts may change.",
        .check = config_check_ini),
    ROW("php.extensions", php.extensions, CONF_LIST, "[]", SITE,
        "Extensions to load, by name or path: `[\"redis\", \"xdebug\"]`. One that an ini file "
        "loads "
        "already, or that is built into PHP, may be named, too; one that is not there or does not "
        "fit is an error.",
        .check = config_check_filled),
    ROW("php.env", php.env, CONF_PAIRS, "[]", SITE | CONF_SECRET,
        "Environment variables for PHP: `[[\"APP_ENV\", \"prod\"]]`. A value that is `\"$NAME\"` "
        "is the "
        "server's own variable of that name.",
        .check = config_check_env),
    ROW("php.clear_env", php.clear_env, CONF_TRI, NULL, SITE,
        "Start PHP without the server's own environment; USER and HOME are then those of the user "
        "that PHP runs as. Auto: on in serve, off in dev."),
    ROW("php.fpm_engine", php.fpm_engine, CONF_ENUM, NULL, RELOAD,
        "Accepted for compatibility: every worker is a process here.",
        .names = "|spawn_blocking|pool"),
    ROW("php.crash_containment", php.crash_containment, CONF_BOOL, "false", RELOAD,
        "Accepted for compatibility: every crash is contained here."),
    ROW("php.site", php.sites, CONF_TABLES, NULL, SITE,
        "Settings of one site, since each has PHP processes of its own.",
        .item = TABLES(config_php_site, site_rows), .check = config_check_sites),
    ROW("php.path", php.paths, CONF_TABLES, NULL, SITE,
        "PHP settings of the requests for a path and what is below it. Of several tables that fit, "
        "the longer path wins, setting by setting; of equal ones the later. They hold for the "
        "request, and win over what is set for all; `.user.ini` wins over `values`. What PHP keeps "
        "from request to request is refused here.",
        .item = TABLES(config_php_path, path_rows)),

    ROW("deploy.warmup_urls", deploy.warmup_urls, CONF_LIST, "[\"/\"]", RELOAD,
        "Paths requested of a new generation before it serves; a fatal error in one refuses the "
        "deploy.",
        .check = config_check_urls),
    ROW("deploy.warmup_scripts", deploy.warmup_scripts, CONF_BOOL, "true", RELOAD,
        "Compile the scripts that the running generation has cached."),
    ROW("deploy.timeout", deploy.timeout, CONF_DURATION, "60", RELOAD,
        "Time for a new generation to become ready.", RANGE(1, DAY_MS)),
    ROW("deploy.drain", deploy.drain, CONF_DURATION, NULL, RELOAD,
        "Time for the old generation's requests to end. When not set: server.timeouts.shutdown.",
        RANGE(0, DAY_MS)),

    ROW("kv.enabled", kv.enabled, CONF_BOOL, "true", RESTART,
        "Each site has a key-value store, which PHP reaches by the functions `ephpm_kv_...`; when "
        "serving, PHP's sessions are in it."),
    ROW("kv.memory_limit", kv.memory_limit, CONF_SIZE, "\"256MB\"", RESTART,
        "Memory of each site's store, everything included; it is taken as it is used. When not set "
        "and the machine has less than 1 GB: a quarter of what it has.",
        RANGE((int64_t)KV_MEMORY_MIN, (int64_t)KV_MEMORY_MAX)),
    ROW("kv.eviction_policy", kv.eviction_policy, CONF_ENUM, "\"allkeys-lru\"", RESTART,
        "What gives way when the store is full: nothing, what was not read for long, the same "
        "among keys with a deadline, or any key.",
        .names = "noeviction|allkeys-lru|volatile-lru|allkeys-random"),
    ROW("kv.compression", kv.compression, CONF_ENUM, "\"none\"", RESTART,
        "Compress values in the store, those that get smaller by it.",
        .names = "none|gzip|brotli|zstd"),
    ROW("kv.compression_level", kv.compression_level, CONF_INT, "6", RESTART,
        "Effort, higher is smaller and slower: 1 to 9 with gzip, 0 to 11 with brotli, 1 to 19 with "
        "zstd.",
        RANGE(0, 19)),
    ROW("kv.compression_min_size", kv.compression_min_size, CONF_SIZE, "1024", RESTART,
        "Smaller values are kept as they are.", RANGE(64, 1 << 26)),
    ROW("kv.secret", kv.secret, CONF_STRING, NULL, RESTART | CONF_NOT_EMPTY | CONF_SECRET,
        "From it each site's own password for Redis clients is derived."),
    ROW("kv.persist", kv.persist, CONF_STRING, NULL, RESTART | CONF_NOT_EMPTY,
        "Folder of the stores' snapshots, `SITE.kv` for each, which are read at start; it is made "
        "when it is missing. When not set: a store's content ends with the server.",
        .check = config_check_one_line),
    ROW("kv.persist_interval", kv.persist_interval, CONF_DURATION, "60", RESTART,
        "Time between two snapshots, if something has changed; one more is made when the server "
        "stops.",
        RANGE(1000, DAY_MS)),

    ROW("kv.redis_compat.enabled", kv.redis.enabled, CONF_BOOL, "false", RESTART,
        "Serve the stores to Redis clients."),
    ROW("kv.redis_compat.listen", kv.redis.listen, CONF_STRING, "\"127.0.0.1:6379\"", RESTART,
        "Address and port for Redis clients; empty: none.", .check = config_check_listen_or_none),
    ROW("kv.redis_compat.socket", kv.redis.socket, CONF_STRING, NULL, RESTART | CONF_NOT_EMPTY,
        "Unix socket for Redis clients."),
    ROW("kv.redis_compat.password", kv.redis.password, CONF_STRING, NULL,
        RESTART | CONF_NOT_EMPTY | CONF_SECRET, "What a Redis client must give by AUTH."),
    ROW("kv.redis_compat.max_connections", kv.redis.max_connections, CONF_INT, "1000", RESTART,
        "Redis clients at the same time.", RANGE(1, 1000000)),
    ROW("kv.redis_compat.max_input_buffer", kv.redis.max_input_buffer, CONF_SIZE, "1048576",
        RESTART, "Memory for what a Redis client has sent of a command that is not complete.",
        RANGE(4096, 1 << 30)),
    ROW("kv.redis_compat.idle_timeout_secs", kv.redis.idle_timeout, CONF_DURATION, "300", RESTART,
        "A Redis client that says nothing for so long is disconnected. 0: never.",
        RANGE(0, DAY_MS)),

    ROW("db.sqlite.path", db.path, CONF_STRING, NULL, RESTART | CONF_NOT_EMPTY,
        "The file of the embedded database, which PHP reaches as a MySQL server; it is made when "
        "it is missing. When not set: there is none.",
        .check = config_check_one_line),
    ROW("db.sqlite.dir", db.dir, CONF_STRING, NULL, RESTART | CONF_NOT_EMPTY,
        "With `server.sites_dir`: the folder of the sites' databases, `SITE.db` for each; it is "
        "made when it is missing.",
        .check = config_check_one_line),
    ROW("db.sqlite.user", db.user, CONF_STRING, "\"ephpm\"", RESTART | CONF_NOT_EMPTY,
        "The one user of the database. With `server.sites_dir` each site's user has its name.",
        .check = config_check_one_line),
    ROW("db.sqlite.password", db.password, CONF_STRING, NULL, RESTART | CONF_SECRET,
        "The user's password. When not set: made when the server starts, for each site its own; "
        "PHP has it in its environment, and `ephpm db shell` knows it.",
        .check = config_check_one_line),
    ROW("db.sqlite.synchronous", db.synchronous, CONF_ENUM, "\"full\"", RESTART,
        "When a change counts as kept: on the disk before it is acknowledged; or a moment later, "
        "so that the last ones may be lost with the power, never the database; or when the "
        "system likes, and a power failure can damage the file.",
        .names = "full|normal|off"),
    ROW("db.sqlite.lock_wait_timeout", db.lock_wait, CONF_DURATION, "50", RESTART,
        "So long a statement waits for its turn to write before error 1205.", RANGE(1000, DAY_MS)),
    ROW("db.sqlite.statement_timeout", db.statement_timeout, CONF_DURATION, "0", RESTART,
        "A SELECT that takes longer is ended. 0: none.", RANGE(0, DAY_MS)),
    ROW("db.sqlite.max_open_dbs", db.max_open, CONF_INT, "256", RESTART,
        "Files that are open at the same time while nobody uses them.", RANGE(1, 10000)),
    ROW("db.sqlite.engine", db.engine, CONF_ENUM, "\"sqlite\"", RESTART,
        "Accepted for compatibility: the engine is SQLite.", .names = "sqlite|turso"),
    ROW("db.sqlite.proxy.socket", db.proxy.socket, CONF_STRING, NULL, RESTART | CONF_NOT_EMPTY,
        "Unix socket for clients of the database. When not set: beside the control socket.",
        .check = config_check_one_line),
    ROW("db.sqlite.proxy.mysql_listen", db.proxy.mysql_listen, CONF_STRING, NULL,
        RESTART | CONF_NOT_EMPTY,
        "Address and port for MySQL clients besides, as in `\"127.0.0.1:3306\"`.",
        .check = config_check_listen),
    ROW("db.sqlite.proxy.max_connections", db.proxy.max_connections, CONF_INT, "0", RESTART,
        "Clients at the same time. 0: 151.", RANGE(0, 100000)),
    ROW("db.sqlite.proxy.tls_cert", db.proxy.tls_cert, CONF_STRING, NULL, RESTART | CONF_NOT_EMPTY,
        "Certificate (PEM, with its chain) for clients that want TLS.",
        .check = config_check_one_line),
    ROW("db.sqlite.proxy.tls_key", db.proxy.tls_key, CONF_STRING, NULL, RESTART | CONF_NOT_EMPTY,
        "The certificate's key.", .check = config_check_one_line),

    ROW("db.analysis.query_stats", analysis.query_stats, CONF_BOOL, "true", RESTART,
        "Count statements by their shape, without the values in them."),
    ROW("db.analysis.slow_query_threshold", analysis.slow_query, CONF_DURATION, "\"1s\"", RESTART,
        "Statements that take longer are logged. 0: none.", RANGE(0, DAY_MS)),
    ROW("db.analysis.auto_explain", analysis.auto_explain, CONF_BOOL, "false", RESTART,
        "Known for compatibility; has no effect."),
    ROW("db.analysis.auto_explain_target", analysis.auto_explain_target, CONF_STRING, "\"stderr\"",
        RESTART, "Known for compatibility; has no effect."),
    ROW("db.analysis.digest_store_max_entries", analysis.digests, CONF_INT, "100000", RESTART,
        "Shapes that are kept; the one that was not seen for longest makes room.",
        RANGE(1, 10000000)),
    ROW("db.analysis.metric_label_series_max", analysis.label_series, CONF_INT, "1000", RESTART,
        "Shapes that have series of their own in the metrics; the others share one.",
        RANGE(0, 1000)),
};

/* Known by name, refused when set. */
static const struct conf_refused refused[] = {
    {"db.mysql.", "not available in this version: db.sqlite is a database of the server's own"},
    {"db.postgres.", NULL},
    {"db.tds.", NULL},
    {"db.read_write_split.", NULL},
    {"db.sqlite.replication.", NULL},
    {"db.sqlite.proxy.hrana_listen",
        "not available in this version: clients speak the MySQL protocol (mysql_listen)"},
    {"db.sqlite.proxy.postgres_listen",
        "not available in this version: clients speak the MySQL protocol (mysql_listen)"},
    {"db.sqlite.proxy.tds_listen",
        "not available in this version: clients speak the MySQL protocol (mysql_listen)"},
    {"cluster.", NULL},
    {"middleware.", NULL},
    {"opcache.", NULL},
    {"server.tls.", NULL},
    {"server.http3.", NULL},
    {"server.websocket.", NULL},
    {"server.websocket_files", NULL},
    {"server.php_etag_cache.", NULL},
    {"server.diagnostics.otlp_endpoint", NULL},
    {"server.preview", NULL},
    {"php.worker_script", NULL},
    {"php.worker_count", NULL},
    {"php.worker_max_requests", NULL},
    {"php.worker_backlog", NULL},
    {"php.worker_boot_timeout", NULL},
    {"php.worker_populate_superglobals", NULL},
    {"php.worker_stream_threshold", NULL},
};

/* Variables with our prefix that are no keys. */
static const char *const env_allowed[] = {"EPHPM_KV_PASSWORD", "EPHPM_MIDDLEWARE_DIR",
    "EPHPM_FATAL_HANDLER", "EPHPM_APP_BASE", "EPHPM_WORKER_BOOTSTRAP",
    /* What PHP is given (boot.c), and so whatever it starts. */
    "EPHPM_REDIS_HOST", "EPHPM_REDIS_PORT", "EPHPM_REDIS_SOCKET", "EPHPM_REDIS_USERNAME",
    "EPHPM_REDIS_PASSWORD", NULL};

const struct conf_table config_table = {
    .rows = rows,
    .nrows = ARRAY_LEN(rows),
    .refused = refused,
    .nrefused = ARRAY_LEN(refused),
    .env_prefix = "EPHPM_",
    .env_allowed = env_allowed,
};
