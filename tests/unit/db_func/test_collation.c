/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Collations: their orders are frozen, so what these tests say must stay. */
#include "db/charset.h"
#include "db/func/collation.h"
#include "db/func/utf8.h"
#include "unit/db_func/handle.h"
#include "unit/test.h"

/* want: 'y' equal, 'n' not, for the collations in turn */
static const char *const names[] = {"utf8mb4_general_ci", "utf8mb4_unicode_ci",
    "utf8mb4_unicode_520_ci", "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_ci", "utf8mb4_0900_as_cs",
    "utf8mb4_bin", "latin1_swedish_ci", "latin1_general_ci", "ascii_general_ci", "binary"};

static const struct {
    const char *a;
    const char *b;
    const char *want;
} pairs[] = {
    {"", "", "yyyyyyyyyyy"}, {"abc", "ABC", "yyyyynnyyyn"}, {"a", "a ", "yyynnnyyyyn"},
    {"\xC3\xA9", "e", "yyyynnnynnn"},        /* e-acute */
    {"\xC3\xA9", "\xC3\x89", "yyyyynnyynn"}, /* e-acute in both cases */
    {"\xC3\xA4", "a", "yyyynnnnnnn"},        /* a-umlaut is a letter in swedish */
    {"\xC3\x9F", "ss", "nyyynnnnnnn"},       /* sharp s */
    {"\xC3\x9F", "s", "ynnnnnnnnnn"}, {"\xC3\xB8", "o", "nnyynnnnnnn"}, /* o with stroke */
    {"e\xCC\x81", "\xC3\xA9", "nyyynnnnnnn"},                           /* e, combining acute */
    {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x81", "yynnnnnyynn"},            /* emoji */
    {"a\tb", "a b", "nnnnnnnnnnn"}, {"\xD1\x8F", "\xD0\xAF", "yyyyynnnnnn"}, /* Cyrillic ya */
    {"\xD0\xB9", "\xD0\xB8", "nnnnnnnnnnn"},                                 /* short i and i */
    {"\xCF\x83", "\xCF\x82", "yyyynnnnnnn"}, /* sigma and final sigma */
};

static void test_collation_equality(void)
{
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            struct collation c = collation_get(str_c(names[k]));
            struct str a = str_c(pairs[i].a);
            struct str b = str_c(pairs[i].b);
            bool equal = collation_cmp(c, a, b) == 0;
            char row[120];

            (void)snprintf(row, sizeof(row), "%s '%s' '%s'", names[k], pairs[i].a, pairs[i].b);
            test_row(row);
            CHECK_INT(equal, pairs[i].want[k] == 'y');
            CHECK_INT(collation_cmp(c, b, a) == 0, equal);
        }
    }
    test_row(NULL);
}

/* Each text comes before the next. */
static void test_collation_order(void)
{
    static const char *const unicode[] = {"", "_", "-", "0", "9", "a", "\xC3\xA1z", "b", "oz", "p",
        "z", "\xCE\xB1", "\xD0\xB0", "\xE6\xBC\xA2", NULL};
    static const char *const general[] = {
        "", " a", "-", "0", "A", "b", "Z", "_", "\xCE\xB1", "\xD0\xB0", "\xE6\xBC\xA2", NULL};

    for (int k = 0; unicode[k + 1]; k++)
        CHECK(collation_cmp(collation_get(STR("utf8mb4_unicode_ci")), str_c(unicode[k]),
                  str_c(unicode[k + 1])) < 0);
    for (int k = 0; general[k + 1]; k++)
        CHECK(collation_cmp(collation_get(STR("utf8mb4_general_ci")), str_c(general[k]),
                  str_c(general[k + 1])) < 0);
    CHECK(collation_cmp(collation_get(STR("utf8mb4_general_ci")), STR("a\t"), STR("a")) < 0);
    CHECK(collation_cmp(collation_get(STR("utf8mb4_0900_as_cs")), STR("a"), STR("A")) < 0);
    CHECK(collation_cmp(collation_get(STR("utf8mb4_0900_as_cs")), STR("Ab"), STR("ac")) < 0);
}

static uint32_t roll(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static int sign(int v)
{
    return v < 0 ? -1 : v > 0;
}

/* A few characters that meet often, also bytes that are none. */
static struct str random_text(uint32_t *state, char *out)
{
    static const char *const parts[] = {"a", "A", "b", " ", "\t", "\xC3\xA9", "\xC3\x89",
        "\xC3\x9F", "s", "e", "\xCC\x81", "\xF0\x9F\x98\x80", "\xD1\x8F", "\xD0\xAF", "\xFF", "1",
        "_", "\xC3\xB8", "\xE6\xBC\xA2"};
    size_t n = 0;

    for (uint32_t k = roll(state) % 6; k > 0; k--) {
        const char *part = parts[roll(state) % ARRAY_LEN(parts)];

        n += str_put(out + n, 64 - n, str_c(part));
    }
    return str_n(out, n);
}

/* The order must be one, and keys must say the same as comparing. */
static void test_collation_keys_agree_with_comparing(void)
{
    uint32_t n;
    const struct db_collation *all = db_collations(&n);
    uint32_t state = 1;

    for (uint32_t i = 0; i < n; i++) {
        struct collation c = collation_get(all[i].name);

        test_row(all[i].name.p);
        for (int round = 0; round < 400; round++) {
            char x[64];
            char y[64];
            struct str a = random_text(&state, x);
            struct str b = random_text(&state, y);
            struct buf p = {0};
            struct buf q = {0};
            int r = collation_cmp(c, a, b);

            collation_key(c, a, &p);
            collation_key(c, b, &q);
            CHECK_INT(str_eq(buf_str(&p), buf_str(&q)), r == 0);
            if (!memchr(x, '\t', a.len) && !memchr(y, '\t', b.len))
                CHECK_INT(sign(str_cmp(buf_str(&p), buf_str(&q))), sign(r));
            CHECK_INT(sign(collation_cmp(c, b, a)), -sign(r));
            CHECK_INT(collation_cmp(c, a, a), 0);
            buf_fini(&p);
            buf_fini(&q);
        }
    }
    test_row(NULL);
}

static void test_collation_is_transitive(void)
{
    uint32_t n;
    const struct db_collation *all = db_collations(&n);
    uint32_t state = 7;

    for (uint32_t i = 0; i < n; i++) {
        struct collation c = collation_get(all[i].name);

        test_row(all[i].name.p);
        for (int round = 0; round < 400; round++) {
            char x[64];
            char y[64];
            char z[64];
            struct str a = random_text(&state, x);
            struct str b = random_text(&state, y);
            struct str d = random_text(&state, z);

            if (collation_cmp(c, a, b) <= 0 && collation_cmp(c, b, d) <= 0)
                CHECK(collation_cmp(c, a, d) <= 0);
        }
    }
    test_row(NULL);
}

static void test_collation_of_indexes(void)
{
    struct handle h;

    handle_open(&h);
    CHECK_STR(handle_ask(&h, "CREATE TABLE t(a TEXT COLLATE utf8mb4_general_ci UNIQUE, d TEXT "
                             "COLLATE my_decimal, c TEXT COLLATE my_time)"),
        "");
    CHECK_STR(handle_ask(&h, "INSERT INTO t VALUES('abc', '10.00', '9:00:00')"), "");
    CHECK_STR(handle_ask(&h, "INSERT INTO t VALUES('ABC ', '9.50', '10:00:00')"),
        "SQLITE: UNIQUE constraint failed: t.a");
    CHECK_STR(handle_ask(&h, "INSERT INTO t VALUES('x', '-9.50', '-10:00:00')"), "");
    CHECK_STR(handle_ask(&h, "INSERT INTO t VALUES('y', '100.00', '100:00:00')"), "");
    CHECK_STR(handle_ask(&h, "SELECT group_concat(d) FROM (SELECT d FROM t ORDER BY d)"),
        "-9.50,10.00,100.00");
    CHECK_STR(handle_ask(&h, "SELECT max(c) FROM t"), "100:00:00");
    CHECK_STR(handle_ask(&h, "SELECT a FROM t WHERE d = '100'"), "y");
    CHECK_STR(handle_ask(&h, "SELECT 'a' = 'A' COLLATE utf8_general_ci"), "1");
    handle_close(&h);
}

static void test_case_of_letters(void)
{
    CHECK_INT(utf8_upper(0xE9), 0xC9);
    CHECK_INT(utf8_lower(0x42F), 0x44F);
    CHECK_INT(utf8_upper(0xDF), 0xDF);
    CHECK_INT(utf8_lower('['), '[');
    CHECK_INT(utf8_upper(0xFF), 0x178);
}

const struct test tests_collation[] = {TEST(test_collation_equality), TEST(test_collation_order),
    TEST(test_collation_keys_agree_with_comparing), TEST(test_collation_is_transitive),
    TEST(test_collation_of_indexes), TEST(test_case_of_letters), TEST_END};
