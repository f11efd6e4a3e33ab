/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_FUNC_FUNC_H
#define EPHPM_DB_FUNC_FUNC_H

/*
 * MySQL's functions, operators, collations and conversions as C functions of SQLite, registered in
 * a handle by db_func_register(): m_<name> as list.h lists them, and
 *
 *   collations  every name of db/charset.h ("utf8mb4_general_ci", "binary", ...), and my_decimal,
 *               my_time and my_json, which compare texts of these types. Indexes lie in their
 *               order, so none may ever change: see tools/gen-collation-table.
 *
 * MIN() and MAX() are SQLite's own; the translator adds COLLATE to an argument that is no column
 * (my_decimal, my_time, the collation of a text). So are IFNULL, NULLIF, COALESCE, CASE and COUNT.
 *
 * What functions read of the session lies in a struct db_func_context, which belongs to whoever
 * owns the handle and lives at least as long. Its `session` is set before a statement runs and may
 * be NULL between statements: functions then see an empty session in UTC.
 *
 * Errors are sqlite3_result_error() with a packed db_error (db.h); results beyond
 * max_packet are NULL and warning 1301.
 */

#include <sqlite3.h>

#include "db/error.h"
#include "db/func/list.h"
#include "db/value.h"

struct db_tz; /* func/tz.h */

enum db_warning_level { DB_NOTE, DB_WARNING, DB_ERROR_LEVEL };

/* What the session running on a handle gives. All strings live as long as the statement. */
struct db_func_session {
    void *arg;              /* for the callbacks */
    uint64_t mode;          /* db_sql_mode */
    bool writes;            /* the statement changes data: ERROR_FOR_DIVISION_BY_ZERO counts */
    bool ignore;            /* ... with IGNORE: no strictness */
    int64_t now;            /* of the statement: microseconds since 1970, UTC */
    int64_t utc_offset;     /* ... of the time zone in seconds, when tz is NULL */
    const struct db_tz *tz; /* a named zone (db_tz_get()), or NULL: utc_offset */
    uint64_t id;
    struct str user; /* as the client said: "root", "localhost" */
    struct str host;
    struct str account;  /* CURRENT_USER(): "root@%" */
    struct str database; /* empty: none */
    struct str version;  /* "8.0.36-ephpm" */
    struct str charset;  /* character_set_connection, and its collation */
    struct str collation;
    uint64_t last_insert_id; /* read by LAST_INSERT_ID(), written by LAST_INSERT_ID(x) */
    bool last_insert_id_set; /* LAST_INSERT_ID(x) was called: goes into the OK packet */
    int64_t row_count;
    uint64_t found_rows;
    uint64_t rand[2];                 /* RAND()'s state; zeros: it seeds itself */
    uint64_t group_concat_max_len;    /* 0: 1024 */
    uint32_t div_precision_increment; /* MySQL's default is 4; not 0 unless the session says so */
    uint32_t default_week_format;
    uint64_t max_packet; /* 0: 64 MiB */
    /* counted by functions: */
    int64_t row;            /* m_row(); set to 0 before a statement */
    int64_t matched;        /* m_matched() */
    int64_t auto_generated; /* rows whose auto column was left to SQLite */
    int64_t auto_explicit;  /* the last one that was given */
    /* callbacks; each may be NULL */
    void (*warn)(void *arg, enum db_warning_level level, const struct db_error *e);
    /* The value of @name (with its type in *type); false: not set. Bytes live until the statement's
     * end. */
    bool (*var_get)(void *arg, struct str name, struct db_value *value, enum db_base *type);
    void (*var_set)(void *arg, struct str name, const struct db_value *value, enum db_base type);
    /* Waits; false: the statement was killed. */
    bool (*sleep)(void *arg, double seconds);
    /* 1 got it, 0 timeout, -1 error (NULL). seconds < 0: without end. */
    int (*lock_get)(void *arg, struct str name, double seconds);
    /* 1 released, 0 not ours, -1 there is none (NULL). */
    int (*lock_release)(void *arg, struct str name);
    int (*lock_release_all)(void *arg);
    /* The id of who holds it, or 0. */
    uint64_t (*lock_holder)(void *arg, struct str name);
    /* The next number of an auto column that SQLite does not number; 0: error. */
    int64_t (*next_auto)(void *arg, struct str name);
};

struct db_func_context {
    struct db_func_session *session; /* NULL between statements */
    /* private to func/ */
    void *state;
};

/* Registers everything in the handle; the context must outlive it. 0, or ERR_NOMEM. What it
 * allocates goes when the handle is closed. */
int db_func_register(sqlite3 *handle, struct db_func_context *context) MUST_CHECK;

#endif
