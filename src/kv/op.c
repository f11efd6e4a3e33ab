/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/op.h"

#include "kv/change.h"
#include "kv/entry.h"
#include "kv/slab.h"
#include "kv/tree.h"

#define LIST_KEPT (64u << 10) /* bytes of the lists that stay for the next operation */

/* ---- blocks ---- */

static void remember(struct buf *list, uint32_t ref)
{
    buf_add(list, &ref, sizeof(ref));
}

static void free_list(struct kv_op *op, const struct buf *list)
{
    uint32_t ref;

    for (size_t at = 0; at < list->len && !op->s->nonsense; at += sizeof(ref)) {
        memcpy(&ref, list->p + at, sizeof(ref));
        kv_entry_free(op->s, op->spot.shard, ref);
    }
}

static void forget_list(struct buf *list)
{
    buf_clear(list);
    if (list->cap > LIST_KEPT)
        buf_fini(list);
}

/* Memory of a part, its pages included. */
static uint64_t weight(const struct kv_op *op, uint32_t ref)
{
    struct kv_entry *e = kv_at(op->s, ref);
    uint32_t index;
    unsigned class;

    if (!kv_slab_locate(op->s, op->spot.shard, ref, &class, &index)) {
        op->s->nonsense = true;
        return 0;
    }
    return kv_slab_size(class) + (KV_GET(e->flags) & KV_PAGED
                                         ? (uint64_t)kv_pages_for(KV_GET(e->value_len)) * KV_PAGE
                                         : 0);
}

static void made(struct kv_op *op, uint32_t ref)
{
    KV_SET(kv_at(op->s, ref)->version, op->id);
    remember(&op->s->fresh, ref);
    op->head.bytes += weight(op, ref);
    op->changed = true;
}

int kv_op_element(
    struct kv_op *op, struct str member, const struct kv_value *v, double score, uint32_t *ref)
{
    static const struct kv_value nothing = {.type = KV_STRING};
    int r;

    if (!v)
        v = &nothing;
    if (member.len > KV_MEMBER_MAX || (kv_has_bytes(v) && v->bytes.len > KV_VALUE_MAX))
        return ERR_TOOBIG;
    r = kv_entry_build_part(op->s, &op->spot, member, v, score, ref);
    if (r == 0)
        made(op, *ref);
    return r;
}

int kv_op_node(struct kv_op *op, uint32_t size, uint32_t *ref)
{
    struct kv_entry *e;
    int r = kv_entry_take(op->s, &op->spot, size, ref);

    if (r)
        return r;
    e = kv_at(op->s, *ref);
    KV_SET(e->hash, op->spot.hash);
    KV_SET(e->deadline, 0);
    KV_SET(e->flags, KV_PART);
    KV_SET(e->type, KV_NODE);
    made(op, *ref);
    return 0;
}

void kv_op_discard(struct kv_op *op, uint32_t ref)
{
    remember(&op->s->garbage, ref);
    op->head.bytes -= weight(op, ref);
    op->changed = true;
}

/* ---- beginning and end ---- */

static void begin(struct kv_store *s, const struct kv_spot *spot, struct kv_op *op)
{
    *op = (struct kv_op){.s = s, .spot = *spot, .id = spot->sh->operations++};
    buf_clear(&s->fresh);
    buf_clear(&s->garbage);
    s->pinned[0] = spot->e ? spot->ref : 0;
}

void kv_op_attach(struct kv_store *s, const struct kv_spot *spot, struct kv_op *op)
{
    begin(s, spot, op);
    if (!spot->e)
        return;
    op->type = (enum kv_type)KV_GET(spot->e->type);
    op->deadline = KV_GET(spot->e->deadline);
    kv_entry_head(spot->e, &op->head);
}

void kv_op_attach_new(struct kv_store *s, const struct kv_spot *spot, enum kv_type type,
    uint64_t deadline, struct kv_op *op)
{
    begin(s, spot, op);
    op->type = type;
    op->deadline = deadline;
    op->changed = op->replaces = true;
}

/* type NULL: any collection, which is there. */
static int open_as(struct kv_store *s, struct str key, const enum kv_type *type, struct kv_op *op)
{
    struct kv_spot spot;
    enum kv_type is;
    int r = 0;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    if (!spot.e && !type)
        r = ERR_NOTFOUND;
    if (r == 0) {
        is = spot.e ? (enum kv_type)KV_GET(spot.e->type) : *type;
        if (!kv_is_coll(is) || (type && is != *type))
            r = ERR_TYPE;
    }
    if (r) {
        kv_spot_close(s, &spot);
        return r;
    }
    kv_op_attach(s, &spot, op);
    op->type = is;
    /* relaxed: a hint for eviction. */
    if (spot.e)
        atomic_store_explicit(kv_mark_of(s, spot.ref), KV_MARK_COLL, memory_order_relaxed);
    return 0;
}

int kv_op_open(struct kv_store *s, struct str key, enum kv_type type, struct kv_op *op)
{
    return open_as(s, key, &type, op);
}

int kv_op_open_any(struct kv_store *s, struct str key, struct kv_op *op)
{
    return open_as(s, key, NULL, op);
}

int kv_op_open_new(
    struct kv_store *s, struct str key, enum kv_type type, uint64_t deadline, struct kv_op *op)
{
    struct kv_spot spot;

    if (key.len > KV_KEY_MAX)
        return ERR_TOOBIG;
    kv_spot_open(s, key, &spot);
    kv_op_attach_new(s, &spot, type, deadline, op);
    return 0;
}

void kv_op_clear(struct kv_op *op)
{
    kv_spot_remove(op->s, &op->spot);
    op->changed = false;
}

static int publish(struct kv_op *op)
{
    struct kv_value v = {.type = op->type, .bytes = {(const char *)&op->head, sizeof(op->head)}};
    uint32_t ref = 0;
    int r = 0;

    if (op->head.count) {
        r = kv_entry_build(op->s, &op->spot, &v, op->deadline, &ref);
        if (r)
            return r;
    }
    /* Eviction may have taken the one before it, here or while elements were made. */
    kv_spot_find(op->s, &op->spot);
    if (op->s->nonsense)
        return ERR_CORRUPT;
    if (ref && op->replaces)
        kv_spot_put(op->s, &op->spot, ref);
    else if (ref)
        kv_spot_put_head(op->s, &op->spot, ref);
    else if (op->spot.e && op->replaces)
        kv_spot_remove(op->s, &op->spot);
    else if (op->spot.e)
        kv_spot_remove_head(op->s, &op->spot);
    return 0;
}

int kv_op_finish(struct kv_op *op, int r)
{
    struct kv_store *s = op->s;

    if (r == 0 && s->nonsense)
        r = ERR_CORRUPT;
    if (r == 0 && op->changed)
        r = publish(op);
    free_list(op, r ? &s->fresh : &s->garbage);
    forget_list(&s->garbage);
    forget_list(&s->fresh);
    s->pinned[0] = 0;
    return r;
}

int kv_op_end(struct kv_op *op, int r)
{
    r = kv_op_finish(op, r);
    kv_trim(op->s);
    kv_spot_close(op->s, &op->spot);
    return r;
}

/* ---- elements ---- */

bool kv_op_is_element(struct kv_op *op, uint32_t ref)
{
    uint32_t room = kv_room(op->s, ref);
    struct kv_entry *e;

    if (room) {
        e = kv_at(op->s, ref);
        if (KV_GET(e->value_len) <= KV_VALUE_MAX && KV_GET(e->flags) & KV_PART &&
            KV_GET(e->type) < KV_HASH &&
            kv_entry_size(KV_GET(e->key_len), KV_GET(e->value_len), KV_GET(e->flags)) <= room)
            return true;
    }
    op->s->nonsense = true;
    return false;
}

struct str kv_op_member(const struct kv_op *op, uint32_t ref)
{
    struct kv_entry *e = kv_at(op->s, ref);

    /* Nobody writes there while we hold the lock. */
    return str_n((const char *)(e + 1), KV_GET(e->key_len));
}

double kv_op_score(const struct kv_op *op, uint32_t ref)
{
    uint64_t w = KV_GET(kv_at(op->s, ref)->deadline);
    double score;

    memcpy(&score, &w, sizeof(score));
    return score;
}

int kv_op_value(struct kv_op *op, uint32_t ref, struct buf *buf, struct kv_value *out)
{
    int r = kv_op_is_element(op, ref) ? kv_entry_copy(op->s, ref, buf, out) : ERR_CORRUPT;

    if (r)
        op->s->nonsense = true;
    return r;
}
