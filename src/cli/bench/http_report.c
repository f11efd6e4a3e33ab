/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>

#include "base/mem.h"
#include "cli/bench/bench.h"
#include "cli/bench/http.h"
#include "core/json.h"

static const struct {
    const char *name, *text; /* in JSON; in the table */
} errors[BENCH_LOAD_ERRORS] = {
    [BENCH_LOAD_CONNECT] = {"connect", "not connected"},
    [BENCH_LOAD_CUT] = {"cut", "cut before the end"},
    [BENCH_LOAD_TIMEOUT] = {"timeout", "timed out"},
    [BENCH_LOAD_PROTOCOL] = {"protocol", "no HTTP answer"},
};

static const struct {
    const char *name;
    double part;
} percentiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};

/* A generator that has no time left measures itself. */
static const double BUSY = 0.9;

static double seconds_of(uint64_t ns)
{
    return (double)ns / 1e9;
}

static double rate_of(const struct bench_load_result *r)
{
    return r->elapsed_ns ? (double)r->requests / seconds_of(r->elapsed_ns) : 0;
}

static uint64_t count_errors(const struct bench_load_result *r)
{
    uint64_t n = 0;

    for (size_t i = 0; i < BENCH_LOAD_ERRORS; i++)
        n += r->errors[i];
    return n;
}

static uint64_t count_refused(const struct bench_load_result *r)
{
    uint64_t n = 0;

    for (size_t i = 400; i < ARRAY_LEN(r->statuses); i++)
        n += r->statuses[i];
    return n;
}

/* Answers per second, of the whole seconds. */
static struct bench_summary slices_of(const struct bench_load_result *r)
{
    double *v = mem_new_array(r->nslices + 1, sizeof(*v));
    struct bench_summary s;

    for (size_t i = 0; i < r->nslices; i++)
        v[i] = (double)r->slices[i];
    s = bench_summarize(v, r->nslices);
    mem_free(v);
    return s;
}

static double busy_of(const struct bench_load_result *r)
{
    return r->elapsed_ns ? (double)r->cpu_ns / (double)r->elapsed_ns : 0;
}

/* --- table ------------------------------------------------------------------------------------ */

/* "850 us", "1.20 ms", "2.50 s". */
static void print_time(struct buf *out, const char *name, uint64_t ns)
{
    double us = (double)ns / 1000;

    if (us >= 1e6)
        buf_printf(out, "  %s %.2f s", name, us / 1e6);
    else if (us >= 1000)
        buf_printf(out, "  %s %.2f ms", name, us / 1000);
    else
        buf_printf(out, "  %s %.0f us", name, us);
}

static void print_requests(const struct bench_load_result *r, struct buf *out)
{
    struct bench_summary s = slices_of(r);

    buf_printf(out, "requests  %llu in %.2f s: %.1f per second, %.2f MB/s\n",
        (unsigned long long)r->requests, seconds_of(r->elapsed_ns), rate_of(r),
        r->elapsed_ns ? (double)r->received / 1e6 / seconds_of(r->elapsed_ns) : 0);
    if (s.n > 1)
        buf_printf(out, "          in whole seconds %.0f (median), %.0f to %.0f\n", s.median, s.min,
            s.max);
    buf_add_lit(out, "latency ");
    for (size_t i = 0; i < ARRAY_LEN(percentiles); i++)
        print_time(out, percentiles[i].name, bench_histogram_at(&r->latency, percentiles[i].part));
    print_time(out, "max", r->latency.max);
    print_time(out, "mean", r->latency.count ? r->latency.sum / r->latency.count : 0);
    buf_add_char(out, '\n');
}

static void print_answers(const struct bench_load_result *r, struct buf *out)
{
    buf_add_lit(out, "answers ");
    for (size_t i = 0; i < ARRAY_LEN(r->statuses); i++)
        if (r->statuses[i])
            buf_printf(out, "  %zu: %llu", i, (unsigned long long)r->statuses[i]);
    buf_printf(out, "%s\nbodies    ", r->requests ? "" : "  none");
    if (r->sized == 0)
        buf_add_lit(out, "none of a status 2xx\n");
    else if (r->size_differs == 0)
        buf_printf(out, "%llu bytes, all alike\n", (unsigned long long)r->size_first);
    else
        buf_printf(out,
            "%llu to %llu bytes; %llu of %llu are not as long as the first one (%llu)\n",
            (unsigned long long)r->size_min, (unsigned long long)r->size_max,
            (unsigned long long)r->size_differs, (unsigned long long)r->sized,
            (unsigned long long)r->size_first);
    buf_add_lit(out, "errors  ");
    for (size_t i = 0; i < BENCH_LOAD_ERRORS; i++)
        if (r->errors[i])
            buf_printf(out, "  %s: %llu", errors[i].text, (unsigned long long)r->errors[i]);
    if (r->errors[BENCH_LOAD_CONNECT])
        buf_printf(out, " (%s)", err_text(r->connect_error));
    buf_add_str(out, count_errors(r) ? STR("\n") : STR("  none\n"));
}

void bench_http_table(
    const struct bench_http *h, const struct bench_load_result *r, struct buf *out)
{
    struct bench_machine m;

    bench_machine_read(&m);
    buf_printf(out, "ephpm bench http: %s, %u connection%s", h->url, h->connections,
        h->connections == 1 ? "" : "s");
    if (h->rate)
        buf_printf(out, ", %u requests per second\n\n", h->rate);
    else
        buf_add_lit(out, ", as fast as they are answered\n\n");
    bench_machine_print(&m, out);
    print_requests(r, out);
    print_answers(r, out);
    buf_printf(out, "generator %.1f us of CPU per request, busy %.0f %% of the time",
        r->requests ? (double)r->cpu_ns / 1000 / (double)r->requests : 0, busy_of(r) * 100);
    if (r->connections > h->connections)
        buf_printf(out, "; %llu connections", (unsigned long long)r->connections);
    buf_add_char(out, '\n');
    if (busy_of(r) > BUSY)
        buf_add_lit(out, "The generator had no time left: the server may be faster than this.\n");
    if (r->late)
        buf_printf(out,
            "%llu requests were due and not sent, since no connection was free: the server is "
            "slower than --rate %u.\n",
            (unsigned long long)r->late, h->rate);
    if (r->stopped)
        buf_add_lit(out, "It was stopped early.\n");
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void add_latency(const struct bench_load_result *r, struct json_writer *w)
{
    json_key(w, "latency_us");
    json_open_object(w);
    for (size_t i = 0; i < ARRAY_LEN(percentiles); i++)
        json_add_float(w, percentiles[i].name,
            (double)bench_histogram_at(&r->latency, percentiles[i].part) / 1000);
    json_add_float(w, "min", (double)r->latency.min / 1000);
    json_add_float(w, "max", (double)r->latency.max / 1000);
    json_add_float(
        w, "mean", r->latency.count ? (double)r->latency.sum / (double)r->latency.count / 1000 : 0);
    json_close_object(w);
}

static void add_counts(const struct bench_load_result *r, struct json_writer *w)
{
    char name[16];

    json_key(w, "statuses");
    json_open_object(w);
    for (size_t i = 0; i < ARRAY_LEN(r->statuses); i++) {
        if (!r->statuses[i])
            continue;
        (void)snprintf(name, sizeof(name), "%zu", i);
        json_add_uint(w, name, r->statuses[i]);
    }
    json_close_object(w);
    json_key(w, "bodies");
    json_open_object(w);
    json_add_uint(w, "count", r->sized);
    json_add_uint(w, "first", r->size_first);
    json_add_uint(w, "min", r->size_min);
    json_add_uint(w, "max", r->size_max);
    json_add_uint(w, "differ", r->size_differs);
    json_close_object(w);
    json_key(w, "errors");
    json_open_object(w);
    for (size_t i = 0; i < BENCH_LOAD_ERRORS; i++)
        json_add_uint(w, errors[i].name, r->errors[i]);
    json_close_object(w);
}

void bench_http_json(const struct bench_http *h, const struct bench_load_result *r, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    struct bench_summary s = slices_of(r);
    struct bench_machine m;

    bench_machine_read(&m);
    json_open_object(&w);
    json_add_str(&w, "suite", STR("http"));
    json_add_str(&w, "ephpm", STR(EPHPM_VERSION));
    json_add_str(&w, "url", str_c(h->url));
    json_add_uint(&w, "connections", h->connections);
    json_add_uint(&w, "rate", h->rate);
    bench_machine_json(&m, &w);
    json_add_uint(&w, "requests", r->requests);
    json_add_float(&w, "seconds", seconds_of(r->elapsed_ns));
    json_add_float(&w, "requests_per_second", rate_of(r));
    json_key(&w, "in_whole_seconds");
    json_open_object(&w);
    json_add_uint(&w, "n", s.n);
    json_add_float(&w, "median", s.median);
    json_add_float(&w, "min", s.min);
    json_add_float(&w, "max", s.max);
    json_add_float(&w, "mad", s.mad);
    json_close_object(&w);
    json_add_uint(&w, "bytes_received", r->received);
    add_latency(r, &w);
    add_counts(r, &w);
    json_add_uint(&w, "connections_made", r->connections);
    json_add_uint(&w, "late", r->late);
    json_add_float(&w, "generator_us_per_request",
        r->requests ? (double)r->cpu_ns / 1000 / (double)r->requests : 0);
    json_add_float(&w, "generator_busy", busy_of(r));
    json_add_bool(&w, "stopped", r->stopped);
    json_close_object(&w);
    buf_add_char(out, '\n');
}

void bench_http_verdict(const struct bench_load_result *r, struct buf *out)
{
    uint64_t failed = count_errors(r), refused = count_refused(r);

    if (failed)
        buf_printf(out, "%llu of %llu requests failed", (unsigned long long)failed,
            (unsigned long long)failed + r->requests);
    if (refused)
        buf_printf(out, "%s%llu of %llu answers had a status of 4xx or 5xx", failed ? "; " : "",
            (unsigned long long)refused, (unsigned long long)r->requests);
    if (!failed && !r->requests)
        buf_add_lit(out, "no request was answered in this time");
}
