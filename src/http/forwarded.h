/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_FORWARDED_H
#define EPHPM_HTTP_FORWARDED_H

/*
 * Who the client is behind trusted proxies: X-Forwarded-For, -Proto, -Host, -Port, or Forwarded
 * (RFC 7239).
 *
 * Nothing is believed unless the peer's address is trusted.  The list of addresses is read from the
 * right: each trusted one is a proxy, the first other one is the client (the leftmost, when all are
 * trusted).  An entry that is no address ("unknown", "_hidden", garbage) ends the walk, and the
 * last good one stays.  Several fields of one name are one list.  The other values are taken from
 * the entry at the same distance from the right as the client's, since each proxy adds one to each
 * list, or from the leftmost where a list is shorter.  When X-Forwarded-For is present, Forwarded
 * is ignored: a proxy that writes the former commonly passes a client's own Forwarded on.
 *
 * Pure. Strings of the result point into the fields.
 */

#include "base/err.h"
#include "base/str.h"
#include "http/fields.h"
#include "platform/sock.h"

struct forwarded_net {
    struct sock_addr net;
    unsigned bits;
};

struct forwarded_rules {
    const struct forwarded_net *nets;
    size_t count;
    bool trust_local; /* a Unix-domain peer is trusted */
};

struct forwarded {
    bool trusted; /* the peer is a trusted proxy; else all below is the connection's own */
    struct sock_addr client; /* port 0 when the list names none */
    bool https;
    struct str host; /* as sent, unchecked (see host.h); empty when no proxy said */
    int port;        /* of the server as the client sees it; -1 when no proxy said */
};

/* One rule of the configuration: "10.0.0.0/8", "::1". ERR_INVAL. */
int forwarded_net_parse(struct str text, struct forwarded_net *out) MUST_CHECK;
bool forwarded_is_trusted(const struct forwarded_rules *rules, const struct sock_addr *addr);

/* https: whether the connection itself is encrypted. Never fails. */
void forwarded_resolve(const struct forwarded_rules *rules, const struct sock_addr *peer,
    bool https, const struct fields *fields, struct forwarded *out);

#endif
