/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "net/loop.h"

#include "unit/net/net_pair.h"
#include "unit/test.h"

/* --- timers ----------------------------------------------------------------------------------- */

struct ticker {
    struct net_timer *timer;
    int fired;
    int close_at;
    uint64_t *order; /* appends its number as a decimal digit */
    unsigned number;
};

static void on_tick(void *arg)
{
    struct ticker *t = arg;

    t->fired++;
    if (t->order)
        *t->order = *t->order * 10 + t->number;
    if (t->fired == t->close_at) {
        net_timer_close(t->timer);
        t->timer = NULL;
    }
}

static void test_loop_timer_fires_once(void)
{
    struct net_loop *l = NULL;
    struct ticker t = {0};

    CHECK_INT(net_loop_new(&l), 0);
    t.timer = net_timer_open(l, on_tick, &t);
    net_timer_start(t.timer, 0, 0);
    CHECK_INT(t.fired, 0); /* never from inside the call */
    net_run_for(l, 20);
    CHECK_INT(t.fired, 1);
    net_timer_close(t.timer);
    net_timer_close(NULL);
    net_loop_free(l);
    net_loop_free(NULL);
}

static bool is_closed(void *arg)
{
    return ((struct ticker *)arg)->timer == NULL;
}

static bool fired_thrice(void *arg)
{
    return ((struct ticker *)arg)->fired >= 3;
}

static void test_loop_timer_repeats_until_it_closes_itself(void)
{
    struct net_loop *l = NULL;
    struct ticker t = {.close_at = 3};

    CHECK_INT(net_loop_new(&l), 0);
    t.timer = net_timer_open(l, on_tick, &t);
    net_timer_start(t.timer, 1, 1);
    net_run_until(l, is_closed, &t);
    net_run_for(l, 5);
    CHECK_INT(t.fired, 3);
    net_loop_free(l);
}

static void test_loop_timer_start_replaces(void)
{
    struct net_loop *l = NULL;
    struct ticker t = {0};

    CHECK_INT(net_loop_new(&l), 0);
    t.timer = net_timer_open(l, on_tick, &t);
    net_timer_start(t.timer, 1, 1);
    net_timer_start(t.timer, 60000, 0);
    net_run_for(l, 20);
    CHECK_INT(t.fired, 0);
    net_timer_start(t.timer, 1, 1);
    net_timer_stop(t.timer);
    net_run_for(l, 20);
    CHECK_INT(t.fired, 0);
    net_timer_close(t.timer);
    net_loop_free(l);
}

static void test_loop_timers_fire_in_order(void)
{
    static const unsigned ms[] = {30, 1, 20, 10};
    struct net_loop *l = NULL;
    struct ticker t[4];
    uint64_t order = 0;

    CHECK_INT(net_loop_new(&l), 0);
    for (unsigned i = 0; i < 4; i++) {
        t[i] = (struct ticker){.order = &order, .number = i + 1};
        t[i].timer = net_timer_open(l, on_tick, &t[i]);
        net_timer_start(t[i].timer, ms[i], 0);
    }
    net_run_for(l, 60);
    CHECK_INT(order, 2431);
    for (unsigned i = 0; i < 4; i++)
        net_timer_close(t[i].timer);
    net_loop_free(l);
}

/* --- sleep ------------------------------------------------------------------------------------ */

static void on_sleep(void *arg)
{
    (*(int *)arg)++;
}

static void test_loop_calls_before_it_sleeps(void)
{
    struct net_loop *l = NULL;
    struct ticker t = {0};
    int slept = 0, before;

    CHECK_INT(net_loop_new(&l), 0);
    net_loop_on_sleep(l, on_sleep, &slept);
    CHECK_INT(slept, 0);
    t.timer = net_timer_open(l, on_tick, &t);
    net_timer_start(t.timer, 1, 1);
    net_run_until(l, fired_thrice, &t);
    CHECK(slept >= 3);
    before = slept;
    net_loop_on_sleep(l, NULL, NULL);
    net_run_for(l, 5);
    CHECK_INT(slept, before);
    net_timer_close(t.timer);
    net_loop_free(l);
}

/* --- watches ---------------------------------------------------------------------------------- */

struct watcher {
    struct net_loop *loop;
    struct net_watch *watch;
    sock_t pair[2];
    int calls;
    int events;
    bool closes;
    struct watcher *closes_other;
};

static void on_ready(void *arg, int events)
{
    struct watcher *w = arg;
    char c[16];
    size_t got = 0;

    w->calls++;
    w->events |= events;
    if (w->closes_other) {
        net_watch_close(w->closes_other->watch);
        w->closes_other->watch = NULL;
        w->closes_other->closes_other = NULL;
    }
    if (w->closes) {
        net_watch_close(w->watch);
        w->watch = NULL;
    } else if (events & NET_READ) {
        (void)!sock_recv(w->pair[0], c, sizeof(c), &got);
    }
}

static void watcher_open(struct watcher *w, struct net_loop *l)
{
    *w = (struct watcher){.loop = l};
    net_tcp_pair(w->pair);
    CHECK_INT(net_watch_open(l, w->pair[0], on_ready, w, &w->watch), 0);
}

static void watcher_close(struct watcher *w)
{
    net_watch_close(w->watch);
    sock_close(w->pair[0]);
    sock_close(w->pair[1]);
}

static void send_text(sock_t s, const char *text)
{
    struct str part = str_c(text);
    size_t sent = 0;

    CHECK_INT(sock_sendv(s, &part, 1, false, &sent), 0);
    CHECK_INT(sent, part.len);
}

static bool was_called(void *arg)
{
    return ((struct watcher *)arg)->calls > 0;
}

static void test_loop_watch_tells_what_was_asked(void)
{
    struct net_loop *l = NULL;
    struct watcher w;

    CHECK_INT(net_loop_new(&l), 0);
    watcher_open(&w, l);
    send_text(w.pair[1], "x");
    net_run_for(l, 10);
    CHECK_INT(w.calls, 0); /* nothing is watched yet */
    CHECK_INT(net_watch_get(w.watch), 0);
    net_watch_set(w.watch, NET_READ);
    CHECK_INT(w.calls, 0);
    net_run_until(l, was_called, &w);
    CHECK_INT(w.events, NET_READ);
    CHECK_INT(net_watch_get(w.watch), NET_READ);
    w.calls = w.events = 0;
    net_watch_set(w.watch, NET_WRITE);
    net_run_until(l, was_called, &w);
    CHECK_INT(w.events, NET_WRITE);
    net_watch_set(w.watch, 0);
    w.calls = w.events = 0;
    send_text(w.pair[1], "x");
    net_run_for(l, 10);
    CHECK_INT(w.calls, 0);
    net_watch_set(w.watch, NET_READ | NET_WRITE);
    net_run_until(l, was_called, &w);
    CHECK(w.events & NET_WRITE);
    watcher_close(&w);
    net_watch_close(NULL);
    net_loop_free(l);
}

static void test_loop_watch_closes_itself(void)
{
    struct net_loop *l = NULL;
    struct watcher w;

    CHECK_INT(net_loop_new(&l), 0);
    watcher_open(&w, l);
    w.closes = true;
    send_text(w.pair[1], "x");
    net_watch_set(w.watch, NET_READ | NET_WRITE);
    net_run_for(l, 20);
    CHECK_INT(w.calls, 1);
    CHECK(w.watch == NULL);
    watcher_close(&w);
    net_loop_free(l);
}

/* Both are ready in the same round: the one that is called first closes the other. */
static void test_loop_closed_watch_is_not_called(void)
{
    struct net_loop *l = NULL;
    struct watcher a, b;

    CHECK_INT(net_loop_new(&l), 0);
    watcher_open(&a, l);
    watcher_open(&b, l);
    a.closes_other = &b;
    b.closes_other = &a;
    send_text(a.pair[1], "x");
    send_text(b.pair[1], "x");
    CHECK_INT(sock_wait_readable(a.pair[0], 5000), 0);
    CHECK_INT(sock_wait_readable(b.pair[0], 5000), 0);
    net_watch_set(a.watch, NET_READ);
    net_watch_set(b.watch, NET_READ);
    net_run_for(l, 20);
    CHECK_INT(a.calls + b.calls, 1);
    watcher_close(&a);
    watcher_close(&b);
    net_loop_free(l);
}

/* The descriptor's number may be taken by another socket right after the close. */
static void test_loop_watch_of_a_reused_descriptor(void)
{
    struct net_loop *l = NULL;
    struct watcher w;

    CHECK_INT(net_loop_new(&l), 0);
    for (int i = 0; i < 20; i++) {
        watcher_open(&w, l);
        net_watch_set(w.watch, NET_READ);
        send_text(w.pair[1], "x");
        net_run_until(l, was_called, &w);
        CHECK_INT(w.events, NET_READ);
        watcher_close(&w);
    }
    net_loop_free(l);
}

static void test_loop_watch_refuses_no_socket(void)
{
    struct net_loop *l = NULL;
    struct net_watch *w = NULL;

    CHECK_INT(net_loop_new(&l), 0);
    CHECK(net_watch_open(l, SOCK_NONE, on_ready, NULL, &w) < 0);
    CHECK(w == NULL);
    net_loop_free(l);
}

const struct test tests_loop[] = {
    TEST(test_loop_timer_fires_once),
    TEST(test_loop_timer_repeats_until_it_closes_itself),
    TEST(test_loop_timer_start_replaces),
    TEST(test_loop_timers_fire_in_order),
    TEST(test_loop_calls_before_it_sleeps),
    TEST(test_loop_watch_tells_what_was_asked),
    TEST(test_loop_watch_closes_itself),
    TEST(test_loop_closed_watch_is_not_called),
    TEST(test_loop_watch_of_a_reused_descriptor),
    TEST(test_loop_watch_refuses_no_socket),
    TEST_END,
};
