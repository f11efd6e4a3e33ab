/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* What Windows has no counterpart of says so; what it has gives sensible answers. */
#include "platform/process.h"
#include "platform/sock.h"
#include "platform/sysinfo.h"
#include "platform/wake.h"
#include "platform/watch.h"
#include "unit/test.h"

extern const struct test tests_unsupported[];

static void test_unsupported_says_so(void)
{
    uint32_t uid, gid;
    struct watch *w = NULL;
    sock_t pair[2], l;
    int64_t pid;
    int fd;

    CHECK_INT(process_fork(&pid), ERR_UNSUPPORTED);
    CHECK_INT(process_fork_adopted(1, &pid), ERR_UNSUPPORTED);
    CHECK_INT(process_become_reaper(), ERR_UNSUPPORTED);
    CHECK_INT(process_die_with_parent(1), ERR_UNSUPPORTED);
    CHECK_INT(process_open_pidfd(process_id(), &fd), ERR_UNSUPPORTED);
    CHECK_INT(process_find_user("root", NULL, &uid, &gid), ERR_UNSUPPORTED);
    CHECK_INT(sock_pair(pair), ERR_UNSUPPORTED);
    CHECK_INT(sock_listen_local("x", 0600, 1, &l), ERR_UNSUPPORTED);
    CHECK_INT(sock_connect_local("x", &l), ERR_UNSUPPORTED);
    CHECK_INT(wake_bell_open(&fd), ERR_UNSUPPORTED);
    CHECK_INT(process_exec("x", NULL), ERR_UNSUPPORTED);
    CHECK_INT(process_title_put(STR("x")), ERR_UNSUPPORTED);
    CHECK_INT(process_title().len, 0);
    CHECK_INT(watch_open(&w), ERR_UNSUPPORTED);
    watch_close(w);
}

static void test_supported_process_facts(void)
{
    uint64_t limit = 0;
    char exe[512];

    CHECK(process_id() > 0);
    CHECK(process_alive(process_id()));
    CHECK(!process_alive(0));
    CHECK_INT(process_kill(0, 9), ERR_INVAL);
    CHECK_INT(process_notify("READY=1"), 0);
    CHECK_INT(process_raise_fd_limit(&limit), 0);
    CHECK(limit >= 512);
    CHECK_INT(process_exe_path(exe, sizeof(exe)), 0);
    CHECK(str_ends(str_c(exe), STR("/unit_platform.exe")));
    process_set_title("x %d", 1);
}

static void test_supported_sysinfo(void)
{
    struct sysinfo_memory m = sysinfo_memory(NULL);

    CHECK(m.bytes > (16 << 20));
    CHECK(m.source == SYSINFO_SYSTEM || m.source == SYSINFO_JOB);
    CHECK(sysinfo_cpu(NULL).cores > 0);
    CHECK(sysinfo_resident(0) > 100000);
}

const struct test tests_unsupported[] = {
    TEST(test_unsupported_says_so),
    TEST(test_supported_process_facts),
    TEST(test_supported_sysinfo),
    TEST_END,
};
