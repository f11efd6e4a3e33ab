/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Definitions of columns.
 */
#include "db/sql/parser.h"

/* ---- DEFAULT, ON UPDATE ---- */

static bool at_now(const struct sql_parser *p)
{
    static const enum sql_word words[] = {
        W_CURRENT_TIMESTAMP, W_NOW, W_LOCALTIME, W_LOCALTIMESTAMP};

    for (size_t i = 0; p->tok.kind == T_WORD && i < ARRAY_LEN(words); i++) {
        if (p->tok.word == words[i])
            return true;
    }
    return false;
}

static struct sql_expr *now(struct sql_parser *p)
{
    struct sql_expr *e = ps_is_word(p, W_NOW) ? ps_call(p) : ps_call_now(p);

    e->name = STR("CURRENT_TIMESTAMP");
    return e;
}

static bool is_call(const struct sql_expr *e)
{
    switch (e->kind) {
    case SQL_CALL:
    case SQL_CAST:
    case SQL_CONVERT_USING:
    case SQL_DATE_ADD:
    case SQL_EXTRACT:
    case SQL_TRIM:
    case SQL_CASE:
        return true;
    default:
        return false;
    }
}

struct sql_expr *ps_default_value(struct sql_parser *p)
{
    struct sql_expr *e;

    if (at_now(p))
        return now(p);
    if (ps_is(p, T_MINUS) || ps_is(p, T_PLUS)) {
        e = ps_expr_new(p, SQL_UNARY, p->tok.pos);
        e->op = ps_is(p, T_MINUS) ? SQL_OP_NEG : SQL_OP_PLUS;
        ps_next(p);
        if (!ps_is(p, T_INT) && !ps_is(p, T_DECIMAL) && !ps_is(p, T_DOUBLE))
            ps_fail(p);
        e->a = ps_operand(p);
        return ps_expr_done(p, e);
    }
    e = ps_operand(p);
    if (is_call(e)) /* MariaDB needs no parentheses around it */
        e->is_paren = true;
    else if (!e->is_paren && e->kind > SQL_TEMPORAL)
        ps_fail_at(p, e->pos);
    return e;
}

/* ---- CHECK, REFERENCES ---- */

void ps_check(struct sql_parser *p, struct sql_check *c)
{
    ps_expect(p, T_OPEN);
    c->expr = ps_expr(p);
    ps_expect(p, T_CLOSE);
    if (ps_is_word(p, W_NOT) && ps_peek_word(p, 1, W_ENFORCED)) {
        ps_next(p);
        c->not_enforced = true;
    }
    (void)ps_accept_word(p, W_ENFORCED); /* the default */
}

static enum sql_fk_action action(struct sql_parser *p)
{
    if (ps_accept_word(p, W_RESTRICT))
        return SQL_FK_RESTRICT;
    if (ps_accept_word(p, W_CASCADE))
        return SQL_FK_CASCADE;
    if (ps_accept_words(p, W_NO, W_ACTION))
        return SQL_FK_NO_ACTION;
    ps_expect_word(p, W_SET);
    if (ps_accept_word(p, W_DEFAULT))
        return SQL_FK_SET_DEFAULT;
    ps_expect_word(p, W_NULL);
    return SQL_FK_SET_NULL;
}

/* Behind REFERENCES. */
void ps_references(struct sql_parser *p, struct sql_fk *fk)
{
    fk->ref_table = ps_table_name(p);
    if (ps_is(p, T_OPEN))
        fk->ref_columns = ps_name_list(p);
    if (ps_accept_word(p, W_MATCH)) {
        if (!ps_accept_word(p, W_FULL) && !ps_accept_word(p, W_PARTIAL))
            ps_expect_word(p, W_SIMPLE);
    }
    while (ps_is_word(p, W_ON) && (ps_peek_word(p, 1, W_DELETE) || ps_peek_word(p, 1, W_UPDATE))) {
        bool is_delete = ps_peek_word(p, 1, W_DELETE);

        if (is_delete ? fk->on_delete : fk->on_update)
            ps_fail(p);
        ps_next(p);
        ps_next(p);
        *(is_delete ? &fk->on_delete : &fk->on_update) = action(p);
    }
}

/* ---- attributes ---- */

/* [GENERATED ALWAYS] AS (expr) [VIRTUAL | STORED | PERSISTENT] */
static void generated(struct sql_parser *p, struct sql_column_def *c)
{
    if (ps_accept_word(p, W_GENERATED))
        ps_expect_word(p, W_ALWAYS);
    ps_expect_word(p, W_AS);
    ps_expect(p, T_OPEN);
    c->generated = ps_expr(p);
    ps_expect(p, T_CLOSE);
    c->stored = ps_accept_word(p, W_STORED) || ps_accept_word(p, W_PERSISTENT);
    if (!c->stored)
        (void)ps_accept_word(p, W_VIRTUAL); /* the default */
}

static void add_check(struct sql_parser *p, struct sql_column_def *c, struct ps_vec *checks)
{
    struct sql_check check = {0};

    if (ps_accept_word(p, W_CONSTRAINT) && !ps_is_word(p, W_CHECK))
        check.name = ps_name(p);
    ps_expect_word(p, W_CHECK);
    ps_check(p, &check);
    *(struct sql_check *)ps_add(p, checks, sizeof(check)) = check;
    c->checks = checks->v;
    c->n_checks = checks->n;
}

static void on_update(struct sql_parser *p, struct sql_column_def *c)
{
    ps_next(p);
    ps_expect_word(p, W_UPDATE);
    if (!at_now(p))
        ps_fail(p);
    (void)now(p);
    c->on_update_now = true;
}

/* Attributes with a value that we have no use for. */
static bool ignored_attribute(struct sql_parser *p)
{
    if (ps_accept_word(p, W_COLUMN_FORMAT)) {
        if (!ps_accept_word(p, W_DEFAULT) && !ps_accept_word(p, W_FIXED))
            ps_expect_word(p, W_DYNAMIC);
        return true;
    }
    if (ps_accept_word(p, W_STORAGE)) {
        if (!ps_accept_word(p, W_DEFAULT) && !ps_accept_word(p, W_DISK))
            ps_expect_word(p, W_MEMORY);
        return true;
    }
    if (ps_accept_word(p, W_COMPRESSED)) /* MariaDB's */
        return true;
    if (ps_accept_word(p, W_SRID)) {
        (void)ps_uint(p, UINT32_MAX);
        return true;
    }
    if (ps_accept_word(p, W_ENGINE_ATTRIBUTE)) {
        (void)ps_accept(p, T_EQ);
        (void)ps_string(p);
        return true;
    }
    return false;
}

static bool null_or_key(struct sql_parser *p, struct sql_column_def *c)
{
    if (ps_accept_word(p, W_NOT)) {
        ps_expect_word(p, W_NULL);
        c->nullable = SQL_NULL_NO;
    } else if (ps_accept_word(p, W_NULL)) {
        c->nullable = SQL_NULL_YES;
    } else if (ps_accept_word(p, W_UNIQUE)) {
        c->unique = true;
        (void)ps_accept_word(p, W_KEY); /* may be left out */
    } else if (ps_is_word(p, W_PRIMARY) || ps_is_word(p, W_KEY)) {
        (void)ps_accept_word(p, W_PRIMARY); /* KEY alone says it too */
        ps_expect_word(p, W_KEY);
        c->primary = true;
    } else {
        return false;
    }
    return true;
}

static void serial(struct sql_column_def *c)
{
    c->nullable = SQL_NULL_NO;
    c->auto_increment = true;
    c->unique = true;
}

static bool value_attribute(struct sql_parser *p, struct sql_column_def *c)
{
    if (ps_accept_word(p, W_DEFAULT)) {
        c->default_value = ps_default_value(p);
    } else if (ps_is_word(p, W_ON)) {
        on_update(p, c);
    } else if (ps_accept_word(p, W_AUTO_INCREMENT)) {
        c->auto_increment = true;
    } else if (ps_accept_word(p, W_SERIAL)) {
        ps_expect_word(p, W_DEFAULT);
        ps_expect_word(p, W_VALUE);
        serial(c);
    } else if (ps_is_word(p, W_GENERATED) || ps_is_word(p, W_AS)) {
        generated(p, c);
    } else {
        return false;
    }
    return true;
}

static bool text_attribute(struct sql_parser *p, struct sql_column_def *c)
{
    if (ps_accept_word(p, W_COMMENT)) {
        c->has_comment = true;
        c->comment = ps_string(p);
    } else if (ps_accept_words(p, W_COLLATE, W_DEFAULT)) {
        c->type.collation = STR_NONE;
    } else if (ps_accept_word(p, W_COLLATE)) {
        c->type.collation =
            ps_is_word(p, W_BINARY) ? ps_charset(p) : ps_lower(p, ps_name_or_string(p));
    } else if (ps_accept_charset(p)) {
        c->type.charset = ps_charset(p);
    } else if (ps_accept_word(p, W_INVISIBLE)) {
        c->invisible = true;
    } else if (!ps_accept_word(p, W_VISIBLE)) {
        return false;
    }
    return true;
}

void ps_column_def(struct sql_parser *p, struct sql_column_def *c)
{
    struct ps_vec checks = {0};

    ps_type(p, &c->type, &c->serial);
    if (c->serial)
        serial(c);
    while (!p->failed) {
        if (null_or_key(p, c) || value_attribute(p, c) || text_attribute(p, c) ||
            ignored_attribute(p))
            continue;
        if (ps_is_word(p, W_CHECK) || (ps_is_word(p, W_CONSTRAINT))) {
            add_check(p, c, &checks);
        } else if (ps_accept_word(p, W_REFERENCES)) {
            c->references = ps_new(p, sizeof(*c->references));
            ps_references(p, c->references);
        } else {
            break;
        }
    }
}
