/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_FUNC_UTF8_H
#define EPHPM_DB_FUNC_UTF8_H

/* Characters of UTF-8 text. Text is expected to be well-formed, but anything may come: a byte that
 * begins no character is one of its own, numbered UTF8_BAD + byte. */

#include "base/buf.h"
#include "base/str.h"

enum { UTF8_BAD = 0x200000 };

/* The character at *i (< s.len), which goes behind it. */
uint32_t utf8_decode(struct str s, size_t *i);
/* Appends the character; what decode made of a bad byte is that byte again. */
void utf8_encode(struct buf *out, uint32_t c);
/* Characters of s. */
size_t utf8_count(struct str s);
/* Where character n begins (s.len when there are fewer). */
size_t utf8_offset(struct str s, size_t n);
uint32_t utf8_upper(uint32_t c);
uint32_t utf8_lower(uint32_t c);

static inline uint32_t utf8_next(struct str s, size_t *i)
{
    unsigned char c = (unsigned char)s.p[*i];

    if (c < 0x80) {
        (*i)++;
        return c;
    }
    return utf8_decode(s, i);
}

#endif
