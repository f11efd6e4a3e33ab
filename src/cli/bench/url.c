/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/bench/url.h"

static int parse_port(struct str text, struct bench_url *out)
{
    uint64_t n;

    if (str_u64(text, &n) || n < 1 || n > 65535)
        return ERR_INVAL;
    out->port = (uint16_t)n;
    return 0;
}

/* "host", "host:port", "[address]:port". */
static int parse_authority(struct str a, struct bench_url *out, const char **why)
{
    struct str host = a, port = STR_NONE;
    ptrdiff_t at;

    *why = "it names no host";
    if (str_chr(a, '@') >= 0) {
        *why = "a user in it has no effect; give -H 'Authorization: ...'";
        return ERR_INVAL;
    }
    out->ipv6 = str_starts(a, STR("["));
    if (out->ipv6) {
        at = str_chr(a, ']');
        if (at < 0 || (at + 1 < (ptrdiff_t)a.len && a.p[at + 1] != ':'))
            return ERR_INVAL;
        host = str_sub(a, 1, (size_t)at - 1);
        port = str_sub(a, (size_t)at + 1, a.len);
    } else if ((at = str_chr(a, ':')) >= 0) {
        host = str_sub(a, 0, (size_t)at);
        port = str_sub(a, (size_t)at, a.len);
    }
    if (host.len == 0)
        return ERR_INVAL;
    *why = "the host's name is too long";
    if (str_put(out->host, sizeof(out->host), host) < host.len)
        return ERR_INVAL;
    *why = "the port is no number from 1 to 65535";
    out->port = 80;
    return port.len > 1 ? parse_port(str_sub(port, 1, port.len), out) : 0;
}

static bool has_bad_char(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.p[i] <= ' ' || (unsigned char)s.p[i] >= 127)
            return true;
    return false;
}

int bench_url_parse(const char *text, struct bench_url *out, struct err *err)
{
    struct str s = str_c(text), rest;
    const char *why;
    size_t end = 0;

    *out = (struct bench_url){0};
    if (str_istarts(s, STR("https://")))
        return err_set(err, ERR_UNSUPPORTED,
            "%s: https is not possible yet; measure the server without TLS, by http://", text);
    if (!str_istarts(s, STR("http://")))
        return err_set(err, ERR_INVAL, "%s is no address of a page: it starts with http://", text);
    if (has_bad_char(s))
        return err_set(err, ERR_INVAL,
            "%s: a space, a control character or one beyond ASCII is written as %%XX", text);
    rest = str_sub(s, 7, s.len);
    while (end < rest.len && rest.p[end] != '/' && rest.p[end] != '?' && rest.p[end] != '#')
        end++;
    if (parse_authority(str_sub(rest, 0, end), out, &why))
        return err_set(err, ERR_INVAL, "%s: %s", text, why);
    out->target = str_sub(rest, end, rest.len);
    if (str_chr(out->target, '#') >= 0)
        out->target = str_sub(out->target, 0, (size_t)str_chr(out->target, '#'));
    return 0;
}

/* --- request ---------------------------------------------------------------------------------- */

static bool is_token(struct str s)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < s.len; i++) {
        char c = str_lower_char(s.p[i]);

        if ((c < 'a' || c > 'z') && (c < '0' || c > '9') && (!c || !strchr(others, c)))
            return false;
    }
    return s.len > 0;
}

static int add_header(struct buf *out, const char *line, bool *host, struct err *err)
{
    static const struct str ours[] = {
        {"Connection", 10}, {"Content-Length", 14}, {"Transfer-Encoding", 17}, {"Expect", 6}};
    struct str s = str_c(line), name, value;
    ptrdiff_t at = str_chr(s, ':');

    name = str_sub(s, 0, at < 0 ? 0 : (size_t)at);
    value = str_trim(str_sub(s, (size_t)at + 1, s.len));
    if (!is_token(name))
        return err_set(err, ERR_INVAL, "-H wants 'Name: value', not '%s'", line);
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.p[i] < ' ' && value.p[i] != '\t')
            return err_set(
                err, ERR_INVAL, "-H: a control character in the value of " STR_F, STR_A(name));
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (str_ieq(name, ours[i]))
            return err_set(err, ERR_INVAL,
                "-H: " STR_F " cannot be given: requests are GET, without a body, on connections "
                "that stay",
                STR_A(name));
    *host = *host || str_ieq(name, STR("Host"));
    buf_printf(out, STR_F ": " STR_F "\r\n", STR_A(name), STR_A(value));
    return 0;
}

int bench_url_request(const struct bench_url *url, const char *const *headers, size_t n,
    struct buf *out, struct err *err)
{
    bool host = false;
    int rc = 0;

    buf_printf(out, "GET %s" STR_F " HTTP/1.1\r\n", str_starts(url->target, STR("/")) ? "" : "/",
        STR_A(url->target));
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add_header(out, headers[i], &host, err);
    if (!host) {
        buf_printf(out, url->ipv6 ? "Host: [%s]" : "Host: %s", url->host);
        if (url->port != 80)
            buf_printf(out, ":%u", (unsigned)url->port);
        buf_add_lit(out, "\r\n");
    }
    buf_add_lit(out, "\r\n");
    return rc;
}
