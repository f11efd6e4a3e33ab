/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/bench/bench.h"
#include "core/json.h"

size_t bench_run_at(const struct bench_run *run, size_t c, enum bench_column column, size_t program)
{
    return ((c * BENCH_COLUMNS + column) * run->nprograms + program) * run->opt->rounds;
}

/* The arguments of one process; they point into the given texts. */
static void make_argv(const struct bench_run *run, const struct bench_program *p,
    const struct bench_case *c, enum bench_column column, const char **argv)
{
    static char script[BENCH_PATH + 16], repeats[16];
    const char *file = c->no_opcache ? "include" : c->name;
    const char *rest[] = {script, file, run->opt->quick ? "1" : "2", repeats, run->folder, NULL};

    (void)snprintf(script, sizeof(script), "%s/run.php", run->folder);
    (void)snprintf(repeats, sizeof(repeats), "%u", run->opt->quick ? c->quick : c->repeats);
    if (run->suite->requests) {
        const char *role[] = {"ephpm", "php", "--role=bench", "request", c->name,
            bench_column_name(column), repeats, p->ini ? "own" : "none", run->folder, NULL};

        memcpy(argv, p->ephpm ? role : role + 1, sizeof(role) - (p->ephpm ? 0 : sizeof(role[0])));
        return;
    }
    bench_program_argv(p, column, !c->no_opcache && !run->opt->no_opcache, rest, argv);
}

/* What is wrong with the end of a process, as a sentence. */
static int broken(const struct bench_program *p, const struct bench_case *c, enum bench_column col,
    const struct bench_child *child, struct err *err)
{
    struct str why = bench_child_complaint(child);
    char end[64] = "it printed no result";

    if (child->signal)
        (void)snprintf(end, sizeof(end), "it was ended by signal %d", child->signal);
    else if (child->code)
        (void)snprintf(end, sizeof(end), "it ended with exit code %d", child->code);
    return err_set(err, ERR_INVAL, "%s: %s failed (JIT %s): %s%s" STR_F, c->name, p->path,
        bench_column_name(col), end, why.len ? ": " : "", STR_A(why));
}

static int take(struct bench_run *run, struct bench_program *p, const struct bench_case *c,
    enum bench_column column, const struct bench_child *child, size_t at, struct err *err)
{
    struct json_value *v = NULL;
    struct arena a = {0};
    struct str check;
    int64_t repeats;
    int rc = 0;

    if (json_parse(&a, str_trim(buf_str(&child->out)), &v, NULL) || !json_get(v, "us")) {
        rc = broken(p, c, column, child, err);
        goto done;
    }
    if (run->suite->requests && !json_get_bool(v, "opcache", false))
        (void)str_put(p->no_opcache, sizeof(p->no_opcache),
            bench_child_complaint(child).len ? bench_child_complaint(child)
                                             : STR("it was not loaded"));
    if (run->suite->requests && json_get_bool(v, "jit", false) != (column != BENCH_JIT_OFF)) {
        p->has[column] = false;
        (void)snprintf(
            p->why[column], sizeof(p->why[column]), STR_F, STR_A(bench_child_complaint(child)));
        goto done;
    }
    check = json_get_str(v, "check");
    repeats = json_get_int(v, "repeats", 1);
    if (!str_eq(check, str_c(c->check)) || repeats < 1) {
        rc = err_set(err, ERR_CORRUPT,
            "%s: %s got a wrong result (JIT %s): \"" STR_F "\", the right one is \"%s\"", c->name,
            p->path, bench_column_name(column), STR_A(str_sub(check, 0, 100)), c->check);
        goto done;
    }
    run->process[at] = (double)child->cpu_ns / 1000;
    run->spent[at] = c->whole ? run->process[at] : json_get(v, "us")->number / (double)repeats;
done:
    arena_fini(&a);
    return rc;
}

static int run_one(struct bench_run *run, size_t c, enum bench_column column, size_t p,
    size_t round, struct err *err)
{
    struct bench_program *program = &run->programs[p];
    const char *argv[BENCH_ARGV_MAX];
    struct bench_child child;
    int rc;

    if (!program->has[column])
        return 0;
    make_argv(run, program, run->cases[c], column, argv);
    rc = bench_child_run(program->path, argv, run->folder, &child, err);
    if (rc)
        return rc;
    rc = take(
        run, program, run->cases[c], column, &child, bench_run_at(run, c, column, p) + round, err);
    bench_child_fini(&child);
    return rc;
}

int bench_rounds(struct bench_run *run, struct err *err)
{
    size_t n = run->ncases * BENCH_COLUMNS * run->nprograms * run->opt->rounds;
    int rc = 0;

    run->spent = mem_new_array(n, sizeof(*run->spent));
    run->process = mem_new_array(n, sizeof(*run->process));
    for (size_t round = 0; round < run->opt->rounds; round++)
        for (size_t c = 0; c < run->ncases; c++)
            for (int column = 0; column < BENCH_COLUMNS; column++)
                for (size_t i = 0; run->columns[column] && i < run->nprograms && rc == 0; i++)
                    rc = run_one(run, c, (enum bench_column)column,
                        (i + round + c) % run->nprograms, round, err);
    return rc;
}
