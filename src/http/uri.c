/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/uri.h"

static int refuse(int *status, int code, int err)
{
    *status = code;
    return err;
}

/* A control, a space, DEL or '#' is in no target; other bytes pass as sent. */
static bool target_is_clean(struct str t)
{
    for (size_t i = 0; i < t.len; i++) {
        unsigned char c = (unsigned char)t.p[i];

        if (c <= ' ' || c == 0x7f || c == '#')
            return false;
    }
    return t.len > 0;
}

static void split_query(struct uri *u)
{
    ptrdiff_t mark = str_chr(u->request_uri, '?');

    u->path = u->request_uri;
    if (mark < 0)
        return;
    u->has_query = true;
    u->path = str_n(u->request_uri.p, (size_t)mark);
    u->query = str_sub(u->request_uri, (size_t)mark + 1, u->request_uri.len);
}

/* rest: what follows the scheme and its "://". */
static int parse_absolute(struct str rest, struct arena *a, struct uri *u, int *status)
{
    size_t i = 0;

    while (i < rest.len && rest.p[i] != '/' && rest.p[i] != '?')
        i++;
    u->authority = str_n(rest.p, i);
    if (i == 0 || str_chr(u->authority, '@') >= 0)
        return refuse(status, 400, ERR_INVAL);
    rest = str_sub(rest, i, rest.len);
    if (rest.len == 0)
        u->request_uri = STR("/");
    else if (rest.p[0] == '/')
        u->request_uri = rest;
    else
        u->request_uri = arena_printf(a, "/" STR_F, STR_A(rest));
    split_query(u);
    return 0;
}

int uri_parse(struct str method, struct str target, struct arena *a, struct uri *out, int *status)
{
    struct uri u = {.form = URI_ORIGIN};
    int rc;

    /* No tunnel; and TRACE would show a script's visitor what its browser hides from scripts. */
    if (str_eq(method, STR("CONNECT")) || str_eq(method, STR("TRACE")))
        return refuse(status, 405, ERR_UNSUPPORTED);
    if (!target_is_clean(target))
        return refuse(status, 400, ERR_INVAL);
    if (target.p[0] == '/') {
        u.request_uri = target;
        split_query(&u);
    } else if (str_eq(target, STR("*"))) {
        if (!str_eq(method, STR("OPTIONS")))
            return refuse(status, 400, ERR_INVAL);
        u.form = URI_ASTERISK;
        u.request_uri = u.path = target;
    } else {
        struct str http = STR("http://"), https = STR("https://");

        u.https = str_istarts(target, https);
        if (!u.https && !str_istarts(target, http))
            return refuse(status, 400, ERR_INVAL);
        u.form = URI_ABSOLUTE;
        target = str_sub(target, u.https ? https.len : http.len, target.len);
        if ((rc = parse_absolute(target, a, &u, status)) != 0)
            return rc;
    }
    *out = u;
    return 0;
}

/* Decodes one byte of raw at *i and moves on. False for a bad escape or a NUL. */
static bool decode_byte(struct str raw, size_t *i, char *out)
{
    char c = raw.p[*i];

    *i += 1;
    if (c == '%') {
        int hi = *i < raw.len ? str_hex_digit(raw.p[*i]) : -1;
        int lo = *i + 1 < raw.len ? str_hex_digit(raw.p[*i + 1]) : -1;

        if (hi < 0 || lo < 0)
            return false;
        c = (char)(hi * 16 + lo);
        *i += 2;
    }
    *out = c;
    return c != '\0';
}

/*
 * A segment ended: p[seg..len) without its slash.  Drops "." and "..", the latter with the segment
 * before it.  Returns the new length, which is just behind a slash, or len when nothing was
 * special; 0 when ".." leaves the root.
 */
static size_t resolve_segment(const char *p, size_t seg, size_t len)
{
    size_t n = len - seg;

    if (n == 1 && p[seg] == '.')
        return seg;
    if (n != 2 || p[seg] != '.' || p[seg + 1] != '.')
        return len;
    if (seg == 1)
        return 0;
    seg--;
    while (p[seg - 1] != '/')
        seg--;
    return seg;
}

int uri_decode_path(struct str raw, struct arena *a, struct str *out)
{
    size_t len = 0, seg = 1; /* seg: where the current segment starts */
    char *p;

    if (raw.len == 0 || raw.p[0] != '/')
        return ERR_INVAL;
    /* Decoding only shrinks. */
    p = arena_bytes(a, raw.len + 1);
    p[len++] = '/';
    for (size_t i = 1; i < raw.len;) {
        char c;

        if (!decode_byte(raw, &i, &c))
            return ERR_INVAL;
        if (c != '/') {
            p[len++] = c;
            continue;
        }
        if (len == seg)
            continue; /* "//" */
        len = resolve_segment(p, seg, len);
        if (len == 0)
            return ERR_INVAL;
        if (p[len - 1] != '/')
            p[len++] = '/';
        seg = len;
    }
    len = resolve_segment(p, seg, len);
    if (len == 0)
        return ERR_INVAL;
    p[len] = '\0';
    *out = str_n(p, len);
    return 0;
}

static bool is_path_safe(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c != '\0' && strchr("-._~/!$&'()*+,;=:@", c) != NULL);
}

void uri_encode_path(struct str path, struct buf *out)
{
    static const char hex[] = "0123456789ABCDEF";

    for (size_t i = 0; i < path.len; i++) {
        unsigned char c = (unsigned char)path.p[i];

        if (is_path_safe(path.p[i])) {
            buf_add_char(out, path.p[i]);
        } else {
            buf_add_char(out, '%');
            buf_add_char(out, hex[c >> 4]);
            buf_add_char(out, hex[c & 15]);
        }
    }
}
