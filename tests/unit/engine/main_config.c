/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_config[], tests_config_warn[], tests_ini[], tests_shape[];

TEST_MAIN(tests_config, tests_config_warn, tests_ini, tests_shape)
