/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_UNIT_DB_DDL_SUPPORT_H
#define EPHPM_TESTS_UNIT_DB_DDL_SUPPORT_H

/*
 * A small database: a catalog of tables, and a SQLite handle with all functions where the
 * statements of definitions run. Answers are texts: SHOW CREATE TABLE, values, or "1067: text".
 */

#include "db/ddl/ddl.h"
#include "db/sql/parse.h"
#include "unit/db_func/handle.h"
#include "unit/test.h"

enum { WORLD_TABLES = 32 };

struct world {
    struct arena arena;
    struct tr_env env;
    struct ddl_defaults defaults;
    struct db_cat_table *tables[WORLD_TABLES];
    uint32_t n;
    bool fk_checks;
    struct handle handle;
    struct ddl_change *change; /* of the last ALTER */
    struct buf answer;
};

void world_open(struct world *w);
void world_close(struct world *w);
/* CREATE TABLE, ALTER TABLE, RENAME TABLE or DROP TABLE, in the catalog and in SQLite. What it
 * answers is the table as SHOW CREATE TABLE prints it, or the error. Valid until the next call. */
struct str world_run(struct world *w, const char *sql);
/* SQLite's statement as it is; its first row as "a|b", or the error. */
struct str world_sqlite(struct world *w, const char *sql);
struct db_cat_table *world_table(struct world *w, struct str name);

#endif
