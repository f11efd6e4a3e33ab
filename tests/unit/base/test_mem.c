/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"

#include "unit/test.h"

extern const struct test tests_mem[];

static void test_mem_add_and_mul_notice_overflow(void)
{
    size_t out = 5;

    CHECK(mem_add(2, 3, &out) && out == 5);
    CHECK(mem_add(SIZE_MAX, 0, &out) && out == SIZE_MAX);
    out = 5;
    CHECK(!mem_add(SIZE_MAX, 1, &out));
    CHECK(!mem_mul(SIZE_MAX / 2 + 1, 2, &out));
    CHECK_INT(out, 5);
    CHECK(mem_mul(SIZE_MAX, 1, &out) && out == SIZE_MAX);
    CHECK(mem_mul(SIZE_MAX, 0, &out) && out == 0);
}

static void test_mem_new_is_zeroed(void)
{
    char *p = mem_new(0);

    CHECK(p != NULL);
    mem_free(p);
    p = mem_new_array(10, 10);
    for (int i = 0; i < 100; i++)
        CHECK_INT(p[i], 0);
    p[99] = 'x';
    p = mem_resize(p, 1000);
    CHECK_INT(p[99], 'x');
    mem_free(p);
    mem_free(NULL);
}

static void test_mem_dup_str_ends_in_nul(void)
{
    char *p = mem_dup_str("abcdef", 3), *e = mem_dup_str(NULL, 0);

    CHECK_STR(str_c(p), "abc");
    CHECK_STR(str_c(e), "");
    mem_free(p);
    mem_free(e);
}

const struct test tests_mem[] = {
    TEST(test_mem_add_and_mul_notice_overflow),
    TEST(test_mem_new_is_zeroed),
    TEST(test_mem_dup_str_ends_in_nul),
    TEST_END,
};
