/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_STORE_H
#define EPHPM_KV_STORE_H

/*
 * Keys and values in shared memory, for all processes that open the same segment.
 *
 * One process makes the segment (kv_store_create), each one opens it (kv_store_open) and has a
 * struct kv_store of its own; one thread at a time uses that. All functions may be called from any
 * number of processes at once; any of them may be killed at any time. None but kv_store_wait()
 * blocks, except for the short time that another process changes the same part of the store.
 *
 * Keys and strings are bytes of any kind. Every function that takes a key says ERR_TOOBIG for one
 * of more than KV_KEY_MAX bytes; it may be empty. Times are milliseconds of a clock that does not
 * jump. A key is gone at its deadline, exactly.
 *
 * What reads or changes a value here says ERR_TYPE of a key that holds a collection (collections.h)
 * and leaves it; kv_store_set(), del, exists, the deadlines and all keys take every type.
 * kv_store_wait() gives ERR_TYPE with *version set when it is a collection that changed.
 *
 * When memory is short, the policy says what gives way. ERR_FULL: nothing may of what a bounded
 * search looked at, or the value takes more than half of the memory. The key has its old value
 * then, unless that gave way in the search.
 */

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

struct kv_store;

#define KV_KEY_MAX    32768u
#define KV_VALUE_MAX  (64u << 20) /* before it is compressed */
#define KV_MEMORY_MIN ((size_t)2 << 20)
#define KV_MEMORY_MAX ((size_t)32 << 30)

enum kv_policy {
    KV_NOEVICTION,   /* only what has expired gives way */
    KV_ALLKEYS_LRU,  /* what was not read for long; approximately, by a reference bit */
    KV_VOLATILE_LRU, /* the same among keys that have a deadline */
    KV_ALLKEYS_RANDOM,
};

enum kv_type {
    KV_STRING = 1,
    KV_INT,
    KV_FLOAT,
    KV_SERIALIZED, /* bytes whose meaning is the writer's, PHP's serialize() */
    /* Collections, of which collections.h is the interface. */
    KV_HASH,
    KV_LIST,
    KV_SET,
    KV_ZSET,
};

static inline bool kv_is_coll(enum kv_type type)
{
    return type >= KV_HASH && type <= KV_ZSET;
}

struct kv_value {
    enum kv_type type;
    int64_t i; /* KV_INT */
    double f;  /* KV_FLOAT */
    struct str bytes;
    unsigned coding; /* of the store alone; anything else leaves it 0 */
    bool kept;       /* a lock: the policy never takes it away */
};

enum kv_algorithm { KV_UNCOMPRESSED, KV_GZIP, KV_BROTLI, KV_ZSTD };

/* Strings and serialized values of at least min_size bytes (64 or more) are compressed, if that
 * makes them smaller by an eighth. Readers see no difference, whatever the store's settings were
 * when a value was written. What appending and kv_store_edit() make is stored as it is. */
struct kv_compression {
    enum kv_algorithm algorithm;
    int level;
    size_t min_size;
};

/* The levels that an algorithm has; false: it is none. */
static inline bool kv_compression_levels(enum kv_algorithm a, int *least, int *most)
{
    *least = a == KV_BROTLI ? 0 : 1;
    *most = a == KV_GZIP ? 9 : a == KV_BROTLI ? 11 : 19;
    return a == KV_GZIP || a == KV_BROTLI || a == KV_ZSTD;
}

struct kv_options {
    size_t memory; /* everything included; KV_MEMORY_MIN to KV_MEMORY_MAX */
    enum kv_policy policy;
    struct kv_compression compression;
};

/* ---- life cycle ---- */

/* Makes a segment; fd is passed to the processes that shall use it. ERR_INVAL for options;
 * ERR_UNSUPPORTED: this build lacks the algorithm; ERR_NOSPACE, ERR_MFILE, ERR_NOMEM. */
int kv_store_create(const struct kv_options *opt, int *fd) MUST_CHECK;
/* Maps it; the fd may be closed afterwards. ERR_VERSION, ERR_CORRUPT: of another layout. */
int kv_store_open(int fd, struct kv_store **out) MUST_CHECK;
/* For another thread of this process, on the same mapping. Close it before s. */
struct kv_store *kv_store_open_other(const struct kv_store *s) MUST_CHECK;
void kv_store_close(struct kv_store *s); /* NULL is fine */
/* Other settings for what is set by this struct kv_store from now on. ERR_INVAL, ERR_UNSUPPORTED.
 */
int kv_store_compress(struct kv_store *s, const struct kv_compression *c) MUST_CHECK;
/* In a forked child that goes on with the parent's s. */
void kv_store_after_fork(struct kv_store *s);

/* ---- one key ---- */

/* The bytes of a string go to buf, which is emptied first, and out->bytes borrows them.
 * ERR_NOTFOUND. */
int kv_store_get(
    struct kv_store *s, struct str key, struct buf *buf, struct kv_value *out) MUST_CHECK;
bool kv_store_exists(struct kv_store *s, struct str key);

enum kv_put_flags {
    KV_ONLY_NEW = 1, /* ERR_EXISTS when the key is there */
    KV_ONLY_OLD = 2, /* ERR_NOTFOUND when it is not */
    KV_KEEP_TTL = 4, /* the deadline stays */
    KV_TTL_AT = 8,   /* ttl is a time of day, ms since 1970; see keys.h */
};

/* ttl 0: no deadline. ERR_TOOBIG, ERR_FULL, ERR_INVAL for a negative ttl. */
int kv_store_set(struct kv_store *s, struct str key, const struct kv_value *v, unsigned flags,
    int64_t ttl) MUST_CHECK;
/* Sets, and gives what was there: ERR_NOTFOUND when nothing was (the key is set all the same). */
int kv_store_getset(struct kv_store *s, struct str key, const struct kv_value *v, struct buf *buf,
    struct kv_value *old) MUST_CHECK;
/* Gives, and sets another deadline in the same step: in ms from now or at ms since 1970, or none.
 * One that has passed deletes. ERR_NOTFOUND, ERR_TYPE: nothing changed. */
enum kv_expiry { KV_EXPIRY_NONE, KV_EXPIRY_IN, KV_EXPIRY_AT };
int kv_store_getex(struct kv_store *s, struct str key, enum kv_expiry how, int64_t ms,
    struct buf *buf, struct kv_value *out) MUST_CHECK;
/* Gives and deletes. ERR_NOTFOUND. */
int kv_store_getdel(
    struct kv_store *s, struct str key, struct buf *buf, struct kv_value *old) MUST_CHECK;
/* Sets when the value there is exactly that one, type included; expected NULL: when there is none.
 * ERR_BUSY when it is another one. v NULL: deletes. */
int kv_store_cas(struct kv_store *s, struct str key, const struct kv_value *expected,
    const struct kv_value *v, int64_t ttl) MUST_CHECK;
/* ERR_NOTFOUND. */
int kv_store_del(struct kv_store *s, struct str key) MUST_CHECK;

/* Adds; a missing key counts as 0 and gets no deadline, an existing one keeps its own. A string
 * that is a whole number counts as one. ERR_INVAL: the value is none; ERR_RANGE: the sum does not
 * fit. */
int kv_store_incr(struct kv_store *s, struct str key, int64_t by, int64_t *out) MUST_CHECK;
int kv_store_incr_float(struct kv_store *s, struct str key, double by, double *out) MUST_CHECK;
/* Appends to a string, which a missing key becomes, and a number too; *len is the new length.
 * ERR_INVAL: the value is neither. */
int kv_store_append(struct kv_store *s, struct str key, struct str tail, size_t *len) MUST_CHECK;

#define KV_NO_TTL (-1)

/* ---- deciding under the lock ---- */

enum kv_verdict {
    KV_LEAVE,    /* as it is */
    KV_PUT,      /* v takes its place */
    KV_PUT_KEEP, /* the same, and the deadline stays */
    KV_REMOVE,   /* nothing, when there was nothing */
};

struct kv_change {
    const struct kv_value *old; /* NULL: the key is not there. Valid during the call. */
    struct kv_value v;          /* its bytes must be valid until kv_store_update() returns */
    int64_t ttl;                /* for KV_PUT, 0: no deadline; negative: removes */
};

/* Runs with the lock held: it computes, and calls nothing of the store. */
typedef enum kv_verdict kv_update_cb(void *arg, struct kv_change *c);

/* Changes a key by what is there, in one step. As kv_store_set(); 0 also when nothing changed. */
int kv_store_update(struct kv_store *s, struct str key, kv_update_cb *cb, void *arg) MUST_CHECK;

/* ---- deadlines ---- */

/* A deadline ttl ms from now (0 or less: deletes at once). ERR_NOTFOUND. */
int kv_store_expire(struct kv_store *s, struct str key, int64_t ttl) MUST_CHECK;
/* Takes the deadline away; ERR_NOTFOUND when there is no key or no deadline. */
int kv_store_persist(struct kv_store *s, struct str key) MUST_CHECK;
/* What is left, at least 1; KV_NO_TTL when there is no deadline. ERR_NOTFOUND. */
int kv_store_ttl(struct kv_store *s, struct str key, int64_t *ms) MUST_CHECK;

/* ---- waiting ---- */

/*
 * Waits until the key's version is beyond `last`, at most timeout ms (0: looks only), and gives
 * value and version. A version counts changes of the value, deletion and expiry among them; a
 * missing key has one too: then ERR_NOTFOUND, and *version is set. Start with last 0, which does
 * not wait. May rarely return without a change: for another key while this one is missing, and
 * after a process was killed.
 * ERR_TIMEOUT; ERR_INTR: a signal handler ran.
 */
int kv_store_wait(struct kv_store *s, struct str key, uint64_t last, int timeout, struct buf *buf,
    struct kv_value *out, uint64_t *version) MUST_CHECK;

/* The version alone, without waiting, also of a missing key. Is the key there? */
bool kv_store_version(struct kv_store *s, struct str key, uint64_t *version);

/* ---- all keys ---- */

/* Called without a lock; may use the store. False ends the scan. */
typedef bool kv_key_cb(void *arg, struct str key);

/*
 * Goes on at *cursor (0: the start) until about `count` keys that match were reported, and leaves
 * the cursor for the next call there, 0 at the end. A key that is there from start to end is
 * reported exactly once. pattern: '*' '?' '[a-z]' '[^a]' '\', over all bytes.
 */
void kv_store_scan(struct kv_store *s, uint64_t *cursor, struct str pattern, size_t count,
    kv_key_cb *cb, void *arg);
void kv_store_flush(struct kv_store *s);
/* Frees what has expired in the next `buckets` buckets. For a timer: expired keys that nobody asks
 * for cost memory only. */
void kv_store_sweep(struct kv_store *s, size_t buckets);
/*
 * Goes on with freeing large collections that were deleted: so many steps of at most 74 elements in
 * each part of the store that has some, the lock held for one part at a time. True: there is more.
 * For a timer; changes do a step of it, and who finds no memory does all of it.
 */
bool kv_store_reclaim(struct kv_store *s, unsigned steps);

struct kv_stats {
    uint64_t memory;       /* of the segment */
    uint64_t used;         /* blocks and pages of entries, rounded up as they are */
    uint64_t keys;         /* those included that have expired and were not met yet */
    uint64_t hits, misses; /* of kv_store_get; nearly exact */
    uint64_t expired, evicted;
    uint64_t repaired; /* shards found half changed after a process died */
    uint64_t dropped;  /* shards emptied because they made no sense */
};
void kv_store_stats(struct kv_store *s, struct kv_stats *out);
enum kv_policy kv_store_policy(const struct kv_store *s);

#endif
