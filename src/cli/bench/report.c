/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>

#include "base/mem.h"
#include "cli/bench/bench.h"
#include "cli/bench/stats.h"
#include "core/json.h"

/* --- figures ---------------------------------------------------------------------------------- */

static struct bench_summary summary_of(
    const struct bench_run *run, const double *values, size_t c, enum bench_column col, size_t p)
{
    return bench_summarize(values + bench_run_at(run, c, col, p), run->opt->rounds);
}

/* Ours to that program's; n == 0: there is none. */
static struct bench_summary ratio_of(
    const struct bench_run *run, const double *values, size_t c, enum bench_column col, size_t p)
{
    return bench_ratio(values + bench_run_at(run, c, col, 0), values + bench_run_at(run, c, col, p),
        run->opt->rounds);
}

static double mean_ratio(const struct bench_run *run, enum bench_column col, size_t p)
{
    double *v = mem_new_array(run->ncases, sizeof(*v)), mean;

    for (size_t c = 0; c < run->ncases; c++)
        v[c] = ratio_of(run, run->spent, c, col, p).median;
    mean = bench_mean_ratio(v, run->ncases);
    mem_free(v);
    return mean;
}

/* "4.71 ms", "3.6 us". */
static void put_time(char out[24], double us)
{
    if (us >= 10000)
        (void)snprintf(out, 24, "%.1f ms", us / 1000);
    else if (us >= 1000)
        (void)snprintf(out, 24, "%.2f ms", us / 1000);
    else
        (void)snprintf(out, 24, us >= 100 ? "%.0f us" : us >= 10 ? "%.1f us" : "%.2f us", us);
}

/* --- table ------------------------------------------------------------------------------------ */

enum { NAME_WIDTH = 11, CELL_WIDTH = 24 };

static int label_width(const struct bench_run *run)
{
    size_t width = 7;

    for (size_t i = 0; i < run->nprograms; i++)
        width = MAX(width, str_c(run->programs[i].label).len);
    return (int)width;
}

static void print_programs(const struct bench_run *run, struct buf *out)
{
    for (size_t i = 0; i < run->nprograms; i++) {
        const struct bench_program *p = &run->programs[i];

        buf_printf(out, "%-10s%-*s  PHP %s (%s)%s%s, VM %s", i ? "" : "programs", label_width(run),
            p->label, p->version, p->sapi, p->zts ? ", thread-safe" : "",
            p->debug ? ", debug build" : "", p->vm[0] ? p->vm : "unknown");
        if (!run->suite->requests)
            buf_printf(out, ", OPcache %s",
                run->opt->no_opcache                  ? "off"
                : p->opcache == BENCH_OPCACHE_NONE    ? "missing"
                : p->opcache == BENCH_OPCACHE_BUILTIN ? "built in"
                                                      : "loaded");
        buf_printf(out, ", %s\n", p->path);
    }
}

static void print_cell(
    const struct bench_run *run, size_t c, enum bench_column col, size_t p, struct buf *out)
{
    struct bench_summary s = summary_of(run, run->spent, c, col, p);
    struct bench_summary ratio = ratio_of(run, run->spent, c, col, p);
    char time[24], text[64];

    if (!run->programs[p].has[col]) {
        buf_printf(out, "  %*s", CELL_WIDTH, "no JIT");
        return;
    }
    put_time(time, s.median);
    if (p > 0 && ratio.n > 0)
        (void)snprintf(
            text, sizeof(text), "%s %3.0f%%  %5.2f", time, s.mad / s.median * 100, ratio.median);
    else
        (void)snprintf(text, sizeof(text), "%s %3.0f%%  %5s", time,
            s.median > 0 ? s.mad / s.median * 100 : 0, p ? "-" : "");
    buf_printf(out, "  %*s", CELL_WIDTH, text);
}

static void print_head(const struct bench_run *run, struct buf *out)
{
    buf_printf(out, "\n%-*s %-*s", NAME_WIDTH, "", label_width(run), "");
    for (int col = 0; col < BENCH_COLUMNS; col++) {
        char text[32];

        (void)snprintf(text, sizeof(text), "JIT %s", bench_column_name((enum bench_column)col));
        if (run->columns[col])
            buf_printf(out, "  %*s", CELL_WIDTH, text);
    }
    buf_add_char(out, '\n');
}

static void print_means(const struct bench_run *run, struct buf *out)
{
    for (size_t p = 1; p < run->nprograms && run->ncases > 1; p++) {
        buf_printf(out, "%-*s %-*s", NAME_WIDTH, p == 1 ? "mean ratio" : "", label_width(run),
            run->programs[p].label);
        for (int col = 0; col < BENCH_COLUMNS; col++) {
            double mean = run->columns[col] ? mean_ratio(run, (enum bench_column)col, p) : 0;

            if (!run->columns[col])
                continue;
            if (mean > 0)
                buf_printf(out, "  %*.2f", CELL_WIDTH, mean);
            else
                buf_printf(out, "  %*s", CELL_WIDTH, "-");
        }
        buf_add_char(out, '\n');
    }
}

static void print_notes(const struct bench_run *run, struct buf *out)
{
    buf_printf(out, "\n%s, median of %u round%s; %%: median distance from it.%s%s\n",
        run->suite->requests ? "Time of a request (in each process their median)" : "CPU time",
        run->opt->rounds, run->opt->rounds == 1 ? "" : "s",
        run->nprograms > 1 ? " Ratio: that of ephpm to the\n"
                             "program's, median of the rounds' ratios; below 1 ephpm is faster."
                           : "",
        run->opt->quick ? "\nA quick look (--quick): few repeats, so take no figure as final."
                        : "");
    for (size_t p = 0; p < run->nprograms; p++) {
        if (run->programs[p].no_opcache[0] && !run->opt->no_opcache)
            buf_printf(out, "%s ran without OPcache, unlike others: %s\n", run->programs[p].label,
                run->programs[p].no_opcache);
        for (int col = 0; col < BENCH_COLUMNS; col++)
            if (run->columns[col] && !run->programs[p].has[col])
                buf_printf(out, "%s has no JIT %s: %s\n", run->programs[p].label,
                    bench_column_name((enum bench_column)col), run->programs[p].why[col]);
    }
}

void bench_report_table(const struct bench_run *run, struct buf *out)
{
    struct bench_machine m;

    bench_machine_read(&m);
    buf_printf(out, "ephpm bench %s: %s\n\n", run->suite->name, run->suite->title);
    bench_machine_print(&m, out);
    print_programs(run, out);
    print_head(run, out);
    for (size_t c = 0; c < run->ncases; c++)
        for (size_t p = 0; p < run->nprograms; p++) {
            buf_printf(out, "%-*s %-*s", NAME_WIDTH, p ? "" : run->cases[c]->name, label_width(run),
                run->programs[p].label);
            for (int col = 0; col < BENCH_COLUMNS; col++)
                if (run->columns[col])
                    print_cell(run, c, (enum bench_column)col, p, out);
            buf_add_char(out, '\n');
        }
    print_means(run, out);
    print_notes(run, out);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void add_summary(struct json_writer *w, const char *key, const struct bench_summary *s)
{
    json_key(w, key);
    json_open_object(w);
    json_add_float(w, "median", s->median);
    json_add_float(w, "min", s->min);
    json_add_float(w, "max", s->max);
    json_add_float(w, "mad", s->mad);
    json_close_object(w);
}

static void add_program(const struct bench_run *run, struct json_writer *w, size_t p)
{
    const struct bench_program *b = &run->programs[p];

    json_open_object(w);
    json_add_str(w, "name", str_c(b->label));
    json_add_str(w, "path", str_c(b->path));
    json_add_str(w, "php", str_c(b->version));
    json_add_str(w, "sapi", str_c(b->sapi));
    json_add_str(w, "vm", b->vm[0] ? str_c(b->vm) : STR_NONE);
    json_add_bool(w, "zts", b->zts);
    json_add_bool(w, "debug", b->debug);
    if (!run->suite->requests)
        json_add_bool(w, "opcache", b->opcache != BENCH_OPCACHE_NONE && !run->opt->no_opcache);
    if (b->no_opcache[0])
        json_add_str(w, "without_opcache", str_c(b->no_opcache));
    json_key(w, "without_jit");
    json_open_object(w);
    for (int col = 0; col < BENCH_COLUMNS; col++)
        if (run->columns[col] && !b->has[col])
            json_add_str(w, bench_column_name((enum bench_column)col), str_c(b->why[col]));
    json_close_object(w);
    json_close_object(w);
}

static void add_result(
    const struct bench_run *run, struct json_writer *w, size_t c, enum bench_column col, size_t p)
{
    struct bench_summary s = summary_of(run, run->spent, c, col, p);
    struct bench_summary process = summary_of(run, run->process, c, col, p);

    json_open_object(w);
    json_add_str(w, "program", str_c(run->programs[p].label));
    json_add_str(w, "jit", str_c(bench_column_name(col)));
    json_add_bool(w, "available", run->programs[p].has[col]);
    if (run->programs[p].has[col]) {
        add_summary(w, "us", &s);
        add_summary(w, "process_us", &process);
    }
    if (p > 0) {
        struct bench_summary ratio = ratio_of(run, run->spent, c, col, p);
        struct bench_summary whole = ratio_of(run, run->process, c, col, p);

        if (ratio.n > 0) {
            add_summary(w, "ratio", &ratio);
            add_summary(w, "process_ratio", &whole);
        }
    }
    json_close_object(w);
}

void bench_report_json(const struct bench_run *run, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    struct bench_machine m;

    bench_machine_read(&m);
    json_open_object(&w);
    json_add_str(&w, "suite", str_c(run->suite->name));
    json_add_str(&w, "ephpm", STR(EPHPM_VERSION));
    json_add_uint(&w, "rounds", run->opt->rounds);
    json_add_bool(&w, "quick", run->opt->quick);
    json_add_bool(&w, "ini", run->opt->ini);
    bench_machine_json(&m, &w);
    json_key(&w, "programs");
    json_open_array(&w);
    for (size_t p = 0; p < run->nprograms; p++)
        add_program(run, &w, p);
    json_close_array(&w);
    json_key(&w, "benchmarks");
    json_open_array(&w);
    for (size_t c = 0; c < run->ncases; c++) {
        json_open_object(&w);
        json_add_str(&w, "name", str_c(run->cases[c]->name));
        json_add_str(&w, "what", str_c(run->cases[c]->what));
        json_key(&w, "results");
        json_open_array(&w);
        for (int col = 0; col < BENCH_COLUMNS; col++)
            for (size_t p = 0; run->columns[col] && p < run->nprograms; p++)
                add_result(run, &w, c, (enum bench_column)col, p);
        json_close_array(&w);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_close_object(&w);
    buf_add_char(out, '\n');
}
