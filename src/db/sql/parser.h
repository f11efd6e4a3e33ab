/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_SQL_PARSER_H
#define EPHPM_DB_SQL_PARSER_H

/*
 * What the files of the parser share; parse.h is what others see.
 *
 * Errors stick: the first one is written down, and from then on the current token is T_END, so
 * that every loop ends and nothing is accepted any more. Functions therefore return nodes that are
 * never NULL and callers need not look; sql_parse() looks once, at the end.
 *
 * Recursion is bounded by ps_enter(); depth of trees (chains of operators make deep ones without
 * recursion) by ps_expr_done(), so that whoever walks a tree may recurse.
 */

#include "db/sql/lexer.h"
#include "db/sql/parse.h"

enum { PS_AHEAD = 5, PS_MAX_NESTING = 400, PS_MAX_DEPTH = 500 };

/* Bytes of the arena that one statement may take. */
#define PS_MAX_MEMORY ((size_t)1 << 30)

struct sql_parser {
    struct arena *arena;
    struct db_error *e;
    struct sql_lexer lexer;
    struct str text; /* from the statement's first byte to the end of all */
    uint32_t mode;
    struct sql_token tok; /* the current one */
    struct sql_token ahead[PS_AHEAD];
    uint32_t ahead_first, ahead_n;
    uint32_t prev_end; /* of the token before the current one */
    uint32_t nesting;
    uint32_t deepest; /* depth of the deepest expression since it was last set to 0 */
    uint32_t n_params;
    uint32_t queries; /* in one another, here */
    size_t memory;    /* of the arena at the beginning */
    bool failed;
    const char *refused;    /* failed, since this is not supported */
    bool refused_all;       /* all of the text: its body holds semicolons */
    bool refused_if_exists; /* it had IF EXISTS or IF NOT EXISTS */
    struct sql_expr *seed;  /* read already: the operand that the next expression begins with */
};

/* ---- tokens ---- */

void ps_next(struct sql_parser *p);
/* The token n after the current one, 1 <= n <= PS_AHEAD. */
const struct sql_token *ps_peek(struct sql_parser *p, uint32_t n);
bool ps_peek_word(struct sql_parser *p, uint32_t n, enum sql_word w);

static inline bool ps_is(const struct sql_parser *p, enum sql_token_kind kind)
{
    return p->tok.kind == kind;
}

static inline bool ps_is_word(const struct sql_parser *p, enum sql_word w)
{
    return p->tok.kind == T_WORD && p->tok.word == w;
}

/* Consumes the current token if it is that one. */
bool ps_accept(struct sql_parser *p, enum sql_token_kind kind);
bool ps_accept_word(struct sql_parser *p, enum sql_word w);
/* Both words, one after the other, or none. */
bool ps_accept_words(struct sql_parser *p, enum sql_word a, enum sql_word b);
void ps_expect(struct sql_parser *p, enum sql_token_kind kind);
void ps_expect_word(struct sql_parser *p, enum sql_word w);

/* Error 1064 at the current token. */
void ps_fail(struct sql_parser *p);
/* Error 1064 at a position. */
void ps_fail_at(struct sql_parser *p, uint32_t pos);
/* Another error. */
void ps_error(struct sql_parser *p, enum db_error_name name, struct str what);
/* Understood and not supported; the rest of the statement is skipped. what is static. */
void ps_refuse(struct sql_parser *p, const char *what);
/* One level deeper; fails when it is too deep. ps_leave() follows in any case. */
bool ps_enter(struct sql_parser *p);
void ps_leave(struct sql_parser *p);

/* ---- memory ---- */

void *ps_new(struct sql_parser *p, size_t size);
struct ps_vec {
    void *v;
    uint32_t n, cap;
};
/* Room for one more, zeroed; valid until the next. */
void *ps_add(struct sql_parser *p, struct ps_vec *vec, size_t size);
void ps_add_expr(struct sql_parser *p, struct ps_vec *vec, struct sql_expr *e);
/* Text of the statement from a position to the end of the token before the current one. */
struct str ps_text(const struct sql_parser *p, uint32_t from);
struct str ps_lower(struct sql_parser *p, struct str s);
struct str ps_upper(struct sql_parser *p, struct str s);

/* ---- names ---- */

bool ps_token_is_name(const struct sql_token *t);
static inline bool ps_is_name(const struct sql_parser *p)
{
    return ps_token_is_name(&p->tok);
}
struct str ps_name(struct sql_parser *p);
/* A name or a string. */
struct str ps_name_or_string(struct sql_parser *p);
struct str ps_string(struct sql_parser *p);
/* [schema .] name */
struct sql_name ps_table_name(struct sql_parser *p);
/* ( name, ... ) */
struct sql_names ps_name_list(struct sql_parser *p);
/* Name of a character set, canonical and in lower case. */
struct str ps_charset(struct sql_parser *p);
/* CHARACTER SET, CHARSET, CHAR SET: consumed or nothing. */
bool ps_accept_charset(struct sql_parser *p);
uint64_t ps_uint(struct sql_parser *p, uint64_t max);
bool ps_accept_if_exists(struct sql_parser *p);
bool ps_accept_if_not_exists(struct sql_parser *p);
/* Skips what is in parentheses, at the ( */
void ps_skip_parens(struct sql_parser *p);

/* ---- expressions: parse_expr.c, parse_primary.c, parse_call.c, parse_window.c ---- */

struct sql_expr *ps_expr(struct sql_parser *p);
/* Without comparisons, IN, LIKE, AND ...: MySQL's bit_expr. */
struct sql_expr *ps_bit_expr(struct sql_parser *p);
struct sql_expr *ps_unary(struct sql_parser *p);
/* An expression, or DEFAULT. */
struct sql_expr *ps_expr_or_default(struct sql_parser *p);
/* expr, ... */
struct sql_exprs ps_exprs(struct sql_parser *p);
/* ( expr, ... ), perhaps empty */
struct sql_exprs ps_args(struct sql_parser *p);
struct sql_expr *ps_primary(struct sql_parser *p);
/* The same without COLLATE and -> behind it. */
struct sql_expr *ps_operand(struct sql_parser *p);
struct sql_expr *ps_column(struct sql_parser *p);
/* At a name or word that ( follows. */
struct sql_expr *ps_call(struct sql_parser *p);
/* Functions that are called without parentheses too: NOW's kin, CURRENT_USER. */
struct sql_expr *ps_call_now(struct sql_parser *p);
struct sql_expr *ps_call_values(struct sql_parser *p);
struct sql_expr *ps_call_interval(struct sql_parser *p);
struct sql_expr *ps_call_match(struct sql_parser *p);
/* Behind the name and the arguments: OVER, if it is there. */
void ps_over(struct sql_parser *p, struct sql_expr *call);
void ps_window_spec(struct sql_parser *p, struct sql_window *w);
enum sql_unit ps_unit(struct sql_parser *p);
/* INTERVAL was read: expr unit, for a + or - from there on; the node has no a. */
struct sql_expr *ps_interval(struct sql_parser *p);

struct sql_expr *ps_expr_new(struct sql_parser *p, enum sql_expr_kind kind, uint32_t pos);
/* The node is complete: sets its end, checks its depth. */
struct sql_expr *ps_expr_done(struct sql_parser *p, struct sql_expr *e);
struct sql_expr *ps_string_expr(struct sql_parser *p);
/* The query as a value, which begins at pos. */
struct sql_expr *ps_subquery(struct sql_parser *p, struct sql_query *q, uint32_t pos, uint32_t old);

/* ---- types: parse_type.c ---- */

/* serial may be NULL. */
void ps_type(struct sql_parser *p, struct db_type *t, bool *serial);
void ps_cast_type(struct sql_parser *p, struct db_type *t);

/* ---- queries: parse_query.c, parse_table.c ---- */

bool ps_starts_query(struct sql_parser *p);
struct sql_query *ps_query(struct sql_parser *p);
/* A query that follows WITH or not, in parentheses; at the (. */
struct sql_query *ps_query_in_parens(struct sql_parser *p);
/* A query that was in parentheses turns out to be the first part of a larger one. */
struct sql_query *ps_query_goes_on(struct sql_parser *p, struct sql_query *first);
bool ps_query_may_go_on(const struct sql_parser *p);
void ps_with(struct sql_parser *p, bool *recursive, struct sql_cte **ctes, uint32_t *n);
struct sql_orders ps_order_by(struct sql_parser *p);
struct sql_orders ps_order_list(struct sql_parser *p);
void ps_limit(struct sql_parser *p, struct sql_limit *limit, bool with_offset);
struct sql_table *ps_tables(struct sql_parser *p);
struct str ps_alias(struct sql_parser *p);
void ps_skip_partition(struct sql_parser *p);

/* ---- statements ---- */

void ps_insert(struct sql_parser *p, struct sql_stmt *s);
void ps_update(struct sql_parser *p, struct sql_stmt *s, const struct sql_query *with);
void ps_delete(struct sql_parser *p, struct sql_stmt *s, const struct sql_query *with);
void ps_stmt_create(struct sql_parser *p, struct sql_stmt *s);
void ps_stmt_alter(struct sql_parser *p, struct sql_stmt *s);
void ps_alter_table(struct sql_parser *p, struct sql_stmt *s);
/* Reads what is about accounts to its end, as a SQL_STMT_ACCOUNT. */
void ps_account(struct sql_parser *p, struct sql_stmt *s);
void ps_stmt_drop(struct sql_parser *p, struct sql_stmt *s);
void ps_stmt_truncate(struct sql_parser *p, struct sql_stmt *s);
void ps_stmt_rename(struct sql_parser *p, struct sql_stmt *s);
void ps_stmt_set(struct sql_parser *p, struct sql_stmt *s);
void ps_stmt_show(struct sql_parser *p, struct sql_stmt *s);
void ps_stmt_explain(struct sql_parser *p, struct sql_stmt *s);
/* All that is left; false when it is none of them. */
bool ps_stmt_other(struct sql_parser *p, struct sql_stmt *s);
/* SET TRANSACTION's ISOLATION LEVEL and READ ONLY. */
void ps_set_transaction(struct sql_parser *p, struct sql_set *set);
/* READ ONLY: 1, READ WRITE: 2, else 0 and nothing is read. */
int ps_access(struct sql_parser *p);

/* ---- definitions: parse_column.c, parse_key.c, parse_option.c ---- */

/* At what follows the column's name. */
void ps_column_def(struct sql_parser *p, struct sql_column_def *c);
/* The value of DEFAULT. */
struct sql_expr *ps_default_value(struct sql_parser *p);
void ps_references(struct sql_parser *p, struct sql_fk *fk);
void ps_check(struct sql_parser *p, struct sql_check *c);
/* Does a key, a foreign key or a check begin here (and not a column)? */
bool ps_at_constraint(struct sql_parser *p);
enum ps_constraint { PS_KEY, PS_FK, PS_CHECK };
struct ps_constraint_def {
    enum ps_constraint kind;
    struct sql_key key;
    struct sql_fk fk;
    struct sql_check check;
    bool if_not_exists;
};
void ps_constraint(struct sql_parser *p, struct ps_constraint_def *c);
/* ( part, ... ) and the options behind it. */
void ps_key_parts(struct sql_parser *p, struct sql_key *key);
void ps_key_using(struct sql_parser *p, struct sql_key *key);
/* One option of a table or a database, added to vec; false when there is none. */
bool ps_option(struct sql_parser *p, struct ps_vec *vec);
/* Text up to the end of the statement, or to AS or SELECT outside of parentheses. */
struct str ps_partition_text(struct sql_parser *p);

void ps_stmt_query(struct sql_parser *p, struct sql_stmt *s);
void ps_with_stmt(struct sql_parser *p, struct sql_stmt *s);
void ps_stmt(struct sql_parser *p, struct sql_stmt *s);

#endif
