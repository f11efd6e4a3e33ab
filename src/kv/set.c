/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdlib.h>

#include "kv/coll.h"
#include "kv/tree.h"

int kv_set_add(
    struct kv_store *s, struct str key, const struct str *members, size_t n, size_t *added)
{
    size_t count = 0;
    struct kv_op op;
    bool is_new;
    int r = kv_op_open(s, key, KV_SET, &op);

    if (r)
        return r;
    for (size_t i = 0; r == 0 && i < n; i++) {
        r = kv_coll_put(&op, members[i], NULL, &is_new);
        count += is_new;
    }
    r = kv_op_end(&op, r);
    if (r == 0)
        *added = count;
    return r;
}

static int greatest_first(const void *a, const void *b)
{
    uint64_t x, y;

    memcpy(&x, a, sizeof(x));
    memcpy(&y, b, sizeof(y));
    return (x < y) - (x > y);
}

static int pop(struct kv_op *op, uint64_t n, struct kv_items *items)
{
    struct buf positions = {0};
    uint64_t at;
    uint32_t ref;
    int r = 0;

    kv_coll_positions(op->s, op->head.count, n, &positions);
    for (uint64_t i = 0; r == 0 && i < n; i++) {
        memcpy(&at, positions.p + i * sizeof(at), sizeof(at));
        r = kv_tree_at(op, KV_TREE, at, &ref);
        if (r == 0)
            r = kv_items_add(items, op, ref);
    }
    /* From the last on, so that the others stay where they are. */
    qsort(positions.p, n, sizeof(at), greatest_first);
    for (uint64_t i = 0; r == 0 && i < n; i++) {
        memcpy(&at, positions.p + i * sizeof(at), sizeof(at));
        r = kv_coll_cut(op, at, 1);
    }
    buf_fini(&positions);
    return r;
}

int kv_set_pop(struct kv_store *s, struct str key, uint64_t count, struct kv_items *items)
{
    struct kv_op op;
    uint64_t n;
    int r = kv_op_open(s, key, KV_SET, &op);

    kv_items_clear(items);
    if (r)
        return r;
    n = MIN(count, (uint64_t)op.head.count);
    if (n > 0 && n == op.head.count) {
        r = kv_items_add_range(items, &op, KV_TREE, 0, n, false);
        if (r == 0)
            kv_op_clear(&op);
    } else if (n > 0) {
        r = pop(&op, n, items);
    }
    return kv_op_end(&op, r);
}
