/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_alter[];
extern const struct test tests_create[];
extern const struct test tests_foreign[];
extern const struct test tests_form[];
extern const struct test tests_info[];

TEST_MAIN(tests_alter, tests_create, tests_foreign, tests_form, tests_info)
