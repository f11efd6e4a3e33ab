/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_BENCH_STATS_H
#define EPHPM_CLI_BENCH_STATS_H

/*
 * Statistics of benchmarks: medians and their spread, ratios of paired rounds, and a histogram of
 * latencies. Pure; one thread.
 */

#include <stddef.h>
#include <stdint.h>

struct bench_summary {
    size_t n;
    double median, min, max;
    double mad; /* median of the distances from the median */
};

/* n == 0: all zero. The values stay as they are. */
struct bench_summary bench_summarize(const double *values, size_t n);
/* Of the rounds' ratios a[i] / b[i]; rounds in which either is 0 or less do not count. */
struct bench_summary bench_ratio(const double *a, const double *b, size_t n);
/* The geometric mean; values of 0 or less do not count. 0 when none does. */
double bench_mean_ratio(const double *values, size_t n);

/*
 * A histogram of durations in fixed memory: 128 steps in each power of two, so that a value that is
 * read from it is at most 0.8 % too large and never too small. What it holds is in nanoseconds, up
 * to an hour; longer ones count as an hour.
 */
enum { BENCH_STEPS = 128, BENCH_BUCKETS = BENCH_STEPS * 37 };

struct bench_histogram {
    uint64_t count, sum, min, max;
    uint32_t buckets[BENCH_BUCKETS];
};

void bench_histogram_add(struct bench_histogram *h, uint64_t ns);
/* The value that the given part (0 to 1) of the durations does not exceed; 0 when there is none. */
uint64_t bench_histogram_at(const struct bench_histogram *h, double part);

#endif
