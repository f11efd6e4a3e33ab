/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/store.h"

#include "kv/change.h"
#include "kv/entry.h"
#include "kv/shard.h"
#include "platform/wake.h"

/* Looks again after so long, since who changed a key may die before it tells. */
#define LOOK_MS 1000

/* Value and version now. True: that is what was waited for. *until: when the key ends, 0 never. */
static bool look(struct kv_store *s, struct str key, uint64_t last, struct buf *buf,
    struct kv_value *out, uint64_t *version, uint64_t *until, int *result)
{
    struct kv_spot spot;
    uint64_t v;

    kv_spot_open(s, key, &spot);
    v = kv_version_at(&spot);
    *until = spot.e ? KV_GET(spot.e->deadline) : 0;
    *result = ERR_NOTFOUND;
    if (v > last && spot.e) {
        *result = kv_entry_copy(s, spot.ref, buf, out);
        if (*result && *result != ERR_TYPE) {
            s->nonsense = true;
            *result = ERR_NOTFOUND;
        }
    }
    kv_spot_close(s, &spot);
    *version = v;
    return v > last;
}

/* ms from now to the earliest of these; 0 and less: it is over. */
static int64_t time_left(uint64_t end, uint64_t until)
{
    uint64_t now = kv_now();
    int64_t ms = end > now ? (int64_t)((end - now + KV_NS_PER_MS - 1) / KV_NS_PER_MS) : 0;

    if (until && ms)
        ms = MIN(ms, until > now ? (int64_t)((until - now + KV_NS_PER_MS - 1) / KV_NS_PER_MS) : 1);
    return MIN(ms, LOOK_MS);
}

int kv_store_wait(struct kv_store *s, struct str key, uint64_t last, int timeout, struct buf *buf,
    struct kv_value *out, uint64_t *version)
{
    uint64_t end = kv_now() + (uint64_t)MAX(timeout, 0) * KV_NS_PER_MS, until, hash, v;
    struct kv_event *ev;
    uint32_t seen;
    int64_t ms;
    int r;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    hash = kv_hash(s, key);
    ev = kv_event_of(&s->shards[kv_shard_of(s, hash)], hash);
    for (;;) {
        /* seq_cst: store sleepers, load word here against store word, load sleepers of who changes
         * something: it wakes us, or the word is not what we saw, or we see the change. */
        atomic_store_explicit(&ev->sleepers, 1, memory_order_seq_cst);
        seen = atomic_load_explicit(&ev->word, memory_order_seq_cst);
        if (look(s, key, last, buf, out, &v, &until, &r)) {
            if (r == 0)
                r = kv_finish(s, key, buf, out);
            *version = v;
            return r;
        }
        ms = time_left(end, until);
        if (ms <= 0)
            return ERR_TIMEOUT;
        r = wake_wait(&ev->word, seen, (int)ms);
        if (r && r != ERR_TIMEOUT)
            return r;
    }
}
