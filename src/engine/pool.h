/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_POOL_H
#define EPHPM_ENGINE_POOL_H

/*
 * The front's view of sites, generations and workers, and the queue of requests.
 *
 * The master starts and ends processes; here it is decided which worker gets which request. A
 * request belongs to the generation under whose root it was routed and is never served by another,
 * so old and new code do not mix.
 *
 *   generation:  WARMING (only probes) -> ACTIVE (new requests) -> RETIRED (finishes what it has)
 * -> gone worker:      STARTING -> IDLE <-> BUSY -> LEAVING (told to stop, or asked to be replaced)
 * -> gone
 *
 * Requests wait in one FIFO per generation, bounded in length and in time. Workers are added while
 * requests wait, up to the limit, and taken away when idle for long. One more, the reserve, serves
 * only requests that this machine's own PHP makes to itself while every worker is busy, so a full
 * pool cannot wait for itself.
 *
 * Under full load of short requests, the next waiting one is offered to a busy worker: it lies in
 * its channel when it is done, which saves both sides a sleep. Until the worker claims it, the
 * offer is taken back as soon as another worker is free, or its own takes long.
 *
 * Files: pool.c (sites, generations, workers, queue), offer.c (requests offered ahead), relay.c
 * (one request's way through a worker and back).
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "engine/channel.h"
#include "engine/message.h"
#include "engine/metric_table.h"
#include "http/exchange.h"
#include "net/deadline.h"
#include "platform/sock.h"

struct trial;
struct pool;
struct pool_site;
struct pool_generation;
struct pool_worker;

enum pool_generation_state { GENERATION_WARMING, GENERATION_ACTIVE, GENERATION_RETIRED };
enum pool_worker_state { WORKER_STARTING, WORKER_IDLE, WORKER_BUSY, WORKER_LEAVING };

struct pool_limits {
    unsigned workers; /* most, without the reserve */
    unsigned workers_min;
    size_t queue;        /* most waiting requests */
    uint64_t shed_ms;    /* longest wait; 0: wait for ever */
    uint64_t request_ms; /* wall clock of one request in a worker; 0: off */
    uint64_t idle_ms;    /* a worker idle for so long is not needed */
};

enum pool_signal {
    POOL_INTERRUPT, /* PHP, at the next place where it can be */
    POOL_ABORT,     /* it ends, and tells where PHP was */
    POOL_KILL
};

/* What pool asks of its owner (the front passes it on to the master). */
struct pool_hooks {
    void *arg;
    void (*fork)(void *arg, struct pool_generation *g, bool reserve);
    void (*signal)(void *arg, struct pool_worker *w, enum pool_signal how);
    /* The last worker and the last request of a retired generation are gone; it is freed
     * afterwards. */
    void (*drained)(void *arg, struct pool_generation *g);
    /* A request that was submitted with a tag is done; w->tag still names it. */
    void (*measured)(void *arg, struct pool_worker *w, const struct message_done *done);
};

struct pool_counters {
    uint64_t executed, failed, shed, crashed, replaced, interrupted, killed, queue_wait_us;
};

struct pool_site {
    struct list node;
    char *name;
    unsigned label;                 /* value of METRIC_LABEL_SITE, while the pool has metrics */
    struct pool_generation *active; /* NULL before the first */
    /* The same code in another way: they share the requests, and the workers that the site may
     * have. NULL: there is none. */
    struct pool_generation *rival;
    struct trial *trial; /* front_trial.c: of active and rival; NULL: none runs */
    uint64_t trial_told; /* requests of it when the master was told last */
    char *jit_auto;      /* what the master says of it, as JSON; NULL: nothing */
    struct pool *pool;
    uint64_t retry_ms; /* loop ms: it could not be started, not before then again */
};

struct pool_generation {
    struct list node;
    uint64_t id;
    struct pool_site *site;
    enum pool_generation_state state;
    char *root;          /* resolved document root of this release */
    char *root_config;   /* as configured; resolved per request when follow_root */
    bool follow_root;    /* dev: the root may move at any time */
    struct list workers; /* all of them */
    struct list idle;    /* first: used last */
    struct list queue;
    size_t queued;
    size_t offered;         /* of those that wait: lying in a worker's channel, not in queue */
    unsigned nworkers;      /* without leaving ones and the reserve */
    unsigned starting;      /* forks asked for and not ready yet */
    unsigned fork_failures; /* in a row */
    size_t requests;        /* exchanges routed under this root that are not over yet */
    bool abandoned;         /* the drain time is over: what has not started is refused */
    struct pool_worker *reserve;
    bool reserve_asked;
    uint64_t moved_ms;  /* loop ms when a worker last was done */
    uint64_t forked_at; /* loop ms of the last fork that was asked for */
    char note[512];     /* last PHP message, for a refused deploy */
    char php[32];       /* its version, and the kind of its interpreter; "" before PHP said so */
    char vm[16];
};

struct pool_worker {
    struct list node; /* in the generation's workers */
    struct list in_idle;
    struct list in_busy; /* in the pool's busy list */
    uint64_t id;
    int64_t pid;
    struct pool_generation *generation;
    enum pool_worker_state state;
    bool reserve;
    bool paused;   /* the client of its answer is slow: its ring is not read */
    bool answered; /* END came, DONE did not */
    bool broken;   /* it broke the protocol, or is dead: gets nothing, is told nothing */
    bool interrupted, aborted;
    struct channel *channel;
    sock_t socket;
    struct pool_request *request; /* NULL when idle, or when its exchange is gone */
    uint64_t request_id;          /* of the channel; 0 when idle */
    uint64_t request_mark;        /* the request's place in the channel */
    struct pool_request *offered; /* NULL also when its exchange is gone */
    uint64_t offered_id;          /* 0: none */
    uint64_t offered_mark;
    uint64_t tag; /* of the running request */
    uint64_t served;
    uint64_t busy_since; /* loop ms */
    uint64_t idle_since;
    uint64_t asked_us;
    struct deadline deadline; /* of the running request */
    char uri[256];            /* of the running request, for logs */
    char script[256];
    char request_name[17];
};

/* One PHP request; lives in its exchange's arena. */
struct pool_request {
    struct list node; /* in the queue */
    struct http_exchange *x;
    struct pool_generation *generation;
    struct pool_worker *worker; /* NULL while it waits */
    struct pool_worker *offered_to;
    struct deadline wait;
    uint64_t queued_ns;
    uint64_t tag;    /* its CPU time is measured; 0: it is not */
    bool self;       /* made by this machine */
    bool self_known; /* by none of the workers: it was looked at */
    bool has_head;
    bool body_ended; /* BODY_END of a streamed body was put */
};

struct pool {
    struct net_loop *loop;
    struct pool_hooks hooks;
    struct pool_limits limits;
    struct pool_counters counters;
    struct metrics *metrics; /* NULL: nothing is recorded; see pool_set_metrics() */
    const char *server_software;
    bool cut_environment;
    /* private to pool.c and relay.c */
    struct list sites;
    struct list generations;
    struct list busy;
    struct deadline_set deadlines;
    struct deadline_class on_wait, on_request, on_kill, on_leave;
    struct net_timer *grow; /* runs while requests wait */
    struct net_timer *shrink;
    uint64_t next_request;
    struct buf block; /* request blocks are built here */
    struct buf copy;  /* heads are copied here, out of shared memory */
    struct arena arena;
};

void pool_init(struct pool *p, struct net_loop *l, const struct pool_hooks *hooks);
void pool_fini(struct pool *p);
void pool_set_limits(struct pool *p, const struct pool_limits *limits);
/* Records in m from now on; NULL: nowhere. m must outlive the pool. */
void pool_set_metrics(struct pool *p, struct metrics *m);

struct pool_site *pool_site_add(struct pool *p, const char *name);
struct pool_site *pool_site_find(struct pool *p, struct str name);
/* Forgets a site of which no generation is left; any other stays. True: it did. */
bool pool_site_remove(struct pool *p, struct pool_site *s);
/* A generation that takes only probes until pool_activate(). */
struct pool_generation *pool_generation_add(
    struct pool *p, struct pool_site *site, uint64_t id, const char *root, bool follow_root);
/* A generation that was added with id 0, before the master knew it, gets its number. */
void pool_generation_name(struct pool *p, struct pool_generation *g, uint64_t id);
struct pool_generation *pool_generation_find(struct pool *p, uint64_t id);
/*
 * An exchange is routed under the generation's root: g lives until the exchange is over (its arena
 * reset), however long the client takes to send the body.
 */
void pool_generation_hold(struct pool_generation *g, struct http_exchange *x);
/* New requests of its site go to it; the one before is retired. */
void pool_activate(struct pool *p, struct pool_generation *g);
/* Takes no new requests; ends its workers as they become idle. */
void pool_retire(struct pool *p, struct pool_generation *g);
/* Stops waiting for a retired generation: interrupts, then kills what still runs. */
void pool_abandon(struct pool *p, struct pool_generation *g);

struct pool_newcomer {
    uint64_t id;
    int64_t pid;
    bool reserve;
    bool asked;        /* for by the pool; else the master started it by itself */
    uint64_t asked_us; /* monotonic: when it was asked for; 0: not known */
};

/* A worker process exists. Descriptors are taken over, also on failure. */
int pool_worker_add(struct pool *p, struct pool_generation *g, const struct pool_newcomer *n,
    int channel_fd, int socket_fd) MUST_CHECK;
struct pool_worker *pool_worker_find(struct pool *p, uint64_t id);
/* The master reaped it. sig: 0 when it exited with code. */
void pool_worker_gone(struct pool *p, uint64_t id, int code, int sig);
/* The fork that was asked for failed. */
void pool_fork_failed(struct pool *p, struct pool_generation *g, bool reserve);

/* A request whose body is complete (or streamed): gives it to a worker, queues it, or answers 503.
 * tag: 0, or hooks.measured will say what it cost. */
void pool_submit(struct pool *p, struct http_exchange *x, struct pool_generation *g, uint64_t tag);
/* The same code as the active generation in another way: both get requests of the site, and have
 * half of its workers each, until either is retired. */
void pool_set_rival(struct pool_generation *g);
/* hooks of struct http_hooks. */
void pool_on_body(struct pool *p, struct http_exchange *x);
void pool_on_room(struct pool *p, struct http_exchange *x);
void pool_on_gone(struct pool *p, struct http_exchange *x, enum http_gone why);
/* The doorbell rang: reads the rings of busy workers. */
void pool_on_bell(struct pool *p);
/* Runs before the loop sleeps: reads once more and asks the workers to ring. False: something came
 * meanwhile, the loop must not sleep. */
bool pool_before_sleep(struct pool *p);

/* --- between pool.c, offer.c and relay.c
 * -------------------------------------------------------------- */

/* pool.c: the most workers that it may have. */
unsigned pool_most(const struct pool *p, const struct pool_generation *g);
/* relay.c: is the head small enough for a worker's ring? */
bool relay_fits(struct pool *p, struct http_exchange *x);
/* relay.c: hands the request to an idle worker. */
void relay_start(struct pool *p, struct pool_worker *w, struct pool_request *r);
/* relay.c: the same behind the running one, as an offer. False when the channel has no room. */
bool relay_offer(struct pool *p, struct pool_worker *w, struct pool_request *r);
/* relay.c: the offered request runs now. */
void relay_promote(struct pool *p, struct pool_worker *w);
/* offer.c: gives what waits to busy workers, where that pays. */
void offer_waiting(struct pool *p);
/* Puts a request that a worker did not begin back to its place in the queue, which is by age. */
void pool_requeue(struct pool_generation *g, struct pool_request *r);
/* offer.c: takes w's offer back to its place in the queue. False: the worker has claimed it. */
bool offer_withdraw(struct pool_worker *w);
/* offer.c: the oldest offer that can be taken back from any worker, into the queue. False: none. */
bool offer_reclaim(struct pool_generation *g);
/* offer.c: for a worker that is free: the oldest offer comes back into the queue when nothing else
 * waits, or when all that waits is younger and the worker that has it is slow. */
void offer_reclaim_late(struct pool *p, struct pool_generation *g);
/* offer.c: takes back offers to workers that turn out to be slow. */
void offer_check(struct pool *p, struct pool_generation *g);
/* offer.c: the request's exchange ends; true when it never runs. */
bool offer_forget(struct pool_request *r);
/* relay.c: reads what the worker sent. */
void relay_read(struct pool *p, struct pool_worker *w);
/* relay.c: body bytes for the worker, as many as fit. */
void relay_body(struct pool *p, struct pool_worker *w);
/* relay.c: this worker's channel is broken; it is killed and its request answered. */
void relay_broken(struct pool *p, struct pool_worker *w, const char *why);
/* pool.c: it has waited until now. */
void pool_count_wait(struct pool *p, const struct pool_request *r);
/* pool.c: the worker said DONE. */
void pool_worker_done(struct pool *p, struct pool_worker *w, const struct message_done *done);
void pool_worker_ready(struct pool *p, struct pool_worker *w, const struct message_ready *ready);
/* relay.c: was this waiting request made by PHP that runs in one of the generation's own workers?
 */
bool relay_is_own_php(struct pool *p, struct pool_generation *g, struct pool_request *r);
/* pool.c: the exchange is answered or lost; r is dead. */
void pool_request_end(struct pool *p, struct pool_request *r);

#endif
