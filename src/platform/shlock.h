/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_SHLOCK_H
#define EPHPM_PLATFORM_SHLOCK_H

/*
 * A lock in shared memory that survives its owner's death: between processes and between threads.
 *
 * Whoever takes it after a holder died is told (SHLOCK_DEAD) and holds it; what it guards may be
 * half changed, so it is repaired before shlock_repaired() and shlock_unlock(). A holder that dies
 * before that leaves it to the next one in the same way. Not recursive.
 *
 * The lock's own bytes are trusted: a process that overwrites them can hang or end the others.
 */

#include <stdalign.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

struct shlock {
    alignas(64) char opaque[64];
};

enum shlock_result {
    SHLOCK_OK,
    SHLOCK_DEAD, /* taken, and the last holder died with it */
    SHLOCK_BUSY, /* not taken, only shlock_try() says so */
};

/* Once, by the process that makes the segment. ERR_NOMEM, ERR_UNSUPPORTED. */
int shlock_init(struct shlock *l) MUST_CHECK;
enum shlock_result shlock_lock(struct shlock *l) MUST_CHECK;
enum shlock_result shlock_try(struct shlock *l) MUST_CHECK;
/* By the holder that was told SHLOCK_DEAD. */
void shlock_repaired(struct shlock *l);
void shlock_unlock(struct shlock *l);

#endif
