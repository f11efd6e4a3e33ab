/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "platform/fs.h"
#include "platform/process.h"
#include "platform/sock.h"
#include "unit/test.h"

extern const struct test tests_sock_msg[];

static void test_sock_msg_keeps_borders(void)
{
    static char big[SOCK_MSG_MAX], in[SOCK_MSG_MAX];
    int fds[SOCK_MSG_FDS];
    sock_t s[2];
    size_t n = 0, nfds = 99;

    CHECK_INT(sock_pair(s), 0);
    CHECK_INT(sock_recv_msg(s[1], in, sizeof(in), &n, fds, &nfds), ERR_AGAIN);
    CHECK_INT(sock_send_msg(s[0], "one", 3, NULL, 0), 0);
    memset(big, 'b', sizeof(big));
    CHECK_INT(sock_send_msg(s[0], big, sizeof(big), NULL, 0), 0);
    CHECK_INT(sock_recv_msg(s[1], in, sizeof(in), &n, fds, &nfds), 0);
    CHECK_STR(str_n(in, n), "one");
    CHECK_INT(nfds, 0);
    CHECK_INT(sock_recv_msg(s[1], in, sizeof(in), &n, fds, &nfds), 0);
    CHECK_INT(n, sizeof(big));
    CHECK(memcmp(in, big, n) == 0);
    CHECK_INT(sock_send_msg(s[0], big, sizeof(big) + 1, NULL, 0), ERR_TOOBIG);
    CHECK_INT(sock_send_msg(s[0], "", 0, NULL, 0), ERR_INVAL);
    CHECK_INT(sock_send_msg(s[0], "x", 1, fds, SOCK_MSG_FDS + 1), ERR_INVAL);
    /* A message that does not fit is gone, the next one is whole. */
    CHECK_INT(sock_send_msg(s[0], "long", 4, NULL, 0), 0);
    CHECK_INT(sock_send_msg(s[0], "ok", 2, NULL, 0), 0);
    CHECK_INT(sock_recv_msg(s[1], in, 2, &n, fds, &nfds), ERR_TOOBIG);
    CHECK_INT(sock_recv_msg(s[1], in, 2, &n, fds, &nfds), 0);
    CHECK_STR(str_n(in, n), "ok");
    sock_close(s[0]);
    CHECK_INT(sock_recv_msg(s[1], in, sizeof(in), &n, fds, &nfds), ERR_EOF);
    CHECK_INT(sock_send_msg(s[1], "x", 1, NULL, 0), ERR_CLOSED);
    sock_close(s[1]);
}

static void test_sock_msg_full_queue_says_again(void)
{
    sock_t s[2];
    int rc = 0, sent = 0;

    CHECK_INT(sock_pair(s), 0);
    while (rc == 0 && sent < 100000) {
        rc = sock_send_msg(s[0], "x", 1, NULL, 0);
        sent += rc == 0;
    }
    CHECK_INT(rc, ERR_AGAIN);
    CHECK(sent > 0);
    sock_close(s[0]);
    sock_close(s[1]);
}

static void test_sock_msg_passes_descriptors(void)
{
    size_t before = process_count_fds(), n = 0, nfds = 0, got = 0;
    int out[SOCK_MSG_FDS], in[SOCK_MSG_FDS];
    char text[8];
    sock_t s[2];

    CHECK_INT(sock_pair(s), 0);
    for (size_t i = 0; i < SOCK_MSG_FDS; i++) {
        CHECK_INT(fs_open_spool(NULL, &out[i]), 0);
        CHECK_INT(fs_pwrite(out[i], &"abcdefghijklmnop"[i], 1, 0), 0);
    }
    CHECK_INT(sock_send_msg(s[0], "fds", 3, out, SOCK_MSG_FDS), 0);
    for (size_t i = 0; i < SOCK_MSG_FDS; i++)
        fs_close(out[i]);
    CHECK_INT(sock_recv_msg(s[1], text, sizeof(text), &n, in, &nfds), 0);
    CHECK_INT(nfds, SOCK_MSG_FDS);
    for (size_t i = 0; i < nfds; i++) {
        CHECK(fcntl(in[i], F_GETFD) & FD_CLOEXEC);
        CHECK_INT(fs_pread(in[i], text, 1, 0, &got), 0);
        CHECK_INT(text[0], 'a' + (int)i);
        fs_close(in[i]);
    }
    sock_close(s[0]);
    sock_close(s[1]);
    CHECK_INT(process_count_fds(), before);
}

/* Descriptors that cannot be taken, or came with a message that did not fit, do not stay open. */
static void test_sock_msg_leaks_no_descriptors(void)
{
    size_t before, n = 0, nfds = 0;
    int out[4] = {0, 1, 2, 0}, in[SOCK_MSG_FDS];
    struct rlimit old, tight;
    char text[8];
    sock_t s[2];

    CHECK_INT(sock_pair(s), 0);
    before = process_count_fds();
    CHECK_INT(sock_send_msg(s[0], "long", 4, out, 4), 0);
    CHECK_INT(sock_recv_msg(s[1], text, 2, &n, in, &nfds), ERR_TOOBIG);
    CHECK_INT(process_count_fds(), before);
    CHECK_INT(sock_send_msg(s[0], "ok", 2, out, 4), 0);
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &old), 0);
    tight = (struct rlimit){.rlim_cur = (rlim_t)MAX(s[0], s[1]) + 2, .rlim_max = old.rlim_max};
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &tight), 0);
    CHECK_INT(sock_recv_msg(s[1], text, sizeof(text), &n, in, &nfds), ERR_MFILE);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &old), 0);
    CHECK_INT(process_count_fds(), before);
    sock_close(s[0]);
    sock_close(s[1]);
}

const struct test tests_sock_msg[] = {
    TEST(test_sock_msg_keeps_borders),
    TEST(test_sock_msg_full_queue_says_again),
    TEST(test_sock_msg_passes_descriptors),
    TEST(test_sock_msg_leaks_no_descriptors),
    TEST_END,
};
