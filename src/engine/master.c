/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/master.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "core/log.h"
#include "engine/settings.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/sock.h"
#include "platform/wake.h"

enum {
    MASTER_PORT_TRIES = 50,
    MASTER_KILL_MS = 2000, /* after the drain time is over */
    MASTER_FD_WANTED = 4096
};

/* --- configuration and environment ------------------------------------------------------------ */

int master_load_config(struct master *m, struct config **out, struct err *err)
{
    struct config_source src = {
        .mode = m->opt->mode,
        .path = m->opt->config_path,
        .path_explicit = m->opt->config_explicit,
        .env = m->opt->env,
        .overrides = m->opt->overrides,
        .noverrides = m->opt->noverrides,
    };
    struct http_settings *settings;
    struct config *cfg;
    int rc = config_load(&src, &cfg, err);

    if (rc)
        return rc;
    rc = settings_http(cfg, &settings, err); /* what the front would refuse is refused here */
    if (rc) {
        config_unref(cfg);
        return rc;
    }
    http_settings_unref(settings);
    *out = cfg;
    return 0;
}

static void master_say_warnings(const struct config *cfg)
{
    for (size_t i = 0; i < cfg->warnings.n; i++)
        log_warn("config_warning", F_CSTR("text", cfg->warnings.v[i]));
    for (size_t i = 0; i < cfg->notices.n; i++)
        log_info("config_notice", F_CSTR("text", cfg->notices.v[i]));
}

/* ephpm-php: as configured, beside this executable, or where packages put it. */
static int master_find_php(struct master *m, struct err *err)
{
    static const char *const places[] = {"%.*s/ephpm-php", "%.*s/../lib/ephpm/ephpm-php",
        "%.*s/../lib/ephpm/php8.5/ephpm-php", "%.*s/../lib/ephpm/php8.4/ephpm-php",
        "%.*s/../lib/ephpm/php8.3/ephpm-php", "%.*s/../lib/ephpm/php8.2/ephpm-php"};
    struct str exe = str_c(m->exe);
    ptrdiff_t slash = str_rchr(exe, '/');
    int rc;

    if (m->config->php.binary) {
        rc = fs_realpath(m->config->php.binary, m->php_exe, sizeof(m->php_exe));
        if (rc)
            return err_set(err, rc, "php.binary: %s: %s", m->config->php.binary, err_text(rc));
        return 0;
    }
    if (m->opt->php_inside) {
        (void)str_put(m->php_exe, sizeof(m->php_exe), exe);
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(places) && slash > 0; i++) {
        char path[4200];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        (void)snprintf(path, sizeof(path), places[i], (int)slash, exe.p);
#pragma GCC diagnostic pop
        if (fs_realpath(path, m->php_exe, sizeof(m->php_exe)) == 0)
            return 0;
    }
    return err_set(err, ERR_NOTFOUND,
        "ephpm-php, the PHP part of the program, is neither beside %s nor in ../lib/ephpm", m->exe);
}

/* Who front and PHP run as when we are root: run_as_user, else www-data in serve. */
static int master_choose_user(struct master *m, struct err *err)
{
    const struct config_server *s = &m->config->server;
    const char *user = s->run_as_user;
    uint32_t guard_gid;
    int rc;

    process_user_name(process_uid(), m->user, sizeof(m->user));
    if (!process_is_root()) {
        if (user && strcmp(user, m->user) != 0)
            log_warn("config_warning",
                F_CSTR("text", "server.run_as_user: only root can change the user; it is ignored"));
        return 0;
    }
    if (!user && m->config->mode == CONFIG_DEV)
        return 0;
    if (!user)
        user = "www-data";
    rc = process_find_user(user, s->run_as_group, &m->uid, &m->gid);
    if (rc && s->run_as_user)
        return err_set(err, rc, "server.run_as_user: there is no user or group \"%s\"", user);
    if (rc) {
        log_warn("running_as_root",
            F_CSTR("reason", "there is no user www-data; set server.run_as_user"));
        return 0;
    }
    m->set_user = m->uid != 0;
    m->has_guard = m->set_user &&
                   process_find_user("nobody", NULL, &m->guard_uid, &guard_gid) == 0 &&
                   m->guard_uid != m->uid;
    (void)snprintf(m->user, sizeof(m->user), "%s", user);
    return 0;
}

/* Is there a site for hosts that have no folder of their own? */
static bool master_has_default(const struct config *cfg)
{
    return !config_is_multi(cfg) || config_is_set(cfg, "server.document_root");
}

/* The document root must be a folder that whoever serves it can read. */
static int master_check_root(struct master *m, struct err *err)
{
    bool multi = !master_has_default(m->config);
    const char *key = multi ? "server.sites_dir" : "server.document_root";
    const char *root = multi ? m->config->server.sites_dir : m->config->server.document_root;
    struct fs_stat st;
    int rc = fs_stat(root, &st);

    if (rc)
        return err_set(err, rc, "%s: %s: %s", key, root, err_text(rc));
    if (st.kind != FS_DIR)
        return err_set(err, ERR_NOTDIR, "%s: %s is not a folder", key, root);
    rc = process_can_search(root, m->set_user, m->uid, m->gid, m->user);
    if (rc)
        return err_set(
            err, rc, "%s: %s cannot be read by user %s (server.run_as_user)", key, root, m->user);
    return 0;
}

/* --- sockets ---------------------------------------------------------------------------------- */

static int master_listen(struct master *m, struct err *err)
{
    const char *text = m->config->server.listen;
    struct sock_addr at;
    int tries = m->opt->try_next_port ? MASTER_PORT_TRIES : 1;
    int rc = sock_addr_parse(str_c(text), &at);

    if (rc)
        return err_set(
            err, rc, "server.listen: \"%s\" is no address (127.0.0.1:8080, [::]:80)", text);
    do {
        rc = sock_listen(&at, (int)m->config->server.backlog, &m->listener);
        if (rc == ERR_ADDRINUSE && tries > 1)
            at.port++;
    } while (rc == ERR_ADDRINUSE && --tries > 0);
    if (rc)
        return err_set(err, rc, "server.listen: %s: %s", text,
            rc == ERR_NOTFOUND ? "this machine has no such address" : err_text(rc));
    if (sock_local_addr(m->listener, &at) == 0)
        (void)sock_addr_format(&at, m->listen_text);
    return 0;
}

static int master_listen_metrics(struct master *m, struct err *err)
{
    const char *text = m->config->server.metrics.listen;
    struct sock_addr at;
    int rc;

    if (!text)
        return 0;
    rc = sock_addr_parse(str_c(text), &at);
    if (rc == 0)
        rc = sock_listen(&at, (int)m->config->server.backlog, &m->metrics_listener);
    if (rc)
        return err_set(err, rc, "server.metrics.listen: %s: %s", text,
            rc == ERR_NOTFOUND ? "this machine has no such address" : err_text(rc));
    return 0;
}

static void master_raise_limits(void)
{
    uint64_t now = 0;

    if (process_raise_fd_limit(&now) || now < MASTER_FD_WANTED)
        log_warn("descriptor_limit_low", F_UINT("limit", now), F_UINT("wanted", MASTER_FD_WANTED),
            F_CSTR("hint", "raise LimitNOFILE or ulimit -n"));
}

/* --- start ------------------------------------------------------------------------------------ */

static void master_write_pid(struct master *m)
{
    const char *path = m->config->server.pid_file;
    char text[32];
    int n = snprintf(text, sizeof(text), "%lld\n", (long long)process_id());
    int rc = path ? fs_write_file(path, text, (size_t)n, 0644) : 0;

    if (rc)
        log_error("pid_file_failed", F_CSTR("setting", "server.pid_file"), F_CSTR("path", path),
            F_ERR(rc));
    else if (path)
        m->pid_path = mem_dup_str(path, strlen(path));
}

/* The server serves: what is the same with one site and with many. False when it was said before.
 */
static bool master_announce_first(struct master *m)
{
    roles_send_listener(m);
    process_set_title(
        "ephpm: master %s %s", m->config->mode == CONFIG_DEV ? "dev" : "serve", m->listen_text);
    if (m->announced)
        return false;
    m->announced = true;
    master_write_pid(m);
    (void)!process_notify("READY=1\nSTATUS=serving"); /* nobody may listen */
    return true;
}

static bool master_greets(const struct master *m)
{
    return !m->opt->quiet && m->config->mode == CONFIG_DEV;
}

/* What an operator may not expect, the first time that a site has its sessions in the store. */
static void master_say_sessions(struct master *m, const struct shape *s)
{
    struct buf text = {0};

    if (m->told_sessions || !s->sessions_in_store)
        return;
    m->told_sessions = true;
    if (!m->config->kv.persist)
        buf_add_lit(&text, "sessions are in memory: they outlive deploys and reloads, and end with "
                           "the server (kept by kv.persist, or session.save_handler = files)");
    if (m->kv_options.policy == KV_ALLKEYS_LRU || m->kv_options.policy == KV_ALLKEYS_RANDOM)
        buf_printf(&text, "%s a full store drops sessions too (kv.eviction_policy)",
            text.len ? ";" : "sessions are in the store:");
    if (text.len)
        log_info("sessions", F_STR("text", buf_str(&text)));
    buf_fini(&text);
}

void master_announce(struct master *m, struct generation *g)
{
    struct buf line = {0};

    master_say_sessions(m, &g->shape);
    if (!master_announce_first(m))
        return;
    shape_line_autotune(&g->shape, &line);
    log_info("autotune", F_STR("text", buf_str(&line)));
    buf_clear(&line);
    shape_line_jit(&g->shape, &line);
    log_info("jit", F_STR("text", buf_str(&line)));
    buf_fini(&line);
    log_info("serving", F_CSTR("listen", m->listen_text), F_CSTR("root", g->root),
        F_CSTR("php", g->php_version), F_CSTR("vm", g->vm_kind), F_CSTR("user", m->user),
        F_CSTR("control", control_path(m->control)));
    if (master_greets(m)) {
        printf("ephpm %s serves %s\n  http://%s/\nPHP %s (%s); Ctrl-C stops it.\n", EPHPM_VERSION,
            g->root, m->listen_text, g->php_version, g->vm_kind);
        (void)fflush(stdout); /* a closed terminal is no reason to stop */
    }
}

void master_announce_sites(struct master *m)
{
    if (!master_announce_first(m))
        return;
    log_info("serving", F_CSTR("listen", m->listen_text),
        F_CSTR("sites", m->config->server.sites_dir), F_CSTR("user", m->user),
        F_CSTR("control", control_path(m->control)));
    if (master_greets(m)) {
        printf(
            "ephpm %s serves the folders of %s\n  http://FOLDER.localhost:%s/\nCtrl-C stops it.\n",
            EPHPM_VERSION, m->config->server.sites_dir, strrchr(m->listen_text, ':') + 1);
        (void)fflush(stdout); /* as above */
    }
}

static void master_on_watchdog(void *arg)
{
    (void)arg;
    (void)!process_notify("WATCHDOG=1"); /* as above */
}

static void master_start_watchdog(struct master *m)
{
    const char *text = getenv("WATCHDOG_USEC");
    uint64_t usec;

    if (!text || str_u64(str_c(text), &usec) || usec < 2000)
        return;
    m->watchdog = net_timer_open(m->loop, master_on_watchdog, m);
    net_timer_start(m->watchdog, 0, usec / 2000);
}

/* --- stop ------------------------------------------------------------------------------------- */

static void master_force_stop(struct master *m, const char *why)
{
    bool again = m->front_idle && list_empty(&m->generations);

    if (!again) {
        log_warn("stop_forced", F_CSTR("reason", why));
        if (m->front_pid)
            (void)!process_kill(m->front_pid, SIGKILL); /* it may be gone */
        list_each_safe (it, &m->generations)
            generation_end(CONTAINER_OF(it, struct generation, node));
        list_each_safe (it, &m->generations) {
            struct generation *g = CONTAINER_OF(it, struct generation, node);

            if (g->pid)
                (void)!process_kill(g->pid, SIGKILL); /* it may be gone */
        }
        net_timer_start(m->stop_timer, MASTER_KILL_MS, 0);
    } else {
        if (m->kv.side.pid)
            (void)!process_kill(m->kv.side.pid, SIGKILL); /* it may be gone */
        if (m->db.side.pid)
            (void)!process_kill(m->db.side.pid, SIGKILL); /* likewise */
    }
    m->front_idle = true;
}

static void master_stop_is_late(void *arg)
{
    master_force_stop(arg, "server.timeouts.shutdown is over");
}

/* Only from master_before_sleep(): it frees generations, which callers further up may hold. */
static void master_go_on_stopping(struct master *m)
{
    generation_sweep(m);
    if (m->front_idle && m->front_pid) {
        /* No client is left; the front ends when its socket closes. */
        bool drained = true;

        list_each (it, &m->generations) {
            struct generation *g = CONTAINER_OF(it, struct generation, node);

            if (g->state == GEN_ACTIVE)
                generation_drain(g);
            drained = drained && g->state == GEN_ENDED;
        }
        if (drained && m->front != SOCK_NONE) {
            net_watch_close(m->front_watch);
            m->front_watch = NULL;
            sock_close(m->front);
            m->front = SOCK_NONE;
        }
        return;
    }
    if (!m->front_pid) {
        list_each_safe (it, &m->generations)
            generation_end(CONTAINER_OF(it, struct generation, node));
        generation_sweep(m);
        if (!list_empty(&m->generations))
            return;
        roles_close_sides(m); /* last, when nobody writes any more */
        if (!m->kv.side.pid && !m->db.side.pid)
            net_loop_stop(m->loop);
    }
}

void master_stop(struct master *m, const char *why)
{
    struct ipc_out out;

    if (m->stopping) {
        master_force_stop(m, "told to stop a second time");
        return;
    }
    m->stopping = true;
    log_info("stopping", F_CSTR("reason", why));
    (void)!process_notify("STOPPING=1"); /* nobody may listen */
    list_each (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);

        if (s->op.step != OP_NONE && s->op.kind != OP_START)
            deploy_failed(s, "the server is stopping");
        jit_auto_stop(s);
    }
    net_timer_start(m->stop_timer, MAX(m->config->server.timeouts.shutdown, (uint64_t)1), 0);
    if (m->front_ready) {
        ipc_begin(&out, "drain");
        roles_tell_front(m, &out);
        /* Who connects from now on is refused at once: nobody would accept. */
        sock_close(m->listener);
        sock_close(m->metrics_listener);
        m->listener = m->metrics_listener = SOCK_NONE;
    } else {
        m->front_idle = true;
        if (m->front_pid)
            (void)!process_kill(m->front_pid, SIGKILL); /* it may be gone */
    }
    list_each_safe (it, &m->generations) {
        struct generation *g = CONTAINER_OF(it, struct generation, node);

        /* The active ones serve until the front's last client is gone. */
        if (g->state == GEN_TRIAL)
            generation_drain(g);
        else if (g->state != GEN_ACTIVE && g->state != GEN_DRAINING)
            generation_end(g);
    }
}

/* --- signals ---------------------------------------------------------------------------------- */

static void master_reap(struct master *m)
{
    struct process_status st;

    while (process_reap(&st) == 0) {
        if (st.pid == m->front_pid) {
            master_metrics_reaped(m, METRIC_ROLE_FRONT, &st);
            roles_front_gone(m, &st);
        } else if (st.pid == m->kv.side.pid) {
            master_metrics_reaped(m, METRIC_ROLE_KV, &st);
            roles_kv_gone(m, &st);
        } else if (st.pid == m->db.side.pid) {
            master_metrics_reaped(m, METRIC_ROLE_DB, &st);
            roles_db_gone(m, &st);
        } else
            (void)!generation_reaped(m, &st); /* others are announced later */
    }
}

int master_apply_config(struct master *m, struct err *err)
{
    struct config *cfg;
    int rc = master_load_config(m, &cfg, err);

    if (rc)
        return rc;
    config_unref(m->config);
    m->config = cfg;
    log_set_level((enum log_level)cfg->server.logging.level);
    roles_send_config(m);
    return 0;
}

static int master_reload_sites(struct master *m, struct err *err)
{
    int first = 0;
    bool any = false;

    sites_reloaded(m);
    list_each_safe (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);
        int rc = s->leaving ? 0 : deploy_begin(s, OP_RELOAD, NULL, err);

        any = any || !s->leaving;
        first = first ? first : rc;
    }
    return any ? first : master_apply_config(m, err);
}

static bool master_is_busy(struct master *m)
{
    list_each (it, &m->sites)
        if (deploy_is_busy(CONTAINER_OF(it, struct site, node)))
            return true;
    return false;
}

static void master_on_reload(struct master *m)
{
    struct err err = {0};

    m->reload_due = master_is_busy(m);
    if (m->reload_due) {
        log_info("reload_postponed", F_CSTR("reason", "another operation is running"));
        return;
    }
    if (!m->stopping && master_reload_sites(m, &err))
        log_error("reload_refused", F_CSTR("error", err.text), F_INT("line", err.line));
}

static void master_on_signal(void *arg, int sig)
{
    struct master *m = arg;
    struct ipc_out out;

    switch (sig) {
    case SIGCHLD:
        master_reap(m);
        break;
    case SIGHUP:
        master_on_reload(m);
        break;
    case SIGUSR1:
        ipc_begin(&out, "reopen");
        roles_tell_front(m, &out);
        break;
    default:
        master_stop(m, process_signal_name(sig));
    }
}

static int master_catch_signals(struct master *m)
{
    static const int sigs[] = {SIGCHLD, SIGHUP, SIGUSR1, SIGTERM, SIGINT, SIGQUIT};

    for (size_t i = 0; i < ARRAY_LEN(sigs); i++) {
        int rc = net_signal_open(m->loop, sigs[i], master_on_signal, m, &m->signals[m->nsignals]);

        if (rc)
            return rc;
        m->nsignals++;
    }
    return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

static void master_before_sleep(void *arg)
{
    struct master *m = arg;

    if (m->stopping)
        master_go_on_stopping(m);
    else
        generation_sweep(m);
    if (!m->stopping)
        sites_sweep(m);
    if (m->reload_due && !m->stopping && !master_is_busy(m))
        master_on_reload(m);
    deploy_announced(m);
}

/* Everything that can fail for a reason the operator can mend, before a process is started. */
static int master_prepare(struct master *m, struct err *err)
{
    int rc = master_load_config(m, &m->config, err);

    if (rc)
        return rc;
    log_init("master", 2, (enum log_format)m->config->server.logging.format,
        (enum log_level)m->config->server.logging.level);
    master_say_warnings(m->config);
    rc = process_exe_path(m->exe, sizeof(m->exe));
    if (rc)
        return err_set(err, rc, "the path of this program cannot be found: %s", err_text(rc));
    rc = master_find_php(m, err);
    if (rc == 0)
        rc = master_choose_user(m, err);
    if (rc == 0)
        rc = master_check_root(m, err);
    if (rc == 0)
        rc = stores_init(m, err);
    if (rc)
        return rc;
    rc = net_loop_new(&m->loop);
    if (rc == 0)
        rc = process_become_reaper();
    if (rc == 0)
        rc = wake_bell_open(&m->bell);
    if (rc == 0)
        rc = master_catch_signals(m);
    if (rc)
        return err_set(err, rc, "the event loop cannot be started: %s", err_text(rc));
    rc = master_metrics_open(m);
    if (rc)
        return err_set(err, rc, "the shared memory of metrics cannot be made: %s", err_text(rc));
    rc = control_open(m, &m->control, err);
    if (rc == 0)
        rc = master_listen(m, err);
    if (rc == 0)
        rc = master_listen_metrics(m, err);
    if (rc == 0)
        rc = stores_listen(m, err);
    if (rc == 0)
        rc = databases_init(m, err);
    return rc;
}

static void master_fini(struct master *m)
{
    if (m->loop)
        deploy_fini(m);
    generation_free_all(m);
    control_stopped(m->control);
    control_close(m->control);
    net_watch_close(m->front_watch);
    sock_close(m->front);
    roles_close_sides(m);
    sock_close(m->listener);
    sock_close(m->metrics_listener);
    master_metrics_close(m);
    fs_close(m->bell);
    if (m->loop) {
        net_timer_close(m->stop_timer);
        net_timer_close(m->kv.side.restart);
        net_timer_close(m->db.side.restart);
        net_timer_close(m->front_restart);
        net_timer_close(m->watchdog);
        net_timer_close(m->sites_timer);
        for (size_t i = 0; i < m->nsignals; i++)
            net_signal_close(m->signals[i]);
        net_loop_free(m->loop);
    }
    if (m->pid_path)
        (void)!fs_unlink(m->pid_path); /* somebody may have removed it */
    mem_free(m->pid_path);
    stores_fini(m);
    databases_fini(m);
    config_unref(m->config);
}

int master_main(const struct master_options *opt)
{
    struct master m = {.opt = opt,
        .listener = SOCK_NONE,
        .metrics_listener = SOCK_NONE,
        .front = SOCK_NONE,
        .bell = -1,
        .metrics_fd = -1,
        .kv = {.side.socket = SOCK_NONE, .tcp = SOCK_NONE, .local = SOCK_NONE, .lock_fd = -1},
        .db = {.side.socket = SOCK_NONE, .tcp = SOCK_NONE, .local = SOCK_NONE}};
    list_init(&m.kv.leaving);
    list_init(&m.db.jobs);
    struct err err = {0};
    const char *which = "";
    int rc;

    list_init(&m.generations);
    list_init(&m.sites);
    process_ignore_sigpipe();
    rc = master_prepare(&m, &err);
    if (rc == 0) {
        master_raise_limits();
        m.stop_timer = net_timer_open(m.loop, master_stop_is_late, &m);
        m.front_restart = net_timer_open(m.loop, roles_restart_front, &m);
        net_loop_on_sleep(m.loop, master_before_sleep, &m);
        master_start_watchdog(&m);
        sites_init(&m);
        rc = roles_start_sides(&m, &which);
        if (rc == 0) {
            which = "the front";
            rc = roles_start_front(&m);
        }
        if (rc)
            (void)err_set(&err, rc, "%s cannot be started: %s", which, err_text(rc));
    }
    if (rc == 0 && master_has_default(m.config))
        rc = deploy_begin(deploy_site_add(&m, "default", NULL), OP_START, NULL, &err);
    if (rc) {
        if (err.line)
            fprintf(stderr, "ephpm: %s (line %d, column %d)\n", err.text, err.line, err.col);
        else
            fprintf(stderr, "ephpm: %s\n", err.text);
        m.exit_code = 1;
        if (m.front_pid && !m.stopping)
            master_stop(&m, err.text);
    }
    if (m.front_pid)
        net_loop_run(m.loop);
    master_fini(&m);
    return m.exit_code;
}
