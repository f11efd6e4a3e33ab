/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Random operations on collections and on plain arrays: after each the answers are the same, and
 * from time to time all that is there. */
#include <stdlib.h>

#include "base/mem.h"
#include "kv/collections.h"
#include "kv/repair.h"
#include "kv/shard.h"
#include "unit/kv/bed.h"

#ifdef EPHPM_SANITIZED
#define STEPS 60000
#else
#define STEPS 400000
#endif
#define SIZES   4
#define MEMBERS 4000
#define LOOK    20000 /* steps until all is looked at */

static const uint32_t sizes[SIZES] = {6, 60, 600, MEMBERS};

/* One collection of a size; number -1: not there. */
struct slot {
    int number[MEMBERS]; /* of a field's value, a score; set: 0. List: its values */
    uint32_t count;
    uint32_t size;
    char key[16];
};

struct model {
    struct bed b;
    struct slot hash[SIZES], list[SIZES], set[SIZES], zset[SIZES];
    struct kv_items items;
    uint64_t random;
};

static uint32_t below(struct model *m, uint32_t n)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return (uint32_t)((m->random >> 32) * n >> 32);
}

/* Text of many lengths, the same for the same number. */
static struct str text_of(char *p, uint32_t i)
{
    size_t n = (size_t)snprintf(p, 400, "%06u", i);

    while (n < 6 + i % 7 * (i % 40))
        p[n++] = (char)i;
    return str_n(p, n);
}

static struct kv_value value_of(char *p, int number)
{
    return (struct kv_value){.type = KV_STRING, .bytes = text_of(p, (uint32_t)number)};
}

static uint32_t number_in(struct str text)
{
    uint64_t n = 0;

    CHECK_INT(str_u64(str_sub(text, 0, 6), &n), 0);
    return (uint32_t)n;
}

static void start(struct slot *t, char kind)
{
    for (int i = 0; i < SIZES; i++, t++) {
        t->size = sizes[i];
        (void)snprintf(t->key, sizeof(t->key), "%c%d", kind, i);
        for (uint32_t k = 0; k < MEMBERS; k++)
            t->number[k] = -1;
    }
}

static void put(struct slot *t, uint32_t i, int number)
{
    t->count += t->number[i] < 0;
    t->number[i] = number;
}

static bool drop(struct slot *t, uint32_t i)
{
    bool was = t->number[i] >= 0;

    t->count -= was;
    t->number[i] = -1;
    return was;
}

/* ---- hashes ---- */

static void step_hash(struct model *m, struct slot *t)
{
    uint32_t i = below(m, t->size);
    int number = (int)below(m, 100000), r;
    char name[400], text[400];
    struct str key = str_c(t->key), field = text_of(name, i);
    struct kv_item item = {.member = field, .value = value_of(text, number)};
    size_t n = 9;

    switch (below(m, 7)) {
    case 0:
    case 1:
    case 2:
        CHECK_INT(kv_hash_set(m->b.s, key, &item, 1, 0, &n), 0);
        CHECK_INT(n, t->number[i] < 0);
        put(t, i, number);
        break;
    case 3:
        r = kv_hash_set(m->b.s, key, &item, 1, KV_ONLY_NEW, &n);
        CHECK_INT(r, t->number[i] < 0 ? 0 : ERR_EXISTS);
        if (r == 0)
            put(t, i, number);
        break;
    case 4:
    case 5:
        CHECK_INT(kv_coll_rem(m->b.s, key, KV_HASH, &field, 1, &n), 0);
        CHECK_INT(n, drop(t, i));
        break;
    default:
        r = kv_hash_get(m->b.s, key, field, &m->b.buf, &m->b.v);
        CHECK_INT(r, t->number[i] < 0 ? ERR_NOTFOUND : 0);
        if (r == 0)
            CHECK(number_in(m->b.v.bytes) == (uint32_t)t->number[i]);
        break;
    }
}

/* ---- sets ---- */

static void step_set(struct model *m, struct slot *t)
{
    uint32_t i = below(m, t->size), before = t->count;
    char name[400];
    struct str key = str_c(t->key), member = text_of(name, i);
    uint64_t count = below(m, 4);
    struct kv_item item;
    size_t n = 9;

    switch (below(m, 8)) {
    case 0:
    case 1:
    case 2:
    case 3:
        CHECK_INT(kv_set_add(m->b.s, key, &member, 1, &n), 0);
        CHECK_INT(n, t->number[i] < 0);
        put(t, i, 0);
        break;
    case 4:
        CHECK_INT(kv_coll_rem(m->b.s, key, KV_SET, &member, 1, &n), 0);
        CHECK_INT(n, drop(t, i));
        break;
    case 5:
        CHECK_INT(kv_coll_has(m->b.s, key, KV_SET, member), t->number[i] < 0 ? ERR_NOTFOUND : 0);
        break;
    case 6:
        CHECK_INT(kv_set_pop(m->b.s, key, count, &m->items), 0);
        CHECK_INT(m->items.n, MIN(count, before));
        while (kv_items_next(&m->items, &item))
            CHECK(drop(t, number_in(item.member)));
        break;
    default:
        CHECK_INT(kv_coll_random(m->b.s, key, KV_SET, (int64_t)count - 1, &m->items), 0);
        CHECK_INT(m->items.n, count == 0 ? before > 0 : MIN(count - 1, before));
        while (kv_items_next(&m->items, &item))
            CHECK(t->number[number_in(item.member)] >= 0);
        break;
    }
}

/* ---- sorted sets ---- */

/* Members with a score from low to high. */
static uint32_t between(const struct slot *t, int low, int high)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->size; i++)
        n += t->number[i] >= 0 && t->number[i] >= low && t->number[i] <= high;
    return n;
}

/* Members before this one. */
static uint32_t rank_of(const struct slot *t, uint32_t i)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < t->size; k++)
        n += t->number[k] >= 0 &&
             (t->number[k] < t->number[i] || (t->number[k] == t->number[i] && k < i));
    return n;
}

static void step_zset_range(struct model *m, struct slot *t, struct str key)
{
    int low = (int)below(m, 50), high = low + (int)below(m, 3);
    struct kv_range range = {.by = KV_BY_SCORE, .min = low, .max = high, .limit = -1};
    bool remove = t->count > t->size / 2;
    uint64_t n = 0;

    CHECK_INT(kv_zset_count(m->b.s, key, &range, &n), 0);
    CHECK_INT(n, between(t, low, high));
    if (!remove)
        return;
    CHECK_INT(kv_zset_rem_range(m->b.s, key, &range, &n), 0);
    CHECK_INT(n, between(t, low, high));
    for (uint32_t i = 0; i < t->size; i++)
        if (t->number[i] >= low && t->number[i] <= high)
            (void)drop(t, i);
}

static void step_zset_pop(struct model *m, struct slot *t, struct str key)
{
    uint32_t n = below(m, 3);
    enum kv_end end = below(m, 2) ? KV_HEAD : KV_TAIL;
    struct kv_item item;

    CHECK_INT(kv_zset_pop(m->b.s, key, end, n, &m->items), 0);
    CHECK_INT(m->items.n, MIN(n, t->count));
    while (kv_items_next(&m->items, &item)) {
        CHECK_INT(rank_of(t, number_in(item.member)), end == KV_HEAD ? 0 : t->count - 1);
        CHECK(drop(t, number_in(item.member)));
    }
}

static void step_zset(struct model *m, struct slot *t)
{
    uint32_t i = below(m, t->size);
    int number = (int)below(m, 50), r;
    char name[400];
    struct str key = str_c(t->key), member = text_of(name, i);
    struct kv_item item = {.member = member, .score = number};
    struct kv_zadd done = {0};
    uint64_t rank = 0;
    size_t n = 9;

    switch (below(m, 64) == 0 ? 7 : below(m, 7)) {
    case 0:
    case 1:
    case 2:
    case 3:
        CHECK_INT(kv_zset_add(m->b.s, key, &item, 1, 0, &done), 0);
        CHECK_INT(done.added, t->number[i] < 0);
        CHECK_INT(done.changed, t->number[i] >= 0 && t->number[i] != number);
        put(t, i, number);
        break;
    case 4:
        CHECK_INT(kv_coll_rem(m->b.s, key, KV_ZSET, &member, 1, &n), 0);
        CHECK_INT(n, drop(t, i));
        break;
    case 5:
        r = kv_zset_rank(m->b.s, key, member, false, &rank, &item.score);
        CHECK_INT(r, t->number[i] < 0 ? ERR_NOTFOUND : 0);
        if (r == 0 && t->size <= 600)
            CHECK_INT(rank, rank_of(t, i));
        break;
    case 6:
        step_zset_pop(m, t, key);
        break;
    default:
        step_zset_range(m, t, key);
        break;
    }
}

/* ---- lists ---- */

static void model_insert(struct slot *t, uint32_t at, int number)
{
    memmove(&t->number[at + 1], &t->number[at], (t->count - at) * sizeof(int));
    t->number[at] = number;
    t->count++;
}

static void model_cut(struct slot *t, uint32_t at, uint32_t n)
{
    memmove(&t->number[at], &t->number[at + n], (t->count - at - n) * sizeof(int));
    t->count -= n;
}

static void step_list_by_value(struct model *m, struct slot *t, struct str key)
{
    char text[400], pivot_text[400];
    int number = (int)below(m, 100000);
    uint32_t at = t->count ? below(m, t->count) : 0, first = 0;
    struct kv_value v = value_of(text, number);
    struct str pivot = text_of(pivot_text, (uint32_t)(t->count ? t->number[at] : 1));
    bool before = below(m, 2);
    uint64_t n = 0;

    while (first < t->count && t->number[first] != t->number[at])
        first++;
    if (t->count < t->size && below(m, 2)) {
        CHECK_INT(kv_list_insert(m->b.s, key, before, pivot, &v, &n), t->count ? 0 : ERR_NOTFOUND);
        if (t->count)
            model_insert(t, before ? first : first + 1, number);
    } else {
        CHECK_INT(kv_list_rem(m->b.s, key, 1, pivot, &n), 0);
        CHECK_INT(n, t->count > 0);
        if (t->count)
            model_cut(t, first, 1);
    }
}

static void step_list_end(struct model *m, struct slot *t, struct str key)
{
    char text[400];
    int number = (int)below(m, 100000);
    struct kv_value v = value_of(text, number);
    enum kv_end end = below(m, 2) ? KV_HEAD : KV_TAIL;
    struct kv_item item;
    uint64_t n = 0;

    if (t->count < t->size && below(m, 3)) {
        CHECK_INT(kv_list_push(m->b.s, key, end, &v, 1, 0, &n), 0);
        CHECK_INT(n, t->count + 1);
        model_insert(t, end == KV_HEAD ? 0 : t->count, number);
        return;
    }
    CHECK_INT(kv_list_pop(m->b.s, key, end, 1, &m->items), t->count ? 0 : ERR_NOTFOUND);
    if (t->count) {
        CHECK(kv_items_next(&m->items, &item));
        CHECK(
            number_in(item.value.bytes) == (uint32_t)t->number[end == KV_HEAD ? 0 : t->count - 1]);
        model_cut(t, end == KV_HEAD ? 0 : t->count - 1, 1);
    }
}

static void step_list(struct model *m, struct slot *t)
{
    struct str key = str_c(t->key);
    uint32_t at = below(m, t->count + 1);
    char text[400];
    int number = (int)below(m, 100000), r;
    struct kv_value v = value_of(text, number);

    switch (below(m, 200) == 0 ? 9 : below(m, 9)) {
    case 0:
        step_list_by_value(m, t, key);
        break;
    case 1:
        r = kv_list_index(m->b.s, key, (int64_t)at - t->count, &m->b.buf, &m->b.v);
        CHECK_INT(r, at < t->count ? 0 : t->count ? 0 : ERR_NOTFOUND);
        if (r == 0)
            CHECK(number_in(m->b.v.bytes) == (uint32_t)t->number[at < t->count ? at : 0]);
        break;
    case 2:
        r = kv_list_set(m->b.s, key, at, &v);
        CHECK_INT(r, t->count == 0 ? ERR_NOTFOUND : at < t->count ? 0 : ERR_RANGE);
        if (r == 0)
            t->number[at] = number;
        break;
    case 9:
        CHECK_INT(kv_list_trim(m->b.s, key, at / 4, -(int64_t)(at / 8) - 1), 0);
        if (t->count) {
            t->count -= MIN(at / 8, t->count);
            model_cut(t, 0, MIN(at / 4, t->count));
        }
        break;
    default:
        step_list_end(m, t, key);
        break;
    }
}

/* ---- all that is there ---- */

static void check_members(struct model *m, struct slot *t, enum kv_type type)
{
    struct kv_item item;
    uint64_t cursor = 0, n = 0;
    uint32_t seen = 0, at = 0;
    double last = -1;

    CHECK_INT(kv_coll_len(m->b.s, str_c(t->key), type, &n), 0);
    CHECK_INT(n, t->count);
    CHECK_INT(kv_coll_all(m->b.s, str_c(t->key), type, &m->items), 0);
    for (; kv_items_next(&m->items, &item); at++) {
        int number = type == KV_LIST ? t->number[at] : t->number[number_in(item.member)];

        CHECK(number >= 0);
        if (type == KV_HASH || type == KV_LIST)
            CHECK(number_in(item.value.bytes) == (uint32_t)number);
        if (type == KV_ZSET)
            CHECK(item.score == number && item.score >= last);
        last = item.score;
    }
    CHECK_INT(at, t->count);
    if (type == KV_LIST)
        return;
    do {
        CHECK_INT(kv_coll_scan(m->b.s, str_c(t->key), type, &cursor, 50, &m->items), 0);
        for (; kv_items_next(&m->items, &item); seen++)
            CHECK(t->number[number_in(item.member)] >= 0);
    } while (cursor && !test_failures);
    CHECK_INT(seen, t->count);
}

/* The walk of a repair finds all that is in use, and nothing else. */
static void check_all(struct model *m)
{
    struct kv_stats before, after;

    bed_reclaim(&m->b);
    before = bed_stats(&m->b);
    for (uint32_t i = 0; i < m->b.s->plan.nshards; i++) {
        kv_shard_lock(m->b.s, i);
        kv_repair(m->b.s, i);
        kv_shard_unlock(m->b.s, i);
    }
    after = bed_stats(&m->b);
    CHECK_INT(after.used, before.used);
    CHECK_INT(after.keys, before.keys);
    CHECK_INT(after.dropped, 0);
    for (int i = 0; i < SIZES; i++) {
        check_members(m, &m->hash[i], KV_HASH);
        check_members(m, &m->list[i], KV_LIST);
        check_members(m, &m->set[i], KV_SET);
        check_members(m, &m->zset[i], KV_ZSET);
    }
}

static void test_coll_model_random_operations_agree(void)
{
    struct model *m = mem_new(sizeof(*m));

    m->random = 88172645463325252u;
    bed_open(&m->b, MB(16), KV_ALLKEYS_LRU);
    start(m->hash, 'h');
    start(m->list, 'l');
    start(m->set, 's');
    start(m->zset, 'z');
    for (unsigned i = 1; i <= STEPS && !test_failures; i++) {
        unsigned size = below(m, SIZES);

        switch (below(m, 4)) {
        case 0:
            step_hash(m, &m->hash[size]);
            break;
        case 1:
            step_list(m, &m->list[size]);
            break;
        case 2:
            step_set(m, &m->set[size]);
            break;
        default:
            step_zset(m, &m->zset[size]);
            break;
        }
        if (i % LOOK == 0)
            check_all(m);
    }
    kv_store_flush(m->b.s);
    CHECK_INT(bed_stats(&m->b).used, 0);
    kv_items_fini(&m->items);
    bed_close(&m->b);
    mem_free(m);
}

const struct test tests_coll_model[] = {TEST(test_coll_model_random_operations_agree), TEST_END};
