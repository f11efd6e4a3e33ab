/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_HOST_H
#define EPHPM_HTTP_HOST_H

/*
 * Host values: "name", "name:port", "1.2.3.4:80", "[::1]:80".  Pure; results are in the arena.
 */

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum host_kind { HOST_NAME, HOST_IPV4, HOST_IPV6 };

struct host {
    enum host_kind kind;
    struct str name; /* lower case, no trailing dot; IPv6 with its brackets */
    int port;        /* 0..65535, -1 when none was given ("host:" too) */
};

/* ERR_INVAL: empty, a character that no host has (RFC 3986 reg-name without '%' escapes, '_'
 * allowed), an empty label, a name over 253 or a label over 63 bytes, a bad IPv6 literal, a bad
 * port. */
int host_parse(struct str raw, struct arena *a, struct host *out) MUST_CHECK;

/* Is name one of the patterns: exact, or "*.example.com", which is any name below example.com (not
 * itself).  Case and a ":port" in the pattern are ignored.  An empty list trusts every name. */
bool host_is_trusted(struct str name, const struct str *patterns, size_t n);

/* The name of the site's folder for a host: the name itself, when it consists of [a-z0-9._-] and
 * does not start with '.' or '-'.  ERR_INVAL for others (IPv6). */
int host_site_key(const struct host *h, struct str *out) MUST_CHECK;

#endif
