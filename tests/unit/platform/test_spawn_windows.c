/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdlib.h>

#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/process.h"
#include "platform/sysinfo.h"
#include "platform/wake.h"
#include "unit/platform/spawned.h"
#include "unit/test.h"

extern const struct test tests_spawn_windows[];

/* Words that a command line can garble. */
static const char *const spawn_words[] = {"", " ", "a b", "\"", "a\"b", "\\", "a\\", "a\\\\",
    "\\\"", "a\\\\\"b c", "C:\\Program Files\\", "tab\there", "%PATH%", "plain"};

static int spawned_words(int argc, char **argv)
{
    if ((size_t)argc != 3 + ARRAY_LEN(spawn_words))
        return 1;
    for (size_t i = 0; i < ARRAY_LEN(spawn_words); i++)
        if (strcmp(argv[3 + i], spawn_words[i]) != 0)
            return 10 + (int)i;
    return 0;
}

static int spawned_sleep(void)
{
    _Atomic uint32_t word = 0;

    return wake_wait(&word, 0, 30000) ? 0 : 1;
}

int spawned_main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";

    if (strcmp(what, "words") == 0)
        return spawned_words(argc, argv);
    if (strcmp(what, "env") == 0)
        return getenv("EPHPM_ONLY") && !getenv("EPHPM_OTHER") ? 0 : 1;
    if (strcmp(what, "fd") == 0) {
        char c = 0;
        size_t got = 0;

        return fs_pread(7, &c, 1, 0, &got) == 0 && got == 1 && c == 'x' ? 0 : 1;
    }
    return strcmp(what, "sleep") == 0 ? spawned_sleep() : 99;
}

/* Fills s and argv (room for 20) for this binary and what it is to do. */
static void spawn_self(struct process_spawn *s, char **argv, const char *what)
{
    static char exe[512], flag[] = "--spawned", word[32];

    CHECK_INT(process_exe_path(exe, sizeof(exe)), 0);
    (void)snprintf(word, sizeof(word), "%s", what);
    argv[0] = exe;
    argv[1] = flag;
    argv[2] = word;
    argv[3] = NULL;
    *s = (struct process_spawn){.exe = exe, .argv = argv};
}

static void spawn_check(const struct process_spawn *s)
{
    struct process_status st = {0};
    int64_t pid = -1;

    CHECK_INT(process_spawn(s, &pid), 0);
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK_INT(st.pid, pid);
    CHECK_INT(st.end, PROCESS_EXITED);
    CHECK_INT(st.code, 0);
}

static void test_spawn_keeps_words_whole(void)
{
    struct process_spawn s;
    char *argv[20];

    spawn_self(&s, argv, "words");
    for (size_t i = 0; i < ARRAY_LEN(spawn_words); i++)
        argv[3 + i] = (char *)(uintptr_t)spawn_words[i];
    argv[3 + ARRAY_LEN(spawn_words)] = NULL;
    spawn_check(&s);
}

static void test_spawn_passes_a_descriptor(void)
{
    struct process_fd pass = {-1, 7};
    struct process_spawn s;
    int64_t pid = -1;
    char *argv[20];

    CHECK_INT(fs_open_spool(NULL, &pass.from), 0);
    CHECK_INT(fs_pwrite(pass.from, "x", 1, 0), 0);
    spawn_self(&s, argv, "fd");
    s.fds = &pass;
    s.nfds = 1;
    spawn_check(&s);
    fs_close(pass.from);
    pass = (struct process_fd){0, 2};
    CHECK_INT(process_spawn(&s, &pid), ERR_INVAL);
}

static void test_spawn_passes_the_environment(void)
{
    char only[] = "EPHPM_ONLY=1", root[128];
    char *env[] = {only, root, NULL}, *argv[20];
    struct process_spawn s;

    /* Without it the system's libraries do not load. */
    (void)snprintf(root, sizeof(root), "SystemRoot=%s",
        getenv("SystemRoot") ? getenv("SystemRoot") : "C:\\windows");
    spawn_self(&s, argv, "env");
    s.env = env;
    spawn_check(&s);
}

static void test_spawn_kills_and_reaps(void)
{
    struct process_status st = {0};
    struct process_spawn s;
    int64_t pid = -1;
    char *argv[20];
    int rc;

    CHECK_INT(process_reap(&st), ERR_NOTFOUND);
    spawn_self(&s, argv, "sleep");
    s.die_with_parent = true;
    CHECK_INT(process_spawn(&s, &pid), 0);
    CHECK_INT(process_reap(&st), ERR_AGAIN);
    CHECK(process_alive(pid));
    CHECK(sysinfo_resident(pid) > 0);
    CHECK_INT(process_kill(pid, 9), 0);
    for (uint64_t end = clock_mono_ms() + 5000; (rc = process_reap(&st)) == ERR_AGAIN;)
        if (clock_mono_ms() > end)
            break;
    CHECK_INT(rc, 0);
    CHECK_INT(st.pid, pid);
    CHECK_INT(st.end, PROCESS_SIGNALED);
    CHECK_INT(st.code, 9);
    CHECK(!process_alive(pid));
    CHECK_INT(process_wait(pid, &st), ERR_NOTFOUND);
}

static void test_spawn_reports_what_cannot_start(void)
{
    char word[] = "x", *argv[] = {word, NULL};
    struct process_spawn s = {.exe = "C:/nonexistent/x.exe", .argv = argv};
    int64_t pid = -1;

    CHECK_INT(process_spawn(&s, &pid), ERR_NOTFOUND);
    s.set_user = true;
    CHECK_INT(process_spawn(&s, &pid), ERR_UNSUPPORTED);
    CHECK_INT(pid, -1);
}

const struct test tests_spawn_windows[] = {
    TEST(test_spawn_keeps_words_whole),
    TEST(test_spawn_passes_a_descriptor),
    TEST(test_spawn_passes_the_environment),
    TEST(test_spawn_kills_and_reaps),
    TEST(test_spawn_reports_what_cannot_start),
    TEST_END,
};
