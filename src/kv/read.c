/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/read.h"

#include "kv/change.h"
#include "kv/entry.h"
#include "kv/shard.h"

/* What a reader holds on to while it looks: if these stay, what it saw was there. */
struct look {
    uint64_t changes, releases;
    uint32_t ref, seq;
};

/* Follows the chain, through whatever it may lead. ERR_AGAIN: into nonsense. */
static int find(const struct kv_store *s, struct look *look, uint64_t hash, struct str key)
{
    uint32_t ref = KV_GET(*kv_bucket_of(s, hash)), room;
    struct kv_entry *e;

    for (unsigned i = 0; i < KV_STEPS; i++) {
        if (ref == 0)
            return ERR_NOTFOUND;
        room = kv_room(s, ref);
        if (room == 0)
            return ERR_AGAIN;
        e = kv_at(s, ref);
        kv_prefetch(s, ref);
        look->seq = KV_GET(e->seq);
        if (kv_entry_has_key(s, e, room, hash, key)) {
            look->ref = ref;
            return look->seq % 2 == 0 ? 0 : ERR_AGAIN;
        }
        ref = KV_GET(e->next);
    }
    return ERR_AGAIN;
}

/* ERR_AGAIN: something changed meanwhile. */
static int try_read(struct kv_store *s, uint64_t hash, struct str key, struct buf *buf,
    struct kv_value *out, uint64_t *deadline)
{
    struct kv_shard *sh = &s->shards[kv_shard_of(s, hash)];
    struct look look = {.changes = KV_GET(sh->changes), .releases = KV_GET(sh->releases)};
    int r = find(s, &look, hash, key);
    struct kv_entry *e;

    /* Nothing was unlinked on the way: neither was a key passed by, nor is this one from a block
     * that is used anew. */
    if (r == ERR_AGAIN || KV_GET(sh->changes) != look.changes)
        return ERR_AGAIN;
    if (r)
        return r;
    e = kv_at(s, look.ref);
    *deadline = KV_GET(e->deadline);
    r = buf ? kv_entry_copy(s, look.ref, buf, out) : 0;
    /* The block still is the entry that was found, and so were the bytes copied out of it. */
    if ((r && r != ERR_TYPE) || KV_GET(e->seq) != look.seq || KV_GET(sh->releases) != look.releases)
        return ERR_AGAIN;
    if (kv_is_past(*deadline))
        return ERR_NOTFOUND;
    /* relaxed: a hint for eviction; beside the pages, so that it harms nobody who uses the block by
     * now. */
    if (atomic_load_explicit(kv_mark_of(s, look.ref), memory_order_relaxed) == 0)
        atomic_store_explicit(kv_mark_of(s, look.ref), 1, memory_order_relaxed);
    if (UNLIKELY(buf && out->coding) && r == 0)
        return kv_finish(s, key, buf, out);
    return r;
}

static int read_locked(
    struct kv_store *s, struct str key, struct buf *buf, struct kv_value *out, uint64_t *deadline)
{
    struct kv_spot spot;
    int r = ERR_NOTFOUND;

    kv_spot_open(s, key, &spot);
    if (spot.e) {
        *deadline = KV_GET(spot.e->deadline);
        r = buf ? kv_entry_copy(s, spot.ref, buf, out) : 0;
        if (r && r != ERR_TYPE) {
            s->nonsense = true;
            r = ERR_NOTFOUND;
        }
    }
    kv_spot_close(s, &spot);
    return r == 0 && buf ? kv_finish(s, key, buf, out) : r;
}

int kv_read(
    struct kv_store *s, struct str key, struct buf *buf, struct kv_value *out, uint64_t *deadline)
{
    uint64_t hash = kv_hash(s, key);
    int r;

    for (int i = 0; i < KV_TRIES; i++) {
        r = try_read(s, hash, key, buf, out, deadline);
        if (r != ERR_AGAIN)
            return r;
    }
    return read_locked(s, key, buf, out, deadline);
}
