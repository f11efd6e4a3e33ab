/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/glob.h"
#include "unit/test.h"

static void test_glob_matches(void)
{
    static const struct {
        const char *pattern, *key;
        bool want;
    } rows[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "a/b", true},
        {"a*c", "abc", true},
        {"a*c", "ac", true},
        {"a*c", "acb", false},
        {"a**c", "axxc", true},
        {"*a*b*", "xxaxxbxx", true},
        {"*a*b*", "xxbxxaxx", false},
        {"?", "a", true},
        {"?", "", false},
        {"??*", "a", false},
        {"h[ae]llo", "hello", true},
        {"h[ae]llo", "hillo", false},
        {"h[^e]llo", "hallo", true},
        {"h[^e]llo", "hello", false},
        {"[a-c]", "b", true},
        {"[c-a]", "b", true},
        {"[a-c]", "d", false},
        {"[a-]", "-", true},
        {"[\\]]", "]", true},
        {"[]", "a", false},
        {"[^]", "a", true},
        {"[abc", "b", true},
        {"[a-", "-", true},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"a\\", "a\\", true},
        {"session:*", "session:abc", true},
        {"session:*", "sessions", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].pattern);
        CHECK_INT(kv_glob(str_c(rows[i].pattern), str_c(rows[i].key)), rows[i].want);
    }
}

/* Would take for ever if every star were tried against every other. */
static void test_glob_many_stars_are_quick(void)
{
    char key[2000], pattern[2000];

    memset(key, 'a', sizeof(key));
    for (size_t i = 0; i + 1 < sizeof(pattern); i += 2)
        memcpy(pattern + i, "*a", 2);
    pattern[sizeof(pattern) - 1] = 'b';
    CHECK(!kv_glob(str_n(pattern, sizeof(pattern)), str_n(key, sizeof(key))));
}

const struct test tests_glob[] = {
    TEST(test_glob_matches), TEST(test_glob_many_stars_are_quick), TEST_END};
