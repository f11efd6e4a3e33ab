/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_UNIT_NET_NET_PAIR_H
#define EPHPM_TESTS_UNIT_NET_NET_PAIR_H

/* Connected sockets, and a loop that runs until something holds. */

#include "net/loop.h"
#include "platform/sock.h"
#include "unit/test.h"

/* Two ends of a TCP connection over the loopback interface, both non-blocking. */
static inline void net_tcp_pair(sock_t out[2])
{
    struct sock_addr at = {.family = SOCK_INET4, .ip = {127, 0, 0, 1}};
    sock_t listener = SOCK_NONE;
    int rc;

    out[0] = out[1] = SOCK_NONE;
    CHECK_INT(sock_listen(&at, 1, &listener), 0);
    CHECK_INT(sock_local_addr(listener, &at), 0);
    CHECK_INT(sock_connect(&at, &out[1]), 0);
    sock_set_blocking(out[1], false);
    CHECK_INT(sock_wait_readable(listener, 5000), 0);
    do
        rc = sock_accept(listener, &out[0], NULL);
    while (rc == ERR_AGAIN);
    CHECK_INT(rc, 0);
    sock_close(listener);
}

enum { NET_PATIENCE_MS = 20000 };

struct net_until {
    struct net_loop *loop;
    /* Called every millisecond; true ends the run. */
    bool (*step)(void *arg);
    void *arg;
    uint64_t end;
    bool in_time;
};

static inline void net_until_tick(void *arg)
{
    struct net_until *u = arg;

    u->in_time = u->step(u->arg);
    if (u->in_time || net_loop_now(u->loop) > u->end)
        net_loop_stop(u->loop);
}

/* Runs the loop until step says so; a failure when that takes too long. */
static inline void net_run_until(struct net_loop *l, bool (*step)(void *arg), void *arg)
{
    struct net_until u = {.loop = l, .step = step, .arg = arg};
    struct net_timer *t = net_timer_open(l, net_until_tick, &u);

    net_loop_update(l);
    u.end = net_loop_now(l) + NET_PATIENCE_MS;
    net_timer_start(t, 0, 1);
    net_loop_run(l);
    net_timer_close(t);
    CHECK(u.in_time);
}

static inline void net_stop_loop(void *arg)
{
    net_loop_stop(arg);
}

/* Runs the loop for a while. */
static inline void net_run_for(struct net_loop *l, uint64_t ms)
{
    struct net_timer *t = net_timer_open(l, net_stop_loop, l);

    net_loop_update(l);
    net_timer_start(t, ms, 0);
    net_loop_run(l);
    net_timer_close(t);
}

#endif
