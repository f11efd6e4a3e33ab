/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/bench/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median_of_sorted(const double *v, size_t n)
{
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

struct bench_summary bench_summarize(const double *values, size_t n)
{
    struct bench_summary s = {.n = n};
    double *v;

    if (n == 0)
        return s;
    v = mem_new_array(n, sizeof(*v));
    memcpy(v, values, n * sizeof(*v));
    qsort(v, n, sizeof(*v), compare);
    s.median = median_of_sorted(v, n);
    s.min = v[0];
    s.max = v[n - 1];
    for (size_t i = 0; i < n; i++)
        v[i] = fabs(v[i] - s.median);
    qsort(v, n, sizeof(*v), compare);
    s.mad = median_of_sorted(v, n);
    mem_free(v);
    return s;
}

struct bench_summary bench_ratio(const double *a, const double *b, size_t n)
{
    double *v = mem_new_array(n + 1, sizeof(*v));
    struct bench_summary s;
    size_t used = 0;

    for (size_t i = 0; i < n; i++)
        if (a[i] > 0 && b[i] > 0)
            v[used++] = a[i] / b[i];
    s = bench_summarize(v, used);
    mem_free(v);
    return s;
}

double bench_mean_ratio(const double *values, size_t n)
{
    double sum = 0;
    size_t used = 0;

    for (size_t i = 0; i < n; i++) {
        if (values[i] <= 0)
            continue;
        sum += log(values[i]);
        used++;
    }
    return used ? exp(sum / (double)used) : 0;
}

/* --- histogram -------------------------------------------------------------------------------- */

/* Below 2 * STEPS a bucket is one nanosecond; from there on a power of two has STEPS of them. */
static size_t bucket_of(uint64_t ns)
{
    unsigned shift = 0;

    if (ns < 2 * BENCH_STEPS)
        return (size_t)ns;
    shift = (unsigned)(63 - __builtin_clzll(ns)) - 7;
    return shift * BENCH_STEPS + (size_t)(ns >> shift);
}

/* The largest value that belongs into it. */
static uint64_t bucket_end(size_t bucket)
{
    size_t shift;

    if (bucket < 2 * BENCH_STEPS)
        return bucket;
    shift = bucket / BENCH_STEPS - 1;
    return ((bucket - shift * BENCH_STEPS + 1) << shift) - 1;
}

void bench_histogram_add(struct bench_histogram *h, uint64_t ns)
{
    static const uint64_t hour = 3600 * UINT64_C(1000000000);

    ns = MIN(ns, hour);
    h->min = h->count ? MIN(h->min, ns) : ns;
    h->max = MAX(h->max, ns);
    h->sum += ns;
    h->count++;
    h->buckets[bucket_of(ns)]++;
}

uint64_t bench_histogram_at(const struct bench_histogram *h, double part)
{
    uint64_t want = (uint64_t)ceil(part * (double)h->count), seen = 0;

    if (h->count == 0)
        return 0;
    want = MAX(want, 1);
    for (size_t i = 0; i < BENCH_BUCKETS; i++) {
        seen += h->buckets[i];
        if (seen >= want)
            return MIN(bucket_end(i), h->max);
    }
    return h->max;
}
