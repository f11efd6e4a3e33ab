/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/php/host.h"
#include "unit/test.h"

extern const struct test tests_request[], tests_variables[], tests_output[], tests_body[],
    tests_ini[], tests_opcache[], tests_crash[];

int main(int argc, char **argv)
{
    const struct test *const groups[] = {tests_request, tests_variables, tests_output, tests_body,
        tests_ini, tests_opcache, tests_crash, NULL};
    int r = host_start() ? test_main(argc, argv, groups) : 1;

    host_stop();
    return r;
}
