/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Queries as text.
 */
#include "db/sql/print_parts.h"

static void table(struct buf *out, const struct sql_table *t);

/* ---- tables ---- */

static void join_words(struct buf *out, const struct sql_table *t)
{
    static const struct str joins[] = {STR("join "), STR("left join "), STR("right join ")};

    buf_add_char(out, ' ');
    if (t->natural)
        buf_add_lit(out, "natural ");
    if (t->straight)
        buf_add_lit(out, "straight_join ");
    else
        buf_add_str(out, joins[t->join]);
}

static void comma(struct buf *out, const struct sql_table *t)
{
    table(out, t->left);
    buf_add_char(out, ',');
    if (t->right->kind == SQL_TABLE_JOIN && t->right->join == SQL_JOIN_COMMA) {
        buf_add_char(out, '(');
        comma(out, t->right);
        buf_add_char(out, ')');
    } else {
        table(out, t->right);
    }
}

/* One side of a join: a list with commas needs parentheses there. */
static void side(struct buf *out, const struct sql_table *t)
{
    bool list = t->kind == SQL_TABLE_JOIN && t->join == SQL_JOIN_COMMA;

    if (list)
        buf_add_char(out, '(');
    table(out, t);
    if (list)
        buf_add_char(out, ')');
}

static void join(struct buf *out, const struct sql_table *t)
{
    if (t->join == SQL_JOIN_COMMA) {
        comma(out, t);
        return;
    }
    buf_add_char(out, '(');
    side(out, t->left);
    join_words(out, t);
    side(out, t->right);
    if (t->on) {
        buf_add_lit(out, " on (");
        sql_print_expr(out, t->on);
        buf_add_char(out, ')');
    }
    if (t->using_columns.n) {
        buf_add_lit(out, " using (");
        print_names(out, t->using_columns);
        buf_add_char(out, ')');
    }
    buf_add_char(out, ')');
}

static void table(struct buf *out, const struct sql_table *t)
{
    if (t->kind == SQL_TABLE_JOIN) {
        join(out, t);
        return;
    }
    if (t->kind == SQL_TABLE_NAME) {
        print_qualified(out, t->name.schema, t->name.name);
    } else {
        buf_add_str(out, t->lateral ? STR("lateral (") : STR("("));
        sql_print_query(out, t->query);
        buf_add_char(out, ')');
    }
    if (t->alias.len) {
        buf_add_char(out, ' ');
        sql_print_name(out, t->alias);
    }
    if (t->columns.n) {
        buf_add_lit(out, " (");
        print_names(out, t->columns);
        buf_add_char(out, ')');
    }
}

/* ---- bodies ---- */

static void items(struct buf *out, struct sql_items list)
{
    for (uint32_t i = 0; i < list.n; i++) {
        if (i)
            buf_add_char(out, ',');
        sql_print_expr(out, list.v[i].expr);
        if (list.v[i].has_alias) {
            buf_add_lit(out, " AS ");
            print_word(out, list.v[i].alias);
        }
    }
}

static void clause(struct buf *out, struct str word, const struct sql_expr *e)
{
    if (!e)
        return;
    buf_add_str(out, word);
    sql_print_expr(out, e);
}

static void windows(struct buf *out, const struct sql_body *b)
{
    for (uint32_t i = 0; i < b->n_windows; i++) {
        buf_add_str(out, i ? STR(",") : STR(" window "));
        sql_print_name(out, b->windows[i]->name);
        buf_add_lit(out, " as ");
        print_window(out, b->windows[i]);
    }
}

static void select(struct buf *out, const struct sql_body *b)
{
    buf_add_lit(out, "select ");
    if (b->distinct)
        buf_add_lit(out, "distinct ");
    if (b->calc_found_rows)
        buf_add_lit(out, "sql_calc_found_rows ");
    items(out, b->items);
    if (b->from) {
        buf_add_lit(out, " from ");
        table(out, b->from);
    } else if (b->where || b->group.n || b->having) {
        buf_add_lit(out, " from dual");
    }
    clause(out, STR(" where "), b->where);
    if (b->group.n) {
        buf_add_lit(out, " group by ");
        print_orders(out, b->group);
        if (b->rollup)
            buf_add_lit(out, " with rollup");
    }
    clause(out, STR(" having "), b->having);
    windows(out, b);
}

static void body(struct buf *out, const struct sql_body *b)
{
    static const struct str ops[] = {STR(" union "), STR(" except "), STR(" intersect ")};

    switch (b->kind) {
    case SQL_BODY_SELECT:
        select(out, b);
        break;
    case SQL_BODY_SET:
        body(out, b->left);
        buf_add_str(out, ops[b->op]);
        if (b->all)
            buf_add_lit(out, "all ");
        body(out, b->right);
        break;
    case SQL_BODY_VALUES:
        buf_add_lit(out, "values ");
        for (uint32_t i = 0; i < b->n_rows; i++) {
            buf_add_str(out, i ? STR(",row(") : STR("row("));
            print_list(out, b->rows[i]);
            buf_add_char(out, ')');
        }
        break;
    case SQL_BODY_TABLE:
        buf_add_lit(out, "table ");
        print_qualified(out, b->table.schema, b->table.name);
        break;
    case SQL_BODY_QUERY:
        buf_add_char(out, '(');
        sql_print_query(out, b->query);
        buf_add_char(out, ')');
        break;
    }
}

/* ---- queries ---- */

static void with(struct buf *out, const struct sql_query *q)
{
    for (uint32_t i = 0; i < q->n_ctes; i++) {
        buf_add_str(out, i ? STR(",") : q->recursive ? STR("with recursive ") : STR("with "));
        sql_print_name(out, q->ctes[i].name);
        if (q->ctes[i].columns.n) {
            buf_add_lit(out, " (");
            print_names(out, q->ctes[i].columns);
            buf_add_char(out, ')');
        }
        buf_add_lit(out, " as (");
        sql_print_query(out, q->ctes[i].query);
        buf_add_char(out, ')');
    }
    if (q->n_ctes)
        buf_add_char(out, ' ');
}

static void into(struct buf *out, struct sql_names names)
{
    for (uint32_t i = 0; i < names.n; i++) {
        buf_add_str(out, i ? STR(",@") : STR(" into @"));
        sql_print_name(out, names.v[i]);
    }
}

/* Parameters count from the left, so the one that was first stays first. */
static void limit(struct buf *out, const struct sql_limit *l)
{
    if (l->offset && l->offset->kind == SQL_PARAM && l->count->kind == SQL_PARAM &&
        l->offset->u < l->count->u) {
        clause(out, STR(" limit "), l->offset);
        clause(out, STR(","), l->count);
        return;
    }
    clause(out, STR(" limit "), l->count);
    clause(out, STR(" offset "), l->offset);
}

void sql_print_query(struct buf *out, const struct sql_query *q)
{
    with(out, q);
    body(out, q->body);
    if (q->order.n) {
        buf_add_lit(out, " order by ");
        print_orders(out, q->order);
    }
    limit(out, &q->limit);
    into(out, q->into);
    if (q->lock != SQL_LOCK_NONE)
        buf_add_str(out, q->lock == SQL_LOCK_UPDATE ? STR(" for update") : STR(" for share"));
    if (q->nowait)
        buf_add_lit(out, " nowait");
    if (q->skip_locked)
        buf_add_lit(out, " skip locked");
}
