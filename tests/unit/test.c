/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/test.h"

#include <stdarg.h>

_Atomic int test_failures;
static const char *test_row_name;

void test_row(const char *name)
{
    test_row_name = name;
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
    va_list ap;

    test_failures++;
    printf("    %s:%d: ", file, line);
    if (test_row_name)
        printf("[%s] ", test_row_name);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
}

int test_main(int argc, char **argv, const struct test *const *groups)
{
    const char *only = argc > 1 ? argv[1] : NULL;
    int passed = 0, failed = 0;
    unsigned part = 1, parts = 1, n = 0;

    if (only && sscanf(only, "%u/%u", &part, &parts) == 2 && parts)
        only = NULL;

    for (; *groups; groups++) {
        for (const struct test *t = *groups; t->name; t++) {
            if ((only && !strstr(t->name, only)) || n++ % parts != part - 1)
                continue;
            test_failures = 0;
            test_row(NULL);
            t->run();
            if (test_failures) {
                printf("FAIL %s\n", t->name);
                failed++;
            } else {
                passed++;
            }
        }
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed || !passed ? 1 : 0;
}
