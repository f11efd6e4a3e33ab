/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_fields[];
extern const struct test tests_forwarded[];
extern const struct test tests_h1_parser[];
extern const struct test tests_host[];
extern const struct test tests_proxy_protocol[];
extern const struct test tests_router[];
extern const struct test tests_uri[];

TEST_MAIN(tests_fields, tests_forwarded, tests_h1_parser, tests_host, tests_proxy_protocol,
    tests_router, tests_uri)
