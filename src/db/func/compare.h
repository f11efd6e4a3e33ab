/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_FUNC_COMPARE_H
#define EPHPM_DB_FUNC_COMPARE_H

/* `how` of list.h: how two values compare. */

#include "db/func/call.h"

struct how {
    char letter;
    struct collation coll; /* of 's' */
};

struct how how_get(struct str text);
/* Arguments i and k, neither NULL: < 0, 0, > 0. */
int how_cmp(struct call *c, struct how how, int i, int k);

/* LIKE; escape is empty or one character. */
bool like_match(struct str pattern, struct str text, struct str escape, struct collation coll);

#endif
