/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/sqlerr.h"

#include <errno.h>
#include <stdio.h>

#include "core/log.h"
#include "db/store/file.h"
#include "db/store/handle.h"

void store_sqlerr_open(struct store_db *db, sqlite3 *sql, int rc, struct db_error *e)
{
    const char *why = sql ? sqlite3_errmsg(sql) : sqlite3_errstr(rc);
    int system = sql ? sqlite3_system_errno(sql) : 0;

    switch (rc & 0xff) {
    case SQLITE_NOTADB:
        db_error_text(
            e, DB_E_OPEN_FILE, "Can't open file: '%s' (it is not a database of ephpm)", db->path);
        break;
    case SQLITE_CORRUPT:
        db_error_text(e, DB_E_CRASHED,
            "Database '" STR_F "' is marked as crashed and should be repaired", STR_A(db->name));
        break;
    case SQLITE_READONLY:
        db_error_text(e, DB_E_READ_ONLY_FILE, "Database '" STR_F "' is read only", STR_A(db->name));
        break;
    case SQLITE_FULL:
        db_error_set(e, DB_E_DISK_FULL, db->path);
        break;
    case SQLITE_NOMEM:
        db_error_set(e, DB_E_OUT_OF_MEMORY);
        break;
    default:
        db_error_text(e, DB_E_OPEN_FILE, "Can't open file: '%s' (errno: %d - %s)", db->path, system,
            system ? strerror(system) : why);
    }
    log_error("db_open_failed", F_STR("database", db->name), F_CSTR("path", db->path),
        F_INT("sqlite", rc), F_CSTR("error", why),
        F_CSTR("system", system ? strerror(system) : NULL));
}

/* Does the list "t.a, t.b" name the columns of the key? */
static bool key_is(const struct db_cat_table *t, const struct db_cat_key *key, struct str list)
{
    uint32_t i = 0;

    while (list.len) {
        ptrdiff_t comma = str_find(list, STR(", "));
        struct str item = comma < 0 ? list : str_sub(list, 0, (size_t)comma);
        ptrdiff_t dot = str_chr(item, '.');

        list = comma < 0 ? STR_NONE : str_sub(list, (size_t)comma + 2, list.len);
        if (i >= key->n_parts || key->parts[i].column < 0 || dot < 0)
            return false;
        item = str_sub(item, (size_t)dot + 1, item.len);
        if (!str_ieq(item, t->columns[key->parts[i].column].name))
            return false;
        i++;
    }
    return i == key->n_parts;
}

const struct db_cat_key *store_sqlerr_key(const char *message, const struct db_cat_table *t)
{
    static const struct str plain = STR("UNIQUE constraint failed: ");
    static const struct str index = STR("UNIQUE constraint failed: index '");
    struct str m = str_c(message);
    ptrdiff_t at;

    if (!t || !str_starts(m, plain))
        return NULL;
    if (str_starts(m, index)) {
        m = str_sub(m, index.len, m.len - index.len - 1);
        at = str_find(m, STR("__"));
        while (at >= 0 && (size_t)at != t->name.len) {
            ptrdiff_t next = str_find(str_sub(m, (size_t)at + 1, m.len), STR("__"));

            at = next < 0 ? -1 : at + 1 + next;
        }
        return at < 0 ? NULL : db_cat_key_find(t, str_sub(m, (size_t)at + 2, m.len));
    }
    m = str_sub(m, plain.len, m.len);
    for (uint32_t i = 0; i < t->n_keys; i++) {
        if (t->keys[i].kind <= DB_KEY_UNIQUE && key_is(t, &t->keys[i], m))
            return &t->keys[i];
    }
    return NULL;
}

static void constraint_error(
    int rc, const char *message, const struct db_cat_table *target, struct db_error *e)
{
    const struct db_cat_key *key = store_sqlerr_key(message, target);
    struct str m = str_c(message);
    ptrdiff_t at = str_find(m, STR("failed: "));
    struct str what = at < 0 ? m : str_sub(m, (size_t)at + 8, m.len);
    char name[300];

    switch (rc) {
    case SQLITE_CONSTRAINT_UNIQUE:
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID:
        snprintf(name, sizeof(name), STR_F "." STR_F, STR_A(target ? target->name : what),
            STR_A(key ? key->name : STR("PRIMARY")));
        db_error_set(e, DB_E_DUP_ENTRY, "?", name);
        break;
    case SQLITE_CONSTRAINT_NOTNULL:
        if ((at = str_rchr(what, '.')) >= 0)
            what = str_sub(what, (size_t)at + 1, what.len);
        snprintf(name, sizeof(name), STR_F, STR_A(what));
        db_error_set(e, DB_E_BAD_NULL, name);
        break;
    case SQLITE_CONSTRAINT_CHECK:
        snprintf(name, sizeof(name), STR_F, STR_A(what));
        db_error_set(e, DB_E_CHECK_VIOLATED, name);
        break;
    case SQLITE_CONSTRAINT_FOREIGNKEY:
        db_error_set(e, DB_E_NO_REFERENCED_ROW, "?");
        break;
    default:
        db_error_set(e, DB_E_UNKNOWN, message);
    }
}

static void table_error(struct store_handle *h, enum db_error_name name,
    const struct db_cat_table *t, struct db_error *e)
{
    char text[300];

    snprintf(text, sizeof(text), STR_F, STR_A(t ? t->name : h->db->name));
    db_error_set(e, name, text);
}

static void stopped_error(struct store_handle *h, struct db_error *e)
{
    int kill = h->stop ? atomic_load_explicit(&h->stop->kill, memory_order_relaxed) : 0;

    if (kill == STORE_KILL_SERVER)
        db_error_set(e, DB_E_SHUTDOWN);
    else if (kill == STORE_KILL_NONE && h->stop && h->stop->timed_out)
        db_error_set(e, DB_E_QUERY_TIMEOUT);
    else
        db_error_set(e, DB_E_QUERY_INTERRUPTED);
}

/* What is not the client's fault leaves a line. */
static void log_fault(struct store_handle *h, int rc, const char *message)
{
    log_error(
        "db_fault", F_STR("database", h->db->name), F_INT("sqlite", rc), F_CSTR("error", message));
}

void store_sqlerr_set(
    struct store_handle *h, int rc, const struct db_cat_table *target, struct db_error *e)
{
    const char *message = sqlite3_errmsg(h->sql);

    if (db_error_unpack(message, e))
        return;
    switch (rc & 0xff) {
    case SQLITE_CONSTRAINT:
        constraint_error(rc, message, target, e);
        break;
    case SQLITE_INTERRUPT:
        stopped_error(h, e);
        break;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        db_error_set(e, rc == SQLITE_BUSY_SNAPSHOT ? DB_E_DEADLOCK : DB_E_LOCK_WAIT_TIMEOUT);
        break;
    case SQLITE_READONLY:
        table_error(h, DB_E_READ_ONLY_FILE, target, e);
        break;
    case SQLITE_FULL:
        log_fault(h, rc, message);
        table_error(h, DB_E_TABLE_FULL, target, e);
        break;
    case SQLITE_IOERR:
        log_fault(h, rc, message);
        if (sqlite3_system_errno(h->sql) == ENOSPC)
            db_error_set(e, DB_E_DISK_FULL, h->db->path);
        else
            db_error_text(
                e, DB_E_OPEN_FILE, "Got error %d \"%s\" from storage engine", rc, message);
        break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        log_fault(h, rc, message);
        table_error(h, DB_E_CRASHED, target, e);
        break;
    case SQLITE_TOOBIG:
        db_error_set(e, DB_E_PACKET_TOO_LARGE);
        break;
    case SQLITE_NOMEM:
        db_error_set(e, DB_E_OUT_OF_MEMORY);
        break;
    default:
        db_error_set(e, DB_E_UNKNOWN, message);
    }
}
