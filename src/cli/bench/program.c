/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>
#include <stdlib.h>

#include "cli/bench/bench.h"
#include "core/json.h"
#include "platform/fs.h"
#include "platform/process.h"

static const struct {
    const char *name, *jit, *buffer;
} columns[BENCH_COLUMNS] = {
    {"off", "opcache.jit=disable", "opcache.jit_buffer_size=0"},
    {"function", "opcache.jit=function", "opcache.jit_buffer_size=64M"},
    {"tracing", "opcache.jit=tracing", "opcache.jit_buffer_size=64M"},
};

const char *bench_column_name(enum bench_column c)
{
    return columns[c].name;
}

void bench_program_argv(const struct bench_program *p, enum bench_column column, bool opcache,
    const char *const *rest, const char **out)
{
    const char *settings[] = {
        opcache && p->opcache == BENCH_OPCACHE_FILE ? "zend_extension=opcache" : NULL,
        opcache ? "opcache.enable_cli=1" : "opcache.enable_cli=0",
        "opcache.file_update_protection=0", /* the files have just been written */
        columns[column].jit,
        columns[column].buffer,
        "memory_limit=512M",
        "max_execution_time=0",
        "display_errors=stderr",
        "zend.assertions=-1",
        "date.timezone=UTC",
    };
    size_t n = 0;

    out[n++] = p->ephpm ? "ephpm" : "php";
    if (p->ephpm)
        out[n++] = "php";
    if (!p->ini)
        out[n++] = "-n"; /* so that programs differ in what they are, not in how they are set up */
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        if (!settings[i])
            continue;
        out[n++] = "-d";
        out[n++] = settings[i];
    }
    while (*rest)
        out[n++] = *rest++;
    out[n] = NULL;
}

/* --- which program ---------------------------------------------------------------------------- */

static struct str base_name(const char *path)
{
    struct str s = str_c(path);

    return str_sub(s, (size_t)(str_rchr(s, '/') + 1), s.len);
}

/* A name without a slash is looked for as a shell does. */
static int find_in_path(const char *name, char *out)
{
    struct str dirs = str_c(getenv("PATH")), dir;

    while (str_split(&dirs, ':', &dir)) {
        struct fs_stat st;

        if (dir.len == 0 || snprintf(out, BENCH_PATH, STR_F "/%s", STR_A(dir), name) >= BENCH_PATH)
            continue;
        if (fs_stat(out, &st) == 0 && st.kind == FS_FILE && (st.mode & 0111))
            return 0;
    }
    return ERR_NOTFOUND;
}

static int find_program(struct bench_program *p, const char *name, struct err *err)
{
    struct fs_stat st;
    int rc;

    if (!name)
        rc = process_exe_path(p->path, sizeof(p->path));
    else if (str_chr(str_c(name), '/') < 0)
        rc = find_in_path(name, p->path);
    else /* the same path, so that links named php stay what they are */
        rc = str_put(p->path, sizeof(p->path), str_c(name)) == strlen(name) ? 0 : ERR_TOOBIG;
    if (rc == 0)
        rc = fs_stat(p->path, &st);
    if (rc)
        return err_set(
            err, rc, "--against: there is no program %s: %s", name ? name : "ephpm", err_text(rc));
    if (st.kind != FS_FILE || !(st.mode & 0111))
        return err_set(
            err, ERR_ACCESS, "--against: %s is no program that can be executed", p->path);
    p->ephpm = str_eq(base_name(p->path), STR("ephpm")) || !name;
    (void)str_put(p->label, sizeof(p->label), name ? base_name(p->path) : STR("ephpm"));
    return 0;
}

/* --- what it is and can do -------------------------------------------------------------------- */

static int not_php(
    const struct bench_program *p, const struct bench_child *c, const char *want, struct err *err)
{
    struct str why = bench_child_complaint(c);

    return err_set(err, ERR_INVAL, "%s is not %s: it did not answer as one%s" STR_F, p->path, want,
        why.len ? ", but said: " : "", STR_A(why));
}

static void take_facts(struct bench_program *p, const struct json_value *v)
{
    (void)str_put(p->version, sizeof(p->version), json_get_str(v, "php"));
    (void)str_put(p->sapi, sizeof(p->sapi), json_get_str(v, "sapi"));
    p->zts = json_get_bool(v, "zts", false);
    p->debug = json_get_bool(v, "debug", false);
}

/* Runs the program and reads its answer, one line of JSON with the given key in it. */
static int ask(struct bench_program *p, const char *const *argv, const char *key, const char *want,
    const char *folder, struct arena *a, const struct json_value **out, struct str *complaint,
    struct err *err)
{
    struct bench_child c;
    struct json_value *v = NULL;
    int rc = bench_child_run(p->path, argv, folder, &c, err);

    if (rc)
        return rc;
    if (json_parse(a, str_trim(buf_str(&c.out)), &v, NULL) || !json_get(v, key))
        rc = not_php(p, &c, want, err);
    else if (complaint)
        *complaint = arena_str(a, bench_child_complaint(&c));
    *out = v;
    bench_child_fini(&c);
    return rc;
}

/* Runs the probe as the benchmarks of a column will run. */
static int probe_with(struct bench_program *p, enum bench_column column, const char *script,
    const char *folder, struct arena *a, const struct json_value **out, struct str *complaint,
    struct err *err)
{
    const char *rest[] = {script, NULL}, *argv[BENCH_ARGV_MAX];
    int rc;

    bench_program_argv(p, column, true, rest, argv);
    rc = ask(p, argv, "probe", "a php command", folder, a, out, complaint, err);
    if (rc == 0)
        take_facts(p, *out);
    return rc;
}

/* Finds its OPcache: in it, or a file beside its extensions, which has to load. */
static int probe_opcache(
    struct bench_program *p, const char *script, const char *folder, struct err *err)
{
    const struct json_value *v;
    struct str complaint = STR("it has none");
    struct arena a = {0};
    int rc = probe_with(p, BENCH_JIT_OFF, script, folder, &a, &v, NULL, err);

    if (rc == 0 && json_get_bool(v, "opcache_builtin", false)) {
        p->opcache = BENCH_OPCACHE_BUILTIN;
    } else if (rc == 0 && json_get_bool(v, "opcache_file", false)) {
        p->opcache = BENCH_OPCACHE_FILE;
        rc = probe_with(p, BENCH_JIT_OFF, script, folder, &a, &v, &complaint, err);
    }
    if (rc == 0 && !json_get_bool(v, "opcache", false)) {
        p->opcache = BENCH_OPCACHE_NONE;
        (void)str_put(p->no_opcache, sizeof(p->no_opcache),
            complaint.len ? complaint : STR("it does not start"));
    }
    arena_fini(&a);
    return rc;
}

static int probe_column(struct bench_program *p, enum bench_column column, const char *script,
    const char *folder, struct err *err)
{
    const struct json_value *v;
    struct str why = STR_NONE;
    struct arena a = {0};
    int rc = probe_with(p, column, script, folder, &a, &v, &why, err);
    bool jit = rc == 0 && json_get_bool(v, "jit", false);

    p->has[column] = jit == (column != BENCH_JIT_OFF);
    if (rc == 0 && !p->has[column]) {
        if (p->opcache == BENCH_OPCACHE_NONE)
            why = STR("it has no OPcache");
        else if (why.len == 0)
            why = jit ? STR("its JIT cannot be switched off") : STR("it was built without one");
        (void)str_put(p->why[column], sizeof(p->why[column]), why);
    }
    arena_fini(&a);
    return rc;
}

/* An ephpm tells it itself. */
static int probe_role(struct bench_program *p, const char *folder, struct err *err)
{
    const char *argv[] = {"ephpm", "php", "--role=bench", "facts", NULL};
    const struct json_value *v;
    struct arena a = {0};
    int rc =
        ask(p, p->ephpm ? argv : argv + 1, "bench_facts", "an ephpm", folder, &a, &v, NULL, err);

    if (rc == 0) {
        take_facts(p, v);
        (void)str_put(p->vm, sizeof(p->vm), json_get_str(v, "vm"));
    }
    arena_fini(&a);
    return rc;
}

int bench_program_probe(
    struct bench_program *p, const char *name, bool requests, const char *folder, struct err *err)
{
    char script[BENCH_PATH + 16];
    const char *vm;
    int rc;

    rc = find_program(p, name, err);
    if (rc)
        return rc;
    (void)snprintf(script, sizeof(script), "%s/probe.php", folder);
    if (bench_elf_vm_kind(p->path, &vm) == 0)
        (void)str_put(p->vm, sizeof(p->vm), str_c(vm));
    if (requests || str_starts(base_name(p->path), STR("ephpm"))) {
        rc = probe_role(p, folder, err);
        for (size_t i = 0; i < BENCH_COLUMNS; i++)
            p->has[i] = true; /* each run says it */
    }
    if (requests || rc)
        return rc;
    rc = probe_opcache(p, script, folder, err);
    for (int i = BENCH_JIT_OFF; i < BENCH_COLUMNS && rc == 0; i++)
        rc = probe_column(p, (enum bench_column)i, script, folder, err);
    return rc;
}
