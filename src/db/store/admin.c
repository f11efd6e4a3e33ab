/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* KILL, ANALYZE, CHECK, OPTIMIZE, REPAIR TABLE, FLUSH, and what is refused. */

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "db/store/sess.h"
#include "db/store/sqlerr.h"

/* ---- KILL ---- */

static bool is_mine(struct db_session *s, uint64_t id)
{
    bool mine = false;

    pthread_mutex_lock(&s->server->mutex);
    list_each (it, &s->server->sessions) {
        const struct db_session *other = CONTAINER_OF(it, struct db_session, link);

        if (other->id == id && other->db == s->db)
            mine = true;
    }
    pthread_mutex_unlock(&s->server->mutex);
    return mine;
}

static int kill_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    struct db_value value;
    struct db_type type;
    uint64_t id;

    if (eval_expr(s, stmt->exprs.v[0], &value, &type, e) != 0)
        return ERR_INVAL;
    id = value.kind == DB_V_TEXT ? strtoull(arena_str(&s->arena, value.s).p, NULL, 10) : value.u;
    if (!is_mine(s, id) || db_server_kill(s->server, id, stmt->query_only) != 0)
        return db_error_set(e, DB_E_NO_SUCH_THREAD, (unsigned long long)id);
    if (id == s->id && !stmt->query_only)
        return db_error_set(e, DB_E_QUERY_INTERRUPTED);
    sess_ok(s, 0, STR_NONE);
    return 0;
}

/* ---- ANALYZE and the like ---- */

static bool result_row(
    struct db_session *s, struct str table, struct str op, struct str type, struct str text)
{
    struct str row[4] = {table, op, type, text};

    return sess_text_row(s, row, 4);
}

/* Runs a text whose first row's first column is "ok" or empty when all is well; the answer in the
 * arena. */
static struct str ask(struct db_session *s, struct str text)
{
    sqlite3_stmt *stmt = NULL;
    struct str answer = STR("OK");
    int rc = sqlite3_prepare_v2(s->handle->sql, text.p, (int)text.len, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        const char *p = (const char *)sqlite3_column_text(stmt, 0);

        if (p && strcmp(p, "ok") != 0)
            answer = arena_str(&s->arena, str_c(p));
    } else if (rc != SQLITE_DONE) {
        answer = arena_str(&s->arena, str_c(sqlite3_errmsg(s->handle->sql)));
    }
    (void)sqlite3_finalize(stmt);
    return answer;
}

/* Why the table cannot be worked on; empty: it can. */
static struct str admin_problem(struct db_session *s, const struct sql_name *name)
{
    struct db_error e;

    if (sess_table(s, name->schema, name->name))
        return STR_NONE;
    store_ignore(sess_no_table(s, name->schema, name->name, &e));
    return arena_str(&s->arena, str_c(e.text));
}

static bool admin_table(
    struct db_session *s, const struct sql_name *name, struct str op, const char *verb)
{
    struct str schema = name->schema.len ? name->schema : str_c(s->database);
    struct str full = arena_printf(&s->arena, STR_F "." STR_F, STR_A(schema), STR_A(name->name));
    struct str problem = admin_problem(s, name), quoted, answer = STR("OK");

    if (problem.len)
        return result_row(s, full, op, STR("Error"), problem) &&
               result_row(s, full, op, STR("status"), STR("Operation failed"));
    quoted = tr_quote(&s->arena, name->name);
    if (verb)
        answer = ask(s, arena_printf(&s->arena, "%s(" STR_F ")", verb, STR_A(quoted)));
    else if (str_eq(op, STR("analyze")))
        answer = ask(s, arena_printf(&s->arena, "ANALYZE main." STR_F, STR_A(quoted)));
    if (str_eq(op, STR("optimize")) &&
        !result_row(s, full, op, STR("note"),
            STR("Table does not support optimize, doing recreate + analyze instead")))
        return false;
    return result_row(
        s, full, op, str_eq(answer, STR("OK")) ? STR("status") : STR("error"), answer);
}

/* The whole file is written again without its holes. */
static void vacuum(struct db_session *s)
{
    struct db_error e;

    if (s->in_tx || s->locked || tx_lock(s, &e) != 0)
        return;
    if (tx_read(s, false, &e) == 0) {
        sqlite3_limit(s->handle->sql, SQLITE_LIMIT_ATTACHED, 1); /* VACUUM attaches its copy */
        store_handle_forget(s->handle);
        if (store_handle_run_once(s->handle, STR("VACUUM")) != SQLITE_OK)
            sess_warn_name(s, DB_WARNING, DB_E_UNKNOWN, sqlite3_errmsg(s->handle->sql));
        sqlite3_limit(s->handle->sql, SQLITE_LIMIT_ATTACHED, 0);
        store_ignore(store_handle_run_once(s->handle, STR("ANALYZE"))); /* only statistics */
        store_ignore(tx_done(s, true, &e));
    }
    tx_unlock(s);
}

static int checksum_run(struct db_session *s, const struct sql_stmt *stmt)
{
    static const char *const names[] = {"Table", "Checksum"};

    if (!sess_text_columns(s, names, 2))
        return ERR_CLOSED;
    for (uint32_t i = 0; i < stmt->drop->n_names; i++) {
        struct str row[2] = {
            arena_printf(&s->arena, "%s." STR_F, s->database, STR_A(stmt->drop->names[i].name)),
            STR_NONE};

        if (!sess_text_row(s, row, 2))
            return ERR_CLOSED;
    }
    sess_end(s);
    return 0;
}

static int tables_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    static const char *const names[] = {"Table", "Op", "Msg_type", "Msg_text"};
    char op[16] = "";
    size_t n = str_put(op, sizeof(op), stmt->name);
    bool check, write, more = true;
    struct db_error late;

    for (size_t i = 0; i < n; i++)
        op[i] = str_lower_char(op[i]);
    if (strcmp(op, "checksum") == 0)
        return checksum_run(s, stmt);
    if (!s->database[0] && stmt->drop->n_names && !stmt->drop->names[0].schema.len)
        return db_error_set(e, DB_E_NO_DB);
    if (tx_implicit_commit(s, e) != 0)
        return ERR_IO;
    check = strcmp(op, "check") == 0;
    write = strcmp(op, "analyze") == 0;
    if (strcmp(op, "optimize") == 0)
        vacuum(s);
    if (write ? tx_define(s, e) != 0 : tx_read(s, false, e) != 0)
        return ERR_IO;
    more = sess_text_columns(s, names, 4);
    for (uint32_t i = 0; more && i < stmt->drop->n_names; i++)
        more = admin_table(
            s, &stmt->drop->names[i], str_c(op), check ? "PRAGMA integrity_check" : NULL);
    if (tx_done(s, true, &late) != 0 && more) {
        *e = late;
        return ERR_IO;
    }
    tx_foreign_keys(s);
    if (more)
        sess_end(s);
    return 0;
}

/* ---- the rest ---- */

static int refused(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    const char *what = arena_str(&s->arena, stmt->name).p;

    if (str_istarts(stmt->name, STR("LOAD DATA")))
        return db_error_set(e, DB_E_OPTION_PREVENTS, "--local-infile=0");
    if (str_ieq(stmt->name, STR("SELECT ... INTO OUTFILE")) ||
        str_ieq(stmt->name, STR("SELECT ... INTO DUMPFILE")))
        return db_error_set(e, DB_E_OPTION_PREVENTS, "--secure-file-priv");
    /* There is none of it, so nothing has to go. */
    if (stmt->if_exists && str_istarts(stmt->name, STR("DROP "))) {
        struct db_error note;

        db_error_text(&note, DB_E_NO_SUCH_PROCEDURE, "%s does not exist", what + strlen("DROP "));
        sess_warn(s, DB_NOTE, &note);
        sess_ok(s, 0, STR_NONE);
        return 0;
    }
    return db_error_set(e, DB_E_NOT_SUPPORTED_YET, what);
}

int admin_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    switch (stmt->kind) {
    case SQL_STMT_KILL:
        return kill_run(s, stmt, e);
    case SQL_STMT_ADMIN:
        return tables_run(s, stmt, e);
    case SQL_STMT_FLUSH:
        if (tx_implicit_commit(s, e) != 0)
            return ERR_IO;
        sess_ok(s, 0, STR_NONE);
        return 0;
    case SQL_STMT_ACCOUNT:
        if (tx_implicit_commit(s, e) != 0)
            return ERR_IO;
        sess_warn_name(s, DB_WARNING, DB_E_OPTION_PREVENTS, "one account per database");
        sess_ok(s, 0, STR_NONE);
        return 0;
    case SQL_STMT_CALL:
        return db_error_set(e, DB_E_NO_SUCH_PROCEDURE, "PROCEDURE",
            arena_printf(&s->arena, "%s." STR_F, s->database, STR_A(stmt->name)).p);
    default:
        return refused(s, stmt, e);
    }
}
