/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>

#include "base/mem.h"
#include "core/log.h"
#include "engine/dbrole.h"
#include "engine/front.h"
#include "engine/kvrole.h"
#include "engine/master.h"
#include "engine/prototype.h"
#include "platform/clock.h"
#include "platform/fs.h"

/* What a role is: who starts it, what it may keep, what its end means. */
enum role_restart { ROLE_RESTART, ROLE_ENDS_GENERATION };

struct role {
    const char *name;
    const char *argument; /* how the executable knows */
    bool drops_user;      /* runs as run_as_user when the master is root */
    bool guarded;         /* and out of reach of that user's other processes */
    enum role_restart restart;
};

static const struct role roles[] = {
    {"front", "--role=front", true, true, ROLE_RESTART},
    {"kv", "--role=kv", true, true, ROLE_RESTART},
    {"db", "--role=db", true, true, ROLE_RESTART},
    {"prototype", "--role=prototype", true, false, ROLE_ENDS_GENERATION},
};
enum { ROLES_FRONT, ROLES_KV, ROLES_DB, ROLES_PROTOTYPE };

enum {
    ROLES_BRAKE_MS = 200, /* restart delay of a process that died young, times its deaths */
    ROLES_BRAKE_MAX_MS = 5000,
    ROLES_STABLE_MS = 10000,    /* one that lived so long starts from 0 again */
    ROLES_STATUS_MAX = 64 << 20 /* bytes of a role's part of a status */
};

static int roles_spawn(struct master *m, const struct role *r, const char *exe, const char *title,
    const struct process_fd *fds, size_t nfds, int64_t *pid)
{
    /* A long first argument gives the process title room. */
    char pad[200];
    char *argv[4];
    struct process_spawn s = {
        .exe = exe,
        .argv = argv,
        .fds = fds,
        .nfds = nfds,
        .die_with_parent = true,
        .set_user = r->drops_user && m->set_user,
        .uid = m->uid,
        .gid = m->gid,
        .user = m->user,
        .guarded = r->guarded && m->has_guard,
        .guard_uid = m->guard_uid,
    };

    (void)snprintf(pad, sizeof(pad), "%-199s", title);
    argv[0] = pad;
    argv[1] = (char *)(uintptr_t)r->argument;
    argv[2] = (char *)(uintptr_t)(log_get_level() >= LOG_DEBUG ? "-v" : NULL);
    argv[3] = NULL;
    return process_spawn(&s, pid);
}

/* When to start another one, after one that was started at a time. */
static uint64_t roles_brake(uint64_t started_ms, unsigned *deaths)
{
    *deaths = clock_mono_ms() - started_ms > ROLES_STABLE_MS ? 0 : *deaths + 1;
    return MIN((uint64_t)ROLES_BRAKE_MS * *deaths, (uint64_t)ROLES_BRAKE_MAX_MS);
}

static void roles_say_died(const struct role *r, const struct process_status *st)
{
    log_error("role_died", F_CSTR("role", r->name), F_INT("pid", st->pid),
        F_CSTR("signal", st->end == PROCESS_SIGNALED ? process_signal_name(st->code) : NULL),
        F_INT("code", st->code));
}

/* --- front ------------------------------------------------------------------------------------ */

void roles_tell_front(struct master *m, struct ipc_out *out)
{
    int rc;

    /* One that is only just starting is told everything when it is ready. */
    if (m->front == SOCK_NONE || !m->front_ready) {
        buf_fini(&out->buf);
        return;
    }
    rc = ipc_send(m->front, out);
    if (rc == 0 || rc == ERR_CLOSED)
        return; /* a front that is gone is reaped and replaced */
    log_error("front_does_not_listen", F_ERR(rc));
    if (m->front_pid)
        (void)!process_kill(m->front_pid, 9); /* it may be gone */
}

/* What the machine and the configuration give; the same for every site. */
static const struct shape *roles_shape(struct master *m)
{
    const struct shape *found = NULL;

    list_each (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);

        if (s->op.next && s->op.next->shape.workers)
            return &s->op.next->shape;
        if (s->active)
            found = &s->active->shape;
    }
    return found;
}

void roles_send_config(struct master *m)
{
    struct buf text = {0};
    struct ipc_out out;
    const struct shape *s = roles_shape(m);

    config_serialize(m->config, &text);
    ipc_begin(&out, "config");
    ipc_add(&out, "text", buf_str(&text));
    ipc_add_u64(&out, "workers", s ? (uint64_t)s->workers : 1);
    ipc_add_u64(&out, "workers_min", s ? (uint64_t)s->workers_min : 1);
    ipc_add_u64(&out, "queue", s ? (uint64_t)s->queue_size : 256);
    ipc_add_u64(&out, "shed_ms",
        m->config->php.overload_policy == CONFIG_OVERLOAD_WAIT ? 0
        : s                                                    ? s->shed_after
                                                               : 10000);
    ipc_add_u64(&out, "idle_ms", m->config->php.worker_idle);
    roles_tell_front(m, &out);
    buf_fini(&text);
}

void roles_send_listener(struct master *m)
{
    struct ipc_out out;

    if (m->front_listens || !m->front_ready || m->stopping)
        return;
    m->front_listens = true;
    ipc_begin(&out, "listen");
    ipc_add_fd(&out, (int)m->listener);
    roles_tell_front(m, &out);
    if (m->metrics_listener == SOCK_NONE)
        return;
    ipc_begin(&out, "listen");
    ipc_add_u64(&out, "internal", 1);
    ipc_add_fd(&out, (int)m->metrics_listener);
    roles_tell_front(m, &out);
}

/* A new front: it is told all that the one before knew. */
static void roles_front_ready(struct master *m)
{
    m->front_ready = true;
    roles_send_config(m);
    databases_tell_front(m);
    list_each (it, &m->generations) {
        struct generation *g = CONTAINER_OF(it, struct generation, node);

        if (g->state == GEN_ACTIVE || g->state == GEN_WARMING)
            generation_tell_front(g);
    }
    if (m->announced)
        roles_send_listener(m); /* it asks for the workers it misses */
    else if (config_is_multi(m->config))
        master_announce_sites(m);
    list_each (it, &m->sites) {
        deploy_front_ready(CONTAINER_OF(it, struct site, node));
        jit_auto_tell_front(CONTAINER_OF(it, struct site, node));
    }
}

void roles_tell_site_failed(struct site *s, const char *why)
{
    struct ipc_out out;

    ipc_begin(&out, "site_failed");
    ipc_add(&out, "site", str_c(s->name));
    ipc_add(&out, "why", str_c(why));
    roles_tell_front(s->master, &out);
}

/* The front talks to everybody, and what it names gets folders from a master that may be root: a
 * site is a folder right in sites_dir. */
static bool roles_is_site(const struct master *m, struct str name, struct str folder)
{
    struct str dir = str_c(m->config->server.sites_dir);

    return name.len && name.p[0] != '.' && str_chr(name, '/') < 0 && str_chr(name, '\0') < 0 &&
           folder.len == dir.len + 1 + name.len && str_starts(folder, dir) &&
           folder.p[dir.len] == '/' && str_ends(folder, name);
}

/* The first request for a site came. */
static void roles_open_site(struct master *m, struct ipc_in *in)
{
    struct site *s = deploy_site_find(m, ipc_get(in, "site"));
    struct err err = {0};

    if (m->stopping || !config_is_multi(m->config))
        return;
    if (!roles_is_site(m, ipc_get(in, "site"), ipc_get(in, "folder"))) {
        log_error("site_refused", F_STR("site", ipc_get(in, "site")),
            F_STR("folder", ipc_get(in, "folder")));
        return;
    }
    if (!s)
        s = deploy_site_add(m, ipc_get_c(in, "site"), ipc_get_c(in, "folder"));
    s->leaving = false; /* it is there again */
    s->missed = 0;
    if (!s->active && s->op.step == OP_NONE && deploy_begin(s, OP_START, NULL, &err)) {
        log_error("site_start_failed", F_CSTR("site", s->name), F_CSTR("error", err.text));
        roles_tell_site_failed(s, err.text);
    } else if (s->op.next) {
        generation_tell_front(s->op.next); /* what waits there gets its number */
    }
}

/* A role's part of a status, for those who asked for one. */
static void roles_on_status(
    struct master *m, const struct ipc_in *in, void (*take)(struct control *c, struct str json))
{
    struct buf json = {0};
    int rc = ipc_get_long(in, "json", ROLES_STATUS_MAX, &json);

    if (rc)
        log_error("status_refused", F_ERR(rc));
    take(m->control, rc ? STR_NONE : buf_str(&json));
    buf_fini(&json);
}

static void roles_on_front_message(struct master *m, struct ipc_in *in)
{
    struct generation *g = generation_find(m, ipc_get_u64(in, "generation"));

    if (ipc_is(in, "ready"))
        roles_front_ready(m);
    else if (ipc_is(in, "fork") && g)
        generation_fork(g, ipc_get_u64(in, "reserve") != 0, true);
    else if (ipc_is(in, "signal"))
        generation_signal_worker(
            m, ipc_get_u64(in, "worker"), (enum pool_signal)ipc_get_u64(in, "how"));
    else if (ipc_is(in, "drained") && g)
        generation_drained(g);
    else if (ipc_is(in, "probed") && g)
        deploy_probed(g, in);
    else if (ipc_is(in, "figures") && g)
        jit_auto_on_figures(g, in);
    else if (ipc_is(in, "open_site"))
        roles_open_site(m, in);
    else if (ipc_is(in, "status"))
        roles_on_status(m, in, control_status);
    else if (ipc_is(in, "sample"))
        master_metrics_sample(m);
    else if (ipc_is(in, "idle"))
        m->front_idle = true; /* master_before_sleep() goes on */
}

static void roles_on_front(void *arg, int events)
{
    struct master *m = arg;

    (void)events;
    while (m->front != SOCK_NONE) {
        struct ipc_in in;
        int rc = ipc_recv(m->front, &in);

        if (rc == ERR_AGAIN)
            return;
        if (rc) { /* it ended: SIGCHLD says how */
            net_watch_set(m->front_watch, 0);
            return;
        }
        roles_on_front_message(m, &in);
        ipc_done(&in);
    }
}

static void roles_close_front(struct master *m)
{
    net_watch_close(m->front_watch);
    m->front_watch = NULL;
    sock_close(m->front);
    m->front = SOCK_NONE;
    m->front_ready = m->front_listens = false;
}

int roles_start_front(struct master *m)
{
    sock_t pair[2];
    struct process_fd fds[3];
    int rc = sock_pair(pair);

    if (rc)
        return rc;
    fds[0] = (struct process_fd){(int)pair[1], FRONT_SOCKET};
    fds[1] = (struct process_fd){m->bell, FRONT_BELL};
    fds[2] = (struct process_fd){m->metrics_fd, FRONT_METRICS};
    rc = roles_spawn(
        m, &roles[ROLES_FRONT], m->exe, "ephpm: front", fds, ARRAY_LEN(fds), &m->front_pid);
    sock_close(pair[1]);
    if (rc) {
        sock_close(pair[0]);
        return rc;
    }
    m->front = pair[0];
    m->front_started_ms = clock_mono_ms();
    rc = net_watch_open(m->loop, m->front, roles_on_front, m, &m->front_watch);
    if (rc)
        return rc;
    net_watch_set(m->front_watch, NET_READ);
    return 0;
}

void roles_restart_front(void *arg)
{
    struct master *m = arg;
    int rc;

    if (m->stopping)
        return;
    rc = roles_start_front(m);
    if (rc) {
        log_error("role_start_failed", F_CSTR("role", roles[ROLES_FRONT].name), F_ERR(rc));
        master_stop(m, "the front cannot be started");
        m->exit_code = 1;
    }
}

void roles_front_gone(struct master *m, const struct process_status *st)
{
    m->front_pid = 0;
    roles_close_front(m);
    control_status(m->control, STR_NONE); /* those who asked the one that is gone */
    if (m->stopping) {
        m->front_idle = true;
        return;
    }
    metric_count(m->metrics, METRIC_ROLE_RESTARTS, METRIC_CHILD_FRONT, 0);
    roles_say_died(&roles[ROLES_FRONT], st);
    if (!m->announced) {
        m->exit_code = 1;
        master_stop(m, "the front cannot start");
        return;
    }
    list_each (it, &m->sites)
        jit_auto_interrupt(CONTAINER_OF(it, struct site, node), "the front ended");
    /* Its clients are gone with it, and so is what the workers were doing for them. */
    list_each_safe (it, &m->generations) {
        struct generation *g = CONTAINER_OF(it, struct generation, node);

        g->known_to_front = false;
        generation_kill_workers(g);
        if (g->state == GEN_DRAINING)
            generation_end(g);
    }
    list_each (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);

        if (s->op.step != OP_NONE)
            deploy_failed(s, "the front ended meanwhile");
    }
    net_timer_start(m->front_restart, roles_brake(m->front_started_ms, &m->front_deaths), 0);
}

/* --- kv and db -------------------------------------------------------------------------------- */

static void roles_tell_side(struct master_side *side, struct ipc_out *out)
{
    int rc;

    /* One that is only just starting is told everything when it is ready. */
    if (side->socket == SOCK_NONE || !side->ready) {
        buf_fini(&out->buf);
        return;
    }
    rc = ipc_send(side->socket, out);
    if (rc == 0 || rc == ERR_CLOSED)
        return; /* one that is gone is reaped and replaced */
    log_error("role_does_not_listen", F_CSTR("role", roles[side->role].name), F_ERR(rc));
    if (side->pid)
        (void)!process_kill(side->pid, 9); /* it may be gone */
}

static void roles_on_side(void *arg, int events)
{
    struct master_side *side = arg;

    (void)events;
    while (side->socket != SOCK_NONE) {
        struct ipc_in in;
        int rc = ipc_recv(side->socket, &in);

        if (rc == ERR_AGAIN)
            return;
        if (rc) { /* it ended: SIGCHLD says how */
            net_watch_set(side->watch, 0);
            return;
        }
        side->on_message(side->master, &in);
        ipc_done(&in);
    }
}

static void roles_close_side(struct master_side *side)
{
    net_watch_close(side->watch);
    side->watch = NULL;
    sock_close(side->socket);
    side->socket = SOCK_NONE;
    side->ready = false;
}

/* fds[0] is the socket's, and filled in here. */
static int roles_start_side(struct master_side *side, struct process_fd *fds, size_t nfds)
{
    struct master *m = side->master;
    char title[32];
    sock_t pair[2];
    int rc = sock_pair(pair);

    if (rc)
        return rc;
    fds[0].from = (int)pair[1];
    (void)snprintf(title, sizeof(title), "ephpm: %s", roles[side->role].name);
    rc = roles_spawn(m, &roles[side->role], m->exe, title, fds, nfds, &side->pid);
    sock_close(pair[1]);
    if (rc) {
        sock_close(pair[0]);
        return rc;
    }
    side->socket = pair[0];
    side->started_ms = clock_mono_ms();
    rc = net_watch_open(m->loop, side->socket, roles_on_side, side, &side->watch);
    if (rc)
        return rc;
    net_watch_set(side->watch, NET_READ);
    return 0;
}

static void roles_restart_side(void *arg)
{
    struct master_side *side = arg;
    int rc = side->master->stopping ? 0 : side->start(side->master);

    if (rc == 0)
        return;
    log_error("role_start_failed", F_CSTR("role", roles[side->role].name), F_ERR(rc));
    net_timer_start(side->restart, ROLES_BRAKE_MAX_MS, 0); /* HTTP goes on without it */
}

static void roles_side_gone(
    struct master_side *side, enum metric_child child, const struct process_status *st)
{
    struct master *m = side->master;
    bool wanted = side->socket != SOCK_NONE;

    side->pid = 0;
    roles_close_side(side);
    if (!wanted && st->end == PROCESS_EXITED && st->code == 0)
        return; /* as it was told */
    metric_count(m->metrics, METRIC_ROLE_RESTARTS, child, 0);
    roles_say_died(&roles[side->role], st);
    if (!m->stopping)
        net_timer_start(side->restart, roles_brake(side->started_ms, &side->deaths), 0);
}

void roles_tell_kv(struct master *m, struct ipc_out *out)
{
    roles_tell_side(&m->kv.side, out);
}

void roles_tell_db(struct master *m, struct ipc_out *out)
{
    roles_tell_side(&m->db.side, out);
}

static void roles_on_kv_message(struct master *m, struct ipc_in *in)
{
    if (ipc_is(in, "ready")) {
        m->kv.side.ready = true;
        stores_role_ready(m);
    } else if (ipc_is(in, "status")) {
        roles_on_status(m, in, control_kv_status);
    } else if (ipc_is(in, "loaded")) {
        stores_on_loaded(m, in);
    } else if (ipc_is(in, "gone")) {
        stores_on_gone(m, in);
    } else if (ipc_is(in, "sampled")) {
        master_metrics_kv_sampled(m);
    } else if (ipc_is(in, "deploy")) {
        struct site *s = deploy_site_find(m, ipc_get(in, "site"));

        log_info("deploy_announced", F_STR("site", ipc_get(in, "site")),
            F_STR("version", ipc_get(in, "version")));
        if (s)
            s->deploy_due = true; /* deploy_announced() begins it */
    }
}

static void roles_on_db_message(struct master *m, struct ipc_in *in)
{
    if (ipc_is(in, "ready")) {
        m->db.side.ready = true;
        databases_role_ready(m);
    } else if (ipc_is(in, "status")) {
        roles_on_status(m, in, control_db_status);
    } else if (ipc_is(in, "sampled")) {
        master_metrics_sampled(m);
    } else if (ipc_is(in, "done")) {
        databases_on_done(m, in);
    }
}

static int roles_start_kv(struct master *m)
{
    struct process_fd fds[] = {
        {-1, KVROLE_SOCKET}, {m->metrics_fd, KVROLE_METRICS}, {m->kv.lock_fd, KVROLE_LOCK}};

    return m->kv_config ? roles_start_side(&m->kv.side, fds, m->kv.lock_fd < 0 ? 2 : 3) : 0;
}

static int roles_start_db(struct master *m)
{
    struct process_fd fds[] = {{-1, DBROLE_SOCKET}, {m->metrics_fd, DBROLE_METRICS}};

    return m->db.config ? roles_start_side(&m->db.side, fds, ARRAY_LEN(fds)) : 0;
}

int roles_start_sides(struct master *m, const char **which)
{
    int rc;

    m->kv.side = (struct master_side){.master = m,
        .role = ROLES_KV,
        .socket = SOCK_NONE,
        .start = roles_start_kv,
        .on_message = roles_on_kv_message};
    m->db.side = (struct master_side){.master = m,
        .role = ROLES_DB,
        .socket = SOCK_NONE,
        .start = roles_start_db,
        .on_message = roles_on_db_message};
    m->kv.side.restart = net_timer_open(m->loop, roles_restart_side, &m->kv.side);
    m->db.side.restart = net_timer_open(m->loop, roles_restart_side, &m->db.side);
    *which = "the role kv";
    rc = roles_start_kv(m);
    if (rc)
        return rc;
    *which = "the role db";
    return roles_start_db(m);
}

void roles_kv_gone(struct master *m, const struct process_status *st)
{
    roles_side_gone(&m->kv.side, METRIC_CHILD_KV, st);
    stores_role_gone(m);
    control_kv_status(m->control, STR_NONE); /* those who asked the one that is gone */
}

void roles_db_gone(struct master *m, const struct process_status *st)
{
    roles_side_gone(&m->db.side, METRIC_CHILD_DB, st);
    databases_role_gone(m);
    control_db_status(m->control, STR_NONE); /* as above */
}

void roles_close_sides(struct master *m)
{
    roles_close_side(&m->kv.side);
    roles_close_side(&m->db.side);
}

/* --- prototypes ------------------------------------------------------------------------------- */

static void roles_on_prototype_message(struct generation *g, struct ipc_in *in)
{

    if (ipc_is(in, "hello"))
        generation_hello(g, in);
    else if (ipc_is(in, "booted")) {
        g->jit = ipc_get_u64(in, "jit") != 0;
        g->opcache = ipc_get_u64(in, "opcache") != 0;
        (void)snprintf(g->jit_mode, sizeof(g->jit_mode), "%s", ipc_get_c(in, "jit_mode"));
        deploy_booted(g->of, g);
    } else if (ipc_is(in, "failed")) {
        log_error(
            "php_start_failed", F_UINT("generation", g->id), F_STR("error", ipc_get(in, "error")));
        if (g->of->op.next == g)
            deploy_failed(g->of, "PHP did not start: %s", ipc_get_c(in, "error"));
    } else if (ipc_is(in, "forked"))
        generation_forked(g, in);
    else if (ipc_is(in, "fork_failed"))
        generation_fork_failed(g, in);
    else if (ipc_is(in, "scripts_done"))
        deploy_scripts(g->of, in);
    else if (ipc_is(in, "compiled"))
        deploy_compiled(g->of, in);
    else if (ipc_is(in, "status"))
        master_metrics_opcache(g, in);
}

static void roles_on_prototype(void *arg, int events)
{
    struct generation *g = arg;

    (void)events;
    while (g->watch && g->state != GEN_ENDED) {
        struct ipc_in in;
        int rc = ipc_recv(g->socket, &in);

        if (rc == ERR_AGAIN)
            return;
        if (rc) {
            net_watch_set(g->watch, 0);
            return;
        }
        roles_on_prototype_message(g, &in);
        ipc_done(&in);
    }
}

int roles_start_prototype(struct master *m, struct generation *g)
{
    char title[64];
    sock_t pair[2];
    struct process_fd fd;
    int rc = sock_pair(pair);

    if (rc)
        return rc;
    fd = (struct process_fd){(int)pair[1], PROTOTYPE_SOCKET};
    (void)snprintf(
        title, sizeof(title), "ephpm: prototype %s/%llu", g->site, (unsigned long long)g->id);
    rc = roles_spawn(m, &roles[ROLES_PROTOTYPE], m->php_exe, title, &fd, 1, &g->pid);
    sock_close(pair[1]);
    if (rc) {
        sock_close(pair[0]);
        return rc;
    }
    g->socket = pair[0];
    rc = net_watch_open(m->loop, g->socket, roles_on_prototype, g, &g->watch);
    if (rc)
        return rc;
    net_watch_set(g->watch, NET_READ);
    return 0;
}
