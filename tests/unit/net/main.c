/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/process.h"
#include "platform/sock.h"
#include "unit/test.h"

extern const struct test tests_deadline[];
extern const struct test tests_loop[];
extern const struct test tests_loop_unix[];
extern const struct test tests_stream[];
extern const struct test tests_stream_unix[];

int main(int argc, char **argv)
{
    const struct test *const groups[] = {
        tests_loop, tests_loop_unix, tests_deadline, tests_stream, tests_stream_unix, NULL};

    process_ignore_sigpipe();
    if (sock_startup())
        return 1;
    return test_main(argc, argv, groups);
}
