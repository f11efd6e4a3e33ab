/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_BASE_BUF_H
#define EPHPM_BASE_BUF_H

/*
 * struct buf: owned, growing bytes.  Zero-initialise ({0}) or buf_init(), end with buf_fini().
 * Growth never fails (mem.h); before appending an amount that a peer chose, check it against a
 * limit.  p is not NUL-terminated unless buf_cstr() was called last.
 */

#include "base/str.h"

struct buf {
    char *p;
    size_t len;
    size_t cap;
};

void buf_init(struct buf *b);
/* Frees the bytes; the buf is empty and usable again. */
void buf_fini(struct buf *b);
/* Makes room for n more bytes and returns where they start. Valid until the next growth. */
char *buf_reserve(struct buf *b, size_t n);
void buf_add(struct buf *b, const void *p, size_t n);
void buf_add_str(struct buf *b, struct str s);
#define buf_add_lit(b, lit) buf_add((b), (lit), sizeof(lit) - 1)
void buf_add_char(struct buf *b, char c);
void buf_add_u64(struct buf *b, uint64_t v);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Drops n bytes from the front (n <= len). */
void buf_consume(struct buf *b, size_t n);
/* Empties, keeps the memory. */
void buf_clear(struct buf *b);
/* The bytes, valid until the buf changes. */
static inline struct str buf_str(const struct buf *b)
{
    return str_n(b->p, b->len);
}
/* The bytes with a NUL after them (not counted in len); valid until the buf changes. */
const char *buf_cstr(struct buf *b);
/* c with a backslash, as JSON and our logs write it, if it is a quote, a backslash, \n, \r or \t.
 * False: nothing was added. */
bool buf_add_escape(struct buf *b, char c);
/* s as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void buf_add_json(struct buf *b, struct str s);
/* s with & < > " ' escaped for HTML. */
void buf_add_html(struct buf *b, struct str s);

#endif
