/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/ipc.h"

#include "base/mem.h"
#include "platform/fs.h"
#include "unit/test.h"

static void test_ipc_round_trip(void)
{
    struct str key, value;
    struct ipc_out out;
    struct ipc_in in;
    sock_t pair[2];
    size_t it = 0, n = 0;

    CHECK_INT(sock_pair(pair), 0);
    CHECK_INT(ipc_recv(pair[1], &in), ERR_AGAIN);
    ipc_begin(&out, "fork");
    ipc_add(&out, "name", STR("default"));
    ipc_add(&out, "empty", STR(""));
    ipc_add(&out, "bytes", STR("a\0b"));
    ipc_add(&out, "name", STR("second"));
    ipc_add_u64(&out, "big", UINT64_MAX);
    ipc_add(&out, "text", STR("12x"));
    CHECK_INT(ipc_send(pair[0], &out), 0);
    CHECK_INT(ipc_recv(pair[1], &in), 0);
    CHECK(ipc_is(&in, "fork"));
    CHECK(!ipc_is(&in, "for"));
    CHECK(!ipc_is(&in, "forks"));
    CHECK_STR(ipc_get(&in, "name"), "default");
    CHECK_STR(str_c(ipc_get_c(&in, "name")), "default");
    CHECK(ipc_get(&in, "empty").p != NULL);
    CHECK_INT(ipc_get(&in, "empty").len, 0);
    CHECK(str_eq(ipc_get(&in, "bytes"), STR("a\0b")));
    CHECK(ipc_get_u64(&in, "big") == UINT64_MAX);
    CHECK_INT(ipc_get_u64(&in, "text"), 0);
    CHECK(ipc_get(&in, "none").p == NULL);
    CHECK_STR(str_c(ipc_get_c(&in, "none")), "");
    CHECK_INT(ipc_get_u64(&in, "none"), 0);
    while (ipc_next(&in, &it, &key, &value))
        n++;
    CHECK_INT(n, 6);
    CHECK_STR(key, "text");
    CHECK_STR(value, "12x");
    CHECK_INT(ipc_take_fd(&in, 0), -1);
    ipc_done(&in);
    ipc_done(&in);
    sock_close(pair[0]);
    CHECK_INT(ipc_recv(pair[1], &in), ERR_EOF);
    ipc_begin(&out, "late");
    CHECK_INT(ipc_send(pair[1], &out), ERR_CLOSED);
    sock_close(pair[1]);
}

/* Is it open, in this process? */
static bool fd_is_open(int fd)
{
    struct fs_stat st;

    return fs_fstat(fd, &st) == 0;
}

static void test_ipc_carries_descriptors(void)
{
    struct ipc_out out;
    struct ipc_in in;
    sock_t pair[2];
    size_t got = 0;
    int fds[2] = {-1, -1}, taken, left;
    char c = 0;

    CHECK_INT(sock_pair(pair), 0);
    CHECK_INT(fs_open_spool(NULL, &fds[0]), 0);
    CHECK_INT(fs_open_spool(NULL, &fds[1]), 0);
    CHECK_INT(fs_pwrite(fds[0], "x", 1, 0), 0);
    ipc_begin(&out, "take");
    ipc_add_fd(&out, fds[0]);
    ipc_add_fd(&out, fds[1]);
    CHECK_INT(ipc_send(pair[0], &out), 0);
    CHECK(fd_is_open(fds[0]));
    CHECK_INT(ipc_recv(pair[1], &in), 0);
    CHECK_INT(in.nfds, 2);
    taken = ipc_take_fd(&in, 0);
    left = in.fds[1];
    CHECK(taken >= 0 && taken != fds[0]);
    CHECK_INT(ipc_take_fd(&in, 0), -1); /* once */
    CHECK_INT(ipc_take_fd(&in, 2), -1);
    CHECK(fd_is_open(left));
    ipc_done(&in);
    CHECK(!fd_is_open(left)); /* nobody took it */
    CHECK_INT(fs_pread(taken, &c, 1, 0, &got), 0);
    CHECK_INT(c, 'x');
    fs_close(taken);
    fs_close(fds[0]);
    fs_close(fds[1]);
    sock_close(pair[0]);
    sock_close(pair[1]);
}

/* A status of thousands of sites, say. */
static void test_ipc_long_value_arrives_whole(void)
{
    static const size_t sizes[] = {0, 5, SOCK_MSG_MAX / 2, SOCK_MSG_MAX / 2 + 1, 3000000};
    char *text = mem_new(3000000);
    sock_t pair[2];

    for (size_t i = 0; i < 3000000; i++)
        text[i] = (char)('a' + i % 23);
    CHECK_INT(sock_pair(pair), 0);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        struct str value = str_n(text, sizes[i]);
        struct ipc_out out;
        struct ipc_in in;
        struct buf b = {0};

        buf_add_lit(&b, "<");
        ipc_begin(&out, "status");
        ipc_add(&out, "site", STR("a"));
        CHECK_INT(ipc_add_long(&out, "json", value), 0);
        CHECK_INT(ipc_send(pair[0], &out), 0);
        CHECK_INT(ipc_recv(pair[1], &in), 0);
        if (sizes[i]) {
            CHECK_INT(
                in.nfds ? ipc_get_long(&in, "json", sizes[i] - 1, &b) : ERR_TOOBIG, ERR_TOOBIG);
            CHECK_INT(b.len, 1);
        }
        CHECK_INT(ipc_get_long(&in, "json", sizes[i], &b), 0);
        CHECK(str_eq(str_sub(buf_str(&b), 1, b.len), value));
        ipc_done(&in);
        buf_fini(&b);
    }
    sock_close(pair[0]);
    sock_close(pair[1]);
    mem_free(text);
}

/* Who sends it may be anybody's code by now. */
static void test_ipc_long_value_that_is_none(void)
{
    struct ipc_out out;
    struct ipc_in in;
    struct buf b = {0};
    sock_t pair[2], other[2];

    CHECK_INT(sock_pair(pair), 0);
    CHECK_INT(sock_pair(other), 0);
    ipc_begin(&out, "status");
    ipc_add_u64(&out, "segment", 3);
    CHECK_INT(ipc_send(pair[0], &out), 0);
    CHECK_INT(ipc_recv(pair[1], &in), 0);
    CHECK_INT(ipc_get_long(&in, "json", 100, &b), ERR_PROTO);
    ipc_done(&in);
    ipc_begin(&out, "status");
    ipc_add_u64(&out, "segment", 0);
    ipc_add_fd(&out, (int)other[0]);
    CHECK_INT(ipc_send(pair[0], &out), 0);
    CHECK_INT(ipc_recv(pair[1], &in), 0);
    CHECK(ipc_get_long(&in, "json", 100, &b) != 0 || b.len == 0);
    ipc_done(&in);
    buf_fini(&b);
    sock_close(pair[0]);
    sock_close(pair[1]);
    sock_close(other[0]);
    sock_close(other[1]);
}

static void test_ipc_size_is_bounded(void)
{
    struct ipc_out out;
    struct ipc_in in;
    sock_t pair[2];
    char *text = mem_new(SOCK_MSG_MAX);
    size_t most = SOCK_MSG_MAX - (2 + 1) - (2 + 4 + 1 + 1);

    memset(text, 'x', SOCK_MSG_MAX);
    CHECK_INT(sock_pair(pair), 0);
    ipc_begin(&out, "o");
    ipc_add(&out, "k", str_n(text, most));
    CHECK_INT(ipc_send(pair[0], &out), 0);
    CHECK_INT(ipc_recv(pair[1], &in), 0);
    CHECK_INT(ipc_get(&in, "k").len, most);
    ipc_done(&in);
    ipc_begin(&out, "o");
    ipc_add(&out, "k", str_n(text, most + 1));
    CHECK_INT(ipc_send(pair[0], &out), ERR_TOOBIG);
    CHECK_INT(ipc_recv(pair[1], &in), ERR_AGAIN);
    mem_free(text);
    sock_close(pair[0]);
    sock_close(pair[1]);
}

/* A peer that does not read: the sender gives up. */
static void test_ipc_send_does_not_wait_for_ever(void)
{
    struct ipc_out out;
    sock_t pair[2];
    int rc = 0;

    CHECK_INT(sock_pair(pair), 0);
    for (int i = 0; i < 10000 && rc == 0; i++) {
        ipc_begin(&out, "again");
        rc = ipc_send(pair[0], &out);
    }
    CHECK_INT(rc, ERR_AGAIN);
    sock_close(pair[0]);
    sock_close(pair[1]);
}

/* The number that the next descriptor gets. */
static int free_fd(void)
{
    int fd = -1;

    CHECK_INT(fs_open_spool(NULL, &fd), 0);
    fs_close(fd);
    return fd;
}

static void test_ipc_refuses_corrupt_messages(void)
{
    /* Lengths are little endian, as on every machine that this runs on. */
    static const struct {
        const char *name;
        struct str bytes;
        int rc;
    } rows[] = {
        {"only an operation", STR("\2\0op"), 0},
        {"no name", STR("\0\0"), 0},
        {"an item", STR("\2\0op\1\0\1\0\0\0kv\0"), 0},
        {"an empty item", STR("\2\0op\0\0\0\0\0\0\0"), 0},
        {"one byte", STR("\2"), ERR_CORRUPT},
        {"name is cut", STR("\3\0op"), ERR_CORRUPT},
        {"name is far too long", STR("\377\377op"), ERR_CORRUPT},
        {"lengths are cut", STR("\2\0op\1\0\1\0\0"), ERR_CORRUPT},
        {"one byte more", STR("\2\0op\1\0\1\0\0\0kv\0x"), ERR_CORRUPT},
        {"value is cut", STR("\2\0op\1\0\2\0\0\0kv\0"), ERR_CORRUPT},
        {"no NUL", STR("\2\0op\1\0\1\0\0\0kvx"), ERR_CORRUPT},
        {"NUL is cut", STR("\2\0op\1\0\1\0\0\0kv"), ERR_CORRUPT},
        {"key is far too long", STR("\2\0op\377\377\1\0\0\0kv\0"), ERR_CORRUPT},
        {"value is far too long", STR("\2\0op\1\0\377\377\377\377kv\0"), ERR_CORRUPT},
        {"second item is cut", STR("\2\0op\1\0\1\0\0\0kv\0\1\0\1\0\0\0k"), ERR_CORRUPT},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct ipc_in in;
        sock_t pair[2];
        int fd = -1, before, rc;

        test_row(rows[i].name);
        CHECK_INT(sock_pair(pair), 0);
        CHECK_INT(fs_open_spool(NULL, &fd), 0);
        CHECK_INT(sock_send_msg(pair[0], rows[i].bytes.p, rows[i].bytes.len, &fd, 1), 0);
        before = free_fd();
        rc = ipc_recv(pair[1], &in);
        CHECK_INT(rc, rows[i].rc);
        if (rc == 0) {
            CHECK_INT(in.nfds, 1);
            ipc_done(&in);
        }
        CHECK_INT(free_fd(), before); /* descriptors of a bad message are closed, too */
        fs_close(fd);
        sock_close(pair[0]);
        sock_close(pair[1]);
    }
    test_row(NULL);
}

const struct test tests_ipc[] = {
    TEST(test_ipc_round_trip),
    TEST(test_ipc_carries_descriptors),
    TEST(test_ipc_long_value_arrives_whole),
    TEST(test_ipc_long_value_that_is_none),
    TEST(test_ipc_size_is_bounded),
    TEST(test_ipc_send_does_not_wait_for_ever),
    TEST(test_ipc_refuses_corrupt_messages),
    TEST_END,
};
