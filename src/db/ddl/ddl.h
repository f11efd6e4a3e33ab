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

/* The value of the option AUTO_INCREMENT, or 0. */
uint64_t ddl_auto_increment(const struct sql_table_def *def);

/* CREATE [TEMPORARY] TABLE name LIKE old; 1103, 1347. */
int ddl_like(struct arena *arena, const struct db_cat_table *old, struct sql_name name,
    bool temporary, const struct ddl_defaults *defaults, struct db_cat_table **out,
    struct db_error *e) MUST_CHECK;

/* How ALTER is done. */
enum ddl_way {
    DDL_CATALOG_ONLY, /* comments, defaults, options, DISABLE KEYS ...: no statements */
    DDL_STATEMENTS,   /* SQLite's own ALTER, CREATE INDEX and DROP INDEX are enough */
    DDL_REBUILD,      /* a new table is made and filled, and takes the old one's name */
};

struct ddl_rename {
    struct str from, to;
};

/*
 * What ALTER makes. The statements are to be run in order, in one transaction, with
 * PRAGMA legacy_alter_table off. With views_off SQLite's views must not be there meanwhile (its
 * ALTER refuses a schema with a view that does not fit): the caller drops them all and makes them
 * again of their own text, in the same transaction. With foreign_keys_off PRAGMA foreign_keys is
 * off meanwhile (it cannot be changed in a transaction); with check_foreign_keys the caller runs
 * PRAGMA foreign_key_check(table) at the end and takes everything back with error 1452 when that
 * finds a row, unless FOREIGN_KEY_CHECKS is 0. Foreign keys of other tables follow by themselves
 * in SQLite; in the catalog by ddl_refer().
 */
struct ddl_change {
    struct db_cat_table *table; /* as it will be; its name is another one after RENAME */
    enum ddl_way way;
    struct str *statements;
    uint32_t n_statements;
    /* The statement that copies the rows where MySQL copies them, too, and counts them: its
     * changes() is "Records" of the info text, and m_st_* functions in it raise errors with row
     * numbers. Else -1. */
    int32_t copy;
    bool views_off;
    bool foreign_keys_off;
    bool check_foreign_keys;
    struct ddl_rename *renames; /* of columns that others may name: foreign keys */
    uint32_t n_renames;
    uint64_t auto_increment; /* the next value that was asked for, or 0 */
};

/* ALTER TABLE, CREATE INDEX and DROP INDEX (as ALTER actions made by the caller). */
int ddl_alter(struct arena *arena, const struct db_cat_table *old,
    const struct sql_alter_table *stmt, const struct ddl_defaults *defaults,
    const struct tr_env *env, struct ddl_change **out, struct db_error *e) MUST_CHECK;

/* RENAME TABLE old TO name: a change as ALTER TABLE ... RENAME makes it. */
int ddl_rename_table(struct arena *arena, const struct db_cat_table *old, struct sql_name name,
    const struct tr_env *env, struct ddl_change **out, struct db_error *e) MUST_CHECK;

/* Another table of the same schema after `change` of `old`: *out is it with its foreign keys naming
 * the table and its columns as they are called now (SQLite knows already), or NULL when it stays as
 * it is. 1829, 1553: a column or key that it refers to would be gone, so the change must not be. To
 * be asked for every other table before the statements run. */
int ddl_refer(struct arena *arena, const struct db_cat_table *other, const struct db_cat_table *old,
    const struct ddl_change *change, struct db_cat_table **out, struct db_error *e) MUST_CHECK;

/* SQLite's statements that make the table and its indexes, under the given name (the table's, or a
 * passing one). The first one makes the table. Of views: the one CREATE VIEW is store's. */
int ddl_sqlite(struct arena *arena, const struct db_cat_table *t, struct str name,
    const struct tr_env *env, struct str **statements, uint32_t *n, struct db_error *e) MUST_CHECK;
/* "table__key", as SQLite knows the index. */
struct str ddl_index_name(struct arena *arena, struct str table, struct str key) MUST_CHECK;
/* The name of the key that SQLite calls so ("t__a" -> "a"), or empty. */
struct str ddl_key_of_index(struct str table, struct str index);

/* SHOW CREATE TABLE, as MySQL 8 prints it; auto_increment is the next value, printed when > 1. */
void ddl_show(struct buf *out, const struct db_cat_table *t, uint64_t auto_increment);

/* The form that the catalog keeps in the file (one text per table, with a version in it) and back;
 * ERR_CORRUPT, ERR_VERSION. */
void ddl_save(struct buf *out, const struct db_cat_table *t);
int ddl_load(struct arena *arena, struct str text, struct db_cat_table **out) MUST_CHECK;

/*
 * A table of the catalog made of what SQLite itself says of one that it has, for files that were
 * made by something else. Types follow from the declared ones as far as MySQL has them, else from
 * their affinity; what MySQL has no word for (expressions, partial indexes) is left out.
 */
struct ddl_foreign_column { /* a row of PRAGMA table_xinfo, in order */
    struct str name;
    struct str type;
    bool not_null;
    struct str default_text; /* SQLite's text of the expression, p NULL: none */
    int32_t pk;              /* place in the primary key, from 1; 0: not in it */
    int32_t hidden;          /* 0, 1 hidden, 2 virtual, 3 stored */
};

struct ddl_foreign_index { /* a row of PRAGMA index_list with index_xinfo's key columns */
    struct str name;
    bool unique;
    bool partial;
    struct str origin;         /* "c", "u", "pk" */
    const struct str *columns; /* p NULL: an expression */
    const bool *desc;
    uint32_t n_columns;
};

struct ddl_foreign_key { /* the rows of PRAGMA foreign_key_list with one id */
    struct str table;
    const struct str *columns;
    const struct str *ref_columns; /* p NULL: the other table's primary key */
    uint32_t n_columns;
    struct str on_delete;
    struct str on_update;
};

struct ddl_foreign_table {
    struct str name;
    bool is_view;
    const struct ddl_foreign_column *columns;
    uint32_t n_columns;
    const struct ddl_foreign_index *indexes;
    uint32_t n_indexes;
    const struct ddl_foreign_key *keys;
    uint32_t n_keys;
};

int ddl_foreign(struct arena *arena, const struct ddl_foreign_table *t,
    const struct ddl_defaults *defaults, struct db_cat_table **out) MUST_CHECK;

#endif
