/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_TRANSLATE_TRANSLATE_H
#define EPHPM_DB_TRANSLATE_TRANSLATE_H

/*
 * From tree to SQLite's text. Names are resolved against the catalog (so that unknown ones have
 * MySQL's errors before SQLite sees anything), every expression gets MySQL's type, and whatever
 * SQLite would understand differently becomes a call of a function of func/ (func.h has the list).
 * All names are emitted quoted. Pure: reads the tree, the catalog and the environment; everything
 * it makes lies in the arena.
 *
 * Values of literals leave the text where that changes nothing, so that statements that differ in
 * their values only share one prepared statement: the text has ?1, ?2, ... and `params` says where
 * each comes from.
 */

#include "base/arena.h"
#include "db/catalog.h"
#include "db/error.h"
#include "db/sql/ast.h"
#include "db/value.h"

struct tr_env {
    void *arg;
    /* The table, also of information_schema and temporary ones (those hide others), or NULL. schema
     * is empty for the current one. */
    const struct db_cat_table *(*table)(void *arg, struct str schema, struct str name);
    /* Does the schema exist? */
    bool (*schema)(void *arg, struct str schema);
    /* A system variable's value and type; false: unknown. Bytes live as long as the arena. */
    bool (*system_var)(void *arg, enum sql_scope scope, struct str name, struct db_value *value,
        struct db_type *type);
    /* The type that a user variable has now; false: not set (type NULL). */
    bool (*user_var)(void *arg, struct str name, struct db_type *type);
    struct str database;  /* the current one, empty: none */
    uint32_t mode;        /* db_sql_mode */
    struct str charset;   /* character_set_connection */
    struct str collation; /* collation_connection */
    uint16_t results;     /* number of character_set_results' collation; 0: it is NULL */
    bool utc;        /* the session's time zone is UTC: TIMESTAMP columns are read as they lie */
    bool found_rows; /* affected rows are those found (CLIENT_FOUND_ROWS) */
    bool auto_zero;  /* sql_mode NO_AUTO_VALUE_ON_ZERO is in mode; sql_auto_is_null is not kept */
    uint64_t select_limit; /* sql_select_limit, UINT64_MAX: none */
    /* Types of the client's parameters when they are known (binary protocol), else NULL: text. */
    const struct db_type *param_types;
    uint32_t n_param_types;
};

enum tr_class {
    TR_READ,      /* changes nothing */
    TR_READ_LOCK, /* SELECT ... FOR UPDATE: wants the turn to write in a transaction */
    TR_WRITE,
};

/* Where ?N comes from. */
struct tr_param {
    bool from_client;
    uint32_t index;        /* of the client's parameter */
    struct db_value value; /* else */
};

/* What a step is for. */
enum tr_step_kind {
    TR_STEP_RESULT,  /* rows for the client */
    TR_STEP_FOUND,   /* one value: FOUND_ROWS() after SQL_CALC_FOUND_ROWS */
    TR_STEP_CHANGE,  /* changes the table; what it changes counts */
    TR_STEP_PREPARE, /* to be run before, does not count (temporary tables of keys, ...) */
    TR_STEP_FINISH,  /* to be run after, also after a failure */
};

struct tr_step {
    enum tr_step_kind kind;
    struct str sql;
    const struct tr_param *params;
    uint32_t n_params;
    const struct db_cat_table *target; /* of CHANGE: for errors and auto_increment */
};

/* How affected rows are counted (MySQL's ways). */
enum tr_count {
    TR_COUNT_NONE,
    TR_COUNT_INSERT,  /* rows inserted */
    TR_COUNT_UPSERT,  /* 1 for each inserted, 2 for each updated; 1 for an equal one with found_rows
                       */
    TR_COUNT_REPLACE, /* inserted and deleted */
    TR_COUNT_UPDATE,  /* rows changed; those matched are counted by m_matched() */
    TR_COUNT_DELETE,
};

struct tr_plan {
    enum tr_class class;
    enum tr_count count;
    bool ignore; /* INSERT IGNORE and the like: errors of rows become warnings */
    bool nowait; /* of FOR UPDATE */
    bool skip_locked;
    const struct tr_step *steps;
    uint32_t n_steps;
    const struct db_column *columns; /* of the result */
    uint32_t n_columns;
    struct sql_names into; /* user variables of SELECT ... INTO */
    uint32_t n_rows;       /* of INSERT ... VALUES, for the info text; 0: not known before */
    bool has_auto;         /* writes an auto column: m_auto() tells which ids */
    bool cacheable;        /* may be kept for the same text, mode, database, parameter types and
                              version of the catalog: no variables, no literal values inlined that
                              the key does not have */
};

/* QUERY, INSERT, UPDATE, DELETE and DO. Other statements: DB_E_NOT_SUPPORTED_YET. */
int tr_translate(struct arena *arena, const struct sql_stmt *stmt, const struct tr_env *env,
    struct tr_plan **out, struct db_error *e) MUST_CHECK;

/* One expression whose columns are those of the table (NULL: none), as SQLite's text without
 * parameters: CHECK, generated columns, functional keys, defaults. *type is what it yields. */
int tr_expr(struct arena *arena, const struct sql_expr *expr, const struct db_cat_table *table,
    const struct tr_env *env, struct str *sql, struct db_type *type, struct db_error *e) MUST_CHECK;

/* The call that converts the SQLite expression `value` when it is stored in the column. */
struct str tr_store_call(
    struct arena *arena, const struct db_cat_column *column, struct str value) MUST_CHECK;

/* The query of CREATE VIEW and of CREATE TABLE ... AS: SQLite's text without parameters, and the
 * columns it yields. */
int tr_query(struct arena *arena, const struct sql_query *query, const struct tr_env *env,
    struct str *sql, const struct db_column **columns, uint32_t *n_columns,
    struct db_error *e) MUST_CHECK;

/* "name" with " doubled */
struct str tr_quote(struct arena *arena, struct str name) MUST_CHECK;

#endif
