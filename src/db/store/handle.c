/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/handle.h"

#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "db/store/file.h"
#include "db/store/info.h"
#include "db/store/sqlerr.h"
#include "platform/clock.h"

enum {
    MAX_STMTS = 96,         /* kept per handle */
    MAX_STMT_BYTES = 32768, /* of text; longer ones are not kept */
    LOOK_OPS = 2000,        /* instructions between two looks at the stop */
    BUSY_SLEEP_MS = 5,
    MAX_LENGTH = 256 << 20, /* of a value or a row */
};

/* A statement that is kept. */
struct kept {
    struct list link;
    sqlite3_stmt *stmt;
    struct str text; /* the statement's own copy */
    bool in_use;
};

static int on_progress(void *arg)
{
    struct store_handle *h = arg;

    return h->stop && store_stop_asked(h->stop);
}

/* Another process has the file's lock: wait as for a lock of a row. */
static int on_busy(void *arg, int count)
{
    struct store_handle *h = arg;

    if ((uint64_t)count * BUSY_SLEEP_MS >= h->busy_ms || on_progress(h))
        return 0;
    clock_sleep_ms(BUSY_SLEEP_MS);
    return 1;
}

static void on_change(void *arg, sqlite3 *sql, int op, const char *schema, const char *table,
    sqlite3_int64 old_id, sqlite3_int64 new_id)
{
    struct store_changes *c = &((struct store_handle *)arg)->changes;

    (void)sql;
    (void)schema;
    (void)old_id;
    if (c->table.len == 0 || !str_eq(c->table, str_c(table)))
        return;
    if (op == SQLITE_INSERT)
        c->inserted++;
    if (op == SQLITE_DELETE)
        c->deleted++;
    if (op == SQLITE_UPDATE) {
        c->updated++;
        c->updated_row = new_id;
    }
}

static int on_wal(void *arg, sqlite3 *sql, const char *schema, int pages)
{
    struct store_handle *h = arg;

    (void)sql;
    (void)schema;
    store_db_wal(h->db, (uint64_t)pages);
    return SQLITE_OK;
}

/* SQLite's own settings of a handle. */
static int configure(struct store_handle *h)
{
    static const char *const sync[] = {"FULL", "NORMAL", "OFF"};
    const struct db_server_config *c = h->db->config;
    char text[300];
    int rc;

    sqlite3_db_config(h->sql, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(h->sql, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    sqlite3_db_config(h->sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(h->sql, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_db_config(h->sql, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_db_config(h->sql, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, 0, NULL);
    sqlite3_limit(h->sql, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(h->sql, SQLITE_LIMIT_LENGTH, MAX_LENGTH);
    sqlite3_busy_handler(h->sql, on_busy, h);
    sqlite3_progress_handler(h->sql, LOOK_OPS, on_progress, h);
    snprintf(text, sizeof(text),
        "PRAGMA synchronous=%s; PRAGMA cache_size=-%u; PRAGMA secure_delete=OFF; "
        "PRAGMA wal_autocheckpoint=0; PRAGMA journal_size_limit=33554432; PRAGMA mmap_size=0; "
        "PRAGMA recursive_triggers=OFF",
        sync[c->synchronous], c->cache_kib);
    rc = sqlite3_exec(h->sql, text, NULL, NULL, NULL);
    sqlite3_wal_hook(h->sql, on_wal, h); /* after the pragma, which has a hook of its own */
    return rc;
}

int store_handle_open(struct store_db *db, int flags, struct store_handle **out, struct db_error *e)
{
    struct store_handle *h = mem_new(sizeof(*h));
    int how = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc;

    h->db = db;
    h->busy_ms = (uint64_t)db->config->lock_wait_s * 1000;
    list_init(&h->link);
    list_init(&h->used);
    map_init(&h->stmts, db->seed);
    if (flags & STORE_HANDLE_CREATE)
        how |= SQLITE_OPEN_CREATE;
    rc = sqlite3_open_v2(db->path, &h->sql, how, NULL);
    if (rc == SQLITE_OK)
        rc = configure(h);
    if (rc == SQLITE_OK && db_func_register(h->sql, &h->func) != 0)
        rc = SQLITE_NOMEM;
    if (rc == SQLITE_OK)
        rc = store_info_register(h);
    if (rc != SQLITE_OK) {
        store_sqlerr_open(db, h->sql, rc, e);
        store_handle_close(h);
        return rc;
    }
    *out = h;
    return SQLITE_OK;
}

static void kept_free(struct store_handle *h, struct kept *k)
{
    list_remove(&k->link);
    (void)map_del(&h->stmts, k->text);
    (void)sqlite3_finalize(k->stmt); /* its error was told before */
    mem_free(k);
    h->n_stmts--;
}

void store_handle_forget(struct store_handle *h)
{
    list_each_safe (it, &h->used) {
        struct kept *k = CONTAINER_OF(it, struct kept, link);

        if (!k->in_use)
            kept_free(h, k);
    }
}

void store_handle_close(struct store_handle *h)
{
    if (!h)
        return;
    store_handle_forget(h);
    map_fini(&h->stmts);
    (void)sqlite3_close_v2(h->sql);
    mem_free(h);
}

/* Room for one more. */
static void make_room(struct store_handle *h)
{
    list_each_safe (it, &h->used) {
        struct kept *k = CONTAINER_OF(it, struct kept, link);

        if (h->n_stmts < MAX_STMTS)
            return;
        if (!k->in_use)
            kept_free(h, k);
    }
}

int store_handle_stmt(struct store_handle *h, struct str text, sqlite3_stmt **out)
{
    struct kept *k = map_get(&h->stmts, text);
    bool keep = text.len <= MAX_STMT_BYTES;
    sqlite3_stmt *stmt = NULL;
    int rc;

    if (k && !k->in_use) {
        k->in_use = true;
        list_remove(&k->link);
        list_push(&h->used, &k->link);
        *out = k->stmt;
        return SQLITE_OK;
    }
    rc = sqlite3_prepare_v3(
        h->sql, text.p, (int)text.len, keep && !k ? SQLITE_PREPARE_PERSISTENT : 0, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    *out = stmt;
    if (!stmt || !keep || k)
        return SQLITE_OK;
    make_room(h);
    k = mem_new(sizeof(*k));
    k->stmt = stmt;
    k->in_use = true;
    k->text = str_c(sqlite3_sql(stmt));
    list_push(&h->used, &k->link);
    (void)map_set(&h->stmts, k->text, k);
    h->n_stmts++;
    return SQLITE_OK;
}

int store_handle_done(struct store_handle *h, sqlite3_stmt *stmt)
{
    struct kept *k;
    int rc;

    if (!stmt)
        return SQLITE_OK;
    k = map_get(&h->stmts, str_c(sqlite3_sql(stmt)));
    if (!k || k->stmt != stmt)
        return sqlite3_finalize(stmt);
    rc = sqlite3_reset(stmt);
    (void)sqlite3_clear_bindings(stmt);
    k->in_use = false;
    return rc;
}

static int run_stmt(sqlite3_stmt *stmt)
{
    int rc;

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        ;
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int store_handle_run(struct store_handle *h, const char *text)
{
    sqlite3_stmt *stmt;
    int rc = store_handle_stmt(h, str_c(text), &stmt);

    if (rc != SQLITE_OK)
        return rc;
    rc = run_stmt(stmt);
    (void)store_handle_done(h, stmt); /* the same error again */
    return rc;
}

int store_handle_run_once(struct store_handle *h, struct str text)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(h->sql, text.p, (int)text.len, &stmt, NULL);

    if (rc == SQLITE_OK && stmt)
        rc = run_stmt(stmt);
    (void)sqlite3_finalize(stmt);
    return rc;
}

int64_t store_handle_number(struct store_handle *h, struct str text, int64_t fallback)
{
    sqlite3_stmt *stmt;

    if (store_handle_stmt(h, text, &stmt) != SQLITE_OK)
        return fallback;
    if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL)
        fallback = sqlite3_column_int64(stmt, 0);
    (void)store_handle_done(h, stmt);
    return fallback;
}

void store_handle_count(struct store_handle *h, struct str table)
{
    h->changes = (struct store_changes){.table = table};
    /* only while it is needed: with a hook, SQLite has no quick way to empty a table */
    sqlite3_preupdate_hook(h->sql, table.len ? on_change : NULL, h);
}

void store_handle_foreign_keys(struct store_handle *h, bool on)
{
    if (h->foreign_keys == on)
        return;
    sqlite3_db_config(h->sql, SQLITE_DBCONFIG_ENABLE_FKEY, on ? 1 : 0, NULL);
    h->foreign_keys = on;
}
