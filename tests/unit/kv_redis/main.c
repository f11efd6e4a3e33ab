/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_parser[], tests_reply[], tests_numbers[], tests_server[];

TEST_MAIN(tests_parser, tests_reply, tests_numbers, tests_server)
