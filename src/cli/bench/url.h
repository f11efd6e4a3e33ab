/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_BENCH_URL_H
#define EPHPM_CLI_BENCH_URL_H

/* The address of a page, as a client needs it, and the request for it. Pure. */

#include "base/buf.h"
#include "base/err.h"

struct bench_url {
    char host[256]; /* name or numeric address, without brackets */
    uint16_t port;
    bool ipv6;         /* host is a numeric IPv6 address */
    struct str target; /* path and query as they are sent; borrows from the text, "" for "/" */
};

/* http://host[:port][/path][?query][#left out]. On failure err says what is wrong. */
int bench_url_parse(const char *text, struct bench_url *out, struct err *err) MUST_CHECK;
/* The bytes of a GET request. headers: n lines "Name: value", one of which may be Host. ERR_INVAL:
 * one of them is no field, err says which. */
int bench_url_request(const struct bench_url *url, const char *const *headers, size_t n,
    struct buf *out, struct err *err) MUST_CHECK;

#endif
