/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_FRONT_H
#define EPHPM_ENGINE_FRONT_H

/*
 * The front role: every client connection, and who serves it.
 *
 * Started by the master as `ephpm` with a role argument. Descriptors: FRONT_SOCKET (messages),
 * FRONT_BELL (workers ring it), FRONT_METRICS (the segment of metric_table.h); listeners come by
 * message. It drops to run_as_user before it reads a byte from a client.
 *
 *   master tells                                          front tells
 *   config     text; limits of the pool                   ready
 *   listen     fd                                         fork        generation, reserve
 *   site       name                                       signal      worker, how (enum
 * pool_signal) generation id, site, root, follow                     drained     generation worker
 * id, pid, generation, reserve; fds          probed      generation, url, status, note fork_failed
 * generation, reserve                       status      json worker_gone id, code, signal idle (no
 * connection is left after `drain`) activate, retire, abandon  generation probe      generation,
 * url, host status, reopen, drain
 *   trial      generation: the rival of the active    figures     generation, of its trial
 *   jit_auto   site, json
 *
 * Files: front.c (messages and loop), front_sites.c (sites), front_http.c (internal endpoints,
 * request log), front_metrics.c (what is counted, and /metrics),
 * front_probe.c (a request to a generation that is not active yet), front_trial.c (requests shared
 * by two generations, and what they cost), settings.c,
 * pool.c, relay.c.
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/config.h"
#include "engine/ipc.h"
#include "engine/pool.h"
#include "http/server.h"
#include "net/loop.h"

enum { FRONT_SOCKET = 3, FRONT_BELL = 4, FRONT_METRICS = 5, FRONT_REQUEST_LOG = 256 };

struct front_logged {
    uint64_t wall_us, duration_us, bytes;
    int status;
    int64_t worker;
    char method[16];
    char uri[192];
    char id[17];
};

struct front {
    struct net_loop *loop;
    sock_t master;
    struct net_watch *master_watch;
    int bell;
    struct net_watch *bell_watch;
    struct http_server http;
    struct pool pool;
    struct config *config;
    bool started; /* http and pool are there */
    bool draining;
    struct net_timer *flush; /* access log */
    struct list probes;
    struct net_timer *trials; /* runs while a site has one */
    uint32_t ntrials;         /* ever */
    struct front_logged *log; /* FRONT_REQUEST_LOG entries, NULL: off */
    size_t log_next;
    struct metrics *registry; /* the segment */
    struct metrics *metrics;  /* the same while server.metrics.enabled, else NULL */
    struct list scrapes;      /* exchanges that wait for the master's figures */
    struct net_timer *scrape_late;
    char db_state[16]; /* of the role db; empty: there is no database */
    uint64_t started_ms;
    int exit_code;
};

/* Runs until told to end or until the master is gone; returns the exit code. */
int front_main(void);

/* front_http.c: the hooks of the HTTP server. */
extern const struct http_hooks front_hooks;
void front_status(struct front *f, struct buf *out);
/* front_sites.c: which site and generation a request belongs to; its way into the pool. */
bool front_site(void *arg, struct http_exchange *x, struct http_site *out, int *status);
void front_php(void *arg, struct http_exchange *x);
void front_on_generation(struct front *f, struct ipc_in *m);
void front_on_site_failed(struct front *f, struct ipc_in *m);
void front_on_site_gone(struct front *f, struct ipc_in *m);
/* front_metrics.c */
int front_metrics_init(struct front *f) MUST_CHECK;
void front_metrics_fini(struct front *f);
/* The configuration is new. */
void front_metrics_configure(struct front *f);
/* Is the request for /metrics, and metrics are on? */
bool front_metrics_is_path(const struct front *f, const struct http_exchange *x);
/* Answers it, now or later. may: the client may see it. */
void front_metrics_scrape(struct front *f, struct http_exchange *x, bool may);
/* The master has set its gauges. */
void front_metrics_sampled(struct front *f);
void front_metrics_gone(struct front *f, struct http_exchange *x);
void front_metrics_finished(struct front *f, const struct http_exchange *x);
void front_metrics_event(void *arg, enum http_event e);
/* front_trial.c */
void front_trial_begin(struct front *f, struct pool_generation *rival);
/* The generation for a request to the site's active one g, and the tag to submit it with. */
struct pool_generation *front_trial_choose(
    struct http_exchange *x, struct pool_generation *g, uint64_t *tag);
/* Hook of the pool. */
void front_trial_measured(void *arg, struct pool_worker *w, const struct message_done *done);
/* Timer callback; arg is the front. */
void front_trial_tick(void *arg);
/* What the master says of measuring, for front_status(). */
void front_trial_note(struct front *f, struct ipc_in *m);
/* front_probe.c */
void front_probe(struct front *f, struct ipc_in *m);
void front_probes_fini(struct front *f);
/* front.c: a message to the master; a master that is gone ends the front. */
void front_tell(struct front *f, struct ipc_out *m);

#endif
