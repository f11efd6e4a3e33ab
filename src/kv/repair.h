/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_REPAIR_H
#define EPHPM_KV_REPAIR_H

/* A shard whose holder died, or that makes no sense. The caller holds its lock. */

#include "kv/layout.h"

/* Keeps what the chains reach, frees all else, and counts anew. Its time grows with the shard. */
void kv_repair(struct kv_store *s, uint32_t shard);
/* For kv_tree_keep(): keeps a part of a collection whose key has this hash; false: it is none, or
 * was kept already. */
bool kv_repair_keep_part(struct kv_store *s, uint32_t shard, uint32_t ref, uint64_t hash);
/* Forgets all keys of the shard. */
void kv_repair_drop(struct kv_store *s, uint32_t shard);

#endif
