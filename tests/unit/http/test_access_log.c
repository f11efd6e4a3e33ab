/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/access_log.h"

#include "platform/fs.h"
#include "unit/platform/tmpdir.h"
#include "unit/test.h"

static struct access_log_entry sample(void)
{
    return (struct access_log_entry){
        .wall_us = 784111777123456,
        .remote = STR("192.0.2.1"),
        .user = STR("ann"),
        .method = STR("GET"),
        .target = STR("/a?b=\"c\""),
        .protocol = STR("HTTP/1.1"),
        .host = STR("example.org"),
        .site = STR("main"),
        .referer = STR("https://x/"),
        .user_agent = STR("cu\\rl\n\xc3\xa9"),
        .request_id = STR("r1"),
        .status = 200,
        .bytes = 1234,
        .duration_us = 12345,
        .php_us = 1001,
        .worker_id = 3,
    };
}

static void test_access_log_combined_escapes(void)
{
    struct access_log_entry e = sample();
    struct buf b = {0};

    access_log_add(&b, ACCESS_LOG_COMBINED, &e);
    CHECK_STR(buf_str(&b),
        "192.0.2.1 - ann [06/Nov/1994:08:49:37 +0000] \"GET /a?b=\\x22c\\x22 HTTP/1.1\" 200 1234 "
        "\"https://x/\" \"cu\\x5Crl\\x0A\\xC3\\xA9\"\n");
    buf_clear(&b);
    e = (struct access_log_entry){.status = 400, .remote = STR("::1"), .user = STR("a b\nc")};
    access_log_add(&b, ACCESS_LOG_COMBINED, &e);
    CHECK_STR(
        buf_str(&b), "::1 - a\\x20b\\x0Ac [01/Jan/1970:00:00:00 +0000] \"\" 400 0 \"-\" \"-\"\n");
    buf_fini(&b);
}

static void test_access_log_json_leaves_out_empty(void)
{
    struct access_log_entry e = sample();
    struct buf b = {0};

    access_log_add(&b, ACCESS_LOG_JSON, &e);
    CHECK(str_starts(buf_str(&b), STR("{\"time\":\"1994-11-06T08:49:37.123Z\",\"site\":\"main\"")));
    CHECK(str_find(buf_str(&b), STR("\"target\":\"/a?b=\\\"c\\\"\"")) > 0);
    CHECK(str_ends(buf_str(&b), STR("\"duration_ms\":12.345,\"php_ms\":1.001,\"worker\":3}\n")));
    CHECK(str_chr(buf_str(&b), '\n') == (ptrdiff_t)b.len - 1);
    buf_clear(&b);
    e = (struct access_log_entry){.status = 408, .worker_id = -1};
    access_log_add(&b, ACCESS_LOG_JSON, &e);
    CHECK_STR(buf_str(&b), "{\"time\":\"1970-01-01T00:00:00.000Z\",\"status\":408,\"bytes\":0,"
                           "\"duration_ms\":0.000}\n");
    buf_fini(&b);
}

static void test_access_log_format_parse(void)
{
    enum access_log_format f = ACCESS_LOG_COMBINED;

    CHECK_INT(access_log_format_parse(STR("json"), &f), 0);
    CHECK_INT(f, ACCESS_LOG_JSON);
    CHECK_INT(access_log_format_parse(STR("combined"), &f), 0);
    CHECK_INT(f, ACCESS_LOG_COMBINED);
    CHECK_INT(access_log_format_parse(STR("xml"), &f), ERR_INVAL);
}

static size_t count_lines(const char *path)
{
    struct buf b = {0};
    size_t n = 0;

    if (fs_read_file(path, 1 << 20, &b) == 0) {
        for (size_t i = 0; i < b.len; i++)
            n += b.p[i] == '\n';
    }
    buf_fini(&b);
    return n;
}

static void test_access_log_writer_buffers_and_reopens(void)
{
    struct access_log_entry e = sample();
    struct tmpdir t;
    const char *path, *old;
    struct access_log *l = NULL;

    tmpdir_init(&t);
    path = tmpdir_path(&t, "log");
    old = tmpdir_path(&t, "old");
    CHECK_INT(access_log_open(path, ACCESS_LOG_COMBINED, 300, &l), 0);
    access_log_write(l, &e);
    CHECK_INT(count_lines(path), 0);
    access_log_flush(l);
    CHECK_INT(count_lines(path), 1);
    for (int i = 0; i < 3; i++) /* the third line fills the buffer */
        access_log_write(l, &e);
    CHECK_INT(count_lines(path), 4);
    access_log_write(l, &e);
    CHECK_INT(rename(path, old), 0);
    CHECK_INT(access_log_reopen(l), 0);
    CHECK_INT(count_lines(old), 5);
    access_log_write(l, &e);
    CHECK_INT(access_log_dropped(l), 0);
    access_log_close(l);
    CHECK_INT(count_lines(path), 1);
    tmpdir_fini(&t);
    CHECK(access_log_open("/nonexistent/dir/log", ACCESS_LOG_JSON, 1, &l) == ERR_NOTFOUND);
    access_log_close(NULL);
}

static void test_access_log_counts_lines_lost_on_full_disk(void)
{
    struct access_log_entry e = sample();
    struct access_log *l = NULL;

    if (access_log_open("/dev/full", ACCESS_LOG_JSON, 1 << 16, &l))
        return; /* no such device here */
    access_log_write(l, &e);
    access_log_write(l, &e);
    access_log_flush(l);
    CHECK_INT(access_log_dropped(l), 2);
    access_log_close(l);
}

const struct test tests_access_log[] = {
    TEST(test_access_log_combined_escapes),
    TEST(test_access_log_json_leaves_out_empty),
    TEST(test_access_log_format_parse),
    TEST(test_access_log_writer_buffers_and_reopens),
    TEST(test_access_log_counts_lines_lost_on_full_disk),
    TEST_END,
};
