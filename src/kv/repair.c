/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/repair.h"

#include "kv/entry.h"
#include "kv/shard.h"
#include "kv/slab.h"
#include "kv/tree.h"

/* Is the page this shard's? Its class then. */
static bool is_ours(const struct kv_store *s, uint32_t shard, uint32_t page, unsigned *class)
{
    uint32_t owner = KV_GET(s->pages[page].owner);

    *class = owner & 255;
    return owner >> 8 == shard + 1;
}

/* Readers on their way through the shard begin anew. */
static void count_change(struct kv_shard *sh)
{
    KV_SET(sh->changes, KV_GET(sh->changes) + 1);
}

/* ---- what is reachable ---- */

static void clear_page(struct kv_store *s, uint32_t page, unsigned class)
{
    struct kv_page *p = &s->pages[page];

    p->used = p->free = p->hand = 0;
    p->next = p->prev = 0;
    if (class >= KV_CLASSES)
        return;
    p->fresh = (uint16_t)MIN(p->fresh, kv_slab_blocks(class));
    for (uint32_t i = 0; i < p->fresh; i++)
        KV_SET(kv_at(s, kv_slab_ref(s, page, class, i))->mark, 0);
}

static bool is_piece(const struct kv_store *s, uint32_t shard, uint32_t page, uint32_t ref)
{
    return page < s->plan.npages && KV_GET(s->pages[page].owner) == kv_owner(shard, KV_DATA) &&
           s->pages[page].entry == ref && s->pages[page].used == 0;
}

/* Marks the pages of a large value as used; false, and none is, when they are not all its own. */
static bool keep_pieces(struct kv_store *s, uint32_t shard, uint32_t ref)
{
    struct kv_entry *e = kv_at(s, ref);
    uint32_t key_len = KV_GET(e->key_len), n = kv_pages_for(KV_GET(e->value_len));

    for (uint32_t i = 0; i < n; i++) {
        uint32_t page = kv_entry_page(e, key_len, i);

        if (!is_piece(s, shard, page, ref)) {
            while (i-- > 0)
                s->pages[kv_entry_page(e, key_len, i)].used = 0;
            return false;
        }
        s->pages[page].used = 1;
    }
    s->shards[shard].used += (uint64_t)n * KV_PAGE;
    return true;
}

/* Counts a block as in use, and says so. */
static void mark(struct kv_store *s, uint32_t shard, uint32_t ref)
{
    unsigned class;

    (void)is_ours(s, shard, kv_page_of(s, ref), &class);
    KV_SET(kv_at(s, ref)->mark, 1);
    s->pages[kv_page_of(s, ref)].used++;
    s->shards[shard].used += kv_slab_size(class);
}

bool kv_repair_keep_part(struct kv_store *s, uint32_t shard, uint32_t ref, uint64_t hash)
{
    struct kv_entry *e = kv_at(s, ref);

    if (!kv_shard_is_part(s, shard, ref, hash) || KV_GET(e->mark) ||
        (KV_GET(e->flags) & KV_PAGED && !keep_pieces(s, shard, ref)))
        return false;
    mark(s, shard, ref);
    return true;
}

/* Counts an entry as kept; false when it is none. */
static bool keep(struct kv_store *s, uint32_t shard, uint32_t ref, const _Atomic uint32_t *bucket)
{
    struct kv_entry *e;

    if (kv_room(s, ref) == 0 || !kv_shard_is_entry(s, shard, ref))
        return false;
    e = kv_at(s, ref);
    if (KV_GET(e->mark) || kv_bucket_of(s, KV_GET(e->hash)) != bucket)
        return false;
    if (KV_GET(e->flags) & KV_PAGED && !keep_pieces(s, shard, ref))
        return false;
    mark(s, shard, ref);
    KV_SET(e->seq, KV_GET(e->seq) + (KV_GET(e->seq) & 1));
    /* The dead one may have changed it without saying so: kv_repair() ends with this version. */
    KV_SET(e->version, kv_event_of(&s->shards[shard], KV_GET(e->hash))->version + 1);
    s->shards[shard].keys++;
    /* A tree of which not everything is there was written over, not left by a dead one. */
    if (kv_is_coll((enum kv_type)KV_GET(e->type)) && !kv_tree_keep(s, shard, e))
        s->nonsense = true;
    return true;
}

/* A chain ends before the first entry that is none. */
static void keep_chain(struct kv_store *s, uint32_t shard, _Atomic uint32_t *bucket)
{
    _Atomic uint32_t *link = bucket;
    uint32_t ref;

    /* It ends: no entry is kept twice. */
    while ((ref = KV_GET(*link)) != 0) {
        if (!keep(s, shard, ref, bucket)) {
            KV_SET(*link, 0);
            return;
        }
        link = &kv_at(s, ref)->next;
    }
}

/* ---- what is not ---- */

static void free_rest(struct kv_store *s, struct kv_shard *sh, uint32_t page, unsigned class)
{
    struct kv_page *p = &s->pages[page];

    if (p->used == 0) {
        kv_slab_release(s, sh, page);
        return;
    }
    if (class >= KV_CLASSES)
        return;
    for (uint32_t i = p->fresh; i-- > 0;) {
        struct kv_entry *e = kv_at(s, kv_slab_ref(s, page, class, i));

        if (KV_GET(e->mark))
            continue;
        KV_SET(e->seq, (KV_GET(e->seq) + 1) | 1);
        KV_SET(e->type, 0);
        KV_SET(e->hash, p->free);
        p->free = (uint16_t)(i + 1);
    }
    p->is_closed = p->used >= kv_slab_blocks(class);
    kv_slab_append(s, p->is_closed ? &sh->full[class] : &sh->partial[class], page);
}

static void forget(struct kv_shard *sh)
{
    sh->keys = sh->used = 0;
    KV_SET(sh->garbage, 0);
    for (unsigned c = 0; c < KV_CLASSES; c++)
        sh->partial[c] = sh->full[c] = 0;
}

void kv_repair(struct kv_store *s, uint32_t shard)
{
    struct kv_shard *sh = &s->shards[shard];
    _Atomic uint32_t *bucket = s->buckets + (uint64_t)shard * s->plan.nbuckets;
    unsigned class;

    count_change(sh);
    forget(sh);
    for (uint32_t p = 0; p < s->plan.npages; p++)
        if (is_ours(s, shard, p, &class))
            clear_page(s, p, class);
    for (uint32_t b = 0; b < s->plan.nbuckets; b++)
        keep_chain(s, shard, &bucket[b]);
    for (uint32_t p = 0; p < s->plan.npages; p++)
        if (is_ours(s, shard, p, &class))
            free_rest(s, sh, p, class);
    sh->repaired++;
    count_change(sh);
    /* Whom the dead one had not told yet; and versions go on from where they were. */
    kv_shard_changed_all(sh);
}

void kv_repair_drop(struct kv_store *s, uint32_t shard)
{
    struct kv_shard *sh = &s->shards[shard];
    _Atomic uint32_t *bucket = s->buckets + (uint64_t)shard * s->plan.nbuckets;
    unsigned class;

    count_change(sh);
    for (uint32_t b = 0; b < s->plan.nbuckets; b++)
        KV_SET(bucket[b], 0);
    forget(sh);
    for (uint32_t p = 0; p < s->plan.npages; p++)
        if (is_ours(s, shard, p, &class))
            kv_slab_release(s, sh, p);
    kv_shard_changed_all(sh);
}
