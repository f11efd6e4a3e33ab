/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Addresses as text; pure, the same on every system. */
#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <arpa/inet.h>
#endif

#include <stdio.h>
#include <string.h>

#include "platform/sock_addr.h"

static const uint8_t sock_v4_mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

void sock_addr_normalize(struct sock_addr *a)
{
    if (a->family != SOCK_INET6 || memcmp(a->ip, sock_v4_mapped, sizeof(sock_v4_mapped)) != 0)
        return;
    a->family = SOCK_INET4;
    a->scope = 0;
    memmove(a->ip, a->ip + 12, 4);
    memset(a->ip + 4, 0, 12);
}

/* As written: an IPv4-mapped address stays INET6. */
static int sock_ip_parse_raw(struct str text, struct sock_addr *out)
{
    struct sock_addr a = {0};
    char z[SOCK_ADDR_TEXT];
    ptrdiff_t scope = str_chr(text, '%');
    bool v6 = str_chr(text, ':') >= 0;

    if (scope >= 0) {
        if (!v6)
            return ERR_INVAL;
        text = str_sub(text, 0, (size_t)scope);
    }
    if (text.len == 0 || text.len >= sizeof(z) || memchr(text.p, '\0', text.len))
        return ERR_INVAL;
    memcpy(z, text.p, text.len);
    z[text.len] = '\0';
    if (inet_pton(v6 ? AF_INET6 : AF_INET, z, a.ip) != 1)
        return ERR_INVAL;
    a.family = v6 ? SOCK_INET6 : SOCK_INET4;
    *out = a;
    return 0;
}

int sock_ip_parse(struct str text, struct sock_addr *out)
{
    int rc = sock_ip_parse_raw(text, out);

    if (rc == 0)
        sock_addr_normalize(out);
    return rc;
}

static int sock_port_parse(struct str text, uint16_t *out)
{
    uint64_t v;
    int rc = str_u64(text, &v);

    if (rc)
        return rc;
    if (v > UINT16_MAX)
        return ERR_RANGE;
    *out = (uint16_t)v;
    return 0;
}

int sock_addr_parse(struct str text, struct sock_addr *out)
{
    struct sock_addr a = {.family = SOCK_INET4};
    ptrdiff_t colon = str_rchr(text, ':');
    struct str host = str_sub(text, 0, colon < 0 ? 0 : (size_t)colon);
    uint16_t port;
    int rc = sock_port_parse(colon < 0 ? text : str_sub(text, (size_t)colon + 1, text.len), &port);

    if (rc)
        return rc;
    if (host.len && host.p[0] == '[') {
        if (host.p[host.len - 1] != ']')
            return ERR_INVAL;
        host = str_sub(host, 1, host.len - 2);
        if (str_chr(host, ':') < 0)
            return ERR_INVAL;
        rc = sock_ip_parse(host, &a);
    } else if (str_chr(host, ':') >= 0) {
        return ERR_INVAL; /* IPv6 without brackets: which colon is the port's? */
    } else if (host.len && !str_eq(host, STR("*"))) {
        rc = sock_ip_parse(host, &a);
    }
    if (rc)
        return rc;
    a.port = port;
    *out = a;
    return 0;
}

size_t sock_ip_format(const struct sock_addr *a, char out[SOCK_ADDR_TEXT])
{
    size_t n = 0;

    out[0] = '\0';
    if (a->family == SOCK_INET6) {
        (void)inet_ntop(AF_INET6, a->ip, out, SOCK_ADDR_TEXT); /* there is room for every address */
        return strlen(out);
    }
    if (a->family != SOCK_INET4)
        return 0;
    for (int i = 0; i < 4; i++) { /* by hand: this runs for each request */
        if (i)
            out[n++] = '.';
        n += str_put_u64(out + n, a->ip[i]);
    }
    out[n] = '\0';
    return n;
}

size_t sock_addr_format(const struct sock_addr *a, char out[SOCK_ADDR_TEXT])
{
    char ip[SOCK_ADDR_TEXT];
    int n;

    (void)sock_ip_format(a, ip); /* the length is not needed */
    if (a->family == SOCK_INET6)
        n = snprintf(out, SOCK_ADDR_TEXT, "[%.46s]:%u", ip, a->port);
    else if (a->family == SOCK_INET4)
        n = snprintf(out, SOCK_ADDR_TEXT, "%.46s:%u", ip, a->port);
    else
        n = snprintf(out, SOCK_ADDR_TEXT, "%s", a->family == SOCK_LOCAL ? "unix:" : "");
    return n < 0 ? 0 : (size_t)n;
}

static size_t sock_ip_len(const struct sock_addr *a)
{
    return a->family == SOCK_INET4 ? 4 : a->family == SOCK_INET6 ? 16 : 0;
}

bool sock_ip_equal(const struct sock_addr *a, const struct sock_addr *b)
{
    return a->family == b->family && memcmp(a->ip, b->ip, sock_ip_len(a)) == 0;
}

bool sock_ip_is_loopback(const struct sock_addr *a)
{
    static const uint8_t one[16] = {[15] = 1};

    if (a->family == SOCK_INET4)
        return a->ip[0] == 127;
    return a->family == SOCK_INET6 && memcmp(a->ip, one, sizeof(one)) == 0;
}

int sock_cidr_parse(struct str text, struct sock_addr *net, unsigned *bits)
{
    ptrdiff_t slash = str_chr(text, '/');
    struct sock_addr a;
    uint64_t n;
    int rc = sock_ip_parse_raw(slash < 0 ? text : str_sub(text, 0, (size_t)slash), &a);

    if (rc)
        return rc;
    n = sock_ip_len(&a) * 8;
    if (slash >= 0) {
        uint64_t max = n;

        rc = str_u64(str_sub(text, (size_t)slash + 1, text.len), &n);
        if (rc)
            return rc;
        if (n > max)
            return ERR_RANGE;
    }
    /* A net of mapped addresses is one of IPv4; a wider one would mix the two families. */
    if (a.family == SOCK_INET6 && n >= 96) {
        sock_addr_normalize(&a);
        if (a.family == SOCK_INET4)
            n -= 96;
    }
    *net = a;
    *bits = (unsigned)n;
    return 0;
}

bool sock_cidr_contains(const struct sock_addr *net, unsigned bits, const struct sock_addr *ip)
{
    unsigned whole = bits / 8, rest = bits % 8;

    if (net->family != ip->family || bits > sock_ip_len(net) * 8)
        return false;
    if (net->family == SOCK_LOCAL || net->family == SOCK_UNSPEC)
        return false;
    if (memcmp(net->ip, ip->ip, whole) != 0)
        return false;
    return rest == 0 || ((net->ip[whole] ^ ip->ip[whole]) >> (8 - rest)) == 0;
}
