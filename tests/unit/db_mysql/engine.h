/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_DB_MYSQL_ENGINE_H
#define EPHPM_TESTS_DB_MYSQL_ENGINE_H

/*
 * A database engine that has no database: it answers a few texts, so that the wire can be tested
 * without one.
 *
 *   ROWS n       n rows of an int and 1000 letters
 *   BYTES n      one row of one text of n letters
 *   NUMBER       one row: the count of statements so far
 *   SLEEP        until it is killed (1317) or the server stops (1053), 10 seconds at most
 *   FAIL         error 1146
 *   FAIL LATE    a row, then error 1317
 *   KILL n       ends that session
 *   PARAMS ...   one row of text: kind and value of each parameter, one for each '?'
 *   anything else is OK: 3 rows changed, insert id 7, "info" as text
 *
 * Several are separated by ';'. The database "missing" does not exist.
 */

#include "db/session.h"

struct db_server *test_engine_new(void);
void test_engine_stop(struct db_server *s);
void test_engine_free(struct db_server *s);
unsigned test_engine_sessions(struct db_server *s);

#endif
