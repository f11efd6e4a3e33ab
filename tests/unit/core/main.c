/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_conf[], tests_json[], tests_log[], tests_log_pipe[], tests_metrics[],
    tests_metrics_killed[], tests_sha256[], tests_timefmt[], tests_toml[];

TEST_MAIN(tests_conf, tests_json, tests_log, tests_log_pipe, tests_metrics, tests_metrics_killed,
    tests_sha256, tests_timefmt, tests_toml)
