/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_SQL_PARSE_H
#define EPHPM_DB_SQL_PARSE_H

/*
 * From text to tree (ast.h). Pure: no state, no I/O, any thread. A statement is understood whole or
 * refused with error 1064; nothing is ever passed on unread.
 *
 * Files in reading order: words.h (the words, reserved or not), lexer.h (tokens), parser.h (what
 * the parser's files share, and how its errors work), parse.c (which statement it is), parse_expr.c
 * with parse_primary.c, parse_call.c, parse_window.c and parse_type.c, parse_query.c with
 * parse_table.c, parse_change.c, parse_create.c with parse_column.c, parse_key.c and parse_alter.c,
 * parse_set.c, parse_show.c, parse_other.c. The way back is print.h; digest.h needs only the lexer.
 *
 * Depth of nesting and of trees is bounded, so whoever walks a tree may recurse; time is linear in
 * the text, and memory at most a gigabyte (error 1037).
 */

#include "base/arena.h"
#include "db/error.h"
#include "db/sql/ast.h"

struct sql_parse_options {
    uint32_t mode;    /* db_sql_mode */
    uint32_t version; /* of executable comments that count: 80036; a comment for later is skipped */
};

/*
 * Parses the first statement of text; *rest is what follows its semicolon, empty at the end. text
 * must be UTF-8 outside of _binary strings (bytes that are not are kept in strings and refused
 * elsewhere). On failure e is 1064 with MySQL's wording and *rest is untouched: what follows a bad
 * statement is not run.
 */
int sql_parse(struct arena *arena, struct str text, const struct sql_parse_options *options,
    struct sql_stmt **out, struct str *rest, struct db_error *e) MUST_CHECK;

/* One expression alone: defaults and generated columns kept in the catalog. */
int sql_parse_expr(struct arena *arena, struct str text, const struct sql_parse_options *options,
    struct sql_expr **out, struct db_error *e) MUST_CHECK;

/* One column type alone: "varchar(20) character set latin1". */
int sql_parse_type(
    struct arena *arena, struct str text, struct db_type *out, struct db_error *e) MUST_CHECK;

#endif
