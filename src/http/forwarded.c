/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/forwarded.h"

enum { HOPS_MAX = 32, PORT_MAX = 65535 };

/* The last HOPS_MAX elements of a list, which may have come in several fields. */
struct hops {
    struct str ring[HOPS_MAX];
    size_t total;
};

int forwarded_net_parse(struct str text, struct forwarded_net *out)
{
    struct forwarded_net n;

    if (sock_cidr_parse(text, &n.net, &n.bits) != 0)
        return ERR_INVAL;
    *out = n;
    return 0;
}

bool forwarded_is_trusted(const struct forwarded_rules *rules, const struct sock_addr *addr)
{
    if (addr->family == SOCK_LOCAL)
        return rules->trust_local;
    if (addr->family == SOCK_UNSPEC)
        return false;
    for (size_t i = 0; i < rules->count; i++) {
        if (sock_cidr_contains(&rules->nets[i].net, rules->nets[i].bits, addr))
            return true;
    }
    return false;
}

static void hops_add(struct hops *h, struct str item)
{
    item = str_trim(item);
    if (item.len > 0)
        h->ring[h->total++ % HOPS_MAX] = item;
}

/* Does s end inside a quoted string? */
static bool ends_quoted(struct str s)
{
    bool quoted = false;

    for (size_t i = 0; i < s.len; i++) {
        if (quoted && s.p[i] == '\\')
            i++;
        else if (s.p[i] == '"')
            quoted = !quoted;
    }
    return quoted;
}

/*
 * A client may send an opening quote without an end, so that what the proxy appends would vanish in
 * it.  Such a field is split at every comma: what the proxy wrote, on the right, is read as it was
 * meant.
 */
static void hops_collect(struct hops *h, const struct fields *fields, struct str name, bool quotes)
{
    for (size_t i = 0; i < fields->count; i++) {
        struct str rest = fields->items[i].value, item;

        if (!str_ieq(fields->items[i].name, name))
            continue;
        if (quotes && !ends_quoted(rest)) {
            while (field_list_next(&rest, &item))
                hops_add(h, item);
        } else {
            while (str_split(&rest, ',', &item))
                hops_add(h, item);
        }
    }
}

/* The element at a distance from the right. */
static bool hops_at(const struct hops *h, size_t distance, struct str *out)
{
    if (distance >= MIN(h->total, (size_t)HOPS_MAX))
        return false;
    *out = h->ring[(h->total - 1 - distance) % HOPS_MAX];
    return true;
}

/* The same, or the leftmost known one. */
static bool hops_at_most(const struct hops *h, size_t distance, struct str *out)
{
    size_t known = MIN(h->total, (size_t)HOPS_MAX);

    return known > 0 && hops_at(h, MIN(distance, known - 1), out);
}

/* A port is optional and may be hidden ("_x"): then 0. */
static bool parse_node_port(struct str s, uint16_t *out)
{
    uint64_t port = 0;

    if (s.len > 0 && s.p[0] != '_' && (str_u64(s, &port) != 0 || port > PORT_MAX))
        return false;
    *out = (uint16_t)port;
    return true;
}

/* "1.2.3.4", "1.2.3.4:5", "::1", "[::1]", "[::1]:5". */
static bool parse_node(struct str s, struct sock_addr *out)
{
    struct str ip = s, port_text = STR_NONE;
    struct sock_addr addr;
    uint16_t port = 0;

    if (s.len > 0 && s.p[0] == '[') {
        ptrdiff_t end = str_chr(s, ']');

        if (end < 0)
            return false;
        ip = str_n(s.p + 1, (size_t)end - 1);
        port_text = str_sub(s, (size_t)end + 1, s.len);
        if (str_chr(ip, ':') < 0 || (port_text.len > 0 && port_text.p[0] != ':'))
            return false;
        port_text = str_sub(port_text, 1, port_text.len);
    } else if (str_chr(s, ':') >= 0 && str_chr(s, ':') == str_rchr(s, ':')) {
        size_t colon = (size_t)str_chr(s, ':');

        ip = str_n(s.p, colon);
        port_text = str_sub(s, colon + 1, s.len);
    }
    if (ip.len == 0 || sock_ip_parse(ip, &addr) != 0 || !parse_node_port(port_text, &port))
        return false;
    addr.port = port;
    *out = addr;
    return true;
}

static void set_scheme(struct str proto, struct forwarded *out)
{
    if (str_ieq(proto, STR("https")) || str_ieq(proto, STR("wss")))
        out->https = true;
    else if (str_ieq(proto, STR("http")) || str_ieq(proto, STR("ws")))
        out->https = false;
}

static void resolve_x(const struct forwarded_rules *rules, const struct fields *fields,
    const struct hops *addresses, struct forwarded *out)
{
    struct hops proto = {.total = 0}, host = {.total = 0}, port = {.total = 0};
    struct sock_addr addr;
    struct str item;
    uint64_t number;
    size_t client = 0;

    for (size_t i = 0; hops_at(addresses, i, &item) && parse_node(item, &addr); i++) {
        out->client = addr;
        client = i;
        if (!forwarded_is_trusted(rules, &addr))
            break;
    }
    hops_collect(&proto, fields, STR("x-forwarded-proto"), false);
    hops_collect(&host, fields, STR("x-forwarded-host"), false);
    hops_collect(&port, fields, STR("x-forwarded-port"), false);
    if (hops_at_most(&proto, client, &item))
        set_scheme(item, out);
    if (hops_at_most(&host, client, &item))
        out->host = item;
    if (hops_at_most(&port, client, &item) && str_u64(item, &number) == 0 && number <= PORT_MAX)
        out->port = (int)number;
}

struct element {
    struct str node, proto, host;
};

/* A token, or a quoted string without escapes (no address, scheme or host needs one). */
static bool parse_value(struct str v, struct str *out)
{
    if (v.len >= 2 && v.p[0] == '"' && v.p[v.len - 1] == '"') {
        v = str_n(v.p + 1, v.len - 2);
        if (str_chr(v, '"') >= 0 || str_chr(v, '\\') >= 0)
            return false;
    } else if (str_chr(v, '"') >= 0) {
        return false;
    }
    *out = v;
    return true;
}

/* "for=...;proto=...;host=...": names in any case and order, others ignored. */
static bool parse_element(struct str s, struct element *out)
{
    struct element e = {STR_NONE, STR_NONE, STR_NONE};
    struct str pair;

    while (str_split(&s, ';', &pair)) {
        ptrdiff_t eq;
        struct str name, value;

        pair = str_trim(pair);
        if (pair.len == 0)
            continue;
        eq = str_chr(pair, '=');
        if (eq <= 0 || !parse_value(str_trim(str_sub(pair, (size_t)eq + 1, pair.len)), &value))
            return false;
        name = str_trim(str_n(pair.p, (size_t)eq));
        if (str_ieq(name, STR("for")))
            e.node = value;
        else if (str_ieq(name, STR("proto")))
            e.proto = value;
        else if (str_ieq(name, STR("host")))
            e.host = value;
    }
    *out = e;
    return true;
}

static void resolve_rfc7239(
    const struct forwarded_rules *rules, const struct hops *elements, struct forwarded *out)
{
    struct element e;
    struct str item;

    for (size_t i = 0; hops_at(elements, i, &item) && parse_element(item, &e); i++) {
        struct sock_addr addr;
        bool is_address = parse_node(e.node, &addr);

        /* The nearest proxy's word on scheme and host counts even when it hides the address. */
        if (!is_address && i > 0)
            return;
        set_scheme(e.proto, out);
        if (e.host.len > 0)
            out->host = e.host;
        if (!is_address)
            return;
        out->client = addr;
        if (!forwarded_is_trusted(rules, &addr))
            return;
    }
}

void forwarded_resolve(const struct forwarded_rules *rules, const struct sock_addr *peer,
    bool https, const struct fields *fields, struct forwarded *out)
{
    struct hops hops = {.total = 0};

    *out = (struct forwarded){.client = *peer, .https = https, .port = -1};
    if (!forwarded_is_trusted(rules, peer))
        return;
    out->trusted = true;
    hops_collect(&hops, fields, STR("x-forwarded-for"), false);
    if (hops.total == 0 && fields_get(fields, STR("forwarded"))) {
        hops_collect(&hops, fields, STR("forwarded"), true);
        resolve_rfc7239(rules, &hops, out);
        return;
    }
    resolve_x(rules, fields, &hops, out);
}
