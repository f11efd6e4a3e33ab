/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_FUNC_STORE_H
#define EPHPM_DB_FUNC_STORE_H

/* What all m_st_* share: the column they store into, and how they complain. */

#include "db/func/call.h"

struct target {
    struct call *c;
    struct str column;
    long long row;
    unsigned flags; /* db_store_flags */
};

/* Takes the last three arguments (column, row, flags) apart. NULL as value: done with here, and
 * true is returned; zero is what a NOT NULL column gets where MySQL allows it. */
bool store_begin(struct target *t, struct call *c, void (*zero)(struct call *c));
bool store_strict(const struct target *t);
/* An error when strict (false then), else a warning. */
bool store_truncated(struct target *t);                             /* 1265 */
bool store_range(struct target *t);                                 /* 1264 */
bool store_too_long(struct target *t);                              /* 1406, 1265 */
bool store_wrong(struct target *t, const char *type, struct str s); /* 1366 */
void store_note(struct target *t);                                  /* note 1265 */

#endif
