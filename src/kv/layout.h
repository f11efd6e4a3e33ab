/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_LAYOUT_H
#define EPHPM_KV_LAYOUT_H

/*
 * What lies where in the segment, and how it is touched. For the files of this folder and tests.
 *
 *   0       struct kv_header
 *   4096    struct kv_counts [KV_COUNTS]         hits and misses, a line for each process
 *           struct kv_shard  [nshards]
 *           u32 buckets      [nshards][nbuckets]  chains of entries; 0: empty
 *           u8  read marks   [npages * 1024]      one for each 64 bytes of pages: CLOCK's bit
 *           struct kv_page   [npages]
 *           pages            [npages] of 64 KiB
 *
 * A key's hash says which shard (its top bits), bucket (its low bits) and event (those between).
 *
 * A page is free, or belongs to one shard as blocks of one size class, or as a piece of one large
 * value. Only its owner word is touched without the owner's lock: exchanged with 0 for a claim. So
 * whoever dies with a page in hand dies with the lock of the shard that the owner word names, and
 * the repair of that shard finds the page.
 *
 * A block starts with struct kv_entry. Behind it the key, padded to 8 bytes, then the value; of a
 * value that does not fit into a block (KV_PAGED) the numbers of the pages that hold it. A
 * reference to a block is its offset in the segment / 16. A block's seq is even while it is an
 * entry, odd while it is free or being built; it counts up, so a reader that finds it unchanged
 * after copying has copied one entry.
 *
 * A collection's entry has a struct kv_head for its value, the roots of counted trees. Their nodes
 * and the elements in them are blocks in the same form (KV_PART), whose seq stays odd: no reader
 * takes them for entries, and only who holds the lock follows references to them. What an entry
 * reaches is never changed: who changes a collection writes new nodes along the way, then a new
 * entry, puts that in the place of the old one, and then frees what was replaced. An element has
 * the member for its key (none in a list), a sorted set's score in `deadline`. A node (KV_NODE) has
 * its level in `value_len` (0: leaf), the number of its slots in `key_len`, the operation that made
 * it in `version`, and behind it for each slot the reference and the tag (tree.h); in inner nodes
 * also the number of elements below. The type of a free block is 0.
 *
 * A large collection is not freed at once: its entry goes, its nodes wait in a list of the shard,
 * linked by `next`, and are freed a few at a time by whoever has the lock anyway. A node's
 * `deadline` says then whether the elements go with it. A repair frees them all: nothing that is
 * kept reaches them.
 *
 * Order. All that readers look at without the lock is written by release stores and read by acquire
 * loads (KV_SET, KV_GET), content included, word by word. So a reader that has seen anything that
 * was written later also sees, in the loads that follow, the mark that was set before that:
 *   changes   counts up before anything is unlinked
 *   seq       turns odd before a block is used again
 *   releases  counts up before a page is given back
 */

#include <stdatomic.h>
#include <stdint.h>

#include "kv/store.h"
#include "platform/shlock.h"

#define KV_PAGE        65536u
#define KV_HEADER_SIZE 4096u
#define KV_GRID        16u
#define KV_CLASSES     36u
#define KV_DATA        255u /* class of a page that is a piece of a large value */
#define KV_COUNTS      64u
#define KV_EVENTS      64u
#define KV_SHARDS_MAX  128u
#define KV_MARK_BYTES  (KV_PAGE / 64)
#define KV_MARK_COLL                                                                           \
    2                /* a collection's mark, which is cleared in so many steps: the hand meets \
                        it often, with each page that has a part of it */
#define KV_TRIES 64  /* of a reader, then it takes the lock */
#define KV_STEPS 512 /* along a chain without the lock */

#define KV_GET(field)    atomic_load_explicit(&(field), memory_order_acquire)
#define KV_SET(field, v) atomic_store_explicit(&(field), (v), memory_order_release)

enum {
    KV_PAGED = 1,
    KV_CODING = 6, /* two bits: how the value is compressed (codec.h) */
    KV_KEPT = 8,   /* no policy takes it away */
    KV_PART = 128, /* of a collection: its hash is that of the collection's key */
};

#define KV_CODING_SHIFT 1

#define KV_NODE      254u /* type of a node of a tree (tree.h) */
#define KV_LEVELS    12u  /* of nodes, at most */
#define KV_LEAF_MAX  74u  /* slots */
#define KV_INNER_MAX 49u

struct kv_entry {
    _Atomic uint32_t seq;
    _Atomic uint32_t next;     /* in the chain */
    _Atomic uint64_t hash;     /* of a free block: index + 1 of the next free one in the page */
    _Atomic uint64_t deadline; /* ns, 0: none */
    _Atomic uint64_t version;
    _Atomic uint32_t value_len;
    _Atomic uint16_t key_len;
    _Atomic uint8_t type;
    _Atomic uint8_t flags;
    _Atomic uint32_t mark; /* repair's */
    uint32_t spare;
};

/* The value of a collection's entry. */
struct kv_head {
    uint32_t root[2]; /* 0: none. Lists by position; hashes and sets by hash; sorted sets by score,
                         and by hash */
    uint32_t count;
    uint32_t spare;
    uint64_t bytes; /* of its parts */
};

struct kv_page {
    _Atomic uint32_t owner; /* 0: free, else (shard + 1) << 8 | class */
    uint32_t entry;         /* KV_DATA: the entry it is a piece of */
    uint32_t next, prev;    /* ring of the class's pages with room, or without; page number + 1 */
    uint16_t free;          /* index + 1 of the first free block */
    uint16_t used;          /* blocks given out */
    uint16_t fresh;         /* blocks that were ever given out since the page was claimed */
    uint16_t hand;          /* CLOCK's, in this page */
    uint32_t is_closed;     /* it is in the ring of those without room, where it is not at once */
    uint32_t pad;
};

/* Sleepers on keys with the same event. */
struct kv_event {
    _Atomic uint32_t word;
    _Atomic uint32_t sleepers; /* there may be some */
    uint64_t version;          /* of the last change */
    uint64_t removed;          /* of the last change that took a key away */
};

struct kv_shard {
    struct shlock lock;
    _Atomic uint64_t changes;
    _Atomic uint64_t releases;
    /* under the lock; in the line that a change writes anyway */
    uint64_t keys;
    uint64_t used;
    uint64_t expired;
    uint64_t evicted;
    uint64_t repaired;
    uint64_t dropped;
    uint64_t evictions;       /* for what is done at every so many */
    uint64_t operations;      /* on collections: the number of the next */
    _Atomic uint32_t garbage; /* first node of what is being freed, see kv_tree_drop(); 0: none */
    uint32_t pad0;
    uint64_t pad;
    uint32_t partial[KV_CLASSES]; /* page number + 1 */
    uint32_t full[KV_CLASSES];
    struct kv_event events[KV_EVENTS];
    uint64_t deadlines; /* changes of deadlines alone */
};

struct kv_counts {
    _Atomic uint64_t hits;
    _Atomic uint64_t misses;
    char pad[48];
};

struct kv_header {
    uint64_t magic;
    uint64_t fingerprint;
    uint32_t version;
    uint32_t policy;
    uint64_t size;
    uint64_t seed;
    uint32_t algorithm;
    int32_t level;
    uint64_t min_size;
    char pad0[8];
    /* Pages: `freed` counts those given back; `scanned` is what it was when none was found. */
    _Atomic uint64_t freed;
    _Atomic uint64_t scanned;
    _Atomic uint32_t hint; /* where a free page may be */
    _Atomic uint32_t hand; /* CLOCK's, over pages */
    _Atomic uint32_t openings;
    _Atomic uint32_t sweep; /* next bucket of kv_store_sweep() */
    _Atomic int64_t wall;   /* ns that the time of day is ahead of the clock of deadlines */
};

/* Where the sections are; computed from the size alone, never read from the segment. */
struct kv_plan {
    uint64_t size;
    uint32_t nshards, shard_bits, nbuckets, npages;
    uint64_t shards, buckets, marks, pages, data, end;
};

/* ERR_INVAL: not a size that a store can have. */
int kv_region_plan(uint64_t size, struct kv_plan *out) MUST_CHECK;

struct kv_codec;

/* This process's view. */
struct kv_store {
    char *base;
    struct kv_plan plan;
    struct kv_header *h;
    struct kv_shard *shards;
    _Atomic uint32_t *buckets;
    _Atomic uint8_t *marks;
    struct kv_page *pages;
    struct kv_counts *counts;
    uint64_t seed;
    uint64_t random;
    enum kv_policy policy;
    bool nonsense;      /* met in the shard that is locked: it is dropped before it is unlocked */
    bool borrowed;      /* the mapping is another one's */
    uint32_t pinned[2]; /* entries that are being changed, which are not evicted; 0: none */
    struct buf scratch; /* a value as it is under the lock */
    struct buf window;  /* kv_store_edit()'s */
    struct buf fresh, garbage;   /* of the operation on a collection (op.h) */
    struct buf packed, unpacked; /* what is compressed, and was (codec.h) */
    struct kv_codec *codec;      /* NULL: not needed yet */
    struct kv_compression compression;
};

static inline struct kv_entry *kv_at(const struct kv_store *s, uint32_t ref)
{
    return (struct kv_entry *)(void *)(s->base + (uint64_t)ref * KV_GRID);
}

/* Bytes from ref to the end of its page; 0 when it is no place for an entry. */
static inline uint32_t kv_room(const struct kv_store *s, uint32_t ref)
{
    uint64_t at = (uint64_t)ref * KV_GRID;
    uint32_t left;

    if (at < s->plan.data || at >= s->plan.end)
        return 0;
    left = KV_PAGE - (uint32_t)((at - s->plan.data) % KV_PAGE);
    return left >= sizeof(struct kv_entry) ? left : 0;
}

static inline uint32_t kv_page_of(const struct kv_store *s, uint32_t ref)
{
    return (uint32_t)(((uint64_t)ref * KV_GRID - s->plan.data) / KV_PAGE);
}

static inline char *kv_page_at(const struct kv_store *s, uint32_t page)
{
    return s->base + s->plan.data + (uint64_t)page * KV_PAGE;
}

static inline _Atomic uint8_t *kv_mark_of(const struct kv_store *s, uint32_t ref)
{
    return s->marks + ((uint64_t)ref * KV_GRID - s->plan.data) / 64;
}

/* Begins to load what the use of an entry reads besides its first line: the key's and value's next
 * bytes, and the mark. ref is a place for an entry. */
static inline void kv_prefetch(const struct kv_store *s, uint32_t ref)
{
    __builtin_prefetch((const char *)kv_at(s, ref) + 64);
    __builtin_prefetch((const void *)kv_mark_of(s, ref));
}

static inline uint32_t kv_owner(uint32_t shard, uint32_t class)
{
    return (shard + 1) << 8 | class;
}

static inline uint32_t kv_pad(uint32_t n)
{
    return (n + 7) & ~7u;
}

static inline uint32_t kv_pages_for(uint32_t n)
{
    return (n + KV_PAGE - 1) / KV_PAGE;
}

/* Bytes of an entry with such a key and value. */
static inline uint32_t kv_entry_size(uint32_t key, uint32_t value, unsigned flags)
{
    uint32_t body = flags & KV_PAGED ? 4 * kv_pages_for(value) : value;

    return (uint32_t)sizeof(struct kv_entry) + kv_pad(key) + kv_pad(body);
}

static inline uint32_t kv_shard_of(const struct kv_store *s, uint64_t hash)
{
    /* Two shifts: with one shard there are no bits to take. */
    return (uint32_t)(hash >> 1 >> (63 - s->plan.shard_bits));
}

static inline _Atomic uint32_t *kv_bucket_of(const struct kv_store *s, uint64_t hash)
{
    return s->buckets + (uint64_t)kv_shard_of(s, hash) * s->plan.nbuckets +
           ((uint32_t)hash & (s->plan.nbuckets - 1));
}

static inline _Atomic uint64_t *kv_key_words(struct kv_entry *e)
{
    return (_Atomic uint64_t *)(void *)(e + 1);
}

#endif
