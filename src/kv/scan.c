/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/store.h"

#include "kv/entry.h"
#include "kv/glob.h"
#include "kv/repair.h"
#include "kv/shard.h"
#include "kv/tree.h"

#define BATCH 64 /* buckets that are read under the lock at once */

/* Buckets of all shards have one number; a cursor is the number of the next. */
static uint64_t buckets_of(const struct kv_store *s)
{
    return (uint64_t)s->plan.nshards * s->plan.nbuckets;
}

/* Adds a key as its length and bytes, padded so that lengths are aligned. */
static void add_key(struct buf *keys, struct kv_entry *e, uint32_t len)
{
    size_t n = len;

    buf_add(keys, &n, sizeof(n));
    kv_copy_out(buf_reserve(keys, kv_pad(len)), kv_key_words(e), len);
    keys->len += kv_pad(len);
}

/* The keys of a bucket that live; what has expired goes. Under the lock. */
static void read_bucket(struct kv_store *s, uint32_t shard, uint64_t bucket, struct buf *keys)
{
    uint32_t ref = KV_GET(s->buckets[bucket]), next;
    uint64_t most = s->shards[shard].keys;
    struct kv_entry *e;

    for (uint64_t n = 0; ref != 0 && !s->nonsense; ref = next) {
        if (kv_room(s, ref) == 0 || !kv_shard_is_entry(s, shard, ref) || ++n > most) {
            s->nonsense = true;
            return;
        }
        e = kv_at(s, ref);
        next = KV_GET(e->next);
        if (kv_is_past(KV_GET(e->deadline))) {
            s->shards[shard].expired++;
            kv_shard_remove(s, shard, ref, false);
        } else if (keys) {
            add_key(keys, e, KV_GET(e->key_len));
        }
    }
}

/* From bucket *at on, to the end of the shard or the batch. */
static void read_batch(struct kv_store *s, uint64_t *at, size_t max, struct buf *keys)
{
    uint32_t shard = (uint32_t)(*at / s->plan.nbuckets);
    uint64_t end = MIN(*at + MIN(max, (size_t)BATCH), (uint64_t)(shard + 1) * s->plan.nbuckets);

    kv_shard_lock(s, shard);
    if (s->shards[shard].keys == 0) /* its memory may not even be there yet */
        *at = (uint64_t)(shard + 1) * s->plan.nbuckets;
    for (; *at < end; ++*at)
        read_bucket(s, shard, *at, keys);
    kv_shard_unlock(s, shard);
}

/* False: the callback said so. */
static bool report(
    const struct buf *keys, struct str pattern, size_t *reported, kv_key_cb *cb, void *arg)
{
    struct str key;
    size_t n;

    for (size_t at = 0; at < keys->len; at += sizeof(n) + kv_pad((uint32_t)n)) {
        memcpy(&n, keys->p + at, sizeof(n));
        key = str_n(keys->p + at + sizeof(n), n);
        if (!kv_glob(pattern, key))
            continue;
        ++*reported;
        if (!cb(arg, key))
            return false;
    }
    return true;
}

void kv_store_scan(struct kv_store *s, uint64_t *cursor, struct str pattern, size_t count,
    kv_key_cb *cb, void *arg)
{
    uint64_t at = *cursor, end = buckets_of(s);
    size_t reported = 0;
    struct buf keys = {0};
    bool more = true;

    while (more && at < end && reported < MAX(count, 1)) {
        buf_clear(&keys);
        read_batch(s, &at, BATCH, &keys);
        more = report(&keys, pattern, &reported, cb, arg);
    }
    buf_fini(&keys);
    *cursor = at < end ? at : 0;
}

void kv_store_sweep(struct kv_store *s, size_t buckets)
{
    uint64_t end = buckets_of(s), n = MIN(buckets, end);
    /* relaxed: whose turn it is. */
    uint64_t at = atomic_fetch_add_explicit(&s->h->sweep, (uint32_t)n, memory_order_relaxed) % end;
    uint64_t from;

    for (; n > 0; n -= MIN(n, at - from)) {
        from = at;
        read_batch(s, &at, n, NULL);
        if (at == end) {
            n -= MIN(n, at - from);
            at = from = 0;
        }
    }
}

bool kv_store_reclaim(struct kv_store *s, unsigned steps)
{
    bool left = false;

    for (uint32_t i = 0; i < s->plan.nshards; i++) {
        /* Without the lock: what comes at this moment waits for the next time. */
        if (!KV_GET(s->shards[i].garbage))
            continue;
        if (kv_shard_try(s, i)) {
            kv_tree_reclaim(s, i, steps);
            kv_shard_unlock(s, i);
        }
        left = left || KV_GET(s->shards[i].garbage);
    }
    return left;
}

void kv_store_flush(struct kv_store *s)
{
    for (uint32_t i = 0; i < s->plan.nshards; i++) {
        kv_shard_lock(s, i);
        kv_repair_drop(s, i);
        kv_shard_unlock(s, i);
    }
}
