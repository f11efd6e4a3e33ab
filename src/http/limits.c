/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/limits.h"

#include "base/mem.h"

enum { LIMITS_SWEEP_MS = 10000, LIMITS_FULL_MS = 1000 /* between sweeps of a full table */ };

struct limits_entry {
    uint64_t connections;
    double tokens;
    uint64_t at_ms; /* when tokens was right */
};

/* Family, then the address (IPv6: its /64). */
static struct str limits_key(const struct sock_addr *ip, char out[17])
{
    size_t n = ip->family == SOCK_INET4 ? 4 : ip->family == SOCK_INET6 ? 8 : 0;

    out[0] = (char)ip->family;
    memcpy(out + 1, ip->ip, n);
    return str_n(out, n + 1);
}

void http_limits_init(struct http_limits *l, uint64_t seed)
{
    *l = (struct http_limits){0};
    map_init(&l->table, seed);
    map_init(&l->sites, seed);
}

static void limits_free(struct map *m)
{
    size_t it = 0;
    struct str key;
    void *v;

    while (map_next(m, &it, &key, &v))
        mem_free(v);
    map_fini(m);
}

void http_limits_fini(struct http_limits *l)
{
    limits_free(&l->table);
    limits_free(&l->sites);
}

static void limits_refill(struct limits_entry *e, double rate, uint64_t most, uint64_t now)
{
    double burst = (double)MAX(most, (uint64_t)1);

    if (now > e->at_ms)
        e->tokens += rate * (double)(now - e->at_ms) / 1000.0;
    if (e->tokens > burst)
        e->tokens = burst;
    e->at_ms = now;
}

/* Takes a token, or says when there will be one. */
static bool limits_take(
    struct limits_entry *e, double rate, uint64_t burst, uint64_t now_ms, unsigned *retry_s)
{
    limits_refill(e, rate, burst, now_ms);
    if (e->tokens < 1.0) {
        double wait = (1.0 - e->tokens) / rate;

        *retry_s = wait > 3600 ? 3600 : (unsigned)wait + 1;
        return false;
    }
    e->tokens -= 1.0;
    return true;
}

/* Drops addresses that have no connection and a full bucket: forgetting them changes nothing. */
static void limits_sweep(struct http_limits *l, const struct http_limits_config *c, uint64_t now)
{
    size_t it = 0;
    struct str key;
    void *v;

    l->swept_ms = now;
    while (map_next(&l->table, &it, &key, &v)) {
        struct limits_entry *e = v;

        limits_refill(e, c->per_ip_rate, c->per_ip_burst, now);
        if (e->connections == 0 && (c->per_ip_rate <= 0 || e->tokens >= (double)c->per_ip_burst)) {
            (void)map_del(&l->table, key); /* the value is e */
            mem_free(e);
        }
    }
}

static struct limits_entry *limits_entry(struct http_limits *l, const struct http_limits_config *c,
    const struct sock_addr *ip, uint64_t now)
{
    char k[17];
    struct str key = limits_key(ip, k);
    struct limits_entry *e;

    if (now - l->swept_ms >= LIMITS_SWEEP_MS)
        limits_sweep(l, c, now);
    e = map_get(&l->table, key);
    if (e)
        return e;
    if (l->table.count >= HTTP_LIMITS_MAX && now - l->swept_ms >= LIMITS_FULL_MS)
        limits_sweep(l, c, now);
    if (l->table.count >= HTTP_LIMITS_MAX)
        return NULL;
    e = mem_new(sizeof(*e));
    e->tokens = (double)MAX(c->per_ip_burst, (uint64_t)1);
    e->at_ms = now;
    (void)map_set(&l->table, key, e); /* there was none */
    return e;
}

bool http_limits_open(struct http_limits *l, const struct http_limits_config *c,
    const struct sock_addr *ip, uint64_t now_ms)
{
    struct limits_entry *e;

    if (!c->per_ip_connections)
        return true;
    e = limits_entry(l, c, ip, now_ms);
    if (!e || e->connections >= c->per_ip_connections)
        return false;
    e->connections++;
    return true;
}

void http_limits_close(struct http_limits *l, const struct sock_addr *ip)
{
    char k[17];
    struct limits_entry *e = map_get(&l->table, limits_key(ip, k));

    if (e && e->connections)
        e->connections--;
}

bool http_limits_request(struct http_limits *l, const struct http_limits_config *c,
    const struct sock_addr *ip, uint64_t now_ms, unsigned *retry_s)
{
    struct limits_entry *e;

    if (c->per_ip_rate <= 0)
        return true;
    *retry_s = 1;
    e = limits_entry(l, c, ip, now_ms);
    if (!e)
        return false;
    return limits_take(e, c->per_ip_rate, c->per_ip_burst, now_ms, retry_s);
}

bool http_limits_site(struct http_limits *l, const struct http_limits_config *c, struct str site,
    uint64_t now_ms, unsigned *retry_s)
{
    struct limits_entry *e;

    if (c->per_site_rate <= 0)
        return true;
    e = map_get(&l->sites, site);
    if (!e) {
        e = mem_new(sizeof(*e));
        e->tokens = (double)MAX(c->per_site_burst, (uint64_t)1);
        e->at_ms = now_ms;
        (void)map_set(&l->sites, site, e); /* there was none */
    }
    return limits_take(e, c->per_site_rate, c->per_site_burst, now_ms, retry_s);
}
