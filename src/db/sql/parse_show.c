/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * SHOW, DESCRIBE, EXPLAIN.
 */
#include "db/sql/parser.h"

/* ---- pieces ---- */

/* FROM or IN */
static bool from(struct sql_parser *p)
{
    return ps_accept_word(p, W_FROM) || ps_accept_word(p, W_IN);
}

static void filter(struct sql_parser *p, struct sql_show_stmt *s)
{
    if (ps_accept_word(p, W_LIKE))
        s->like = ps_string_expr(p);
    else if (ps_accept_word(p, W_WHERE))
        s->where = ps_expr(p);
}

/* [FROM db] [LIKE | WHERE] */
static void of_database(struct sql_parser *p, struct sql_show_stmt *s)
{
    if (from(p))
        s->table.schema = ps_name(p);
    filter(p, s);
}

/* FROM t [FROM db] [LIKE | WHERE] */
static void of_table(struct sql_parser *p, struct sql_show_stmt *s)
{
    if (!from(p))
        ps_fail(p);
    s->table = ps_table_name(p);
    if (from(p))
        s->table.schema = ps_name(p);
    filter(p, s);
}

/* Skips to the end: what an empty result needs no more of. */
static void skip_rest(struct sql_parser *p)
{
    while (!p->failed && !ps_is(p, T_END) && !ps_is(p, T_SEMICOLON)) {
        if (ps_is(p, T_BAD))
            ps_fail(p);
        ps_next(p);
    }
}

static void limit(struct sql_parser *p, struct sql_show_stmt *s)
{
    ps_limit(p, &s->limit, true);
}

/* ---- SHOW CREATE ---- */

static void create(struct sql_parser *p, struct sql_show_stmt *s)
{
    static const enum sql_word others[] = {
        W_PROCEDURE, W_FUNCTION, W_TRIGGER, W_EVENT, W_SEQUENCE, W_PACKAGE};
    size_t i = 0;

    if (ps_accept_word(p, W_TABLE)) {
        s->what = SQL_SHOW_CREATE_TABLE;
        s->table = ps_table_name(p);
    } else if (ps_accept_word(p, W_VIEW)) {
        s->what = SQL_SHOW_CREATE_VIEW;
        s->table = ps_table_name(p);
    } else if (ps_accept_word(p, W_DATABASE) || ps_accept_word(p, W_SCHEMA)) {
        s->what = SQL_SHOW_CREATE_DATABASE;
        s->if_not_exists = ps_accept_if_not_exists(p);
        s->table.schema = ps_name(p);
    } else if (ps_accept_word(p, W_USER)) {
        s->what = SQL_SHOW_CREATE_OTHER;
        s->option = STR("USER");
        skip_rest(p);
    } else {
        while (i < ARRAY_LEN(others) && !ps_is_word(p, others[i]))
            i++;
        if (i == ARRAY_LEN(others))
            ps_fail(p);
        s->what = SQL_SHOW_CREATE_OTHER;
        s->option = sql_word_text(p->tok.word);
        ps_next(p);
        s->table = ps_table_name(p);
    }
}

/* ---- what takes several words ---- */

static bool show_full(struct sql_parser *p, struct sql_show_stmt *s)
{
    if (ps_accept_word(p, W_TABLES)) {
        s->what = SQL_SHOW_TABLES;
        of_database(p, s);
    } else if (ps_accept_word(p, W_COLUMNS) || ps_accept_word(p, W_FIELDS)) {
        s->what = SQL_SHOW_COLUMNS;
        of_table(p, s);
    } else if (ps_accept_word(p, W_PROCESSLIST)) {
        s->what = SQL_SHOW_PROCESSLIST;
    } else if (ps_accept_word(p, W_TRIGGERS)) {
        s->what = SQL_SHOW_TRIGGERS;
        of_database(p, s);
    } else {
        return false;
    }
    return true;
}

static bool show_status(struct sql_parser *p, struct sql_show_stmt *s)
{
    if (ps_accept_words(p, W_TABLE, W_STATUS)) {
        s->what = SQL_SHOW_TABLE_STATUS;
        of_database(p, s);
    } else if (ps_accept_words(p, W_OPEN, W_TABLES)) {
        s->what = SQL_SHOW_OPEN_TABLES;
        of_database(p, s);
    } else if (ps_accept_words(p, W_PROCEDURE, W_STATUS)) {
        s->what = SQL_SHOW_PROCEDURE_STATUS;
        filter(p, s);
    } else if (ps_accept_words(p, W_FUNCTION, W_STATUS)) {
        s->what = SQL_SHOW_FUNCTION_STATUS;
        filter(p, s);
    } else if (ps_accept_words(p, W_CHARACTER, W_SET) || ps_accept_word(p, W_CHARSET) ||
               ps_accept_words(p, W_CHAR, W_SET)) {
        s->what = SQL_SHOW_CHARSET;
        filter(p, s);
    } else {
        return false;
    }
    return true;
}

/* SHOW [GLOBAL | SESSION] STATUS, VARIABLES */
static bool show_scoped(struct sql_parser *p, struct sql_show_stmt *s)
{
    if (ps_is_word(p, W_GLOBAL))
        s->scope = SQL_SCOPE_GLOBAL;
    else if (ps_is_word(p, W_SESSION) || ps_is_word(p, W_LOCAL))
        s->scope = SQL_SCOPE_SESSION;
    if (s->scope)
        ps_next(p);
    if (ps_accept_word(p, W_VARIABLES))
        s->what = SQL_SHOW_VARIABLES;
    else if (ps_accept_word(p, W_STATUS))
        s->what = SQL_SHOW_STATUS;
    else
        return false;
    filter(p, s);
    return true;
}

static bool show_messages(struct sql_parser *p, struct sql_show_stmt *s)
{
    if (ps_is_word(p, W_COUNT) && ps_peek(p, 1)->kind == T_OPEN) {
        ps_next(p);
        ps_next(p);
        ps_expect(p, T_STAR);
        ps_expect(p, T_CLOSE);
        s->count = true;
    }
    if (ps_accept_word(p, W_WARNINGS))
        s->what = SQL_SHOW_WARNINGS;
    else if (ps_accept_word(p, W_ERRORS))
        s->what = SQL_SHOW_ERRORS;
    else
        return false;
    if (!s->count)
        limit(p, s);
    return true;
}

static bool show_index(struct sql_parser *p, struct sql_show_stmt *s)
{
    if (!ps_accept_word(p, W_INDEX) && !ps_accept_word(p, W_INDEXES) && !ps_accept_word(p, W_KEYS))
        return false;
    s->what = SQL_SHOW_INDEX;
    of_table(p, s);
    return true;
}

static bool show_grants(struct sql_parser *p, struct sql_show_stmt *s)
{
    if (!ps_accept_word(p, W_GRANTS))
        return false;
    s->what = SQL_SHOW_GRANTS;
    if (ps_accept_word(p, W_FOR)) {
        uint32_t pos = p->tok.pos;

        skip_rest(p);
        s->option = ps_text(p, pos);
        if (s->option.len == 0)
            ps_fail(p);
    }
    return true;
}

static bool show_engine(struct sql_parser *p, struct sql_show_stmt *s)
{
    if (ps_accept_words(p, W_STORAGE, W_ENGINES) || ps_accept_word(p, W_ENGINES)) {
        s->what = SQL_SHOW_ENGINES;
        return true;
    }
    if (!ps_accept_word(p, W_ENGINE))
        return false;
    s->what = SQL_SHOW_ENGINE_STATUS;
    s->table.name = ps_accept_word(p, W_ALL) ? STR("ALL") : ps_name_or_string(p);
    s->option = ps_upper(p, p->tok.s);
    if (!ps_is_word(p, W_STATUS) && !ps_is_word(p, W_LOGS) && !ps_is_word(p, W_MUTEX))
        ps_fail(p);
    ps_next(p);
    return true;
}

/* MASTER STATUS, REPLICA STATUS and all that is empty without replication */
static bool show_replication(struct sql_parser *p, struct sql_show_stmt *s)
{
    if (ps_accept_words(p, W_MASTER, W_STATUS) || ps_accept_words(p, W_BINLOG, W_STATUS)) {
        s->what = SQL_SHOW_MASTER_STATUS;
        return true;
    }
    if (ps_accept_words(p, W_MASTER, W_LOGS) || ps_accept_words(p, W_BINARY, W_LOGS)) {
        s->what = SQL_SHOW_BINARY_LOGS;
        return true;
    }
    if (ps_is_word(p, W_BINARY) && ps_peek(p, 1)->kind == T_WORD &&
        str_ieq(ps_peek(p, 1)->s, STR("LOG"))) {
        ps_next(p);
        ps_next(p);
        ps_expect_word(p, W_STATUS);
        s->what = SQL_SHOW_MASTER_STATUS;
        return true;
    }
    if (ps_accept_words(p, W_ALL, W_SLAVES) || ps_accept_words(p, W_ALL, W_REPLICAS) ||
        ((ps_is_word(p, W_SLAVE) || ps_is_word(p, W_REPLICA)) &&
            (ps_peek_word(p, 1, W_STATUS) || ps_peek_word(p, 1, W_HOSTS)))) {
        s->what = SQL_SHOW_REPLICA_STATUS;
        skip_rest(p);
        return true;
    }
    if (ps_accept_words(p, W_BINLOG, W_EVENTS) || ps_accept_words(p, W_RELAYLOG, W_EVENTS))
        ps_refuse(p, "SHOW BINLOG EVENTS");
    return false;
}

/* ---- what takes one word ---- */

static bool show_simple(struct sql_parser *p, struct sql_show_stmt *s)
{
    static const struct {
        enum sql_word word;
        enum sql_show what;
        void (*more)(struct sql_parser *p, struct sql_show_stmt *s);
    } rows[] = {
        {W_DATABASES, SQL_SHOW_DATABASES, filter},
        {W_SCHEMAS, SQL_SHOW_DATABASES, filter},
        {W_COLLATION, SQL_SHOW_COLLATION, filter},
        {W_PLUGINS, SQL_SHOW_PLUGINS, NULL},
        {W_PRIVILEGES, SQL_SHOW_PRIVILEGES, NULL},
        {W_EVENTS, SQL_SHOW_EVENTS, of_database},
        {W_PROFILES, SQL_SHOW_PROFILES, NULL},
        {W_REPLICAS, SQL_SHOW_REPLICA_STATUS, NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!ps_accept_word(p, rows[i].word))
            continue;
        s->what = rows[i].what;
        if (rows[i].more)
            rows[i].more(p, s);
        return true;
    }
    if (ps_accept_word(p, W_PROFILE)) {
        s->what = SQL_SHOW_PROFILES;
        skip_rest(p);
        return true;
    }
    return false;
}

void ps_stmt_show(struct sql_parser *p, struct sql_stmt *s)
{
    struct sql_show_stmt *show = ps_new(p, sizeof(*show));

    s->kind = SQL_STMT_SHOW;
    s->show = show;
    ps_next(p);
    if (ps_accept_word(p, W_CREATE)) {
        create(p, show);
        return;
    }
    show->extended = ps_accept_word(p, W_EXTENDED);
    show->full = ps_accept_word(p, W_FULL);
    if (show_full(p, show))
        return;
    if (show->full || (!show_index(p, show) && show->extended)) {
        ps_fail(p);
        return;
    }
    if (show->what == SQL_SHOW_INDEX)
        return;
    if (!show_scoped(p, show) && !show_status(p, show) && !show_messages(p, show) &&
        !show_grants(p, show) && !show_engine(p, show) && !show_replication(p, show) &&
        !show_simple(p, show))
        ps_fail(p);
}

/* ---- DESCRIBE, EXPLAIN ---- */

/* t [column | 'pattern'] */
static void describe(struct sql_parser *p, struct sql_stmt *s)
{
    struct sql_show_stmt *show = ps_new(p, sizeof(*show));

    s->kind = SQL_STMT_DESCRIBE;
    s->show = show;
    show->what = SQL_SHOW_COLUMNS;
    show->table = ps_table_name(p);
    if (ps_is(p, T_STRING)) {
        show->like = ps_string_expr(p);
    } else if (ps_is_name(p)) {
        show->like = ps_expr_new(p, SQL_STRING, p->tok.pos);
        show->like->s = ps_name(p);
        show->like = ps_expr_done(p, show->like);
    }
}

static bool explainable(const struct sql_parser *p)
{
    static const enum sql_word words[] = {
        W_SELECT, W_INSERT, W_REPLACE, W_UPDATE, W_DELETE, W_WITH, W_VALUES, W_TABLE};

    if (ps_is(p, T_OPEN))
        return true;
    for (size_t i = 0; ps_is(p, T_WORD) && i < ARRAY_LEN(words); i++) {
        if (p->tok.word == words[i])
            return true;
    }
    return false;
}

void ps_stmt_explain(struct sql_parser *p, struct sql_stmt *s)
{
    bool option = true;

    ps_next(p);
    if (ps_is_word(p, W_EXTENDED) || ps_is_word(p, W_PARTITIONS) || ps_is_word(p, W_ANALYZE)) {
        if (ps_is_word(p, W_ANALYZE))
            s->name = STR("ANALYZE");
        if (ps_peek(p, 1)->kind == T_WORD || ps_peek(p, 1)->kind == T_OPEN)
            ps_next(p);
    }
    if (ps_is_word(p, W_FORMAT) && ps_peek(p, 1)->kind == T_EQ) {
        ps_next(p);
        ps_next(p);
        s->name = ps_upper(p, ps_name_or_string(p));
    } else if (s->name.len == 0) {
        option = false;
    }
    if (ps_accept_words(p, W_FOR, W_CONNECTION)) {
        ps_refuse(p, "EXPLAIN FOR CONNECTION");
    } else if (explainable(p)) {
        s->kind = SQL_STMT_EXPLAIN;
        s->inner = ps_new(p, sizeof(*s->inner));
        ps_stmt(p, s->inner);
    } else if (option) {
        ps_fail(p);
    } else {
        describe(p, s);
    }
}
