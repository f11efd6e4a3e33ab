/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/coll.h"

#include <math.h>

#include "base/mem.h"
#include "kv/change.h"
#include "kv/evict.h"
#include "kv/tree.h"

/* ---- members ---- */

int kv_coll_find(struct kv_op *op, struct str member, uint64_t *at, uint32_t *ref)
{
    struct kv_probe probe = kv_probe_member(op->s, member);

    return kv_tree_find(op, kv_tree_of_members(op->type), &probe, at, ref);
}

/* Takes what is at this position of the tree of members out. */
static int take_out(struct kv_op *op, uint64_t at, uint32_t ref)
{
    int r = kv_tree_cut(op, kv_tree_of_members(op->type), at, 1);

    if (r == 0 && op->type == KV_ZSET)
        r = kv_zset_cut_score(op, ref);
    if (r)
        return r;
    kv_op_discard(op, ref);
    op->head.count--;
    return 0;
}

int kv_coll_take(struct kv_op *op, struct str member, bool *was_there)
{
    uint64_t at;
    uint32_t ref;
    int r = kv_coll_find(op, member, &at, &ref);

    *was_there = r == 0 && ref != 0;
    return *was_there ? take_out(op, at, ref) : r;
}

int kv_coll_put(struct kv_op *op, struct str member, const struct kv_value *v, bool *added)
{
    int which = kv_tree_of_members(op->type);
    uint64_t at;
    uint32_t old, ref;
    int r = kv_coll_find(op, member, &at, &old);

    *added = old == 0;
    if (r || (old && !v))
        return r;
    if (old == 0 && op->head.count >= KV_COUNT_MAX)
        return ERR_FULL;
    r = kv_op_element(op, member, v, 0, &ref);
    if (r)
        return r;
    if (old) {
        r = kv_tree_replace(op, which, at, ref, kv_tree_hash(op->s, member));
        kv_op_discard(op, old);
        return r;
    }
    r = kv_tree_insert(op, which, at, ref, kv_tree_hash(op->s, member));
    op->head.count++;
    return r;
}

int kv_coll_append(struct kv_op *op, enum kv_end end, const struct kv_value *v)
{
    uint32_t ref;
    int r = op->head.count < KV_COUNT_MAX ? kv_op_element(op, STR_NONE, v, 0, &ref) : ERR_FULL;

    if (r == 0)
        r = kv_tree_insert(op, KV_TREE, end == KV_TAIL ? op->head.count : 0, ref, 0);
    if (r == 0)
        op->head.count++;
    return r;
}

int kv_coll_cut(struct kv_op *op, uint64_t at, uint64_t n)
{
    struct kv_walk w = kv_walk_from(op, KV_TREE, at, n, false);
    uint32_t ref;
    int r;

    n = w.left;
    if (n == 0)
        return 0;
    while (kv_walk_next(&w, &ref))
        kv_op_discard(op, ref);
    r = op->s->nonsense ? ERR_CORRUPT : kv_tree_cut(op, KV_TREE, at, n);
    if (r == 0)
        op->head.count -= (uint32_t)n;
    return r;
}

int kv_coll_len(struct kv_store *s, struct str key, enum kv_type type, uint64_t *n)
{
    struct kv_op op;
    int r = kv_op_open(s, key, type, &op);

    if (r)
        return r;
    *n = op.head.count;
    return kv_op_end(&op, 0);
}

int kv_coll_has(struct kv_store *s, struct str key, enum kv_type type, struct str member)
{
    struct kv_op op;
    uint64_t at;
    uint32_t ref;
    int r = kv_op_open(s, key, type, &op);

    if (r)
        return r;
    r = kv_coll_find(&op, member, &at, &ref);
    return kv_op_end(&op, r == 0 && ref == 0 ? ERR_NOTFOUND : r);
}

int kv_coll_rem(struct kv_store *s, struct str key, enum kv_type type, const struct str *members,
    size_t n, size_t *removed)
{
    size_t count = 0;
    struct kv_op op;
    bool there;
    int r = kv_op_open(s, key, type, &op);

    if (r)
        return r;
    for (size_t i = 0; r == 0 && i < n && op.head.count > 0; i++) {
        r = kv_coll_take(&op, members[i], &there);
        count += there;
    }
    r = kv_op_end(&op, r);
    if (r == 0)
        *removed = count;
    return r;
}

/* ---- reading all ---- */

int kv_coll_all(struct kv_store *s, struct str key, enum kv_type type, struct kv_items *items)
{
    struct kv_op op;
    int r = kv_op_open(s, key, type, &op);

    kv_items_clear(items);
    if (r)
        return r;
    return kv_op_end(&op, kv_items_add_range(items, &op, KV_TREE, 0, UINT64_MAX, false));
}

/* From the cursor's place on: a tag is never in two answers. */
static int scan(struct kv_op *op, uint64_t *cursor, size_t count, struct kv_items *items)
{
    struct kv_probe probe = {.by = KV_PROBE_MEMBER, .tag = (uint32_t)*cursor};
    int which = kv_tree_of_members(op->type), r;
    uint32_t ref, tag, last = 0;
    struct kv_walk w;
    uint64_t at;

    r = kv_tree_find(op, which, &probe, &at, &ref);
    w = kv_walk_from(op, which, at, UINT64_MAX, false);
    *cursor = 0;
    while (r == 0 && kv_walk_next(&w, &ref)) {
        tag = kv_tree_hash(op->s, kv_op_member(op, ref));
        if (items->n >= MAX(count, 1) && tag != last) {
            *cursor = tag;
            break;
        }
        last = tag;
        r = kv_items_add(items, op, ref);
    }
    return r;
}

int kv_coll_scan(struct kv_store *s, struct str key, enum kv_type type, uint64_t *cursor,
    size_t count, struct kv_items *items)
{
    uint64_t at = MIN(*cursor, (uint64_t)UINT32_MAX);
    struct kv_op op;
    int r = kv_op_open(s, key, type, &op);

    kv_items_clear(items);
    if (r == 0)
        r = kv_op_end(&op, scan(&op, &at, count, items));
    if (r == 0)
        *cursor = at;
    return r;
}

int kv_coll_read(struct kv_store *s, struct str key, uint64_t *at, size_t most,
    struct kv_info *info, struct kv_items *items)
{
    uint64_t end;
    struct kv_op op;
    int r = kv_op_open_any(s, key, &op);

    kv_items_clear(items);
    if (r)
        return r;
    kv_describe(s, &op.spot, info);
    end = *at + MIN((uint64_t)most, info->count - MIN(*at, info->count));
    r = kv_items_add_range(items, &op, KV_TREE, *at, end - *at, false);
    r = kv_op_end(&op, r);
    if (r == 0)
        *at = end < info->count ? end : 0;
    return r;
}

/* ---- random elements ---- */

/* Puts a number into a table of them, 0 marks an empty place; false: it is there. */
static bool table_put(uint64_t *table, size_t size, uint64_t number)
{
    size_t i = (size_t)(number * 0x9e3779b97f4a7c15u >> 20) % size;

    for (; table[i] != 0; i = (i + 1) % size)
        if (table[i] == number + 1)
            return false;
    table[i] = number + 1;
    return true;
}

void kv_coll_positions(struct kv_store *s, uint64_t len, uint64_t n, struct buf *out)
{
    size_t size = (size_t)n * 2 + 1;
    uint64_t *table = mem_new_array(size, sizeof(*table));

    /* Floyd's: each number below len is as likely. */
    for (uint64_t i = len - n; i < len; i++) {
        uint64_t number = kv_random_below(s, (uint32_t)i + 1);

        if (!table_put(table, size, number)) {
            number = i;
            (void)table_put(table, size, number);
        }
        buf_add(out, &number, sizeof(number));
    }
    mem_free(table);
}

static int add_random(struct kv_op *op, int64_t count, struct kv_items *items)
{
    uint64_t len = op->head.count, n = count < 0 ? -(uint64_t)count : MIN((uint64_t)count, len);
    struct buf numbers = {0};
    uint32_t ref;
    uint64_t at;
    int r = 0;

    if (len == 0)
        return 0;
    if (count > 0 && n == len)
        return kv_items_add_range(items, op, KV_TREE, 0, len, false);
    if (count > 1)
        kv_coll_positions(op->s, len, n, &numbers);
    for (uint64_t i = 0; r == 0 && i < n; i++) {
        if (numbers.len)
            memcpy(&at, numbers.p + i * sizeof(at), sizeof(at));
        else
            at = kv_random_below(op->s, (uint32_t)len);
        r = kv_tree_at(op, KV_TREE, at, &ref);
        if (r == 0)
            r = kv_items_add(items, op, ref);
    }
    buf_fini(&numbers);
    return r;
}

int kv_coll_random(
    struct kv_store *s, struct str key, enum kv_type type, int64_t count, struct kv_items *items)
{
    struct kv_op op;
    int r = kv_op_open(s, key, type, &op);

    kv_items_clear(items);
    return r ? r : kv_op_end(&op, add_random(&op, count, items));
}

/* ---- writing all ---- */

static int put_item(struct kv_op *op, const struct kv_item *item)
{
    struct kv_zadd done = {0};
    bool added;

    switch (op->type) {
    case KV_LIST:
        return kv_coll_append(op, KV_TAIL, &item->value);
    case KV_HASH:
        return kv_coll_put(op, item->member, &item->value, &added);
    case KV_SET:
        return kv_coll_put(op, item->member, NULL, &added);
    default:
        return kv_zset_put(op, item->member, item->score, 0, &done);
    }
}

static int check_items(enum kv_type type, const struct kv_item *items, size_t n)
{
    if (!kv_is_coll(type))
        return ERR_INVAL;
    for (size_t i = 0; type == KV_ZSET && i < n; i++)
        if (isnan(items[i].score))
            return ERR_INVAL;
    return 0;
}

int kv_coll_replace(struct kv_store *s, struct str key, enum kv_type type,
    const struct kv_item *items, size_t n, int64_t ttl)
{
    struct kv_op op;
    int r = ttl < 0 ? ERR_INVAL : check_items(type, items, n);

    if (r == 0)
        r = kv_op_open_new(s, key, type, kv_deadline_in(ttl), &op);
    if (r)
        return r;
    for (size_t i = 0; r == 0 && i < n; i++)
        r = put_item(&op, &items[i]);
    return kv_op_end(&op, r);
}

int kv_coll_add(
    struct kv_store *s, struct str key, enum kv_type type, const struct kv_item *items, size_t n)
{
    struct kv_op op;
    int r = check_items(type, items, n);

    if (r == 0)
        r = kv_op_open(s, key, type, &op);
    if (r)
        return r;
    for (size_t i = 0; r == 0 && i < n; i++)
        r = put_item(&op, &items[i]);
    return kv_op_end(&op, r);
}

int kv_coll_copy(
    struct kv_store *s, const struct kv_spot *from, const struct kv_spot *to, uint64_t deadline)
{
    struct kv_items items = {0};
    struct kv_item item;
    struct kv_op op;
    int r;

    kv_op_attach(s, from, &op);
    r = kv_op_finish(&op, kv_items_add_range(&items, &op, KV_TREE, 0, UINT64_MAX, false));
    if (s->nonsense) {
        kv_shard_drop(s, from->shard);
        r = ERR_NOTFOUND;
    }
    if (r == 0) {
        s->pinned[1] = from->ref;
        kv_op_attach_new(s, to, (enum kv_type)KV_GET(from->e->type), deadline, &op);
        while (r == 0 && kv_items_next(&items, &item))
            r = put_item(&op, &item);
        r = kv_op_finish(&op, r);
        s->pinned[1] = 0;
    }
    kv_items_fini(&items);
    return r;
}
