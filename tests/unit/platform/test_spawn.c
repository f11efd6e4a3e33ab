/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fs.h"
#include "platform/process.h"
#include "platform/sock.h"
#include "unit/platform/spawned.h"
#include "unit/platform/tmpdir.h"
#include "unit/test.h"

extern const struct test tests_spawn[];

/* This binary, started again with up to five words after --spawned. */
struct spawn_call {
    char exe[512];
    char words[5][32];
    char *argv[8];
    struct process_spawn s;
};

static void spawn_call_init(struct spawn_call *c, const char *const *words)
{
    size_t n = 0;

    *c = (struct spawn_call){0};
    CHECK_INT(process_exe_path(c->exe, sizeof(c->exe)), 0);
    c->argv[n++] = c->exe;
    c->argv[n++] = c->words[0];
    (void)snprintf(c->words[0], sizeof(c->words[0]), "--spawned");
    for (size_t i = 0; words[i] && i < 4; i++) {
        (void)snprintf(c->words[i + 1], sizeof(c->words[0]), "%s", words[i]);
        c->argv[n++] = c->words[i + 1];
    }
    c->s.exe = c->exe;
    c->s.argv = c->argv;
}

static int spawn_call_run(struct spawn_call *c)
{
    struct process_status st = {.code = -1};
    int64_t pid = -1;

    CHECK_INT(process_spawn(&c->s, &pid), 0);
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK_INT(st.end, PROCESS_EXITED);
    return st.code;
}

/* ---- what the started binary does ---- */

/* Each word "N:c" says that descriptor N is a file that starts with c; there must be no others but
 * 0, 1 and 2. */
static int spawned_fds(int argc, char **argv)
{
    size_t want = 3;

    for (int i = 3; i < argc; i++) {
        char c = 0;
        size_t got = 0;
        int fd = atoi(argv[i]);

        if (fs_pread(fd, &c, 1, 0, &got) != 0 || got != 1 || c != strchr(argv[i], ':')[1])
            return 10 + i;
        want += fd >= 3;
    }
    return process_count_fds() == want ? 0 : 1;
}

static int spawned_signals(void)
{
    sigset_t mask;
    struct sigaction sa;

    if (sigprocmask(SIG_SETMASK, NULL, &mask) < 0)
        return 1;
    for (int sig = 1; sig < 32; sig++) {
        if (sigismember(&mask, sig))
            return sig;
        /* The sanitizers have handlers of their own for some. */
        if (sig != SIGPIPE && sig != SIGUSR1 && sig != SIGTERM && sig != SIGHUP)
            continue;
        if (sigaction(sig, NULL, &sa) < 0 || sa.sa_handler != SIG_DFL)
            return 100 + sig;
    }
    return 0;
}

static int spawned_user(uint32_t uid, uint32_t gid)
{
    gid_t groups[64];
    int n = getgroups(64, groups);

    if (getuid() != uid || geteuid() != uid || getgid() != gid || getegid() != gid)
        return 1;
    for (int i = 0; i < n; i++)
        if (groups[i] != gid)
            return 2;
    return setuid(0) == 0 ? 3 : 0;
}

/* Starts a sleeper that dies with this process, tells its pid on descriptor 3, sleeps. */
static int spawned_nest(void)
{
    const char *const words[] = {"sleep", NULL};
    struct spawn_call c;
    int64_t pid = -1;

    spawn_call_init(&c, words);
    c.s.die_with_parent = true;
    if (process_spawn(&c.s, &pid) != 0 || fs_write(3, &pid, sizeof(pid)) != 0)
        return 1;
    for (;;)
        (void)pause();
}

int spawned_main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";

    if (strcmp(what, "fds") == 0)
        return spawned_fds(argc, argv);
    if (strcmp(what, "signals") == 0)
        return spawned_signals();
    if (strcmp(what, "env") == 0)
        return getenv("EPHPM_ONLY") && !getenv("PATH") && !getenv("EPHPM_OTHER") ? 0 : 1;
    if (strcmp(what, "inherit") == 0)
        return getenv("EPHPM_OTHER") ? 0 : 1;
    if (strcmp(what, "user") == 0 && argc == 5)
        return spawned_user((uint32_t)atoi(argv[3]), (uint32_t)atoi(argv[4]));
    if (strcmp(what, "nest") == 0)
        return spawned_nest();
    while (strcmp(what, "sleep") == 0)
        (void)pause();
    return 99;
}

/* ---- the tests ---- */

static void test_spawn_reports_a_failed_exec(void)
{
    size_t before = process_count_fds();
    struct process_status st;
    struct tmpdir t;
    char *argv[] = {(char[]){"x"}, NULL};
    struct process_spawn s = {.exe = "/nonexistent/x", .argv = argv};
    int64_t pid = -1;

    CHECK_INT(process_spawn(&s, &pid), ERR_NOTFOUND);
    tmpdir_init(&t);
    tmpdir_write(&t, "f", "not a program");
    s.exe = tmpdir_path(&t, "f");
    CHECK_INT(process_spawn(&s, &pid), ERR_ACCESS);
    s.exe = t.path;
    CHECK_INT(process_spawn(&s, &pid), ERR_ACCESS);
    CHECK_INT(pid, -1);
    CHECK_INT(process_reap(&st), ERR_NOTFOUND); /* nothing to reap is left */
    CHECK_INT(process_count_fds(), before);
    tmpdir_fini(&t);
}

static void test_spawn_takes_the_place_of_standard_descriptors(void)
{
    const char *const words[] = {"fds", "0:i", "2:e", "3:x", NULL};
    struct process_fd fds[] = {{-1, 0}, {-1, 2}, {-1, 3}};
    static const char letters[] = "iex";
    struct spawn_call c;

    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        CHECK_INT(fs_open_spool(NULL, &fds[i].from), 0);
        CHECK_INT(fs_pwrite(fds[i].from, &letters[i], 1, 0), 0);
    }
    spawn_call_init(&c, words);
    c.s.fds = fds;
    c.s.nfds = ARRAY_LEN(fds);
    CHECK_INT(spawn_call_run(&c), 0);
    for (size_t i = 0; i < ARRAY_LEN(fds); i++)
        fs_close(fds[i].from);
}

static void test_spawn_refuses_bad_descriptors(void)
{
    const char *const words[] = {"fds", NULL};
    struct process_fd two[] = {{0, 3}, {1, 3}}, low = {0, -1}, none = {-1, 3}, closed = {999, 3};
    struct spawn_call c;
    int64_t pid = -1;

    spawn_call_init(&c, words);
    c.s.fds = two;
    c.s.nfds = 2;
    CHECK_INT(process_spawn(&c.s, &pid), ERR_INVAL);
    c.s.nfds = 1;
    c.s.fds = &low;
    CHECK_INT(process_spawn(&c.s, &pid), ERR_INVAL);
    c.s.fds = &none;
    CHECK_INT(process_spawn(&c.s, &pid), ERR_INVAL);
    c.s.fds = &closed; /* found out in the child */
    CHECK_INT(process_spawn(&c.s, &pid), ERR_INVAL);
    CHECK_INT(pid, -1);
}

/* Opens a file with one letter at exactly this number. */
static void spawn_open_at(int want, char letter)
{
    int fd = -1;

    CHECK_INT(fs_open_spool(NULL, &fd), 0);
    CHECK_INT(fs_pwrite(fd, &letter, 1, 0), 0);
    if (fd == want)
        return;
    CHECK_INT(dup2(fd, want), want); /* without close-on-exec, on purpose */
    fs_close(fd);
}

static void test_spawn_places_overlapping_descriptors(void)
{
    /* A swap, a chain, the same source twice, and one that stays where it is. */
    static const struct {
        struct process_fd fds[3];
        size_t n;
        const char *words[5];
    } rows[] = {
        {{{0, 0}}, 0, {"fds", NULL}},
        {{{40, 41}, {41, 40}}, 2, {"fds", "41:a", "40:b", NULL}},
        {{{40, 41}, {41, 42}, {42, 43}}, 3, {"fds", "41:a", "42:b", "43:c", NULL}},
        {{{40, 3}, {40, 4}, {41, 41}}, 3, {"fds", "3:a", "4:a", "41:b", NULL}},
        {{{42, 42}}, 1, {"fds", "42:c", NULL}},
        {{{40, 100}, {41, 3}}, 2, {"fds", "100:a", "3:b", NULL}},
    };

    spawn_open_at(40, 'a');
    spawn_open_at(41, 'b');
    spawn_open_at(42, 'c');
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct spawn_call c;

        test_row(rows[i].n ? rows[i].words[1] : "none");
        spawn_call_init(&c, rows[i].words);
        c.s.fds = rows[i].fds;
        c.s.nfds = rows[i].n;
        CHECK_INT(spawn_call_run(&c), 0);
    }
    for (int fd = 40; fd <= 42; fd++)
        fs_close(fd);
}

static void spawn_on_signal(int sig)
{
}

static void test_spawn_resets_signals(void)
{
    const char *const words[] = {"signals", NULL};
    struct sigaction sa = {.sa_handler = spawn_on_signal}, old;
    struct spawn_call c;
    sigset_t some, mask, after;

    CHECK_INT(sigaction(SIGUSR1, &sa, &old), 0);
    sigemptyset(&some);
    sigaddset(&some, SIGTERM);
    sigaddset(&some, SIGUSR1);
    CHECK_INT(sigprocmask(SIG_BLOCK, &some, &mask), 0);
    spawn_call_init(&c, words);
    CHECK_INT(spawn_call_run(&c), 0);
    CHECK_INT(sigprocmask(SIG_SETMASK, &mask, &after), 0);
    CHECK(sigismember(&after, SIGTERM)); /* ours was put back */
    CHECK(!sigismember(&after, SIGINT));
    CHECK_INT(sigaction(SIGUSR1, &old, NULL), 0);
}

static void test_spawn_passes_the_environment(void)
{
    const char *const env_words[] = {"env", NULL}, *const inherit_words[] = {"inherit", NULL};
    char only[] = "EPHPM_ONLY=1";
    char *env[] = {only, NULL};
    struct spawn_call c;

    CHECK_INT(setenv("EPHPM_OTHER", "1", 1), 0);
    spawn_call_init(&c, env_words);
    c.s.env = env;
    CHECK_INT(spawn_call_run(&c), 0);
    spawn_call_init(&c, inherit_words);
    CHECK_INT(spawn_call_run(&c), 0);
}

static void test_spawn_drops_to_a_user(void)
{
    const char *const words[] = {"user", "65534", "65534", NULL};
    char copy[512];
    struct spawn_call c;
    struct tmpdir t;
    struct buf b = {0};

    if (!process_is_root()) {
        printf("    skipped test_spawn_drops_to_a_user: not root\n");
        return;
    }
    /* The binary may lie where only root can go. */
    tmpdir_init(&t);
    CHECK_INT(chmod(t.path, 0755), 0);
    spawn_call_init(&c, words);
    CHECK_INT(fs_read_file(c.exe, SIZE_MAX, &b), 0);
    (void)snprintf(copy, sizeof(copy), "%s", tmpdir_path(&t, "copy"));
    CHECK_INT(fs_write_file(copy, b.p, b.len, 0755), 0);
    c.s.exe = copy;
    c.s.set_user = true;
    c.s.uid = c.s.gid = 65534;
    c.s.die_with_parent = true;
    CHECK_INT(spawn_call_run(&c), 0);
    c.s.user = "nobody";
    CHECK_INT(spawn_call_run(&c), 0);
    buf_fini(&b);
    tmpdir_fini(&t);
}

static void test_spawn_die_with_parent_kills_the_child(void)
{
    const char *const words[] = {"nest", NULL};
    struct process_status st;
    struct process_fd pass;
    struct spawn_call c;
    int64_t pid = -1, nested = -1;
    int p[2], fd = -1;

    CHECK_INT(pipe2(p, O_CLOEXEC), 0);
    pass = (struct process_fd){p[1], 3};
    spawn_call_init(&c, words);
    c.s.fds = &pass;
    c.s.nfds = 1;
    CHECK_INT(process_spawn(&c.s, &pid), 0);
    close(p[1]);
    CHECK_INT(read(p[0], &nested, sizeof(nested)), sizeof(nested));
    close(p[0]);
    CHECK_INT(process_open_pidfd(nested, &fd), 0);
    CHECK_INT(sock_wait_readable(fd, 30), ERR_TIMEOUT);
    CHECK_INT(process_kill(pid, SIGKILL), 0);
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK_INT(sock_wait_readable(fd, 5000), 0);
    fs_close(fd);
}

const struct test tests_spawn[] = {
    TEST(test_spawn_reports_a_failed_exec),
    TEST(test_spawn_takes_the_place_of_standard_descriptors),
    TEST(test_spawn_refuses_bad_descriptors),
    TEST(test_spawn_places_overlapping_descriptors),
    TEST(test_spawn_resets_signals),
    TEST(test_spawn_passes_the_environment),
    TEST(test_spawn_drops_to_a_user),
    TEST(test_spawn_die_with_parent_kills_the_child),
    TEST_END,
};
