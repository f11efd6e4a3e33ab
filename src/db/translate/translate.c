/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

static void prepare(struct tr *t, struct arena *arena, const struct tr_env *env, struct db_error *e)
{
    memset(t, 0, sizeof(*t));
    t->arena = arena;
    t->env = env;
    t->e = e;
    t->coll = db_collation_find(env->collation);
    if (!t->coll && env->charset.len)
        t->coll = db_charset_default(env->charset);
    if (!t->coll)
        t->coll = db_collation_number(45);
}

struct str tr_quote(struct arena *arena, struct str name)
{
    struct tr t = {.arena = arena};

    return quote_name(&t, name);
}

static int query_plan(struct tr *t, const struct sql_query *q)
{
    struct tr_plan *plan = t->plan;
    struct query out;
    int rc;

    if ((rc = query_translate(t, NULL, q, &out)))
        return rc;
    plan->class = q->lock == SQL_LOCK_NONE ? TR_READ : TR_READ_LOCK;
    plan->nowait = q->nowait;
    plan->skip_locked = q->skip_locked;
    plan->into = q->into;
    if (t->env->select_limit != UINT64_MAX && t->env->select_limit && !q->limit.count) {
        out.sql = cat(t, "SELECT * FROM ($) LIMIT $", out.sql,
            param_int(t, (int64_t)MIN(t->env->select_limit, (uint64_t)INT64_MAX)));
    }
    if (q->into.n && q->into.n != out.n_items)
        return db_error_set(t->e, DB_E_WRONG_NUMBER_OF_COLUMNS);
    (void)plan_columns(t, &out, &plan->columns, &plan->n_columns);
    if ((rc = step_add(t, TR_STEP_RESULT, out.sql, NULL)))
        return rc;
    if (!out.calc_found_rows)
        return 0;
    return step_add(t, TR_STEP_FOUND, cat(t, "SELECT count(*) FROM ($)", out.unlimited), NULL);
}

static int do_plan(struct tr *t, const struct sql_exprs *list)
{
    struct sb b = {0};
    struct scope s;
    int rc;

    scope_init(&s, NULL);
    for (uint32_t i = 0; i < list->n; i++) {
        struct val v;

        if ((rc = val_of1(t, &s, list->v[i], &v)))
            return rc;
        sb_cat(t, &b, "$$", i ? STR(", ") : STR("SELECT "), val_sql(t, &v));
    }
    return step_add(t, TR_STEP_PREPARE, sb_str(&b), NULL);
}

int tr_translate(struct arena *arena, const struct sql_stmt *stmt, const struct tr_env *env,
    struct tr_plan **out, struct db_error *e)
{
    struct tr t;
    int rc;

    prepare(&t, arena, env, e);
    t.text = stmt->text;
    t.plan = arena_new(arena, sizeof(*t.plan));
    switch (stmt->kind) {
    case SQL_STMT_QUERY:
        rc = query_plan(&t, stmt->query);
        break;
    case SQL_STMT_INSERT:
        rc = insert_translate(&t, stmt->insert);
        break;
    case SQL_STMT_UPDATE:
        rc = update_translate(&t, stmt->update);
        break;
    case SQL_STMT_DELETE:
        rc = delete_translate(&t, stmt->delete);
        break;
    case SQL_STMT_DO:
        rc = do_plan(&t, &stmt->exprs);
        break;
    default:
        rc = not_supported(&t, "this statement");
        break;
    }
    if (rc)
        return rc;
    t.plan->steps = t.steps;
    t.plan->n_steps = t.n_steps;
    t.plan->cacheable = !t.not_cacheable;
    *out = t.plan;
    return 0;
}

int tr_expr(struct arena *arena, const struct sql_expr *expr, const struct db_cat_table *table,
    const struct tr_env *env, struct str *sql, struct db_type *type, struct db_error *e)
{
    struct tr_env plain = *env;
    struct scope s;
    struct val v;
    struct tr t;
    int rc;

    /* what a definition computes must not depend on the session */
    plain.utc = true;
    prepare(&t, arena, &plain, e);
    t.inline_values = true;
    scope_init(&s, NULL);
    s.clause = "expression";
    if (table) {
        struct source *src = source_of_table(&t, table, table->name, STR("x"));

        for (uint32_t i = 0; i < src->n_cols; i++)
            src->cols[i].sql = quote_name(&t, src->cols[i].name);
        if ((rc = scope_add(&t, &s, src)))
            return rc;
    }
    if ((rc = val_of1(&t, &s, expr, &v)))
        return rc;
    *sql = val_sql(&t, &v);
    *type = ty_type(&v.t);
    return 0;
}

int tr_query(struct arena *arena, const struct sql_query *query, const struct tr_env *env,
    struct str *sql, const struct db_column **columns, uint32_t *n_columns, struct db_error *e)
{
    struct query out;
    struct tr t;
    int rc;

    prepare(&t, arena, env, e);
    t.inline_values = true;
    t.strict_names = true;
    if ((rc = query_translate(&t, NULL, query, &out)))
        return rc;
    *sql = out.sql;
    return plan_columns(&t, &out, columns, n_columns);
}
