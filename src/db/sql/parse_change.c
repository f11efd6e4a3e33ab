/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * INSERT, REPLACE, UPDATE, DELETE.
 */
#include "db/sql/parser.h"

/* ---- pieces ---- */

/* column = value, ... */
static struct sql_assigns assigns(struct sql_parser *p)
{
    struct ps_vec vec = {0};

    do {
        struct sql_assign a = {.column = ps_column(p)};

        if (!ps_accept(p, T_ASSIGN))
            ps_expect(p, T_EQ);
        a.value = ps_expr_or_default(p);
        *(struct sql_assign *)ps_add(p, &vec, sizeof(a)) = a;
    } while (ps_accept(p, T_COMMA));
    return (struct sql_assigns){vec.v, vec.n};
}

static void refuse_returning(struct sql_parser *p)
{
    if (ps_is_word(p, W_RETURNING))
        ps_refuse(p, "RETURNING");
}

static void priority(struct sql_parser *p)
{
    while (ps_accept_word(p, W_LOW_PRIORITY) || ps_accept_word(p, W_DELAYED) ||
           ps_accept_word(p, W_HIGH_PRIORITY) || ps_accept_word(p, W_QUICK))
        continue;
}

/* ---- INSERT, REPLACE ---- */

static struct sql_exprs one_row(struct sql_parser *p)
{
    struct ps_vec vec = {0};

    ps_expect(p, T_OPEN);
    if (!ps_is(p, T_CLOSE)) {
        do {
            struct sql_expr *e = ps_expr_or_default(p);

            ps_add_expr(p, &vec, e);
        } while (ps_accept(p, T_COMMA));
    }
    ps_expect(p, T_CLOSE);
    return (struct sql_exprs){vec.v, vec.n};
}

static void rows(struct sql_parser *p, struct sql_insert *i)
{
    struct ps_vec vec = {0};

    ps_next(p);
    do {
        struct sql_exprs row = one_row(p);

        *(struct sql_exprs *)ps_add(p, &vec, sizeof(row)) = row;
    } while (ps_accept(p, T_COMMA));
    i->rows = vec.v;
    i->n_rows = vec.n;
}

/* SET a = 1, b = 2: columns and one row */
static void set_row(struct sql_parser *p, struct sql_insert *i)
{
    struct sql_assigns set;

    ps_next(p);
    set = assigns(p);
    i->has_columns = true;
    i->columns.v = ps_new(p, set.n * sizeof(struct str));
    i->columns.n = set.n;
    i->rows = ps_new(p, sizeof(struct sql_exprs));
    i->n_rows = 1;
    i->rows->v = ps_new(p, set.n * sizeof(struct sql_expr *));
    i->rows->n = set.n;
    for (uint32_t k = 0; k < set.n; k++) {
        i->columns.v[k] = set.v[k].column->name;
        i->rows->v[k] = set.v[k].value;
    }
}

/* (a, t.b): what is before a point is the table again */
static void columns(struct sql_parser *p, struct sql_insert *i)
{
    struct ps_vec vec = {0};

    ps_expect(p, T_OPEN);
    i->has_columns = true;
    while (!ps_is(p, T_CLOSE) && !p->failed) {
        struct sql_expr *e = ps_column(p);

        *(struct str *)ps_add(p, &vec, sizeof(struct str)) = e->name;
        if (!ps_accept(p, T_COMMA))
            break;
        if (ps_is(p, T_CLOSE))
            ps_fail(p);
    }
    ps_expect(p, T_CLOSE);
    i->columns = (struct sql_names){vec.v, vec.n};
}

static bool query_ahead(struct sql_parser *p)
{
    const struct sql_token *t = ps_peek(p, 1);

    return t->kind == T_OPEN ||
           (t->kind == T_WORD && (t->word == W_SELECT || t->word == W_WITH || t->word == W_TABLE));
}

static void row_alias(struct sql_parser *p, struct sql_insert *i)
{
    if (!ps_accept_word(p, W_AS))
        return;
    i->row_alias = ps_name(p);
    if (ps_is(p, T_OPEN))
        i->column_aliases = ps_name_list(p);
}

static void values(struct sql_parser *p, struct sql_insert *i)
{
    if (ps_is_word(p, W_SET)) {
        set_row(p, i);
        row_alias(p, i);
        return;
    }
    if (ps_is(p, T_OPEN) && !query_ahead(p))
        columns(p, i);
    if (ps_is_word(p, W_VALUE) || (ps_is_word(p, W_VALUES) && !ps_peek_word(p, 1, W_ROW))) {
        rows(p, i);
        row_alias(p, i);
        return;
    }
    if (!ps_is(p, T_OPEN) && !ps_starts_query(p))
        ps_fail(p);
    i->query = ps_query(p);
}

void ps_insert(struct sql_parser *p, struct sql_stmt *s)
{
    struct sql_insert *i = ps_new(p, sizeof(*i));

    s->kind = SQL_STMT_INSERT;
    s->insert = i;
    i->replace = ps_is_word(p, W_REPLACE);
    ps_next(p);
    priority(p);
    i->ignore = !i->replace && ps_accept_word(p, W_IGNORE);
    (void)ps_accept_word(p, W_INTO); /* may be left out */
    i->table = ps_table_name(p);
    ps_skip_partition(p);
    values(p, i);
    if (!i->replace && ps_accept_words(p, W_ON, W_DUPLICATE)) {
        ps_expect_word(p, W_KEY);
        ps_expect_word(p, W_UPDATE);
        i->on_duplicate = assigns(p);
    }
    refuse_returning(p);
}

/* ---- UPDATE ---- */

void ps_update(struct sql_parser *p, struct sql_stmt *s, const struct sql_query *with)
{
    struct sql_update *u = ps_new(p, sizeof(*u));

    s->kind = SQL_STMT_UPDATE;
    s->update = u;
    if (with) {
        u->recursive = with->recursive;
        u->ctes = with->ctes;
        u->n_ctes = with->n_ctes;
    }
    ps_next(p);
    priority(p);
    u->ignore = ps_accept_word(p, W_IGNORE);
    u->table = ps_tables(p);
    ps_expect_word(p, W_SET);
    u->set = assigns(p);
    if (ps_accept_word(p, W_WHERE))
        u->where = ps_expr(p);
    u->order = ps_order_by(p);
    ps_limit(p, &u->limit, false);
}

/* ---- DELETE ---- */

/* a, db.b.*, ... */
static void targets(struct sql_parser *p, struct sql_delete *d)
{
    struct ps_vec vec = {0};

    do {
        struct sql_name n = {.name = ps_name(p)};

        while (ps_accept(p, T_DOT)) {
            if (ps_accept(p, T_STAR))
                break;
            n.schema = n.name;
            n.name = ps_name(p);
        }
        *(struct sql_name *)ps_add(p, &vec, sizeof(n)) = n;
    } while (ps_accept(p, T_COMMA));
    d->targets = vec.v;
    d->n_targets = vec.n;
}

/* DELETE FROM t AS x WHERE ..., or DELETE FROM a, b USING ...; at what follows FROM. */
static void delete_from(struct sql_parser *p, struct sql_delete *d)
{
    targets(p, d);
    if (d->n_targets == 1) {
        struct sql_table *t = ps_new(p, sizeof(*t));

        t->kind = SQL_TABLE_NAME;
        t->name = d->targets[0];
        ps_skip_partition(p);
        t->alias = ps_is_word(p, W_RETURNING) ? STR_NONE : ps_alias(p);
        d->from = t;
    }
    if (d->from && d->from->alias.len) {
        d->n_targets = 0;
        d->targets = NULL;
    } else if (ps_accept_word(p, W_USING)) {
        d->from = ps_tables(p);
    } else if (d->n_targets == 1) {
        d->n_targets = 0;
        d->targets = NULL;
    } else {
        ps_fail(p);
    }
}

void ps_delete(struct sql_parser *p, struct sql_stmt *s, const struct sql_query *with)
{
    struct sql_delete *d = ps_new(p, sizeof(*d));

    s->kind = SQL_STMT_DELETE;
    s->delete = d;
    if (with) {
        d->recursive = with->recursive;
        d->ctes = with->ctes;
        d->n_ctes = with->n_ctes;
    }
    ps_next(p);
    priority(p);
    d->ignore = ps_accept_word(p, W_IGNORE);
    if (ps_accept_word(p, W_FROM)) {
        delete_from(p, d);
    } else {
        targets(p, d);
        ps_expect_word(p, W_FROM);
        d->from = ps_tables(p);
    }
    if (ps_accept_word(p, W_WHERE))
        d->where = ps_expr(p);
    if (d->n_targets == 0) {
        d->order = ps_order_by(p);
        ps_limit(p, &d->limit, false);
    }
    refuse_returning(p);
}

/* ---- WITH ... SELECT, UPDATE, DELETE ---- */

void ps_with_stmt(struct sql_parser *p, struct sql_stmt *s)
{
    struct sql_query with = {0}, *q;

    ps_with(p, &with.recursive, &with.ctes, &with.n_ctes);
    if (ps_is_word(p, W_UPDATE)) {
        ps_update(p, s, &with);
    } else if (ps_is_word(p, W_DELETE)) {
        ps_delete(p, s, &with);
    } else {
        s->kind = SQL_STMT_QUERY;
        q = ps_query(p);
        if (q->n_ctes) { /* WITH a ... (WITH b ...): the inner one is a query of its own */
            struct sql_body *b = ps_new(p, sizeof(*b));

            b->kind = SQL_BODY_QUERY;
            b->query = q;
            q = ps_new(p, sizeof(*q));
            q->body = b;
        }
        q->recursive = with.recursive;
        q->ctes = with.ctes;
        q->n_ctes = with.n_ctes;
        s->query = q;
    }
}
