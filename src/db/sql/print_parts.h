/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_SQL_PRINT_PARTS_H
#define EPHPM_DB_SQL_PRINT_PARTS_H

/* What the files of the printer share; print.h is what others see. */

#include "db/sql/print.h"

void print_list(struct buf *out, struct sql_exprs list);
/* "`a`,`b` desc" */
void print_orders(struct buf *out, struct sql_orders o);
void print_names(struct buf *out, struct sql_names names);
void print_qualified(struct buf *out, struct str schema, struct str name);
/* As a name; as a string where no name can be that. */
void print_word(struct buf *out, struct str s);
/* A call with all that may be in and behind it. print_call.c */
void print_call(struct buf *out, const struct sql_expr *e);
void print_group_concat(struct buf *out, const struct sql_expr *e);
void print_window(struct buf *out, const struct sql_window *w);
/* " over ..." or nothing */
void print_over(struct buf *out, const struct sql_expr *e);
/* The type as CAST takes it. */
void print_cast_type(struct buf *out, const struct db_type *t);
/* interval `a` day */
void print_interval(struct buf *out, const struct sql_expr *e);
/* In lower case; static. */
struct str print_unit(enum sql_unit unit);
void print_lower(struct buf *out, struct str s);

#endif
