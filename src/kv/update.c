/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/change.h"

static int apply(struct kv_store *s, struct kv_spot *spot, kv_update_cb *cb, void *arg)
{
    struct kv_value old;
    struct kv_change c = {.old = NULL};
    enum kv_verdict verdict;
    uint64_t deadline;
    int r = kv_take(s, spot, &s->scratch, &old);

    if (r && r != ERR_NOTFOUND)
        return r;
    if (r == 0)
        c.old = &old;
    verdict = cb(arg, &c);
    if (verdict == KV_REMOVE || (verdict == KV_PUT && c.ttl < 0)) {
        if (spot->e)
            kv_spot_remove(s, spot);
        return 0;
    }
    if (verdict == KV_LEAVE)
        return 0;
    r = kv_check(spot->key, &c.v, 0);
    if (r)
        return r;
    deadline = verdict == KV_PUT ? kv_deadline_in(c.ttl) : 0;
    if (verdict == KV_PUT_KEEP && spot->e)
        deadline = KV_GET(spot->e->deadline);
    return kv_put(s, spot, &c.v, deadline);
}

int kv_store_update(struct kv_store *s, struct str key, kv_update_cb *cb, void *arg)
{
    struct kv_spot spot;
    int r;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    r = apply(s, &spot, cb, arg);
    kv_spot_close(s, &spot);
    kv_trim(s);
    return r;
}

bool kv_store_version(struct kv_store *s, struct str key, uint64_t *version)
{
    struct kv_spot spot;
    bool there;

    *version = 0;
    if (key.len > KV_KEY_MAX)
        return false;
    kv_spot_open(s, key, &spot);
    *version = kv_version_at(&spot);
    there = spot.e != NULL;
    kv_spot_close(s, &spot);
    return there;
}
