/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_func/handle.h"
#include "unit/test.h"

static void test_first(void)
{
    struct handle h;

    handle_open(&h);
    CHECK_STR(handle_eval(&h, "m_concat('a', 1.5e0, x'')"), "x'61312E35'");
    CHECK_STR(handle_eval(&h, "m_add('1.10', '2.205')"), "3.305");
    handle_close(&h);
}

const struct test tests_cases[] = {TEST(test_first), TEST_END};
