/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_cases[], tests_odd[], tests_collation[], tests_store[],
    tests_aggregate[];

TEST_MAIN(tests_cases, tests_odd, tests_collation, tests_store, tests_aggregate)
