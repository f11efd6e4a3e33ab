/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Deadlines of keys. */
#include "kv/keys.h"
#include "kv/redis/expiry.h"
#include "kv/redis/state.h"

/* ---- setting ---- */

/* False: the error was written. */
static bool parse_conditions(struct redis_call *c, unsigned *out)
{
    static const struct {
        const char *name;
        unsigned flag;
    } rows[] = {{"nx", KV_IF_NONE}, {"xx", KV_IF_SOME}, {"gt", KV_IF_LATER}, {"lt", KV_IF_EARLIER}};
    unsigned flags = 0;

    for (size_t i = 3; i < c->argc; i++) {
        size_t k = 0;

        while (k < ARRAY_LEN(rows) && !call_is(c, i, rows[k].name))
            k++;
        if (k == ARRAY_LEN(rows)) {
            reply_errorf(c->reply, "ERR Unsupported option %.*s",
                (int)MIN(c->argv[i].len, (size_t)128), c->argv[i].p);
            return false;
        }
        flags |= rows[k].flag;
    }
    if (flags & KV_IF_NONE && flags != KV_IF_NONE) {
        reply_error(
            c->reply, "ERR NX and XX, GT or LT options at the same time are not compatible");
        return false;
    }
    if (flags & KV_IF_LATER && flags & KV_IF_EARLIER) {
        reply_error(c->reply, "ERR GT and LT options at the same time are not compatible");
        return false;
    }
    *out = flags;
    return true;
}

static void expire(struct redis_call *c, int64_t unit, bool absolute)
{
    struct redis_expiry e = {0};
    unsigned conditions;
    int r;

    if (!parse_conditions(c, &conditions) || !redis_expiry_number(c, 2, unit, absolute, false, &e))
        return;
    r = kv_store_expire_at(
        c->store, c->argv[1], absolute ? e.ms : redis_now_ms() + e.ms, conditions);
    if (r && r != ERR_NOTFOUND && r != ERR_BUSY)
        call_store_error(c, r);
    else
        reply_int(c->reply, r == 0);
}

static void cmd_expire(struct redis_call *c)
{
    expire(c, 1000, false);
}

static void cmd_pexpire(struct redis_call *c)
{
    expire(c, 1, false);
}

static void cmd_expireat(struct redis_call *c)
{
    expire(c, 1000, true);
}

static void cmd_pexpireat(struct redis_call *c)
{
    expire(c, 1, true);
}

static void cmd_persist(struct redis_call *c)
{
    reply_int(c->reply, kv_store_persist(c->store, c->argv[1]) == 0);
}

/* ---- asking ---- */

static void ttl(struct redis_call *c, int64_t unit)
{
    int64_t ms;

    if (kv_store_ttl(c->store, c->argv[1], &ms) != 0)
        reply_int(c->reply, -2);
    else
        reply_int(c->reply, ms == KV_NO_TTL ? -1 : (ms + unit / 2) / unit);
}

static void cmd_ttl(struct redis_call *c)
{
    ttl(c, 1000);
}

static void cmd_pttl(struct redis_call *c)
{
    ttl(c, 1);
}

static void until(struct redis_call *c, int64_t unit)
{
    int64_t ms;

    if (kv_store_until(c->store, c->argv[1], &ms) != 0)
        reply_int(c->reply, -2);
    else
        reply_int(c->reply, ms == KV_NO_TTL ? -1 : (ms + unit / 2) / unit);
}

static void cmd_expiretime(struct redis_call *c)
{
    until(c, 1000);
}

static void cmd_pexpiretime(struct redis_call *c)
{
    until(c, 1);
}

#define WRITE (CMD_WRITE | CMD_FAST)
#define READ  (CMD_READONLY | CMD_FAST)

const struct redis_command redis_expire_commands[] = {
    {"expire", cmd_expire, -3, WRITE, 1, 1, 1, "1.0.0",
        "Sets the expiration time of a key in seconds."},
    {"pexpire", cmd_pexpire, -3, WRITE, 1, 1, 1, "2.6.0",
        "Sets the expiration time of a key in milliseconds."},
    {"expireat", cmd_expireat, -3, WRITE, 1, 1, 1, "1.2.0",
        "Sets the expiration time of a key to a Unix timestamp."},
    {"pexpireat", cmd_pexpireat, -3, WRITE, 1, 1, 1, "2.6.0",
        "Sets the expiration time of a key to a Unix milliseconds timestamp."},
    {"persist", cmd_persist, 2, WRITE, 1, 1, 1, "2.2.0", "Removes the expiration time of a key."},
    {"ttl", cmd_ttl, 2, READ, 1, 1, 1, "1.0.0", "Returns the expiration time in seconds of a key."},
    {"pttl", cmd_pttl, 2, READ, 1, 1, 1, "2.6.0",
        "Returns the expiration time in milliseconds of a key."},
    {"expiretime", cmd_expiretime, 2, READ, 1, 1, 1, "7.0.0",
        "Returns the expiration time of a key as a Unix timestamp."},
    {"pexpiretime", cmd_pexpiretime, 2, READ, 1, 1, 1, "7.0.0",
        "Returns the expiration time of a key as a Unix milliseconds timestamp."},
    {0},
};
