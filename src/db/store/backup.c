/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Copies and checks of a database that is in use. */

#include <stdio.h>

#include "base/buf.h"
#include "base/err.h"
#include "core/log.h"
#include "db/ddl/ddl.h"
#include "db/store/sqlerr.h"
#include "db/store/srv.h"
#include "platform/clock.h"
#include "platform/fs.h"

enum { STEP_PAGES = 256, MAX_PROBLEMS = 100 };

static int failed(struct store_db *db, const char *path, const char *why, struct db_error *e)
{
    log_error("db_backup_failed", F_STR("database", db->name), F_CSTR("path", path),
        F_CSTR("error", why));
    return db_error_text(e, DB_E_UNKNOWN, "Backup to '%s' failed: %s", path, why);
}

/* All pages, from one snapshot: a read transaction on the source keeps it while writers go on. */
static int copy_pages(struct store_handle *h, sqlite3 *to)
{
    sqlite3_backup *b;
    int rc = store_handle_run(h, "BEGIN");

    if (rc == SQLITE_OK)
        (void)store_handle_number(h, STR("SELECT def FROM _ephpm_catalog WHERE name = ''"), 0);
    if (rc != SQLITE_OK)
        return rc;
    b = sqlite3_backup_init(to, "main", h->sql, "main");
    rc = b ? SQLITE_OK : sqlite3_errcode(to);
    while (rc == SQLITE_OK)
        rc = sqlite3_backup_step(b, STEP_PAGES);
    if (b && rc == SQLITE_DONE)
        rc = sqlite3_backup_finish(b);
    else if (b)
        (void)sqlite3_backup_finish(b);
    store_ignore(store_handle_run(h, "COMMIT")); /* it only read */
    return rc;
}

static int sync_file(const char *path)
{
    int fd, code = fs_open_read(path, &fd);

    if (code)
        return code;
    code = fs_sync(fd);
    fs_close(fd);
    return code;
}

/* Names the finished copy, durably. */
static int publish(const char *temp, const char *path)
{
    struct str p = str_c(path);
    ptrdiff_t slash = str_rchr(p, '/');
    char dir[4096] = ".";
    int code = sync_file(temp);

    if (code == 0)
        code = fs_rename(temp, path);
    if (slash >= 0 && (size_t)slash < sizeof(dir))
        (void)str_put(dir, sizeof(dir), str_sub(p, 0, (size_t)MAX(slash, 1)));
    return code ? code : fs_sync_dir(dir);
}

static int backup_to(
    struct store_db *db, struct store_handle *h, const char *path, struct db_error *e)
{
    char temp[4096];
    sqlite3 *to = NULL;
    int fd, rc, code;

    if (snprintf(temp, sizeof(temp), "%s.partial", path) >= (int)sizeof(temp))
        return failed(db, path, "the path is too long", e);
    store_ignore(fs_unlink(temp)); /* of a backup that was cut off */
    code = fs_open_new(temp, 0600, &fd);
    if (code)
        return failed(db, path, err_text(code), e);
    fs_close(fd);
    rc = sqlite3_open_v2(temp, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = copy_pages(h, to);
    (void)sqlite3_close(to);
    if (rc != SQLITE_OK)
        code = failed(db, path, sqlite3_errstr(rc), e);
    else if ((code = publish(temp, path)))
        code = failed(db, path, err_text(code), e);
    if (code)
        store_ignore(fs_unlink(temp));
    return code;
}

int db_server_backup(
    struct db_server *server, struct str database, const char *path, struct db_error *e)
{
    uint64_t start = clock_mono_ms();
    struct fs_stat st;
    struct store_handle *h;
    struct store_db *db;
    int code;

    if (fs_stat(path, &st) == 0)
        return db_error_set(e, DB_E_FILE_EXISTS, path);
    if (srv_acquire(server, database, &db, e) != 0)
        return ERR_NOTFOUND;
    code = store_db_borrow(db, &h, e);
    if (code == 0) {
        code = backup_to(db, h, path, e);
        store_db_return(h);
    }
    srv_release(server, db);
    if (code == 0)
        log_info("db_backup", F_STR("database", database), F_CSTR("path", path),
            F_UINT("ms", clock_mono_ms() - start));
    return code;
}

/* ---- check ---- */

static int add_rows(struct store_handle *h, const char *text, struct buf *report)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(h->sql, text, -1, &stmt, NULL);

    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        const char *p = (const char *)sqlite3_column_text(stmt, 0);

        if (p && strcmp(p, "ok") != 0)
            buf_printf(report, "%s\n", p);
        rc = SQLITE_OK;
    }
    (void)sqlite3_finalize(stmt);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Does every table of the catalog have SQLite's, with the same columns, and the other way round? */
static void check_catalog(
    struct store_handle *h, const struct store_tables *tables, struct buf *report)
{
    struct arena arena = {0};

    for (uint32_t i = 0; i < tables->n; i++) {
        const struct db_cat_table *t = tables->v[i]->table;
        struct str name = tr_quote(&arena, t->name);
        struct buf text = {0};
        sqlite3_stmt *stmt = NULL;

        buf_add_lit(&text, "SELECT ");
        for (uint32_t c = 0; c < t->n_columns; c++) {
            struct str column = tr_quote(&arena, t->columns[c].name);

            buf_printf(&text, "%s" STR_F, c ? ", " : "", STR_A(column));
        }
        buf_printf(&text, " FROM main." STR_F, STR_A(name));
        if (sqlite3_prepare_v2(h->sql, text.p, (int)text.len, &stmt, NULL) != SQLITE_OK)
            buf_printf(
                report, "catalog: table " STR_F ": %s\n", STR_A(t->name), sqlite3_errmsg(h->sql));
        (void)sqlite3_finalize(stmt);
        buf_fini(&text);
    }
    arena_fini(&arena);
}

int db_server_check(
    struct db_server *server, struct str database, struct buf *report, struct db_error *e)
{
    struct store_handle *h = NULL;
    struct store_tables *tables = NULL;
    struct store_db *db;
    int rc;

    if (srv_acquire(server, database, &db, e) != 0)
        return ERR_NOTFOUND;
    if (store_db_borrow(db, &h, e) != 0) {
        srv_release(server, db);
        return ERR_IO;
    }
    e->number = 0;
    rc = store_handle_run(h, "BEGIN");
    if (rc == SQLITE_OK)
        rc = add_rows(h, "PRAGMA integrity_check(100)", report);
    if (rc == SQLITE_OK)
        rc = add_rows(h,
            "SELECT 'foreign key: table ' || \"table\" || ', row ' || coalesce(rowid, '?') || "
            "' refers to nothing in ' || parent FROM pragma_foreign_key_check LIMIT 100",
            report);
    if (rc == SQLITE_OK)
        rc = add_rows(h,
            "SELECT 'catalog: table ' || name || ' is not in it' FROM sqlite_schema WHERE type IN "
            "('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE "
            "'\\_ephpm%' ESCAPE '\\' AND name NOT IN (SELECT name FROM _ephpm_catalog)",
            report);
    if (rc == SQLITE_OK)
        rc = store_tables_load(h->sql, db->name, &tables, e);
    if (rc == SQLITE_OK)
        check_catalog(h, tables, report);
    store_tables_unref(tables);
    if (rc != SQLITE_OK && !e->number)
        store_sqlerr_set(h, rc, NULL, e);
    store_ignore(store_handle_run(h, "ROLLBACK")); /* it only read */
    store_db_return(h);
    srv_release(server, db);
    return rc == SQLITE_OK ? 0 : ERR_IO;
}
