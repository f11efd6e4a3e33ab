/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_CATALOG_H
#define EPHPM_DB_CATALOG_H

/*
 * What a table is, in MySQL's words: the answer to every question about a column's type, key or
 * default. Made by ddl/ of a statement or of what is stored in the file; read by translate/, SHOW
 * and information_schema. A table is immutable once made; a change makes another one.
 *
 * How tables lie in SQLite (the contract between ddl/, translate/ and store/):
 *  - A table has SQLite's table of the same name, with the same column names, and a rowid.
 *    The order of the columns there need not be the catalog's (ADD COLUMN ... AFTER).
 *    Temporary ones are in the schema temp. Names starting with _ephpm or sqlite_ are refused.
 *  - Columns are declared INTEGER, REAL, TEXT or BLOB (db.h says for which type) with a COLLATE of
 *    the column's collation for text, my_decimal for DECIMAL, my_time for TIME. NOT NULL is there;
 *    DEFAULT is not: translate/ writes every column of an INSERT.
 *  - A sole integer column of the primary key is INTEGER PRIMARY KEY (the rowid), with
 *    AUTOINCREMENT if it is the auto column. Other primary keys are UNIQUE indexes of NOT NULL
 *    columns.
 *  - Indexes are named "table__index" ("table__PRIMARY"); prefix lengths are m_prefix(column, n),
 *    FULLTEXT and SPATIAL have none.
 *  - CHECK and generated columns are in SQLite's text, translated. ON UPDATE CURRENT_TIMESTAMP is
 *    written by translate/ into each UPDATE.
 *  - Foreign keys are SQLite's, DEFERRABLE no.
 *  - Views are SQLite's views, translated at creation, with their text kept in the catalog.
 */

#include "db/type.h"

enum db_cat_default {
    DB_DEFAULT_NONE, /* no DEFAULT: NULL if that is allowed, else an error or the type's zero */
    DB_DEFAULT_NULL,
    DB_DEFAULT_VALUE, /* text is the value, as it lies in SQLite ("0", "2024-01-01 00:00:00"); that
                         of a TIMESTAMP as it was written, in the time zone of who inserts */
    DB_DEFAULT_NOW,   /* CURRENT_TIMESTAMP with the column's decimals */
    DB_DEFAULT_EXPR,  /* text is MySQL's text of the expression, as sql/print.h writes it */
};

struct db_cat_column {
    struct str name;
    struct db_type type; /* charset and collation are set for text types */
    bool not_null;
    bool auto_increment;
    bool on_update_now;
    bool invisible;
    bool stored; /* generated: STORED, else VIRTUAL */
    enum db_cat_default default_kind;
    struct str default_text;
    struct str generated; /* MySQL's text of the expression, or empty */
    struct str comment;
    uint16_t key_flags; /* PRI_KEY, UNIQUE_KEY, MULTIPLE_KEY, PART_KEY of db_column_flags */
};

enum db_cat_key_kind {
    DB_KEY_PRIMARY,
    DB_KEY_UNIQUE,
    DB_KEY_INDEX,
    DB_KEY_FULLTEXT,
    DB_KEY_SPATIAL
};

struct db_cat_part {
    int32_t column;  /* index, or -1: */
    struct str expr; /* MySQL's text of a functional part */
    int32_t length;  /* prefix in characters (bytes for binary), 0: whole */
    bool desc;
};

struct db_cat_key {
    struct str name; /* "PRIMARY" for the primary one */
    enum db_cat_key_kind kind;
    const struct db_cat_part *parts;
    uint32_t n_parts;
    struct str using_type; /* "BTREE" unless said otherwise */
    bool using_said;       /* USING was written: SHOW CREATE TABLE prints it */
    bool of_foreign;       /* made for a foreign key; goes when another key does its work */
    struct str comment;
    bool invisible;
};

struct db_cat_fk {
    struct str name;
    const struct str *columns;
    const struct str *ref_columns;
    uint32_t n_columns;
    struct str ref_table;
    struct str on_delete; /* "CASCADE", "SET NULL", "RESTRICT", "NO ACTION"; never empty */
    struct str on_update;
};

struct db_cat_check {
    struct str name;
    struct str expr; /* MySQL's text */
    bool enforced;
};

struct db_cat_table {
    struct str schema;
    struct str name;
    bool temporary;
    bool is_view;
    bool is_system; /* of information_schema and the like: sqlite_name says how SQLite knows it */
    struct str sqlite_name; /* unquoted; name unless is_system */
    const struct db_cat_column *columns;
    uint32_t n_columns;
    const struct db_cat_key
        *keys; /* the primary one first, then unique ones, as MySQL sorts them */
    uint32_t n_keys;
    const struct db_cat_fk *fks;
    uint32_t n_fks;
    const struct db_cat_check *checks;
    uint32_t n_checks;
    int32_t auto_column;  /* index, or -1 */
    int32_t rowid_column; /* the column that is INTEGER PRIMARY KEY, or -1 */
    struct str engine;    /* "InnoDB" unless said otherwise */
    struct str charset;
    struct str collation;
    struct str comment;
    struct str row_format; /* as written, or empty */
    struct str options;    /* the rest, as CREATE_OPTIONS shows them */
    struct str partition;  /* text of PARTITION BY */
    struct str view_text;  /* MySQL's text of the query */
    int64_t created;       /* seconds since 1970 */
};

/* Index of the column (ASCII and case-insensitive, as MySQL compares column names), or -1. */
int32_t db_cat_column_find(const struct db_cat_table *t, struct str name);
/* The key, or NULL. */
const struct db_cat_key *db_cat_key_find(const struct db_cat_table *t, struct str name);

#endif
