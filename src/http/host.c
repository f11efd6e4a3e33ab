/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/host.h"

#include "platform/sock.h"

enum { HOST_NAME_MAX_LEN = 253, HOST_LABEL_MAX_LEN = 63, HOST_PORT_MAX = 65535 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_char(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
}

/* "" (after "host:") is no port; digits only, so no sign and no space. */
static int parse_port(struct str s, int *out)
{
    int port = 0;

    if (s.len == 0) {
        *out = -1;
        return 0;
    }
    if (s.len > 5)
        return ERR_INVAL;
    for (size_t i = 0; i < s.len; i++) {
        if (!is_digit(s.p[i]))
            return ERR_INVAL;
        port = port * 10 + (s.p[i] - '0');
    }
    if (port > HOST_PORT_MAX)
        return ERR_INVAL;
    *out = port;
    return 0;
}

static int check_name(struct str name)
{
    size_t label = 0;

    if (name.len == 0 || name.len > HOST_NAME_MAX_LEN)
        return ERR_INVAL;
    for (size_t i = 0; i < name.len; i++) {
        if (!is_name_char(name.p[i]))
            return ERR_INVAL;
        if (name.p[i] == '.') {
            if (label == 0)
                return ERR_INVAL;
            label = 0;
        } else if (++label > HOST_LABEL_MAX_LEN) {
            return ERR_INVAL;
        }
    }
    return label > 0 ? 0 : ERR_INVAL;
}

/* "[...]" with a possible ":port" behind it. */
static int split_ipv6(struct str raw, struct str *name, struct str *port)
{
    struct sock_addr addr;
    ptrdiff_t end = str_chr(raw, ']');
    struct str inner, rest;

    if (end < 0)
        return ERR_INVAL;
    inner = str_n(raw.p + 1, (size_t)end - 1);
    for (size_t i = 0; i < inner.len; i++) {
        if (str_hex_digit(inner.p[i]) < 0 && inner.p[i] != ':' && inner.p[i] != '.')
            return ERR_INVAL; /* scopes too: they mean nothing to another machine */
    }
    if (str_chr(inner, ':') < 0 || sock_ip_parse(inner, &addr) != 0)
        return ERR_INVAL;
    rest = str_sub(raw, (size_t)end + 1, raw.len);
    if (rest.len > 0 && rest.p[0] != ':')
        return ERR_INVAL;
    *name = str_n(raw.p, (size_t)end + 1);
    *port = str_sub(rest, 1, rest.len);
    return 0;
}

static struct str lower_copy(struct arena *a, struct str s)
{
    char *p = arena_bytes(a, s.len + 1);

    for (size_t i = 0; i < s.len; i++)
        p[i] = str_lower_char(s.p[i]);
    p[s.len] = '\0';
    return str_n(p, s.len);
}

int host_parse(struct str raw, struct arena *a, struct host *out)
{
    enum host_kind kind = HOST_IPV4;
    struct str name, port_text;
    int port = -1;

    if (raw.len == 0)
        return ERR_INVAL;
    if (raw.p[0] == '[') {
        if (split_ipv6(raw, &name, &port_text) != 0)
            return ERR_INVAL;
        kind = HOST_IPV6;
    } else {
        struct sock_addr addr;
        ptrdiff_t colon = str_chr(raw, ':');

        name = colon < 0 ? raw : str_n(raw.p, (size_t)colon);
        port_text = colon < 0 ? STR_NONE : str_sub(raw, (size_t)colon + 1, raw.len);
        if (name.len > 1 && name.p[name.len - 1] == '.')
            name.len--;
        if (check_name(name) != 0)
            return ERR_INVAL;
        if (!is_digit(name.p[name.len - 1]) || sock_ip_parse(name, &addr) != 0 ||
            addr.family != SOCK_INET4)
            kind = HOST_NAME;
    }
    if (parse_port(port_text, &port) != 0)
        return ERR_INVAL;
    *out = (struct host){kind, lower_copy(a, name), port};
    return 0;
}

/* Without ":port"; the colons inside an IPv6 literal stay. */
static struct str without_port(struct str pattern)
{
    ptrdiff_t colon = str_rchr(pattern, ':');

    if (colon < 0 || colon < str_rchr(pattern, ']'))
        return pattern;
    return str_n(pattern.p, (size_t)colon);
}

bool host_is_trusted(struct str name, const struct str *patterns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct str pattern = without_port(patterns[i]);

        if (str_ieq(pattern, name))
            return true;
        if (str_starts(pattern, STR("*."))) {
            struct str suffix = str_sub(pattern, 1, pattern.len);

            if (name.len > suffix.len && str_iends(name, suffix))
                return true;
        }
    }
    return n == 0;
}

int host_site_key(const struct host *h, struct str *out)
{
    struct str n = h->name;

    if (h->kind == HOST_IPV6 || n.len == 0 || n.p[0] == '.' || n.p[0] == '-')
        return ERR_INVAL;
    for (size_t i = 0; i < n.len; i++) {
        if (!is_name_char(n.p[i]) || (n.p[i] >= 'A' && n.p[i] <= 'Z'))
            return ERR_INVAL;
    }
    *out = n;
    return 0;
}
