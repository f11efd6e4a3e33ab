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

static void test_field_cgi_name_table(void)
{
    static const struct {
        const char *name, *strict, *loose; /* loose: underscores allowed; NULL: refused */
    } rows[] = {
        {"Host", "HTTP_HOST", "HTTP_HOST"},
        {"accept-language", "HTTP_ACCEPT_LANGUAGE", "HTTP_ACCEPT_LANGUAGE"},
        {"X-1a", "HTTP_X_1A", "HTTP_X_1A"},
        {"Content-Type", "CONTENT_TYPE", "CONTENT_TYPE"},
        {"CONTENT-LENGTH", "CONTENT_LENGTH", "CONTENT_LENGTH"},
        {"Content-Encoding", "HTTP_CONTENT_ENCODING", "HTTP_CONTENT_ENCODING"},
        {"X_Forwarded_For", NULL, "HTTP_X_FORWARDED_FOR"},
        {"Content_Length", NULL, "HTTP_CONTENT_LENGTH"},
        {"Proxy", NULL, NULL},
        {"pROXY", NULL, NULL},
        {"Proxy-Connection", "HTTP_PROXY_CONNECTION", "HTTP_PROXY_CONNECTION"},
        {"Transfer-Encoding", NULL, NULL},
        {"X.A", NULL, NULL},
        {"X!A", NULL, NULL},
        {"", NULL, NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (int loose = 0; loose < 2; loose++) {
            const char *want = loose ? rows[i].loose : rows[i].strict;
            char out[64];
            size_t len = 0;
            int rc = field_cgi_name(str_c(rows[i].name), loose, out, sizeof(out), &len);

            test_row(rows[i].name);
            CHECK_INT(rc, want ? 0 : ERR_INVAL);
            if (rc == 0) {
                CHECK_STR(str_n(out, len), want);
                CHECK_INT(out[len], 0);
            }
        }
    }
    test_row(NULL);
}

static void test_field_cgi_name_fits_or_fails(void)
{
    char out[7];
    size_t len = 0;

    CHECK_INT(field_cgi_name(STR("a"), false, out, 7, &len), 0);
    CHECK_INT(len, 6);
    CHECK_INT(field_cgi_name(STR("a"), false, out, 6, &len), ERR_TOOBIG);
    CHECK_INT(field_cgi_name(STR("a"), false, out, 0, &len), ERR_TOOBIG);
    CHECK_INT(field_cgi_name(STR("abcdefghijkl"), false, out, 7, &len), ERR_TOOBIG);
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
    TEST(test_fields_has_token_table), TEST(test_field_cgi_name_table),
    TEST(test_field_cgi_name_fits_or_fails), TEST(test_field_value_is_bad_finds_every_control),
    TEST_END};
