/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/str.h"

#include "base/err.h"

bool str_ieq(struct str a, struct str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (str_lower_char(a.p[i]) != str_lower_char(b.p[i]))
            return false;
    return true;
}

int str_cmp(struct str a, struct str b)
{
    size_t n = MIN(a.len, b.len);
    int r = n ? memcmp(a.p, b.p, n) : 0;

    if (r)
        return r;
    return a.len < b.len ? -1 : a.len > b.len;
}

bool str_starts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_eq(str_n(s.p, prefix.len), prefix);
}

bool str_under(struct str path, struct str dir)
{
    return str_starts(path, dir) && (path.len == dir.len || path.p[dir.len] == '/');
}

bool str_istarts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_ieq(str_n(s.p, prefix.len), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.len >= suffix.len && str_eq(str_n(s.p + s.len - suffix.len, suffix.len), suffix);
}

bool str_iends(struct str s, struct str suffix)
{
    return s.len >= suffix.len && str_ieq(str_n(s.p + s.len - suffix.len, suffix.len), suffix);
}

struct str str_sub(struct str s, size_t i, size_t n)
{
    if (i > s.len)
        i = s.len;
    if (n > s.len - i)
        n = s.len - i;
    return str_n(s.p ? s.p + i : NULL, n);
}

ptrdiff_t str_chr(struct str s, char c)
{
    const char *q = s.len ? memchr(s.p, c, s.len) : NULL;

    return q ? q - s.p : -1;
}

ptrdiff_t str_rchr(struct str s, char c)
{
    for (size_t i = s.len; i > 0; i--)
        if (s.p[i - 1] == c)
            return (ptrdiff_t)(i - 1);
    return -1;
}

ptrdiff_t str_find(struct str s, struct str needle)
{
    if (needle.len == 0)
        return 0;
    for (size_t i = 0; i + needle.len <= s.len; i++) {
        const char *q = memchr(s.p + i, needle.p[0], s.len - needle.len - i + 1);

        if (!q)
            return -1;
        i = (size_t)(q - s.p);
        if (memcmp(q, needle.p, needle.len) == 0)
            return (ptrdiff_t)i;
    }
    return -1;
}

static bool str_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str s)
{
    while (s.len && str_is_space(s.p[0])) {
        s.p++;
        s.len--;
    }
    while (s.len && str_is_space(s.p[s.len - 1]))
        s.len--;
    return s;
}

bool str_split(struct str *rest, char sep, struct str *part)
{
    ptrdiff_t i;

    if (!rest->p)
        return false;
    i = str_chr(*rest, sep);
    if (i < 0) {
        *part = *rest;
        *rest = STR_NONE;
    } else {
        *part = str_n(rest->p, (size_t)i);
        rest->p += i + 1;
        rest->len -= (size_t)i + 1;
    }
    return true;
}

int str_u64(struct str s, uint64_t *out)
{
    uint64_t v = 0;

    if (s.len == 0 || !s.p)
        return ERR_INVAL;
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return ERR_INVAL;
    }
    for (size_t i = 0; i < s.len; i++) {
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
            return ERR_RANGE;
    }
    *out = v;
    return 0;
}

int str_i64(struct str s, int64_t *out)
{
    bool neg = s.len && s.p[0] == '-';
    uint64_t v;
    int rc = str_u64(neg ? str_sub(s, 1, s.len) : s, &v);

    if (rc)
        return rc;
    if (v > (uint64_t)INT64_MAX + (neg ? 1 : 0))
        return ERR_RANGE;
    *out = neg ? (int64_t)(0 - v) : (int64_t)v;
    return 0;
}

size_t str_put(char *dst, size_t cap, struct str s)
{
    size_t n = MIN(s.len, cap - 1);

    if (n)
        memcpy(dst, s.p, n);
    dst[n] = '\0';
    return n;
}

size_t str_put_u64(char *dst, uint64_t v)
{
    char t[20];
    size_t i = sizeof(t);

    do {
        t[--i] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    memcpy(dst, t + i, sizeof(t) - i);
    return sizeof(t) - i;
}

/* Matches one class "[...]" at pat[i] against c; sets *next past the ']'. A class without its
 * ']' is a literal '['. */
static bool str_glob_class(struct str pat, size_t i, char c, size_t *next)
{
    size_t j = i + 1;
    bool neg = false, hit = false;

    if (j < pat.len && (pat.p[j] == '!' || pat.p[j] == '^')) {
        neg = true;
        j++;
    }
    for (size_t first = j; j < pat.len && (pat.p[j] != ']' || j == first); j++) {
        unsigned char lo = (unsigned char)pat.p[j], hi = lo;

        if (j + 2 < pat.len && pat.p[j + 1] == '-' && pat.p[j + 2] != ']') {
            hi = (unsigned char)pat.p[j + 2];
            j += 2;
        }
        if ((unsigned char)c >= lo && (unsigned char)c <= hi)
            hit = true;
    }
    if (j >= pat.len) {
        *next = i + 1;
        return c == '[';
    }
    *next = j + 1;
    return hit != neg && c != '/';
}

/* Matches the one pattern element at i (not a star) against c. */
static bool str_glob_one(struct str pat, size_t i, char c, size_t *next)
{
    switch (pat.p[i]) {
    case '?':
        *next = i + 1;
        return c != '/';
    case '[':
        return str_glob_class(pat, i, c, next);
    case '\\':
        if (i + 1 < pat.len) {
            *next = i + 2;
            return c == pat.p[i + 1];
        }
        break;
    default:
        break;
    }
    *next = i + 1;
    return c == pat.p[i];
}

bool str_glob(struct str pat, struct str s)
{
    /* Two resume points: one for the last '*', one for the last '**'.  A later '**' makes earlier
     * stars irrelevant, and a failed '*' run falls back to the '**'. */
    size_t pi = 0, si = 0;
    size_t star_p = SIZE_MAX, star_s = 0, deep_p = SIZE_MAX, deep_s = 0;

    for (;;) {
        size_t next;

        if (pi < pat.len && pat.p[pi] == '*') {
            if (pi + 1 < pat.len && pat.p[pi + 1] == '*') {
                while (pi < pat.len && pat.p[pi] == '*')
                    pi++;
                deep_p = pi;
                deep_s = si;
                star_p = SIZE_MAX;
            } else {
                star_p = ++pi;
                star_s = si;
            }
            continue;
        }
        if (pi == pat.len && si == s.len)
            return true;
        if (pi < pat.len && si < s.len && str_glob_one(pat, pi, s.p[si], &next)) {
            pi = next;
            si++;
            continue;
        }
        if (star_p != SIZE_MAX && star_s < s.len && s.p[star_s] != '/') {
            pi = star_p;
            si = ++star_s;
            continue;
        }
        if (deep_p != SIZE_MAX && deep_s < s.len) {
            pi = deep_p;
            si = ++deep_s;
            star_p = SIZE_MAX;
            continue;
        }
        return false;
    }
}

/* Length of the well-formed UTF-8 sequence at p, or 0. */
static size_t str_utf8_len(const unsigned char *p, size_t n)
{
    unsigned char c = p[0];

    if (c < 0x80)
        return 1;
    if (c >= 0xc2 && c <= 0xdf)
        return n >= 2 && (p[1] & 0xc0) == 0x80 ? 2 : 0;
    if (c >= 0xe0 && c <= 0xef) {
        if (n < 3 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80)
            return 0;
        if ((c == 0xe0 && p[1] < 0xa0) || (c == 0xed && p[1] > 0x9f))
            return 0;
        return 3;
    }
    if (c >= 0xf0 && c <= 0xf4) {
        if (n < 4 || (p[1] & 0xc0) != 0x80 || (p[2] & 0xc0) != 0x80 || (p[3] & 0xc0) != 0x80)
            return 0;
        if ((c == 0xf0 && p[1] < 0x90) || (c == 0xf4 && p[1] > 0x8f))
            return 0;
        return 4;
    }
    return 0;
}

bool str_is_utf8(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;

    for (size_t i = 0; i < s.len;) {
        size_t n = str_utf8_len(p + i, s.len - i);

        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

int str_distance(struct str a, struct str b)
{
    enum { CAP = 64 };
    int rows[3][CAP + 1];
    int *prev2 = rows[0], *prev = rows[1], *cur = rows[2];

    a.len = MIN(a.len, (size_t)CAP);
    b.len = MIN(b.len, (size_t)CAP);
    for (size_t j = 0; j <= b.len; j++)
        prev[j] = (int)j;
    memset(prev2, 0, sizeof(rows[0]));
    for (size_t i = 1; i <= a.len; i++) {
        int *t;

        cur[0] = (int)i;
        for (size_t j = 1; j <= b.len; j++) {
            int cost = a.p[i - 1] != b.p[j - 1];
            int d = MIN(MIN(prev[j] + 1, cur[j - 1] + 1), prev[j - 1] + cost);

            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
                d = MIN(d, prev2[j - 2] + 1);
            cur[j] = d;
        }
        t = prev2;
        prev2 = prev;
        prev = cur;
        cur = t;
    }
    return prev[b.len];
}
