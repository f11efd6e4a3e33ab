/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/platform/spawned.h"
#include "unit/test.h"

extern const struct test tests_clock[], tests_fs[], tests_fs_windows[], tests_shlock[], tests_shm[],
    tests_sock[], tests_sock_addr[], tests_spawn_windows[], tests_unsupported[], tests_wake[];

/* The binary also is the program that the tests of process_spawn() start. */
int main(int argc, char **argv)
{
    const struct test *const groups[] = {tests_clock, tests_fs, tests_fs_windows, tests_shlock,
        tests_shm, tests_sock, tests_sock_addr, tests_spawn_windows, tests_unsupported, tests_wake,
        NULL};

    if (argc > 1 && strcmp(argv[1], "--spawned") == 0)
        return spawned_main(argc, argv);
    return test_main(argc, argv, groups);
}
