/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CORE_TOML_SCAN_H
#define EPHPM_CORE_TOML_SCAN_H

/* Private to toml.c and toml_scan.c: the cursor, and the tokens (strings, numbers, dates). */

#include "core/toml.h"

struct toml_cursor {
    struct arena *arena;
    struct str text;
    size_t pos;
    int line;
    size_t line_start;
    /* The column of a position on this line; grows with pos, so that long lines cost linear time.
     */
    size_t col_pos;
    int col;
    int depth;
    struct err *err;
};

void toml_cursor_init(struct toml_cursor *c, struct arena *a, struct str text, struct err *err);
/* The byte at pos + ahead, or 0 at the end (a NUL in the text is an error before this is asked). */
static inline unsigned char toml_peek(const struct toml_cursor *c, size_t ahead)
{
    return c->text.len - c->pos > ahead ? (unsigned char)c->text.p[c->pos + ahead] : 0;
}
static inline bool toml_at_end(const struct toml_cursor *c)
{
    return c->pos >= c->text.len;
}
/* Column of pos, from 1. */
int toml_column(struct toml_cursor *c);
/* Fails at pos; returns ERR_INVAL. */
int toml_fail(struct toml_cursor *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Fails at pos, naming the character there after what. */
int toml_fail_char(struct toml_cursor *c, const char *what);
/* Takes LF or CRLF; false when there is none. */
bool toml_take_newline(struct toml_cursor *c);
void toml_skip_blank(struct toml_cursor *c);
/* Takes a comment up to its line's end, if there is one. */
int toml_skip_comment(struct toml_cursor *c) MUST_CHECK;
bool toml_is_bare(unsigned char ch);
/* pos is at a quote. multi: also the three-quote forms. */
int toml_scan_string(struct toml_cursor *c, bool multi, struct str *out) MUST_CHECK;
/* A value that is no string, array or table. */
int toml_scan_plain(struct toml_cursor *c, struct toml_value *out) MUST_CHECK;

#endif
