/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/php/host.h"
#include "unit/test.h"

static void test_request_hello(void)
{
    host_php("echo 'Hello';");
    CHECK_INT(reply.result.end, EMBED_OK);
    CHECK_INT(reply.status, 200);
    CHECK_INT(reply.result.status, 200);
    CHECK_INT(reply.heads, 1);
    CHECK_BODY("Hello");
    CHECK_HAS(reply.head, "X-Powered-By: PHP/8.");
    CHECK_HAS(reply.head, "\nContent-type: text/html; charset=UTF-8\n");
}

const struct test tests_request[] = {
    TEST(test_request_hello),
    TEST_END,
};
