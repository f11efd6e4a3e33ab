/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/keys.h"

#include "kv/change.h"
#include "kv/entry.h"
#include "kv/evict.h"
#include "kv/shard.h"
#include "kv/slab.h"

#define RANDOM_TRIES   16    /* buckets that are tried, then: */
#define RANDOM_BUCKETS 16384 /* of so many in a row one key */

/* ---- one key ---- */

/* Of a value as its reader sees it. */
static uint64_t length_of(struct kv_store *s, const struct kv_spot *spot)
{
    unsigned type = KV_GET(spot->e->type);
    uint32_t packed; /* the length that a compressed one begins with (codec.h) */
    struct kv_value v;

    if ((type == KV_STRING || type == KV_SERIALIZED) && KV_GET(spot->e->flags) & KV_CODING)
        return kv_entry_peek(s, spot->ref, 0, sizeof(packed), (char *)&packed) == 0 ? packed : 0;
    if (type == KV_STRING || type == KV_SERIALIZED)
        return KV_GET(spot->e->value_len);
    if (type != KV_INT && type != KV_FLOAT)
        return 0;
    if (kv_take(s, spot, &s->scratch, &v) != 0 || !kv_make_string(&v, &s->scratch))
        return 0;
    return v.bytes.len;
}

static uint64_t memory_of(struct kv_store *s, const struct kv_spot *spot)
{
    unsigned class;
    uint32_t index;

    if (!kv_slab_locate(s, spot->shard, spot->ref, &class, &index)) {
        s->nonsense = true;
        return 0;
    }
    if (!(KV_GET(spot->e->flags) & KV_PAGED))
        return kv_slab_size(class);
    return kv_slab_size(class) + (uint64_t)kv_pages_for(KV_GET(spot->e->value_len)) * KV_PAGE;
}

void kv_describe(struct kv_store *s, const struct kv_spot *spot, struct kv_info *out)
{
    uint64_t deadline = KV_GET(spot->e->deadline), now = kv_now();
    struct kv_head head = {.count = 1};

    out->type = (enum kv_type)KV_GET(spot->e->type);
    out->version = KV_GET(spot->e->version);
    out->until = deadline ? kv_deadline_wall(s, deadline) : KV_NO_TTL;
    out->ttl = KV_NO_TTL;
    if (deadline)
        out->ttl = (int64_t)((MAX(deadline, now + 1) - now + KV_NS_PER_MS - 1) / KV_NS_PER_MS);
    out->length = length_of(s, spot);
    if (kv_is_coll(out->type))
        kv_entry_head(spot->e, &head);
    out->count = head.count;
    out->bytes = memory_of(s, spot) + head.bytes;
    /* relaxed: a hint. */
    out->was_read = atomic_load_explicit(kv_mark_of(s, spot->ref), memory_order_relaxed);
}

int kv_store_info(struct kv_store *s, struct str key, struct kv_info *out)
{
    struct kv_spot spot;
    int r = 0;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    if (spot.e) {
        kv_describe(s, &spot, out);
    } else {
        out->version = MAX(kv_event_of(spot.sh, spot.hash)->removed, 1);
        r = ERR_NOTFOUND;
    }
    kv_spot_close(s, &spot);
    return r;
}

int kv_store_type(struct kv_store *s, struct str key, enum kv_type *out)
{
    struct kv_spot spot;
    int r = ERR_NOTFOUND;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    if (spot.e) {
        *out = (enum kv_type)KV_GET(spot.e->type);
        r = 0;
    }
    kv_spot_close(s, &spot);
    return r;
}

int kv_store_until(struct kv_store *s, struct str key, int64_t *when)
{
    struct kv_spot spot;
    uint64_t deadline;
    int r = ERR_NOTFOUND;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    if (spot.e) {
        deadline = KV_GET(spot.e->deadline);
        *when = deadline ? kv_deadline_wall(s, deadline) : KV_NO_TTL;
        r = 0;
    }
    kv_spot_close(s, &spot);
    return r;
}

static bool holds(unsigned conditions, uint64_t is, uint64_t new)
{
    if ((conditions & KV_IF_NONE && is) || (conditions & KV_IF_SOME && !is))
        return false;
    if (conditions & KV_IF_LATER && (!is || new <= is))
        return false;
    return !(conditions & KV_IF_EARLIER) || !is || new < is;
}

int kv_store_expire_at(struct kv_store *s, struct str key, int64_t when, unsigned conditions)
{
    uint64_t deadline = kv_deadline_at(s, when);
    struct kv_spot spot;
    int r = 0;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    if (!spot.e)
        r = ERR_NOTFOUND;
    else if (!holds(conditions, KV_GET(spot.e->deadline), deadline))
        r = ERR_BUSY;
    else if (kv_is_past(deadline))
        kv_spot_remove(s, &spot);
    else
        kv_set_deadline(&spot, deadline);
    kv_spot_close(s, &spot);
    return r;
}

/* ---- all keys ---- */

uint64_t kv_store_count(struct kv_store *s)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < s->plan.nshards; i++) {
        kv_shard_lock(s, i);
        n += s->shards[i].keys;
        kv_shard_unlock(s, i);
    }
    return n;
}

uint64_t kv_store_changes(struct kv_store *s)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < s->plan.nshards; i++) {
        const struct kv_shard *sh = &s->shards[i];

        kv_shard_lock(s, i);
        n += sh->deadlines;
        for (size_t k = 0; k < KV_EVENTS; k++)
            n += sh->events[k].version;
        kv_shard_unlock(s, i);
    }
    return n;
}

/* One of the living entries seen so far, each with the same chance. */
struct choice {
    uint32_t ref; /* 0: there was none */
    uint32_t seen;
};

static void choose_in(struct kv_store *s, uint32_t shard, uint32_t bucket, struct choice *c)
{
    uint32_t ref = KV_GET(s->buckets[(uint64_t)shard * s->plan.nbuckets + bucket]);
    uint64_t most = s->shards[shard].keys, n = 0;

    for (; ref != 0; ref = KV_GET(kv_at(s, ref)->next)) {
        if (kv_room(s, ref) == 0 || !kv_shard_is_entry(s, shard, ref) || ++n > most) {
            s->nonsense = true;
            return;
        }
        if (!kv_is_past(KV_GET(kv_at(s, ref)->deadline)) && kv_random_below(s, ++c->seen) == 0)
            c->ref = ref;
    }
}

/* A key of this shard, whose lock is held: of any bucket, or when most are empty, of many. */
static int random_of(struct kv_store *s, uint32_t shard, struct buf *key)
{
    uint32_t n = s->plan.nbuckets, start = kv_random_below(s, n);
    struct choice c = {0};
    struct kv_entry *e;
    size_t len;

    for (uint32_t i = 0; i < RANDOM_TRIES && c.ref == 0 && !s->nonsense; i++)
        choose_in(s, shard, kv_random_below(s, n), &c);
    for (uint32_t i = 0; i < n && (c.ref == 0 || i % RANDOM_BUCKETS != 0) && !s->nonsense; i++)
        choose_in(s, shard, (start + i) % n, &c);
    if (c.ref == 0 || s->nonsense)
        return ERR_NOTFOUND;
    e = kv_at(s, c.ref);
    len = KV_GET(e->key_len);
    buf_clear(key);
    kv_copy_out(buf_reserve(key, MAX(len, 1)), kv_key_words(e), len);
    key->len = len;
    return 0;
}

int kv_store_random_key(struct kv_store *s, struct buf *key)
{
    uint64_t keys[KV_SHARDS_MAX] = {0}, sum = 0, at;
    uint32_t shard = 0;
    int r = ERR_NOTFOUND;

    for (uint32_t i = 0; i < s->plan.nshards; i++) {
        kv_shard_lock(s, i);
        keys[i] = s->shards[i].keys;
        kv_shard_unlock(s, i);
        sum += keys[i];
    }
    if (sum == 0)
        return r;
    at = kv_random_below(s, (uint32_t)MIN(sum, UINT32_MAX));
    while (shard < s->plan.nshards - 1 && at >= keys[shard])
        at -= keys[shard++];
    for (uint32_t i = 0; i < s->plan.nshards && r; i++) {
        kv_shard_lock(s, shard);
        if (s->shards[shard].keys)
            r = random_of(s, shard, key);
        kv_shard_unlock(s, shard);
        shard = (shard + 1) % s->plan.nshards;
    }
    return r;
}
