/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_INFO_H
#define EPHPM_DB_STORE_INFO_H

/*
 * information_schema and its like as virtual tables: one module for each relation of
 * ddl/info.h, with the facts of the session that uses the handle.
 */

#include "base/str.h"

struct store_handle;
struct db_session;
struct db_cat_table;

/* Result codes of SQLite. */
int store_info_register(struct store_handle *h) MUST_CHECK;
/* The next number of the table's auto column, 0 when it has none. Within a statement. */
uint64_t store_info_auto(struct db_session *s, const struct db_cat_table *t);

#endif
