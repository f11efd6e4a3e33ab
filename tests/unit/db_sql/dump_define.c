/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_sql/dump.h"

void dump_define(struct buf *b, const struct sql_stmt *s)
{
    dump_other(b, s);
}
