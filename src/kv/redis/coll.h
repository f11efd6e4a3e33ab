/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_REDIS_COLL_H
#define EPHPM_KV_REDIS_COLL_H

/*
 * What the commands of hashes, lists, sets and sorted sets have in common. As in command.h, what
 * returns bool has written the error when it returns false.
 */

#include "kv/collections.h"
#include "kv/redis/command.h"

/* A value of an element as a bulk. */
void coll_reply_value(struct redis_call *c, const struct kv_value *v);
/* A score: 17 digits, as Redis has them. */
void coll_reply_score(struct redis_call *c, double score);
/* The same as text; the length. */
enum { COLL_SCORE_MAX = 40 };
size_t coll_put_score(char out[COLL_SCORE_MAX], double score);

/* Words from... as values of a list. Freed by mem_free(); the words are borrowed. */
struct kv_value *coll_values(struct redis_call *c, size_t from, size_t n) MUST_CHECK;

/* All elements. */
bool coll_all(struct redis_call *c, struct str key, enum kv_type type, struct kv_items *items);
/* How many elements the key has; 0 without it. */
bool coll_len(struct redis_call *c, struct str key, enum kv_type type, uint64_t *n);
/* The number as the reply, or the error. */
void coll_reply_int(struct redis_call *c, int r, int64_t n);

/* A count that is not negative: "ERR value is out of range, must be positive". */
bool coll_count(struct redis_call *c, size_t i, uint64_t *out);
/* What follows a number of keys at word i: those keys are words i + 1 to i + n. */
bool coll_numkeys(struct redis_call *c, size_t i, size_t *n);
/* SINTERCARD, ZINTERCARD: numkeys at word 1, keys, LIMIT. */
bool coll_numkeys_card(struct redis_call *c, size_t *n, int64_t *limit);

/* Is the command run again for a client that waits? Then a key of another type is one to wait for,
 * too. */
bool coll_waits(const struct redis_call *c);

/* HLEN, LLEN, SCARD, ZCARD. */
void coll_cmd_len(struct redis_call *c, enum kv_type type);
/* HDEL, SREM, ZREM. */
void coll_cmd_rem(struct redis_call *c, enum kv_type type);
/* HEXISTS, SISMEMBER. */
void coll_cmd_has(struct redis_call *c, enum kv_type type);
/* HSCAN, SSCAN, ZSCAN. */
void coll_cmd_scan(struct redis_call *c, enum kv_type type);
/* HRANDFIELD, SRANDMEMBER, ZRANDMEMBER; `with` is the word for values, or NULL. */
void coll_cmd_random(struct redis_call *c, enum kv_type type, const char *with);

/* Takes up to count elements from an end of the first of n keys (words from...) that is there, and
 * replies; `many`: as a list, not as the one that it is. False: none is there, and nothing was
 * written. */
typedef bool coll_pop_cb(
    struct redis_call *c, size_t from, size_t n, enum kv_end end, uint64_t count, bool many);
/* BLPOP, BRPOP, BZPOPMIN, BZPOPMAX: keys, timeout. */
void coll_cmd_blocking_pop(struct redis_call *c, coll_pop_cb *pop, enum kv_end end);
/* LMPOP, ZMPOP: numkeys at word 1, keys, the word for an end, COUNT. At word 2 behind a timeout:
 * BLMPOP, BZMPOP. */
void coll_cmd_mpop(
    struct redis_call *c, size_t numkeys, const char *head, const char *tail, coll_pop_cb *pop);

#endif
