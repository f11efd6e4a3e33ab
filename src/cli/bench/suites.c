/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench.h"
#include "platform/fs.h"

/* Repeats make about 50 ms of CPU time without the JIT; quick is for a look, and for tests. */
static const struct bench_case cpu_cases[] = {
    {"start", "a PHP process from start to end", 1, 1, "started", .whole = true},
    {"loop", "300,000 integer operations, 20,000 string appends", 20, 2, "2124272 2415275304"},
    {"recursion", "calls of functions", 25, 3, "10946 16383 123"},
    {"sieve", "prime numbers up to 50,000", 30, 3, "5133 49999"},
    {"matrix", "matrices of 50 by 50", 20, 2, "61508 7743109"},
    {"nested", "loops within loops", 15, 2, "3956848"},
    {"float", "floating point: the Mandelbrot set", 30, 3, "1522 112706"},
    {"strings", "strings built and taken apart", 20, 2, "6001 4273213982 2454464636"},
    {"sort", "4,000 numbers sorted in three ways", 15, 2, "same 1327 8388538"},
    {"hash", "hash maps", 20, 2, "959289 2003 0"},
    {"objects", "objects, methods, properties", 20, 2, "2511348 15000"},
    {"closures", "closures and generators", 20, 2, "4999 50004449"},
    {"regex", "regular expressions", 40, 4, "400 8000 2285086017 10956"},
    {"json", "JSON written and read", 30, 3, "43541 same 18652223"},
    {"format", "sprintf, number_format, dates, HTML escapes", 12, 2, "446143 2793013901"},
    {"template", "a page with output buffers", 100, 8, "60733 1167577337"},
};

static const struct bench_case file_cases[] = {
    {"walk", "5,000 files: opendir(), is_dir(), filesize()", 4, 1, "5000 files, 320000 bytes"},
    {"iterator", "the same by RecursiveDirectoryIterator", 4, 1, "5000 files, 320000 bytes"},
    {"exists", "2,000 times file_exists(), half missing", 20, 2, "1000 of 2000"},
    {"include", "500 small files included, from OPcache", 30, 2, "126750"},
    {"compile", "500 small files included, without OPcache", 8, 1, "126750", .no_opcache = true},
};

/* Repeats are requests in one process. */
static const struct bench_case request_cases[] = {
    {"hello", "a script that prints a word", 5000, 300, "hello"},
    {"include50", "50 files with a class each included", 2000, 100, "1225"},
    {"autoload50", "the same by an autoloader with is_file()", 2000, 100, "1225"},
};

enum { TREE_FOLDERS = 100, TREE_FILES = 50, INCLUDES = 500 };

static int make_folder(const char *folder, const char *name, struct err *err)
{
    char path[BENCH_PATH];
    int rc;

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    rc = fs_mkdir(path, 0700);
    return rc ? err_set(err, rc, "%s cannot be made: %s%s", path, err_text(rc),
                    rc == ERR_NOSPACE ? "; make room, or set TMPDIR to another folder" : "")
              : 0;
}

static int prepare_tree(const char *folder, struct err *err)
{
    char name[64], text[64];
    int rc = make_folder(folder, "tree", err);

    memset(text, 'x', sizeof(text));
    for (int d = 0; d < TREE_FOLDERS && rc == 0; d++) {
        (void)snprintf(name, sizeof(name), "tree/d%d", d);
        rc = make_folder(folder, name, err);
        for (int f = 0; f < TREE_FILES && rc == 0; f++) {
            (void)snprintf(name, sizeof(name), "tree/d%d/file%d.txt", d, f);
            rc = bench_workspace_write(folder, name, str_n(text, sizeof(text)), err);
        }
    }
    return rc;
}

static int prepare_files(const char *folder, struct err *err)
{
    char name[64], text[256];
    int rc = prepare_tree(folder, err);

    if (rc == 0)
        rc = make_folder(folder, "include", err);
    for (int i = 0; i < INCLUDES && rc == 0; i++) {
        (void)snprintf(name, sizeof(name), "include/i%d.php", i);
        (void)snprintf(text, sizeof(text),
            "<?php\nreturn ['id' => %d, 'name' => 'Item %d', 'title' => \"The \" . __LINE__,\n"
            "    'tags' => ['a', 'b%d']];\n",
            i, i, i % 7);
        rc = bench_workspace_write(folder, name, str_c(text), err);
    }
    return rc;
}

static int prepare_requests(const char *folder, struct err *err)
{
    char name[64], text[256];
    int rc = make_folder(folder, "class", err);

    for (int i = 0; i < 50 && rc == 0; i++) {
        (void)snprintf(name, sizeof(name), "class/C%d.php", i);
        (void)snprintf(text, sizeof(text),
            "<?php\nclass C%d\n{\n    private int $v = %d;\n\n    public function value(): int\n"
            "    {\n        return $this->v;\n    }\n}\n",
            i, i);
        rc = bench_workspace_write(folder, name, str_c(text), err);
    }
    return rc;
}

static const struct bench_suite suites[] = {
    {"cpu", "CPU time of PHP code", cpu_cases, ARRAY_LEN(cpu_cases), .columns = {true, true, true}},
    {"files", "CPU time of work on files", file_cases, ARRAY_LEN(file_cases), .columns = {true},
        .prepare = prepare_files},
    {"request", "a request in process, from startup to shutdown", request_cases,
        ARRAY_LEN(request_cases), .columns = {true, true, true}, .requests = true,
        .prepare = prepare_requests},
};

const struct bench_suite *bench_suite_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(suites); i++)
        if (strcmp(suites[i].name, name) == 0)
            return &suites[i];
    return NULL;
}
