/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/coll.h"
#include "kv/tree.h"

int kv_list_push(struct kv_store *s, struct str key, enum kv_end end, const struct kv_value *values,
    size_t n, unsigned flags, uint64_t *len)
{
    uint64_t count = 0;
    struct kv_op op;
    int r = kv_op_open(s, key, KV_LIST, &op);

    if (r)
        return r;
    if (flags & KV_ONLY_OLD && !op.spot.e)
        r = ERR_NOTFOUND;
    for (size_t i = 0; r == 0 && i < n; i++)
        r = kv_coll_append(&op, end, &values[i]);
    count = op.head.count;
    r = kv_op_end(&op, r);
    if (r == 0)
        *len = count;
    return r;
}

int kv_list_pop(
    struct kv_store *s, struct str key, enum kv_end end, uint64_t count, struct kv_items *items)
{
    uint64_t len, n;
    struct kv_op op;
    int r = kv_op_open(s, key, KV_LIST, &op);

    kv_items_clear(items);
    if (r)
        return r;
    len = op.head.count;
    n = MIN(count, len);
    if (len == 0)
        r = ERR_NOTFOUND;
    else if (n > 0)
        r = kv_items_add_range(
            items, &op, KV_TREE, end == KV_HEAD ? 0 : len - 1, n, end == KV_TAIL);
    if (r == 0 && n == len)
        kv_op_clear(&op);
    else if (r == 0)
        r = kv_coll_cut(&op, end == KV_HEAD ? 0 : len - n, n);
    return kv_op_end(&op, r);
}

/* A range as position and number; false: it is empty. */
static bool cut_to_fit(int64_t start, int64_t stop, uint64_t len, uint64_t *at, uint64_t *n)
{
    int64_t count = (int64_t)len;

    if (start < 0)
        start = MAX(start + count, 0);
    if (stop < 0)
        stop += count;
    stop = MIN(stop, count - 1);
    if (start > stop || start >= count)
        return false;
    *at = (uint64_t)start;
    *n = (uint64_t)(stop - start) + 1;
    return true;
}

int kv_list_range(
    struct kv_store *s, struct str key, int64_t start, int64_t stop, struct kv_items *items)
{
    uint64_t at, n;
    struct kv_op op;
    int r = kv_op_open(s, key, KV_LIST, &op);

    kv_items_clear(items);
    if (r)
        return r;
    if (cut_to_fit(start, stop, op.head.count, &at, &n))
        r = kv_items_add_range(items, &op, KV_TREE, at, n, false);
    return kv_op_end(&op, r);
}

/* A position; false: there is no such element. */
static bool position_of(const struct kv_op *op, int64_t index, uint64_t *at)
{
    int64_t len = op->head.count;

    if (index < 0)
        index += len;
    if (index < 0 || index >= len)
        return false;
    *at = (uint64_t)index;
    return true;
}

int kv_list_index(
    struct kv_store *s, struct str key, int64_t index, struct buf *buf, struct kv_value *out)
{
    struct kv_op op;
    uint64_t at;
    uint32_t ref;
    int r = kv_op_open(s, key, KV_LIST, &op);

    if (r)
        return r;
    r = position_of(&op, index, &at) ? kv_tree_at(&op, KV_TREE, at, &ref) : ERR_NOTFOUND;
    if (r == 0)
        r = kv_op_value(&op, ref, buf, out);
    return kv_op_end(&op, r);
}

int kv_list_set(struct kv_store *s, struct str key, int64_t index, const struct kv_value *v)
{
    uint32_t old, ref;
    struct kv_op op;
    uint64_t at;
    int r = kv_op_open(s, key, KV_LIST, &op);

    if (r)
        return r;
    if (!op.spot.e)
        r = ERR_NOTFOUND;
    else
        r = position_of(&op, index, &at) ? kv_tree_at(&op, KV_TREE, at, &old) : ERR_RANGE;
    if (r == 0)
        r = kv_op_element(&op, STR_NONE, v, 0, &ref);
    if (r == 0) {
        r = kv_tree_replace(&op, KV_TREE, at, ref, 0);
        kv_op_discard(&op, old);
    }
    return kv_op_end(&op, r);
}

/* ---- by value ---- */

static bool is_equal(struct kv_op *op, uint32_t ref, struct str value)
{
    struct kv_value v;

    if (KV_GET(kv_at(op->s, ref)->type) != KV_STRING)
        return false;
    return kv_op_value(op, ref, &op->s->scratch, &v) == 0 && str_eq(v.bytes, value);
}

int kv_list_insert(struct kv_store *s, struct str key, bool before, struct str pivot,
    const struct kv_value *v, uint64_t *len)
{
    uint64_t at, count;
    struct kv_walk w;
    struct kv_op op;
    uint32_t ref;
    bool found = false;
    int r = kv_op_open(s, key, KV_LIST, &op);

    if (r)
        return r;
    w = kv_walk_from(&op, KV_TREE, 0, UINT64_MAX, false);
    for (at = 0; !found && kv_walk_next(&w, &ref); at++)
        found = is_equal(&op, ref, pivot);
    if (!found)
        r = op.spot.e ? ERR_RANGE : ERR_NOTFOUND;
    else if (op.head.count >= KV_COUNT_MAX)
        r = ERR_FULL;
    if (r == 0)
        r = kv_op_element(&op, STR_NONE, v, 0, &ref);
    if (r == 0) {
        r = kv_tree_insert(&op, KV_TREE, before ? at - 1 : at, ref, 0);
        op.head.count++;
    }
    count = op.head.count;
    r = kv_op_end(&op, r);
    if (r == 0)
        *len = count;
    return r;
}

/* Positions of equal elements, as they are met. */
static void find_equal(struct kv_op *op, struct str value, bool reverse, uint64_t most,
    uint64_t skip, uint64_t count, struct buf *out)
{
    uint64_t at = reverse && op->head.count ? op->head.count - 1 : 0, found = 0;
    struct kv_walk w = kv_walk_from(op, KV_TREE, at, most, reverse);
    uint32_t ref;

    for (; found < count && kv_walk_next(&w, &ref); at += reverse ? UINT64_MAX : 1) {
        if (!is_equal(op, ref, value))
            continue;
        if (skip > 0) {
            skip--;
            continue;
        }
        buf_add(out, &at, sizeof(at));
        found++;
    }
}

int kv_list_rem(
    struct kv_store *s, struct str key, int64_t count, struct str value, uint64_t *removed)
{
    struct buf found = {0};
    struct kv_op op;
    uint64_t at, n;
    int r = kv_op_open(s, key, KV_LIST, &op);

    if (r)
        return r;
    n = count == 0 ? UINT64_MAX : count < 0 ? -(uint64_t)count : (uint64_t)count;
    find_equal(&op, value, count < 0, UINT64_MAX, 0, n, &found);
    n = found.len / sizeof(at);
    /* From the last on, so that the others stay where they are. */
    for (uint64_t i = 0; r == 0 && i < n; i++) {
        memcpy(&at, found.p + (count < 0 ? i : n - 1 - i) * sizeof(at), sizeof(at));
        r = kv_coll_cut(&op, at, 1);
    }
    buf_fini(&found);
    r = kv_op_end(&op, r);
    if (r == 0)
        *removed = n;
    return r;
}

int kv_list_pos(struct kv_store *s, struct str key, struct str value, int64_t rank, uint64_t count,
    uint64_t most, struct buf *positions)
{
    struct kv_op op;
    uint64_t skip;
    int r = rank == 0 ? ERR_INVAL : kv_op_open(s, key, KV_LIST, &op);

    if (r)
        return r;
    buf_clear(positions);
    skip = (rank < 0 ? -(uint64_t)rank : (uint64_t)rank) - 1;
    find_equal(&op, value, rank < 0, most ? most : UINT64_MAX, skip, count ? count : UINT64_MAX,
        positions);
    return kv_op_end(&op, 0);
}

int kv_list_trim(struct kv_store *s, struct str key, int64_t start, int64_t stop)
{
    struct kv_op op;
    uint64_t at, n;
    int r = kv_op_open(s, key, KV_LIST, &op);

    if (r)
        return r;
    if (!cut_to_fit(start, stop, op.head.count, &at, &n)) {
        if (op.spot.e)
            kv_op_clear(&op);
    } else {
        r = kv_coll_cut(&op, at + n, UINT64_MAX);
        if (r == 0)
            r = kv_coll_cut(&op, 0, at);
    }
    return kv_op_end(&op, r);
}

int kv_list_rotate(struct kv_store *s, struct str key, enum kv_end from, enum kv_end to,
    struct buf *buf, struct kv_value *out)
{
    struct kv_op op;
    uint32_t ref;
    uint64_t at;
    int r = kv_op_open(s, key, KV_LIST, &op);

    if (r)
        return r;
    at = from == KV_HEAD ? 0 : (uint64_t)op.head.count - 1;
    r = op.head.count ? kv_tree_at(&op, KV_TREE, at, &ref) : ERR_NOTFOUND;
    if (r == 0)
        r = kv_op_value(&op, ref, buf, out);
    if (r == 0 && from != to && op.head.count > 1) {
        r = kv_tree_cut(&op, KV_TREE, at, 1);
        op.head.count--;
        if (r == 0)
            r = kv_tree_insert(&op, KV_TREE, to == KV_HEAD ? 0 : op.head.count, ref, 0);
        op.head.count++;
    }
    return kv_op_end(&op, r);
}
