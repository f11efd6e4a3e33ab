/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_EVICT_H
#define EPHPM_KV_EVICT_H

/*
 * Room for more: what has expired, then what the policy gives up, goes. The caller holds the lock
 * of `shard`. ERR_FULL: nothing that was looked at may go. Both look at a bounded number of
 * entries.
 */

#include "kv/layout.h"

/* A free block of this class, or a free page. */
int kv_evict_block(struct kv_store *s, uint32_t shard, unsigned class) MUST_CHECK;
/* A free page, of any shard that is not busy, or else what a collection was made of. */
int kv_evict_page(struct kv_store *s, uint32_t shard) MUST_CHECK;

/* Below n, which is not 0. */
uint32_t kv_random_below(struct kv_store *s, uint32_t n);

#endif
