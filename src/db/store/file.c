/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/file.h"

#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "core/log.h"
#include "db/store/sqlerr.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/random.h"

enum {
    APPLICATION_ID = 0x6570686d, /* "ephm" */
    FORMAT_VERSION = 1,          /* user_version: of _ephpm_catalog and of how tables lie */
    MAX_IDLE = 6,                /* handles kept open without work */
    WAL_PAGES = 1000,            /* a log of so many pages wakes the checkpointer */
};

void store_db_init(struct store_db *db, const struct db_server_config *config,
    const struct db_file *file, struct db_stats *counters)
{
    db->config = config;
    db->counters = counters;
    db->name = file->name;
    db->path = file->path.p;
    db->account = file->account;
    random_bytes(&db->seed, sizeof(db->seed));
    store_turn_init(&db->turn);
    store_plans_init(&db->plans, db->seed);
    pthread_mutex_init(&db->mutex, NULL);
    store_vars_init(&db->globals, config);
    list_init(&db->idle);
}

void store_db_fini(struct store_db *db)
{
    store_db_close_idle(db);
    store_tables_unref(db->tables);
    store_vars_fini(&db->globals);
    store_plans_fini(&db->plans);
    store_turn_fini(&db->turn);
    pthread_mutex_destroy(&db->mutex);
}

/* Makes the folder and an empty file with the rights that it shall have; SQLite gives its log the
 * same ones. */
static int make_file(struct store_db *db, struct db_error *e)
{
    struct str path = str_c(db->path);
    ptrdiff_t slash = str_rchr(path, '/');
    char dir[4096];
    int fd, code;

    code = fs_open_new(db->path, 0600, &fd);
    if (code == ERR_NOTFOUND && slash > 0 && (size_t)slash < sizeof(dir)) {
        (void)str_put(dir, sizeof(dir), str_sub(path, 0, (size_t)slash));
        code = fs_mkdir(dir, db->config->dir_mode);
        if (code == 0 || code == ERR_EXISTS)
            code = fs_open_new(db->path, 0600, &fd);
    }
    if (code == 0) {
        fs_close(fd);
        log_info("db_created", F_STR("database", db->name), F_CSTR("path", db->path));
        return 0;
    }
    if (code == ERR_EXISTS)
        return 0;
    log_error("db_open_failed", F_STR("database", db->name), F_CSTR("path", db->path), F_ERR(code));
    return db_error_text(
        e, DB_E_OPEN_FILE, "Can't create file '%s' (%s)", db->path, err_text(code));
}

static int make_catalog(struct store_handle *h)
{
    char text[400];

    snprintf(text, sizeof(text),
        "PRAGMA journal_mode=WAL; BEGIN IMMEDIATE; "
        "CREATE TABLE _ephpm_catalog (name TEXT PRIMARY KEY, def TEXT NOT NULL) WITHOUT ROWID; "
        "INSERT INTO _ephpm_catalog VALUES ('', '1'); "
        "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
        APPLICATION_ID, FORMAT_VERSION);
    return sqlite3_exec(h->sql, text, NULL, NULL, NULL);
}

static int refuse(struct store_db *db, const char *why, struct db_error *e)
{
    log_error("db_open_failed", F_STR("database", db->name), F_CSTR("path", db->path),
        F_CSTR("error", why));
    return db_error_text(e, DB_E_OPEN_FILE, "Can't open file: '%s' (%s)", db->path, why);
}

static int number(struct store_handle *h, const char *text, int64_t *out)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(h->sql, text, -1, &stmt, NULL);

    if (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        *out = sqlite3_column_int64(stmt, 0);
        rc = SQLITE_OK;
    }
    (void)sqlite3_finalize(stmt);
    return rc;
}

/* Is it a file of ours, or an empty one, which becomes one? */
static int check_file(struct store_db *db, struct store_handle *h, struct db_error *e)
{
    int64_t id = 0, version = 0, objects = 0;
    char why[120];
    int rc;

    rc = number(h, "SELECT count(*) FROM sqlite_schema", &objects);
    if (rc == SQLITE_OK)
        rc = number(h, "PRAGMA application_id", &id);
    if (rc == SQLITE_OK)
        rc = number(h, "PRAGMA user_version", &version);
    if (rc != SQLITE_OK)
        goto fail;
    if (id == APPLICATION_ID && version > FORMAT_VERSION) {
        snprintf(why, sizeof(why), "it is of format %lld, which is newer than this program's %d",
            (long long)version, FORMAT_VERSION);
        return refuse(db, why, e);
    }
    if (id != APPLICATION_ID && (id != 0 || objects != 0))
        return refuse(db, "it is a database of another program", e);
    if (id == 0 && (rc = make_catalog(h)) != SQLITE_OK)
        goto fail;
    rc = sqlite3_exec(h->sql, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
    if (rc == SQLITE_OK || (rc & 0xff) == SQLITE_READONLY)
        return 0;
fail:
    store_sqlerr_open(db, h->sql, rc, e);
    return ERR_IO;
}

/* The mutex is held. */
static int open_locked(struct store_db *db, struct db_error *e)
{
    struct store_handle *h = NULL;
    int rc;

    if (make_file(db, e) != 0)
        return ERR_IO;
    if (store_handle_open(db, 0, &h, e) != SQLITE_OK)
        return ERR_IO;
    if (check_file(db, h, e) != 0)
        goto fail;
    rc = store_tables_load(h->sql, db->name, &db->tables, e);
    if (rc != SQLITE_OK) {
        if (!e->number)
            store_sqlerr_open(db, h->sql, rc, e);
        else
            log_error("db_open_failed", F_STR("database", db->name), F_CSTR("path", db->path),
                F_CSTR("error", e->text));
        goto fail;
    }
    list_push_front(&db->idle, &h->link);
    db->n_idle++;
    db->n_handles++;
    log_debug("db_file_opened", F_STR("database", db->name), F_CSTR("path", db->path),
        F_UINT("tables", db->tables->n));
    return 0;
fail:
    store_handle_close(h);
    return ERR_IO;
}

int store_db_open(struct store_db *db, struct db_error *e)
{
    int code = 0;

    pthread_mutex_lock(&db->mutex);
    if (!db->tables)
        code = open_locked(db, e);
    pthread_mutex_unlock(&db->mutex);
    return code;
}

void store_db_close_idle(struct store_db *db)
{
    struct list *it;
    bool last;

    pthread_mutex_lock(&db->mutex);
    while ((it = list_pop(&db->idle))) {
        struct store_handle *h = CONTAINER_OF(it, struct store_handle, link);

        last = db->n_handles == 1;
        if (last) /* whoever closes last folds the log into the file */
            sqlite3_db_config(h->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
        store_handle_close(h);
        db->n_idle--;
        db->n_handles--;
    }
    if (db->n_handles == 0 && db->sessions == 0 && db->tables) {
        store_tables_unref(db->tables);
        db->tables = NULL;
    }
    pthread_mutex_unlock(&db->mutex);
}

int store_db_borrow(struct store_db *db, struct store_handle **out, struct db_error *e)
{
    struct list *it;
    int rc;

    pthread_mutex_lock(&db->mutex);
    if ((it = list_pop(&db->idle)))
        db->n_idle--;
    else
        db->n_handles++;
    pthread_mutex_unlock(&db->mutex);
    if (it) {
        *out = CONTAINER_OF(it, struct store_handle, link);
        return 0;
    }
    rc = store_handle_open(db, 0, out, e);
    if (rc == SQLITE_OK)
        return 0;
    pthread_mutex_lock(&db->mutex);
    db->n_handles--;
    pthread_mutex_unlock(&db->mutex);
    return ERR_IO;
}

void store_db_return(struct store_handle *h)
{
    struct store_db *db = h->db;
    bool keep;

    h->session = NULL;
    h->stop = NULL;
    h->func.session = NULL;
    pthread_mutex_lock(&db->mutex);
    keep = !h->close && db->n_idle < MAX_IDLE;
    if (keep) {
        list_push_front(&db->idle, &h->link);
        db->n_idle++;
    } else {
        db->n_handles--;
    }
    pthread_mutex_unlock(&db->mutex);
    if (!keep)
        store_handle_close(h);
}

struct store_tables *store_db_tables(struct store_db *db)
{
    struct store_tables *t;

    pthread_mutex_lock(&db->mutex);
    t = store_tables_ref(db->tables);
    pthread_mutex_unlock(&db->mutex);
    return t;
}

void store_db_set_tables(struct store_db *db, struct store_tables *t)
{
    struct store_tables *old;

    pthread_mutex_lock(&db->mutex);
    old = db->tables;
    db->tables = t;
    pthread_mutex_unlock(&db->mutex);
    store_tables_unref(old);
}

void store_db_wal(struct store_db *db, uint64_t pages)
{
    /* relaxed: an estimate for the checkpointer */
    atomic_store_explicit(&db->wal_pages, pages, memory_order_relaxed);
    if (pages >= WAL_PAGES && db->wake)
        db->wake(db->wake_arg);
}
