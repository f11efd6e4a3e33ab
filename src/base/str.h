/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_BASE_STR_H
#define EPHPM_BASE_STR_H

/*
 * struct str: borrowed bytes.  It owns nothing, may hold NULs and need not end in one; whoever
 * made it says how long the bytes stay valid.  A struct buf (buf.h) owns.
 *
 * Character tests here are ASCII only and know no locale.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"

struct str {
    const char *p; /* may be NULL when len is 0 */
    size_t len;
};

#define STR(lit) ((struct str){(lit), sizeof(lit) - 1}) /* of a literal */
#define STR_NONE ((struct str){NULL, 0})
#define STR_F    "%.*s" /* printf with ... */
#define STR_A(s) ((int)MIN((s).len, (size_t)INT32_MAX)), ((s).p ? (s).p : "")

static inline struct str str_n(const char *p, size_t len)
{
    return (struct str){p, len};
}

/* Of a C string; NULL gives the empty one. */
static inline struct str str_c(const char *p)
{
    return (struct str){p, p ? strlen(p) : 0};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

/* ASCII case-insensitive. */
bool str_ieq(struct str a, struct str b);
/* memcmp order, shorter first when one is the other's start. */
int str_cmp(struct str a, struct str b);
bool str_starts(struct str s, struct str prefix);
bool str_istarts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
bool str_iends(struct str s, struct str suffix);
/* Is the path the folder dir, or in it? dir has no final slash. */
bool str_under(struct str path, struct str dir);
/* Bytes from i on, at most n; out-of-range values are cut to fit. */
struct str str_sub(struct str s, size_t i, size_t n);
/* Position of a byte / a string, or -1. */
ptrdiff_t str_chr(struct str s, char c);
ptrdiff_t str_rchr(struct str s, char c);
ptrdiff_t str_find(struct str s, struct str needle);
/* Without leading and trailing SP, HTAB, CR and LF. */
struct str str_trim(struct str s);
/*
 * Takes the part before the next sep off *rest into *part (the last part is what remains).
 * False when nothing remains; an empty *rest with p == NULL is the end mark it leaves behind.
 *     struct str rest = s, part;
 *     while (str_split(&rest, ',', &part)) ...
 */
bool str_split(struct str *rest, char sep, struct str *part);

/* Whole of s as a number in base 10, no sign (u64) / optional '-' (i64), no spaces.
 * ERR_INVAL when it is not one, ERR_RANGE when it does not fit. */
int str_u64(struct str s, uint64_t *out) MUST_CHECK;
int str_i64(struct str s, int64_t *out) MUST_CHECK;

/* Copies what fits into cap bytes, with a NUL after it; returns the length copied. cap > 0. */
size_t str_put(char *dst, size_t cap, struct str s);
/* v in base 10, no NUL; dst holds at least 20 bytes. Returns the length. */
size_t str_put_u64(char *dst, uint64_t v);

static inline char str_lower_char(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static inline char str_upper_char(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

/* Value of a hex digit, or -1. */
static inline int str_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/*
 * Shell-style match of the whole of s: '*' any bytes but '/', '**' any bytes, '?' one byte but '/',
 * '[a-z]' / '[!a-z]' a class, '\' takes the next byte literally.  Time is bounded by
 * O(pattern * s) (no exponential backtracking).
 */
bool str_glob(struct str pattern, struct str s);

/* True when s is well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool str_is_utf8(struct str s);

/* Number of single-byte edits (insert, delete, replace, swap of neighbours) between a and b, for
 * "did you mean"; both are cut to 64 bytes. */
int str_distance(struct str a, struct str b);

#endif
