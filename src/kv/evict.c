/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/evict.h"

#include "kv/shard.h"
#include "kv/slab.h"
#include "kv/tree.h"

#define RING_TRIES 8     /* pages of a class that are looked at for one block */
#define PAGE_TRIES 32    /* pages that are looked at for one page */
#define PASS_MOST  65536 /* pages of the collection that is being changed, which are passed by */
#define FEW_TRIES  8     /* the same when only what has expired goes */
#define FEW_BLOCKS 8     /* of so large blocks that a page goes as easily as one of them */
#define HOT_PART   8     /* a page goes if fewer than one in so many entries were read lately */

enum verdict { STAYS, REFERENCED, MAY_GO, EXPIRED };

static enum verdict judge(const struct kv_store *s, uint32_t ref)
{
    uint64_t deadline = KV_GET(kv_at(s, ref)->deadline);

    if (ref == s->pinned[0] || ref == s->pinned[1])
        return STAYS;
    if (kv_is_past(deadline))
        return EXPIRED;
    if (s->policy == KV_NOEVICTION || (s->policy == KV_VOLATILE_LRU && deadline == 0) ||
        KV_GET(kv_at(s, ref)->flags) & KV_KEPT)
        return STAYS;
    /* relaxed: a hint. */
    if (s->policy != KV_ALLKEYS_RANDOM &&
        atomic_load_explicit(kv_mark_of(s, ref), memory_order_relaxed))
        return REFERENCED;
    return MAY_GO;
}

static void clear_mark(struct kv_store *s, uint32_t ref)
{
    _Atomic uint8_t *mark = kv_mark_of(s, ref);
    /* relaxed: a hint. */
    uint8_t n = atomic_load_explicit(mark, memory_order_relaxed);

    atomic_store_explicit(mark, n > KV_MARK_COLL ? 0 : n - (n > 0), memory_order_relaxed);
}

static void evict(struct kv_store *s, uint32_t shard, uint32_t ref, bool expired)
{
    if (expired)
        s->shards[shard].expired++;
    else
        s->shards[shard].evicted++;
    kv_shard_remove(s, shard, ref, true);
}

static bool is_live(const struct kv_store *s, uint32_t shard, uint32_t ref)
{
    return KV_GET(kv_at(s, ref)->seq) % 2 == 0 && kv_shard_is_entry(s, shard, ref);
}

/* Whose fate the block shares: its own, or for a part of a collection that of the collection.
 * 0: nothing that could go. */
static uint32_t who_goes(const struct kv_store *s, uint32_t shard, uint32_t ref)
{
    struct kv_entry *e = kv_at(s, ref);

    if (is_live(s, shard, ref))
        return ref;
    if (!kv_shard_is_part(s, shard, ref, KV_GET(e->hash)))
        return 0;
    return kv_shard_owner(s, shard, KV_GET(e->hash));
}

uint32_t kv_random_below(struct kv_store *s, uint32_t n)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (uint32_t)((s->random >> 32) * n >> 32);
}

/* One entry of a page, from where the hand was: at most two rounds, the first may clear marks. */
static bool evict_one(struct kv_store *s, uint32_t shard, uint32_t page, unsigned class)
{
    struct kv_page *p = &s->pages[page];
    uint32_t n = MIN(p->fresh, kv_slab_blocks(class)), ref, who;

    if (n == 0)
        return false;
    if (s->policy == KV_ALLKEYS_RANDOM)
        p->hand = (uint16_t)kv_random_below(s, n);
    for (uint32_t i = 0; i < 2 * n; i++) {
        enum verdict v;

        ref = kv_slab_ref(s, page, class, p->hand % n);
        p->hand = (uint16_t)((p->hand + 1) % n);
        who = who_goes(s, shard, ref);
        if (who == 0)
            continue;
        v = judge(s, who);
        if (v >= MAY_GO) {
            evict(s, shard, who, v == EXPIRED);
            return true;
        }
        /* A collection's mark goes when the hand comes to its entry, not with each part. */
        if (v == REFERENCED && who == ref)
            clear_mark(s, ref);
    }
    return false;
}

int kv_evict_block(struct kv_store *s, uint32_t shard, unsigned class)
{
    struct kv_shard *sh = &s->shards[shard];
    uint32_t page, blocks = kv_slab_blocks(class);

    if (KV_GET(sh->garbage)) {
        kv_tree_reclaim(s, shard, UINT32_MAX);
        return s->nonsense ? ERR_FULL : 0;
    }

    /* So that memory moves to the sizes that are in demand, a page goes from time to time. */
    if ((blocks <= FEW_BLOCKS || ++sh->evictions % (2 * blocks) == 0) &&
        kv_evict_page(s, shard) == 0)
        return 0;
    for (int i = 0; i < RING_TRIES && sh->full[class] && !s->nonsense; i++) {
        page = sh->full[class] - 1;
        if (page >= s->plan.npages || KV_GET(s->pages[page].owner) != kv_owner(shard, class)) {
            s->nonsense = true;
            break;
        }
        if (evict_one(s, shard, page, class))
            return 0;
        if (kv_slab_remove(s, &sh->full[class], page))
            kv_slab_append(s, &sh->full[class], page);
    }
    return s->nonsense ? ERR_FULL : kv_evict_page(s, shard);
}

/* ---- whole pages ---- */

/* How much may go for one page, when less was of no use. */
enum effort {
    GENTLE,    /* what was not read lately */
    FORCED,    /* what was read lately, too, but for collections, of which much more is lost */
    DESPERATE, /* those as well */
};

/* What becomes of a block in a page that is looked at. The mark of a collection goes when the hand
 * comes to its entry, not with each of its parts. */
static enum verdict judge_block(struct kv_store *s, uint32_t ref, uint32_t who, enum effort effort)
{
    enum verdict v = judge(s, who);

    if (v == REFERENCED && who == ref)
        clear_mark(s, ref);
    return v == REFERENCED && who != ref && effort < DESPERATE ? STAYS : v;
}

/* A piece of a large value: the value goes, with all of its pages. */
static bool evict_value(struct kv_store *s, uint32_t shard, uint32_t page, enum effort effort)
{
    uint32_t piece_of = s->pages[page].entry, ref;
    enum verdict v;

    ref = kv_room(s, piece_of) ? who_goes(s, shard, piece_of) : 0;
    if (ref == 0)
        return false;
    v = judge_block(s, piece_of, ref, effort);
    if (v == STAYS || (v == REFERENCED && effort == GENTLE))
        return false;
    evict(s, shard, ref, v == EXPIRED);
    return true;
}

/* How many entries of a page, and of its parts of collections, may go. Expired ones do. */
static void count_verdicts(struct kv_store *s, uint32_t shard, uint32_t page, unsigned class,
    enum effort effort, uint32_t *count)
{
    uint32_t n = MIN(s->pages[page].fresh, kv_slab_blocks(class)), owner = kv_owner(shard, class);

    for (uint32_t i = 0; i < n && KV_GET(s->pages[page].owner) == owner; i++) {
        uint32_t ref = kv_slab_ref(s, page, class, i), who = who_goes(s, shard, ref);
        enum verdict v;

        if (who == 0)
            continue;
        v = judge_block(s, ref, who, effort);
        count[v]++;
        if (v == EXPIRED)
            evict(s, shard, who, true);
    }
}

/* A collection that has a part in the page, since the page as a whole cannot go. */
static bool evict_owner(struct kv_store *s, uint32_t shard, uint32_t page, unsigned class)
{
    uint32_t n = MIN(s->pages[page].fresh, kv_slab_blocks(class));

    for (uint32_t i = 0; i < n; i++) {
        uint32_t ref = kv_slab_ref(s, page, class, i), who = who_goes(s, shard, ref);

        if (who && who != ref && judge(s, who) != STAYS) {
            evict(s, shard, who, false);
            return true;
        }
    }
    return false;
}

/* All entries of a page, if all may go and few were read lately. Expired ones go in any case. */
static bool evict_blocks(
    struct kv_store *s, uint32_t shard, uint32_t page, unsigned class, enum effort effort)
{
    uint32_t n = MIN(s->pages[page].fresh, kv_slab_blocks(class)), owner = kv_owner(shard, class);
    uint32_t count[EXPIRED + 1] = {0};
    bool all;

    count_verdicts(s, shard, page, class, effort, count);
    all = count[STAYS] == 0 && (effort > GENTLE || count[REFERENCED] * HOT_PART <= count[MAY_GO]);
    for (uint32_t i = 0; i < n && all && KV_GET(s->pages[page].owner) == owner; i++) {
        uint32_t who = who_goes(s, shard, kv_slab_ref(s, page, class, i));

        if (who && judge(s, who) != STAYS)
            evict(s, shard, who, false);
    }
    if (KV_GET(s->pages[page].owner) == 0)
        return true;
    return effort == DESPERATE && KV_GET(s->pages[page].owner) == owner &&
           evict_owner(s, shard, page, class);
}

/* The page's shard is locked, by us. */
static bool evict_all(struct kv_store *s, uint32_t shard, uint32_t page, enum effort effort)
{
    uint32_t owner = KV_GET(s->pages[page].owner);

    if (owner == 0)
        return true;
    if (owner >> 8 != shard + 1)
        return false;
    if ((owner & 255) == KV_DATA)
        return evict_value(s, shard, page, effort);
    return (owner & 255) < KV_CLASSES && evict_blocks(s, shard, page, owner & 255, effort);
}

static bool try_page(struct kv_store *s, uint32_t own, uint32_t page, enum effort effort)
{
    uint32_t owner = KV_GET(s->pages[page].owner), shard = (owner >> 8) - 1;
    bool nonsense = s->nonsense, done;

    if (owner == 0) {
        kv_slab_notice(s, page);
        return true;
    }
    if (shard == own || shard >= s->plan.nshards)
        return shard == own && evict_all(s, shard, page, effort);
    if (!kv_shard_try(s, shard))
        return false;
    done = evict_all(s, shard, page, effort);
    kv_shard_unlock(s, shard);
    s->nonsense = nonsense;
    return done;
}

/* Does the page seem to be full of the collection that is being changed? There may be thousands of
 * them in a row. */
static bool is_pinned(const struct kv_store *s, uint32_t own, uint32_t page)
{
    uint32_t owner = KV_GET(s->pages[page].owner), class = owner & 255, ref;
    struct kv_entry *e;

    if (owner >> 8 != own + 1 || s->pinned[0] == 0)
        return false;
    ref = class < KV_CLASSES ? kv_slab_ref(s, page, class, 0) : s->pages[page].entry;
    if (kv_room(s, ref) == 0)
        return false;
    e = kv_at(s, ref);
    return KV_GET(e->flags) & KV_PART && KV_GET(e->type) != 0 &&
           KV_GET(e->hash) == KV_GET(kv_at(s, s->pinned[0])->hash);
}

/* What is dead goes first. True: there was some. */
static bool reclaim_all(struct kv_store *s, uint32_t own)
{
    bool nonsense = s->nonsense, any = false;

    for (uint32_t i = 0; i < s->plan.nshards; i++) {
        if (!KV_GET(s->shards[i].garbage) || (i != own && !kv_shard_try(s, i)))
            continue;
        kv_tree_reclaim(s, i, UINT32_MAX);
        any = true;
        if (i == own) {
            nonsense = s->nonsense;
        } else {
            kv_shard_unlock(s, i);
            s->nonsense = nonsense;
        }
    }
    return any;
}

int kv_evict_page(struct kv_store *s, uint32_t shard)
{
    uint32_t most = s->policy == KV_NOEVICTION ? FEW_TRIES : PAGE_TRIES;
    uint32_t tries = MIN(most, s->plan.npages), left = MIN(PASS_MOST, s->plan.npages);

    if (reclaim_all(s, shard))
        return s->nonsense ? ERR_FULL : 0;
    for (uint32_t i = 0; i < 3 * tries;) {
        /* relaxed: whose turn it is. */
        uint32_t page = atomic_fetch_add_explicit(&s->h->hand, 1, memory_order_relaxed);

        if (s->policy == KV_ALLKEYS_RANDOM)
            page = kv_random_below(s, s->plan.npages);
        page %= s->plan.npages;
        if (left > 0 && is_pinned(s, shard, page)) {
            left--;
            continue;
        }
        if (try_page(s, shard, page, (enum effort)(i / tries)))
            return 0;
        if (s->nonsense)
            break;
        i++;
    }
    return ERR_FULL;
}
