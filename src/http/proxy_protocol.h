/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_PROXY_PROTOCOL_H
#define EPHPM_HTTP_PROXY_PROTOCOL_H

/*
 * The PROXY protocol, versions 1 (text) and 2 (binary), which a load balancer sends before the
 * first byte of a connection.  Pure. To be used only on listeners configured for it and with
 * trusted peers, where its absence is an error.
 */

#include "base/err.h"
#include "base/str.h"
#include "platform/sock.h"

enum {
    PROXY_V1_MAX = 107, /* bytes of a v1 line with CRLF */
    PROXY_V2_MAX = 4096 /* bytes of a v2 header with its TLVs that we accept */
};

struct proxy_header {
    bool known; /* the addresses below are given; else (LOCAL, UNKNOWN, UNSPEC) use the socket's own
                 */
    struct sock_addr src;
    struct sock_addr dst;
};

/* 0: *consumed bytes were the header. ERR_AGAIN: more bytes are needed. ERR_PROTO: there is no
 * valid header, or one with more than PROXY_V2_MAX bytes. */
int proxy_protocol_parse(
    const char *data, size_t len, size_t *consumed, struct proxy_header *out) MUST_CHECK;

#endif
