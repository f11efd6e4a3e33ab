/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/*
 * A word that holds the owner's process, and a mark while its repair is due. Words wake no other
 * process here and mutexes have no place in memory, so who waits spins, then sleeps, and looks from
 * time to time whether the owner still lives.
 */
#include "platform/shlock.h"

#include <windows.h>

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>

struct words {
    _Atomic uint32_t owner; /* process id, 0: free */
    _Atomic uint32_t due;   /* the holder was told of a death and has not repaired yet */
};

enum { SPINS = 200, LOOK_EVERY = 50 };

static_assert(sizeof(struct words) <= sizeof(struct shlock), "layout");

static struct words *words_of(struct shlock *l)
{
    return (struct words *)(void *)l->opaque;
}

static bool is_dead(DWORD process)
{
    HANDLE h = OpenProcess(SYNCHRONIZE, FALSE, process);
    bool dead;

    if (!h)
        return GetLastError() == ERROR_INVALID_PARAMETER;
    dead = WaitForSingleObject(h, 0) == WAIT_OBJECT_0;
    (void)CloseHandle(h);
    return dead;
}

int shlock_init(struct shlock *l)
{
    atomic_init(&words_of(l)->owner, 0);
    atomic_init(&words_of(l)->due, 0);
    return 0;
}

/* Takes it over from `from`. */
static bool take(struct words *w, uint32_t from)
{
    /* acquire: pairs with the release in shlock_unlock(). */
    return atomic_compare_exchange_strong_explicit(
        &w->owner, &from, GetCurrentProcessId(), memory_order_acquire, memory_order_relaxed);
}

static enum shlock_result taken(struct words *w, bool died)
{
    /* relaxed: the holder's own. */
    if (died)
        atomic_store_explicit(&w->due, 1, memory_order_relaxed);
    return atomic_load_explicit(&w->due, memory_order_relaxed) ? SHLOCK_DEAD : SHLOCK_OK;
}

enum shlock_result shlock_try(struct shlock *l)
{
    struct words *w = words_of(l);

    return take(w, 0) ? taken(w, false) : SHLOCK_BUSY;
}

enum shlock_result shlock_lock(struct shlock *l)
{
    struct words *w = words_of(l);
    uint32_t owner;

    for (unsigned i = 1;; i++) {
        if (take(w, 0))
            return taken(w, false);
        if (i < SPINS)
            continue;
        /* relaxed: only the exchange decides. */
        owner = atomic_load_explicit(&w->owner, memory_order_relaxed);
        if (i % LOOK_EVERY == 0 && owner && is_dead(owner) && take(w, owner))
            return taken(w, true);
        Sleep(i < 2 * SPINS ? 0 : 1);
    }
}

void shlock_repaired(struct shlock *l)
{
    /* relaxed: the holder's own. */
    atomic_store_explicit(&words_of(l)->due, 0, memory_order_relaxed);
}

void shlock_unlock(struct shlock *l)
{
    /* release: pairs with the acquire in take(). */
    atomic_store_explicit(&words_of(l)->owner, 0, memory_order_release);
}
