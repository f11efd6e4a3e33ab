/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/negotiate.h"

#include "unit/test.h"

static void test_negotiate_choose_cases(void)
{
    static const struct {
        const char *accept;
        unsigned set;
        enum coding want;
    } rows[] = {
        {NULL, CODING_ALL, CODING_IDENTITY},
        {"", CODING_ALL, CODING_IDENTITY},
        {"gzip", CODING_ALL, CODING_GZIP},
        {"GZIP", CODING_ALL, CODING_GZIP},
        {"x-gzip", CODING_ALL, CODING_GZIP},
        {"gzip, deflate, br, zstd", CODING_ALL, CODING_BR},
        {"gzip, deflate, zstd", CODING_ALL, CODING_ZSTD},
        {"gzip, deflate, br", CODING_BIT(CODING_GZIP), CODING_GZIP},
        {"br", CODING_BIT(CODING_GZIP), CODING_IDENTITY},
        {"br;q=0.5, gzip;q=0.8", CODING_ALL, CODING_GZIP},
        {"br;q=0.5,gzip ; q=0.5", CODING_ALL, CODING_BR},
        {"br;q=0, gzip", CODING_ALL, CODING_GZIP},
        {"gzip;q=0", CODING_ALL, CODING_IDENTITY},
        {"gzip;q=0.001", CODING_ALL, CODING_GZIP},
        {"gzip;q=0.000", CODING_ALL, CODING_IDENTITY},
        {"*", CODING_ALL, CODING_BR},
        {"*;q=0", CODING_ALL, CODING_IDENTITY},
        {"gzip, *;q=0", CODING_ALL, CODING_GZIP},
        {"br;q=0, *", CODING_ALL, CODING_ZSTD},
        {"identity", CODING_ALL, CODING_IDENTITY},
        {"identity;q=0, gzip;q=0.1", CODING_ALL, CODING_GZIP},
        {"identity, gzip;q=0.5", CODING_ALL, CODING_IDENTITY},
        {"identity;q=0.5, gzip;q=0.5", CODING_ALL, CODING_GZIP},
        {"identity;q=0.5, gzip", CODING_ALL, CODING_GZIP},
        {"deflate", CODING_ALL, CODING_IDENTITY},
        {",,gzip,,", CODING_ALL, CODING_GZIP},
        {"gzip;q=2", CODING_ALL, CODING_IDENTITY},
        {"gzip;q=1.001", CODING_ALL, CODING_IDENTITY},
        {"gzip;q=", CODING_ALL, CODING_IDENTITY},
        {"gzip;q=0.1234", CODING_ALL, CODING_IDENTITY},
        {"gzip;q=-1", CODING_ALL, CODING_IDENTITY},
        {"gzip;q=0x1", CODING_ALL, CODING_IDENTITY},
        {"gzip br", CODING_ALL, CODING_IDENTITY},
        {"gzip, ;q=1", CODING_ALL, CODING_IDENTITY},
        {"gzip;Q=0.5, br;q=0.4", CODING_ALL, CODING_GZIP},
        {"gzip;q=1.", CODING_ALL, CODING_GZIP},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct negotiate n = negotiate_parse(str_c(rows[i].accept));

        test_row(rows[i].accept);
        CHECK_INT(negotiate_choose(&n, rows[i].set), rows[i].want);
    }
    test_row(NULL);
}

static void test_negotiate_names(void)
{
    CHECK_STR(coding_name(CODING_BR), "br");
    CHECK_STR(coding_name(CODING_GZIP), "gzip");
    CHECK_STR(coding_name(CODING_ZSTD), "zstd");
    CHECK_STR(coding_name(CODING_IDENTITY), "identity");
    CHECK_STR(coding_suffix(CODING_ZSTD), ".zst");
    CHECK_STR(coding_suffix(CODING_IDENTITY), "");
}

static void test_negotiate_accept_q_most_specific_wins(void)
{
    static const struct {
        const char *accept, *type, *subtype;
        unsigned want;
    } rows[] = {
        {NULL, "text", "html", 1000},
        {"text/html", "text", "html", 1000},
        {"text/html;q=0.3, text/*;q=0.7, */*;q=0.5", "text", "html", 300},
        {"text/html;q=0.3, text/*;q=0.7, */*;q=0.5", "text", "plain", 700},
        {"*/*;q=0.5, text/html;q=0.3", "application", "json", 500},
        {"application/json", "text", "html", 0},
        {"APPLICATION/Json;charset=x;q=0.25", "application", "json", 250},
        {"garbage", "text", "html", 0},
        {"", "text", "html", 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].accept);
        CHECK_INT(
            negotiate_accept_q(str_c(rows[i].accept), str_c(rows[i].type), str_c(rows[i].subtype)),
            rows[i].want);
    }
    test_row(NULL);
}

const struct test tests_negotiate[] = {
    TEST(test_negotiate_choose_cases),
    TEST(test_negotiate_names),
    TEST(test_negotiate_accept_q_most_specific_wins),
    TEST_END,
};
