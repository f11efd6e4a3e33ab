/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_MYSQL_SERVER_H
#define EPHPM_DB_MYSQL_SERVER_H

/*
 * A server of the MySQL protocol: listeners, accounts, connections. mysql.h tells the story.
 *
 * Made and freed on the loop's thread, where connections are accepted; each is served by a thread
 * of its own.
 */

#include "base/err.h"
#include "base/str.h"
#include "db/stats.h"
#include "net/loop.h"
#include "platform/sock.h"

struct db_server;
struct mysql_server;

/* Seconds; each has MySQL's default when it is 0. */
struct mysql_timeouts {
    unsigned connect; /* until a client is logged in: 10 */
    unsigned read;    /* a pause within a packet: 30 */
    unsigned write;   /* a client that takes nothing: 60 */
};

struct mysql_options {
    struct db_server *engine; /* outlives the server */
    struct db_stats *stats;   /* likewise */
    unsigned max_connections; /* 0: 151 */
    struct mysql_timeouts timeouts;
    const char *tls_cert, *tls_key; /* PEM files; NULL: no TLS */
};

/* Who may log in, with what, and to which database. */
struct mysql_account {
    struct str user;
    struct str password; /* only digests of it are kept */
    struct str database;
};

enum { MYSQL_MAX_CONNECTIONS = 151 };

int mysql_server_new(struct net_loop *loop, const struct mysql_options *opt,
    struct mysql_server **out, struct err *err) MUST_CHECK;
/* Accepts from it; the listener stays the caller's, and open until mysql_server_close(). */
int mysql_server_listen(struct mysql_server *s, sock_t listener) MUST_CHECK;
/* Adds the account, or gives it another password and database. */
void mysql_server_set_account(struct mysql_server *s, const struct mysql_account *a);
/* Who is logged in stays so. */
void mysql_server_remove_account(struct mysql_server *s, struct str user);
/*
 * Accepts no more and ends all connections, waiting for wait_ms at most: what still runs then gets
 * no answer. Before it, db_server_stop() ends statements with an error that clients see. False:
 * some have not ended, and neither server nor engine may be freed.
 */
bool mysql_server_close(struct mysql_server *s, unsigned wait_ms);
/* After mysql_server_close() said true. NULL is fine. */
void mysql_server_free(struct mysql_server *s);

#endif
