/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/turn.h"

#include <time.h>

#include "base/err.h"
#include "platform/clock.h"

/* A kill is seen within this time; a turn that is given, at once. */
enum { LOOK_MS = 50 };

struct waiter {
    struct list link;
    pthread_cond_t cond;
    bool given;
};

bool store_stop_asked(struct store_stop *stop)
{
    /* relaxed: the flag alone is of interest */
    if (atomic_load_explicit(&stop->kill, memory_order_relaxed) != STORE_KILL_NONE)
        return true;
    if (stop->deadline_ns && clock_mono_ns() >= stop->deadline_ns) {
        stop->timed_out = true;
        return true;
    }
    return false;
}

void store_cond_init(pthread_cond_t *c)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

void store_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, uint64_t ms)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += (time_t)(ms / 1000);
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    (void)pthread_cond_timedwait(c, m, &at); /* the caller looks at what it waits for */
}

void store_turn_init(struct store_turn *t)
{
    pthread_mutex_init(&t->mutex, NULL);
    list_init(&t->waiters);
    t->taken = false;
}

void store_turn_fini(struct store_turn *t)
{
    pthread_mutex_destroy(&t->mutex);
}

/* In line until it is given the turn. The mutex is held. */
static int wait_in_line(
    struct store_turn *t, struct store_stop *stop, uint64_t end_ns, struct waiter *w)
{
    list_push(&t->waiters, &w->link);
    while (!w->given) {
        uint64_t now = clock_mono_ns();
        int code = store_stop_asked(stop) ? ERR_INTR : now >= end_ns ? ERR_TIMEOUT : 0;

        if (code) {
            list_remove(&w->link);
            return code;
        }
        store_cond_wait(&w->cond, &t->mutex, MIN((end_ns - now) / 1000000 + 1, LOOK_MS));
    }
    return 0;
}

int store_turn_take(
    struct store_turn *t, struct store_stop *stop, uint64_t wait_ms, uint64_t *waited_us)
{
    struct waiter w = {.given = false};
    uint64_t start;
    int code = 0;

    *waited_us = 0;
    pthread_mutex_lock(&t->mutex);
    if (!t->taken) {
        t->taken = true;
    } else if (wait_ms == 0) {
        code = ERR_TIMEOUT;
    } else {
        start = clock_mono_ns();
        store_cond_init(&w.cond);
        code = wait_in_line(t, stop, start + wait_ms * 1000000, &w);
        pthread_cond_destroy(&w.cond);
        *waited_us = (clock_mono_ns() - start) / 1000;
    }
    pthread_mutex_unlock(&t->mutex);
    return code;
}

void store_turn_give(struct store_turn *t)
{
    struct list *next;

    pthread_mutex_lock(&t->mutex);
    if ((next = list_pop(&t->waiters))) {
        struct waiter *w = CONTAINER_OF(next, struct waiter, link);

        w->given = true;
        pthread_cond_signal(&w->cond);
    } else {
        t->taken = false;
    }
    pthread_mutex_unlock(&t->mutex);
}
