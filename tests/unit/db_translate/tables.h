/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_DB_TRANSLATE_TABLES_H
#define EPHPM_TESTS_DB_TRANSLATE_TABLES_H

#include "fixture.h"

/* The tables of the tests: t with a column of each type, p, pair, and some of WordPress. */
void tables_make(struct fixture *f);

#endif
