/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Values of functions as MariaDB gave them, or as MySQL 8 documents them. */
#include "unit/db_func/handle.h"
#include "unit/test.h"

static const struct {
    const char *expression;
    const char *want;
} cases[] = {
#include "unit/db_func/cases.inc"
};

static void test_values_are_those_of_mysql(void)
{
    struct handle h;

    handle_open(&h);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        test_row(cases[i].expression);
        CHECK_STR(handle_eval(&h, cases[i].expression), cases[i].want);
    }
    test_row(NULL);
    handle_close(&h);
}

const struct test tests_cases[] = {TEST(test_values_are_those_of_mysql), TEST_END};
