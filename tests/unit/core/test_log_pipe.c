/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* The log on a pipe, where there are pipes and poll(). */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "core/log.h"
#include "unit/test.h"

extern const struct test tests_log_pipe[];

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

/* Reads a pipe until it is empty. */
static void drain(int fd, struct buf *out)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    while (poll(&p, 1, 0) == 1) {
        ssize_t n = read(fd, buf_reserve(out, 65536), 65536);

        if (n <= 0)
            return;
        out->len += (size_t)n;
    }
}

static void test_log_full_pipe_drops_and_counts(void)
{
    struct buf text = {0};
    int ends[2];

    CHECK_INT(pipe(ends), 0);
    log_init("front", ends[1], LOG_TEXT, LOG_INFO);
    /* A blocked writer would hang here: nobody reads. */
    for (int i = 0; i < 3000; i++)
        log_alert("filler", F_CSTR("v", "0123456789012345678901234567890123456789"));
    drain(ends[0], &text);
    CHECK(count(buf_str(&text), "filler") > 100);
    CHECK(count(buf_str(&text), "filler") < 3000);
    CHECK_INT(count(buf_str(&text), "dropped_lines"), 0);
    buf_clear(&text);
    log_info("after");
    log_info("later");
    drain(ends[0], &text);
    CHECK_INT(count(buf_str(&text), "after dropped_lines="), 1);
    CHECK_INT(count(buf_str(&text), "dropped_lines"), 1);
    log_init("test", 2, LOG_TEXT, LOG_INFO);
    CHECK_INT(close(ends[0]), 0);
    CHECK_INT(close(ends[1]), 0);
    buf_fini(&text);
}

/* systemd gives its stream as standard error and its identity in $JOURNAL_STREAM. */
static void test_log_journal_lines_have_priorities(void)
{
    struct buf text = {0};
    struct stat st;
    char id[64];
    int ends[2], kept = dup(2);

    CHECK_INT(pipe(ends), 0);
    CHECK_INT(fstat(ends[1], &st), 0);
    (void)snprintf(
        id, sizeof(id), "%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
    CHECK_INT(setenv("JOURNAL_STREAM", id, 1), 0);
    CHECK_INT(dup2(ends[1], 2), 2);
    log_init("master", 2, LOG_TEXT, LOG_TRACE);
    log_alert("a");
    log_error("e");
    log_warn("w");
    log_info("i");
    log_debug("d");
    CHECK_INT(setenv("JOURNAL_STREAM", "1:1", 1), 0);
    log_init("master", 2, LOG_TEXT, LOG_INFO);
    log_info("plain");
    CHECK_INT(dup2(kept, 2), 2);
    CHECK_INT(unsetenv("JOURNAL_STREAM"), 0);
    log_init("test", 2, LOG_TEXT, LOG_INFO);
    drain(ends[0], &text);
    CHECK(str_glob(
        STR("<1>2*: a\n<3>2*: e\n<4>2*: w\n<6>2*: i\n<7>2*: d\n2*: plain\n"), buf_str(&text)));
    CHECK_INT(close(kept) + close(ends[0]) + close(ends[1]), 0);
    buf_fini(&text);
}

const struct test tests_log_pipe[] = {
    TEST(test_log_journal_lines_have_priorities),
    TEST(test_log_full_pipe_drops_and_counts),
    TEST_END,
};
