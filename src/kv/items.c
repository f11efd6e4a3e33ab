/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/op.h"
#include "kv/tree.h"

/* An element in a struct kv_items; member and value follow, each padded to 8 bytes. */
struct record {
    uint32_t member;
    uint32_t type;
    uint64_t value;
    uint64_t word; /* of an int or float */
    double score;
};

void kv_items_clear(struct kv_items *items)
{
    buf_clear(&items->bytes);
    items->n = items->at = 0;
}

void kv_items_fini(struct kv_items *items)
{
    buf_fini(&items->bytes);
    items->n = items->at = 0;
}

static void add_padded(struct buf *b, struct str s)
{
    static const char zeros[8];

    buf_add_str(b, s);
    buf_add(b, zeros, (8 - s.len % 8) % 8);
}

int kv_items_add(struct kv_items *items, struct kv_op *op, uint32_t ref)
{
    struct kv_value v = {.type = KV_STRING};
    struct record rec;
    struct str member;
    int r = kv_op_value(op, ref, &op->s->scratch, &v);

    if (r)
        return r;
    member = kv_op_member(op, ref);
    rec = (struct record){.member = (uint32_t)member.len,
        .type = v.type,
        .value = v.bytes.len,
        .score = op->type == KV_ZSET ? kv_op_score(op, ref) : 0};
    if (v.type == KV_FLOAT)
        memcpy(&rec.word, &v.f, sizeof(v.f));
    else
        rec.word = (uint64_t)v.i;
    buf_add(&items->bytes, &rec, sizeof(rec));
    add_padded(&items->bytes, member);
    add_padded(&items->bytes, v.bytes);
    items->n++;
    return 0;
}

int kv_items_add_range(
    struct kv_items *items, struct kv_op *op, int which, uint64_t from, uint64_t n, bool reverse)
{
    struct kv_walk w = kv_walk_from(op, which, from, n, reverse);
    uint32_t ref;
    int r = 0;

    while (r == 0 && kv_walk_next(&w, &ref))
        r = kv_items_add(items, op, ref);
    return r;
}

bool kv_items_next(struct kv_items *items, struct kv_item *out)
{
    const char *p = items->bytes.p + items->at;
    struct record rec;

    if (items->at >= items->bytes.len)
        return false;
    memcpy(&rec, p, sizeof(rec));
    p += sizeof(rec);
    *out = (struct kv_item){.member = str_n(p, rec.member), .score = rec.score};
    p += rec.member + (8 - rec.member % 8) % 8;
    out->value.type = (enum kv_type)rec.type;
    out->value.bytes = str_n(p, rec.value);
    out->value.i = (int64_t)rec.word;
    memcpy(&out->value.f, &rec.word, sizeof(rec.word));
    p += rec.value + (8 - rec.value % 8) % 8;
    items->at = (size_t)(p - items->bytes.p);
    return true;
}
