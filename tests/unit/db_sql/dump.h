/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_UNIT_DB_SQL_DUMP_H
#define EPHPM_TESTS_UNIT_DB_SQL_DUMP_H

/*
 * Trees as s-expressions, for the tables of the tests, and trees compared with one another.
 */

#include "base/buf.h"
#include "db/sql/ast.h"

void dump_expr(struct buf *b, const struct sql_expr *e);
void dump_query(struct buf *b, const struct sql_query *q);
void dump_type(struct buf *b, const struct db_type *t);
void dump_table(struct buf *b, const struct sql_table *t);
void dump_name(struct buf *b, struct sql_name n);
void dump_names(struct buf *b, struct sql_names names);
void dump_exprs(struct buf *b, struct sql_exprs list);
void dump_orders(struct buf *b, const char *word, struct sql_orders o);
void dump_stmt(struct buf *b, const struct sql_stmt *s);
/* dump_define.c */
void dump_define(struct buf *b, const struct sql_stmt *s);
/* dump_other.c */
void dump_other(struct buf *b, const struct sql_stmt *s);

/* One row of a table test: the statement and its dump, or "! " and the error. */
struct dump_row {
    const char *sql;
    const char *want;
};
void dump_check(const struct dump_row *rows, size_t n, uint32_t mode);

#endif
