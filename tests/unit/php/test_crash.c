/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/php/host.h"
#include "unit/test.h"

/* Runs code in a forked child; its stderr goes to out, its wait status is returned. */
static int run_child(const char *code, struct buf *out)
{
    int fds[2], status = -1;
    struct buf text = {0};
    char chunk[4096];
    ssize_t n;
    pid_t pid;

    /* Written here and not by the child: OPcache goes by the file times that host_file() counts. */
    buf_printf(&text, "<?php %s", code);
    host_file("t.php", buf_cstr(&text));
    buf_fini(&text);
    CHECK_INT(pipe(fds), 0);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        (void)dup2(fds[1], STDERR_FILENO);
        embed_after_fork();
        host_run(host_request("t.php"));
        (void)!write(STDERR_FILENO, reply.body.p, reply.body.len);
        _exit(0);
    }
    (void)close(fds[1]);
    while ((n = read(fds[0], chunk, sizeof(chunk))) > 0)
        buf_add(out, chunk, (size_t)n);
    (void)close(fds[0]);
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

static void test_crash_reports_and_dies_by_the_signal(void)
{
#ifndef EPHPM_SANITIZED
    static const struct {
        int sig;
        const char *name;
    } rows[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGABRT, "SIGABRT"}, {SIGFPE, "SIGFPE"},
        {SIGILL, "SIGILL"}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf out = {0}, code = {0};
        int status;

        buf_printf(&code, "function die_of($s) {\nposix_kill(getmypid(), $s);\n}\ndie_of(%d);",
            rows[i].sig);
        status = run_child(buf_cstr(&code), &out);
        test_row(rows[i].name);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == rows[i].sig);
        CHECK_HAS(out, "=== ephpm fatal signal ===\nsignal: ");
        CHECK_HAS(out, rows[i].name);
        CHECK_HAS(out, "request: GET /t.php id=id-1\n");
        CHECK_HAS(out, "t.php(2): posix_kill()\n");
        CHECK_HAS(out, "t.php(2): die_of()\n");
        CHECK_HAS(out, "t.php(4): {main}\n");
        CHECK_HAS(out, "=== end ===\n");
        buf_fini(&out);
        buf_fini(&code);
    }
    test_row(NULL);
#endif
}

static void test_crash_survives_stack_overflow(void)
{
#ifndef EPHPM_SANITIZED
    struct buf out = {0};
    /* Recursion through an internal function uses the C stack; PHP 8.3 and later stop it by
     * themselves. */
    int status = run_child(
        "ini_set('memory_limit', -1); function deep($a) {\narray_map('deep', [1]);\n}\ndeep(1);",
        &out);

    if (WIFSIGNALED(status)) {
        CHECK_INT(WTERMSIG(status), SIGSEGV);
        CHECK_HAS(out, "SIGSEGV");
        CHECK_HAS(out, "t.php(2): array_map()\n");
        CHECK_HAS(out, "=== end ===\n");
    } else {
        CHECK_INT(WEXITSTATUS(status), 0);
    }
    buf_fini(&out);
#endif
}

static void test_crash_hard_timeout_ends_the_process(void)
{
    struct buf out = {0};
    /* One call that runs for seconds and never looks at the limit. */
    int status = run_child("set_time_limit(1);\n"
                           "for (;;) hash_pbkdf2('sha512', 'a', 'b', 2000000000);",
        &out);

    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 124);
    CHECK_HAS(out, "hard_timeout exceeded (terminated)\n#0 ");
    CHECK_HAS(out, "t.php(2): hash_pbkdf2()\n");
    buf_fini(&out);
}

static void test_crash_children_differ_in_random(void)
{
    struct buf a = {0}, b = {0};

    CHECK_INT(run_child("echo mt_rand(), ' ', lcg_value(), ' ', getmypid();", &a), 0);
    CHECK_INT(run_child("echo mt_rand(), ' ', lcg_value(), ' ', getmypid();", &b), 0);
    CHECK(a.len > 0);
    CHECK(!str_eq(buf_str(&a), buf_str(&b)));
    buf_fini(&a);
    buf_fini(&b);
}

static void test_crash_child_hits_the_parents_cache(void)
{
    struct buf out = {0};

    host_php("echo 'warm';");
    CHECK_INT(
        run_child("$s = opcache_get_status(false); echo json_encode($s['opcache_enabled']);", &out),
        0);
    CHECK_HAS(out, "true");
    buf_fini(&out);
}

const struct test tests_crash[] = {
    TEST(test_crash_reports_and_dies_by_the_signal),
    TEST(test_crash_survives_stack_overflow),
    TEST(test_crash_hard_timeout_ends_the_process),
    TEST(test_crash_children_differ_in_random),
    TEST(test_crash_child_hits_the_parents_cache),
    TEST_END,
};
