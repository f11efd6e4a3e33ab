/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_SQL_PRINT_H
#define EPHPM_DB_SQL_PRINT_H

/*
 * From tree to MySQL's text, as SHOW CREATE TABLE and information_schema print it: expressions in
 * lower case with quoted names, types as "int unsigned", "varchar(20)". What is printed parses to
 * the same tree.
 */

#include "base/buf.h"
#include "db/sql/ast.h"

void sql_print_expr(struct buf *out, const struct sql_expr *e);
void sql_print_query(struct buf *out, const struct sql_query *q);
/* COLUMN_TYPE: without character set and collation. Display widths of integers only for tinyint(1)
 * and ZEROFILL, as MySQL 8. */
void sql_print_type(struct buf *out, const struct db_type *t);
/* `name`, with ` doubled */
void sql_print_name(struct buf *out, struct str name);
/* 'text', escaped */
void sql_print_string(struct buf *out, struct str s);

#endif
