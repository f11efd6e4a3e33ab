/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Forking without exec: plain children, and children that are handed to the reaper. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "platform/linux/oserr.h"
#include "platform/process.h"

enum { ADOPT_TRIES = 20000, ADOPT_YIELDS = 50, ADOPT_PAUSE_NS = 100000 };

int process_fork(int64_t *pid)
{
    pid_t p = fork();

    if (p < 0)
        return oserr_last();
    *pid = p;
    return 0;
}

/* One number through the pipe: the pid of the adopted process, or an error code. */
static void process_report(int fd, int64_t value)
{
    while (write(fd, &value, sizeof(value)) < 0 && errno == EINTR)
        continue;
}

static int process_read_report(int fd, int64_t *value)
{
    ssize_t n;

    do {
        n = read(fd, value, sizeof(*value));
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(*value) ? 0 : ERR_IO;
}

/*
 * Waits in the new process until the middle one is gone and the reaper is its parent.  Only then
 * may the death signal be armed: every change of parent would fire it.
 */
static int process_await_adoption(pid_t middle, int64_t reaper)
{
    const struct timespec pause = {.tv_nsec = ADOPT_PAUSE_NS};

    for (int i = 0; getppid() == middle; i++) {
        if (i >= ADOPT_TRIES)
            return ERR_TIMEOUT;
        if (i < ADOPT_YIELDS)
            (void)sched_yield(); /* cannot fail */
        else
            (void)nanosleep(&pause, NULL); /* cut short is fine */
    }
    return process_die_with_parent(reaper);
}

/* The middle process: forks the new one and ends. Returns only in the new process. */
static void process_fork_middle(int fd, int64_t reaper)
{
    pid_t middle = getpid(), p = fork();
    int rc;

    if (p < 0)
        process_report(fd, oserr_last());
    if (p != 0)
        _exit(0);
    rc = process_await_adoption(middle, reaper);
    process_report(fd, rc ? rc : getpid());
    if (rc)
        _exit(1);
}

int process_fork_adopted(int64_t reaper, int64_t *pid)
{
    int64_t report = ERR_IO;
    int fds[2], rc;
    pid_t middle;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return oserr_last();
    middle = fork();
    if (middle < 0) {
        rc = oserr_last();
        close(fds[0]);
        close(fds[1]);
        return rc;
    }
    if (middle == 0) {
        close(fds[0]);
        process_fork_middle(fds[1], reaper);
        close(fds[1]);
        *pid = 0;
        return 0;
    }
    close(fds[1]);
    while (waitpid(middle, NULL, 0) < 0 && errno == EINTR)
        continue;
    rc = process_read_report(fds[0], &report);
    close(fds[0]);
    if (rc == 0 && report < 0)
        rc = (int)report;
    if (rc == 0)
        *pid = report;
    return rc;
}
