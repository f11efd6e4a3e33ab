/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_BENCH_BENCH_H
#define EPHPM_CLI_BENCH_BENCH_H

/*
 * `ephpm bench`: benchmarks of PHP and of servers, as a command.
 *
 * A suite is a table of cases. Each case is a PHP program of the folder php, which the build puts
 * into the executable; a run writes them to a temporary folder and starts one PHP process for a
 * case, a column (what the JIT does) and a program (this ephpm, and those it is compared with).
 * Rounds are interleaved: within a round every program gets its turn, in an order that rotates, so
 * that whatever else the machine does falls on all of them. What counts is CPU time, user and
 * system, of those processes; a ratio is the median of the rounds' ratios.
 *
 * Files in reading order: bench.c (command line), suites.c (the cases), program.c (what a PHP is
 * and can do), elf.c (its VM kind), workspace.c (temporary folder), child.c (one process), rounds.c
 * (the measurement), stats.c, machine.c, report.c (table, JSON); php_role.c runs in ephpm-php and
 * is the suite request; http.c with load.c, url.c and http_report.c are the load generator.
 *
 * One thread; strings of the options point into argv. Everything that fails fills a struct err with
 * a sentence for the user.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { BENCH_PROGRAMS = 8, BENCH_ONLY = 32, BENCH_PATH = 4096, BENCH_ROUNDS_MAX = 1000 };
enum bench_column { BENCH_JIT_OFF, BENCH_JIT_FUNCTION, BENCH_JIT_TRACING, BENCH_COLUMNS };

/* --- suites ----------------------------------------------------------------------------------- */

struct bench_case {
    const char *name, *what;
    unsigned repeats, quick; /* in one process */
    const char *check;       /* the right answer */
    bool whole;              /* the whole process counts, not only what the program measures */
    bool no_opcache;
};

struct bench_suite {
    const char *name, *title;
    const struct bench_case *cases;
    size_t ncases;
    bool columns[BENCH_COLUMNS]; /* without --jit */
    bool requests;               /* in process, through our own SAPI: the role bench of ephpm-php */
    int (*prepare)(const char *folder, struct err *err); /* NULL: needs no files of its own */
};

/* NULL: there is none. Static. */
const struct bench_suite *bench_suite_find(const char *name);

/* --- programs --------------------------------------------------------------------------------- */

enum bench_opcache { BENCH_OPCACHE_NONE, BENCH_OPCACHE_BUILTIN, BENCH_OPCACHE_FILE };

struct bench_program {
    char label[64];
    char path[BENCH_PATH];
    bool ephpm; /* the executable ephpm, whose command php it is */
    bool ini;   /* with its own php.ini; else without one */
    char version[32], sapi[32], vm[16];
    bool zts, debug;
    enum bench_opcache opcache;
    char no_opcache[160];         /* why there is none */
    bool has[BENCH_COLUMNS];      /* can it do what the column says? */
    char why[BENCH_COLUMNS][160]; /* not */
};

/* Finds out what a program is; p->ini is set already. name: a path, or a name to look for in $PATH;
 * NULL: this ephpm. requests: it must have our SAPI. ERR_NOTFOUND, ERR_ACCESS, ERR_INVAL (no PHP),
 * ... */
int bench_program_probe(struct bench_program *p, const char *name, bool requests,
    const char *folder, struct err *err) MUST_CHECK;
/* "HYBRID", "CALL", "TAILCALL", ... of an executable that has PHP in it, by its function
 * zend_vm_kind(). ERR_NOTFOUND when it has none of that name, ERR_UNSUPPORTED for a code that does
 * something else than return a number. */
int bench_elf_vm_kind(const char *path, const char **out) MUST_CHECK;
/* The same for the bytes of the file. Pure. */
int bench_elf_find_vm_kind(struct str file, const char **out) MUST_CHECK;
/* "off", "function", "tracing". Static. */
const char *bench_column_name(enum bench_column c);

/* --- work ------------------------------------------------------------------------------------- */

/* A private folder in $TMPDIR or /tmp with the PHP programs in it; its path to out. */
int bench_workspace_open(char out[BENCH_PATH], struct err *err) MUST_CHECK;
void bench_workspace_close(const char *folder);
/* A file below the folder. The error says what to do about a full disk. */
int bench_workspace_write(
    const char *folder, const char *name, struct str data, struct err *err) MUST_CHECK;

struct bench_child {
    struct buf out, errors; /* what it printed */
    uint64_t cpu_ns;        /* user and system time */
    int code;               /* exit code; -1: a signal ended it */
    int signal;
};

/* Runs a program to its end, without input. argv is NULL-terminated. ERR_TIMEOUT, ERR_INTR; a
 * program that ends badly is no error here. */
int bench_child_run(const char *path, const char *const *argv, const char *folder,
    struct bench_child *out, struct err *err) MUST_CHECK;
void bench_child_fini(struct bench_child *c);
/* The first line that it wrote to standard error, cut to a sensible length; "" when none. */
struct str bench_child_complaint(const struct bench_child *c);
/* From now on SIGINT and SIGTERM end bench_child_run(), so that the folder can be removed. */
void bench_child_catch_signals(void);
bool bench_child_was_stopped(void);
/* argv of a PHP process with that program's settings for a column; out has room for
 * BENCH_ARGV_MAX. rest is NULL-terminated. */
enum { BENCH_ARGV_MAX = 48 };
void bench_program_argv(const struct bench_program *p, enum bench_column column, bool opcache,
    const char *const *rest, const char **out);

struct bench_options {
    const char *against[BENCH_PROGRAMS];
    size_t nagainst;
    const char *only[BENCH_ONLY];
    size_t nonly;
    bool columns[BENCH_COLUMNS];
    bool columns_said; /* by --jit */
    unsigned rounds;
    bool quick, json;
    bool ini; /* programs read their own php.ini and what belongs to it */
    bool no_opcache;
};

struct bench_run {
    const struct bench_suite *suite;
    const struct bench_options *opt;
    char folder[BENCH_PATH];
    struct bench_program programs[BENCH_PROGRAMS + 1]; /* the first one is ours */
    size_t nprograms;
    const struct bench_case *cases[BENCH_ONLY];
    size_t ncases;
    bool columns[BENCH_COLUMNS];
    /* Of each case, column, program and round, see bench_run_samples(): microseconds per repeat,
     * and of the whole process. */
    double *spent, *process;
};

/* Measures. run has suite, opt, folder, programs, cases and columns. */
int bench_rounds(struct bench_run *run, struct err *err) MUST_CHECK;
/* Where the rounds of a combination start in spent and process. */
size_t bench_run_at(
    const struct bench_run *run, size_t c, enum bench_column column, size_t program);

/* --- reports ---------------------------------------------------------------------------------- */

struct json_writer;
struct bench_machine {
    char cpu[128], kernel[128], system[128], governor[32], load[64];
    unsigned processors;
    double cores;
    const char *cores_from;
    uint64_t memory;
    const char *memory_from;
    bool is_virtual;
};

void bench_machine_read(struct bench_machine *m);
void bench_machine_print(const struct bench_machine *m, struct buf *out);
void bench_machine_json(const struct bench_machine *m, struct json_writer *w);
void bench_report_table(const struct bench_run *run, struct buf *out);
void bench_report_json(const struct bench_run *run, struct buf *out);

/* --- commands --------------------------------------------------------------------------------- */

/* Arguments behind `ephpm bench`; returns the exit code. */
int bench_main(int argc, char **argv);

#endif
