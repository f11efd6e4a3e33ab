/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/tree.h"

#include "kv/entry.h"
#include "kv/repair.h"
#include "kv/slab.h"

#define DROPPED_AT_ONCE 512 /* elements of a collection */

struct slot {
    uint32_t ref;   /* of the child, or of the element */
    uint32_t tag;   /* of the first element */
    uint32_t count; /* of elements */
};

/* A node that is being changed: one slot more than it may have, before it is split. */
struct node {
    uint32_t level, n;
    struct slot slot[KV_LEAF_MAX + 1];
};

static uint32_t max_slots(uint32_t level)
{
    return level ? KV_INNER_MAX : KV_LEAF_MAX;
}

static uint32_t words_per_slot(uint32_t level)
{
    return level ? 3 : 2;
}

/* ---- nodes as they are in the segment ---- */

/* The slots of a node; NULL: it is none of that level. */
static const uint32_t *slots_of(struct kv_store *s, uint32_t ref, uint32_t level, uint32_t *n)
{
    uint32_t room = kv_room(s, ref);
    struct kv_entry *e;

    if (room) {
        e = kv_at(s, ref);
        *n = KV_GET(e->key_len);
        if (KV_GET(e->type) == KV_NODE && KV_GET(e->value_len) == level && *n > 0 &&
            *n <= max_slots(level) && sizeof(*e) + *n * words_per_slot(level) * 4 <= room)
            /* Nobody writes there while we hold the lock. */
            return (const uint32_t *)(const void *)(e + 1);
    }
    s->nonsense = true;
    return NULL;
}

static struct slot slot_at(const uint32_t *words, uint32_t level, uint32_t i)
{
    words += (size_t)i * words_per_slot(level);
    return (struct slot){words[0], words[1], level ? words[2] : 1};
}

/* false: there is none; its level for a root that is one. */
static bool root_level(struct kv_store *s, uint32_t root, uint32_t *level)
{
    if (root == 0)
        return false;
    if (kv_room(s, root) && KV_GET(kv_at(s, root)->value_len) < KV_LEVELS) {
        *level = KV_GET(kv_at(s, root)->value_len);
        return true;
    }
    s->nonsense = true;
    return false;
}

static int read_node(struct kv_op *op, uint32_t ref, uint32_t level, struct node *out)
{
    const uint32_t *words = slots_of(op->s, ref, level, &out->n);

    if (!words)
        return ERR_CORRUPT;
    out->level = level;
    for (uint32_t i = 0; i < out->n; i++)
        out->slot[i] = slot_at(words, level, i);
    return 0;
}

static uint32_t node_size(const struct kv_op *op, const struct node *node)
{
    /* A tree of one leaf is as small as can be; else nodes have room to grow. */
    uint32_t n = node->level || op->head.count > KV_LEAF_MAX ? max_slots(node->level) : node->n;

    return (uint32_t)sizeof(struct kv_entry) + n * words_per_slot(node->level) * 4;
}

/* Can it be changed in place? */
static bool has_room(struct kv_op *op, uint32_t ref, const struct node *node)
{
    uint32_t index, need = node->n * words_per_slot(node->level) * 4;
    unsigned class;

    return kv_op_is_fresh(op, ref) && kv_slab_locate(op->s, op->spot.shard, ref, &class, &index) &&
           sizeof(struct kv_entry) + need <= kv_slab_size(class);
}

/* Puts a node in the place of the one at ref (0: none); its slot for the parent. */
static int write_node(struct kv_op *op, uint32_t ref, const struct node *node, struct slot *out)
{
    struct slot slot = {.ref = ref, .tag = node->slot[0].tag};
    _Atomic uint32_t *to;
    struct kv_entry *e;
    int r;

    if (ref == 0 || !has_room(op, ref, node)) {
        r = kv_op_node(op, node_size(op, node), &slot.ref);
        if (r)
            return r;
        if (ref)
            kv_op_discard(op, ref);
    }
    e = kv_at(op->s, slot.ref);
    KV_SET(e->value_len, node->level);
    KV_SET(e->key_len, (uint16_t)node->n);
    to = (_Atomic uint32_t *)(void *)(e + 1);
    for (uint32_t i = 0; i < node->n; i++) {
        KV_SET(*to++, node->slot[i].ref);
        KV_SET(*to++, node->slot[i].tag);
        if (node->level)
            KV_SET(*to++, node->slot[i].count);
        slot.count += node->slot[i].count;
    }
    *out = slot;
    return 0;
}

/* ---- order ---- */

uint32_t kv_tree_hash(const struct kv_store *s, struct str member)
{
    return MAX((uint32_t)(kv_hash(s, member) >> 16), 1);
}

uint32_t kv_tree_score_tag(double score)
{
    uint64_t w;

    score += 0.0; /* -0 is 0 */
    memcpy(&w, &score, sizeof(w));
    w = w >> 63 ? ~w : w | (uint64_t)1 << 63;
    return (uint32_t)(w >> 32);
}

struct kv_probe kv_probe_member(const struct kv_store *s, struct str member)
{
    return (struct kv_probe){
        .by = KV_PROBE_MEMBER, .tag = kv_tree_hash(s, member), .member = member};
}

struct kv_probe kv_probe_both(struct str member, double score)
{
    return (struct kv_probe){
        .by = KV_PROBE_BOTH, .tag = kv_tree_score_tag(score), .member = member, .score = score};
}

/* The first element below a slot; 0: nonsense. */
static uint32_t first_below(struct kv_op *op, uint32_t ref, uint32_t level)
{
    const uint32_t *words;
    uint32_t n;

    while (level > 0) {
        words = slots_of(op->s, ref, --level, &n);
        if (!words)
            return 0;
        ref = words[0];
    }
    return kv_op_is_element(op, ref) ? ref : 0;
}

/* Is the element before (-1), what is looked for (0), or behind (1)? */
static int compare_element(struct kv_op *op, uint32_t ref, const struct kv_probe *p)
{
    double score = kv_op_score(op, ref);
    int c = 0;

    if (p->by == KV_PROBE_BOTH || p->by == KV_PROBE_SCORE)
        c = (score > p->score) - (score < p->score);
    if (c == 0 && p->by != KV_PROBE_SCORE)
        c = str_cmp(kv_op_member(op, ref), p->member);
    return c ? c : p->tie;
}

static int compare(struct kv_op *op, struct slot slot, uint32_t level, const struct kv_probe *p)
{
    uint32_t ref;

    if (p->by != KV_PROBE_LEX && slot.tag != p->tag)
        return slot.tag < p->tag ? -1 : 1;
    ref = level ? first_below(op, slot.ref, level) : slot.ref;
    if (ref == 0 || !kv_op_is_element(op, ref))
        return 1;
    return compare_element(op, ref, p);
}

/* How many slots of a node compare less, or in inner nodes less or equal. */
static uint32_t slots_before(
    struct kv_op *op, const uint32_t *words, uint32_t n, uint32_t level, const struct kv_probe *p)
{
    uint32_t low = 0, high = n;

    while (low < high) {
        uint32_t mid = (low + high) / 2;

        if (compare(op, slot_at(words, level, mid), level, p) < (level ? 1 : 0))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

int kv_tree_find(
    struct kv_op *op, int which, const struct kv_probe *probe, uint64_t *at, uint32_t *ref)
{
    uint32_t node = op->head.root[which], level = 0, n, i;
    const uint32_t *words;

    *at = 0;
    *ref = 0;
    if (!root_level(op->s, node, &level))
        return op->s->nonsense ? ERR_CORRUPT : 0;
    for (;; level--) {
        words = slots_of(op->s, node, level, &n);
        if (!words)
            return ERR_CORRUPT;
        i = slots_before(op, words, n, level, probe);
        if (level == 0)
            break;
        i = i ? i - 1 : 0;
        for (uint32_t k = 0; k < i; k++)
            *at += words[3 * k + 2];
        node = words[3 * i];
    }
    *at += i;
    if (i < n && compare(op, slot_at(words, 0, i), 0, probe) == 0)
        *ref = words[2 * i];
    return op->s->nonsense ? ERR_CORRUPT : 0;
}

/* ---- positions ---- */

/* The leaf with an element, and where in it. */
static const uint32_t *leaf_at(
    struct kv_op *op, int which, uint64_t at, uint32_t *index, uint32_t *slots)
{
    uint32_t node = op->head.root[which], level = 0, i;
    const uint32_t *words;

    if (!root_level(op->s, node, &level))
        return NULL;
    for (;; level--) {
        words = slots_of(op->s, node, level, slots);
        if (!words || level == 0)
            break;
        for (i = 0; i < *slots && at >= words[3 * i + 2]; i++)
            at -= words[3 * i + 2];
        if (i == *slots)
            return NULL;
        node = words[3 * i];
    }
    if (!words || at >= *slots)
        return NULL;
    *index = (uint32_t)at;
    return words;
}

int kv_tree_at(struct kv_op *op, int which, uint64_t at, uint32_t *ref)
{
    uint32_t index, slots;
    const uint32_t *words = leaf_at(op, which, at, &index, &slots);

    if (!words || !kv_op_is_element(op, words[2 * index])) {
        op->s->nonsense = true;
        return ERR_CORRUPT;
    }
    *ref = words[2 * index];
    return 0;
}

struct kv_walk kv_walk_from(struct kv_op *op, int which, uint64_t at, uint64_t n, bool reverse)
{
    uint64_t most = reverse ? at + 1 : op->head.count - MIN(at, op->head.count);

    if (op->head.count == 0 || at >= op->head.count)
        most = 0;
    return (struct kv_walk){
        .op = op, .which = which, .at = at, .left = MIN(n, most), .reverse = reverse};
}

bool kv_walk_next(struct kv_walk *w, uint32_t *ref)
{
    uint32_t found;

    if (w->left == 0)
        return false;
    if (w->slots == 0) {
        w->words = leaf_at(w->op, w->which, w->at, &w->index, &w->slots);
        if (!w->words) {
            w->op->s->nonsense = true;
            return false;
        }
    }
    found = w->words[2 * w->index];
    if (!kv_op_is_element(w->op, found))
        return false;
    w->left--;
    if (w->reverse ? w->index == 0 : w->index + 1 == w->slots)
        w->slots = 0;
    if (w->reverse) {
        w->at--;
        w->index--;
    } else {
        w->at++;
        w->index++;
    }
    *ref = found;
    return true;
}

/* ---- changes ---- */

static void put_slot(struct node *node, uint32_t i, struct slot slot)
{
    memmove(&node->slot[i + 1], &node->slot[i], (node->n - i) * sizeof(slot));
    node->slot[i] = slot;
    node->n++;
}

static void take_slots(struct node *node, uint32_t i, uint32_t n)
{
    memmove(&node->slot[i], &node->slot[i + n], (node->n - i - n) * sizeof(node->slot[0]));
    node->n -= n;
}

/* The child with a position, which becomes one in it; the last child also takes the end. */
static uint32_t child_with(const struct node *node, uint64_t *at)
{
    uint32_t i = 0;

    for (; i + 1 < node->n && *at > node->slot[i].count; i++)
        *at -= node->slot[i].count;
    return i;
}

/* Writes a node as one or two, of which the first takes the place of ref. `edge` -1, 1: the new
 * slot is the very first or last of the tree; then the other ones stay together. */
static int write_split(struct kv_op *op, uint32_t ref, const struct node *node, int edge,
    struct slot out[2], uint32_t *n)
{
    uint32_t first = edge < 0 ? 1 : edge > 0 ? node->n - 1 : node->n / 2;
    struct node right;
    int r;

    *n = node->n <= max_slots(node->level) ? 1 : 2;
    if (*n == 1)
        return write_node(op, ref, node, &out[0]);
    right = *node;
    take_slots(&right, 0, first);
    r = write_node(op, 0, &right, &out[1]);
    if (r)
        return r;
    right = *node;
    right.n = first;
    return write_node(op, ref, &right, &out[0]);
}

struct insertion {
    uint64_t at;
    struct slot slot;
    int edge;
};

static int insert_below(struct kv_op *op, uint32_t ref, uint32_t level, struct insertion *in,
    struct slot out[2], uint32_t *n)
{
    struct slot children[2];
    struct node node;
    uint32_t i, k;
    int r = read_node(op, ref, level, &node);

    if (r)
        return r;
    if (level == 0) {
        if (in->at > node.n)
            goto nonsense;
        put_slot(&node, (uint32_t)in->at, in->slot);
    } else {
        i = child_with(&node, &in->at);
        r = insert_below(op, node.slot[i].ref, level - 1, in, children, &k);
        if (r)
            return r;
        node.slot[i] = children[0];
        if (k == 2)
            put_slot(&node, i + 1, children[1]);
    }
    return write_split(op, ref, &node, in->edge, out, n);
nonsense:
    op->s->nonsense = true;
    return ERR_CORRUPT;
}

int kv_tree_insert(struct kv_op *op, int which, uint64_t at, uint32_t ref, uint32_t tag)
{
    struct insertion in = {.at = at, .slot = {ref, tag, 1}};
    struct node node = {.n = 1, .slot[0] = {ref, tag, 1}};
    uint32_t root = op->head.root[which], level = 0, n;
    struct slot out[2];
    int r;

    if (root == 0) {
        r = write_node(op, 0, &node, &out[0]);
        goto done;
    }
    if (!root_level(op->s, root, &level))
        return ERR_CORRUPT;
    in.edge = at == 0 ? -1 : at == op->head.count ? 1 : 0;
    r = insert_below(op, root, level, &in, out, &n);
    if (r == 0 && n == 2) {
        if (level + 1 >= KV_LEVELS)
            return ERR_FULL;
        node = (struct node){.level = level + 1, .n = 2, .slot = {out[0], out[1]}};
        r = write_node(op, 0, &node, &out[0]);
    }
done:
    if (r == 0)
        op->head.root[which] = out[0].ref;
    return r;
}

static int replace_below(
    struct kv_op *op, struct slot *at_parent, uint32_t level, uint64_t at, struct slot slot)
{
    struct node node;
    uint32_t i = 0;
    int r = read_node(op, at_parent->ref, level, &node);

    if (r)
        return r;
    for (; i < node.n && at >= node.slot[i].count; i++)
        at -= node.slot[i].count;
    if (i == node.n) {
        op->s->nonsense = true;
        return ERR_CORRUPT;
    }
    if (level == 0)
        node.slot[i] = slot;
    else
        r = replace_below(op, &node.slot[i], level - 1, at, slot);
    return r ? r : write_node(op, at_parent->ref, &node, at_parent);
}

int kv_tree_replace(struct kv_op *op, int which, uint64_t at, uint32_t ref, uint32_t tag)
{
    struct slot root = {.ref = op->head.root[which]};
    uint32_t level = 0;
    int r;

    if (!root_level(op->s, root.ref, &level)) {
        op->s->nonsense = true;
        return ERR_CORRUPT;
    }
    r = replace_below(op, &root, level, at, (struct slot){ref, tag, 1});
    if (r == 0)
        op->head.root[which] = root.ref;
    return r;
}

/* ---- taking out ---- */

/* All nodes from ref down. */
static int discard_nodes(struct kv_op *op, uint32_t ref, uint32_t level)
{
    struct node node;
    int r = read_node(op, ref, level, &node);

    for (uint32_t i = 0; r == 0 && level > 0 && i < node.n; i++)
        r = discard_nodes(op, node.slot[i].ref, level - 1);
    if (r == 0)
        kv_op_discard(op, ref);
    return r;
}

/* Joins child i with the next one, if they are small: nodes stay filled. */
static int join(struct kv_op *op, struct node *node, uint32_t i)
{
    uint32_t level = node->level - 1, max = max_slots(level);
    struct node left, right;
    int r;

    if (i + 1 >= node->n)
        return 0;
    /* Without a look at them: no leaf has more elements than slots. */
    if (level == 0 && node->slot[i].count + node->slot[i + 1].count > max / 2)
        return 0;
    r = read_node(op, node->slot[i].ref, level, &left);
    if (r == 0)
        r = read_node(op, node->slot[i + 1].ref, level, &right);
    if (r || left.n + right.n > max / 2)
        return r;
    memcpy(&left.slot[left.n], right.slot, right.n * sizeof(right.slot[0]));
    left.n += right.n;
    kv_op_discard(op, node->slot[i + 1].ref);
    take_slots(node, i + 1, 1);
    return write_node(op, node->slot[i].ref, &left, &node->slot[i]);
}

static int cut_below(
    struct kv_op *op, struct slot *at_parent, uint32_t level, uint64_t at, uint64_t n);

/* Takes elements at ... at + n out of the children. */
static int cut_children(struct kv_op *op, struct node *node, uint64_t at, uint64_t n)
{
    uint32_t changed = 0;
    int r = 0;

    for (uint32_t i = 0; r == 0 && n > 0 && i < node->n;) {
        uint64_t count = node->slot[i].count, here;

        if (at >= count) {
            at -= count;
            i++;
            continue;
        }
        here = MIN(n, count - at);
        r = cut_below(op, &node->slot[i], node->level - 1, at, here);
        n -= here;
        at = 0;
        changed = i;
        if (node->slot[i].count)
            i++;
        else
            take_slots(node, i, 1);
    }
    if (r == 0)
        r = join(op, node, changed);
    if (r == 0 && changed > 0)
        r = join(op, node, changed - 1);
    return r;
}

/* The slot's count is 0 when nothing is left of it. */
static int cut_below(
    struct kv_op *op, struct slot *at_parent, uint32_t level, uint64_t at, uint64_t n)
{
    struct node node;
    int r;

    if (at == 0 && n >= at_parent->count) {
        at_parent->count = 0;
        return discard_nodes(op, at_parent->ref, level);
    }
    r = read_node(op, at_parent->ref, level, &node);
    if (r)
        return r;
    if (level > 0)
        r = cut_children(op, &node, at, n);
    else if (at < node.n && n <= node.n - at)
        take_slots(&node, (uint32_t)at, (uint32_t)n);
    else
        r = ERR_CORRUPT;
    if (r == 0 && node.n == 0)
        r = ERR_CORRUPT;
    if (r == ERR_CORRUPT)
        op->s->nonsense = true;
    return r ? r : write_node(op, at_parent->ref, &node, at_parent);
}

int kv_tree_cut(struct kv_op *op, int which, uint64_t at, uint64_t n)
{
    struct slot root = {.ref = op->head.root[which], .count = op->head.count};
    uint32_t level = 0, slots;
    const uint32_t *words;
    int r;

    if (n == 0)
        return 0;
    if (!root_level(op->s, root.ref, &level)) {
        op->s->nonsense = true;
        return ERR_CORRUPT;
    }
    r = cut_below(op, &root, level, at, n);
    if (r)
        return r;
    if (root.count == 0)
        root.ref = 0;
    for (; root.ref && level > 0; level--) {
        words = slots_of(op->s, root.ref, level, &slots);
        if (!words)
            return ERR_CORRUPT;
        if (slots > 1)
            break;
        kv_op_discard(op, root.ref);
        root.ref = words[0];
    }
    op->head.root[which] = root.ref;
    return 0;
}

/* ---- all of it ---- */

/* What is done with each block. */
struct visit {
    struct kv_store *s;
    uint32_t shard;
    uint64_t hash;
    uint64_t elements; /* met */
    uint64_t most;     /* that there can be */
    /* False ends the visit. */
    bool (*part)(struct visit *v, uint32_t ref);
    bool (*element)(struct visit *v, uint32_t ref);
};

static bool visit_below(struct visit *v, uint32_t ref, uint32_t level)
{
    uint32_t slots;
    const uint32_t *words;

    if (!kv_shard_is_part(v->s, v->shard, ref, v->hash))
        return false;
    words = slots_of(v->s, ref, level, &slots);
    for (uint32_t i = 0; words && i < slots; i++) {
        uint32_t child = words[i * words_per_slot(level)];

        if (level > 0 ? !visit_below(v, child, level - 1) : !v->element(v, child))
            return false;
        v->elements += level == 0;
    }
    return words && v->part(v, ref);
}

static bool visit_all(struct visit *v, uint32_t root)
{
    uint32_t level = 0;

    v->elements = 0;
    if (root == 0)
        return true;
    return root_level(v->s, root, &level) && visit_below(v, root, level);
}

static bool visit_trees(struct visit *v, struct kv_entry *e, struct kv_head *head)
{
    kv_entry_head(e, head);
    v->hash = KV_GET(e->hash);
    return visit_all(v, head->root[KV_TREE]);
}

static bool is_node(const struct kv_store *s, uint32_t shard, uint32_t ref, uint64_t hash)
{
    return kv_shard_is_part(s, shard, ref, hash) && KV_GET(kv_at(s, ref)->type) == KV_NODE;
}

/* The whole tree below waits to be freed; its nodes are looked at when their turn comes. */
static void throw_away(
    struct kv_store *s, uint32_t shard, uint32_t ref, uint64_t hash, bool elements)
{
    struct kv_shard *sh = &s->shards[shard];
    struct kv_entry *e;

    if (!is_node(s, shard, ref, hash)) {
        s->nonsense = true;
        return;
    }
    e = kv_at(s, ref);
    KV_SET(e->deadline, elements);
    KV_SET(e->next, KV_GET(sh->garbage));
    KV_SET(sh->garbage, ref);
}

static void reclaim_node(struct kv_store *s, uint32_t shard, uint32_t ref)
{
    struct kv_entry *e = kv_at(s, ref);
    uint32_t slots, level = KV_GET(e->value_len);
    uint64_t hash = KV_GET(e->hash);
    bool elements = KV_GET(e->deadline) != 0;
    const uint32_t *words = slots_of(s, ref, level, &slots);

    for (uint32_t i = 0; words && i < slots && !s->nonsense; i++) {
        uint32_t child = words[i * words_per_slot(level)];

        if (level > 0)
            throw_away(s, shard, child, hash, elements);
        else if (!elements)
            continue;
        else if (kv_shard_is_part(s, shard, child, hash))
            kv_entry_free(s, shard, child);
        else
            s->nonsense = true;
    }
    if (!s->nonsense)
        kv_entry_free(s, shard, ref);
}

/* As long as the list is not what it was then. */
static void reclaim(struct kv_store *s, uint32_t shard, uint32_t nodes, uint32_t then)
{
    struct kv_shard *sh = &s->shards[shard];
    uint32_t ref;

    for (; nodes > 0 && !s->nonsense && (ref = KV_GET(sh->garbage)) != then; nodes--) {
        if (kv_room(s, ref) == 0 || !is_node(s, shard, ref, KV_GET(kv_at(s, ref)->hash))) {
            s->nonsense = true;
            return;
        }
        KV_SET(sh->garbage, KV_GET(kv_at(s, ref)->next));
        reclaim_node(s, shard, ref);
    }
}

void kv_tree_reclaim(struct kv_store *s, uint32_t shard, uint32_t nodes)
{
    reclaim(s, shard, nodes, 0);
}

void kv_tree_drop(struct kv_store *s, uint32_t shard, struct kv_entry *e, bool all)
{
    uint32_t then = KV_GET(s->shards[shard].garbage);
    uint64_t hash = KV_GET(e->hash);
    struct kv_head head;

    kv_entry_head(e, &head);
    for (int i = 0; i < 2; i++)
        if (head.root[i])
            throw_away(s, shard, head.root[i], hash, i == KV_TREE);
    if (all || head.count <= DROPPED_AT_ONCE)
        reclaim(s, shard, UINT32_MAX, then);
}

static bool keep_part(struct visit *v, uint32_t ref)
{
    return kv_repair_keep_part(v->s, v->shard, ref, v->hash);
}

/* Of the second tree: the first one has it too, and all that it has were counted. */
static bool is_kept(struct visit *v, uint32_t ref)
{
    return v->elements < v->most && kv_shard_is_part(v->s, v->shard, ref, v->hash) &&
           KV_GET(kv_at(v->s, ref)->mark);
}

bool kv_tree_keep(struct kv_store *s, uint32_t shard, struct kv_entry *e)
{
    struct visit v = {.s = s, .shard = shard, .part = keep_part, .element = keep_part};
    struct kv_head head;

    if (!visit_trees(&v, e, &head) || v.elements != head.count)
        return false;
    v.element = is_kept;
    v.most = head.count;
    if (KV_GET(e->type) != KV_ZSET)
        return head.root[KV_TREE_BY_MEMBER] == 0;
    return visit_all(&v, head.root[KV_TREE_BY_MEMBER]) && v.elements == head.count;
}
