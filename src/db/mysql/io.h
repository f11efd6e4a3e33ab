/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_MYSQL_IO_H
#define EPHPM_DB_MYSQL_IO_H

/*
 * A connection's bytes: a blocking socket, later perhaps TLS over it, with time limits. One thread
 * at a time; only sock_shutdown_wake() on the socket may come from another.
 */

#include "db/stats.h"
#include "platform/sock.h"

struct ssl_st;
struct ssl_ctx_st;

/* A server's certificate and key; immutable once made. */
struct mysql_tls;
/* err names the file that cannot be used. */
int mysql_tls_new(
    const char *cert, const char *key, struct mysql_tls **out, struct err *err) MUST_CHECK;
void mysql_tls_free(struct mysql_tls *t); /* NULL is fine */

struct mysql_io {
    sock_t fd; /* the caller's to close, after mysql_io_fini() */
    struct db_stats *stats;
    /* private to io.c */
    struct ssl_st *tls;
    unsigned recv_ms, send_ms; /* as set */
    uint64_t deadline_ms;      /* of the monotonic clock; 0: none */
};

/* Makes fd blocking. */
void mysql_io_init(struct mysql_io *io, sock_t fd, struct db_stats *stats);
void mysql_io_fini(struct mysql_io *io);
/* A pause of so long ends a read, or a write. 0: none does. Costs a system call if it is new. */
void mysql_io_set_timeouts(struct mysql_io *io, unsigned recv_ms, unsigned send_ms);
/* All reads together end so long from now; 0: no such limit any more. */
void mysql_io_set_deadline(struct mysql_io *io, unsigned ms);
/* The client speaks TLS from here on: its handshake. */
int mysql_io_start_tls(struct mysql_io *io, const struct mysql_tls *t) MUST_CHECK;
static inline bool mysql_io_is_tls(const struct mysql_io *io)
{
    return io->tls != NULL;
}

/* Some bytes. ERR_TIMEOUT, ERR_EOF, ERR_CLOSED, ERR_IO. */
int mysql_io_recv(struct mysql_io *io, void *p, size_t n, size_t *got) MUST_CHECK;
/* All bytes. */
int mysql_io_send(struct mysql_io *io, struct str bytes) MUST_CHECK;

#endif
