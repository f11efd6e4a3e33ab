/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/metric_table.h"

#include "db/stats.h"

enum { METRIC_SITES = 256, METRIC_STATUS_END = 600 };

/* Statuses with a value of their own; all else is "other", the first one. */
#define STATUS_2XX(X)  X(200) X(201) X(202) X(204) X(206)
#define STATUS_3XX(X)  X(301) X(302) X(303) X(304) X(307) X(308)
#define STATUS_40X(X)  X(400) X(401) X(403) X(404) X(405) X(408) X(409)
#define STATUS_4XX(X)  X(410) X(413) X(414) X(415) X(416) X(421) X(422) X(429) X(431)
#define STATUS_5XX(X)  X(500) X(501) X(502) X(503) X(504) X(507)
#define STATUS_LIST(X) STATUS_2XX(X) STATUS_3XX(X) STATUS_40X(X) STATUS_4XX(X) STATUS_5XX(X)

enum {
    STATUS_OTHER,
#define STATUS_ENUM(n) STATUS_##n,
    STATUS_LIST(STATUS_ENUM)
};
static const char *const statuses[] = {"other",
#define STATUS_TEXT(n) #n,
    STATUS_LIST(STATUS_TEXT)};
static const uint8_t status_places[METRIC_STATUS_END] = {
#define STATUS_PLACE(n) [n] = STATUS_##n,
    STATUS_LIST(STATUS_PLACE)};

static const char *const versions[] = {EPHPM_VERSION};
static const char *const methods[] = {
    "OTHER", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
static const char *const handlers[] = {"error", "static", "php", "internal"};
static const char *const stages[] = {"request", "worker", "header_read", "body", "send"};
static const char *const classes[] = {"1xx", "2xx", "3xx", "4xx", "5xx", "other"};
static const char *const directions[] = {"request", "response"};
static const char *const php_statuses[] = {"ok", "error"};
static const char *const engines[] = {"pool"};
static const char *const pool_reasons[] = {"hung", "poisoned"};
static const char *const recycle_reasons[] = {"max_requests", "max_memory", "fatal", "hung"};
static const char *const signals[] = {"other", "none", "SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE",
    "SIGABRT", "SIGKILL", "SIGTERM", "SIGSYS", "SIGXCPU", "SIGPIPE"};
static const char *const states[] = {"booting", "warming", "active", "trial", "draining", "ended"};
static const char *const operations[] = {"start", "deploy", "cache reset", "reload", "recovery"};
static const char *const jits[] = {"on", "off"};
static const char *const choices[] = {"default", "on", "off", "undecided"};
static const char *const results[] = {"ok", "failed"};
static const char *const roles[] = {"master", "front", "prototype", "worker", "kv", "db"};
static const char *const children[] = {"front", "prototype", "kv", "db"};
static const char *const statements[] = {
#define STATEMENT_TEXT(name, text) text,
    DB_CLASS_LIST(STATEMENT_TEXT)};

static const char *const query_kinds[] = {"select", "insert", "update", "delete", "other"};

#define VALUES(list) (list), ARRAY_LEN(list)

static const struct metrics_label labels[METRIC_LABEL_COUNT] = {
    [METRIC_LABEL_VERSION] = {"version", VALUES(versions)},
    [METRIC_LABEL_METHOD] = {"method", VALUES(methods)},
    [METRIC_LABEL_STATUS] = {"status", VALUES(statuses)},
    [METRIC_LABEL_HANDLER] = {"handler", VALUES(handlers)},
    [METRIC_LABEL_STAGE] = {"stage", VALUES(stages)},
    [METRIC_LABEL_VHOST] = {"vhost", NULL, METRIC_SITES},
    [METRIC_LABEL_SITE] = {"site", NULL, METRIC_SITES},
    [METRIC_LABEL_CLASS] = {"status", VALUES(classes)},
    [METRIC_LABEL_DIRECTION] = {"kind", VALUES(directions)},
    [METRIC_LABEL_PHP_STATUS] = {"status", VALUES(php_statuses)},
    [METRIC_LABEL_ENGINE] = {"engine", VALUES(engines)},
    [METRIC_LABEL_POOL_REASON] = {"reason", VALUES(pool_reasons)},
    [METRIC_LABEL_RECYCLE_REASON] = {"reason", VALUES(recycle_reasons)},
    [METRIC_LABEL_SIGNAL] = {"signal", VALUES(signals)},
    [METRIC_LABEL_STATE] = {"state", VALUES(states)},
    [METRIC_LABEL_TRIGGER] = {"trigger", VALUES(operations)},
    [METRIC_LABEL_OPERATION] = {"operation", VALUES(operations)},
    [METRIC_LABEL_JIT] = {"jit", VALUES(jits)},
    [METRIC_LABEL_JIT_CHOICE] = {"decision", VALUES(choices)},
    [METRIC_LABEL_RESULT] = {"result", VALUES(results)},
    [METRIC_LABEL_ROLE] = {"role", VALUES(roles)},
    [METRIC_LABEL_CHILD] = {"role", VALUES(children)},
    [METRIC_LABEL_STATEMENT] = {"kind", VALUES(statements)},
    [METRIC_LABEL_DIGEST] = {"digest", NULL, METRIC_DIGESTS},
    [METRIC_LABEL_QUERY_KIND] = {"kind", VALUES(query_kinds)},
};

/* Nanoseconds. */
#define MS(n) ((n) * UINT64_C(1000000))
static const uint64_t durations[] = {MS(1), MS(5), MS(10), MS(25), MS(50), MS(100), MS(250),
    MS(500), MS(1000), MS(2500), MS(5000), MS(10000)};
static const uint64_t boots[] = {MS(10), MS(25), MS(50), MS(100), MS(250), MS(500), MS(1000),
    MS(2500), MS(5000), MS(10000), MS(30000)};
static const uint64_t sizes[] = {
    100, 1000, 10000, 50000, 100000, 500000, 1000000, 5000000, 10000000};
static const uint64_t memories[] = {1000000, 2000000, 4000000, 8000000, 16000000, 32000000,
    64000000, 128000000, 256000000, 512000000};
static const uint64_t ratios[] = {50, 100, 200, 300, 400, 500, 600, 700, 800, 900}; /* per mille */

#define LABELS(...) \
    .nlabels = sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned), .labels = {__VA_ARGS__}
#define SITE METRIC_LABEL_SITE
/* A counter that shows zeros, one that shows what it counted, a gauge, a histogram. */
#define ZEROS(name_, help_, ...) \
    {.name = (name_), .type = METRICS_COUNTER, .zeros = true, .help = (help_), __VA_ARGS__}
#define COUNTER(name_, help_, ...) \
    {.name = (name_), .type = METRICS_COUNTER, .help = (help_), __VA_ARGS__}
#define GAUGE(name_, help_, ...) \
    {.name = (name_), .type = METRICS_GAUGE, .help = (help_), __VA_ARGS__}
#define HISTOGRAM(name_, bounds_, decimals_, help_, ...) \
    {.name = (name_),                                    \
        .type = METRICS_HISTOGRAM,                       \
        .decimals = (decimals_),                         \
        .bounds = (bounds_),                             \
        .nbounds = ARRAY_LEN(bounds_),                   \
        .help = (help_),                                 \
        __VA_ARGS__}

static const struct metrics_family families[METRIC_COUNT] = {
    [METRIC_BUILD_INFO] = GAUGE("ephpm_build_info",
        "Always 1; the version of the server is the label.", LABELS(METRIC_LABEL_VERSION)),
    [METRIC_START_TIME] = GAUGE("ephpm_start_time_seconds",
        "When the server was started, seconds since 1970.", .decimals = 3),

    [METRIC_HTTP_REQUESTS] = COUNTER("ephpm_http_requests_total", "Requests that were answered.",
        LABELS(METRIC_LABEL_METHOD, METRIC_LABEL_STATUS, METRIC_LABEL_HANDLER)),
    [METRIC_HTTP_IN_FLIGHT] = GAUGE("ephpm_http_requests_in_flight",
        "Requests whose answer is not complete, without those to internal endpoints."),
    [METRIC_HTTP_DURATION] = HISTOGRAM("ephpm_http_request_duration_seconds", durations, 9,
        "From a request's head to the end of its answer.",
        LABELS(METRIC_LABEL_METHOD, METRIC_LABEL_HANDLER)),
    [METRIC_HTTP_REQUEST_BODY] = HISTOGRAM("ephpm_http_request_body_bytes", sizes, 0,
        "Size of the bodies of requests that have one.", LABELS(METRIC_LABEL_METHOD)),
    [METRIC_HTTP_RESPONSE_BODY] = HISTOGRAM("ephpm_http_response_body_bytes", sizes, 0,
        "Size of the bodies of answers, as sent.", LABELS(METRIC_LABEL_HANDLER)),
    [METRIC_HTTP_COMPRESSION] = HISTOGRAM("ephpm_http_compression_ratio", ratios, 3,
        "Compressed size by original size, of answers that were compressed.", .zeros = true),
    [METRIC_HTTP_TIMEOUTS] = ZEROS("ephpm_http_timeouts_total",
        "Time limits that were reached, by what was waited for.", LABELS(METRIC_LABEL_STAGE)),
    [METRIC_HTTP_BODY_OVERFLOW] = ZEROS("ephpm_http_body_overflow_total",
        "Requests whose body is larger than server.request.max_body_size."),
    [METRIC_HTTP_BAD_REQUESTS] =
        ZEROS("ephpm_http_bad_requests_total", "Requests that could not be parsed."),
    [METRIC_HTTP_CONNECTIONS] =
        GAUGE("ephpm_http_connections_active", "Connections of clients that are open."),
    [METRIC_HTTP_CONNECTIONS_TOTAL] =
        ZEROS("ephpm_http_connections_total", "Connections that clients made."),
    [METRIC_HTTP_CONNECTIONS_REFUSED] = ZEROS("ephpm_http_connections_refused_total",
        "Connections beyond server.limits.max_connections or per_ip_max_connections."),
    [METRIC_RATE_LIMITED] =
        ZEROS("ephpm_rate_limited_total", "Requests beyond server.limits.per_ip_rate."),
    [METRIC_SITE_RATE_LIMITED] =
        ZEROS("ephpm_site_rate_limited_total", "Requests beyond server.limits.per_site_rate."),
    [METRIC_SITE_REQUESTS] = COUNTER("ephpm_site_requests_total",
        "Requests that were answered, by site and class of status.",
        LABELS(SITE, METRIC_LABEL_CLASS)),
    [METRIC_SPOOL_BYTES] = GAUGE("ephpm_spool_bytes",
        "Bytes of bodies that lie in files because they are large or their reader is slow.",
        LABELS(METRIC_LABEL_DIRECTION)),
    [METRIC_SPOOL_FILES] =
        GAUGE("ephpm_spool_files", "Files that hold such bodies.", LABELS(METRIC_LABEL_DIRECTION)),

    [METRIC_PHP_EXECUTIONS] = ZEROS("ephpm_php_executions_total",
        "Requests that PHP ran to their end; error: by a fatal error, a time or a memory limit.",
        LABELS(SITE, METRIC_LABEL_PHP_STATUS)),
    [METRIC_PHP_DURATION] = HISTOGRAM("ephpm_php_execution_duration_seconds", durations, 9,
        "Time in PHP, with shutdown functions, without the queue.", LABELS(SITE)),
    [METRIC_PHP_OUTPUT] = HISTOGRAM(
        "ephpm_php_output_bytes", sizes, 0, "What PHP printed, before compression.", LABELS(SITE)),
    [METRIC_PHP_MEMORY_PEAK] = HISTOGRAM("ephpm_php_memory_peak_bytes", memories, 0,
        "Most memory that a request had, as PHP counts it.", LABELS(SITE)),
    [METRIC_PHP_SHED] = ZEROS("ephpm_php_shed_total",
        "Requests that were answered 503 because no worker was free in time.",
        LABELS(SITE, METRIC_LABEL_ENGINE)),

    [METRIC_SESSIONS_OPENED] = ZEROS("ephpm_sessions_opened_total",
        "Times that a request opened a session that is in the store.", LABELS(SITE)),
    [METRIC_SESSION_WAIT] = HISTOGRAM("ephpm_session_wait_seconds", durations, 9,
        "Time that a request with such a session waited for other requests to close it.",
        LABELS(SITE)),
    [METRIC_SESSIONS_TAKEN_OVER] = ZEROS("ephpm_sessions_taken_over_total",
        "Sessions that a worker had open when it died, and that another request opened then.",
        LABELS(SITE)),
    [METRIC_SESSIONS_NOT_WRITTEN] = ZEROS("ephpm_sessions_not_written_total",
        "Sessions that were not written because the store had no room for them.", LABELS(SITE)),

    [METRIC_POOL_SIZE] =
        GAUGE("ephpm_fpm_pool_size", "Most workers that a site may have.", LABELS(SITE)),
    [METRIC_POOL_QUEUE] =
        GAUGE("ephpm_fpm_pool_queue_depth", "Requests that wait for a worker.", LABELS(SITE)),
    [METRIC_POOL_BOOT_FAILURES] = ZEROS("ephpm_fpm_pool_boot_failures_total",
        "Workers that could not be started, or died before their first request.", LABELS(SITE)),
    [METRIC_POOL_CONTAINED_CRASHES] = ZEROS("ephpm_fpm_pool_contained_crashes_total",
        "Workers that died by a signal; each costs one request at most.", LABELS(SITE)),
    [METRIC_POOL_RECYCLES] = ZEROS("ephpm_fpm_pool_recycles_total",
        "Workers that were replaced because they hung, or were not fit for another request.",
        LABELS(SITE, METRIC_LABEL_POOL_REASON)),
    [METRIC_WORKER_POOL_SIZE] =
        GAUGE("ephpm_worker_pool_size", "Workers that there are.", LABELS(SITE)),
    [METRIC_WORKER_BUSY] = GAUGE("ephpm_worker_busy", "Workers at a request.", LABELS(SITE)),
    [METRIC_WORKER_IDLE] = GAUGE("ephpm_worker_idle", "Workers without one.", LABELS(SITE)),
    [METRIC_WORKER_QUEUE] = GAUGE("ephpm_worker_dispatch_queue_depth",
        "Requests that wait for a worker, the same as ephpm_fpm_pool_queue_depth.", LABELS(SITE)),
    [METRIC_WORKER_WAIT] = HISTOGRAM("ephpm_worker_request_wait_seconds", durations, 9,
        "Time that requests waited for a worker.", LABELS(SITE)),
    [METRIC_WORKER_BOOT_DURATION] = HISTOGRAM("ephpm_worker_boot_duration_seconds", boots, 9,
        "From asking for a worker until it is ready.", LABELS(SITE)),
    [METRIC_WORKER_BOOT_TIMEOUTS] = ZEROS("ephpm_worker_boot_timeouts_total",
        "Workers that were asked for and did not come in time.", LABELS(SITE)),
    [METRIC_WORKER_BOOT_FAILURES] = ZEROS("ephpm_worker_boot_failures_total",
        "The same as ephpm_fpm_pool_boot_failures_total.", LABELS(SITE)),
    [METRIC_WORKER_RECYCLES] = ZEROS("ephpm_worker_recycles_total",
        "Workers that were replaced: php.max_requests, php.max_worker_memory, PHP not fit for "
        "another request, killed after a time limit.",
        LABELS(SITE, METRIC_LABEL_RECYCLE_REASON)),
    [METRIC_WORKER_CRASHES] = COUNTER("ephpm_worker_crashes_total",
        "Workers that ended unexpectedly, by signal; none: by an exit.",
        LABELS(SITE, METRIC_LABEL_SIGNAL)),

    [METRIC_GENERATIONS] = GAUGE("ephpm_generations", "Generations that there are, by state.",
        LABELS(SITE, METRIC_LABEL_STATE)),
    [METRIC_GENERATION_ID] =
        GAUGE("ephpm_generation_id", "Number of the generation that serves.", LABELS(SITE)),
    [METRIC_DEPLOYS] = COUNTER("ephpm_deploys_total",
        "Starts of new generations that are over, by what they were for and how they ended.",
        LABELS(SITE, METRIC_LABEL_OPERATION, METRIC_LABEL_RESULT)),
    [METRIC_DEPLOY_TIME] = GAUGE("ephpm_deploy_last_time_seconds",
        "When the generation that serves began to, seconds since 1970.", .decimals = 3,
        LABELS(SITE)),
    [METRIC_DEPLOY_DURATION] = GAUGE("ephpm_deploy_last_duration_seconds",
        "How long it took from the command until then.", .decimals = 3, LABELS(SITE)),
    [METRIC_ROLE_RESTARTS] = ZEROS("ephpm_role_restarts_total",
        "Processes other than workers that ended unexpectedly.", LABELS(METRIC_LABEL_CHILD)),

    [METRIC_OPCACHE_INVALIDATIONS] = COUNTER("ephpm_opcache_invalidations_total",
        "Times that a site's OPcache was replaced by another, by what for.",
        LABELS(METRIC_LABEL_VHOST, METRIC_LABEL_TRIGGER)),
    [METRIC_OPCACHE_USED] = GAUGE("ephpm_opcache_used_bytes",
        "OPcache memory in use, of the generation that serves.", LABELS(SITE)),
    [METRIC_OPCACHE_FREE] =
        GAUGE("ephpm_opcache_free_bytes", "OPcache memory that is free.", LABELS(SITE)),
    [METRIC_OPCACHE_WASTED] = GAUGE("ephpm_opcache_wasted_bytes",
        "OPcache memory of scripts that changed since.", LABELS(SITE)),
    [METRIC_OPCACHE_SCRIPTS] =
        GAUGE("ephpm_opcache_cached_scripts", "Scripts that OPcache has.", LABELS(SITE)),
    [METRIC_OPCACHE_FULL] =
        GAUGE("ephpm_opcache_full", "1 when OPcache has no room for another script.", LABELS(SITE)),
    [METRIC_JIT_SIZE] = GAUGE("ephpm_opcache_jit_buffer_size_bytes",
        "Memory for machine code; 0: the JIT is off.", LABELS(SITE)),
    [METRIC_JIT_FREE] =
        GAUGE("ephpm_opcache_jit_buffer_free_bytes", "What is free of it.", LABELS(SITE)),

    [METRIC_JIT_MEASURING] = GAUGE("ephpm_opcache_jit_auto_measuring",
        "1 while requests are shared to find out whether the JIT is worth it.", LABELS(SITE)),
    [METRIC_JIT_CPU] = GAUGE("ephpm_opcache_jit_auto_cpu_seconds",
        "CPU time of a request with the JIT and without, as measured last.", .decimals = 9,
        LABELS(SITE, METRIC_LABEL_JIT)),
    [METRIC_JIT_SAMPLES] = GAUGE("ephpm_opcache_jit_auto_samples",
        "Requests that this was measured by.", LABELS(SITE, METRIC_LABEL_JIT)),
    [METRIC_JIT_DECISIONS] = COUNTER("ephpm_opcache_jit_auto_decisions_total",
        "Measurements that are over, by what came out.", LABELS(SITE, METRIC_LABEL_JIT_CHOICE)),

    [METRIC_KV_KEYS] = GAUGE(
        "ephpm_kv_keys", "Keys in the store, with those that have just expired.", LABELS(SITE)),
    [METRIC_KV_USED] =
        GAUGE("ephpm_kv_used_bytes", "Memory that keys and values take.", LABELS(SITE)),
    [METRIC_KV_MEMORY] =
        GAUGE("ephpm_kv_memory_bytes", "Memory that the store has, used or not.", LABELS(SITE)),
    [METRIC_KV_HITS] =
        COUNTER("ephpm_kv_hits_total", "Keys that were asked for and there.", LABELS(SITE)),
    [METRIC_KV_MISSES] =
        COUNTER("ephpm_kv_misses_total", "Keys that were asked for and not there.", LABELS(SITE)),
    [METRIC_KV_EXPIRED] =
        COUNTER("ephpm_kv_expired_total", "Keys whose time was over.", LABELS(SITE)),
    [METRIC_KV_EVICTED] =
        COUNTER("ephpm_kv_evicted_total", "Keys that made room for others.", LABELS(SITE)),
    [METRIC_KV_REPAIRED] = COUNTER("ephpm_kv_repaired_total",
        "Parts of the store that were repaired after a process died in them.", LABELS(SITE)),
    [METRIC_KV_DROPPED] = COUNTER("ephpm_kv_dropped_total",
        "Parts of the store that were emptied because they could not be.", LABELS(SITE)),

    [METRIC_REDIS_CLIENTS] =
        GAUGE("ephpm_redis_connections_active", "Connections of Redis clients that are open."),
    [METRIC_REDIS_BLOCKED] =
        GAUGE("ephpm_redis_blocked_clients", "Those of them that wait for a key."),
    [METRIC_REDIS_SUBSCRIBED] =
        GAUGE("ephpm_redis_subscribed_clients", "Those of them that subscribed to a channel."),
    [METRIC_REDIS_CONNECTIONS] =
        COUNTER("ephpm_redis_connections_total", "Connections that Redis clients made."),
    [METRIC_REDIS_REJECTED] = COUNTER("ephpm_redis_connections_rejected_total",
        "Connections beyond kv.redis_compat.max_connections."),
    [METRIC_REDIS_COMMANDS] =
        COUNTER("ephpm_redis_commands_total", "Commands of Redis clients that were run."),
    [METRIC_REDIS_ERRORS] =
        COUNTER("ephpm_redis_errors_total", "Commands that were answered by an error."),
    [METRIC_REDIS_RECEIVED] =
        COUNTER("ephpm_redis_received_bytes_total", "Bytes that came from Redis clients."),
    [METRIC_REDIS_SENT] =
        COUNTER("ephpm_redis_sent_bytes_total", "Bytes that Redis clients were sent."),

    [METRIC_DB_CLIENTS] =
        GAUGE("ephpm_db_connections_active", "Connections to the database that are open."),
    [METRIC_DB_THREADS] = GAUGE("ephpm_db_threads", "Threads that serve them, or wait for one."),
    [METRIC_DB_CONNECTIONS] =
        COUNTER("ephpm_db_connections_total", "Connections to the database that were made."),
    [METRIC_DB_REFUSED] = COUNTER("ephpm_db_connections_rejected_total",
        "Connections beyond db.sqlite.proxy.max_connections."),
    [METRIC_DB_DENIED] = COUNTER(
        "ephpm_db_logins_denied_total", "Wrong users, passwords or databases, bad handshakes."),
    [METRIC_DB_ABORTED] = COUNTER("ephpm_db_connections_aborted_total",
        "Connections that were lost, silent for too long, or sent bad packets."),
    [METRIC_DB_RECEIVED] =
        COUNTER("ephpm_db_received_bytes_total", "Bytes that came from clients of the database."),
    [METRIC_DB_SENT] =
        COUNTER("ephpm_db_sent_bytes_total", "Bytes that clients of the database were sent."),
    [METRIC_DB_STATEMENTS] = COUNTER(
        "ephpm_db_statements_total", "Statements that have ended.", LABELS(METRIC_LABEL_STATEMENT)),
    [METRIC_DB_ERRORS] = COUNTER("ephpm_db_errors_total",
        "Those of them that were answered by an error.", LABELS(METRIC_LABEL_STATEMENT)),
    [METRIC_DB_COMMITS] =
        COUNTER("ephpm_db_commits_total", "Transactions that wrote and were committed."),
    [METRIC_DB_ROLLBACKS] = COUNTER("ephpm_db_rollbacks_total", "Transactions that were undone."),
    [METRIC_DB_LOCK_WAITS] =
        COUNTER("ephpm_db_lock_waits_total", "Waits for the turn to write to a database."),
    [METRIC_DB_LOCK_WAIT] = COUNTER(
        "ephpm_db_lock_wait_seconds_total", "What those waits took together.", .decimals = 6),
    [METRIC_DB_LOCK_TIMEOUTS] =
        COUNTER("ephpm_db_lock_timeouts_total", "Waits that were too long (error 1205)."),
    [METRIC_DB_DEADLOCKS] = COUNTER("ephpm_db_deadlocks_total",
        "Transactions that could not go on beside another one (error 1213)."),
    [METRIC_QUERY_TOTAL] =
        COUNTER("ephpm_query_total", "Statements by their shape, whose digest the slow log has.",
            LABELS(METRIC_LABEL_DIGEST, METRIC_LABEL_QUERY_KIND, METRIC_LABEL_PHP_STATUS)),
    [METRIC_QUERY_DURATION] = HISTOGRAM("ephpm_query_duration_seconds", durations, 9,
        "From a statement's text to its last row.",
        LABELS(METRIC_LABEL_DIGEST, METRIC_LABEL_QUERY_KIND)),
    [METRIC_QUERY_DIGESTS] =
        GAUGE("ephpm_query_active_digests", "Shapes of statements that are kept."),
    [METRIC_QUERY_ROWS] =
        COUNTER("ephpm_query_rows_total", "Rows that the database sent or changed."),
    [METRIC_QUERY_SLOW] = COUNTER("ephpm_query_slow_total",
        "Statements that took longer than db.analysis.slow_query_threshold."),

    [METRIC_PROCESSES] =
        GAUGE("ephpm_processes", "Processes of the server, by role.", LABELS(METRIC_LABEL_ROLE)),
    [METRIC_PROCESS_RESIDENT] = GAUGE("ephpm_process_resident_memory_bytes",
        "Memory of a role's processes; shared pages count in each.", LABELS(METRIC_LABEL_ROLE)),
    [METRIC_PROCESS_PROPORTIONAL] = GAUGE("ephpm_process_proportional_memory_bytes",
        "The same with every shared page counted once, by parts (PSS).", LABELS(METRIC_LABEL_ROLE)),
    [METRIC_PROCESS_CPU] = COUNTER("ephpm_process_cpu_seconds_total",
        "User and system time of a role's processes, with those that ended.", .decimals = 9,
        LABELS(METRIC_LABEL_ROLE)),
    [METRIC_PROCESS_FDS] = GAUGE("ephpm_process_open_fds",
        "Descriptors that a role's processes have open.", LABELS(METRIC_LABEL_ROLE)),
};

const struct metrics_schema metric_schema = {labels, METRIC_LABEL_COUNT, families, METRIC_COUNT};

static unsigned find(const char *const *list, size_t n, struct str name)
{
    for (size_t i = 1; i < n; i++)
        if (str_eq(str_c(list[i]), name))
            return (unsigned)i;
    return 0;
}

unsigned metric_method(struct str method)
{
    return find(methods, ARRAY_LEN(methods), method);
}

unsigned metric_status(int status)
{
    return status >= 0 && status < METRIC_STATUS_END ? status_places[status] : STATUS_OTHER;
}

unsigned metric_signal(const char *name)
{
    return find(signals, ARRAY_LEN(signals), str_c(name ? name : "none"));
}
