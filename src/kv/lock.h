/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_LOCK_H
#define EPHPM_KV_LOCK_H

/*
 * Locks that are keys of the store: held while work goes on that no other process shall do at the
 * same time. They outlast calls, unlike the locks inside the store.
 *
 * The key's value is text that names the owner, "pid start number". Whoever waits sleeps until the
 * key changes, and looks every KV_LOCK_LOOK_MS whether the owner still runs; a dead one's lock is
 * taken over by compare and set, so exactly one waiter gets it. A value that names nobody is a dead
 * one's. The key has no deadline, and no policy evicts it. A lock that a flush took away may have
 * two holders then: each release takes away only its own.
 *
 * These functions use the store as its other ones do, and leave nothing behind in this process.
 */

#include "kv/store.h"

#define KV_LOCK_LOOK_MS 200
/* With a session's id behind it: the lock of the request that has the session. */
#define KV_SESSION_LOCK "session_lock:"

struct kv_owner {
    int64_t pid;
    uint64_t start;  /* of the process; 0: unknown */
    uint64_t number; /* tells owners of one process apart */
};

/* This process; again after a fork. */
void kv_owner_init(struct kv_owner *o, uint64_t number);

/* Asked at least every KV_LOCK_LOOK_MS while waiting, and when a signal handler ran. True ends the
 * wait. May not leave by other ways than returning. */
typedef bool kv_lock_stop_cb(void *arg);

struct kv_lock_wait {
    int64_t timeout;       /* ms; negative: for ever */
    kv_lock_stop_cb *stop; /* NULL: nothing else ends it */
    void *arg;
    bool taken_over; /* afterwards: the lock was a dead one's */
};

/*
 * Waits for the lock. Succeeds at once when `me` has it already. ERR_TIMEOUT; ERR_INTR: stop said
 * so; ERR_FULL: the store has no room for it; ERR_TOOBIG.
 */
int kv_lock_take(struct kv_store *s, struct str key, const struct kv_owner *me,
    struct kv_lock_wait *wait) MUST_CHECK;
/* ERR_NOTFOUND: nobody has it; ERR_BUSY: another one has. */
int kv_lock_release(struct kv_store *s, struct str key, const struct kv_owner *me) MUST_CHECK;

/*
 * Frees the locks of the dead among the next `count` keys or so: those with this prefix. Goes on at
 * *cursor as kv_store_scan() does; returns how many. For a timer: a dead one's lock that nobody
 * waits for costs memory only.
 */
size_t kv_lock_sweep(struct kv_store *s, uint64_t *cursor, struct str prefix, size_t count);

#endif
