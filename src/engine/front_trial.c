/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "engine/front.h"
#include "engine/trial.h"
#include "platform/random.h"

/*
 * While a site has a rival, its requests are shared by two generations of the same code, the active
 * one with the JIT and the rival without, and the workers say what each cost. The master started
 * the rival, gets the figures, and ends it: see jit_auto.c.
 */
enum {
    TRIAL_TICK_MS = 500,
    TRIAL_BODY_MAX = 64 << 10, /* a request with a larger body is not measured */
};

static const uint64_t trial_cost_max = UINT64_C(4000000000); /* ns: not a page any more */

void front_trial_begin(struct front *f, struct pool_generation *rival)
{
    struct pool_site *site = rival->site;

    if (!site->active || site->active == rival || rival->state != GENERATION_WARMING)
        return; /* another one took over; the master ends it soon */
    trial_free(site->trial);
    site->trial = trial_new(++f->ntrials, random_u64());
    site->trial_told = 0;
    pool_set_rival(rival);
    net_timer_start(f->trials, TRIAL_TICK_MS, TRIAL_TICK_MS);
}

/* One more of the usual kind, and not what only has to be served? */
static bool trial_counts(const struct http_exchange *x)
{
    return x->body.mode == HTTP_BODY_NONE ||
           (x->body.mode == HTTP_BODY_MEMORY && x->body.size <= TRIAL_BODY_MAX);
}

struct pool_generation *front_trial_choose(
    struct http_exchange *x, struct pool_generation *g, uint64_t *tag)
{
    struct pool_site *s = g->site;
    struct pool_generation *rival = s->rival, *chosen, *other;
    enum trial_side side;
    uint64_t t;

    if (!s->trial || !rival || g != s->active || !rival->nworkers || !trial_counts(x))
        return g;
    t = trial_route(
        s->trial, trial_kind(x->head.method, x->route.file, x->path, x->route.query), &side);
    chosen = side == TRIAL_WITH ? g : rival;
    other = side == TRIAL_WITH ? rival : g;
    /* Nobody waits for the sake of the figures. */
    if (list_empty(&chosen->idle) && !list_empty(&other->idle))
        chosen = other;
    else
        *tag = t;
    if (chosen != g) {
        pool_generation_hold(chosen, x);
        x->site.owner = chosen;
    }
    return chosen;
}

void front_trial_measured(void *arg, struct pool_worker *w, const struct message_done *done)
{
    struct pool_site *s = w->generation->site;

    (void)arg;
    if (!s->trial || !s->rival || (w->generation != s->rival && w->generation != s->active))
        return;
    if (done->end != MESSAGE_END_OK || done->client_gone || done->status < 100 ||
        done->status >= 400 || !done->cpu_ns || done->cpu_ns > trial_cost_max)
        return;
    trial_add(s->trial, w->tag, w->generation == s->rival ? TRIAL_WITHOUT : TRIAL_WITH, w->id,
        done->cpu_ns);
}

static void trial_tell(struct front *f, struct pool_site *s)
{
    struct trial_figures v;
    struct ipc_out m;

    trial_judge(s->trial, &v);
    if (v.requests == s->trial_told)
        return;
    s->trial_told = v.requests;
    ipc_begin(&m, "figures");
    ipc_add_u64(&m, "generation", s->rival->id);
    ipc_add_u64(&m, "verdict", v.verdict);
    ipc_add_u64(&m, "with", (uint64_t)v.cost[TRIAL_WITH]);
    ipc_add_u64(&m, "without", (uint64_t)v.cost[TRIAL_WITHOUT]);
    ipc_add_u64(&m, "error", (uint64_t)v.error);
    ipc_add_u64(&m, "warmup_with", (uint64_t)MAX(v.warmup[TRIAL_WITH], 0.0));
    ipc_add_u64(&m, "warmup_without", (uint64_t)MAX(v.warmup[TRIAL_WITHOUT], 0.0));
    ipc_add_u64(&m, "samples_with", v.samples[TRIAL_WITH]);
    ipc_add_u64(&m, "samples_without", v.samples[TRIAL_WITHOUT]);
    ipc_add_u64(&m, "requests", v.requests);
    ipc_add_u64(&m, "kinds", v.kinds);
    ipc_add_u64(&m, "covered", (uint64_t)(v.covered * 1000));
    front_tell(f, &m);
}

void front_trial_tick(void *arg)
{
    struct front *f = arg;
    bool more = false;

    if (!f->started)
        return;
    list_each (it, &f->pool.sites) {
        struct pool_site *s = CONTAINER_OF(it, struct pool_site, node);

        if (s->trial && s->rival) {
            trial_tell(f, s);
            more = true;
        } else {
            trial_free(s->trial);
            s->trial = NULL;
        }
    }
    if (!more)
        net_timer_stop(f->trials);
}

void front_trial_note(struct front *f, struct ipc_in *m)
{
    struct pool_site *s = pool_site_find(&f->pool, ipc_get(m, "site"));
    struct str json = ipc_get(m, "json");

    if (!s)
        return;
    mem_free(s->jit_auto);
    s->jit_auto = json.len ? mem_dup_str(json.p, json.len) : NULL;
}
