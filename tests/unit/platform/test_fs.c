/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/fs.h"

#include "platform/clock.h"
#include "unit/platform/tmpdir.h"
#include "unit/test.h"

extern const struct test tests_fs[];

static void test_fs_write_file_replaces(void)
{
    struct tmpdir t;
    struct buf b = {0};
    struct fs_stat st;
    const char *p;

    tmpdir_init(&t);
    p = tmpdir_path(&t, "f");
    CHECK_INT(fs_write_file(p, "one", 3, 0600), 0);
    CHECK_INT(fs_write_file(p, "second", 6, 0644), 0);
    buf_add_lit(&b, "<");
    CHECK_INT(fs_read_file(p, 6, &b), 0);
    CHECK_STR(buf_str(&b), "<second");
    CHECK_INT(fs_read_file(p, 5, &b), ERR_TOOBIG);
    CHECK_STR(buf_str(&b), "<second");
    CHECK_INT(fs_stat(p, &st), 0);
    CHECK_INT(st.kind, FS_FILE);
    CHECK_INT(st.size, 6);
    CHECK(st.mtime_ns / 1000 > (int64_t)clock_wall_us() - 600 * 1000000ll);
    CHECK(st.mtime_ns / 1000 < (int64_t)clock_wall_us() + 600 * 1000000ll);
    CHECK_INT(fs_write_file(tmpdir_path(&t, "none/f"), "x", 1, 0600), ERR_NOTFOUND);
    buf_fini(&b);
    tmpdir_fini(&t); /* and no temporary file is left: it could not be removed */
}

/* Readers of the old file keep it, whoever opens the name then gets the new one. */
static void test_fs_write_file_replaces_an_open_one(void)
{
    struct tmpdir t;
    struct buf b = {0};
    char in[8];
    size_t got = 0;
    int fd = -1;

    tmpdir_init(&t);
    tmpdir_write(&t, "f", "old");
    CHECK_INT(fs_open_read(tmpdir_path(&t, "f"), &fd), 0);
    CHECK_INT(fs_write_file(tmpdir_path(&t, "f"), "newer", 5, 0600), 0);
    CHECK_INT(fs_pread(fd, in, sizeof(in), 0, &got), 0);
    CHECK_STR(str_n(in, got), "old");
    fs_close(fd);
    CHECK_INT(fs_read_file(tmpdir_path(&t, "f"), 100, &b), 0);
    CHECK_STR(buf_str(&b), "newer");
    buf_fini(&b);
    tmpdir_fini(&t);
}

static void test_fs_errors_have_their_code(void)
{
    struct tmpdir t;
    struct fs_stat st;
    struct buf b = {0};
    struct fs_dir *d = NULL;
    char out[300];
    int fd = -1;

    tmpdir_init(&t);
    tmpdir_write(&t, "dir/f", "x");
    CHECK_INT(fs_stat(tmpdir_path(&t, "no"), &st), ERR_NOTFOUND);
    CHECK_INT(fs_stat(tmpdir_path(&t, "no/f"), &st), ERR_NOTFOUND);
    CHECK_INT(fs_stat(tmpdir_path(&t, "dir/f/x"), &st), ERR_NOTDIR);
    CHECK_INT(fs_stat(tmpdir_path(&t, "dir/f/x/y"), &st), ERR_NOTDIR);
    CHECK_INT(fs_open_read(tmpdir_path(&t, "no"), &fd), ERR_NOTFOUND);
    CHECK_INT(fd, -1);
    CHECK_INT(fs_read_file(tmpdir_path(&t, "dir"), 100, &b), ERR_ISDIR);
    CHECK_INT(fs_mkdir(tmpdir_path(&t, "dir"), 0700), ERR_EXISTS);
    CHECK_INT(fs_rmdir(tmpdir_path(&t, "dir")), ERR_EXISTS);
    CHECK_INT(fs_unlink(tmpdir_path(&t, "no")), ERR_NOTFOUND);
    CHECK_INT(fs_dir_open(tmpdir_path(&t, "no"), &d), ERR_NOTFOUND);
    CHECK_INT(fs_dir_open(tmpdir_path(&t, "dir/f"), &d), ERR_NOTDIR);
    CHECK_INT(fs_readlink(tmpdir_path(&t, "dir/f"), out, sizeof(out)), ERR_INVAL);
    CHECK_INT(fs_realpath(tmpdir_path(&t, "no"), out, sizeof(out)), ERR_NOTFOUND);
    CHECK_INT(fs_realpath(tmpdir_path(&t, "dir"), out, 4), ERR_TOOBIG);
    CHECK_INT(fs_getcwd(out, 2), ERR_TOOBIG);
    CHECK_INT(fs_readable(tmpdir_path(&t, "no")), ERR_NOTFOUND);
    CHECK_INT(fs_readable(tmpdir_path(&t, "dir")), 0);
    CHECK_INT(fs_readable(tmpdir_path(&t, "dir/f")), 0);
    CHECK_INT(fs_writable(tmpdir_path(&t, "dir/f")), 0);
    CHECK_INT(fs_writable(tmpdir_path(&t, "no")), ERR_NOTFOUND);
    buf_fini(&b);
    tmpdir_fini(&t);
}

static void test_fs_realpath_is_canonical(void)
{
    struct tmpdir t;
    char a[512], b[512];

    tmpdir_init(&t);
    tmpdir_write(&t, "x/y/f", "x");
    CHECK_INT(fs_realpath(tmpdir_path(&t, "x/y/f"), a, sizeof(a)), 0);
    CHECK_INT(fs_realpath(tmpdir_path(&t, "x/./y/..//y/f"), b, sizeof(b)), 0);
    CHECK_STR(str_c(a), b);
    CHECK(str_ends(str_c(a), STR("/x/y/f")));
    CHECK(strchr(a, '\\') == NULL);
    CHECK_INT(fs_getcwd(a, sizeof(a)), 0);
    CHECK_INT(fs_realpath(".", b, sizeof(b)), 0);
    CHECK_STR(str_c(a), b);
    tmpdir_fini(&t);
}

static void test_fs_lock_has_one_holder(void)
{
    struct tmpdir t;
    struct buf b = {0};
    uint64_t holder = 7;
    int one = -1, two = -1;

    tmpdir_init(&t);
    CHECK_INT(fs_lock(tmpdir_path(&t, "lock"), 123456, &one, &holder), 0);
    CHECK(one >= 0);
    CHECK_INT(holder, 7);
    CHECK_INT(fs_lock(tmpdir_path(&t, "lock"), 99, &two, &holder), ERR_BUSY);
    CHECK_INT(two, -1);
    CHECK_INT(holder, 123456);
    fs_close(one);
    /* A number that is shorter leaves nothing of the one before. */
    CHECK_INT(fs_lock(tmpdir_path(&t, "lock"), 99, &two, &holder), 0);
    CHECK_INT(fs_lock(tmpdir_path(&t, "lock"), 1, &one, &holder), ERR_BUSY);
    CHECK_INT(holder, 99);
    fs_close(two);
    CHECK_INT(fs_read_file(tmpdir_path(&t, "lock"), 100, &b), 0);
    CHECK_STR(str_trim(buf_str(&b)), "99");
    CHECK_INT(fs_lock(tmpdir_path(&t, "no/lock"), 1, &one, &holder), ERR_NOTFOUND);
    buf_fini(&b);
    tmpdir_fini(&t);
}

static void test_fs_append_adds_at_the_end(void)
{
    struct tmpdir t;
    struct buf b = {0};
    int one = -1, two = -1;

    tmpdir_init(&t);
    CHECK_INT(fs_open_append(tmpdir_path(&t, "log"), 0600, &one), 0);
    CHECK_INT(fs_open_append(tmpdir_path(&t, "log"), 0600, &two), 0);
    CHECK(fs_write_ready(one));
    CHECK_INT(fs_write(one, "a\n", 2), 0);
    CHECK_INT(fs_write(two, "b\n", 2), 0);
    CHECK_INT(fs_write(one, "c\n", 2), 0);
    CHECK_INT(fs_write(one, "", 0), 0);
    fs_close(one);
    fs_close(two);
    fs_close(-1);
    CHECK_INT(fs_read_file(tmpdir_path(&t, "log"), 100, &b), 0);
    CHECK_STR(buf_str(&b), "a\nb\nc\n");
    buf_fini(&b);
    tmpdir_fini(&t);
}

static void test_fs_spool_has_no_name(void)
{
    struct tmpdir t;
    struct fs_dir *d = NULL;
    struct fs_stat st;
    struct str name;
    char out[16] = "";
    size_t got = 99;
    int fd = -1;

    tmpdir_init(&t);
    CHECK_INT(fs_open_spool(t.path, &fd), 0);
    CHECK_INT(fs_pwrite(fd, "world", 5, 6), 0);
    CHECK_INT(fs_pwrite(fd, "hello ", 6, 0), 0);
    CHECK_INT(fs_pread(fd, out, sizeof(out), 0, &got), 0);
    CHECK_STR(str_n(out, got), "hello world");
    CHECK_INT(fs_pread(fd, out, 3, 8, &got), 0);
    CHECK_STR(str_n(out, got), "rld");
    CHECK_INT(fs_pread(fd, out, 3, 11, &got), 0);
    CHECK_INT(got, 0);
    CHECK_INT(fs_fstat(fd, &st), 0);
    CHECK_INT(st.size, 11);
    fs_close(fd);
    CHECK_INT(fs_dir_open(t.path, &d), 0);
    CHECK_INT(fs_dir_next(d, &name), ERR_EOF);
    fs_dir_close(d);
    fd = -1;
    CHECK_INT(fs_open_spool(NULL, &fd), 0);
    CHECK_INT(fs_pwrite(fd, "x", 1, 100000), 0);
    fs_close(fd);
    CHECK_INT(fs_open_spool(tmpdir_path(&t, "no"), &fd), ERR_NOTFOUND);
    tmpdir_fini(&t);
}

static void test_fs_dir_lists_each_name_once(void)
{
    static const char *const names[] = {"a", "b.txt", "\xc3\xa4\xe2\x82\xac", "with space", ".dot"};
    struct tmpdir t;
    struct fs_dir *d = NULL;
    struct str name;
    unsigned seen = 0, count = 0;

    tmpdir_init(&t);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        tmpdir_write(&t, names[i], "x");
    CHECK_INT(fs_dir_open(t.path, &d), 0);
    while (fs_dir_next(d, &name) == 0) {
        count++;
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            if (str_eq(name, str_c(names[i])))
                seen |= 1u << i;
    }
    fs_dir_close(d);
    fs_dir_close(NULL);
    CHECK_INT(count, ARRAY_LEN(names));
    CHECK_INT(seen, (1u << ARRAY_LEN(names)) - 1);
    tmpdir_fini(&t);
}

const struct test tests_fs[] = {
    TEST(test_fs_write_file_replaces),
    TEST(test_fs_write_file_replaces_an_open_one),
    TEST(test_fs_errors_have_their_code),
    TEST(test_fs_realpath_is_canonical),
    TEST(test_fs_lock_has_one_holder),
    TEST(test_fs_append_adds_at_the_end),
    TEST(test_fs_spool_has_no_name),
    TEST(test_fs_dir_lists_each_name_once),
    TEST_END,
};
