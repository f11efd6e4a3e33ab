/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * CREATE: tables, indexes, views, databases, and what is refused.
 */
#include "db/sql/parser.h"

/* ---- tables ---- */

struct lists {
    struct ps_vec columns, keys, fks, checks;
};

static void table_item(struct sql_parser *p, struct lists *l)
{
    struct ps_constraint_def c;

    if (!ps_at_constraint(p)) {
        struct sql_column_def column = {.name = ps_name(p)};

        ps_column_def(p, &column);
        *(struct sql_column_def *)ps_add(p, &l->columns, sizeof(column)) = column;
        return;
    }
    ps_constraint(p, &c);
    if (c.kind == PS_KEY)
        *(struct sql_key *)ps_add(p, &l->keys, sizeof(c.key)) = c.key;
    else if (c.kind == PS_FK)
        *(struct sql_fk *)ps_add(p, &l->fks, sizeof(c.fk)) = c.fk;
    else
        *(struct sql_check *)ps_add(p, &l->checks, sizeof(c.check)) = c.check;
}

/* ( columns and keys ) */
static void table_items(struct sql_parser *p, struct sql_table_def *def)
{
    struct lists l = {0};

    ps_expect(p, T_OPEN);
    do {
        table_item(p, &l);
    } while (ps_accept(p, T_COMMA));
    ps_expect(p, T_CLOSE);
    def->columns = l.columns.v;
    def->n_columns = l.columns.n;
    def->keys = l.keys.v;
    def->n_keys = l.keys.n;
    def->fks = l.fks.v;
    def->n_fks = l.fks.n;
    def->checks = l.checks.v;
    def->n_checks = l.checks.n;
}

static void table_options(struct sql_parser *p, struct sql_table_def *def)
{
    struct ps_vec vec = {0};

    while (ps_option(p, &vec)) {
        if (ps_is(p, T_COMMA))
            ps_next(p);
    }
    if (ps_is_word(p, W_WITH) && ps_peek_word(p, 1, W_SYSTEM))
        ps_refuse(p, "system-versioned tables");
    def->options = vec.v;
    def->n_options = vec.n;
    if (ps_is_word(p, W_PARTITION) && ps_peek_word(p, 1, W_BY))
        def->partition = ps_partition_text(p);
}

static bool at_query(struct sql_parser *p)
{
    return ps_starts_query(p) || ps_is(p, T_OPEN);
}

/* At a ( : is what it holds a query, or LIKE? */
static bool query_in_parens(struct sql_parser *p)
{
    return ps_peek_word(p, 1, W_SELECT) || ps_peek_word(p, 1, W_WITH) ||
           ps_peek_word(p, 1, W_TABLE) || ps_peek_word(p, 1, W_VALUES) ||
           ps_peek(p, 1)->kind == T_OPEN;
}

static void create_table(struct sql_parser *p, struct sql_stmt *s, bool or_replace)
{
    struct sql_create_table *t = ps_new(p, sizeof(*t));

    s->kind = SQL_STMT_CREATE_TABLE;
    s->create_table = t;
    t->or_replace = or_replace;
    t->temporary = ps_accept_word(p, W_TEMPORARY);
    ps_expect_word(p, W_TABLE);
    t->if_not_exists = ps_accept_if_not_exists(p);
    t->table = ps_table_name(p);
    if (ps_accept_word(p, W_LIKE)) {
        t->like = ps_table_name(p);
        return;
    }
    if (ps_is(p, T_OPEN) && ps_peek_word(p, 1, W_LIKE)) {
        ps_next(p);
        ps_next(p);
        t->like = ps_table_name(p);
        ps_expect(p, T_CLOSE);
        return;
    }
    if (ps_is(p, T_OPEN) && !query_in_parens(p))
        table_items(p, &t->def);
    table_options(p, &t->def);
    t->as_ignore = ps_accept_word(p, W_IGNORE);
    t->as_replace = !t->as_ignore && ps_accept_word(p, W_REPLACE);
    if (ps_accept_word(p, W_AS) || at_query(p))
        t->as = ps_query(p);
    else if (t->as_ignore || t->as_replace)
        ps_fail(p);
    else if (!t->def.n_columns && !p->failed)
        ps_error(p, DB_E_NO_COLUMNS, STR_NONE);
}

/* ---- indexes ---- */

/* INDEX [IF NOT EXISTS] name [USING x] ON t (parts) */
static void create_index(struct sql_parser *p, struct sql_stmt *s)
{
    struct sql_create_index *i = ps_new(p, sizeof(*i));

    s->kind = SQL_STMT_CREATE_INDEX;
    s->create_index = i;
    i->key.kind = SQL_KEY_INDEX;
    if (ps_accept_word(p, W_UNIQUE))
        i->key.kind = SQL_KEY_UNIQUE;
    else if (ps_accept_word(p, W_FULLTEXT))
        i->key.kind = SQL_KEY_FULLTEXT;
    else if (ps_accept_word(p, W_SPATIAL))
        i->key.kind = SQL_KEY_SPATIAL;
    ps_expect_word(p, W_INDEX);
    i->if_not_exists = ps_accept_if_not_exists(p);
    i->key.name = ps_name(p);
    ps_key_using(p, &i->key);
    ps_expect_word(p, W_ON);
    i->table = ps_table_name(p);
    ps_key_parts(p, &i->key);
    while (ps_is_word(p, W_ALGORITHM) || ps_is_word(p, W_LOCK)) {
        ps_next(p);
        (void)ps_accept(p, T_EQ);
        if (!ps_accept_word(p, W_DEFAULT))
            (void)ps_name(p);
    }
}

/* ---- views ---- */

/* ALGORITHM = x, DEFINER = user@host, SQL SECURITY x: whether a view may follow. */
static void view_words(struct sql_parser *p)
{
    if (ps_accept_word(p, W_ALGORITHM)) {
        ps_expect(p, T_EQ);
        (void)ps_name(p);
    }
    if (ps_accept_word(p, W_DEFINER)) {
        ps_expect(p, T_EQ);
        if (ps_accept_word(p, W_CURRENT_USER)) {
            if (ps_accept(p, T_OPEN))
                ps_expect(p, T_CLOSE);
        } else {
            (void)ps_name_or_string(p);
            (void)ps_accept(p, T_USER_VAR); /* @host */
            (void)ps_accept(p, T_PERCENT);
        }
    }
    if (ps_accept_word(p, W_SQL)) {
        ps_expect_word(p, W_SECURITY);
        if (!ps_accept_word(p, W_DEFINER))
            ps_expect_word(p, W_INVOKER);
    }
}

static void create_view(struct sql_parser *p, struct sql_stmt *s, bool or_replace)
{
    struct sql_create_view *v = ps_new(p, sizeof(*v));
    uint32_t pos;

    s->kind = SQL_STMT_CREATE_VIEW;
    s->create_view = v;
    v->or_replace = or_replace;
    ps_next(p);
    v->if_not_exists = ps_accept_if_not_exists(p);
    v->view = ps_table_name(p);
    if (ps_is(p, T_OPEN))
        v->columns = ps_name_list(p);
    ps_expect_word(p, W_AS);
    pos = p->tok.pos;
    v->query = ps_query(p);
    v->text = ps_text(p, pos);
    if (ps_accept_word(p, W_WITH)) {
        v->check_option = ps_accept_word(p, W_LOCAL) ? STR("LOCAL") : STR("CASCADED");
        if (str_eq(v->check_option, STR("CASCADED")))
            (void)ps_accept_word(p, W_CASCADED); /* the default */
        ps_expect_word(p, W_CHECK);
        ps_expect_word(p, W_OPTION);
    }
}

/* ---- databases ---- */

static void database(struct sql_parser *p, struct sql_stmt *s, enum sql_stmt_kind kind)
{
    struct ps_vec vec = {0};

    s->kind = kind;
    ps_next(p);
    if (kind == SQL_STMT_CREATE_DATABASE)
        s->if_exists = ps_accept_if_not_exists(p);
    /* ALTER DATABASE needs no name. */
    if (kind == SQL_STMT_CREATE_DATABASE ||
        (ps_is_name(p) && ps_peek(p, 1)->kind != T_EQ && !ps_is_word(p, W_CHARSET)))
        s->name = ps_name(p);
    while (ps_option(p, &vec))
        continue;
    if (ps_accept_words(p, W_READ, W_ONLY)) { /* of ALTER */
        (void)ps_accept(p, T_EQ);
        ps_next(p);
    } else if (kind == SQL_STMT_ALTER_DATABASE && vec.n == 0) {
        ps_fail(p);
    }
    s->options = vec.v;
    s->n_options = vec.n;
}

/* ---- all ---- */

enum { N_BODIES = 6 }; /* of these rows have bodies with semicolons */

static const struct {
    enum sql_word word;
    const char *create, *alter, *drop;
} refused[] = {
    {W_PROCEDURE, "CREATE PROCEDURE", "ALTER PROCEDURE", "DROP PROCEDURE"},
    {W_FUNCTION, "CREATE FUNCTION", "ALTER FUNCTION", "DROP FUNCTION"},
    {W_AGGREGATE, "CREATE FUNCTION", NULL, NULL},
    {W_TRIGGER, "CREATE TRIGGER", NULL, "DROP TRIGGER"},
    {W_EVENT, "CREATE EVENT", "ALTER EVENT", "DROP EVENT"},
    {W_PACKAGE, "CREATE PACKAGE", NULL, "DROP PACKAGE"},
    {W_SERVER, "CREATE SERVER", "ALTER SERVER", "DROP SERVER"},
    {W_TABLESPACE, "CREATE TABLESPACE", "ALTER TABLESPACE", "DROP TABLESPACE"},
    {W_UNDO, "CREATE TABLESPACE", "ALTER TABLESPACE", "DROP TABLESPACE"},
    {W_LOGFILE, "CREATE LOGFILE GROUP", "ALTER LOGFILE GROUP", "DROP LOGFILE GROUP"},
    {W_SEQUENCE, "CREATE SEQUENCE", "ALTER SEQUENCE", "DROP SEQUENCE"},
    {W_INSTANCE, NULL, "ALTER INSTANCE", NULL},
};

static bool at_account(const struct sql_parser *p)
{
    return ps_is_word(p, W_USER) || ps_is_word(p, W_ROLE);
}

/* Reads the statement to its end, whatever it is, with quotes and parentheses as they should be. */
void ps_account(struct sql_parser *p, struct sql_stmt *s)
{
    s->kind = SQL_STMT_ACCOUNT;
    while (!p->failed && !ps_is(p, T_END) && !ps_is(p, T_SEMICOLON)) {
        if (ps_is(p, T_BAD))
            ps_fail(p);
        ps_next(p);
    }
}

static bool refuse_object(struct sql_parser *p, enum sql_word verb)
{
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        const char *what = verb == W_CREATE  ? refused[i].create
                           : verb == W_ALTER ? refused[i].alter
                                             : refused[i].drop;

        if (what && (ps_is_word(p, refused[i].word) ||
                        (ps_is_word(p, W_TEMPORARY) && ps_peek_word(p, 1, refused[i].word)))) {
            p->refused_if_exists = ps_peek_word(p, 1, W_IF);
            p->refused_all = i < N_BODIES && verb != W_DROP;
            ps_refuse(p, what);
            return true;
        }
    }
    return false;
}

/* The end of what CREATE and ALTER may be about. */
static void account_or_view(
    struct sql_parser *p, struct sql_stmt *s, enum sql_word verb, bool or_replace)
{
    if (at_account(p)) {
        ps_account(p, s);
        return;
    }
    view_words(p);
    if (ps_is_word(p, W_VIEW))
        create_view(p, s, or_replace);
    else if (!refuse_object(p, verb))
        ps_fail(p);
}

void ps_stmt_create(struct sql_parser *p, struct sql_stmt *s)
{
    bool or_replace;

    ps_next(p);
    or_replace = ps_accept_words(p, W_OR, W_REPLACE);
    if (ps_is_word(p, W_TABLE) || (ps_is_word(p, W_TEMPORARY) && ps_peek_word(p, 1, W_TABLE))) {
        create_table(p, s, or_replace);
        return;
    }
    if (ps_is_word(p, W_INDEX) || ps_is_word(p, W_UNIQUE) || ps_is_word(p, W_FULLTEXT) ||
        (ps_is_word(p, W_SPATIAL) && ps_peek_word(p, 1, W_INDEX))) {
        create_index(p, s);
        return;
    }
    if (ps_is_word(p, W_DATABASE) || ps_is_word(p, W_SCHEMA))
        database(p, s, SQL_STMT_CREATE_DATABASE);
    else
        account_or_view(p, s, W_CREATE, or_replace);
}

static void alter_other(struct sql_parser *p, struct sql_stmt *s)
{
    if (ps_is_word(p, W_DATABASE) || ps_is_word(p, W_SCHEMA))
        database(p, s, SQL_STMT_ALTER_DATABASE);
    else
        account_or_view(p, s, W_ALTER, true);
}

void ps_stmt_alter(struct sql_parser *p, struct sql_stmt *s)
{
    ps_next(p);
    (void)ps_accept_word(p, W_ONLINE);
    if (ps_is_word(p, W_TABLE) || (ps_is_word(p, W_IGNORE) && ps_peek_word(p, 1, W_TABLE)))
        ps_alter_table(p, s);
    else
        alter_other(p, s);
}

/* ---- DROP, TRUNCATE, RENAME ---- */

static void names(struct sql_parser *p, struct sql_drop *d)
{
    struct ps_vec vec = {0};

    do {
        struct sql_name n = ps_table_name(p);

        *(struct sql_name *)ps_add(p, &vec, sizeof(n)) = n;
    } while (ps_accept(p, T_COMMA));
    d->names = vec.v;
    d->n_names = vec.n;
}

static void drop_index(struct sql_parser *p, struct sql_drop *d)
{
    ps_next(p);
    d->if_exists = ps_accept_if_exists(p);
    d->index = ps_is_word(p, W_PRIMARY) ? p->tok.s : STR_NONE;
    if (d->index.len)
        ps_next(p);
    else
        d->index = ps_name(p);
    ps_expect_word(p, W_ON);
    d->names = ps_new(p, sizeof(*d->names));
    d->n_names = 1;
    d->names[0] = ps_table_name(p);
    while (ps_is_word(p, W_ALGORITHM) || ps_is_word(p, W_LOCK)) {
        ps_next(p);
        (void)ps_accept(p, T_EQ);
        if (!ps_accept_word(p, W_DEFAULT))
            (void)ps_name(p);
    }
}

static void drop_tables(struct sql_parser *p, struct sql_drop *d)
{
    ps_next(p);
    d->if_exists = ps_accept_if_exists(p);
    names(p, d);
    if (!ps_accept_word(p, W_RESTRICT))
        (void)ps_accept_word(p, W_CASCADE); /* neither means anything */
}

void ps_stmt_drop(struct sql_parser *p, struct sql_stmt *s)
{
    struct sql_drop *d = ps_new(p, sizeof(*d));

    ps_next(p);
    if (ps_is_word(p, W_DATABASE) || ps_is_word(p, W_SCHEMA)) {
        s->kind = SQL_STMT_DROP_DATABASE;
        ps_next(p);
        s->if_exists = ps_accept_if_exists(p);
        s->name = ps_name(p);
        return;
    }
    if (at_account(p)) {
        ps_account(p, s);
        return;
    }
    if (ps_accept_word(p, W_PREPARE)) {
        s->kind = SQL_STMT_DEALLOCATE;
        s->name = ps_name(p);
        return;
    }
    s->drop = d;
    if (ps_is_word(p, W_TEMPORARY) &&
        (ps_peek_word(p, 1, W_TABLE) || ps_peek_word(p, 1, W_TABLES))) {
        ps_next(p);
        d->temporary = true;
    }
    if (ps_is_word(p, W_TABLE) || ps_is_word(p, W_TABLES)) {
        s->kind = SQL_STMT_DROP_TABLE;
        drop_tables(p, d);
    } else if (ps_is_word(p, W_VIEW)) {
        s->kind = SQL_STMT_DROP_VIEW;
        drop_tables(p, d);
    } else if (ps_is_word(p, W_INDEX)) {
        s->kind = SQL_STMT_DROP_INDEX;
        drop_index(p, d);
    } else if (!refuse_object(p, W_DROP)) {
        ps_fail(p);
    }
}

void ps_stmt_truncate(struct sql_parser *p, struct sql_stmt *s)
{
    ps_next(p);
    (void)ps_accept_word(p, W_TABLE); /* may be left out */
    s->kind = SQL_STMT_TRUNCATE;
    s->drop = ps_new(p, sizeof(*s->drop));
    s->drop->names = ps_new(p, sizeof(*s->drop->names));
    s->drop->n_names = 1;
    s->drop->names[0] = ps_table_name(p);
}

/* RENAME TABLE a TO b, c TO d; RENAME USER */
void ps_stmt_rename(struct sql_parser *p, struct sql_stmt *s)
{
    struct ps_vec vec = {0};

    ps_next(p);
    if (at_account(p)) {
        ps_account(p, s);
        return;
    }
    s->kind = SQL_STMT_RENAME_TABLE;
    if (!ps_accept_word(p, W_TABLES))
        ps_expect_word(p, W_TABLE);
    (void)ps_accept_if_exists(p);
    do {
        struct sql_rename r;

        r.from = ps_table_name(p);
        ps_expect_word(p, W_TO);
        r.to = ps_table_name(p);
        *(struct sql_rename *)ps_add(p, &vec, sizeof(r)) = r;
    } while (ps_accept(p, T_COMMA));
    s->renames = vec.v;
    s->n_renames = vec.n;
}
