/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/dbmetrics.h"

#include <assert.h>
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "db/store/server.h"
#include "platform/random.h"

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

enum { DBMETRICS_BUCKETS = 24, DBMETRICS_HEX = 16 };

/* A shape of statements that has a label, and what is in the metrics of it. */
struct dbmetrics_digest {
    unsigned label;
    uint64_t count, errors, total_us;
    uint64_t histogram[DBMETRICS_BUCKETS];
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
    struct map digests; /* struct dbmetrics_digest by database and hash */
    uint64_t active;    /* shapes in this sample */
    uint64_t labelled;  /* statements of those that have a label, ever */
    uint64_t others;    /* of the rest */
};

static_assert(sizeof(((struct db_digest *)0)->histogram) == DBMETRICS_BUCKETS * sizeof(uint64_t),
    "the buckets of a digest");

struct dbmetrics *dbmetrics_new(struct metrics *m, const struct db_stats *stats,
    struct db_server *engine, const struct config *cfg)
{
    struct dbmetrics *d = mem_new(sizeof(*d));

    d->metrics = m;
    d->stats = stats;
    d->engine = engine;
    d->config = cfg;
    map_init(&d->digests, random_u64());
    return d;
}

void dbmetrics_free(struct dbmetrics *d)
{
    struct str key;
    void *value;
    size_t it = 0;

    if (!d)
        return;
    while (map_next(&d->digests, &it, &key, &value))
        mem_free(value);
    map_fini(&d->digests);
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

/* --- shapes ----------------------------------------------------------------------------------- */

static enum metric_query_kind dbmetrics_kind(struct str text)
{
    static const struct {
        struct str word;
        enum metric_query_kind kind;
    } words[] = {
        {STR("SELECT"), METRIC_QUERY_SELECT},
        {STR("(SELECT"), METRIC_QUERY_SELECT},
        {STR("WITH"), METRIC_QUERY_SELECT},
        {STR("INSERT"), METRIC_QUERY_INSERT},
        {STR("REPLACE"), METRIC_QUERY_INSERT},
        {STR("UPDATE"), METRIC_QUERY_UPDATE},
        {STR("DELETE"), METRIC_QUERY_DELETE},
    };

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (str_istarts(text, words[i].word))
            return words[i].kind;
    }
    return METRIC_QUERY_OTHER;
}

/* NULL: as many have a label as may. */
static struct dbmetrics_digest *dbmetrics_find(struct dbmetrics *d, const struct db_digest *g)
{
    struct dbmetrics_digest *seen;
    char hex[DBMETRICS_HEX + 1];
    struct buf key = {0};

    (void)snprintf(hex, sizeof(hex), "%016llx", (unsigned long long)g->hash);
    buf_printf(&key, "%s " STR_F, hex, STR_A(g->database));
    seen = map_get(&d->digests, buf_str(&key));
    if (!seen && d->digests.count < (size_t)d->config->analysis.label_series) {
        seen = mem_new(sizeof(*seen));
        seen->label = metrics_claim(d->metrics, METRIC_LABEL_DIGEST, str_c(hex));
        (void)map_set(&d->digests, buf_str(&key), seen);
    }
    buf_fini(&key);
    return seen;
}

/* A shape that made room and came back has counted from 0 again. */
static uint64_t dbmetrics_more(uint64_t now, uint64_t *seen)
{
    uint64_t more = now >= *seen ? now - *seen : now;

    *seen = now;
    return more;
}

static void dbmetrics_durations(
    struct dbmetrics *d, struct dbmetrics_digest *seen, const struct db_digest *g, uint32_t series)
{
    uint64_t sum = dbmetrics_more(g->total_us, &seen->total_us) * 1000;

    for (unsigned i = 0; i < DBMETRICS_BUCKETS; i++) {
        uint64_t n = dbmetrics_more(g->histogram[i], &seen->histogram[i]);

        if (n) { /* the sum goes with the first of them */
            metrics_observe_many(
                d->metrics, METRIC_QUERY_DURATION, series, (UINT64_C(1000) << i), n, sum);
            sum = 0;
        }
    }
}

static void dbmetrics_on_digest(void *arg, const struct db_digest *g)
{
    struct dbmetrics *d = arg;
    struct dbmetrics_digest *seen = dbmetrics_find(d, g);
    enum metric_query_kind kind = dbmetrics_kind(g->text);
    uint64_t count, errors;

    d->active++;
    if (!seen)
        return;
    count = dbmetrics_more(g->count, &seen->count);
    errors = dbmetrics_more(g->errors, &seen->errors);
    d->labelled += count;
    metrics_add(d->metrics, METRIC_QUERY_TOTAL,
        metrics_at(d->metrics, METRIC_QUERY_TOTAL, seen->label, kind, METRIC_PHP_OK),
        count > errors ? count - errors : 0);
    metrics_add(d->metrics, METRIC_QUERY_TOTAL,
        metrics_at(d->metrics, METRIC_QUERY_TOTAL, seen->label, kind, METRIC_PHP_ERROR), errors);
    dbmetrics_durations(
        d, seen, g, metrics_at(d->metrics, METRIC_QUERY_DURATION, seen->label, kind, 0));
}

static void dbmetrics_sample_digests(struct dbmetrics *d)
{
    uint64_t all = 0, others;

    d->active = 0;
    db_server_digests(d->engine, STR_NONE, dbmetrics_on_digest, d);
    metric_gauge(d->metrics, METRIC_QUERY_DIGESTS, 0, 0, d->active);
    for (unsigned i = 0; i < DB_CLASS_COUNT; i++)
        all += db_counted(&d->stats->statements[i]);
    others = all > d->labelled ? all - d->labelled : 0;
    if (d->active > d->digests.count && others > d->others) {
        metrics_add(d->metrics, METRIC_QUERY_TOTAL,
            metrics_at(
                d->metrics, METRIC_QUERY_TOTAL, METRIC_DIGESTS, METRIC_QUERY_OTHER, METRIC_PHP_OK),
            others - d->others);
    }
    d->others = others;
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
    if (d->config->analysis.query_stats)
        dbmetrics_sample_digests(d);
    metric_gauge(d->metrics, METRIC_DB_CLIENTS, 0, 0, db_counted(&st->connected));
    metric_gauge(d->metrics, METRIC_DB_THREADS, 0, 0,
        db_counted(&st->connected) + db_counted(&st->threads_cached));
}
