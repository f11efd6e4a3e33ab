/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_CONN_H
#define EPHPM_HTTP_CONN_H

/*
 * A client connection: accept, read, parse, one exchange after the other, keep-alive, close.
 *
 *   state        reads             deadline        leaves to
 *   PROXY        PROXY header      header_read     IDLE
 *   IDLE         first byte        idle, fresh     HEAD
 *   HEAD         request head      header_read     BODY, EXCHANGE
 *   BODY         request body      body            EXCHANGE
 *   EXCHANGE     ahead, bounded    request, send   IDLE (keep-alive, pipelined: HEAD), LINGER,
 * CLOSED LINGER       and throws away   linger          CLOSED
 *
 * LINGER keeps a connection that is closed before its request was read to the end open for a
 * moment, so that the client sees the answer instead of a reset. A closed connection's memory is
 * freed before the loop sleeps.
 */

#include "base/list.h"
#include "http/exchange.h"
#include "net/stream.h"

enum conn_state {
    CONN_PROXY,
    CONN_IDLE,
    CONN_HEAD,
    CONN_BODY,
    CONN_EXCHANGE,
    CONN_LINGER,
    CONN_CLOSED
};

struct http_conn {
    struct list node; /* in the server's conns, or its graveyard */
    struct http_server *server;
    struct stream stream;
    enum conn_state state;
    struct deadline deadline;  /* of the state */
    struct deadline sending;   /* send: while the queue is not empty */
    struct deadline receiving; /* body: while a handler waits for more of a streamed one */
    struct sock_addr peer, local;
    void *tag;     /* of http_conn_open(), the engine's */
    bool counted;  /* in the limits */
    bool internal; /* all requests go to hooks.internal */
    struct h1_parser parser;
    struct buf in; /* bytes read and not used yet */
    uint64_t requests;
    struct http_exchange x; /* the current one; valid in HEAD, BODY, EXCHANGE */
    uint64_t taken;         /* of what was sent: by the client, when `sending` was armed */
    bool has_x;
    bool eof;       /* the client sends no more */
    bool advancing; /* inside conn_advance(): no second one */
};

/* Takes an accepted socket over; closes it when that fails. tag is kept for the engine. */
void http_conn_open(
    struct http_server *s, sock_t fd, const struct sock_addr *peer, void *tag, bool internal);
/* Closes at once, whatever is going on; why goes to the log at debug level. */
void http_conn_close(struct http_conn *c, const char *why);
/* The server drains: an idle connection is closed, unless a request is here already. One that has
 * had none yet has a moment for it, as its client has every reason to be sending. */
void http_conn_drain(struct http_conn *c);
/* Last step, from the graveyard. */
void http_conn_free(struct http_conn *c);
/* Deadlines expired (the classes of struct http_server). */
void http_conn_on_header(struct deadline *d);
void http_conn_on_idle(struct deadline *d);
void http_conn_on_fresh(struct deadline *d);
void http_conn_on_body(struct deadline *d);
void http_conn_on_receive(struct deadline *d);
void http_conn_on_send(struct deadline *d);
void http_conn_on_request(struct deadline *d);
void http_conn_on_linger(struct deadline *d);

#endif
