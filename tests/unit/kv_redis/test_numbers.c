/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/redis/command.h"
#include "unit/test.h"

extern const struct test tests_numbers[];

static void test_numbers_whole_ones_are_strict(void)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t want;
    } rows[] = {{"0", true, 0}, {"-1", true, -1}, {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN}, {"9223372036854775808", false, 0},
        {"", false, 0}, {"-", false, 0}, {"+1", false, 0}, {" 1", false, 0}, {"1 ", false, 0},
        {"007", false, 0}, {"-0", false, 0}, {"1.0", false, 0}, {"0x1", false, 0}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t n = 0;

        test_row(rows[i].text);
        CHECK_INT(redis_int(str_c(rows[i].text), &n), rows[i].ok);
        CHECK_INT(n, rows[i].want);
    }
}

static void test_numbers_doubles_take_the_whole_word(void)
{
    static const struct {
        const char *text;
        bool ok;
    } rows[] = {{"1", true}, {"1.5e3", true}, {"-.5", true}, {"inf", true}, {"-inf", true},
        {"+inf", true}, {"nan", false}, {"", false}, {" 1", false}, {"1x", false}, {"1 ", false}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        double d;

        test_row(rows[i].text);
        CHECK_INT(redis_double(str_c(rows[i].text), &d), rows[i].ok);
    }
}

static void test_numbers_long_doubles_lose_no_digit_that_counts(void)
{
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {{"3", "3"}, {"3.10", "3.1"}, {"-0", "0"}, {"1e3", "1000"}, {"5.0e-3", "0.005"}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[REDIS_LONG_DOUBLE_MAX];
        long double d;

        test_row(rows[i].text);
        CHECK(redis_long_double(str_c(rows[i].text), &d));
        CHECK_STR(str_n(out, redis_put_long_double(out, d)), rows[i].want);
    }
}

const struct test tests_numbers[] = {TEST(test_numbers_whole_ones_are_strict),
    TEST(test_numbers_doubles_take_the_whole_word),
    TEST(test_numbers_long_doubles_lose_no_digit_that_counts), TEST_END};
