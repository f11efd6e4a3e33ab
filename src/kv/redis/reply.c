/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/redis/reply.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

static void put_end(char *p)
{
    p[0] = '\r';
    p[1] = '\n';
}

/* Room for n more bytes, or NULL. */
static char *room(struct reply *r, size_t n)
{
    size_t so_far = r->muted ? r->unsaid : r->out.len;

    if (r->overflow)
        return NULL;
    if (n > r->limit || so_far > r->limit - n) {
        r->overflow = true;
        return NULL;
    }
    if (r->muted) {
        r->unsaid += n;
        return NULL;
    }
    return buf_reserve(&r->out, n);
}

void reply_raw(struct reply *r, struct str bytes)
{
    char *p = room(r, bytes.len);

    if (p && bytes.len) {
        memcpy(p, bytes.p, bytes.len);
        r->out.len += bytes.len;
    }
}

void reply_ok(struct reply *r)
{
    reply_raw(r, STR("+OK\r\n"));
}

void reply_simple(struct reply *r, struct str text)
{
    reply_raw(r, STR("+"));
    reply_raw(r, text);
    reply_raw(r, STR("\r\n"));
}

void reply_error(struct reply *r, const char *text)
{
    struct str s = str_c(text);
    char *p = room(r, s.len + 3);

    if (!p)
        return;
    *p++ = '-';
    for (size_t i = 0; i < s.len; i++)
        *p++ = s.p[i] == '\r' || s.p[i] == '\n' ? ' ' : s.p[i];
    put_end(p);
    r->out.len += s.len + 3;
}

void reply_errorf(struct reply *r, const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap); /* a longer one is cut */
    va_end(ap);
    reply_error(r, text);
}

size_t reply_put_int(char out[REPLY_INT_MAX], int64_t n)
{
    if (n >= 0)
        return str_put_u64(out, (uint64_t)n);
    out[0] = '-';
    return 1 + str_put_u64(out + 1, 0 - (uint64_t)n);
}

/* A sign, a number, a line end. */
static void header(struct reply *r, char sign, int64_t n)
{
    char *p = room(r, REPLY_INT_MAX + 3);
    size_t len;

    if (!p)
        return;
    p[0] = sign;
    len = 1 + reply_put_int(p + 1, n);
    put_end(p + len);
    r->out.len += len + 2;
}

void reply_int(struct reply *r, int64_t n)
{
    header(r, ':', n);
}

void reply_bulk(struct reply *r, struct str s)
{
    size_t len, total;
    char *p;

    if (!mem_add(s.len, REPLY_INT_MAX + 5, &total)) {
        r->overflow = true;
        return;
    }
    p = room(r, total);
    if (!p)
        return;
    p[0] = '$';
    len = 1 + str_put_u64(p + 1, s.len);
    put_end(p + len);
    len += 2;
    if (s.len)
        memcpy(p + len, s.p, s.len);
    len += s.len;
    put_end(p + len);
    r->out.len += len + 2;
}

void reply_bulk_c(struct reply *r, const char *s)
{
    reply_bulk(r, str_c(s));
}

void reply_bulk_int(struct reply *r, int64_t n)
{
    char text[REPLY_INT_MAX];

    reply_bulk(r, str_n(text, reply_put_int(text, n)));
}

void reply_null(struct reply *r)
{
    reply_raw(r, r->resp == 3 ? STR("_\r\n") : STR("$-1\r\n"));
}

void reply_null_array(struct reply *r)
{
    reply_raw(r, r->resp == 3 ? STR("_\r\n") : STR("*-1\r\n"));
}

void reply_array(struct reply *r, size_t n)
{
    header(r, '*', (int64_t)n);
}

void reply_map(struct reply *r, size_t n)
{
    header(r, r->resp == 3 ? '%' : '*', (int64_t)(r->resp == 3 ? n : 2 * n));
}

void reply_set(struct reply *r, size_t n)
{
    header(r, r->resp == 3 ? '~' : '*', (int64_t)n);
}

void reply_push(struct reply *r, size_t n)
{
    header(r, r->resp == 3 ? '>' : '*', (int64_t)n);
}

/* Fewer digits first: most doubles that people write need few. */
size_t reply_put_double(char out[REPLY_DOUBLE_MAX], double d)
{
    char text[REPLY_DOUBLE_MAX];
    size_t n;

    if (!isfinite(d)) {
        const char *name = isnan(d) ? "nan" : d > 0 ? "inf" : "-inf";

        n = strlen(name);
        memcpy(out, name, n);
        return n;
    }
    if (fabs(d) < 1e15 && d == (double)(int64_t)d && !(d == 0 && signbit(d)))
        return reply_put_int(out, (int64_t)d);
    (void)snprintf(text, sizeof(text), "%.15g", d);
    if (strtod(text, NULL) != d)
        (void)snprintf(text, sizeof(text), "%.17g", d);
    n = strlen(text);
    memcpy(out, text, n);
    return n;
}

void reply_double(struct reply *r, double d)
{
    char text[REPLY_DOUBLE_MAX];
    struct str s = str_n(text, reply_put_double(text, d));

    if (r->resp == 3) {
        reply_raw(r, STR(","));
        reply_raw(r, s);
        reply_raw(r, STR("\r\n"));
    } else {
        reply_bulk(r, s);
    }
}

void reply_bool(struct reply *r, bool b)
{
    if (r->resp == 3)
        reply_raw(r, b ? STR("#t\r\n") : STR("#f\r\n"));
    else
        reply_int(r, b);
}

void reply_verbatim(struct reply *r, struct str text)
{
    if (r->resp == 3) {
        header(r, '=', (int64_t)text.len + 4);
        reply_raw(r, STR("txt:"));
        reply_raw(r, text);
        reply_raw(r, STR("\r\n"));
    } else {
        reply_bulk(r, text);
    }
}

/* ---- lengths that are known later ---- */

size_t reply_deferred(struct reply *r)
{
    return r->out.len;
}

/* Moves the items, to make room for their header. */
static void insert_header(struct reply *r, size_t at, char sign, int64_t n)
{
    size_t end = r->out.len, len;

    if (r->muted || r->overflow)
        return;
    header(r, sign, n);
    if (r->overflow)
        return;
    len = r->out.len - end;
    if (end > at) {
        char text[REPLY_INT_MAX + 3];

        memcpy(text, r->out.p + end, len);
        memmove(r->out.p + at + len, r->out.p + at, end - at);
        memcpy(r->out.p + at, text, len);
    }
}

void reply_deferred_array(struct reply *r, size_t at, size_t n)
{
    insert_header(r, at, '*', (int64_t)n);
}

void reply_deferred_map(struct reply *r, size_t at, size_t n)
{
    insert_header(r, at, r->resp == 3 ? '%' : '*', (int64_t)(r->resp == 3 ? n : 2 * n));
}

void reply_deferred_set(struct reply *r, size_t at, size_t n)
{
    insert_header(r, at, r->resp == 3 ? '~' : '*', (int64_t)n);
}
