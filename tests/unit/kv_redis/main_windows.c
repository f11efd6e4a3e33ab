/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_parser[], tests_reply[], tests_numbers[];

TEST_MAIN(tests_parser, tests_reply, tests_numbers)
