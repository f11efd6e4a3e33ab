/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

/*
 * UPDATE. Rows that would stay as they are do not count and are not written: the condition ends
 * in m_matched(something changes), which counts the rows found.
 */

struct str rowid_name(const struct db_cat_table *table)
{
    if (db_cat_column_find(table, STR("rowid")) < 0)
        return STR("rowid");
    return db_cat_column_find(table, STR("_rowid_")) < 0 ? STR("_rowid_") : STR("oid");
}

static int check_target(struct tr *t, const struct db_cat_table *table)
{
    if (!table)
        return not_supported(t, "changing a derived table");
    if (table->is_system)
        return db_error_set(t->e, DB_E_DB_ACCESS, "root", "localhost", zstr(t, table->schema));
    if (table->is_view)
        return not_supported(t, "changing a view");
    return 0;
}

static struct str now_of(struct tr *t, const struct db_cat_column *c)
{
    struct str f = c->type.base == DB_T_TIMESTAMP ? STR("m_utc_timestamp") : STR("m_now");

    return c->type.decimals > 0 ? cat(t, "$(#)", f, (int)c->type.decimals) : cat(t, "$()", f);
}

/* ---- SET ---- */

struct assign {
    uint32_t column;
    struct str value;
};

static int assign_one(struct tr *t, struct scope *s, struct source *target,
    const struct sql_assign *a, struct store_flags flags, struct assign *out)
{
    const struct db_cat_column *c;
    struct val col, v;
    int rc;

    s->clause = "field list";
    if ((rc = resolve_column(t, s, a->column, &col)))
        return rc;
    /* a column that was set before has no source any more: look by name */
    if (!col.source) {
        int32_t i = db_cat_column_find(target->table, a->column->name);

        if (i < 0)
            return not_supported(t, "this assignment");
        col.source = target;
        col.column = (uint32_t)i;
    }
    if (col.source != target)
        return ERR_NOTFOUND;
    c = target->cols[col.column].cat;
    out->column = col.column;
    if (a->value->kind == SQL_DEFAULT && !a->value->a) {
        if (col_is_generated(c)) {
            out->value = STR_NONE;
            return 0;
        }
        return store_default(t, target->table, c, s, true, flags, &out->value);
    }
    if (col_is_generated(c))
        return db_error_set(
            t->e, DB_E_GENERATED_COLUMN, zstr(t, c->name), zstr(t, target->table->name));
    if ((rc = val_of1(t, s, a->value, &v)))
        return rc;
    return store_value(t, c, &v, flags, &out->value);
}

static void add_changed(struct tr *t, struct sb *b, const struct col *c, struct str value)
{
    sb_cat(t, b, "$$$ IS NOT $", b->len ? STR(" OR ") : STR_NONE, c->sql,
        c->natural.len ? STR(" COLLATE BINARY") : STR_NONE, value);
}

/* The assignments, and ON UPDATE CURRENT_TIMESTAMP of columns that have none. */
static void assign_text(
    struct tr *t, struct source *target, const struct str *values, struct assign_out *out)
{
    struct sb set = {0}, changed = {0};

    for (uint32_t i = 0; i < target->n_cols; i++) {
        struct col *c = &target->cols[i];

        if (values[i].p) {
            sb_cat(t, &set, "$$ = $", set.len ? STR(", ") : STR_NONE, quote_name(t, c->name),
                values[i]);
            add_changed(t, &changed, c, values[i]);
        } else if (c->cat->on_update_now) {
            sb_cat(t, &set, "$$ = $", set.len ? STR(", ") : STR_NONE, quote_name(t, c->name),
                now_of(t, c->cat));
        }
    }
    out->set = sb_str(&set);
    out->changed = sb_str(&changed);
}

int assigns_translate(struct tr *t, struct scope *s, struct source *target,
    const struct sql_assigns *set, struct store_flags flags, struct assign_out *out)
{
    struct str *values = arena_new(t->arena, sizeof(*values) * target->n_cols);
    bool any = false;
    int rc;

    for (uint32_t i = 0; i < set->n; i++) {
        struct assign a = {0};

        if ((rc = assign_one(t, s, target, &set->v[i], flags, &a)) == ERR_NOTFOUND)
            continue;
        if (rc)
            return rc;
        if (!a.value.p)
            continue;
        any = true;
        values[a.column] = a.value;
        /* what follows sees the new value */
        target->cols[a.column].replaced = a.value;
    }
    assign_text(t, target, values, out);
    if (!any)
        out->set = STR_NONE;
    return 0;
}

/* ---- one table ---- */

static bool has_or(const struct sql_expr *e)
{
    for (; e && e->kind == SQL_BINARY && e->op == SQL_OP_AND; e = e->a) {
        if (has_or(e->b))
            return true;
    }
    return e && e->kind != SQL_COLUMN &&
           !(e->kind == SQL_BINARY && e->op >= SQL_OP_EQ && e->op <= SQL_OP_NULL_SAFE_EQ) &&
           !(e->kind == SQL_IN && e->a->kind == SQL_COLUMN) && e->kind != SQL_IS &&
           e->kind != SQL_LIKE && e->kind != SQL_BETWEEN;
}

/* The rows that are meant, found by a query of their own. */
static int found_by_query(struct tr *t, const struct sql_update *u, struct str with,
    const struct db_cat_table *table, struct str name, struct str *out)
{
    struct str alias = new_alias(t), order, limit;
    struct source *src = source_of_table(t, table, name, alias);
    struct scope s;
    struct val v;
    struct str where = STR("1");
    int rc;

    scope_init(&s, NULL);
    if ((rc = scope_add(t, &s, src)))
        return rc;
    s.clause = "where clause";
    if (u->where) {
        if ((rc = val_of1(t, &s, u->where, &v)))
            return rc;
        where = val_cond(t, &v, PREC_AND);
    }
    if ((rc = order_of_items(t, &s, &u->order, NULL, 0, "order clause", &order)) ||
        (rc = limit_translate(t, &u->limit, &limit)))
        return rc;
    *out = cat(t, "($SELECT $.$ FROM $ AS $ WHERE $$$)", with, alias, rowid_name(table),
        table_sql(t, table), alias, where, limit.len ? order : STR_NONE, limit);
    return 0;
}

static int update_one(struct tr *t, const struct sql_update *u, struct str with)
{
    const struct db_cat_table *table;
    struct str name = u->table->alias.len ? u->table->alias : u->table->name.name;
    struct str alias = new_alias(t), where = STR_NONE, found;
    struct source *target;
    struct assign_out assigns;
    struct scope s;
    struct val v = {0};
    bool by_query;
    int rc;

    if ((rc = find_table(t, u->table->name, &table)) || (rc = check_target(t, table)))
        return rc;
    target = source_of_table(t, table, name, alias);
    scope_init(&s, NULL);
    if ((rc = scope_add(t, &s, target)))
        return rc;
    s.clause = "where clause";
    if (u->where) {
        if ((rc = val_of1(t, &s, u->where, &v)))
            return rc;
        where = val_cond(t, &v, PREC_AND);
    }
    by_query = u->limit.count || v.has_query || (u->where && has_or(u->where)) || with.len;
    if ((rc = assigns_translate(t, &s, target, &u->set,
             (struct store_flags){.ignore = u->ignore, .multi = true, .row = 1}, &assigns)))
        return rc;
    if (!assigns.set.len)
        return step_add(t, TR_STEP_CHANGE,
            cat(t, "UPDATE $ SET $ = NULL WHERE 0", table_sql(t, table),
                quote_name(t, table->columns[0].name)),
            table);
    if (by_query) {
        if ((rc = found_by_query(t, u, with, table, name, &found)))
            return rc;
        where =
            cat(t, "$.$ IN $ AND m_matched($)", alias, rowid_name(table), found, assigns.changed);
    } else if (!where.len) {
        where = cat(t, "m_matched($)", assigns.changed);
    } else if (v.prec == PREC_AND) {
        /* SQLite may look at the conditions in another order */
        where = cat(t, "$ AND CASE WHEN $ THEN m_matched($) END", where, where, assigns.changed);
    } else {
        where = cat(t, "$ AND m_matched($)", where, assigns.changed);
    }
    return step_add(t, TR_STEP_CHANGE,
        cat(t, "UPDATE $$ AS $ SET $ WHERE $", u->ignore ? STR("OR IGNORE ") : STR_NONE,
            table_sql(t, table), alias, assigns.set, where),
        table);
}

/* ---- several tables ---- */

/*
 * The join is a query that gives, for each row, the row numbers of the tables that change and the
 * values they get. One table: UPDATE ... FROM that query. Several: it is kept in a temporary table
 * first, since changing the first may change what the query finds.
 */
struct multi {
    struct tr *t;
    const struct sql_update *u;
    struct scope s;
    struct str from, where, with;
    struct sb list; /* of the query's columns */
    uint32_t n_values;
    uint32_t n_targets;
};

struct target {
    struct source *src;
    struct str *values; /* of each column: the query's column */
};

static int target_values(struct multi *m, struct target *x)
{
    struct tr *t = m->t;
    int rc;

    for (uint32_t i = 0; i < m->u->set.n; i++) {
        struct assign a = {0};
        struct store_flags flags = {.ignore = m->u->ignore, .multi = true, .row = 1};

        if ((rc = assign_one(t, &m->s, x->src, &m->u->set.v[i], flags, &a)) == ERR_NOTFOUND)
            continue;
        if (rc)
            return rc;
        if (!a.value.p)
            continue;
        sb_cat(t, &m->list, ", $ AS v#", a.value, (int)++m->n_values);
        x->values[a.column] = cat(t, "v#", (int)m->n_values);
    }
    return 0;
}

static int multi_step(struct multi *m, struct target *x, uint32_t k, struct str from, struct str q)
{
    struct tr *t = m->t;
    struct str alias = new_alias(t);
    struct source *out = source_of_table(t, x->src->table, x->src->name, alias);
    struct str *values = arena_new(t->arena, sizeof(*values) * out->n_cols);
    struct assign_out assigns;

    for (uint32_t i = 0; i < out->n_cols; i++) {
        if (x->values[i].p)
            values[i] = cat(t, "$.$", q, x->values[i]);
    }
    assign_text(t, out, values, &assigns);
    return step_add(t, TR_STEP_CHANGE,
        cat(t, "UPDATE $$ AS $ SET $ FROM $ AS $ WHERE $.$ = $.k# AND m_matched($)",
            m->u->ignore ? STR("OR IGNORE ") : STR_NONE, table_sql(t, x->src->table), alias,
            assigns.set, from, q, alias, rowid_name(x->src->table), q, (int)k + 1, assigns.changed),
        x->src->table);
}

static int update_multi(struct tr *t, const struct sql_update *u, struct str with)
{
    struct multi m = {.t = t, .u = u, .with = with};
    struct target *targets;
    struct str q, alias = new_alias(t), join_where;
    struct sb keys = {0};
    struct val v;
    int rc;

    scope_init(&m.s, NULL);
    if ((rc = from_translate(t, &m.s, u->table, &m.from, &join_where)))
        return rc;
    m.where = join_where;
    m.s.clause = "where clause";
    if (u->where) {
        if ((rc = val_of1(t, &m.s, u->where, &v)))
            return rc;
        m.where = m.where.len ? cat(t, "$ AND $", m.where, val_cond(t, &v, PREC_AND))
                              : val_cond(t, &v, PREC_AND);
    }
    targets = arena_new(t->arena, sizeof(*targets) * MAX(m.s.n_sources, 1));
    for (uint32_t i = 0; i < m.s.n_sources; i++) {
        struct target x = {.src = m.s.sources[i]};
        uint32_t before = m.n_values;

        if (!x.src->table)
            continue;
        x.values = arena_new(t->arena, sizeof(*x.values) * x.src->n_cols);
        if ((rc = target_values(&m, &x)))
            return rc;
        if (m.n_values == before)
            continue;
        if ((rc = check_target(t, x.src->table)))
            return rc;
        sb_cat(t, &keys, "$$.$ AS k#", keys.len ? STR(", ") : STR_NONE, x.src->alias,
            rowid_name(x.src->table), (int)m.n_targets + 1);
        targets[m.n_targets++] = x;
    }
    if (!m.n_targets)
        return not_supported(t, "this UPDATE");
    q = cat(t, "$SELECT $$ FROM $$$", with, sb_str(&keys), sb_str(&m.list), m.from,
        m.where.len ? STR(" WHERE ") : STR_NONE, m.where);
    if (m.n_targets == 1)
        return multi_step(&m, &targets[0], 0, cat(t, "($ GROUP BY k1)", q), alias);
    if ((rc = step_add(t, TR_STEP_PREPARE, STR("DROP TABLE IF EXISTS temp._ephpm_rows"), NULL)) ||
        (rc = step_add(t, TR_STEP_PREPARE, cat(t, "CREATE TABLE temp._ephpm_rows AS $", q), NULL)))
        return rc;
    for (uint32_t i = 0; i < m.n_targets; i++) {
        if ((rc = multi_step(&m, &targets[i], i,
                 cat(t, "(SELECT * FROM temp._ephpm_rows GROUP BY k#)", (int)i + 1), alias)))
            return rc;
    }
    return step_add(t, TR_STEP_FINISH, STR("DROP TABLE IF EXISTS temp._ephpm_rows"), NULL);
}

int update_translate(struct tr *t, const struct sql_update *u)
{
    struct str with;
    int rc;

    t->plan->class = TR_WRITE;
    t->plan->count = TR_COUNT_UPDATE;
    t->plan->ignore = u->ignore;
    if ((rc = ctes_open(t, NULL, u->ctes, u->n_ctes, u->recursive, &with)))
        return rc;
    if (u->table->kind == SQL_TABLE_NAME)
        return update_one(t, u, with);
    if (u->order.n || u->limit.count)
        return db_error_set(t->e, DB_E_WRONG_USAGE, "UPDATE", u->order.n ? "ORDER BY" : "LIMIT");
    return update_multi(t, u, with);
}
