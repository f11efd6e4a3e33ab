/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/front.h"

#include <signal.h>

#include "base/mem.h"
#include "core/log.h"
#include "engine/settings.h"
#include "platform/clock.h"
#include "platform/process.h"
#include "platform/wake.h"

enum { FRONT_FLUSH_MS = 1000, FRONT_ACCESS_BUFFER = 32768 };

void front_tell(struct front *f, struct ipc_out *m)
{
    int rc = ipc_send(f->master, m);

    if (rc) {
        log_error("master_lost", F_ERR(rc));
        f->exit_code = 1;
        net_loop_stop(f->loop);
    }
}

/* --- what the pool asks for ------------------------------------------------------------------- */

static void front_fork(void *arg, struct pool_generation *g, bool reserve)
{
    struct ipc_out m;

    ipc_begin(&m, "fork");
    ipc_add_u64(&m, "generation", g->id);
    ipc_add_u64(&m, "reserve", reserve);
    front_tell(arg, &m);
}

static void front_signal(void *arg, struct pool_worker *w, enum pool_signal how)
{
    struct ipc_out m;

    ipc_begin(&m, "signal");
    ipc_add_u64(&m, "worker", w->id);
    ipc_add_u64(&m, "how", how);
    front_tell(arg, &m);
}

static void front_drained(void *arg, struct pool_generation *g)
{
    struct ipc_out m;

    ipc_begin(&m, "drained");
    ipc_add_u64(&m, "generation", g->id);
    front_tell(arg, &m);
}

/* --- configuration ---------------------------------------------------------------------------- */

static void front_open_access_log(struct front *f)
{
    const struct config_logging *l = &f->config->server.logging;
    enum access_log_format format =
        l->access_format == CONFIG_ACCESS_JSON ? ACCESS_LOG_JSON : ACCESS_LOG_COMBINED;
    int rc;

    access_log_close(f->http.access_log);
    f->http.access_log = NULL;
    if (!l->access || !l->access[0])
        return;
    rc = access_log_open(l->access, format, FRONT_ACCESS_BUFFER, &f->http.access_log);
    if (rc)
        log_error("access_log_failed", F_CSTR("setting", "server.logging.access"),
            F_CSTR("path", l->access), F_ERR(rc));
}

static void front_limits(struct front *f, struct ipc_in *m)
{
    struct pool_limits limits = {
        .workers = (unsigned)ipc_get_u64(m, "workers"),
        .workers_min = (unsigned)ipc_get_u64(m, "workers_min"),
        .queue = (size_t)ipc_get_u64(m, "queue"),
        .shed_ms = ipc_get_u64(m, "shed_ms"),
        .request_ms = f->config->server.timeouts.request,
        .idle_ms = ipc_get_u64(m, "idle_ms"),
    };

    pool_set_limits(&f->pool, &limits);
}

static int front_start(struct front *f, struct http_settings *settings)
{
    struct http_hooks hooks = front_hooks;
    struct pool_hooks pool = {.arg = f,
        .fork = front_fork,
        .signal = front_signal,
        .drained = front_drained,
        .measured = front_trial_measured};
    int rc;

    hooks.arg = f;
    rc = http_server_init(&f->http, f->loop, settings, &hooks);
    if (rc)
        return rc;
    pool_init(&f->pool, f->loop, &pool);
    f->started = true;
    return 0;
}

/* The first configuration starts the server; later ones replace it. */
static void front_configure(struct front *f, struct ipc_in *m)
{
    struct http_settings *settings;
    struct config *cfg;
    struct err err = {0};
    int rc = config_deserialize(ipc_get(m, "text"), &cfg, &err);

    if (rc == 0) {
        rc = settings_http(cfg, &settings, &err);
        if (rc)
            config_unref(cfg);
    }
    if (rc) {
        log_alert("front_config_refused", F_CSTR("error", err.text));
        f->exit_code = 1;
        net_loop_stop(f->loop);
        return;
    }
    if (f->started)
        http_server_set_settings(&f->http, settings);
    else
        rc = front_start(f, settings);
    http_settings_unref(settings);
    config_unref(f->config);
    f->config = cfg;
    if (rc) {
        log_error("front_start_failed", F_ERR(rc));
        f->exit_code = 1;
        net_loop_stop(f->loop);
        return;
    }
    log_set_level((enum log_level)cfg->server.logging.level);
    /* WordPress and others look for the name of a server that they know before they rely on
     * rewriting or X-Accel-Redirect. */
    f->pool.server_software = "ephpm/" EPHPM_VERSION " (nginx compatible)";
    front_metrics_configure(f);
    front_limits(f, m);
    front_open_access_log(f);
    if (config_request_log(cfg) && !f->log)
        f->log = mem_new_array(FRONT_REQUEST_LOG, sizeof(*f->log));
}

/* --- messages --------------------------------------------------------------------------------- */

static struct pool_generation *front_generation(struct front *f, struct ipc_in *m)
{
    return pool_generation_find(&f->pool, ipc_get_u64(m, "generation"));
}

static void front_on_worker(struct front *f, struct ipc_in *m)
{
    struct pool_generation *g = front_generation(f, m);
    struct pool_newcomer n = {
        .id = ipc_get_u64(m, "worker"),
        .pid = (int64_t)ipc_get_u64(m, "pid"),
        .reserve = ipc_get_u64(m, "reserve") != 0,
        .asked = ipc_get_u64(m, "asked") != 0,
        .asked_us = ipc_get_u64(m, "asked_us"),
    };
    int rc;

    if (!g)
        return; /* its generation ended meanwhile; so will it */
    rc = pool_worker_add(&f->pool, g, &n, ipc_take_fd(m, 0), ipc_take_fd(m, 1));
    if (rc) {
        log_error("worker_channel_refused", F_UINT("worker", n.id), F_ERR(rc));
        if (n.asked)
            pool_fork_failed(&f->pool, g, n.reserve);
    }
}

static void front_on_listen(struct front *f, struct ipc_in *m)
{
    int fd = ipc_take_fd(m, 0);
    bool internal = ipc_get_u64(m, "internal") != 0;
    int rc = fd >= 0 ? http_server_listen(&f->http, (sock_t)fd, internal) : ERR_PROTO;

    if (rc)
        log_error("listen_failed", F_ERR(rc));
}

static void front_on_status(struct front *f)
{
    struct buf b = {0};
    struct ipc_out out;

    front_status(f, &b);
    ipc_begin(&out, "status");
    if (ipc_add_long(&out, "json", buf_str(&b)))
        ipc_add(&out, "json", STR("{\"error\":\"there is no memory for the status\"}\n"));
    front_tell(f, &out);
    buf_fini(&b);
}

static void front_reopen(struct front *f)
{
    int rc = f->http.access_log ? access_log_reopen(f->http.access_log) : 0;

    if (rc)
        log_error("access_log_failed", F_CSTR("path", f->config->server.logging.access), F_ERR(rc));
}

/* Operations on a generation that exists. */
static void front_on_generation_op(struct front *f, struct ipc_in *m)
{
    struct pool_generation *g = front_generation(f, m);

    if (!g)
        return;
    if (ipc_is(m, "trial"))
        front_trial_begin(f, g);
    else if (ipc_is(m, "activate"))
        pool_activate(&f->pool, g);
    else if (ipc_is(m, "retire"))
        pool_retire(&f->pool, g);
    else if (ipc_is(m, "abandon"))
        pool_abandon(&f->pool, g);
    else if (ipc_is(m, "fork_failed"))
        pool_fork_failed(&f->pool, g, ipc_get_u64(m, "reserve") != 0);
}

static void front_on_message(struct front *f, struct ipc_in *m)
{
    if (ipc_is(m, "config"))
        front_configure(f, m);
    else if (!f->started)
        log_alert("front_message_too_early", F_STR("op", m->op));
    else if (ipc_is(m, "listen"))
        front_on_listen(f, m);
    else if (ipc_is(m, "generation"))
        front_on_generation(f, m);
    else if (ipc_is(m, "site_failed"))
        front_on_site_failed(f, m);
    else if (ipc_is(m, "site_gone"))
        front_on_site_gone(f, m);
    else if (ipc_is(m, "worker"))
        front_on_worker(f, m);
    else if (ipc_is(m, "worker_gone"))
        pool_worker_gone(&f->pool, ipc_get_u64(m, "worker"), (int)ipc_get_u64(m, "code"),
            (int)ipc_get_u64(m, "signal"));
    else if (ipc_is(m, "jit_auto"))
        front_trial_note(f, m);
    else if (ipc_is(m, "db"))
        (void)str_put(f->db_state, sizeof(f->db_state), ipc_get(m, "state"));
    else if (ipc_is(m, "probe"))
        front_probe(f, m);
    else if (ipc_is(m, "status"))
        front_on_status(f);
    else if (ipc_is(m, "sampled"))
        front_metrics_sampled(f);
    else if (ipc_is(m, "reopen"))
        front_reopen(f);
    else if (ipc_is(m, "drain")) {
        f->draining = true;
        http_server_drain(&f->http);
    } else
        front_on_generation_op(f, m);
}

static void front_on_master(void *arg, int events)
{
    struct front *f = arg;

    (void)events;
    for (;;) {
        struct ipc_in m;
        int rc = ipc_recv(f->master, &m);

        if (rc == ERR_AGAIN)
            return;
        if (rc) { /* the master closed it: the end */
            net_loop_stop(f->loop);
            return;
        }
        front_on_message(f, &m);
        ipc_done(&m);
    }
}

/* --- loop ------------------------------------------------------------------------------------- */

static void front_on_bell(void *arg, int events)
{
    struct front *f = arg;

    (void)events;
    wake_bell_clear(f->bell);
    if (f->started)
        pool_on_bell(&f->pool);
}

static void front_before_sleep(void *arg)
{
    struct front *f = arg;

    if (!f->started)
        return;
    if (!pool_before_sleep(&f->pool))
        wake_bell_ring(f->bell);
    http_server_before_sleep(&f->http);
    if (f->draining && f->http.nconns == 0) {
        struct ipc_out m;

        f->draining = false; /* said once */
        ipc_begin(&m, "idle");
        front_tell(f, &m);
    }
}

static void front_on_flush(void *arg)
{
    struct front *f = arg;

    if (f->started && f->http.access_log)
        access_log_flush(f->http.access_log);
}

static void front_fini(struct front *f)
{
    if (f->started) {
        front_probes_fini(f);
        http_server_fini(&f->http);
        pool_fini(&f->pool);
    }
    front_metrics_fini(f);
    net_timer_close(f->trials);
    net_timer_close(f->flush);
    net_watch_close(f->bell_watch);
    net_watch_close(f->master_watch);
    net_loop_free(f->loop);
    config_unref(f->config);
    mem_free(f->log);
}

int front_main(void)
{
    struct front f = {.master = (sock_t)FRONT_SOCKET, .bell = FRONT_BELL};
    struct ipc_out m;
    int rc;

    list_init(&f.probes);
    process_ignore_sigpipe();
    process_guard(); /* PHP runs as the same user: it shall neither signal nor trace the front */
    process_protect();
    f.started_ms = clock_mono_ms();
    rc = net_loop_new(&f.loop);
    if (rc == 0)
        rc = net_watch_open(f.loop, f.master, front_on_master, &f, &f.master_watch);
    if (rc == 0)
        rc = net_watch_open(f.loop, (sock_t)f.bell, front_on_bell, &f, &f.bell_watch);
    if (rc == 0)
        rc = front_metrics_init(&f);
    if (rc) {
        log_error("front_start_failed", F_ERR(rc));
        return 1;
    }
    f.trials = net_timer_open(f.loop, front_trial_tick, &f);
    f.flush = net_timer_open(f.loop, front_on_flush, &f);
    net_timer_start(f.flush, FRONT_FLUSH_MS, FRONT_FLUSH_MS);
    net_watch_set(f.master_watch, NET_READ);
    net_watch_set(f.bell_watch, NET_READ);
    net_loop_on_sleep(f.loop, front_before_sleep, &f);
    ipc_begin(&m, "ready");
    front_tell(&f, &m);
    net_loop_run(f.loop);
    front_fini(&f);
    return f.exit_code;
}
