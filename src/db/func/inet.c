/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Addresses of the Internet as numbers, bytes and texts. */
#include <stdio.h>

#include "db/func/call.h"

/* Four numbers up to 255 with three points. */
static bool parse_v4(struct str s, unsigned char out[4])
{
    struct str rest = s;
    struct str part;
    int n = 0;

    while (str_split(&rest, '.', &part)) {
        uint64_t v;

        if (n == 4 || part.len == 0 || part.len > 3 || str_u64(part, &v) != 0 || v > 255)
            return false;
        out[n++] = (unsigned char)v;
    }
    return n == 4 && s.p[s.len - 1] != '.';
}

static int hex_group(struct str s)
{
    int v = 0;

    if (s.len == 0 || s.len > 4)
        return -1;
    for (size_t i = 0; i < s.len; i++) {
        int d = str_hex_digit(s.p[i]);

        if (d < 0)
            return -1;
        v = v << 4 | d;
    }
    return v;
}

/* Groups between colons, into out; -1: bad. The last may be an address of version 4. */
static int parse_groups(struct str s, unsigned char *out, int most)
{
    struct str rest = s;
    struct str part;
    int n = 0;

    if (s.len == 0)
        return 0;
    if (s.p[s.len - 1] == ':')
        return -1;
    while (str_split(&rest, ':', &part)) {
        int v = hex_group(part);

        if (v >= 0 && n + 2 <= most) {
            out[n++] = (unsigned char)(v >> 8);
            out[n++] = (unsigned char)v;
        } else if (v < 0 && rest.len == 0 && n + 4 <= most && parse_v4(part, out + n)) {
            n += 4;
        } else {
            return -1;
        }
    }
    return n;
}

static bool parse_v6(struct str s, unsigned char out[16])
{
    unsigned char tail[16];
    ptrdiff_t gap = str_find(s, STR("::"));
    int n;
    int m;

    memset(out, 0, 16);
    if (gap < 0)
        return parse_groups(s, out, 16) == 16;
    n = parse_groups(str_sub(s, 0, (size_t)gap), out, 14);
    m = parse_groups(str_sub(s, (size_t)gap + 2, s.len), tail, 14);
    if (n < 0 || m < 0 || n + m > 14)
        return false;
    memset(out + n, 0, (size_t)(16 - n));
    memcpy(out + 16 - m, tail, (size_t)m);
    return true;
}

/* The longest run of zero groups (two at least) is left out. */
static size_t print_v6(const unsigned char a[16], char *out, size_t cap)
{
    int best = -1;
    int best_n = 1;
    size_t len = 0;
    bool mapped = true;

    for (int i = 0; i < 8; i++) {
        int n = 0;

        while (i + n < 8 && !a[2 * (i + n)] && !a[2 * (i + n) + 1])
            n++;
        if (n > best_n) {
            best = i;
            best_n = n;
        }
    }
    for (int i = 0; i < 10; i++)
        mapped = mapped && !a[i];
    mapped = mapped && ((a[10] == 0xFF && a[11] == 0xFF) || (!a[10] && !a[11] && (a[12] || a[13])));
    for (int i = 0; i < 8; i++) {
        if (i == best) {
            len += (size_t)snprintf(out + len, cap - len, "::");
            i += best_n - 1;
            continue;
        }
        if (mapped && i == 6) {
            len += (size_t)snprintf(out + len, cap - len, "%s%d.%d.%d.%d",
                len && out[len - 1] != ':' ? ":" : "", a[12], a[13], a[14], a[15]);
            break;
        }
        len += (size_t)snprintf(out + len, cap - len, "%s%x", len && out[len - 1] != ':' ? ":" : "",
            a[2 * i] << 8 | a[2 * i + 1]);
    }
    return len;
}

void fn_inet_aton(struct call *c)
{
    struct str rest;
    struct str part;
    uint64_t parts[4];
    int n = 0;
    uint64_t v = 0;

    if (call_null(c, 0))
        return;
    rest = call_str(c, 0);
    if (rest.len == 0 || rest.p[rest.len - 1] == '.')
        return;
    while (str_split(&rest, '.', &part)) { /* short forms: the last part fills the rest */
        if (n == 4 || str_u64(part, &parts[n]) != 0 || parts[n] > 255)
            return;
        n++;
    }
    for (int i = 0; i < n; i++)
        v |= i == n - 1 && n > 1 ? parts[i] : parts[i] << (n == 1 ? 0 : 24 - 8 * i);
    ret_u64(c, v);
}

void fn_inet_ntoa(struct call *c)
{
    uint64_t v;

    if (call_null(c, 0))
        return;
    v = call_u64(c, 0);
    if (v > UINT32_MAX)
        return;
    ret_str(c, arena_printf(&c->arena, "%u.%u.%u.%u", (unsigned)(v >> 24),
                   (unsigned)(v >> 16 & 255), (unsigned)(v >> 8 & 255), (unsigned)(v & 255)));
}

void fn_inet6_aton(struct call *c)
{
    unsigned char a[16];

    if (call_null(c, 0))
        return;
    if (parse_v4(call_str(c, 0), a))
        ret_blob(c, str_n((const char *)a, 4));
    else if (parse_v6(call_str(c, 0), a))
        ret_blob(c, str_n((const char *)a, 16));
}

void fn_inet6_ntoa(struct call *c)
{
    struct str s;
    char text[64];

    if (call_null(c, 0) || !call_blob(c, 0))
        return;
    s = call_str(c, 0);
    if (s.len == 4)
        ret_str(c, arena_printf(&c->arena, "%d.%d.%d.%d", (unsigned char)s.p[0],
                       (unsigned char)s.p[1], (unsigned char)s.p[2], (unsigned char)s.p[3]));
    else if (s.len == 16)
        ret_str(c, str_n(text, print_v6((const unsigned char *)s.p, text, sizeof(text))));
}

void fn_is_ipv4(struct call *c)
{
    unsigned char a[4];

    ret_bool(c, !call_null(c, 0) && parse_v4(call_str(c, 0), a));
}

void fn_is_ipv6(struct call *c)
{
    unsigned char a[16];

    ret_bool(c, !call_null(c, 0) && parse_v6(call_str(c, 0), a));
}

/* Bytes that are zero before the address, and those that say mapped. */
static bool has_prefix(struct str s, unsigned char marker)
{
    for (size_t i = 0; i < 10; i++) {
        if (s.p[i])
            return false;
    }
    return (unsigned char)s.p[10] == marker && (unsigned char)s.p[11] == marker;
}

void fn_is_ipv4_compat(struct call *c)
{
    struct str s = call_str(c, 0);

    ret_bool(c, s.len == 16 && has_prefix(s, 0) && (s.p[12] || s.p[13] || s.p[14]));
}

void fn_is_ipv4_mapped(struct call *c)
{
    struct str s = call_str(c, 0);

    ret_bool(c, s.len == 16 && has_prefix(s, 0xFF));
}
