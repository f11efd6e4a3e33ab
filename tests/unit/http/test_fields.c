/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/fields.h"
#include "unit/test.h"

static void test_fields_look_up_ignores_case(void)
{
    struct arena a = {0};
    struct fields f;
    struct str joined = STR_NONE;

    fields_init(&f, &a);
    CHECK(fields_get(&f, STR("a")) == NULL);
    CHECK(!fields_join(&f, STR("a"), &joined));
    fields_add(&f, STR("X-A"), STR("1"));
    fields_add(&f, STR("x-a"), STR(""));
    fields_add(&f, STR("X-a"), STR("3, 4"));
    fields_add(&f, STR("Cookie"), STR("a=1"));
    fields_add(&f, STR("cookie"), STR("b=2"));
    fields_add(&f, STR("Zero"), STR("0"));
    CHECK_INT(f.count, 6);
    CHECK_INT(fields_count(&f, STR("x-A")), 3);
    CHECK_INT(fields_count(&f, STR("x")), 0);
    CHECK(fields_get(&f, STR("ZERO")) != NULL);
    CHECK_STR(*fields_get(&f, STR("X-A")), "1");
    CHECK(fields_join(&f, STR("x-a"), &joined));
    CHECK_STR(joined, "1, , 3, 4");
    CHECK(fields_join(&f, STR("COOKIE"), &joined));
    CHECK_STR(joined, "a=1; b=2");
    CHECK(fields_join(&f, STR("zero"), &joined));
    CHECK_STR(joined, "0");
    arena_fini(&a);
}

static void test_fields_grow(void)
{
    struct arena a = {0};
    struct fields f;

    fields_init(&f, &a);
    for (int i = 0; i < 100; i++)
        fields_add(&f, arena_printf(&a, "n%d", i), arena_printf(&a, "v%d", i));
    CHECK_INT(f.count, 100);
    CHECK_STR(*fields_get(&f, STR("N99")), "v99");
    CHECK_STR(*fields_get(&f, STR("n0")), "v0");
    arena_fini(&a);
}

static void test_fields_has_token_table(void)
{
    static const struct {
        const char *value;
        bool want;
    } rows[] = {
        {"gzip", true},
        {"GZip", true},
        {"br, gzip", true},
        {"br,,\tgzip ,x", true},
        {"gzip;q=0, br", true},
        {"gzip ; q=1", true},
        {"\"a,gzip\", br", false},
        {"\"a\\\",gzip\"", false},
        {"xgzip", false},
        {"gzipx", false},
        {"", false},
        {", ,", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = {0};
        struct fields f;

        fields_init(&f, &a);
        fields_add(&f, STR("Accept-Encoding"), STR("identity"));
        fields_add(&f, STR("accept-encoding"), str_c(rows[i].value));
        test_row(rows[i].value);
        CHECK_INT(fields_has_token(&f, STR("ACCEPT-ENCODING"), STR("gzip")), rows[i].want);
        CHECK(!fields_has_token(&f, STR("te"), STR("gzip")));
        arena_fini(&a);
    }
    test_row(NULL);
}

static void test_field_is_variable_table(void)
{
    static const struct {
        const char *name;
        bool strict, loose; /* loose: underscores allowed */
    } rows[] = {
        {"Host", true, true},
        {"accept-language", true, true},
        {"X-1a", true, true},
        {"Content-Type", true, true},
        {"X_Forwarded_For", false, true},
        {"Content_Length", false, true},
        {"Proxy", false, false},
        {"pROXY", false, false},
        {"Proxy-Connection", true, true},
        {"Transfer-Encoding", false, false},
        {"X.A", false, false},
        {"X!A", false, false},
        {"-", true, true},
        {"", false, false},
    };
    char longer[1000];

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].name);
        CHECK_INT(field_is_variable(str_c(rows[i].name), false), rows[i].strict);
        CHECK_INT(field_is_variable(str_c(rows[i].name), true), rows[i].loose);
    }
    test_row(NULL);
    memset(longer, 'n', sizeof(longer));
    CHECK(field_is_variable(str_n(longer, sizeof(longer)), false));
}

/* Each byte value at each place of a word and behind it: the fast check equals the definition. */
static void test_field_value_is_bad_finds_every_control(void)
{
    for (int c = 0; c < 256; c++) {
        bool want = (c < 0x20 && c != '\t') || c == 0x7f;

        for (size_t at = 0; at < 19; at++) {
            char v[19];

            memset(v, at % 3 == 0 ? '~' : at % 3 == 1 ? '\xff' : '\t', sizeof(v));
            v[at] = (char)c;
            if (field_value_is_bad(str_n(v, sizeof(v))) != want)
                test_fail(__FILE__, __LINE__, "byte %d at %zu", c, at);
        }
    }
    CHECK(!field_value_is_bad(STR_NONE));
}

const struct test tests_fields[] = {TEST(test_fields_look_up_ignores_case), TEST(test_fields_grow),
    TEST(test_fields_has_token_table), TEST(test_field_is_variable_table),
    TEST(test_field_value_is_bad_finds_every_control), TEST_END};
