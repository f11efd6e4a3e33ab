/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Lists. */
#include "base/mem.h"
#include "kv/redis/coll.h"

/* ---- pushing and popping ---- */

static void push(struct redis_call *c, enum kv_end end, unsigned flags)
{
    size_t n = c->argc - 2;
    struct kv_value *values = coll_values(c, 2, n);
    uint64_t len = 0;
    int r = kv_list_push(c->store, c->argv[1], end, values, n, flags, &len);

    mem_free(values);
    coll_reply_int(c, r == ERR_NOTFOUND ? 0 : r, (int64_t)len);
}

static void cmd_lpush(struct redis_call *c)
{
    push(c, KV_HEAD, 0);
}

static void cmd_rpush(struct redis_call *c)
{
    push(c, KV_TAIL, 0);
}

static void cmd_lpushx(struct redis_call *c)
{
    push(c, KV_HEAD, KV_ONLY_OLD);
}

static void cmd_rpushx(struct redis_call *c)
{
    push(c, KV_TAIL, KV_ONLY_OLD);
}

static void reply_items(struct redis_call *c, struct kv_items *items)
{
    struct kv_item item;

    reply_array(c->reply, items->n);
    while (kv_items_next(items, &item))
        coll_reply_value(c, &item.value);
}

static void pop(struct redis_call *c, enum kv_end end)
{
    struct kv_items items = {0};
    struct kv_item item;
    uint64_t count = 1;
    int r;

    if (c->argc > 3) {
        call_arity_error(c);
        return;
    }
    if (c->argc == 3 && !coll_count(c, 2, &count))
        return;
    r = kv_list_pop(c->store, c->argv[1], end, count, &items);
    if (r && r != ERR_NOTFOUND)
        call_store_error(c, r);
    else if (c->argc == 3 && r)
        reply_null_array(c->reply);
    else if (c->argc == 3)
        reply_items(c, &items);
    else if (kv_items_next(&items, &item))
        coll_reply_value(c, &item.value);
    else
        reply_null(c->reply);
    kv_items_fini(&items);
}

static void cmd_lpop(struct redis_call *c)
{
    pop(c, KV_HEAD);
}

static void cmd_rpop(struct redis_call *c)
{
    pop(c, KV_TAIL);
}

/* ---- reading ---- */

static void cmd_llen(struct redis_call *c)
{
    coll_cmd_len(c, KV_LIST);
}

static void cmd_lindex(struct redis_call *c)
{
    struct kv_value v;
    int64_t index;
    uint64_t len;
    int r;

    if (!coll_len(c, c->argv[1], KV_LIST, &len))
        return;
    if (len == 0) {
        reply_null(c->reply);
        return;
    }
    if (!call_int(c, 2, &index))
        return;
    r = kv_list_index(c->store, c->argv[1], index, c->buf, &v);
    if (r == 0)
        coll_reply_value(c, &v);
    else if (r == ERR_NOTFOUND)
        reply_null(c->reply);
    else
        call_store_error(c, r);
}

static void cmd_lrange(struct redis_call *c)
{
    struct kv_items items = {0};
    int64_t start, stop;
    int r;

    if (!call_int(c, 2, &start) || !call_int(c, 3, &stop))
        return;
    r = kv_list_range(c->store, c->argv[1], start, stop, &items);
    if (r)
        call_store_error(c, r);
    else
        reply_items(c, &items);
    kv_items_fini(&items);
}

struct lpos {
    int64_t rank, count, most;
    bool many;
};

static bool parse_lpos(struct redis_call *c, struct lpos *p)
{
    for (size_t i = 3; i < c->argc; i += 2) {
        if (i + 1 == c->argc)
            goto syntax;
        if (call_is(c, i, "rank")) {
            if (!call_int_in(c, i + 1, -INT64_MAX, INT64_MAX, NULL, &p->rank))
                return false;
            if (p->rank == 0) {
                reply_error(c->reply,
                    "ERR RANK can't be zero: use 1 to start from the first match, 2 from the "
                    "second ... or use negative to start from the end of the list");
                return false;
            }
        } else if (call_is(c, i, "count")) {
            if (!call_int_in(c, i + 1, 0, INT64_MAX, "COUNT can't be negative", &p->count))
                return false;
            p->many = true;
        } else if (call_is(c, i, "maxlen")) {
            if (!call_int_in(c, i + 1, 0, INT64_MAX, "MAXLEN can't be negative", &p->most))
                return false;
        } else {
            goto syntax;
        }
    }
    return true;
syntax:
    call_syntax_error(c);
    return false;
}

static void cmd_lpos(struct redis_call *c)
{
    struct lpos p = {.rank = 1, .count = 1};
    uint64_t at;
    int r;

    if (!parse_lpos(c, &p))
        return;
    r = kv_list_pos(
        c->store, c->argv[1], c->argv[2], p.rank, (uint64_t)p.count, (uint64_t)p.most, c->buf);
    if (r) {
        call_store_error(c, r);
        return;
    }
    if (p.many)
        reply_array(c->reply, c->buf->len / sizeof(at));
    else if (c->buf->len == 0)
        reply_null(c->reply);
    for (size_t i = 0; i < c->buf->len; i += sizeof(at)) {
        memcpy(&at, c->buf->p + i, sizeof(at));
        reply_int(c->reply, (int64_t)at);
    }
}

/* ---- changing ---- */

static void cmd_lset(struct redis_call *c)
{
    struct kv_value v = {.type = KV_STRING, .bytes = c->argv[3]};
    int64_t index;
    uint64_t len;
    int r;

    if (!coll_len(c, c->argv[1], KV_LIST, &len))
        return;
    if (len == 0) {
        call_store_error(c, ERR_NOTFOUND);
        return;
    }
    if (!call_int(c, 2, &index))
        return;
    r = kv_list_set(c->store, c->argv[1], index, &v);
    if (r == 0)
        reply_ok(c->reply);
    else if (r == ERR_RANGE)
        reply_error(c->reply, "ERR index out of range");
    else
        call_store_error(c, r);
}

static void cmd_linsert(struct redis_call *c)
{
    struct kv_value v = {.type = KV_STRING, .bytes = c->argv[4]};
    bool before = call_is(c, 2, "before");
    uint64_t len = 0;
    int r;

    if (!before && !call_is(c, 2, "after")) {
        call_syntax_error(c);
        return;
    }
    r = kv_list_insert(c->store, c->argv[1], before, c->argv[3], &v, &len);
    if (r == ERR_RANGE)
        reply_int(c->reply, -1);
    else
        coll_reply_int(c, r == ERR_NOTFOUND ? 0 : r, (int64_t)len);
}

static void cmd_lrem(struct redis_call *c)
{
    uint64_t removed = 0;
    int64_t count;
    int r;

    if (!call_int(c, 2, &count))
        return;
    r = kv_list_rem(c->store, c->argv[1], count, c->argv[3], &removed);
    coll_reply_int(c, r, (int64_t)removed);
}

static void cmd_ltrim(struct redis_call *c)
{
    int64_t start, stop;
    int r;

    if (!call_int(c, 2, &start) || !call_int(c, 3, &stop))
        return;
    r = kv_list_trim(c->store, c->argv[1], start, stop);
    if (r)
        call_store_error(c, r);
    else
        reply_ok(c->reply);
}

/* ---- from one list to another ---- */

static bool parse_end(struct redis_call *c, size_t i, enum kv_end *out)
{
    *out = call_is(c, i, "left") ? KV_HEAD : KV_TAIL;
    if (*out == KV_HEAD || call_is(c, i, "right"))
        return true;
    call_syntax_error(c);
    return false;
}

/* ERR_NOTFOUND: nothing to move. First to its new place, then away from the old one: who is killed
 * in between leaves it in both. */
static int move(struct redis_call *c, enum kv_end from, enum kv_end to, struct kv_value *v)
{
    struct str source = c->argv[1], target = c->argv[2];
    struct kv_items items = {0};
    uint64_t len;
    int r;

    if (str_eq(source, target))
        return kv_list_rotate(c->store, source, from, to, c->buf, v);
    r = kv_list_index(c->store, source, from == KV_HEAD ? 0 : -1, c->buf, v);
    if (r == 0)
        r = kv_list_push(c->store, target, to, v, 1, 0, &len);
    if (r == 0)
        r = kv_list_pop(c->store, source, from, 1, &items);
    kv_items_fini(&items);
    return r;
}

/* False: there was nothing, and nothing was written. */
static bool move_and_reply(struct redis_call *c, enum kv_end from, enum kv_end to)
{
    struct kv_value v;
    uint64_t len;
    int r = ERR_NOTFOUND;

    if (!coll_waits(c) || kv_coll_len(c->store, c->argv[1], KV_LIST, &len) == 0)
        r = move(c, from, to, &v);
    if (r == ERR_NOTFOUND)
        return false;
    if (r)
        call_store_error(c, r);
    else
        coll_reply_value(c, &v);
    return true;
}

static void cmd_lmove(struct redis_call *c)
{
    enum kv_end from, to;

    if (parse_end(c, 3, &from) && parse_end(c, 4, &to) && !move_and_reply(c, from, to))
        reply_null(c->reply);
}

static void cmd_rpoplpush(struct redis_call *c)
{
    if (!move_and_reply(c, KV_TAIL, KV_HEAD))
        reply_null(c->reply);
}

static void cmd_blmove(struct redis_call *c)
{
    enum kv_end from, to;
    int64_t ms;

    if (parse_end(c, 3, &from) && parse_end(c, 4, &to) && call_timeout(c, 5, &ms) &&
        !move_and_reply(c, from, to))
        redis_block(c, &c->argv[1], 1, ms, reply_null);
}

static void cmd_brpoplpush(struct redis_call *c)
{
    int64_t ms;

    if (call_timeout(c, 3, &ms) && !move_and_reply(c, KV_TAIL, KV_HEAD))
        redis_block(c, &c->argv[1], 1, ms, reply_null);
}

/* ---- of the first list that has something ---- */

/* Up to count elements of the first of these keys that is there: [key, element], or with `many`
 * [key, [elements]]. False: none is, and nothing was written. */
static bool pop_first(
    struct redis_call *c, size_t from, size_t n, enum kv_end end, uint64_t count, bool many)
{
    struct kv_items items = {0};
    struct kv_item item;
    int r = ERR_NOTFOUND;

    for (size_t i = from; i < from + n && r == ERR_NOTFOUND; i++) {
        r = kv_list_pop(c->store, c->argv[i], end, count, &items);
        if (r == ERR_TYPE && coll_waits(c))
            r = ERR_NOTFOUND;
        if (r)
            continue;
        reply_array(c->reply, 2);
        reply_bulk(c->reply, c->argv[i]);
        if (many)
            reply_items(c, &items);
        else if (kv_items_next(&items, &item))
            coll_reply_value(c, &item.value);
    }
    if (r && r != ERR_NOTFOUND)
        call_store_error(c, r);
    kv_items_fini(&items);
    return r != ERR_NOTFOUND;
}

static void cmd_blpop(struct redis_call *c)
{
    coll_cmd_blocking_pop(c, pop_first, KV_HEAD);
}

static void cmd_brpop(struct redis_call *c)
{
    coll_cmd_blocking_pop(c, pop_first, KV_TAIL);
}

static void cmd_lmpop(struct redis_call *c)
{
    coll_cmd_mpop(c, 1, "left", "right", pop_first);
}

static void cmd_blmpop(struct redis_call *c)
{
    coll_cmd_mpop(c, 2, "left", "right", pop_first);
}

#define PUSH  (CMD_WRITE | CMD_DENYOOM | CMD_FAST)
#define WRITE (CMD_WRITE | CMD_DENYOOM)
#define READ  CMD_READONLY
#define BLOCK (CMD_WRITE | CMD_BLOCKING)

const struct redis_command redis_list_commands[] = {
    {"lpush", cmd_lpush, -3, PUSH, 1, 1, 1, "1.0.0", "Prepends one or more elements to a list."},
    {"rpush", cmd_rpush, -3, PUSH, 1, 1, 1, "1.0.0", "Appends one or more elements to a list."},
    {"lpushx", cmd_lpushx, -3, PUSH, 1, 1, 1, "2.2.0",
        "Prepends one or more elements to a list only when the list exists."},
    {"rpushx", cmd_rpushx, -3, PUSH, 1, 1, 1, "2.2.0",
        "Appends one or more elements to a list only when the list exists."},
    {"lpop", cmd_lpop, -2, CMD_WRITE | CMD_FAST, 1, 1, 1, "1.0.0",
        "Returns and removes the first elements of a list."},
    {"rpop", cmd_rpop, -2, CMD_WRITE | CMD_FAST, 1, 1, 1, "1.0.0",
        "Returns and removes the last elements of a list."},
    {"llen", cmd_llen, 2, READ | CMD_FAST, 1, 1, 1, "1.0.0", "Returns the length of a list."},
    {"lindex", cmd_lindex, 3, READ, 1, 1, 1, "1.0.0",
        "Returns an element from a list by its index."},
    {"lset", cmd_lset, 4, WRITE, 1, 1, 1, "1.0.0",
        "Sets the value of an element in a list by its index."},
    {"lrange", cmd_lrange, 4, READ, 1, 1, 1, "1.0.0", "Returns a range of elements from a list."},
    {"linsert", cmd_linsert, 5, WRITE, 1, 1, 1, "2.2.0",
        "Inserts an element before or after another element in a list."},
    {"lrem", cmd_lrem, 4, CMD_WRITE, 1, 1, 1, "1.0.0", "Removes elements from a list."},
    {"ltrim", cmd_ltrim, 4, CMD_WRITE, 1, 1, 1, "1.0.0",
        "Removes elements from both ends of a list."},
    {"lpos", cmd_lpos, -3, READ, 1, 1, 1, "6.0.6",
        "Returns the index of matching elements in a list."},
    {"lmove", cmd_lmove, 5, WRITE, 1, 2, 1, "6.2.0", "Moves an element from one list to another."},
    {"rpoplpush", cmd_rpoplpush, 3, WRITE, 1, 2, 1, "1.2.0",
        "Moves the last element of a list to the head of another."},
    {"lmpop", cmd_lmpop, -4, CMD_WRITE | CMD_NUMKEYS, 1, 1, 1, "7.0.0",
        "Removes elements of the first list that is not empty."},
    {"blpop", cmd_blpop, -3, BLOCK, 1, -2, 1, "2.0.0",
        "Removes the first element of a list, waiting until there is one."},
    {"brpop", cmd_brpop, -3, BLOCK, 1, -2, 1, "2.0.0",
        "Removes the last element of a list, waiting until there is one."},
    {"blmove", cmd_blmove, 6, BLOCK | CMD_DENYOOM, 1, 2, 1, "6.2.0",
        "Moves an element from one list to another, waiting until there is one."},
    {"brpoplpush", cmd_brpoplpush, 4, BLOCK | CMD_DENYOOM, 1, 2, 1, "2.2.0",
        "Moves the last element of a list to the head of another, waiting until there is one."},
    {"blmpop", cmd_blmpop, -5, BLOCK | CMD_NUMKEYS, 2, 2, 1, "7.0.0",
        "Removes elements of the first list that is not empty, waiting until there is one."},
    {0},
};
