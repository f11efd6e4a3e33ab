/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <math.h>

#include "kv/coll.h"
#include "kv/tree.h"

/* ---- scores ---- */

static bool may_change(double is, double score, unsigned flags)
{
    if (flags & KV_ONLY_NEW || (flags & KV_ONLY_GREATER && !(score > is)) ||
        (flags & KV_ONLY_LESS && !(score < is)))
        return false;
    return true;
}

/* Puts an element into the tree of scores. */
static int insert_score(struct kv_op *op, uint32_t ref)
{
    double score = kv_op_score(op, ref);
    struct kv_probe probe = kv_probe_both(kv_op_member(op, ref), score);
    uint32_t same;
    uint64_t at;
    int r = kv_tree_find(op, KV_TREE, &probe, &at, &same);

    return r ? r : kv_tree_insert(op, KV_TREE, at, ref, kv_tree_score_tag(score));
}

int kv_zset_cut_score(struct kv_op *op, uint32_t ref)
{
    struct kv_probe probe = kv_probe_both(kv_op_member(op, ref), kv_op_score(op, ref));
    uint32_t same;
    uint64_t at;
    int r = kv_tree_find(op, KV_TREE, &probe, &at, &same);

    if (r == 0 && same != ref) {
        op->s->nonsense = true;
        r = ERR_CORRUPT;
    }
    return r ? r : kv_tree_cut(op, KV_TREE, at, 1);
}

/* A score in the place of another; `at` is the position in the tree of members. */
static int move(struct kv_op *op, uint64_t at, uint32_t old, struct str member, double score)
{
    uint32_t ref;
    int r = kv_op_element(op, member, NULL, score + 0.0, &ref); /* -0 is 0 */

    if (r == 0)
        r = kv_tree_replace(op, KV_TREE_BY_MEMBER, at, ref, kv_tree_hash(op->s, member));
    if (r == 0)
        r = kv_zset_cut_score(op, old);
    if (r == 0)
        r = insert_score(op, ref);
    if (r == 0)
        kv_op_discard(op, old);
    return r;
}

static int add(struct kv_op *op, uint64_t at, struct str member, double score)
{
    uint32_t ref, tag = kv_tree_hash(op->s, member);
    int r = op->head.count < KV_COUNT_MAX ? 0 : ERR_FULL;

    if (r == 0)
        r = kv_op_element(op, member, NULL, score + 0.0, &ref);
    if (r == 0)
        r = kv_tree_insert(op, KV_TREE_BY_MEMBER, at, ref, tag);
    if (r == 0)
        r = insert_score(op, ref);
    if (r == 0)
        op->head.count++;
    return r;
}

int kv_zset_put(
    struct kv_op *op, struct str member, double score, unsigned flags, struct kv_zadd *out)
{
    uint32_t old;
    uint64_t at;
    int r = kv_coll_find(op, member, &at, &old);

    if (r)
        return r;
    if (old == 0) {
        if (flags & KV_ONLY_OLD)
            return 0;
        out->added++;
        return add(op, at, member, score);
    }
    if (!may_change(kv_op_score(op, old), score, flags) || kv_op_score(op, old) == score)
        return 0;
    out->changed++;
    return move(op, at, old, member, score);
}

int kv_zset_add(struct kv_store *s, struct str key, const struct kv_item *members, size_t n,
    unsigned flags, struct kv_zadd *out)
{
    struct kv_zadd done = {0};
    struct kv_op op;
    int r = 0;

    for (size_t i = 0; i < n; i++)
        if (isnan(members[i].score))
            return ERR_INVAL;
    r = kv_op_open(s, key, KV_ZSET, &op);
    if (r)
        return r;
    for (size_t i = 0; r == 0 && i < n; i++)
        r = kv_zset_put(&op, members[i].member, members[i].score, flags, &done);
    r = kv_op_end(&op, r);
    if (r == 0)
        *out = done;
    return r;
}

static int incr(struct kv_op *op, struct str member, double by, unsigned flags, double *out)
{
    struct kv_zadd done = {0};
    double score = by;
    uint32_t old;
    uint64_t at;
    int r = kv_coll_find(op, member, &at, &old);

    if (r)
        return r;
    if (old ? flags & KV_ONLY_NEW : flags & KV_ONLY_OLD)
        return ERR_BUSY;
    if (old)
        score += kv_op_score(op, old);
    if (isnan(score))
        return ERR_RANGE;
    if (old && !may_change(kv_op_score(op, old), score, flags))
        return ERR_BUSY;
    *out = score;
    return kv_zset_put(op, member, score, flags, &done);
}

int kv_zset_incr(
    struct kv_store *s, struct str key, struct str member, double by, unsigned flags, double *out)
{
    double score = 0;
    struct kv_op op;
    int r = kv_op_open(s, key, KV_ZSET, &op);

    if (r)
        return r;
    r = kv_op_end(&op, incr(&op, member, by, flags, &score));
    if (r == 0)
        *out = score;
    return r;
}

int kv_zset_score(struct kv_store *s, struct str key, struct str member, double *out)
{
    double score = 0;
    struct kv_op op;
    uint32_t ref;
    uint64_t at;
    int r = kv_op_open(s, key, KV_ZSET, &op);

    if (r)
        return r;
    r = kv_coll_find(&op, member, &at, &ref);
    if (r == 0 && ref)
        score = kv_op_score(&op, ref);
    r = kv_op_end(&op, r == 0 && ref == 0 ? ERR_NOTFOUND : r);
    if (r == 0)
        *out = score;
    return r;
}

int kv_zset_rank(struct kv_store *s, struct str key, struct str member, bool reverse,
    uint64_t *rank, double *score)
{
    struct kv_probe probe;
    uint64_t at = 0, len;
    uint32_t ref, same;
    struct kv_op op;
    double is = 0;
    int r = kv_op_open(s, key, KV_ZSET, &op);

    if (r)
        return r;
    len = op.head.count;
    r = kv_coll_find(&op, member, &at, &ref);
    if (r == 0 && ref == 0)
        r = ERR_NOTFOUND;
    if (r == 0) {
        is = kv_op_score(&op, ref);
        probe = kv_probe_both(member, is);
        r = kv_tree_find(&op, KV_TREE, &probe, &at, &same);
    }
    r = kv_op_end(&op, r);
    if (r)
        return r;
    *rank = reverse ? len - 1 - at : at;
    *score = is;
    return 0;
}

/* ---- ranges ---- */

/* Positions in the tree of scores: from *low on, before *high. */
struct part {
    uint64_t low, high;
};

static void by_rank(const struct kv_range *range, int64_t len, struct part *out)
{
    int64_t start = range->start, stop = range->stop;

    if (start < 0)
        start = MAX(start + len, 0);
    if (stop < 0)
        stop += len;
    stop = MIN(stop, len - 1);
    if (start > stop)
        return;
    out->low = (uint64_t)(range->reverse ? len - 1 - stop : start);
    out->high = out->low + (uint64_t)(stop - start) + 1;
}

static int bound(struct kv_op *op, const struct kv_range *range, bool upper, uint64_t *at)
{
    bool excluded = upper ? range->max_excluded : range->min_excluded;
    struct kv_probe probe = {.by = KV_PROBE_SCORE, .tie = upper == excluded ? 1 : -1};
    uint32_t ref;

    if (range->by == KV_BY_SCORE) {
        probe.score = upper ? range->max : range->min;
        probe.tag = kv_tree_score_tag(probe.score);
    } else {
        probe.by = KV_PROBE_LEX;
        probe.member = upper ? range->lex_max : range->lex_min;
        if (upper ? range->no_max : range->no_min) {
            *at = upper ? op->head.count : 0;
            return 0;
        }
    }
    return kv_tree_find(op, KV_TREE, &probe, at, &ref);
}

static int resolve(struct kv_op *op, const struct kv_range *range, struct part *out)
{
    int r = 0;

    *out = (struct part){0};
    if (range->by == KV_BY_RANK) {
        by_rank(range, op->head.count, out);
    } else if (!range->nothing) {
        r = bound(op, range, false, &out->low);
        if (r == 0)
            r = bound(op, range, true, &out->high);
    }
    out->high = MAX(out->high, out->low);
    return r;
}

int kv_zset_range(
    struct kv_store *s, struct str key, const struct kv_range *range, struct kv_items *items)
{
    uint64_t n, from;
    struct part part;
    struct kv_op op;
    int r = kv_op_open(s, key, KV_ZSET, &op);

    kv_items_clear(items);
    if (r)
        return r;
    r = resolve(&op, range, &part);
    n = r ? 0 : part.high - part.low;
    if (range->offset < n) {
        from = range->reverse ? part.high - 1 - range->offset : part.low + range->offset;
        n -= range->offset;
        if (range->limit >= 0)
            n = MIN(n, (uint64_t)range->limit);
        r = kv_items_add_range(items, &op, KV_TREE, from, n, range->reverse);
    }
    return kv_op_end(&op, r);
}

int kv_zset_count(struct kv_store *s, struct str key, const struct kv_range *range, uint64_t *n)
{
    struct part part;
    struct kv_op op;
    int r = kv_op_open(s, key, KV_ZSET, &op);

    if (r == 0)
        r = kv_op_end(&op, resolve(&op, range, &part));
    if (r == 0)
        *n = part.high - part.low;
    return r;
}

static int remove_part(struct kv_op *op, struct part part)
{
    uint64_t n = part.high - part.low, at;
    struct kv_walk w = kv_walk_from(op, KV_TREE, part.low, n, false);
    uint32_t ref, same;
    int r = 0;

    if (n == 0)
        return 0;
    if (n == op->head.count) {
        kv_op_clear(op);
        return 0;
    }
    /* The tree of scores stays as it is until all are out of the other one. */
    while (r == 0 && kv_walk_next(&w, &ref)) {
        r = kv_coll_find(op, kv_op_member(op, ref), &at, &same);
        if (r == 0 && same != ref)
            r = ERR_CORRUPT;
        if (r == 0)
            r = kv_tree_cut(op, KV_TREE_BY_MEMBER, at, 1);
        kv_op_discard(op, ref);
        op->head.count--;
    }
    op->head.count += (uint32_t)(n - w.left);
    if (r == ERR_CORRUPT)
        op->s->nonsense = true;
    if (r == 0)
        r = kv_tree_cut(op, KV_TREE, part.low, n);
    op->head.count -= (uint32_t)n;
    return r;
}

int kv_zset_rem_range(
    struct kv_store *s, struct str key, const struct kv_range *range, uint64_t *removed)
{
    struct part part;
    struct kv_op op;
    int r = kv_op_open(s, key, KV_ZSET, &op);

    if (r)
        return r;
    r = resolve(&op, range, &part);
    if (r == 0)
        r = remove_part(&op, part);
    r = kv_op_end(&op, r);
    if (r == 0)
        *removed = part.high - part.low;
    return r;
}

int kv_zset_pop(
    struct kv_store *s, struct str key, enum kv_end end, uint64_t count, struct kv_items *items)
{
    struct part part;
    struct kv_op op;
    uint64_t len, n;
    int r = kv_op_open(s, key, KV_ZSET, &op);

    kv_items_clear(items);
    if (r)
        return r;
    len = op.head.count;
    n = MIN(count, len);
    part = end == KV_HEAD ? (struct part){0, n} : (struct part){len - n, len};
    if (n > 0)
        r = kv_items_add_range(
            items, &op, KV_TREE, end == KV_HEAD ? 0 : len - 1, n, end == KV_TAIL);
    if (r == 0)
        r = remove_part(&op, part);
    return kv_op_end(&op, r);
}
