/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <signal.h>
#include <unistd.h>

#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/process.h"
#include "platform/sock.h"
#include "unit/test.h"

extern const struct test tests_fork[];

static void test_fork_child_is_waited_for(void)
{
    struct process_status st = {0};
    int64_t pid = -1;

    CHECK_INT(process_reap(&st), ERR_NOTFOUND);
    CHECK_INT(process_fork(&pid), 0);
    if (pid == 0)
        process_exit_now(7);
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK_INT(st.pid, pid);
    CHECK_INT(st.end, PROCESS_EXITED);
    CHECK_INT(st.code, 7);
    CHECK_INT(process_wait(pid, &st), ERR_NOTFOUND);
    CHECK_INT(process_wait(0, &st), ERR_INVAL);
}

static void test_fork_reap_tells_the_signal(void)
{
    struct process_status st = {0};
    int64_t pid = -1;
    int fd = -1;

    CHECK_INT(process_fork(&pid), 0);
    if (pid == 0) {
        for (;;)
            (void)pause();
    }
    CHECK_INT(process_reap(&st), ERR_AGAIN);
    CHECK_INT(process_open_pidfd(pid, &fd), 0);
    CHECK_INT(sock_wait_readable(fd, 0), ERR_TIMEOUT);
    CHECK_INT(process_kill(pid, SIGKILL), 0);
    CHECK_INT(sock_wait_readable(fd, 5000), 0);
    CHECK_INT(process_reap(&st), 0);
    CHECK_INT(st.pid, pid);
    CHECK_INT(st.end, PROCESS_SIGNALED);
    CHECK_INT(st.code, SIGKILL);
    CHECK(!st.core_dumped);
    CHECK(!process_alive(pid));
    fs_close(fd);
    fd = -1;
    CHECK_INT(process_open_pidfd(pid, &fd), ERR_NOTFOUND);
    CHECK_INT(process_open_pidfd(0, &fd), ERR_INVAL);
}

static void test_fork_process_runs_until_it_has_ended(void)
{
    struct process_status st = {0};
    uint64_t mine = 0, start = 0;
    int64_t pid = -1;
    int fd = -1;

    CHECK_INT(process_start_time(process_id(), &mine), 0);
    CHECK(mine != 0);
    CHECK(process_runs(process_id(), mine));
    CHECK(process_runs(process_id(), 0));
    CHECK(!process_runs(process_id(), mine + 1));
    CHECK(!process_runs(0, 0));
    CHECK_INT(process_start_time(0, &start), ERR_NOTFOUND);
    CHECK_INT(process_fork(&pid), 0);
    if (pid == 0) {
        process_set_title("a) Z (");
        for (;;)
            (void)pause();
    }
    CHECK_INT(process_start_time(pid, &start), 0);
    CHECK(start >= mine);
    CHECK(process_runs(pid, start));
    CHECK_INT(process_open_pidfd(pid, &fd), 0);
    CHECK_INT(process_kill(pid, SIGKILL), 0);
    CHECK_INT(sock_wait_readable(fd, 5000), 0);
    fs_close(fd);
    /* Not reaped yet. */
    CHECK(process_alive(pid));
    CHECK(!process_runs(pid, start));
    CHECK_INT(process_start_time(pid, &start), ERR_NOTFOUND);
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK(!process_runs(pid, start));
}

/* What the processes of the adoption tests report, each in one message. */
struct fork_report {
    char who; /* 'p' the prototype, 'w' the adopted one */
    int rc;
    int64_t pid, parent, other;
};

static void fork_report_send(sock_t s, char who, int rc, int64_t other)
{
    struct fork_report r = {who, rc, process_id(), process_parent_id(), other};

    if (sock_send_msg(s, &r, sizeof(r), NULL, 0) != 0)
        process_exit_now(90);
}

NORETURN static void fork_prototype(sock_t s, int64_t reaper)
{
    struct process_status st;
    int64_t pid = -1;
    int rc = process_fork_adopted(reaper, &pid);

    if (rc == 0 && pid == 0) {
        fork_report_send(s, 'w', 0, 0);
        for (;;)
            (void)pause();
    }
    /* The middle process must be reaped already. */
    if (process_reap(&st) != ERR_NOTFOUND)
        rc = ERR_CORRUPT;
    fork_report_send(s, 'p', rc, pid);
    process_exit_now(0);
}

NORETURN static void fork_reaper(sock_t s, bool lie)
{
    int64_t pid, me = process_id();

    if (process_become_reaper() != 0 || process_fork(&pid) != 0)
        process_exit_now(91);
    if (pid == 0)
        fork_prototype(s, lie ? me + 1 : me);
    for (;;)
        (void)pause();
}

/* Starts reaper > prototype > adopted; gives the reaper's pid and n reports, the prototype's first.
 */
static int64_t fork_adopt(bool lie, struct fork_report *reports, size_t n)
{
    int fds[SOCK_MSG_FDS];
    int64_t reaper = -1;
    size_t got, nfds;
    sock_t s[2];

    CHECK_INT(sock_pair(s), 0);
    CHECK_INT(process_fork(&reaper), 0);
    if (reaper == 0)
        fork_reaper(s[1], lie);
    for (size_t i = 0; i < n; i++) {
        struct fork_report r = {0};

        CHECK_INT(sock_wait_readable(s[0], 5000), 0);
        CHECK_INT(sock_recv_msg(s[0], &r, sizeof(r), &got, fds, &nfds), 0);
        reports[r.who == 'p' ? 0 : 1] = r;
    }
    sock_close(s[0]);
    sock_close(s[1]);
    return reaper;
}

static void test_fork_adopted_belongs_to_the_reaper_and_dies_with_it(void)
{
    struct fork_report r[2] = {0};
    struct process_status st;
    int64_t reaper = fork_adopt(false, r, 2);
    int fd = -1;

    CHECK_INT(r[0].who, 'p');
    CHECK_INT(r[0].rc, 0);
    CHECK_INT(r[1].who, 'w');
    CHECK_INT(r[0].other, r[1].pid);
    CHECK_INT(r[1].parent, reaper);
    CHECK(r[0].pid != r[1].pid);
    CHECK_INT(process_open_pidfd(r[1].pid, &fd), 0);
    CHECK_INT(sock_wait_readable(fd, 30), ERR_TIMEOUT); /* the prototype's end is not its own */
    CHECK_INT(process_kill(reaper, SIGKILL), 0);
    CHECK_INT(process_wait(reaper, &st), 0);
    CHECK_INT(sock_wait_readable(fd, 5000), 0);
    fs_close(fd);
}

static void test_fork_adopted_refuses_a_wrong_reaper(void)
{
    struct fork_report r[2] = {0};
    struct process_status st;
    int64_t reaper = fork_adopt(true, r, 1);

    CHECK_INT(r[0].rc, ERR_NOTFOUND);
    CHECK_INT(r[0].other, -1);
    CHECK_INT(process_kill(reaper, SIGKILL), 0);
    CHECK_INT(process_wait(reaper, &st), 0);
}

static void test_fork_die_with_parent_checks_the_parent(void)
{
    struct process_status st;
    int64_t pid = -1, me = process_id();

    CHECK_INT(process_fork(&pid), 0);
    if (pid == 0) {
        if (process_die_with_parent(me) != 0)
            process_exit_now(1);
        process_exit_now(process_die_with_parent(me + 1) == ERR_NOTFOUND ? 0 : 2);
    }
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK_INT(st.code, 0);
}

const struct test tests_fork[] = {
    TEST(test_fork_child_is_waited_for),
    TEST(test_fork_reap_tells_the_signal),
    TEST(test_fork_process_runs_until_it_has_ended),
    TEST(test_fork_adopted_belongs_to_the_reaper_and_dies_with_it),
    TEST(test_fork_adopted_refuses_a_wrong_reaper),
    TEST(test_fork_die_with_parent_checks_the_parent),
    TEST_END,
};
