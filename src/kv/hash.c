/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <math.h>

#include "kv/coll.h"

static int check_new(struct kv_op *op, const struct kv_item *fields, size_t n)
{
    uint64_t at;
    uint32_t ref;
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++) {
        r = kv_coll_find(op, fields[i].member, &at, &ref);
        if (r == 0 && ref)
            r = ERR_EXISTS;
    }
    return r;
}

int kv_hash_set(struct kv_store *s, struct str key, const struct kv_item *fields, size_t n,
    unsigned flags, size_t *added)
{
    size_t count = 0;
    struct kv_op op;
    bool is_new;
    int r = kv_op_open(s, key, KV_HASH, &op);

    if (r)
        return r;
    if (flags & KV_ONLY_NEW)
        r = check_new(&op, fields, n);
    for (size_t i = 0; r == 0 && i < n; i++) {
        r = kv_coll_put(&op, fields[i].member, &fields[i].value, &is_new);
        count += is_new;
    }
    r = kv_op_end(&op, r);
    if (r == 0)
        *added = count;
    return r;
}

int kv_hash_get(
    struct kv_store *s, struct str key, struct str field, struct buf *buf, struct kv_value *out)
{
    struct kv_op op;
    uint64_t at;
    uint32_t ref;
    int r = kv_op_open(s, key, KV_HASH, &op);

    if (r)
        return r;
    r = kv_coll_find(&op, field, &at, &ref);
    if (r == 0)
        r = ref ? kv_op_value(&op, ref, buf, out) : ERR_NOTFOUND;
    return kv_op_end(&op, r);
}

int kv_hash_update(struct kv_store *s, struct str key, struct str field, kv_field_cb *cb, void *arg)
{
    struct kv_value old, v;
    struct kv_op op;
    uint64_t at;
    uint32_t ref;
    bool added;
    int r = kv_op_open(s, key, KV_HASH, &op);

    if (r)
        return r;
    r = kv_coll_find(&op, field, &at, &ref);
    if (r == 0 && ref)
        r = kv_op_value(&op, ref, &s->scratch, &old);
    if (r == 0)
        r = cb(arg, ref ? &old : NULL, &v);
    if (r == 0)
        r = kv_coll_put(&op, field, &v, &added);
    return kv_op_end(&op, r);
}

struct sum {
    int64_t by, i;
    double by_float, f;
};

static int add_int(void *arg, const struct kv_value *old, struct kv_value *out)
{
    struct sum *sum = arg;

    sum->i = 0;
    if (old && old->type == KV_INT)
        sum->i = old->i;
    else if (old && (old->type != KV_STRING || str_i64(old->bytes, &sum->i) != 0))
        return ERR_INVAL;
    if (__builtin_add_overflow(sum->i, sum->by, &sum->i))
        return ERR_RANGE;
    *out = (struct kv_value){.type = KV_INT, .i = sum->i};
    return 0;
}

static int add_float(void *arg, const struct kv_value *old, struct kv_value *out)
{
    struct sum *sum = arg;
    int64_t whole = 0;

    if (old && old->type == KV_FLOAT)
        sum->f = old->f;
    else if (old && old->type == KV_INT)
        sum->f = (double)old->i;
    else if (old && (old->type != KV_STRING || str_i64(old->bytes, &whole) != 0))
        return ERR_INVAL;
    else
        sum->f = (double)whole;
    sum->f += sum->by_float;
    if (!isfinite(sum->f))
        return ERR_RANGE;
    *out = (struct kv_value){.type = KV_FLOAT, .f = sum->f};
    return 0;
}

int kv_hash_incr(struct kv_store *s, struct str key, struct str field, int64_t by, int64_t *out)
{
    struct sum sum = {.by = by};
    int r = kv_hash_update(s, key, field, add_int, &sum);

    if (r == 0)
        *out = sum.i;
    return r;
}

int kv_hash_incr_float(struct kv_store *s, struct str key, struct str field, double by, double *out)
{
    struct sum sum = {.by_float = by};
    int r = kv_hash_update(s, key, field, add_float, &sum);

    if (r == 0)
        *out = sum.f;
    return r;
}
