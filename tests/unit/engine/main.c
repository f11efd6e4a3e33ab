/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_channel[];
extern const struct test tests_channel_peers[];
extern const struct test tests_ipc[];
extern const struct test tests_jit_memory[];
extern const struct test tests_message[];
extern const struct test tests_metric_table[];
extern const struct test tests_offer[];
extern const struct test tests_trial[];

TEST_MAIN(tests_channel, tests_channel_peers, tests_offer, tests_message, tests_ipc,
    tests_metric_table, tests_trial, tests_jit_memory)
