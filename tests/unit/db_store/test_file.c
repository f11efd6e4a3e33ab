/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fs.h"
#include "unit/db_store/fixture.h"

static void write_file(const char *path, const void *p, size_t n)
{
    CHECK_INT(fs_write_file(path, p, n, 0600), 0);
}

static int open_number(struct fixture *f)
{
    struct db_error e = {0};

    fixture_start(f);
    CHECK(db_server_open(f->server, STR("app"), &e) != 0);
    fixture_stop(f);
    return e.number;
}

static void test_file_is_made_for_its_owner_alone(void)
{
    struct fixture f;
    struct db_error e = {0};
    struct stat st;

    fixture_init(&f);
    fixture_start(&f);
    CHECK_INT(db_server_open(f.server, STR("app"), &e), 0);
    CHECK_INT(stat(f.path, &st), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    CHECK(db_server_open(f.server, STR("nope"), &e) != 0);
    CHECK_INT(e.number, 1049);
    fixture_fini(&f);
}

static void test_file_that_is_no_database_is_left_alone(void)
{
    static const char text[] = "This is a letter of more than a hundred bytes, so that it might be "
                               "taken for a header of a database; but it is none.";
    struct buf after = {0};
    struct fixture f;

    fixture_init(&f);
    write_file(f.path, text, sizeof(text) - 1);
    CHECK_INT(open_number(&f), 1016);
    CHECK_INT(fs_read_file(f.path, 4096, &after), 0);
    CHECK_STR(buf_str(&after), text);
    buf_fini(&after);
    fixture_fini(&f);
}

static void sql(const char *path, const char *text)
{
    sqlite3 *db = NULL;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_file_of_another_program_or_a_newer_version_is_refused(void)
{
    struct fixture f;

    fixture_init(&f);
    sql(f.path, "CREATE TABLE x (a); INSERT INTO x VALUES (1)");
    CHECK_INT(open_number(&f), 1016);
    fixture_fini(&f);

    fixture_init(&f);
    fixture_start(&f);
    struct db_error e = {0};
    CHECK_INT(db_server_open(f.server, STR("app"), &e), 0);
    fixture_stop(&f);
    sql(f.path, "PRAGMA user_version = 99");
    CHECK_INT(open_number(&f), 1016);
    fixture_fini(&f);
}

static void test_file_that_is_damaged_is_an_error(void)
{
    struct buf bytes = {0};
    struct fixture f;
    struct client c;

    fixture_init(&f);
    fixture_start(&f);
    client_open(&c, &f, 0);
    client_run(&c, "CREATE TABLE t (a INT)");
    client_close(&c);
    fixture_stop(&f);
    CHECK_INT(fs_read_file(f.path, 1 << 20, &bytes), 0);
    memset(bytes.p + 100, 0xFF, 500);
    write_file(f.path, bytes.p, bytes.len);
    buf_fini(&bytes);
    CHECK_INT(open_number(&f), 1194);
    fixture_fini(&f);
}

static void test_file_in_a_missing_folder_cannot_be_made(void)
{
    struct fixture f;

    fixture_init(&f);
    f.file.path = STR("/nonexistent/folder/app.db");
    CHECK_INT(open_number(&f), 1016);
    fixture_fini(&f);
}

static void test_file_is_copied_while_it_is_in_use(void)
{
    char copy[128];
    struct fixture f;
    struct client c;
    struct db_error e = {0};
    struct buf report = {0};

    fixture_init(&f);
    snprintf(copy, sizeof(copy), "%s.copy", f.path);
    fixture_start(&f);
    client_open(&c, &f, 0);
    client_run(&c, "CREATE TABLE t (a INT)");
    client_run(&c, "INSERT INTO t VALUES (1)");
    client_run(&c, "BEGIN");
    client_run(&c, "INSERT INTO t VALUES (2)");
    CHECK_INT(db_server_backup(f.server, STR("app"), copy, &e), 0);
    CHECK(db_server_backup(f.server, STR("app"), copy, &e) != 0);
    CHECK_INT(e.number, 1086);
    client_run(&c, "COMMIT");
    CHECK_INT(db_server_check(f.server, STR("app"), &report, &e), 0);
    CHECK_STR(buf_str(&report), "");
    client_close(&c);
    fixture_stop(&f);
    f.file.path = str_c(copy);
    fixture_start(&f);
    client_open(&c, &f, 0);
    CHECK_STR(str_c(client_run(&c, "SELECT a FROM t")), "a\n1");
    client_close(&c);
    buf_fini(&report);
    fixture_fini(&f);
}

static void test_file_check_finds_what_is_not_in_the_catalog(void)
{
    struct fixture f;
    struct db_error e = {0};
    struct buf report = {0};

    fixture_init(&f);
    fixture_start(&f);
    CHECK_INT(db_server_open(f.server, STR("app"), &e), 0);
    fixture_stop(&f);
    sql(f.path, "CREATE TABLE stray (a)");
    fixture_start(&f);
    CHECK_INT(db_server_check(f.server, STR("app"), &report, &e), 0);
    CHECK_STR(buf_str(&report), "catalog: table stray is not in it\n");
    buf_fini(&report);
    fixture_fini(&f);
}

static void test_file_names_must_differ(void)
{
    struct fixture f;
    struct err err = {0};
    struct db_file same_name, same_path;

    fixture_init(&f);
    fixture_start(&f);
    same_name = (struct db_file){STR("app"), STR("/tmp/other.db"), STR("app")};
    same_path = (struct db_file){STR("other"), f.file.path, STR("app")};
    CHECK(db_server_add(f.server, &same_name, &err) != 0);
    CHECK(db_server_add(f.server, &same_path, &err) != 0);
    CHECK_INT(db_server_add(f.server, &f.file, &err), 0);
    fixture_fini(&f);
}

const struct test tests_file[] = {
    TEST(test_file_is_made_for_its_owner_alone),
    TEST(test_file_that_is_no_database_is_left_alone),
    TEST(test_file_of_another_program_or_a_newer_version_is_refused),
    TEST(test_file_that_is_damaged_is_an_error),
    TEST(test_file_in_a_missing_folder_cannot_be_made),
    TEST(test_file_is_copied_while_it_is_in_use),
    TEST(test_file_check_finds_what_is_not_in_the_catalog),
    TEST(test_file_names_must_differ),
    TEST_END,
};
