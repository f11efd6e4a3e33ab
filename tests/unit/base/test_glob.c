/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/str.h"
#include "unit/test.h"

extern const struct test tests_glob[];

static void test_glob_table(void)
{
    static const struct {
        const char *pattern, *s;
        bool want;
    } rows[] = {
        {"", "", true},
        {"", "a", false},
        {"abc", "abc", true},
        {"abc", "abcd", false},
        {"abcd", "abc", false},
        {"ABC", "abc", false},
        {"*", "", true},
        {"*", "abc", true},
        {"*", "a/b", false},
        {"*.php", "index.php", true},
        {"*.php", ".php", true},
        {"*.php", "index.phpx", false},
        {"*.php", "a/index.php", false},
        {"a*b*c", "aXbYc", true},
        {"a*b*c", "abbbcbc", true},
        {"a*b*c", "ab/c", false},
        {"**", "", true},
        {"**", "a/b/c", true},
        {"**.php", "a/b.php", true},
        {"/wp-content/**", "/wp-content/a/b.php", true},
        {"/wp-content/**", "/wp-content/", true},
        {"/wp-content/**", "/wp-contentx", false},
        {"**/x/*", "a/b/x/y", true},
        {"**/x/*", "a/x/b/x/y", true},
        {"**/x/*", "a/x/b/c", false},
        {"/a/**/b", "/a/x/y/b", true},
        {"/a/**/b", "/a/b", false},
        {"***a", "x/a", true},
        {"?", "a", true},
        {"?", "", false},
        {"?", "/", false},
        {"a?c", "abc", true},
        {"[a-c]", "b", true},
        {"[a-c]", "d", false},
        {"[!a-c]", "d", true},
        {"[^a-c]", "b", false},
        {"[!a]", "/", false},
        {"[]]", "]", true},
        {"[]a]", "a", true},
        {"[a-]", "-", true},
        {"[-a]", "-", true},
        {"[abc", "[abc", true},
        {"[abc", "a", false},
        {"[", "[", true},
        {"x[0-9]*", "x1yz", true},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"\\[a]", "[a]", true},
        {"a\\", "a\\", true},
        {"*\\.php", "a.php", true},
        {"*a*", "bbbab", true},
        {"*a", "aab", false},
        {"**a*b", "a/xb/ab", true},
        {"*/**/c", "a/b/c", true},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char name[64];

        (void)snprintf(name, sizeof(name), "%s ~ %s", rows[i].pattern, rows[i].s);
        test_row(name);
        CHECK_INT(str_glob(str_c(rows[i].pattern), str_c(rows[i].s)), rows[i].want);
    }
}

/* With backtracking over all stars this would not end. */
static void test_glob_time_is_bounded(void)
{
    char s[2001];

    memset(s, 'a', sizeof(s) - 1);
    s[sizeof(s) - 1] = '\0';
    CHECK(!str_glob(STR("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b"), str_c(s)));
    CHECK(!str_glob(STR("**a**a**a**a**a**a**a**a**a**a**a**b"), str_c(s)));
    CHECK(!str_glob(STR("**a*a*a*a*a**a*a*a*a**a*a*a**b"), str_c(s)));
}

const struct test tests_glob[] = {
    TEST(test_glob_table),
    TEST(test_glob_time_is_bounded),
    TEST_END,
};
