/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_OP_H
#define EPHPM_KV_OP_H

/*
 * One operation on a collection, with the lock of its key's shard held from kv_op_open() to
 * kv_op_end().
 *
 * What it makes is `fresh`, what it replaces `garbage`. The end publishes the new head and frees
 * the garbage, or frees what is fresh and leaves everything as it was. What is fresh may be changed
 * in place until then, so many changes in one operation do not copy the same nodes again and again.
 */

#include "kv/collections.h"
#include "kv/layout.h"
#include "kv/shard.h"

struct kv_op {
    struct kv_store *s;
    struct kv_spot spot;
    enum kv_type type;
    struct kv_head head; /* as it shall be */
    uint64_t id;         /* what is fresh has it as its version */
    uint64_t deadline;
    bool changed;
    bool replaces; /* what was there, of whatever type */
};

/* Locks and finds. Without the key, the head is empty. ERR_TYPE, ERR_TOOBIG: there is no
 * operation. */
int kv_op_open(struct kv_store *s, struct str key, enum kv_type type, struct kv_op *op) MUST_CHECK;
/* The same for a collection of any type that is there: ERR_NOTFOUND. */
int kv_op_open_any(struct kv_store *s, struct str key, struct kv_op *op) MUST_CHECK;
/* An empty collection that shall take the place of whatever is there. ERR_TOOBIG. */
int kv_op_open_new(struct kv_store *s, struct str key, enum kv_type type, uint64_t deadline,
    struct kv_op *op) MUST_CHECK;
/* Publishes, or for r != 0 undoes; unlocks. Returns r, or how publishing failed. */
int kv_op_end(struct kv_op *op, int r) MUST_CHECK;
/* The same for a spot whose shard is locked, and stays locked after kv_op_finish(). The first is
 * for a collection or nothing. */
void kv_op_attach(struct kv_store *s, const struct kv_spot *spot, struct kv_op *op);
void kv_op_attach_new(struct kv_store *s, const struct kv_spot *spot, enum kv_type type,
    uint64_t deadline, struct kv_op *op);
int kv_op_finish(struct kv_op *op, int r) MUST_CHECK;
/* The key goes, with all of it. */
void kv_op_clear(struct kv_op *op);

/* An element; ERR_FULL, ERR_TOOBIG. */
int kv_op_element(struct kv_op *op, struct str member, const struct kv_value *v, double score,
    uint32_t *ref) MUST_CHECK;
/* A block for a node. */
int kv_op_node(struct kv_op *op, uint32_t size, uint32_t *ref) MUST_CHECK;
/* Is not part of the collection any more. */
void kv_op_discard(struct kv_op *op, uint32_t ref);
static inline bool kv_op_is_fresh(const struct kv_op *op, uint32_t ref)
{
    return KV_GET(kv_at(op->s, ref)->version) == op->id;
}

/* ---- elements ---- */

/* Can the block be read as an element? Else the store's nonsense is set. */
bool kv_op_is_element(struct kv_op *op, uint32_t ref);
struct str kv_op_member(const struct kv_op *op, uint32_t ref);
double kv_op_score(const struct kv_op *op, uint32_t ref);
int kv_op_value(struct kv_op *op, uint32_t ref, struct buf *buf, struct kv_value *out) MUST_CHECK;

/* Empties; adds a copy of an element. */
void kv_items_clear(struct kv_items *items);
int kv_items_add(struct kv_items *items, struct kv_op *op, uint32_t ref) MUST_CHECK;
/* Adds n elements from a position of tree `which`; backwards from it if reverse. */
int kv_items_add_range(struct kv_items *items, struct kv_op *op, int which, uint64_t from,
    uint64_t n, bool reverse) MUST_CHECK;

#endif
