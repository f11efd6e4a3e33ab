/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

const struct test tests_proxy_protocol[] = {TEST_END};
