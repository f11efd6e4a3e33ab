/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/cond.h"

#include "unit/test.h"

static void test_cond_etag_format_has_mtime_and_size(void)
{
    char out[COND_ETAG_MAX];

    CHECK_STR(str_n(out, cond_etag_format(0x65a1LL * 1000000000, 0x5dc, out)), "\"65a1-5dc\"");
    CHECK_STR(str_n(out, cond_etag_format(0x65a1LL * 1000000000 + 0x10, 0, out)), "\"65a1.10-0\"");
    CHECK(cond_etag_format(INT64_MIN, UINT64_MAX, out) < COND_ETAG_MAX);
    CHECK(cond_etag_valid(str_c(out)));
    CHECK(cond_etag_format(INT64_MAX, UINT64_MAX, out) < COND_ETAG_MAX);
}

static void test_cond_etag_in_list(void)
{
    static const struct {
        const char *list, *etag;
        bool strong, weak;
    } rows[] = {
        {"\"a\"", "\"a\"", true, true},
        {"\"a\"", "\"b\"", false, false},
        {"W/\"a\"", "\"a\"", false, true},
        {"\"a\"", "W/\"a\"", false, true},
        {"W/\"a\"", "W/\"a\"", false, true},
        {"\"x\", \"a\"", "\"a\"", true, true},
        {" \"x\" ,, W/\"y\",\"a\" ", "\"a\"", true, true},
        {"\"x,\\\", \"a\"", "\"a\"", true, true},
        {"*", "\"a\"", true, true},
        {" * ", "\"a\"", true, true},
        {"*", "", false, false},
        {"a", "\"a\"", false, false},
        {"\"a", "\"a\"", false, false},
        {"bad, \"a\"", "\"a\"", false, false},
        {"", "\"a\"", false, false},
        {"w/\"a\"", "\"a\"", false, false},
        {"\"\"", "\"\"", true, true},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].list);
        CHECK_INT(
            cond_etag_in_list(str_c(rows[i].list), str_c(rows[i].etag), true), rows[i].strong);
        CHECK_INT(cond_etag_in_list(str_c(rows[i].list), str_c(rows[i].etag), false), rows[i].weak);
    }
    test_row(NULL);
}

static void test_cond_date_format_and_parse(void)
{
    static const struct {
        const char *text;
        int64_t t; /* -1: malformed */
        bool canonical;
    } rows[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777, true},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777, false},
        {"Sun Nov  6 08:49:37 1994", 784111777, false},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0, true},
        {"Thu, 29 Feb 2024 23:59:59 GMT", 1709251199, true},
        {"Fri, 01 Mar 2024 00:00:00 GMT", 1709251200, true},
        {"Fri, 31 Dec 9999 23:59:59 GMT", 253402300799, true},
        {"Wednesday, 01-Jan-25 00:00:00 GMT", 1735689600, false},
        {"Sun, 06 Nov 1994 08:49:37", -1, false},
        {"Sun, 06 Nov 1994 08:49:37 GMT ", -1, false},
        {"Sun, 06 Nov 1994 24:49:37 GMT", -1, false},
        {"Sun, 00 Nov 1994 08:49:37 GMT", -1, false},
        {"Sun, 6 Nov 1994 08:49:37 GMT", -1, false},
        {"Xun, 06 Nov 1994 08:49:37 GMT", -1, false},
        {"Sun, 06 Nov", -1, false},
        {"784111777", -1, false},
        {"", -1, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char out[COND_DATE_LEN];
        int64_t t = -1;
        int err = cond_date_parse(str_c(rows[i].text), &t);

        test_row(rows[i].text);
        CHECK_INT(err, rows[i].t < 0 ? ERR_INVAL : 0);
        CHECK_INT(t, rows[i].t);
        if (!rows[i].canonical)
            continue;
        cond_date_format(rows[i].t, out);
        CHECK_STR(str_n(out, sizeof(out)), rows[i].text);
    }
    test_row(NULL);
}

static void test_cond_date_format_cuts_years(void)
{
    char out[COND_DATE_LEN];

    cond_date_format(-5, out);
    CHECK_STR(str_n(out, sizeof(out)), "Thu, 01 Jan 1970 00:00:00 GMT");
    cond_date_format(INT64_MAX, out);
    CHECK_STR(str_n(out, sizeof(out)), "Fri, 31 Dec 9999 23:59:59 GMT");
}

/* The file: ETag "e", modified at 784111777. */
#define AT     "Sun, 06 Nov 1994 08:49:37 GMT"
#define BEFORE "Sun, 06 Nov 1994 08:49:36 GMT"
#define AFTER  "Sun, 06 Nov 1994 08:49:38 GMT"

static void test_cond_check_follows_precedence(void)
{
    static const struct {
        const char *name, *match, *none_match, *modified, *unmodified;
        enum cond_result get, put;
    } rows[] = {
        {"none", NULL, NULL, NULL, NULL, COND_SEND, COND_SEND},
        {"match", "\"e\"", NULL, NULL, NULL, COND_SEND, COND_SEND},
        {"match fails", "\"x\"", NULL, NULL, NULL, COND_FAILED, COND_FAILED},
        {"match weak fails", "W/\"e\"", NULL, NULL, NULL, COND_FAILED, COND_FAILED},
        {"match star", "*", NULL, NULL, NULL, COND_SEND, COND_SEND},
        {"match beats unmodified", "\"e\"", NULL, NULL, BEFORE, COND_SEND, COND_SEND},
        {"unmodified", NULL, NULL, NULL, AT, COND_SEND, COND_SEND},
        {"unmodified fails", NULL, NULL, NULL, BEFORE, COND_FAILED, COND_FAILED},
        {"unmodified bad date", NULL, NULL, NULL, "x", COND_SEND, COND_SEND},
        {"none match hit", NULL, "\"e\"", NULL, NULL, COND_NOT_MODIFIED, COND_FAILED},
        {"none match weak hit", NULL, "W/\"e\"", NULL, NULL, COND_NOT_MODIFIED, COND_FAILED},
        {"none match star", NULL, "*", NULL, NULL, COND_NOT_MODIFIED, COND_FAILED},
        {"none match miss", NULL, "\"x\"", NULL, NULL, COND_SEND, COND_SEND},
        {"none match beats modified", NULL, "\"x\"", AT, NULL, COND_SEND, COND_SEND},
        {"modified same", NULL, NULL, AT, NULL, COND_NOT_MODIFIED, COND_SEND},
        {"modified older", NULL, NULL, BEFORE, NULL, COND_SEND, COND_SEND},
        {"modified newer", NULL, NULL, AFTER, NULL, COND_NOT_MODIFIED, COND_SEND},
        {"modified bad date", NULL, NULL, "yesterday", NULL, COND_SEND, COND_SEND},
        {"match then none match", "\"e\"", "\"e\"", NULL, NULL, COND_NOT_MODIFIED, COND_FAILED},
        {"failed match wins", "\"x\"", "\"e\"", NULL, NULL, COND_FAILED, COND_FAILED},
        {"empty none match", NULL, "", AT, NULL, COND_SEND, COND_SEND},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cond c = {.if_match = str_c(rows[i].match),
            .if_none_match = str_c(rows[i].none_match),
            .if_modified_since = str_c(rows[i].modified),
            .if_unmodified_since = str_c(rows[i].unmodified)};

        test_row(rows[i].name);
        CHECK_INT(cond_check(&c, true, STR("\"e\""), 784111777), rows[i].get);
        CHECK_INT(cond_check(&c, false, STR("\"e\""), 784111777), rows[i].put);
    }
    test_row(NULL);
}

static void test_cond_range_applies(void)
{
    static const struct {
        const char *if_range, *etag;
        bool want;
    } rows[] = {
        {NULL, "\"e\"", true},
        {"\"e\"", "\"e\"", true},
        {"\"x\"", "\"e\"", false},
        {"W/\"e\"", "W/\"e\"", false},
        {"\"e\"", "W/\"e\"", false},
        {AT, "\"e\"", true},
        {AFTER, "\"e\"", false},
        {BEFORE, "\"e\"", false},
        {"", "\"e\"", false},
        {"nonsense", "\"e\"", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct cond c = {.if_range = str_c(rows[i].if_range)};

        test_row(rows[i].if_range);
        CHECK_INT(cond_range_applies(&c, str_c(rows[i].etag), 784111777), rows[i].want);
    }
    test_row(NULL);
}

const struct test tests_cond[] = {
    TEST(test_cond_etag_format_has_mtime_and_size),
    TEST(test_cond_etag_in_list),
    TEST(test_cond_date_format_and_parse),
    TEST(test_cond_date_format_cuts_years),
    TEST(test_cond_check_follows_precedence),
    TEST(test_cond_range_applies),
    TEST_END,
};
