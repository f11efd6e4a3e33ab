/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_RESP_H
#define EPHPM_CLI_RESP_H

/*
 * A client of the Redis protocol (RESP2) for commands: one call at a time, blocking. It works with
 * any server of the protocol. One thread.
 */

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "platform/sock.h"

enum resp_kind { RESP_SIMPLE, RESP_ERROR, RESP_INT, RESP_BULK, RESP_NIL, RESP_ARRAY };

struct resp_value {
    enum resp_kind kind;
    struct str s; /* RESP_SIMPLE, RESP_ERROR, RESP_BULK */
    int64_t i;
    struct resp_value *items;
    size_t n;
};

enum { RESP_BULK_MAX = 512 << 20, RESP_ITEMS_MAX = 1 << 20, RESP_DEPTH_MAX = 8 };

/* One reply from the front of `in`, which its strings borrow; arrays are in the arena. *used is its
 * length. ERR_AGAIN: it is not complete; ERR_PROTO: it is none, or beyond the limits. */
int resp_parse(struct arena *a, struct str in, size_t *used, struct resp_value *out) MUST_CHECK;

struct resp_client {
    sock_t fd;
    /* private to resp.c */
    struct buf in, out;
    struct arena arena;
};

/* The connected, blocking socket becomes the client's. */
void resp_open(struct resp_client *c, sock_t fd);
void resp_close(struct resp_client *c);
/* Sends the command and waits for its reply, which is valid until the next call; an error reply is
 * a reply. On failure err says what of the connection failed. */
int resp_call(struct resp_client *c, const struct str *argv, size_t argc,
    const struct resp_value **out, struct err *err) MUST_CHECK;

#endif
