/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_TABLES_H
#define EPHPM_DB_STORE_TABLES_H

/*
 * The catalog of a database as it is at one moment: an immutable list of tables that many sessions
 * share. A definition makes another list, in which all tables but one are the same. It is kept in
 * the file, in the table _ephpm_catalog (one row per table and view, and the row '' with the
 * list's version), and written in the transaction that changes the tables themselves.
 *
 * Lists and tables are counted; any thread.
 */

#include <sqlite3.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "db/catalog.h"
#include "db/error.h"

struct store_table {
    atomic_uint refs;
    struct arena arena;
    struct db_cat_table *table;
};

struct store_tables {
    atomic_uint refs;
    uint64_t version;
    uint32_t n;
    struct store_table *v[]; /* by name, bytewise */
};

/* An empty list. */
struct store_tables *store_tables_new(void) MUST_CHECK;
struct store_tables *store_tables_ref(struct store_tables *t);
void store_tables_unref(struct store_tables *t); /* NULL is fine */
/* The table, valid as long as the list; NULL. */
const struct db_cat_table *store_tables_find(const struct store_tables *t, struct str name);
/* The same ignoring case: names that SQLite would take for the same. */
const struct db_cat_table *store_tables_find_any(const struct store_tables *t, struct str name);

/* A deep copy that stands alone, of refs 1. schema and temporary are set in it. ERR_CORRUPT. */
int store_table_copy(
    const struct db_cat_table *t, struct str schema, struct store_table **out) MUST_CHECK;
void store_table_unref(struct store_table *t);
/* A list without `remove` (or empty) and with `add` (or NULL; its reference moves to the list). */
struct store_tables *store_tables_change(
    const struct store_tables *old, struct str remove, struct store_table *add) MUST_CHECK;

/* Reads the list of a handle's file. Result codes of SQLite; SQLITE_CORRUPT for what ddl_load()
 * does not read, with e filled. */
int store_tables_load(
    sqlite3 *sql, struct str schema, struct store_tables **out, struct db_error *e) MUST_CHECK;
/* Writes one table (t NULL: takes it out) and the version. Result codes of SQLite. */
int store_tables_save(sqlite3 *sql, struct str name, const struct db_cat_table *t) MUST_CHECK;
int store_tables_save_version(sqlite3 *sql, uint64_t version) MUST_CHECK;

#endif
