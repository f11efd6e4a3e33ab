/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <signal.h>
#include <stdio.h>

#include "base/mem.h"
#include "core/log.h"
#include "engine/boot.h"
#include "engine/channel.h"
#include "engine/ini.h"
#include "engine/master.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/sysinfo.h"

enum { GENERATION_REQUEST_RING = 256 << 10, GENERATION_RESPONSE_RING = 256 << 10 };

struct generation *generation_new(struct site *s, const char *root, bool jit_off)
{
    struct generation *g = mem_new(sizeof(*g));
    struct master *m = s->master;

    g->master = m;
    g->of = s;
    g->id = ++m->next_generation;
    g->site = mem_dup_str(s->name, strlen(s->name));
    g->root = mem_dup_str(root, strlen(root));
    g->jit_off = jit_off;
    g->socket = SOCK_NONE;
    g->opcache_fd = -1;
    g->started_ms = clock_mono_ms();
    list_init(&g->workers);
    list_push(&m->generations, &g->node);
    return g;
}

struct generation *generation_find(struct master *m, uint64_t id)
{
    list_each (it, &m->generations) {
        struct generation *g = CONTAINER_OF(it, struct generation, node);

        if (g->id == id)
            return g;
    }
    return NULL;
}

/* --- boot ------------------------------------------------------------------------------------- */

/* The command that behaves as `php`, for PHP_BINARY. */
static void generation_php_binary(const struct generation *g, char *out, size_t cap)
{
    int major = 0, minor = 0;

    (void)sscanf(g->php_version, "%d.%d", &major, &minor);
    (void)snprintf(out, cap, "/usr/bin/php%d.%d", major, minor);
    if (fs_readable(out))
        (void)snprintf(out, cap, "/usr/bin/php");
    if (fs_readable(out))
        out[0] = '\0';
}

static struct boot_db generation_db(const struct site *s, struct buf *name)
{
    const struct master *m = s->master;

    if (!s->db_password)
        return (struct boot_db){0};
    databases_name(s, name);
    return (struct boot_db){.socket = m->db.socket,
        .port = m->db.tcp_port,
        .user = databases_user(s),
        .password = s->db_password,
        .name = buf_cstr(name)};
}

static int generation_send_boot(struct generation *g, const struct config *cfg, struct str ini)
{
    struct ipc_out out;
    struct buf db_name = {0};
    char php[64];

    generation_php_binary(g, php, sizeof(php));
    ipc_begin(&out, "boot");
    ipc_add(&out, "site", str_c(g->site));
    ipc_add_u64(&out, "generation", g->id);
    ipc_add_u64(&out, "log_level", (uint64_t)log_get_level());
    ipc_add_u64(&out, "max_requests", (uint64_t)cfg->php.max_requests);
    ipc_add_u64(&out, "max_memory", g->shape.max_worker_memory);
    ipc_add(&out, "sapi_name", str_c(cfg->php.sapi_name));
    ipc_add(&out, "ini_file", str_c(cfg->php.ini_file));
    if (cfg->php.ini_scan_dir) /* an empty one means that none is read */
        ipc_add(&out, "ini_scan_dir", str_c(cfg->php.ini_scan_dir));
    ipc_add(&out, "ini_entries", ini);
    ipc_add(&out, "php_binary", str_c(php));
    ipc_add_u64(&out, "clear_env", config_clear_env(cfg));
    ipc_add_u64(&out, "chdir", 1);
    ipc_add_u64(&out, "user_ini", cfg->php.user_ini);
    ipc_add_u64(&out, "huge_pages", cfg->php.huge_pages);
    boot_add_settings(&out, cfg,
        &(struct boot_options){
            .site = g->site,
            .user_env = g->master->set_user || config_clear_env(cfg),
            .uid = g->master->set_user ? g->master->uid : process_uid(),
            .kv = g->master->kv_config,
            .redis_port = g->master->kv.tcp_port,
            .db = generation_db(g->of, &db_name),
        });
    buf_fini(&db_name);
    if (g->of->kv_fd >= 0)
        ipc_add_fd(&out, g->of->kv_fd);
    return ipc_send(g->socket, &out);
}

/* Makes a folder for the run user alone; one that is there becomes it. */
static int generation_private_dir(struct master *m, const char *path)
{
    uint32_t uid = m->set_user ? m->uid : process_uid();
    struct fs_stat st = {0};
    int rc = fs_mkdir(path, 0700);

    if (rc && rc != ERR_EXISTS)
        return rc;
    rc = fs_lstat(path, &st);
    if (rc == 0 && st.kind != FS_DIR)
        rc = ERR_NOTDIR;
    if (rc || st.uid == uid)
        return rc;
    if (!process_is_root())
        return ERR_ACCESS; /* somebody else's: /tmp is everybody's */
    return m->set_user ? fs_set_owner(path, m->uid, m->gid) : 0;
}

/* A folder of the master's own. */
static int generation_own_dir(const char *path)
{
    struct fs_stat st;
    int rc = fs_mkdir(path, process_is_root() ? 0755 : 0700);

    if (rc != ERR_EXISTS)
        return rc;
    rc = fs_lstat(path, &st);
    if (rc == 0 && (st.kind != FS_DIR || st.uid != process_uid()))
        rc = ERR_ACCESS; /* /tmp is everybody's */
    return rc;
}

int generation_base_dir(struct buf *out)
{
    if (process_is_root())
        buf_printf(out, "/var/lib/ephpm");
    else
        buf_printf(out, "/tmp/ephpm-%u", (unsigned)process_uid());
    return generation_own_dir(buf_cstr(out));
}

/* tmp and sessions of a site of sites_dir: STATE/NAME/{tmp,sessions}. */
static int generation_state_dir(struct generation *g, struct buf *out, struct err *err)
{
    static const char *const parts[] = {"", "/tmp", "/sessions"};
    struct buf path = {0};
    int rc = generation_base_dir(out);

    buf_printf(out, "/sites");
    if (rc == 0)
        rc = generation_own_dir(buf_cstr(out));
    buf_printf(out, "/%s", g->site);
    for (size_t i = 0; rc == 0 && i < ARRAY_LEN(parts); i++) {
        buf_clear(&path);
        buf_printf(&path, "%s%s", buf_cstr(out), parts[i]);
        rc = generation_private_dir(g->master, buf_cstr(&path));
    }
    buf_fini(&path);
    return rc ? err_set(err, rc, "the private folder %s of site %s: %s", buf_cstr(out), g->site,
                    err_text(rc))
              : 0;
}

/* PHP's settings for the generation; those of a site in sites_dir keep it to itself. */
static int generation_ini(
    struct generation *g, struct config *cfg, struct buf *out, struct err *err)
{
    struct buf state = {0}, basedir = {0};
    struct ini_site site = {
        .own = config_php_site(cfg, g->site),
        .store = g->of->kv_fd >= 0,
        .db_socket = g->of->db_password ? g->master->db.socket : NULL,
    };
    int rc;

    if (!g->of->folder)
        return ini_build(cfg, &g->shape, &site, out, err);
    rc = generation_state_dir(g, &state, err);
    if (rc == 0) {
        site.state_dir = buf_cstr(&state);
        buf_printf(&basedir, "%s:%s", g->root, site.state_dir);
        if (config_open_basedir(cfg))
            site.open_basedir = buf_cstr(&basedir);
        rc = ini_build(cfg, &g->shape, &site, out, err);
    }
    buf_fini(&state);
    buf_fini(&basedir);
    return rc;
}

void generation_hello(struct generation *g, struct ipc_in *in)
{
    (void)snprintf(g->php_version, sizeof(g->php_version), "%s", ipc_get_c(in, "php_version"));
    (void)snprintf(g->vm_kind, sizeof(g->vm_kind), "%s", ipc_get_c(in, "vm"));
    g->vm_has_jit = ipc_get_u64(in, "vm_has_jit") != 0;
    if (stores_is_reading(g->of) && g->of->op.next == g)
        net_timer_stop(g->of->op.timeout); /* a large store takes its time */
    else
        generation_boot(g);
}

void generation_boot(struct generation *g)
{
    struct master *m = g->master;
    struct config *cfg = g->of->op.next == g && g->of->op.config ? g->of->op.config : m->config;
    struct sysinfo_memory memory = sysinfo_memory(NULL);
    struct sysinfo_cpu cpu = sysinfo_cpu(NULL);
    struct buf ini = {0};
    struct err err = {0};
    int rc;

    rc = shape_resolve(cfg, cfg->mode, &memory, &cpu, g->php_version, &g->shape, &err);
    if (rc == 0 && !g->vm_has_jit)
        shape_without_jit(&g->shape);
    if (rc == 0 && g->jit_off) {
        g->shape.jit = CONFIG_JIT_DISABLE;
        g->shape.jit_buffer_mb = 0;
        g->shape.jit_reason = "workers crashed in a loop";
    } else if (rc == 0) {
        jit_auto_choose(g, cfg);
    }
    if (rc == 0)
        rc = generation_ini(g, cfg, &ini, &err);
    for (size_t i = 0; rc == 0 && g->shape.warnings[i]; i++)
        log_warn("config_warning", F_CSTR("text", g->shape.warnings[i]));
    if (rc == 0) {
        rc = generation_send_boot(g, cfg, buf_str(&ini));
        if (rc == ERR_TOOBIG)
            (void)err_set(&err, rc, "the settings of PHP are too long together");
        else if (rc)
            (void)err_set(&err, rc, "the prototype does not answer: %s", err_text(rc));
    }
    buf_fini(&ini);
    if (rc && g->of->op.next == g)
        deploy_failed(g->of, "%s", err.text);
}

void generation_tell_front(struct generation *g)
{
    struct ipc_out out;

    ipc_begin(&out, "generation");
    ipc_add(&out, "site", str_c(g->site));
    ipc_add_u64(&out, "generation", g->id);
    ipc_add(&out, "root", str_c(g->root));
    ipc_add(&out, "php", str_c(g->php_version));
    ipc_add(&out, "vm", str_c(g->vm_kind));
    ipc_add_u64(&out, "follow", g->master->config->mode == CONFIG_DEV);
    roles_tell_front(g->master, &out);
    g->known_to_front = true;
    if (g->state == GEN_ACTIVE) {
        ipc_begin(&out, "activate");
        ipc_add_u64(&out, "generation", g->id);
        roles_tell_front(g->master, &out);
    }
}

/* --- workers ---------------------------------------------------------------------------------- */

static void generation_worker_free(struct master_worker *w)
{
    list_remove(&w->node);
    fs_close(w->channel_fd);
    fs_close(w->socket_fd);
    mem_free(w);
}

static void generation_say_fork_failed(
    struct generation *g, bool reserve, bool asked, const char *why)
{
    struct ipc_out out;

    log_error("worker_start_failed", F_UINT("generation", g->id), F_CSTR("error", why));
    if (asked) {
        ipc_begin(&out, "fork_failed");
        ipc_add_u64(&out, "generation", g->id);
        ipc_add_u64(&out, "reserve", reserve);
        roles_tell_front(g->master, &out);
    }
    if (g->of->op.next == g)
        deploy_failed(g->of, "no worker could be started: %s", why);
}

void generation_fork(struct generation *g, bool reserve, bool asked)
{
    struct channel_sizes sizes = {GENERATION_REQUEST_RING, GENERATION_RESPONSE_RING};
    struct master_worker *w;
    struct ipc_out out;
    sock_t pair[2] = {SOCK_NONE, SOCK_NONE};
    char why[96];
    int rc;

    if (g->state == GEN_BOOTING && asked && !reserve) {
        g->wanted++;
        return;
    }
    if (g->state == GEN_BOOTING || g->state == GEN_ENDED || g->socket == SOCK_NONE) {
        generation_say_fork_failed(g, reserve, asked, "its prototype is gone");
        return;
    }
    w = mem_new(sizeof(*w));
    w->generation = g;
    w->id = ++g->master->next_worker;
    w->reserve = reserve;
    w->asked = asked;
    w->asked_us = clock_mono_ns() / 1000;
    w->channel_fd = w->socket_fd = -1;
    list_push(&g->workers, &w->node);
    rc = channel_create(sizes, &w->channel_fd);
    if (rc) {
        (void)snprintf(why, sizeof(why), "its shared memory cannot be made: %s", err_text(rc));
        generation_worker_free(w);
        generation_say_fork_failed(g, reserve, asked, why);
        return;
    }
    rc = sock_pair(pair);
    w->socket_fd = (int)pair[0];
    if (rc == 0) {
        ipc_begin(&out, "fork");
        ipc_add_u64(&out, "worker", w->id);
        ipc_add_fd(&out, w->channel_fd);
        ipc_add_fd(&out, (int)pair[1]);
        ipc_add_fd(&out, g->master->bell);
        rc = ipc_send(g->socket, &out);
    }
    sock_close(pair[1]);
    if (rc) {
        generation_worker_free(w);
        generation_say_fork_failed(g, reserve, asked, err_text(rc));
    }
}

static struct master_worker *generation_worker(struct generation *g, uint64_t id)
{
    list_each (it, &g->workers) {
        struct master_worker *w = CONTAINER_OF(it, struct master_worker, node);

        if (w->id == id)
            return w;
    }
    return NULL;
}

static void generation_worker_ended(struct master_worker *w, const struct process_status *st)
{
    struct generation *g = w->generation;
    struct ipc_out out;
    bool crashed = st->end == PROCESS_SIGNALED || st->code != 0;

    master_metrics_reaped(g->master, METRIC_ROLE_WORKER, st);
    ipc_begin(&out, "worker_gone");
    ipc_add_u64(&out, "worker", w->id);
    ipc_add_u64(&out, "code", st->end == PROCESS_EXITED ? (uint64_t)st->code : 0);
    ipc_add_u64(&out, "signal", st->end == PROCESS_SIGNALED ? (uint64_t)st->code : 0);
    roles_tell_front(g->master, &out);
    crashed = crashed && !w->killed;
    generation_worker_free(w);
    if (crashed && g->state == GEN_ACTIVE)
        deploy_count_crash(g->of, g);
    else if (crashed && g->state == GEN_TRIAL)
        jit_auto_count_crash(g->of);
}

void generation_forked(struct generation *g, struct ipc_in *in)
{
    struct master *m = g->master;
    struct master_worker *w = generation_worker(g, ipc_get_u64(in, "worker"));
    struct ipc_out out;

    if (!w)
        return;
    w->pid = (int64_t)ipc_get_u64(in, "pid");
    ipc_begin(&out, "worker");
    ipc_add_u64(&out, "worker", w->id);
    ipc_add_u64(&out, "pid", (uint64_t)w->pid);
    ipc_add_u64(&out, "generation", g->id);
    ipc_add_u64(&out, "reserve", w->reserve);
    ipc_add_u64(&out, "asked", w->asked);
    ipc_add_u64(&out, "asked_us", w->asked_us);
    ipc_add_fd(&out, w->channel_fd);
    ipc_add_fd(&out, w->socket_fd);
    roles_tell_front(m, &out);
    fs_close(w->channel_fd);
    fs_close(w->socket_fd);
    w->channel_fd = w->socket_fd = -1;
    for (size_t i = 0; i < MASTER_ORPHANS; i++) {
        struct process_status st = m->orphans[i];

        if (st.pid != w->pid)
            continue;
        m->orphans[i] = (struct process_status){0};
        generation_worker_ended(w, &st);
        deploy_worker(g->of, g);
        return;
    }
    if (w->killed)
        (void)!process_kill(w->pid, SIGKILL); /* it may be gone */
    deploy_worker(g->of, g);
}

void generation_fork_failed(struct generation *g, struct ipc_in *in)
{
    struct master_worker *w = generation_worker(g, ipc_get_u64(in, "worker"));

    if (!w)
        return;
    struct master_worker failed = *w;

    generation_worker_free(w); /* first: a failed deploy frees them all */
    generation_say_fork_failed(g, failed.reserve, failed.asked, ipc_get_c(in, "error"));
}

void generation_signal_worker(struct master *m, uint64_t worker, enum pool_signal how)
{
    int sig = how == POOL_INTERRUPT ? SIGUSR1 : how == POOL_ABORT ? SIGABRT : SIGKILL;

    list_each (it, &m->generations) {
        struct master_worker *w =
            generation_worker(CONTAINER_OF(it, struct generation, node), worker);

        if (!w)
            continue;
        if (how != POOL_INTERRUPT)
            w->killed = true;
        if (w->pid)
            (void)!process_kill(w->pid, sig); /* it may be gone */
        return;
    }
}

void generation_kill_workers(struct generation *g)
{
    list_each_safe (it, &g->workers) {
        struct master_worker *w = CONTAINER_OF(it, struct master_worker, node);

        w->killed = true;
        if (w->pid)
            (void)!process_kill(w->pid, SIGKILL); /* it may be gone */
    }
}

/* --- end -------------------------------------------------------------------------------------- */

static void generation_drain_over(void *arg)
{
    struct generation *g = arg;
    struct ipc_out out;

    log_warn("drain_timeout", F_UINT("generation", g->id));
    ipc_begin(&out, "abandon");
    ipc_add_u64(&out, "generation", g->id);
    roles_tell_front(g->master, &out);
}

void generation_drain(struct generation *g)
{
    struct ipc_out out;

    if (g->state == GEN_DRAINING || g->state == GEN_ENDED)
        return;
    if (g->of->active == g)
        g->of->active = NULL;
    g->state = GEN_DRAINING;
    ipc_begin(&out, "retire");
    ipc_add_u64(&out, "generation", g->id);
    roles_tell_front(g->master, &out);
    g->drain = net_timer_open(g->master->loop, generation_drain_over, g);
    if (g->master->config->deploy.drain)
        net_timer_start(g->drain, g->master->config->deploy.drain, 0);
    if (!g->known_to_front)
        generation_end(g);
}

void generation_drained(struct generation *g)
{
    log_info("generation_ended", F_CSTR("site", g->site), F_UINT("generation", g->id),
        F_UINT("lived_ms", clock_mono_ms() - g->started_ms));
    g->known_to_front = false;
    generation_end(g);
}

void generation_end(struct generation *g)
{
    struct master *m = g->master;

    if (g->of->active == g)
        g->of->active = NULL;
    if (g->known_to_front) {
        struct ipc_out out;

        ipc_begin(&out, "retire");
        ipc_add_u64(&out, "generation", g->id);
        roles_tell_front(m, &out);
        g->known_to_front = false;
    }
    g->state = GEN_ENDED;
    net_watch_close(g->watch);
    g->watch = NULL;
    sock_close(g->socket); /* the prototype ends by this */
    g->socket = SOCK_NONE;
    net_timer_close(g->drain);
    g->drain = NULL;
    generation_kill_workers(g);
    list_each_safe (it, &g->workers) {
        struct master_worker *w = CONTAINER_OF(it, struct master_worker, node);

        if (!w->pid)
            generation_worker_free(w); /* its answer will not come */
    }
    if (g->pid) /* not SIGTERM: one that hangs or is stopped would keep its memory for ever */
        (void)!process_kill(g->pid, SIGKILL); /* it may be gone */
}

static void generation_free(struct generation *g)
{
    list_remove(&g->node);
    net_watch_close(g->watch);
    net_timer_close(g->drain);
    sock_close(g->socket);
    fs_close(g->opcache_fd);
    mem_free(g->site);
    mem_free(g->root);
    mem_free(g);
}

void generation_free_all(struct master *m)
{
    list_each_safe (it, &m->generations) {
        struct generation *g = CONTAINER_OF(it, struct generation, node);

        list_each_safe (wit, &g->workers)
            generation_worker_free(CONTAINER_OF(wit, struct master_worker, node));
        generation_free(g);
    }
}

void generation_sweep(struct master *m)
{
    list_each_safe (it, &m->generations) {
        struct generation *g = CONTAINER_OF(it, struct generation, node);

        if (g->state == GEN_ENDED && !g->pid && list_empty(&g->workers))
            generation_free(g);
    }
}

/* Its prototype ended before it answered. */
static void generation_fork_lost(struct master_worker *w)
{
    struct generation *g = w->generation;
    bool reserve = w->reserve, asked = w->asked;

    generation_worker_free(w);
    generation_say_fork_failed(g, reserve, asked, "its prototype ended");
}

static void generation_prototype_ended(struct generation *g, const struct process_status *st)
{
    struct master *m = g->master;
    bool was_active = g->of->active == g;

    g->pid = 0;
    master_metrics_reaped(m, METRIC_ROLE_PROTOTYPE, st);
    net_watch_close(g->watch);
    g->watch = NULL;
    sock_close(g->socket);
    g->socket = SOCK_NONE;
    if (g->state == GEN_ENDED || m->stopping)
        return;
    metric_count(m->metrics, METRIC_ROLE_RESTARTS, METRIC_CHILD_PROTOTYPE, 0);
    log_error("role_died", F_CSTR("role", "prototype"), F_UINT("generation", g->id),
        F_INT("pid", st->pid),
        F_CSTR("signal", st->end == PROCESS_SIGNALED ? process_signal_name(st->code) : NULL),
        F_INT("code", st->code));
    if (g->of->op.next == g)
        deploy_failed(g->of, "the prototype ended (%s %d)",
            st->end == PROCESS_SIGNALED ? "signal" : "exit code", st->code);
    list_each_safe (it, &g->workers) {
        struct master_worker *w = CONTAINER_OF(it, struct master_worker, node);

        if (!w->pid)
            generation_fork_lost(w);
    }
    if (was_active)
        deploy_prototype_lost(g->of); /* its workers go on */
    else if (g->state == GEN_TRIAL)
        jit_auto_rival_lost(g->of, "its prototype ended");
}

static bool generation_awaits_worker(struct master *m)
{
    list_each (it, &m->generations) {
        struct generation *g = CONTAINER_OF(it, struct generation, node);

        list_each (wit, &g->workers)
            if (!CONTAINER_OF(wit, struct master_worker, node)->pid)
                return true;
    }
    return false;
}

bool generation_reaped(struct master *m, const struct process_status *st)
{
    list_each_safe (it, &m->generations) {
        struct generation *g = CONTAINER_OF(it, struct generation, node);

        if (g->pid == st->pid) {
            generation_prototype_ended(g, st);
        } else {
            struct master_worker *found = NULL;

            list_each (wit, &g->workers) {
                struct master_worker *w = CONTAINER_OF(wit, struct master_worker, node);

                if (w->pid == st->pid)
                    found = w;
            }
            if (!found)
                continue;
            generation_worker_ended(found, st);
        }
        return true;
    }
    /* A worker whose announcement is still on its way, or something that PHP left behind. */
    if (generation_awaits_worker(m))
        m->orphans[m->norphans++ % MASTER_ORPHANS] = *st;
    else
        memset(m->orphans, 0, sizeof(m->orphans)); /* process numbers come again */
    return false;
}
