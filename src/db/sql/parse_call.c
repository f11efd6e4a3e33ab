/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Calls of functions, above all those whose arguments have a grammar of their own.
 */
#include "db/sql/parser.h"

/* ---- pieces ---- */

static struct sql_expr *call_new(struct sql_parser *p, uint32_t pos, struct str name)
{
    struct sql_expr *e = ps_expr_new(p, SQL_CALL, pos);

    e->name = name;
    return e;
}

static void set_args(
    struct sql_parser *p, struct sql_expr *e, struct sql_expr *a, struct sql_expr *b)
{
    e->list.v = ps_new(p, 2 * sizeof(struct sql_expr *));
    e->list.v[0] = a;
    e->list.v[1] = b;
    e->list.n = b ? 2 : 1;
}

static void append_arg(struct sql_parser *p, struct sql_exprs *list, struct sql_expr *e)
{
    struct sql_expr **v = ps_new(p, (list->n + 1) * sizeof(*v));

    if (list->n)
        memcpy(v, list->v, list->n * sizeof(struct sql_expr *));
    v[list->n++] = e;
    list->v = v;
}

static bool is_unit(const struct sql_token *t, enum sql_unit *out)
{
    static const struct str texts[] = {STR_NONE,
#define UNIT_TEXT(name, text) STR(text),
        SQL_UNIT_LIST(UNIT_TEXT)
#undef UNIT_TEXT
    };
    struct str s = t->s;

    if (t->kind != T_WORD || t->word == W_NO_WORD)
        return false;
    if (str_istarts(s, STR("SQL_TSI_")))
        s = str_sub(s, 8, s.len);
    if (str_ieq(s, STR("FRAC_SECOND")))
        s = STR("MICROSECOND");
    for (size_t i = 1; i < ARRAY_LEN(texts); i++) {
        if (str_ieq(s, texts[i])) {
            *out = (enum sql_unit)i;
            return true;
        }
    }
    return false;
}

enum sql_unit ps_unit(struct sql_parser *p)
{
    enum sql_unit unit = SQL_UNIT_NONE;

    if (!is_unit(&p->tok, &unit))
        ps_fail(p);
    ps_next(p);
    return unit;
}

/* ---- INTERVAL ---- */

struct sql_expr *ps_interval(struct sql_parser *p)
{
    struct sql_expr *e = ps_expr_new(p, SQL_DATE_ADD, p->tok.pos);
    const struct sql_token *next = ps_is(p, T_OPEN) ? ps_peek(p, 1) : NULL;
    bool query = next && next->kind == T_WORD && (next->word == W_SELECT || next->word == W_WITH);

    if (next && !query) {
        uint32_t pos = p->tok.pos;
        struct sql_exprs list = ps_args(p);

        if (list.n >= 2) {
            e->kind = SQL_CALL;
            e->name = STR("INTERVAL");
            e->list = list;
            return ps_expr_done(p, e);
        }
        if (list.n == 0)
            ps_fail(p);
        else {
            p->seed = list.v[0];
            p->seed->is_paren = true;
            p->seed->pos = pos;
            p->seed->end = p->prev_end;
        }
    }
    e->b = ps_expr(p);
    e->unit = ps_unit(p);
    return ps_expr_done(p, e);
}

struct sql_expr *ps_call_interval(struct sql_parser *p)
{
    uint32_t pos = p->tok.pos;
    struct sql_expr *e;

    ps_next(p);
    e = ps_interval(p);
    e->pos = pos;
    if (e->kind != SQL_DATE_ADD)
        return e;
    ps_expect(p, T_PLUS);
    e->a = ps_enter(p) ? ps_unary(p) : ps_expr_new(p, SQL_NULL, pos);
    ps_leave(p);
    return ps_expr_done(p, e);
}

/* DATE_ADD(a, INTERVAL b unit), ADDDATE(a, days) too */
static void date_add(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    bool days = w == W_ADDDATE || w == W_SUBDATE;

    e->kind = SQL_DATE_ADD;
    e->not = w == W_DATE_SUB || w == W_SUBDATE;
    e->name = STR_NONE;
    e->a = ps_expr(p);
    ps_expect(p, T_COMMA);
    if (ps_accept_word(p, W_INTERVAL)) {
        struct sql_expr *i = ps_interval(p);

        if (i->kind == SQL_DATE_ADD) {
            e->b = i->b;
            e->unit = i->unit;
            return;
        }
        p->seed = i;
    }
    if (!days)
        ps_fail(p);
    e->b = ps_expr(p);
    e->unit = SQL_UNIT_DAY;
}

/* ---- arguments with words in them; each at what follows the ( , and leaves the ) ---- */

static void cast(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    e->kind = SQL_CAST;
    e->name = STR_NONE;
    e->type = ps_new(p, sizeof(*e->type));
    e->a = ps_expr(p);
    ps_expect_word(p, W_AS);
    ps_cast_type(p, e->type);
}

static void convert(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    e->name = STR_NONE;
    e->a = ps_expr(p);
    if (ps_accept_word(p, W_USING)) {
        e->kind = SQL_CONVERT_USING;
        if (ps_accept_word(p, W_DEFAULT))
            e->charset = STR("default");
        else
            e->charset = ps_charset(p);
        return;
    }
    ps_expect(p, T_COMMA);
    e->kind = SQL_CAST;
    e->type = ps_new(p, sizeof(*e->type));
    ps_cast_type(p, e->type);
}

static void substring(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    struct sql_expr *a = ps_expr(p), *b;

    if (ps_accept_word(p, W_FROM)) {
        b = ps_expr(p);
        set_args(p, e, a, b);
        if (ps_accept_word(p, W_FOR))
            append_arg(p, &e->list, ps_expr(p));
        return;
    }
    ps_expect(p, T_COMMA);
    b = ps_expr(p);
    set_args(p, e, a, b);
    if (ps_accept(p, T_COMMA))
        append_arg(p, &e->list, ps_expr(p));
}

static void position(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    struct sql_expr *a = ps_bit_expr(p);

    ps_expect_word(p, W_IN);
    set_args(p, e, a, ps_expr(p));
    e->name = STR("LOCATE");
}

static void trim(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    bool sided = true;

    e->kind = SQL_TRIM;
    e->name = STR_NONE;
    if (ps_accept_word(p, W_LEADING))
        e->side = SQL_SIDE_LEADING;
    else if (ps_accept_word(p, W_TRAILING))
        e->side = SQL_SIDE_TRAILING;
    else
        sided = ps_accept_word(p, W_BOTH);
    if (sided && ps_accept_word(p, W_FROM)) {
        e->a = ps_expr(p);
        return;
    }
    e->a = ps_expr(p);
    if (sided && !ps_is_word(p, W_FROM))
        ps_fail(p);
    if (ps_accept_word(p, W_FROM)) {
        e->b = e->a;
        e->a = ps_expr(p);
    }
}

static void extract(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    e->kind = SQL_EXTRACT;
    e->name = STR_NONE;
    e->unit = ps_unit(p);
    ps_expect_word(p, W_FROM);
    e->a = ps_expr(p);
}

static void char_call(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    e->list = ps_exprs(p);
    if (ps_accept_word(p, W_USING))
        e->charset = ps_charset(p);
}

static void group_concat(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    e->kind = SQL_GROUP_CONCAT;
    e->name = STR_NONE;
    e->is_distinct = ps_accept_word(p, W_DISTINCT);
    e->list = ps_exprs(p);
    e->order = ps_order_by(p);
    e->s = STR(",");
    if (ps_accept_word(p, W_SEPARATOR)) {
        e->s = p->tok.s;
        if (!ps_is(p, T_STRING) && !ps_is(p, T_HEX) && !ps_is(p, T_BIT))
            ps_fail(p);
        ps_next(p);
    }
}

static void aggregate(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    if (ps_accept_word(p, W_DISTINCT))
        e->is_distinct = true;
    else
        (void)ps_accept_word(p, W_ALL); /* what is meant without it too */
    if (w == W_COUNT && !e->is_distinct && ps_is(p, T_STAR)) {
        struct sql_expr *star = ps_expr_new(p, SQL_STAR, p->tok.pos);

        ps_next(p);
        set_args(p, e, ps_expr_done(p, star), NULL);
        return;
    }
    e->list = ps_exprs(p);
    if (w == W_JSON_OBJECTAGG ? e->list.n != 2 : e->list.n > 1 && !(w == W_COUNT && e->is_distinct))
        ps_fail(p);
}

static void timestamp_add(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    struct sql_expr *a;

    e->unit = ps_unit(p);
    ps_expect(p, T_COMMA);
    a = ps_expr(p);
    ps_expect(p, T_COMMA);
    set_args(p, e, a, ps_expr(p));
}

static void get_format(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    struct sql_expr *kind = ps_expr_new(p, SQL_STRING, p->tok.pos);

    if (!ps_is_word(p, W_DATE) && !ps_is_word(p, W_TIME) && !ps_is_word(p, W_DATETIME) &&
        !ps_is_word(p, W_TIMESTAMP))
        ps_fail(p);
    kind->s = ps_upper(p, p->tok.s);
    ps_next(p);
    kind = ps_expr_done(p, kind);
    ps_expect(p, T_COMMA);
    set_args(p, e, kind, ps_expr(p));
}

static void weight_string(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    set_args(p, e, ps_expr(p), NULL);
    if (ps_accept_word(p, W_AS)) {
        e->type = ps_new(p, sizeof(*e->type));
        ps_cast_type(p, e->type);
    }
}

/* NULL | ERROR | DEFAULT x  ON EMPTY | ERROR: read, and what is not NULL refused. */
static void json_on(struct sql_parser *p)
{
    while (ps_is_word(p, W_NULL) || ps_is_word(p, W_ERROR) || ps_is_word(p, W_DEFAULT)) {
        if (!ps_is_word(p, W_NULL))
            ps_refuse(p, "JSON_VALUE ... ON EMPTY");
        ps_next(p);
        ps_expect_word(p, W_ON);
        if (!ps_accept_word(p, W_EMPTY))
            ps_expect_word(p, W_ERROR);
    }
}

static void json_value(struct sql_parser *p, struct sql_expr *e, enum sql_word w)
{
    struct sql_expr *a = ps_expr(p);

    ps_expect(p, T_COMMA);
    set_args(p, e, a, ps_expr(p));
    if (ps_accept_word(p, W_RETURNING)) {
        e->type = ps_new(p, sizeof(*e->type));
        ps_cast_type(p, e->type);
    }
    json_on(p);
}

typedef void args_cb(struct sql_parser *p, struct sql_expr *e, enum sql_word w);

static args_cb *special(enum sql_word w)
{
    static args_cb *const table[W__COUNT] = {
        [W_CAST] = cast,
        [W_CONVERT] = convert,
        [W_SUBSTRING] = substring,
        [W_SUBSTR] = substring,
        [W_MID] = substring,
        [W_POSITION] = position,
        [W_TRIM] = trim,
        [W_EXTRACT] = extract,
        [W_CHAR] = char_call,
        [W_GROUP_CONCAT] = group_concat,
        [W_DATE_ADD] = date_add,
        [W_DATE_SUB] = date_add,
        [W_ADDDATE] = date_add,
        [W_SUBDATE] = date_add,
        [W_TIMESTAMPADD] = timestamp_add,
        [W_TIMESTAMPDIFF] = timestamp_add,
        [W_GET_FORMAT] = get_format,
        [W_WEIGHT_STRING] = weight_string,
        [W_JSON_VALUE] = json_value,
        [W_COUNT] = aggregate,
        [W_SUM] = aggregate,
        [W_AVG] = aggregate,
        [W_MIN] = aggregate,
        [W_MAX] = aggregate,
        [W_BIT_AND] = aggregate,
        [W_BIT_OR] = aggregate,
        [W_BIT_XOR] = aggregate,
        [W_STD] = aggregate,
        [W_STDDEV] = aggregate,
        [W_STDDEV_POP] = aggregate,
        [W_STDDEV_SAMP] = aggregate,
        [W_VARIANCE] = aggregate,
        [W_VAR_POP] = aggregate,
        [W_VAR_SAMP] = aggregate,
        [W_JSON_ARRAYAGG] = aggregate,
        [W_JSON_OBJECTAGG] = aggregate,
    };

    return table[w];
}

/* ---- calls ---- */

static bool may_be_called(const struct sql_token *t)
{
    static const enum sql_word words[] = {W_CHAR, W_CONVERT, W_DATABASE, W_IF, W_INSERT, W_LEFT,
        W_MOD, W_REPEAT, W_REPLACE, W_RIGHT, W_SCHEMA};

    if (t->kind == T_NAME || !t->reserved || sql_word_class(t->word) == SQL_WORD_F)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (t->word == words[i])
            return true;
    }
    return false;
}

static void no_such_builtin(struct sql_parser *p, struct str name)
{
    ps_error(p, DB_E_FUNC_INEXISTENT, name);
}

struct sql_expr *ps_call(struct sql_parser *p)
{
    struct sql_token name = p->tok;
    struct sql_expr *e = call_new(p, name.pos, name.s);
    bool word = name.kind == T_WORD && name.word != W_NO_WORD;
    bool spaced = word && sql_word_class(name.word) == SQL_WORD_F && !name.calls;
    args_cb *args = word && !spaced ? special(name.word) : NULL;

    if (!may_be_called(&name) || (name.reserved && ps_peek(p, 1)->kind != T_OPEN)) {
        ps_fail(p);
        return e;
    }
    ps_next(p);
    if (ps_accept(p, T_DOT)) {
        e->schema = e->name;
        e->name = ps_name(p);
        args = NULL;
    }
    if (args) {
        ps_expect(p, T_OPEN);
        args(p, e, name.word);
        ps_expect(p, T_CLOSE);
    } else {
        e->list = ps_args(p);
    }
    if (spaced)
        no_such_builtin(p, name.s);
    ps_over(p, e);
    return ps_expr_done(p, e);
}

/* With and without parentheses; fractional digits of a second may be in them. */
struct sql_expr *ps_call_now(struct sql_parser *p)
{
    struct sql_expr *e = call_new(p, p->tok.pos, p->tok.s);
    bool digits = !ps_is_word(p, W_CURRENT_USER) && !ps_is_word(p, W_CURRENT_DATE) &&
                  !ps_is_word(p, W_UTC_DATE);

    ps_next(p);
    if (ps_accept(p, T_OPEN)) {
        if (digits && ps_is(p, T_INT))
            set_args(p, e, ps_primary(p), NULL);
        ps_expect(p, T_CLOSE);
    }
    return ps_expr_done(p, e);
}

/* VALUES(column), DEFAULT(column) */
struct sql_expr *ps_call_values(struct sql_parser *p)
{
    struct sql_expr *e =
        ps_expr_new(p, ps_is_word(p, W_VALUES) ? SQL_VALUES_OF : SQL_DEFAULT, p->tok.pos);

    ps_next(p);
    ps_expect(p, T_OPEN);
    e->a = ps_column(p);
    ps_expect(p, T_CLOSE);
    return ps_expr_done(p, e);
}

static enum sql_match match_mode(struct sql_parser *p)
{
    if (ps_accept_word(p, W_IN)) {
        if (ps_accept_word(p, W_BOOLEAN)) {
            ps_expect_word(p, W_MODE);
            return SQL_MATCH_BOOLEAN;
        }
        ps_expect_word(p, W_NATURAL);
        ps_expect_word(p, W_LANGUAGE);
        ps_expect_word(p, W_MODE);
    }
    if (!ps_accept_word(p, W_WITH))
        return SQL_MATCH_NATURAL;
    ps_expect_word(p, W_QUERY);
    ps_expect_word(p, W_EXPANSION);
    return SQL_MATCH_EXPANSION;
}

struct sql_expr *ps_call_match(struct sql_parser *p)
{
    struct sql_expr *e = ps_expr_new(p, SQL_MATCH, p->tok.pos);
    struct ps_vec vec = {0};
    bool open;

    ps_next(p);
    open = ps_accept(p, T_OPEN);
    do {
        struct sql_expr *column = ps_column(p);

        ps_add_expr(p, &vec, column);
    } while (ps_accept(p, T_COMMA));
    e->list = (struct sql_exprs){vec.v, vec.n};
    if (open)
        ps_expect(p, T_CLOSE);
    ps_expect_word(p, W_AGAINST);
    ps_expect(p, T_OPEN);
    e->a = ps_bit_expr(p);
    e->match = match_mode(p);
    ps_expect(p, T_CLOSE);
    return ps_expr_done(p, e);
}
