/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/process.h"
#include "unit/platform/spawned.h"
#include "unit/test.h"

extern const struct test tests_clock[], tests_fork[], tests_fs[], tests_fs_linux[], tests_huge[],
    tests_process[], tests_shlock[], tests_shlock_process[], tests_shm[], tests_sock[],
    tests_sock_addr[], tests_sock_linux[], tests_sock_local[], tests_sock_msg[], tests_spawn[],
    tests_sysinfo[], tests_wake[], tests_wake_process[], tests_watch[];

/* The binary also is the program that the tests of process_spawn() start. */
int main(int argc, char **argv)
{
    const struct test *const groups[] = {tests_clock, tests_fork, tests_fs, tests_fs_linux,
        tests_huge, tests_process, tests_shlock, tests_shlock_process, tests_shm, tests_sock,
        tests_sock_addr, tests_sock_linux, tests_sock_local, tests_sock_msg, tests_spawn,
        tests_sysinfo, tests_wake, tests_wake_process, tests_watch, NULL};

    if (argc > 1 && strcmp(argv[1], "--spawned") == 0)
        return spawned_main(argc, argv);
    process_title_init(argc, argv);
    process_ignore_sigpipe();
    return test_main(argc, argv, groups);
}
