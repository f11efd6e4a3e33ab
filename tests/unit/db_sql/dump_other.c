/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_sql/dump.h"

void dump_other(struct buf *b, const struct sql_stmt *s)
{
    if (s->kind == SQL_STMT_REFUSED)
        buf_printf(b, "(refused " STR_F ")", STR_A(s->name));
    else
        buf_printf(b, "(kind %d)", s->kind);
}
