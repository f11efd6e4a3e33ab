/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Keys of any type. */
#include "kv/glob.h"
#include "kv/keys.h"
#include "kv/redis/state.h"
#include "platform/clock.h"

const char *redis_type_name(enum kv_type type)
{
    switch (type) {
    case KV_HASH:
        return "hash";
    case KV_LIST:
        return "list";
    case KV_SET:
        return "set";
    case KV_ZSET:
        return "zset";
    default:
        return "string";
    }
}

/* ---- there or not ---- */

static void cmd_del(struct redis_call *c)
{
    int64_t n = 0;

    for (size_t i = 1; i < c->argc; i++)
        n += kv_store_del(c->store, c->argv[i]) == 0;
    reply_int(c->reply, n);
}

static void cmd_exists(struct redis_call *c)
{
    int64_t n = 0;

    for (size_t i = 1; i < c->argc; i++)
        n += kv_store_exists(c->store, c->argv[i]);
    reply_int(c->reply, n);
}

static void cmd_type(struct redis_call *c)
{
    enum kv_type type;
    int r = kv_store_type(c->store, c->argv[1], &type);

    reply_simple(c->reply, str_c(r ? "none" : redis_type_name(type)));
}

/* ---- listing ---- */

/* Long patterns on long keys may take as long as both lengths multiplied: KEYS and SCAN give up. */
#define SCAN_NS_MAX    2000000000u
#define SCAN_LOOK_KEYS 4096u      /* keys between two looks at the clock, */
#define SCAN_LOOK_WORK (1u << 16) /* unless one may take so many steps */

struct scan {
    struct redis_call *c;
    struct str pattern;
    struct str type;
    size_t n;
    size_t seen;
    uint64_t end; /* clock_mono_ns() */
    bool late;
    size_t before; /* of the reply */
};

static void scan_begin(struct scan *s)
{
    s->before = s->c->reply->out.len;
    s->end = clock_mono_ns() + SCAN_NS_MAX;
}

static void scan_end(struct scan *s, size_t at)
{
    if (s->late) {
        s->c->reply->out.len = s->before;
        reply_error(s->c->reply, "ERR the pattern takes too long for these keys");
    } else {
        reply_deferred_array(s->c->reply, at, s->n);
    }
}

static bool on_key(void *arg, struct str key)
{
    struct scan *s = arg;
    enum kv_type type;

    if (s->late)
        return false;
    if (++s->seen % SCAN_LOOK_KEYS == 0 || s->pattern.len * key.len > SCAN_LOOK_WORK)
        s->late = clock_mono_ns() >= s->end;
    if (s->pattern.p && !kv_glob(s->pattern, key))
        return true;
    if (s->type.p && (kv_store_type(s->c->store, key, &type) != 0 ||
                         !str_ieq(s->type, str_c(redis_type_name(type)))))
        return true;
    reply_bulk(s->c->reply, key);
    s->n++;
    return !s->c->reply->overflow;
}

static void cmd_keys(struct redis_call *c)
{
    struct scan s = {.c = c, .pattern = c->argv[1]};
    uint64_t cursor = 0;
    size_t at;

    scan_begin(&s);
    at = reply_deferred(c->reply);
    kv_store_scan(c->store, &cursor, STR("*"), SIZE_MAX, on_key, &s);
    scan_end(&s, at);
}

bool redis_scan_parse(struct redis_call *c, size_t i, struct redis_scan *out)
{
    uint64_t cursor;
    int64_t count;

    *out = (struct redis_scan){.count = 10};
    if (str_u64(c->argv[i], &cursor) != 0) {
        reply_error(c->reply, "ERR invalid cursor");
        return false;
    }
    out->cursor = cursor;
    for (i++; i < c->argc; i += 2) {
        if (i + 1 == c->argc)
            break;
        if (call_is(c, i, "match")) {
            /* "*" is every key: nothing to compare. */
            out->pattern = str_eq(c->argv[i + 1], STR("*")) ? STR_NONE : c->argv[i + 1];
        } else if (call_is(c, i, "count")) {
            if (!call_int(c, i + 1, &count))
                return false;
            if (count < 1)
                break;
            out->count = (size_t)count;
        } else if (call_is(c, i, "type") && c->argv[0].len == 4) {
            out->type = c->argv[i + 1];
        } else {
            break;
        }
    }
    if (i >= c->argc)
        return true;
    call_syntax_error(c);
    return false;
}

void redis_scan_reply(struct redis_call *c, uint64_t cursor)
{
    char text[REPLY_INT_MAX];

    reply_array(c->reply, 2);
    reply_bulk(c->reply, str_n(text, str_put_u64(text, cursor)));
}

/* Keys of the next step; the pattern is applied here, so that a step's cost is bounded by its count
 * and not by how many keys match. */
static bool gather(void *arg, struct str key)
{
    struct buf *keys = arg;

    buf_add(keys, &key.len, sizeof(key.len));
    buf_add_str(keys, key);
    return true;
}

static void cmd_scan(struct redis_call *c)
{
    struct buf *keys = c->buf;
    struct redis_scan scan;
    struct scan s = {.c = c};
    size_t at, len;

    if (!redis_scan_parse(c, 1, &scan))
        return;
    s.pattern = scan.pattern;
    s.type = scan.type;
    buf_clear(keys);
    kv_store_scan(c->store, &scan.cursor, STR("*"), scan.count, gather, keys);
    scan_begin(&s);
    redis_scan_reply(c, scan.cursor);
    at = reply_deferred(c->reply);
    for (size_t i = 0; i < keys->len; i += sizeof(len) + len) {
        memcpy(&len, keys->p + i, sizeof(len));
        if (!on_key(&s, str_n(keys->p + i + sizeof(len), len)))
            break;
    }
    scan_end(&s, at);
}

static void cmd_randomkey(struct redis_call *c)
{
    if (kv_store_random_key(c->store, c->buf) == 0)
        reply_bulk(c->reply, buf_str(c->buf));
    else
        reply_null(c->reply);
}

static void cmd_dbsize(struct redis_call *c)
{
    reply_int(c->reply, (int64_t)kv_store_count(c->store));
}

/* ---- moving ---- */

static void cmd_rename(struct redis_call *c)
{
    int r = kv_store_rename(c->store, c->argv[1], c->argv[2], 0);

    if (r)
        call_store_error(c, r);
    else
        reply_ok(c->reply);
}

static void cmd_renamenx(struct redis_call *c)
{
    int r = kv_store_rename(c->store, c->argv[1], c->argv[2], KV_ONLY_NEW);

    if (r && r != ERR_EXISTS)
        call_store_error(c, r);
    else
        reply_int(c->reply, r == 0);
}

static void cmd_copy(struct redis_call *c)
{
    unsigned flags = KV_ONLY_NEW;
    int64_t db;
    int r;

    for (size_t i = 3; i < c->argc; i++) {
        if (call_is(c, i, "replace")) {
            flags = 0;
        } else if (call_is(c, i, "db") && i + 1 < c->argc) {
            if (!call_int(c, ++i, &db))
                return;
            if (db != 0) {
                reply_error(c->reply, "ERR DB index is out of range");
                return;
            }
        } else {
            call_syntax_error(c);
            return;
        }
    }
    if (str_eq(c->argv[1], c->argv[2])) {
        reply_error(c->reply, "ERR source and destination objects are the same");
        return;
    }
    r = kv_store_copy(c->store, c->argv[1], c->argv[2], flags);
    if (r && r != ERR_EXISTS && r != ERR_NOTFOUND)
        call_store_error(c, r);
    else
        reply_int(c->reply, r == 0);
}

/* ---- emptying ---- */

static void cmd_flush(struct redis_call *c)
{
    if (c->argc > 2 || (c->argc == 2 && !call_is(c, 1, "async") && !call_is(c, 1, "sync"))) {
        call_syntax_error(c);
        return;
    }
    kv_store_flush(c->store);
    reply_ok(c->reply);
}

#define READ CMD_READONLY

const struct redis_command redis_generic_commands[] = {
    {"del", cmd_del, -2, CMD_WRITE, 1, -1, 1, "1.0.0", "Deletes one or more keys."},
    {"unlink", cmd_del, -2, CMD_WRITE | CMD_FAST, 1, -1, 1, "4.0.0", "Deletes one or more keys."},
    {"exists", cmd_exists, -2, READ | CMD_FAST, 1, -1, 1, "1.0.0",
        "Determines whether one or more keys exist."},
    {"touch", cmd_exists, -2, READ | CMD_FAST, 1, -1, 1, "3.2.1",
        "Returns the number of existing keys out of those specified."},
    {"type", cmd_type, 2, READ | CMD_FAST, 1, 1, 1, "1.0.0",
        "Determines the type of value stored at a key."},
    {"keys", cmd_keys, 2, READ, 0, 0, 0, "1.0.0", "Returns all key names that match a pattern."},
    {"scan", cmd_scan, -2, READ, 0, 0, 0, "2.8.0", "Iterates over the key names in the database."},
    {"randomkey", cmd_randomkey, 1, READ, 0, 0, 0, "1.0.0", "Returns a random key name."},
    {"rename", cmd_rename, 3, CMD_WRITE, 1, 2, 1, "1.0.0",
        "Renames a key and overwrites the destination."},
    {"renamenx", cmd_renamenx, 3, CMD_WRITE | CMD_FAST, 1, 2, 1, "1.0.0",
        "Renames a key only when the target key name doesn't exist."},
    {"copy", cmd_copy, -3, CMD_WRITE | CMD_DENYOOM, 1, 2, 1, "6.2.0",
        "Copies the value of a key to a new key."},
    {"dbsize", cmd_dbsize, 1, READ | CMD_FAST, 0, 0, 0, "1.0.0",
        "Returns the number of keys in the database."},
    {"flushdb", cmd_flush, -1, CMD_WRITE, 0, 0, 0, "1.0.0", "Removes all keys of the store."},
    {"flushall", cmd_flush, -1, CMD_WRITE, 0, 0, 0, "1.0.0", "Removes all keys of the store."},
    {0},
};
