/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_DDL_DDL_H
#define EPHPM_DB_DDL_DDL_H

/*
 * Definitions. CREATE TABLE and ALTER TABLE become a table of the catalog (catalog.h), and that
 * becomes SQLite's text, MySQL's text (SHOW CREATE TABLE), and the form it is kept in. Pure;
 * everything lies in the arena it is given.
 */

#include "base/buf.h"
#include "db/translate/translate.h"

struct ddl_defaults {
    struct str schema;
    struct str charset; /* of the database */
    struct str collation;
    int64_t now; /* seconds since 1970, for db_cat_table.created */
};

/* A table of CREATE TABLE (the columns of AS SELECT are given, or NULL); MySQL's errors for double
 * columns and keys, bad defaults, sizes. */
int ddl_create(struct arena *arena, const struct sql_create_table *stmt,
    const struct ddl_defaults *defaults, const struct tr_env *env,
    const struct db_column *as_columns, uint32_t n_as_columns, struct db_cat_table **out,
    struct db_error *e) MUST_CHECK;

/* CREATE TABLE new LIKE old */
int ddl_like(struct arena *arena, const struct db_cat_table *old, struct sql_name name,
    const struct ddl_defaults *defaults, struct db_cat_table **out) MUST_CHECK;

/* How ALTER is done. */
enum ddl_way {
    DDL_CATALOG_ONLY, /* comments, defaults, options, DISABLE KEYS ... */
    DDL_STATEMENTS,   /* SQLite's own ALTER, CREATE INDEX and DROP INDEX are enough: statements */
    DDL_REBUILD,      /* a new table is made, filled by `copy`, and takes the old one's name */
};

struct ddl_change {
    struct db_cat_table *table; /* as it will be; its name is another one after RENAME */
    enum ddl_way way;
    const struct str *statements; /* of STATEMENTS */
    uint32_t n_statements;
    /* REBUILD: the statements in order, with the new table under the name "_ephpm_new": create,
     * INSERT INTO _ephpm_new (...) SELECT ... FROM old, drop the old one, rename, indexes. */
    uint64_t auto_increment; /* the next value that was asked for, or 0 */
    int keys_off;            /* 1 DISABLE KEYS, -1 ENABLE KEYS */
};

/* ALTER TABLE, CREATE INDEX and DROP INDEX (as ALTER actions made by the caller). */
int ddl_alter(struct arena *arena, const struct db_cat_table *old,
    const struct sql_alter_table *stmt, const struct ddl_defaults *defaults,
    const struct tr_env *env, struct ddl_change **out, struct db_error *e) MUST_CHECK;

/* SQLite's statements that make the table and its indexes, under the given name. */
int ddl_sqlite(struct arena *arena, const struct db_cat_table *t, struct str name,
    const struct tr_env *env, struct str **statements, uint32_t *n, struct db_error *e) MUST_CHECK;

/* SHOW CREATE TABLE, as MySQL 8 prints it; auto_increment is the next value, printed when > 1. */
void ddl_show(struct buf *out, const struct db_cat_table *t, uint64_t auto_increment);

/* The form that the catalog keeps in the file (one text per table, with a version in it) and back;
 * ERR_CORRUPT, ERR_VERSION. */
void ddl_save(struct buf *out, const struct db_cat_table *t);
int ddl_load(struct arena *arena, struct str text, struct db_cat_table **out) MUST_CHECK;

/* A table of the catalog made of what SQLite itself says of one that it has, for files that were
 * made by something else: "CREATE TABLE" of sqlite_schema parsed as far as it goes. */

#endif
