/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/glob.h"

/* The byte at *i, a backslash before it skipped. */
static unsigned char literal(struct str p, size_t *i)
{
    if (p.p[*i] == '\\' && *i + 1 < p.len)
        ++*i;
    return (unsigned char)p.p[*i];
}

/* Is c in the class that starts behind *i? Leaves *i behind its end. */
static bool in_class(struct str p, size_t *i, unsigned char c)
{
    bool negated = *i < p.len && p.p[*i] == '^', found = false;

    if (negated)
        ++*i;
    for (; *i < p.len && p.p[*i] != ']'; ++*i) {
        unsigned char from = literal(p, i), to = from, low, high;

        if (*i + 2 < p.len && p.p[*i + 1] == '-' && p.p[*i + 2] != ']') {
            *i += 2;
            to = literal(p, i);
        }
        low = MIN(from, to);
        high = MAX(from, to);
        found = found || (low <= c && c <= high);
    }
    if (*i < p.len)
        ++*i;
    return found != negated;
}

/* One byte against what stands at *i; leaves *i behind that. */
static bool one(struct str p, size_t *i, unsigned char c)
{
    unsigned char want;

    if (p.p[*i] == '?') {
        ++*i;
        return true;
    }
    if (p.p[*i] == '[') {
        ++*i;
        return in_class(p, i, c);
    }
    want = literal(p, i);
    ++*i;
    return want == c;
}

bool kv_glob(struct str pattern, struct str key)
{
    /* Where to go on when what follows the last star does not match: one byte further on. */
    size_t star = SIZE_MAX, retry = 0, i = 0, k = 0, next;

    while (k < key.len) {
        next = i;
        if (i < pattern.len && pattern.p[i] == '*') {
            star = ++i;
            retry = k;
        } else if (i < pattern.len && one(pattern, &next, (unsigned char)key.p[k])) {
            i = next;
            k++;
        } else if (star != SIZE_MAX) {
            i = star;
            k = ++retry;
        } else {
            return false;
        }
    }
    while (i < pattern.len && pattern.p[i] == '*')
        i++;
    return i == pattern.len;
}
