/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

/* Queries inside expressions. */

static void mix_query(struct val *out, const struct query *q)
{
    out->has_query = true;
    out->constant = !q->correlated;
    out->prec = PREC_ATOM;
}

int val_subquery(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct query q;
    struct str alias;
    int rc;

    if ((rc = query_translate(t, s, e->query, &q)))
        return rc;
    *out = (struct val){0};
    mix_query(out, &q);
    if (q.n_items > 1) {
        /* a row: each of its columns is a query of its own */
        out->row = arena_new(t->arena, sizeof(*out->row) * q.n_items);
        out->n_row = q.n_items;
        for (uint32_t i = 0; i < q.n_items; i++) {
            struct val *v = &out->row[i];

            mix_query(v, &q);
            alias = new_alias(t);
            val_set(v, q.items[i].v.t,
                cat(t, "(SELECT $.c# FROM ($) AS $)", alias, (int)i + 1, q.sql, alias), PREC_ATOM);
            v->t.not_null = false;
        }
        return 0;
    }
    out->t = q.items[0].v.t;
    out->t.not_null = false;
    if (q.single) {
        out->sql = cat(t, "($)", q.sql);
        return 0;
    }
    alias = new_alias(t);
    out->sql = cat(t,
        "(SELECT CASE WHEN count(*)>1 THEN m_error(1242,'21000','Subquery returns more than 1 "
        "row') ELSE max($.c1) END FROM (SELECT c1 FROM ($) LIMIT 2) AS $)",
        alias, q.sql, alias);
    return 0;
}

int val_exists(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct query q;
    int rc;

    if ((rc = query_translate(t, s, e->query, &q)))
        return rc;
    *out = (struct val){0};
    mix_query(out, &q);
    val_set(out, ty_bool(), cat(t, "$EXISTS ($)", e->not? STR("NOT ") : STR_NONE, q.sql),
        e->not? PREC_NOT : PREC_ATOM);
    out->t.not_null = true;
    return 0;
}

/* A column of the query under its alias. */
static struct val column_of(struct tr *t, const struct query *q, uint32_t i, struct str alias)
{
    struct val v = {0};

    val_set(&v, q->items[i].v.t, cat(t, "$.c#", alias, (int)i + 1), PREC_ATOM);
    return v;
}

/* (a, b) IN (SELECT ...): SQLite's own IN when all compare natively */
int val_in_query(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a, *left;
    struct query q;
    struct sb x = {0}, y = {0};
    struct str alias = new_alias(t), cond;
    bool as_is = true;
    int rc;

    if ((rc = val_of(t, s, e->a, &a)) || (rc = query_translate(t, s, e->query, &q)))
        return rc;
    if (q.n_items != MAX(a.n_row, 1))
        return db_error_set(t->e, DB_E_OPERAND_COLUMNS, (int)MAX(a.n_row, 1));
    *out = (struct val){0};
    mix_query(out, &q);
    val_mix(out, &a);
    left = a.n_row ? a.row : &a;
    for (uint32_t i = 0; i < q.n_items; i++) {
        struct val r = column_of(t, &q, i, alias);
        const struct db_collation *coll;
        struct str p, o;
        char how;

        if ((rc = compare_how(t, &left[i], &r, "in", &how, &coll)))
            return rc;
        if (!compare_sides(t, &left[i], &r, how, coll, &p, &o))
            return not_supported(t, "IN of these types with a subquery");
        if (p.p == left[i].sql.p && left[i].prec <= PREC_CMP)
            p = cat(t, "($)", p);
        /* IN takes the left side's collation */
        if (how == 's' && str_eq(left[i].natural, coll->name) && p.p == left[i].sql.p)
            p = left[i].sql;
        as_is &= o.p == r.sql.p;
        sb_cat(t, &x, "$$", i ? STR(",") : STR_NONE, p);
        sb_cat(t, &y, "$$", i ? STR(",") : STR_NONE, o);
    }
    cond = a.n_row ? cat(t, "($)", sb_str(&x)) : sb_str(&x);
    val_set(out, ty_bool(),
        as_is ? cat(t, "$ $IN ($)", cond, e->not? STR("NOT ") : STR_NONE, q.sql)
              : cat(t, "$ $IN (SELECT $ FROM ($) AS $)", cond, e->not? STR("NOT ") : STR_NONE,
                    sb_str(&y), q.sql, alias),
        PREC_CMP);
    return 0;
}

int val_quantified(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    struct val a, r, c;
    struct query q;
    struct str alias = new_alias(t);
    int rc;

    if ((e->op == SQL_OP_EQ && !e->is_all) || (e->op == SQL_OP_NE && e->is_all)) {
        struct sql_expr in = *e;

        in.kind = SQL_IN_QUERY;
        in.not = e->op == SQL_OP_NE;
        return val_in_query(t, s, &in, out);
    }
    if ((rc = val_of1(t, s, e->a, &a)) || (rc = query_translate(t, s, e->query, &q)))
        return rc;
    if (q.n_items != 1)
        return db_error_set(t->e, DB_E_OPERAND_COLUMNS, 1);
    r = column_of(t, &q, 0, alias);
    if ((rc = compare(t, &a, e->op, &r, &c)))
        return rc;
    *out = (struct val){0};
    mix_query(out, &q);
    val_mix(out, &a);
    /* ALL: 1 of no rows, 0 if one is 0, NULL if one is NULL, else 1; ANY the other way round */
    val_set(out, ty_bool(),
        e->is_all
            ? cat(t,
                  "(SELECT CASE WHEN count(*)=0 THEN 1 WHEN min(x)=0 THEN 0 WHEN "
                  "count(x)<count(*) THEN NULL ELSE 1 END FROM (SELECT $ AS x FROM ($) AS $))",
                  c.sql, q.sql, alias)
            : cat(t,
                  "(SELECT CASE WHEN max(x)=1 THEN 1 WHEN count(x)<count(*) THEN NULL ELSE 0 "
                  "END FROM (SELECT $ AS x FROM ($) AS $))",
                  c.sql, q.sql, alias),
        PREC_ATOM);
    return 0;
}
