/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* SHOW, DESCRIBE and EXPLAIN. Most of SHOW is a SELECT over information_schema (ddl/info.h). */

#include <stdio.h>

#include "base/err.h"
#include "db/ddl/ddl.h"
#include "db/sql/print.h"
#include "db/store/info.h"
#include "db/store/sess.h"
#include "db/store/sqlerr.h"

struct str show_text(struct db_session *s, const struct sql_show_stmt *show)
{
    struct buf b = {0};
    struct db_error e;
    struct str text = STR_NONE;

    if (info_show_text(&s->arena, show, s->database, &b, &e) == 0)
        text = arena_str(&s->arena, buf_str(&b));
    buf_fini(&b);
    return text;
}

/* ---- warnings ---- */

static bool warning_columns(struct db_session *s)
{
    const struct db_type text = {.base = DB_T_VARCHAR,
        .length = 512,
        .decimals = -1,
        .charset = STR("utf8mb4"),
        .collation = STR("utf8mb4_general_ci")};
    const struct db_column c[3] = {{.name = STR("Level"),
                                       .type = text,
                                       .length = 28,
                                       .charset = 45,
                                       .flags = 1,
                                       .decimals = 31},
        {.name = STR("Code"),
            .type = {.base = DB_T_INT, .length = 4, .decimals = 0, .is_unsigned = true},
            .length = 4,
            .charset = 63,
            .flags = DB_COL_NOT_NULL | DB_COL_UNSIGNED | DB_COL_BINARY | DB_COL_NUM},
        {.name = STR("Message"),
            .type = text,
            .length = 2048,
            .charset = 45,
            .flags = 1,
            .decimals = 31}};

    return sess_columns(s, c, 3);
}

static int show_warnings(struct db_session *s, const struct sql_show_stmt *show)
{
    static const struct str levels[] = {STR("Note"), STR("Warning"), STR("Error")};
    bool errors = show->what == SQL_SHOW_ERRORS;
    uint64_t skip = show->limit.offset ? show->limit.offset->u : 0;
    uint64_t most = show->limit.count ? show->limit.count->u : UINT64_MAX;

    if (show->count) {
        struct db_column c = {
            .name = errors ? STR("@@session.error_count") : STR("@@session.warning_count"),
            .type = {.base = DB_T_BIGINT, .length = 21, .decimals = 0, .is_unsigned = true},
            .length = 21,
            .charset = 63,
            .flags = DB_COL_UNSIGNED | DB_COL_BINARY | DB_COL_NUM};
        struct db_value v = {.kind = DB_V_UINT, .u = errors ? s->n_errors : s->total_warnings};

        if (sess_columns(s, &c, 1) && sess_row(s, &v, 1))
            sess_end(s);
        return 0;
    }
    if (!warning_columns(s))
        return ERR_CLOSED;
    list_each (it, &s->warnings) {
        const struct sess_warning *w = CONTAINER_OF(it, struct sess_warning, link);
        struct db_value row[3] = {{.kind = DB_V_TEXT, .s = levels[w->level]},
            {.kind = DB_V_UINT, .u = (uint64_t)w->number},
            {.kind = DB_V_TEXT, .s = str_c(w->text)}};

        if ((errors && w->level != DB_ERROR_LEVEL) || skip-- > 0)
            continue;
        skip = 0;
        if (most-- == 0 || !sess_row(s, row, 3))
            break;
    }
    sess_end(s);
    return 0;
}

/* ---- SHOW CREATE ---- */

static int wrong_object(
    struct db_session *s, struct str schema, struct str name, const char *what, struct db_error *e)
{
    struct str db = schema.len ? schema : str_c(s->database);

    return db_error_set(
        e, DB_E_VIEW_WRONG, arena_str(&s->arena, db).p, arena_str(&s->arena, name).p, what);
}

static void view_text(struct db_session *s, struct buf *b, const struct db_cat_table *t)
{
    buf_add_lit(b, "CREATE ALGORITHM=UNDEFINED DEFINER=");
    sql_print_name(b, str_c(s->user));
    buf_add_lit(b, "@`%` SQL SECURITY DEFINER VIEW ");
    sql_print_name(b, t->name);
    for (uint32_t i = 0; t->options.len && i < t->n_columns; i++) {
        buf_add_str(b, i ? STR(",") : STR(" ("));
        sql_print_name(b, t->columns[i].name);
    }
    buf_add_str(b, t->options.len ? STR(") AS ") : STR(" AS "));
    buf_add_str(b, t->view_text);
}

static int send_create(struct db_session *s, const struct db_cat_table *t)
{
    static const char *const of_table[] = {"Table", "Create Table"};
    static const char *const of_view[] = {
        "View", "Create View", "character_set_client", "collation_connection"};
    struct buf b = {0};
    struct str row[4] = {t->name};
    uint32_t n = t->is_view ? 4 : 2;

    if (t->is_view)
        view_text(s, &b, t);
    else
        ddl_show(&b, t, store_info_auto(s, t));
    row[1] = arena_str(&s->arena, buf_str(&b));
    buf_fini(&b);
    row[2] = store_var_str(&s->vars, VAR_character_set_client);
    row[3] = store_var_str(&s->vars, VAR_collation_connection);
    if (!sess_text_columns(s, t->is_view ? of_view : of_table, n) || !sess_text_row(s, row, n))
        return ERR_CLOSED;
    return 0;
}

static int show_create(struct db_session *s, const struct sql_show_stmt *show, struct db_error *e)
{
    const struct db_cat_table *t;
    struct db_error late;
    int code = 0;

    if (show->table.schema.len == 0 && !s->database[0])
        return db_error_set(e, DB_E_NO_DB);
    if (tx_read(s, false, e) != 0)
        return ERR_IO;
    t = sess_table(s, show->table.schema, show->table.name);
    if (!t)
        code = sess_no_table(s, show->table.schema, show->table.name, e);
    else if (show->what == SQL_SHOW_CREATE_VIEW && !t->is_view)
        code = wrong_object(s, show->table.schema, show->table.name, "VIEW", e);
    else
        code = send_create(s, t);
    store_ignore(tx_done(s, true, &late)); /* it only read */
    if (code == 0)
        sess_end(s);
    return code;
}

static int show_create_database(
    struct db_session *s, const struct sql_show_stmt *show, struct db_error *e)
{
    static const char *const names[] = {"Database", "Create Database"};
    struct str name = show->table.schema.len ? show->table.schema : show->table.name;
    struct buf b = {0};
    struct str row[2] = {name};

    if (!str_eq(name, s->db->name) && !info_is_schema(name))
        return db_error_set(e, DB_E_BAD_DB, arena_str(&s->arena, name).p);
    buf_add_lit(&b, "CREATE DATABASE ");
    if (show->if_not_exists)
        buf_add_lit(&b, "/*!32312 IF NOT EXISTS*/ ");
    sql_print_name(&b, name);
    buf_printf(&b,
        " /*!40100 DEFAULT CHARACTER SET " STR_F " COLLATE " STR_F
        " */ /*!80016 DEFAULT ENCRYPTION='N' */",
        STR_A(store_var_str(&s->vars, VAR_character_set_database)),
        STR_A(store_var_str(&s->vars, VAR_collation_database)));
    row[1] = arena_str(&s->arena, buf_str(&b));
    buf_fini(&b);
    if (!sess_text_columns(s, names, 2) || !sess_text_row(s, row, 2))
        return ERR_CLOSED;
    sess_end(s);
    return 0;
}

static int show_engine(struct db_session *s)
{
    static const char *const names[] = {"Type", "Name", "Status"};
    const struct str row[3] = {STR("InnoDB"), STR(""), STR("The storage engine is SQLite")};

    if (!sess_text_columns(s, names, 3) || !sess_text_row(s, row, 3))
        return ERR_CLOSED;
    sess_end(s);
    return 0;
}

/* The database and the table that a SHOW names have to exist. */
static int check_names(struct db_session *s, const struct sql_show_stmt *show, struct db_error *e)
{
    struct str schema = show->table.schema;
    struct db_error late;
    int code = 0;

    if (schema.len && !str_eq(schema, s->db->name) && !info_is_schema(schema))
        return db_error_set(e, DB_E_BAD_DB, arena_str(&s->arena, schema).p);
    if (show->what != SQL_SHOW_COLUMNS && show->what != SQL_SHOW_INDEX)
        return 0;
    if (tx_read(s, false, e) != 0)
        return ERR_IO;
    if (!sess_table(s, schema, show->table.name))
        code = sess_no_table(s, schema, show->table.name, e);
    store_ignore(tx_done(s, true, &late));
    return code;
}

static int show_query(struct db_session *s, const struct sql_show_stmt *show, struct db_error *e)
{
    struct buf b = {0};
    struct str text;
    int code;

    if (check_names(s, show, e) != 0)
        return ERR_INVAL;
    code = info_show_text(&s->arena, show, s->database, &b, e);
    text = arena_str(&s->arena, buf_str(&b));
    buf_fini(&b);
    if (code == ERR_UNSUPPORTED)
        return db_error_set(e, DB_E_NOT_SUPPORTED_YET, "this SHOW");
    return code ? code : sess_run_inner(s, text, e);
}

int show_run(struct db_session *s, const struct sql_show_stmt *show, struct db_error *e)
{
    switch (show->what) {
    case SQL_SHOW_WARNINGS:
    case SQL_SHOW_ERRORS:
        return show_warnings(s, show);
    case SQL_SHOW_CREATE_TABLE:
    case SQL_SHOW_CREATE_VIEW:
        return show_create(s, show, e);
    case SQL_SHOW_CREATE_DATABASE:
        return show_create_database(s, show, e);
    case SQL_SHOW_CREATE_OTHER:
        return db_error_set(e, DB_E_NO_SUCH_PROCEDURE, arena_str(&s->arena, show->option).p,
            arena_str(&s->arena, show->table.name).p);
    case SQL_SHOW_ENGINE_STATUS:
        return show_engine(s);
    default:
        return show_query(s, show, e);
    }
}

/* ---- EXPLAIN ---- */

/* The table that the translated text calls by this alias: "name" AS "alias". */
static struct str table_of(struct db_session *s, struct str sql, struct str alias)
{
    struct str quoted = tr_quote(&s->arena, alias), before;
    ptrdiff_t at = str_find(sql, arena_printf(&s->arena, " AS " STR_F, STR_A(quoted)));
    ptrdiff_t start;

    if (at < 2 || sql.p[at - 1] != '"')
        return alias;
    before = str_sub(sql, 0, (size_t)at - 1);
    start = str_rchr(before, '"');
    return start < 0 ? alias : str_sub(before, (size_t)start + 1, before.len);
}

/* One line of SQLite's plan in MySQL's columns. */
static void explain_line(
    struct db_session *s, struct str sql, struct str detail, struct str row[12], bool *skip)
{
    struct str table = STR_NONE, index = STR_NONE, rest;
    bool scan = str_starts(detail, STR("SCAN ")), search = str_starts(detail, STR("SEARCH "));
    ptrdiff_t at;

    *skip = !scan && !search;
    if (*skip)
        return;
    rest = str_sub(detail, scan ? 5 : 7, detail.len);
    at = str_chr(rest, ' ');
    table = at < 0 ? rest : str_sub(rest, 0, (size_t)at);
    row[2] = arena_str(&s->arena, table_of(s, sql, table));
    row[4] = scan ? STR("ALL") : STR("ref");
    if (str_find(rest, STR("INTEGER PRIMARY KEY")) >= 0) {
        index = STR("PRIMARY");
        row[4] = str_find(rest, STR("rowid=?")) >= 0 ? STR("const") : STR("range");
    } else if ((at = str_find(rest, STR("INDEX "))) >= 0) {
        index = str_sub(rest, (size_t)at + 6, rest.len);
        at = str_chr(index, ' ');
        index = at < 0 ? index : str_sub(index, 0, (size_t)at);
        if ((at = str_find(index, STR("__"))) >= 0)
            index = str_sub(index, (size_t)at + 2, index.len);
        row[4] = scan ? STR("index") : str_find(rest, STR("=?")) >= 0 ? STR("ref") : STR("range");
    }
    if (index.len)
        row[5] = row[6] = arena_str(&s->arena, index);
    row[11] = str_find(rest, STR("COVERING")) >= 0 ? STR("Using index") : STR_NONE;
}

static int explain_rows(struct db_session *s, struct str sql, sqlite3_stmt *stmt)
{
    static const char *const names[] = {"id", "select_type", "table", "partitions", "type",
        "possible_keys", "key", "key_len", "ref", "rows", "filtered", "Extra"};
    struct str row[12] = {STR("1"), STR("SIMPLE")};
    bool skip, any = false;

    if (!sess_text_columns(s, names, 12))
        return ERR_CLOSED;
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *detail = (const char *)sqlite3_column_text(stmt, 3);

        for (int i = 2; i < 12; i++)
            row[i] = STR_NONE;
        row[9] = STR("1");
        row[10] = STR("100.00");
        explain_line(s, sql, str_c(detail), row, &skip);
        if (skip)
            continue;
        any = true;
        if (!sess_text_row(s, row, 12))
            return ERR_CLOSED;
    }
    if (!any) {
        for (int i = 2; i < 12; i++)
            row[i] = STR_NONE;
        row[11] = STR("No tables used");
        if (!sess_text_row(s, row, 12))
            return ERR_CLOSED;
    }
    return 0;
}

static int explain_plan(struct db_session *s, const struct tr_plan *plan, struct db_error *e)
{
    const struct tr_step *step = NULL;
    sqlite3_stmt *stmt = NULL;
    struct str text;
    int rc, code;

    for (uint32_t i = 0; i < plan->n_steps && !step; i++) {
        if (plan->steps[i].kind == TR_STEP_RESULT || plan->steps[i].kind == TR_STEP_CHANGE)
            step = &plan->steps[i];
    }
    if (!step)
        return db_error_set(e, DB_E_NOT_SUPPORTED_YET, "EXPLAIN of this statement");
    text = arena_printf(&s->arena, "EXPLAIN QUERY PLAN " STR_F, STR_A(step->sql));
    rc = store_handle_stmt(s->handle, text, &stmt);
    if (rc != SQLITE_OK) {
        store_sqlerr_set(s->handle, rc, NULL, e);
        return ERR_IO;
    }
    code = explain_rows(s, step->sql, stmt);
    (void)store_handle_done(s->handle, stmt);
    return code;
}

int show_explain(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    struct store_plan *plan;
    struct db_error late;
    int code;

    if (!exec_is(stmt))
        return db_error_set(e, DB_E_NOT_SUPPORTED_YET, "EXPLAIN of this statement");
    if (tx_read(s, false, e) != 0)
        return ERR_IO;
    plan = store_plan_new(NULL);
    plan->stmt = stmt;
    code = exec_translate(s, plan, e);
    if (code == 0)
        code = explain_plan(s, plan->plan, e);
    store_plan_unref(plan);
    store_ignore(tx_done(s, true, &late)); /* it only read */
    if (code == 0)
        sess_end(s);
    return code;
}
