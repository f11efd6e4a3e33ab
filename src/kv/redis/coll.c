/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/redis/coll.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "kv/glob.h"
#include "kv/redis/state.h"

/* A pattern may take as many steps as its length times that of a member. */
#define SCAN_WORK_MAX ((uint64_t)1 << 31)

#define RANDOM_BATCH 1000      /* random elements that are taken at once */
#define RANDOM_MAX   (1 << 20) /* of them with repetitions: there may be any number */

void coll_reply_value(struct redis_call *c, const struct kv_value *v)
{
    char text[REDIS_TEXT_MAX];
    struct str s;

    if (redis_value_text(v, text, &s))
        reply_bulk(c->reply, s);
    else
        reply_null(c->reply);
}

size_t coll_put_score(char out[COLL_SCORE_MAX], double score)
{
    if (isinf(score))
        return reply_put_double(out, score);
    return (size_t)snprintf(out, COLL_SCORE_MAX, "%.17g", score);
}

void coll_reply_score(struct redis_call *c, double score)
{
    char text[COLL_SCORE_MAX];
    struct str s = str_n(text, coll_put_score(text, score));

    if (c->reply->resp > 2) {
        reply_raw(c->reply, STR(","));
        reply_raw(c->reply, s);
        reply_raw(c->reply, STR("\r\n"));
    } else {
        reply_bulk(c->reply, s);
    }
}

struct kv_value *coll_values(struct redis_call *c, size_t from, size_t n)
{
    struct kv_value *values = mem_new_array(n, sizeof(*values));

    for (size_t i = 0; i < n; i++)
        values[i] = (struct kv_value){.type = KV_STRING, .bytes = c->argv[from + i]};
    return values;
}

bool coll_all(struct redis_call *c, struct str key, enum kv_type type, struct kv_items *items)
{
    int r = kv_coll_all(c->store, key, type, items);

    if (r)
        call_store_error(c, r);
    return r == 0;
}

bool coll_len(struct redis_call *c, struct str key, enum kv_type type, uint64_t *n)
{
    int r = kv_coll_len(c->store, key, type, n);

    if (r)
        call_store_error(c, r);
    return r == 0;
}

void coll_reply_int(struct redis_call *c, int r, int64_t n)
{
    if (r)
        call_store_error(c, r);
    else
        reply_int(c->reply, n);
}

bool coll_count(struct redis_call *c, size_t i, uint64_t *out)
{
    int64_t n;

    if (!call_int_in(c, i, 0, INT64_MAX, "value is out of range, must be positive", &n))
        return false;
    *out = (uint64_t)n;
    return true;
}

bool coll_numkeys(struct redis_call *c, size_t i, size_t *n)
{
    int64_t number;

    if (!call_int_in(c, i, 1, INT32_MAX, "numkeys should be greater than 0", &number))
        return false;
    if ((size_t)number >= c->argc - i) {
        call_syntax_error(c);
        return false;
    }
    *n = (size_t)number;
    return true;
}

bool coll_numkeys_card(struct redis_call *c, size_t *n, int64_t *limit)
{
    int64_t number;

    if (!call_int_in(c, 1, 1, INT32_MAX, "numkeys should be greater than 0", &number))
        return false;
    if ((size_t)number > c->argc - 2) {
        reply_error(c->reply, "ERR Number of keys can't be greater than number of args");
        return false;
    }
    *n = (size_t)number;
    *limit = 0;
    if (*n + 2 == c->argc)
        return true;
    if (*n + 4 != c->argc || !call_is(c, *n + 2, "limit")) {
        call_syntax_error(c);
        return false;
    }
    return call_int_in(c, *n + 3, 0, INT64_MAX, "LIMIT can't be negative", limit);
}

bool coll_waits(const struct redis_call *c)
{
    return c->client->blocked != NULL;
}

/* ---- commands of several kinds ---- */

void coll_cmd_len(struct redis_call *c, enum kv_type type)
{
    uint64_t n;

    if (coll_len(c, c->argv[1], type, &n))
        reply_int(c->reply, (int64_t)n);
}

void coll_cmd_rem(struct redis_call *c, enum kv_type type)
{
    size_t removed = 0;
    int r = kv_coll_rem(c->store, c->argv[1], type, c->argv + 2, c->argc - 2, &removed);

    coll_reply_int(c, r, (int64_t)removed);
}

void coll_cmd_has(struct redis_call *c, enum kv_type type)
{
    int r = kv_coll_has(c->store, c->argv[1], type, c->argv[2]);

    coll_reply_int(c, r == ERR_NOTFOUND ? 0 : r, r == 0);
}

void coll_cmd_scan(struct redis_call *c, enum kv_type type)
{
    struct kv_items items = {0};
    struct redis_scan scan;
    struct kv_item item;
    size_t at, n = 0, before;
    uint64_t len, work = 0;
    int r;

    if (!coll_len(c, c->argv[1], type, &len))
        return;
    if (len == 0 && str_u64(c->argv[2], &scan.cursor) == 0) {
        redis_scan_reply(c, 0);
        reply_array(c->reply, 0);
        return;
    }
    if (!redis_scan_parse(c, 2, &scan))
        return;
    r = kv_coll_scan(c->store, c->argv[1], type, &scan.cursor, scan.count, &items);
    if (r) {
        call_store_error(c, r);
        return;
    }
    before = c->reply->out.len;
    redis_scan_reply(c, scan.cursor);
    at = reply_deferred(c->reply);
    while (kv_items_next(&items, &item)) {
        char score[COLL_SCORE_MAX];

        work += scan.pattern.len * item.member.len;
        if (work > SCAN_WORK_MAX) {
            c->reply->out.len = before;
            reply_error(c->reply, "ERR the pattern takes too long for these members");
            goto done;
        }
        if (scan.pattern.p && !kv_glob(scan.pattern, item.member))
            continue;
        n += type == KV_SET ? 1 : 2;
        reply_bulk(c->reply, item.member);
        if (type == KV_HASH)
            coll_reply_value(c, &item.value);
        else if (type == KV_ZSET)
            reply_bulk(c->reply, str_n(score, coll_put_score(score, item.score)));
    }
    reply_deferred_array(c->reply, at, n);
done:
    kv_items_fini(&items);
}

static void reply_random(
    struct redis_call *c, enum kv_type type, bool with, const struct kv_item *item)
{
    if (with && c->reply->resp > 2)
        reply_array(c->reply, 2);
    reply_bulk(c->reply, item->member);
    if (with && type == KV_HASH)
        coll_reply_value(c, &item->value);
    else if (with)
        coll_reply_score(c, item->score);
}

static void random_many(struct redis_call *c, enum kv_type type, int64_t count, bool with)
{
    struct kv_items items = {0};
    int64_t left = count < 0 ? -count : 1;
    struct kv_item item;
    bool started = false;
    int r = 0;

    while (left > 0 && !c->reply->overflow) {
        int64_t now = count < 0 ? -MIN(left, RANDOM_BATCH) : count;

        r = kv_coll_random(c->store, c->argv[1], type, now, &items);
        if (r || (items.n == 0 && started))
            break;
        left -= count < 0 ? -now : 1;
        if (!started) {
            size_t n = count < 0 && items.n ? (size_t)-count : items.n;

            reply_array(c->reply, with && c->reply->resp == 2 ? 2 * n : n);
        }
        started = true;
        if (items.n == 0)
            break;
        while (kv_items_next(&items, &item))
            reply_random(c, type, with, &item);
    }
    /* It was deleted in the meantime, by another process: the length has been announced. */
    for (; count < 0 && started && left > 0 && items.n == 0 && r == 0 && left < -count; left--)
        reply_null(c->reply);
    if (r && !started)
        call_store_error(c, r);
    else if (!started)
        reply_array(c->reply, 0);
    kv_items_fini(&items);
}

static void random_one(struct redis_call *c, enum kv_type type)
{
    struct kv_items items = {0};
    struct kv_item item;
    int r = kv_coll_random(c->store, c->argv[1], type, 1, &items);

    if (r)
        call_store_error(c, r);
    else if (kv_items_next(&items, &item))
        reply_bulk(c->reply, item.member);
    else
        reply_null(c->reply);
    kv_items_fini(&items);
}

void coll_cmd_random(struct redis_call *c, enum kv_type type, const char *with)
{
    bool values = c->argc == 4;
    int64_t count;

    if (c->argc == 2) {
        random_one(c, type);
        return;
    }
    if (!call_int(c, 2, &count))
        return;
    if (count == INT64_MIN) {
        reply_errorf(c->reply, "ERR value is out of range, value must between %lld and %lld",
            -(long long)INT64_MAX, (long long)INT64_MAX);
        return;
    }
    if (c->argc > 4 || (values && (!with || !call_is(c, 3, with)))) {
        call_syntax_error(c);
        return;
    }
    if (values && (count < -(INT64_MAX / 2) || count > INT64_MAX / 2)) {
        reply_error(c->reply, "ERR value is out of range");
        return;
    }
    if (count < -RANDOM_MAX) {
        reply_errorf(c->reply, "ERR value is out of range, at most %d members may come repeatedly",
            RANDOM_MAX);
        return;
    }
    random_many(c, type, count, values);
}

/* ---- of the first key that has something ---- */

void coll_cmd_blocking_pop(struct redis_call *c, coll_pop_cb *pop, enum kv_end end)
{
    size_t n = c->argc - 2;
    int64_t ms;

    if (call_timeout(c, c->argc - 1, &ms) && !pop(c, 1, n, end, 1, false))
        redis_block(c, &c->argv[1], n, ms, reply_null_array);
}

/* What is behind the keys, from word i on. */
static bool parse_mpop(struct redis_call *c, size_t i, const char *head, const char *tail,
    enum kv_end *end, int64_t *count)
{
    *end = KV_HEAD;
    *count = 1;
    if (i >= c->argc)
        goto syntax;
    if (call_is(c, i, tail))
        *end = KV_TAIL;
    else if (!call_is(c, i, head))
        goto syntax;
    if (++i == c->argc)
        return true;
    if (i + 2 != c->argc || !call_is(c, i, "count"))
        goto syntax;
    return call_int_in(c, i + 1, 1, INT64_MAX, "count should be greater than 0", count);
syntax:
    call_syntax_error(c);
    return false;
}

void coll_cmd_mpop(
    struct redis_call *c, size_t numkeys, const char *head, const char *tail, coll_pop_cb *pop)
{
    bool waits = numkeys > 1;
    int64_t ms, count;
    enum kv_end end;
    size_t n, from = numkeys + 1;

    if ((waits && !call_timeout(c, 1, &ms)) || !coll_numkeys(c, numkeys, &n) ||
        !parse_mpop(c, from + n, head, tail, &end, &count) ||
        pop(c, from, n, end, (uint64_t)count, true))
        return;
    if (waits)
        redis_block(c, &c->argv[from], n, ms, reply_null_array);
    else
        reply_null_array(c->reply);
}
