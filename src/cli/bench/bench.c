/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/bench/bench.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/bench/http.h"
#include "cli/cli.h"

static const char help[] =
    "usage: ephpm bench cpu|files|request [flags]\n"
    "       ephpm bench http URL [flags]          (ephpm bench http --help)\n"
    "\n"
    "  cpu       PHP code: loops, calls, strings, arrays, objects, regular expressions, JSON, ...\n"
    "  files     walks through 5,000 files, file_exists(), small files included\n"
    "  request   a request in one process, without a server: what PHP's startup and shutdown cost\n"
    "  http      load on a server: requests per second, latencies, errors\n"
    "\n"
    "flags:\n"
    "  --against PROGRAM   another php command (request: another ephpm or ephpm-php) in the same\n"
    "                      run, in turn, with ratios; may be repeated\n"
    "  --rounds N          how often all of it is measured (5; with --quick 1)\n"
    "  --only NAME         this benchmark; may be repeated, or a list with commas\n"
    "  --jit LIST          off, function, tracing, or some of them with commas\n"
    "  --ini               programs read their own php.ini and extensions (else none but OPcache)\n"
    "  --no-opcache        without OPcache, and so without the JIT\n"
    "  --quick             a few seconds, to see whether it works\n"
    "  --json              as JSON, with every figure\n"
    "  --list              the benchmarks, without running them\n"
    "  -h, --help\n"
    "\n"
    "Docs: docs/bench.md\n";

static int usage(const char *text, const char *what)
{
    fprintf(stderr, "ephpm bench: %s%s%s\nTry: ephpm bench --help\n", text, what ? ": " : "",
        what ? what : "");
    return CLI_USAGE;
}

static int fail(const struct err *err)
{
    fprintf(stderr, "ephpm bench: %s\n", err->text);
    return bench_child_was_stopped() ? 130 : CLI_FAILED;
}

/* --- flags ------------------------------------------------------------------------------------ */

static int set_against(struct bench_options *o, const char *value)
{
    if (!*value)
        return usage("--against wants a program", NULL);
    if (o->nagainst == BENCH_PROGRAMS)
        return usage("too many programs to compare with", value);
    o->against[o->nagainst++] = value;
    return 0;
}

static int set_rounds(struct bench_options *o, const char *value)
{
    uint64_t n;

    if (str_u64(str_c(value), &n) || n < 1 || n > BENCH_ROUNDS_MAX)
        return usage("--rounds wants a number from 1 to 1000, not", value);
    o->rounds = (unsigned)n;
    return 0;
}

static int set_only(struct bench_options *o, const char *value)
{
    if (o->nonly == BENCH_ONLY)
        return usage("too many names", value);
    o->only[o->nonly++] = value;
    return 0;
}

static int set_jit(struct bench_options *o, const char *value)
{
    struct str rest = str_c(value), name;

    o->columns_said = true;
    while (str_split(&rest, ',', &name)) {
        bool found = false;

        for (int i = 0; i < BENCH_COLUMNS; i++)
            if (str_eq(name, str_c(bench_column_name((enum bench_column)i))))
                found = o->columns[i] = true;
        if (!found)
            return usage("--jit wants off, function, tracing, or a list of them, not", value);
    }
    return 0;
}

static const struct {
    const char *name;
    int (*set)(struct bench_options *o, const char *value);
} value_flags[] = {
    {"--against", set_against},
    {"--rounds", set_rounds},
    {"--only", set_only},
    {"--jit", set_jit},
};

/* A flag with a value at argv[*i], which moves on; *taken says whether it was one. */
static int try_value_flag(struct bench_options *o, int argc, char **argv, int *i, bool *taken)
{
    struct str arg = str_c(argv[*i]);

    *taken = false;
    for (size_t k = 0; k < ARRAY_LEN(value_flags); k++) {
        struct str name = str_c(value_flags[k].name);

        if (!str_starts(arg, name))
            continue;
        *taken = arg.len == name.len || arg.p[name.len] == '=';
        if (arg.len > name.len && *taken)
            return value_flags[k].set(o, arg.p + name.len + 1);
        if (!*taken)
            continue;
        if (*i + 1 >= argc)
            return usage("a value is missing after", argv[*i]);
        return value_flags[k].set(o, argv[++*i]);
    }
    return 0;
}

static int parse(struct bench_options *o, int argc, char **argv, bool *list)
{
    for (int i = 1; i < argc; i++) {
        bool taken;
        int rc = try_value_flag(o, argc, argv, &i, &taken);

        if (rc)
            return rc;
        if (taken)
            continue;
        if (strcmp(argv[i], "--quick") == 0)
            o->quick = true;
        else if (strcmp(argv[i], "--json") == 0)
            o->json = true;
        else if (strcmp(argv[i], "--ini") == 0)
            o->ini = true;
        else if (strcmp(argv[i], "--no-opcache") == 0)
            o->no_opcache = true;
        else if (strcmp(argv[i], "--list") == 0)
            *list = true;
        else
            return usage(argv[i][0] == '-' ? "unknown flag" : "too many arguments", argv[i]);
    }
    if (o->rounds == 0)
        o->rounds = o->quick ? 1 : 5;
    return 0;
}

/* --- a suite ---------------------------------------------------------------------------------- */

static int unknown_case(const struct bench_suite *s, struct str name)
{
    struct buf text = {0};

    buf_printf(&text, STR_F " is no benchmark of %s; there are", STR_A(name), s->name);
    for (size_t i = 0; i < s->ncases; i++)
        buf_printf(&text, "%s%s", i ? ", " : " ", s->cases[i].name);
    (void)usage(buf_cstr(&text), NULL);
    buf_fini(&text);
    return CLI_USAGE;
}

static int choose_named(struct bench_run *run, struct str name)
{
    const struct bench_suite *s = run->suite;

    for (size_t i = 0; i < s->ncases; i++) {
        if (!str_eq(name, str_c(s->cases[i].name)))
            continue;
        if (run->ncases == BENCH_ONLY)
            return usage("too many names in --only", NULL);
        run->cases[run->ncases++] = &s->cases[i];
        return 0;
    }
    return unknown_case(s, name);
}

/* Only the column without the JIT is left. */
static int choose_no_opcache(struct bench_run *run)
{
    const struct bench_options *o = run->opt;

    if (run->suite->requests)
        return usage("--no-opcache is for cpu and files, not", run->suite->name);
    if (o->columns[BENCH_JIT_FUNCTION] || o->columns[BENCH_JIT_TRACING])
        return usage("--no-opcache leaves no JIT, for which --jit asks", NULL);
    run->columns[BENCH_JIT_OFF] = true;
    return 0;
}

static int choose_cases(struct bench_run *run)
{
    const struct bench_options *o = run->opt;
    int rc = 0;

    for (size_t i = 0; i < run->suite->ncases && o->nonly == 0; i++)
        run->cases[run->ncases++] = &run->suite->cases[i];
    for (size_t i = 0; i < o->nonly && rc == 0; i++) {
        struct str rest = str_c(o->only[i]), name;

        while (rc == 0 && str_split(&rest, ',', &name))
            rc = choose_named(run, name);
    }
    if (rc == 0 && o->no_opcache)
        return choose_no_opcache(run);
    memcpy(run->columns, o->columns_said ? o->columns : run->suite->columns, sizeof(run->columns));
    return rc;
}

/* Programs of one name get numbers; which is which, the list with their paths tells. */
static void label_uniquely(struct bench_run *run)
{
    for (size_t i = 1; i < run->nprograms; i++) {
        struct str name = str_c(run->programs[i].label);
        unsigned number = 1;

        for (size_t j = 0; j < i; j++) {
            struct str other = str_c(run->programs[j].label);

            number +=
                str_starts(other, name) && (other.len == name.len || other.p[name.len] == ' ');
        }
        if (number > 1)
            (void)snprintf(run->programs[i].label + name.len,
                sizeof(run->programs[i].label) - name.len, " %u", number);
    }
}

static int probe_all(struct bench_run *run, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i <= run->opt->nagainst && rc == 0; i++) {
        run->programs[run->nprograms].ini = run->opt->ini;
        rc = bench_program_probe(&run->programs[run->nprograms++],
            i ? run->opt->against[i - 1] : NULL, run->suite->requests, run->folder, err);
    }
    label_uniquely(run);
    return rc;
}

/* --jit asked for what a program cannot do. The table says so, too. */
static int check_columns(const struct bench_run *run)
{
    int rc = CLI_OK;

    for (size_t p = 0; p < run->nprograms && run->opt->columns_said; p++)
        for (int i = 0; i < BENCH_COLUMNS; i++) {
            if (!run->columns[i] || run->programs[p].has[i])
                continue;
            fprintf(stderr, "ephpm bench: --jit %s: %s has no such JIT: %s\n",
                bench_column_name((enum bench_column)i), run->programs[p].path,
                run->programs[p].why[i]);
            rc = CLI_FAILED;
        }
    return rc;
}

static int run_suite(struct bench_run *run)
{
    struct err err = {0};
    struct buf out = {0};
    int rc = bench_workspace_open(run->folder, &err);

    bench_child_catch_signals();
    if (rc == 0)
        rc = probe_all(run, &err);
    if (rc == 0 && run->suite->prepare)
        rc = run->suite->prepare(run->folder, &err);
    if (rc == 0)
        rc = bench_rounds(run, &err);
    bench_workspace_close(run->folder);
    if (rc) {
        rc = fail(&err);
    } else {
        (run->opt->json ? bench_report_json : bench_report_table)(run, &out);
        rc = fwrite(out.p, 1, out.len, stdout) == out.len && fflush(stdout) == 0 ? CLI_OK
                                                                                 : CLI_FAILED;
        rc = rc ? rc : check_columns(run);
    }
    buf_fini(&out);
    mem_free(run->spent);
    mem_free(run->process);
    return rc;
}

static int print_list(const struct bench_suite *s)
{
    for (size_t i = 0; i < s->ncases; i++)
        printf("%-12s %s\n", s->cases[i].name, s->cases[i].what);
    return CLI_OK;
}

int bench_main(int argc, char **argv)
{
    static struct bench_run run; /* large */
    static struct bench_options opt;
    bool list = false;
    int rc;

    if (argc > 0 && strcmp(argv[0], "http") == 0)
        return bench_http_main(argc, argv);
    for (int i = 0; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return fputs(help, stdout) < 0 ? CLI_FAILED : CLI_OK;
    if (argc == 0)
        return usage("what is to be measured? cpu, files, request or http", NULL);
    run.suite = bench_suite_find(argv[0]);
    if (!run.suite)
        return usage("unknown benchmark (there are cpu, files, request and http)", argv[0]);
    rc = parse(&opt, argc, argv, &list);
    if (rc)
        return rc;
    if (list)
        return print_list(run.suite);
    run.opt = &opt;
    rc = choose_cases(&run);
    return rc ? rc : run_suite(&run);
}
