/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/slab.h"

/* Four sizes for each doubling up to 8 KiB; then what 7 and less of fit into a page. */
#define SIZES(X)                                                                                 \
    X(64), X(80), X(96), X(112), X(128), X(160), X(192), X(224), X(256), X(320), X(384), X(448), \
        X(512), X(640), X(768), X(896), X(1024), X(1280), X(1536), X(1792), X(2048), X(2560),    \
        X(3072), X(3584), X(4096), X(5120), X(6144), X(7168), X(8192), X(9360), X(10912),        \
        X(13104), X(16384), X(21840), X(32768), X(65536)
#define SIZE(n)    n
#define BLOCKS(n)  KV_PAGE / (n)
#define INVERSE(n) UINT32_MAX / (n) + 1

static const uint32_t sizes[KV_CLASSES] = {SIZES(SIZE)};
static const uint32_t blocks[KV_CLASSES] = {SIZES(BLOCKS)};
/* at * inverse >> 32 is at / size for all places of a page, without a division. */
static const uint32_t inverses[KV_CLASSES] = {SIZES(INVERSE)};

#define QUARTERS_END 8192

unsigned kv_slab_class(uint32_t size)
{
    unsigned c = 28, top;

    if (size <= sizes[0])
        return 0;
    if (size <= QUARTERS_END) {
        /* 2^top <= size - 1 < 2^(top + 1) */
        top = 31 - (unsigned)__builtin_clz(size - 1);
        return (top - 6) * 4 + ((size - 1) >> (top - 2) & 3) + 1;
    }
    while (sizes[c] < size)
        c++;
    return c;
}

uint32_t kv_slab_size(unsigned class)
{
    return sizes[class];
}

uint32_t kv_slab_blocks(unsigned class)
{
    return blocks[class];
}

/* ---- pages ---- */

int kv_slab_claim(struct kv_store *s, uint32_t owner, uint32_t *page)
{
    /* acquire: before the looks at the owners. A page that is given back later makes it differ. */
    uint64_t freed = KV_GET(s->h->freed);
    uint32_t start, n = s->plan.npages;

    if (KV_GET(s->h->scanned) == freed)
        return ERR_FULL;
    /* relaxed: a hint. */
    start = atomic_load_explicit(&s->h->hint, memory_order_relaxed) % n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t p = start + i < n ? start + i : start + i - n;
        uint32_t none = 0;

        /* relaxed: the exchange decides; acquire there: pairs with kv_slab_release(). */
        if (atomic_load_explicit(&s->pages[p].owner, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong_explicit(
                &s->pages[p].owner, &none, owner, memory_order_acq_rel, memory_order_relaxed)) {
            /* relaxed: a hint. */
            atomic_store_explicit(&s->h->hint, p + 1, memory_order_relaxed);
            *page = p;
            return 0;
        }
    }
    KV_SET(s->h->scanned, freed);
    return ERR_FULL;
}

void kv_slab_release(struct kv_store *s, struct kv_shard *sh, uint32_t page)
{
    KV_SET(sh->releases, KV_GET(sh->releases) + 1);
    KV_SET(s->pages[page].owner, 0);
    kv_slab_notice(s, page);
}

void kv_slab_notice(struct kv_store *s, uint32_t page)
{
    /* release: after the owner's store. */
    atomic_fetch_add_explicit(&s->h->freed, 1, memory_order_release);
    /* relaxed: a hint. */
    atomic_store_explicit(&s->h->hint, page, memory_order_relaxed);
}

/* ---- rings ---- */

/* The page at this place of a ring, or NULL. */
static struct kv_page *linked(struct kv_store *s, uint32_t place)
{
    if (place == 0 || place > s->plan.npages) {
        s->nonsense = true;
        return NULL;
    }
    return &s->pages[place - 1];
}

void kv_slab_append(struct kv_store *s, uint32_t *ring, uint32_t page)
{
    struct kv_page *p = &s->pages[page], *first, *last;

    if (*ring == 0) {
        p->next = p->prev = *ring = page + 1;
        return;
    }
    first = linked(s, *ring);
    last = first ? linked(s, first->prev) : NULL;
    if (!last)
        return;
    p->next = *ring;
    p->prev = first->prev;
    last->next = page + 1;
    first->prev = page + 1;
}

bool kv_slab_remove(struct kv_store *s, uint32_t *ring, uint32_t page)
{
    struct kv_page *p = &s->pages[page];
    struct kv_page *next = linked(s, p->next), *prev = linked(s, p->prev);

    if (!next || !prev || *ring == 0)
        return false;
    if (next == p) {
        *ring = 0;
    } else {
        next->prev = p->prev;
        prev->next = p->next;
        if (*ring == page + 1)
            *ring = p->next;
    }
    p->next = p->prev = 0;
    return true;
}

/* ---- blocks ---- */

bool kv_slab_locate(
    const struct kv_store *s, uint32_t shard, uint32_t ref, unsigned *class, uint32_t *index)
{
    uint32_t page, owner, at, n;
    unsigned c;

    if (kv_room(s, ref) == 0)
        return false;
    page = kv_page_of(s, ref);
    /* relaxed: of this shard, whose lock is held; else any value that differs. */
    owner = atomic_load_explicit(&s->pages[page].owner, memory_order_relaxed);
    c = owner & 255;
    if (owner >> 8 != shard + 1 || c >= KV_CLASSES)
        return false;
    at = KV_PAGE - kv_room(s, ref);
    n = (uint32_t)((uint64_t)at * inverses[c] >> 32);
    if (n * sizes[c] != at || n >= blocks[c])
        return false;
    *class = c;
    *index = n;
    return true;
}

/* From one ring of the class to the other. False: the links make no sense. */
static bool move_page(
    struct kv_store *s, struct kv_shard *sh, unsigned class, uint32_t page, bool closed)
{
    uint32_t *from = closed ? &sh->partial[class] : &sh->full[class];

    if (!kv_slab_remove(s, from, page)) {
        s->nonsense = true;
        return false;
    }
    kv_slab_append(s, closed ? &sh->full[class] : &sh->partial[class], page);
    s->pages[page].is_closed = closed;
    return !s->nonsense;
}

/*
 * A page of the class that has room: an old one, or a new one. What has become full is moved away
 * here only, since most often a block of it is freed before the next one is wanted.
 */
static int page_with_room(struct kv_store *s, uint32_t shard, unsigned class, uint32_t *page)
{
    struct kv_shard *sh = &s->shards[shard];
    struct kv_page *p;
    int r;

    while (sh->partial[class]) {
        p = linked(s, sh->partial[class]);
        /* relaxed: of this shard, or nonsense. */
        if (!p || p->is_closed ||
            atomic_load_explicit(&p->owner, memory_order_relaxed) != kv_owner(shard, class)) {
            s->nonsense = true;
            return ERR_CORRUPT;
        }
        *page = sh->partial[class] - 1;
        if (p->used < blocks[class])
            return 0;
        if (!move_page(s, sh, class, *page, true))
            return ERR_CORRUPT;
    }
    r = kv_slab_claim(s, kv_owner(shard, class), page);
    if (r)
        return r;
    p = &s->pages[*page];
    p->entry = p->next = p->prev = 0;
    p->free = p->used = p->fresh = p->hand = 0;
    p->is_closed = false;
    kv_slab_append(s, &sh->partial[class], *page);
    return 0;
}

int kv_slab_take(struct kv_store *s, uint32_t shard, unsigned class, uint32_t *ref)
{
    struct kv_shard *sh = &s->shards[shard];
    uint32_t page, n = kv_slab_blocks(class), index, to;
    struct kv_entry *e;
    struct kv_page *p;
    int r = page_with_room(s, shard, class, &page);

    if (r)
        return r;
    p = &s->pages[page];
    index = p->free ? p->free - 1u : p->fresh;
    if (index >= n || p->used >= n) {
        s->nonsense = true;
        return ERR_CORRUPT;
    }
    to = kv_slab_ref(s, page, class, index);
    e = kv_at(s, to);
    if (p->free) {
        p->free = (uint16_t)KV_GET(e->hash);
    } else {
        p->fresh++;
        KV_SET(e->seq, KV_GET(e->seq) | 1);
        KV_SET(e->type, 0);
    }
    p->used++;
    sh->used += sizes[class];
    *ref = to;
    return 0;
}

void kv_slab_give(struct kv_store *s, uint32_t shard, uint32_t ref)
{
    struct kv_shard *sh = &s->shards[shard];
    struct kv_entry *e = kv_at(s, ref);
    uint32_t page, index;
    unsigned class;
    struct kv_page *p;

    if (!kv_slab_locate(s, shard, ref, &class, &index))
        goto nonsense;
    page = kv_page_of(s, ref);
    p = &s->pages[page];
    if (p->used == 0 || index >= p->fresh)
        goto nonsense;
    KV_SET(e->seq, (KV_GET(e->seq) + 1) | 1);
    KV_SET(e->type, 0);
    KV_SET(e->hash, p->free);
    p->free = (uint16_t)(index + 1);
    p->used--;
    sh->used -= sizes[class];
    if (p->used == 0) {
        if (!kv_slab_remove(s, p->is_closed ? &sh->full[class] : &sh->partial[class], page))
            goto nonsense;
        kv_slab_release(s, sh, page);
        return;
    }
    if (p->is_closed && !move_page(s, sh, class, page, false))
        return;
    /* The block is taken next, while it is in the cache. */
    if (sh->partial[class] != page + 1)
        sh->partial[class] = page + 1;
    return;
nonsense:
    s->nonsense = true;
}
