/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_H1_BODY_H
#define EPHPM_HTTP_H1_BODY_H

/*
 * Framing of an HTTP/1 request body: by Content-Length or chunked (RFC 9112 section 7).
 *
 * A pure decoder: bytes in, body bytes and a consumed count out.  It owns nothing and keeps no
 * pointer between calls.  Chunk sizes are plain hex without sign or space; chunk extensions are
 * checked and dropped; trailers are checked, bounded and dropped.  Everything else is ERR_PROTO,
 * after which the connection must be closed, since where the next request starts is unknown.
 */

#include "base/err.h"
#include "base/str.h"

enum h1_body_state {
    H1_BODY_LENGTH,
    H1_BODY_SIZE_FIRST, /* first digit of a chunk size */
    H1_BODY_SIZE,
    H1_BODY_EXT,
    H1_BODY_SIZE_LF,
    H1_BODY_DATA,
    H1_BODY_DATA_CR,
    H1_BODY_DATA_LF,
    H1_BODY_TRAILER_START,
    H1_BODY_TRAILER_NAME,
    H1_BODY_TRAILER_VALUE,
    H1_BODY_TRAILER_LF,
    H1_BODY_END_LF,
    H1_BODY_DONE
};

enum {
    H1_BODY_EXT_MAX = 1024, /* bytes of chunk-size lines beyond the data they announce, per chunk */
    H1_BODY_TRAILER_MAX = 8192 /* bytes of all trailers */
};

struct h1_body {
    uint64_t received;  /* body bytes given out so far */
    const char *reason; /* static text for the log after ERR_PROTO */
    /* private to h1_body.c */
    enum h1_body_state state;
    uint64_t left; /* of the body or of the chunk */
    uint32_t digits;
    uint32_t extra;
};

/* content_length is ignored when chunked; -1 and 0 give an empty body. */
void h1_body_init(struct h1_body *b, int64_t content_length, bool chunked);

/*
 * Takes some of data: *consumed bytes were used, *out (inside data, may be empty) are body bytes,
 * *done says that the body ended exactly after *consumed.  Call it again with the rest while
 * *consumed > 0 and there is a rest.  When data holds nothing useful *consumed may be len with an
 * empty *out.
 * ERR_PROTO: not a valid body, see reason; *consumed, *out and *done are untouched.
 */
int h1_body_next(struct h1_body *b, const char *data, size_t len, size_t *consumed, struct str *out,
    bool *done) MUST_CHECK;

#endif
