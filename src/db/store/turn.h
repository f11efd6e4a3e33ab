/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_TURN_H
#define EPHPM_DB_STORE_TURN_H

/*
 * The turn to write: one session at a time has it, the others wait in line, first come, first
 * served. SQLite knows one writer at a time anyway; waiting here instead of polling for its lock
 * is what keeps BUSY from clients, and nobody is overtaken.
 *
 * Any thread. Whoever took the turn gives it back from any thread.
 */

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

/* Of a result that changes nothing: the place says why. */
static inline void store_ignore(int code)
{
    (void)code;
}

/* Why a statement has to stop. Written by other threads. */
enum store_kill { STORE_KILL_NONE, STORE_KILL_QUERY, STORE_KILL_SESSION, STORE_KILL_SERVER };

struct store_stop {
    _Atomic int kill;     /* store_kill */
    uint64_t deadline_ns; /* monotonic, 0: none; of the session's own thread */
    bool timed_out;       /* the deadline was met */
};

/* Has the statement to end? */
bool store_stop_asked(struct store_stop *stop);

struct store_turn {
    /* private to turn.c */
    pthread_mutex_t mutex;
    struct list waiters;
    bool taken;
};

void store_turn_init(struct store_turn *t);
void store_turn_fini(struct store_turn *t);
/* 0, ERR_TIMEOUT (wait_ms are over; 0: at once), ERR_INTR (stop). *waited_us is how long it took,
 * 0 when the turn was free. */
int store_turn_take(struct store_turn *t, struct store_stop *stop, uint64_t wait_ms,
    uint64_t *waited_us) __attribute__((warn_unused_result));
void store_turn_give(struct store_turn *t);

/* A condition that waits by the monotonic clock. */
void store_cond_init(pthread_cond_t *c);
/* Waits at most ms; the mutex is held before and after. */
void store_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, uint64_t ms);

#endif
