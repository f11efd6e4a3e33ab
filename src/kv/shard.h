/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_SHARD_H
#define EPHPM_KV_SHARD_H

/*
 * A shard's lock, its chains, and the place of a key in them.
 *
 * Everything here but kv_hash() and the clock is done with the shard's lock held. Unlocking drops
 * the shard when something in it made no sense.
 */

#include "kv/layout.h"

/* Where a key is, or would be linked. Valid while the lock is held and nothing was evicted. */
struct kv_spot {
    struct str key;
    uint64_t hash;
    uint32_t shard;
    struct kv_shard *sh;
    _Atomic uint32_t *link; /* that leads to it */
    struct kv_entry *e;     /* NULL: it is not there */
    uint32_t ref;
};

uint64_t kv_hash(const struct kv_store *s, struct str key);

/* Now, in ns. */
uint64_t kv_now(void);
/* Has this deadline passed? Looks at the clock only for keys that have one, and at the precise one
 * only close to it. */
bool kv_is_past(uint64_t deadline);

/* Takes the lock, repairing the shard if its holder died. */
void kv_shard_lock(struct kv_store *s, uint32_t shard);
/* False: somebody has it. */
bool kv_shard_try(struct kv_store *s, uint32_t shard);
void kv_shard_unlock(struct kv_store *s, uint32_t shard);
/* Empties a shard in which nonsense was met. */
void kv_shard_drop(struct kv_store *s, uint32_t shard);

/* Locks the key's shard and finds it; what has expired is removed. End with kv_spot_close(). */
void kv_spot_open(struct kv_store *s, struct str key, struct kv_spot *spot);
void kv_spot_close(struct kv_store *s, struct kv_spot *spot);
/* The same in pieces, for several keys: where a key belongs, without any lock; then, with the lock,
 * finding it, and dropping the shard if it makes no sense. */
void kv_spot_init(const struct kv_store *s, struct str key, struct kv_spot *spot);
void kv_spot_enter(struct kv_store *s, struct kv_spot *spot);
/* Finds it again, after something may have been evicted. */
void kv_spot_find(struct kv_store *s, struct kv_spot *spot);
/* Unlinks and frees; tells who waits. */
void kv_spot_remove(struct kv_store *s, struct kv_spot *spot);
/* Links a finished block in the place of what is there, which is freed; tells who waits. */
void kv_spot_put(struct kv_store *s, struct kv_spot *spot, uint32_t ref);
/* The same two for a collection that has changed: the parts of the old one stay. */
void kv_spot_remove_head(struct kv_store *s, struct kv_spot *spot);
void kv_spot_put_head(struct kv_store *s, struct kv_spot *spot, uint32_t ref);

/* The same as kv_spot_remove() for a reference, which is searched; all: a large collection is freed
 * at once, too. */
void kv_shard_remove(struct kv_store *s, uint32_t shard, uint32_t ref, bool all);
/* Is this block an entry that can be used as one? */
bool kv_shard_is_entry(const struct kv_store *s, uint32_t shard, uint32_t ref);
/* Is it a part of a collection whose key has this hash? */
bool kv_shard_is_part(const struct kv_store *s, uint32_t shard, uint32_t ref, uint64_t hash);
/* The collection whose key has this hash; 0: there is none. */
uint32_t kv_shard_owner(const struct kv_store *s, uint32_t shard, uint64_t hash);

/* Counts a change of a key and wakes who waits for it; the new version. */
uint64_t kv_shard_changed(struct kv_shard *sh, uint64_t hash, bool removed);
/* Everything changed. */
void kv_shard_changed_all(struct kv_shard *sh);

static inline struct kv_event *kv_event_of(struct kv_shard *sh, uint64_t hash)
{
    return &sh->events[hash >> 32 & (KV_EVENTS - 1)];
}

/* The version of the key there; a missing one has that of what was removed last. */
static inline uint64_t kv_version_at(const struct kv_spot *spot)
{
    uint64_t removed;

    if (spot->e)
        return KV_GET(spot->e->version);
    removed = kv_event_of(spot->sh, spot->hash)->removed;
    return removed ? removed : 1;
}

#endif
