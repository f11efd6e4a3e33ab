/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/process.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/fs.h"
#include "platform/sock.h"
#include "unit/platform/tmpdir.h"
#include "unit/test.h"

extern const struct test tests_process[];

static void test_process_title_shows_in_proc(void)
{
    static char big[5000];
    struct buf b = {0};
    char before[64] = "", after[64] = "";

    CHECK_INT(setenv("EPHPM_TEST_BEFORE", "kept", 1), 0);
    process_set_title("ephpm: worker %s", "default");
    CHECK_INT(fs_read_file("/proc/self/cmdline", 1 << 20, &b), 0);
    CHECK_STR(str_c(buf_cstr(&b)), "ephpm: worker default");
    for (size_t i = strlen("ephpm: worker default"); i < b.len; i++)
        CHECK_INT(b.p[i], 0);
    buf_clear(&b);
    CHECK_INT(fs_read_file("/proc/self/comm", 100, &b), 0);
    CHECK_STR(buf_str(&b), "ephpm:worker de\n");
    /* A title longer than the room is cut; the environment and libc's name are elsewhere. */
    memset(big, 'T', sizeof(big) - 1);
    process_set_title("%s", big);
    (void)snprintf(before, sizeof(before), "%s", getenv("EPHPM_TEST_BEFORE"));
    CHECK_STR(str_c(before), "kept");
    CHECK(getenv("PATH") == NULL || strchr(getenv("PATH"), 'T') == NULL);
    (void)snprintf(after, sizeof(after), "%s", program_invocation_short_name);
    CHECK_STR(str_c(after), "unit_platform");
    process_set_title("short");
    buf_clear(&b);
    CHECK_INT(fs_read_file("/proc/self/cmdline", 1 << 20, &b), 0);
    CHECK_STR(str_c(buf_cstr(&b)), "short");
    buf_fini(&b);
}

static void test_process_title_of_a_program_keeps_the_short_name(void)
{
    struct buf before = {0}, after = {0}, line = {0};

    CHECK_INT(fs_read_file("/proc/self/comm", 100, &before), 0);
    CHECK_INT(process_title_put(STR("a title with 100 % of its text")), 0);
    CHECK_STR(process_title(), "a title with 100 % of its text");
    CHECK_INT(fs_read_file("/proc/self/cmdline", 1 << 20, &line), 0);
    CHECK_STR(str_c(buf_cstr(&line)), "a title with 100 % of its text");
    CHECK_INT(fs_read_file("/proc/self/comm", 100, &after), 0);
    CHECK(str_eq(buf_str(&before), buf_str(&after)));
    CHECK_INT(process_title_put(STR("")), 0);
    CHECK_INT(process_title().len, 0);
    buf_fini(&before);
    buf_fini(&after);
    buf_fini(&line);
}

static void test_process_exec_becomes_the_program(void)
{
    static char sh[] = "sh", option[] = "-c", script[] = "exit 7";
    char *const argv[] = {sh, option, script, NULL};
    struct process_status st = {0};
    int64_t pid = 0;

    CHECK_INT(process_exec("/nonexistent/program", argv), ERR_NOTFOUND);
    CHECK_INT(process_exec("/etc/passwd", argv), ERR_ACCESS);
    CHECK_INT(process_fork(&pid), 0);
    if (pid == 0) {
        (void)!process_exec("/bin/sh", argv); /* returns only when it fails */
        process_exit_now(1);
    }
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK_INT(st.code, 7);
}

static void test_process_users_are_found(void)
{
    static const struct {
        const char *user, *group;
        int rc;
        uint32_t uid, gid;
    } rows[] = {
        {"root", NULL, 0, 0, 0},
        {"0", NULL, 0, 0, 0},
        {"0", "0", 0, 0, 0},
        {"root", "daemon", 0, 0, 1},
        {"daemon", "root", 0, 1, 0},
        {"3999999", "3999998", 0, 3999999, 3999998},
        {"3999999", NULL, ERR_NOTFOUND, 77, 77},
        {"no such user", NULL, ERR_NOTFOUND, 77, 77},
        {"root", "no such group", ERR_NOTFOUND, 77, 77},
        {"", NULL, ERR_NOTFOUND, 77, 77},
        {"4294967295", "0", ERR_NOTFOUND, 77, 77},
        {"-1", "0", ERR_NOTFOUND, 77, 77},
    };
    char name[32];

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint32_t uid = 77, gid = 77;

        test_row(rows[i].user);
        CHECK_INT(process_find_user(rows[i].user, rows[i].group, &uid, &gid), rows[i].rc);
        CHECK_INT(uid, rows[i].uid);
        CHECK_INT(gid, rows[i].gid);
    }
    test_row(NULL);
    process_user_name(0, name, sizeof(name));
    CHECK_STR(str_c(name), "root");
    process_user_name(3999999, name, sizeof(name));
    CHECK_STR(str_c(name), "3999999");
    process_user_name(0, name, 3);
    CHECK_STR(str_c(name), "ro");
    CHECK_INT(process_uid(), geteuid());
    CHECK_INT(process_is_root(), geteuid() == 0);
}

static void test_process_can_search_asks_as_the_user(void)
{
    struct tmpdir t;

    tmpdir_init(&t); /* mode 0700 */
    tmpdir_write(&t, "f", "x");
    CHECK_INT(process_can_search(t.path, false, 0, 0, NULL), 0);
    CHECK_INT(process_can_search(tmpdir_path(&t, "no"), false, 0, 0, NULL), ERR_NOTFOUND);
    CHECK_INT(process_can_search(tmpdir_path(&t, "f/x"), false, 0, 0, NULL), ERR_NOTDIR);
    if (process_is_root()) {
        CHECK_INT(process_can_search(t.path, true, 65534, 65534, NULL), ERR_ACCESS);
        CHECK_INT(process_can_search("/", true, 65534, 65534, "nobody"), 0);
    }
    tmpdir_fini(&t);
}

static void test_process_fd_limit_is_raised(void)
{
    struct rlimit old, r;
    uint64_t now = 0;

    CHECK_INT(getrlimit(RLIMIT_NOFILE, &old), 0);
    r = (struct rlimit){.rlim_cur = 64, .rlim_max = old.rlim_max};
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &r), 0);
    CHECK_INT(process_raise_fd_limit(&now), 0);
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &r), 0);
    CHECK_INT(now, r.rlim_cur);
    CHECK_INT(now, old.rlim_max);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &old), 0);
}

static void test_process_count_fds_counts(void)
{
    size_t before = process_count_fds();
    int a = -1, b = -1;

    CHECK(before >= 3);
    CHECK_INT(fs_open_read("/dev/null", &a), 0);
    CHECK_INT(fs_open_read("/dev/null", &b), 0);
    CHECK_INT(process_count_fds(), before + 2);
    fs_close(a);
    fs_close(b);
    CHECK_INT(process_count_fds(), before);
}

static void test_process_notify_sends_one_datagram(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct tmpdir t;
    char in[64];
    ssize_t n;
    int s;

    CHECK_INT(unsetenv("NOTIFY_SOCKET"), 0);
    CHECK_INT(process_notify("READY=1"), 0);
    tmpdir_init(&t);
    (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s", tmpdir_path(&t, "notify"));
    CHECK_INT(setenv("NOTIFY_SOCKET", un.sun_path, 1), 0);
    CHECK_INT(process_notify("READY=1"), ERR_NOTFOUND);
    s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK_INT(bind(s, (struct sockaddr *)&un, sizeof(un)), 0);
    CHECK_INT(process_notify("READY=1"), 0);
    n = recv(s, in, sizeof(in), 0);
    CHECK_STR(str_n(in, n < 0 ? 0 : (size_t)n), "READY=1");
    CHECK(recv(s, in, sizeof(in), 0) < 0);
    close(s);
    CHECK_INT(unsetenv("NOTIFY_SOCKET"), 0);
    tmpdir_fini(&t);
}

static void test_process_exe_path_is_this_binary(void)
{
    char exe[512] = "";

    CHECK_INT(process_exe_path(exe, sizeof(exe)), 0);
    CHECK(str_ends(str_c(exe), STR("/unit_platform")));
    CHECK_INT(process_exe_path(exe, 3), ERR_TOOBIG);
}

static void test_process_signal_names(void)
{
    CHECK_STR(str_c(process_signal_name(SIGSEGV)), "SIGSEGV");
    CHECK_STR(str_c(process_signal_name(SIGKILL)), "SIGKILL");
    CHECK_STR(str_c(process_signal_name(SIGABRT)), "SIGABRT");
    CHECK(process_signal_name(0) != NULL);
    CHECK(process_signal_name(9999) != NULL);
}

static void test_process_kill_takes_one_pid_only(void)
{
    CHECK_INT(process_kill(0, SIGTERM), ERR_INVAL);
    CHECK_INT(process_kill(-1, SIGTERM), ERR_INVAL);
    CHECK_INT(process_kill(0x7ffffffe, SIGTERM), ERR_NOTFOUND);
    CHECK(process_alive(process_id()));
    CHECK(process_alive(process_parent_id()) || process_parent_id() == 0);
    CHECK(!process_alive(0x7ffffffe));
    CHECK(!process_alive(0));
    CHECK(!process_alive(-1));
}

static void check_inode_of(const char *address)
{
    struct sock_addr at, mine;
    sock_t l = SOCK_NONE, c = SOCK_NONE, s = SOCK_NONE;
    uint64_t inode;

    CHECK_INT(sock_addr_parse(str_c(address), &at), 0);
    CHECK_INT(sock_listen(&at, 1, &l), 0);
    CHECK_INT(sock_local_addr(l, &at), 0);
    CHECK_INT(process_tcp_inode(&at, &at), 0); /* it listens, nobody is connected */
    CHECK_INT(sock_connect(&at, &c), 0);
    CHECK_INT(sock_wait_readable(l, 1000), 0);
    CHECK_INT(sock_accept(l, &s, NULL), 0);
    CHECK_INT(sock_local_addr(c, &mine), 0);
    inode = process_tcp_inode(&mine, &at);
    CHECK(inode != 0);
    CHECK(inode != process_tcp_inode(&at, &mine)); /* the other end is another socket */
    CHECK(process_holds_socket(process_id(), inode));
    sock_close(c);
    CHECK(!process_holds_socket(process_id(), inode));
    sock_close(s);
    sock_close(l);
}

static void test_process_finds_its_sockets(void)
{
    check_inode_of("127.0.0.1:0");
    check_inode_of("[::1]:0");
}

const struct test tests_process[] = {
    TEST(test_process_title_shows_in_proc),
    TEST(test_process_title_of_a_program_keeps_the_short_name),
    TEST(test_process_exec_becomes_the_program),
    TEST(test_process_users_are_found),
    TEST(test_process_can_search_asks_as_the_user),
    TEST(test_process_fd_limit_is_raised),
    TEST(test_process_count_fds_counts),
    TEST(test_process_notify_sends_one_datagram),
    TEST(test_process_exe_path_is_this_binary),
    TEST(test_process_signal_names),
    TEST(test_process_kill_takes_one_pid_only),
    TEST(test_process_finds_its_sockets),
    TEST_END,
};
