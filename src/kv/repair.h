/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_REPAIR_H
#define EPHPM_KV_REPAIR_H

/* A shard whose holder died, or that makes no sense. The caller holds its lock. */

#include "kv/layout.h"

/* Keeps what the chains reach, frees all else, and counts anew. Its time grows with the shard. */
void kv_repair(struct kv_store *s, uint32_t shard);
/* Forgets all keys of the shard. */
void kv_repair_drop(struct kv_store *s, uint32_t shard);

#endif
