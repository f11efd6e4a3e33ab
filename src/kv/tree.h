/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_TREE_H
#define EPHPM_KV_TREE_H

/*
 * Counted B+trees of a collection: a sequence of elements that knows the number of each. All places
 * are positions; trees with an order are searched for the position of what is looked for.
 *
 * Slots carry a tag, which says something of the order of the first element below without a look at
 * that: half of a member's hash, or of a score's bits in ascending order; 0 in lists.
 *
 * Nodes are changed as op.h says: one that is not fresh is copied, and the copy takes its place in
 * its parent, up to the root in the operation's head. Elements are not freed here.
 */

#include "kv/op.h"

enum { KV_TREE = 0, KV_TREE_BY_MEMBER = 1 }; /* roots: the second of sorted sets only */

/* Which tree of such a collection is ordered by members' hashes. */
static inline int kv_tree_of_members(enum kv_type type)
{
    return type == KV_ZSET ? KV_TREE_BY_MEMBER : KV_TREE;
}

/* What is looked for. */
struct kv_probe {
    enum {
        KV_PROBE_MEMBER, /* (hash of member, member) */
        KV_PROBE_BOTH,   /* (score, member) */
        KV_PROBE_SCORE,
        KV_PROBE_LEX, /* member, of elements with one score */
    } by;
    int tie; /* score, lex: which side of it an equal element is on, -1 or 1 */
    uint32_t tag;
    struct str member;
    double score;
};

/* Of a member; never 0. */
uint32_t kv_tree_hash(const struct kv_store *s, struct str member);
uint32_t kv_tree_score_tag(double score);
struct kv_probe kv_probe_member(const struct kv_store *s, struct str member);
struct kv_probe kv_probe_both(struct str member, double score);

/* How many elements are before what is looked for, and that one itself (0: it is not there). */
int kv_tree_find(struct kv_op *op, int which, const struct kv_probe *probe, uint64_t *at,
    uint32_t *ref) MUST_CHECK;
/* The element at a position that there is. */
int kv_tree_at(struct kv_op *op, int which, uint64_t at, uint32_t *ref) MUST_CHECK;

/* ERR_FULL: the tree may be in pieces; the operation is to be undone. All of them. */
int kv_tree_insert(struct kv_op *op, int which, uint64_t at, uint32_t ref, uint32_t tag) MUST_CHECK;
int kv_tree_replace(
    struct kv_op *op, int which, uint64_t at, uint32_t ref, uint32_t tag) MUST_CHECK;
/* Takes n elements out. */
int kv_tree_cut(struct kv_op *op, int which, uint64_t at, uint64_t n) MUST_CHECK;

/* Walks along the elements. */
struct kv_walk {
    struct kv_op *op;
    int which;
    uint64_t at;   /* the next one */
    uint64_t left; /* that many to come */
    bool reverse;
    const uint32_t *words; /* of the leaf */
    uint32_t index, slots; /* in it; 0 slots: none yet */
};

/* n elements from a position on; fewer when there are not so many. Ends with a change. */
struct kv_walk kv_walk_from(struct kv_op *op, int which, uint64_t at, uint64_t n, bool reverse);
/* False at the end, and in nonsense. What is returned was checked to be an element. */
bool kv_walk_next(struct kv_walk *w, uint32_t *ref);

/* Frees all that a collection's entry reaches: at once if that is not much, or if `all`; else it is
 * garbage of the shard. */
void kv_tree_drop(struct kv_store *s, uint32_t shard, struct kv_entry *e, bool all);
/* Frees so many nodes of the shard's garbage, with the elements in them. */
void kv_tree_reclaim(struct kv_store *s, uint32_t shard, uint32_t nodes);
/* kv_repair_keep_part() for all of it; false: something is wrong with it. */
bool kv_tree_keep(struct kv_store *s, uint32_t shard, struct kv_entry *e);

#endif
