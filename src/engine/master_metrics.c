/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>

#include "base/mem.h"
#include "core/log.h"
#include "engine/master.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/sysinfo.h"

/*
 * What only the master knows: its children, their memory and time, the generations, and what
 * OPcache says in each of them. Looked up when the front is asked for metrics, not before.
 */
enum {
    METRICS_OPCACHE_MS = 5000, /* a prototype is asked no more often: it forks for the answer */
    METRICS_PROCESS_MS = 500   /* nor are processes looked at, which takes 0.2 ms for each */
};

enum { GENERATION_STATES = GEN_ENDED + 1 };

int master_metrics_open(struct master *m)
{
    int rc = metrics_create(&metric_schema, &m->metrics_fd);

    if (rc == 0)
        rc = metrics_open(&metric_schema, m->metrics_fd, &m->metrics);
    if (rc == 0)
        metric_gauge(m->metrics, METRIC_START_TIME, 0, 0, clock_wall_us() / 1000);
    return rc;
}

void master_metrics_close(struct master *m)
{
    metrics_close(m->metrics);
    fs_close(m->metrics_fd);
}

void master_metrics_reaped(struct master *m, enum metric_role role, const struct process_status *st)
{
    m->ended_cpu_ns[role] += st->cpu_ns;
}

void master_metrics_deployed(const struct site *s, bool ok)
{
    struct metrics *m = s->master->metrics;
    uint64_t took_ms = clock_mono_ms() - s->op.began_ms;

    metrics_add(m, METRIC_DEPLOYS,
        metrics_at(
            m, METRIC_DEPLOYS, s->label, s->op.kind, ok ? METRIC_RESULT_OK : METRIC_RESULT_FAILED),
        1);
    if (!ok)
        return;
    if (s->op.kind != OP_START)
        metric_count(m, METRIC_OPCACHE_INVALIDATIONS,
            metrics_claim(m, METRIC_LABEL_VHOST, str_c(s->name)), s->op.kind);
    metric_gauge(m, METRIC_DEPLOY_TIME, s->label, 0, clock_wall_us() / 1000);
    metric_gauge(m, METRIC_DEPLOY_DURATION, s->label, 0, took_ms);
}

/* --- OPcache ---------------------------------------------------------------------------------- */

static void metrics_ask_opcache(struct generation *g)
{
    uint64_t now = clock_mono_ms();
    struct ipc_out out;
    int rc;

    if (g->opcache_fd >= 0 || g->socket == SOCK_NONE || !g->opcache ||
        (g->opcache_at_ms && now - g->opcache_at_ms < METRICS_OPCACHE_MS))
        return;
    g->opcache_at_ms = now;
    rc = fs_open_spool(NULL, &g->opcache_fd);
    if (rc == 0) {
        ipc_begin(&out, "status");
        ipc_add_fd(&out, g->opcache_fd);
        rc = ipc_send(g->socket, &out);
    }
    if (rc) {
        log_debug("opcache_status_failed", F_UINT("generation", g->id), F_ERR(rc));
        fs_close(g->opcache_fd);
        g->opcache_fd = -1;
    }
}

void master_metrics_opcache(struct generation *g, struct ipc_in *in)
{
    struct metrics *m = g->master->metrics;
    unsigned long long used, free, wasted, scripts, jit_size, jit_free;
    unsigned site = g->of->label;
    char text[256] = "";
    size_t got = 0;
    int on, full;
    int rc =
        g->opcache_fd < 0 ? ERR_PROTO : fs_pread(g->opcache_fd, text, sizeof(text) - 1, 0, &got);

    fs_close(g->opcache_fd);
    g->opcache_fd = -1;
    if (rc || !ipc_get_u64(in, "ok") || g->of->active != g ||
        sscanf(text, "%d %d %llu %llu %llu %llu %llu %llu", &on, &full, &used, &free, &wasted,
            &scripts, &jit_size, &jit_free) != 8 ||
        !on)
        return;
    metric_gauge(m, METRIC_OPCACHE_USED, site, 0, used);
    metric_gauge(m, METRIC_OPCACHE_FREE, site, 0, free);
    metric_gauge(m, METRIC_OPCACHE_WASTED, site, 0, wasted);
    metric_gauge(m, METRIC_OPCACHE_SCRIPTS, site, 0, scripts);
    metric_gauge(m, METRIC_OPCACHE_FULL, site, 0, full != 0);
    metric_gauge(m, METRIC_JIT_SIZE, site, 0, jit_size);
    metric_gauge(m, METRIC_JIT_FREE, site, 0, jit_free);
}

/* --- the JIT ---------------------------------------------------------------------------------- */

/* An undecided one is counted as the fourth value; the others are those of enum jit_choice. */
enum { METRICS_JIT_UNDECIDED = JIT_OFF + 1 };

void master_metrics_jit(const struct site *s)
{
    metric_count(s->master->metrics, METRIC_JIT_DECISIONS, s->label,
        s->jit.state == JIT_AUTO_DECIDED ? (unsigned)s->jit.choice : METRICS_JIT_UNDECIDED);
}

static void metrics_set_jit(struct master *m, const struct site *s)
{
    const struct jit_auto *j = &s->jit;

    if (j->state == JIT_AUTO_OFF)
        return;
    metric_gauge(m->metrics, METRIC_JIT_MEASURING, s->label, 0, j->state == JIT_AUTO_MEASURING);
    for (unsigned i = TRIAL_WITH; i <= TRIAL_WITHOUT; i++) {
        metric_gauge(m->metrics, METRIC_JIT_CPU, s->label, i, (uint64_t)j->figures.cost[i]);
        metric_gauge(m->metrics, METRIC_JIT_SAMPLES, s->label, i, j->figures.samples[i]);
    }
}

/* --- generations ------------------------------------------------------------------------------ */

static void metrics_set_site(struct master *m, struct site *s)
{
    uint64_t count[GENERATION_STATES] = {0};

    list_each (it, &m->generations) {
        const struct generation *g = CONTAINER_OF(it, struct generation, node);

        if (g->of == s)
            count[g->state]++;
    }
    for (unsigned i = 0; i < GENERATION_STATES; i++)
        metric_gauge(m->metrics, METRIC_GENERATIONS, s->label, i, count[i]);
    metrics_set_jit(m, s);
    if (s->active) {
        metric_gauge(m->metrics, METRIC_GENERATION_ID, s->label, 0, s->active->id);
        metrics_ask_opcache(s->active);
    }
}

/* --- processes -------------------------------------------------------------------------------- */

struct metrics_role {
    uint64_t processes;
    struct sysinfo_usage sum;
};

static void metrics_add_process(struct metrics_role *r, int64_t pid)
{
    struct sysinfo_usage u;

    if (!pid || sysinfo_usage(pid, &u))
        return; /* it ended, and will be reaped */
    r->processes++;
    r->sum.resident += u.resident;
    r->sum.proportional += u.proportional;
    r->sum.cpu_ns += u.cpu_ns;
    r->sum.descriptors += u.descriptors;
}

static void metrics_set_role(struct master *m, enum metric_role role, const struct metrics_role *r)
{
    struct metrics *to = m->metrics;

    metrics_raise(to, METRIC_PROCESS_CPU, role, m->ended_cpu_ns[role] + r->sum.cpu_ns);
    metric_gauge(to, METRIC_PROCESSES, role, 0, r->processes);
    metric_gauge(to, METRIC_PROCESS_RESIDENT, role, 0, r->sum.resident);
    metric_gauge(to, METRIC_PROCESS_PROPORTIONAL, role, 0, r->sum.proportional);
    metric_gauge(to, METRIC_PROCESS_FDS, role, 0, r->sum.descriptors);
}

static void metrics_set_processes(struct master *m)
{
    struct metrics_role roles[METRIC_ROLE_COUNT] = {0};
    uint64_t now = clock_mono_ms();

    if (m->sampled_ms && now - m->sampled_ms < METRICS_PROCESS_MS)
        return;
    m->sampled_ms = now;
    metrics_add_process(&roles[METRIC_ROLE_MASTER], process_id());
    metrics_add_process(&roles[METRIC_ROLE_FRONT], m->front_pid);
    metrics_add_process(&roles[METRIC_ROLE_KV], m->kv.side.pid);
    metrics_add_process(&roles[METRIC_ROLE_DB], m->db.side.pid);
    list_each (it, &m->generations) {
        const struct generation *g = CONTAINER_OF(it, struct generation, node);

        metrics_add_process(&roles[METRIC_ROLE_PROTOTYPE], g->pid);
        list_each (wit, &g->workers)
            metrics_add_process(
                &roles[METRIC_ROLE_WORKER], CONTAINER_OF(wit, struct master_worker, node)->pid);
    }
    for (unsigned i = 0; i < METRIC_ROLE_COUNT; i++)
        if ((i != METRIC_ROLE_KV || m->kv_config) && (i != METRIC_ROLE_DB || m->db.config))
            metrics_set_role(m, (enum metric_role)i, &roles[i]);
}

void master_metrics_sampled(struct master *m)
{
    struct ipc_out out;

    ipc_begin(&out, "sampled");
    roles_tell_front(m, &out);
}

void master_metrics_kv_sampled(struct master *m)
{
    struct ipc_out out;

    if (!m->db.side.ready) {
        master_metrics_sampled(m);
        return;
    }
    ipc_begin(&out, "sample"); /* it answers with "sampled" */
    roles_tell_db(m, &out);
}

void master_metrics_sample(struct master *m)
{
    struct ipc_out out;

    metrics_set_processes(m);
    list_each (it, &m->sites)
        metrics_set_site(m, CONTAINER_OF(it, struct site, node));
    if (!m->kv.side.ready) {
        master_metrics_kv_sampled(m);
        return;
    }
    ipc_begin(&out, "sample"); /* it answers with "sampled" */
    roles_tell_kv(m, &out);
}
