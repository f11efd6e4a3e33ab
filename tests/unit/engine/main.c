/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_channel[];
extern const struct test tests_channel_peers[];
extern const struct test tests_message[];

TEST_MAIN(tests_channel, tests_channel_peers, tests_message)
