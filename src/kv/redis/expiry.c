/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/redis/expiry.h"

#include "kv/redis/state.h"

bool redis_expiry_number(struct redis_call *c, size_t i, int64_t unit, bool absolute, bool positive,
    struct redis_expiry *out)
{
    int64_t n, now = redis_now_ms(), sum;

    if (!call_int(c, i, &n))
        return false;
    if ((positive && n <= 0) || __builtin_mul_overflow(n, unit, &n) ||
        (!absolute && __builtin_add_overflow(n, now, &sum))) {
        reply_errorf(c->reply, "ERR invalid expire time in '%s' command", c->cmd->name);
        return false;
    }
    *out = (struct redis_expiry){.given = true, .absolute = absolute, .ms = n};
    return true;
}

int redis_expiry_parse(struct redis_call *c, size_t i, struct redis_expiry *out)
{
    static const struct {
        const char *name;
        int64_t unit;
        bool absolute;
    } rows[] = {{"ex", 1000, false}, {"px", 1, false}, {"exat", 1000, true}, {"pxat", 1, true}};

    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        if (!call_is(c, i, rows[k].name))
            continue;
        if (i + 1 >= c->argc || out->given) {
            call_syntax_error(c);
            return -1;
        }
        return redis_expiry_number(c, i + 1, rows[k].unit, rows[k].absolute, true, out) ? 1 : -1;
    }
    return 0;
}

int64_t redis_expiry_ttl(const struct redis_expiry *e)
{
    int64_t left;

    if (!e->given)
        return 0;
    left = e->absolute ? e->ms - redis_now_ms() : e->ms;
    return left > 0 ? left : -1;
}
