/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Expressions as text. Whatever has an operator stands in parentheses of its own, as MySQL writes
 * it, so that precedences need no thought.
 */
#include "db/sql/print.h"

#include "db/sql/print_parts.h"

/* ---- names and strings ---- */

void sql_print_name(struct buf *out, struct str name)
{
    buf_add_char(out, '`');
    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] == '`')
            buf_add_char(out, '`');
        buf_add_char(out, name.p[i]);
    }
    buf_add_char(out, '`');
}

void sql_print_string(struct buf *out, struct str s)
{
    buf_add_char(out, '\'');
    for (size_t i = 0; i < s.len; i++) {
        switch (s.p[i]) {
        case '\0':
            buf_add_lit(out, "\\0");
            break;
        case '\n':
            buf_add_lit(out, "\\n");
            break;
        case '\r':
            buf_add_lit(out, "\\r");
            break;
        case '\\':
            buf_add_lit(out, "\\\\");
            break;
        case '\'':
            buf_add_lit(out, "''");
            break;
        default:
            buf_add_char(out, s.p[i]);
        }
    }
    buf_add_char(out, '\'');
}

void print_word(struct buf *out, struct str s)
{
    if (s.len == 0 || memchr(s.p, '\0', s.len) || !str_is_utf8(s))
        sql_print_string(out, s);
    else
        sql_print_name(out, s);
}

void print_lower(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        buf_add_char(out, str_lower_char(s.p[i]));
}

void print_qualified(struct buf *out, struct str schema, struct str name)
{
    if (schema.len) {
        sql_print_name(out, schema);
        buf_add_char(out, '.');
    }
    sql_print_name(out, name);
}

void print_names(struct buf *out, struct sql_names names)
{
    for (uint32_t i = 0; i < names.n; i++) {
        if (i)
            buf_add_char(out, ',');
        sql_print_name(out, names.v[i]);
    }
}

void print_list(struct buf *out, struct sql_exprs list)
{
    for (uint32_t i = 0; i < list.n; i++) {
        if (i)
            buf_add_char(out, ',');
        sql_print_expr(out, list.v[i]);
    }
}

void print_orders(struct buf *out, struct sql_orders o)
{
    for (uint32_t i = 0; i < o.n; i++) {
        if (i)
            buf_add_char(out, ',');
        sql_print_expr(out, o.v[i].expr);
        if (o.v[i].desc)
            buf_add_lit(out, " desc");
    }
}

/* ---- literals, columns, variables ---- */

static void hex(struct buf *out, struct str s)
{
    static const char digits[] = "0123456789abcdef";

    buf_add_lit(out, "x'");
    for (size_t i = 0; i < s.len; i++) {
        buf_add_char(out, digits[(unsigned char)s.p[i] >> 4]);
        buf_add_char(out, digits[(unsigned char)s.p[i] & 15]);
    }
    buf_add_char(out, '\'');
}

static void bits(struct buf *out, struct str s)
{
    buf_add_lit(out, "b'");
    for (size_t i = 0; i < s.len * 8; i++)
        buf_add_char(out, (unsigned char)s.p[i / 8] >> (7 - i % 8) & 1 ? '1' : '0');
    buf_add_char(out, '\'');
}

static void string(struct buf *out, const struct sql_expr *e)
{
    if (e->charset.len)
        buf_printf(out, "_" STR_F, STR_A(e->charset));
    if (e->charset.len && !str_is_utf8(e->s)) {
        buf_add_char(out, ' ');
        hex(out, e->s);
    } else {
        sql_print_string(out, e->s);
    }
}

static void column(struct buf *out, const struct sql_expr *e)
{
    if (e->schema.len) {
        sql_print_name(out, e->schema);
        buf_add_char(out, '.');
    }
    if (e->table.len) {
        sql_print_name(out, e->table);
        buf_add_char(out, '.');
    }
    if (e->kind == SQL_STAR)
        buf_add_char(out, '*');
    else
        sql_print_name(out, e->name);
}

static void system_var(struct buf *out, const struct sql_expr *e)
{
    static const struct str scopes[] = {
        STR("@@"), STR("@@session."), STR("@@global."), STR("@@"), STR("@@")};

    buf_add_str(out, scopes[e->scope]);
    print_qualified(out, e->schema, e->name);
}

static bool atom(struct buf *out, const struct sql_expr *e)
{
    switch (e->kind) {
    case SQL_NULL:
        buf_add_lit(out, "NULL");
        return true;
    case SQL_INT:
        buf_add_u64(out, e->u);
        return true;
    case SQL_DECIMAL:
    case SQL_DOUBLE:
        buf_add_str(out, e->s);
        return true;
    case SQL_STRING:
        string(out, e);
        return true;
    case SQL_HEX:
        if (e->is_bit)
            bits(out, e->s);
        else
            hex(out, e->s);
        return true;
    case SQL_BOOL:
        buf_add_str(out, e->u ? STR("true") : STR("false"));
        return true;
    case SQL_PARAM:
        buf_add_char(out, '?');
        return true;
    case SQL_COLUMN:
    case SQL_STAR:
        column(out, e);
        return true;
    case SQL_USER_VAR:
        buf_add_char(out, '@');
        sql_print_name(out, e->name);
        return true;
    case SQL_SYSTEM_VAR:
        system_var(out, e);
        return true;
    default:
        return false;
    }
}

static void temporal(struct buf *out, const struct sql_expr *e)
{
    buf_add_str(out, e->base == DB_T_DATE   ? STR("date ")
                     : e->base == DB_T_TIME ? STR("time ")
                                            : STR("timestamp "));
    sql_print_string(out, e->s);
}

/* ---- operators ---- */

static const struct str ops[] = {
    [SQL_OP_NEG] = STR("-"),
    [SQL_OP_PLUS] = STR("+"),
    [SQL_OP_NOT] = STR("not"),
    [SQL_OP_BIT_NOT] = STR("~"),
    [SQL_OP_BINARY] = STR("binary "),
    [SQL_OP_OR] = STR(" or "),
    [SQL_OP_XOR] = STR(" xor "),
    [SQL_OP_AND] = STR(" and "),
    [SQL_OP_EQ] = STR(" = "),
    [SQL_OP_NE] = STR(" <> "),
    [SQL_OP_LT] = STR(" < "),
    [SQL_OP_LE] = STR(" <= "),
    [SQL_OP_GT] = STR(" > "),
    [SQL_OP_GE] = STR(" >= "),
    [SQL_OP_NULL_SAFE_EQ] = STR(" <=> "),
    [SQL_OP_ADD] = STR(" + "),
    [SQL_OP_SUB] = STR(" - "),
    [SQL_OP_MUL] = STR(" * "),
    [SQL_OP_DIV] = STR(" / "),
    [SQL_OP_INT_DIV] = STR(" DIV "),
    [SQL_OP_MOD] = STR(" % "),
    [SQL_OP_BIT_OR] = STR(" | "),
    [SQL_OP_BIT_AND] = STR(" & "),
    [SQL_OP_BIT_XOR] = STR(" ^ "),
    [SQL_OP_SHIFT_LEFT] = STR(" << "),
    [SQL_OP_SHIFT_RIGHT] = STR(" >> "),
};

/* Is it certain to be read as one operand? */
static bool closed(const struct sql_expr *e)
{
    return e->kind == SQL_INT || e->kind == SQL_DECIMAL || e->kind == SQL_DOUBLE;
}

static void unary(struct buf *out, const struct sql_expr *e)
{
    bool bare = closed(e->a) && e->op != SQL_OP_NOT;

    if (e->op == SQL_OP_NOT || e->op == SQL_OP_BINARY)
        buf_add_char(out, '(');
    buf_add_str(out, ops[e->op]);
    if (!bare)
        buf_add_char(out, '(');
    sql_print_expr(out, e->a);
    if (!bare)
        buf_add_char(out, ')');
    if (e->op == SQL_OP_NOT || e->op == SQL_OP_BINARY)
        buf_add_char(out, ')');
}

static void infix(struct buf *out, const struct sql_expr *e, struct str op)
{
    buf_add_char(out, '(');
    sql_print_expr(out, e->a);
    if (e->not)
        buf_add_lit(out, " not");
    buf_add_str(out, op);
    sql_print_expr(out, e->b);
    if (e->c) {
        buf_add_str(out, e->kind == SQL_BETWEEN ? STR(" and ") : STR(" escape "));
        sql_print_expr(out, e->c);
    }
    buf_add_char(out, ')');
}

/* || is OR without PIPES_AS_CONCAT; the function is the same in every mode. */
static void concat(struct buf *out, const struct sql_expr *e)
{
    buf_add_lit(out, "concat(");
    sql_print_expr(out, e->a);
    buf_add_char(out, ',');
    sql_print_expr(out, e->b);
    buf_add_char(out, ')');
}

static void is_test(struct buf *out, const struct sql_expr *e)
{
    static const struct str tests[] = {STR("null"), STR("true"), STR("false"), STR("unknown")};

    buf_add_char(out, '(');
    sql_print_expr(out, e->a);
    buf_add_str(out, e->not? STR(" is not ") : STR(" is "));
    buf_add_str(out, tests[e->test]);
    buf_add_char(out, ')');
}

static void in(struct buf *out, const struct sql_expr *e)
{
    buf_add_char(out, '(');
    sql_print_expr(out, e->a);
    buf_add_str(out, e->not? STR(" not in (") : STR(" in ("));
    if (e->query)
        sql_print_query(out, e->query);
    else
        print_list(out, e->list);
    buf_add_lit(out, "))");
}

static void quantified(struct buf *out, const struct sql_expr *e)
{
    buf_add_char(out, '(');
    sql_print_expr(out, e->a);
    buf_add_str(out, ops[e->op]);
    buf_add_str(out, e->is_all ? STR("all (") : STR("any ("));
    sql_print_query(out, e->query);
    buf_add_lit(out, "))");
}

static void postfix(struct buf *out, const struct sql_expr *e)
{
    if (e->kind == SQL_ARROW) {
        sql_print_expr(out, e->a);
        buf_add_str(out, e->is_all ? STR("->>") : STR("->"));
        sql_print_expr(out, e->b);
        return;
    }
    /* -(a) collate x would be -((a) collate x) */
    buf_add_str(out, e->a->kind == SQL_UNARY ? STR("((") : STR("("));
    sql_print_expr(out, e->a);
    buf_add_str(out, e->a->kind == SQL_UNARY ? STR(") collate ") : STR(" collate "));
    print_word(out, e->name);
    buf_add_char(out, ')');
}

/* ---- what has words in it ---- */

static void case_when(struct buf *out, const struct sql_expr *e)
{
    buf_add_lit(out, "(case ");
    if (e->a) {
        sql_print_expr(out, e->a);
        buf_add_char(out, ' ');
    }
    for (uint32_t i = 0; i < e->list.n; i++) {
        buf_add_str(out, i % 2 ? STR("then ") : STR("when "));
        sql_print_expr(out, e->list.v[i]);
        buf_add_char(out, ' ');
    }
    if (e->b) {
        buf_add_lit(out, "else ");
        sql_print_expr(out, e->b);
        buf_add_char(out, ' ');
    }
    buf_add_lit(out, "end)");
}

static void cast(struct buf *out, const struct sql_expr *e)
{
    if (e->kind == SQL_CAST) {
        buf_add_lit(out, "cast(");
        sql_print_expr(out, e->a);
        buf_add_lit(out, " as ");
        print_cast_type(out, e->type);
    } else {
        buf_add_lit(out, "convert(");
        sql_print_expr(out, e->a);
        buf_add_lit(out, " using ");
        if (str_eq(e->charset, STR("default")))
            buf_add_lit(out, "default");
        else
            print_word(out, e->charset);
    }
    buf_add_char(out, ')');
}

void print_interval(struct buf *out, const struct sql_expr *e)
{
    buf_add_lit(out, "interval ");
    sql_print_expr(out, e->b);
    buf_add_char(out, ' ');
    buf_add_str(out, print_unit(e->unit));
}

static void date_add(struct buf *out, const struct sql_expr *e)
{
    if (!e->a) { /* of a window's frame */
        print_interval(out, e);
        return;
    }
    buf_add_char(out, '(');
    sql_print_expr(out, e->a);
    buf_add_str(out, e->not? STR(" - ") : STR(" + "));
    print_interval(out, e);
    buf_add_char(out, ')');
}

static void trim(struct buf *out, const struct sql_expr *e)
{
    static const struct str sides[] = {STR("both "), STR("leading "), STR("trailing ")};

    buf_add_lit(out, "trim(");
    if (e->b || e->side != SQL_SIDE_BOTH) {
        buf_add_str(out, sides[e->side]);
        if (e->b) {
            sql_print_expr(out, e->b);
            buf_add_char(out, ' ');
        }
        buf_add_lit(out, "from ");
    }
    sql_print_expr(out, e->a);
    buf_add_char(out, ')');
}

static void match(struct buf *out, const struct sql_expr *e)
{
    static const struct str modes[] = {
        STR(""), STR(" in boolean mode"), STR(" with query expansion")};

    buf_add_lit(out, "(match ");
    print_list(out, e->list);
    buf_add_lit(out, " against (");
    sql_print_expr(out, e->a);
    buf_add_str(out, modes[e->match]);
    buf_add_lit(out, "))");
}

/* word(a) or word alone */
static void word_of(struct buf *out, struct str word, const struct sql_expr *a)
{
    buf_add_str(out, word);
    if (!a)
        return;
    buf_add_char(out, '(');
    sql_print_expr(out, a);
    buf_add_char(out, ')');
}

static void query(struct buf *out, struct str word, const struct sql_query *q)
{
    buf_add_str(out, word);
    buf_add_char(out, '(');
    sql_print_query(out, q);
    buf_add_char(out, ')');
}

static void wordy(struct buf *out, const struct sql_expr *e)
{
    switch (e->kind) {
    case SQL_DEFAULT:
        word_of(out, STR("default"), e->a);
        break;
    case SQL_VALUES_OF:
        word_of(out, STR("values"), e->a);
        break;
    case SQL_CASE:
        case_when(out, e);
        break;
    case SQL_CAST:
    case SQL_CONVERT_USING:
        cast(out, e);
        break;
    case SQL_DATE_ADD:
        date_add(out, e);
        break;
    case SQL_EXTRACT:
        buf_printf(out, "extract(" STR_F " from ", STR_A(print_unit(e->unit)));
        sql_print_expr(out, e->a);
        buf_add_char(out, ')');
        break;
    case SQL_TRIM:
        trim(out, e);
        break;
    case SQL_MATCH:
        match(out, e);
        break;
    case SQL_GROUP_CONCAT:
        print_group_concat(out, e);
        break;
    case SQL_EXISTS:
        query(out, STR("exists"), e->query);
        break;
    case SQL_SUBQUERY:
        query(out, STR_NONE, e->query);
        break;
    default:
        print_call(out, e);
    }
}

void sql_print_expr(struct buf *out, const struct sql_expr *e)
{
    if (atom(out, e))
        return;
    switch (e->kind) {
    case SQL_TEMPORAL:
        temporal(out, e);
        break;
    case SQL_USER_ASSIGN:
        buf_add_lit(out, "(@");
        sql_print_name(out, e->name);
        buf_add_lit(out, " := ");
        sql_print_expr(out, e->a);
        buf_add_char(out, ')');
        break;
    case SQL_UNARY:
        unary(out, e);
        break;
    case SQL_BINARY:
        if (e->op == SQL_OP_CONCAT)
            concat(out, e);
        else
            infix(out, e, ops[e->op]);
        break;
    case SQL_IS:
        is_test(out, e);
        break;
    case SQL_LIKE:
        infix(out, e, STR(" like "));
        break;
    case SQL_REGEXP:
        infix(out, e, STR(" regexp "));
        break;
    case SQL_SOUNDS_LIKE:
        infix(out, e, STR(" sounds like "));
        break;
    case SQL_BETWEEN:
        infix(out, e, STR(" between "));
        break;
    case SQL_IN:
    case SQL_IN_QUERY:
        in(out, e);
        break;
    case SQL_MEMBER_OF:
        infix(out, e, STR(" member of ("));
        buf_add_char(out, ')');
        break;
    case SQL_QUANTIFIED:
        quantified(out, e);
        break;
    case SQL_ROW:
        buf_add_char(out, '(');
        print_list(out, e->list);
        buf_add_char(out, ')');
        break;
    case SQL_COLLATE:
    case SQL_ARROW:
        postfix(out, e);
        break;
    default:
        wordy(out, e);
    }
}
