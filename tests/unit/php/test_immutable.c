/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <time.h>

#include "unit/php/host.h"
#include "unit/test.h"

/* These run in a process of their own, with opcache.validate_timestamps=0: fewer system calls, same
 * results. */

static void test_immutable_code_stays(void)
{
    host_file("code.php", "<?php echo 'old';");
    host_run(host_request("code.php"));
    CHECK_BODY("old");
    host_file("code.php", "<?php echo 'new';");
    host_run(host_request("code.php"));
    CHECK_BODY("old");
}

static void test_immutable_working_directory(void)
{
    host_file("stay.php", "<?php echo getcwd() === __DIR__ ? 'mine' : getcwd();");
    host_file("leave.php", "<?php echo getcwd() === __DIR__ ? 'mine' : getcwd(); chdir('/');");
    host_file("sub/stay.php", "<?php echo getcwd() === __DIR__ ? 'mine' : getcwd();");
    host_file(
        "late.php", "<?php register_shutdown_function(function () { chdir('/'); }); echo 'late';");
    static const char *const order[] = {"stay.php", "stay.php", "leave.php", "leave.php",
        "stay.php", "sub/stay.php", "stay.php", "late.php", "stay.php", "leave.php", "sub/stay.php",
        "sub/stay.php"};

    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        host_run(host_request(order[i]));
        test_row(order[i]);
        CHECK_BODY(strcmp(order[i], "late.php") == 0 ? "late" : "mine");
    }
    test_row(NULL);
}

static double wall(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void test_immutable_time_limit_after_many_requests(void)
{
    double start, took;

    host_file("quick.php", "<?php set_time_limit(1); echo 1;");
    host_file("spin.php", "<?php set_time_limit(1); for (;;);");
    /* Twice: PHP puts a handler of its own in after the first. */
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 500; i++)
            host_run(host_request("quick.php"));
        CHECK_BODY("1");
        CHECK_INT(reply.result.end, EMBED_OK);
        start = wall();
        host_run(host_request("spin.php"));
        took = wall() - start;
        CHECK_INT(reply.result.end, EMBED_TIMEOUT);
        CHECK_HAS(reply.log, "Maximum execution time of 1 second exceeded");
        /* CPU time: never much less, and more on a busy machine. */
        CHECK(took > 0.5);
    }
}

static void test_immutable_time_limit_can_be_lifted(void)
{
    host_file("lifted.php",
        "<?php set_time_limit(1); set_time_limit(0); $end = hrtime(true) + 1500000000;"
        "while (hrtime(true) < $end); echo 'done';");
    host_run(host_request("lifted.php"));
    CHECK_BODY("done");
    CHECK_INT(reply.result.end, EMBED_OK);
}

static void test_immutable_missing_script_is_404(void)
{
    for (int i = 0; i < 2; i++) {
        host_run(host_request("none.php"));
        CHECK_INT(reply.status, 404);
        CHECK_BODY("File not found.\n");
    }
}

const struct test tests_immutable[] = {
    TEST(test_immutable_code_stays),
    TEST(test_immutable_working_directory),
    TEST(test_immutable_time_limit_after_many_requests),
    TEST(test_immutable_time_limit_can_be_lifted),
    TEST(test_immutable_missing_script_is_404),
    TEST_END,
};
