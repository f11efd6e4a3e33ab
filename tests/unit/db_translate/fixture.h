/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_DB_TRANSLATE_FIXTURE_H
#define EPHPM_TESTS_DB_TRANSLATE_FIXTURE_H

/*
 * A small catalog and a SQLite handle with its tables, on which translated statements run.
 */

#include <sqlite3.h>

#include "db/func/func.h"
#include "db/sql/parse.h"
#include "db/translate/translate.h"

struct fixture {
    struct arena catalog;
    struct arena arena; /* of the statement */
    sqlite3 *handle;
    struct tr_env env;
    struct db_func_context context;
    struct db_func_session session;
    struct db_cat_table **tables;
    uint32_t n_tables;
    struct db_error error;
    struct tr_plan *plan;
    int64_t affected;
    bool limit;      /* statements end after a while */
    char text[8192]; /* rows: "1|abc|NULL;2|..." */
};

void fixture_open(struct fixture *f);
void fixture_close(struct fixture *f);
/*
 * Adds a table: columns are "name type flags" separated by ";", flags n NOT NULL, a auto,
 * u ON UPDATE, =text a default, =NOW; keys are "PRIMARY(a,b)", "UNIQUE u(a)", "KEY k(a(10))"
 */
void fixture_table(struct fixture *f, const char *name, const char *columns, const char *keys);
/* Parses and translates; false: f->error. */
bool fixture_translate(struct fixture *f, const char *sql);
/* ... and runs all steps; rows in f->text, changes in f->affected. */
bool fixture_run(struct fixture *f, const char *sql);
/* EXPLAIN QUERY PLAN of the last step of its kind, into f->text. */
bool fixture_explain(struct fixture *f, const char *sql);
/* The SQL of the first step that has a result or changes. */
struct str fixture_sql(const struct fixture *f);

#endif
