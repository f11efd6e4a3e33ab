/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Operators, by precedence climbing with MySQL's precedences. Chains of OR and of AND become
 * balanced trees, so that a thousand of them do not make a tree a thousand deep.
 */
#include "db/sql/parser.h"

enum prec {
    PREC_OR = 1,
    PREC_XOR,
    PREC_AND,
    PREC_NOT,
    PREC_COMPARE, /* = < IS ... */
    PREC_TEST,    /* IN BETWEEN LIKE REGEXP */
    PREC_BIT_OR,
    PREC_BIT_AND,
    PREC_SHIFT,
    PREC_ADD,
    PREC_MUL,
    PREC_BIT_XOR,
    PREC_CONCAT,
};

static struct sql_expr *climb(struct sql_parser *p, int min);

/* ---- nodes ---- */

struct sql_expr *ps_expr_new(struct sql_parser *p, enum sql_expr_kind kind, uint32_t pos)
{
    struct sql_expr *e = ps_new(p, sizeof(*e));

    e->kind = kind;
    e->pos = pos;
    return e;
}

static uint32_t depth_of(const struct sql_expr *e)
{
    return e ? e->depth : 0;
}

struct sql_expr *ps_expr_done(struct sql_parser *p, struct sql_expr *e)
{
    uint32_t depth = MAX(e->depth, MAX(depth_of(e->a), MAX(depth_of(e->b), depth_of(e->c))));

    for (uint32_t i = 0; i < e->list.n; i++)
        depth = MAX(depth, depth_of(e->list.v[i]));
    e->depth = depth + 1;
    e->end = p->prev_end;
    p->deepest = MAX(p->deepest, e->depth);
    if (e->depth > PS_MAX_DEPTH)
        ps_error(p, DB_E_UNKNOWN, STR("An expression has too many operators in one another"));
    return e;
}

static struct sql_expr *binary(
    struct sql_parser *p, enum sql_op op, struct sql_expr *a, struct sql_expr *b)
{
    struct sql_expr *e = ps_expr_new(p, SQL_BINARY, a->pos);

    e->op = op;
    e->a = a;
    e->b = b;
    return ps_expr_done(p, e);
}

/* ---- OR, XOR, AND ---- */

static struct sql_expr *balance(
    struct sql_parser *p, enum sql_op op, struct sql_expr **v, uint32_t n)
{
    struct sql_expr *e;

    if (n == 1)
        return v[0];
    e = binary(p, op, balance(p, op, v, (n + 1) / 2), balance(p, op, v + (n + 1) / 2, n / 2));
    e->end = v[n - 1]->end;
    return e;
}

static bool at_or(const struct sql_parser *p)
{
    return ps_is_word(p, W_OR) || (ps_is(p, T_OR_OR) && !(p->mode & DB_MODE_PIPES_AS_CONCAT));
}

static bool at_and(const struct sql_parser *p)
{
    return ps_is_word(p, W_AND) || ps_is(p, T_AND_AND);
}

static struct sql_expr *chain(struct sql_parser *p, enum sql_op op, struct sql_expr *first)
{
    bool is_or = op == SQL_OP_OR;
    struct ps_vec vec = {0};

    ps_add_expr(p, &vec, first);
    while (is_or ? at_or(p) : at_and(p)) {
        struct sql_expr *e;

        ps_next(p);
        e = climb(p, is_or ? PREC_XOR : PREC_NOT);
        ps_add_expr(p, &vec, e);
    }
    return balance(p, op, vec.v, vec.n);
}

/* ---- comparisons ---- */

static enum sql_op comparison(const struct sql_parser *p)
{
    static const uint8_t ops[] = {[T_EQ] = SQL_OP_EQ,
        [T_NE] = SQL_OP_NE,
        [T_LT] = SQL_OP_LT,
        [T_LE] = SQL_OP_LE,
        [T_GT] = SQL_OP_GT,
        [T_GE] = SQL_OP_GE,
        [T_NULL_SAFE] = SQL_OP_NULL_SAFE_EQ};

    return p->tok.kind < ARRAY_LEN(ops) ? (enum sql_op)ops[p->tok.kind] : SQL_OP_NONE;
}

static struct sql_expr *compare(struct sql_parser *p, enum sql_op op, struct sql_expr *a)
{
    bool all, any;
    struct sql_expr *e;
    uint32_t old;

    ps_next(p);
    all = ps_is_word(p, W_ALL);
    any = ps_is_word(p, W_ANY) || ps_is_word(p, W_SOME);
    if ((!all && !any) || ps_peek(p, 1)->kind != T_OPEN)
        return binary(p, op, a, climb(p, PREC_TEST));
    ps_next(p);
    e = ps_expr_new(p, SQL_QUANTIFIED, a->pos);
    e->op = op;
    e->a = a;
    e->is_all = all;
    old = p->deepest;
    p->deepest = 0;
    e->query = ps_query_in_parens(p);
    e->depth = p->deepest;
    p->deepest = MAX(old, p->deepest);
    return ps_expr_done(p, e);
}

static struct sql_expr *is_test(struct sql_parser *p, struct sql_expr *a)
{
    static const enum sql_word words[] = {W_NULL, W_TRUE, W_FALSE, W_UNKNOWN};
    struct sql_expr *e = ps_expr_new(p, SQL_IS, a->pos);
    uint32_t i = 0;

    ps_next(p);
    e->a = a;
    e->not = ps_accept_word(p, W_NOT);
    while (i < ARRAY_LEN(words) && !ps_accept_word(p, words[i]))
        i++;
    if (i == ARRAY_LEN(words))
        ps_fail(p);
    e->test = i < ARRAY_LEN(words) ? (enum sql_test)i : SQL_TEST_NULL;
    return ps_expr_done(p, e);
}

/* ---- IN, BETWEEN, LIKE, REGEXP, SOUNDS LIKE, MEMBER OF ---- */

/* (query), which an expression list of one subquery in parentheses also is. */
static void in_list(struct sql_parser *p, struct sql_expr *e)
{
    ps_expect(p, T_OPEN);
    e->list = ps_exprs(p);
    if (e->list.n == 1 && e->list.v[0]->kind == SQL_SUBQUERY && ps_query_may_go_on(p))
        e->query = ps_query_goes_on(p, e->list.v[0]->query);
    else if (e->list.n == 1 && e->list.v[0]->kind == SQL_SUBQUERY)
        e->query = e->list.v[0]->query;
    if (e->query) {
        e->kind = SQL_IN_QUERY;
        e->depth = MAX(e->list.v[0]->depth, p->deepest);
        e->list = (struct sql_exprs){0};
    }
    ps_expect(p, T_CLOSE);
}

static void in_query(struct sql_parser *p, struct sql_expr *e)
{
    uint32_t old = p->deepest;

    e->kind = SQL_IN_QUERY;
    p->deepest = 0;
    e->query = ps_query_in_parens(p);
    e->depth = p->deepest;
    p->deepest = MAX(old, p->deepest);
}

static bool starts_query_ahead(struct sql_parser *p)
{
    return ps_peek_word(p, 1, W_SELECT) || ps_peek_word(p, 1, W_WITH) ||
           ps_peek_word(p, 1, W_TABLE) ||
           (ps_peek_word(p, 1, W_VALUES) && ps_peek_word(p, 2, W_ROW));
}

static bool test_begins(struct sql_parser *p)
{
    static const enum sql_word words[] = {W_IN, W_BETWEEN, W_LIKE, W_REGEXP, W_RLIKE};

    if (!ps_is(p, T_WORD))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (p->tok.word == words[i] || (p->tok.word == W_NOT && ps_peek_word(p, 1, words[i])))
            return true;
    }
    return (p->tok.word == W_SOUNDS && ps_peek_word(p, 1, W_LIKE)) ||
           (p->tok.word == W_MEMBER && (ps_peek_word(p, 1, W_OF) || ps_peek(p, 1)->kind == T_OPEN));
}

static void like_test(struct sql_parser *p, struct sql_expr *e)
{
    e->kind = SQL_LIKE;
    e->b = climb(p, PREC_BIT_OR);
    if (ps_accept_word(p, W_ESCAPE))
        e->c = climb(p, PREC_BIT_OR);
}

static struct sql_expr *test(struct sql_parser *p, struct sql_expr *a)
{
    struct sql_expr *e = ps_expr_new(p, SQL_IN, a->pos);

    e->a = a;
    e->not = ps_accept_word(p, W_NOT);
    if (ps_accept_word(p, W_IN)) {
        if (starts_query_ahead(p))
            in_query(p, e);
        else
            in_list(p, e);
    } else if (ps_accept_word(p, W_BETWEEN)) {
        e->kind = SQL_BETWEEN;
        e->b = climb(p, PREC_BIT_OR);
        ps_expect_word(p, W_AND);
        e->c = climb(p, PREC_TEST);
    } else if (ps_accept_word(p, W_LIKE)) {
        like_test(p, e);
    } else if (ps_accept_word(p, W_REGEXP) || ps_accept_word(p, W_RLIKE)) {
        e->kind = SQL_REGEXP;
        e->b = climb(p, PREC_BIT_OR);
    } else if (ps_accept_words(p, W_SOUNDS, W_LIKE)) {
        e->kind = SQL_SOUNDS_LIKE;
        e->b = climb(p, PREC_BIT_OR);
    } else {
        e->kind = SQL_MEMBER_OF;
        ps_next(p);
        (void)ps_accept_word(p, W_OF); /* may be left out */
        ps_expect(p, T_OPEN);
        e->b = climb(p, PREC_OR);
        ps_expect(p, T_CLOSE);
    }
    return ps_expr_done(p, e);
}

/* ---- arithmetic ---- */

struct infix {
    int prec; /* 0: none */
    enum sql_op op;
};

static struct infix arithmetic(const struct sql_parser *p)
{
    static const struct infix table[] = {[T_PIPE] = {PREC_BIT_OR, SQL_OP_BIT_OR},
        [T_AMP] = {PREC_BIT_AND, SQL_OP_BIT_AND},
        [T_SHIFT_LEFT] = {PREC_SHIFT, SQL_OP_SHIFT_LEFT},
        [T_SHIFT_RIGHT] = {PREC_SHIFT, SQL_OP_SHIFT_RIGHT},
        [T_PLUS] = {PREC_ADD, SQL_OP_ADD},
        [T_MINUS] = {PREC_ADD, SQL_OP_SUB},
        [T_STAR] = {PREC_MUL, SQL_OP_MUL},
        [T_SLASH] = {PREC_MUL, SQL_OP_DIV},
        [T_PERCENT] = {PREC_MUL, SQL_OP_MOD},
        [T_CARET] = {PREC_BIT_XOR, SQL_OP_BIT_XOR}};

    if (ps_is_word(p, W_DIV))
        return (struct infix){PREC_MUL, SQL_OP_INT_DIV};
    if (ps_is_word(p, W_MOD))
        return (struct infix){PREC_MUL, SQL_OP_MOD};
    if (ps_is(p, T_OR_OR) && (p->mode & DB_MODE_PIPES_AS_CONCAT))
        return (struct infix){PREC_CONCAT, SQL_OP_CONCAT};
    return p->tok.kind < ARRAY_LEN(table) ? table[p->tok.kind] : (struct infix){0};
}

static struct sql_expr *operate(struct sql_parser *p, struct infix in, struct sql_expr *a)
{
    ps_next(p);
    if (in.prec == PREC_ADD && ps_accept_word(p, W_INTERVAL)) {
        struct sql_expr *e = ps_interval(p);

        if (e->kind == SQL_DATE_ADD) {
            e->pos = a->pos;
            e->not = in.op == SQL_OP_SUB;
            e->a = a;
            return ps_expr_done(p, e);
        }
        p->seed = e;
    }
    return binary(p, in.op, a, climb(p, in.prec + 1));
}

struct sql_expr *ps_unary(struct sql_parser *p)
{
    static const uint8_t ops[] = {[T_PLUS] = SQL_OP_PLUS,
        [T_MINUS] = SQL_OP_NEG,
        [T_TILDE] = SQL_OP_BIT_NOT,
        [T_BANG] = SQL_OP_NOT};
    enum sql_op op = p->tok.kind < ARRAY_LEN(ops) ? (enum sql_op)ops[p->tok.kind] : SQL_OP_NONE;
    struct sql_expr *e;

    if (ps_is_word(p, W_BINARY))
        op = SQL_OP_BINARY;
    else if (ps_is_word(p, W_NOT) && (p->mode & DB_MODE_HIGH_NOT_PRECEDENCE))
        op = SQL_OP_NOT;
    if (p->seed || op == SQL_OP_NONE)
        return ps_primary(p);
    e = ps_expr_new(p, SQL_UNARY, p->tok.pos);
    e->op = op;
    ps_next(p);
    if (ps_enter(p))
        e->a = ps_unary(p);
    else
        e->a = ps_expr_new(p, SQL_NULL, p->tok.pos);
    ps_leave(p);
    return ps_expr_done(p, e);
}

/* ---- climbing ---- */

static struct sql_expr *prefix(struct sql_parser *p, int min)
{
    struct sql_expr *e;

    if (p->seed || min > PREC_NOT || !ps_is_word(p, W_NOT) ||
        (p->mode & DB_MODE_HIGH_NOT_PRECEDENCE))
        return ps_unary(p);
    e = ps_expr_new(p, SQL_UNARY, p->tok.pos);
    e->op = SQL_OP_NOT;
    ps_next(p);
    e->a = climb(p, PREC_NOT);
    return ps_expr_done(p, e);
}

static struct sql_expr *climb(struct sql_parser *p, int min)
{
    struct sql_expr *e = NULL;

    if (ps_enter(p))
        e = prefix(p, min);
    else
        e = ps_expr_new(p, SQL_NULL, p->tok.pos);
    while (!p->failed) {
        struct infix in = arithmetic(p);

        if (in.prec) {
            if (in.prec < min)
                break;
            e = operate(p, in, e);
        } else if (min <= PREC_TEST && test_begins(p)) {
            e = test(p, e);
        } else if (min <= PREC_COMPARE && comparison(p)) {
            e = compare(p, comparison(p), e);
        } else if (min <= PREC_COMPARE && ps_is_word(p, W_IS)) {
            e = is_test(p, e);
        } else if (min <= PREC_AND && at_and(p)) {
            e = chain(p, SQL_OP_AND, e);
        } else if (min <= PREC_XOR && ps_is_word(p, W_XOR)) {
            ps_next(p);
            e = binary(p, SQL_OP_XOR, e, climb(p, PREC_AND));
        } else if (min <= PREC_OR && at_or(p)) {
            e = chain(p, SQL_OP_OR, e);
        } else {
            break;
        }
    }
    ps_leave(p);
    return e;
}

struct sql_expr *ps_expr(struct sql_parser *p)
{
    return climb(p, PREC_OR);
}

struct sql_expr *ps_bit_expr(struct sql_parser *p)
{
    return climb(p, PREC_BIT_OR);
}

struct sql_expr *ps_expr_or_default(struct sql_parser *p)
{
    const struct sql_token *next;
    struct sql_expr *e;

    if (!ps_is_word(p, W_DEFAULT))
        return ps_expr(p);
    next = ps_peek(p, 1);
    if (next->kind == T_OPEN)
        return ps_expr(p);
    e = ps_expr_new(p, SQL_DEFAULT, p->tok.pos);
    ps_next(p);
    return ps_expr_done(p, e);
}

struct sql_exprs ps_exprs(struct sql_parser *p)
{
    struct ps_vec vec = {0};

    do {
        struct sql_expr *e = ps_expr(p);

        ps_add_expr(p, &vec, e);
    } while (ps_accept(p, T_COMMA));
    return (struct sql_exprs){vec.v, vec.n};
}

struct sql_exprs ps_args(struct sql_parser *p)
{
    struct sql_exprs list = {0};

    ps_expect(p, T_OPEN);
    if (!ps_is(p, T_CLOSE))
        list = ps_exprs(p);
    ps_expect(p, T_CLOSE);
    return list;
}
