/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

const struct test tests_aggregate[] = {TEST_END};
