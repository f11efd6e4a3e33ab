/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_NET_LOOP_H
#define EPHPM_NET_LOOP_H

/*
 * The event loop: descriptors, timers and signals on libuv.
 *
 * One loop per thread; everything here is called on that thread. Callbacks run from net_loop_run()
 * only, never from inside the call that arms them. Handles are ours: *_close() stops the callbacks
 * at once and frees the memory after the loop's current round, so a callback may close its own
 * handle.
 *
 * Files of net in reading order: loop.c, deadline.c (many timeouts, few timers), stream.c (a client
 * socket with a write queue). It depends on libuv, platform and core.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "platform/sock.h"

struct net_loop;
struct net_watch;
struct net_timer;
struct net_signal;

int net_loop_new(struct net_loop **out) MUST_CHECK;
/* All handles must have been closed; runs their last close callbacks. NULL is fine. */
void net_loop_free(struct net_loop *l);
/* Until net_loop_stop(). */
void net_loop_run(struct net_loop *l);
void net_loop_stop(struct net_loop *l);
/* Milliseconds of the monotonic clock, as of this round. */
uint64_t net_loop_now(const struct net_loop *l);
/* Reads the clock again (after long work). */
void net_loop_update(struct net_loop *l);
/* Called each round just before the loop sleeps; one per loop. NULL removes. */
typedef void net_sleep_cb(void *arg);
void net_loop_on_sleep(struct net_loop *l, net_sleep_cb *cb, void *arg);

enum { NET_READ = 1, NET_WRITE = 2 };
/* events: what is ready; a hang-up or error shows as everything that was asked for. */
typedef void net_watch_cb(void *arg, int events);
/* fd stays the caller's and must stay open until net_watch_close(). Nothing is watched yet. */
int net_watch_open(
    struct net_loop *l, sock_t fd, net_watch_cb *cb, void *arg, struct net_watch **out) MUST_CHECK;
/* 0 stops watching. */
void net_watch_set(struct net_watch *w, int events);
int net_watch_get(const struct net_watch *w);
/* The descriptor may be closed right afterwards. NULL is fine. */
void net_watch_close(struct net_watch *w);

typedef void net_timer_cb(void *arg);
struct net_timer *net_timer_open(struct net_loop *l, net_timer_cb *cb, void *arg);
/* Once after ms, then every repeat_ms (0: no more). Arming again replaces. */
void net_timer_start(struct net_timer *t, uint64_t ms, uint64_t repeat_ms);
void net_timer_stop(struct net_timer *t);
void net_timer_close(struct net_timer *t); /* NULL is fine */

typedef void net_signal_cb(void *arg, int signum);
int net_signal_open(struct net_loop *l, int signum, net_signal_cb *cb, void *arg,
    struct net_signal **out) MUST_CHECK;
void net_signal_close(struct net_signal *s); /* NULL is fine */

#endif
