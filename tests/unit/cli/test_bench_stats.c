/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/bench/stats.h"
#include "unit/test.h"

extern const struct test tests_bench_stats[];

/* Fractions as whole numbers, so that the checks can print them. */
static long long thousandths(double v)
{
    return (long long)(v * 1000 + (v < 0 ? -0.5 : 0.5));
}

static void test_summary_of_few_values(void)
{
    static const struct {
        const char *name;
        double v[6];
        size_t n;
        double median, min, max, mad;
    } cases[] = {
        {"none", {0}, 0, 0, 0, 0, 0},
        {"one", {7}, 1, 7, 7, 7, 0},
        {"even", {4, 1}, 2, 2.5, 1, 4, 1.5},
        {"odd, out of order", {9, 1, 5}, 3, 5, 1, 9, 4},
        {"one far away", {10, 11, 1000, 12, 9}, 5, 11, 9, 1000, 1},
        {"negative", {-3, -1, -2}, 3, -2, -3, -1, 1},
        {"equal", {2, 2, 2, 2}, 4, 2, 2, 2, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench_summary s = bench_summarize(cases[i].v, cases[i].n);

        test_row(cases[i].name);
        CHECK_INT(s.n, cases[i].n);
        CHECK_INT(thousandths(s.median), thousandths(cases[i].median));
        CHECK_INT(thousandths(s.min), thousandths(cases[i].min));
        CHECK_INT(thousandths(s.max), thousandths(cases[i].max));
        CHECK_INT(thousandths(s.mad), thousandths(cases[i].mad));
    }
    test_row(NULL);
}

static void test_ratio_is_of_pairs(void)
{
    /* Each pair is 0.5 to 0.8, though the machine was five times as slow in the second round: the
     * ratio of the medians would be 1.2. */
    static const double a[] = {1, 6, 1.6}, b[] = {2, 10, 2};
    struct bench_summary s = bench_ratio(a, b, 3);

    CHECK_INT(s.n, 3);
    CHECK_INT(thousandths(s.median), 600);
    CHECK_INT(thousandths(s.min), 500);
    CHECK_INT(thousandths(s.max), 800);
}

static void test_ratio_leaves_out_what_was_not_measured(void)
{
    static const double a[] = {1, 0, 3, 2}, b[] = {2, 2, 0, 8};
    struct bench_summary s = bench_ratio(a, b, 4);

    CHECK_INT(s.n, 2);
    CHECK_INT(thousandths(s.median), 375);
    CHECK_INT(bench_ratio(a, b, 0).n, 0);
}

static void test_mean_ratio_is_geometric(void)
{
    static const double v[] = {0.5, 2, 0, 4, 0.25}, none[] = {0, -1};

    CHECK_INT(thousandths(bench_mean_ratio(v, 5)), 1000);
    CHECK_INT(thousandths(bench_mean_ratio(v, 1)), 500);
    CHECK_INT(thousandths(bench_mean_ratio(none, 2)), 0);
    CHECK_INT(thousandths(bench_mean_ratio(none, 0)), 0);
}

static void test_histogram_is_close_at_every_size(void)
{
    for (uint64_t ns = 1; ns < UINT64_C(3000000000000); ns += ns / 3 + 1) {
        static struct bench_histogram h;
        uint64_t got;

        h = (struct bench_histogram){0};
        bench_histogram_add(&h, ns);
        bench_histogram_add(&h, ns * 100); /* so that the maximum does not cut it */
        got = bench_histogram_at(&h, 0.5);
        CHECK(got >= ns);
        CHECK(got - ns <= ns / 127);
    }
}

static void test_histogram_percentiles(void)
{
    static struct bench_histogram h;

    for (uint64_t i = 1; i <= 1000; i++)
        bench_histogram_add(&h, i * 1000);
    CHECK_INT(h.count, 1000);
    CHECK_INT(h.min, 1000);
    CHECK_INT(h.max, 1000000);
    CHECK_INT(h.sum, 500500000);
    CHECK(bench_histogram_at(&h, 0.5) >= 500000 && bench_histogram_at(&h, 0.5) <= 504000);
    CHECK(bench_histogram_at(&h, 0.9) >= 900000 && bench_histogram_at(&h, 0.9) <= 908000);
    CHECK(bench_histogram_at(&h, 0.99) >= 990000 && bench_histogram_at(&h, 0.99) <= 998000);
    CHECK_INT(bench_histogram_at(&h, 1), 1000000);
    CHECK(bench_histogram_at(&h, 0) >= 1000 && bench_histogram_at(&h, 0) <= 1008);
}

static void test_histogram_of_nothing_and_of_too_much(void)
{
    static struct bench_histogram h;

    CHECK_INT(bench_histogram_at(&h, 0.5), 0);
    bench_histogram_add(&h, UINT64_MAX);
    CHECK_INT(h.max, 3600 * 1000000000LL);
    CHECK_INT(bench_histogram_at(&h, 0.5), 3600 * 1000000000LL);
    bench_histogram_add(&h, 0);
    CHECK_INT(bench_histogram_at(&h, 0.5), 0);
}

const struct test tests_bench_stats[] = {
    TEST(test_summary_of_few_values),
    TEST(test_ratio_is_of_pairs),
    TEST(test_ratio_leaves_out_what_was_not_measured),
    TEST(test_mean_ratio_is_geometric),
    TEST(test_histogram_is_close_at_every_size),
    TEST(test_histogram_percentiles),
    TEST(test_histogram_of_nothing_and_of_too_much),
    TEST_END,
};
