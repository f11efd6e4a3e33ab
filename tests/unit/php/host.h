/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_UNIT_PHP_HOST_H
#define EPHPM_TESTS_UNIT_PHP_HOST_H

/*
 * A host for the php component: runs scripts of a temporary document root and keeps what came out.
 * PHP is started once per process (host_start in main).  Not for more than one thread.
 */

#include "base/buf.h"
#include "kv/store.h"
#include "php/embed.h"

/* What a request left behind; valid until the next host_run(). */
struct host_reply {
    struct embed_result result;
    int status;
    struct buf reason;
    struct buf head; /* "Name: value\n" per field */
    struct buf body;
    struct buf log;           /* "kind|script:line|message\n" */
    struct buf informational; /* "103 Name: value\n" */
    int heads, writes, flushes, finishes, resets;
    size_t body_at_flush; /* body bytes written before the last flush */
    size_t body_at_finish;
    bool head_at_flush; /* the head was out by the first flush */
};

/* How the client of the next request behaves; reset by each host_run(). */
struct host_client {
    struct str body;
    size_t gone_after;      /* bytes of response after which it is gone; 0: never */
    bool interrupt_on_read; /* embed_interrupt() while the body is read */
};

extern struct host_reply reply;
extern struct host_client client;
extern char host_root[256];
extern struct kv_store *host_store; /* what ephpm_kv_...() work on; nothing is evicted */

/* Creates the root and starts PHP with these ini lines besides its own. False: it did not start
 * (reported). */
bool host_start(const char *ini);
/* Stops PHP and removes the root. */
void host_stop(void);
/* Writes root/name, making its directory. */
void host_file(const char *name, const char *text);
/* A GET of a script below the root ("a/b.php"); change it before host_run(). Strings live until the
 * next call. */
struct embed_request *host_request(const char *script);
void host_run(struct embed_request *req);
/* Puts "<?php code" into t.php and runs it. */
void host_php(const char *code);
/* The same as a POST with this body and type. */
void host_post(const char *code, const char *type, struct str body);

/* embed_interrupt() by a signal, 50 ms from now; and every two seconds until it is stopped, since
 * the first is forgotten if the machine stood still and the request had not begun. */
void host_interrupt_soon(void);
void host_interrupt_stop(void);

bool host_has(const struct buf *b, const char *text);

#define CHECK_BODY(want) CHECK_STR(buf_str(&reply.body), want)
#define CHECK_HAS(b, text)                                                                      \
    do {                                                                                        \
        if (!host_has(&(b), text))                                                              \
            test_fail(                                                                          \
                __FILE__, __LINE__, "%s lacks \"%s\": " STR_F, #b, text, STR_A(buf_str(&(b)))); \
    } while (0)
#define CHECK_LACKS(b, text)                                                                  \
    do {                                                                                      \
        if (host_has(&(b), text))                                                             \
            test_fail(                                                                        \
                __FILE__, __LINE__, "%s has \"%s\": " STR_F, #b, text, STR_A(buf_str(&(b)))); \
    } while (0)

#endif
