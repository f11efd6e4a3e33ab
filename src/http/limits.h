/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_LIMITS_H
#define EPHPM_HTTP_LIMITS_H

/*
 * Limits per client address: connections and request rate (token bucket).
 *
 * One table, bounded to HTTP_LIMITS_MAX addresses; an address that finds it full of busy others is
 * refused (fail closed). IPv6 clients count by their /64. One thread; time is passed in.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "platform/sock.h"

enum { HTTP_LIMITS_MAX = 100000 };

struct http_limits_config { /* 0: no limit */
    uint64_t max_connections;
    uint64_t per_ip_connections;
    double per_ip_rate; /* requests per second */
    uint64_t per_ip_burst;
    double per_site_rate; /* PHP requests per second */
    uint64_t per_site_burst;
};

struct http_limits {
    /* private to limits.c */
    struct map table;
    struct map sites;
    uint64_t swept_ms;
};

void http_limits_init(struct http_limits *l, uint64_t seed);
void http_limits_fini(struct http_limits *l);
/* A connection of that address begins: false refuses it. Pair each true with http_limits_close().
 */
bool http_limits_open(struct http_limits *l, const struct http_limits_config *c,
    const struct sock_addr *ip, uint64_t now_ms);
void http_limits_close(struct http_limits *l, const struct sock_addr *ip);
/* A request of that address: false answers 429; *retry_s is when the next would be let through. */
bool http_limits_request(struct http_limits *l, const struct http_limits_config *c,
    const struct sock_addr *ip, uint64_t now_ms, unsigned *retry_s);
/* The same for a request that is for PHP of that site. */
bool http_limits_site(struct http_limits *l, const struct http_limits_config *c, struct str site,
    uint64_t now_ms, unsigned *retry_s);

#endif
