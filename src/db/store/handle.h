/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_HANDLE_H
#define EPHPM_DB_STORE_HANDLE_H

/*
 * A handle: one connection of SQLite to a database's file, with MySQL's functions and the
 * relations of information_schema registered, and the statements that were prepared on it. A
 * session borrows one for a statement, or keeps it for a transaction; one thread at a time uses it.
 */

#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include <sqlite3.h>

#include "base/list.h"
#include "base/map.h"
#include "db/error.h"
#include "db/func/func.h"
#include "db/store/turn.h"

struct store_db;
struct db_session;

/* What a statement changed, counted by SQLite's hook. */
struct store_changes {
    struct str table; /* only of this one; empty: nothing is counted */
    uint64_t inserted;
    uint64_t updated;
    uint64_t deleted;
    int64_t updated_row; /* rowid of the last one updated */
};

struct store_handle {
    struct list link; /* of store_db's idle ones */
    struct store_db *db;
    sqlite3 *sql;
    struct db_func_context func;
    struct db_session *session; /* who has it now, or NULL */
    struct store_stop *stop;    /* of that session */
    struct store_changes changes;
    uint64_t busy_ms;  /* how long a lock of another process is waited for */
    bool foreign_keys; /* as SQLite has it now */
    bool close;        /* do not put it back: temporary tables, a fault */
    /* private to handle.c */
    struct map stmts;
    struct list used; /* least recently used first */
    uint32_t n_stmts;
    int busy_count;
};

enum { STORE_HANDLE_CREATE = 1 };

/* Opens; result codes of SQLite, with e filled as the client shall see it. */
int store_handle_open(
    struct store_db *db, int flags, struct store_handle **out, struct db_error *e) MUST_CHECK;
void store_handle_close(struct store_handle *h);

/* A prepared statement of the text, reset and without bindings; give it back with
 * store_handle_done(). Result codes of SQLite. */
int store_handle_stmt(struct store_handle *h, struct str text, sqlite3_stmt **out) MUST_CHECK;
/* Resets and keeps it; returns what sqlite3_reset() returned. */
int store_handle_done(struct store_handle *h, sqlite3_stmt *stmt);
/* Frees all prepared statements that are not in use. */
void store_handle_forget(struct store_handle *h);
/* Runs a statement whose rows are of no interest. Result codes of SQLite. */
int store_handle_run(struct store_handle *h, const char *text) MUST_CHECK;
/* The same for a text that will not come again: not kept. */
int store_handle_run_once(struct store_handle *h, struct str text) MUST_CHECK;
/* The first column of the first row as a number; fallback when there is none or it fails. */
int64_t store_handle_number(struct store_handle *h, struct str text, int64_t fallback);
/* Counts what happens to the table from now on, from zero; an empty name ends that. */
void store_handle_count(struct store_handle *h, struct str table);
/* Switches foreign keys, also inside a transaction. */
void store_handle_foreign_keys(struct store_handle *h, bool on);

#endif
