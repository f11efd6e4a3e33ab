/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/sock.h"
#include "unit/test.h"

extern const struct test tests_sock_linux[];

/* Not for wine, which ends every connection in order before it closes. */
static void test_sock_reset_is_closed(void)
{
    struct str part = STR("x");
    struct sock_addr at;
    char in[8];
    size_t n;
    sock_t l = SOCK_NONE, c = SOCK_NONE, s = SOCK_NONE;
    int rc = 0;

    CHECK_INT(sock_addr_parse(STR("127.0.0.1:0"), &at), 0);
    CHECK_INT(sock_listen(&at, 1, &l), 0);
    CHECK_INT(sock_local_addr(l, &at), 0);
    CHECK_INT(sock_connect(&at, &c), 0);
    CHECK_INT(sock_wait_readable(l, 1000), 0);
    CHECK_INT(sock_accept(l, &s, NULL), 0);
    sock_set_reset_on_close(c);
    sock_close(c);
    CHECK_INT(sock_wait_readable(s, 1000), 0);
    CHECK_INT(sock_recv(s, in, sizeof(in), &n), ERR_CLOSED);
    for (int i = 0; rc == 0 && i < 10; i++)
        rc = sock_sendv(s, &part, 1, false, &n); /* raises no signal */
    CHECK_INT(rc, ERR_CLOSED);
    sock_close(s);
    sock_close(l);
}

const struct test tests_sock_linux[] = {TEST(test_sock_reset_is_closed), TEST_END};
