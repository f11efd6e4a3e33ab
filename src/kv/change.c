/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/change.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "kv/codec.h"
#include "kv/entry.h"
#include "platform/clock.h"

#define WALL_SLACK 50000000                       /* ns; less is no new time of day */
#define WALL_MAX   7000000000000                  /* ms, in the year 2191: later is the same */
#define TTL_MAX    (INT64_MAX / KV_NS_PER_MS / 2) /* ms, 146 years: more is the same */

uint64_t kv_deadline_in(int64_t ttl)
{
    return ttl == 0 ? 0 : kv_now() + (uint64_t)MIN(ttl, (int64_t)TTL_MAX) * KV_NS_PER_MS;
}

/* By how much the time of day is ahead of our clock. All processes go by one number as long as it
 * is about right, so that what one sets the other reads, to the millisecond. */
static int64_t wall_ahead(struct kv_store *s)
{
    int64_t now = (int64_t)clock_wall_us() * 1000 - (int64_t)kv_now();
    /* relaxed: a number alone. */
    int64_t known = atomic_load_explicit(&s->h->wall, memory_order_relaxed);

    if (known > now - WALL_SLACK && known < now + WALL_SLACK)
        return known;
    atomic_store_explicit(&s->h->wall, now, memory_order_relaxed);
    return now;
}

uint64_t kv_deadline_at(struct kv_store *s, int64_t when)
{
    int64_t ns = MIN(MAX(when, 0), WALL_MAX) * KV_NS_PER_MS - wall_ahead(s);

    return ns > 0 ? (uint64_t)ns : 1;
}

int64_t kv_deadline_wall(struct kv_store *s, uint64_t deadline)
{
    return ((int64_t)MIN(deadline, (uint64_t)INT64_MAX / 2) + wall_ahead(s) + KV_NS_PER_MS - 1) /
           KV_NS_PER_MS;
}

int kv_check(struct str key, const struct kv_value *v, int64_t ttl)
{
    if (ttl < 0)
        return ERR_INVAL;
    if (key.len > KV_KEY_MAX || (kv_has_bytes(v) && v->bytes.len > KV_VALUE_MAX))
        return ERR_TOOBIG;
    return 0;
}

bool kv_make_string(struct kv_value *v, struct buf *buf)
{
    char text[40];
    int n = 0;

    if (v->type == KV_STRING)
        return true;
    if (v->type == KV_INT)
        n = snprintf(text, sizeof(text), "%" PRId64, v->i);
    for (int digits = 15; v->type == KV_FLOAT && digits <= 17; digits++) {
        n = snprintf(text, sizeof(text), "%.*g", digits, v->f);
        if (strtod(text, NULL) == v->f)
            break;
    }
    if (n <= 0)
        return false;
    buf_clear(buf);
    buf_add(buf, text, (size_t)n);
    *v = (struct kv_value){.type = KV_STRING, .bytes = buf_str(buf)};
    return true;
}

int kv_take_text(struct kv_store *s, const struct kv_spot *spot)
{
    struct kv_value v = {.type = KV_STRING};
    int r = kv_take(s, spot, &s->scratch, &v);

    if (r == ERR_TYPE)
        return r;
    if (r)
        buf_clear(&s->scratch);
    else if (!kv_make_string(&v, &s->scratch))
        return ERR_INVAL;
    return 0;
}

static void trim(struct buf *b)
{
    if (b->cap > KV_PAGE)
        buf_fini(b);
}

void kv_trim(struct kv_store *s)
{
    trim(&s->scratch);
    trim(&s->window);
    trim(&s->packed);
    trim(&s->unpacked);
}

int kv_put(struct kv_store *s, struct kv_spot *spot, const struct kv_value *v, uint64_t deadline)
{
    uint64_t changes = KV_GET(spot->sh->changes);
    uint32_t ref;
    int r = kv_entry_build(s, spot, v, deadline, &ref);

    if (s->nonsense) {
        kv_shard_drop(s, spot->shard);
        r = kv_entry_build(s, spot, v, deadline, &ref);
    }
    if (r)
        return r;
    /* Eviction may have taken it, or the one before. */
    if (KV_GET(spot->sh->changes) != changes)
        kv_spot_find(s, spot);
    kv_spot_put(s, spot, ref);
    return 0;
}

int kv_take_stored(
    struct kv_store *s, const struct kv_spot *spot, struct buf *buf, struct kv_value *out)
{
    int r;

    if (!spot->e)
        return ERR_NOTFOUND;
    r = kv_entry_copy(s, spot->ref, buf, out);
    if (r && r != ERR_TYPE) {
        s->nonsense = true;
        return ERR_NOTFOUND;
    }
    return r;
}

int kv_take(struct kv_store *s, const struct kv_spot *spot, struct buf *buf, struct kv_value *out)
{
    int r = kv_take_stored(s, spot, buf, out);

    if (r == 0 && kv_unpack(s, buf, out) != 0) {
        s->nonsense = true;
        r = ERR_NOTFOUND;
    }
    return r;
}

int kv_finish(struct kv_store *s, struct str key, struct buf *buf, struct kv_value *out)
{
    struct kv_spot spot;
    int r = 0;

    if (!out->coding)
        return 0;
    if (kv_unpack(s, buf, out) != 0) {
        kv_spot_open(s, key, &spot);
        r = kv_take(s, &spot, buf, out);
        kv_spot_close(s, &spot);
    }
    kv_trim(s);
    return r;
}
