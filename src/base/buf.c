/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

void buf_init(struct buf *b)
{
    *b = (struct buf){0};
}

void buf_fini(struct buf *b)
{
    mem_free(b->p);
    *b = (struct buf){0};
}

char *buf_reserve(struct buf *b, size_t n)
{
    size_t want;

    ENSURE(mem_add(b->len, n, &want));
    if (want > b->cap) {
        size_t cap = b->cap ? b->cap : 64;

        while (cap < want)
            ENSURE(mem_add(cap, cap / 2, &cap));
        b->p = mem_resize(b->p, cap);
        b->cap = cap;
    }
    return b->p + b->len;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
    if (n == 0)
        return;
    memcpy(buf_reserve(b, n), p, n);
    b->len += n;
}

void buf_add_str(struct buf *b, struct str s)
{
    buf_add(b, s.p, s.len);
}

void buf_add_char(struct buf *b, char c)
{
    *buf_reserve(b, 1) = c;
    b->len++;
}

void buf_add_u64(struct buf *b, uint64_t v)
{
    b->len += str_put_u64(buf_reserve(b, 20), v);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
    va_list ap, again;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    ENSURE(n >= 0);
    (void)buf_reserve(b, (size_t)n + 1);
    (void)vsnprintf(b->p + b->len, (size_t)n + 1, fmt, again); /* measured above */
    va_end(again);
    b->len += (size_t)n;
}

void buf_consume(struct buf *b, size_t n)
{
    ENSURE(n <= b->len);
    b->len -= n;
    if (b->len && n)
        memmove(b->p, b->p + n, b->len);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
}

const char *buf_cstr(struct buf *b)
{
    *buf_reserve(b, 1) = '\0';
    return b->p;
}

bool buf_add_escape(struct buf *b, char c)
{
    char escaped[2] = {'\\', c};

    if (c == '\n')
        escaped[1] = 'n';
    else if (c == '\r')
        escaped[1] = 'r';
    else if (c == '\t')
        escaped[1] = 't';
    else if (c != '"' && c != '\\')
        return false;
    buf_add(b, escaped, sizeof(escaped));
    return true;
}

void buf_add_json(struct buf *b, struct str s)
{
    bool clean = str_is_utf8(s);

    buf_add_char(b, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (buf_add_escape(b, (char)c))
            continue;
        if (c < 0x20 || c == 0x7f) {
            buf_printf(b, "\\u%04x", c);
        } else if (c >= 0x80 && !clean) {
            buf_add_lit(b, "\\ufffd");
        } else {
            buf_add_char(b, (char)c);
        }
    }
    buf_add_char(b, '"');
}

void buf_add_html(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        switch (s.p[i]) {
        case '&':
            buf_add_lit(b, "&amp;");
            break;
        case '<':
            buf_add_lit(b, "&lt;");
            break;
        case '>':
            buf_add_lit(b, "&gt;");
            break;
        case '"':
            buf_add_lit(b, "&quot;");
            break;
        case '\'':
            buf_add_lit(b, "&#39;");
            break;
        default:
            buf_add_char(b, s.p[i]);
        }
    }
}
