/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/store.h"

#include <math.h>

#include "base/mem.h"
#include "kv/change.h"
#include "kv/codec.h"
#include "kv/entry.h"
#include "kv/read.h"
#include "kv/shard.h"

#define NUMBER_MAX 20 /* bytes of a string that is one */

/* Counts of this process alone, as a rule: lost only when two share a line. */
static void count(_Atomic uint64_t *n)
{
    atomic_store_explicit(
        n, atomic_load_explicit(n, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* ---- reading ---- */

int kv_store_get(struct kv_store *s, struct str key, struct buf *buf, struct kv_value *out)
{
    uint64_t deadline;
    int r;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    r = kv_read(s, key, buf, out, &deadline);
    count(r ? &s->counts->misses : &s->counts->hits);
    return r;
}

bool kv_store_exists(struct kv_store *s, struct str key)
{
    uint64_t deadline;

    return key.len <= KV_KEY_MAX && kv_read(s, key, NULL, NULL, &deadline) == 0;
}

int kv_store_ttl(struct kv_store *s, struct str key, int64_t *ms)
{
    uint64_t deadline, now;
    int r;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    r = kv_read(s, key, NULL, NULL, &deadline);
    if (r)
        return r;
    now = kv_now();
    if (deadline && deadline <= now)
        return ERR_NOTFOUND;
    *ms = deadline ? (int64_t)((deadline - now + KV_NS_PER_MS - 1) / KV_NS_PER_MS) : KV_NO_TTL;
    return 0;
}

/* ---- changing ---- */

int kv_store_set(
    struct kv_store *s, struct str key, const struct kv_value *v, unsigned flags, int64_t ttl)
{
    uint64_t deadline =
        flags & KV_TTL_AT && ttl > 0 ? kv_deadline_at(s, ttl) : kv_deadline_in(MAX(ttl, 0));
    struct kv_value stored;
    struct kv_spot spot;
    int r = kv_check(key, v, ttl);

    if (r)
        return r;
    stored = kv_packed(s, v);
    kv_spot_open(s, key, &spot);
    if (flags & KV_ONLY_NEW && spot.e)
        r = ERR_EXISTS;
    else if (flags & KV_ONLY_OLD && !spot.e)
        r = ERR_NOTFOUND;
    else
        r = kv_put(
            s, &spot, &stored, flags & KV_KEEP_TTL && spot.e ? KV_GET(spot.e->deadline) : deadline);
    kv_spot_close(s, &spot);
    kv_trim(s);
    return r;
}

int kv_store_getset(struct kv_store *s, struct str key, const struct kv_value *v, struct buf *buf,
    struct kv_value *old)
{
    struct kv_value stored;
    struct kv_spot spot;
    int r = kv_check(key, v, 0), was;

    if (r)
        return r;
    stored = kv_packed(s, v);
    kv_spot_open(s, key, &spot);
    was = kv_take_stored(s, &spot, buf, old);
    r = was == ERR_TYPE ? was : kv_put(s, &spot, &stored, 0);
    kv_spot_close(s, &spot);
    if (was == 0 && kv_unpack(s, buf, old) != 0)
        was = ERR_NOTFOUND;
    kv_trim(s);
    return r ? r : was;
}

int kv_store_getdel(struct kv_store *s, struct str key, struct buf *buf, struct kv_value *old)
{
    struct kv_spot spot;
    int r;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    r = kv_take_stored(s, &spot, buf, old);
    if (r == 0)
        kv_spot_remove(s, &spot);
    kv_spot_close(s, &spot);
    if (r == 0 && kv_unpack(s, buf, old) != 0)
        r = ERR_NOTFOUND;
    kv_trim(s);
    return r;
}

int kv_store_getex(struct kv_store *s, struct str key, enum kv_expiry how, int64_t ms,
    struct buf *buf, struct kv_value *out)
{
    uint64_t deadline = 0;
    struct kv_spot spot;
    int r;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    if (how == KV_EXPIRY_AT || (how == KV_EXPIRY_IN && ms <= 0))
        deadline = kv_deadline_at(s, how == KV_EXPIRY_AT ? ms : 0);
    else if (how == KV_EXPIRY_IN)
        deadline = kv_deadline_in(ms);
    kv_spot_open(s, key, &spot);
    r = kv_take_stored(s, &spot, buf, out);
    if (r == 0 && kv_is_past(deadline))
        kv_spot_remove(s, &spot);
    else if (r == 0 && KV_GET(spot.e->deadline) != deadline)
        kv_set_deadline(&spot, deadline);
    kv_spot_close(s, &spot);
    if (r == 0 && kv_unpack(s, buf, out) != 0)
        r = ERR_NOTFOUND;
    kv_trim(s);
    return r;
}

int kv_store_del(struct kv_store *s, struct str key)
{
    struct kv_spot spot;
    int r = ERR_NOTFOUND;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    if (spot.e) {
        kv_spot_remove(s, &spot);
        r = 0;
    }
    kv_spot_close(s, &spot);
    return r;
}

static bool is_same(const struct kv_value *a, const struct kv_value *b)
{
    if (a->type != b->type)
        return false;
    if (kv_has_bytes(a))
        return str_eq(a->bytes, b->bytes);
    return a->type == KV_INT ? a->i == b->i : a->f == b->f;
}

int kv_store_cas(struct kv_store *s, struct str key, const struct kv_value *expected,
    const struct kv_value *v, int64_t ttl)
{
    uint64_t deadline = kv_deadline_in(MAX(ttl, 0));
    struct kv_value is, stored = {.type = KV_INT};
    struct kv_spot spot;
    int r = kv_check(key, v ? v : &(struct kv_value){.type = KV_INT}, ttl);

    if (r)
        return r;
    if (v)
        stored = kv_packed(s, v);
    kv_spot_open(s, key, &spot);
    r = kv_take(s, &spot, &s->scratch, &is);
    if (r != ERR_TYPE && (expected ? r != 0 || !is_same(&is, expected) : r == 0))
        r = ERR_BUSY;
    else if (r != ERR_TYPE && v)
        r = kv_put(s, &spot, &stored, deadline);
    else if (r != ERR_TYPE)
        r = 0;
    if (r == 0 && !v && spot.e && !s->nonsense)
        kv_spot_remove(s, &spot);
    kv_spot_close(s, &spot);
    kv_trim(s);
    return r;
}

/* ---- numbers ---- */

/* The value under the lock as an int; a missing one is 0. */
static int int_at(struct kv_store *s, struct kv_spot *spot, int64_t *out)
{
    struct kv_value v;
    int r;

    if (spot->e && !kv_is_coll((enum kv_type)KV_GET(spot->e->type)) &&
        (KV_GET(spot->e->value_len) > NUMBER_MAX || KV_GET(spot->e->flags) & KV_CODING))
        return ERR_INVAL;
    *out = 0;
    r = kv_take(s, spot, &s->scratch, &v);
    if (r)
        return r == ERR_TYPE ? r : 0;
    if (v.type == KV_INT)
        *out = v.i;
    else if (v.type != KV_STRING || str_i64(v.bytes, out) != 0)
        return ERR_INVAL;
    return 0;
}

static int float_at(struct kv_store *s, struct kv_spot *spot, double *out)
{
    struct kv_value v;
    int64_t whole;
    int r;

    if (spot->e && KV_GET(spot->e->type) == KV_FLOAT) {
        *out = kv_take(s, spot, &s->scratch, &v) == 0 ? v.f : 0;
        return 0;
    }
    r = int_at(s, spot, &whole);
    if (r == 0)
        *out = (double)whole;
    return r;
}

/* A number in the place of one of the same type is one store, which readers see or do not. */
static int put_number(struct kv_store *s, struct kv_spot *spot, const struct kv_value *v)
{
    struct kv_entry *e = spot->e;
    uint64_t w;

    if (!e || KV_GET(e->type) != v->type)
        return kv_put(s, spot, v, e ? KV_GET(e->deadline) : 0);
    if (v->type == KV_INT)
        memcpy(&w, &v->i, sizeof(w));
    else
        memcpy(&w, &v->f, sizeof(w));
    KV_SET(*kv_entry_word(e, (uint32_t)spot->key.len), w);
    KV_SET(e->version, kv_shard_changed(spot->sh, spot->hash, false));
    return 0;
}

int kv_store_incr(struct kv_store *s, struct str key, int64_t by, int64_t *out)
{
    struct kv_value v = {.type = KV_INT};
    struct kv_spot spot;
    int r;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    r = int_at(s, &spot, &v.i);
    if (r == 0 && __builtin_add_overflow(v.i, by, &v.i))
        r = ERR_RANGE;
    if (r == 0)
        r = put_number(s, &spot, &v);
    kv_spot_close(s, &spot);
    if (r == 0)
        *out = v.i;
    return r;
}

int kv_store_incr_float(struct kv_store *s, struct str key, double by, double *out)
{
    struct kv_value v = {.type = KV_FLOAT};
    struct kv_spot spot;
    int r;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    r = float_at(s, &spot, &v.f);
    v.f += by;
    if (r == 0 && !isfinite(v.f))
        r = ERR_RANGE;
    if (r == 0)
        r = put_number(s, &spot, &v);
    kv_spot_close(s, &spot);
    if (r == 0)
        *out = v.f;
    return r;
}

/* ---- strings ---- */

static int append_copied(struct kv_store *s, struct kv_spot *spot, struct str tail)
{
    struct kv_value v = {.type = KV_STRING};
    int r = kv_take_text(s, spot);

    if (r)
        return r;
    if (tail.len > KV_VALUE_MAX || s->scratch.len > KV_VALUE_MAX - tail.len)
        return ERR_TOOBIG;
    buf_add_str(&s->scratch, tail);
    v.bytes = buf_str(&s->scratch);
    return kv_put(s, spot, &v, spot->e ? KV_GET(spot->e->deadline) : 0);
}

int kv_store_append(struct kv_store *s, struct str key, struct str tail, size_t *len)
{
    struct kv_spot spot;
    size_t n = 0;
    int r = 0;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    if (spot.e && KV_GET(spot.e->type) == KV_STRING && kv_entry_extend(s, &spot, tail))
        KV_SET(spot.e->version, kv_shard_changed(spot.sh, spot.hash, false));
    else
        r = append_copied(s, &spot, tail);
    if (r == 0)
        n = KV_GET(spot.e->value_len);
    kv_spot_close(s, &spot);
    kv_trim(s);
    if (r == 0)
        *len = n;
    return r;
}

/* ---- deadlines ---- */

int kv_store_expire(struct kv_store *s, struct str key, int64_t ttl)
{
    struct kv_spot spot;
    int r = ERR_NOTFOUND;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    if (spot.e) {
        if (ttl > 0)
            kv_set_deadline(&spot, kv_deadline_in(ttl));
        else
            kv_spot_remove(s, &spot);
        r = 0;
    }
    kv_spot_close(s, &spot);
    return r;
}

int kv_store_persist(struct kv_store *s, struct str key)
{
    struct kv_spot spot;
    int r = ERR_NOTFOUND;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    if (spot.e && KV_GET(spot.e->deadline)) {
        kv_set_deadline(&spot, 0);
        r = 0;
    }
    kv_spot_close(s, &spot);
    return r;
}

/* ---- numbers about it ---- */

enum kv_policy kv_store_policy(const struct kv_store *s)
{
    return s->policy;
}

void kv_store_stats(struct kv_store *s, struct kv_stats *out)
{
    const struct kv_counts *counts =
        (const struct kv_counts *)(const void *)(s->base + KV_HEADER_SIZE);
    struct kv_stats sum = {.memory = s->plan.size};

    for (uint32_t i = 0; i < s->plan.nshards; i++) {
        const struct kv_shard *sh = &s->shards[i];

        kv_shard_lock(s, i);
        sum.used += sh->used;
        sum.keys += sh->keys;
        sum.expired += sh->expired;
        sum.evicted += sh->evicted;
        sum.repaired += sh->repaired;
        sum.dropped += sh->dropped;
        kv_shard_unlock(s, i);
    }
    for (size_t i = 0; i < KV_COUNTS; i++) {
        /* relaxed: just numbers. */
        sum.hits += atomic_load_explicit(&counts[i].hits, memory_order_relaxed);
        sum.misses += atomic_load_explicit(&counts[i].misses, memory_order_relaxed);
    }
    *out = sum;
}
