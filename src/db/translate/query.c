/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

/* WITH, UNION and its like, ORDER BY and LIMIT of the whole. */

static int limit_value(struct tr *t, const struct sql_expr *e, struct str *out)
{
    struct val v;
    int rc;

    if (e->kind == SQL_INT) {
        *out = param_int(t, (int64_t)MIN(e->u, (uint64_t)INT64_MAX));
        return 0;
    }
    if (e->kind != SQL_PARAM)
        return not_supported(t, "LIMIT of an expression");
    if ((rc = val_of1(t, NULL, e, &v)))
        return rc;
    *out = db_base_is_int(v.t.base) && !v.t.big ? val_sql(t, &v)
                                                : cat(t, "CAST($ AS INTEGER)", val_sql(t, &v));
    return 0;
}

int limit_translate(struct tr *t, const struct sql_limit *l, struct str *out)
{
    struct str count = STR("-1"), offset = STR_NONE;
    int rc;

    *out = STR_NONE;
    if (!l->count && !l->offset)
        return 0;
    if ((l->count && (rc = limit_value(t, l->count, &count))) ||
        (l->offset && (rc = limit_value(t, l->offset, &offset))))
        return rc;
    *out = cat(t, " LIMIT $$$", count, offset.len ? STR(" OFFSET ") : STR_NONE, offset);
    return 0;
}

static int body_translate(struct tr *t, struct scope *outer, const struct sql_body *b,
    const struct sql_query *q, struct query *out);

/* ---- VALUES, TABLE ---- */

static int values_translate(
    struct tr *t, struct scope *outer, const struct sql_body *b, struct query *out)
{
    uint32_t n = b->n_rows ? b->rows[0].n : 0;
    struct val *v = arena_new(t->arena, sizeof(*v) * MAX(n, 1) * MAX(b->n_rows, 1));
    struct sb sql = {0};
    int rc;

    memset(out, 0, sizeof(*out));
    out->items = arena_new(t->arena, sizeof(*out->items) * MAX(n, 1));
    out->n_items = n;
    out->single = b->n_rows <= 1;
    for (uint32_t r = 0; r < b->n_rows; r++) {
        if (b->rows[r].n != n)
            return db_error_set(t->e, DB_E_COLUMN_COUNT, (int)r + 1);
        for (uint32_t i = 0; i < n; i++) {
            struct val *x = &v[r * n + i];
            struct ty ty;

            if ((rc = val_of1(t, outer, b->rows[r].v[i], x)))
                return rc;
            if (!r)
                out->items[i].v.t = x->t;
            else if ((rc = ty_merge(t, &out->items[i].v.t, &x->t, "UNION", &ty)))
                return rc;
            else
                out->items[i].v.t = ty;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        out->items[i].name = cat(t, "column_#", (int)i);
        out->items[i].alias = true;
    }
    /* names for the columns, then the rows */
    sb_lit(t, &sql, "SELECT ");
    for (uint32_t i = 0; i < n; i++)
        sb_cat(t, &sql, "$column# AS $", i ? STR(", ") : STR_NONE, (int)i + 1,
            t->strict_names ? quote_name(t, out->items[i].name) : cat(t, "c#", (int)i + 1));
    sb_lit(t, &sql, " FROM (VALUES ");
    for (uint32_t r = 0; r < b->n_rows; r++) {
        sb_add(t, &sql, r ? STR(", (") : STR("("));
        for (uint32_t i = 0; i < n; i++)
            sb_cat(t, &sql, "$$", i ? STR(", ") : STR_NONE,
                val_as(t, &v[r * n + i], &out->items[i].v.t));
        sb_lit(t, &sql, ")");
    }
    sb_lit(t, &sql, ")");
    out->sql = out->unlimited = sb_str(&sql);
    return 0;
}

static int table_translate(struct tr *t, struct scope *outer, const struct sql_body *b,
    const struct sql_query *q, struct query *out)
{
    struct sql_expr star = {.kind = SQL_STAR};
    struct sql_item item = {.expr = &star};
    struct sql_table table = {.kind = SQL_TABLE_NAME, .name = b->table};
    struct sql_body select = {
        .kind = SQL_BODY_SELECT, .items = {.v = &item, .n = 1}, .from = &table};

    return select_translate(t, outer, &select, q, out);
}

/* ---- UNION ---- */

static struct str column_list(struct tr *t, const struct query *q, struct str alias, bool names)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < q->n_items; i++)
        sb_cat(t, &b, "$$.c# AS $", i ? STR(", ") : STR_NONE, alias, (int)i + 1,
            names ? quote_name(t, q->items[i].name) : cat(t, "c#", (int)i + 1));
    return sb_str(&b);
}

/* The query with its columns brought to the types, if they are not yet. */
static struct str as_types(struct tr *t, struct query *q, const struct item *items, bool first)
{
    struct str alias = new_alias(t);
    struct sb b = {0};
    bool same = true;

    for (uint32_t i = 0; i < q->n_items; i++) {
        struct val v = q->items[i].v;
        struct str c = cat(t, "$.c#", alias, (int)i + 1), as;
        struct str natural = ty_natural(&items[i].v.t);

        val_set(&v, v.t, c, PREC_ATOM);
        v.raw = STR_NONE;
        as = val_as(t, &v, &items[i].v.t);
        same &= as.p == c.p;
        if (first && natural.len && !str_eq(natural, ty_natural(&q->items[i].v.t))) {
            as = cat(t, "$ COLLATE $", as, quote_name(t, natural));
            same = false;
        }
        sb_cat(t, &b, "$$ AS c#", i ? STR(", ") : STR_NONE, as, (int)i + 1);
    }
    return same ? q->sql : cat(t, "SELECT $ FROM ($) AS $", sb_str(&b), q->sql, alias);
}

/* UNION keeps the first of equal rows and their order, which SQLite's own does not. */
static struct str union_distinct(struct tr *t, const struct query *q, struct str x, struct str y)
{
    struct str alias = new_alias(t);
    struct sb b = {0};

    for (uint32_t i = 0; i < q->n_items; i++) {
        struct str natural = ty_natural(&q->items[i].v.t);

        sb_cat(t, &b, "$$.c#$ AS c#", i ? STR(", ") : STR_NONE, alias, (int)i + 1,
            natural.len ? cat(t, " COLLATE $", quote_name(t, natural)) : STR_NONE, (int)i + 1);
    }
    return cat(t, "SELECT DISTINCT $ FROM ($ UNION ALL $) AS $", sb_str(&b), x, y, alias);
}

/* A member of a UNION: as it is when it is a SELECT, else as a query of its own. */
static int member(
    struct tr *t, struct scope *outer, const struct sql_body *b, bool left, struct query *out)
{
    int rc = body_translate(t, outer, b, NULL, out);

    if (!rc && (b->kind == SQL_BODY_QUERY || (b->kind == SQL_BODY_SET && !left) || b->rollup)) {
        struct str alias = new_alias(t);

        out->sql =
            cat(t, "SELECT $ FROM ($) AS $", column_list(t, out, alias, false), out->sql, alias);
    }
    return rc;
}

static int merge_items(struct tr *t, struct query *a, struct query *b, struct query *out)
{
    int rc;

    if (a->n_items != b->n_items)
        return db_error_set(t->e, DB_E_WRONG_NUMBER_OF_COLUMNS);
    out->n_items = a->n_items;
    out->items = arena_new(t->arena, sizeof(*out->items) * MAX(a->n_items, 1));
    for (uint32_t i = 0; i < a->n_items; i++) {
        struct ty ty;

        if ((rc = ty_merge(t, &a->items[i].v.t, &b->items[i].v.t, "UNION", &ty)))
            return rc;
        out->items[i].v = (struct val){.t = ty, .field = true};
        out->items[i].name = a->items[i].name;
        out->items[i].alias = true;
    }
    return 0;
}

static int set_translate(
    struct tr *t, struct scope *outer, const struct sql_body *b, struct query *out)
{
    static const char *const ops[] = {" UNION ", " EXCEPT ", " INTERSECT "};
    struct query x, y;
    bool names = t->strict_names, native = t->native_union;
    int rc;

    t->native_union = false;
    if (++t->depth > TR_MAX_DEPTH)
        return too_deep(t);
    t->strict_names = false;
    if ((rc = member(t, outer, b->left, true, &x)) || (rc = member(t, outer, b->right, false, &y)))
        return rc;
    t->strict_names = names;
    t->depth--;
    memset(out, 0, sizeof(*out));
    if ((rc = merge_items(t, &x, &y, out)))
        return rc;
    if (b->all && b->op != SQL_UNION)
        return not_supported(t, "EXCEPT ALL and INTERSECT ALL");
    if (b->op == SQL_UNION && !b->all && !native)
        out->sql = union_distinct(
            t, out, as_types(t, &x, out->items, false), as_types(t, &y, out->items, false));
    else
        out->sql = cat(t, "$$$", as_types(t, &x, out->items, true),
            b->all ? STR(" UNION ALL ") : str_c(ops[b->op]), as_types(t, &y, out->items, false));
    out->unlimited = out->sql;
    out->correlated = x.correlated || y.correlated;
    out->calc_found_rows = x.calc_found_rows;
    return 0;
}

static int body_translate(struct tr *t, struct scope *outer, const struct sql_body *b,
    const struct sql_query *q, struct query *out)
{
    switch (b->kind) {
    case SQL_BODY_SELECT:
        return select_translate(t, outer, b, q, out);
    case SQL_BODY_SET:
        return set_translate(t, outer, b, out);
    case SQL_BODY_VALUES:
        return values_translate(t, outer, b, out);
    case SQL_BODY_TABLE:
        return table_translate(t, outer, b, q, out);
    default:
        return query_translate(t, outer, b->query, out);
    }
}

/* ORDER BY and LIMIT of what is no plain SELECT: of a query around it. */
static int order_whole(struct tr *t, const struct sql_query *q, struct query *out)
{
    struct str alias = new_alias(t), order, limit;
    struct source src = {.alias = alias, .n_cols = out->n_items};
    struct scope s;
    int rc;

    scope_init(&s, NULL);
    src.cols = cols_of_items(t, out->items, out->n_items, alias, NULL);
    if ((rc = scope_add(t, &s, &src)))
        return rc;
    for (uint32_t i = 0; i < out->n_items; i++) {
        val_of_col(t, &src, i, &out->items[i].v);
        out->items[i].v.table = out->items[i].v.org_name = STR_NONE;
    }
    if ((rc = order_of_items(t, &s, &q->order, out->items, out->n_items, "order clause", &order)) ||
        (rc = limit_translate(t, &q->limit, &limit)))
        return rc;
    out->unlimited = cat(
        t, "SELECT $ FROM ($) AS $", column_list(t, out, alias, t->strict_names), out->sql, alias);
    out->sql = cat(t, "$$$", out->unlimited, order, limit);
    out->single |= q->limit.count && q->limit.count->kind == SQL_INT && q->limit.count->u <= 1;
    return 0;
}

/* ---- WITH ---- */

static int cte_add(struct tr *t, const struct sql_cte *c, const struct query *q, struct cte *out)
{
    if (c->columns.n && c->columns.n != q->n_items)
        return db_error_set(t->e, DB_E_VIEW_COLUMNS);
    out->cols = cols_of_items(t, q->items, q->n_items, out->alias, &c->columns);
    out->n_cols = q->n_items;
    return 0;
}

static int cte_open(
    struct tr *t, struct scope *outer, const struct sql_cte *c, bool recursive, struct sb *b)
{
    struct cte *cte = arena_new(t->arena, sizeof(*cte));
    bool names = t->strict_names;
    struct query q;
    int rc;

    cte->name = c->name;
    cte->alias = cat(t, "\"w#\"", (int)++t->n_alias);
    cte->next = t->ctes;
    t->strict_names = false;
    /* what a recursive one looks like is said by its first member */
    if (recursive && c->query->body->kind == SQL_BODY_SET) {
        if ((rc = body_translate(t, outer, c->query->body->left, NULL, &q)) == 0) {
            if ((rc = cte_add(t, c, &q, cte)))
                return rc;
            for (uint32_t i = 0; i < cte->n_cols; i++)
                cte->cols[i].t.not_null = false;
            t->ctes = cte;
            t->native_union = true;
        } else {
            return rc;
        }
    }
    if ((rc = query_translate(t, outer, c->query, &q)) || (rc = cte_add(t, c, &q, cte)))
        return rc;
    t->ctes = cte;
    t->strict_names = names;
    sb_cat(t, b, "$$(", b->len ? STR(", ") : STR_NONE, cte->alias);
    for (uint32_t i = 0; i < cte->n_cols; i++)
        sb_cat(t, b, "$c#", i ? STR(",") : STR_NONE, (int)i + 1);
    sb_cat(t, b, ") AS ($)", q.sql);
    return 0;
}

int ctes_open(struct tr *t, struct scope *outer, const struct sql_cte *ctes, uint32_t n,
    bool recursive, struct str *with)
{
    struct sb b = {0};
    int rc;

    *with = STR_NONE;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (str_ieq(ctes[i].name, ctes[k].name))
                return db_error_set(t->e, DB_E_NONUNIQ_TABLE, zstr(t, ctes[i].name));
        }
        if ((rc = cte_open(t, outer, &ctes[i], recursive, &b)))
            return rc;
    }
    if (n)
        *with = cat(t, "WITH $$ ", recursive ? STR("RECURSIVE ") : STR_NONE, sb_str(&b));
    return 0;
}

int query_translate(struct tr *t, struct scope *outer, const struct sql_query *q, struct query *out)
{
    struct cte *ctes = t->ctes;
    struct str with;
    bool plain = q->body->kind == SQL_BODY_SELECT || q->body->kind == SQL_BODY_TABLE;
    bool names = t->strict_names;
    int rc;

    if (++t->depth > TR_MAX_DEPTH / 4)
        return too_deep(t);
    if ((rc = ctes_open(t, outer, q->ctes, q->n_ctes, q->recursive, &with)))
        return rc;
    if (!plain)
        t->strict_names = false;
    if ((rc = body_translate(t, outer, q->body, q, out)))
        return rc;
    t->strict_names = names;
    if (!plain && (q->order.n || q->limit.count || q->limit.offset || names) &&
        (rc = order_whole(t, q, out)))
        return rc;
    if (with.len) {
        out->sql = cat(t, "$$", with, out->sql);
        out->unlimited = cat(t, "$$", with, out->unlimited);
    }
    t->ctes = ctes;
    t->depth--;
    return 0;
}

int plan_columns(struct tr *t, const struct query *q, const struct db_column **out, uint32_t *n)
{
    struct db_column *c = arena_new(t->arena, sizeof(*c) * MAX(q->n_items, 1));

    for (uint32_t i = 0; i < q->n_items; i++)
        ty_column(t, &q->items[i], &c[i]);
    *out = c;
    *n = q->n_items;
    return 0;
}
