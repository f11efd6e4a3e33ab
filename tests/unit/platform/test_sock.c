/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/clock.h"
#include "platform/sock.h"

#include <stdlib.h>

#include "platform/fs.h"
#include "unit/platform/tmpdir.h"
#include "unit/test.h"

extern const struct test tests_sock[];

/* A listener on a free loopback port and its address. */
static sock_t sock_test_listen(const char *at, struct sock_addr *bound)
{
    struct sock_addr a;
    sock_t l = SOCK_NONE;

    CHECK_INT(sock_startup(), 0);
    CHECK_INT(sock_addr_parse(str_c(at), &a), 0);
    if (sock_listen(&a, 16, &l) != 0)
        return SOCK_NONE;
    CHECK_INT(sock_local_addr(l, bound), 0);
    CHECK(bound->port != 0);
    return l;
}

/* Accepts within a second. */
static sock_t sock_test_accept(sock_t l, struct sock_addr *peer)
{
    sock_t s = SOCK_NONE;

    CHECK_INT(sock_wait_readable(l, 1000), 0);
    CHECK_INT(sock_accept(l, &s, peer), 0);
    return s;
}

/* Two ends of one connection. */
static void sock_test_pair(sock_t out[2])
{
    struct sock_addr at, peer, mine;
    sock_t l = sock_test_listen("127.0.0.1:0", &at);

    out[0] = SOCK_NONE;
    CHECK_INT(sock_connect(&at, &out[0]), 0);
    out[1] = sock_test_accept(l, &peer);
    CHECK_INT(sock_local_addr(out[0], &mine), 0);
    CHECK(sock_ip_equal(&mine, &peer));
    CHECK_INT(mine.port, peer.port);
    CHECK_INT(sock_peer_addr(out[0], &peer), 0);
    CHECK_INT(peer.port, at.port);
    sock_set_blocking(out[0], false);
    sock_close(l);
}

static void test_sock_listen_refuses_a_taken_port(void)
{
    struct sock_addr at, any = {.family = SOCK_LOCAL};
    sock_t l = sock_test_listen("127.0.0.1:0", &at), second = SOCK_NONE, s = SOCK_NONE;

    CHECK_INT(sock_listen(&at, 16, &second), ERR_ADDRINUSE);
    CHECK_INT(sock_listen(&any, 16, &second), ERR_INVAL);
    CHECK(second == SOCK_NONE);
    CHECK_INT(sock_accept(l, &s, NULL), ERR_AGAIN);
    sock_close(l);
    sock_close(SOCK_NONE);
    CHECK_INT(sock_connect(&at, &s), ERR_REFUSED);
    CHECK_INT(sock_addr_parse(STR("192.0.2.1:0"), &at), 0);
    CHECK_INT(sock_listen(&at, 16, &second), ERR_NOTFOUND);
}

static void test_sock_listens_on_ipv6(void)
{
    struct sock_addr at, peer;
    sock_t l = sock_test_listen("[::1]:0", &at), c = SOCK_NONE, s;

    if (l == SOCK_NONE) {
        printf("    skipped test_sock_listens_on_ipv6: no IPv6 here\n");
        return;
    }
    CHECK_INT(sock_connect(&at, &c), 0);
    s = sock_test_accept(l, &peer);
    CHECK_INT(peer.family, SOCK_INET6);
    CHECK(sock_ip_is_loopback(&peer));
    sock_close(s);
    sock_close(c);
    sock_close(l);
}

static void test_sock_sends_parts_and_ends(void)
{
    struct str parts[] = {STR("ab"), STR(""), STR("cde"), STR("f")};
    char in[32];
    size_t n = 0;
    sock_t s[2];

    sock_test_pair(s);
    CHECK_INT(sock_recv(s[1], in, sizeof(in), &n), ERR_AGAIN);
    CHECK_INT(sock_wait_readable(s[1], 10), ERR_TIMEOUT);
    CHECK_INT(sock_sendv(s[0], parts, ARRAY_LEN(parts), false, &n), 0);
    CHECK_INT(n, 6);
    CHECK_INT(sock_wait_readable(s[1], 1000), 0);
    CHECK_INT(sock_recv(s[1], in, 4, &n), 0);
    CHECK_STR(str_n(in, n), "abcd");
    CHECK_INT(sock_recv(s[1], in, sizeof(in), &n), 0);
    CHECK_STR(str_n(in, n), "ef");
    sock_shutdown_send(s[0]);
    CHECK_INT(sock_wait_readable(s[1], 1000), 0);
    CHECK_INT(sock_recv(s[1], in, sizeof(in), &n), ERR_EOF);
    /* The other direction still works. */
    CHECK_INT(sock_sendv(s[1], parts, 1, false, &n), 0);
    CHECK_INT(sock_wait_readable(s[0], 1000), 0);
    CHECK_INT(sock_recv(s[0], in, sizeof(in), &n), 0);
    CHECK_STR(str_n(in, n), "ab");
    sock_close(s[0]);
    sock_close(s[1]);
}

/* Sends until the peer's buffers are full; then takes everything out again and compares. */
static void test_sock_back_pressure_says_again(void)
{
    enum { SIZE = 100 * 1000, PARTS = 100 };
    static char out[SIZE], in[SIZE];
    struct str parts[PARTS];
    size_t sent = 0, got = 0, n, bad = 0;
    uint64_t untaken;
    sock_t s[2];
    int rc;

    sock_test_pair(s);
    for (size_t i = 0; i < SIZE; i++)
        out[i] = (char)(i * 7 % 251);
    for (size_t i = 0; i < PARTS; i++)
        parts[i] = str_n(out + i * (SIZE / PARTS), SIZE / PARTS);
    /* More parts than go in one call, and a call may stop in the middle of a part. */
    while (sent < (64u << 20)) {
        size_t at = sent % SIZE / (SIZE / PARTS), off = sent % (SIZE / PARTS);
        struct str first = str_sub(parts[at], off, SIZE), keep = parts[at];

        parts[at] = first;
        rc = sock_sendv(s[0], parts + at, PARTS - at, false, &n);
        parts[at] = keep;
        if (rc)
            break;
        sent += n;
    }
    CHECK_INT(rc, ERR_AGAIN);
    untaken = sock_untaken(s[0]);
    CHECK(untaken <= sent);
    sock_shutdown_send(s[0]);
    while (sock_wait_readable(s[1], 2000) == 0 && sock_recv(s[1], in, sizeof(in), &n) == 0)
        for (size_t i = 0; i < n; i++)
            bad += in[i] != out[got++ % SIZE];
    CHECK_INT(got, sent);
    CHECK_INT(bad, 0);
    /* What the peer took counts no more, where the system counts at all. */
    CHECK(untaken == 0 || sock_untaken(s[0]) < untaken);
    sock_close(s[0]);
    sock_close(s[1]);
}

static void test_sock_sendfile_sends_a_range(void)
{
    struct tmpdir t;
    char in[32];
    size_t n = 99;
    sock_t s[2];
    int fd = -1;

    tmpdir_init(&t);
    tmpdir_write(&t, "f", "0123456789");
    sock_test_pair(s);
    CHECK_INT(fs_open_read(tmpdir_path(&t, "f"), &fd), 0);
    CHECK_INT(sock_sendfile(s[0], fd, 3, 4, &n), 0);
    CHECK_INT(n, 4);
    CHECK_INT(sock_sendfile(s[0], fd, 8, 100, &n), 0);
    CHECK_INT(n, 2);
    CHECK_INT(sock_sendfile(s[0], fd, 10, 100, &n), 0);
    CHECK_INT(n, 0);
    sock_shutdown_send(s[0]);
    for (size_t have = 0; have < 6; have += n) {
        n = 0;
        CHECK_INT(sock_wait_readable(s[1], 1000), 0);
        CHECK_INT(sock_recv(s[1], in + have, sizeof(in) - have, &n), 0);
        if (n == 0)
            break;
    }
    CHECK_STR(str_n(in, 6), "345689");
    fs_close(fd);
    sock_close(s[0]);
    sock_close(s[1]);
    tmpdir_fini(&t);
}

static void test_sock_waits_for_any(void)
{
    struct str x = STR("x");
    sock_t a[2], b[2], both[2];
    bool ready[2] = {false, false};
    size_t n = 0;

    sock_test_pair(a);
    sock_test_pair(b);
    both[0] = a[1];
    both[1] = b[1];
    CHECK_INT(sock_wait_any(both, 2, 10, ready), ERR_TIMEOUT);
    CHECK_INT(sock_sendv(b[0], &x, 1, false, &n), 0);
    CHECK_INT(sock_wait_any(both, 2, 1000, ready), 0);
    CHECK(!ready[0] && ready[1]);
    sock_close(a[0]); /* an end counts, too */
    CHECK_INT(sock_wait_any(both, 1, 1000, ready), 0);
    CHECK(ready[0]);
    CHECK_INT(sock_wait_any(both, SOCK_WAIT_MAX + 1, 0, ready), ERR_INVAL);
    sock_close(a[1]);
    sock_close(b[0]);
    sock_close(b[1]);
}

static void test_sock_connects_without_waiting(void)
{
    struct sock_addr at, found[4];
    sock_t l = sock_test_listen("127.0.0.1:0", &at), c = SOCK_NONE, s;
    size_t n = 0;
    char byte;
    int rc;

    CHECK_INT(sock_resolve("127.0.0.1", at.port, found, ARRAY_LEN(found), &n), 0);
    CHECK(n >= 1 && sock_ip_equal(&found[0], &at));
    CHECK_INT(found[0].port, at.port);
    CHECK_INT(sock_resolve("no-such-name.invalid", 80, found, ARRAY_LEN(found), &n), ERR_NOTFOUND);
    CHECK_INT(sock_connect_start(&at, &c), 0);
    s = sock_test_accept(l, NULL);
    CHECK_INT(sock_connect_end(c), 0);
    CHECK_INT(sock_recv(c, &byte, 1, &n), ERR_AGAIN); /* it does not block */
    sock_close(s);
    sock_close(c);
    sock_close(l);
    c = SOCK_NONE;
    rc = sock_connect_start(&at, &c);
    for (int i = 0; i < 200 && rc == 0; i++) {
        clock_sleep_ms(10);
        rc = sock_connect_end(c);
    }
    CHECK_INT(rc, ERR_REFUSED);
    sock_close(c);
}

const struct test tests_sock[] = {
    TEST(test_sock_connects_without_waiting),
    TEST(test_sock_waits_for_any),
    TEST(test_sock_listen_refuses_a_taken_port),
    TEST(test_sock_listens_on_ipv6),
    TEST(test_sock_sends_parts_and_ends),
    TEST(test_sock_back_pressure_says_again),
    TEST(test_sock_sendfile_sends_a_range),
    TEST_END,
};
