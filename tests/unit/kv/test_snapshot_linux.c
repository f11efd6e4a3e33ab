/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Saving when the disk is full, the folder is not ours, or the process is killed. */
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "kv/snapshot.h"
#include "unit/kv/bed.h"
#include "unit/platform/tmpdir.h"

static unsigned count_files(const char *dir)
{
    struct fs_dir *d;
    struct str name;
    unsigned n = 0;

    CHECK_INT(fs_dir_open(dir, &d), 0);
    while (fs_dir_next(d, &name) == 0)
        n++;
    fs_dir_close(d);
    return n;
}

static void check_old_one(struct bed *b, const char *path)
{
    struct kv_snapshot_loaded loaded;
    struct err err = {0};

    kv_store_flush(b->s);
    CHECK_INT(kv_snapshot_load(b->s, path, &loaded, &err), 0);
    CHECK_INT(loaded.keys, 1);
    CHECK_STR(bed_get(b, "a"), "old");
}

static void set_many(struct bed *b)
{
    char bytes[1000], name[24];
    struct kv_value v = {.type = KV_STRING, .bytes = {bytes, sizeof(bytes)}};

    memset(bytes, 'x', sizeof(bytes));
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(name, sizeof(name), "%d", i);
        CHECK_INT(kv_store_set(b->s, str_c(name), &v, 0, 0), 0);
    }
}

static void test_snapshot_on_a_full_disk(void)
{
    struct err err = {0};
    struct bed b;
    struct tmpdir t;

    tmpdir_init(&t);
    if (mount("none", t.path, "tmpfs", 0, "size=1m") != 0) {
        printf("    skipped: mounting a file system needs root\n");
        tmpdir_fini(&t);
        return;
    }
    bed_open(&b, MB(16), KV_NOEVICTION);
    CHECK_INT(bed_set(&b, "a", "old"), 0);
    CHECK_INT(kv_snapshot_save(b.s, tmpdir_path(&t, "s"), NULL, &err), 0);
    set_many(&b);
    CHECK_INT(kv_snapshot_save(b.s, tmpdir_path(&t, "s"), NULL, &err), ERR_NOSPACE);
    CHECK(strstr(err.text, tmpdir_path(&t, "s")) && strstr(err.text, "no space left"));
    CHECK_INT(count_files(t.path), 1);
    check_old_one(&b, tmpdir_path(&t, "s"));
    bed_close(&b);
    CHECK_INT(umount(t.path), 0);
    tmpdir_fini(&t);
}

static void test_snapshot_into_a_folder_of_another_user(void)
{
    struct err err = {0};
    struct bed b;
    struct tmpdir t;

    if (geteuid() != 0) {
        printf("    skipped: changing the user needs root\n");
        return;
    }
    tmpdir_init(&t);
    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(bed_set(&b, "a", "old"), 0);
    CHECK_INT(kv_snapshot_save(b.s, tmpdir_path(&t, "s"), NULL, &err), 0);
    CHECK_INT(seteuid(65534), 0);
    CHECK_INT(kv_snapshot_save(b.s, tmpdir_path(&t, "s"), NULL, &err), ERR_ACCESS);
    CHECK(strstr(err.text, tmpdir_path(&t, "s")) && strstr(err.text, "permission denied"));
    CHECK_INT(seteuid(0), 0);
    check_old_one(&b, tmpdir_path(&t, "s"));
    bed_close(&b);
    tmpdir_fini(&t);
}

static void test_snapshot_is_for_its_owner_alone(void)
{
    struct err err = {0};
    struct stat st;
    struct bed b;
    struct tmpdir t;
    mode_t mask = umask(0);

    tmpdir_init(&t);
    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_snapshot_save(b.s, tmpdir_path(&t, "s"), NULL, &err), 0);
    CHECK_INT(stat(tmpdir_path(&t, "s"), &st), 0);
    CHECK_INT(st.st_mode & 07777, 0600);
    bed_close(&b);
    tmpdir_fini(&t);
    (void)umask(mask);
}

/* The child says when it is in the middle, and waits for its end. */
static void save_half(struct bed *b, const char *path, int fd)
{
    struct kv_snapshot *n;

    if (kv_snapshot_begin(b->s, path, &n, NULL) != 0 || kv_snapshot_step(n, 500, NULL) != ERR_AGAIN)
        _exit(1);
    (void)!write(fd, "x", 1);
    for (;;)
        pause();
}

static void test_snapshot_killed_leaves_the_old_one(void)
{
    struct err err = {0};
    struct bed b;
    struct tmpdir t;
    int pipes[2];
    pid_t pid;
    char c;

    tmpdir_init(&t);
    bed_open(&b, MB(16), KV_NOEVICTION);
    CHECK_INT(bed_set(&b, "a", "old"), 0);
    CHECK_INT(kv_snapshot_save(b.s, tmpdir_path(&t, "s"), NULL, &err), 0);
    set_many(&b);
    CHECK_INT(pipe(pipes), 0);
    pid = fork();
    if (pid == 0)
        save_half(&b, tmpdir_path(&t, "s"), pipes[1]);
    CHECK_INT(close(pipes[1]), 0);
    CHECK_INT(read(pipes[0], &c, 1), 1);
    CHECK_INT(kill(pid, SIGKILL), 0);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
    CHECK_INT(close(pipes[0]), 0);
    CHECK_INT(count_files(t.path), 2);
    check_old_one(&b, tmpdir_path(&t, "s"));
    CHECK_INT(kv_snapshot_save(b.s, tmpdir_path(&t, "s"), NULL, &err), 0);
    CHECK_INT(count_files(t.path), 1);
    bed_close(&b);
    tmpdir_fini(&t);
}

const struct test tests_snapshot_linux[] = {TEST(test_snapshot_on_a_full_disk),
    TEST(test_snapshot_into_a_folder_of_another_user), TEST(test_snapshot_is_for_its_owner_alone),
    TEST(test_snapshot_killed_leaves_the_old_one), TEST_END};
