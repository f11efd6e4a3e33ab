/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_UNIT_DB_FUNC_HANDLE_H
#define EPHPM_TESTS_UNIT_DB_FUNC_HANDLE_H

/* A SQLite handle in memory with the functions registered, and a session that keeps warnings. */

#include <sqlite3.h>

#include "base/buf.h"
#include "db/func/func.h"

struct handle {
    sqlite3 *db;
    struct db_func_context context;
    struct db_func_session session;
    struct db_error warning; /* the last one */
    int warnings;
    struct buf result;
};

void handle_open(struct handle *h);
void handle_close(struct handle *h);
/* The first value of the statement as text: "NULL", "ERROR 1264 ..." or what it is, BLOBs as
 * x'6162'. Valid until the next call. */
struct str handle_ask(struct handle *h, const char *sql);
/* The same for SELECT <expression>. */
struct str handle_eval(struct handle *h, const char *expression);

#endif
