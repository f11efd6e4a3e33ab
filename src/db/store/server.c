/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/server.h"

#include "base/err.h"
#include "base/mem.h"
#include "core/log.h"
#include "db/ddl/info.h"
#include "db/func/tz.h"
#include "db/store/sess.h"
#include "db/store/srv.h"
#include "platform/clock.h"

enum { MAX_PACKET = 1 << 30 };

static void defaults(struct db_server_config *c)
{
    c->dir_mode = c->dir_mode ? c->dir_mode : 0700;
    c->max_open = c->max_open ? c->max_open : 64;
    c->max_connections = c->max_connections ? c->max_connections : 151;
    c->max_packet = c->max_packet ? MIN(c->max_packet, MAX_PACKET) : 64 << 20;
    c->lock_wait_s = c->lock_wait_s ? c->lock_wait_s : 50;
    c->wait_s = c->wait_s ? c->wait_s : 28800;
    c->cache_kib = c->cache_kib ? c->cache_kib : 2048;
    c->max_wal = c->max_wal ? c->max_wal : 8 << 20;
    c->stats.max_digests = c->stats.max_digests ? c->stats.max_digests : 1000;
    c->stats.digest_max = c->stats.digest_max ? c->stats.digest_max : 1024;
}

static void system_tables(struct db_server *server)
{
    server->relations = info_relations(&server->n_relations);
    server->system_tables =
        arena_new(&server->arena, server->n_relations * sizeof(*server->system_tables));
    for (uint32_t i = 0; i < server->n_relations; i++)
        server->system_tables[i] = info_catalog(&server->arena, &server->relations[i]);
}

static void wake_worker(void *arg)
{
    struct db_server *server = arg;

    pthread_mutex_lock(&server->work_mutex);
    server->woken = true;
    pthread_cond_signal(&server->work);
    pthread_mutex_unlock(&server->work_mutex);
}

/* The mutex is held. 0 and *same when it is there already. */
static int find_double(
    struct db_server *server, const struct db_file *file, bool *same, struct err *err)
{
    *same = false;
    for (uint32_t i = 0; i < server->n_dbs; i++) {
        const struct store_db *db = server->dbs[i];
        bool name = str_eq(db->name, file->name), path = str_eq(str_c(db->path), file->path);

        if (name && path && str_eq(db->account, file->account)) {
            *same = true;
            return 0;
        }
        if (name)
            return err_set(
                err, ERR_EXISTS, "there is a database \"" STR_F "\" already", STR_A(file->name));
        if (path)
            return err_set(err, ERR_EXISTS,
                "the file " STR_F " is that of database \"" STR_F "\" already", STR_A(file->path),
                STR_A(db->name));
    }
    return 0;
}

int db_server_add(struct db_server *server, const struct db_file *file, struct err *err)
{
    struct db_file copy;
    struct store_db *db;
    bool same;
    int code;

    if (file->name.len == 0 || file->name.len > 64 || file->path.len == 0)
        return err_set(err, ERR_INVAL,
            "a database needs a name of 1 to 64 bytes and a path, not \"" STR_F "\" and \"" STR_F
            "\"",
            STR_A(file->name), STR_A(file->path));
    if (info_is_schema(file->name))
        return err_set(
            err, ERR_INVAL, "the name \"" STR_F "\" is the server's own", STR_A(file->name));
    pthread_mutex_lock(&server->mutex);
    code = find_double(server, file, &same, err);
    if (code == 0 && !same) {
        copy.name = arena_str(&server->arena, file->name);
        copy.path = arena_str(&server->arena, file->path);
        copy.account = arena_str(&server->arena, file->account);
        db = mem_new(sizeof(*db));
        store_db_init(db, &server->config, &copy, server->counters);
        db->wake = wake_worker;
        db->wake_arg = server;
        server->dbs = mem_resize(server->dbs, (server->n_dbs + 1) * sizeof(struct store_db *));
        server->dbs[server->n_dbs++] = db;
    }
    pthread_mutex_unlock(&server->mutex);
    return code;
}

int db_server_new(const struct db_server_config *config, struct db_stats *counters,
    struct db_server **out, struct err *err)
{
    struct db_server *server = mem_new(sizeof(*server));
    int code = 0;

    server->config = *config;
    defaults(&server->config);
    arena_init(&server->arena);
    server->config.version =
        arena_str(&server->arena, config->version.len ? config->version : STR("8.0.36-ephpm"));
    server->config.temp_dir = arena_str(&server->arena, config->temp_dir);
    server->config.socket = arena_str(&server->arena, config->socket);
    server->config.files = NULL;
    server->config.n_files = 0;
    server->counters = counters;
    server->started_us = clock_wall_us();
    atomic_init(&server->next_id, 1);
    pthread_mutex_init(&server->mutex, NULL);
    pthread_mutex_init(&server->work_mutex, NULL);
    store_cond_init(&server->work);
    list_init(&server->sessions);
    store_locks_init(&server->locks);
    store_digests_init(&server->digests, server->config.stats.max_digests);
    system_tables(server);
    server->zone = store_zone(STR("SYSTEM"));
    for (uint32_t i = 0; i < config->n_files && code == 0; i++)
        code = db_server_add(server, &config->files[i], err);
    srv_thread_start(server);
    if (code) {
        db_server_free(server);
        return code;
    }
    *out = server;
    return 0;
}

void db_server_stop(struct db_server *server)
{
    atomic_store(&server->stopping, 1);
    pthread_mutex_lock(&server->mutex);
    list_each (it, &server->sessions) {
        struct db_session *s = CONTAINER_OF(it, struct db_session, link);

        atomic_store(&s->stop.kill, STORE_KILL_SERVER);
        pthread_mutex_lock(&s->mutex);
        if (s->on_kill)
            s->on_kill(s->on_kill_arg);
        pthread_mutex_unlock(&s->mutex);
    }
    pthread_mutex_unlock(&server->mutex);
}

void db_server_free(struct db_server *server)
{
    if (!server)
        return;
    srv_thread_stop(server);
    for (uint32_t i = 0; i < server->n_dbs; i++) {
        store_db_fini(server->dbs[i]);
        mem_free(server->dbs[i]);
    }
    mem_free(server->dbs);
    db_tz_close(server->zone);
    store_digests_fini(&server->digests);
    store_locks_fini(&server->locks);
    pthread_cond_destroy(&server->work);
    pthread_mutex_destroy(&server->work_mutex);
    pthread_mutex_destroy(&server->mutex);
    arena_fini(&server->arena);
    mem_free(server);
}

struct store_db *srv_db(struct db_server *server, struct str name)
{
    struct store_db *db = NULL;

    pthread_mutex_lock(&server->mutex);
    for (uint32_t i = 0; i < server->n_dbs && !db; i++) {
        if (str_eq(server->dbs[i]->name, name))
            db = server->dbs[i];
    }
    pthread_mutex_unlock(&server->mutex);
    return db;
}

/* Too many files are open: closes the one that nobody has used longest. The mutex is held. */
static void close_one(struct db_server *server)
{
    struct store_db *oldest = NULL;
    uint32_t open = 0;

    for (uint32_t i = 0; i < server->n_dbs; i++) {
        struct store_db *db = server->dbs[i];

        pthread_mutex_lock(&db->mutex);
        open += db->n_handles > 0;
        if (db->n_handles > 0 && db->sessions == 0 && (!oldest || db->used_ms < oldest->used_ms))
            oldest = db;
        pthread_mutex_unlock(&db->mutex);
    }
    if (oldest && open > server->config.max_open)
        store_db_close_idle(oldest);
}

int srv_acquire(
    struct db_server *server, struct str name, struct store_db **out, struct db_error *e)
{
    struct store_db *db = srv_db(server, name);
    int code;

    if (!db) {
        char text[100];

        (void)str_put(text, sizeof(text), name);
        return db_error_set(e, DB_E_BAD_DB, text);
    }
    pthread_mutex_lock(&db->mutex);
    db->sessions++;
    pthread_mutex_unlock(&db->mutex);
    code = store_db_open(db, e);
    if (code) {
        srv_release(server, db);
        return code;
    }
    *out = db;
    return 0;
}

void srv_release(struct db_server *server, struct store_db *db)
{
    pthread_mutex_lock(&server->mutex);
    pthread_mutex_lock(&db->mutex);
    db->sessions--;
    db->used_ms = clock_mono_ms();
    pthread_mutex_unlock(&db->mutex);
    close_one(server);
    pthread_mutex_unlock(&server->mutex);
}

int db_server_open(struct db_server *server, struct str database, struct db_error *e)
{
    struct store_db *db = NULL;
    int code = srv_acquire(server, database, &db, e);

    if (code || !db)
        return e->number == 1049 ? ERR_NOTFOUND : code;
    srv_release(server, db);
    return 0;
}

void db_server_digests(struct db_server *server, struct str database,
    void (*cb)(void *arg, const struct db_digest *d), void *arg)
{
    store_digests_each(&server->digests, database, cb, arg);
}
