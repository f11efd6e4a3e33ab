/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Changes of several keys in one step. The locks are taken in the order of the shards, and what
 * made no sense in one shard is dropped before another is looked at: `nonsense` speaks of one.
 */
#include "base/mem.h"
#include "kv/change.h"
#include "kv/codec.h"
#include "kv/coll.h"
#include "kv/entry.h"
#include "kv/keys.h"

/* ---- locks ---- */

struct shards {
    bool has[KV_SHARDS_MAX];
};

static void lock_shards(struct kv_store *s, const struct shards *set)
{
    for (uint32_t i = 0; i < s->plan.nshards; i++)
        if (set->has[i])
            kv_shard_lock(s, i);
}

static void unlock_shards(struct kv_store *s, const struct shards *set)
{
    for (uint32_t i = s->plan.nshards; i-- > 0;)
        if (set->has[i])
            kv_shard_unlock(s, i);
}

/* ---- setting many ---- */

/* A pair on its way into the store. */
struct part {
    struct kv_spot spot;
    struct kv_value stored;
    uint64_t deadline;
    uint32_t ref; /* of a block that is built and not linked; 0: none */
};

struct many {
    struct kv_store *s;
    struct part *parts;
    size_t n;
    struct buf packed; /* what is stored of the values that are compressed */
};

/* Drops a shard that makes no sense, with what was built there. */
static void drop(struct many *m, uint32_t shard)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->parts[i].spot.shard == shard)
            m->parts[i].ref = 0;
    kv_shard_drop(m->s, shard);
}

static int build_all(struct many *m)
{
    unsigned drops = 0;
    int r;

    for (size_t i = 0; i < m->n;) {
        struct part *p = &m->parts[i];

        r = p->ref ? 0 : kv_entry_build(m->s, &p->spot, &p->stored, p->deadline, &p->ref);
        i++;
        if (m->s->nonsense) {
            drop(m, p->spot.shard);
            if (++drops > KV_TRIES)
                return ERR_FULL;
            i = 0;
        } else if (r) {
            return r;
        }
    }
    return 0;
}

static void free_all(struct many *m)
{
    for (size_t i = 0; i < m->n; i++) {
        struct part *p = &m->parts[i];

        if (p->ref)
            kv_entry_free(m->s, p->spot.shard, p->ref);
        if (m->s->nonsense)
            drop(m, p->spot.shard);
    }
}

static void link_all(struct many *m)
{
    for (size_t i = 0; i < m->n; i++) {
        struct part *p = &m->parts[i];

        kv_spot_find(m->s, &p->spot);
        if (p->ref)
            kv_spot_put(m->s, &p->spot, p->ref);
        p->ref = 0;
        if (m->s->nonsense)
            drop(m, p->spot.shard);
    }
}

static int set_all(struct many *m, unsigned flags)
{
    bool exists = false;
    int r;

    for (size_t i = 0; i < m->n; i++) {
        kv_spot_enter(m->s, &m->parts[i].spot);
        exists = exists || m->parts[i].spot.e;
    }
    if (exists && flags & KV_ONLY_NEW)
        return ERR_EXISTS;
    r = build_all(m);
    if (r)
        free_all(m);
    else
        link_all(m);
    return r;
}

/* Where the keys belong, and what is stored of the values. */
static void prepare(struct many *m, const struct kv_pair *pairs, struct shards *set)
{
    size_t from = 0;

    for (size_t i = 0; i < m->n; i++) {
        struct part *p = &m->parts[i];

        kv_spot_init(m->s, pairs[i].key, &p->spot);
        set->has[p->spot.shard] = true;
        p->stored = pairs[i].value;
        p->stored.coding = 0;
        p->deadline = kv_deadline_in(pairs[i].ttl);
        if (!kv_pack(m->s, &pairs[i].value, &m->packed))
            continue;
        p->stored.coding = kv_coding_flags(m->s->compression.algorithm);
        p->stored.bytes.len = m->packed.len - from;
        from = m->packed.len;
    }
    /* The buffer stays where it is now. */
    for (size_t i = 0, at = 0; i < m->n; i++) {
        struct str *bytes = &m->parts[i].stored.bytes;

        if (!m->parts[i].stored.coding)
            continue;
        bytes->p = m->packed.p + at;
        at += bytes->len;
    }
}

int kv_store_mset(struct kv_store *s, const struct kv_pair *pairs, size_t n, unsigned flags)
{
    struct many m = {.s = s, .n = n};
    struct shards set = {0};
    size_t size;
    int r = 0;

    for (size_t i = 0; i < n && r == 0; i++)
        r = kv_check(pairs[i].key, &pairs[i].value, pairs[i].ttl);
    if (r || n == 0)
        return r;
    if (!mem_mul(n, sizeof(*m.parts), &size) || !(m.parts = mem_try_new(size)))
        return ERR_NOMEM;
    prepare(&m, pairs, &set);
    lock_shards(s, &set);
    r = set_all(&m, flags);
    unlock_shards(s, &set);
    mem_free(m.parts);
    buf_fini(&m.packed);
    return r;
}

/* ---- from one key to another ---- */

static void settle(struct kv_store *s, uint32_t shard)
{
    if (s->nonsense)
        kv_shard_drop(s, shard);
}

/* Both shards are locked. */
static int transfer(
    struct kv_store *s, struct kv_spot *from, struct kv_spot *to, unsigned flags, bool keep)
{
    struct kv_value v;
    int r;

    kv_spot_enter(s, to);
    kv_spot_enter(s, from);
    if (!from->e)
        return ERR_NOTFOUND;
    /* Of one shard: what had expired at `from` may have been linked before it. */
    kv_spot_find(s, to);
    if (to->e && flags & KV_ONLY_NEW)
        return ERR_EXISTS;
    if (str_eq(from->key, to->key))
        return 0;
    r = kv_take_stored(s, from, &s->scratch, &v);
    settle(s, from->shard);
    if (r == 0)
        r = kv_put(s, to, &v, KV_GET(from->e->deadline));
    else if (r == ERR_TYPE)
        r = kv_coll_copy(s, from, to, KV_GET(from->e->deadline));
    settle(s, to->shard);
    if (r || keep)
        return r;
    /* Room for the copy may have been made of it. */
    kv_spot_find(s, from);
    if (from->e)
        kv_spot_remove(s, from);
    settle(s, from->shard);
    return 0;
}

static int move(struct kv_store *s, struct str from, struct str to, unsigned flags, bool keep)
{
    struct kv_spot a, b;
    struct shards set = {0};
    int r;

    if (from.len > KV_KEY_MAX || to.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_init(s, from, &a);
    kv_spot_init(s, to, &b);
    set.has[a.shard] = set.has[b.shard] = true;
    lock_shards(s, &set);
    r = transfer(s, &a, &b, flags, keep);
    unlock_shards(s, &set);
    kv_trim(s);
    return r;
}

int kv_store_rename(struct kv_store *s, struct str from, struct str to, unsigned flags)
{
    return move(s, from, to, flags, false);
}

int kv_store_copy(struct kv_store *s, struct str from, struct str to, unsigned flags)
{
    if (str_eq(from, to))
        return ERR_INVAL;
    return move(s, from, to, flags, true);
}
