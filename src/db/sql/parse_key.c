/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Keys, foreign keys and checks of tables, and the options of tables.
 */
#include "db/sql/parser.h"

/* ---- keys ---- */

static void part(struct sql_parser *p, struct sql_key_part *part)
{
    if (ps_is(p, T_OPEN)) {
        ps_next(p);
        part->expr = ps_expr(p);
        ps_expect(p, T_CLOSE);
    } else {
        part->column = ps_name(p);
        if (ps_accept(p, T_OPEN)) {
            part->length = (int32_t)ps_uint(p, INT32_MAX);
            ps_expect(p, T_CLOSE);
        }
    }
    part->desc = ps_accept_word(p, W_DESC);
    if (!part->desc)
        (void)ps_accept_word(p, W_ASC);
}

void ps_key_using(struct sql_parser *p, struct sql_key *key)
{
    if (!ps_is_word(p, W_USING) && !ps_is_word(p, W_TYPE))
        return;
    ps_next(p);
    if (!ps_is_word(p, W_BTREE) && !ps_is_word(p, W_HASH) && !str_ieq(p->tok.s, STR("rtree")))
        ps_fail(p);
    key->using_type = ps_upper(p, p->tok.s);
    ps_next(p);
}

static bool key_option(struct sql_parser *p, struct sql_key *key)
{
    if (ps_is_word(p, W_USING) || ps_is_word(p, W_TYPE)) {
        ps_key_using(p, key);
    } else if (ps_accept_word(p, W_COMMENT)) {
        (void)ps_accept(p, T_EQ); /* MariaDB */
        key->comment = ps_string(p);
    } else if (ps_accept_word(p, W_KEY_BLOCK_SIZE)) {
        (void)ps_accept(p, T_EQ);
        (void)ps_uint(p, UINT32_MAX);
    } else if (ps_accept_word(p, W_WITH)) {
        ps_expect_word(p, W_PARSER);
        (void)ps_name(p);
    } else if (ps_is_word(p, W_INVISIBLE) || ps_is_word(p, W_IGNORED)) {
        ps_next(p);
        key->invisible = true;
    } else if (ps_is_word(p, W_NOT) && ps_peek_word(p, 1, W_IGNORED)) {
        ps_next(p);
        ps_next(p);
    } else if (ps_accept_word(p, W_ENGINE_ATTRIBUTE)) {
        (void)ps_accept(p, T_EQ);
        (void)ps_string(p);
    } else if (!ps_accept_word(p, W_VISIBLE)) {
        return false;
    }
    return true;
}

void ps_key_parts(struct sql_parser *p, struct sql_key *key)
{
    struct ps_vec vec = {0};

    ps_expect(p, T_OPEN);
    do {
        struct sql_key_part one = {0};

        part(p, &one);
        *(struct sql_key_part *)ps_add(p, &vec, sizeof(one)) = one;
    } while (ps_accept(p, T_COMMA));
    ps_expect(p, T_CLOSE);
    key->parts = vec.v;
    key->n_parts = vec.n;
    while (key_option(p, key))
        continue;
}

/* KEY [name] [USING x] ( parts ); at what follows the words that say which kind it is. */
static void key_def(struct sql_parser *p, struct ps_constraint_def *c)
{
    c->if_not_exists = ps_accept_if_not_exists(p);
    if (ps_is_name(p) && !(ps_is_word(p, W_TYPE) && ps_peek(p, 1)->kind != T_OPEN))
        c->key.name = ps_name(p);
    ps_key_using(p, &c->key);
    ps_key_parts(p, &c->key);
}

static bool key_word(struct sql_parser *p)
{
    return ps_accept_word(p, W_KEY) || ps_accept_word(p, W_INDEX);
}

/* ---- foreign keys ---- */

static void fk_def(struct sql_parser *p, struct ps_constraint_def *c, struct str name)
{
    c->kind = PS_FK;
    c->fk.name = name;
    ps_expect_word(p, W_KEY);
    c->if_not_exists = ps_accept_if_not_exists(p);
    if (ps_is_name(p))
        c->fk.index = ps_name(p);
    c->fk.columns = ps_name_list(p);
    ps_expect_word(p, W_REFERENCES);
    ps_references(p, &c->fk);
}

/* ---- all ---- */

bool ps_at_constraint(struct sql_parser *p)
{
    static const enum sql_word words[] = {W_CONSTRAINT, W_PRIMARY, W_KEY, W_INDEX, W_UNIQUE,
        W_FULLTEXT, W_SPATIAL, W_FOREIGN, W_CHECK};

    for (size_t i = 0; p->tok.kind == T_WORD && i < ARRAY_LEN(words); i++) {
        if (p->tok.word == words[i])
            return true;
    }
    return false;
}

void ps_constraint(struct sql_parser *p, struct ps_constraint_def *c)
{
    bool named = ps_accept_word(p, W_CONSTRAINT);
    struct str name = STR_NONE;

    *c = (struct ps_constraint_def){.kind = PS_KEY};
    if (named) {
        c->if_not_exists = ps_accept_if_not_exists(p);
        if (ps_is_name(p))
            name = ps_name(p);
    }
    c->key.constraint = name;
    if (ps_accept_word(p, W_PRIMARY)) {
        c->key.kind = SQL_KEY_PRIMARY;
        ps_expect_word(p, W_KEY);
        key_def(p, c);
    } else if (ps_accept_word(p, W_UNIQUE)) {
        c->key.kind = SQL_KEY_UNIQUE;
        (void)key_word(p); /* may be left out */
        key_def(p, c);
    } else if (ps_accept_word(p, W_FOREIGN)) {
        fk_def(p, c, name);
    } else if (ps_accept_word(p, W_CHECK)) {
        c->kind = PS_CHECK;
        c->check.name = name;
        ps_check(p, &c->check);
    } else if (named) {
        ps_fail(p);
    } else if (ps_is_word(p, W_FULLTEXT) || ps_is_word(p, W_SPATIAL)) {
        c->key.kind = ps_is_word(p, W_FULLTEXT) ? SQL_KEY_FULLTEXT : SQL_KEY_SPATIAL;
        ps_next(p);
        (void)key_word(p); /* may be left out */
        key_def(p, c);
    } else {
        c->key.kind = SQL_KEY_INDEX;
        if (!key_word(p))
            ps_fail(p);
        key_def(p, c);
    }
}

/* ---- options of tables ---- */

static bool at_option(struct sql_parser *p)
{
    static const enum sql_word words[] = {W_AUTO_INCREMENT, W_AVG_ROW_LENGTH, W_CHECKSUM,
        W_TABLE_CHECKSUM, W_COMMENT, W_COMPRESSION, W_CONNECTION, W_DELAY_KEY_WRITE, W_ENCRYPTION,
        W_ENGINE, W_TYPE, W_ENGINE_ATTRIBUTE, W_INSERT_METHOD, W_KEY_BLOCK_SIZE, W_MAX_ROWS,
        W_MIN_ROWS, W_PACK_KEYS, W_PASSWORD, W_ROW_FORMAT, W_STATS_AUTO_RECALC, W_STATS_PERSISTENT,
        W_STATS_SAMPLE_PAGES, W_AUTOEXTEND_SIZE, W_TABLESPACE, W_SEQUENCE};

    if (!ps_is_name(p))
        return false;
    if (ps_peek(p, 1)->kind == T_EQ)
        return true;
    for (size_t i = 0; p->tok.kind == T_WORD && i < ARRAY_LEN(words); i++) {
        if (p->tok.word == words[i])
            return true;
    }
    return false;
}

static struct str option_value(struct sql_parser *p)
{
    struct str s = p->tok.s;

    if (ps_is(p, T_INT) || ps_is(p, T_DECIMAL) || ps_is(p, T_HEX) || ps_is_word(p, W_DEFAULT) ||
        ps_is_word(p, W_ON)) {
        ps_next(p);
        return p->failed ? STR_NONE : s;
    }
    return ps_name_or_string(p);
}

/* UNION=(a, b), DATA DIRECTORY='x', TABLESPACE x STORAGE DISK, START TRANSACTION */
static bool odd_option(struct sql_parser *p, struct sql_option *o)
{
    if (ps_accept_word(p, W_UNION)) {
        uint32_t pos;

        o->name = STR("UNION");
        (void)ps_accept(p, T_EQ);
        pos = p->tok.pos;
        if (!ps_is(p, T_OPEN))
            ps_fail(p);
        ps_skip_parens(p);
        o->value = ps_text(p, pos);
        return true;
    }
    if ((ps_is_word(p, W_DATA) || ps_is_word(p, W_INDEX)) && ps_peek_word(p, 1, W_DIRECTORY)) {
        o->name = ps_is_word(p, W_DATA) ? STR("DATA DIRECTORY") : STR("INDEX DIRECTORY");
        ps_next(p);
        ps_next(p);
        (void)ps_accept(p, T_EQ);
        o->value = ps_string(p);
        return true;
    }
    if (ps_accept_words(p, W_START, W_TRANSACTION)) {
        o->name = STR("START TRANSACTION");
        return true;
    }
    return false;
}

bool ps_option(struct sql_parser *p, struct ps_vec *vec)
{
    bool dflt = ps_is_word(p, W_DEFAULT) &&
                (ps_peek_word(p, 1, W_CHARSET) || ps_peek_word(p, 1, W_CHARACTER) ||
                    ps_peek_word(p, 1, W_CHAR) || ps_peek_word(p, 1, W_COLLATE) ||
                    ps_peek_word(p, 1, W_ENCRYPTION));
    struct sql_option o = {0};

    if (dflt)
        ps_next(p);
    if (ps_accept_charset(p)) {
        (void)ps_accept(p, T_EQ);
        o.name = STR("CHARSET");
        o.value = ps_accept_word(p, W_DEFAULT) ? STR("default") : ps_charset(p);
    } else if (ps_accept_word(p, W_COLLATE)) {
        (void)ps_accept(p, T_EQ);
        o.name = STR("COLLATE");
        o.value = ps_lower(p, p->tok.s);
        if (ps_is_word(p, W_BINARY) || ps_is_word(p, W_DEFAULT))
            ps_next(p);
        else
            (void)ps_name_or_string(p);
    } else if (at_option(p)) {
        o.name = ps_upper(p, ps_name(p));
        (void)ps_accept(p, T_EQ);
        o.value = option_value(p);
        if (str_eq(o.name, STR("TYPE")))
            o.name = STR("ENGINE");
        if (str_eq(o.name, STR("TABLESPACE")) && ps_accept_word(p, W_STORAGE))
            ps_next(p);
    } else if (!odd_option(p, &o)) {
        return false;
    }
    *(struct sql_option *)ps_add(p, vec, sizeof(o)) = o;
    return true;
}

struct str ps_partition_text(struct sql_parser *p)
{
    uint32_t pos = p->tok.pos;

    while (!p->failed && !ps_is(p, T_END) && !ps_is(p, T_SEMICOLON) && !ps_is_word(p, W_AS) &&
           !ps_is_word(p, W_SELECT) && !ps_is_word(p, W_IGNORE) && !ps_is_word(p, W_REPLACE)) {
        if (ps_is(p, T_OPEN)) {
            ps_skip_parens(p);
            continue;
        }
        if (ps_is(p, T_BAD) || ps_is(p, T_CLOSE))
            ps_fail(p);
        ps_next(p);
    }
    return ps_text(p, pos);
}
