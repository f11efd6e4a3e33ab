/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Prepared statements: those of the protocol, and PREPARE, EXECUTE, DEALLOCATE. */

#include "base/err.h"
#include "base/mem.h"
#include "db/store/sess.h"

static void type_of_value(const struct db_value *v, enum db_base text, struct db_type *type)
{
    static const enum db_base bases[] = {[DB_V_NULL] = DB_T_NULL,
        [DB_V_INT] = DB_T_BIGINT,
        [DB_V_UINT] = DB_T_BIGINT,
        [DB_V_REAL] = DB_T_DOUBLE,
        [DB_V_TEXT] = DB_T_VARCHAR,
        [DB_V_BLOB] = DB_T_VARBINARY};

    memset(type, 0, sizeof(*type));
    type->base = v->kind == DB_V_TEXT ? text : bases[v->kind];
    type->length = type->decimals = -1;
    type->is_unsigned = v->kind == DB_V_UINT;
    if (db_base_is_text(type->base)) {
        type->charset = STR("utf8mb4");
        type->collation = STR("utf8mb4_general_ci");
    }
}

/* Parses the text and, if it is a query or a change, has it translated, so that what is wrong with
 * it is said now. */
static int examine(
    struct db_session *s, struct str text, struct store_plan **out, struct db_error *e)
{
    struct store_plan *plan;
    struct store_plan *inner = NULL;
    struct db_error late;
    struct str rest;
    int code;

    if (sess_parse(s, text, &plan, &rest, e) != 0)
        return ERR_INVAL;
    if (str_trim(rest).len) {
        char near[81];

        (void)str_put(near, sizeof(near), str_trim(rest));
        store_plan_unref(plan);
        return db_error_set(e, DB_E_PARSE,
            "You have an error in your SQL syntax; check the manual that corresponds to your "
            "MySQL server version for the right syntax to use",
            near, 1);
    }
    if (plan->stmt->kind == SQL_STMT_SHOW || plan->stmt->kind == SQL_STMT_DESCRIBE) {
        struct str query = show_text(s, plan->stmt->show);

        if (query.len && sess_parse(s, query, &inner, &rest, e) == 0) {
            store_plan_unref(plan);
            plan = inner;
        }
    }
    *out = plan;
    if (!exec_is(plan->stmt))
        return 0;
    code = tx_read(s, false, e);
    if (code == 0) {
        code = exec_translate(s, plan, e);
        if (tx_done(s, true, &late) != 0 && code == 0) {
            *e = late;
            code = ERR_IO;
        }
    }
    if (code)
        store_plan_unref(plan);
    return code;
}

/* ---- of the protocol ---- */

int db_session_prepare(
    struct db_session *s, struct str text, struct db_prepared **out, struct db_error *e)
{
    struct store_plan *plan;
    struct db_prepared *p;

    arena_reset(&s->arena);
    sess_clear_warnings(s);
    s->params = NULL;
    s->param_types = NULL;
    s->n_params = 0;
    if (db_counted(&s->server->counters->prepared) >=
        (uint64_t)store_var_int(&s->vars, VAR_max_prepared_stmt_count))
        return db_error_set(e, DB_E_OUT_OF_MEMORY);
    if (examine(s, text, &plan, e) != 0) {
        sess_warn(s, DB_ERROR_LEVEL, e);
        return ERR_INVAL;
    }
    p = mem_new(sizeof(*p));
    p->session = s;
    p->text = mem_dup_str(text.p, text.len);
    p->str = str_n(p->text, text.len);
    p->n_params = plan->stmt->n_params;
    p->plan = plan;
    p->types = mem_new_array(p->n_params + 1, sizeof(*p->types));
    list_push(&s->prepared, &p->link);
    db_count(&s->server->counters->prepared, 1);
    *out = p;
    return 0;
}

uint32_t db_prepared_params(const struct db_prepared *p)
{
    return p->n_params;
}

const struct db_column *db_prepared_columns(const struct db_prepared *p, uint32_t *n)
{
    bool rows =
        p->plan->plan && p->plan->stmt->kind == SQL_STMT_QUERY && p->plan->plan->into.n == 0;

    *n = rows ? p->plan->plan->n_columns : 0;
    return rows ? p->plan->plan->columns : NULL;
}

void db_prepared_close(struct db_prepared *p)
{
    if (!p)
        return;
    list_remove(&p->link);
    db_uncount(&p->session->server->counters->prepared, 1);
    store_plan_unref(p->plan);
    mem_free(p->text);
    mem_free(p->types);
    mem_free(p);
}

void db_session_execute(struct db_session *s, struct db_prepared *p, const struct db_value *params,
    uint32_t n_params, const struct db_sink *sink)
{
    bool multi = s->multi;

    for (uint32_t i = 0; i < n_params && i < p->n_params; i++)
        type_of_value(&params[i], DB_T_VARCHAR, &p->types[i]);
    s->sink = sink;
    s->params = params;
    s->n_params = n_params;
    s->param_types = n_params <= p->n_params ? p->types : NULL;
    s->multi = false;
    sess_run(s, p->str);
    s->multi = multi;
    s->params = NULL;
    s->param_types = NULL;
    s->n_params = 0;
}

/* ---- by name ---- */

struct named {
    char *text;
    struct str str;
};

static struct str lower_name(struct db_session *s, struct str name)
{
    char *p = arena_bytes(&s->arena, name.len + 1);

    for (size_t i = 0; i < name.len; i++)
        p[i] = str_lower_char(name.p[i]);
    p[name.len] = '\0';
    return str_n(p, name.len);
}

static void named_free(struct named *n)
{
    if (!n)
        return;
    mem_free(n->text);
    mem_free(n);
}

static int prepare_name(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    struct str name = lower_name(s, stmt->name), text;
    struct store_plan *plan = NULL;
    struct named *n;
    struct db_value value;
    struct db_type type;

    named_free(map_del(&s->named, name)); /* also when the new one is refused */
    if (eval_expr(s, stmt->exprs.v[0], &value, &type, e) != 0)
        return ERR_INVAL;
    text = eval_text(s, &value);
    if (!text.p)
        text = STR("NULL");
    if (s->named.count >= SESS_MAX_NAMED)
        return db_error_set(e, DB_E_OUT_OF_MEMORY);
    if (examine(s, text, &plan, e) != 0)
        return ERR_INVAL;
    store_plan_unref(plan);
    n = mem_new(sizeof(*n));
    n->text = mem_dup_str(text.p, text.len);
    n->str = str_n(n->text, text.len);
    (void)map_set(&s->named, name, n);
    sess_ok(s, 0, STR("Statement prepared"));
    return 0;
}

static int execute_name(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    struct named *n = map_get(&s->named, lower_name(s, stmt->name));
    struct db_value *values = arena_new(&s->arena, (stmt->exprs.n + 1) * sizeof(*values));
    struct db_type *types = arena_new(&s->arena, (stmt->exprs.n + 1) * sizeof(*types));
    int code;

    if (!n)
        return db_error_set(e, DB_E_UNKNOWN_STMT, arena_str(&s->arena, stmt->name).p, "EXECUTE");
    if (s->params)
        return db_error_set(e, DB_E_NOT_SUPPORTED_YET, "EXECUTE within a prepared statement");
    for (uint32_t i = 0; i < stmt->exprs.n; i++) {
        if (eval_expr(s, stmt->exprs.v[i], &values[i], &types[i], e) != 0)
            return ERR_INVAL;
        type_of_value(&values[i], types[i].base, &types[i]);
    }
    s->params = values;
    s->param_types = types;
    s->n_params = stmt->exprs.n;
    code = sess_execute(s, arena_str(&s->arena, n->str), e);
    s->params = NULL;
    s->param_types = NULL;
    s->n_params = 0;
    return code;
}

int prepare_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    struct named *n;

    if (stmt->kind == SQL_STMT_PREPARE)
        return prepare_name(s, stmt, e);
    if (stmt->kind == SQL_STMT_EXECUTE)
        return execute_name(s, stmt, e);
    n = map_del(&s->named, lower_name(s, stmt->name));
    if (!n)
        return db_error_set(
            e, DB_E_UNKNOWN_STMT, arena_str(&s->arena, stmt->name).p, "DEALLOCATE PREPARE");
    named_free(n);
    sess_ok(s, 0, STR_NONE);
    return 0;
}

void prepare_free_all(struct db_session *s)
{
    struct str key;
    void *value;
    size_t it = 0;

    while (!list_empty(&s->prepared))
        db_prepared_close(CONTAINER_OF(s->prepared.next, struct db_prepared, link));
    while (map_next(&s->named, &it, &key, &value)) {
        (void)map_del(&s->named, key);
        named_free(value);
    }
}
