/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_decimal[], tests_error[], tests_real[];

TEST_MAIN(tests_decimal, tests_error, tests_real)
