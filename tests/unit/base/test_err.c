/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/err.h"

#include "unit/test.h"

extern const struct test tests_err[];

static void test_err_text_is_never_null(void)
{
    CHECK_STR(str_c(err_text(ERR_ACCESS)), "permission denied");
    CHECK_STR(str_c(err_text(0)), "success");
    CHECK_STR(str_c(err_text(-9999)), "unknown error");
    CHECK_STR(str_c(err_text(7)), "unknown error");
}

static void test_err_codes_are_distinct(void)
{
    static const int codes[] = {
#define ERR_VALUE(name, value, text) value,
        ERR_LIST(ERR_VALUE)
#undef ERR_VALUE
    };

    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        CHECK(codes[i] < 0);
        for (size_t j = 0; j < i; j++)
            CHECK(codes[i] != codes[j]);
    }
}

static void test_err_set_fills_and_returns_the_code(void)
{
    struct err e = {.line = 7, .col = 9};

    CHECK_INT(err_set(&e, ERR_INVAL, "bad %d", 5), ERR_INVAL);
    CHECK_INT(e.code, ERR_INVAL);
    CHECK_INT(e.line, 0);
    CHECK_INT(e.col, 0);
    CHECK_STR(str_c(e.text), "bad 5");
    CHECK_INT(err_set_at(&e, ERR_RANGE, 3, 4, "x"), ERR_RANGE);
    CHECK_INT(e.line, 3);
    CHECK_INT(e.col, 4);
    CHECK_INT(err_set(NULL, ERR_IO, "x"), ERR_IO);
    CHECK_INT(err_set(&e, ERR_IO, "%0600d", 1), ERR_IO);
    CHECK_INT(strlen(e.text), sizeof(e.text) - 1);
}

const struct test tests_err[] = {
    TEST(test_err_text_is_never_null),
    TEST(test_err_codes_are_distinct),
    TEST(test_err_set_fills_and_returns_the_code),
    TEST_END,
};
