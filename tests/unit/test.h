/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_UNIT_TEST_H
#define EPHPM_TESTS_UNIT_TEST_H

/*
 * The unit test runner: one binary per component, made of several files.
 *
 *     static void test_buf_add_grows(void) { ... CHECK(x == y); CHECK_STR(s, "abc"); }
 *     const struct test tests_buf[] = {TEST(test_buf_add_grows), TEST_END};
 *
 * and one main file: TEST_MAIN(tests_buf, tests_str).  A failed CHECK prints place and values,
 * counts, and lets the test go on.  An argument runs only the tests whose name contains it; the
 * argument 2/3 runs the second third, of every three tests one.
 * The last line is "N passed, N failed"; exit status 1 when any failed or none ran.
 */

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

struct test {
    const char *name;
    void (*run)(void);
};

#define TEST(fn) {#fn, fn}
#define TEST_END {NULL, NULL}

/* Set by the checks, read by the runner. Atomic, since checks may run on helper threads. */
extern _Atomic int test_failures;

/* For table tests: names the row in failure messages until the next call; NULL clears. */
void test_row(const char *name);
void test_fail(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4);

#define CHECK(cond)                                            \
    do {                                                       \
        if (!(cond))                                           \
            test_fail(__FILE__, __LINE__, "CHECK(%s)", #cond); \
    } while (0)

#define CHECK_INT(got, want)                                                        \
    do {                                                                            \
        long long g_ = (long long)(got), w_ = (long long)(want);                    \
        if (g_ != w_)                                                               \
            test_fail(__FILE__, __LINE__, "%s is %lld, wanted %lld", #got, g_, w_); \
    } while (0)

/* got: struct str; want: C string. */
#define CHECK_STR(got, want)                                                                 \
    do {                                                                                     \
        struct str g_ = (got), w_ = str_c(want);                                             \
        if (!str_eq(g_, w_))                                                                 \
            test_fail(__FILE__, __LINE__, "%s is \"" STR_F "\", wanted \"" STR_F "\"", #got, \
                STR_A(g_), STR_A(w_));                                                       \
    } while (0)

int test_main(int argc, char **argv, const struct test *const *groups);

#define TEST_MAIN(...)                                           \
    int main(int argc, char **argv)                              \
    {                                                            \
        const struct test *const groups[] = {__VA_ARGS__, NULL}; \
        return test_main(argc, argv, groups);                    \
    }

#endif
