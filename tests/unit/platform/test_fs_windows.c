/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/fs.h"
#include "unit/platform/tmpdir.h"
#include "unit/test.h"

extern const struct test tests_fs_windows[];

/* Second names of files and devices never reach the system. */
static void test_fs_special_names_are_not_found(void)
{
    static const char *const names[] = {"NUL", "nul", "nul.txt", "NUL .txt", "con", "CON.php",
        "aux", "prn.html", "com1", "COM9.txt", "lpt1", "com\xc2\xb9", "conin$", "CONOUT$", "clock$",
        "x.php.", "x.php..", "x.php ", "x.php. .", "x.php::$DATA", "x.php:stream", ":x", "a\\x.php",
        "..\\x.php", "x?", "x*", "x<", "x|y", "x\"", "\x01", "x\xff", "nul/x", "dir/con", "C:x",
        "dir./x"};
    struct tmpdir t;

    tmpdir_init(&t);
    tmpdir_write(&t, "x.php", "source");
    tmpdir_write(&t, "dir/x", "source");
    tmpdir_write(&t, "a/x.php", "source");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *p = tmpdir_path(&t, names[i]);
        struct fs_stat st;
        char out[512];
        int fd = -1;

        test_row(names[i]);
        CHECK_INT(fs_stat(p, &st), ERR_NOTFOUND);
        CHECK_INT(fs_open_read(p, &fd), ERR_NOTFOUND);
        CHECK_INT(fs_open_append(p, 0600, &fd), ERR_NOTFOUND);
        CHECK_INT(fs_readable(p), ERR_NOTFOUND);
        CHECK_INT(fs_realpath(p, out, sizeof(out)), ERR_NOTFOUND);
        CHECK_INT(fs_mkdir(p, 0700), ERR_NOTFOUND);
        CHECK_INT(fs_unlink(p), ERR_NOTFOUND);
        CHECK_INT(fd, -1);
    }
    tmpdir_fini(&t);
}

static void test_fs_ordinary_names_work(void)
{
    static const char *const names[] = {"null", "console", "com", "com10", "lpt", "auxiliary.php",
        ".dot", "a.b.c", "a b", "x~1", "co", "con-x", "\xe2\x82\xac.txt", "com\xc2\xb4"};
    struct tmpdir t;

    tmpdir_init(&t);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct fs_stat st;

        test_row(names[i]);
        tmpdir_write(&t, names[i], "x");
        CHECK_INT(fs_stat(tmpdir_path(&t, names[i]), &st), 0);
        CHECK_INT(st.kind, FS_FILE);
    }
    tmpdir_fini(&t);
}

static void test_fs_device_paths_are_not_found(void)
{
    static const char *const paths[] = {"", "//./C:/", "//?/C:/", "//server/share/x", "C:", "C:x",
        "CC:/", "1:/", "./C:/x", "NUL", "C:/NUL"};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct fs_stat st;

        test_row(paths[i]);
        CHECK_INT(fs_stat(paths[i], &st), ERR_NOTFOUND);
    }
}

const struct test tests_fs_windows[] = {
    TEST(test_fs_special_names_are_not_found),
    TEST(test_fs_ordinary_names_work),
    TEST(test_fs_device_paths_are_not_found),
    TEST_END,
};
