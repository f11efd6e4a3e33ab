/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/store.h"

#include "kv/change.h"
#include "kv/entry.h"
#include "kv/shard.h"
#include "platform/wake.h"

/* Looks again after so long, since who changed a key may die before it tells. */
#define LOOK_MS 1000

/* What a look at a key found. */
struct look {
    struct kv_event *ev;
    uint32_t word;    /* of the event: it is another one once the key has changed */
    uint64_t version; /* now */
    uint64_t until;   /* when the key ends, 0 never */
    int result;
};

/* Value and version now. True: that is what was waited for. Else who changes it wakes us. */
static bool look(struct kv_store *s, struct str key, uint64_t last, struct buf *buf,
    struct kv_value *out, struct look *l)
{
    struct kv_spot spot;
    uint64_t v;

    kv_spot_open(s, key, &spot);
    l->ev = kv_event_of(spot.sh, spot.hash);
    v = kv_version_at(&spot);
    l->until = spot.e ? KV_GET(spot.e->deadline) : 0;
    l->result = ERR_NOTFOUND;
    if (v > last && spot.e) {
        l->result = kv_entry_copy(s, spot.ref, buf, out);
        if (l->result && l->result != ERR_TYPE) {
            s->nonsense = true;
            l->result = ERR_NOTFOUND;
        }
    }
    /* relaxed: under the lock, as in wake() of shard.c. */
    if (v <= last)
        atomic_store_explicit(&l->ev->sleepers, 1, memory_order_relaxed);
    l->word = atomic_load_explicit(&l->ev->word, memory_order_relaxed);
    kv_spot_close(s, &spot);
    l->version = v;
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
    uint64_t end = kv_now() + (uint64_t)MAX(timeout, 0) * KV_NS_PER_MS;
    struct look l;
    int64_t ms;
    int r;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    for (;;) {
        if (look(s, key, last, buf, out, &l)) {
            r = l.result == 0 ? kv_finish(s, key, buf, out) : l.result;
            *version = l.version;
            return r;
        }
        ms = time_left(end, l.until);
        if (ms <= 0)
            return ERR_TIMEOUT;
        r = wake_wait(&l.ev->word, l.word, (int)ms);
        if (r && r != ERR_TIMEOUT)
            return r;
    }
}
