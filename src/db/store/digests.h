/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_DIGESTS_H
#define EPHPM_DB_STORE_DIGESTS_H

/*
 * Statistics of statements by shape: a bounded table; the shape that was not seen longest makes
 * room. Any thread.
 */

#include <pthread.h>

#include "base/list.h"
#include "base/map.h"
#include "db/store/server.h"

struct store_digests {
    /* private to digests.c */
    pthread_mutex_t mutex;
    struct map map;
    struct list used; /* least recently seen first */
    uint32_t n, max;
};

void store_digests_init(struct store_digests *d, uint32_t max);
void store_digests_fini(struct store_digests *d);
/* One statement that ended. database and text are copied when the shape is new. */
void store_digests_add(struct store_digests *d, const void *db, struct str database, uint64_t hash,
    struct str text, uint64_t us, bool failed, uint64_t sent, uint64_t changed);
void store_digests_each(struct store_digests *d, struct str database,
    void (*cb)(void *arg, const struct db_digest *digest), void *arg);

#endif
