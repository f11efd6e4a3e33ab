/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <sys/wait.h>
#include <unistd.h>

#include "unit/php/host.h"
#include "unit/test.h"

extern const struct test tests_request[], tests_variables[], tests_output[], tests_body[],
    tests_ini[], tests_opcache[], tests_crash[], tests_kv[], tests_session[], tests_immutable[];

static int run(int argc, char **argv, const char *ini, const struct test *const *groups)
{
    int r = host_start(ini) ? test_main(argc, argv, groups) : 1;

    host_stop();
    return r;
}

/* PHP starts once per process: what needs other settings runs in a child, without a filter only. */
int main(int argc, char **argv)
{
    const struct test *const groups[] = {tests_request, tests_variables, tests_output, tests_body,
        tests_ini, tests_opcache, tests_crash, tests_kv, tests_session, NULL};
    const struct test *const immutable[] = {tests_immutable, NULL};
    int status = 0;
    pid_t pid = argc > 1 ? 0 : fork();

    if (argc > 1 && strstr(argv[1], "immutable"))
        return run(argc, argv, "opcache.validate_timestamps=0\n", immutable);
    if (argc > 1)
        return run(argc, argv, "", groups);
    if (pid == 0)
        return run(argc, argv, "opcache.validate_timestamps=0\n", immutable);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return 1;
    return run(argc, argv, "", groups) || status != 0;
}
