/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Sorted sets. */
#include <math.h>

#include "base/mem.h"
#include "kv/redis/coll.h"

/* ---- adding ---- */

struct zadd {
    unsigned flags;
    bool changed, incr; /* CH, INCR */
    size_t first;       /* word of the first score */
};

/* The options, which end where the first score is. */
static bool parse_zadd(struct redis_call *c, struct zadd *z)
{
    size_t i = 2;

    for (; i < c->argc; i++) {
        if (call_is(c, i, "nx"))
            z->flags |= KV_ONLY_NEW;
        else if (call_is(c, i, "xx"))
            z->flags |= KV_ONLY_OLD;
        else if (call_is(c, i, "gt"))
            z->flags |= KV_ONLY_GREATER;
        else if (call_is(c, i, "lt"))
            z->flags |= KV_ONLY_LESS;
        else if (call_is(c, i, "ch"))
            z->changed = true;
        else if (call_is(c, i, "incr"))
            z->incr = true;
        else
            break;
    }
    z->first = i;
    if (i == c->argc || (c->argc - i) % 2 != 0) {
        call_syntax_error(c);
        return false;
    }
    return true;
}

static bool check_zadd(struct redis_call *c, const struct zadd *z)
{
    unsigned f = z->flags;

    if (f & KV_ONLY_NEW && f & KV_ONLY_OLD)
        reply_error(c->reply, "ERR XX and NX options at the same time are not compatible");
    else if ((f & KV_ONLY_GREATER && f & (KV_ONLY_NEW | KV_ONLY_LESS)) ||
             (f & KV_ONLY_LESS && f & KV_ONLY_NEW))
        reply_error(c->reply, "ERR GT, LT, and/or NX options at the same time are not compatible");
    else if (z->incr && c->argc - z->first > 2)
        reply_error(c->reply, "ERR INCR option supports a single increment-element pair");
    else
        return true;
    return false;
}

static void incr(struct redis_call *c, struct str member, double by, unsigned flags)
{
    double score;
    int r = kv_zset_incr(c->store, c->argv[1], member, by, flags, &score);

    if (r == 0)
        coll_reply_score(c, score);
    else if (r == ERR_BUSY)
        reply_null(c->reply);
    else if (r == ERR_RANGE)
        reply_error(c->reply, "ERR resulting score is not a number (NaN)");
    else
        call_store_error(c, r);
}

static void cmd_zadd(struct redis_call *c)
{
    struct kv_zadd done = {0};
    struct zadd z = {0};
    struct kv_item *items;
    size_t n;
    int r;

    if (!parse_zadd(c, &z) || !check_zadd(c, &z))
        return;
    n = (c->argc - z.first) / 2;
    items = mem_new_array(n, sizeof(*items));
    for (size_t i = 0; i < n; i++) {
        items[i].member = c->argv[z.first + 2 * i + 1];
        if (!call_double(c, z.first + 2 * i, &items[i].score))
            goto done;
    }
    if (z.incr) {
        incr(c, items[0].member, items[0].score, z.flags);
        goto done;
    }
    r = kv_zset_add(c->store, c->argv[1], items, n, z.flags, &done);
    coll_reply_int(c, r, (int64_t)(done.added + (z.changed ? done.changed : 0)));
done:
    mem_free(items);
}

static void cmd_zincrby(struct redis_call *c)
{
    double by;

    if (call_double(c, 2, &by))
        incr(c, c->argv[3], by, 0);
}

/* ---- one member ---- */

static void cmd_zscore(struct redis_call *c)
{
    double score;
    int r = kv_zset_score(c->store, c->argv[1], c->argv[2], &score);

    if (r == 0)
        coll_reply_score(c, score);
    else if (r == ERR_NOTFOUND)
        reply_null(c->reply);
    else
        call_store_error(c, r);
}

static void cmd_zmscore(struct redis_call *c)
{
    uint64_t n;
    double score;

    if (!coll_len(c, c->argv[1], KV_ZSET, &n))
        return;
    reply_array(c->reply, c->argc - 2);
    for (size_t i = 2; i < c->argc; i++) {
        if (kv_zset_score(c->store, c->argv[1], c->argv[i], &score) == 0)
            coll_reply_score(c, score);
        else
            reply_null(c->reply);
    }
}

static void rank(struct redis_call *c, bool reverse)
{
    uint64_t at = 0;
    double score;
    int r = kv_zset_rank(c->store, c->argv[1], c->argv[2], reverse, &at, &score);

    if (r == ERR_NOTFOUND)
        reply_null(c->reply);
    else
        coll_reply_int(c, r, (int64_t)at);
}

static void cmd_zrank(struct redis_call *c)
{
    rank(c, false);
}

static void cmd_zrevrank(struct redis_call *c)
{
    rank(c, true);
}

static void cmd_zcard(struct redis_call *c)
{
    coll_cmd_len(c, KV_ZSET);
}

static void cmd_zrem(struct redis_call *c)
{
    coll_cmd_rem(c, KV_ZSET);
}

static void cmd_zscan(struct redis_call *c)
{
    coll_cmd_scan(c, KV_ZSET);
}

static void cmd_zrandmember(struct redis_call *c)
{
    coll_cmd_random(c, KV_ZSET, "withscores");
}

/* ---- popping ---- */

static void reply_pairs(struct redis_call *c, struct kv_items *items, bool nested)
{
    struct kv_item item;

    reply_array(c->reply, nested ? items->n : 2 * items->n);
    while (kv_items_next(items, &item)) {
        if (nested)
            reply_array(c->reply, 2);
        reply_bulk(c->reply, item.member);
        coll_reply_score(c, item.score);
    }
}

static void pop(struct redis_call *c, enum kv_end end)
{
    struct kv_items items = {0};
    uint64_t count = 1;
    int r;

    if (c->argc > 3) {
        call_syntax_error(c);
        return;
    }
    if (c->argc == 3 && !coll_count(c, 2, &count))
        return;
    r = kv_zset_pop(c->store, c->argv[1], end, count, &items);
    if (r)
        call_store_error(c, r);
    else
        reply_pairs(c, &items, c->argc == 3 && c->reply->resp > 2);
    kv_items_fini(&items);
}

static void cmd_zpopmin(struct redis_call *c)
{
    pop(c, KV_HEAD);
}

static void cmd_zpopmax(struct redis_call *c)
{
    pop(c, KV_TAIL);
}

/* Of the first of these keys that is there: [key, member, score], or with `many`
 * [key, [[member, score]]]. False: none is, and nothing was written. */
static bool pop_first(
    struct redis_call *c, size_t from, size_t n, enum kv_end end, uint64_t count, bool many)
{
    struct kv_items items = {0};
    struct kv_item item;
    int r = 0;

    for (size_t i = from; i < from + n && r == 0 && items.n == 0; i++) {
        r = kv_zset_pop(c->store, c->argv[i], end, count, &items);
        if (r == ERR_TYPE && coll_waits(c))
            r = 0;
        if (r || items.n == 0)
            continue;
        reply_array(c->reply, many ? 2 : 3);
        reply_bulk(c->reply, c->argv[i]);
        if (many) {
            reply_pairs(c, &items, true);
        } else if (kv_items_next(&items, &item)) {
            reply_bulk(c->reply, item.member);
            coll_reply_score(c, item.score);
        }
    }
    if (r)
        call_store_error(c, r);
    n = items.n;
    kv_items_fini(&items);
    return r || n;
}

static void cmd_bzpopmin(struct redis_call *c)
{
    coll_cmd_blocking_pop(c, pop_first, KV_HEAD);
}

static void cmd_bzpopmax(struct redis_call *c)
{
    coll_cmd_blocking_pop(c, pop_first, KV_TAIL);
}

static void cmd_zmpop(struct redis_call *c)
{
    coll_cmd_mpop(c, 1, "min", "max", pop_first);
}

static void cmd_bzmpop(struct redis_call *c)
{
    coll_cmd_mpop(c, 2, "min", "max", pop_first);
}

/* ---- ranges ---- */

static bool parse_score(struct str s, double *out, bool *excluded)
{
    *excluded = s.len && s.p[0] == '(';
    return redis_double(*excluded ? str_sub(s, 1, s.len - 1) : s, out);
}

/* "-", "+", "[bytes", "(bytes". */
static bool parse_lex(struct str s, struct str *out, bool *excluded, char *sign)
{
    *sign = 0;
    *excluded = false;
    if (s.len == 1 && (s.p[0] == '-' || s.p[0] == '+')) {
        *sign = s.p[0];
        return true;
    }
    if (s.len == 0 || (s.p[0] != '[' && s.p[0] != '('))
        return false;
    *excluded = s.p[0] == '(';
    *out = str_sub(s, 1, s.len - 1);
    return true;
}

/* Words low and high as the bounds of a range. */
static bool parse_bounds(struct redis_call *c, size_t low, size_t high, struct kv_range *range)
{
    char min_sign, max_sign;

    if (range->by == KV_BY_RANK)
        return call_int(c, low, &range->start) && call_int(c, high, &range->stop);
    if (range->by == KV_BY_SCORE) {
        if (parse_score(c->argv[low], &range->min, &range->min_excluded) &&
            parse_score(c->argv[high], &range->max, &range->max_excluded))
            return true;
        reply_error(c->reply, "ERR min or max is not a float");
        return false;
    }
    if (!parse_lex(c->argv[low], &range->lex_min, &range->min_excluded, &min_sign) ||
        !parse_lex(c->argv[high], &range->lex_max, &range->max_excluded, &max_sign)) {
        reply_error(c->reply, "ERR min or max not valid string range item");
        return false;
    }
    range->no_min = min_sign == '-';
    range->no_max = max_sign == '+';
    range->nothing = min_sign == '+' || max_sign == '-';
    return true;
}

struct zrange {
    struct kv_range range;
    bool any; /* BYSCORE, BYLEX and REV may follow */
    bool scores, limited;
};

static bool parse_limit(struct redis_call *c, size_t i, struct zrange *z)
{
    int64_t offset;

    if (!call_int(c, i + 1, &offset) || !call_int(c, i + 2, &z->range.limit))
        return false;
    z->limited = z->range.limit != -1;
    z->range.offset = offset < 0 ? 0 : (uint64_t)offset;
    if (offset < 0)
        z->range.limit = 0;
    return true;
}

/* Options from word i on. */
static bool parse_options(struct redis_call *c, size_t i, bool store, struct zrange *z)
{
    struct kv_range *range = &z->range;

    for (; i < c->argc; i++) {
        if (!store && call_is(c, i, "withscores")) {
            z->scores = true;
        } else if (call_is(c, i, "limit") && c->argc - i > 2) {
            if (!parse_limit(c, i, z))
                return false;
            i += 2;
        } else if (z->any && call_is(c, i, "rev")) {
            range->reverse = true;
        } else if (z->any && call_is(c, i, "byscore")) {
            range->by = KV_BY_SCORE;
        } else if (z->any && call_is(c, i, "bylex")) {
            range->by = KV_BY_LEX;
        } else {
            call_syntax_error(c);
            return false;
        }
    }
    if (z->limited && range->by == KV_BY_RANK) {
        reply_error(c->reply, "ERR syntax error, LIMIT is only supported in combination with "
                              "either BYSCORE or BYLEX");
        return false;
    }
    if (range->by == KV_BY_RANK) {
        range->offset = 0;
        range->limit = -1;
    }
    if (z->scores && range->by == KV_BY_LEX) {
        reply_error(
            c->reply, "ERR syntax error, WITHSCORES not supported in combination with BYLEX");
        return false;
    }
    return true;
}

/* Key at word `at`, bounds, options. */
static bool parse_zrange(struct redis_call *c, size_t at, bool store, struct zrange *z)
{
    bool swapped;

    z->range.limit = -1;
    if (!parse_options(c, at + 3, store, z))
        return false;
    swapped = z->range.reverse && z->range.by != KV_BY_RANK;
    return parse_bounds(c, swapped ? at + 2 : at + 1, swapped ? at + 1 : at + 2, &z->range);
}

static void range(struct redis_call *c, enum kv_by by, bool reverse, bool any)
{
    struct zrange z = {.range = {.by = by, .reverse = reverse}, .any = any};
    struct kv_items items = {0};
    struct kv_item item;
    int r;

    if (!parse_zrange(c, 1, false, &z))
        return;
    r = kv_zset_range(c->store, c->argv[1], &z.range, &items);
    if (r) {
        call_store_error(c, r);
    } else if (z.scores) {
        reply_pairs(c, &items, c->reply->resp > 2);
    } else {
        reply_array(c->reply, items.n);
        while (kv_items_next(&items, &item))
            reply_bulk(c->reply, item.member);
    }
    kv_items_fini(&items);
}

static void cmd_zrange(struct redis_call *c)
{
    range(c, KV_BY_RANK, false, true);
}

static void cmd_zrevrange(struct redis_call *c)
{
    range(c, KV_BY_RANK, true, false);
}

static void cmd_zrangebyscore(struct redis_call *c)
{
    range(c, KV_BY_SCORE, false, false);
}

static void cmd_zrevrangebyscore(struct redis_call *c)
{
    range(c, KV_BY_SCORE, true, false);
}

static void cmd_zrangebylex(struct redis_call *c)
{
    range(c, KV_BY_LEX, false, false);
}

static void cmd_zrevrangebylex(struct redis_call *c)
{
    range(c, KV_BY_LEX, true, false);
}

static void cmd_zrangestore(struct redis_call *c)
{
    struct zrange z = {.range = {.by = KV_BY_RANK}, .any = true};
    struct kv_items items = {0};
    struct kv_item item, *array;
    size_t n = 0;
    int r;

    if (!parse_zrange(c, 2, true, &z))
        return;
    r = kv_zset_range(c->store, c->argv[2], &z.range, &items);
    if (r == 0) {
        array = mem_new_array(items.n, sizeof(*array));
        while (kv_items_next(&items, &item))
            array[n++] = item;
        r = kv_coll_replace(c->store, c->argv[1], KV_ZSET, array, n, 0);
        mem_free(array);
    }
    coll_reply_int(c, r, (int64_t)n);
    kv_items_fini(&items);
}

static void count(struct redis_call *c, enum kv_by by)
{
    struct kv_range range = {.by = by};
    uint64_t n = 0;
    int r;

    if (!parse_bounds(c, 2, 3, &range))
        return;
    r = kv_zset_count(c->store, c->argv[1], &range, &n);
    coll_reply_int(c, r, (int64_t)n);
}

static void cmd_zcount(struct redis_call *c)
{
    count(c, KV_BY_SCORE);
}

static void cmd_zlexcount(struct redis_call *c)
{
    count(c, KV_BY_LEX);
}

static void rem_range(struct redis_call *c, enum kv_by by)
{
    struct kv_range range = {.by = by};
    uint64_t n = 0;
    int r;

    if (!parse_bounds(c, 2, 3, &range))
        return;
    r = kv_zset_rem_range(c->store, c->argv[1], &range, &n);
    coll_reply_int(c, r, (int64_t)n);
}

static void cmd_zremrangebyrank(struct redis_call *c)
{
    rem_range(c, KV_BY_RANK);
}

static void cmd_zremrangebyscore(struct redis_call *c)
{
    rem_range(c, KV_BY_SCORE);
}

static void cmd_zremrangebylex(struct redis_call *c)
{
    rem_range(c, KV_BY_LEX);
}

#define WRITE (CMD_WRITE | CMD_DENYOOM | CMD_FAST)
#define READ  CMD_READONLY
#define FAST  (CMD_READONLY | CMD_FAST)
#define BLOCK (CMD_WRITE | CMD_BLOCKING | CMD_FAST)

const struct redis_command redis_zset_commands[] = {
    {"zadd", cmd_zadd, -4, WRITE, 1, 1, 1, "1.2.0",
        "Adds members to a sorted set, or updates their scores."},
    {"zincrby", cmd_zincrby, 4, WRITE, 1, 1, 1, "1.2.0",
        "Increments the score of a member in a sorted set."},
    {"zrem", cmd_zrem, -3, CMD_WRITE | CMD_FAST, 1, 1, 1, "1.2.0",
        "Removes one or more members from a sorted set."},
    {"zscore", cmd_zscore, 3, FAST, 1, 1, 1, "1.2.0", "Returns the score of a member."},
    {"zmscore", cmd_zmscore, -3, FAST, 1, 1, 1, "6.2.0", "Returns the scores of members."},
    {"zcard", cmd_zcard, 2, FAST, 1, 1, 1, "1.2.0",
        "Returns the number of members in a sorted set."},
    {"zcount", cmd_zcount, 4, FAST, 1, 1, 1, "2.0.0",
        "Returns the count of members in a range of scores."},
    {"zlexcount", cmd_zlexcount, 4, FAST, 1, 1, 1, "2.8.9",
        "Returns the count of members in a lexicographical range."},
    {"zrank", cmd_zrank, 3, FAST, 1, 1, 1, "2.0.0",
        "Returns the index of a member by ascending scores."},
    {"zrevrank", cmd_zrevrank, 3, FAST, 1, 1, 1, "2.0.0",
        "Returns the index of a member by descending scores."},
    {"zrange", cmd_zrange, -4, READ, 1, 1, 1, "1.2.0",
        "Returns members in a range of a sorted set."},
    {"zrangestore", cmd_zrangestore, -5, CMD_WRITE | CMD_DENYOOM, 1, 2, 1, "6.2.0",
        "Stores a range of a sorted set in a key."},
    {"zrevrange", cmd_zrevrange, -4, READ, 1, 1, 1, "1.2.0",
        "Returns members in a range of indexes in reverse order."},
    {"zrangebyscore", cmd_zrangebyscore, -4, READ, 1, 1, 1, "1.0.5",
        "Returns members in a range of scores."},
    {"zrevrangebyscore", cmd_zrevrangebyscore, -4, READ, 1, 1, 1, "2.2.0",
        "Returns members in a range of scores in reverse order."},
    {"zrangebylex", cmd_zrangebylex, -4, READ, 1, 1, 1, "2.8.9",
        "Returns members in a lexicographical range."},
    {"zrevrangebylex", cmd_zrevrangebylex, -4, READ, 1, 1, 1, "2.8.9",
        "Returns members in a lexicographical range in reverse order."},
    {"zremrangebyrank", cmd_zremrangebyrank, 4, CMD_WRITE, 1, 1, 1, "2.0.0",
        "Removes members in a range of indexes."},
    {"zremrangebyscore", cmd_zremrangebyscore, 4, CMD_WRITE, 1, 1, 1, "1.2.0",
        "Removes members in a range of scores."},
    {"zremrangebylex", cmd_zremrangebylex, 4, CMD_WRITE, 1, 1, 1, "2.8.9",
        "Removes members in a lexicographical range."},
    {"zpopmin", cmd_zpopmin, -2, CMD_WRITE | CMD_FAST, 1, 1, 1, "5.0.0",
        "Returns and removes the lowest-scoring members."},
    {"zpopmax", cmd_zpopmax, -2, CMD_WRITE | CMD_FAST, 1, 1, 1, "5.0.0",
        "Returns and removes the highest-scoring members."},
    {"zmpop", cmd_zmpop, -4, CMD_WRITE | CMD_NUMKEYS, 1, 1, 1, "7.0.0",
        "Removes members of the first sorted set that is not empty."},
    {"bzpopmin", cmd_bzpopmin, -3, BLOCK, 1, -2, 1, "5.0.0",
        "Removes the lowest-scoring member, waiting until there is one."},
    {"bzpopmax", cmd_bzpopmax, -3, BLOCK, 1, -2, 1, "5.0.0",
        "Removes the highest-scoring member, waiting until there is one."},
    {"bzmpop", cmd_bzmpop, -5, CMD_WRITE | CMD_BLOCKING | CMD_NUMKEYS, 2, 2, 1, "7.0.0",
        "Removes members of the first sorted set that is not empty, waiting until there is one."},
    {"zrandmember", cmd_zrandmember, -2, READ, 1, 1, 1, "6.2.0",
        "Returns random members of a sorted set."},
    {"zscan", cmd_zscan, -3, READ, 1, 1, 1, "2.8.0",
        "Iterates over members and scores of a sorted set."},
    {0},
};
