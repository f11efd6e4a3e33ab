/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * The server's own thread: folds the logs into the files, so that no commit has to, and runs
 * PRAGMA optimize now and then. A passive checkpoint waits for nobody. It cannot start the log
 * anew while somebody always reads in it, so a log beyond its bound gets a moment in which nobody
 * writes; readers that stay longer than that moment let it grow on.
 */

#include "core/log.h"
#include "db/store/srv.h"
#include "platform/clock.h"

enum {
    LOOK_MS = 1000,
    PASSIVE_PAGES = 1000,
    PAGE = 4096,
    OPTIMIZE_MS = 3600 * 1000,
    TURN_MS = 500, /* how long a checkpoint that needs the turn waits for it */
    READERS_MS = 200,
};

/* Waits for readers and for the turn; the log begins anew. */
static void restart_log(struct store_db *db, struct store_handle *h)
{
    struct store_stop none = {0};
    uint64_t waited;
    int rc;

    if (store_turn_take(&db->turn, &none, TURN_MS, &waited) != 0)
        return;
    h->busy_ms = READERS_MS;
    rc = sqlite3_wal_checkpoint_v2(h->sql, NULL, SQLITE_CHECKPOINT_RESTART, NULL, NULL);
    if (rc == SQLITE_OK)
        store_db_wal(db, 0);
    store_turn_give(&db->turn);
}

static void checkpoint(struct store_db *db, uint64_t pages)
{
    struct store_handle *h;
    struct db_error e;
    int in_log = 0, done = 0, rc;

    if (store_db_borrow(db, &h, &e) != 0)
        return; /* it has been logged */
    rc = sqlite3_wal_checkpoint_v2(h->sql, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_log, &done);
    if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_BUSY)
        log_error("db_checkpoint_failed", F_STR("database", db->name), F_INT("sqlite", rc),
            F_CSTR("error", sqlite3_errmsg(h->sql)));
    else if (pages * PAGE > db->config->max_wal)
        restart_log(db, h);
    store_db_return(h);
}

static void optimize(struct store_db *db)
{
    struct store_stop none = {0};
    struct store_handle *h;
    struct db_error e;
    uint64_t waited;

    if (store_turn_take(&db->turn, &none, TURN_MS, &waited) != 0)
        return;
    if (store_db_borrow(db, &h, &e) == 0) {
        store_ignore(store_handle_run_once(h, STR("PRAGMA analysis_limit=1000")));
        store_ignore(store_handle_run_once(h, STR("PRAGMA optimize"))); /* statistics only */
        store_db_return(h);
    }
    store_turn_give(&db->turn);
}

static void look_at(struct store_db *db, uint64_t now)
{
    uint64_t pages = atomic_load_explicit(&db->wal_pages, memory_order_relaxed);
    uint64_t commits = atomic_load_explicit(&db->commits, memory_order_relaxed);
    bool open;

    pthread_mutex_lock(&db->mutex);
    open = db->tables && db->n_handles > 0;
    pthread_mutex_unlock(&db->mutex);
    if (!open)
        return;
    if (pages >= PASSIVE_PAGES && pages != db->checked_at) {
        db->checked_at = pages;
        checkpoint(db, pages);
    }
    if (now - db->optimized_ms > OPTIMIZE_MS) {
        if (db->optimized_ms && commits != db->optimized_at)
            optimize(db);
        db->optimized_ms = now;
        db->optimized_at = commits;
    }
}

static void *work(void *arg)
{
    struct db_server *server = arg;
    bool quit = false;

    while (!quit) {
        uint32_t n;

        pthread_mutex_lock(&server->work_mutex);
        if (!server->quit && !server->woken)
            store_cond_wait(&server->work, &server->work_mutex, LOOK_MS);
        server->woken = false;
        quit = server->quit;
        pthread_mutex_unlock(&server->work_mutex);
        pthread_mutex_lock(&server->mutex);
        n = server->n_dbs;
        pthread_mutex_unlock(&server->mutex);
        for (uint32_t i = 0; i < n && !quit; i++) {
            struct store_db *db;

            pthread_mutex_lock(&server->mutex);
            db = server->dbs[i];
            pthread_mutex_unlock(&server->mutex);
            look_at(db, clock_mono_ms());
        }
    }
    return NULL;
}

void srv_thread_start(struct db_server *server)
{
    server->has_thread = pthread_create(&server->thread, NULL, work, server) == 0;
    if (!server->has_thread)
        log_error("db_thread_failed", F_CSTR("thread", "checkpoint"));
}

void srv_thread_stop(struct db_server *server)
{
    pthread_mutex_lock(&server->work_mutex);
    server->quit = true;
    pthread_cond_signal(&server->work);
    pthread_mutex_unlock(&server->work_mutex);
    if (server->has_thread)
        (void)pthread_join(server->thread, NULL);
    server->has_thread = false;
}
