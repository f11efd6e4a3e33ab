/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * What stands behind FROM: tables, joins, derived tables.
 */
#include "db/sql/parser.h"

static struct sql_table *factor(struct sql_parser *p);
static struct sql_table *joins(struct sql_parser *p, struct sql_table *left);

struct str ps_alias(struct sql_parser *p)
{
    if (ps_accept_word(p, W_AS) || ps_is_name(p))
        return ps_name(p);
    return STR_NONE;
}

/* PARTITION (p0, p1): we have none, so all rows are in it. */
void ps_skip_partition(struct sql_parser *p)
{
    if (ps_accept_word(p, W_PARTITION))
        (void)ps_name_list(p);
}

/* ---- one table ---- */

static bool at_hint(struct sql_parser *p)
{
    return (ps_is_word(p, W_USE) || ps_is_word(p, W_FORCE) || ps_is_word(p, W_IGNORE)) &&
           (ps_peek_word(p, 1, W_INDEX) || ps_peek_word(p, 1, W_KEY));
}

/* USE INDEX FOR ORDER BY (a, PRIMARY) */
static void skip_hints(struct sql_parser *p)
{
    while (at_hint(p)) {
        ps_next(p);
        ps_next(p);
        if (ps_accept_word(p, W_FOR) && !ps_accept_word(p, W_JOIN)) {
            if (!ps_accept_word(p, W_ORDER))
                ps_expect_word(p, W_GROUP);
            ps_expect_word(p, W_BY);
        }
        ps_expect(p, T_OPEN);
        while (!ps_is(p, T_CLOSE) && !p->failed) {
            if (!ps_accept_word(p, W_PRIMARY))
                (void)ps_name(p);
            if (!ps_accept(p, T_COMMA))
                break;
        }
        ps_expect(p, T_CLOSE);
        if (ps_is(p, T_COMMA) && (ps_peek_word(p, 1, W_USE) || ps_peek_word(p, 1, W_FORCE) ||
                                     ps_peek_word(p, 1, W_IGNORE)))
            ps_next(p);
    }
}

static struct sql_table *table_new(struct sql_parser *p, enum sql_table_kind kind)
{
    struct sql_table *t = ps_new(p, sizeof(*t));

    t->kind = kind;
    return t;
}

static struct sql_table *named(struct sql_parser *p)
{
    struct sql_table *t = table_new(p, SQL_TABLE_NAME);

    t->name = ps_table_name(p);
    ps_skip_partition(p);
    t->alias = ps_alias(p);
    skip_hints(p);
    return t;
}

static struct sql_table *derived(struct sql_parser *p, struct sql_query *q, bool lateral)
{
    struct sql_table *t = table_new(p, SQL_TABLE_DERIVED);

    t->query = q;
    t->lateral = lateral;
    t->alias = ps_alias(p);
    if (t->alias.len == 0)
        ps_error(p, DB_E_DERIVED_ALIAS, STR_NONE);
    if (ps_is(p, T_OPEN))
        t->columns = ps_name_list(p);
    return t;
}

/* At a ( that holds a query or tables: *query or the tables. ((SELECT 1) UNION ...) x shows only
 * behind the first inner ) that it is a query. */
static struct sql_table *parens(struct sql_parser *p, struct sql_query **query)
{
    struct sql_table *t = table_new(p, SQL_TABLE_NAME);

    ps_next(p);
    if (!ps_enter(p)) {
        ps_leave(p);
        return t;
    }
    if (ps_starts_query(p)) {
        *query = ps_query(p);
    } else if (ps_is(p, T_OPEN)) {
        t = parens(p, query);
        if (*query && ps_query_may_go_on(p))
            *query = ps_query_goes_on(p, *query);
        else if (*query && !ps_is(p, T_CLOSE)) {
            t = derived(p, *query, false);
            *query = NULL;
        }
        if (!*query)
            t = joins(p, t);
    } else {
        t = ps_tables(p);
    }
    if (!*query) {
        while (ps_is(p, T_COMMA) && !p->failed) {
            struct sql_table *j = table_new(p, SQL_TABLE_JOIN);

            ps_next(p);
            j->join = SQL_JOIN_COMMA;
            j->left = t;
            j->right = joins(p, factor(p));
            t = j;
        }
        t->is_paren = true;
    }
    ps_leave(p);
    ps_expect(p, T_CLOSE);
    return t;
}

static struct sql_table *odbc_join(struct sql_parser *p)
{
    struct sql_table *t;

    ps_next(p);
    (void)ps_name(p); /* OJ */
    t = ps_enter(p) ? joins(p, factor(p)) : table_new(p, SQL_TABLE_NAME);
    ps_leave(p);
    ps_expect(p, T_BRACE_CLOSE);
    return t;
}

static struct sql_table *factor(struct sql_parser *p)
{
    struct sql_query *query = NULL;
    struct sql_table *t;

    if (ps_is_word(p, W_JSON_TABLE) && ps_peek(p, 1)->kind == T_OPEN)
        ps_refuse(p, "JSON_TABLE");
    if (ps_is(p, T_BRACE_OPEN))
        return odbc_join(p);
    if (ps_accept_word(p, W_LATERAL))
        return derived(p, ps_query_in_parens(p), true);
    if (!ps_is(p, T_OPEN))
        return named(p);
    t = parens(p, &query);
    return query ? derived(p, query, false) : t;
}

/* ---- joins ---- */

static bool join_words(struct sql_parser *p, struct sql_table *j, bool *must)
{
    *must = false;
    if (ps_accept_word(p, W_STRAIGHT_JOIN)) {
        j->straight = true;
        return true;
    }
    if (ps_accept_word(p, W_NATURAL))
        j->natural = true;
    if (ps_is_word(p, W_LEFT) || ps_is_word(p, W_RIGHT)) {
        j->join = ps_is_word(p, W_LEFT) ? SQL_JOIN_LEFT : SQL_JOIN_RIGHT;
        ps_next(p);
        (void)ps_accept_word(p, W_OUTER);
        *must = !j->natural;
    } else if (!ps_is_word(p, W_JOIN) && !ps_accept_word(p, W_INNER) &&
               (j->natural || !ps_accept_word(p, W_CROSS))) {
        if (j->natural)
            ps_fail(p);
        return false;
    }
    ps_expect_word(p, W_JOIN);
    return true;
}

static bool at_join(const struct sql_parser *p)
{
    static const enum sql_word words[] = {
        W_JOIN, W_INNER, W_LEFT, W_RIGHT, W_CROSS, W_NATURAL, W_STRAIGHT_JOIN};

    for (size_t i = 0; p->tok.kind == T_WORD && i < ARRAY_LEN(words); i++) {
        if (p->tok.word == words[i])
            return true;
    }
    return false;
}

/* Also ends at the ON of INSERT ... SELECT ... ON DUPLICATE KEY UPDATE. */
static bool condition(struct sql_parser *p, struct sql_table *j)
{
    if (ps_is_word(p, W_ON) && !(ps_peek_word(p, 1, W_DUPLICATE) && ps_peek_word(p, 2, W_KEY))) {
        ps_next(p);
        j->on = ps_expr(p);
        return true;
    }
    if (!ps_accept_word(p, W_USING))
        return false;
    j->using_columns = ps_name_list(p);
    return true;
}

/* a JOIN (b JOIN c ON x), with no condition of its own, is (a JOIN b) JOIN c ON x: c's condition
 * may name a. */
static struct sql_table *graft(struct sql_table *j)
{
    struct sql_table *top = j->right, *at = top;

    if (top->kind != SQL_TABLE_JOIN || top->is_paren)
        return j;
    while (at->left->kind == SQL_TABLE_JOIN && !at->left->is_paren)
        at = at->left;
    j->right = at->left;
    at->left = j;
    return top;
}

static struct sql_table *joins(struct sql_parser *p, struct sql_table *left)
{
    uint32_t n = 0;

    while (at_join(p)) {
        struct sql_table *j = table_new(p, SQL_TABLE_JOIN);
        bool must;

        if (++n > PS_MAX_NESTING)
            ps_error(p, DB_E_UNKNOWN, STR("Too many tables in one join"));
        if (!join_words(p, j, &must))
            break;
        j->left = left;
        j->right = factor(p);
        left = j;
        if (j->natural || condition(p, j))
            continue;
        if (at_join(p)) {
            if (ps_enter(p))
                j->right = joins(p, j->right);
            ps_leave(p);
            if (condition(p, j))
                continue;
            left = graft(j);
        }
        if (must)
            ps_fail(p);
    }
    return left;
}

struct sql_table *ps_tables(struct sql_parser *p)
{
    struct sql_table *t = joins(p, factor(p));
    uint32_t n = 0;

    while (ps_accept(p, T_COMMA)) {
        struct sql_table *j = table_new(p, SQL_TABLE_JOIN);

        if (++n > PS_MAX_NESTING)
            ps_error(p, DB_E_UNKNOWN, STR("Too many tables in one join"));
        j->join = SQL_JOIN_COMMA;
        j->left = t;
        j->right = joins(p, factor(p));
        t = j;
    }
    return t;
}
