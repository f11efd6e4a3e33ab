/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/pool.h"

enum {
    OFFER_BUSY_MS = 5, /* a worker that is at one request for longer gets no offer, and loses its */
    OFFER_SLOW_MS = 1, /* for longer than this: a free worker takes its offer if it is the oldest */
};

/* Is w at a short request, and is all well with it? */
static bool offer_fits(struct pool *p, const struct pool_worker *w)
{
    if (w->state != WORKER_BUSY || w->reserve || w->broken || w->paused || w->interrupted)
        return false;
    if (!w->request_id || w->offered_id || w->answered)
        return false;
    if (channel_is_offered(w->channel))
        return false; /* it has not even begun what it was offered last */
    if (w->request && w->request->x->body.mode == HTTP_BODY_STREAM)
        return false;
    return net_loop_now(p->loop) - w->busy_since < OFFER_BUSY_MS;
}

/* Requests that bring a body along wait for a worker that is free. */
static struct pool_request *offer_next(struct pool_generation *g)
{
    struct list *first = list_first(&g->queue);
    struct pool_request *r = first ? CONTAINER_OF(first, struct pool_request, node) : NULL;

    return r && r->x->body.mode == HTTP_BODY_NONE ? r : NULL;
}

void offer_waiting(struct pool *p)
{
    list_each (it, &p->busy) {
        struct pool_worker *w = CONTAINER_OF(it, struct pool_worker, in_busy);
        struct pool_generation *g = w->generation;
        struct pool_request *r;

        /* Until all workers are there, waiting requests are the reason to start more. */
        if (!g->queued || g->nworkers < pool_most(p, g) || !offer_fits(p, w))
            continue;
        r = offer_next(g);
        if (!r || !relay_offer(p, w, r))
            continue;
        list_remove(&r->node);
        g->queued--;
        g->offered++;
    }
}

bool offer_withdraw(struct pool_worker *w)
{
    struct pool_generation *g = w->generation;
    struct pool_request *r = w->offered;

    if (!channel_revoke(w->channel, w->offered_id))
        return false;
    w->offered_id = 0;
    w->offered = NULL;
    if (r) {
        r->offered_to = NULL;
        pool_requeue(g, r);
        g->offered--;
    }
    return true;
}

/* The worker that was offered the oldest request, or NULL. */
static struct pool_worker *offer_oldest(const struct pool_generation *g)
{
    struct pool_worker *oldest = NULL;

    if (!g->offered)
        return NULL;
    list_each (it, &g->workers) {
        struct pool_worker *w = CONTAINER_OF(it, struct pool_worker, node);

        if (w->offered && (!oldest || w->offered->queued_ns < oldest->offered->queued_ns))
            oldest = w;
    }
    return oldest;
}

bool offer_reclaim(struct pool_generation *g)
{
    struct pool_worker *w = offer_oldest(g);

    return w && offer_withdraw(w); /* claimed meanwhile: then it runs */
}

void offer_reclaim_late(struct pool *p, struct pool_generation *g)
{
    struct list *first = list_first(&g->queue);
    struct pool_worker *w = offer_oldest(g);

    if (!w)
        return;
    if (first) {
        uint64_t head_ns = CONTAINER_OF(first, struct pool_request, node)->queued_ns;

        if (head_ns < w->offered->queued_ns)
            return;
        if (net_loop_now(p->loop) - w->busy_since < OFFER_SLOW_MS)
            return; /* it takes it in a moment */
    }
    (void)offer_withdraw(w); /* as above */
}

void offer_check(struct pool *p, struct pool_generation *g)
{
    uint64_t now = net_loop_now(p->loop);

    if (!g->offered)
        return;
    list_each (it, &g->workers) {
        struct pool_worker *w = CONTAINER_OF(it, struct pool_worker, node);

        if (w->offered_id && now - w->busy_since >= OFFER_BUSY_MS)
            (void)offer_withdraw(w); /* as above */
    }
}

bool offer_forget(struct pool_request *r)
{
    struct pool_worker *w = r->offered_to;
    bool never = channel_revoke(w->channel, w->offered_id);

    r->offered_to = NULL;
    w->offered = NULL;
    if (never)
        w->offered_id = 0;
    w->generation->offered--;
    return never;
}
