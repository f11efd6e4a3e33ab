/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_select_gives_what_mariadb_gives[];
extern const struct test tests_changes_do_what_mariadb_does[];
extern const struct test tests_joins_and_the_rest[];
extern const struct test tests_index[];
extern const struct test tests_meta[];
extern const struct test tests_more[];

TEST_MAIN(tests_select_gives_what_mariadb_gives, tests_changes_do_what_mariadb_does,
    tests_joins_and_the_rest, tests_index, tests_meta, tests_more)
