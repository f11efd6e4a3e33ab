/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/proxy_protocol.h"

/*
 * Version 2, all in network order:
 *     12 bytes signature | 1: version 2 << 4 | command | 1: family << 4 | transport | 2: length
 *     length bytes: source and destination address, source and destination port, TLVs
 */
enum {
    V2_SIGNATURE = 12,
    V2_HEAD = 16,
    V2_LOCAL = 0,
    V2_PROXY = 1,
    V2_TCP4 = 0x11,
    V2_TCP6 = 0x21,
    V2_UNIX = 0x31,
    V2_LEN_TCP4 = 12,
    V2_LEN_TCP6 = 36,
    V2_LEN_UNIX = 216
};

static const struct str v2_signature = {"\r\n\r\n\0\r\nQUIT\n", V2_SIGNATURE};
static const struct str v1_start = {"PROXY ", 6};

static bool take_word(struct str *rest, struct str *word)
{
    ptrdiff_t space = str_chr(*rest, ' ');

    *word = space < 0 ? *rest : str_n(rest->p, (size_t)space);
    *rest = space < 0 ? STR_NONE : str_sub(*rest, (size_t)space + 1, rest->len);
    return word->len > 0;
}

static bool parse_v1_port(struct str s, uint16_t *out)
{
    uint64_t port = 0;

    if (s.len > 5 || str_u64(s, &port) != 0 || port > UINT16_MAX)
        return false;
    *out = (uint16_t)port;
    return true;
}

/* sock_ip_parse() gives a mapped address as IPv4, so the text decides which family was written. */
static bool parse_v1_ip(struct str s, bool ipv6, struct sock_addr *out)
{
    return (str_chr(s, ':') >= 0) == ipv6 && str_chr(s, '%') < 0 && sock_ip_parse(s, out) == 0;
}

/* line: behind "PROXY ", without CRLF. */
static int parse_v1_line(struct str line, struct proxy_header *out)
{
    struct proxy_header h = {.known = true};
    struct str family, src, dst, sport, dport;
    bool ipv6;

    if (!take_word(&line, &family))
        return ERR_PROTO;
    if (str_eq(family, STR("UNKNOWN"))) {
        *out = (struct proxy_header){.known = false};
        return 0;
    }
    ipv6 = str_eq(family, STR("TCP6"));
    if (!ipv6 && !str_eq(family, STR("TCP4")))
        return ERR_PROTO;
    if (!take_word(&line, &src) || !take_word(&line, &dst) || !take_word(&line, &sport))
        return ERR_PROTO;
    dport = line;
    if (!parse_v1_ip(src, ipv6, &h.src) || !parse_v1_ip(dst, ipv6, &h.dst) ||
        !parse_v1_port(sport, &h.src.port) || !parse_v1_port(dport, &h.dst.port))
        return ERR_PROTO;
    *out = h;
    return 0;
}

static int parse_v1(const char *data, size_t len, size_t *consumed, struct proxy_header *out)
{
    size_t max = MIN(len, (size_t)PROXY_V1_MAX);
    const char *cr = memchr(data, '\r', max);
    size_t end;
    int rc;

    if (!cr)
        return len < PROXY_V1_MAX ? ERR_AGAIN : ERR_PROTO;
    end = (size_t)(cr - data);
    if (end + 1 >= PROXY_V1_MAX)
        return ERR_PROTO;
    if (end + 1 == len)
        return ERR_AGAIN;
    if (data[end + 1] != '\n')
        return ERR_PROTO;
    rc = parse_v1_line(str_n(data + v1_start.len, end - v1_start.len), out);
    if (rc == 0)
        *consumed = end + 2;
    return rc;
}

static uint16_t get_u16(const char *p)
{
    return (uint16_t)((unsigned char)p[0] << 8 | (unsigned char)p[1]);
}

static struct sock_addr make_addr(const char *ip, bool ipv6, const char *port)
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    struct sock_addr a = {.family = ipv6 ? SOCK_INET6 : SOCK_INET4, .port = get_u16(port)};

    if (ipv6 && memcmp(ip, mapped, sizeof(mapped)) == 0) {
        a.family = SOCK_INET4;
        memcpy(a.ip, ip + sizeof(mapped), 4);
    } else {
        memcpy(a.ip, ip, ipv6 ? 16 : 4);
    }
    return a;
}

/* p[0..len): addresses and TLVs. Families that no TCP connection has leave the socket's addresses.
 */
static int parse_v2_addresses(unsigned family, const char *p, size_t len, struct proxy_header *out)
{
    struct proxy_header h = {.known = true};

    switch (family) {
    case V2_TCP4:
        if (len < V2_LEN_TCP4)
            return ERR_PROTO;
        h.src = make_addr(p, false, p + 8);
        h.dst = make_addr(p + 4, false, p + 10);
        break;
    case V2_TCP6:
        if (len < V2_LEN_TCP6)
            return ERR_PROTO;
        h.src = make_addr(p, true, p + 32);
        h.dst = make_addr(p + 16, true, p + 34);
        break;
    case V2_UNIX:
        if (len < V2_LEN_UNIX)
            return ERR_PROTO;
        h.src.family = h.dst.family = SOCK_LOCAL;
        break;
    default:
        h.known = false;
        break;
    }
    *out = h;
    return 0;
}

static int parse_v2(const char *data, size_t len, size_t *consumed, struct proxy_header *out)
{
    unsigned version_command, command;
    size_t body;
    int rc = 0;

    if (len < V2_HEAD)
        return ERR_AGAIN;
    version_command = (unsigned char)data[12];
    command = version_command & 15;
    body = get_u16(data + 14);
    if (version_command >> 4 != 2 || command > V2_PROXY || body > PROXY_V2_MAX - V2_HEAD)
        return ERR_PROTO;
    if (len - V2_HEAD < body)
        return ERR_AGAIN;
    if (command == V2_LOCAL)
        *out = (struct proxy_header){.known = false};
    else
        rc = parse_v2_addresses((unsigned char)data[13], data + V2_HEAD, body, out);
    if (rc == 0)
        *consumed = V2_HEAD + body;
    return rc;
}

/* Do the bytes there are agree with the start of s? */
static bool starts_like(const char *data, size_t len, struct str s)
{
    return memcmp(data, s.p, MIN(len, s.len)) == 0;
}

int proxy_protocol_parse(const char *data, size_t len, size_t *consumed, struct proxy_header *out)
{
    if (len == 0)
        return ERR_AGAIN;
    if (starts_like(data, len, v2_signature))
        return len < v2_signature.len ? ERR_AGAIN : parse_v2(data, len, consumed, out);
    if (starts_like(data, len, v1_start))
        return len < v1_start.len ? ERR_AGAIN : parse_v1(data, len, consumed, out);
    return ERR_PROTO;
}
