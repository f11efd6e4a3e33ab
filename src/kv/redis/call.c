/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* What handlers of commands have in common. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kv/redis/state.h"

/* ---- words ---- */

bool call_is(const struct redis_call *c, size_t i, const char *word)
{
    return i < c->argc && str_ieq(c->argv[i], str_c(word));
}

bool redis_int(struct str s, int64_t *out)
{
    struct str digits = s;

    if (digits.len && digits.p[0] == '-')
        digits = str_sub(s, 1, s.len - 1);
    /* "-0", "007" */
    if (digits.len == 0 || (digits.p[0] == '0' && s.len > 1))
        return false;
    return str_i64(s, out) == 0;
}

bool call_int(struct redis_call *c, size_t i, int64_t *out)
{
    if (redis_int(c->argv[i], out))
        return true;
    reply_error(c->reply, "ERR value is not an integer or out of range");
    return false;
}

bool call_int_in(
    struct redis_call *c, size_t i, int64_t min, int64_t max, const char *text, int64_t *out)
{
    int64_t n;

    if (redis_int(c->argv[i], &n) && n >= min && n <= max) {
        *out = n;
        return true;
    }
    if (text)
        reply_errorf(c->reply, "ERR %s", text);
    else
        reply_error(c->reply, "ERR value is not an integer or out of range");
    return false;
}

bool redis_double(struct str s, double *out)
{
    char text[512], *end; /* the largest one has 309 digits before the point */
    double d;

    if (s.len == 0 || s.len >= sizeof(text) || s.p[0] == ' ' || (s.p[0] >= '\t' && s.p[0] <= '\r'))
        return false;
    (void)str_put(text, sizeof(text), s);
    d = strtod(text, &end);
    if (end != text + s.len || isnan(d))
        return false;
    *out = d;
    return true;
}

bool call_double(struct redis_call *c, size_t i, double *out)
{
    if (redis_double(c->argv[i], out))
        return true;
    reply_error(c->reply, "ERR value is not a valid float");
    return false;
}

bool call_timeout(struct redis_call *c, size_t i, int64_t *ms)
{
    double seconds;

    if (!redis_double(c->argv[i], &seconds) || !isfinite(seconds)) {
        reply_error(c->reply, "ERR timeout is not a float or out of range");
        return false;
    }
    if (seconds < 0) {
        reply_error(c->reply, "ERR timeout is negative");
        return false;
    }
    if (seconds * 1000 > (double)(INT64_MAX / 4)) {
        reply_error(c->reply, "ERR timeout is out of range");
        return false;
    }
    *ms = (int64_t)ceil(seconds * 1000);
    return true;
}

/* ---- errors ---- */

void call_syntax_error(struct redis_call *c)
{
    reply_error(c->reply, "ERR syntax error");
}

void call_arity_error(struct redis_call *c)
{
    reply_errorf(c->reply, "ERR wrong number of arguments for '%s' command", c->cmd->name);
}

void call_wrong_type(struct redis_call *c)
{
    reply_error(c->reply, "WRONGTYPE Operation against a key holding the wrong kind of value");
}

static bool has_long_key(const struct redis_call *c)
{
    size_t keys[64], n = redis_command_keys(c->cmd, c->argv, c->argc, keys, ARRAY_LEN(keys));

    for (size_t i = 0; i < MIN(n, ARRAY_LEN(keys)); i++)
        if (c->argv[keys[i]].len > KV_KEY_MAX)
            return true;
    return false;
}

void call_store_error(struct redis_call *c, int code)
{
    switch (code) {
    case ERR_TYPE:
        call_wrong_type(c);
        break;
    case ERR_FULL:
        reply_error(c->reply, "OOM command not allowed when used memory > 'maxmemory'.");
        break;
    case ERR_TOOBIG:
        if (has_long_key(c))
            reply_errorf(c->reply, "ERR key exceeds maximum allowed size (%u bytes)", KV_KEY_MAX);
        else
            reply_error(c->reply, "ERR string exceeds maximum allowed size (proto-max-bulk-len)");
        break;
    case ERR_NOTFOUND:
        reply_error(c->reply, "ERR no such key");
        break;
    case ERR_INVAL:
        reply_error(c->reply, "ERR value is not an integer or out of range");
        break;
    case ERR_RANGE:
        reply_error(c->reply, "ERR increment or decrement would overflow");
        break;
    default:
        reply_errorf(c->reply, "ERR %s", err_text(code));
        break;
    }
}

void call_subcommand(struct redis_call *c, const struct redis_subcommand *rows)
{
    char name[128];

    for (; rows->name; rows++) {
        if (!str_ieq(c->argv[1], str_c(rows->name)))
            continue;
        if (rows->arity >= 0 ? c->argc != (size_t)rows->arity : c->argc < (size_t)-rows->arity)
            reply_errorf(c->reply, "ERR wrong number of arguments for '%s|%s' command",
                c->cmd->name, rows->name);
        else
            rows->run(c);
        return;
    }
    (void)str_put(name, sizeof(name), c->argv[1]);
    reply_errorf(c->reply, "ERR unknown subcommand '%s'. Try %s HELP.", name, c->cmd->name);
}

void call_help(struct redis_call *c, const char *const *lines, size_t n)
{
    reply_array(c->reply, n);
    for (size_t i = 0; i < n; i++)
        reply_simple(c->reply, str_c(lines[i]));
}

/* ---- values ---- */

bool redis_value_text(const struct kv_value *v, char text[REDIS_TEXT_MAX], struct str *out)
{
    switch (v->type) {
    case KV_STRING:
    case KV_SERIALIZED:
        *out = v->bytes;
        return true;
    case KV_INT:
        *out = str_n(text, reply_put_int(text, v->i));
        return true;
    case KV_FLOAT:
        *out = str_n(text, reply_put_double(text, v->f));
        return true;
    default:
        return false;
    }
}

/* The value, which may be in buf, becomes its text there. */
static int make_text(struct buf *buf, struct kv_value *v)
{
    char text[REDIS_TEXT_MAX];
    struct str s;

    if (!redis_value_text(v, text, &s))
        return ERR_TYPE;
    if (s.p == text) {
        buf_clear(buf);
        buf_add_str(buf, s);
        s = buf_str(buf);
    }
    v->bytes = s;
    return 0;
}

int call_get_string_to(struct redis_call *c, struct str key, struct buf *buf, struct kv_value *v)
{
    int r = kv_store_get(c->store, key, buf, v);

    return r ? r : make_text(buf, v);
}

int call_getex_string(
    struct redis_call *c, struct str key, enum kv_expiry how, int64_t ms, struct kv_value *v)
{
    int r = kv_store_getex(c->store, key, how, ms, c->buf, v);

    return r ? r : make_text(c->buf, v);
}

int call_get_string(struct redis_call *c, struct str key, struct kv_value *v)
{
    return call_get_string_to(c, key, c->buf, v);
}
