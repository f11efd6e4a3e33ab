/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_DUPLICATE_H
#define EPHPM_DB_STORE_DUPLICATE_H

#include "db/store/sess.h"

/*
 * What exactly was wrong with a row. SQLite says which columns are not unique, or that some foreign
 * key fails; MySQL also says with which value, and which foreign key. The statement, which has just
 * failed and left nothing, is run again with a trigger that looks at each row, and fails again at
 * the same one. Completes e if it is error 1062 or 1452; leaves it when that is not possible.
 */
void duplicate_explain(struct db_session *s, const struct tr_step *step, struct db_error *e);

/*
 * INSERT IGNORE has left rows out (or may have): the statement, which has just been done behind the
 * savepoint `_ephpm_ignore`, is taken back and done again while a trigger makes the warnings 1062.
 * Result codes of SQLite.
 */
int duplicate_warn(struct db_session *s, const struct tr_step *step, uint64_t *changed) MUST_CHECK;

#endif
