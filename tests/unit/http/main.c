/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

extern const struct test tests_access_log[];
extern const struct test tests_compress[];
extern const struct test tests_cond[];
extern const struct test tests_error_page[];
extern const struct test tests_fields[];
extern const struct test tests_file_cache[];
extern const struct test tests_forwarded[];
extern const struct test tests_h1_parser[];
extern const struct test tests_h1_response[];
extern const struct test tests_host[];
extern const struct test tests_limits[];
extern const struct test tests_mime[];
extern const struct test tests_negotiate[];
extern const struct test tests_proxy_protocol[];
extern const struct test tests_range[];
extern const struct test tests_response[];
extern const struct test tests_router[];
extern const struct test tests_static[];
extern const struct test tests_uri[];

TEST_MAIN(tests_access_log, tests_compress, tests_cond, tests_error_page, tests_fields,
    tests_file_cache, tests_forwarded, tests_h1_parser, tests_h1_response, tests_host, tests_limits,
    tests_mime, tests_negotiate, tests_proxy_protocol, tests_range, tests_response, tests_router,
    tests_static, tests_uri)
