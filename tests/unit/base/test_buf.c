/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/buf.h"

#include "unit/test.h"

extern const struct test tests_buf[];

static void test_buf_add_grows_and_keeps(void)
{
    struct buf b = {0};

    for (int i = 0; i < 1000; i++) {
        buf_add_char(&b, (char)('a' + i % 26));
        buf_add(&b, NULL, 0);
    }
    CHECK_INT(b.len, 1000);
    CHECK_INT(b.p[0], 'a');
    CHECK_INT(b.p[999], 'a' + 999 % 26);
    CHECK_INT(buf_cstr(&b)[1000], 0);
    CHECK_INT(b.len, 1000);
    buf_fini(&b);
    CHECK(b.p == NULL && b.len == 0);
    buf_add_lit(&b, "again");
    CHECK_STR(buf_str(&b), "again");
    buf_fini(&b);
}

static void test_buf_u64_prints_every_size(void)
{
    static const struct {
        uint64_t v;
        const char *want;
    } rows[] = {
        {0, "0"},
        {9, "9"},
        {10, "10"},
        {UINT32_MAX, "4294967295"},
        {UINT64_MAX, "18446744073709551615"},
    };
    struct buf b = {0};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_clear(&b);
        buf_add_u64(&b, rows[i].v);
        CHECK_STR(buf_str(&b), rows[i].want);
    }
    buf_fini(&b);
}

static void test_buf_printf_appends(void)
{
    struct buf b = {0};

    buf_add_lit(&b, "n=");
    buf_printf(&b, "%d %s", -5, "x");
    buf_printf(&b, "%s", "");
    CHECK_STR(buf_str(&b), "n=-5 x");
    buf_printf(&b, "%0300d", 0);
    CHECK_INT(b.len, 306);
    buf_fini(&b);
}

static void test_buf_consume_drops_the_front(void)
{
    struct buf b = {0};

    buf_consume(&b, 0);
    buf_add_lit(&b, "abcdef");
    buf_consume(&b, 2);
    CHECK_STR(buf_str(&b), "cdef");
    buf_consume(&b, 4);
    CHECK_INT(b.len, 0);
    buf_fini(&b);
}

static void test_buf_json_escapes(void)
{
    static const struct {
        struct str in;
        const char *want;
    } rows[] = {
        {{"", 0}, "\"\""},
        {{"a\"b\\c", 5}, "\"a\\\"b\\\\c\""},
        {{"\n\r\t", 3}, "\"\\n\\r\\t\""},
        {{"\0\x01\x7f", 3}, "\"\\u0000\\u0001\\u007f\""},
        {{"\xc3\xa4", 2}, "\"\xc3\xa4\""},
        {{"a\xff", 2}, "\"a\\ufffd\""},
        {{"</x>", 4}, "\"</x>\""},
    };
    struct buf b = {0};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        buf_clear(&b);
        buf_add_json(&b, rows[i].in);
        CHECK_STR(buf_str(&b), rows[i].want);
    }
    buf_fini(&b);
}

static void test_buf_html_escapes(void)
{
    struct buf b = {0};

    buf_add_html(&b, STR("<a href=\"x\">&'\xc3\xa4"));
    CHECK_STR(buf_str(&b), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\xc3\xa4");
    buf_fini(&b);
}

const struct test tests_buf[] = {
    TEST(test_buf_add_grows_and_keeps),
    TEST(test_buf_u64_prints_every_size),
    TEST(test_buf_printf_appends),
    TEST(test_buf_consume_drops_the_front),
    TEST(test_buf_json_escapes),
    TEST(test_buf_html_escapes),
    TEST_END,
};
