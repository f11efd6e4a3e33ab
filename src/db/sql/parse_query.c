/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * SELECT, UNION and kin, VALUES, TABLE, WITH.
 */
#include "db/sql/parser.h"

enum { MAX_UNION = 500 };

static struct sql_body *body(struct sql_parser *p, struct sql_query *q, struct sql_body *first);

/* ---- ORDER BY, LIMIT ---- */

struct sql_orders ps_order_list(struct sql_parser *p)
{
    struct ps_vec vec = {0};

    do {
        struct sql_order o = {.expr = ps_expr(p)};

        o.desc = ps_accept_word(p, W_DESC);
        if (!o.desc)
            (void)ps_accept_word(p, W_ASC);
        *(struct sql_order *)ps_add(p, &vec, sizeof(o)) = o;
    } while (ps_accept(p, T_COMMA));
    return (struct sql_orders){vec.v, vec.n};
}

struct sql_orders ps_order_by(struct sql_parser *p)
{
    if (!ps_accept_word(p, W_ORDER))
        return (struct sql_orders){0};
    ps_expect_word(p, W_BY);
    return ps_order_list(p);
}

static struct sql_expr *limit_number(struct sql_parser *p)
{
    if (!ps_is(p, T_INT) && !ps_is(p, T_PARAM))
        ps_fail(p);
    return ps_primary(p);
}

void ps_limit(struct sql_parser *p, struct sql_limit *limit, bool with_offset)
{
    if (!ps_accept_word(p, W_LIMIT))
        return;
    limit->count = limit_number(p);
    if (!with_offset)
        return;
    if (ps_accept(p, T_COMMA)) {
        limit->offset = limit->count;
        limit->count = limit_number(p);
    } else if (ps_accept_word(p, W_OFFSET)) {
        limit->offset = limit_number(p);
    }
}

/* ---- INTO, FOR UPDATE ---- */

static void into(struct sql_parser *p, struct sql_query *q)
{
    struct ps_vec vec = {0};

    if (!ps_is_word(p, W_INTO))
        return;
    if (q->into.n || p->queries > 1) /* only once, and not in subqueries */
        ps_fail(p);
    ps_next(p);
    if (ps_is_word(p, W_OUTFILE) || ps_is_word(p, W_DUMPFILE))
        ps_refuse(p, "SELECT ... INTO OUTFILE");
    do {
        *(struct str *)ps_add(p, &vec, sizeof(struct str)) = p->tok.s;
        ps_expect(p, T_USER_VAR);
    } while (ps_accept(p, T_COMMA));
    q->into = (struct sql_names){vec.v, vec.n};
}

static void lock_words(struct sql_parser *p, struct sql_query *q)
{
    if (ps_accept_word(p, W_OF)) {
        do {
            (void)ps_table_name(p);
        } while (ps_accept(p, T_COMMA));
    }
    if (ps_accept_word(p, W_NOWAIT)) {
        q->nowait = true;
    } else if (ps_accept_words(p, W_SKIP, W_LOCKED)) {
        q->skip_locked = true;
    } else if (ps_is_word(p, W_WAIT) && ps_peek(p, 1)->kind == T_INT) {
        ps_next(p);
        ps_next(p);
    }
}

static void locks(struct sql_parser *p, struct sql_query *q)
{
    for (;;) {
        if (ps_accept_word(p, W_FOR)) {
            if (ps_accept_word(p, W_UPDATE)) {
                q->lock = SQL_LOCK_UPDATE;
            } else {
                ps_expect_word(p, W_SHARE);
                q->lock = MAX(q->lock, SQL_LOCK_SHARE);
            }
        } else if (ps_accept_words(p, W_LOCK, W_IN)) {
            ps_expect_word(p, W_SHARE);
            ps_expect_word(p, W_MODE);
            if (q->lock == SQL_LOCK_NONE)
                q->lock = SQL_LOCK_SHARE;
        } else {
            return;
        }
        lock_words(p, q);
    }
}

/* What may follow the bodies of a query. */
static void tail(struct sql_parser *p, struct sql_query *q)
{
    q->order = ps_order_by(p);
    ps_limit(p, &q->limit, true);
    into(p, q);
    locks(p, q);
    into(p, q);
}

/* ---- SELECT ---- */

static struct sql_expr *star(struct sql_parser *p)
{
    struct sql_expr *e = ps_expr_new(p, SQL_STAR, p->tok.pos);

    if (!ps_is(p, T_STAR)) {
        e->table = ps_name(p);
        ps_expect(p, T_DOT);
    }
    if (!ps_is(p, T_STAR)) {
        e->schema = e->table;
        e->table = ps_name(p);
        ps_expect(p, T_DOT);
    }
    ps_expect(p, T_STAR);
    return ps_expr_done(p, e);
}

static bool at_star(struct sql_parser *p)
{
    if (ps_is(p, T_STAR))
        return true;
    if (!ps_is_name(p) || ps_peek(p, 1)->kind != T_DOT)
        return false;
    if (ps_peek(p, 2)->kind == T_STAR)
        return true;
    return ps_token_is_name(ps_peek(p, 2)) && ps_peek(p, 3)->kind == T_DOT &&
           ps_peek(p, 4)->kind == T_STAR;
}

static struct sql_item item(struct sql_parser *p)
{
    struct sql_item it = {0};

    if (at_star(p)) {
        it.expr = star(p);
        return it;
    }
    it.expr = ps_expr(p);
    if (ps_accept_word(p, W_AS) || ps_is_name(p) || ps_is(p, T_STRING)) {
        it.alias = ps_name_or_string(p);
        it.has_alias = true;
    }
    return it;
}

static void select_words(struct sql_parser *p, struct sql_body *b)
{
    static const enum sql_word nothing[] = {W_ALL, W_HIGH_PRIORITY, W_STRAIGHT_JOIN,
        W_SQL_SMALL_RESULT, W_SQL_BIG_RESULT, W_SQL_BUFFER_RESULT, W_SQL_NO_CACHE, W_SQL_CACHE};

    for (;;) {
        size_t i = 0;

        if (ps_accept_word(p, W_DISTINCT) || ps_accept_word(p, W_DISTINCTROW)) {
            b->distinct = true;
            continue;
        }
        if (ps_accept_word(p, W_SQL_CALC_FOUND_ROWS)) {
            b->calc_found_rows = true;
            continue;
        }
        while (i < ARRAY_LEN(nothing) && !ps_accept_word(p, nothing[i]))
            i++;
        if (i == ARRAY_LEN(nothing))
            return;
    }
}

static void windows(struct sql_parser *p, struct sql_body *b)
{
    struct ps_vec vec = {0};

    if (!ps_accept_word(p, W_WINDOW))
        return;
    do {
        struct sql_window *w = ps_new(p, sizeof(*w));

        w->name = ps_name(p);
        ps_expect_word(p, W_AS);
        ps_window_spec(p, w);
        *(struct sql_window **)ps_add(p, &vec, sizeof(struct sql_window *)) = w;
    } while (ps_accept(p, T_COMMA));
    b->windows = vec.v;
    b->n_windows = vec.n;
}

static void from(struct sql_parser *p, struct sql_body *b)
{
    if (!ps_accept_word(p, W_FROM))
        return;
    if (!ps_accept_word(p, W_DUAL))
        b->from = ps_tables(p);
}

static struct sql_body *select_body(struct sql_parser *p, struct sql_query *q)
{
    struct sql_body *b = ps_new(p, sizeof(*b));
    struct ps_vec vec = {0};

    ps_next(p);
    select_words(p, b);
    do {
        struct sql_item it = item(p);

        *(struct sql_item *)ps_add(p, &vec, sizeof(it)) = it;
    } while (ps_accept(p, T_COMMA));
    b->items = (struct sql_items){vec.v, vec.n};
    into(p, q);
    from(p, b);
    if (ps_accept_word(p, W_WHERE))
        b->where = ps_expr(p);
    if (ps_accept_word(p, W_GROUP)) {
        ps_expect_word(p, W_BY);
        b->group = ps_order_list(p);
        b->rollup = ps_accept_words(p, W_WITH, W_ROLLUP);
    }
    if (ps_accept_word(p, W_HAVING))
        b->having = ps_expr(p);
    windows(p, b);
    return b;
}

/* ---- VALUES, TABLE, ( ... ) ---- */

static struct sql_body *values_body(struct sql_parser *p)
{
    struct sql_body *b = ps_new(p, sizeof(*b));
    struct ps_vec vec = {0};

    ps_next(p);
    b->kind = SQL_BODY_VALUES;
    do {
        struct sql_exprs row;

        (void)ps_accept_word(p, W_ROW); /* MariaDB has it without */
        row = ps_args(p);
        *(struct sql_exprs *)ps_add(p, &vec, sizeof(row)) = row;
    } while (ps_accept(p, T_COMMA));
    b->rows = vec.v;
    b->n_rows = vec.n;
    return b;
}

static struct sql_body *table_body(struct sql_parser *p)
{
    struct sql_body *b = ps_new(p, sizeof(*b));

    ps_next(p);
    b->kind = SQL_BODY_TABLE;
    b->table = ps_table_name(p);
    return b;
}

static struct sql_body *query_body(struct sql_parser *p, struct sql_query *q)
{
    struct sql_body *b;

    /* (SELECT ...) with nothing of its own is what is in it, except before UNION, where its
     * ORDER BY and LIMIT stay inside. */
    b = ps_new(p, sizeof(*b));
    b->kind = SQL_BODY_QUERY;
    b->query = q;
    return b;
}

static struct sql_body *one_body(struct sql_parser *p, struct sql_query *q)
{
    if (ps_is_word(p, W_SELECT))
        return select_body(p, q);
    if (ps_is_word(p, W_VALUES))
        return values_body(p);
    if (ps_is_word(p, W_TABLE))
        return table_body(p);
    if (ps_is(p, T_OPEN))
        return query_body(p, ps_query_in_parens(p));
    ps_fail(p);
    return ps_new(p, sizeof(struct sql_body));
}

/* ---- UNION, EXCEPT, INTERSECT ---- */

static struct sql_body *set_body(struct sql_parser *p, enum sql_set_op op, struct sql_body *left)
{
    struct sql_body *b = ps_new(p, sizeof(*b));

    b->kind = SQL_BODY_SET;
    b->op = op;
    b->left = left;
    ps_next(p);
    b->all = ps_accept_word(p, W_ALL);
    if (!b->all)
        (void)ps_accept_word(p, W_DISTINCT);
    return b;
}

static struct sql_body *intersects(struct sql_parser *p, struct sql_query *q, struct sql_body *left)
{
    uint32_t n = 0;

    while (ps_is_word(p, W_INTERSECT)) {
        if (++n > MAX_UNION)
            ps_error(p, DB_E_UNKNOWN, STR("Too many queries in one INTERSECT"));
        left = set_body(p, SQL_INTERSECT, left);
        left->right = one_body(p, q);
    }
    return left;
}

static struct sql_body *body(struct sql_parser *p, struct sql_query *q, struct sql_body *first)
{
    struct sql_body *left = intersects(p, q, first);
    uint32_t n = 0;

    while (ps_is_word(p, W_UNION) || ps_is_word(p, W_EXCEPT)) {
        if (++n > MAX_UNION)
            ps_error(p, DB_E_UNKNOWN, STR("Too many queries in one UNION (more than 500)"));
        left = set_body(p, ps_is_word(p, W_UNION) ? SQL_UNION : SQL_EXCEPT, left);
        left->right = intersects(p, q, one_body(p, q));
    }
    return left;
}

/* ---- WITH ---- */

static void with_item(struct sql_parser *p, struct sql_cte *c)
{
    c->name = ps_name(p);
    if (ps_is(p, T_OPEN))
        c->columns = ps_name_list(p);
    ps_expect_word(p, W_AS);
    c->query = ps_query_in_parens(p);
}

void ps_with(struct sql_parser *p, bool *recursive, struct sql_cte **ctes, uint32_t *n)
{
    struct ps_vec vec = {0};

    if (!ps_accept_word(p, W_WITH))
        return;
    *recursive = ps_accept_word(p, W_RECURSIVE);
    do {
        struct sql_cte c = {0};

        with_item(p, &c);
        *(struct sql_cte *)ps_add(p, &vec, sizeof(c)) = c;
    } while (ps_accept(p, T_COMMA));
    *ctes = vec.v;
    *n = vec.n;
}

/* ---- queries ---- */

bool ps_starts_query(struct sql_parser *p)
{
    return ps_is_word(p, W_SELECT) || ps_is_word(p, W_WITH) || ps_is_word(p, W_TABLE) ||
           (ps_is_word(p, W_VALUES) && ps_peek_word(p, 1, W_ROW));
}

bool ps_query_may_go_on(const struct sql_parser *p)
{
    static const enum sql_word words[] = {
        W_UNION, W_EXCEPT, W_INTERSECT, W_ORDER, W_LIMIT, W_FOR, W_LOCK, W_INTO};

    for (size_t i = 0; p->tok.kind == T_WORD && i < ARRAY_LEN(words); i++) {
        if (p->tok.word == words[i])
            return true;
    }
    return false;
}

/* ( query ) alone is the query. */
static struct sql_query *unwrap(struct sql_query *q)
{
    bool bare = q->body->kind == SQL_BODY_QUERY && !q->n_ctes && !q->order.n && !q->limit.count &&
                q->lock == SQL_LOCK_NONE && !q->into.n;

    return bare ? q->body->query : q;
}

struct sql_query *ps_query(struct sql_parser *p)
{
    struct sql_query *q = ps_new(p, sizeof(*q));

    q->body = ps_new(p, sizeof(*q->body));
    p->queries++;
    if (ps_enter(p)) {
        ps_with(p, &q->recursive, &q->ctes, &q->n_ctes);
        q->body = body(p, q, one_body(p, q));
        tail(p, q);
    }
    ps_leave(p);
    p->queries--;
    return unwrap(q);
}

struct sql_query *ps_query_goes_on(struct sql_parser *p, struct sql_query *first)
{
    struct sql_query *q = ps_new(p, sizeof(*q));

    q->body = body(p, q, query_body(p, first));
    tail(p, q);
    return unwrap(q);
}

struct sql_query *ps_query_in_parens(struct sql_parser *p)
{
    struct sql_query *q;

    ps_expect(p, T_OPEN);
    q = ps_query(p);
    ps_expect(p, T_CLOSE);
    return q;
}

void ps_stmt_query(struct sql_parser *p, struct sql_stmt *s)
{
    s->kind = SQL_STMT_QUERY;
    s->query = ps_query(p);
}
