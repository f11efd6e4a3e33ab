/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_CHANGE_H
#define EPHPM_KV_CHANGE_H

/* What the operations that change values share. Those that take a spot are called
 * with the lock of the spot's shard. */

#include "kv/keys.h"
#include "kv/layout.h"
#include "kv/shard.h"

#define KV_NS_PER_MS 1000000u

static inline bool kv_has_bytes(const struct kv_value *v)
{
    return v->type == KV_STRING || v->type == KV_SERIALIZED;
}

/* ERR_TOOBIG, ERR_INVAL for what the caller gave. */
int kv_check(struct str key, const struct kv_value *v, int64_t ttl) MUST_CHECK;
/* ttl ms from now; 0 for 0, which is none. */
uint64_t kv_deadline_in(int64_t ttl);
/* The deadline at this time of day, ms since 1970, never 0; and back. */
uint64_t kv_deadline_at(struct kv_store *s, int64_t when);
int64_t kv_deadline_wall(struct kv_store *s, uint64_t deadline);

/* Of a key that is there. */
static inline void kv_set_deadline(const struct kv_spot *spot, uint64_t deadline)
{
    KV_SET(spot->e->deadline, deadline);
    spot->sh->deadlines++;
}

/* Puts a value in the place of what is there. ERR_FULL. */
int kv_put(struct kv_store *s, struct kv_spot *spot, const struct kv_value *v,
    uint64_t deadline) MUST_CHECK;
/* The value. ERR_NOTFOUND; ERR_TYPE: a collection. As it is stored, to be unpacked when the lock is
 * free again (codec.h). */
int kv_take_stored(struct kv_store *s, const struct kv_spot *spot, struct buf *buf,
    struct kv_value *out) MUST_CHECK;
/* The value itself. */
int kv_take(struct kv_store *s, const struct kv_spot *spot, struct buf *buf,
    struct kv_value *out) MUST_CHECK;
/* The value itself of what was copied out, without the lock. What turns out not to be one is looked
 * at again with it, and dropped. ERR_NOTFOUND. */
int kv_finish(struct kv_store *s, struct str key, struct buf *buf, struct kv_value *out) MUST_CHECK;
/* Makes the text of a number of it, in buf; false: it is neither number nor string. */
bool kv_make_string(struct kv_value *v, struct buf *buf) MUST_CHECK;
/* The text of a key in the store's scratch buffer, to be changed there: empty without the key.
 * ERR_INVAL: it has none. ERR_TYPE. */
int kv_take_text(struct kv_store *s, const struct kv_spot *spot) MUST_CHECK;
/* What is known of the key at the spot, which is there. */
void kv_describe(struct kv_store *s, const struct kv_spot *spot, struct kv_info *out);
/* Gives up buffers that a large value was copied to, which is seldom. */
void kv_trim(struct kv_store *s);

#endif
