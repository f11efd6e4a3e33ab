/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_COLLECTIONS_H
#define EPHPM_KV_COLLECTIONS_H

/*
 * Hashes, lists, sets and sorted sets: values that are changed and read in parts.
 *
 * What store.h says holds here too: any process may call any of these at any time, and may be
 * killed at any time. Each call is one step: whoever reads, and whoever comes after a kill, finds
 * the collection as it was before the call or as it is after it. A call takes the lock of the key's
 * shard and holds it for a time that grows with what it reads or changes: log(n) for one element.
 *
 * A key that is not there is an empty collection, and a collection that becomes empty is gone.
 * Changes keep the key's deadline. All of these return, besides what they say,
 *   ERR_TYPE      the key holds something else (kv_store_get() and the like say so of a collection)
 *   ERR_TOOBIG    a key of more than KV_KEY_MAX bytes, a field or member of more than
 *                 KV_MEMBER_MAX, a value of more than KV_VALUE_MAX
 *   ERR_FULL      no room; nothing has changed
 * Where a call takes an array, its elements are applied in order, all or none.
 *
 * Operations on several keys are made of these. So that a kill duplicates an element rather than
 * loses it, add to the destination first, then remove from the source (kv_list_index, kv_list_push,
 * kv_list_pop). A result that replaces what was there is one call: kv_coll_replace().
 *
 * Reading many elements fills a struct kv_items, a copy that belongs to the caller:
 *
 *     struct kv_items items = {0};
 *     struct kv_item item;
 *
 *     r = kv_coll_all(s, key, KV_HASH, &items);
 *     while (kv_items_next(&items, &item))
 *         ... item.member, item.value ...
 *     kv_items_fini(&items);
 *
 * Orders: a list has its own; a sorted set that of (score, bytes of the member); hash and set that
 * of a hash of the member, which is the same for the same members while the store lives.
 */

#include "kv/keys.h"

#define KV_MEMBER_MAX 32768u
#define KV_COUNT_MAX  UINT32_MAX /* elements of a collection; one more is ERR_FULL */

/* One element. Which parts mean something: hash: member, value. List: value. Set: member. Sorted
 * set: member, score. */
struct kv_item {
    struct str member;
    struct kv_value value;
    double score;
};

/* Elements read, and what of them was taken already. Zeroed before its first use; each call that
 * fills it empties it first. */
struct kv_items {
    struct buf bytes;
    size_t n;  /* elements in it */
    size_t at; /* of kv_items_next() */
};

/* The next one; borrows from items until that is filled again or ends. False: there is none. */
bool kv_items_next(struct kv_items *items, struct kv_item *out);
void kv_items_fini(struct kv_items *items);

/* ---- all kinds ---- */

/* Elements; 0 without the key. */
int kv_coll_len(struct kv_store *s, struct str key, enum kv_type type, uint64_t *n) MUST_CHECK;
/* Is the field or member there? ERR_NOTFOUND. */
int kv_coll_has(
    struct kv_store *s, struct str key, enum kv_type type, struct str member) MUST_CHECK;
/* All elements in order, under one lock: as they were at one moment. */
int kv_coll_all(
    struct kv_store *s, struct str key, enum kv_type type, struct kv_items *items) MUST_CHECK;
/* Removes fields or members. *removed: those that were there. Not for lists. */
int kv_coll_rem(struct kv_store *s, struct str key, enum kv_type type, const struct str *members,
    size_t n, size_t *removed) MUST_CHECK;

/*
 * About `count` elements from *cursor (0: the start) on, and the cursor for the next call, 0 at the
 * end. An element that is there from start to end is reported, once; others may be. For sorted sets
 * in the order of hashes, too. Not for lists.
 */
int kv_coll_scan(struct kv_store *s, struct str key, enum kv_type type, uint64_t *cursor,
    size_t count, struct kv_items *items) MUST_CHECK;

/* Random elements: count of them, all different (fewer when there are not so many); for a negative
 * count -count of them, each chosen anew. */
int kv_coll_random(struct kv_store *s, struct str key, enum kv_type type, int64_t count,
    struct kv_items *items) MUST_CHECK;

/* This collection in the place of whatever is at the key; without items the key is deleted. Of two
 * items with one member the later counts. ttl as in kv_store_set(). ERR_INVAL: a negative ttl; a
 * score that is no number. */
int kv_coll_replace(struct kv_store *s, struct str key, enum kv_type type,
    const struct kv_item *items, size_t n, int64_t ttl) MUST_CHECK;
/* Adds to what is there: sets fields and members, puts at a list's end. */
int kv_coll_add(struct kv_store *s, struct str key, enum kv_type type, const struct kv_item *items,
    size_t n) MUST_CHECK;

/*
 * A whole collection in bounded steps, for snapshots and copies: up to `most` elements from the
 * *at-th on (0: the first), and *at of the next ones, 0 at the end. Each step holds the lock for
 * its own elements only. info->version tells whether it was changed since the step before; then
 * begin anew, and take all at once (most SIZE_MAX) when that happens again and again.
 * A copy is kv_coll_replace() with the first elements, kv_coll_add() with the others (to a key that
 * nobody knows yet); kv_coll_replace() sets the deadline. ERR_NOTFOUND. ERR_TYPE: no collection.
 */
int kv_coll_read(struct kv_store *s, struct str key, uint64_t *at, size_t most,
    struct kv_info *info, struct kv_items *items) MUST_CHECK;

/* ---- hash ---- */

/* Sets fields (member and value of each item); *added: those that were not there. flags:
 * KV_ONLY_NEW: none is set when one of them is there, ERR_EXISTS. */
int kv_hash_set(struct kv_store *s, struct str key, const struct kv_item *fields, size_t n,
    unsigned flags, size_t *added) MUST_CHECK;
/* As kv_store_get(). ERR_NOTFOUND: no such field. */
int kv_hash_get(struct kv_store *s, struct str key, struct str field, struct buf *buf,
    struct kv_value *out) MUST_CHECK;
/* As kv_store_incr(), of a field. */
int kv_hash_incr(
    struct kv_store *s, struct str key, struct str field, int64_t by, int64_t *out) MUST_CHECK;
int kv_hash_incr_float(
    struct kv_store *s, struct str key, struct str field, double by, double *out) MUST_CHECK;

/* What shall be in the field, by what is there (NULL: nothing). Runs with the lock held: it
 * computes, and calls nothing of the store. *out's bytes must stay until kv_hash_update() returns.
 * Not 0: nothing changes, and kv_hash_update() returns that. */
typedef int kv_field_cb(void *arg, const struct kv_value *old, struct kv_value *out);
int kv_hash_update(
    struct kv_store *s, struct str key, struct str field, kv_field_cb *cb, void *arg) MUST_CHECK;

/* ---- list ---- */

enum kv_end { KV_HEAD, KV_TAIL };

/* One after the other, so several at the head end up in reverse order. flags: KV_ONLY_OLD:
 * ERR_NOTFOUND when the key is not there. */
int kv_list_push(struct kv_store *s, struct str key, enum kv_end end, const struct kv_value *values,
    size_t n, unsigned flags, uint64_t *len) MUST_CHECK;
/* Takes up to count from that end, in the order they come off. ERR_NOTFOUND: no key. */
int kv_list_pop(struct kv_store *s, struct str key, enum kv_end end, uint64_t count,
    struct kv_items *items) MUST_CHECK;
/* Negative indexes count from the end, -1 is the last. From start to stop, both included, cut to
 * what there is. */
int kv_list_range(struct kv_store *s, struct str key, int64_t start, int64_t stop,
    struct kv_items *items) MUST_CHECK;
/* ERR_NOTFOUND: no such element. */
int kv_list_index(struct kv_store *s, struct str key, int64_t index, struct buf *buf,
    struct kv_value *out) MUST_CHECK;
/* ERR_NOTFOUND: no key. ERR_RANGE: no such element. */
int kv_list_set(
    struct kv_store *s, struct str key, int64_t index, const struct kv_value *v) MUST_CHECK;
/* Before or after the first element that equals pivot. ERR_NOTFOUND: no key. ERR_RANGE: no pivot.
 */
int kv_list_insert(struct kv_store *s, struct str key, bool before, struct str pivot,
    const struct kv_value *v, uint64_t *len) MUST_CHECK;
/* Removes elements that equal value: the first count, the last -count, all for 0. */
int kv_list_rem(struct kv_store *s, struct str key, int64_t count, struct str value,
    uint64_t *removed) MUST_CHECK;
/* Keeps start to stop. */
int kv_list_trim(struct kv_store *s, struct str key, int64_t start, int64_t stop) MUST_CHECK;
/* Positions of elements that equal value, as uint64_t one after the other in buf: from the
 * rank-th match on (1: the first; -1: the last, and backwards), up to count (0: all), looking at
 * up to `most` elements (0: all). */
int kv_list_pos(struct kv_store *s, struct str key, struct str value, int64_t rank, uint64_t count,
    uint64_t most, struct buf *positions) MUST_CHECK;
/* From one end of a list to the other, or the same; out is what moved. ERR_NOTFOUND: no key. */
int kv_list_rotate(struct kv_store *s, struct str key, enum kv_end from, enum kv_end to,
    struct buf *buf, struct kv_value *out) MUST_CHECK;

/* ---- set ---- */

int kv_set_add(struct kv_store *s, struct str key, const struct str *members, size_t n,
    size_t *added) MUST_CHECK;
/* Removes up to count random members and gives them. */
int kv_set_pop(
    struct kv_store *s, struct str key, uint64_t count, struct kv_items *items) MUST_CHECK;

/* ---- sorted set ---- */

enum kv_zadd_flags {
    /* KV_ONLY_NEW: members that are there stay as they are; KV_ONLY_OLD: none is added */
    KV_ONLY_GREATER = 8, /* a member that is there gets a score only when it is greater */
    KV_ONLY_LESS = 16,
};

struct kv_zadd {
    size_t added;
    size_t changed; /* got another score */
};

/* Sets scores (member and score of each item). ERR_INVAL: a score that is no number. */
int kv_zset_add(struct kv_store *s, struct str key, const struct kv_item *members, size_t n,
    unsigned flags, struct kv_zadd *out) MUST_CHECK;
/* Adds to a score (a missing one is 0). ERR_BUSY: the flags did not let it. ERR_RANGE: the sum is
 * no number. */
int kv_zset_incr(struct kv_store *s, struct str key, struct str member, double by, unsigned flags,
    double *out) MUST_CHECK;
/* ERR_NOTFOUND. */
int kv_zset_score(struct kv_store *s, struct str key, struct str member, double *out) MUST_CHECK;
/* How many members are before it (reverse: after it), and its score. ERR_NOTFOUND. */
int kv_zset_rank(struct kv_store *s, struct str key, struct str member, bool reverse,
    uint64_t *rank, double *score) MUST_CHECK;

enum kv_by { KV_BY_RANK, KV_BY_SCORE, KV_BY_LEX };

/* Bounds of a range, the lower one first whatever the direction. By rank, they are counted in the
 * direction of reading and negative ones from its end, as for lists. */
struct kv_range {
    enum kv_by by;
    int64_t start, stop;             /* KV_BY_RANK */
    double min, max;                 /* KV_BY_SCORE; may be infinite */
    struct str lex_min, lex_max;     /* KV_BY_LEX */
    bool no_min, no_max;             /* KV_BY_LEX: there is none */
    bool nothing;                    /* KV_BY_LEX: from + to -, is empty */
    bool min_excluded, max_excluded; /* by score and lex */
    bool reverse;                    /* from the upper end down */
    uint64_t offset;                 /* skips so many */
    int64_t limit;                   /* gives so many; negative: all */
};

int kv_zset_range(struct kv_store *s, struct str key, const struct kv_range *range,
    struct kv_items *items) MUST_CHECK;
/* offset, limit and reverse (but by rank) do not count here. */
int kv_zset_count(
    struct kv_store *s, struct str key, const struct kv_range *range, uint64_t *n) MUST_CHECK;
int kv_zset_rem_range(
    struct kv_store *s, struct str key, const struct kv_range *range, uint64_t *removed) MUST_CHECK;
/* Takes the count with the lowest (KV_HEAD) or highest scores. */
int kv_zset_pop(struct kv_store *s, struct str key, enum kv_end end, uint64_t count,
    struct kv_items *items) MUST_CHECK;

#endif
