/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Queries and changes: translate, run the steps, give rows to the sink, count what changed. */

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "db/store/duplicate.h"
#include "db/store/sess.h"
#include "db/store/sqlerr.h"
#include "platform/clock.h"

enum { TRIES = 3 };

bool exec_is(const struct sql_stmt *stmt)
{
    return stmt->kind == SQL_STMT_QUERY || stmt->kind == SQL_STMT_INSERT ||
           stmt->kind == SQL_STMT_UPDATE || stmt->kind == SQL_STMT_DELETE ||
           stmt->kind == SQL_STMT_DO;
}

static bool is_write(const struct sql_stmt *stmt)
{
    return stmt->kind == SQL_STMT_INSERT || stmt->kind == SQL_STMT_UPDATE ||
           stmt->kind == SQL_STMT_DELETE;
}

/* ---- what translation asks ---- */

const struct db_cat_table *sess_table(struct db_session *s, struct str schema, struct str name)
{
    struct str db = schema.len ? schema : str_c(s->database);
    const struct db_cat_table *t = NULL;

    if (str_eq(db, s->db->name)) {
        if (s->temp)
            t = store_tables_find(s->temp, name);
        return t || !s->tables ? t : store_tables_find(s->tables, name);
    }
    for (uint32_t i = 0; i < s->server->n_relations && !t; i++) {
        const struct info_relation *r = &s->server->relations[i];

        if (str_ieq(r->schema, db) && str_ieq(r->name, name))
            t = s->server->system_tables[i];
    }
    return t;
}

int sess_no_table(struct db_session *s, struct str schema, struct str name, struct db_error *e)
{
    struct str db = schema.len ? schema : str_c(s->database);

    if (db.len == 0)
        return db_error_set(e, DB_E_NO_DB);
    return db_error_set(
        e, DB_E_NO_SUCH_TABLE, arena_str(&s->arena, db).p, arena_str(&s->arena, name).p);
}

static const struct db_cat_table *env_table(void *arg, struct str schema, struct str name)
{
    return sess_table(arg, schema, name);
}

static bool env_schema(void *arg, struct str schema)
{
    struct db_session *s = arg;

    return str_eq(schema, s->db->name) || info_is_schema(schema);
}

static bool env_user_var(void *arg, struct str name, struct db_type *type)
{
    struct sess_user_var *v = sess_user_var_get(arg, name);

    memset(type, 0, sizeof(*type));
    type->length = type->decimals = -1;
    if (!v)
        return false;
    type->base = v->base;
    type->is_unsigned = v->value.kind == DB_V_UINT;
    if (db_base_is_text(v->base)) {
        type->charset = STR("utf8mb4");
        type->collation = STR("utf8mb4_general_ci");
    }
    return true;
}

void exec_env(struct db_session *s, struct tr_env *env)
{
    memset(env, 0, sizeof(*env));
    env->arg = s;
    env->table = env_table;
    env->schema = env_schema;
    env->system_var = eval_system_var;
    env->user_var = env_user_var;
    env->database = str_c(s->database);
    env->mode = (uint32_t)store_var_int(&s->vars, VAR_sql_mode);
    env->charset = store_var_str(&s->vars, VAR_character_set_connection);
    env->collation = store_var_str(&s->vars, VAR_collation_connection);
    env->results = s->results;
    env->utc = !s->f.tz && s->f.utc_offset == 0;
    env->found_rows = s->client_flags & DB_CLIENT_FOUND_ROWS;
    env->auto_zero = env->mode & DB_MODE_NO_AUTO_VALUE_ON_ZERO;
    env->select_limit = store_var_int(&s->vars, VAR_sql_select_limit) == INT64_MAX
                            ? UINT64_MAX
                            : (uint64_t)store_var_int(&s->vars, VAR_sql_select_limit);
    env->param_types = s->param_types;
    env->n_param_types = s->param_types ? s->n_params : 0;
}

struct str exec_key(struct db_session *s, struct str text)
{
    struct buf b = {0};
    struct str key;
    uint64_t version;

    if (s->temp || text.len > 16384)
        return STR_NONE;
    if (s->tables) {
        version = s->tables->version;
    } else {
        pthread_mutex_lock(&s->db->mutex);
        version = s->db->tables->version;
        pthread_mutex_unlock(&s->db->mutex);
    }
    buf_printf(&b, "%llx %llx %d %llx %u %x ", (unsigned long long)version,
        (unsigned long long)store_var_int(&s->vars, VAR_sql_mode),
        (!s->f.tz && s->f.utc_offset == 0) | (s->client_flags & DB_CLIENT_FOUND_ROWS ? 2 : 0) |
            (s->client_flags & DB_CLIENT_IGNORE_SPACE ? 4 : 0),
        (unsigned long long)store_var_int(&s->vars, VAR_sql_select_limit), s->n_params, s->results);
    for (uint32_t i = 0; s->param_types && i < s->n_params; i++)
        buf_printf(
            &b, "%d%c", (int)s->param_types[i].base, s->param_types[i].is_unsigned ? 'u' : ' ');
    buf_add_str(&b, store_var_str(&s->vars, VAR_collation_connection));
    buf_add_char(&b, ' ');
    buf_add_str(&b, str_c(s->database));
    buf_add_char(&b, '\n');
    buf_add_str(&b, text);
    key = arena_str(&s->arena, buf_str(&b));
    buf_fini(&b);
    return key;
}

int exec_translate(struct db_session *s, struct store_plan *plan, struct db_error *e)
{
    struct tr_env env;
    struct tr_plan *tr;

    exec_env(s, &env);
    store_tables_unref(plan->tables);
    plan->tables = store_tables_ref(s->tables);
    if (tr_translate(&plan->arena, plan->stmt, &env, &tr, e) != 0)
        return ERR_INVAL;
    plan->plan = tr;
    return 0;
}

/* ---- values ---- */

static void digits_value(struct str digits, struct db_value *out)
{
    uint64_t u;

    if (str_u64(digits, &u) != 0)
        return; /* it stays a text */
    out->kind = DB_V_UINT;
    out->u = u;
}

void exec_value(sqlite3_stmt *stmt, int i, const struct db_column *column, struct db_value *out)
{
    bool is_unsigned = column && column->type.is_unsigned;

    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_INTEGER:
        out->kind = is_unsigned ? DB_V_UINT : DB_V_INT;
        out->i = sqlite3_column_int64(stmt, i);
        return;
    case SQLITE_FLOAT:
        out->kind = DB_V_REAL;
        out->d = sqlite3_column_double(stmt, i);
        return;
    case SQLITE_TEXT:
        out->kind = DB_V_TEXT;
        out->s.p = (const char *)sqlite3_column_text(stmt, i);
        out->s.len = (size_t)sqlite3_column_bytes(stmt, i);
        if (is_unsigned && db_base_is_int(column->type.base))
            digits_value(out->s, out);
        return;
    case SQLITE_BLOB:
        out->kind = DB_V_BLOB;
        out->s.p = sqlite3_column_blob(stmt, i);
        out->s.len = (size_t)sqlite3_column_bytes(stmt, i);
        return;
    default:
        out->kind = DB_V_NULL;
        out->s = STR_NONE;
    }
}

int exec_bind(sqlite3_stmt *stmt, int i, const struct db_value *v)
{
    char digits[24];

    switch (v->kind) {
    case DB_V_NULL:
        return sqlite3_bind_null(stmt, i);
    case DB_V_UINT:
        if (v->u > INT64_MAX)
            return sqlite3_bind_text(
                stmt, i, digits, (int)str_put_u64(digits, v->u), SQLITE_TRANSIENT);
        return sqlite3_bind_int64(stmt, i, (int64_t)v->u);
    case DB_V_INT:
        return sqlite3_bind_int64(stmt, i, v->i);
    case DB_V_REAL:
        return sqlite3_bind_double(stmt, i, v->d);
    case DB_V_TEXT:
        return sqlite3_bind_text64(
            stmt, i, v->s.p ? v->s.p : "", v->s.len, SQLITE_STATIC, SQLITE_UTF8);
    case DB_V_BLOB:
        return v->s.len ? sqlite3_bind_blob64(stmt, i, v->s.p, v->s.len, SQLITE_STATIC)
                        : sqlite3_bind_zeroblob(stmt, i, 0);
    }
    return SQLITE_MISUSE;
}

static int bind_all(struct db_session *s, sqlite3_stmt *stmt, const struct tr_step *step)
{
    for (uint32_t i = 0; i < step->n_params; i++) {
        const struct tr_param *p = &step->params[i];
        int rc;

        if (p->from_client && p->index >= s->n_params)
            return SQLITE_RANGE;
        rc = exec_bind(stmt, (int)i + 1, p->from_client ? &s->params[p->index] : &p->value);
        if (rc != SQLITE_OK)
            return rc;
    }
    return SQLITE_OK;
}

/* ---- steps ---- */

static int fail(struct db_session *s, int rc, const struct tr_step *step, struct db_error *e)
{
    store_sqlerr_set(s->handle, rc, step ? step->target : NULL, e);
    return ERR_IO;
}

static int open_step(
    struct db_session *s, const struct tr_step *step, sqlite3_stmt **stmt, struct db_error *e)
{
    int rc = store_handle_stmt(s->handle, step->sql, stmt);

    if (rc == SQLITE_OK && *stmt && (rc = bind_all(s, *stmt, step)) != SQLITE_OK) {
        (void)fail(s, rc, step, e);
        (void)store_handle_done(s->handle, *stmt);
        return ERR_IO;
    }
    return rc == SQLITE_OK ? 0 : fail(s, rc, step, e);
}

/* The row of SELECT ... INTO. */
static int into_vars(struct db_session *s, const struct tr_plan *plan,
    const struct db_value *values, uint64_t rows, struct db_error *e)
{
    if (rows > 1)
        return db_error_set(e, DB_E_TOO_MANY_ROWS);
    if (plan->into.n != plan->n_columns)
        return db_error_set(e, DB_E_WRONG_NUMBER_OF_COLUMNS);
    for (uint32_t i = 0; i < plan->into.n; i++)
        sess_user_var_set(s, plan->into.v[i], &values[i], plan->columns[i].type.base);
    return 0;
}

static int send_rows(struct db_session *s, const struct tr_plan *plan, const struct tr_step *step,
    sqlite3_stmt *stmt, struct db_error *e)
{
    uint32_t n = plan->n_columns;
    struct db_value *values = arena_new(&s->arena, (n + 1) * sizeof(*values));
    uint64_t rows = 0;
    int rc, code = 0;

    rc = sqlite3_step(stmt); /* before the columns are told: it may fail */
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return fail(s, rc, step, e);
    if (plan->into.n == 0 && !sess_columns(s, plan->columns, n))
        return ERR_CLOSED;
    while (rc == SQLITE_ROW && code == 0) {
        rows++;
        for (uint32_t i = 0; i < n; i++)
            exec_value(stmt, (int)i, &plan->columns[i], &values[i]);
        if (plan->into.n)
            code = into_vars(s, plan, values, rows, e);
        else if (!sess_row(s, values, n))
            return ERR_CLOSED;
        rc = sqlite3_step(stmt);
    }
    if (code == 0 && rc != SQLITE_DONE)
        return fail(s, rc, step, e);
    s->f.found_rows = rows;
    if (plan->into.n)
        s->affected = rows;
    return code;
}

/* A column of ours says how many rows a limited query would have had. */
static int found_step(
    struct db_session *s, const struct tr_step *step, sqlite3_stmt *stmt, struct db_error *e)
{
    int rc = sqlite3_step(stmt);

    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return fail(s, rc, step, e);
    if (rc == SQLITE_ROW)
        s->f.found_rows = (uint64_t)sqlite3_column_int64(stmt, 0);
    return 0;
}

struct totals {
    uint64_t changed; /* as SQLite counts */
    uint64_t inserted, updated, deleted;
    int64_t updated_row; /* number of the last one updated, if it has an auto column */
};

static int change_step(struct db_session *s, const struct tr_plan *plan, const struct tr_step *step,
    sqlite3_stmt *stmt, struct totals *t, struct db_error *e)
{
    struct store_handle *h = s->handle;
    int64_t before = sqlite3_total_changes64(h->sql);
    bool kinds =
        step->target && (plan->count == TR_COUNT_UPSERT || plan->count == TR_COUNT_REPLACE);
    int rc;

    if (kinds)
        store_handle_count(h, step->target->name);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        ;
    if (kinds) {
        t->inserted += h->changes.inserted;
        t->updated += h->changes.updated;
        t->deleted += h->changes.deleted;
        if (h->changes.updated && step->target->auto_column >= 0 &&
            step->target->auto_column == step->target->rowid_column)
            t->updated_row = h->changes.updated_row;
        store_handle_count(h, STR_NONE);
    }
    if (rc != SQLITE_DONE)
        return fail(s, rc, step, e);
    if (sqlite3_total_changes64(h->sql) != before)
        t->changed += (uint64_t)sqlite3_changes64(h->sql);
    return 0;
}

/* INSERT IGNORE of given rows: those that are left out are warned of. */
static int ignore_step(struct db_session *s, const struct tr_plan *plan, const struct tr_step *step,
    sqlite3_stmt **stmt, struct totals *t, struct db_error *e)
{
    struct totals one = {0};
    int rc = store_handle_run(s->handle, "SAVEPOINT _ephpm_ignore"), code;

    if (rc != SQLITE_OK)
        return fail(s, rc, step, e);
    code = change_step(s, plan, step, *stmt, &one, e);
    if (code == 0 && one.changed < plan->n_rows) {
        store_ignore(store_handle_done(s->handle, *stmt));
        *stmt = NULL;
        rc = duplicate_warn(s, step, &one.changed);
        if (rc != SQLITE_OK)
            code = fail(s, rc, step, e);
    }
    if (!sqlite3_get_autocommit(s->handle->sql)) {
        rc = store_handle_run(s->handle, "RELEASE _ephpm_ignore");
        if (rc != SQLITE_OK && code == 0)
            code = fail(s, rc, step, e);
    }
    t->changed += one.changed;
    return code;
}

static int quiet_step(
    struct db_session *s, const struct tr_step *step, sqlite3_stmt *stmt, struct db_error *e)
{
    int rc;

    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
        ;
    return rc == SQLITE_DONE ? 0 : fail(s, rc, step, e);
}

static int run_step(struct db_session *s, const struct tr_plan *plan, const struct tr_step *step,
    struct totals *t, struct db_error *e)
{
    sqlite3_stmt *stmt = NULL;
    int code = open_step(s, step, &stmt, e);

    if (code || !stmt)
        return code;
    switch (step->kind) {
    case TR_STEP_RESULT:
        code = send_rows(s, plan, step, stmt, e);
        break;
    case TR_STEP_FOUND:
        code = found_step(s, step, stmt, e);
        break;
    case TR_STEP_CHANGE:
        if (plan->ignore && plan->count == TR_COUNT_INSERT && plan->n_rows && step->target)
            code = ignore_step(s, plan, step, &stmt, t, e);
        else
            code = change_step(s, plan, step, stmt, t, e);
        break;
    case TR_STEP_PREPARE:
    case TR_STEP_FINISH:
        code = quiet_step(s, step, stmt, e);
        break;
    }
    (void)store_handle_done(s->handle, stmt); /* its error is told */
    return code;
}

static int run_steps(
    struct db_session *s, const struct tr_plan *plan, struct totals *t, struct db_error *e)
{
    struct db_error ignored;
    uint32_t i;
    int code = 0;

    for (i = 0; i < plan->n_steps && code == 0; i++)
        code = run_step(s, plan, &plan->steps[i], t, e);
    if (code && i > 0 && plan->steps[i - 1].kind == TR_STEP_CHANGE)
        duplicate_explain(s, &plan->steps[i - 1], e);
    for (; i < plan->n_steps; i++) {
        if (plan->steps[i].kind == TR_STEP_FINISH)
            (void)run_step(s, plan, &plan->steps[i], t, &ignored);
    }
    return code;
}

/* ---- what the client is told of changes ---- */

static uint64_t affected_rows(
    const struct db_session *s, const struct tr_plan *plan, const struct totals *t)
{
    bool found = s->client_flags & DB_CLIENT_FOUND_ROWS;

    switch (plan->count) {
    case TR_COUNT_NONE:
        return 0;
    case TR_COUNT_INSERT:
    case TR_COUNT_DELETE:
        return t->changed;
    case TR_COUNT_UPDATE:
        return found ? (uint64_t)s->f.matched : t->changed;
    case TR_COUNT_UPSERT: {
        uint64_t n = t->inserted + 2 * t->updated;
        uint64_t equal =
            (uint64_t)s->f.matched > t->updated ? (uint64_t)s->f.matched - t->updated : 0;

        return found ? n + equal : n;
    }
    case TR_COUNT_REPLACE:
        return t->inserted + t->deleted;
    }
    return 0;
}

/* The first number that the statement gave to an auto column, and what OK says. */
static void note_ids(struct db_session *s, const struct tr_plan *plan, const struct totals *t)
{
    uint64_t generated = (uint64_t)s->f.auto_generated;
    uint64_t inserted = plan->count == TR_COUNT_INSERT ? t->changed : t->inserted;
    int64_t first = s->first_auto;

    if (plan->has_auto && generated && inserted && !first) {
        int64_t last = sqlite3_last_insert_rowid(s->handle->sql);

        first = last - (int64_t)MIN(inserted, generated) + 1;
    }
    if (first && inserted) {
        s->insert_id = (uint64_t)first;
        if (!s->f.last_insert_id_set)
            s->f.last_insert_id = s->insert_id;
    } else if (plan->count == TR_COUNT_UPSERT && t->updated_row > 0) {
        s->insert_id = (uint64_t)t->updated_row;
    } else if (plan->has_auto && s->f.auto_explicit > 0 && t->changed) {
        s->insert_id = (uint64_t)s->f.auto_explicit;
    }
    if (s->f.last_insert_id_set)
        s->insert_id = s->f.last_insert_id;
}

static struct str change_info(struct db_session *s, const struct sql_stmt *stmt,
    const struct tr_plan *plan, const struct totals *t)
{
    uint64_t rows, doubles;
    bool many;

    if (plan->count == TR_COUNT_UPDATE)
        return arena_printf(&s->arena, "Rows matched: %lld  Changed: %llu  Warnings: %u",
            (long long)s->f.matched, (unsigned long long)t->changed, s->total_warnings);
    if (stmt->kind != SQL_STMT_INSERT)
        return STR_NONE;
    many = stmt->insert->query || stmt->insert->n_rows > 1;
    if (!many)
        return STR_NONE;
    rows = plan->n_rows ? plan->n_rows : t->changed;
    doubles = plan->count == TR_COUNT_UPSERT    ? t->updated
              : plan->count == TR_COUNT_REPLACE ? t->deleted
              : rows > t->changed               ? rows - t->changed
                                                : 0;
    return arena_printf(&s->arena, "Records: %llu  Duplicates: %llu  Warnings: %u",
        (unsigned long long)rows, (unsigned long long)doubles, s->total_warnings);
}

/* Everything has gone well, and the transaction, if it was the statement's own, is committed. */
static void tell(struct db_session *s, const struct sql_stmt *stmt, const struct tr_plan *plan,
    const struct totals *t)
{
    if (plan->class == TR_WRITE) {
        sess_ok(s, affected_rows(s, plan, t), change_info(s, stmt, plan, t));
    } else if (stmt->kind == SQL_STMT_DO) {
        sess_ok(s, 0, STR_NONE);
    } else if (plan->into.n) {
        if (s->affected == 0)
            sess_warn_name(s, DB_WARNING, DB_E_NO_DATA);
        sess_ok(s, s->affected, STR_NONE);
    } else {
        sess_end(s);
    }
}

/* ---- the whole ---- */

/* Takes what the statement needs: a handle, and the turn if it writes. */
static int enter(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    const struct sql_query *q = stmt->kind == SQL_STMT_QUERY ? stmt->query : NULL;
    bool locks = q && q->lock != SQL_LOCK_NONE && !(s->in_tx && s->tx_read_only) &&
                 (s->in_tx || !store_var_int(&s->vars, VAR_autocommit));
    int64_t ms = store_var_int(&s->vars, VAR_max_execution_time);
    int code;

    s->f.writes = is_write(stmt);
    if (s->f.writes)
        return tx_write(s, tx_wait_ms(s), e);
    if (q && ms > 0 && !locks)
        s->stop.deadline_ns = s->start_ns + (uint64_t)ms * 1000000;
    if (!locks)
        return tx_read(s, q && q->body->kind == SQL_BODY_SELECT && q->body->calc_found_rows, e);
    code = tx_write(s, q->nowait ? 0 : tx_wait_ms(s), e);
    if (code && q->nowait && e->number == 1205)
        db_error_set(e, DB_E_LOCK_NOWAIT);
    return code;
}

/* The plan for the catalog that the statement sees now. */
static int ready(struct db_session *s, struct store_plan **plan, struct str key, struct db_error *e)
{
    struct store_plan *fresh;
    struct str rest;

    if ((*plan)->plan && (*plan)->tables == s->tables)
        return 0;
    if ((*plan)->plan) {
        if (sess_parse(s, (*plan)->stmt->text, &fresh, &rest, e) != 0)
            return ERR_INVAL;
        fresh->class = (*plan)->class;
        store_plan_unref(*plan);
        *plan = fresh;
    }
    if (exec_translate(s, *plan, e) != 0)
        return ERR_INVAL;
    if (key.len && (*plan)->plan->cacheable && !s->temp)
        store_plans_put(&s->db->plans, key, *plan);
    return 0;
}

static bool several_changes(const struct tr_plan *plan)
{
    return plan->class == TR_WRITE && plan->n_steps > 1;
}

/* With a savepoint around what SQLite would not undo by itself. */
static int run_guarded(
    struct db_session *s, const struct tr_plan *plan, struct totals *t, struct db_error *e)
{
    bool guard = several_changes(plan) && s->in_tx;
    int code, rc;

    if (guard && (rc = store_handle_run(s->handle, "SAVEPOINT _ephpm_statement")) != SQLITE_OK)
        return fail(s, rc, NULL, e);
    code = run_steps(s, plan, t, e);
    if (!guard || sqlite3_get_autocommit(s->handle->sql))
        return code;
    if (code)
        store_ignore(
            store_handle_run(s->handle, "ROLLBACK TO _ephpm_statement")); /* e has the cause */
    rc = store_handle_run(s->handle, "RELEASE _ephpm_statement");
    return code || rc == SQLITE_OK ? code : fail(s, rc, NULL, e);
}

/* Did it fail since a definition came in between? */
static bool outdated(struct db_session *s, const struct store_plan *plan, const struct db_error *e)
{
    bool newer;

    if (e->number != 1105 || s->in_tx || s->rows_sent)
        return false;
    pthread_mutex_lock(&s->db->mutex);
    newer = s->db->tables != plan->tables;
    pthread_mutex_unlock(&s->db->mutex);
    return newer;
}

static int run_once(struct db_session *s, struct store_plan **plan, struct str key,
    struct totals *t, struct db_error *e)
{
    struct db_error late;
    int code;

    memset(t, 0, sizeof(*t));
    if (enter(s, (*plan)->stmt, e) != 0)
        return ERR_IO;
    code = ready(s, plan, key, e);
    if (code == 0)
        code = run_guarded(s, (*plan)->plan, t, e);
    if (code == 0 && (*plan)->plan->class == TR_WRITE)
        note_ids(s, (*plan)->plan, t);
    if (tx_done(s, code == 0, &late) != 0 && code == 0) {
        *e = late;
        code = ERR_IO;
    }
    return code;
}

int exec_run(struct db_session *s, struct store_plan **plan, struct str key, struct db_error *e)
{
    struct totals t;
    int code;

    for (int i = 0;; i++) {
        code = run_once(s, plan, key, &t, e);
        if (code == 0 || i >= TRIES || !outdated(s, *plan, e))
            break;
        key = STR_NONE;
        e->number = 0;
    }
    if (code == 0)
        tell(s, (*plan)->stmt, (*plan)->plan, &t);
    return code;
}
