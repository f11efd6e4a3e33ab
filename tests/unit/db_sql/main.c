/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_lexer[], tests_expr[], tests_query[], tests_change[], tests_define[],
    tests_other[], tests_frameworks[], tests_print[], tests_digest[], tests_size[];

TEST_MAIN(tests_lexer, tests_expr, tests_query, tests_change, tests_define, tests_other,
    tests_frameworks, tests_print, tests_digest, tests_size)
