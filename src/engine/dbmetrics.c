/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/dbmetrics.h"

#include "base/mem.h"
#include "db/store/server.h"

/* The counters that have no label: where each is in struct db_stats. */
static const struct {
    enum metric metric;
    size_t offset;
} plain[] = {
    {METRIC_DB_CONNECTIONS, offsetof(struct db_stats, connections)},
    {METRIC_DB_REFUSED, offsetof(struct db_stats, refused)},
    {METRIC_DB_DENIED, offsetof(struct db_stats, denied)},
    {METRIC_DB_ABORTED, offsetof(struct db_stats, aborted)},
    {METRIC_DB_RECEIVED, offsetof(struct db_stats, bytes_in)},
    {METRIC_DB_SENT, offsetof(struct db_stats, bytes_out)},
    {METRIC_DB_COMMITS, offsetof(struct db_stats, commits)},
    {METRIC_DB_ROLLBACKS, offsetof(struct db_stats, rollbacks)},
    {METRIC_DB_LOCK_WAITS, offsetof(struct db_stats, lock_waits)},
    {METRIC_DB_LOCK_WAIT, offsetof(struct db_stats, lock_wait_us)},
    {METRIC_DB_LOCK_TIMEOUTS, offsetof(struct db_stats, lock_timeouts)},
    {METRIC_DB_DEADLOCKS, offsetof(struct db_stats, deadlocks)},
    {METRIC_QUERY_ROWS, offsetof(struct db_stats, rows_sent)},
    {METRIC_QUERY_ROWS, offsetof(struct db_stats, rows_changed)},
    {METRIC_QUERY_SLOW, offsetof(struct db_stats, slow)},
};

struct dbmetrics {
    struct metrics *metrics;
    const struct db_stats *stats;
    struct db_server *engine;
    const struct config *config;
    /* as of the last sample */
    uint64_t plain[ARRAY_LEN(plain)];
    uint64_t statements[DB_CLASS_COUNT];
    uint64_t errors[DB_CLASS_COUNT];
};

struct dbmetrics *dbmetrics_new(struct metrics *m, const struct db_stats *stats,
    struct db_server *engine, const struct config *cfg)
{
    struct dbmetrics *d = mem_new(sizeof(*d));

    d->metrics = m;
    d->stats = stats;
    d->engine = engine;
    d->config = cfg;
    return d;
}

void dbmetrics_free(struct dbmetrics *d)
{
    mem_free(d);
}

/* What is more than the last time. */
static void dbmetrics_add(
    struct dbmetrics *d, enum metric metric, unsigned label, const db_counter *c, uint64_t *seen)
{
    uint64_t now = db_counted(c);

    metric_add(d->metrics, metric, label, 0, now - *seen);
    *seen = now;
}

void dbmetrics_sample(struct dbmetrics *d)
{
    const struct db_stats *st = d->stats;
    const char *base = (const char *)st;

    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        dbmetrics_add(d, plain[i].metric, 0,
            (const db_counter *)(const void *)(base + plain[i].offset), &d->plain[i]);
    for (unsigned i = 0; i < DB_CLASS_COUNT; i++) {
        dbmetrics_add(d, METRIC_DB_STATEMENTS, i, &st->statements[i], &d->statements[i]);
        dbmetrics_add(d, METRIC_DB_ERRORS, i, &st->errors[i], &d->errors[i]);
    }
    metric_gauge(d->metrics, METRIC_DB_CLIENTS, 0, 0, db_counted(&st->connected));
    metric_gauge(d->metrics, METRIC_DB_THREADS, 0, 0,
        db_counted(&st->connected) + db_counted(&st->threads_cached));
}
