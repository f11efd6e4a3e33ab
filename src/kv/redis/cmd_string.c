/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Strings and counters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kv/keys.h"
#include "kv/redis/expiry.h"
#include "kv/redis/state.h"

/* ---- reading ---- */

static void reply_get(struct redis_call *c, int r, const struct kv_value *v)
{
    if (r == 0)
        reply_bulk(c->reply, v->bytes);
    else if (r == ERR_NOTFOUND)
        reply_null(c->reply);
    else
        call_store_error(c, r);
}

static void cmd_get(struct redis_call *c)
{
    struct kv_value v;

    reply_get(c, call_get_string(c, c->argv[1], &v), &v);
}

static void cmd_mget(struct redis_call *c)
{
    struct kv_value v;

    reply_array(c->reply, c->argc - 1);
    for (size_t i = 1; i < c->argc && !c->reply->overflow; i++) {
        if (call_get_string(c, c->argv[i], &v) == 0)
            reply_bulk(c->reply, v.bytes);
        else
            reply_null(c->reply);
    }
}

static void cmd_strlen(struct redis_call *c)
{
    struct kv_info info;
    int r = kv_store_info(c->store, c->argv[1], &info);

    if (r == 0 && info.type >= KV_HASH)
        call_wrong_type(c);
    else
        reply_int(c->reply, r ? 0 : (int64_t)info.length);
}

static void cmd_getrange(struct redis_call *c)
{
    int64_t start, end;
    struct str part;
    int r;

    if (!call_int(c, 2, &start) || !call_int(c, 3, &end))
        return;
    r = kv_store_getrange(c->store, c->argv[1], start, end, c->buf, &part);
    if (r && r != ERR_NOTFOUND)
        call_store_error(c, r == ERR_INVAL ? ERR_TYPE : r);
    else
        reply_bulk(c->reply, r || (start < 0 && end < 0 && start > end) ? STR("") : part);
}

/* ---- SET and its kin ---- */

struct set {
    struct redis_call *c;
    struct str value;
    unsigned flags; /* enum kv_put_flags */
    struct redis_expiry expiry;
    bool get;
    bool was; /* there was one: its old value is in c->buf */
};

/* Copies the old value out; false: it is no string. */
static bool keep_old(struct set *s, const struct kv_value *old)
{
    char text[REDIS_TEXT_MAX];
    struct str bytes;

    if (!old)
        return true;
    if (!redis_value_text(old, text, &bytes))
        return false;
    s->was = true;
    buf_clear(s->c->buf);
    buf_add_str(s->c->buf, bytes);
    return true;
}

static enum kv_verdict on_set(void *arg, struct kv_change *change)
{
    struct set *s = arg;

    if (s->get && !keep_old(s, change->old))
        return KV_LEAVE;
    if ((s->flags & KV_ONLY_NEW && change->old) || (s->flags & KV_ONLY_OLD && !change->old))
        return KV_LEAVE;
    change->v = (struct kv_value){.type = KV_STRING, .bytes = s->value};
    change->ttl = redis_expiry_ttl(&s->expiry);
    return s->flags & KV_KEEP_TTL ? KV_PUT_KEEP : KV_PUT;
}

/* SET ... GET: the old value is the answer. */
static void set_and_get(struct redis_call *c, struct set *s)
{
    int r = kv_store_update(c->store, c->argv[1], on_set, s);

    if (r)
        call_store_error(c, r);
    else if (s->was)
        reply_bulk(c->reply, buf_str(c->buf));
    else
        reply_null(c->reply);
}

static int store_set(struct redis_call *c, struct str key, const struct set *s)
{
    struct kv_value v = {.type = KV_STRING, .bytes = s->value};
    unsigned flags = s->flags | (s->expiry.absolute ? KV_TTL_AT : 0);

    return kv_store_set(c->store, key, &v, flags, s->expiry.given ? s->expiry.ms : 0);
}

static bool parse_set(struct redis_call *c, struct set *s)
{
    for (size_t i = 3; i < c->argc; i++) {
        int n = redis_expiry_parse(c, i, &s->expiry);

        if (n < 0)
            return false;
        if (n > 0)
            i++;
        else if (call_is(c, i, "nx") && !(s->flags & KV_ONLY_OLD))
            s->flags |= KV_ONLY_NEW;
        else if (call_is(c, i, "xx") && !(s->flags & KV_ONLY_NEW))
            s->flags |= KV_ONLY_OLD;
        else if (call_is(c, i, "keepttl") && !s->expiry.given)
            s->flags |= KV_KEEP_TTL;
        else if (call_is(c, i, "get"))
            s->get = true;
        else
            break;
        if (s->expiry.given && s->flags & KV_KEEP_TTL)
            break;
        if (i + 1 == c->argc)
            return true;
    }
    if (c->argc == 3)
        return true;
    call_syntax_error(c);
    return false;
}

static void cmd_set(struct redis_call *c)
{
    struct set s = {.c = c, .value = c->argv[2]};
    int r;

    if (!parse_set(c, &s))
        return;
    if (s.get) {
        set_and_get(c, &s);
        return;
    }
    r = store_set(c, c->argv[1], &s);
    if (LIKELY(r == 0))
        reply_ok(c->reply);
    else if (s.flags & (KV_ONLY_NEW | KV_ONLY_OLD) && (r == ERR_EXISTS || r == ERR_NOTFOUND))
        reply_null(c->reply);
    else
        call_store_error(c, r);
}

static void cmd_setnx(struct redis_call *c)
{
    struct kv_value v = {.type = KV_STRING, .bytes = c->argv[2]};
    int r = kv_store_set(c->store, c->argv[1], &v, KV_ONLY_NEW, 0);

    if (r && r != ERR_EXISTS)
        call_store_error(c, r);
    else
        reply_int(c->reply, r == 0);
}

static void set_with_ttl(struct redis_call *c, int64_t unit)
{
    struct set s = {.c = c, .value = c->argv[3]};
    int r;

    if (!redis_expiry_number(c, 2, unit, false, true, &s.expiry))
        return;
    r = store_set(c, c->argv[1], &s);
    if (r)
        call_store_error(c, r);
    else
        reply_ok(c->reply);
}

static void cmd_setex(struct redis_call *c)
{
    set_with_ttl(c, 1000);
}

static void cmd_psetex(struct redis_call *c)
{
    set_with_ttl(c, 1);
}

static void cmd_getset(struct redis_call *c)
{
    struct set s = {.c = c, .value = c->argv[2], .get = true};

    set_and_get(c, &s);
}

static enum kv_verdict on_getdel(void *arg, struct kv_change *change)
{
    struct set *s = arg;

    if (!keep_old(s, change->old) || !s->was)
        return KV_LEAVE;
    return KV_REMOVE;
}

static void cmd_getdel(struct redis_call *c)
{
    struct set s = {.c = c};
    int r = kv_store_update(c->store, c->argv[1], on_getdel, &s);

    if (r)
        call_store_error(c, r);
    else if (s.was)
        reply_bulk(c->reply, buf_str(c->buf));
    else
        reply_null(c->reply);
}

static void cmd_getex(struct redis_call *c)
{
    struct redis_expiry e = {0};
    bool persist = c->argc == 3 && call_is(c, 2, "persist");
    struct kv_value v;
    int n = 0, r;

    if (!persist && c->argc > 2) {
        n = redis_expiry_parse(c, 2, &e);
        if (n < 0)
            return;
        if (n == 0 || c->argc != 4) {
            call_syntax_error(c);
            return;
        }
    }
    if (persist)
        r = call_getex_string(c, c->argv[1], KV_EXPIRY_NONE, 0, &v);
    else if (e.given)
        r = call_getex_string(c, c->argv[1], e.absolute ? KV_EXPIRY_AT : KV_EXPIRY_IN, e.ms, &v);
    else
        r = call_get_string(c, c->argv[1], &v);
    reply_get(c, r, &v);
}

static void cmd_append(struct redis_call *c)
{
    size_t len;
    int r = kv_store_append(c->store, c->argv[1], c->argv[2], &len);

    if (r == ERR_INVAL)
        r = ERR_TYPE;
    if (r)
        call_store_error(c, r);
    else
        reply_int(c->reply, (int64_t)len);
}

static void cmd_setrange(struct redis_call *c)
{
    int64_t at;
    size_t len;
    int r;

    if (!call_int(c, 2, &at))
        return;
    if (at < 0) {
        reply_error(c->reply, "ERR offset is out of range");
        return;
    }
    r = kv_store_setrange(c->store, c->argv[1], (size_t)at, c->argv[3], &len);
    if (r)
        call_store_error(c, r == ERR_INVAL ? ERR_TYPE : r);
    else
        reply_int(c->reply, (int64_t)len);
}

/* ---- several ---- */

static int set_many(struct redis_call *c, unsigned flags)
{
    size_t n = c->argc / 2;
    struct buf *memory = &c->server->buf2;
    struct kv_pair *pairs;

    buf_clear(memory);
    pairs = (struct kv_pair *)(void *)buf_reserve(memory, n * sizeof(*pairs));
    for (size_t i = 0; i < n; i++)
        pairs[i] =
            (struct kv_pair){c->argv[1 + 2 * i], {.type = KV_STRING, .bytes = c->argv[2 + 2 * i]}};
    return kv_store_mset(c->store, pairs, n, flags);
}

static void cmd_mset(struct redis_call *c)
{
    int r;

    if (c->argc % 2 == 0) {
        call_arity_error(c);
        return;
    }
    r = set_many(c, 0);
    if (r)
        call_store_error(c, r);
    else
        reply_ok(c->reply);
}

static void cmd_msetnx(struct redis_call *c)
{
    int r;

    if (c->argc % 2 == 0) {
        call_arity_error(c);
        return;
    }
    r = set_many(c, KV_ONLY_NEW);
    if (r && r != ERR_EXISTS)
        call_store_error(c, r);
    else
        reply_int(c->reply, r == 0);
}

/* ---- counters ---- */

static void add(struct redis_call *c, int64_t by)
{
    int64_t n;
    int r = kv_store_incr(c->store, c->argv[1], by, &n);

    if (r)
        call_store_error(c, r);
    else
        reply_int(c->reply, n);
}

static void cmd_incr(struct redis_call *c)
{
    add(c, 1);
}

static void cmd_decr(struct redis_call *c)
{
    add(c, -1);
}

static void cmd_incrby(struct redis_call *c)
{
    int64_t by;

    if (call_int(c, 2, &by))
        add(c, by);
}

static void cmd_decrby(struct redis_call *c)
{
    int64_t by;

    if (!call_int(c, 2, &by))
        return;
    if (by == INT64_MIN)
        reply_error(c->reply, "ERR decrement would overflow");
    else
        add(c, -by);
}

/* ---- INCRBYFLOAT ---- */

bool redis_long_double(struct str s, long double *out)
{
    char text[REDIS_LONG_DOUBLE_MAX], *end;

    if (s.len == 0 || s.len >= sizeof(text) || s.p[0] == ' ' || (s.p[0] >= '\t' && s.p[0] <= '\r'))
        return false;
    (void)str_put(text, sizeof(text), s);
    *out = strtold(text, &end);
    return end == text + s.len && !isnan(*out);
}

size_t redis_put_long_double(char out[REDIS_LONG_DOUBLE_MAX], long double d)
{
    int n = snprintf(out, REDIS_LONG_DOUBLE_MAX, "%.17Lf", d);

    ENSURE(n > 0 && n < REDIS_LONG_DOUBLE_MAX);
    while (out[n - 1] == '0')
        n--;
    if (out[n - 1] == '.')
        n--;
    if (n == 2 && out[0] == '-' && out[1] == '0') {
        out[0] = '0';
        n = 1;
    }
    return (size_t)n;
}

struct incr_float {
    long double by;
    char text[REDIS_LONG_DOUBLE_MAX];
    size_t len;
    const char *error;
};

static enum kv_verdict on_incr_float(void *arg, struct kv_change *change)
{
    struct incr_float *f = arg;
    char text[REDIS_TEXT_MAX];
    long double is = 0;
    struct str s;

    if (change->old && (!redis_value_text(change->old, text, &s) || !redis_long_double(s, &is))) {
        f->error = "ERR value is not a valid float";
        return KV_LEAVE;
    }
    is += f->by;
    if (!isfinite(is)) {
        f->error = "ERR increment would produce NaN or Infinity";
        return KV_LEAVE;
    }
    f->len = redis_put_long_double(f->text, is);
    change->v = (struct kv_value){.type = KV_STRING, .bytes = str_n(f->text, f->len)};
    if (change->old && change->old->type == KV_FLOAT && isfinite((double)is))
        change->v = (struct kv_value){.type = KV_FLOAT, .f = (double)is};
    return KV_PUT_KEEP;
}

static void cmd_incrbyfloat(struct redis_call *c)
{
    struct incr_float f = {0};
    int r;

    if (!redis_long_double(c->argv[2], &f.by)) {
        reply_error(c->reply, "ERR value is not a valid float");
        return;
    }
    r = kv_store_update(c->store, c->argv[1], on_incr_float, &f);
    if (r)
        call_store_error(c, r);
    else if (f.error)
        reply_error(c->reply, f.error);
    else
        reply_bulk(c->reply, str_n(f.text, f.len));
}

#define WRITE (CMD_WRITE | CMD_DENYOOM)
#define READ  CMD_READONLY

const struct redis_command redis_string_commands[] = {
    {"get", cmd_get, 2, READ | CMD_FAST, 1, 1, 1, "1.0.0", "Returns the string value of a key."},
    {"set", cmd_set, -3, WRITE, 1, 1, 1, "1.0.0",
        "Sets the string value of a key, ignoring its type."},
    {"setnx", cmd_setnx, 3, WRITE | CMD_FAST, 1, 1, 1, "1.0.0",
        "Sets the string value of a key only when the key doesn't exist."},
    {"setex", cmd_setex, 4, WRITE, 1, 1, 1, "2.0.0",
        "Sets the string value and expiration time of a key."},
    {"psetex", cmd_psetex, 4, WRITE, 1, 1, 1, "2.6.0",
        "Sets both string value and expiration time in milliseconds of a key."},
    {"getset", cmd_getset, 3, WRITE | CMD_FAST, 1, 1, 1, "1.0.0",
        "Returns the previous string value of a key after setting it to a new value."},
    {"getdel", cmd_getdel, 2, CMD_WRITE | CMD_FAST, 1, 1, 1, "6.2.0",
        "Returns the string value of a key after deleting the key."},
    {"getex", cmd_getex, -2, CMD_WRITE | CMD_FAST, 1, 1, 1, "6.2.0",
        "Returns the string value of a key after setting its expiration time."},
    {"mget", cmd_mget, -2, READ | CMD_FAST, 1, -1, 1, "1.0.0",
        "Returns the string values of one or more keys."},
    {"mset", cmd_mset, -3, WRITE, 1, -1, 2, "1.0.1",
        "Sets the string values of one or more keys in one step."},
    {"msetnx", cmd_msetnx, -3, WRITE, 1, -1, 2, "1.0.1",
        "Sets the string values of one or more keys only when all keys don't exist."},
    {"getrange", cmd_getrange, 4, READ, 1, 1, 1, "2.4.0",
        "Returns a substring of the string stored at a key."},
    {"substr", cmd_getrange, 4, READ, 1, 1, 1, "1.0.0", "Returns a substring from a string value."},
    {"setrange", cmd_setrange, 4, WRITE, 1, 1, 1, "2.2.0",
        "Overwrites a part of a string value with another by an offset."},
    {"lcs", redis_cmd_lcs, -3, READ, 1, 2, 1, "7.0.0", "Finds the longest common substring."},
    {"strlen", cmd_strlen, 2, READ | CMD_FAST, 1, 1, 1, "2.2.0",
        "Returns the length of a string value."},
    {"append", cmd_append, 3, WRITE | CMD_FAST, 1, 1, 1, "2.0.0",
        "Appends a string to the value of a key."},
    {"incr", cmd_incr, 2, WRITE | CMD_FAST, 1, 1, 1, "1.0.0",
        "Increments the integer value of a key by one."},
    {"decr", cmd_decr, 2, WRITE | CMD_FAST, 1, 1, 1, "1.0.0",
        "Decrements the integer value of a key by one."},
    {"incrby", cmd_incrby, 3, WRITE | CMD_FAST, 1, 1, 1, "1.0.0",
        "Increments the integer value of a key by a number."},
    {"decrby", cmd_decrby, 3, WRITE | CMD_FAST, 1, 1, 1, "1.0.0",
        "Decrements a number from the integer value of a key."},
    {"incrbyfloat", cmd_incrbyfloat, 3, WRITE | CMD_FAST, 1, 1, 1, "2.6.0",
        "Increments the floating point value of a key by a number."},
    {0},
};
