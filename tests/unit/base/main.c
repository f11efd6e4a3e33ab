/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_arena[], tests_buf[], tests_err[], tests_glob[], tests_list[],
    tests_map[], tests_mem[], tests_number[], tests_str[];

TEST_MAIN(tests_arena, tests_buf, tests_err, tests_glob, tests_list, tests_map, tests_mem,
    tests_number, tests_str)
