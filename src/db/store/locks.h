/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_LOCKS_H
#define EPHPM_DB_STORE_LOCKS_H

/*
 * The locks of GET_LOCK(): by name, owned by a session, which may take one several times. Each
 * database has its own names. Any thread.
 */

#include <pthread.h>

#include "base/list.h"
#include "base/str.h"
#include "db/store/turn.h"

struct store_locks {
    /* private to locks.c */
    pthread_mutex_t mutex;
    pthread_cond_t freed;
    struct list locks;
};

enum { STORE_LOCK_NAME = 64 }; /* characters of a name at most */

void store_locks_init(struct store_locks *l);
void store_locks_fini(struct store_locks *l);
/* 1 got it, 0 timeout, -1 stopped. seconds < 0: without end. db is compared as a pointer. */
int store_lock_get(struct store_locks *l, const void *db, struct str name, uint64_t owner,
    double seconds, struct store_stop *stop);
/* 1 released, 0 another's, -1 nobody's. */
int store_lock_release(struct store_locks *l, const void *db, struct str name, uint64_t owner);
/* How many were released, with their counts. */
int store_lock_release_all(struct store_locks *l, uint64_t owner);
/* The owner, or 0. */
uint64_t store_lock_holder(struct store_locks *l, const void *db, struct str name);

/* Waits; false: stopped. */
bool store_sleep(struct store_stop *stop, double seconds);

#endif
