/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_H1_PARSER_H
#define EPHPM_HTTP_H1_PARSER_H

/*
 * The HTTP/1 request head (RFC 9112), strictly.
 *
 * A guard of our own splits the head into lines and fields and refuses everything that two servers
 * could read differently: a lone CR, a bare LF, folded lines, a name that is no token, space before
 * the colon, controls in a value, no or several Hosts, any doubt about the length of the body. Then
 * llhttp reads the same fields and must come to the same framing; if it does not, the request is
 * refused.  Methods are any token: llhttp, which knows a fixed list, sees GET in their place.
 *
 * Pure: bytes in, result and consumed count out.  The strings of the result point into the caller's
 * bytes, which must hold the whole head, and stay valid as long as these do; the array of fields is
 * in the arena.
 */

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "http/fields.h"
#include "http/h1_body.h"

struct h1_limits {
    size_t head_bytes; /* request line and fields, with the blank line; beyond: 431 */
    size_t fields;     /* number of fields, at most H1_FIELDS_MAX; beyond: 431 */
    size_t uri_bytes;  /* request target; beyond: 414 */
};

enum { H1_FIELDS_MAX = 200 };

struct h1_head {
    struct str method; /* as sent, case kept */
    struct str target; /* as sent; no controls and no spaces, else unchecked (see uri.h) */
    int minor;         /* HTTP/1.minor: 0 or 1 */
    struct fields fields;
    int64_t content_length; /* -1 when there is none */
    bool chunked;
    bool keep_alive;      /* what the version and Connection say */
    bool expect_continue; /* HTTP/1.1 with Expect: 100-continue and a body to come */
    bool upgrade;         /* Upgrade is present and Connection lists it */
    bool has_host;
    struct str host; /* value of Host, unchecked (see host.h) */
};

struct h1_parser {
    int status;         /* after ERR_PROTO: what to answer (400, 414, 431, 505) */
    const char *reason; /* after ERR_PROTO: static text for the log */
    /* private to h1_parser.c */
    struct h1_limits limits;
    struct arena *arena;
    size_t start;                         /* of the request line: 0, or 2 after an empty line */
    size_t scanned;                       /* bytes already searched for line ends */
    size_t line_count;                    /* lines found */
    uint32_t line_end[H1_FIELDS_MAX + 1]; /* offset after each line's LF */
};

/* limits are copied. arena gets the array of fields; it must outlive the heads. */
void h1_parser_init(struct h1_parser *p, const struct h1_limits *limits, struct arena *arena);
/* For the next request, whose bytes start at the then data[0]. */
void h1_parser_reset(struct h1_parser *p, struct arena *arena);

/*
 * data[0..len) is everything received since the end of the previous request: it starts with the
 * same bytes at each call (it may have moved).  One empty line in front is skipped.
 * 0: the head is complete, *out is filled, it took *consumed bytes; the body follows.
 * ERR_AGAIN: more bytes are needed. Calling with ever longer data costs O(len) over all calls.
 * ERR_PROTO: answer p->status and close.
 */
int h1_parse_head(struct h1_parser *p, const char *data, size_t len, struct h1_head *out,
    size_t *consumed) MUST_CHECK;

#endif
