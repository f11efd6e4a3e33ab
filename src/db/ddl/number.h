/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_DDL_NUMBER_H
#define EPHPM_DB_DDL_NUMBER_H

/*
 * Texts of numbers and times in default values, checked and brought to the one form that they have
 * in SQLite (db.h). Private to ddl/; pure.
 */

#include "base/arena.h"
#include "db/type.h"

/* The number with exactly so many decimals, rounded half away from zero ("-0.50", "12"); false
 * when it is none or has more than 100 digits. */
bool number_fixed(struct arena *arena, struct str text, int decimals, struct str *out);
/* Digits before the point of such a text. */
size_t number_digits(struct str fixed);

/* "2024-01-31", with a time when decimals >= 0 ("2024-01-31 10:00:00.000"); every form that MySQL
 * reads. mode: db_sql_mode. */
bool time_date(struct arena *arena, struct str text, int decimals, uint32_t mode, struct str *out);
/* "-01:02:03.5" */
bool time_time(struct arena *arena, struct str text, int decimals, struct str *out);

#endif
