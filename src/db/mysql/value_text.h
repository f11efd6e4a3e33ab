/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_MYSQL_VALUE_TEXT_H
#define EPHPM_DB_MYSQL_VALUE_TEXT_H

/* Private to value*.c: a value as number or text. */

#include "db/value.h"

enum { MYSQL_VALUE_TEXT = 400 };

/* Not of NULL. Valid as long as the value and out. */
struct str mysql_value_text(
    const struct db_column *c, const struct db_value *v, char out[MYSQL_VALUE_TEXT]);
double mysql_value_real(const struct db_value *v);
/* Rounded; two's complement of a negative one. */
uint64_t mysql_value_int(const struct db_value *v);

#endif
