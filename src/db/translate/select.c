/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

/* One SELECT being translated. */
struct select {
    struct tr *t;
    const struct sql_body *b;
    struct scope s;
    struct item *items;
    uint32_t n_items, cap_items;
    struct str from, where, having, order, limit;
    struct val *group;
    uint32_t n_group;
    bool collate; /* the result is compared: DISTINCT, UNION */
};

/* ---- the list of columns ---- */

static struct item *item_add(struct select *q)
{
    q->items = list_grow(q->t, q->items, q->n_items, &q->cap_items, sizeof(*q->items));
    memset(&q->items[q->n_items], 0, sizeof(*q->items));
    return &q->items[q->n_items++];
}

static void star_column(struct select *q, uint32_t src, uint32_t col, const struct merged *m)
{
    struct item *it = item_add(q);
    struct source *source = q->s.sources[src];

    if (m && m->use_right)
        val_of_col(q->t, q->s.sources[m->right_source], m->right_col, &it->v);
    else
        val_of_col(q->t, source, col, &it->v);
    if (m && m->sql.p)
        val_set(&it->v, it->v.t, m->sql, PREC_ATOM);
    it->name = source->cols[col].name;
    it->alias = true;
}

/* The place that USING gave the column: its index in merged, or -1. */
static int merged_right(const struct scope *s, uint32_t src, uint32_t col)
{
    for (uint32_t i = 0; i < s->n_merged; i++) {
        if (s->merged[i].right_source == src && s->merged[i].right_col == col)
            return (int)i;
    }
    return -1;
}

static int merged_left(const struct scope *s, uint32_t src, uint32_t col)
{
    for (uint32_t i = s->n_merged; i-- > 0;) {
        if (s->merged[i].left_source == src && s->merged[i].left_col == col)
            return (int)i;
    }
    return -1;
}

/* The k-th table of *: of RIGHT JOIN with USING the right side comes first. */
static uint32_t star_source(const struct scope *s, const struct sql_expr *e, uint32_t k)
{
    uint32_t first =
        s->n_merged && s->merged[0].use_right && !e->table.len ? s->merged[0].right_source : 0;

    return (first + k) % s->n_sources;
}

static int star(struct select *q, const struct sql_expr *e)
{
    bool any = false;

    if (!q->s.n_sources)
        return db_error_set(q->t->e, DB_E_NO_TABLES);
    /* what USING joined comes first, once */
    for (uint32_t i = 0; !e->table.len && i < q->s.n_merged; i++) {
        const struct merged *m = &q->s.merged[i];

        if (merged_right(&q->s, m->left_source, m->left_col) < 0 &&
            merged_left(&q->s, m->left_source, m->left_col) == (int)i)
            star_column(q, m->left_source, m->left_col, m);
    }
    for (uint32_t k = 0; k < q->s.n_sources; k++) {
        uint32_t i = star_source(&q->s, e, k);
        struct source *src = q->s.sources[i];

        if (e->table.len &&
            (!str_ieq(src->name, e->table) || (e->schema.len && !str_ieq(src->schema, e->schema))))
            continue;
        any = true;
        for (uint32_t c = 0; c < src->n_cols; c++) {
            bool merged =
                !e->table.len && (merged_left(&q->s, i, c) >= 0 || merged_right(&q->s, i, c) >= 0);

            if (!src->cols[c].hidden && !merged)
                star_column(q, i, c, NULL);
        }
    }
    if (!any)
        return db_error_set(q->t->e, DB_E_BAD_TABLE, zstr(q->t, e->table));
    return 0;
}

static struct str name_of(struct select *q, const struct sql_item *item)
{
    const struct sql_expr *e = item->expr;

    if (item->has_alias)
        return item->alias;
    if (e->kind == SQL_COLUMN)
        return e->name;
    if (e->kind == SQL_STRING)
        return e->s;
    return expr_text(q->t, e);
}

static int items(struct select *q)
{
    int rc;

    q->s.clause = "field list";
    q->s.aggs_ok = true;
    for (uint32_t i = 0; i < q->b->items.n; i++) {
        const struct sql_item *item = &q->b->items.v[i];
        struct val v;
        struct item *it;
        bool correlated;

        if (item->expr->kind == SQL_STAR) {
            if ((rc = star(q, item->expr)))
                return rc;
            continue;
        }
        correlated = q->s.correlated;
        q->s.correlated = false;
        if ((rc = val_of1(q->t, &q->s, item->expr, &v)))
            return rc;
        it = item_add(q);
        it->v = v;
        it->name = name_of(q, item);
        it->correlated = q->s.correlated;
        q->s.correlated |= correlated;
        it->alias = item->has_alias || item->expr->kind == SQL_COLUMN;
        if (item->has_alias || item->expr->kind != SQL_COLUMN)
            (void)val_sql(q->t, &it->v);
    }
    if (q->n_items > 1000)
        return db_error_set(q->t->e, DB_E_TOO_MANY_FIELDS);
    return 0;
}

/* ---- WHERE, GROUP BY, HAVING ---- */

static struct str and_text(struct tr *t, struct str a, struct str b)
{
    return !a.len ? b : !b.len ? a : cat(t, "$ AND $", a, b);
}

static int where(struct select *q)
{
    struct val v;
    int rc;

    q->s.aggs_ok = false;
    q->s.clause = "where clause";
    if (!q->b->where)
        return 0;
    if ((rc = val_of1(q->t, &q->s, q->b->where, &v)))
        return rc;
    q->where = and_text(q->t, q->where, val_cond(q->t, &v, PREC_AND));
    return 0;
}

static int group_one(struct select *q, const struct sql_expr *e, struct val *out)
{
    char digits[24];
    int rc;

    if (e->kind == SQL_INT) {
        if (e->u < 1 || e->u > q->n_items)
            return db_error_set(q->t->e, DB_E_BAD_FIELD,
                zstr(q->t, str_n(digits, str_put_u64(digits, e->u))), "group statement");
        *out = q->items[e->u - 1].v;
        q->s.correlated |= q->items[e->u - 1].correlated;
    } else if ((rc = val_of1(q->t, &q->s, e, out))) {
        return rc;
    }
    if (out->has_agg)
        return db_error_set(q->t->e, DB_E_INVALID_GROUP_POSITION, zstr(q->t, expr_text(q->t, e)));
    (void)val_sql(q->t, out);
    return 0;
}

/* Does the value come from outside of the query? SQLite does not look there in GROUP BY. */
static int group_outer(struct select *q, struct val *v)
{
    for (uint32_t i = 0; v->source && i < q->s.n_sources; i++) {
        if (v->source == q->s.sources[i])
            return not_supported(q->t, "GROUP BY with columns of an outer query");
    }
    if (!v->source)
        return not_supported(q->t, "GROUP BY with columns of an outer query");
    v->sql = STR("NULL");
    v->natural = STR_NONE;
    return 0;
}

static int group(struct select *q)
{
    const struct sql_orders *g = &q->b->group;
    bool has_agg = q->s.has_agg;
    int rc;

    q->s.clause = "group statement";
    q->s.aggs_ok = false;
    q->s.items = q->items;
    q->s.n_items = q->n_items;
    q->group = arena_new(q->t->arena, sizeof(*q->group) * MAX(g->n, 1));
    for (uint32_t i = 0; i < g->n; i++) {
        bool correlated = q->s.correlated;

        q->s.correlated = false;
        if ((rc = group_one(q, g->v[i].expr, &q->group[i])) ||
            (q->s.correlated && (rc = group_outer(q, &q->group[i]))))
            return rc;
        q->s.correlated |= correlated;
    }
    q->n_group = g->n;
    q->s.has_agg = has_agg;
    return 0;
}

static int having(struct select *q)
{
    struct val v;
    int rc;

    if (!q->b->having)
        return 0;
    q->s.clause = "having clause";
    q->s.aggs_ok = true;
    q->s.alias_first = true;
    rc = val_of1(q->t, &q->s, q->b->having, &v);
    q->s.alias_first = false;
    if (rc)
        return rc;
    if (v.has_window)
        return not_supported(q->t, "window functions in HAVING");
    if (q->n_group || q->s.has_agg)
        q->having = val_cond(q->t, &v, PREC_AND);
    else /* without groups it is one more condition of the rows */
        q->where = and_text(q->t, q->where, val_cond(q->t, &v, PREC_AND));
    return 0;
}

/* ---- ORDER BY ---- */

struct str order_value(struct tr *t, struct val *v)
{
    struct ty ty;

    if (v->t.base == DB_T_ENUM || v->t.base == DB_T_SET)
        return val_num(t, v, &ty);
    if (v->raw.len)
        return v->raw;
    return val_sort(t, v);
}

/* Is it a column of the scope, or an expression? */
static bool is_local(const struct scope *s, const struct val *v)
{
    for (uint32_t i = 0; v->source && i < s->n_sources; i++) {
        if (v->source == s->sources[i])
            return true;
    }
    return !v->source;
}

static int order_one(struct tr *t, struct scope *s, const struct sql_expr *e, struct item *items,
    uint32_t n_items, struct str *out)
{
    char digits[24];
    bool correlated;
    struct val v;
    int rc;

    *out = STR_NONE;
    if (items && e->kind == SQL_INT) {
        if (e->u < 1 || e->u > n_items)
            return db_error_set(
                t->e, DB_E_BAD_FIELD, zstr(t, str_n(digits, str_put_u64(digits, e->u))), s->clause);
        v = items[(size_t)e->u - 1].v;
        /* what has another value each time is meant as it stands in the list */
        if (v.impure || v.has_query) {
            *out = cat(t, "#", (int)e->u);
            return 0;
        }
        if (v.constant)
            return 0;
        *out = order_value(t, &v);
        return 0;
    }
    s->alias_first = items && e->kind == SQL_COLUMN;
    correlated = s->correlated;
    s->correlated = false;
    rc = val_of1(t, s, e, &v);
    s->alias_first = false;
    if (rc)
        return rc;
    /* a column from outside is the same for all rows; SQLite does not find it here */
    if (s->correlated && !v.has_query)
        return is_local(s, &v) ? not_supported(t, "ORDER BY with columns of an outer query") : 0;
    s->correlated |= correlated;
    for (uint32_t i = 0; items && e->kind == SQL_COLUMN && (v.impure || v.has_query) && i < n_items;
        i++) {
        if (items[i].alias && str_ieq(items[i].name, e->name)) {
            *out = cat(t, "#", (int)i + 1);
            return 0;
        }
    }
    if (!v.constant || v.impure)
        *out = order_value(t, &v);
    return 0;
}

int order_of_items(struct tr *t, struct scope *s, const struct sql_orders *orders,
    struct item *items, uint32_t n_items, const char *clause, struct str *out)
{
    struct sb b = {0};
    int rc;

    s->clause = clause;
    *out = STR_NONE;
    for (uint32_t i = 0; i < orders->n; i++) {
        struct str one;

        if ((rc = order_one(t, s, orders->v[i].expr, items, n_items, &one)))
            return rc;
        if (one.len)
            sb_cat(t, &b, "$$$", b.len ? STR(", ") : STR(" ORDER BY "), one,
                orders->v[i].desc ? STR(" DESC") : STR_NONE);
    }
    *out = sb_str(&b);
    return 0;
}

/* ---- putting it together ---- */

static struct str item_list(struct select *q)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < q->n_items; i++) {
        struct item *it = &q->items[i];
        struct str sql = q->collate ? val_sort(q->t, &it->v) : val_sql(q->t, &it->v);

        if (q->t->strict_names)
            sb_cat(q->t, &b, "$$ AS $", i ? STR(", ") : STR_NONE, sql, quote_name(q->t, it->name));
        else
            sb_cat(q->t, &b, "$$ AS c#", i ? STR(", ") : STR_NONE, sql, (int)i + 1);
    }
    return sb_str(&b);
}

/* Is there an aggregate in the list of columns? */
static bool items_have_agg(const struct select *q)
{
    for (uint32_t i = 0; i < q->n_items; i++) {
        if (q->items[i].v.has_agg)
            return true;
    }
    return false;
}

static struct str group_text(struct select *q, uint32_t n)
{
    struct sb b = {0};

    /* one group of everything, though SQLite sees no aggregate where it looks for one */
    if (!n && (q->n_group || q->s.has_agg) && !items_have_agg(q))
        return STR(" GROUP BY NULL");

    for (uint32_t i = 0; i < n; i++) {
        struct val v = q->group[i];

        sb_cat(q->t, &b, "$$", b.len ? STR(", ") : STR(" GROUP BY "), val_sort(q->t, &v));
    }
    return sb_str(&b);
}

static struct str clause(struct tr *t, const char *word, struct str s)
{
    return s.len ? cat(t, " $ $", str_c(word), s) : STR_NONE;
}

static struct str body_text(struct select *q)
{
    struct tr *t = q->t;

    return cat(t, "SELECT $$$$$$", q->b->distinct ? STR("DISTINCT ") : STR_NONE, item_list(q),
        clause(t, "FROM", q->from), clause(t, "WHERE", q->where), group_text(q, q->n_group),
        clause(t, "HAVING", q->having));
}

/*
 * WITH ROLLUP: a SELECT for each number of keys, those left out being NULL; sorted so that each
 * sum follows what it sums up.
 */
static struct str rollup(struct select *q)
{
    struct tr *t = q->t;
    struct sb all = {0}, keys = {0}, cols = {0};
    struct str alias = new_alias(t);

    for (uint32_t k = q->n_group + 1; k-- > 0;) {
        sb_lit(t, &all, "SELECT ");
        for (uint32_t i = 0; i < q->n_items; i++) {
            bool off = false;

            for (uint32_t g = k; g < q->n_group; g++)
                off |= str_eq(val_sql(t, &q->items[i].v), q->group[g].sql);
            sb_cat(
                t, &all, "$ AS c#, ", off ? STR("NULL") : val_sort(t, &q->items[i].v), (int)i + 1);
        }
        for (uint32_t g = 0; g < q->n_group; g++)
            sb_cat(t, &all, "$# AS f#, $ AS k#", g ? STR(", ") : STR_NONE, g >= k, (int)g + 1,
                g < k ? val_sort(t, &q->group[g]) : STR("NULL"), (int)g + 1);
        sb_cat(t, &all, "$$$$$", clause(t, "FROM", q->from), clause(t, "WHERE", q->where),
            group_text(q, k), clause(t, "HAVING", q->having), k ? STR(" UNION ALL ") : STR_NONE);
    }
    for (uint32_t g = 0; g < q->n_group; g++)
        sb_cat(t, &keys, "$$.f#, $.k#$", g ? STR(", ") : STR_NONE, alias, (int)g + 1, alias,
            (int)g + 1,
            ty_natural(&q->group[g].t).len
                ? cat(t, " COLLATE $", quote_name(t, ty_natural(&q->group[g].t)))
                : STR_NONE);
    for (uint32_t i = 0; i < q->n_items; i++) {
        sb_cat(t, &cols, "$$.c#$", i ? STR(", ") : STR_NONE, alias, (int)i + 1,
            t->strict_names ? cat(t, " AS $", quote_name(t, q->items[i].name))
                            : cat(t, " AS c#", (int)i + 1));
        q->items[i].v.t.not_null = false;
        q->items[i].v.flags &= (uint16_t)~DB_COL_NOT_NULL;
    }
    if (!q->order.len)
        q->order = cat(t, " ORDER BY $", sb_str(&keys));
    else {
        /* the columns that ORDER BY names are those of the whole */
        q->order = cat(t, " ORDER BY $", sb_str(&keys));
    }
    return cat(t, "SELECT $$ FROM ($) AS $", q->b->distinct ? STR("DISTINCT ") : STR_NONE,
        sb_str(&cols), sb_str(&all), alias);
}

/* Does one of the conditions say that a unique key has one value? */
static bool by_unique_key(const struct select *q, const struct sql_expr *e)
{
    const struct db_cat_table *table = q->s.n_sources == 1 ? q->s.sources[0]->table : NULL;
    const struct sql_expr *c, *other;

    for (; table && e && e->kind == SQL_BINARY && e->op == SQL_OP_AND; e = e->a) {
        if (by_unique_key(q, e->b))
            return true;
    }
    if (!table || !e || e->kind != SQL_BINARY || e->op != SQL_OP_EQ)
        return false;
    c = e->a->kind == SQL_COLUMN ? e->a : e->b;
    other = c == e->a ? e->b : e->a;
    for (int turn = 0; turn < 2; turn++, c = e->b, other = e->a) {
        int32_t i;

        if (c->kind != SQL_COLUMN || (c->table.len && !str_ieq(c->table, q->s.sources[0]->name)) ||
            (i = db_cat_column_find(table, c->name)) < 0)
            continue;
        if (other->kind == SQL_COLUMN
                ? !other->table.len || str_ieq(other->table, q->s.sources[0]->name)
                : other->kind > SQL_PARAM)
            continue;
        for (uint32_t k = 0; k < table->n_keys; k++) {
            const struct db_cat_key *key = &table->keys[k];

            if (key->kind <= DB_KEY_UNIQUE && key->n_parts == 1 && key->parts[0].column == i)
                return true;
        }
    }
    return false;
}

static int parts(struct select *q, const struct sql_query *query)
{
    int rc;

    if ((rc = from_translate(q->t, &q->s, q->b->from, &q->from, &q->where)))
        return rc;
    q->s.windows = q->b->windows;
    q->s.n_windows = q->b->n_windows;
    if ((rc = items(q)) || (rc = where(q)) || (rc = group(q)) || (rc = having(q)))
        return rc;
    if (!query)
        return 0;
    q->s.aggs_ok = true;
    if ((rc = order_of_items(
             q->t, &q->s, &query->order, q->items, q->n_items, "order clause", &q->order)))
        return rc;
    return limit_translate(q->t, &query->limit, &q->limit);
}

int select_translate(struct tr *t, struct scope *outer, const struct sql_body *b,
    const struct sql_query *query, struct query *out)
{
    struct select q = {.t = t, .b = b, .collate = b->distinct || !query};
    bool names = t->strict_names;
    int rc;

    scope_init(&q.s, outer);
    t->strict_names = false;
    if ((rc = parts(&q, query)))
        return rc;
    t->strict_names = names;
    memset(out, 0, sizeof(*out));
    /* rows of an aggregate that has nothing else to order by */
    if (!q.n_group && q.s.has_agg)
        q.order = STR_NONE;
    out->unlimited = b->rollup && q.n_group ? rollup(&q) : body_text(&q);
    out->sql = cat(t, "$$$", out->unlimited, q.order, q.limit);
    out->items = q.items;
    out->n_items = q.n_items;
    out->correlated = q.s.correlated;
    out->calc_found_rows = b->calc_found_rows;
    out->single = (!q.from.len && !b->having) || (!q.n_group && q.s.has_agg) ||
                  (query && query->limit.count && query->limit.count->kind == SQL_INT &&
                      query->limit.count->u <= 1) ||
                  by_unique_key(&q, b->where);
    return 0;
}
