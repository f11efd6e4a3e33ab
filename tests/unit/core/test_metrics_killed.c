/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* A process that is killed while it records, after each so many machine instructions. */
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/metrics.h"
#include "platform/fs.h"
#include "unit/test.h"

#ifdef EPHPM_SANITIZED
enum { STEP = 499 }; /* instrumented: many more, and each is two switches of processes */
#else
enum { STEP = 3 };
#endif

static const struct metrics_label labels[] = {{"site", NULL, 2}};
static const uint64_t bounds[] = {10, 20};
static const struct metrics_family families[] = {
    {"k_total", METRICS_COUNTER, 0, true, 1, {0}, NULL, 0, "Counter."},
    {"k_bytes", METRICS_HISTOGRAM, 0, true, 1, {0}, bounds, 2, "Histogram."},
};
static const struct metrics_schema schema = {labels, 1, families, 2};

static void operation(struct metrics *m)
{
    unsigned site = metrics_claim(m, 0, STR("a name of more than one word"));

    metrics_add(m, 0, site, 1);
    metrics_observe(m, 1, site, 15);
}

/* The operation in a process of its own, for so many instructions. True: it came to its end. */
static bool run_for(struct metrics *m, unsigned steps)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(1);
        (void)raise(SIGSTOP);
        operation(m);
        _exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFSTOPPED(status));
    for (unsigned i = 0; i < steps && WIFSTOPPED(status); i++)
        if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0 || waitpid(pid, &status, 0) != pid)
            break;
    if (WIFEXITED(status))
        return true;
    (void)kill(pid, SIGKILL);
    CHECK(waitpid(pid, &status, 0) == pid);
    return false;
}

static void test_metrics_killed_anywhere_harms_nothing(void)
{
    bool ended = false;
    unsigned runs = 0;

    for (unsigned steps = 0; !ended; steps += STEP, runs++) {
        struct metrics *m = NULL;
        struct buf b = {0};
        uint64_t count;
        int fd;

        CHECK_INT(metrics_create(&schema, &fd), 0);
        CHECK_INT(metrics_open(&schema, fd, &m), 0);
        ended = run_for(m, steps);
        metrics_write(m, METRICS_OPEN, &b); /* between the two */
        count = metrics_get(m, 0, 0);
        CHECK(count <= 1 && metrics_get(m, 1, 0) <= count);
        operation(m);
        CHECK_INT(metrics_get(m, 0, 0), count + 1);
        CHECK_INT(metrics_claim(m, 0, STR("second")), 1); /* the first is not lost */
        buf_clear(&b);
        metrics_write(m, METRICS_TEXT, &b);
        CHECK(strstr(buf_cstr(&b), "k_total{site=\"a name of more than one word\"} ") != NULL);
        buf_fini(&b);
        metrics_close(m);
        fs_close(fd);
        if (test_failures)
            break;
    }
    CHECK(runs > 10);
}

const struct test tests_metrics_killed[] = {
    TEST(test_metrics_killed_anywhere_harms_nothing),
    TEST_END,
};
