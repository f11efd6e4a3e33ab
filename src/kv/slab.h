/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_SLAB_H
#define EPHPM_KV_SLAB_H

/*
 * Pages and blocks of a shard. The caller holds the shard's lock. What makes no sense is not
 * followed: the store's `nonsense` is set, nothing is given and nothing freed.
 */

#include "kv/layout.h"

unsigned kv_slab_class(uint32_t size);
uint32_t kv_slab_size(unsigned class);
uint32_t kv_slab_blocks(unsigned class); /* in a page */

/* A page as owner says. ERR_FULL: there is no free one. */
int kv_slab_claim(struct kv_store *s, uint32_t owner, uint32_t *page) MUST_CHECK;
/* Gives a page of the shard back; it is in no ring. */
void kv_slab_release(struct kv_store *s, struct kv_shard *sh, uint32_t page);
/* Says that a page is free, which kv_slab_claim() believed none is: who gave it back may have died
 * before it said so. */
void kv_slab_notice(struct kv_store *s, uint32_t page);
/* A block of this class; its seq is odd. ERR_FULL: neither a free block nor a free page. */
int kv_slab_take(struct kv_store *s, uint32_t shard, unsigned class, uint32_t *ref) MUST_CHECK;
/* Makes a block free that is not linked any more. */
void kv_slab_give(struct kv_store *s, uint32_t shard, uint32_t ref);

/* A page of the ring, to its end. Used by eviction and repair. */
void kv_slab_append(struct kv_store *s, uint32_t *ring, uint32_t page);
bool kv_slab_remove(struct kv_store *s, uint32_t *ring, uint32_t page);

/* Class and index of a block of this shard; false: it is none. */
bool kv_slab_locate(
    const struct kv_store *s, uint32_t shard, uint32_t ref, unsigned *class, uint32_t *index);

static inline uint32_t kv_slab_ref(
    const struct kv_store *s, uint32_t page, unsigned class, uint32_t index)
{
    return (uint32_t)((s->plan.data + (uint64_t)page * KV_PAGE) / KV_GRID +
                      index * (kv_slab_size(class) / KV_GRID));
}

#endif
