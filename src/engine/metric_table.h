/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_METRIC_TABLE_H
#define EPHPM_ENGINE_METRIC_TABLE_H

/*
 * Everything that /metrics can show: the rows for core/metrics.h. docs/metrics.md is printed from
 * them. Master, front and the other roles that run no PHP share the segment; workers do not have it
 * (they run what tenants wrote): what they know comes in their messages.
 *
 * Who writes what: the front all of http, php and the pool; the master generations, deploys,
 * OPcache and processes; the role kv what is of stores and of the Redis protocol; the role db what
 * is of databases. Gauges are set when somebody scrapes: the front asks the master, the master asks
 * the roles kv and db (front_metrics.c, master_metrics.c, kvrole.c, dbmetrics.c).
 */

#include "core/metrics.h"

enum metric {
    METRIC_BUILD_INFO,
    METRIC_START_TIME,
    /* http */
    METRIC_HTTP_REQUESTS,
    METRIC_HTTP_IN_FLIGHT,
    METRIC_HTTP_DURATION,
    METRIC_HTTP_REQUEST_BODY,
    METRIC_HTTP_RESPONSE_BODY,
    METRIC_HTTP_COMPRESSION,
    METRIC_HTTP_TIMEOUTS,
    METRIC_HTTP_BODY_OVERFLOW,
    METRIC_HTTP_BAD_REQUESTS,
    METRIC_HTTP_CONNECTIONS,
    METRIC_HTTP_CONNECTIONS_TOTAL,
    METRIC_HTTP_CONNECTIONS_REFUSED,
    METRIC_RATE_LIMITED,
    METRIC_SITE_RATE_LIMITED,
    METRIC_SITE_REQUESTS,
    METRIC_SPOOL_BYTES,
    METRIC_SPOOL_FILES,
    /* php */
    METRIC_PHP_EXECUTIONS,
    METRIC_PHP_DURATION,
    METRIC_PHP_OUTPUT,
    METRIC_PHP_MEMORY_PEAK,
    METRIC_PHP_SHED,
    /* sessions in the store */
    METRIC_SESSIONS_OPENED,
    METRIC_SESSION_WAIT,
    METRIC_SESSIONS_TAKEN_OVER,
    METRIC_SESSIONS_NOT_WRITTEN,
    /* pool */
    METRIC_POOL_SIZE,
    METRIC_POOL_QUEUE,
    METRIC_POOL_BOOT_FAILURES,
    METRIC_POOL_CONTAINED_CRASHES,
    METRIC_POOL_RECYCLES,
    METRIC_WORKER_POOL_SIZE,
    METRIC_WORKER_BUSY,
    METRIC_WORKER_IDLE,
    METRIC_WORKER_QUEUE,
    METRIC_WORKER_WAIT,
    METRIC_WORKER_BOOT_DURATION,
    METRIC_WORKER_BOOT_TIMEOUTS,
    METRIC_WORKER_BOOT_FAILURES,
    METRIC_WORKER_RECYCLES,
    METRIC_WORKER_CRASHES,
    /* generations */
    METRIC_GENERATIONS,
    METRIC_GENERATION_ID,
    METRIC_DEPLOYS,
    METRIC_DEPLOY_TIME,
    METRIC_DEPLOY_DURATION,
    METRIC_ROLE_RESTARTS,
    /* opcache */
    METRIC_OPCACHE_INVALIDATIONS,
    METRIC_OPCACHE_USED,
    METRIC_OPCACHE_FREE,
    METRIC_OPCACHE_WASTED,
    METRIC_OPCACHE_SCRIPTS,
    METRIC_OPCACHE_FULL,
    METRIC_JIT_SIZE,
    METRIC_JIT_FREE,
    METRIC_JIT_MEASURING,
    METRIC_JIT_CPU,
    METRIC_JIT_SAMPLES,
    METRIC_JIT_DECISIONS,
    /* kv */
    METRIC_KV_KEYS,
    METRIC_KV_USED,
    METRIC_KV_MEMORY,
    METRIC_KV_HITS,
    METRIC_KV_MISSES,
    METRIC_KV_EXPIRED,
    METRIC_KV_EVICTED,
    METRIC_KV_REPAIRED,
    METRIC_KV_DROPPED,
    METRIC_REDIS_CLIENTS,
    METRIC_REDIS_BLOCKED,
    METRIC_REDIS_SUBSCRIBED,
    METRIC_REDIS_CONNECTIONS,
    METRIC_REDIS_REJECTED,
    METRIC_REDIS_COMMANDS,
    METRIC_REDIS_ERRORS,
    METRIC_REDIS_RECEIVED,
    METRIC_REDIS_SENT,
    /* db */
    METRIC_DB_CLIENTS,
    METRIC_DB_THREADS,
    METRIC_DB_CONNECTIONS,
    METRIC_DB_REFUSED,
    METRIC_DB_DENIED,
    METRIC_DB_ABORTED,
    METRIC_DB_RECEIVED,
    METRIC_DB_SENT,
    METRIC_DB_STATEMENTS,
    METRIC_DB_ERRORS,
    METRIC_DB_COMMITS,
    METRIC_DB_ROLLBACKS,
    METRIC_DB_LOCK_WAITS,
    METRIC_DB_LOCK_WAIT,
    METRIC_DB_LOCK_TIMEOUTS,
    METRIC_DB_DEADLOCKS,
    METRIC_QUERY_TOTAL,
    METRIC_QUERY_DURATION,
    METRIC_QUERY_DIGESTS,
    METRIC_QUERY_ROWS,
    METRIC_QUERY_SLOW,
    /* processes */
    METRIC_PROCESSES,
    METRIC_PROCESS_RESIDENT,
    METRIC_PROCESS_PROPORTIONAL,
    METRIC_PROCESS_CPU,
    METRIC_PROCESS_FDS,
    METRIC_COUNT
};

enum metric_label {
    METRIC_LABEL_VERSION,
    METRIC_LABEL_METHOD,
    METRIC_LABEL_STATUS,
    METRIC_LABEL_HANDLER,
    METRIC_LABEL_STAGE,
    METRIC_LABEL_SITE,
    METRIC_LABEL_VHOST, /* a site, by the name that others give the label */
    METRIC_LABEL_CLASS,
    METRIC_LABEL_DIRECTION,
    METRIC_LABEL_PHP_STATUS,
    METRIC_LABEL_ENGINE,
    METRIC_LABEL_POOL_REASON,
    METRIC_LABEL_RECYCLE_REASON,
    METRIC_LABEL_SIGNAL,
    METRIC_LABEL_STATE,
    METRIC_LABEL_OPERATION,
    METRIC_LABEL_TRIGGER,
    METRIC_LABEL_RESULT,
    METRIC_LABEL_JIT,
    METRIC_LABEL_JIT_CHOICE,
    METRIC_LABEL_ROLE,
    METRIC_LABEL_CHILD,
    METRIC_LABEL_STATEMENT,
    METRIC_LABEL_DIGEST,
    METRIC_LABEL_QUERY_KIND,
    METRIC_LABEL_COUNT
};

/* Values of labels, in the order of the table. */
enum metric_stage {
    METRIC_STAGE_REQUEST,
    METRIC_STAGE_WORKER,
    METRIC_STAGE_HEADER,
    METRIC_STAGE_BODY,
    METRIC_STAGE_SEND
};
enum metric_direction { METRIC_REQUEST, METRIC_RESPONSE };
enum metric_php_status { METRIC_PHP_OK, METRIC_PHP_ERROR };
enum metric_pool_reason { METRIC_POOL_HUNG, METRIC_POOL_POISONED };
enum metric_recycle {
    METRIC_RECYCLE_REQUESTS,
    METRIC_RECYCLE_MEMORY,
    METRIC_RECYCLE_FATAL,
    METRIC_RECYCLE_HUNG
};
enum metric_result { METRIC_RESULT_OK, METRIC_RESULT_FAILED };
enum metric_role {
    METRIC_ROLE_MASTER,
    METRIC_ROLE_FRONT,
    METRIC_ROLE_PROTOTYPE,
    METRIC_ROLE_WORKER,
    METRIC_ROLE_KV,
    METRIC_ROLE_DB,
    METRIC_ROLE_COUNT
};
enum metric_query_kind {
    METRIC_QUERY_SELECT,
    METRIC_QUERY_INSERT,
    METRIC_QUERY_UPDATE,
    METRIC_QUERY_DELETE,
    METRIC_QUERY_OTHER
};
enum { METRIC_DIGESTS = 1000 }; /* that have a label of their own, at most */
enum metric_child { METRIC_CHILD_FRONT, METRIC_CHILD_PROTOTYPE, METRIC_CHILD_KV, METRIC_CHILD_DB };

extern const struct metrics_schema metric_schema;

/* The label value of a method (others are OTHER), of a status, of the name of a signal. */
unsigned metric_method(struct str method);
unsigned metric_status(int status);
unsigned metric_signal(const char *name);

/* n more, at two label values; m == NULL: nothing is recorded. */
static inline void metric_add(struct metrics *m, enum metric f, unsigned a, unsigned b, uint64_t n)
{
    if (m && n)
        metrics_add(m, f, metrics_at(m, f, a, b, 0), n);
}

static inline void metric_count(struct metrics *m, enum metric f, unsigned a, unsigned b)
{
    metric_add(m, f, a, b, 1);
}

static inline void metric_observe(
    struct metrics *m, enum metric f, unsigned a, unsigned b, uint64_t value)
{
    if (m)
        metrics_observe(m, f, metrics_at(m, f, a, b, 0), value);
}

static inline void metric_gauge(
    struct metrics *m, enum metric f, unsigned a, unsigned b, uint64_t value)
{
    if (m)
        metrics_set(m, f, metrics_at(m, f, a, b, 0), (int64_t)value);
}

#endif
