/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/decimal.h"
#include "unit/test.h"

static const struct {
    char op;
    const char *a;
    const char *b;
    const char *want;
} cases[] = {
#include "unit/db/decimal_cases.inc"
};

static struct db_decimal parse(const char *s)
{
    struct db_decimal d;
    bool overflow;

    CHECK_INT(db_decimal_parse(str_c(s), &d, &overflow), strlen(s));
    CHECK(!overflow);
    return d;
}

static void check(const struct db_decimal *d, const char *want)
{
    char text[DB_DECIMAL_TEXT];

    CHECK_STR(str_n(text, db_decimal_print(d, text)), want);
}

static void test_decimal_computes_as_python_does(void)
{
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct db_decimal a = parse(cases[i].a);
        struct db_decimal b = parse(cases[i].b);
        bool ok = false;
        char row[256];

        (void)snprintf(row, sizeof(row), "%s %c %s", cases[i].a, cases[i].op, cases[i].b);
        test_row(row);
        switch (cases[i].op) {
        case '+':
            ok = db_decimal_add(&a, &b, &a);
            break;
        case '-':
            ok = db_decimal_sub(&a, &b, &a);
            break;
        case '*':
            ok = db_decimal_mul(&a, &b, &a);
            break;
        case '/':
            ok = db_decimal_div(&a, &b, 4, &a);
            break;
        case 'd':
            ok = db_decimal_intdiv(&a, &b, &a);
            break;
        default:
            ok = db_decimal_mod(&a, &b, &a);
        }
        CHECK(ok);
        check(&a, cases[i].want);
    }
    test_row(NULL);
}

static void test_decimal_parse(void)
{
    static const struct {
        const char *text;
        size_t used;
        const char *want;
    } rows[] = {
        {"", 0, "0"},
        {"abc", 0, "0"},
        {".", 0, "0"},
        {"-", 0, "0"},
        {" -1.50x", 6, "-1.50"},
        {"1.", 2, "1"},
        {".5", 2, "0.5"},
        {"1e3", 3, "1000"},
        {"1.25e1", 6, "12.5"},
        {"1.25e-2", 7, "0.0125"},
        {"1e", 1, "1"},
        {"-0.00", 5, "0.00"},
        {"000123", 6, "123"},
        {"1e-40", 5, "0.000000000000000000000000000000"},
        {"0.12345678901234567890123456789055", 34, "0.123456789012345678901234567891"},
        {"0e99999999999", 13, "0"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct db_decimal d;
        bool overflow;

        test_row(rows[i].text);
        CHECK_INT(db_decimal_parse(str_c(rows[i].text), &d, &overflow), rows[i].used);
        CHECK(!overflow);
        check(&d, rows[i].want);
    }
    test_row(NULL);
}

static void test_decimal_too_great_is_the_greatest(void)
{
    struct db_decimal d;
    bool overflow;

    (void)db_decimal_parse(STR("-1e70"), &d, &overflow); /* it took all of it */
    CHECK(overflow);
    check(&d, "-99999999999999999999999999999999999999999999999999999999999999999");
    CHECK(!db_decimal_mul(&d, &d, &d));
}

static void test_decimal_round(void)
{
    static const struct {
        const char *text;
        int scale;
        enum db_decimal_mode mode;
        const char *want;
    } rows[] = {
        {"1.005", 2, DB_DECIMAL_HALF_UP, "1.01"},
        {"-1.005", 2, DB_DECIMAL_HALF_UP, "-1.01"},
        {"1.2", 4, DB_DECIMAL_HALF_UP, "1.2000"},
        {"1250", -2, DB_DECIMAL_HALF_UP, "1300"},
        {"49", -2, DB_DECIMAL_HALF_UP, "0"},
        {"1.999", 1, DB_DECIMAL_CUT, "1.9"},
        {"-1.1", 0, DB_DECIMAL_FLOOR, "-2"},
        {"-1.1", 0, DB_DECIMAL_CEIL, "-1"},
        {"1.0", 0, DB_DECIMAL_CEIL, "1"},
        {"1.1", 0, DB_DECIMAL_CEIL, "2"},
        {"-0.4", 0, DB_DECIMAL_HALF_UP, "0"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct db_decimal d = parse(rows[i].text);

        test_row(rows[i].text);
        (void)db_decimal_round(&d, rows[i].scale, rows[i].mode); /* what is lost does not matter */
        check(&d, rows[i].want);
    }
    test_row(NULL);
}

static void test_decimal_converts(void)
{
    struct db_decimal d;
    int64_t i;
    uint64_t u;

    db_decimal_i64(&d, INT64_MIN);
    check(&d, "-9223372036854775808");
    CHECK(db_decimal_to_i64(&d, &i) && i == INT64_MIN);
    CHECK(!db_decimal_to_u64(&d, &u) && u == 0);
    db_decimal_u64(&d, UINT64_MAX);
    CHECK(db_decimal_to_u64(&d, &u) && u == UINT64_MAX);
    CHECK(!db_decimal_to_i64(&d, &i) && i == INT64_MAX);
    CHECK(db_decimal_double(&d, 0.1));
    check(&d, "0.1");
    CHECK(!db_decimal_double(&d, 1e300));
    d = parse("12.75");
    CHECK(db_decimal_to_double(&d) == 12.75);
    CHECK_INT(db_decimal_int_digits(&d), 2);
    db_decimal_max(&d, 5, 2, true);
    check(&d, "-999.99");
}

const struct test tests_decimal[] = {TEST(test_decimal_computes_as_python_does),
    TEST(test_decimal_parse), TEST(test_decimal_too_great_is_the_greatest),
    TEST(test_decimal_round), TEST(test_decimal_converts), TEST_END};
