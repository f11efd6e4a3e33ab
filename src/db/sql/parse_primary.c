/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Operands: literals, names, variables, parentheses, CASE; calls are in parse_call.c.
 */
#include "db/sql/parser.h"

/* ---- literals ---- */

struct sql_expr *ps_string_expr(struct sql_parser *p)
{
    struct sql_expr *e = ps_expr_new(p, SQL_STRING, p->tok.pos);

    if (p->tok.kind == T_STRING && str_lower_char(p->text.p[p->tok.pos]) == 'n')
        e->charset = STR("utf8mb3");
    e->s = ps_string(p);
    return ps_expr_done(p, e);
}

static struct sql_expr *literal(struct sql_parser *p)
{
    static const uint8_t kinds[] = {[T_HEX] = SQL_HEX,
        [T_BIT] = SQL_HEX,
        [T_INT] = SQL_INT,
        [T_DECIMAL] = SQL_DECIMAL,
        [T_DOUBLE] = SQL_DOUBLE};
    struct sql_expr *e = ps_expr_new(p, (enum sql_expr_kind)kinds[p->tok.kind], p->tok.pos);

    e->is_bit = p->tok.kind == T_BIT;
    e->u = p->tok.u;
    e->s = p->tok.s;
    ps_next(p);
    return ps_expr_done(p, e);
}

/* _utf8mb4'x', _binary x'00' */
static struct sql_expr *introduced(struct sql_parser *p)
{
    uint32_t pos = p->tok.pos;
    struct sql_expr *e;
    struct str charset;

    if (ps_peek(p, 1)->kind != T_STRING && ps_peek(p, 1)->kind != T_HEX &&
        ps_peek(p, 1)->kind != T_BIT)
        return ps_column(p);
    p->tok.kind = T_WORD;
    charset = ps_charset(p);
    e = ps_is(p, T_STRING) ? ps_string_expr(p) : literal(p);
    e->kind = SQL_STRING;
    e->is_bit = false;
    e->charset = charset;
    e->pos = pos;
    return e;
}

static struct sql_expr *temporal(struct sql_parser *p, enum db_base base)
{
    struct sql_expr *e = ps_expr_new(p, SQL_TEMPORAL, p->tok.pos);

    ps_next(p);
    e->base = base;
    e->s = ps_string(p);
    return ps_expr_done(p, e);
}

static struct sql_expr *constant(struct sql_parser *p, enum sql_expr_kind kind, uint64_t u)
{
    struct sql_expr *e = ps_expr_new(p, kind, p->tok.pos);

    e->u = u;
    ps_next(p);
    return ps_expr_done(p, e);
}

/* ---- variables ---- */

static struct sql_expr *user_var(struct sql_parser *p)
{
    struct sql_expr *e = ps_expr_new(p, SQL_USER_VAR, p->tok.pos);

    if (p->tok.s.len == 0)
        ps_fail(p);
    e->name = p->tok.s;
    ps_next(p);
    if (ps_accept(p, T_ASSIGN)) {
        e->kind = SQL_USER_ASSIGN;
        e->a = ps_expr(p);
    }
    return ps_expr_done(p, e);
}

/* @@name, @@scope.name, @@component.name */
static struct sql_expr *system_var(struct sql_parser *p)
{
    struct sql_expr *e = ps_expr_new(p, SQL_SYSTEM_VAR, p->tok.pos);

    ps_next(p);
    e->name = p->tok.s;
    if (p->tok.kind != T_NAME && p->tok.kind != T_WORD)
        ps_fail(p);
    ps_next(p);
    if (ps_accept(p, T_DOT)) {
        bool session = str_ieq(e->name, STR("session")) || str_ieq(e->name, STR("local"));

        if (session || str_ieq(e->name, STR("global")))
            e->scope = session ? SQL_SCOPE_SESSION : SQL_SCOPE_GLOBAL;
        else
            e->schema = e->name;
        e->name = ps_name(p);
    }
    return ps_expr_done(p, e);
}

/* ---- names ---- */

struct sql_expr *ps_column(struct sql_parser *p)
{
    struct sql_expr *e = ps_expr_new(p, SQL_COLUMN, p->tok.pos);

    if (ps_is(p, T_CHARSET)) { /* a name after all: with its _ */
        e->name = str_n(p->tok.s.p - 1, p->tok.s.len + 1);
        ps_next(p);
    } else {
        e->name = ps_name(p);
    }
    for (int i = 0; i < 2 && ps_is(p, T_DOT) && ps_token_is_name(ps_peek(p, 1)); i++) {
        ps_next(p);
        e->schema = e->table;
        e->table = e->name;
        e->name = ps_name(p);
    }
    return ps_expr_done(p, e);
}

static struct sql_expr *column_or_call(struct sql_parser *p)
{
    static const struct {
        enum sql_word word;
        enum db_base base;
    } temporals[] = {{W_DATE, DB_T_DATE}, {W_TIME, DB_T_TIME}, {W_TIMESTAMP, DB_T_DATETIME}};
    enum sql_token_kind next = ps_peek(p, 1)->kind;

    if (ps_is_word(p, W_NEXT) && ps_peek_word(p, 1, W_VALUE) && ps_peek_word(p, 2, W_FOR))
        ps_refuse(p, "NEXT VALUE FOR");
    if (next == T_OPEN)
        return ps_call(p);
    if (next == T_STRING && ps_is(p, T_WORD)) {
        for (size_t i = 0; i < ARRAY_LEN(temporals); i++) {
            if (p->tok.word == temporals[i].word)
                return temporal(p, temporals[i].base);
        }
    }
    if (next == T_DOT && ps_token_is_name(ps_peek(p, 2)) && ps_peek(p, 3)->kind == T_OPEN)
        return ps_call(p);
    return ps_column(p);
}

/* ---- parentheses ---- */

struct sql_expr *ps_subquery(struct sql_parser *p, struct sql_query *q, uint32_t pos, uint32_t old)
{
    struct sql_expr *e = ps_expr_new(p, SQL_SUBQUERY, pos);

    e->query = q;
    e->depth = p->deepest;
    p->deepest = MAX(old, p->deepest);
    return ps_expr_done(p, e);
}

static struct sql_expr *row(struct sql_parser *p, struct sql_expr *first, uint32_t pos)
{
    struct sql_expr *e = ps_expr_new(p, SQL_ROW, pos);
    struct ps_vec vec = {0};

    ps_add_expr(p, &vec, first);
    while (ps_accept(p, T_COMMA)) {
        struct sql_expr *next = ps_expr(p);

        ps_add_expr(p, &vec, next);
    }
    e->list = (struct sql_exprs){vec.v, vec.n};
    ps_expect(p, T_CLOSE);
    return ps_expr_done(p, e);
}

static struct sql_expr *parens(struct sql_parser *p)
{
    uint32_t pos = p->tok.pos, old = p->deepest;
    struct sql_expr *e;

    ps_next(p);
    if (ps_starts_query(p)) {
        struct sql_query *q;

        p->deepest = 0;
        q = ps_query(p);
        ps_expect(p, T_CLOSE);
        return ps_subquery(p, q, pos, old);
    }
    e = ps_expr(p);
    if (e->kind == SQL_SUBQUERY && ps_query_may_go_on(p)) {
        struct sql_query *q = ps_query_goes_on(p, e->query);

        ps_expect(p, T_CLOSE);
        return ps_subquery(p, q, pos, old);
    }
    if (ps_is(p, T_COMMA))
        return row(p, e, pos);
    ps_expect(p, T_CLOSE);
    e->is_paren = true;
    e->pos = pos;
    e->end = p->prev_end;
    return e;
}

static struct sql_expr *exists(struct sql_parser *p)
{
    struct sql_expr *e = ps_expr_new(p, SQL_EXISTS, p->tok.pos);
    uint32_t old = p->deepest;

    ps_next(p);
    p->deepest = 0;
    e->query = ps_query_in_parens(p);
    e->depth = p->deepest;
    p->deepest = MAX(old, p->deepest);
    return ps_expr_done(p, e);
}

static struct sql_expr *row_word(struct sql_parser *p)
{
    struct sql_expr *e;
    uint32_t pos = p->tok.pos;

    ps_next(p);
    ps_expect(p, T_OPEN);
    e = ps_expr(p);
    if (!ps_is(p, T_COMMA))
        ps_fail(p);
    return row(p, e, pos);
}

/* ODBC's {d '2024-01-31'}, {t ..}, {ts ..}, {fn f(x)} */
static struct sql_expr *braces(struct sql_parser *p)
{
    uint32_t pos = p->tok.pos;
    struct sql_expr *e;
    struct str name;

    ps_next(p);
    name = ps_name(p);
    e = ps_expr(p);
    ps_expect(p, T_BRACE_CLOSE);
    e->pos = pos;
    e->end = p->prev_end;
    if (e->kind != SQL_STRING)
        return e;
    if (str_ieq(name, STR("d")))
        e->base = DB_T_DATE;
    else if (str_ieq(name, STR("t")))
        e->base = DB_T_TIME;
    else if (str_ieq(name, STR("ts")))
        e->base = DB_T_DATETIME;
    else
        return e;
    e->kind = SQL_TEMPORAL;
    return e;
}

static struct sql_expr *case_when(struct sql_parser *p)
{
    struct sql_expr *e = ps_expr_new(p, SQL_CASE, p->tok.pos);
    struct ps_vec vec = {0};

    ps_next(p);
    if (!ps_is_word(p, W_WHEN))
        e->a = ps_expr(p);
    do {
        struct sql_expr *when, *then;

        ps_expect_word(p, W_WHEN);
        when = ps_expr(p);
        ps_expect_word(p, W_THEN);
        then = ps_expr(p);
        ps_add_expr(p, &vec, when);
        ps_add_expr(p, &vec, then);
    } while (ps_is_word(p, W_WHEN));
    e->list = (struct sql_exprs){vec.v, vec.n};
    if (ps_accept_word(p, W_ELSE))
        e->b = ps_expr(p);
    ps_expect_word(p, W_END);
    return ps_expr_done(p, e);
}

/* ---- all ---- */

static struct sql_expr *reserved(struct sql_parser *p)
{
    switch (p->tok.word) {
    case W_NULL:
        return constant(p, SQL_NULL, 0);
    case W_TRUE:
        return constant(p, SQL_BOOL, 1);
    case W_FALSE:
        return constant(p, SQL_BOOL, 0);
    case W_CASE:
        return case_when(p);
    case W_EXISTS:
        return exists(p);
    case W_ROW:
        return row_word(p);
    case W_MATCH:
        return ps_call_match(p);
    case W_INTERVAL:
        return ps_call_interval(p);
    case W_VALUES:
    case W_DEFAULT:
        return ps_call_values(p);
    case W_CURRENT_DATE:
    case W_CURRENT_TIME:
    case W_CURRENT_TIMESTAMP:
    case W_CURRENT_USER:
    case W_LOCALTIME:
    case W_LOCALTIMESTAMP:
    case W_UTC_DATE:
    case W_UTC_TIME:
    case W_UTC_TIMESTAMP:
        return ps_call_now(p);
    default:
        return ps_call(p);
    }
}

struct sql_expr *ps_operand(struct sql_parser *p)
{
    switch (p->tok.kind) {
    case T_STRING:
        return ps_string_expr(p);
    case T_HEX:
    case T_BIT:
    case T_INT:
    case T_DECIMAL:
    case T_DOUBLE:
        return literal(p);
    case T_CHARSET:
        return introduced(p);
    case T_PARAM:
        return constant(p, SQL_PARAM, p->n_params++);
    case T_USER_VAR:
        return user_var(p);
    case T_ATAT:
        return system_var(p);
    case T_OPEN:
        return parens(p);
    case T_BRACE_OPEN:
        return braces(p);
    case T_WORD:
        return p->tok.reserved ? reserved(p) : column_or_call(p);
    case T_NAME:
        return column_or_call(p);
    default:
        ps_fail(p);
        return ps_expr_new(p, SQL_NULL, p->tok.pos);
    }
}

/* What binds closer than any operator: COLLATE, and -> behind columns. */
static struct sql_expr *postfix(struct sql_parser *p, struct sql_expr *a)
{
    for (;;) {
        struct sql_expr *e;

        if (ps_accept_word(p, W_COLLATE)) {
            e = ps_expr_new(p, SQL_COLLATE, a->pos);
            e->name = ps_is_word(p, W_BINARY) ? ps_charset(p) : ps_name_or_string(p);
        } else if (ps_is(p, T_ARROW) || ps_is(p, T_ARROW_TEXT)) {
            e = ps_expr_new(p, SQL_ARROW, a->pos);
            e->is_all = ps_is(p, T_ARROW_TEXT);
            if (a->kind != SQL_COLUMN)
                ps_fail(p);
            ps_next(p);
            e->b = ps_string_expr(p);
        } else {
            return a;
        }
        e->a = a;
        a = ps_expr_done(p, e);
    }
}

struct sql_expr *ps_primary(struct sql_parser *p)
{
    struct sql_expr *e = p->seed;

    p->seed = NULL;
    return postfix(p, e ? e : ps_operand(p));
}
