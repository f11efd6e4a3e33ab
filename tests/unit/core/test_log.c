/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/log.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/buf.h"
#include "core/json.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "unit/test.h"

extern const struct test tests_log[];

/* The log goes to a spool file and is read back. */
struct capture {
    int fd;
    struct buf text;
};

static void capture_start(struct capture *c, enum log_format format, enum log_level level)
{
    *c = (struct capture){.fd = -1};
    CHECK_INT(fs_open_spool(NULL, &c->fd), 0);
    log_init("front", c->fd, format, level);
}

static void capture_end(struct capture *c)
{
    struct fs_stat st = {0};
    size_t got = 0;

    log_init("test", 2, LOG_TEXT, LOG_INFO);
    CHECK_INT(fs_fstat(c->fd, &st), 0);
    CHECK_INT(fs_pread(c->fd, buf_reserve(&c->text, st.size + 1), st.size, 0, &got), 0);
    c->text.len = got;
    fs_close(c->fd);
}

/* The next line without its time and newline. */
static struct str next_line(struct str *rest)
{
    struct str line = STR_NONE;

    if (!str_split(rest, '\n', &line))
        return STR_NONE;
    return str_sub(line, 25, line.len);
}

static void test_log_text_escapes_values(void)
{
    struct capture c;
    struct str rest;

    capture_start(&c, LOG_TEXT, LOG_INFO);
    log_warn("worker_died", F_CSTR("site", "default"), F_INT("pid", -7), F_CSTR("uri", "/a b"),
        F_STR("unset", STR_NONE), F_CSTR("empty", ""), F_BOOL("core", true), F_FLOAT("t", 1.5),
        F_UINT("n", UINT64_MAX));
    log_info("forged", F_CSTR("v", "x\n2026 alert front: fake\r\t\"\\\x1b[0m"));
    log_info("bytes", F_CSTR("v", "\xff\xc3"), F_CSTR("c1", "\xc2\x9b"), F_CSTR("ok", "\xc3\xa9"),
        F_CSTR("eq", "a=b"));
    log_error("failed", F_ERR(ERR_ACCESS));
    log_info("bare");
    capture_end(&c);
    rest = buf_str(&c.text);
    CHECK_STR(next_line(&rest),
        "warn front: worker_died site=default pid=-7 uri=\"/a b\" empty=\"\" "
        "core=true t=1.5 n=18446744073709551615");
    CHECK_STR(next_line(&rest),
        "info front: forged v=\"x\\n2026 alert front: fake\\r\\t\\\"\\\\\\x1b[0m\"");
    CHECK_STR(next_line(&rest),
        "info front: bytes v=\"\\xff\\xc3\" c1=\"\\xc2\\x9b\" ok=\xc3\xa9 eq=\"a=b\"");
    CHECK_STR(next_line(&rest), "error front: failed error=\"permission denied\"");
    CHECK_STR(next_line(&rest), "info front: bare");
    buf_fini(&c.text);
}

static void test_log_lines_start_with_time(void)
{
    struct capture c;

    capture_start(&c, LOG_TEXT, LOG_INFO);
    log_info("x");
    capture_end(&c);
    CHECK(str_glob(STR("20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9]"
                       "[0-9][0-9]Z info front: x\n"),
        buf_str(&c.text)));
    buf_fini(&c.text);
}

static void test_log_json_is_one_object(void)
{
    struct capture c;
    struct arena a = {0};
    struct json_value *v = NULL;
    struct str rest, line;
    struct err err;

    capture_start(&c, LOG_JSON, LOG_INFO);
    log_warn("event", F_CSTR("s", "a\"\n\xff"), F_INT("i", -1), F_FLOAT("inf", 1e308 * 10),
        F_BOOL("b", false), F_STR("unset", STR_NONE));
    capture_end(&c);
    rest = buf_str(&c.text);
    CHECK(str_split(&rest, '\n', &line));
    CHECK_INT(rest.len, 0);
    CHECK_INT(json_parse(&a, line, &v, &err), 0);
    CHECK_STR(json_get_str(v, "level"), "warn");
    CHECK_STR(json_get_str(v, "role"), "front");
    CHECK_STR(json_get_str(v, "event"), "event");
    CHECK_STR(json_get_str(v, "s"), "a\"\n\xef\xbf\xbd");
    CHECK_INT(json_get_int(v, "i", 0), -1);
    CHECK(json_get(v, "inf") && json_get(v, "inf")->kind == JSON_NULL);
    CHECK(json_get(v, "b") != NULL);
    CHECK(json_get(v, "unset") == NULL);
    arena_fini(&a);
    buf_fini(&c.text);
}

static void test_log_level_filters(void)
{
    struct capture c;
    struct str rest;
    enum log_level level = LOG_TRACE;

    capture_start(&c, LOG_TEXT, LOG_WARN);
    log_info("no");
    log_warn("yes");
    log_set_level(LOG_TRACE);
    log_trace("now");
    log_set_role("master");
    log_debug("role");
    capture_end(&c);
    rest = buf_str(&c.text);
    CHECK_STR(next_line(&rest), "warn front: yes");
    CHECK_STR(next_line(&rest), "trace front: now");
    CHECK_STR(next_line(&rest), "debug master: role");
    CHECK_INT(rest.len, 0);
    buf_fini(&c.text);
    CHECK_INT(log_level_parse(STR("error"), &level), 0);
    CHECK_INT(level, LOG_ERROR);
    CHECK_INT(log_level_parse(STR("Error"), &level), ERR_INVAL);
    CHECK_STR(str_c(log_level_name(LOG_ALERT)), "alert");
}

static size_t count(struct str text, const char *part)
{
    size_t n = 0;
    ptrdiff_t at;

    while ((at = str_find(text, str_c(part))) >= 0) {
        text = str_sub(text, (size_t)at + 1, text.len);
        n++;
    }
    return n;
}

static void test_log_repeats_are_limited(void)
{
    struct capture c;
    uint64_t begin = clock_mono_ms(), windows;

    capture_start(&c, LOG_TEXT, LOG_INFO);
    for (int i = 0; i < 5000; i++) {
        log_warn("burst", F_INT("i", i));
        log_alert("never_limited");
    }
    log_warn("another");
    log_error("burst");
    windows = (clock_mono_ms() - begin) / 1000 + 2;
    capture_end(&c);
    CHECK(count(buf_str(&c.text), "warn front: burst") >= 50);
    CHECK(count(buf_str(&c.text), "warn front: burst") <= MIN(50 * windows, 4999));
    CHECK_INT(count(buf_str(&c.text), "never_limited"), 5000);
    CHECK_INT(count(buf_str(&c.text), "another"), 1);
    CHECK_INT(count(buf_str(&c.text), "error front: burst"), 1);
    buf_fini(&c.text);
}

static void test_log_repeats_are_counted_later(void)
{
    struct capture c;
    struct timespec wait = {.tv_sec = 1, .tv_nsec = 50000000};

    uint64_t begin;

    capture_start(&c, LOG_TEXT, LOG_INFO);
    begin = clock_mono_ms();
    for (int i = 0; i < 60; i++)
        log_warn("burst");
    if (clock_mono_ms() - begin >= 900) { /* the machine stood still, and a second was over */
        capture_end(&c);
        buf_fini(&c.text);
        return;
    }
    nanosleep(&wait, NULL);
    log_info("other");
    capture_end(&c);
    CHECK_INT(count(buf_str(&c.text), "burst\n"), 50);
    CHECK_INT(count(buf_str(&c.text), "warn front: burst repeated=10\n"), 1);
    buf_fini(&c.text);
}

static void test_log_long_values_are_cut(void)
{
    static char big[100000];
    struct capture c;
    struct str rest, line;

    memset(big, 'x', sizeof(big) - 1);
    capture_start(&c, LOG_TEXT, LOG_INFO);
    log_info("long", F_CSTR("a", big), F_CSTR("b", big), F_CSTR("c", big), F_INT("d", 1));
    capture_end(&c);
    rest = buf_str(&c.text);
    CHECK(str_split(&rest, '\n', &line));
    CHECK_INT(rest.len, 0);
    CHECK(line.len < 4096);
    CHECK(str_ends(line, STR(" d=1 cut=true")));
    buf_fini(&c.text);
}

static void *emit_many(void *arg)
{
    for (int i = 0; i < 500; i++)
        log_alert("thread", F_CSTR("v", "0123456789012345678901234567890123456789"));
    return arg;
}

static void test_log_threads_do_not_mix_lines(void)
{
    struct capture c;
    pthread_t threads[4];
    struct str rest, line;
    size_t n = 0;

    capture_start(&c, LOG_TEXT, LOG_INFO);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        CHECK_INT(pthread_create(&threads[i], NULL, emit_many, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
    capture_end(&c);
    rest = buf_str(&c.text);
    while (str_split(&rest, '\n', &line) && line.len) {
        CHECK_STR(str_sub(line, 25, line.len),
            "alert front: thread v=0123456789012345678901234567890123456789");
        n++;
    }
    CHECK_INT(n, 2000);
    buf_fini(&c.text);
}

const struct test tests_log[] = {
    TEST(test_log_text_escapes_values),
    TEST(test_log_lines_start_with_time),
    TEST(test_log_json_is_one_object),
    TEST(test_log_level_filters),
    TEST(test_log_repeats_are_limited),
    TEST(test_log_repeats_are_counted_later),
    TEST(test_log_long_values_are_cut),
    TEST(test_log_threads_do_not_mix_lines),
    TEST_END,
};
