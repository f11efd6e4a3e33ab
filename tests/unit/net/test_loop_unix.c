/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <signal.h>
#include <unistd.h>

#include "net/loop.h"
#include "unit/net/net_pair.h"
#include "unit/test.h"

struct catcher {
    struct net_signal *handle;
    int caught;
    int signum;
    bool closes;
};

static void on_signal(void *arg, int signum)
{
    struct catcher *c = arg;

    c->caught++;
    c->signum = signum;
    if (c->closes) {
        net_signal_close(c->handle);
        c->handle = NULL;
    }
}

static bool was_caught(void *arg)
{
    return ((struct catcher *)arg)->caught > 0;
}

static void test_signal_is_delivered_by_the_loop(void)
{
    struct net_loop *l = NULL;
    struct catcher c = {0}, other = {0};

    CHECK_INT(net_loop_new(&l), 0);
    CHECK_INT(net_signal_open(l, SIGUSR1, on_signal, &c, &c.handle), 0);
    CHECK_INT(net_signal_open(l, SIGUSR2, on_signal, &other, &other.handle), 0);
    CHECK_INT(kill(getpid(), SIGUSR1), 0);
    CHECK_INT(c.caught, 0);
    net_run_until(l, was_caught, &c);
    CHECK_INT(c.caught, 1);
    CHECK_INT(c.signum, SIGUSR1);
    CHECK_INT(other.caught, 0);
    net_signal_close(c.handle);
    net_signal_close(other.handle);
    net_signal_close(NULL);
    net_loop_free(l);
}

static void test_signal_closes_itself(void)
{
    struct net_loop *l = NULL;
    struct catcher c = {.closes = true}, other = {0};

    CHECK_INT(net_loop_new(&l), 0);
    CHECK_INT(net_signal_open(l, SIGUSR1, on_signal, &c, &c.handle), 0);
    CHECK_INT(net_signal_open(l, SIGUSR1, on_signal, &other, &other.handle), 0);
    CHECK_INT(kill(getpid(), SIGUSR1), 0);
    net_run_until(l, was_caught, &c);
    CHECK_INT(kill(getpid(), SIGUSR1), 0);
    net_run_for(l, 20);
    CHECK_INT(c.caught, 1);
    CHECK_INT(other.caught, 2); /* both on the same signal hear of it */
    net_signal_close(other.handle);
    net_loop_free(l);
}

static void test_signal_refuses_what_cannot_be_caught(void)
{
    struct net_loop *l = NULL;
    struct catcher c = {0};

    CHECK_INT(net_loop_new(&l), 0);
    CHECK_INT(net_signal_open(l, SIGKILL, on_signal, &c, &c.handle), ERR_INVAL);
    CHECK(c.handle == NULL);
    net_loop_free(l);
}

/* --- reset (Wine sends FIN instead) ----------------------------------------------------------- */

static void on_ready(void *arg, int events)
{
    *(int *)arg |= events;
}

static bool is_readable(void *arg)
{
    return *(int *)arg & NET_READ;
}

static void test_loop_reset_shows_as_readable(void)
{
    struct net_loop *l = NULL;
    struct net_watch *w = NULL;
    sock_t pair[2];
    size_t got = 0;
    int events = 0;
    char c;

    CHECK_INT(net_loop_new(&l), 0);
    net_tcp_pair(pair);
    CHECK_INT(net_watch_open(l, pair[0], on_ready, &events, &w), 0);
    net_watch_set(w, NET_READ);
    sock_set_reset_on_close(pair[1]);
    sock_close(pair[1]);
    net_run_until(l, is_readable, &events);
    CHECK_INT(events, NET_READ);
    CHECK_INT(sock_recv(pair[0], &c, 1, &got), ERR_CLOSED);
    net_watch_close(w);
    sock_close(pair[0]);
    net_loop_free(l);
}

const struct test tests_loop_unix[] = {
    TEST(test_signal_is_delivered_by_the_loop),
    TEST(test_signal_closes_itself),
    TEST(test_signal_refuses_what_cannot_be_caught),
    TEST(test_loop_reset_shows_as_readable),
    TEST_END,
};
