/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * SET.
 */
#include "db/sql/parser.h"

/* ---- transactions ---- */

int ps_access(struct sql_parser *p)
{
    if (!ps_is_word(p, W_READ))
        return 0;
    if (ps_accept_words(p, W_READ, W_ONLY))
        return 1;
    return ps_accept_words(p, W_READ, W_WRITE) ? 2 : 0;
}

static struct str isolation(struct sql_parser *p)
{
    ps_expect_word(p, W_LEVEL);
    if (ps_accept_word(p, W_SERIALIZABLE))
        return STR("SERIALIZABLE");
    if (ps_accept_words(p, W_REPEATABLE, W_READ))
        return STR("REPEATABLE-READ");
    ps_expect_word(p, W_READ);
    if (ps_accept_word(p, W_COMMITTED))
        return STR("READ-COMMITTED");
    ps_expect_word(p, W_UNCOMMITTED);
    return STR("READ-UNCOMMITTED");
}

void ps_set_transaction(struct sql_parser *p, struct sql_set *set)
{
    set->kind = SQL_SET_TRANSACTION;
    do {
        if (!set->isolation.len && ps_accept_word(p, W_ISOLATION))
            set->isolation = isolation(p);
        else if (set->access || !(set->access = ps_access(p)))
            ps_fail(p);
    } while (ps_accept(p, T_COMMA));
}

/* ---- values ---- */

/* Words that are values though they are none as expressions; and names, which are texts here. */
static struct sql_expr *value(struct sql_parser *p, bool system)
{
    static const enum sql_word words[] = {W_ON, W_ALL, W_BINARY, W_ROW, W_SYSTEM};
    const struct sql_token *next = ps_peek(p, 1);
    bool alone = next->kind == T_END || next->kind == T_COMMA || next->kind == T_SEMICOLON;
    struct sql_expr *e;

    for (size_t i = 0; system && alone && ps_is(p, T_WORD) && i < ARRAY_LEN(words); i++) {
        if (p->tok.word != words[i])
            continue;
        e = ps_expr_new(p, SQL_STRING, p->tok.pos);
        e->s = p->tok.s;
        ps_next(p);
        return ps_expr_done(p, e);
    }
    e = system ? ps_expr_or_default(p) : ps_expr(p);
    if (system && e->kind == SQL_COLUMN && e->table.len == 0) {
        e->kind = SQL_STRING;
        e->s = e->name;
        e->name = STR_NONE;
    }
    return e;
}

static void equals(struct sql_parser *p)
{
    if (!ps_accept(p, T_ASSIGN))
        ps_expect(p, T_EQ);
}

/* ---- one assignment ---- */

static bool scope(struct sql_parser *p, enum sql_scope *out)
{
    static const struct {
        enum sql_word word;
        enum sql_scope scope;
    } rows[] = {{W_GLOBAL, SQL_SCOPE_GLOBAL}, {W_SESSION, SQL_SCOPE_SESSION},
        {W_LOCAL, SQL_SCOPE_SESSION}, {W_PERSIST, SQL_SCOPE_PERSIST},
        {W_PERSIST_ONLY, SQL_SCOPE_PERSIST_ONLY}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (str_ieq(p->tok.s, sql_word_text(rows[i].word)) &&
            (ps_is(p, T_WORD) || ps_is(p, T_NAME))) {
            *out = rows[i].scope;
            return true;
        }
    }
    return false;
}

/* name or component.name */
static struct str variable(struct sql_parser *p)
{
    uint32_t pos = p->tok.pos;
    struct str name = ps_name(p);

    if (ps_accept(p, T_DOT)) {
        (void)ps_name(p);
        name = ps_text(p, pos);
    }
    return name;
}

static void system_var(struct sql_parser *p, struct sql_set *set)
{
    set->kind = SQL_SET_SYSTEM;
    if (ps_accept(p, T_ATAT)) {
        if (ps_peek(p, 1)->kind == T_DOT && scope(p, &set->scope)) {
            ps_next(p);
            ps_next(p);
        }
        if (ps_is_word(p, W_DEFAULT)) /* @@default.key_buffer_size */
            ps_fail(p);
    } else if (ps_peek(p, 1)->kind != T_EQ && ps_peek(p, 1)->kind != T_ASSIGN &&
               ps_peek(p, 1)->kind != T_DOT && scope(p, &set->scope)) {
        ps_next(p);
        if (ps_accept_word(p, W_TRANSACTION)) {
            ps_set_transaction(p, set);
            return;
        }
    }
    set->name = variable(p);
    equals(p);
    set->value = value(p, true);
}

static void charset(struct sql_parser *p, struct sql_set *set, enum sql_set_kind kind)
{
    set->kind = kind;
    set->name = ps_accept_word(p, W_DEFAULT) ? STR("DEFAULT") : ps_charset(p);
    if (kind == SQL_SET_NAMES && ps_accept_word(p, W_COLLATE))
        set->collation =
            ps_is_word(p, W_BINARY) ? ps_charset(p) : ps_lower(p, ps_name_or_string(p));
}

/* SET PASSWORD = 'x', SET ROLE x, SET DEFAULT ROLE, SET RESOURCE GROUP: read to the end */
static bool account(struct sql_parser *p, struct sql_set *set)
{
    static const enum sql_word words[] = {W_PASSWORD, W_ROLE, W_DEFAULT};
    size_t i = 0;

    while (i < ARRAY_LEN(words) && !ps_is_word(p, words[i]))
        i++;
    if (i == ARRAY_LEN(words) ||
        (i == 1 && (ps_peek(p, 1)->kind == T_EQ || ps_peek(p, 1)->kind == T_ASSIGN)) ||
        (i == 2 && !ps_peek_word(p, 1, W_ROLE)))
        return false;
    set->kind = SQL_SET_NOTHING;
    set->name = sql_word_text(i == 2 ? W_ROLE : words[i]);
    ps_next(p);
    if (ps_is(p, T_END) || ps_is(p, T_SEMICOLON))
        ps_fail(p);
    while (!p->failed && !ps_is(p, T_END) && !ps_is(p, T_SEMICOLON)) {
        if (ps_is(p, T_BAD))
            ps_fail(p);
        ps_next(p);
    }
    return true;
}

static void assignment(struct sql_parser *p, struct sql_set *set)
{
    if (ps_is(p, T_USER_VAR) && p->tok.s.len) {
        set->kind = SQL_SET_USER;
        set->name = p->tok.s;
        ps_next(p);
        equals(p);
        set->value = value(p, false);
        return;
    }
    if (ps_is_word(p, W_NAMES) && ps_peek(p, 1)->kind != T_EQ) {
        ps_next(p);
        charset(p, set, SQL_SET_NAMES);
    } else if (ps_accept_charset(p)) {
        charset(p, set, SQL_SET_CHARSET);
    } else if (ps_is_word(p, W_TRANSACTION) && ps_peek(p, 1)->kind != T_EQ) {
        ps_next(p);
        ps_set_transaction(p, set);
    } else if (!account(p, set)) {
        system_var(p, set);
    }
}

void ps_stmt_set(struct sql_parser *p, struct sql_stmt *s)
{
    struct ps_vec vec = {0};

    s->kind = SQL_STMT_SET;
    ps_next(p);
    if (ps_is_word(p, W_STATEMENT) && ps_token_is_name(ps_peek(p, 1)))
        ps_refuse(p, "SET STATEMENT");
    do {
        struct sql_set set = {0};

        assignment(p, &set);
        *(struct sql_set *)ps_add(p, &vec, sizeof(set)) = set;
    } while (ps_accept(p, T_COMMA));
    s->sets = vec.v;
    s->n_sets = vec.n;
}
