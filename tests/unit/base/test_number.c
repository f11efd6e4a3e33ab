/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/err.h"
#include "base/str.h"
#include "unit/test.h"

extern const struct test tests_number[];

static void test_number_u64_edges(void)
{
    static const struct {
        const char *in;
        int rc;
        uint64_t v;
    } rows[] = {
        {"0", 0, 0},
        {"007", 0, 7},
        {"18446744073709551615", 0, UINT64_MAX},
        {"18446744073709551616", ERR_RANGE, 0},
        {"18446744073709551620", ERR_RANGE, 0},
        {"99999999999999999999999", ERR_RANGE, 0},
        {"00000000000000000000000000001", 0, 1},
        {"", ERR_INVAL, 0},
        {"-1", ERR_INVAL, 0},
        {"+1", ERR_INVAL, 0},
        {" 1", ERR_INVAL, 0},
        {"1 ", ERR_INVAL, 0},
        {"0x10", ERR_INVAL, 0},
        {"1e3", ERR_INVAL, 0},
        {"99999999999999999999999x", ERR_INVAL, 0},
        {"\xd9\xa1", ERR_INVAL, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint64_t v = 0;

        test_row(rows[i].in);
        CHECK_INT(str_u64(str_c(rows[i].in), &v), rows[i].rc);
        CHECK(v == rows[i].v);
    }
}

static void test_number_i64_edges(void)
{
    static const struct {
        const char *in;
        int rc;
        int64_t v;
    } rows[] = {
        {"0", 0, 0},
        {"-0", 0, 0},
        {"-1", 0, -1},
        {"9223372036854775807", 0, INT64_MAX},
        {"9223372036854775808", ERR_RANGE, 0},
        {"-9223372036854775808", 0, INT64_MIN},
        {"-9223372036854775809", ERR_RANGE, 0},
        {"-", ERR_INVAL, 0},
        {"--1", ERR_INVAL, 0},
        {"", ERR_INVAL, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t v = 0;

        test_row(rows[i].in);
        CHECK_INT(str_i64(str_c(rows[i].in), &v), rows[i].rc);
        CHECK(v == rows[i].v);
    }
}

static void test_number_hex_digits(void)
{
    for (int c = 0; c < 256; c++) {
        static const char digits[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
        const char *q = c ? strchr(digits, c) : NULL, *u = c ? strchr(upper, c) : NULL;
        int want = q ? (int)(q - digits) : u ? (int)(u - upper) : -1;

        CHECK_INT(str_hex_digit((char)c), want);
    }
}

const struct test tests_number[] = {
    TEST(test_number_u64_edges),
    TEST(test_number_i64_edges),
    TEST(test_number_hex_digits),
    TEST_END,
};
