/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <signal.h>
#include <stdio.h>

#include "base/mem.h"
#include "cli/bench/bench.h"
#include "platform/fs.h"
#include "platform/process.h"
#include "platform/sock.h"

enum { CHILD_TIMEOUT = 300, CHILD_OUTPUT = 1 << 20 };

/* Written by the handler, which has no other way to tell. */
static volatile sig_atomic_t stopped;

static void on_stop(int sig)
{
    stopped = sig;
}

void bench_child_catch_signals(void)
{
    /* Without them ^C leaves the temporary folder behind, no more. */
    (void)!process_on_signal(SIGINT, on_stop);
    (void)!process_on_signal(SIGTERM, on_stop);
}

bool bench_child_was_stopped(void)
{
    return stopped != 0;
}

/* Waits for the end; kills what takes too long, or what the user does not want any more. */
static int wait_for(int64_t pid, struct process_status *st)
{
    int fd = -1, why = stopped ? ERR_INTR : 0, rc;

    if (why == 0 && process_open_pidfd(pid, &fd) == 0) /* on an old kernel: without a limit */
        why = sock_wait_readable(fd, CHILD_TIMEOUT * 1000);
    fs_close(fd);
    if (why)
        (void)!process_kill(pid, SIGKILL); /* it ended by itself */
    do {
        rc = process_wait(pid, st);
    } while (rc == ERR_INTR);
    return why ? why : rc;
}

/* Its output goes to files, which nobody has to read while it runs. */
static int spawn(
    const char *path, const char *const *argv, const char *const files[2], int64_t *pid)
{
    struct process_fd fds[3] = {{-1, 0}, {-1, 1}, {-1, 2}};
    struct process_spawn s = {.exe = path,
        .argv = (char *const *)(uintptr_t)argv,
        .fds = fds,
        .nfds = 3,
        .die_with_parent = true};
    int rc = fs_open_read("/dev/null", &fds[0].from);

    for (int i = 0; i < 2 && rc == 0; i++) {
        (void)!fs_unlink(files[i]); /* of the process before, or missing */
        rc = fs_open_new(files[i], 0600, &fds[i + 1].from);
    }
    if (rc == 0)
        rc = process_spawn(&s, pid);
    for (size_t i = 0; i < 3; i++)
        fs_close(fds[i].from);
    return rc;
}

int bench_child_run(const char *path, const char *const *argv, const char *folder,
    struct bench_child *out, struct err *err)
{
    char files[2][BENCH_PATH + 8];
    const char *const names[2] = {files[0], files[1]};
    struct process_status st;
    int64_t pid;
    int rc;

    *out = (struct bench_child){0};
    (void)snprintf(files[0], sizeof(files[0]), "%s/out", folder);
    (void)snprintf(files[1], sizeof(files[1]), "%s/errors", folder);
    rc = spawn(path, argv, names, &pid);
    if (rc)
        return err_set(err, rc, "%s cannot be started: %s", path, err_text(rc));
    rc = wait_for(pid, &st);
    if (rc == ERR_TIMEOUT)
        return err_set(err, rc, "%s was ended after %d seconds", path, CHILD_TIMEOUT);
    if (rc)
        return err_set(
            err, rc, rc == ERR_INTR ? "interrupted" : "%s is lost: %s", path, err_text(rc));
    out->cpu_ns = st.cpu_ns;
    out->code = st.end == PROCESS_EXITED ? st.code : -1;
    out->signal = st.end == PROCESS_SIGNALED ? st.code : 0;
    /* What is too long or cannot be read is no answer either. */
    (void)!fs_read_file(files[0], CHILD_OUTPUT, &out->out);
    (void)!fs_read_file(files[1], CHILD_OUTPUT, &out->errors);
    return 0;
}

void bench_child_fini(struct bench_child *c)
{
    buf_fini(&c->out);
    buf_fini(&c->errors);
}

struct str bench_child_complaint(const struct bench_child *c)
{
    struct str rest = str_trim(buf_str(&c->errors)), line = STR_NONE;

    (void)str_split(&rest, '\n', &line); /* "" then */
    return str_sub(str_trim(line), 0, 200);
}
