/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_SQLERR_H
#define EPHPM_DB_STORE_SQLERR_H

/*
 * Errors of SQLite in MySQL's numbers and words.
 */

#include <sqlite3.h>

#include "db/catalog.h"
#include "db/error.h"

struct store_db;
struct store_handle;

/* A file that cannot be opened; sql may be NULL. Writes the line to the log, too. */
void store_sqlerr_open(struct store_db *db, sqlite3 *sql, int rc, struct db_error *e);
/* A statement that failed with rc on the handle. target is the table it changes, or NULL. The value
 * of a duplicate entry is not known here: e->text has "?" in its place, see duplicate.h. */
void store_sqlerr_set(
    struct store_handle *h, int rc, const struct db_cat_table *target, struct db_error *e);
/* The unique key that a message of SQLite ("UNIQUE constraint failed: t.a, t.b") speaks of; NULL
 * when it is not such a message. */
const struct db_cat_key *store_sqlerr_key(const char *message, const struct db_cat_table *t);

#endif
