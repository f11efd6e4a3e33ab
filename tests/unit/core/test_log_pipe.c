/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* The log on a pipe, where there are pipes and poll(). */
#include <poll.h>
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

const struct test tests_log_pipe[] = {
    TEST(test_log_full_pipe_drops_and_counts),
    TEST_END,
};
