/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_COLL_H
#define EPHPM_KV_COLL_H

/* What the kinds of collections have in common, within an operation (op.h). */

#include "kv/entry.h"
#include "kv/op.h"

/* A field or member, and its position in the tree of members (where it would be, with ref 0). */
int kv_coll_find(struct kv_op *op, struct str member, uint64_t *at, uint32_t *ref) MUST_CHECK;
/* Takes it out of all trees. */
int kv_coll_take(struct kv_op *op, struct str member, bool *was_there) MUST_CHECK;
/* Sets a field or adds a member (v NULL) of a set. */
int kv_coll_put(
    struct kv_op *op, struct str member, const struct kv_value *v, bool *added) MUST_CHECK;
/* Adds to an end of a list. */
int kv_coll_append(struct kv_op *op, enum kv_end end, const struct kv_value *v) MUST_CHECK;
/* Takes elements of a list, from a position, out; of a set likewise. */
int kv_coll_cut(struct kv_op *op, uint64_t at, uint64_t n) MUST_CHECK;
/* n different random positions below len, as uint64_t one after the other. */
void kv_coll_positions(struct kv_store *s, uint64_t len, uint64_t n, struct buf *out);
/* A copy of the collection at one spot in the place of what is at another; both shards are locked.
 * What makes no sense at `from` was dropped: ERR_NOTFOUND. */
int kv_coll_copy(struct kv_store *s, const struct kv_spot *from, const struct kv_spot *to,
    uint64_t deadline) MUST_CHECK;

/* A member's score, as the flags of kv_zset_add() let it. *out counts on. */
int kv_zset_put(struct kv_op *op, struct str member, double score, unsigned flags,
    struct kv_zadd *out) MUST_CHECK;
/* Takes an element out of the tree of scores alone. */
int kv_zset_cut_score(struct kv_op *op, uint32_t ref) MUST_CHECK;

#endif
