/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/range.h"

#include "unit/test.h"

static void test_range_parse_cases(void)
{
    static const struct {
        const char *value;
        uint64_t size;
        enum range_result want;
        size_t n;
        struct range r[3];
    } rows[] = {
        {"bytes=0-3", 10, RANGE_PARTIAL, 1, {{0, 3}}},
        {"bytes=0-0", 10, RANGE_PARTIAL, 1, {{0, 0}}},
        {"bytes=5-", 10, RANGE_PARTIAL, 1, {{5, 9}}},
        {"bytes=-3", 10, RANGE_PARTIAL, 1, {{7, 9}}},
        {"bytes=-30", 10, RANGE_PARTIAL, 1, {{0, 9}}},
        {"bytes=0-100", 10, RANGE_PARTIAL, 1, {{0, 9}}},
        {"bytes=9-99999999999999999999999999", 10, RANGE_PARTIAL, 1, {{9, 9}}},
        {"BYTES=1-2", 10, RANGE_PARTIAL, 1, {{1, 2}}},
        {"bytes= 0-1 , 4-5 ", 10, RANGE_PARTIAL, 2, {{0, 1}, {4, 5}}},
        {"bytes=8-9,0-1", 10, RANGE_PARTIAL, 2, {{8, 9}, {0, 1}}},
        {"bytes=0-1,,4-5,-1", 10, RANGE_PARTIAL, 3, {{0, 1}, {4, 5}, {9, 9}}},
        {"bytes=0-1,20-30", 10, RANGE_PARTIAL, 1, {{0, 1}}},
        {"bytes=10-", 10, RANGE_UNSATISFIABLE, 0, {{0, 0}}},
        {"bytes=99999999999999999999999-", 10, RANGE_UNSATISFIABLE, 0, {{0, 0}}},
        {"bytes=-0", 10, RANGE_UNSATISFIABLE, 0, {{0, 0}}},
        {"bytes=0-", 0, RANGE_UNSATISFIABLE, 0, {{0, 0}}},
        {"bytes=-5", 0, RANGE_UNSATISFIABLE, 0, {{0, 0}}},
        {"bytes=0-5,3-8", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"bytes=0-,0-", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"bytes=3-1", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"bytes=-", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"bytes=", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"bytes=,", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"bytes=a-b", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"bytes=1-2x", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"bytes=+1-2", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"bytes=1 -2", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"bytes=--2", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"bytes 0-3", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"items=0-3", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"", 10, RANGE_WHOLE, 0, {{0, 0}}},
        {"bytes=0-18446744073709551615", UINT64_MAX, RANGE_PARTIAL, 1, {{0, UINT64_MAX - 1}}},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct range out[RANGE_MAX];
        size_t n = 0;

        test_row(rows[i].value);
        CHECK_INT(range_parse(str_c(rows[i].value), rows[i].size, out, &n), rows[i].want);
        CHECK_INT(n, rows[i].n);
        for (size_t k = 0; k < n && k < 3; k++) {
            CHECK(out[k].first == rows[i].r[k].first);
            CHECK(out[k].last == rows[i].r[k].last);
        }
    }
    test_row(NULL);
}

static void test_range_parse_bounds_number(void)
{
    struct range out[RANGE_MAX];
    struct buf b = {0};
    size_t n = 0;

    buf_add_lit(&b, "bytes=");
    for (int i = 0; i < RANGE_MAX; i++)
        buf_printf(&b, "%s%d-%d", i ? "," : "", i * 2, i * 2);
    CHECK_INT(range_parse(buf_str(&b), 1000, out, &n), RANGE_PARTIAL);
    CHECK_INT(n, RANGE_MAX);
    buf_add_lit(&b, ",900-900");
    CHECK_INT(range_parse(buf_str(&b), 1000, out, &n), RANGE_WHOLE);
    buf_fini(&b);
}

static void test_range_texts(void)
{
    char boundary[RANGE_BOUNDARY_LEN];
    struct buf b = {0};

    range_add_content_range(&b, (struct range){0, 4}, 10);
    CHECK_STR(buf_str(&b), "bytes 0-4/10");
    buf_clear(&b);
    range_add_unsatisfied(&b, 10);
    CHECK_STR(buf_str(&b), "bytes */10");
    buf_clear(&b);
    range_boundary(UINT64_MAX, boundary);
    CHECK_STR(str_n(boundary, sizeof(boundary)), "18446744073709551615");
    range_boundary(7, boundary);
    CHECK_STR(str_n(boundary, sizeof(boundary)), "00000000000000000007");
    range_add_part_head(&b, STR("B"), STR("text/plain"), (struct range){1, 2}, 3);
    range_add_part_head(&b, STR("B"), STR(""), (struct range){0, 0}, 3);
    range_add_part_end(&b, STR("B"));
    CHECK_STR(buf_str(&b), "\r\n--B\r\nContent-Type: text/plain\r\nContent-Range: bytes 1-2/3\r\n"
                           "\r\n\r\n--B\r\nContent-Range: bytes 0-0/3\r\n\r\n\r\n--B--\r\n");
    buf_fini(&b);
}

const struct test tests_range[] = {
    TEST(test_range_parse_cases),
    TEST(test_range_parse_bounds_number),
    TEST(test_range_texts),
    TEST_END,
};
