/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fs.h"
#include "platform/process.h"
#include "unit/platform/tmpdir.h"
#include "unit/test.h"

extern const struct test tests_fs_linux[];

static void test_fs_links_are_told_apart(void)
{
    struct tmpdir t;
    struct fs_stat st, target;
    char out[512];

    tmpdir_init(&t);
    tmpdir_write(&t, "f", "x");
    CHECK_INT(symlink("f", tmpdir_path(&t, "l")), 0);
    CHECK_INT(symlink("loop", tmpdir_path(&t, "loop")), 0);
    CHECK_INT(fs_lstat(tmpdir_path(&t, "l"), &st), 0);
    CHECK_INT(st.kind, FS_LINK);
    CHECK_INT(fs_stat(tmpdir_path(&t, "l"), &st), 0);
    CHECK_INT(fs_stat(tmpdir_path(&t, "f"), &target), 0);
    CHECK_INT(st.kind, FS_FILE);
    CHECK(st.ino == target.ino && st.dev == target.dev);
    CHECK_INT(st.mode, 0600);
    CHECK_INT(st.uid, geteuid());
    CHECK_INT(fs_readlink(tmpdir_path(&t, "l"), out, sizeof(out)), 0);
    CHECK_STR(str_c(out), "f");
    CHECK_INT(fs_readlink(tmpdir_path(&t, "l"), out, 1), ERR_TOOBIG);
    CHECK_INT(fs_stat(tmpdir_path(&t, "loop"), &st), ERR_LOOP);
    CHECK_INT(fs_stat(tmpdir_path(&t, "f/x"), &st), ERR_NOTDIR);
    CHECK_INT(fs_realpath(tmpdir_path(&t, "l"), out, sizeof(out)), 0);
    CHECK(str_ends(str_c(out), STR("/f")));
    tmpdir_fini(&t);
}

static void test_fs_open_read_of_a_fifo_does_not_block(void)
{
    struct tmpdir t;
    struct fs_stat st;
    int fd = -1;

    tmpdir_init(&t);
    CHECK_INT(mkfifo(tmpdir_path(&t, "fifo"), 0600), 0);
    CHECK_INT(fs_open_read(tmpdir_path(&t, "fifo"), &fd), 0);
    CHECK_INT(fs_fstat(fd, &st), 0);
    CHECK_INT(st.kind, FS_OTHER);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    fs_close(fd);
    tmpdir_fini(&t);
}

/* Somebody else may own the folder: nothing is written to a file of another's choice. */
static void test_fs_lock_is_a_file_of_its_own(void)
{
    struct tmpdir t;
    struct buf b = {0};
    uint64_t holder = 0;
    int fd = -1;

    tmpdir_init(&t);
    tmpdir_write(&t, "f", "x");
    CHECK_INT(symlink("f", tmpdir_path(&t, "soft")), 0);
    CHECK_INT(link(tmpdir_path(&t, "f"), tmpdir_path(&t, "hard")), 0);
    CHECK_INT(mkfifo(tmpdir_path(&t, "fifo"), 0600), 0);
    CHECK_INT(fs_lock(tmpdir_path(&t, "soft"), 1, &fd, &holder), ERR_LOOP);
    CHECK_INT(fs_lock(tmpdir_path(&t, "hard"), 1, &fd, &holder), ERR_INVAL);
    CHECK_INT(fs_lock(tmpdir_path(&t, "fifo"), 1, &fd, &holder), ERR_INVAL);
    CHECK_INT(fd, -1);
    CHECK_INT(fs_read_file(tmpdir_path(&t, "f"), 100, &b), 0);
    CHECK_STR(buf_str(&b), "x");
    buf_fini(&b);
    tmpdir_fini(&t);
}

static void test_fs_lock_ends_with_its_holder(void)
{
    struct tmpdir t;
    struct process_status st;
    uint64_t holder = 0;
    int fd = -1, ready[2];
    char c;
    pid_t pid;

    tmpdir_init(&t);
    CHECK_INT(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        if (fs_lock(tmpdir_path(&t, "lock"), 42, &fd, &holder) == 0 && write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    CHECK_INT(read(ready[0], &c, 1), 1);
    CHECK_INT(fs_lock(tmpdir_path(&t, "lock"), 43, &fd, &holder), ERR_BUSY);
    CHECK_INT(holder, 42);
    CHECK_INT(process_kill(pid, 9), 0);
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK_INT(fs_lock(tmpdir_path(&t, "lock"), 43, &fd, &holder), 0);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    fs_close(fd);
    fs_close(ready[0]);
    fs_close(ready[1]);
    tmpdir_fini(&t);
}

static void test_fs_full_pipe_says_again(void)
{
    static char line[1000];
    int p[2], rc = 0, n = 0;

    CHECK_INT(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
    CHECK(fs_write_ready(p[1]));
    while (rc == 0 && n++ < 1000)
        rc = fs_write(p[1], line, sizeof(line));
    CHECK_INT(rc, ERR_AGAIN);
    CHECK(!fs_write_ready(p[1]));
    close(p[0]);
    CHECK_INT(fs_write(p[1], line, 1), ERR_CLOSED); /* main() ignores SIGPIPE */
    close(p[1]);
}

static void test_fs_no_permission_is_access(void)
{
    struct tmpdir t;
    struct process_status st;
    int64_t pid;

    tmpdir_init(&t);
    tmpdir_write(&t, "f", "x");
    CHECK_INT(process_fork(&pid), 0);
    if (pid == 0) {
        int fd = -1, bad = 0;

        /* root may read everything: become nobody */
        if (process_is_root()) {
            if (setgid(65534) < 0 || setuid(65534) < 0)
                process_exit_now(99);
        } else if (chmod(tmpdir_path(&t, "f"), 0) < 0) {
            process_exit_now(98);
        }
        bad += fs_open_read(tmpdir_path(&t, "f"), &fd) != ERR_ACCESS;
        bad += fs_readable(tmpdir_path(&t, "f")) != ERR_ACCESS;
        bad += fs_writable(tmpdir_path(&t, "f")) != ERR_ACCESS;
        process_exit_now(bad);
    }
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK_INT(st.end, PROCESS_EXITED);
    CHECK_INT(st.code, 0);
    tmpdir_fini(&t);
}

static void test_fs_full_disk_is_nospace(void)
{
    static char chunk[65536];
    struct tmpdir t;
    struct buf b = {0};
    int fd = -1, rc = 0;

    tmpdir_init(&t);
    CHECK_INT(fs_mkdir(tmpdir_path(&t, "small"), 0700), 0);
    if (mount("tmpfs", tmpdir_path(&t, "small"), "tmpfs", 0, "size=256k") < 0) {
        printf("    skipped test_fs_full_disk_is_nospace: mount: %s\n", strerror(errno));
        tmpdir_fini(&t);
        return;
    }
    tmpdir_write(&t, "small/keep", "old");
    CHECK_INT(fs_open_spool(tmpdir_path(&t, "small"), &fd), 0);
    for (uint64_t off = 0; rc == 0 && off < (1 << 20); off += sizeof(chunk))
        rc = fs_pwrite(fd, chunk, sizeof(chunk), off);
    CHECK_INT(rc, ERR_NOSPACE);
    /* A failed replacement leaves the old file, and no temporary one. */
    CHECK_INT(
        fs_write_file(tmpdir_path(&t, "small/keep"), chunk, sizeof(chunk), 0600), ERR_NOSPACE);
    CHECK_INT(fs_read_file(tmpdir_path(&t, "small/keep"), 100, &b), 0);
    CHECK_STR(buf_str(&b), "old");
    buf_fini(&b);
    fs_close(fd);
    CHECK_INT(fs_unlink(tmpdir_path(&t, "small/keep")), 0);
    CHECK_INT(umount(tmpdir_path(&t, "small")), 0);
    tmpdir_fini(&t);
}

/* Without O_TMPFILE (here: /proc does not know it and takes no files at all) the code is an error,
 * not a crash. */
static void test_fs_spool_where_no_file_can_be_made(void)
{
    int fd = -1;

    CHECK(fs_open_spool("/proc", &fd) < 0);
    CHECK_INT(fd, -1);
}

/* A non-blocking pipe of one page: the child reads what its parent writes past that. */
static void test_fs_some_waits_where_write_would_not(void)
{
    static char block[200000], back[4096];
    struct process_status st = {0};
    size_t total = 0, part;
    int64_t pid = 0;
    int fds[2];

    CHECK_INT(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
    CHECK(fcntl(fds[0], F_SETPIPE_SZ, 4096) >= 4096);
    CHECK_INT(process_fork(&pid), 0);
    if (pid == 0) {
        fs_close(fds[1]);
        while (fs_read_some(fds[0], back, sizeof(back), &part) == 0 && part > 0)
            total += part;
        process_exit_now(total == sizeof(block) ? 0 : 1);
    }
    fs_close(fds[0]);
    while (total < sizeof(block)) {
        CHECK_INT(fs_write_some(fds[1], block + total, sizeof(block) - total, &part), 0);
        CHECK(part > 0);
        total += part;
    }
    fs_close(fds[1]);
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK_INT(st.code, 0);
    CHECK_INT(fs_read_some(-1, back, 1, &part), ERR_INVAL);
    CHECK_INT(fs_write_some(-1, back, 1, &part), ERR_INVAL);
}

const struct test tests_fs_linux[] = {
    TEST(test_fs_some_waits_where_write_would_not),
    TEST(test_fs_links_are_told_apart),
    TEST(test_fs_open_read_of_a_fifo_does_not_block),
    TEST(test_fs_lock_is_a_file_of_its_own),
    TEST(test_fs_lock_ends_with_its_holder),
    TEST(test_fs_full_pipe_says_again),
    TEST(test_fs_no_permission_is_access),
    TEST(test_fs_full_disk_is_nospace),
    TEST(test_fs_spool_where_no_file_can_be_made),
    TEST_END,
};
