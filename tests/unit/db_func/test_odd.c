/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Every function with every combination of odd arguments: nothing may crash or hang. */
#include "unit/db_func/handle.h"
#include "unit/test.h"

static const struct {
    const char *name;
    int least;
    int most;
    int flags;
} functions[] = {
#define ROW(name, least, most, flags, text) {"m_" #name, least, most, DB_FUNC_##flags},
    DB_FUNC_LIST(ROW)
#undef ROW
};

/* Literals; the first ones are enough for functions of many arguments. */
static const char *const odd[] = {
    "NULL",
    "0",
    "-1",
    "''",
    "x''",
    "'a'",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "-1e308",
    "'18446744073709551615'",
    "'-0.50'",
    "x'FF00C3'",
    "'2024-02-30'",
    "'0000-00-00 00:00:00'",
    "'{\"a\": [1, {\"b\": null}]}'",
    "'$.a[last]'",
    "'$**.b'",
    "'%Y-%m-%d %H:%i:%s.%f'",
    "'DAY_MICROSECOND'",
    "'utf8mb4_general_ci'",
    "'s:latin1_swedish_ci'",
    "'99999999999999999999999999999999999999999999999999999999999999999999999.9'",
    "'\xC3\xA9\xC3\x9F\xF0\x9F\x98\x80'",
    "'(a|b)*[c'",
    "'838:59:59.999999'",
    "'Europe/Vienna'",
    "0.1",
    "64",
    "1000000",
};

static void call(struct handle *h, const char *name, bool aggregate, const size_t *pick, int n)
{
    struct buf sql = {0};

    buf_printf(&sql, "%s(", name);
    for (int i = 0; i < n; i++)
        buf_printf(&sql, "%s%s", i ? "," : "", odd[pick[i]]);
    buf_printf(&sql, ")%s", aggregate ? " FROM (SELECT 1 UNION ALL SELECT 2)" : "");
    test_row(buf_cstr(&sql));
    (void)handle_eval(h, buf_cstr(&sql)); /* any answer will do */
    CHECK(!str_starts(buf_str(&h->result), STR("SQLITE: no such")));
    buf_fini(&sql);
}

/* A row of its own of pseudo-random numbers, so that a failure comes again. */
static uint32_t roll(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static void all_of(struct handle *h, size_t f, int n)
{
    size_t pick[8] = {0};
    size_t rounds = 1;
    uint32_t state = (uint32_t)f;
    bool aggregate = functions[f].flags & (DB_FUNC_A | DB_FUNC_W);

    for (int i = 0; i < n && i < 2; i++)
        rounds *= ARRAY_LEN(odd);
    if (n > 2)
        rounds = 150;
    for (size_t r = 0; r < rounds; r++) {
        size_t rest = r;

        for (int i = 0; i < n; i++) {
            pick[i] = n > 2 ? roll(&state) % ARRAY_LEN(odd) : rest % ARRAY_LEN(odd);
            rest /= ARRAY_LEN(odd);
        }
        call(h, functions[f].name, aggregate, pick, n);
    }
}

static void test_odd_arguments_crash_nothing(void)
{
    struct handle h;

    handle_open(&h);
    h.session.max_packet = 1 << 20;
    for (size_t f = 0; f < ARRAY_LEN(functions); f++) {
        int most = functions[f].most < 0 ? functions[f].least + 3 : functions[f].most;

        for (int n = functions[f].least; n <= most && n <= 8; n++)
            all_of(&h, f, n);
    }
    test_row(NULL);
    handle_close(&h);
}

static void test_wrong_counts_are_refused(void)
{
    struct handle h;

    handle_open(&h);
    CHECK_STR(handle_eval(&h, "m_substring('a')"),
        "ERROR 1582 (42000): Incorrect parameter count in the call to native function 'substring'");
    handle_close(&h);
}

static void test_between_statements_there_is_an_empty_session(void)
{
    struct handle h;

    handle_open(&h);
    h.context.session = NULL;
    CHECK_STR(handle_eval(&h, "m_database()"), "NULL");
    CHECK_STR(handle_eval(&h, "m_now()"), "1970-01-01 00:00:00");
    CHECK_STR(handle_eval(&h, "m_div(1, 3)"), "0.3333");
    handle_close(&h);
}

static void test_results_beyond_the_packet_are_null_with_a_warning(void)
{
    static const char *const rows[] = {"m_repeat('abc', 100000000)", "m_space(70000000)",
        "m_lpad('a', 100000000, 'xy')", "m_concat(m_repeat('a', 60000000), m_space(60000000))",
        "m_cast_binary('a', 100000000)", NULL};
    struct handle h;

    handle_open(&h);
    for (int i = 0; rows[i]; i++) {
        test_row(rows[i]);
        CHECK_STR(handle_eval(&h, rows[i]), "NULL");
        CHECK_INT(h.warning.number, 1301);
    }
    test_row(NULL);
    handle_close(&h);
}

const struct test tests_odd[] = {TEST(test_odd_arguments_crash_nothing),
    TEST(test_wrong_counts_are_refused), TEST(test_between_statements_there_is_an_empty_session),
    TEST(test_results_beyond_the_packet_are_null_with_a_warning), TEST_END};
