/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_SESS_H
#define EPHPM_DB_STORE_SESS_H

/*
 * Inside a session. The files that use this, in reading order: session.c (life, what the wire
 * asks), run.c (a text: parse, choose, count), tx.c (transactions, the turn to write), exec.c
 * (queries and changes), eval.c (one expression), set.c, ddl.c, show.c, admin.c, prepare.c.
 *
 * A session is used by one thread at a time. What others may touch is `stop.kill` and what is
 * under `mutex`. Memory: `arena` is emptied when a statement begins.
 */

#include "base/arena.h"
#include "db/ddl/info.h"
#include "db/session.h"
#include "db/sql/parse.h"
#include "db/store/file.h"
#include "db/store/locks.h"
#include "db/store/srv.h"

enum { SESS_MAX_WARNINGS = 65535, SESS_MAX_NAMED = 1000 };

struct sess_warning {
    struct list link;
    enum db_warning_level level;
    int number;
    char *text;
};

struct sess_user_var {
    enum db_base base;
    struct db_value value;
    char *owned; /* the bytes of value.s */
};

/* A statement that was prepared by name or by the protocol. */
struct db_prepared {
    struct list link;
    struct db_session *session;
    char *text;
    struct str str; /* text */
    uint32_t n_params;
    struct store_plan *plan; /* as it was when it was prepared: what columns are told before */
    struct db_type *types;   /* of the parameters, as they came last */
};

struct db_session {
    struct list link; /* of the server's */
    struct db_server *server;
    struct store_db *db;
    uint64_t id;
    char *user, *host;
    char database[260]; /* the current one, or "" */
    uint32_t client_flags;
    uint8_t login_charset;
    bool multi;
    struct arena arena;
    struct store_vars vars;
    struct db_func_session f;
    uint16_t results; /* number of character_set_results' collation, 0 when that is NULL */
    struct db_tz *tz; /* of SET time_zone, NULL unless it is a named one of its own */
    struct store_stop stop;
    /* transaction */
    struct store_handle *handle; /* kept: for the transaction or temporary tables; or NULL */
    struct store_tables *tables; /* the catalog of the transaction or the statement */
    bool in_tx;                  /* as the client sees it */
    bool sql_tx;                 /* SQLite has a transaction open on handle */
    bool has_turn;
    bool wrote; /* SQLite's transaction may have changed something */
    bool tx_read_only;
    bool next_read_only;              /* SET TRANSACTION READ ONLY for the next one */
    bool next_access;                 /* ... was said at all */
    bool locked;                      /* LOCK TABLES holds the turn */
    uint32_t depth;                   /* borrows of the handle within this statement */
    struct sql_names savepoints;      /* names are ours */
    struct store_tables *temp;        /* temporary tables, or NULL */
    struct store_tables *temp_before; /* ... when the transaction of SQLite began */
    struct store_tables *new_tables;  /* the database\'s after the commit, or NULL */
    /* state of the SQL session */
    struct map user_vars;
    struct list warnings;
    uint32_t n_warnings;     /* kept */
    uint32_t total_warnings; /* happened */
    uint32_t n_errors;
    bool old_warnings;                 /* they are of another statement: this one only shows them */
    struct list prepared;              /* of the protocol */
    struct map named;                  /* PREPARE name */
    const struct db_type *param_types; /* of the statement that runs, or NULL */
    const struct db_value *params;
    uint32_t n_params;
    uint64_t insert_id; /* of the statement */
    int64_t first_auto; /* of next_auto() in this statement */
    /* for the statement that runs */
    const struct db_sink *sink;
    bool more;  /* another statement follows in the text */
    bool ended; /* the sink has been told the end */
    bool gone;  /* the client is */
    uint64_t rows_sent;
    uint64_t affected;
    uint64_t start_ns;
    uint32_t nesting; /* EXECUTE of EXECUTE */
    char statistics[200];
    /* seen by other threads: */
    pthread_mutex_t mutex;
    char info[1024]; /* start of the statement's text */
    size_t info_len;
    uint64_t info_since_ms;
    bool running;
    _Atomic bool waiting; /* for the turn */
    char shown_db[260];
    void (*on_kill)(void *arg);
    void *on_kill_arg;
};

/* ---- session.c ---- */

/* A named zone that the caller closes, NULL when it is UTC (or not known). */
struct db_tz *store_zone(struct str name);
void sess_set_zone(struct db_session *s, struct str zone);
/* Takes what variables say into s->f. */
void sess_vars_changed(struct db_session *s);
void sess_warn(struct db_session *s, enum db_warning_level level, const struct db_error *e);
void sess_warn_name(
    struct db_session *s, enum db_warning_level level, enum db_error_name name, ...);
void sess_clear_warnings(struct db_session *s);
int sess_use(struct db_session *s, struct str database, struct db_error *e) MUST_CHECK;
void sess_user_var_set(
    struct db_session *s, struct str name, const struct db_value *value, enum db_base base);
struct sess_user_var *sess_user_var_get(struct db_session *s, struct str name);

/* ---- run.c ---- */

/* The statement ends well. */
void sess_ok(struct db_session *s, uint64_t affected, struct str info);
void sess_end(struct db_session *s);
/* Rows follow; false: the client is gone. */
bool sess_columns(struct db_session *s, const struct db_column *columns, uint32_t n);
bool sess_row(struct db_session *s, const struct db_value *values, uint32_t n);
/* A result whose columns are texts. */
bool sess_text_columns(struct db_session *s, const char *const *names, uint32_t n);
bool sess_text_row(struct db_session *s, const struct str *values, uint32_t n);
/* Parses and runs text with the session's parameters; the sink is told. */
void sess_run(struct db_session *s, struct str text);
/* A text of ours (SHOW as a SELECT), within a statement. */
int sess_run_inner(struct db_session *s, struct str text, struct db_error *e) MUST_CHECK;
/* EXECUTE: runs the text of a prepared statement with the session's parameters. */
int sess_execute(struct db_session *s, struct str text, struct db_error *e) MUST_CHECK;
/* A statement of the text, parsed into the plan's arena; *rest is what follows. */
int sess_parse(struct db_session *s, struct str text, struct store_plan **out, struct str *rest,
    struct db_error *e) MUST_CHECK;

/* ---- tx.c ---- */

int tx_begin(struct db_session *s, bool read_only, bool snapshot, struct db_error *e) MUST_CHECK;
int tx_commit(struct db_session *s, struct db_error *e) MUST_CHECK;
void tx_rollback(struct db_session *s);
/* Before a definition and the like. */
int tx_implicit_commit(struct db_session *s, struct db_error *e) MUST_CHECK;
int tx_savepoint(struct db_session *s, struct str name, struct db_error *e) MUST_CHECK;
int tx_rollback_to(struct db_session *s, struct str name, struct db_error *e) MUST_CHECK;
int tx_release(struct db_session *s, struct str name, struct db_error *e) MUST_CHECK;

/* The handle for a statement that reads, with s->tables as they are in its snapshot. Calls nest. */
int tx_read(struct db_session *s, bool several, struct db_error *e) MUST_CHECK;
/* For one that writes: has the turn, and SQLite's transaction. */
int tx_write(struct db_session *s, uint64_t wait_ms, struct db_error *e) MUST_CHECK;
/* For a definition: as tx_write(), no transaction of the client open, foreign keys off. */
int tx_define(struct db_session *s, struct db_error *e) MUST_CHECK;
/* Ends tx_read(), tx_write() or tx_define(): outside of a transaction it commits (ok) or rolls
 * back, and gives back what the statement took. Fails when the commit does. */
int tx_done(struct db_session *s, bool ok, struct db_error *e) MUST_CHECK;
/* Releases everything: the session ends. */
void tx_end(struct db_session *s);
/* Takes the turn for LOCK TABLES. */
int tx_lock(struct db_session *s, struct db_error *e) MUST_CHECK;
void tx_unlock(struct db_session *s);
/* foreign_key_checks was set. */
void tx_foreign_keys(struct db_session *s);
uint64_t tx_wait_ms(const struct db_session *s);

/* ---- exec.c ---- */

void exec_env(struct db_session *s, struct tr_env *env);
/* Is it a statement that translate/ translates? */
bool exec_is(const struct sql_stmt *stmt);
/* Runs such a statement; the plan is made in *plan if it is not there yet, or made again when the
 * catalog is another one now. It is kept under the key, if that is not empty. */
int exec_run(
    struct db_session *s, struct store_plan **plan, struct str key, struct db_error *e) MUST_CHECK;
/* What the plan cache's key is for the text; empty: this session does not use the cache. */
struct str exec_key(struct db_session *s, struct str text);
/* Translates with s->tables. */
int exec_translate(struct db_session *s, struct store_plan *plan, struct db_error *e) MUST_CHECK;
/* Value of a result's column. */
void exec_value(sqlite3_stmt *stmt, int i, const struct db_column *column, struct db_value *out);
int exec_bind(sqlite3_stmt *stmt, int i, const struct db_value *value) MUST_CHECK;

/* ---- eval.c ---- */

/* The expression's value; bytes lie in the arena. */
int eval_expr(struct db_session *s, const struct sql_expr *expr, struct db_value *value,
    struct db_type *type, struct db_error *e) MUST_CHECK;
bool eval_system_var(
    void *arg, enum sql_scope scope, struct str name, struct db_value *value, struct db_type *type);
/* As text; bytes lie in the arena. */
struct str eval_text(struct db_session *s, const struct db_value *value) MUST_CHECK;

/* ---- set.c, ddl.c, show.c, admin.c, prepare.c: statements ---- */

int set_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e) MUST_CHECK;
/* ddl.c: tables; ddl_alter.c; ddl_view.c: views, databases */
int ddl_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e) MUST_CHECK;
int show_run(struct db_session *s, const struct sql_show_stmt *show, struct db_error *e) MUST_CHECK;
/* The SELECT that answers it, in the session's arena; empty: there is none. */
struct str show_text(struct db_session *s, const struct sql_show_stmt *show) MUST_CHECK;
int show_explain(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e) MUST_CHECK;
int admin_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e) MUST_CHECK;
int prepare_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e) MUST_CHECK;
void prepare_free_all(struct db_session *s);

/* The table of the current or named database, of temporary tables or of information_schema; NULL.
 * Needs tx_read(). */
const struct db_cat_table *sess_table(struct db_session *s, struct str schema, struct str name);
/* 1146 with both names. */
int sess_no_table(
    struct db_session *s, struct str schema, struct str name, struct db_error *e) MUST_CHECK;

#endif
