/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_KEYS_H
#define EPHPM_KV_KEYS_H

/*
 * More on keys than one value needs: several at once, what is known of one, deadlines by the
 * calendar, parts of strings. What store.h says of its functions holds for these as well.
 */

#include "kv/store.h"

/* ---- several keys ---- */

struct kv_pair {
    struct str key;
    struct kv_value value;
    int64_t ttl; /* 0: no deadline */
};

/*
 * Sets all of them or none: ERR_TOOBIG, ERR_FULL, ERR_NOMEM, ERR_INVAL for a negative ttl; with
 * KV_ONLY_NEW ERR_EXISTS when one of the keys is there. Of a key that occurs twice the last value
 * counts.
 *
 * The shards of all keys are locked meanwhile, so that for everyone who changes something this is
 * one step. Who only reads takes no lock and may see a part of the new values. When the process is
 * killed in the middle, some of the keys may have their new value and others the old one; each is
 * whole.
 */
int kv_store_mset(
    struct kv_store *s, const struct kv_pair *pairs, size_t n, unsigned flags) MUST_CHECK;

/*
 * Gives a value with its deadline another key; what was at that one is replaced, or with
 * KV_ONLY_NEW: ERR_EXISTS. ERR_NOTFOUND: there is no value. ERR_FULL: for a moment there is a
 * second copy. One step in the same sense as kv_store_mset(): killed in the middle it may leave the
 * value at both keys.
 */
int kv_store_rename(struct kv_store *s, struct str from, struct str to, unsigned flags) MUST_CHECK;
/* The same, and the first key keeps its value. ERR_INVAL: both keys are the same. */
int kv_store_copy(struct kv_store *s, struct str from, struct str to, unsigned flags) MUST_CHECK;

/* ---- what is known of them ---- */

struct kv_info {
    enum kv_type type;
    uint64_t count;   /* elements; 1 for a value that is no collection */
    uint64_t length;  /* of a string; of a number: as text; of a collection: 0 */
    uint64_t bytes;   /* memory, everything included, rounded up as blocks are */
    uint64_t version; /* changes with each change of the value, never comes again */
    int64_t ttl;      /* ms, or KV_NO_TTL */
    int64_t until;    /* the same as a time of day, as kv_store_until() says */
    bool was_read;    /* since eviction last looked at it */
};

/* What is at a key of any type. Does not count as reading it. ERR_NOTFOUND: then only the version
 * is set, since a missing key has one too; that changes when it, or rarely another, is removed. */
int kv_store_info(struct kv_store *s, struct str key, struct kv_info *out) MUST_CHECK;
int kv_store_type(struct kv_store *s, struct str key, enum kv_type *out) MUST_CHECK;
/* Keys, those included that have expired and were not met yet. Takes each shard's lock for an
 * instant. */
uint64_t kv_store_count(struct kv_store *s);
/* A number that is another one when something was changed. Takes the locks in the same way. */
uint64_t kv_store_changes(struct kv_store *s);
/* Any key; each has a chance, roughly the same. ERR_NOTFOUND: there is none. */
int kv_store_random_key(struct kv_store *s, struct buf *key) MUST_CHECK;

/* ---- deadlines by the calendar ---- */

/*
 * Milliseconds since 1970. Inside, deadlines are of a clock that does not jump; when the machine's
 * time of day is set anew, those that were set before keep their distance from now, and what
 * kv_store_until() says of them moves. Else it says exactly what was set.
 */

enum kv_expire_if {
    KV_IF_NONE = 1,    /* the key has no deadline */
    KV_IF_SOME = 2,    /* it has one */
    KV_IF_LATER = 4,   /* the new one is later; none is later than all */
    KV_IF_EARLIER = 8, /* it is earlier */
};

/* Sets the deadline if all of these conditions hold; a time that has passed deletes the key.
 * ERR_NOTFOUND; ERR_BUSY: a condition does not hold. */
int kv_store_expire_at(
    struct kv_store *s, struct str key, int64_t when, unsigned conditions) MUST_CHECK;
/* KV_NO_TTL: none. ERR_NOTFOUND. */
int kv_store_until(struct kv_store *s, struct str key, int64_t *when) MUST_CHECK;

/* ---- parts of strings ---- */

/* A number counts as its decimal text here, of a float the shortest that reads as the same one;
 * what changes it makes a string of it. ERR_INVAL: neither string nor number. */

/* Bytes start to end, both included; negative ones count from the end (-1 is the last byte). What
 * is outside of the string is left out. ERR_NOTFOUND. *out borrows from buf. */
int kv_store_getrange(struct kv_store *s, struct str key, int64_t start, int64_t end,
    struct buf *buf, struct str *out) MUST_CHECK;
/* Overwrites from byte `at` on; the string grows, with zeros up to there if need be. *len is its
 * length then. Without bytes nothing changes, and *len is 0 for a missing key. ERR_TOOBIG. */
int kv_store_setrange(
    struct kv_store *s, struct str key, size_t at, struct str bytes, size_t *len) MUST_CHECK;

/* Called with the lock of the key's shard held: quick, and without the store. The bytes are the
 * window; where the string ends before it, zeros. True: they were changed. */
typedef bool kv_edit_cb(void *arg, char *bytes, size_t n);

/* Reads and writes n bytes from `at` on in one step, otherwise like kv_store_setrange(). The
 * cheapest window lies inside eight bytes that start at a multiple of eight. */
int kv_store_edit(struct kv_store *s, struct str key, size_t at, size_t n, kv_edit_cb *cb,
    void *arg, size_t *len) MUST_CHECK;

#endif
