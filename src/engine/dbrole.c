/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/dbrole.h"

#include <assert.h>

#include "base/list.h"
#include "base/mem.h"
#include "core/json.h"
#include "core/log.h"
#include "db/mysql/handshake.h"
#include "db/mysql/server.h"
#include "db/store/server.h"
#include "engine/config.h"
#include "engine/dbjob.h"
#include "engine/dbmetrics.h"
#include "engine/ipc.h"
#include "platform/clock.h"
#include "platform/process.h"

enum {
    DBROLE_LISTENERS = 2,
    DBROLE_STOP_MS = 4000, /* for statements and clients, at the end */
    DBROLE_DIGEST = 1024   /* bytes of a digest's text */
};

static_assert(DB_SYNC_FULL == 0 && DB_SYNC_NORMAL == 1 && DB_SYNC_OFF == 2,
    "the order of the names of db.sqlite.synchronous");

struct dbrole_site {
    struct list node;
    char *name;
    char *user;
    char *database;
    char *path;
    char error[512]; /* why it could not be opened; empty: it could, or is not yet */
};

struct dbrole {
    struct net_loop *loop;
    sock_t master;
    struct net_watch *master_watch;
    struct config *config;
    struct metrics *metrics;
    struct dbmetrics *seen; /* as far as it is in the metrics */
    struct db_stats stats;
    struct db_server *engine;
    struct mysql_server *server;
    struct dbjobs *jobs;
    sock_t listeners[DBROLE_LISTENERS];
    size_t nlisteners;
    struct list sites;
    uint64_t started_ms;
    int exit_code;
};

static void dbrole_tell(struct dbrole *r, struct ipc_out *m)
{
    int rc = ipc_send(r->master, m);

    if (rc) {
        log_error("master_lost", F_ERR(rc));
        r->exit_code = 1;
        net_loop_stop(r->loop);
    }
}

static struct dbrole_site *dbrole_find(struct dbrole *r, struct str name)
{
    list_each (it, &r->sites) {
        struct dbrole_site *s = CONTAINER_OF(it, struct dbrole_site, node);

        if (str_eq(str_c(s->name), name))
            return s;
    }
    return NULL;
}

static void dbrole_site_free(struct dbrole_site *s)
{
    list_remove(&s->node);
    mem_free(s->name);
    mem_free(s->user);
    mem_free(s->database);
    mem_free(s->path);
    mem_free(s);
}

/* --- jobs ------------------------------------------------------------------------------------- */

static void dbrole_on_opened(struct dbrole *r, const struct dbjob *job, const struct db_error *e)
{
    list_each (it, &r->sites) {
        struct dbrole_site *s = CONTAINER_OF(it, struct dbrole_site, node);

        if (!str_eq(str_c(s->database), job->database))
            continue;
        s->error[0] = '\0';
        if (e->number) {
            (void)str_put(s->error, sizeof(s->error), str_c(e->text));
            log_error("db_open_failed", F_CSTR("site", s->name), F_CSTR("path", s->path),
                F_CSTR("error", e->text));
        } else {
            log_info("db_opened", F_CSTR("site", s->name), F_CSTR("path", s->path));
        }
    }
}

static void dbrole_on_done(
    void *arg, const struct dbjob *job, const struct db_error *e, struct str report)
{
    struct dbrole *r = arg;
    struct ipc_out out;

    if (job->kind == DBJOB_OPEN) {
        dbrole_on_opened(r, job, e);
        return;
    }
    ipc_begin(&out, "done");
    ipc_add_u64(&out, "number", job->number);
    if (e->number)
        ipc_add(&out, "error", str_c(e->text));
    if (report.len && ipc_add_long(&out, "text", report))
        ipc_add(&out, "error", STR("there is no memory for the report"));
    dbrole_tell(r, &out);
}

static void dbrole_start_job(struct dbrole *r, const struct dbjob *job)
{
    struct db_error e;
    int rc = dbjobs_start(r->jobs, job);

    if (rc) {
        (void)db_error_text(&e, DB_E_UNKNOWN, "%s", err_text(rc));
        dbrole_on_done(r, job, &e, STR_NONE);
    }
}

static void dbrole_on_job(struct dbrole *r, struct ipc_in *m, enum dbjob_kind kind)
{
    dbrole_start_job(r, &(struct dbjob){.kind = kind,
                            .number = ipc_get_u64(m, "number"),
                            .database = ipc_get(m, "database"),
                            .path = ipc_get(m, "path")});
}

/* --- messages --------------------------------------------------------------------------------- */

static uint32_t dbrole_seconds(uint64_t ms)
{
    return (uint32_t)((ms + 999) / 1000);
}

static int dbrole_open_engine(struct dbrole *r, struct ipc_in *m, struct err *err)
{
    const struct config_db *db = &r->config->db;
    const struct config_analysis *a = &r->config->analysis;
    unsigned max = db->proxy.max_connections ? (unsigned)db->proxy.max_connections
                                             : (unsigned)MYSQL_MAX_CONNECTIONS;
    struct db_server_config engine = {
        .version = STR(MYSQL_VERSION),
        .socket = ipc_get(m, "socket"),
        .port = (uint16_t)ipc_get_u64(m, "port"),
        .synchronous = (enum db_synchronous)db->synchronous,
        .max_open = (uint32_t)db->max_open,
        .max_connections = max,
        .lock_wait_s = dbrole_seconds(db->lock_wait),
        .statement_ms = (uint32_t)db->statement_timeout,
        .stats = {.enabled = a->query_stats,
            .slow_ms = (uint32_t)a->slow_query,
            .max_digests = (uint32_t)a->digests,
            .digest_max = DBROLE_DIGEST},
    };
    struct mysql_options wire = {.stats = &r->stats,
        .max_connections = max,
        .tls_cert = db->proxy.tls_cert,
        .tls_key = db->proxy.tls_key};
    int rc = db_server_new(&engine, &r->stats, &r->engine, err);

    wire.engine = r->engine;
    if (rc == 0)
        rc = mysql_server_new(r->loop, &wire, &r->server, err);
    if (rc == 0)
        rc = dbjobs_new(r->loop, r->engine, dbrole_on_done, r, &r->jobs);
    return rc;
}

static void dbrole_configure(struct dbrole *r, struct ipc_in *m)
{
    struct err err = {0};
    int rc = config_deserialize(ipc_get(m, "text"), &r->config, &err);

    if (rc == 0) {
        log_init("db", 2, (enum log_format)r->config->server.logging.format,
            (enum log_level)r->config->server.logging.level);
        rc = dbrole_open_engine(r, m, &err);
        r->seen = dbmetrics_new(r->metrics, &r->stats, r->engine, r->config);
    }
    if (rc) {
        log_error("db_start_failed", F_CSTR("error", err.text[0] ? err.text : err_text(rc)));
        r->exit_code = 1;
        net_loop_stop(r->loop);
    }
}

static char *dbrole_copy(struct str s)
{
    return mem_dup_str(s.p, s.len);
}

static void dbrole_on_site(struct dbrole *r, struct ipc_in *m)
{
    struct db_file file = {
        .name = ipc_get(m, "database"), .path = ipc_get(m, "path"), .account = ipc_get(m, "user")};
    struct mysql_account account = {
        .user = file.account, .password = ipc_get(m, "password"), .database = file.name};
    struct dbrole_site *s = dbrole_find(r, ipc_get(m, "site"));
    struct err err = {0};

    if (s)
        dbrole_site_free(s);
    s = mem_new(sizeof(*s));
    s->name = dbrole_copy(ipc_get(m, "site"));
    s->user = dbrole_copy(file.account);
    s->database = dbrole_copy(file.name);
    s->path = dbrole_copy(file.path);
    list_push(&r->sites, &s->node);
    if (db_server_add(r->engine, &file, &err)) {
        (void)str_put(s->error, sizeof(s->error), str_c(err.text));
        log_error("db_refused", F_CSTR("site", s->name), F_CSTR("path", s->path),
            F_CSTR("error", err.text));
        return;
    }
    mysql_server_set_account(r->server, &account);
    dbrole_start_job(r, &(struct dbjob){.kind = DBJOB_OPEN, .database = file.name});
}

static void dbrole_on_site_gone(struct dbrole *r, struct ipc_in *m)
{
    struct dbrole_site *s = dbrole_find(r, ipc_get(m, "site"));

    if (!s)
        return;
    mysql_server_remove_account(r->server, str_c(s->user));
    dbrole_site_free(s);
}

static void dbrole_on_listen(struct dbrole *r, struct ipc_in *m)
{
    sock_t fd = (sock_t)ipc_take_fd(m, 0);
    int rc = fd != SOCK_NONE && r->nlisteners < DBROLE_LISTENERS
                 ? mysql_server_listen(r->server, fd)
                 : ERR_PROTO;

    if (rc) {
        log_error("db_listen_failed", F_ERR(rc));
        sock_close(fd);
        return;
    }
    r->listeners[r->nlisteners++] = fd;
}

static uint64_t dbrole_sum(const db_counter *c)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < DB_CLASS_COUNT; i++)
        sum += db_counted(&c[i]);
    return sum;
}

static void dbrole_write_status(struct dbrole *r, struct json_writer *w)
{
    const struct db_stats *st = &r->stats;

    json_open_object(w);
    json_add_int(w, "pid", process_id());
    json_add_uint(w, "uptime_ms", clock_mono_ms() - r->started_ms);
    json_add_uint(w, "connections", db_counted(&st->connected));
    json_add_uint(w, "accepted", db_counted(&st->connections));
    json_add_uint(w, "refused", db_counted(&st->refused));
    json_add_uint(w, "denied", db_counted(&st->denied));
    json_add_uint(w, "statements", dbrole_sum(st->statements));
    json_add_uint(w, "errors", dbrole_sum(st->errors));
    json_add_uint(w, "slow", db_counted(&st->slow));
    json_key(w, "databases");
    json_open_array(w);
    list_each (it, &r->sites) {
        const struct dbrole_site *s = CONTAINER_OF(it, struct dbrole_site, node);

        json_open_object(w);
        json_add_str(w, "site", str_c(s->name));
        json_add_str(w, "database", str_c(s->database));
        json_add_str(w, "path", str_c(s->path));
        if (*s->error)
            json_add_str(w, "error", str_c(s->error));
        json_close_object(w);
    }
    json_close_array(w);
    json_close_object(w);
}

static void dbrole_on_status(struct dbrole *r)
{
    struct buf b = {0};
    struct json_writer w = JSON_WRITER(&b);
    struct ipc_out out;

    dbrole_write_status(r, &w);
    ipc_begin(&out, "status");
    if (ipc_add_long(&out, "json", buf_str(&b)))
        ipc_add(&out, "json", STR("{\"error\":\"there is no memory for the status\"}"));
    dbrole_tell(r, &out);
    buf_fini(&b);
}

static void dbrole_on_sample(struct dbrole *r)
{
    struct ipc_out out;

    dbmetrics_sample(r->seen);
    ipc_begin(&out, "sampled");
    dbrole_tell(r, &out);
}

static void dbrole_on_message(struct dbrole *r, struct ipc_in *m)
{
    if (ipc_is(m, "config") && !r->config)
        dbrole_configure(r, m);
    else if (!r->jobs)
        log_debug("db_message_too_early", F_STR("op", m->op)); /* the start failed */
    else if (ipc_is(m, "site"))
        dbrole_on_site(r, m);
    else if (ipc_is(m, "site_gone"))
        dbrole_on_site_gone(r, m);
    else if (ipc_is(m, "listen"))
        dbrole_on_listen(r, m);
    else if (ipc_is(m, "status"))
        dbrole_on_status(r);
    else if (ipc_is(m, "sample"))
        dbrole_on_sample(r);
    else if (ipc_is(m, "backup"))
        dbrole_on_job(r, m, DBJOB_BACKUP);
    else if (ipc_is(m, "check"))
        dbrole_on_job(r, m, DBJOB_CHECK);
}

static void dbrole_on_master(void *arg, int events)
{
    struct dbrole *r = arg;

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
        dbrole_on_message(r, &m);
        ipc_done(&m);
    }
}

/* --- life ------------------------------------------------------------------------------------- */

static void dbrole_fini(struct dbrole *r)
{
    bool ended = true;

    if (r->engine)
        db_server_stop(r->engine);
    if (r->server)
        ended = mysql_server_close(r->server, DBROLE_STOP_MS);
    if (!ended) { /* threads still use everything; what is committed is on the disk */
        log_error("db_stop_late");
        process_exit_now(1);
    }
    dbjobs_free(r->jobs);
    mysql_server_free(r->server);
    dbmetrics_free(r->seen);
    db_server_free(r->engine);
    for (size_t i = 0; i < r->nlisteners; i++)
        sock_close(r->listeners[i]);
    list_each_safe (it, &r->sites)
        dbrole_site_free(CONTAINER_OF(it, struct dbrole_site, node));
    net_watch_close(r->master_watch);
    net_loop_free(r->loop);
    config_unref(r->config);
    metrics_close(r->metrics);
}

int dbrole_main(void)
{
    struct dbrole r = {.master = (sock_t)DBROLE_SOCKET, .started_ms = clock_mono_ms()};
    struct ipc_out m;
    uint64_t fds = 0;
    int rc;

    list_init(&r.sites);
    process_ignore_sigpipe();
    process_ignore_stop(); /* PHP's last requests may need it */
    process_guard();       /* as the front: all sites' databases are here */
    process_protect();
    (void)!process_raise_fd_limit(&fds); /* fewer connections otherwise */
    rc = metrics_open(&metric_schema, DBROLE_METRICS, &r.metrics);
    if (rc == 0)
        rc = net_loop_new(&r.loop);
    if (rc == 0)
        rc = net_watch_open(r.loop, r.master, dbrole_on_master, &r, &r.master_watch);
    if (rc) {
        log_error("db_start_failed", F_ERR(rc));
        return 1;
    }
    net_watch_set(r.master_watch, NET_READ);
    ipc_begin(&m, "ready");
    dbrole_tell(&r, &m);
    net_loop_run(r.loop);
    dbrole_fini(&r);
    return r.exit_code;
}
