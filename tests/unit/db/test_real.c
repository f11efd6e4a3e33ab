/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/real.h"
#include "unit/test.h"

/* As the server of MariaDB 10.11 prints them. */
static const struct {
    double v;
    const char *text;
} doubles[] = {
    {1e14, "100000000000000"},
    {1e15, "1e15"},
    {1e16, "1e16"},
    {123456789012345e0, "123456789012345"},
    {1234567890123456e0, "1.234567890123456e15"},
    {12345678901234567e0, "1.2345678901234568e16"},
    {1e20, "1e20"},
    {-1e15, "-1e15"},
    {1e100, "1e100"},
    {1e-1, "0.1"},
    {1e-5, "0.00001"},
    {1e-14, "0.00000000000001"},
    {1e-15, "0.000000000000001"},
    {1e-16, "1e-16"},
    {1.5e-10, "0.00000000015"},
    {1.2345678e-15, "0.0000000000000012345678"},
    {1e-300, "1e-300"},
    {0, "0"},
    {-0.0, "-0"},
    {-1, "-1"},
    {0.1 + 0.2, "0.30000000000000004"},
    {123456.789, "123456.789"},
    {123456789.123456789, "123456789.12345679"},
    {1.7976931348623157e308, "1.7976931348623157e308"},
    {5e-324, "5e-324"},
};

static const struct {
    double v;
    const char *text;
} floats[] = {
    {0.1F, "0.1"},
    {16777216, "16777200"},
    {1e10F, "10000000000"},
    {1.23456789F, "1.23457"},
    {3.4e38F, "3.4e38"},
    {1e-10F, "0.0000000001"},
    {999999.5F, "1000000"},
    {1234567, "1234570"},
    {1e15F, "1e15"},
    {0.000123456789F, "0.000123457"},
    {-2.5F, "-2.5"},
};

static void test_real_doubles_print_as_mysql_does(void)
{
    char text[DB_REAL_TEXT];

    for (size_t i = 0; i < ARRAY_LEN(doubles); i++) {
        test_row(doubles[i].text);
        CHECK_INT(db_real_text(doubles[i].v, text), strlen(doubles[i].text));
        CHECK_STR(str_c(text), doubles[i].text);
    }
    test_row(NULL);
}

static void test_real_floats_have_six_digits(void)
{
    char text[DB_REAL_TEXT];

    for (size_t i = 0; i < ARRAY_LEN(floats); i++) {
        test_row(floats[i].text);
        CHECK_INT(db_float_text(floats[i].v, text), strlen(floats[i].text));
        CHECK_STR(str_c(text), floats[i].text);
    }
    test_row(NULL);
}

static void test_real_fixed_has_its_decimals(void)
{
    char text[DB_REAL_TEXT];

    (void)db_fixed_text(1.0005, 3, text);
    CHECK_STR(str_c(text), "1.000");
    (void)db_fixed_text(123.456, 2, text);
    CHECK_STR(str_c(text), "123.46");
    CHECK_INT(db_fixed_text(-1.7976931348623157e308, 30, text), 341);
}

const struct test tests_real[] = {TEST(test_real_doubles_print_as_mysql_does),
    TEST(test_real_floats_have_six_digits), TEST(test_real_fixed_has_its_decimals), TEST_END};
