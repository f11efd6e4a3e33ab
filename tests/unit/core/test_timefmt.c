/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/timefmt.h"

#include <time.h>

#include "unit/test.h"

extern const struct test tests_timefmt[];

static void test_timefmt_http_formats_known_dates(void)
{
    static const struct {
        int64_t sec;
        const char *want;
    } rows[] = {
        {784111777, "Sun, 06 Nov 1994 08:49:37 GMT"},
        {0, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {-1, "Wed, 31 Dec 1969 23:59:59 GMT"},
        {951782400, "Tue, 29 Feb 2000 00:00:00 GMT"},
        {4102444799, "Thu, 31 Dec 2099 23:59:59 GMT"},
        {INT64_MAX, "Fri, 31 Dec 9999 23:59:59 GMT"},
        {INT64_MIN, "Sat, 01 Jan 0000 00:00:00 GMT"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[TIMEFMT_MAX];

        test_row(rows[i].want);
        CHECK_INT(timefmt_http(rows[i].sec, out), 29);
        CHECK_STR(str_c(out), rows[i].want);
    }
    test_row(NULL);
}

/* The C library in its "C" locale is the judge. */
static void test_timefmt_agrees_with_strftime(void)
{
    for (int64_t sec = 0; sec < 8000000000; sec += 86400 * 7 + 12345) {
        char ours[TIMEFMT_MAX], theirs[64];
        time_t t = (time_t)sec;
        struct tm *tm = gmtime(&t);
        int64_t back = 0;

        strftime(theirs, sizeof(theirs), "%a, %d %b %Y %H:%M:%S GMT", tm);
        timefmt_http(sec, ours);
        if (strcmp(ours, theirs) != 0)
            test_fail(__FILE__, __LINE__, "%lld: %s, not %s", (long long)sec, ours, theirs);
        CHECK_INT(timefmt_http_parse(str_c(ours), &back), 0);
        CHECK_INT(back, sec);
        strftime(theirs, sizeof(theirs), "%d/%b/%Y:%H:%M:%S +0000", tm);
        CHECK_INT(timefmt_common_log(sec, ours), 26);
        CHECK_STR(str_c(ours), theirs);
    }
}

static void test_timefmt_http_parse_takes_three_forms(void)
{
    static const struct {
        const char *text;
        int64_t want; /* -1: refused */
    } rows[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},
        {"Sun Nov 16 08:49:37 1994", 784975777},
        {"Friday, 01-Jan-69 00:00:00 GMT", 3124224000},
        {"Thu, 01 Jan 1970 00:00:60 GMT", 60},
        {"", -1},
        {"Sun", -1},
        {"Sun, 06 Nov 1994 08:49:37", -1},
        {"Sun, 06 Nov 1994 08:49:37 UTC", -1},
        {"Sun, 06 Nov 1994 08:49:37 GMT ", -1},
        {"Sun, 6 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 31 Feb 1994 08:49:37 GMT", -1},
        {"Sun, 29 Feb 1900 08:49:37 GMT", -1},
        {"Sun, 00 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 06 nov 1994 08:49:37 GMT", -1},
        {"Xun, 06 Nov 1994 08:49:37 GMT", -1},
        {"Sun, 06 Nov 1994 24:49:37 GMT", -1},
        {"Sun, 06 Nov 1994 08:60:37 GMT", -1},
        {"Sun, 06 Nov 1994 08:49:61 GMT", -1},
        {"Sun, 06-Nov-94 08:49:37 GMT", -1},
        {"1994-11-06T08:49:37Z", -1},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int64_t sec = -1;

        test_row(rows[i].text);
        CHECK_INT(timefmt_http_parse(str_c(rows[i].text), &sec), rows[i].want < 0 ? ERR_INVAL : 0);
        CHECK_INT(sec, rows[i].want);
    }
    test_row(NULL);
}

static void test_timefmt_iso_has_milliseconds(void)
{
    char out[TIMEFMT_MAX];

    CHECK_INT(timefmt_iso_ms(UINT64_C(1769860800123999), out), 24);
    CHECK_STR(str_c(out), "2026-01-31T12:00:00.123Z");
    timefmt_iso_ms(0, out);
    CHECK_STR(str_c(out), "1970-01-01T00:00:00.000Z");
    timefmt_iso_ms(UINT64_MAX, out);
    CHECK_STR(str_n(out, 4), "9999");
}

const struct test tests_timefmt[] = {
    TEST(test_timefmt_http_formats_known_dates),
    TEST(test_timefmt_agrees_with_strftime),
    TEST(test_timefmt_http_parse_takes_three_forms),
    TEST(test_timefmt_iso_has_milliseconds),
    TEST_END,
};
