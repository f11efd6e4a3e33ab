/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/change.h"

#include "kv/entry.h"

#define TTL_MAX (INT64_MAX / KV_NS_PER_MS / 2) /* ms, 146 years: more is the same */

uint64_t kv_deadline_in(int64_t ttl)
{
    return ttl == 0 ? 0 : kv_now() + (uint64_t)MIN(ttl, (int64_t)TTL_MAX) * KV_NS_PER_MS;
}

int kv_check(struct str key, const struct kv_value *v, int64_t ttl)
{
    if (ttl < 0)
        return ERR_INVAL;
    if (key.len > KV_KEY_MAX || (kv_has_bytes(v) && v->bytes.len > KV_VALUE_MAX))
        return ERR_TOOBIG;
    return 0;
}

void kv_trim(struct kv_store *s)
{
    if (s->scratch.cap > KV_PAGE)
        buf_fini(&s->scratch);
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

int kv_take(struct kv_store *s, const struct kv_spot *spot, struct buf *buf, struct kv_value *out)
{
    if (!spot->e)
        return ERR_NOTFOUND;
    if (kv_entry_copy(s, spot->ref, buf, out) != 0) {
        s->nonsense = true;
        return ERR_NOTFOUND;
    }
    return 0;
}
