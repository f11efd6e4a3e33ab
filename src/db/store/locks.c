/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/locks.h"

#include "base/mem.h"
#include "platform/clock.h"

enum { LOOK_MS = 50, FOREVER_S = 365 * 24 * 3600 };

struct lock {
    struct list link;
    const void *db;
    uint64_t owner;
    uint32_t count;
    struct str name;
    char bytes[];
};

void store_locks_init(struct store_locks *l)
{
    pthread_mutex_init(&l->mutex, NULL);
    store_cond_init(&l->freed);
    list_init(&l->locks);
}

void store_locks_fini(struct store_locks *l)
{
    struct list *it;

    while ((it = list_pop(&l->locks)))
        mem_free(CONTAINER_OF(it, struct lock, link));
    pthread_cond_destroy(&l->freed);
    pthread_mutex_destroy(&l->mutex);
}

static struct lock *find(struct store_locks *l, const void *db, struct str name)
{
    list_each (it, &l->locks) {
        struct lock *lock = CONTAINER_OF(it, struct lock, link);

        if (lock->db == db && str_ieq(lock->name, name))
            return lock;
    }
    return NULL;
}

static void take(struct store_locks *l, const void *db, struct str name, uint64_t owner)
{
    struct lock *lock = mem_new(sizeof(*lock) + name.len);

    memcpy(lock->bytes, name.p, name.len);
    lock->name = str_n(lock->bytes, name.len);
    lock->db = db;
    lock->owner = owner;
    lock->count = 1;
    list_push(&l->locks, &lock->link);
}

static uint64_t end_of(double seconds)
{
    if (seconds < 0 || seconds > FOREVER_S)
        seconds = FOREVER_S;
    return clock_mono_ns() + (uint64_t)(seconds * 1e9);
}

int store_lock_get(struct store_locks *l, const void *db, struct str name, uint64_t owner,
    double seconds, struct store_stop *stop)
{
    uint64_t end = end_of(seconds), now;
    struct lock *lock;
    int result = 1;

    pthread_mutex_lock(&l->mutex);
    while ((lock = find(l, db, name)) && lock->owner != owner) {
        now = clock_mono_ns();
        if (store_stop_asked(stop))
            result = -1;
        else if (now >= end)
            result = 0;
        if (result != 1)
            break;
        store_cond_wait(&l->freed, &l->mutex, MIN((end - now) / 1000000 + 1, LOOK_MS));
    }
    if (result == 1 && lock)
        lock->count++;
    else if (result == 1)
        take(l, db, name, owner);
    pthread_mutex_unlock(&l->mutex);
    return result;
}

int store_lock_release(struct store_locks *l, const void *db, struct str name, uint64_t owner)
{
    struct lock *lock;
    int result = -1;

    pthread_mutex_lock(&l->mutex);
    if ((lock = find(l, db, name))) {
        result = lock->owner == owner;
        if (result && --lock->count == 0) {
            list_remove(&lock->link);
            mem_free(lock);
            pthread_cond_broadcast(&l->freed);
        }
    }
    pthread_mutex_unlock(&l->mutex);
    return result;
}

int store_lock_release_all(struct store_locks *l, uint64_t owner)
{
    int n = 0;

    pthread_mutex_lock(&l->mutex);
    list_each_safe (it, &l->locks) {
        struct lock *lock = CONTAINER_OF(it, struct lock, link);

        if (lock->owner != owner)
            continue;
        n += (int)lock->count;
        list_remove(&lock->link);
        mem_free(lock);
    }
    if (n)
        pthread_cond_broadcast(&l->freed);
    pthread_mutex_unlock(&l->mutex);
    return n;
}

uint64_t store_lock_holder(struct store_locks *l, const void *db, struct str name)
{
    struct lock *lock;
    uint64_t owner;

    pthread_mutex_lock(&l->mutex);
    lock = find(l, db, name);
    owner = lock ? lock->owner : 0;
    pthread_mutex_unlock(&l->mutex);
    return owner;
}

bool store_sleep(struct store_stop *stop, double seconds)
{
    uint64_t end = end_of(seconds < 0 ? 0 : seconds), now;

    while ((now = clock_mono_ns()) < end) {
        if (store_stop_asked(stop))
            return false;
        clock_sleep_ms((unsigned)MIN((end - now) / 1000000 + 1, LOOK_MS));
    }
    return !store_stop_asked(stop);
}
