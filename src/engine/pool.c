/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/pool.h"

#include "base/mem.h"
#include "core/log.h"
#include "engine/trial.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/process.h"

enum {
    POOL_GROW_MS = 5,      /* how often waiting requests may add workers */
    POOL_SHRINK_MS = 5000, /* how often idle workers are looked at, at most and at least */
    POOL_SHRINK_MIN_MS = 100,
    POOL_SELF_MS = 50,        /* a request of our own PHP waits so long before the reserve starts */
    POOL_SELF_LOOKS = 4,      /* so many requests are looked at per POOL_GROW_MS: each takes long */
    POOL_KILL_MS = 1000,      /* after the interrupt */
    POOL_LEAVE_MS = 10000,    /* a worker that was told to end, or said it would */
    POOL_FORK_RETRY_MS = 200, /* after a failed fork, times the failures in a row */
    POOL_FORK_BRAKE_MS = 10000,  /* and at most so long */
    POOL_FORK_PATIENCE_MS = 5000 /* a fork that was asked for and never came */
};

static void pool_on_wait(struct deadline *d);
static void pool_on_request_deadline(struct deadline *d);
static void pool_count_killed(struct pool *p, const struct pool_worker *w)
{
    unsigned site = w->generation->site->label;

    p->counters.killed++;
    metric_count(p->metrics, METRIC_WORKER_RECYCLES, site, METRIC_RECYCLE_HUNG);
    metric_count(p->metrics, METRIC_POOL_RECYCLES, site, METRIC_POOL_HUNG);
}

static void pool_on_kill(struct deadline *d);
static void pool_on_leave(struct deadline *d);
static void pool_on_grow(void *arg);
static void pool_on_shrink(void *arg);
static bool pool_misses_workers(const struct pool *p, const struct pool_generation *g);
static void pool_fork(struct pool *p, struct pool_generation *g, bool reserve);
static void pool_refuse(struct pool *p, struct pool_request *r, const char *why);

void pool_init(struct pool *p, struct net_loop *l, const struct pool_hooks *hooks)
{
    *p = (struct pool){.loop = l, .hooks = *hooks};
    list_init(&p->sites);
    list_init(&p->generations);
    list_init(&p->busy);
    deadline_set_init(&p->deadlines, l);
    deadline_class_init(&p->on_wait, &p->deadlines, 0, pool_on_wait);
    deadline_class_init(&p->on_request, &p->deadlines, 0, pool_on_request_deadline);
    deadline_class_init(&p->on_kill, &p->deadlines, POOL_KILL_MS, pool_on_kill);
    deadline_class_init(&p->on_leave, &p->deadlines, POOL_LEAVE_MS, pool_on_leave);
    p->grow = net_timer_open(l, pool_on_grow, p);
    p->shrink = net_timer_open(l, pool_on_shrink, p);
}

void pool_set_limits(struct pool *p, const struct pool_limits *limits)
{
    uint64_t tick;

    p->limits = *limits;
    deadline_class_set_ms(&p->on_wait, limits->shed_ms);
    deadline_class_set_ms(&p->on_request, limits->request_ms);
    tick = MIN(MAX(limits->idle_ms / 4, (uint64_t)POOL_SHRINK_MIN_MS), (uint64_t)POOL_SHRINK_MS);
    net_timer_start(p->shrink, tick, tick);
}

void pool_set_metrics(struct pool *p, struct metrics *m)
{
    p->metrics = m;
    list_each (it, &p->sites) {
        struct pool_site *s = CONTAINER_OF(it, struct pool_site, node);

        s->label = m ? metrics_claim(m, METRIC_LABEL_SITE, str_c(s->name)) : 0;
    }
}

static struct pool *pool_of(const struct pool_generation *g)
{
    return g->site->pool;
}

/* --- sites and generations -------------------------------------------------------------------- */

struct pool_site *pool_site_add(struct pool *p, const char *name)
{
    struct pool_site *s = mem_new(sizeof(*s));

    s->name = mem_dup_str(name, strlen(name));
    s->pool = p;
    if (p->metrics)
        s->label = metrics_claim(p->metrics, METRIC_LABEL_SITE, str_c(name));
    list_push(&p->sites, &s->node);
    return s;
}

struct pool_site *pool_site_find(struct pool *p, struct str name)
{
    list_each (it, &p->sites) {
        struct pool_site *s = CONTAINER_OF(it, struct pool_site, node);

        if (str_eq(str_c(s->name), name))
            return s;
    }
    return NULL;
}

static void pool_site_free(struct pool_site *s)
{
    list_remove(&s->node);
    trial_free(s->trial);
    mem_free(s->jit_auto);
    mem_free(s->name);
    mem_free(s);
}

bool pool_site_remove(struct pool *p, struct pool_site *s)
{
    list_each (it, &p->generations)
        if (CONTAINER_OF(it, struct pool_generation, node)->site == s)
            return false;
    pool_site_free(s);
    return true;
}

struct pool_generation *pool_generation_add(
    struct pool *p, struct pool_site *site, uint64_t id, const char *root, bool follow_root)
{
    struct pool_generation *g = mem_new(sizeof(*g));

    g->id = id;
    g->site = site;
    g->root = mem_dup_str(root, strlen(root));
    g->root_config = mem_dup_str(root, strlen(root));
    g->follow_root = follow_root;
    g->forked_at = net_loop_now(p->loop);
    list_init(&g->workers);
    list_init(&g->idle);
    list_init(&g->queue);
    list_push(&p->generations, &g->node);
    return g;
}

struct pool_generation *pool_generation_find(struct pool *p, uint64_t id)
{
    list_each (it, &p->generations) {
        struct pool_generation *g = CONTAINER_OF(it, struct pool_generation, node);

        if (g->id == id)
            return g;
    }
    return NULL;
}

void pool_generation_name(struct pool *p, struct pool_generation *g, uint64_t id)
{
    g->id = id;
    g->forked_at = net_loop_now(p->loop); /* its first workers come by themselves */
}

static void pool_generation_free(struct pool_generation *g)
{
    ENSURE(list_empty(&g->workers) && list_empty(&g->queue));
    list_remove(&g->node);
    mem_free(g->root);
    mem_free(g->root_config);
    mem_free(g);
}

/* A retired generation without workers and requests is over. It is freed then. */
static void pool_check_drained(struct pool *p, struct pool_generation *g)
{
    if (g->state != GENERATION_RETIRED || !list_empty(&g->workers) || g->requests || g->starting)
        return;
    if (g->id)
        p->hooks.drained(p->hooks.arg, g);
    pool_generation_free(g);
}

static void pool_generation_unhold(void *arg)
{
    struct pool_generation *g = arg;

    g->requests--;
    pool_check_drained(pool_of(g), g);
}

void pool_generation_hold(struct pool_generation *g, struct http_exchange *x)
{
    g->requests++;
    arena_defer(&x->arena, pool_generation_unhold, g);
}

static void pool_stop_worker(struct pool_worker *w)
{
    list_remove(&w->in_idle);
    if (w->state != WORKER_LEAVING && !w->reserve && w->state != WORKER_STARTING)
        w->generation->nworkers--;
    w->state = WORKER_LEAVING;
    deadline_arm(&w->deadline, &pool_of(w->generation)->on_leave);
    if (channel_put(w->channel, CHANNEL_STOP, 0, 0, NULL, 0) == 0 && channel_publish(w->channel))
        channel_ring_worker(w->channel);
}

static void pool_stop_reserve(struct pool_generation *g)
{
    struct pool_worker *w = g->reserve;

    g->reserve = NULL;
    g->reserve_asked = false;
    pool_stop_worker(w);
}

void pool_set_rival(struct pool_generation *g)
{
    g->site->rival = g;
}

unsigned pool_most(const struct pool *p, const struct pool_generation *g)
{
    unsigned half = MAX(p->limits.workers / 2, 1u);

    if (!g->site->rival)
        return p->limits.workers;
    if (g == g->site->active)
        return MAX(p->limits.workers - half, 1u);
    return g == g->site->rival ? half : p->limits.workers;
}

void pool_activate(struct pool *p, struct pool_generation *g)
{
    struct pool_generation *old = g->site->active;

    g->site->rival = NULL;
    g->state = GENERATION_ACTIVE;
    g->site->active = g;
    if (old && old != g)
        pool_retire(p, old);
    while (pool_misses_workers(p, g)) /* the first front started them before */
        pool_fork(p, g, false);
}

void pool_retire(struct pool *p, struct pool_generation *g)
{
    if (g->state == GENERATION_RETIRED)
        return;
    if (g->site->active == g || g->site->rival == g)
        g->site->rival = NULL;
    if (g->site->active == g)
        g->site->active = NULL;
    g->state = GENERATION_RETIRED;
    if (list_empty(&g->queue)) {
        list_each_safe (it, &g->idle)
            pool_stop_worker(CONTAINER_OF(it, struct pool_worker, in_idle));
        if (g->reserve && g->reserve->state == WORKER_IDLE)
            pool_stop_reserve(g);
    }
    pool_check_drained(p, g);
}

void pool_abandon(struct pool *p, struct pool_generation *g)
{
    g->abandoned = true;
    g->requests++; /* the last refusal must not free it here */
    while (offer_reclaim(g))
        continue;
    while (!list_empty(&g->queue))
        pool_refuse(p, CONTAINER_OF(list_first(&g->queue), struct pool_request, node),
            "the drain time of its release is over");
    list_each_safe (it, &g->workers) {
        struct pool_worker *w = CONTAINER_OF(it, struct pool_worker, node);

        log_warn("worker_abandoned", F_UINT("worker", w->id), F_UINT("generation", g->id),
            F_CSTR("uri", w->uri), F_CSTR("reason", "drain time is over"));
        p->hooks.signal(p->hooks.arg, w, POOL_KILL);
    }
    pool_generation_unhold(g);
}

/* --- requests --------------------------------------------------------------------------------- */

void pool_request_end(struct pool *p, struct pool_request *r)
{
    struct pool_generation *g = r->generation;

    deadline_disarm(&r->wait);
    if (r->offered_to)
        (void)offer_forget(r); /* whether it runs is the worker's matter now */
    if (!r->worker && !list_empty(&r->node)) {
        list_remove(&r->node);
        g->queued--;
    }
    if (r->worker)
        r->worker->request = NULL;
    (void)p;
}

/* Refuses a request that has not started. */
static void pool_refuse(struct pool *p, struct pool_request *r, const char *why)
{
    struct http_exchange *x = r->x;

    p->counters.shed++;
    metric_count(p->metrics, METRIC_PHP_SHED, r->generation->site->label, 0);
    log_warn("request_shed", F_CSTR("reason", why), F_CSTR("request_id", x->id),
        F_STR("uri", x->uri.request_uri), F_UINT("queued", r->generation->queued),
        F_UINT("waited_ms", (clock_mono_ns() - r->queued_ns) / 1000000));
    x->owner = NULL;
    pool_request_end(p, r);
    http_respond_status(x, 503, STR("Retry-After"), STR("1"), why);
}

static void pool_on_wait(struct deadline *d)
{
    struct pool_request *r = CONTAINER_OF(d, struct pool_request, wait);

    if (r->offered_to && !offer_withdraw(r->offered_to))
        return; /* it has begun */
    pool_refuse(pool_of(r->generation), r, "waited longer than php.shed_after_ms");
}

void pool_count_wait(struct pool *p, const struct pool_request *r)
{
    uint64_t waited = clock_mono_ns() - r->queued_ns;

    p->counters.queue_wait_us += waited / 1000;
    metric_observe(p->metrics, METRIC_WORKER_WAIT, r->generation->site->label, 0, waited);
}

static void pool_give(struct pool *p, struct pool_worker *w, struct pool_request *r)
{
    if (!list_empty(&r->node)) {
        list_remove(&r->node);
        r->generation->queued--;
    }
    deadline_disarm(&r->wait);
    list_remove(&w->in_idle);
    pool_count_wait(p, r);
    relay_start(p, w, r);
}

static void pool_fork(struct pool *p, struct pool_generation *g, bool reserve)
{
    if (g->id == 0)
        return; /* its prototype is only just being asked for */
    g->starting++;
    g->forked_at = net_loop_now(p->loop);
    if (reserve)
        g->reserve_asked = true;
    p->hooks.fork(p->hooks.arg, g, reserve);
}

/* The pause after forks that failed. */
static uint64_t pool_brake_ms(const struct pool_generation *g)
{
    return MIN(POOL_FORK_RETRY_MS * (uint64_t)g->fork_failures, (uint64_t)POOL_FORK_BRAKE_MS);
}

/* More workers for those that wait. */
static void pool_grow(struct pool *p, struct pool_generation *g)
{
    unsigned have = g->nworkers + g->starting;
    struct list *first = list_first(&g->queue);
    uint64_t now = net_loop_now(p->loop);
    unsigned looks = 0;
    uint64_t waited;

    if (!first)
        return;
    if (g->fork_failures && now - g->forked_at < pool_brake_ms(g))
        return;
    if (have < pool_most(p, g) && g->starting < g->queued) {
        pool_fork(p, g, false);
        return;
    }
    /* One that is starting, with its whole site perhaps, will take a request by itself. */
    if (have < pool_most(p, g) || g->starting || g->reserve || g->reserve_asked)
        return;
    list_each (it, &g->queue) {
        struct pool_request *r = CONTAINER_OF(it, struct pool_request, node);

        waited = (clock_mono_ns() - r->queued_ns) / 1000000;
        if (waited < POOL_SELF_MS)
            return; /* those behind it wait for less */
        if (r->self && !r->self_known && looks++ == POOL_SELF_LOOKS)
            return;
        if (r->self && relay_is_own_php(p, g, r)) {
            log_info("reserve_worker", F_CSTR("request_id", r->x->id),
                F_STR("uri", r->x->uri.request_uri),
                F_CSTR("reason", "every worker is busy and one of them waits for this request"));
            pool_fork(p, g, true);
            return;
        }
    }
}

/* Fewer than there must always be? Those that die as they start are replaced ever more slowly. */
static bool pool_misses_workers(const struct pool *p, const struct pool_generation *g)
{
    return g->id && g->state == GENERATION_ACTIVE &&
           g->nworkers + g->starting < MIN(p->limits.workers_min, pool_most(p, g));
}

static void pool_fill(struct pool *p, struct pool_generation *g)
{
    uint64_t pause = MAX(pool_brake_ms(g), (uint64_t)POOL_FORK_RETRY_MS);
    bool due = net_loop_now(p->loop) - g->forked_at >= pause;

    while (due && pool_misses_workers(p, g))
        pool_fork(p, g, false);
}

/* The timer of growth: soon while requests wait, else when the next replacement is due. */
static void pool_plan_growth(struct pool *p)
{
    uint64_t ms = UINT64_MAX;

    list_each (it, &p->generations) {
        struct pool_generation *g = CONTAINER_OF(it, struct pool_generation, node);

        if (g->queued || g->offered)
            ms = POOL_GROW_MS;
        else if (pool_misses_workers(p, g))
            ms = MIN(ms, MAX(pool_brake_ms(g), (uint64_t)POOL_FORK_RETRY_MS));
    }
    if (ms != UINT64_MAX)
        net_timer_start(p->grow, ms, 0);
}

static void pool_on_grow(void *arg)
{
    struct pool *p = arg;

    list_each (it, &p->generations) {
        struct pool_generation *g = CONTAINER_OF(it, struct pool_generation, node);

        offer_check(p, g);
        pool_grow(p, g);
        pool_fill(p, g);
    }
    pool_plan_growth(p);
}

void pool_requeue(struct pool_generation *g, struct pool_request *r)
{
    struct list *at = &g->queue;

    list_each (it, &g->queue) {
        if (CONTAINER_OF(it, struct pool_request, node)->queued_ns > r->queued_ns)
            break;
        at = it;
    }
    list_insert_after(at, &r->node);
    g->queued++;
}

void pool_submit(struct pool *p, struct http_exchange *x, struct pool_generation *g, uint64_t tag)
{
    struct pool_request *r = arena_new(&x->arena, sizeof(*r));
    struct list *idle = list_first(&g->idle);

    if (!relay_fits(p, x)) {
        log_warn("request_too_large", F_CSTR("request_id", x->id),
            F_CSTR("setting", "server.request.max_header_size"));
        http_respond_status(x, 431, STR_NONE, STR_NONE, "head is too large for a worker");
        return;
    }
    r->x = x;
    r->generation = g;
    r->queued_ns = clock_mono_ns();
    r->tag = tag;
    list_init(&r->node);
    deadline_init(&r->wait);
    x->owner = r;
    if (g->abandoned) {
        pool_refuse(p, r, "its release is gone (deploy.drain)");
        return;
    }
    if (idle) {
        pool_give(p, CONTAINER_OF(idle, struct pool_worker, in_idle), r);
        return;
    }
    if (g->queued + g->offered >= p->limits.queue) {
        pool_refuse(p, r, "queue is full (php.queue_size)");
        return;
    }
    r->self = http_exchange_is_self(x);
    list_push(&g->queue, &r->node);
    g->queued++;
    deadline_arm(&r->wait, &p->on_wait);
    if (g->nworkers + g->starting == 0)
        pool_grow(p, g);
    if (g->queued == 1) /* else it runs; starting it again and again would put it off for ever */
        net_timer_start(p->grow, POOL_GROW_MS, 0);
}

/* The next waiting request for this worker, or NULL. */
static struct pool_request *pool_next(struct pool_worker *w)
{
    list_each (it, &w->generation->queue) {
        struct pool_request *r = CONTAINER_OF(it, struct pool_request, node);

        if (!w->reserve || r->self)
            return r;
    }
    return NULL;
}

/* A worker that has nothing to do: work, or rest. */
static void pool_worker_free_again(struct pool *p, struct pool_worker *w)
{
    struct pool_generation *g = w->generation;
    struct pool_request *r;

    /* An older request may lie with a worker that turned out to be slow. */
    if (!w->reserve)
        offer_reclaim_late(p, g);
    r = pool_next(w);
    w->state = WORKER_IDLE;
    w->idle_since = net_loop_now(p->loop);
    if (r) {
        pool_give(p, w, r);
        return;
    }
    if (g->state == GENERATION_RETIRED) {
        pool_stop_worker(w);
        return;
    }
    if (!w->reserve)
        list_push_front(&g->idle, &w->in_idle);
}

static void pool_count_boot_failure(struct pool *p, const struct pool_generation *g)
{
    metric_count(p->metrics, METRIC_WORKER_BOOT_FAILURES, g->site->label, 0);
    metric_count(p->metrics, METRIC_POOL_BOOT_FAILURES, g->site->label, 0);
}

/* --- workers ---------------------------------------------------------------------------------- */

int pool_worker_add(struct pool *p, struct pool_generation *g, const struct pool_newcomer *n,
    int channel_fd, int socket_fd)
{
    struct pool_worker *w = mem_new(sizeof(*w));
    int rc = channel_open(channel_fd, CHANNEL_FRONT, &w->channel);

    fs_close(channel_fd);
    if (rc) {
        fs_close(socket_fd);
        mem_free(w);
        return rc;
    }
    w->id = n->id;
    w->pid = n->pid;
    w->generation = g;
    w->reserve = n->reserve;
    w->asked_us = n->asked_us;
    if (!n->asked)
        g->starting++;
    w->socket = (sock_t)socket_fd;
    list_init(&w->in_idle);
    deadline_init(&w->deadline);
    list_push(&g->workers, &w->node);
    list_push(&p->busy, &w->in_busy); /* READY is still to come */
    relay_read(p, w);
    return 0;
}

struct pool_worker *pool_worker_find(struct pool *p, uint64_t id)
{
    list_each (g, &p->generations) {
        list_each (it, &CONTAINER_OF(g, struct pool_generation, node)->workers) {
            struct pool_worker *w = CONTAINER_OF(it, struct pool_worker, node);

            if (w->id == id)
                return w;
        }
    }
    return NULL;
}

void pool_worker_ready(struct pool *p, struct pool_worker *w, const struct message_ready *ready)
{
    struct pool_generation *g = w->generation;

    (void)ready;
    if (w->state != WORKER_STARTING)
        return;
    if (g->starting)
        g->starting--;
    g->fork_failures = 0;
    if (w->asked_us)
        metric_observe(p->metrics, METRIC_WORKER_BOOT_DURATION, g->site->label, 0,
            clock_mono_ns() - w->asked_us * 1000);
    if (w->reserve)
        g->reserve = w;
    else
        g->nworkers++;
    list_remove(&w->in_busy);
    pool_worker_free_again(p, w);
}

static void pool_count_sessions(struct metrics *m, unsigned site, const struct message_done *done)
{
    if (done->sessions || done->session_wait_us)
        metric_observe(m, METRIC_SESSION_WAIT, site, 0, done->session_wait_us * 1000);
    metric_add(m, METRIC_SESSIONS_OPENED, site, 0, done->sessions);
    metric_add(m, METRIC_SESSIONS_TAKEN_OVER, site, 0, done->sessions_taken_over);
    metric_add(m, METRIC_SESSIONS_NOT_WRITTEN, site, 0, done->sessions_not_written);
}

static void pool_count_done(struct pool *p, unsigned site, const struct message_done *done)
{
    struct metrics *m = p->metrics;
    bool ok = done->end == MESSAGE_END_OK;

    p->counters.executed++;
    if (!ok)
        p->counters.failed++;
    metric_count(m, METRIC_PHP_EXECUTIONS, site, ok ? METRIC_PHP_OK : METRIC_PHP_ERROR);
    metric_observe(m, METRIC_PHP_DURATION, site, 0, done->php_us * 1000);
    metric_observe(m, METRIC_PHP_MEMORY_PEAK, site, 0, done->memory_peak);
    pool_count_sessions(m, site, done);
    switch (done->replace) {
    case MESSAGE_REPLACE_REQUESTS:
        metric_count(m, METRIC_WORKER_RECYCLES, site, METRIC_RECYCLE_REQUESTS);
        break;
    case MESSAGE_REPLACE_MEMORY:
        metric_count(m, METRIC_WORKER_RECYCLES, site, METRIC_RECYCLE_MEMORY);
        break;
    case MESSAGE_REPLACE_PHP:
        metric_count(m, METRIC_WORKER_RECYCLES, site, METRIC_RECYCLE_FATAL);
        metric_count(m, METRIC_POOL_RECYCLES, site, METRIC_POOL_POISONED);
        break;
    case MESSAGE_STAYS:
    case MESSAGE_REPLACE_COUNT:
        break;
    }
}

void pool_worker_done(struct pool *p, struct pool_worker *w, const struct message_done *done)
{
    struct pool_generation *g = w->generation;

    deadline_disarm(&w->deadline);
    list_remove(&w->in_busy);
    w->request_id = 0;
    w->served++;
    w->uri[0] = w->script[0] = '\0';
    g->moved_ms = net_loop_now(p->loop);
    pool_count_done(p, g->site->label, done);
    if (w->tag)
        p->hooks.measured(p->hooks.arg, w, done);
    w->tag = 0;
    if (w->offered_id && (done->replace || w->state == WORKER_LEAVING || w->broken))
        (void)offer_withdraw(w); /* it claims no more */
    if (w->offered_id) {
        relay_promote(p, w);
        return;
    }
    if (w->state == WORKER_LEAVING)
        return;
    if (!done->replace) {
        if (!w->broken) /* no work for the dead: pool_worker_gone() counts it out */
            pool_worker_free_again(p, w);
        return;
    }
    /* It ends by itself; another takes its place before it is missed. */
    p->counters.replaced++;
    w->state = WORKER_LEAVING;
    deadline_arm(&w->deadline, &p->on_leave);
    if (w->reserve) {
        g->reserve = NULL;
        g->reserve_asked = false;
        return;
    }
    g->nworkers--;
    if (g->state != GENERATION_RETIRED || g->queued)
        pool_fork(p, g, false);
}

static void pool_worker_free(struct pool *p, struct pool_worker *w)
{
    deadline_disarm(&w->deadline);
    list_remove(&w->node);
    list_remove(&w->in_idle);
    list_remove(&w->in_busy);
    channel_close(w->channel);
    sock_close(w->socket);
    mem_free(w);
    (void)p;
}

/* It ended unexpectedly. */
static void pool_count_death(struct pool *p, const struct pool_worker *w, int sig)
{
    unsigned site = w->generation->site->label;
    struct metrics *m = p->metrics;

    p->counters.crashed++;
    metric_count(
        m, METRIC_WORKER_CRASHES, site, metric_signal(sig ? process_signal_name(sig) : NULL));
    if (sig)
        metric_count(m, METRIC_POOL_CONTAINED_CRASHES, site, 0);
    if (w->state == WORKER_STARTING)
        pool_count_boot_failure(p, w->generation);
}

/* Counts a worker out that ended without saying so. */
static void pool_worker_lost(struct pool_generation *g, struct pool_worker *w)
{
    if (w->state == WORKER_STARTING && g->starting)
        g->starting--;
    if (w->reserve && (g->reserve == w || w->state == WORKER_STARTING)) {
        g->reserve = NULL;
        g->reserve_asked = false;
    }
    if ((w->state == WORKER_IDLE || w->state == WORKER_BUSY) && !w->reserve)
        g->nworkers--;
}

static void pool_log_death(const struct pool_worker *w, int code, int sig)
{
    bool busy = w->request_id != 0;

    log_error("worker_died", F_CSTR("site", w->generation->site->name),
        F_UINT("generation", w->generation->id), F_UINT("worker", w->id), F_INT("pid", w->pid),
        F_CSTR("signal", sig ? process_signal_name(sig) : NULL), F_INT("code", code),
        F_CSTR("script", busy ? w->script : NULL), F_CSTR("uri", busy ? w->uri : NULL),
        F_CSTR("request_id", busy ? w->request_name : NULL));
}

/*
 * The request of a dead worker. One that the worker never took out of its channel (it died while
 * idle, and the news came after the request) did not run: it goes back to the head of the queue.
 */
static void pool_rescue(struct pool *p, struct pool_worker *w)
{
    struct pool_request *r = w->request;
    struct pool_generation *g = w->generation;
    struct http_exchange *x;

    if (!r)
        return;
    x = r->x;
    if (!r->has_head && x->body.mode != HTTP_BODY_STREAM &&
        !channel_passed(w->channel, w->request_mark)) {
        struct list *idle = list_first(&g->idle);

        w->request = NULL;
        r->worker = NULL;
        log_info("request_moved", F_CSTR("request_id", x->id), F_UINT("worker", w->id),
            F_CSTR("reason", "its worker died before it began"));
        if (idle) {
            pool_give(p, CONTAINER_OF(idle, struct pool_worker, in_idle), r);
            return;
        }
        pool_requeue(g, r);
        deadline_arm(&r->wait, &p->on_wait);
        return;
    }
    x->owner = NULL;
    pool_request_end(p, r);
    http_respond_cut(x, 502, "worker died");
}

void pool_worker_gone(struct pool *p, uint64_t id, int code, int sig)
{
    struct pool_worker *w = pool_worker_find(p, id);
    struct pool_generation *g;
    bool expected, starting, broken;

    if (!w)
        return;
    broken = w->broken;
    w->broken = true; /* no work for the dead */
    list_remove(&w->in_idle);
    w->paused = false;
    if (!broken)
        relay_read(p, w); /* what it still said before it ended */
    g = w->generation;
    starting = w->state == WORKER_STARTING;
    expected = w->state == WORKER_LEAVING && !w->request_id;
    if (!expected) {
        pool_count_death(p, w, sig);
        pool_log_death(w, code, sig);
    }
    pool_worker_lost(g, w);
    pool_rescue(p, w);
    if (w->offered_id && !offer_withdraw(w)) {
        relay_promote(p, w); /* claimed, and dead since */
        pool_rescue(p, w);
    }
    pool_worker_free(p, w);
    if (starting)
        g->fork_failures++;
    if (g->state != GENERATION_RETIRED && !expected && !starting &&
        g->nworkers + g->starting < pool_most(p, g))
        pool_fork(p, g, false);
    pool_plan_growth(p);
    pool_check_drained(p, g);
}

void pool_fork_failed(struct pool *p, struct pool_generation *g, bool reserve)
{
    if (g->starting)
        g->starting--;
    g->fork_failures++;
    pool_count_boot_failure(p, g);
    if (reserve)
        g->reserve_asked = false;
    pool_plan_growth(p);
    pool_check_drained(p, g);
}

static void pool_shrink(struct pool *p, struct pool_generation *g)
{
    uint64_t now = net_loop_now(p->loop);
    struct list *oldest = g->idle.prev; /* the one used longest ago */

    if (g->starting && now - g->forked_at > POOL_FORK_PATIENCE_MS) {
        for (unsigned i = 0; i < g->starting; i++)
            metric_count(p->metrics, METRIC_WORKER_BOOT_TIMEOUTS, g->site->label, 0);
        log_warn("worker_start_overdue", F_UINT("generation", g->id), F_UINT("count", g->starting));
        g->starting = 0;
        g->reserve_asked = g->reserve != NULL;
    }
    if (g->reserve && g->reserve->state == WORKER_IDLE &&
        now - g->reserve->idle_since > p->limits.idle_ms) {
        pool_stop_reserve(g);
    }
    if (oldest != &g->idle && g->nworkers > MIN(p->limits.workers_min, pool_most(p, g))) {
        struct pool_worker *w = CONTAINER_OF(oldest, struct pool_worker, in_idle);

        if (g->nworkers > pool_most(p, g) || now - w->idle_since > p->limits.idle_ms)
            pool_stop_worker(w);
    }
    pool_fill(p, g);
}

static void pool_on_shrink(void *arg)
{
    struct pool *p = arg;

    list_each_safe (it, &p->generations) {
        struct pool_generation *g = CONTAINER_OF(it, struct pool_generation, node);

        pool_shrink(p, g);
        pool_check_drained(p, g);
    }
}

/* --- the end of a request in trouble ---------------------------------------------------------- */

static void pool_interrupt(struct pool *p, struct pool_worker *w)
{
    log_warn("php_timeout", F_CSTR("setting", "server.timeouts.request"),
        F_CSTR("script", w->script), F_CSTR("uri", w->uri), F_CSTR("request_id", w->request_name),
        F_INT("pid", w->pid), F_UINT("ran_ms", net_loop_now(p->loop) - w->busy_since));
    if (w->offered_id)
        (void)offer_withdraw(w); /* what waits behind it runs elsewhere */
    channel_set_cancel(w->channel, w->request_id, CHANNEL_CANCEL_TIMEOUT);
    p->counters.interrupted++;
    metric_count(p->metrics, METRIC_HTTP_TIMEOUTS, METRIC_STAGE_WORKER, 0);
    w->interrupted = true;
    p->hooks.signal(p->hooks.arg, w, POOL_INTERRUPT);
    deadline_arm(&w->deadline, &p->on_kill);
}

/* The request's time in the worker is over (its client may be gone since long). */
static void pool_on_request_deadline(struct deadline *d)
{
    struct pool_worker *w = CONTAINER_OF(d, struct pool_worker, deadline);
    struct pool *p = pool_of(w->generation);
    struct pool_request *r = w->request;

    pool_interrupt(p, w);
    if (r) {
        struct http_exchange *x = r->x;

        x->owner = NULL;
        pool_request_end(p, r);
        http_respond_cut(x, 504, "server.timeouts.request");
    }
}

static void pool_on_kill(struct deadline *d)
{
    struct pool_worker *w = CONTAINER_OF(d, struct pool_worker, deadline);
    struct pool *p = pool_of(w->generation);

    if (w->aborted) {
        p->hooks.signal(p->hooks.arg, w, POOL_KILL);
        return;
    }
    pool_count_killed(p, w);
    log_warn("worker_killed", F_UINT("worker", w->id), F_INT("pid", w->pid),
        F_CSTR("script", w->script), F_CSTR("uri", w->uri),
        F_CSTR("reason", "did not stop after its request's time limit"));
    /* It is blocked outside PHP's own code; its last words say where PHP called it. */
    w->aborted = true;
    deadline_arm(&w->deadline, &p->on_kill);
    p->hooks.signal(p->hooks.arg, w, POOL_ABORT);
}

/* It hangs in an extension's shutdown, say. */
static void pool_on_leave(struct deadline *d)
{
    struct pool_worker *w = CONTAINER_OF(d, struct pool_worker, deadline);
    struct pool *p = pool_of(w->generation);

    log_warn("worker_killed", F_UINT("worker", w->id), F_INT("pid", w->pid),
        F_CSTR("reason", "did not end after its last request"));
    pool_count_killed(p, w);
    p->hooks.signal(p->hooks.arg, w, POOL_KILL);
}

void pool_on_gone(struct pool *p, struct http_exchange *x, enum http_gone why)
{
    struct pool_request *r = x->owner;
    struct pool_worker *w = r->worker;

    x->owner = NULL;
    pool_request_end(p, r);
    if (!w || !w->request_id)
        return;
    if (why == HTTP_GONE_TIMEOUT)
        pool_interrupt(p, w);
    else
        channel_set_cancel(w->channel, w->request_id, CHANNEL_CANCEL_CLIENT_GONE);
    channel_ring_worker(w->channel); /* it may wait for room or for more of the body */
    if (w->broken)
        return;
    w->paused = false;
    relay_read(p, w);
}

void pool_on_room(struct pool *p, struct http_exchange *x)
{
    struct pool_request *r = x->owner;

    if (r && r->worker && r->worker->paused && !r->worker->broken) {
        r->worker->paused = false;
        relay_read(p, r->worker);
    }
}

void pool_on_body(struct pool *p, struct http_exchange *x)
{
    struct pool_request *r = x->owner;

    if (r && r->worker)
        relay_body(p, r->worker);
}

void pool_on_bell(struct pool *p)
{
    list_each_safe (it, &p->busy) {
        struct pool_worker *w = CONTAINER_OF(it, struct pool_worker, in_busy);

        relay_read(p, w);
    }
}

bool pool_before_sleep(struct pool *p)
{
    bool asleep = true;

    /* While the loop works, nobody has to ring: what came meanwhile is read here. Workers are asked
     * to ring only now, so a busy front is rung once per round and not once per answer. */
    pool_on_bell(p);
    offer_waiting(p);
    list_each (it, &p->busy) {
        struct pool_worker *w = CONTAINER_OF(it, struct pool_worker, in_busy);

        if (!w->paused && !w->broken && !channel_prepare_sleep(w->channel))
            asleep = false;
    }
    return asleep;
}

void pool_fini(struct pool *p)
{
    list_each_safe (g, &p->generations) {
        struct pool_generation *gen = CONTAINER_OF(g, struct pool_generation, node);

        list_each_safe (it, &gen->workers)
            pool_worker_free(p, CONTAINER_OF(it, struct pool_worker, node));
        list_each_safe (it, &gen->queue)
            list_remove(it);
        pool_generation_free(gen);
    }
    list_each_safe (it, &p->sites)
        pool_site_free(CONTAINER_OF(it, struct pool_site, node));
    net_timer_close(p->grow);
    net_timer_close(p->shrink);
    deadline_set_fini(&p->deadlines);
    buf_fini(&p->block);
    buf_fini(&p->copy);
    arena_fini(&p->arena);
}
