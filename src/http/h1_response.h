/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_H1_RESPONSE_H
#define EPHPM_HTTP_H1_RESPONSE_H

/*
 * HTTP/1 responses as a client reads them (RFC 9112), by llhttp: status, framing and the size of
 * the body; neither fields nor body are kept. Answers of the kind 1xx are passed over.
 *
 * Pure: bytes in, result and consumed count out. It keeps nothing of the bytes, so they may come in
 * any pieces. One object is for one connection: h1_response_begin() before each answer.
 */

#include <llhttp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { H1_RESPONSE_HEAD_MAX = 1 << 20 };

struct h1_response {
    int status;      /* 200; 0 before the status line is complete */
    uint64_t body;   /* bytes of the body so far, without their framing */
    bool keep_alive; /* when complete: the connection can take another request */
    /* private to h1_response.c */
    llhttp_t parser;
    uint64_t head; /* bytes taken before the body */
    bool in_body, complete, no_body;
};

void h1_response_init(struct h1_response *r);
/* For the next answer. no_body: the request was HEAD. */
void h1_response_begin(struct h1_response *r, bool no_body);
/* 0: the answer is complete, it ended after *consumed bytes. ERR_AGAIN: all bytes are taken, more
 * are needed. ERR_PROTO: this is no answer, or its head is beyond H1_RESPONSE_HEAD_MAX. */
int h1_response_feed(struct h1_response *r, const char *p, size_t n, size_t *consumed) MUST_CHECK;
/* The connection ended in order. 0: that is how this answer ends, it is complete. ERR_CLOSED: it
 * was cut. */
int h1_response_end(struct h1_response *r) MUST_CHECK;

#endif
