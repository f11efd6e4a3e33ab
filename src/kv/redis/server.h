/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_REDIS_SERVER_H
#define EPHPM_KV_REDIS_SERVER_H

/*
 * A server of the Redis protocol in front of the stores of sites.
 *
 * It lives on one loop, with all its clients; everything here is called on that loop's thread. The
 * stores are the caller's and must stay open until redis_server_close(). A client works on one
 * site's store: on the default one's, or the one that it proved to belong to by AUTH.
 *
 * Files in reading order: parser.c (requests), reply.c (answers), command.c (the table of commands
 * and how one is run; command.h tells how a command is written), client.c (a connection), server.c,
 * auth.c, multi.c (transactions), pubsub.c, block.c (clients that wait for a key), then the
 * commands themselves, cmd_*.c. It is a component of its own, kv_redis, on kv and net.
 */

#include <stdbool.h>

#include "kv/store.h"
#include "net/loop.h"

struct redis_server;

struct redis_hooks {
    void *arg;
    /* A client wrote a key that starts with "opcache:" in the site's store; is_default: it is the
     * user of that name, not a site's. Runs while a command is processed; may not close the server.
     * May be NULL. */
    void (*on_opcache)(
        void *arg, const char *site, bool is_default, struct str key, struct str value);
};

struct redis_options {
    struct str password; /* of the user "default"; empty: none */
    struct str secret; /* sites prove themselves by HMAC-SHA256(secret, site); empty: they cannot */
    bool many_sites;   /* nothing is answered before a client said whose it is */
    unsigned max_connections;
    size_t max_input_buffer;    /* bytes of one request */
    unsigned idle_timeout_secs; /* 0: none */
};

/* Bytes that a client may leave unread; one that subscribed; all of them. Beyond, it is closed. */
#define REDIS_OUTPUT_MAX        ((size_t)256 << 20)
#define REDIS_OUTPUT_PUBSUB_MAX ((size_t)32 << 20)
#define REDIS_OUTPUT_TOTAL_MAX  ((size_t)512 << 20)

/* The texts are copied. */
int redis_server_open(struct net_loop *l, const struct redis_options *opt,
    const struct redis_hooks *hooks, struct redis_server **out) MUST_CHECK;
/* Closes all clients; NULL is fine. */
void redis_server_close(struct redis_server *s);
/* One more site. Clients that do not name any belong to the first; of many sites, to the one named
 * "default". ERR_EXISTS. */
int redis_server_add_site(
    struct redis_server *s, const char *name, struct kv_store *store) MUST_CHECK;
/* Its clients are closed; nothing happens when there is none of that name. */
void redis_server_remove_site(struct redis_server *s, const char *name);
/* Accepts from a listening socket, which stays the caller's and must outlive the server. ERR_MFILE,
 * ERR_NOMEM. */
int redis_server_listen(struct redis_server *s, sock_t listener) MUST_CHECK;

/* A connection that somebody else accepted and found to be allowed into the site, with the rights
 * of the user "default"; max_connections does not count for it. It is the server's from then on.
 * ERR_NOTFOUND: there is no such site; ERR_NOMEM. */
int redis_server_adopt(struct redis_server *s, sock_t fd, struct str site) MUST_CHECK;

struct redis_stats {
    uint64_t clients, blocked, subscribed; /* now */
    uint64_t connections, rejected, commands, errors;
    uint64_t bytes_in, bytes_out;
};
void redis_server_stats(const struct redis_server *s, struct redis_stats *out);

#endif
