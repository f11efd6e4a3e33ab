/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* The value of one expression: SET, KILL, PREPARE FROM. */

#include <stdio.h>

#include "base/err.h"
#include "db/real.h"
#include "db/store/sess.h"
#include "db/store/sqlerr.h"

/* Variables whose value is not kept. */
static bool computed(struct db_session *s, int var, struct db_value *value)
{
    value->kind = DB_V_UINT;
    switch (var) {
    case VAR_last_insert_id:
    case VAR_identity:
        value->u = s->f.last_insert_id;
        return true;
    case VAR_error_count:
        value->u = s->n_errors;
        return true;
    case VAR_warning_count:
        value->u = s->total_warnings;
        return true;
    case VAR_pseudo_thread_id:
        value->u = s->id;
        return true;
    case VAR_timestamp:
        value->kind = DB_V_REAL;
        value->d = (double)s->f.now / 1e6;
        return true;
    default:
        return false;
    }
}

bool eval_system_var(
    void *arg, enum sql_scope scope, struct str name, struct db_value *value, struct db_type *type)
{
    struct db_session *s = arg;
    int var = store_var_find(name);
    const struct store_var_row *row;

    if (var < 0)
        return false;
    row = store_var_row(var);
    if (scope >= SQL_SCOPE_GLOBAL || !(row->flags & VAR_S)) {
        pthread_mutex_lock(&s->db->mutex);
        store_var_get(&s->db->globals, var, value, type);
        if (value->kind == DB_V_TEXT)
            value->s = arena_str(&s->arena, value->s);
        pthread_mutex_unlock(&s->db->mutex);
        return true;
    }
    store_var_get(&s->vars, var, value, type);
    if (row->flags & VAR_D)
        (void)computed(s, var, value);
    else if (value->kind == DB_V_TEXT)
        value->s = arena_str(&s->arena, value->s);
    return true;
}

static void type_of(enum db_base base, struct db_type *type)
{
    memset(type, 0, sizeof(*type));
    type->base = base;
    type->length = type->decimals = -1;
    if (db_base_is_text(base)) {
        type->charset = STR("utf8mb4");
        type->collation = STR("utf8mb4_general_ci");
    }
}

/* Literals and variables alone. */
static bool simple(
    struct db_session *s, const struct sql_expr *x, struct db_value *value, struct db_type *type)
{
    struct sess_user_var *v;

    memset(value, 0, sizeof(*value));
    switch (x->kind) {
    case SQL_NULL:
        type_of(DB_T_NULL, type);
        return true;
    case SQL_INT:
        type_of(DB_T_BIGINT, type);
        value->kind = x->u > INT64_MAX ? DB_V_UINT : DB_V_INT;
        type->is_unsigned = value->kind == DB_V_UINT;
        value->u = x->u;
        return true;
    case SQL_BOOL:
        type_of(DB_T_BIGINT, type);
        value->kind = DB_V_INT;
        value->u = x->u;
        return true;
    case SQL_STRING:
        if (x->charset.len)
            return false;
        type_of(DB_T_VARCHAR, type);
        value->kind = DB_V_TEXT;
        value->s = x->s;
        return true;
    case SQL_SYSTEM_VAR:
        return eval_system_var(s, x->scope, x->name, value, type);
    case SQL_USER_VAR:
        v = sess_user_var_get(s, x->name);
        type_of(v ? v->base : DB_T_NULL, type);
        if (!v)
            return true;
        *value = v->value;
        if (v->owned)
            value->s = arena_str(&s->arena, v->value.s);
        return true;
    case SQL_PARAM:
        if (x->u >= s->n_params)
            return false;
        *value = s->params[x->u];
        type_of(value->kind == DB_V_NULL   ? DB_T_NULL
                : value->kind <= DB_V_UINT ? DB_T_BIGINT
                : value->kind == DB_V_REAL ? DB_T_DOUBLE
                : value->kind == DB_V_TEXT ? DB_T_VARCHAR
                                           : DB_T_VARBINARY,
            type);
        return true;
    default:
        return false;
    }
}

/* The first row's only value. */
static int run_query(
    struct db_session *s, const struct tr_plan *plan, struct db_value *value, struct db_error *e)
{
    const struct tr_step *step = NULL;
    sqlite3_stmt *stmt = NULL;
    int rc, code = 0;

    for (uint32_t i = 0; i < plan->n_steps; i++) {
        if (plan->steps[i].kind == TR_STEP_RESULT)
            step = &plan->steps[i];
    }
    if (!step)
        return db_error_set(e, DB_E_NOT_SUPPORTED_YET, "such an expression here");
    rc = store_handle_stmt(s->handle, step->sql, &stmt);
    for (uint32_t i = 0; rc == SQLITE_OK && i < step->n_params; i++) {
        const struct tr_param *p = &step->params[i];

        rc = p->from_client && p->index >= s->n_params
                 ? SQLITE_RANGE
                 : exec_bind(stmt, (int)i + 1, p->from_client ? &s->params[p->index] : &p->value);
    }
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        exec_value(stmt, 0, &plan->columns[0], value);
        if (value->kind >= DB_V_TEXT)
            value->s = arena_str(&s->arena, value->s);
    } else if (rc == SQLITE_DONE) {
        value->kind = DB_V_NULL;
    } else {
        store_sqlerr_set(s->handle, rc, NULL, e);
        code = ERR_IO;
    }
    (void)store_handle_done(s->handle, stmt);
    return code;
}

int eval_expr(struct db_session *s, const struct sql_expr *expr, struct db_value *value,
    struct db_type *type, struct db_error *e)
{
    struct sql_item item = {.expr = (struct sql_expr *)expr};
    struct sql_body body = {.kind = SQL_BODY_SELECT, .items = {&item, 1}};
    struct sql_query query = {.body = &body};
    struct sql_stmt stmt = {.kind = SQL_STMT_QUERY, .query = &query};
    struct store_plan *plan;
    struct db_error late;
    int code;

    if (simple(s, expr, value, type))
        return 0;
    stmt.n_params = s->n_params;
    if (tx_read(s, false, e) != 0)
        return ERR_IO;
    plan = store_plan_new(NULL);
    plan->stmt = &stmt;
    code = exec_translate(s, plan, e);
    if (code == 0 && plan->plan->n_columns != 1)
        code = db_error_set(e, DB_E_OPERAND_COLUMNS, 1);
    if (code == 0)
        code = run_query(s, plan->plan, value, e);
    if (code == 0)
        *type = plan->plan->columns[0].type;
    store_plan_unref(plan);
    if (tx_done(s, code == 0, &late) != 0 && code == 0) {
        *e = late;
        code = ERR_IO;
    }
    return code;
}

struct str eval_text(struct db_session *s, const struct db_value *value)
{
    char text[DB_REAL_TEXT];

    switch (value->kind) {
    case DB_V_NULL:
        return STR_NONE;
    case DB_V_INT:
        return arena_printf(&s->arena, "%lld", (long long)value->i);
    case DB_V_UINT:
        return arena_printf(&s->arena, "%llu", (unsigned long long)value->u);
    case DB_V_REAL:
        return arena_str(&s->arena, str_n(text, db_real_text(value->d, text)));
    default:
        return value->s;
    }
}
