/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

/* Aggregates and window functions. */

enum agg {
    A_COUNT,
    A_SUM,
    A_AVG,
    A_MIN,
    A_MAX,
    A_BIT,
    A_DEV,
    A_JSON_ARRAY,
    A_JSON_OBJECT,
    W_NUMBER, /* ROW_NUMBER and its like: window functions only */
    W_DOUBLE,
    W_VALUE,
};

static const struct {
    struct str name;
    enum agg kind;
    const char *function;
    int8_t least, most;
} rows[] = {
#define N(text) {text, sizeof(text) - 1}
    {N("COUNT"), A_COUNT, "count", 1, 100},
    {N("SUM"), A_SUM, "m_sum", 1, 1},
    {N("AVG"), A_AVG, "m_avg", 1, 1},
    {N("MIN"), A_MIN, "min", 1, 1},
    {N("MAX"), A_MAX, "max", 1, 1},
    {N("BIT_AND"), A_BIT, "m_bit_and", 1, 1},
    {N("BIT_OR"), A_BIT, "m_bit_or", 1, 1},
    {N("BIT_XOR"), A_BIT, "m_bit_xor", 1, 1},
    {N("STD"), A_DEV, "m_stddev", 1, 1},
    {N("STDDEV"), A_DEV, "m_stddev", 1, 1},
    {N("STDDEV_POP"), A_DEV, "m_stddev", 1, 1},
    {N("STDDEV_SAMP"), A_DEV, "m_stddev_samp", 1, 1},
    {N("VARIANCE"), A_DEV, "m_variance", 1, 1},
    {N("VAR_POP"), A_DEV, "m_variance", 1, 1},
    {N("VAR_SAMP"), A_DEV, "m_var_samp", 1, 1},
    {N("JSON_ARRAYAGG"), A_JSON_ARRAY, "m_json_arrayagg", 1, 1},
    {N("JSON_OBJECTAGG"), A_JSON_OBJECT, "m_json_objectagg", 2, 2},
    {N("ROW_NUMBER"), W_NUMBER, "row_number", 0, 0},
    {N("RANK"), W_NUMBER, "rank", 0, 0},
    {N("DENSE_RANK"), W_NUMBER, "dense_rank", 0, 0},
    {N("NTILE"), W_NUMBER, "ntile", 1, 1},
    {N("PERCENT_RANK"), W_DOUBLE, "percent_rank", 0, 0},
    {N("CUME_DIST"), W_DOUBLE, "cume_dist", 0, 0},
    {N("LAG"), W_VALUE, "lag", 1, 3},
    {N("LEAD"), W_VALUE, "lead", 1, 3},
    {N("FIRST_VALUE"), W_VALUE, "first_value", 1, 1},
    {N("LAST_VALUE"), W_VALUE, "last_value", 1, 1},
    {N("NTH_VALUE"), W_VALUE, "nth_value", 2, 2},
};

static const struct sql_window *find_window(struct scope *s, struct str name)
{
    for (uint32_t i = 0; i < s->n_windows; i++) {
        if (str_ieq(s->windows[i]->name, name))
            return s->windows[i];
    }
    return NULL;
}

static struct str bound_text(enum sql_bound b)
{
    switch (b) {
    case SQL_BOUND_UNBOUNDED_PRECEDING:
        return STR("UNBOUNDED PRECEDING");
    case SQL_BOUND_PRECEDING:
        return STR(" PRECEDING");
    case SQL_BOUND_CURRENT_ROW:
        return STR("CURRENT ROW");
    case SQL_BOUND_FOLLOWING:
        return STR(" FOLLOWING");
    default:
        return STR("UNBOUNDED FOLLOWING");
    }
}

static int bound(
    struct tr *t, struct scope *s, enum sql_bound b, const struct sql_expr *e, struct str *out)
{
    struct val v;
    struct ty ty;
    int rc;

    *out = bound_text(b);
    if (!e || (b != SQL_BOUND_PRECEDING && b != SQL_BOUND_FOLLOWING))
        return 0;
    if (e->kind == SQL_DATE_ADD)
        return not_supported(t, "RANGE with INTERVAL");
    if ((rc = val_of1(t, s, e, &v)))
        return rc;
    if (!v.constant)
        return not_supported(t, "frames that depend on columns");
    *out = cat(t, "$$", val_num(t, &v, &ty), *out);
    return 0;
}

static int frame(struct tr *t, struct scope *s, const struct sql_window *w, struct sb *b)
{
    struct str from, to;
    int rc;

    if ((rc = bound(t, s, w->from, w->from_expr, &from)) ||
        (rc = bound(t, s, w->to, w->to_expr, &to)))
        return rc;
    /* a range measured in numbers wants to know that they are */
    sb_cat(t, b, " $ BETWEEN $ AND $", w->is_range ? STR("RANGE") : STR("ROWS"), from, to);
    return 0;
}

static int window_text(struct tr *t, struct scope *s, const struct sql_window *w, struct sb *b,
    bool *has_partition, bool *has_order, int depth)
{
    const struct sql_window *base;
    struct str list;
    int rc;

    if (depth > 8)
        return too_deep(t);
    if (w->base.len || w->only_name) {
        struct str name = w->base.len ? w->base : w->name;

        if (!(base = find_window(s, name)) || base == w)
            return db_error_set(t->e, DB_E_NO_SUCH_WINDOW, zstr(t, name));
        if ((rc = window_text(t, s, base, b, has_partition, has_order, depth + 1)))
            return rc;
        if (w->only_name)
            return 0;
    }
    for (uint32_t i = 0; i < w->partition.n; i++) {
        struct val v;

        if ((rc = val_of1(t, s, w->partition.v[i], &v)))
            return rc;
        sb_cat(t, b, "$$", *has_partition ? STR(", ") : STR("PARTITION BY "), val_sort(t, &v));
        *has_partition = true;
    }
    if (w->order.n) {
        if ((rc = order_of_items(t, s, &w->order, NULL, 0, "window order by", &list)))
            return rc;
        if (list.len) {
            sb_cat(t, b, " $", list);
            *has_order = true;
        }
    }
    if (w->has_frame)
        return frame(t, s, w, b);
    return 0;
}

int val_over(
    struct tr *t, struct scope *s, const struct sql_expr *e, struct str call, struct str *out)
{
    struct sb b = {0};
    bool partition = false, order = false;
    int rc;

    if ((rc = window_text(t, s, e->window, &b, &partition, &order, 0)))
        return rc;
    *out = cat(t, "$ OVER ($)", call, sb_str(&b));
    return 0;
}

static struct ty type_of(struct tr *t, enum agg kind, const struct ty *x)
{
    struct ty ty;

    (void)t;
    switch (kind) {
    case A_COUNT:
    case W_NUMBER:
        ty = ty_int(21, 63);
        ty.base = DB_T_BIGINT;
        ty.not_null = true;
        return ty;
    case A_SUM:
        if (x->base == DB_T_DOUBLE || x->base == DB_T_FLOAT)
            return ty_double();
        ty = ty_decimal(x->base == DB_T_DECIMAL ? x->len + 22 : ty_int_digits(x) + 22, ty_scale(x));
        return ty;
    case A_AVG:
        if (x->base == DB_T_DOUBLE || x->base == DB_T_FLOAT)
            return ty_double();
        return ty_decimal(ty_int_digits(x) + ty_scale(x) + 4, ty_scale(x) + 4);
    case A_BIT:
        ty = ty_int(21, 64);
        ty.uns = ty.big = ty.not_null = true;
        return ty;
    case A_DEV:
        ty = ty_double();
        ty.dec = x->base == DB_T_DOUBLE || x->base == DB_T_FLOAT ? 31 : (int16_t)(ty_scale(x) + 4);
        ty.len = ty.dec == 31 ? 23 : 22 + ty.dec;
        return ty;
    case A_JSON_ARRAY:
    case A_JSON_OBJECT:
        return (struct ty){.base = DB_T_JSON,
            .len = 4294967295,
            .coll = db_collation_number(46),
            .coer = COER_IMPLICIT};
    case W_DOUBLE:
        ty = ty_double();
        ty.not_null = true;
        return ty;
    default:
        ty = *x;
        ty.not_null = false;
        if (ty.base == DB_T_ENUM || ty.base == DB_T_SET)
            ty.base = DB_T_VARCHAR;
        return ty;
    }
}

/* A text that stands for the value in COUNT(DISTINCT a, b). */
static struct str distinct_key(struct tr *t, struct val *v)
{
    if (db_base_is_text(v->t.base) && v->t.coll)
        return cat(t, "m_key($,'$')", val_sql(t, v), v->t.coll->name);
    return val_sql(t, v);
}

static struct str count_args(struct tr *t, struct val *v, uint32_t n)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < n; i++)
        sb_cat(t, &b, "$$", i ? STR(",") : STR_NONE, distinct_key(t, &v[i]));
    return sb_str(&b);
}

static struct str types(struct tr *t, const struct val *v, uint32_t n)
{
    char text[2] = {(char)ty_how(&v[0].t), n > 1 ? (char)ty_how(&v[1].t) : 0};

    return cat(t, "'$'", arena_str(t->arena, str_n(text, n)));
}

static struct str args_of(
    struct tr *t, enum agg kind, const struct sql_expr *e, struct val *v, uint32_t n, struct ty *x)
{
    struct sb b = {0};
    struct str distinct = e->is_distinct ? STR("DISTINCT ") : STR_NONE;

    *x = n ? v[0].t : ty_null();
    switch (kind) {
    case A_COUNT:
        return cat(t, "$$", distinct, val_sort(t, &v[0]));
    case A_MIN:
    case A_MAX:
        return val_sort(t, &v[0]);
    case A_SUM:
    case A_AVG:
    case A_BIT:
    case A_DEV:
        return cat(t, "$$$", distinct, val_exact(t, &v[0], x),
            e->is_distinct && x->base == DB_T_DECIMAL ? STR(" COLLATE my_decimal") : STR_NONE);
    case A_JSON_ARRAY:
    case A_JSON_OBJECT:
        return n > 1 ? cat(t, "$,$,$", types(t, v, n), val_sql(t, &v[0]), val_sql(t, &v[1]))
                     : cat(t, "$,$", types(t, v, n), val_sql(t, &v[0]));
    default:
        for (uint32_t i = 0; i < n; i++)
            sb_cat(t, &b, "$$", i ? STR(",") : STR_NONE, val_sql(t, &v[i]));
        return sb_str(&b);
    }
}

static int values_of(struct tr *t, struct scope *s, const struct sql_exprs *list, bool over,
    struct val *v, struct val *out)
{
    bool had = s->aggs_ok;
    int rc = 0;

    /* an aggregate in an aggregate is an error, in a window function it is not */
    s->aggs_ok = over && had;
    *out = (struct val){0};
    for (uint32_t i = 0; !rc && i < list->n; i++) {
        if (!(rc = val_of1(t, s, list->v[i], &v[i])))
            val_mix(out, &v[i]);
    }
    s->aggs_ok = had;
    out->constant = false;
    return rc;
}

static int count_star(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct ty ty = type_of(t, A_COUNT, NULL);
    struct str sql = STR("count(*)");
    int rc;

    *out = (struct val){.has_agg = !e->window, .has_window = e->window};
    s->has_agg |= !e->window;
    if (e->window && (rc = val_over(t, s, e, sql, &sql)))
        return rc;
    val_set(out, ty, sql, PREC_ATOM);
    return 0;
}

static int one(struct tr *t, struct scope *s, const struct sql_expr *e, size_t row, struct val *out)
{
    enum agg kind = rows[row].kind;
    struct val v[3];
    struct ty x, ty;
    struct str args, sql;
    int rc;

    if ((int)e->list.n < rows[row].least || (int)e->list.n > MIN(rows[row].most, 3))
        return bad_count(t, e->name);
    if ((rc = values_of(t, s, &e->list, e->window, v, out)))
        return rc;
    args = args_of(t, kind, e, v, e->list.n, &x);
    sql = cat(t, "$($)", str_c(rows[row].function), args);
    ty = type_of(t, kind, &x);
    if (e->window && (rc = val_over(t, s, e, sql, &sql)))
        return rc;
    if ((kind == A_SUM || kind == A_AVG) && v[0].exact.p && ty.base == DB_T_DECIMAL)
        sql = cat(t, "m_round($,#)", sql, (int)ty.dec);
    if (e->window)
        out->has_window = true;
    else
        out->has_agg = s->has_agg = true;
    /* LAG(x, n, default) */
    if (kind == W_VALUE && e->list.n == 3 && (rc = ty_merge(t, &v[0].t, &v[2].t, "lag", &ty)))
        return rc;
    val_set(out, ty, sql, PREC_ATOM);
    return 0;
}

static int count_distinct(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val *v = arena_new(t->arena, sizeof(*v) * e->list.n);
    int rc;

    if (e->list.n > 100)
        return too_deep(t);
    if ((rc = values_of(t, s, &e->list, false, v, out)))
        return rc;
    out->has_agg = s->has_agg = true;
    val_set(out, type_of(t, A_COUNT, NULL),
        cat(t, "m_count_distinct($)", count_args(t, v, e->list.n)), PREC_ATOM);
    return 0;
}

int val_aggregate(
    struct tr *t, struct scope *s, const struct sql_expr *e, bool *known, struct val *out)
{
    size_t i;

    *known = false;
    for (i = 0; i < ARRAY_LEN(rows) && !str_ieq(rows[i].name, e->name); i++) {
    }
    if (i == ARRAY_LEN(rows))
        return 0;
    *known = true;
    if (rows[i].kind >= W_NUMBER && !e->window)
        return db_error_text(t->e, DB_E_PARSE, "%s() needs OVER", zstr(t, e->name));
    if (!s || !s->aggs_ok)
        return db_error_set(t->e, DB_E_INVALID_GROUP_FUNC);
    if (rows[i].kind == A_COUNT && e->list.n == 1 && e->list.v[0]->kind == SQL_STAR)
        return count_star(t, s, e, out);
    if (rows[i].kind == A_COUNT && e->is_distinct && e->list.n > 1)
        return count_distinct(t, s, e, out);
    return one(t, s, e, i, out);
}

/* ---- GROUP_CONCAT ---- */

static int concat_keys(struct tr *t, struct scope *s, const struct sql_expr *e, struct sb *b)
{
    int rc;

    for (uint32_t i = 0; i < e->order.n; i++) {
        const struct sql_expr *key = e->order.v[i].expr;
        struct str how;
        struct val v;

        if (key->kind == SQL_INT && key->u >= 1 && key->u <= e->list.n)
            key = e->list.v[key->u - 1];
        if ((rc = val_of1(t, s, key, &v)))
            return rc;
        how = ty_how_str(t, &v.t);
        sb_cat(t, b, ",$,'$$", val_sql(t, &v), e->order.v[i].desc ? STR("d") : STR("a"),
            str_sub(how, 1, how.len));
    }
    return 0;
}

int val_group_concat(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val *v = arena_new(t->arena, sizeof(*v) * MAX(e->list.n, 1));
    struct sb text = {0}, keys = {0};
    const struct db_collation *coll;
    uint8_t coer;
    struct ty ty;
    int rc;

    if (!s || !s->aggs_ok)
        return db_error_set(t->e, DB_E_INVALID_GROUP_FUNC);
    if (!e->list.n || e->list.n + e->order.n * 2 > 90)
        return too_deep(t);
    if ((rc = values_of(t, s, &e->list, false, v, out)))
        return rc;
    coll = ty_is_string(&v[0].t) ? v[0].t.coll : t->coll;
    coer = ty_is_string(&v[0].t) ? v[0].t.coer : COER_LITERAL;
    for (uint32_t i = 0; i < e->list.n; i++) {
        struct ty sum = ty_text(coll, 1, coer);

        if (i && (rc = ty_collate(t, &sum, &v[i].t, "group_concat", &coll, &coer)))
            return rc;
        sb_cat(t, &text, "$$", i ? STR(",") : STR_NONE, val_text(t, &v[i]));
    }
    s->aggs_ok = false;
    rc = concat_keys(t, s, e, &keys);
    s->aggs_ok = true;
    if (rc)
        return rc;
    out->has_agg = s->has_agg = true;
    ty = ty_text(coll, 4194304, coer);
    ty.base = coll ? DB_T_TEXT : DB_T_BLOB;
    val_set(out, ty,
        cat(t, "m_group_concat($,$,$,'$'$)",
            e->list.n > 1 ? cat(t, "m_concat($)", sb_str(&text)) : sb_str(&text),
            param_text(t, e->s), e->is_distinct ? STR("1") : STR("0"),
            coll ? coll->name : STR("binary"), sb_str(&keys)),
        PREC_ATOM);
    return 0;
}
