/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_DB_TRANSLATE_ROWS_H
#define EPHPM_TESTS_DB_TRANSLATE_ROWS_H

/* Tables of statements and what they give. */

#include "base/buf.h"
#include "tables.h"
#include "unit/test.h"

struct row {
    const char *sql;
    const char *wanted; /* rows "1|a;2|b", "3 changed", "error 1054: text" */
};

/* Runs all, in order, on tables with some data. */
void rows_check(const struct row *rows, size_t n);
/* Plans of SQLite for each, on empty tables. */
void rows_explain(const struct row *rows, size_t n);
/* The first column of the result as "type length collation flags decimals". */
void rows_meta(const struct row *rows, size_t n);

#endif
