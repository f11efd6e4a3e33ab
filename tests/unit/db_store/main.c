/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_change[];
extern const struct test tests_definition[];
extern const struct test tests_file[];
extern const struct test tests_session[];
extern const struct test tests_show[];
extern const struct test tests_threads[];
extern const struct test tests_transaction[];
extern const struct test tests_turn[];
extern const struct test tests_vars[];

TEST_MAIN(tests_turn, tests_vars, tests_session, tests_change, tests_transaction, tests_definition,
    tests_show, tests_file, tests_threads)
