/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/shard.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "kv/entry.h"
#include "kv/repair.h"
#include "kv/slab.h"
#include "kv/tree.h"
#include "platform/clock.h"
#include "platform/wake.h"

#define CHAIN_MAX     1000000   /* entries; more make no sense */
#define GARBAGE_NODES 1         /* that are freed by whoever changes something */
#define COARSE_NS     50000000u /* the coarse clock is never so far behind */

uint64_t kv_hash(const struct kv_store *s, struct str key)
{
    return XXH3_64bits_withSeed(key.p ? key.p : "", key.len, s->seed);
}

uint64_t kv_now(void)
{
    return clock_mono_ns();
}

bool kv_is_past(uint64_t deadline)
{
    uint64_t coarse;

    if (deadline == 0)
        return false;
    coarse = clock_mono_ms() * 1000000u;
    if (deadline <= coarse || deadline - coarse > COARSE_NS)
        return deadline <= coarse;
    return deadline <= kv_now();
}

/* ---- lock ---- */

static void locked(struct kv_store *s, uint32_t shard, enum shlock_result r)
{
    s->nonsense = false;
    if (r == SHLOCK_DEAD) {
        kv_repair(s, shard);
        if (s->nonsense)
            kv_shard_drop(s, shard);
        shlock_repaired(&s->shards[shard].lock);
    }
}

void kv_shard_lock(struct kv_store *s, uint32_t shard)
{
    locked(s, shard, shlock_lock(&s->shards[shard].lock));
}

bool kv_shard_try(struct kv_store *s, uint32_t shard)
{
    enum shlock_result r = shlock_try(&s->shards[shard].lock);

    if (r == SHLOCK_BUSY)
        return false;
    locked(s, shard, r);
    return true;
}

void kv_shard_drop(struct kv_store *s, uint32_t shard)
{
    kv_repair_drop(s, shard);
    s->shards[shard].dropped++;
    s->nonsense = false;
}

void kv_shard_unlock(struct kv_store *s, uint32_t shard)
{
    if (s->nonsense)
        kv_shard_drop(s, shard);
    shlock_unlock(&s->shards[shard].lock);
}

/* ---- events ---- */

/* The lock orders this and kv_store_wait(): who has seen no change there is seen here. */
static void wake(struct kv_event *ev)
{
    /* relaxed: changed under the lock only; a sleeper that has not slept yet is told by it. */
    atomic_store_explicit(
        &ev->word, atomic_load_explicit(&ev->word, memory_order_relaxed) + 1, memory_order_relaxed);
    /* relaxed: under the lock. Who is woken and sleeps again says so again. */
    if (atomic_load_explicit(&ev->sleepers, memory_order_relaxed) == 0)
        return;
    atomic_store_explicit(&ev->sleepers, 0, memory_order_relaxed);
    wake_word(&ev->word, INT32_MAX);
}

uint64_t kv_shard_changed(struct kv_shard *sh, uint64_t hash, bool removed)
{
    struct kv_event *ev = kv_event_of(sh, hash);

    ev->version++;
    if (removed)
        ev->removed = ev->version;
    wake(ev);
    return ev->version;
}

void kv_shard_changed_all(struct kv_shard *sh)
{
    for (size_t i = 0; i < KV_EVENTS; i++) {
        sh->events[i].removed = ++sh->events[i].version;
        wake(&sh->events[i]);
    }
}

/* ---- entries ---- */

/* Do block, lengths and type fit together? */
static bool fits(const struct kv_store *s, uint32_t shard, uint32_t ref)
{
    struct kv_entry *e = kv_at(s, ref);
    uint32_t index, value_len;
    unsigned class, type;

    if (!kv_slab_locate(s, shard, ref, &class, &index) ||
        index >= s->pages[kv_page_of(s, ref)].fresh)
        return false;
    value_len = KV_GET(e->value_len);
    type = KV_GET(e->type);
    if ((type == KV_INT || type == KV_FLOAT) && value_len != sizeof(uint64_t))
        return false;
    return value_len <= KV_VALUE_MAX && KV_GET(e->key_len) <= KV_KEY_MAX &&
           kv_entry_size(KV_GET(e->key_len), value_len, KV_GET(e->flags)) <= kv_slab_size(class) &&
           kv_shard_of(s, KV_GET(e->hash)) == shard;
}

bool kv_shard_is_entry(const struct kv_store *s, uint32_t shard, uint32_t ref)
{
    struct kv_entry *e = kv_at(s, ref);

    if (!fits(s, shard, ref) || KV_GET(e->flags) & KV_PART)
        return false;
    return !kv_is_coll((enum kv_type)KV_GET(e->type)) ||
           (KV_GET(e->value_len) == sizeof(struct kv_head) && KV_GET(e->flags) == 0);
}

bool kv_shard_is_part(const struct kv_store *s, uint32_t shard, uint32_t ref, uint64_t hash)
{
    struct kv_entry *e = kv_at(s, ref);

    return kv_room(s, ref) != 0 && fits(s, shard, ref) && KV_GET(e->flags) & KV_PART &&
           KV_GET(e->type) != 0 && KV_GET(e->hash) == hash;
}

uint32_t kv_shard_owner(const struct kv_store *s, uint32_t shard, uint64_t hash)
{
    uint32_t ref = KV_GET(*kv_bucket_of(s, hash));

    for (unsigned i = 0; i < CHAIN_MAX && kv_room(s, ref) != 0; i++) {
        struct kv_entry *e = kv_at(s, ref);

        if (KV_GET(e->hash) == hash && kv_is_coll((enum kv_type)KV_GET(e->type)))
            return kv_shard_is_entry(s, shard, ref) ? ref : 0;
        ref = KV_GET(e->next);
    }
    return 0;
}

/* Leaves link at the end of the chain when the key is not there. */
void kv_spot_find(struct kv_store *s, struct kv_spot *spot)
{
    _Atomic uint32_t *link = kv_bucket_of(s, spot->hash);
    uint32_t ref, room;
    struct kv_entry *e;

    spot->e = NULL;
    spot->link = link;
    for (unsigned i = 0; i < CHAIN_MAX && (ref = KV_GET(*link)) != 0; i++) {
        room = kv_room(s, ref);
        if (room == 0)
            break;
        e = kv_at(s, ref);
        if (kv_entry_has_key(s, e, room, spot->hash, spot->key)) {
            if (!kv_shard_is_entry(s, spot->shard, ref) || KV_GET(e->seq) % 2 != 0)
                break;
            spot->link = link;
            spot->ref = ref;
            spot->e = e;
            return;
        }
        link = &e->next;
    }
    if (KV_GET(*link) != 0)
        s->nonsense = true;
}

/* Memory that no cache holds takes longer than the lock: have it come while that is taken. */
static void prefetch_spot(const struct kv_store *s, struct kv_spot *spot)
{
    uint32_t ref;

    __builtin_prefetch(kv_event_of(spot->sh, spot->hash));
    __builtin_prefetch(&spot->sh->keys);
    ref = KV_GET(*kv_bucket_of(s, spot->hash));
    if (kv_room(s, ref) == 0)
        return;
    __builtin_prefetch(kv_at(s, ref));
    kv_prefetch(s, ref);
}

void kv_spot_init(const struct kv_store *s, struct str key, struct kv_spot *spot)
{
    uint64_t hash = kv_hash(s, key);
    uint32_t shard = kv_shard_of(s, hash);

    *spot = (struct kv_spot){.key = key, .hash = hash, .shard = shard, .sh = &s->shards[shard]};
}

void kv_spot_enter(struct kv_store *s, struct kv_spot *spot)
{
    kv_spot_find(s, spot);
    if (s->nonsense)
        kv_shard_drop(s, spot->shard);
    if (spot->e && kv_is_past(KV_GET(spot->e->deadline))) {
        spot->sh->expired++;
        kv_spot_remove(s, spot);
    }
}

void kv_spot_open(struct kv_store *s, struct str key, struct kv_spot *spot)
{
    kv_spot_init(s, key, spot);
    prefetch_spot(s, spot);
    kv_shard_lock(s, spot->shard);
    kv_spot_enter(s, spot);
}

void kv_spot_close(struct kv_store *s, struct kv_spot *spot)
{
    if (KV_GET(spot->sh->garbage) && !s->nonsense)
        kv_tree_reclaim(s, spot->shard, GARBAGE_NODES);
    kv_shard_unlock(s, spot->shard);
}

/* Before anything that a reader may be looking at goes away. */
static void count_change(struct kv_shard *sh)
{
    KV_SET(sh->changes, KV_GET(sh->changes) + 1);
}

static void unlink_spot(struct kv_spot *spot)
{
    count_change(spot->sh);
    KV_SET(*spot->link, KV_GET(spot->e->next));
    spot->e = NULL;
    spot->sh->keys--;
    (void)kv_shard_changed(spot->sh, spot->hash, true);
}

void kv_spot_remove(struct kv_store *s, struct kv_spot *spot)
{
    unlink_spot(spot);
    kv_entry_drop(s, spot->shard, spot->ref, false);
}

void kv_spot_remove_head(struct kv_store *s, struct kv_spot *spot)
{
    unlink_spot(spot);
    kv_entry_free(s, spot->shard, spot->ref);
}

/* What was there before, or 0. */
static uint32_t link_spot(struct kv_store *s, struct kv_spot *spot, uint32_t ref)
{
    struct kv_entry *e = kv_at(s, ref);
    struct kv_event *ev = kv_event_of(spot->sh, spot->hash);
    uint32_t old = spot->e ? spot->ref : 0;

    if (old)
        count_change(spot->sh);
    else
        spot->link = kv_bucket_of(s, spot->hash);
    KV_SET(e->next, old ? KV_GET(spot->e->next) : KV_GET(*spot->link));
    KV_SET(e->version, ev->version + 1);
    KV_SET(e->seq, KV_GET(e->seq) + 1);
    KV_SET(*spot->link, ref);
    if (!old)
        spot->sh->keys++;
    spot->e = e;
    spot->ref = ref;
    (void)kv_shard_changed(spot->sh, spot->hash, false);
    return old;
}

void kv_spot_put(struct kv_store *s, struct kv_spot *spot, uint32_t ref)
{
    uint32_t old = link_spot(s, spot, ref);

    if (old)
        kv_entry_drop(s, spot->shard, old, false);
}

void kv_spot_put_head(struct kv_store *s, struct kv_spot *spot, uint32_t ref)
{
    uint32_t old = link_spot(s, spot, ref);

    if (old)
        kv_entry_free(s, spot->shard, old);
}

void kv_shard_remove(struct kv_store *s, uint32_t shard, uint32_t ref, bool all)
{
    struct kv_spot spot = {.shard = shard, .sh = &s->shards[shard], .ref = ref, .e = kv_at(s, ref)};
    _Atomic uint32_t *link;
    uint32_t at;

    spot.hash = KV_GET(spot.e->hash);
    link = kv_bucket_of(s, spot.hash);
    for (unsigned i = 0; i < CHAIN_MAX; i++) {
        at = KV_GET(*link);
        if (at == ref) {
            spot.link = link;
            unlink_spot(&spot);
            kv_entry_drop(s, shard, ref, all);
            return;
        }
        if (kv_room(s, at) == 0)
            break;
        link = &kv_at(s, at)->next;
    }
    s->nonsense = true;
}
