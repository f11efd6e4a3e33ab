/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Hashes. */
#include <math.h>

#include "base/mem.h"
#include "kv/redis/coll.h"

/* ---- setting ---- */

/* Fields and values from word 2 on; false: the arity error was written. */
static bool set_fields(struct redis_call *c, unsigned flags, size_t *added, int *result)
{
    size_t n = (c->argc - 2) / 2;
    struct kv_item *items;

    if (c->argc % 2 != 0) {
        call_arity_error(c);
        return false;
    }
    items = mem_new_array(n, sizeof(*items));
    for (size_t i = 0; i < n; i++) {
        items[i].member = c->argv[2 + 2 * i];
        items[i].value = (struct kv_value){.type = KV_STRING, .bytes = c->argv[3 + 2 * i]};
    }
    *result = kv_hash_set(c->store, c->argv[1], items, n, flags, added);
    mem_free(items);
    return true;
}

static void cmd_hset(struct redis_call *c)
{
    size_t added = 0;
    int r;

    if (set_fields(c, 0, &added, &r))
        coll_reply_int(c, r, (int64_t)added);
}

static void cmd_hmset(struct redis_call *c)
{
    size_t added;
    int r;

    if (!set_fields(c, 0, &added, &r))
        return;
    if (r)
        call_store_error(c, r);
    else
        reply_ok(c->reply);
}

static void cmd_hsetnx(struct redis_call *c)
{
    size_t added = 0;
    int r;

    if (set_fields(c, KV_ONLY_NEW, &added, &r))
        coll_reply_int(c, r == ERR_EXISTS ? 0 : r, r == 0);
}

/* ---- reading ---- */

static void reply_field(struct redis_call *c, struct str field)
{
    struct kv_value v;
    int r = kv_hash_get(c->store, c->argv[1], field, c->buf, &v);

    if (r == 0)
        coll_reply_value(c, &v);
    else if (r == ERR_NOTFOUND)
        reply_null(c->reply);
    else
        call_store_error(c, r);
}

static void cmd_hget(struct redis_call *c)
{
    reply_field(c, c->argv[2]);
}

static void cmd_hmget(struct redis_call *c)
{
    uint64_t n;

    if (!coll_len(c, c->argv[1], KV_HASH, &n))
        return;
    reply_array(c->reply, c->argc - 2);
    for (size_t i = 2; i < c->argc && !c->reply->overflow; i++)
        reply_field(c, c->argv[i]);
}

static void cmd_hstrlen(struct redis_call *c)
{
    char text[REDIS_TEXT_MAX];
    struct str s = STR_NONE;
    struct kv_value v;
    int r = kv_hash_get(c->store, c->argv[1], c->argv[2], c->buf, &v);

    if (r == 0 && !redis_value_text(&v, text, &s))
        s = STR_NONE;
    coll_reply_int(c, r == ERR_NOTFOUND ? 0 : r, (int64_t)s.len);
}

enum parts { FIELDS = 1, VALUES = 2 };

static void reply_all(struct redis_call *c, unsigned parts)
{
    struct kv_items items = {0};
    struct kv_item item;

    if (coll_all(c, c->argv[1], KV_HASH, &items)) {
        if (parts == (FIELDS | VALUES))
            reply_map(c->reply, items.n);
        else
            reply_array(c->reply, items.n);
        while (kv_items_next(&items, &item) && !c->reply->overflow) {
            if (parts & FIELDS)
                reply_bulk(c->reply, item.member);
            if (parts & VALUES)
                coll_reply_value(c, &item.value);
        }
    }
    kv_items_fini(&items);
}

static void cmd_hgetall(struct redis_call *c)
{
    reply_all(c, FIELDS | VALUES);
}

static void cmd_hkeys(struct redis_call *c)
{
    reply_all(c, FIELDS);
}

static void cmd_hvals(struct redis_call *c)
{
    reply_all(c, VALUES);
}

static void cmd_hlen(struct redis_call *c)
{
    coll_cmd_len(c, KV_HASH);
}

static void cmd_hdel(struct redis_call *c)
{
    coll_cmd_rem(c, KV_HASH);
}

static void cmd_hexists(struct redis_call *c)
{
    coll_cmd_has(c, KV_HASH);
}

static void cmd_hscan(struct redis_call *c)
{
    coll_cmd_scan(c, KV_HASH);
}

static void cmd_hrandfield(struct redis_call *c)
{
    coll_cmd_random(c, KV_HASH, "withvalues");
}

/* ---- counting ---- */

static void cmd_hincrby(struct redis_call *c)
{
    int64_t by, sum = 0;
    int r;

    if (!call_int(c, 3, &by))
        return;
    r = kv_hash_incr(c->store, c->argv[1], c->argv[2], by, &sum);
    if (r == ERR_INVAL)
        reply_error(c->reply, "ERR hash value is not an integer");
    else
        coll_reply_int(c, r, sum);
}

struct incr_float {
    long double by;
    const char *error;
    char text[REDIS_LONG_DOUBLE_MAX];
    size_t len;
};

static int on_incr_float(void *arg, const struct kv_value *old, struct kv_value *out)
{
    struct incr_float *f = arg;
    char text[REDIS_TEXT_MAX];
    long double is = 0;
    struct str s;

    if (old && (!redis_value_text(old, text, &s) || !redis_long_double(s, &is))) {
        f->error = "ERR hash value is not a float";
        return ERR_INVAL;
    }
    is += f->by;
    if (!isfinite(is)) {
        f->error = "ERR increment would produce NaN or Infinity";
        return ERR_INVAL;
    }
    f->len = redis_put_long_double(f->text, is);
    *out = (struct kv_value){.type = KV_STRING, .bytes = str_n(f->text, f->len)};
    if (old && old->type == KV_FLOAT && isfinite((double)is))
        *out = (struct kv_value){.type = KV_FLOAT, .f = (double)is};
    return 0;
}

static void cmd_hincrbyfloat(struct redis_call *c)
{
    struct incr_float f = {0};
    int r;

    if (!redis_long_double(c->argv[3], &f.by)) {
        reply_error(c->reply, "ERR value is not a valid float");
        return;
    }
    if (!isfinite(f.by)) {
        reply_error(c->reply, "ERR value is NaN or Infinity");
        return;
    }
    r = kv_hash_update(c->store, c->argv[1], c->argv[2], on_incr_float, &f);
    if (f.error)
        reply_error(c->reply, f.error);
    else if (r)
        call_store_error(c, r);
    else
        reply_bulk(c->reply, str_n(f.text, f.len));
}

#define WRITE (CMD_WRITE | CMD_DENYOOM | CMD_FAST)
#define READ  (CMD_READONLY | CMD_FAST)

const struct redis_command redis_hash_commands[] = {
    {"hset", cmd_hset, -4, WRITE, 1, 1, 1, "2.0.0",
        "Creates or modifies the value of a field in a hash."},
    {"hmset", cmd_hmset, -4, WRITE, 1, 1, 1, "2.0.0", "Sets the values of multiple fields."},
    {"hsetnx", cmd_hsetnx, 4, WRITE, 1, 1, 1, "2.0.0",
        "Sets the value of a field in a hash only when the field doesn't exist."},
    {"hget", cmd_hget, 3, READ, 1, 1, 1, "2.0.0", "Returns the value of a field in a hash."},
    {"hmget", cmd_hmget, -3, READ, 1, 1, 1, "2.0.0", "Returns the values of all fields in a hash."},
    {"hdel", cmd_hdel, -3, CMD_WRITE | CMD_FAST, 1, 1, 1, "2.0.0",
        "Deletes one or more fields and their values from a hash."},
    {"hlen", cmd_hlen, 2, READ, 1, 1, 1, "2.0.0", "Returns the number of fields in a hash."},
    {"hexists", cmd_hexists, 3, READ, 1, 1, 1, "2.0.0",
        "Determines whether a field exists in a hash."},
    {"hstrlen", cmd_hstrlen, 3, READ, 1, 1, 1, "3.2.0",
        "Returns the length of the value of a field."},
    {"hkeys", cmd_hkeys, 2, CMD_READONLY, 1, 1, 1, "2.0.0", "Returns all fields in a hash."},
    {"hvals", cmd_hvals, 2, CMD_READONLY, 1, 1, 1, "2.0.0", "Returns all values in a hash."},
    {"hgetall", cmd_hgetall, 2, CMD_READONLY, 1, 1, 1, "2.0.0",
        "Returns all fields and values in a hash."},
    {"hincrby", cmd_hincrby, 4, WRITE, 1, 1, 1, "2.0.0",
        "Increments the integer value of a field in a hash by a number."},
    {"hincrbyfloat", cmd_hincrbyfloat, 4, WRITE, 1, 1, 1, "2.6.0",
        "Increments the floating point value of a field by a number."},
    {"hrandfield", cmd_hrandfield, -2, CMD_READONLY, 1, 1, 1, "6.2.0",
        "Returns one or more random fields from a hash."},
    {"hscan", cmd_hscan, -3, CMD_READONLY, 1, 1, 1, "2.8.0",
        "Iterates over fields and values of a hash."},
    {0},
};
