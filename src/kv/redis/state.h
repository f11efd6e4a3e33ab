/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_REDIS_STATE_H
#define EPHPM_KV_REDIS_STATE_H

/* What the server and its clients know; for the files of this folder. */

#include "base/arena.h"
#include "base/map.h"
#include "kv/redis/command.h"
#include "kv/redis/parser.h"
#include "kv/redis/server.h"
#include "net/deadline.h"
#include "net/stream.h"

enum {
    REDIS_READ = 64 << 10,      /* bytes read at once */
    REDIS_FLUSH = 64 << 10,     /* replies are sent when there are so many bytes */
    REDIS_MULTI_MAX = 64 << 20, /* bytes of the commands in one MULTI */
    REDIS_COMMAND_SLOTS = 1024, /* of the table by name; a power of two */
    REDIS_NAME_MAX = 64,        /* of a client, kept */
    REDIS_POLL_MS = 10,         /* how often waiting clients' keys are looked at */
    REDIS_TURN_NS = 5000000,    /* of a client's commands, then others have their turn */
};

/* The version of Redis whose answers these are. */
#define REDIS_VERSION "7.0.15"

/* Channels and patterns belong to a site, as keys do. */
struct redis_site {
    struct list node;
    char *name;
    struct kv_store *store;
    struct map channels;  /* name to struct redis_channel */
    struct list patterns; /* struct redis_channel */
    struct map patterns_by_name;
    struct map keys; /* that clients wait for: to struct redis_key */
};

enum redis_client_state {
    REDIS_READY,
    REDIS_BLOCKED, /* waits for a key: nothing is read from it but to notice its end */
    REDIS_ENDING,  /* what was written leaves, then it is closed */
    REDIS_CLOSED,  /* its memory goes when the server's current work is done */
};

/* A command that waits in MULTI. */
struct redis_queued {
    struct list node;
    const struct redis_command *cmd;
    size_t argc;
    struct str *argv;
};

struct redis_client {
    struct stream stream;
    struct list node;  /* in the server's clients, or in those to be freed */
    struct list dirty; /* in those that something is to be sent to, or alone */
    struct list later; /* in those whose turn was over before their commands, or alone */
    struct redis_server *server;
    struct redis_site *site;
    enum redis_client_state state;
    uint64_t id;
    uint64_t since; /* loop ms */
    uint64_t active;
    char addr[SOCK_ADDR_TEXT];
    char laddr[SOCK_ADDR_TEXT];
    char name[REDIS_NAME_MAX];
    char user[REDIS_NAME_MAX];
    bool authenticated;
    const struct redis_command *last;

    struct redis_parser parser;
    struct buf in; /* what is left of a request that is not complete */
    struct reply reply;
    bool reply_off, reply_skip; /* CLIENT REPLY; skip: of the next command */
    struct deadline idle;

    /* multi.c */
    bool multi;
    bool multi_failed; /* a command was refused: EXECABORT */
    struct arena multi_memory;
    struct list queued;
    size_t nqueued;
    struct list watched;
    struct map watched_by_key;

    /* pubsub.c */
    struct list channels; /* struct redis_subscription */
    struct list patterns;
    struct map channels_by_name, patterns_by_name;
    size_t nchannels, npatterns;

    /* block.c */
    struct redis_blocked *blocked;
};

struct redis_server {
    struct net_loop *loop;
    struct redis_options opt;
    char *password, *secret;
    struct redis_hooks hooks;
    struct list sites;
    struct list clients;
    struct list dead;
    struct list dirty;
    struct list later;
    struct net_timer *turn; /* for them */
    struct list listeners;
    size_t nclients;
    uint64_t next_id;
    uint64_t started;
    struct redis_stats stats;
    struct deadline_set deadlines;
    struct deadline_class idle;
    char run_id[41];
    char *read_buf; /* REDIS_READ bytes: most requests come whole */
    struct buf buf; /* values of commands */
    struct buf buf2;
    int depth; /* of work in progress: nothing is freed within */

    const struct redis_command *slots[REDIS_COMMAND_SLOTS];

    /* block.c */
    struct net_timer *poll;
    struct list ready;
    size_t nblocked;
    bool serving;
    struct list waiting; /* struct redis_blocked, those who came first first */
};

/* ---- client.c ---- */

struct redis_client *redis_client_new(struct redis_server *s, sock_t fd) MUST_CHECK;
/* Closes it now; its memory goes with redis_server_leave(). */
void redis_client_close(struct redis_client *c, const char *reason);
/* After what has been written to it. */
void redis_client_end(struct redis_client *c);
/* Sends what was written. */
void redis_client_flush(struct redis_client *c);
/* Goes on with what it sent while it waited. */
void redis_client_resume(struct redis_client *c);
/* Those whose turn was over go on. */
void redis_client_turn(void *server);
/* Idle timeout anew; none for those that wait. */
void redis_client_touch(struct redis_client *c);
void redis_client_free(struct redis_client *c);
bool redis_client_subscribed(const struct redis_client *c);

/* ---- cmd_command.c, cmd_lcs.c, cmd_client.c ---- */

void redis_cmd_command(struct redis_call *c);
void redis_cmd_lcs(struct redis_call *c);

void redis_cmd_client(struct redis_call *c);
/* False: no name for a client; the error was written. */
bool redis_client_set_name(struct redis_call *c, struct str name);

/* ---- server.c ---- */

/* Work on the server begins and ends; memory of closed clients goes at the outermost end. */
void redis_server_enter(struct redis_server *s);
void redis_server_leave(struct redis_server *s);
/* Something was written to a client outside its own turn: it is sent when the work ends. */
void redis_server_wrote(struct redis_server *s, struct redis_client *c);
/* Wall time. */
int64_t redis_now_ms(void);
struct redis_site *redis_server_site(const struct redis_server *s, struct str name);

/* ---- auth.c ---- */

bool redis_auth_needed(const struct redis_server *s);
/* False: the error was written. */
bool redis_auth(struct redis_call *c, const struct str *user, struct str password);
/* Works on the site's store from now on, as that user. */
void redis_auth_enter(struct redis_client *c, struct redis_site *site, struct str user);
/* As a new connection. */
void redis_auth_reset(struct redis_client *c);

/* ---- multi.c ---- */

void redis_multi_init(struct redis_client *c);
/* Ends it and forgets what was watched. */
void redis_multi_reset(struct redis_client *c);
void redis_multi_queue(
    struct redis_client *c, const struct redis_command *cmd, const struct str *argv, size_t argc);

/* ---- pubsub.c ---- */

void redis_pubsub_reset(struct redis_client *c);
void redis_pubsub_site_fini(struct redis_site *site);

/* ---- block.c ---- */

void redis_block_init(struct redis_server *s);
void redis_block_fini(struct redis_server *s);
/* The client waits no more; nothing is answered. */
void redis_block_cancel(struct redis_client *c);
/* These keys were written by a command. */
void redis_block_written(struct redis_call *c);
/* Runs again who waits for keys that were written. */
void redis_block_serve(struct redis_server *s);
/* CLIENT UNBLOCK; false: it does not wait. */
bool redis_block_end(struct redis_client *c, bool error);
void redis_block_site_fini(struct redis_site *site);

#endif
