/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/kv.h"

#include <assert.h>

#include "base/mem.h"
#include "kv/codec.h"
#include "kv/layout.h"
#include "platform/fs.h"
#include "platform/random.h"
#include "platform/shm.h"

#define MAGIC            0x31766b6d70687065u /* "ephpmkv1" on little-endian machines */
#define VERSION          3
#define BYTES_PER_SHARD  ((uint64_t)4 << 20)
#define BYTES_PER_BUCKET 256

static_assert(sizeof(struct kv_entry) == 48, "layout");
static_assert(sizeof(struct kv_page) == 32, "layout");
static_assert(sizeof(struct kv_head) == 24, "layout");
static_assert(sizeof(struct kv_event) == 24, "layout");
static_assert(sizeof(struct kv_shard) % 64 == 0, "layout");
static_assert(offsetof(struct kv_shard, changes) == 64, "layout");
static_assert(offsetof(struct kv_shard, evictions) == 128, "layout");
static_assert(offsetof(struct kv_shard, partial) == 160, "layout");
static_assert(sizeof(struct kv_counts) == 64, "layout");
static_assert(offsetof(struct kv_header, freed) == 64, "layout");
static_assert(sizeof(struct kv_header) <= KV_HEADER_SIZE, "layout");
static_assert(KV_MEMORY_MAX / KV_GRID <= UINT32_MAX, "a reference reaches the end");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2, "between processes");
static_assert(ATOMIC_SHORT_LOCK_FREE == 2 && ATOMIC_CHAR_LOCK_FREE == 2, "between processes");

/* Changes with everything that moves a field. */
static uint64_t fingerprint(void)
{
    uint64_t f = 0;
    const uint64_t parts[] = {sizeof(struct kv_entry), sizeof(struct kv_page),
        sizeof(struct kv_shard), sizeof(struct kv_header), KV_PAGE, KV_CLASSES, KV_COUNTS,
        KV_EVENTS, BYTES_PER_SHARD, BYTES_PER_BUCKET, KV_LEAF_MAX, KV_INNER_MAX, sizeof(void *)};

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        f = (f ^ parts[i]) * 0x100000001b3u;
    return f;
}

static uint64_t align(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

int kv_region_plan(uint64_t size, struct kv_plan *out)
{
    struct kv_plan p = {.size = size, .nshards = 1, .nbuckets = 1};

    if (size < KV_MEMORY_MIN || size > KV_MEMORY_MAX)
        return ERR_INVAL;
    while (p.nshards < KV_SHARDS_MAX && (uint64_t)p.nshards * 2 * BYTES_PER_SHARD <= size) {
        p.nshards *= 2;
        p.shard_bits++;
    }
    while ((uint64_t)p.nshards * p.nbuckets * 2 * BYTES_PER_BUCKET <= size)
        p.nbuckets *= 2;
    p.shards = KV_HEADER_SIZE + KV_COUNTS * sizeof(struct kv_counts);
    p.buckets = p.shards + (uint64_t)p.nshards * sizeof(struct kv_shard);
    p.marks = align(p.buckets + (uint64_t)p.nshards * p.nbuckets * sizeof(uint32_t), 64);
    p.npages = (uint32_t)((size - p.marks - 2 * 4096) /
                          (KV_PAGE + KV_MARK_BYTES + sizeof(struct kv_page)));
    p.pages = p.marks + (uint64_t)p.npages * KV_MARK_BYTES;
    p.data = align(p.pages + (uint64_t)p.npages * sizeof(struct kv_page), 4096);
    p.end = p.data + (uint64_t)p.npages * KV_PAGE;
    ENSURE(p.end <= size);
    *out = p;
    return 0;
}

static int init(char *base, const struct kv_options *opt, const struct kv_plan *plan)
{
    struct kv_header *h = (struct kv_header *)(void *)base;
    struct kv_shard *shards = (struct kv_shard *)(void *)(base + plan->shards);
    int r = 0;

    for (uint32_t i = 0; i < plan->nshards && r == 0; i++) {
        r = shlock_init(&shards[i].lock);
        /* From 1 on, so that the first change of a key is beyond what its waiter saw. */
        for (size_t k = 0; k < KV_EVENTS; k++)
            shards[i].events[k].version = 1;
    }
    if (r)
        return r;
    h->fingerprint = fingerprint();
    h->version = VERSION;
    h->policy = opt->policy;
    h->algorithm = opt->compression.algorithm;
    h->level = opt->compression.level;
    h->min_size = opt->compression.min_size;
    h->size = plan->size;
    h->seed = random_u64();
    atomic_init(&h->freed, 1);
    h->magic = MAGIC;
    return 0;
}

int kv_store_create(const struct kv_options *opt, int *fd)
{
    struct kv_plan plan;
    void *base = NULL;
    int f = -1, r;

    if ((unsigned)opt->policy > KV_ALLKEYS_RANDOM)
        return ERR_INVAL;
    r = kv_codec_check(&opt->compression);
    if (r)
        return r;
    r = kv_region_plan(opt->memory, &plan);
    if (r)
        return r;
    r = shm_create("ephpm-kv", plan.size, &f);
    if (r)
        return r;
    r = shm_map(f, plan.size, &base);
    if (r)
        goto fail;
    r = init(base, opt, &plan);
    shm_unmap(base, plan.size);
    if (r)
        goto fail;
    *fd = f;
    return 0;
fail:
    fs_close(f);
    return r;
}

static void attach(struct kv_store *s, char *base)
{
    uint32_t n;

    s->base = base;
    s->h = (struct kv_header *)(void *)base;
    s->shards = (struct kv_shard *)(void *)(base + s->plan.shards);
    s->buckets = (_Atomic uint32_t *)(void *)(base + s->plan.buckets);
    s->marks = (_Atomic uint8_t *)(void *)(base + s->plan.marks);
    s->pages = (struct kv_page *)(void *)(base + s->plan.pages);
    s->random = random_u64() | 1;
    /* relaxed: any number will do. */
    n = atomic_fetch_add_explicit(&s->h->openings, 1, memory_order_relaxed);
    s->counts = (struct kv_counts *)(void *)(base + KV_HEADER_SIZE) + n % KV_COUNTS;
}

static struct kv_compression compression_of(const struct kv_header *h)
{
    return (struct kv_compression){(enum kv_algorithm)h->algorithm, h->level, h->min_size};
}

/* The parts of the header that are used come from a copy that was checked. */
static int check(const struct kv_header *h, struct kv_plan *plan)
{
    struct kv_compression c = compression_of(h);

    if (h->magic != MAGIC)
        return ERR_CORRUPT;
    if (h->version != VERSION || h->fingerprint != fingerprint())
        return ERR_VERSION;
    if (h->policy > KV_ALLKEYS_RANDOM || kv_codec_check(&c) != 0 ||
        kv_region_plan(h->size, plan) != 0)
        return ERR_CORRUPT;
    return 0;
}

int kv_store_open(int fd, struct kv_store **out)
{
    struct kv_header copy;
    struct kv_store *s;
    struct kv_plan plan;
    void *base = NULL;
    int r = shm_map(fd, KV_HEADER_SIZE, &base);

    if (r)
        return r == ERR_INVAL ? ERR_CORRUPT : r;
    /* Only this part never changes. */
    memcpy(&copy, base, offsetof(struct kv_header, freed));
    shm_unmap(base, KV_HEADER_SIZE);
    r = check(&copy, &plan);
    if (r)
        return r;
    r = shm_map(fd, plan.size, &base);
    if (r)
        return r == ERR_INVAL ? ERR_CORRUPT : r;
    s = mem_new(sizeof(*s));
    s->plan = plan;
    s->policy = (enum kv_policy)copy.policy;
    s->seed = copy.seed;
    s->compression = compression_of(&copy);
    attach(s, base);
    *out = s;
    return 0;
}

struct kv_store *kv_store_open_other(const struct kv_store *s)
{
    struct kv_store *o = mem_new(sizeof(*o));

    o->plan = s->plan;
    o->policy = s->policy;
    o->seed = s->seed;
    o->compression = s->compression;
    o->borrowed = true;
    attach(o, s->base);
    return o;
}

int kv_store_compress(struct kv_store *s, const struct kv_compression *c)
{
    int r = kv_codec_check(c);

    if (r == 0)
        s->compression = *c;
    return r;
}

void kv_store_after_fork(struct kv_store *s)
{
    attach(s, s->base);
}

void kv_store_close(struct kv_store *s)
{
    if (!s)
        return;
    buf_fini(&s->scratch);
    buf_fini(&s->window);
    buf_fini(&s->fresh);
    buf_fini(&s->garbage);
    buf_fini(&s->packed);
    buf_fini(&s->unpacked);
    kv_codec_free(s->codec);
    if (!s->borrowed)
        shm_unmap(s->base, s->plan.size);
    mem_free(s);
}
