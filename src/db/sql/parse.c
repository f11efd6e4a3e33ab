/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * The parser's entrance, and which statement it is.
 */
#include "db/sql/parse.h"

#include "base/err.h"
#include "db/sql/parser.h"

static void begin(struct sql_parser *p, struct arena *arena, struct str text,
    const struct sql_parse_options *options, struct db_error *e)
{
    *p = (struct sql_parser){.arena = arena,
        .e = e,
        .text = text,
        .mode = options ? options->mode : 0,
        .memory = arena_used(arena)};
    sql_lexer_init(&p->lexer, arena, text, p->mode, options ? options->version : 0);
    ps_next(p);
    p->prev_end = 0;
}

/* Is there anything but space and comments? */
static void empty(struct sql_parser *p, struct sql_stmt *s)
{
    if (p->tok.pos == 0)
        ps_error(p, DB_E_EMPTY_QUERY, STR_NONE);
    s->kind = SQL_STMT_EMPTY;
}

void ps_stmt(struct sql_parser *p, struct sql_stmt *s)
{
    if (ps_is(p, T_END) || ps_is(p, T_SEMICOLON)) {
        empty(p, s);
        return;
    }
    if (ps_is(p, T_OPEN)) {
        ps_stmt_query(p, s);
        return;
    }
    switch (ps_is(p, T_WORD) ? p->tok.word : W_NO_WORD) {
    case W_SELECT:
    case W_VALUES:
    case W_TABLE:
        ps_stmt_query(p, s);
        break;
    case W_WITH:
        ps_with_stmt(p, s);
        break;
    case W_INSERT:
    case W_REPLACE:
        ps_insert(p, s);
        break;
    case W_UPDATE:
        ps_update(p, s, NULL);
        break;
    case W_DELETE:
        ps_delete(p, s, NULL);
        break;
    case W_CREATE:
        ps_stmt_create(p, s);
        break;
    case W_ALTER:
        ps_stmt_alter(p, s);
        break;
    case W_DROP:
        ps_stmt_drop(p, s);
        break;
    case W_TRUNCATE:
        ps_stmt_truncate(p, s);
        break;
    case W_RENAME:
        ps_stmt_rename(p, s);
        break;
    case W_SET:
        ps_stmt_set(p, s);
        break;
    case W_SHOW:
        ps_stmt_show(p, s);
        break;
    case W_EXPLAIN:
    case W_DESCRIBE:
    case W_DESC:
        ps_stmt_explain(p, s);
        break;
    default:
        if (!ps_stmt_other(p, s))
            ps_fail(p);
    }
}

/* A refused statement is read to its end, which is all that must be known of it. */
static void skip_refused(struct sql_parser *p, struct sql_stmt *s)
{
    struct sql_token t;

    *s = (struct sql_stmt){
        .kind = SQL_STMT_REFUSED, .name = str_c(p->refused), .if_exists = p->refused_if_exists};
    do {
        sql_lexer_next(&p->lexer, &t);
    } while (t.kind != T_END && t.kind != T_BAD && (t.kind != T_SEMICOLON || p->refused_all));
    p->prev_end = t.pos;
    p->tok = t;
}

int sql_parse(struct arena *arena, struct str text, const struct sql_parse_options *options,
    struct sql_stmt **out, struct str *rest, struct db_error *e)
{
    struct sql_parser p;
    struct sql_stmt *s;

    while (text.len > 0 && strchr(" \t\r\n\v\f", text.p[0]) && text.p[0])
        text = str_sub(text, 1, text.len);
    if (text.len >= UINT32_MAX)
        return db_error_set(e, DB_E_PACKET_TOO_LARGE);
    begin(&p, arena, text, options, e);
    s = ps_new(&p, sizeof(*s));
    ps_stmt(&p, s);
    if (!p.failed && !ps_is(&p, T_END) && !ps_is(&p, T_SEMICOLON))
        ps_fail(&p);
    if (p.refused)
        skip_refused(&p, s);
    else if (p.failed)
        return ERR_INVAL;
    s->n_params = p.n_params;
    s->text = str_sub(text, 0, ps_is(&p, T_SEMICOLON) ? p.tok.pos : text.len);
    *rest = ps_is(&p, T_SEMICOLON) ? str_trim(str_sub(text, p.tok.end, text.len)) : STR_NONE;
    *out = s;
    return 0;
}

int sql_parse_expr(struct arena *arena, struct str text, const struct sql_parse_options *options,
    struct sql_expr **out, struct db_error *e)
{
    struct sql_parser p;
    struct sql_expr *expr;

    if (text.len >= UINT32_MAX)
        return db_error_set(e, DB_E_PACKET_TOO_LARGE);
    begin(&p, arena, text, options, e);
    expr = ps_expr(&p);
    if (!p.failed && !ps_is(&p, T_END))
        ps_fail(&p);
    if (p.refused)
        return db_error_set(e, DB_E_NOT_SUPPORTED_YET, p.refused);
    if (p.failed)
        return ERR_INVAL;
    *out = expr;
    return 0;
}

int sql_parse_type(struct arena *arena, struct str text, struct db_type *out, struct db_error *e)
{
    struct sql_parser p;
    struct db_type t;

    if (text.len >= UINT32_MAX)
        return db_error_set(e, DB_E_PACKET_TOO_LARGE);
    begin(&p, arena, text, NULL, e);
    ps_type(&p, &t, NULL);
    if (!p.failed && ps_accept_word(&p, W_COLLATE))
        t.collation = ps_lower(&p, ps_name_or_string(&p));
    if (!p.failed && !ps_is(&p, T_END))
        ps_fail(&p);
    if (p.failed)
        return ERR_INVAL;
    *out = t;
    return 0;
}
