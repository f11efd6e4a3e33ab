/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_SERVE_H
#define EPHPM_CLI_SERVE_H

/*
 * `php -S`: the development server of the stock command, one request at a time, in this process.
 * Whoever wants more takes `ephpm dev`.  serve.c listens and collects request heads, so that a
 * connection on which nothing comes holds nobody up; serve_request.c answers one request.
 *
 * Single-threaded, ends by a signal. A connection belongs to the loop of serve.c until its head is
 * complete, then to serve_request() until that returns.
 */

#include "base/buf.h"
#include "php/cli.h"
#include "platform/sock.h"

struct serve {
    char address[128];        /* host and port as the user knows them */
    char document_root[4096]; /* resolved */
    char router[4096];        /* resolved; "": none */
    struct sock_addr at;
    bool index_for_dots; /* as in struct embed_cli_serve */
};

struct serve_conn {
    sock_t sock;
    struct sock_addr peer;
    struct buf in; /* what came so far */
};

/* Of embed_cli_main(): serves until a signal ends the process; returns only when it cannot start.
 */
int serve_main(const struct embed_cli_serve *want);
/* A line on standard error with the time before it. */
void serve_log(const char *fmt, ...) PRINTF_LIKE(1, 2);
/* The host that embed_startup() gets; its requests are those of serve_request(). */
const struct embed_host *serve_host(void);
/* Answers the request whose head is complete in c->in, with the rest of its body to be read from
 * the socket. ERR_AGAIN: the head is not complete. */
int serve_request(const struct serve *s, struct serve_conn *c) MUST_CHECK;

#endif
