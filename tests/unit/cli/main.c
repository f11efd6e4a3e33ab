/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/process.h"
#include "platform/sock.h"
#include "unit/test.h"

extern const struct test tests_bench_elf[], tests_bench_stats[], tests_bench_url[], tests_resp[],
    tests_sqlsplit[];

int main(int argc, char **argv)
{
    const struct test *const groups[] = {
        tests_bench_elf, tests_bench_stats, tests_bench_url, tests_resp, tests_sqlsplit, NULL};

    process_ignore_sigpipe();
    if (sock_startup())
        return 1;
    return test_main(argc, argv, groups);
}
