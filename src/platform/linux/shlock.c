/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/shlock.h"

#include <assert.h>
#include <pthread.h>

#include "base/mem.h"
#include "platform/linux/oserr.h"

static_assert(sizeof(pthread_mutex_t) <= sizeof(struct shlock), "layout");

static pthread_mutex_t *mutex_of(struct shlock *l)
{
    return (pthread_mutex_t *)(void *)l->opaque;
}

int shlock_init(struct shlock *l)
{
    pthread_mutexattr_t a;
    int e = pthread_mutexattr_init(&a);

    if (e)
        return oserr_code(e);
    e = pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
    if (!e)
        e = pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
    if (!e)
        e = pthread_mutex_init(mutex_of(l), &a);
    (void)pthread_mutexattr_destroy(&a);
    return e ? oserr_code(e) : 0;
}

static enum shlock_result result_of(int e)
{
    if (e == EBUSY)
        return SHLOCK_BUSY;
    /* Anything else: the bytes are no lock any more, or we hold it already. */
    ENSURE(e == 0 || e == EOWNERDEAD);
    return e ? SHLOCK_DEAD : SHLOCK_OK;
}

enum shlock_result shlock_lock(struct shlock *l)
{
    return result_of(pthread_mutex_lock(mutex_of(l)));
}

enum shlock_result shlock_try(struct shlock *l)
{
    return result_of(pthread_mutex_trylock(mutex_of(l)));
}

void shlock_repaired(struct shlock *l)
{
    ENSURE(pthread_mutex_consistent(mutex_of(l)) == 0);
}

void shlock_unlock(struct shlock *l)
{
    ENSURE(pthread_mutex_unlock(mutex_of(l)) == 0);
}
