/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/kvrole.h"

#include "base/list.h"
#include "base/mem.h"
#include "core/json.h"
#include "core/log.h"
#include "engine/kvsave.h"
#include "engine/metric_table.h"
#include "kv/lock.h"
#include "kv/redis/server.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/process.h"

/*
 * Sweeping: each store is walked once in KVROLE_CYCLE ticks, so an expired key that nobody asks for
 * goes within about a minute. A tick works for KVROLE_BUDGET_NS at most, then lets the loop serve
 * others and goes on soon: a large store takes longer, never more of the processor. A part of a
 * store without keys costs nothing, and without a store there is no tick.
 */
enum {
    KVROLE_TICK_MS = 1000,
    KVROLE_CYCLE = 60,
    KVROLE_BUDGET_NS = 2000000,
    KVROLE_SOON_MS = 20,
    KVROLE_SLICE = 512, /* buckets between two looks at the clock */
    KVROLE_RECLAIM = 4, /* steps of kv_store_reclaim(), the same */
    KVROLE_LISTENERS = 2,
    KVROLE_EVENT_MS = 50,          /* versions that come within it are one event */
    KVROLE_BYTES_PER_BUCKET = 256, /* of a store there is at most one bucket for so many */
    KVROLE_LOCK_KEYS = 1000,       /* looked at once in a cycle for locks of the dead */
};

struct kvrole_site {
    struct list node;
    char *name;
    struct kv_store *store;
    struct kvsave_site *save; /* NULL: nothing is kept */
    bool served;              /* to Redis clients */
    unsigned label;           /* value of METRIC_LABEL_SITE */
    uint64_t due;             /* buckets of this tick that are left */
    uint64_t locks;           /* where to look next for locks of the dead */
    char version[64];         /* that was announced last, cut */
    bool announced;           /* and the master was not told yet */
};

struct kvrole {
    struct net_loop *loop;
    sock_t master;
    struct net_watch *master_watch;
    struct config *config;
    struct metrics *metrics;
    struct redis_server *redis;
    struct kvsave *save;     /* NULL: without kv.persist */
    struct redis_stats seen; /* as far as it is in the metrics */
    sock_t listeners[KVROLE_LISTENERS];
    size_t nlisteners;
    struct list sites;
    struct net_timer *tick;
    struct net_timer *soon;
    unsigned ticks;
    struct net_timer *events;
    bool events_armed;
    int exit_code;
};

static void kvrole_tell(struct kvrole *r, struct ipc_out *m)
{
    int rc = ipc_send(r->master, m);

    if (rc) {
        log_error("master_lost", F_ERR(rc));
        r->exit_code = 1;
        net_loop_stop(r->loop);
    }
}

/* --- sweeping --------------------------------------------------------------------------------- */

static void kvrole_sweep(void *arg)
{
    struct kvrole *r = arg;
    uint64_t end = clock_mono_ns() + KVROLE_BUDGET_NS;

    list_each (it, &r->sites) {
        struct kvrole_site *s = CONTAINER_OF(it, struct kvrole_site, node);

        while (s->due) {
            size_t n = (size_t)MIN(s->due, (uint64_t)KVROLE_SLICE);

            if (clock_mono_ns() >= end) {
                net_timer_start(r->soon, KVROLE_SOON_MS, 0);
                return;
            }
            kv_store_sweep(s->store, n);
            s->due -= n;
        }
    }
    /* Afterwards, so that the garbage of one site does not hold up what expires in another. */
    list_each (it, &r->sites) {
        struct kvrole_site *s = CONTAINER_OF(it, struct kvrole_site, node);

        while (kv_store_reclaim(s->store, KVROLE_RECLAIM)) {
            if (clock_mono_ns() >= end) {
                net_timer_start(r->soon, KVROLE_SOON_MS, 0);
                return;
            }
        }
    }
}

/* A killed worker's lock of a session goes to the next request for it; most have none. */
static void kvrole_sweep_locks(struct kvrole *r)
{
    list_each (it, &r->sites) {
        struct kvrole_site *s = CONTAINER_OF(it, struct kvrole_site, node);

        (void)kv_lock_sweep(s->store, &s->locks, STR(KV_SESSION_LOCK), KVROLE_LOCK_KEYS);
    }
}

static void kvrole_on_tick(void *arg)
{
    struct kvrole *r = arg;

    if (r->ticks++ % KVROLE_CYCLE == 0)
        kvrole_sweep_locks(r);
    list_each (it, &r->sites) {
        struct kvrole_site *s = CONTAINER_OF(it, struct kvrole_site, node);
        struct kv_stats st;

        kv_store_stats(s->store, &st);
        s->due = st.keys ? st.memory / KVROLE_BYTES_PER_BUCKET / KVROLE_CYCLE : 0;
    }
    net_timer_stop(r->soon);
    kvrole_sweep(r);
}

/* --- Redis clients ---------------------------------------------------------------------------- */

static bool kvrole_is_named(const struct kvrole_site *s, struct str name)
{
    return str_eq(name, STR("_all")) || str_eq(name, str_c(s->name)) ||
           (str_eq(name, STR("_default")) && strcmp(s->name, "default") == 0);
}

/* The same version again announces nothing. */
static bool kvrole_take_version(struct kvrole_site *s, struct str value)
{
    struct str is = str_sub(value, 0, sizeof(s->version) - 1);

    if (str_eq(is, str_c(s->version)))
        return false;
    (void)str_put(s->version, sizeof(s->version), is);
    s->announced = true;
    return true;
}

static void kvrole_on_opcache(
    void *arg, const char *site, bool is_default, struct str key, struct str value)
{
    struct kvrole *r = arg;
    struct str prefix = STR("opcache:version:"), name;
    bool any = false, known = false;

    if (!str_starts(key, prefix))
        return;
    name = str_sub(key, prefix.len, key.len);
    list_each (it, &r->sites) {
        struct kvrole_site *s = CONTAINER_OF(it, struct kvrole_site, node);

        if (!kvrole_is_named(s, name) || !(is_default || strcmp(s->name, site) == 0))
            continue;
        known = true;
        any = kvrole_take_version(s, value) || any;
    }
    if (!known)
        log_warn("deploy_event_ignored", F_STR("key", key), F_CSTR("client_of", site),
            F_CSTR("reason", "no site of that name runs, or the client is another site's"));
    if (any && !r->events_armed) {
        r->events_armed = true;
        net_timer_start(r->events, KVROLE_EVENT_MS, 0);
    }
}

static void kvrole_tell_events(void *arg)
{
    struct kvrole *r = arg;

    r->events_armed = false;
    list_each (it, &r->sites) {
        struct kvrole_site *s = CONTAINER_OF(it, struct kvrole_site, node);
        struct ipc_out out;

        if (!s->announced)
            continue;
        s->announced = false;
        ipc_begin(&out, "deploy");
        ipc_add(&out, "site", str_c(s->name));
        ipc_add(&out, "version", str_c(s->version));
        kvrole_tell(r, &out);
    }
}

/* What was deployed, where Redis clients and PHP can read it. */
static void kvrole_on_revision(struct kvrole *r, struct ipc_in *m)
{
    struct kv_value v = {.type = KV_STRING, .bytes = ipc_get(m, "text")};
    struct str name = ipc_get(m, "site");
    struct buf key = {0};
    int rc = ERR_NOTFOUND;

    buf_printf(&key, "opcache:revision:" STR_F,
        STR_A(str_eq(name, STR("default")) ? STR("_default") : name));
    list_each (it, &r->sites) {
        struct kvrole_site *s = CONTAINER_OF(it, struct kvrole_site, node);

        if (str_eq(str_c(s->name), name))
            rc = kv_store_set(s->store, buf_str(&key), &v, 0, 0);
    }
    if (rc)
        log_error("revision_not_kept", F_STR("key", buf_str(&key)), F_ERR(rc));
    buf_fini(&key);
}

/* It is there without listeners, too, for clients that come by the control socket. */
static int kvrole_open_redis(struct kvrole *r)
{
    const struct config_kv *kv = &r->config->kv;
    struct redis_hooks hooks = {.arg = r, .on_opcache = kvrole_on_opcache};
    struct redis_options opt = {
        .password = str_c(kv->redis.password ? kv->redis.password : ""),
        .secret = str_c(kv->secret ? kv->secret : ""),
        .many_sites = config_is_multi(r->config),
        .max_connections = (unsigned)kv->redis.max_connections,
        .max_input_buffer = (size_t)kv->redis.max_input_buffer,
        .idle_timeout_secs = (unsigned)(kv->redis.idle_timeout / 1000),
    };

    return redis_server_open(r->loop, &opt, &hooks, &r->redis);
}

static void kvrole_on_listen(struct kvrole *r, struct ipc_in *m)
{
    sock_t fd = (sock_t)ipc_take_fd(m, 0);
    int rc = fd != SOCK_NONE && r->nlisteners < KVROLE_LISTENERS ? redis_server_listen(r->redis, fd)
                                                                 : ERR_PROTO;

    if (rc) {
        log_error("redis_listen_failed", F_ERR(rc));
        sock_close(fd);
        return;
    }
    r->listeners[r->nlisteners++] = fd;
}

static void kvrole_on_client(struct kvrole *r, struct ipc_in *m)
{
    sock_t fd = (sock_t)ipc_take_fd(m, 0);
    int rc = fd != SOCK_NONE ? redis_server_adopt(r->redis, fd, ipc_get(m, "site")) : ERR_PROTO;

    if (rc) {
        log_error("redis_client_refused", F_STR("site", ipc_get(m, "site")), F_ERR(rc));
        sock_close(fd);
    }
}

/* --- messages --------------------------------------------------------------------------------- */

static struct kvrole_site *kvrole_find(struct kvrole *r, struct str name)
{
    list_each (it, &r->sites) {
        struct kvrole_site *s = CONTAINER_OF(it, struct kvrole_site, node);

        if (str_eq(str_c(s->name), name))
            return s;
    }
    return NULL;
}

/* Redis clients may use it: what they find is all there is. */
static void kvrole_serve(struct kvrole *r, struct kvrole_site *s)
{
    int rc = s->served ? 0 : redis_server_add_site(r->redis, s->name, s->store);

    s->served = rc == 0;
    if (rc)
        log_error("kv_store_refused", F_CSTR("site", s->name), F_ERR(rc));
}

static void kvrole_on_loaded(void *arg, const char *site, const char *error)
{
    struct kvrole *r = arg;
    struct kvrole_site *s = kvrole_find(r, str_c(site));
    struct ipc_out out;

    if (s && !error)
        kvrole_serve(r, s);
    ipc_begin(&out, "loaded");
    ipc_add(&out, "site", str_c(site));
    if (error)
        ipc_add(&out, "error", str_c(error));
    kvrole_tell(r, &out);
}

static void kvrole_tell_gone(void *arg, uint64_t number)
{
    struct ipc_out out;

    ipc_begin(&out, "gone");
    ipc_add_u64(&out, "number", number);
    kvrole_tell(arg, &out);
}

static void kvrole_configure(struct kvrole *r, struct ipc_in *m)
{
    struct err err = {0};
    int rc = config_deserialize(ipc_get(m, "text"), &r->config, &err);

    if (rc == 0) {
        log_init("kv", 2, (enum log_format)r->config->server.logging.format,
            (enum log_level)r->config->server.logging.level);
        rc = kvrole_open_redis(r);
        if (rc == 0 && r->config->kv.persist)
            rc = kvsave_open(
                r->loop, &r->config->kv, kvrole_on_loaded, kvrole_tell_gone, r, &r->save);
        if (rc)
            (void)err_set(&err, rc, "%s", err_text(rc));
    }
    if (rc) {
        log_alert("kv_start_failed", F_CSTR("error", err.text));
        r->exit_code = 1;
        net_loop_stop(r->loop);
    }
}

static void kvrole_on_site(struct kvrole *r, struct ipc_in *m)
{
    enum kvsave_how how = (enum kvsave_how)ipc_get_u64(m, "load");
    struct str name = ipc_get(m, "site");
    struct kvrole_site *s = kvrole_find(r, name);
    int fd = ipc_take_fd(m, 0), rc;

    if (s) {
        fs_close(fd);
        if (s->save)
            kvsave_again(r->save, s->save);
        return;
    }
    s = mem_new(sizeof(*s));
    rc = fd >= 0 ? kv_store_open(fd, &s->store) : ERR_PROTO;
    fs_close(fd);
    if (rc) {
        log_error("kv_store_refused", F_STR("site", name), F_ERR(rc));
        kv_store_close(s->store);
        mem_free(s);
        return;
    }
    s->name = mem_dup_str(name.p, name.len);
    s->label = metrics_claim(r->metrics, METRIC_LABEL_SITE, name);
    if (list_empty(&r->sites))
        net_timer_start(r->tick, KVROLE_TICK_MS, KVROLE_TICK_MS);
    list_push(&r->sites, &s->node);
    if (r->save)
        s->save = kvsave_add(r->save, s->name, s->store, how);
    if (!r->save || how == KVSAVE_LOADED)
        kvrole_serve(r, s);
}

static void kvrole_site_free(struct kvrole_site *s)
{
    list_remove(&s->node);
    kv_store_close(s->store);
    mem_free(s->name);
    mem_free(s);
}

static void kvrole_on_site_gone(struct kvrole *r, struct ipc_in *m)
{
    struct kvrole_site *s = kvrole_find(r, ipc_get(m, "site"));

    if (!s) { /* its store was refused */
        kvrole_tell_gone(r, ipc_get_u64(m, "number"));
        return;
    }
    redis_server_remove_site(r->redis, s->name);
    if (s->save) {
        kvsave_remove(r->save, s->save, s->store, ipc_get_u64(m, "number"));
        s->store = NULL; /* it closes it */
    }
    metrics_clear_value(r->metrics, METRIC_LABEL_SITE, s->label);
    kvrole_site_free(s);
    if (list_empty(&r->sites))
        net_timer_stop(r->tick);
}

static void kvrole_write_site(struct kvrole_site *s, struct json_writer *w)
{
    struct kv_stats st;

    kv_store_stats(s->store, &st);
    json_open_object(w);
    json_add_str(w, "site", str_c(s->name));
    json_add_uint(w, "keys", st.keys);
    json_add_uint(w, "used", st.used);
    json_add_uint(w, "memory", st.memory);
    json_add_uint(w, "hits", st.hits);
    json_add_uint(w, "misses", st.misses);
    json_add_uint(w, "expired", st.expired);
    json_add_uint(w, "evicted", st.evicted);
    json_add_uint(w, "repaired", st.repaired);
    json_add_uint(w, "dropped", st.dropped);
    if (s->save)
        kvsave_write_status(s->save, w);
    json_close_object(w);
}

static void kvrole_on_status(struct kvrole *r)
{
    struct buf b = {0};
    struct json_writer w = JSON_WRITER(&b);
    struct ipc_out out;

    json_open_object(&w);
    json_add_int(&w, "pid", process_id());
    json_key(&w, "sites");
    json_open_array(&w);
    list_each (it, &r->sites)
        kvrole_write_site(CONTAINER_OF(it, struct kvrole_site, node), &w);
    json_close_array(&w);
    json_close_object(&w);
    ipc_begin(&out, "status");
    if (ipc_add_long(&out, "json", buf_str(&b)))
        ipc_add(&out, "json", STR("{\"error\":\"there is no memory for the status\"}"));
    kvrole_tell(r, &out);
    buf_fini(&b);
}

/* The counts are the store's own, so they go on when this process is a new one. */
static void kvrole_sample_site(struct metrics *m, const struct kvrole_site *s)
{
    struct kv_stats st;

    kv_store_stats(s->store, &st);
    metric_gauge(m, METRIC_KV_KEYS, s->label, 0, st.keys);
    metric_gauge(m, METRIC_KV_USED, s->label, 0, st.used);
    metric_gauge(m, METRIC_KV_MEMORY, s->label, 0, st.memory);
    metrics_raise(m, METRIC_KV_HITS, s->label, st.hits);
    metrics_raise(m, METRIC_KV_MISSES, s->label, st.misses);
    metrics_raise(m, METRIC_KV_EXPIRED, s->label, st.expired);
    metrics_raise(m, METRIC_KV_EVICTED, s->label, st.evicted);
    metrics_raise(m, METRIC_KV_REPAIRED, s->label, st.repaired);
    metrics_raise(m, METRIC_KV_DROPPED, s->label, st.dropped);
}

/* The server's counts begin at 0 with this process, so what came since the last time is added. */
static void kvrole_sample_redis(struct kvrole *r)
{
    struct metrics *m = r->metrics;
    struct redis_stats now, *seen = &r->seen;

    redis_server_stats(r->redis, &now);
    if (!r->nlisteners && !now.connections)
        return;
    metric_gauge(m, METRIC_REDIS_CLIENTS, 0, 0, now.clients);
    metric_gauge(m, METRIC_REDIS_BLOCKED, 0, 0, now.blocked);
    metric_gauge(m, METRIC_REDIS_SUBSCRIBED, 0, 0, now.subscribed);
    metrics_add(m, METRIC_REDIS_CONNECTIONS, 0, now.connections - seen->connections);
    metrics_add(m, METRIC_REDIS_REJECTED, 0, now.rejected - seen->rejected);
    metrics_add(m, METRIC_REDIS_COMMANDS, 0, now.commands - seen->commands);
    metrics_add(m, METRIC_REDIS_ERRORS, 0, now.errors - seen->errors);
    metrics_add(m, METRIC_REDIS_RECEIVED, 0, now.bytes_in - seen->bytes_in);
    metrics_add(m, METRIC_REDIS_SENT, 0, now.bytes_out - seen->bytes_out);
    *seen = now;
}

static void kvrole_on_sample(struct kvrole *r)
{
    struct ipc_out out;

    list_each (it, &r->sites)
        kvrole_sample_site(r->metrics, CONTAINER_OF(it, struct kvrole_site, node));
    kvrole_sample_redis(r);
    ipc_begin(&out, "sampled");
    kvrole_tell(r, &out);
}

static void kvrole_on_message(struct kvrole *r, struct ipc_in *m)
{
    if (ipc_is(m, "config") && !r->redis)
        kvrole_configure(r, m);
    else if (!r->redis)
        log_alert("kv_message_too_early", F_STR("op", m->op));
    else if (ipc_is(m, "site"))
        kvrole_on_site(r, m);
    else if (ipc_is(m, "site_gone"))
        kvrole_on_site_gone(r, m);
    else if (ipc_is(m, "listen"))
        kvrole_on_listen(r, m);
    else if (ipc_is(m, "client"))
        kvrole_on_client(r, m);
    else if (ipc_is(m, "revision"))
        kvrole_on_revision(r, m);
    else if (ipc_is(m, "status"))
        kvrole_on_status(r);
    else if (ipc_is(m, "sample"))
        kvrole_on_sample(r);
}

static void kvrole_on_master(void *arg, int events)
{
    struct kvrole *r = arg;

    (void)events;
    for (;;) {
        struct ipc_in m;
        int rc = ipc_recv(r->master, &m);

        if (rc == ERR_AGAIN)
            return;
        if (rc) { /* the master closed it: the end */
            net_loop_stop(r->loop);
            return;
        }
        kvrole_on_message(r, &m);
        ipc_done(&m);
    }
}

/* --- life ------------------------------------------------------------------------------------- */

static void kvrole_fini(struct kvrole *r)
{
    redis_server_close(r->redis);
    kvsave_close(r->save); /* nobody writes any more */
    for (size_t i = 0; i < r->nlisteners; i++)
        sock_close(r->listeners[i]);
    list_each_safe (it, &r->sites)
        kvrole_site_free(CONTAINER_OF(it, struct kvrole_site, node));
    net_timer_close(r->tick);
    net_timer_close(r->soon);
    net_timer_close(r->events);
    net_watch_close(r->master_watch);
    net_loop_free(r->loop);
    config_unref(r->config);
    metrics_close(r->metrics);
}

int kvrole_main(void)
{
    struct kvrole r = {.master = (sock_t)KVROLE_SOCKET};
    struct ipc_out m;
    int rc;

    list_init(&r.sites);
    process_ignore_sigpipe();
    process_ignore_stop(); /* the last snapshot comes when nobody writes any more */
    process_guard();       /* as the front: all sites' stores are here */
    process_protect();
    rc = metrics_open(&metric_schema, KVROLE_METRICS, &r.metrics);
    if (rc == 0)
        rc = net_loop_new(&r.loop);
    if (rc == 0)
        rc = net_watch_open(r.loop, r.master, kvrole_on_master, &r, &r.master_watch);
    if (rc) {
        log_error("kv_start_failed", F_ERR(rc));
        return 1;
    }
    r.tick = net_timer_open(r.loop, kvrole_on_tick, &r);
    r.soon = net_timer_open(r.loop, kvrole_sweep, &r);
    r.events = net_timer_open(r.loop, kvrole_tell_events, &r);
    net_watch_set(r.master_watch, NET_READ);
    ipc_begin(&m, "ready");
    kvrole_tell(&r, &m);
    net_loop_run(r.loop);
    kvrole_fini(&r);
    return r.exit_code;
}
