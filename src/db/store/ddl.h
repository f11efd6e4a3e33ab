/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_DDL_H
#define EPHPM_DB_STORE_DDL_H

/*
 * What the files that run definitions share: one definition is one transaction that has the turn
 * to write; it changes SQLite's schema and the catalog's rows, and makes the list of tables that
 * the database has after the commit.
 */

#include "db/ddl/ddl.h"
#include "db/store/sess.h"

struct def {
    struct db_session *s;
    struct tr_env env;
    struct ddl_defaults defaults;
    struct store_tables *tables; /* as they will be */
    struct store_tables *temp;   /* the temporary ones as they will be; may be NULL */
    bool changed;                /* tables */
};

/* Commits what is open, takes the turn, begins. temporary: only temporary tables are touched, so
 * nothing is committed and no turn is needed. */
int def_begin(struct def *d, struct db_session *s, bool temporary, struct db_error *e) MUST_CHECK;
/* Commits if code is 0, else takes back; returns code, or the commit's error. */
int def_end(struct def *d, int code, struct db_error *e) MUST_CHECK;
int def_sql(struct def *d, struct str text, struct db_error *e) MUST_CHECK;
/* Puts a table into the catalog (of the file, or of the session if it is temporary) in place of the
 * one named `remove` (may be empty); t NULL: only takes out. */
int def_put(struct def *d, const struct db_cat_table *t, struct str remove, bool temporary,
    struct db_error *e) MUST_CHECK;
/* SQLite's statement for the next number of an auto column. */
int def_auto(
    struct def *d, const struct db_cat_table *t, uint64_t next, struct db_error *e) MUST_CHECK;
/* Does the name's schema allow definitions? 1046, 1044, 1049. */
int def_schema(struct db_session *s, struct str schema, struct db_error *e) MUST_CHECK;
/* The table as it will be: temporary ones first. */
const struct db_cat_table *def_table(const struct def *d, struct str name);
/* Views are out of the way while SQLite alters tables; *views has what makes them again. */
int def_views_off(struct def *d, struct str **views, uint32_t *n, struct db_error *e) MUST_CHECK;
int def_views_on(struct def *d, const struct str *views, uint32_t n, struct db_error *e) MUST_CHECK;

int ddl_alter_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e) MUST_CHECK;
int ddl_rename_run(
    struct db_session *s, const struct sql_stmt *stmt, struct db_error *e) MUST_CHECK;
int ddl_view_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e) MUST_CHECK;
int ddl_database_run(
    struct db_session *s, const struct sql_stmt *stmt, struct db_error *e) MUST_CHECK;
int ddl_create_run(
    struct db_session *s, const struct sql_create_table *c, struct db_error *e) MUST_CHECK;

#endif
