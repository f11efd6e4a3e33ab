/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Union, intersection and difference of sorted sets; plain sets count as ones with scores of 1. */
#include <math.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "kv/redis/coll.h"
#include "platform/random.h"

enum operation { UNION, INTER, DIFF, CARD }; /* CARD: INTER, only its size is asked for */
enum aggregate { SUM, LEAST, GREATEST };

/* A key that takes part. */
struct source {
    struct kv_items items;
    size_t word; /* the how manieth */
    bool plain;
};

struct combination {
    struct redis_call *c;
    enum operation op;
    enum aggregate aggregate;
    size_t first, n; /* words that are keys */
    struct source *sources;
    double *weights; /* NULL: 1 each */
    bool scores;     /* WITHSCORES */
    int64_t limit;
    struct map known; /* member: its number in `found` + 1 */
    struct buf found; /* struct found, one after the other */
};

/* A member met so far. */
struct found {
    double score;
    size_t keys; /* of so many, one after the other */
    struct str member;
};

static struct found *found_at(struct combination *m, size_t i)
{
    return (struct found *)(void *)(m->found.p + i * sizeof(struct found));
}

/* ---- words ---- */

/* All of a key, which is a sorted set or a plain one. False: the error was written. */
static bool read_key(struct combination *m, size_t i, struct kv_items *items, bool *plain)
{
    struct redis_call *c = m->c;
    struct str key = c->argv[m->first + i];
    int r = kv_coll_all(c->store, key, KV_ZSET, items);

    *plain = r == ERR_TYPE;
    if (*plain)
        r = kv_coll_all(c->store, key, KV_SET, items);
    if (r)
        call_store_error(c, r);
    return r == 0;
}

/* Reads them all. */
static bool read_keys(struct combination *m)
{
    m->sources = mem_new_array(m->n, sizeof(*m->sources));
    for (size_t i = 0; i < m->n; i++) {
        struct source *s = &m->sources[i];

        s->word = i;
        if (!read_key(m, i, &s->items, &s->plain))
            return false;
    }
    return true;
}

static bool parse_weights(struct combination *m, size_t i)
{
    struct redis_call *c = m->c;

    m->weights = mem_resize(m->weights, m->n * sizeof(*m->weights));
    for (size_t k = 0; k < m->n; k++) {
        if (!redis_double(c->argv[i + k], &m->weights[k])) {
            reply_error(c->reply, "ERR weight value is not a float");
            return false;
        }
    }
    return true;
}

static bool parse_aggregate(struct combination *m, size_t i)
{
    if (call_is(m->c, i, "sum"))
        m->aggregate = SUM;
    else if (call_is(m->c, i, "min"))
        m->aggregate = LEAST;
    else if (call_is(m->c, i, "max"))
        m->aggregate = GREATEST;
    else
        return false;
    return true;
}

static bool parse_options(struct combination *m, size_t i, bool store)
{
    struct redis_call *c = m->c;

    while (i < c->argc) {
        if (m->op == CARD) {
            if (c->argc - i < 2 || !call_is(c, i, "limit"))
                goto syntax;
            if (!call_int_in(c, i + 1, 0, INT64_MAX, "LIMIT can't be negative", &m->limit))
                return false;
            i += 2;
        } else if (m->op != DIFF && c->argc - i > m->n && call_is(c, i, "weights")) {
            if (!parse_weights(m, i + 1))
                return false;
            i += m->n + 1;
        } else if (m->op != DIFF && c->argc - i > 1 && call_is(c, i, "aggregate") &&
                   parse_aggregate(m, i + 1)) {
            i += 2;
        } else if (!store && call_is(c, i, "withscores")) {
            m->scores = true;
            i++;
        } else {
            goto syntax;
        }
    }
    return true;
syntax:
    call_syntax_error(c);
    return false;
}

/* numkeys at word i, keys, options. */
static bool parse(
    struct redis_call *c, enum operation op, size_t i, bool store, struct combination *m)
{
    int64_t n;

    *m = (struct combination){.c = c, .op = op};
    map_init(&m->known, random_u64());
    if (!call_int(c, i, &n))
        return false;
    if (n < 1) {
        reply_errorf(c->reply, "ERR at least 1 input key is needed for '%s' command", c->cmd->name);
        return false;
    }
    if ((uint64_t)n > c->argc - i - 1) {
        call_syntax_error(c);
        return false;
    }
    m->first = i + 1;
    m->n = (size_t)n;
    return read_keys(m) && parse_options(m, i + 1 + m->n, store);
}

/* ---- combining ---- */

static double joined(enum aggregate aggregate, double a, double b)
{
    double sum;

    if (aggregate == LEAST)
        return MIN(b, a);
    if (aggregate == GREATEST)
        return MAX(b, a);
    sum = a + b;
    return isnan(sum) ? 0 : sum; /* of two infinities */
}

static double weight_of(const struct combination *m, size_t i)
{
    return m->weights ? m->weights[i] : 1;
}

/* A member of the i-th key, whose score has its weight. */
static void meet(struct combination *m, size_t i, struct str member, double score)
{
    size_t number = (size_t)(uintptr_t)map_get(&m->known, member);
    struct found *f;

    if (m->op != UNION && i > 0 && number == 0)
        return;
    if (isnan(score) && (m->op == UNION || number == 0))
        score = 0;
    if (number == 0) {
        struct found new = {.score = score, .keys = 1};

        buf_add(&m->found, &new, sizeof(new));
        (void)map_set(&m->known, member, (void *)(m->found.len / sizeof(new)));
        return;
    }
    f = found_at(m, number - 1);
    if (m->op == DIFF)
        f->keys = 0;
    else if (m->op == UNION || f->keys == i) {
        f->score = joined(m->aggregate, f->score, score);
        f->keys++;
    }
}

static int fewest_first(const void *a, const void *b)
{
    const struct source *x = a, *y = b;

    return (x->items.n > y->items.n) - (x->items.n < y->items.n);
}

static void combine(struct combination *m)
{
    struct kv_item item;

    /* As Redis does it: where infinite scores meet, the order decides. */
    if (m->op != DIFF)
        qsort(m->sources, m->n, sizeof(*m->sources), fewest_first);
    for (size_t i = 0; i < m->n; i++) {
        struct source *s = &m->sources[i];

        while (kv_items_next(&s->items, &item))
            meet(m, i, item.member, (s->plain ? 1 : item.score) * weight_of(m, s->word));
    }
}

static int by_score(const void *a, const void *b)
{
    const struct kv_item *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return str_cmp(x->member, y->member);
}

/* The result in order; freed by mem_free(). Members borrow from the map. */
static struct kv_item *result(struct combination *m, size_t *n)
{
    struct kv_item *items = mem_new_array(m->known.count, sizeof(*items));
    struct str member;
    void *value;
    size_t it = 0, k = 0;

    while (map_next(&m->known, &it, &member, &value)) {
        const struct found *f = found_at(m, (size_t)(uintptr_t)value - 1);

        if (m->op == INTER ? f->keys == m->n : f->keys > 0)
            items[k++] = (struct kv_item){.member = member, .score = f->score};
    }
    qsort(items, k, sizeof(*items), by_score);
    *n = k;
    return items;
}

static void fini(struct combination *m)
{
    for (size_t i = 0; m->sources && i < m->n; i++)
        kv_items_fini(&m->sources[i].items);
    mem_free(m->sources);
    map_fini(&m->known);
    buf_fini(&m->found);
    mem_free(m->weights);
}

/* ---- commands ---- */

static void reply(struct redis_call *c, enum operation op)
{
    struct combination m;
    struct kv_item *items;
    size_t n;

    if (!parse(c, op, 1, false, &m))
        goto done;
    combine(&m);
    items = result(&m, &n);
    reply_array(c->reply, m.scores && c->reply->resp == 2 ? 2 * n : n);
    for (size_t i = 0; i < n; i++) {
        if (m.scores && c->reply->resp > 2)
            reply_array(c->reply, 2);
        reply_bulk(c->reply, items[i].member);
        if (m.scores)
            coll_reply_score(c, items[i].score);
    }
    mem_free(items);
done:
    fini(&m);
}

static void store(struct redis_call *c, enum operation op)
{
    struct combination m;
    struct kv_item *items;
    size_t n;
    int r;

    if (!parse(c, op, 2, true, &m))
        goto done;
    combine(&m);
    items = result(&m, &n);
    r = kv_coll_replace(c->store, c->argv[1], KV_ZSET, items, n, 0);
    mem_free(items);
    coll_reply_int(c, r, (int64_t)n);
done:
    fini(&m);
}

static void cmd_zunion(struct redis_call *c)
{
    reply(c, UNION);
}

static void cmd_zinter(struct redis_call *c)
{
    reply(c, INTER);
}

static void cmd_zdiff(struct redis_call *c)
{
    reply(c, DIFF);
}

static void cmd_zunionstore(struct redis_call *c)
{
    store(c, UNION);
}

static void cmd_zinterstore(struct redis_call *c)
{
    store(c, INTER);
}

static void cmd_zdiffstore(struct redis_call *c)
{
    store(c, DIFF);
}

static void cmd_zintercard(struct redis_call *c)
{
    struct combination m;
    struct kv_item *items;
    size_t n;

    if (parse(c, CARD, 1, false, &m)) {
        m.op = INTER;
        combine(&m);
        items = result(&m, &n);
        mem_free(items);
        reply_int(c->reply, m.limit ? MIN(m.limit, (int64_t)n) : (int64_t)n);
    }
    fini(&m);
}

/* The destination, then what numkeys counts. */
static size_t store_keys(const struct str *argv, size_t argc, size_t *out, size_t max)
{
    int64_t n;
    size_t found = 0;

    if (argc < 4 || !redis_int(argv[2], &n) || n < 1 || (uint64_t)n > argc - 3)
        return 0;
    for (size_t i = 0; i < (size_t)n + 1; i++, found++)
        if (i < max)
            out[i] = i == 0 ? 1 : i + 2;
    return found;
}

#define READ  (CMD_READONLY | CMD_NUMKEYS)
#define STORE (CMD_WRITE | CMD_DENYOOM | CMD_MOVABLE)

const struct redis_command redis_zset_many_commands[] = {
    {"zunion", cmd_zunion, -3, READ, 1, 1, 1, "6.2.0",
        "Returns the union of multiple sorted sets."},
    {"zinter", cmd_zinter, -3, READ, 1, 1, 1, "6.2.0",
        "Returns the intersection of multiple sorted sets."},
    {"zdiff", cmd_zdiff, -3, READ, 1, 1, 1, "6.2.0",
        "Returns the difference between multiple sorted sets."},
    {"zintercard", cmd_zintercard, -3, READ, 1, 1, 1, "7.0.0",
        "Returns the number of members of the intersection of multiple sorted sets."},
    {"zunionstore", cmd_zunionstore, -4, STORE, 1, 1, 1, "2.0.0",
        "Stores the union of multiple sorted sets in a key.", store_keys},
    {"zinterstore", cmd_zinterstore, -4, STORE, 1, 1, 1, "2.0.0",
        "Stores the intersection of multiple sorted sets in a key.", store_keys},
    {"zdiffstore", cmd_zdiffstore, -4, STORE, 1, 1, 1, "6.2.0",
        "Stores the difference of multiple sorted sets in a key.", store_keys},
    {0},
};
