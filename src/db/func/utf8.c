/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/func/utf8.h"

#include "db/func/collation.h"

uint32_t utf8_decode(struct str s, size_t *i)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)s.p + *i;
    size_t left = s.len - *i;
    size_t n = p[0] < 0x80   ? 1
               : p[0] < 0xC2 ? 0
               : p[0] < 0xE0 ? 2
               : p[0] < 0xF0 ? 3
               : p[0] < 0xF5 ? 4
                             : 0;
    uint32_t c;

    if (n == 1 || n == 0 || n > left) {
        (*i)++;
        return n == 1 ? p[0] : UTF8_BAD + p[0];
    }
    c = p[0] & (0x7FU >> n);
    for (size_t k = 1; k < n; k++) {
        if ((p[k] & 0xC0) != 0x80) {
            (*i)++;
            return UTF8_BAD + p[0];
        }
        c = c << 6 | (p[k] & 0x3F);
    }
    if (c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) {
        (*i)++;
        return UTF8_BAD + p[0];
    }
    *i += n;
    return c;
}

void utf8_encode(struct buf *out, uint32_t c)
{
    char b[4];
    size_t n;

    if (c < 0x80 || c >= UTF8_BAD) {
        buf_add_char(out, (char)c);
        return;
    }
    if (c < 0x800) {
        b[0] = (char)(0xC0 | c >> 6);
        n = 2;
    } else if (c < 0x10000) {
        b[0] = (char)(0xE0 | c >> 12);
        n = 3;
    } else {
        b[0] = (char)(0xF0 | (c >> 18 & 7));
        n = 4;
    }
    for (size_t k = 1; k < n; k++)
        b[k] = (char)(0x80 | (c >> (6 * (n - 1 - k)) & 0x3F));
    buf_add(out, b, n);
}

size_t utf8_count(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; n++)
        (void)utf8_next(s, &i); /* only the way counts */
    return n;
}

size_t utf8_offset(struct str s, size_t n)
{
    size_t i = 0;

    for (; n > 0 && i < s.len; n--)
        (void)utf8_next(s, &i); /* only the way counts */
    return i;
}

static uint32_t map(const struct collation_case *runs, unsigned n, uint32_t c)
{
    unsigned low = 0;
    unsigned high = n;

    while (low < high) {
        unsigned mid = low + (high - low) / 2;

        if (c > runs[mid].to)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < n && c >= runs[low].from && (c - runs[low].from) % runs[low].step == 0)
        return (uint32_t)((int32_t)c + runs[low].delta);
    return c;
}

uint32_t utf8_upper(uint32_t c)
{
    if (c < 0x80)
        return c >= 'a' && c <= 'z' ? c - 32 : c;
    return map(collation_to_upper, collation_to_upper_n, c);
}

uint32_t utf8_lower(uint32_t c)
{
    if (c < 0x80)
        return c >= 'A' && c <= 'Z' ? c + 32 : c;
    return map(collation_to_lower, collation_to_lower_n, c);
}
