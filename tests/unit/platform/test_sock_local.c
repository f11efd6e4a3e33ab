/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fs.h"
#include "platform/sock.h"
#include "unit/platform/tmpdir.h"
#include "unit/test.h"

extern const struct test tests_sock_local[];

static void test_sock_local_connects(void)
{
    struct sock_addr peer = {0};
    struct str hello = STR("hello");
    sock_t l = SOCK_NONE, c = SOCK_NONE, s = SOCK_NONE;
    struct fs_stat st;
    struct tmpdir t;
    char in[8];
    size_t n = 0;

    tmpdir_init(&t);
    CHECK_INT(sock_connect_local(tmpdir_path(&t, "s"), &c), ERR_NOTFOUND);
    CHECK_INT(sock_listen_local(tmpdir_path(&t, "s"), 0660, 4, &l), 0);
    CHECK_INT(fs_stat(tmpdir_path(&t, "s"), &st), 0);
    CHECK_INT(st.kind, FS_SOCKET);
    CHECK_INT(st.mode, 0660);
    CHECK_INT(sock_connect_local(tmpdir_path(&t, "s"), &c), 0);
    CHECK_INT(sock_accept(l, &s, &peer), 0);
    CHECK_INT(peer.family, SOCK_LOCAL);
    CHECK_INT(sock_sendv(s, &hello, 1, false, &n), 0);
    CHECK_INT(sock_recv(c, in, sizeof(in), &n), 0);
    CHECK_STR(str_n(in, n), "hello");
    sock_close(s);
    CHECK_INT(sock_recv(c, in, sizeof(in), &n), ERR_EOF);
    sock_close(c);
    sock_close(l);
    tmpdir_fini(&t);
}

static void test_sock_local_replaces_only_a_stale_socket(void)
{
    sock_t l = SOCK_NONE, second = SOCK_NONE, c = SOCK_NONE;
    struct buf b = {0};
    struct tmpdir t;

    tmpdir_init(&t);
    CHECK_INT(sock_listen_local(tmpdir_path(&t, "s"), 0600, 4, &l), 0);
    CHECK_INT(sock_listen_local(tmpdir_path(&t, "s"), 0600, 4, &second), ERR_ADDRINUSE);
    CHECK(second == SOCK_NONE);
    sock_close(l);
    CHECK_INT(sock_connect_local(tmpdir_path(&t, "s"), &c), ERR_REFUSED);
    CHECK_INT(sock_listen_local(tmpdir_path(&t, "s"), 0600, 4, &second), 0);
    CHECK_INT(sock_connect_local(tmpdir_path(&t, "s"), &c), 0);
    sock_close(c);
    sock_close(second);
    tmpdir_write(&t, "file", "precious");
    CHECK_INT(sock_listen_local(tmpdir_path(&t, "file"), 0600, 4, &l), ERR_EXISTS);
    CHECK_INT(fs_read_file(tmpdir_path(&t, "file"), 100, &b), 0);
    CHECK_STR(buf_str(&b), "precious");
    buf_fini(&b);
    CHECK_INT(symlink("s", tmpdir_path(&t, "link")), 0);
    CHECK_INT(sock_listen_local(tmpdir_path(&t, "link"), 0600, 4, &l), ERR_EXISTS);
    CHECK_INT(sock_listen_local(tmpdir_path(&t, "no/s"), 0600, 4, &l), ERR_NOTFOUND);
    tmpdir_fini(&t);
}

/* A listener whose queue is full is alive. */
static void test_sock_local_with_a_full_queue_is_in_use(void)
{
    sock_t l = SOCK_NONE, second = SOCK_NONE, c[4];
    struct tmpdir t;

    tmpdir_init(&t);
    CHECK_INT(sock_listen_local(tmpdir_path(&t, "s"), 0600, 1, &l), 0);
    for (size_t i = 0; i < 2; i++)
        CHECK_INT(sock_connect_local(tmpdir_path(&t, "s"), &c[i]), 0);
    CHECK_INT(sock_listen_local(tmpdir_path(&t, "s"), 0600, 1, &second), ERR_ADDRINUSE);
    for (size_t i = 0; i < 2; i++)
        sock_close(c[i]);
    sock_close(l);
    tmpdir_fini(&t);
}

static void test_sock_local_refuses_a_long_path(void)
{
    char path[200];
    sock_t l = SOCK_NONE;

    memset(path, 'x', sizeof(path));
    path[0] = '/';
    path[108] = '\0';
    CHECK_INT(sock_listen_local(path, 0600, 4, &l), ERR_TOOBIG);
    CHECK_INT(sock_connect_local(path, &l), ERR_TOOBIG);
}

const struct test tests_sock_local[] = {
    TEST(test_sock_local_connects),
    TEST(test_sock_local_replaces_only_a_stale_socket),
    TEST(test_sock_local_with_a_full_queue_is_in_use),
    TEST(test_sock_local_refuses_a_long_path),
    TEST_END,
};
