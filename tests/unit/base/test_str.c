/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/str.h"

#include "unit/test.h"

extern const struct test tests_str[];

static void test_str_compares(void)
{
    CHECK(str_eq(STR_NONE, STR("")));
    CHECK(str_eq(str_n("a\0b", 3), str_n("a\0b", 3)));
    CHECK(!str_eq(STR("a"), STR("ab")));
    CHECK(str_ieq(STR("Content-Length"), STR("content-LENGTH")));
    CHECK(!str_ieq(STR("[`"), STR("{@"))); /* neighbours of the letters are no letters */
    CHECK(!str_ieq(STR("\xc3\x84"), STR("\xc3\xa4")));
    CHECK(str_cmp(STR("a"), STR("b")) < 0);
    CHECK(str_cmp(STR("b"), STR("a")) > 0);
    CHECK(str_cmp(STR("a"), STR("ab")) < 0);
    CHECK(str_cmp(STR("\xff"), STR("a")) > 0);
    CHECK_INT(str_cmp(STR_NONE, STR("")), 0);
    CHECK(str_starts(STR("abc"), STR("ab")) && !str_starts(STR("a"), STR("ab")));
    CHECK(str_ends(STR("abc"), STR("bc")) && !str_ends(STR("c"), STR("bc")));
    CHECK(str_istarts(STR("ABc"), STR("ab")) && str_iends(STR("aBC"), STR("bc")));
    CHECK(str_under(STR("/a"), STR("/a")) && str_under(STR("/a/b"), STR("/a")));
    CHECK(!str_under(STR("/ab"), STR("/a")) && !str_under(STR("/"), STR("/a")));
    CHECK(str_under(STR("/a"), STR("")) && !str_under(STR("a"), STR("")));
    CHECK(str_starts(STR_NONE, STR_NONE) && str_ends(STR("x"), STR_NONE));
}

static void test_str_sub_cuts_to_fit(void)
{
    CHECK_STR(str_sub(STR("abcdef"), 1, 3), "bcd");
    CHECK_STR(str_sub(STR("abcdef"), 4, 100), "ef");
    CHECK_STR(str_sub(STR("abcdef"), 100, 1), "");
    CHECK_STR(str_sub(STR("abcdef"), 1, SIZE_MAX), "bcdef");
    CHECK_STR(str_sub(STR_NONE, 1, 1), "");
}

static void test_str_finds(void)
{
    CHECK_INT(str_chr(STR("abca"), 'a'), 0);
    CHECK_INT(str_rchr(STR("abca"), 'a'), 3);
    CHECK_INT(str_chr(STR("abc"), 'x'), -1);
    CHECK_INT(str_rchr(STR_NONE, 'x'), -1);
    CHECK_INT(str_chr(STR_NONE, 'x'), -1);
    CHECK_INT(str_chr(str_n("a\0b", 3), '\0'), 1);
    CHECK_INT(str_find(STR("aabaab"), STR("aab")), 0);
    CHECK_INT(str_find(STR("abaab"), STR("aab")), 2);
    CHECK_INT(str_find(STR("aaab"), STR("aab")), 1);
    CHECK_INT(str_find(STR("aaa"), STR("aab")), -1);
    CHECK_INT(str_find(STR("a"), STR("ab")), -1);
    CHECK_INT(str_find(STR("abc"), STR("c")), 2);
    CHECK_INT(str_find(STR("abc"), STR("")), 0);
}

static void test_str_trim_takes_ascii_space(void)
{
    CHECK_STR(str_trim(STR(" \t a b\r\n")), "a b");
    CHECK_STR(str_trim(STR(" \t\r\n")), "");
    CHECK_STR(str_trim(STR_NONE), "");
    CHECK_STR(str_trim(STR("\va\f")), "\va\f");
}

static void test_str_split_table(void)
{
    static const struct {
        struct str in;
        const char *want; /* each part in angle brackets */
    } rows[] = {
        {{NULL, 0}, ""},
        {{"", 0}, "<>"},
        {{"a", 1}, "<a>"},
        {{"a,b", 3}, "<a><b>"},
        {{",", 1}, "<><>"},
        {{"a,,b,", 5}, "<a><><b><>"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str rest = rows[i].in, part;
        char got[64] = "";
        size_t n = 0;

        while (str_split(&rest, ',', &part))
            n += (size_t)snprintf(got + n, sizeof(got) - n, "<" STR_F ">", STR_A(part));
        CHECK_STR(str_c(got), rows[i].want);
    }
}

static void test_str_utf8_table(void)
{
    static const struct {
        const char *s;
        bool want;
    } rows[] = {
        {"", true},
        {"plain", true},
        {"\xc2\x80", true},
        {"\xdf\xbf", true},
        {"\xe0\xa0\x80", true},
        {"\xed\x9f\xbf", true},
        {"\xee\x80\x80", true},
        {"\xef\xbf\xbf", true},
        {"\xf0\x90\x80\x80", true},
        {"\xf4\x8f\xbf\xbf", true},
        {"\x80", false},             /* a continuation alone */
        {"\xc0\xaf", false},         /* overlong '/' */
        {"\xc1\xbf", false},         /* overlong */
        {"\xe0\x9f\xbf", false},     /* overlong */
        {"\xf0\x8f\xbf\xbf", false}, /* overlong */
        {"\xed\xa0\x80", false},     /* surrogate */
        {"\xed\xbf\xbf", false},     /* surrogate */
        {"\xf4\x90\x80\x80", false}, /* beyond U+10FFFF */
        {"\xf5\x80\x80\x80", false},
        {"\xff", false},
        {"\xc3", false}, /* cut */
        {"\xe2\x82", false},
        {"\xf0\x9f\x98", false},
        {"\xc3(", false},
        {"\xe2(\xa1", false},
        {"\xe2\x82(", false},
        {"\xf0\x9f\x98(", false},
        {"ok\xc3\xa4\x80", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "row %zu", i);
        test_row(name);
        CHECK_INT(str_is_utf8(str_c(rows[i].s)), rows[i].want);
    }
    test_row(NULL);
    CHECK(str_is_utf8(str_n("a\0b", 3)));
}

static void test_str_distance_table(void)
{
    static const struct {
        const char *a, *b;
        int want;
    } rows[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"abc", "", 3},
        {"listen", "listen", 0},
        {"listen", "lsiten", 1}, /* swap */
        {"listen", "listn", 1},  /* delete */
        {"listen", "listeen", 1},
        {"listen", "listem", 1},
        {"workers", "worker_min", 4},
        {"kitten", "sitting", 3},
        {"ab", "ba", 1},
        {"ca", "abc", 3},
    };
    char big[200];

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].b);
        CHECK_INT(str_distance(str_c(rows[i].a), str_c(rows[i].b)), rows[i].want);
        CHECK_INT(str_distance(str_c(rows[i].b), str_c(rows[i].a)), rows[i].want);
    }
    memset(big, 'x', sizeof(big));
    CHECK_INT(str_distance(str_n(big, sizeof(big)), STR("")), 64);
    CHECK_INT(str_distance(str_n(big, 200), str_n(big, 64)), 0);
}

const struct test tests_str[] = {
    TEST(test_str_compares),
    TEST(test_str_sub_cuts_to_fit),
    TEST(test_str_finds),
    TEST(test_str_trim_takes_ascii_space),
    TEST(test_str_split_table),
    TEST(test_str_utf8_table),
    TEST(test_str_distance_table),
    TEST_END,
};
