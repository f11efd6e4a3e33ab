/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <math.h>

#include "base/mem.h"
#include "kv/collections.h"
#include "kv/entry.h"
#include "kv/layout.h"
#include "kv/repair.h"
#include "kv/shard.h"
#include "platform/clock.h"
#include "unit/kv/bed.h"

static const enum kv_type kinds[] = {KV_HASH, KV_LIST, KV_SET, KV_ZSET};

static struct kv_item item_of(const char *member, const char *value, double score)
{
    return (struct kv_item){.member = str_c(member), .value = bed_string(value), .score = score};
}

static int add_one(struct bed *b, struct str key, enum kv_type kind, const char *member)
{
    struct kv_item item = item_of(kind == KV_LIST ? "" : member, member, 1);

    return kv_coll_add(b->s, key, kind, &item, 1);
}

/* All elements as text, "a=x b=y" and the like. */
static struct str all_of(struct bed *b, struct str key, enum kv_type kind)
{
    struct kv_items items = {0};
    struct kv_item item;

    buf_clear(&b->buf);
    CHECK_INT(kv_coll_all(b->s, key, kind, &items), 0);
    while (kv_items_next(&items, &item)) {
        if (b->buf.len)
            buf_add_char(&b->buf, ' ');
        buf_add_str(&b->buf, item.member);
        if (kind == KV_HASH || kind == KV_LIST)
            buf_add_str(&b->buf, item.value.bytes);
        if (kind == KV_ZSET)
            buf_printf(&b->buf, ":%g", item.score);
    }
    kv_items_fini(&items);
    return buf_str(&b->buf);
}

static void test_coll_wrong_type(void)
{
    struct kv_value v = bed_string("v");
    uint64_t n, version = 0;
    struct kv_items items = {0};
    struct str part;
    size_t len;
    int64_t i;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(bed_set(&b, "string", "v"), 0);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        enum kv_type other = kinds[(k + 1) % ARRAY_LEN(kinds)];

        CHECK_INT(kv_store_del(b.s, STR("key")), k ? 0 : ERR_NOTFOUND);
        CHECK_INT(add_one(&b, STR("string"), kinds[k], "m"), ERR_TYPE);
        CHECK_INT(add_one(&b, STR("key"), kinds[k], "m"), 0);
        CHECK_INT(kv_coll_len(b.s, STR("key"), other, &n), ERR_TYPE);
        CHECK_INT(kv_coll_all(b.s, STR("key"), other, &items), ERR_TYPE);
        CHECK_INT(kv_store_get(b.s, STR("key"), &b.buf, &b.v), ERR_TYPE);
        CHECK_INT(kv_store_getset(b.s, STR("key"), &v, &b.buf, &b.v), ERR_TYPE);
        CHECK_INT(kv_store_getdel(b.s, STR("key"), &b.buf, &b.v), ERR_TYPE);
        CHECK_INT(kv_store_cas(b.s, STR("key"), &v, &v, 0), ERR_TYPE);
        CHECK_INT(kv_store_cas(b.s, STR("key"), NULL, &v, 0), ERR_TYPE);
        CHECK_INT(kv_store_incr(b.s, STR("key"), 1, &i), ERR_TYPE);
        CHECK_INT(kv_store_append(b.s, STR("key"), STR("x"), &len), ERR_TYPE);
        CHECK_INT(kv_store_setrange(b.s, STR("key"), 1, STR("x"), &len), ERR_TYPE);
        CHECK_INT(kv_store_getrange(b.s, STR("key"), 0, 1, &b.buf, &part), ERR_TYPE);
        CHECK_INT(kv_store_wait(b.s, STR("key"), 0, 0, &b.buf, &b.v, &version), ERR_TYPE);
        CHECK(version > 0);
        CHECK(kv_store_exists(b.s, STR("key")));
        CHECK_INT(kv_coll_len(b.s, STR("key"), kinds[k], &n), 0);
        CHECK_INT(n, 1);
        CHECK_INT(kv_store_set(b.s, STR("key"), &v, KV_ONLY_NEW, 0), ERR_EXISTS);
    }
    CHECK_INT(kv_store_set(b.s, STR("key"), &v, 0, 0), 0);
    CHECK_STR(bed_get(&b, "key"), "v");
    CHECK_INT(bed_stats(&b).dropped, 0);
    kv_items_fini(&items);
    bed_close(&b);
}

static void test_coll_limits(void)
{
    char *p = mem_new(KV_VALUE_MAX + 1);
    struct kv_item long_member = {.member = str_n(p, KV_MEMBER_MAX), .score = 1};
    struct kv_item item = item_of("m", "", NAN);
    struct kv_zadd done;
    struct str members[2] = {STR("a"), str_n(p, KV_MEMBER_MAX + 1)};
    uint64_t n;
    size_t added;
    double d;
    struct bed b;

    bed_open(&b, MB(16), KV_NOEVICTION);
    long_member.value = bed_string("v");
    CHECK_INT(kv_hash_set(b.s, STR("h"), &long_member, 1, 0, &added), 0);
    CHECK_INT(kv_hash_get(b.s, STR("h"), long_member.member, &b.buf, &b.v), 0);
    CHECK_INT(kv_zset_add(b.s, STR("z"), &long_member, 1, 0, &done), 0);
    long_member.member.len++;
    CHECK_INT(kv_hash_set(b.s, STR("h"), &long_member, 1, 0, &added), ERR_TOOBIG);
    CHECK_INT(kv_zset_add(b.s, STR("z"), &long_member, 1, 0, &done), ERR_TOOBIG);
    /* All or none. */
    CHECK_INT(kv_set_add(b.s, STR("s"), members, 2, &added), ERR_TOOBIG);
    CHECK_INT(kv_coll_len(b.s, STR("s"), KV_SET, &n), 0);
    CHECK_INT(n, 0);
    CHECK(!kv_store_exists(b.s, STR("s")));
    item.value.bytes = str_n(p, KV_VALUE_MAX + 1);
    CHECK_INT(kv_hash_set(b.s, STR("h"), &item, 1, 0, &added), ERR_TOOBIG);
    CHECK_INT(kv_coll_len(b.s, str_n(p, KV_KEY_MAX + 1), KV_SET, &n), ERR_TOOBIG);
    CHECK_INT(kv_zset_add(b.s, STR("z"), &item, 1, 0, &done), ERR_INVAL);
    item.value = bed_string("");
    CHECK_INT(kv_coll_replace(b.s, STR("z"), KV_ZSET, &item, 1, 0), ERR_INVAL);
    CHECK_INT(kv_coll_replace(b.s, STR("z"), KV_STRING, &item, 1, 0), ERR_INVAL);
    CHECK_INT(kv_coll_replace(b.s, STR("h"), KV_HASH, &item, 1, -1), ERR_INVAL);
    CHECK_INT(kv_zset_incr(b.s, STR("y"), STR("m"), INFINITY, 0, &d), 0);
    CHECK_INT(kv_zset_incr(b.s, STR("y"), STR("m"), -INFINITY, 0, &d), ERR_RANGE);
    mem_free(p);
    bed_close(&b);
}

static void test_coll_empty_is_gone_and_deadline_stays(void)
{
    struct str member = STR("m");
    struct kv_items items = {0};
    int64_t ms = 0;
    size_t n;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        CHECK_INT(add_one(&b, STR("key"), kinds[k], "m"), 0);
        CHECK_INT(kv_store_expire(b.s, STR("key"), 100000), 0);
        CHECK_INT(add_one(&b, STR("key"), kinds[k], "n"), 0);
        CHECK_INT(kv_store_ttl(b.s, STR("key"), &ms), 0);
        CHECK(ms > 90000 && ms <= 100000);
        if (kinds[k] == KV_LIST) {
            CHECK_INT(kv_list_pop(b.s, STR("key"), KV_HEAD, 1, &items), 0);
            CHECK_INT(kv_list_pop(b.s, STR("key"), KV_TAIL, 1, &items), 0);
        } else {
            CHECK_INT(kv_coll_rem(b.s, STR("key"), kinds[k], &member, 1, &n), 0);
            CHECK_INT(n, 1);
            member = STR("n");
            CHECK_INT(kv_coll_rem(b.s, STR("key"), kinds[k], &member, 1, &n), 0);
            member = STR("m");
        }
        CHECK(!kv_store_exists(b.s, STR("key")));
        CHECK_INT(bed_stats(&b).used, 0);
        /* And it expires as a whole. */
        CHECK_INT(add_one(&b, STR("key"), kinds[k], "m"), 0);
        CHECK_INT(kv_store_expire(b.s, STR("key"), 1), 0);
        clock_sleep_ms(3);
        CHECK_INT(add_one(&b, STR("key"), kinds[k], "n"), 0);
        CHECK_STR(all_of(&b, STR("key"), kinds[k]), kinds[k] == KV_HASH   ? "nn"
                                                    : kinds[k] == KV_ZSET ? "n:1"
                                                                          : "n");
        CHECK_INT(kv_store_del(b.s, STR("key")), 0);
        CHECK_INT(bed_stats(&b).used, 0);
    }
    kv_items_fini(&items);
    bed_close(&b);
}

static void test_coll_full_changes_nothing(void)
{
    struct bed b;
    char name[32];
    unsigned n = 0;
    uint64_t len, used;

    bed_open(&b, MB(2), KV_NOEVICTION);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        int r = 0;

        for (n = 0; r == 0 && n < 1000000; n += r == 0) {
            (void)snprintf(name, sizeof(name), "member %u", n);
            r = add_one(&b, STR("key"), kinds[k], name);
        }
        CHECK_INT(r, ERR_FULL);
        CHECK(n > 5000);
        used = bed_stats(&b).used;
        CHECK_INT(add_one(&b, STR("key"), kinds[k], name), ERR_FULL);
        CHECK_INT(kv_coll_len(b.s, STR("key"), kinds[k], &len), 0);
        CHECK_INT(len, n);
        CHECK_INT(bed_stats(&b).used, used);
        CHECK_INT(bed_stats(&b).dropped, 0);
        CHECK_INT(kv_store_del(b.s, STR("key")), 0);
        bed_reclaim(&b);
        CHECK_INT(bed_stats(&b).used, 0);
    }
    bed_close(&b);
}

/* Deleting one takes a bounded time, whatever is in it; the rest is done in steps. */
static void test_coll_large_is_freed_in_steps(void)
{
    enum { MANY = 20000 };
    char name[32];
    struct bed b;
    uint64_t used, len;
    unsigned n = 0;

    bed_open(&b, MB(16), KV_NOEVICTION);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        for (unsigned i = 0; i < MANY; i++) {
            (void)snprintf(name, sizeof(name), "member %u", i);
            CHECK_INT(add_one(&b, STR("key"), kinds[k], name), 0);
        }
        used = bed_stats(&b).used;
        CHECK_INT(kv_store_del(b.s, STR("key")), 0);
        CHECK(bed_stats(&b).used > used / 2);
        CHECK(!kv_store_exists(b.s, STR("key")));
        CHECK_INT(bed_stats(&b).keys, 0);
        /* One of the same name is another one, also while what was is being freed: by changes of
         * keys in the same part. */
        for (n = 0; bed_stats(&b).used > used / 8 && n < MANY; n++) {
            (void)snprintf(name, sizeof(name), "member %u", n % 10);
            CHECK_INT(add_one(&b, STR("key"), kinds[k], name), 0);
        }
        CHECK(n > MANY / 200 && n < MANY / 10);
        CHECK_INT(kv_coll_len(b.s, STR("key"), kinds[k], &len), 0);
        CHECK_INT(len, kinds[k] == KV_LIST ? n : 10);
        CHECK_INT(kv_store_del(b.s, STR("key")), 0);
        bed_reclaim(&b);
        CHECK_INT(bed_stats(&b).used, 0);
    }
    CHECK_INT(bed_stats(&b).dropped, 0);
    bed_close(&b);
}

/* Who finds no memory has it all. */
static void test_coll_that_is_being_freed_makes_room(void)
{
    unsigned n[2] = {0};
    char name[32];
    struct bed b;

    bed_open(&b, MB(4), KV_NOEVICTION);
    for (int round = 0; round < 2; round++) {
        int r = 0;

        for (; r == 0; n[round] += r == 0) {
            (void)snprintf(name, sizeof(name), "member %u", n[round]);
            r = add_one(&b, round ? STR("b") : STR("a"), KV_SET, name);
        }
        CHECK_INT(r, ERR_FULL);
        CHECK_INT(kv_store_del(b.s, round ? STR("b") : STR("a")), 0);
    }
    CHECK(n[1] > n[0] / 10 * 9);
    bed_close(&b);
}

/* Values of many pages as elements. */
static void test_coll_large_values(void)
{
    enum { SIZE = 300000 };
    char *p = mem_new(SIZE);
    struct kv_item item = {.member = STR("big")};
    struct kv_items items = {0};
    struct kv_info info;
    uint64_t len;
    size_t added;
    struct bed b;

    memset(p, 'x', SIZE);
    bed_open(&b, MB(16), KV_NOEVICTION);
    item.value = (struct kv_value){.type = KV_STRING, .bytes = {p, SIZE}};
    for (int i = 0; i < 20; i++) {
        p[0] = (char)i;
        CHECK_INT(kv_hash_set(b.s, STR("h"), &item, 1, 0, &added), 0);
        CHECK_INT(kv_hash_get(b.s, STR("h"), STR("big"), &b.buf, &b.v), 0);
        CHECK(str_eq(b.v.bytes, item.value.bytes));
    }
    CHECK_INT(kv_store_info(b.s, STR("h"), &info), 0);
    CHECK_INT(info.bytes, bed_stats(&b).used);
    CHECK_INT(kv_list_push(b.s, STR("l"), KV_HEAD, &item.value, 1, 0, &len), 0);
    CHECK_INT(kv_list_pop(b.s, STR("l"), KV_HEAD, 1, &items), 0);
    CHECK(kv_items_next(&items, &item));
    CHECK(item.value.bytes.len == SIZE);
    CHECK_INT(kv_store_del(b.s, STR("h")), 0);
    CHECK_INT(bed_stats(&b).used, 0);
    kv_items_fini(&items);
    mem_free(p);
    bed_close(&b);
}

static void test_coll_read_in_steps(void)
{
    enum { N = 1000 };
    struct kv_items items = {0};
    struct kv_item item;
    struct kv_info info;
    uint64_t at, version = 0;
    char name[32];
    unsigned seen;
    struct bed b;

    bed_open(&b, MB(4), KV_NOEVICTION);
    CHECK_INT(kv_coll_read(b.s, STR("key"), &(uint64_t){0}, 10, &info, &items), ERR_NOTFOUND);
    CHECK_INT(bed_set(&b, "s", "v"), 0);
    CHECK_INT(kv_coll_read(b.s, STR("s"), &(uint64_t){0}, 10, &info, &items), ERR_TYPE);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        (void)!kv_store_del(b.s, STR("key"));
        (void)!kv_store_del(b.s, STR("copy"));
        for (int i = 0; i < N; i++) {
            (void)snprintf(name, sizeof(name), "%d", i);
            CHECK_INT(add_one(&b, STR("key"), kinds[k], name), 0);
        }
        seen = 0;
        at = 0;
        do {
            CHECK_INT(kv_coll_read(b.s, STR("key"), &at, 64, &info, &items), 0);
            CHECK_INT(info.type, kinds[k]);
            CHECK_INT(info.count, N);
            CHECK(seen == 0 || info.version == version);
            version = info.version;
            for (; kv_items_next(&items, &item); seen++)
                CHECK_INT(kv_coll_add(b.s, STR("copy"), kinds[k], &item, 1), 0);
        } while (at);
        CHECK_INT(seen, N);
        CHECK_INT(kv_coll_read(b.s, STR("copy"), &at, SIZE_MAX, &info, &items), 0);
        CHECK_INT(info.count, N);
        CHECK(at == 0);
        CHECK_INT(add_one(&b, STR("key"), kinds[k], "another"), 0);
        CHECK_INT(kv_coll_read(b.s, STR("key"), &at, 1, &info, &items), 0);
        CHECK(info.version != version);
    }
    kv_items_fini(&items);
    bed_close(&b);
}

static void test_coll_rename_and_copy(void)
{
    struct bed b;
    char name[32];
    int64_t ms = 0;
    uint64_t n = 0;

    bed_open(&b, MB(32), KV_NOEVICTION);
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        for (int i = 0; i < 500; i++) {
            (void)snprintf(name, sizeof(name), "%d", i);
            CHECK_INT(add_one(&b, STR("from"), kinds[k], name), 0);
        }
        CHECK_INT(kv_store_expire(b.s, STR("from"), 100000), 0);
        CHECK_INT(bed_set(&b, "to", "replaced"), 0);
        CHECK_INT(kv_store_copy(b.s, STR("from"), STR("copy"), 0), 0);
        CHECK_INT(kv_store_rename(b.s, STR("from"), STR("to"), 0), 0);
        CHECK(!kv_store_exists(b.s, STR("from")));
        CHECK_INT(kv_coll_len(b.s, STR("to"), kinds[k], &n), 0);
        CHECK_INT(n, 500);
        CHECK_INT(kv_store_ttl(b.s, STR("to"), &ms), 0);
        CHECK(ms > 90000);
        CHECK_INT(kv_store_del(b.s, STR("to")), 0);
        CHECK_INT(kv_coll_len(b.s, STR("copy"), kinds[k], &n), 0);
        CHECK_INT(n, 500);
        CHECK_INT(kv_store_del(b.s, STR("copy")), 0);
        CHECK_INT(bed_stats(&b).used, 0);
    }
    bed_close(&b);
}

static void test_hash_fields(void)
{
    struct kv_item two[2] = {item_of("a", "1", 0), item_of("b", "x", 0)};
    size_t added = 0;
    int64_t i = 0;
    double d = 0;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_hash_set(b.s, STR("h"), two, 2, 0, &added), 0);
    CHECK_INT(added, 2);
    CHECK_INT(kv_hash_incr(b.s, STR("h"), STR("a"), 4, &i), 0);
    CHECK_INT(i, 5);
    CHECK_INT(kv_hash_incr(b.s, STR("h"), STR("b"), 4, &i), ERR_INVAL);
    CHECK_INT(kv_hash_incr(b.s, STR("h"), STR("new"), INT64_MAX, &i), 0);
    CHECK_INT(kv_hash_incr(b.s, STR("h"), STR("new"), 1, &i), ERR_RANGE);
    CHECK_INT(kv_hash_incr_float(b.s, STR("h"), STR("a"), 0.5, &d), 0);
    CHECK(d == 5.5);
    CHECK_INT(kv_hash_incr_float(b.s, STR("h"), STR("b"), 0.5, &d), ERR_INVAL);
    CHECK_INT(kv_hash_get(b.s, STR("h"), STR("a"), &b.buf, &b.v), 0);
    CHECK_INT(b.v.type, KV_FLOAT);
    /* One is there: none is set. */
    two[0] = item_of("other", "1", 0);
    CHECK_INT(kv_hash_set(b.s, STR("h"), two, 2, KV_ONLY_NEW, &added), ERR_EXISTS);
    CHECK_INT(kv_hash_get(b.s, STR("h"), STR("other"), &b.buf, &b.v), ERR_NOTFOUND);
    bed_close(&b);
}

static void test_list_order(void)
{
    struct kv_value v[3] = {bed_string("a"), bed_string("b"), bed_string("c")};
    struct kv_value x = bed_string("x");
    struct kv_items items = {0};
    uint64_t n = 0, at[3] = {0};
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_list_push(b.s, STR("l"), KV_HEAD, v, 3, KV_ONLY_OLD, &n), ERR_NOTFOUND);
    CHECK_INT(kv_list_push(b.s, STR("l"), KV_HEAD, v, 3, 0, &n), 0);
    CHECK_INT(kv_list_push(b.s, STR("l"), KV_TAIL, v, 3, KV_ONLY_OLD, &n), 0);
    CHECK_INT(n, 6);
    CHECK_STR(all_of(&b, STR("l"), KV_LIST), "c b a a b c");
    CHECK_INT(kv_list_pos(b.s, STR("l"), STR("b"), 1, 0, 0, &b.buf), 0);
    memcpy(at, b.buf.p, MIN(b.buf.len, sizeof(at)));
    CHECK(b.buf.len == 16 && at[0] == 1 && at[1] == 4);
    CHECK_INT(kv_list_pos(b.s, STR("l"), STR("b"), -1, 1, 0, &b.buf), 0);
    memcpy(at, b.buf.p, MIN(b.buf.len, sizeof(at)));
    CHECK(b.buf.len == 8 && at[0] == 4);
    CHECK_INT(kv_list_pos(b.s, STR("l"), STR("b"), 2, 1, 3, &b.buf), 0);
    CHECK_INT(b.buf.len, 0);
    CHECK_INT(kv_list_insert(b.s, STR("l"), true, STR("a"), &x, &n), 0);
    CHECK_INT(kv_list_insert(b.s, STR("l"), false, STR("c"), &x, &n), 0);
    CHECK_INT(kv_list_insert(b.s, STR("l"), false, STR("none"), &x, &n), ERR_RANGE);
    CHECK_STR(all_of(&b, STR("l"), KV_LIST), "c x b x a a b c");
    CHECK_INT(kv_list_rem(b.s, STR("l"), -1, STR("x"), &n), 0);
    CHECK_STR(all_of(&b, STR("l"), KV_LIST), "c x b a a b c");
    CHECK_INT(kv_list_rotate(b.s, STR("l"), KV_TAIL, KV_HEAD, &b.buf, &b.v), 0);
    CHECK_STR(all_of(&b, STR("l"), KV_LIST), "c c x b a a b");
    CHECK_INT(kv_list_set(b.s, STR("l"), -1, &x), 0);
    CHECK_INT(kv_list_set(b.s, STR("l"), 7, &x), ERR_RANGE);
    CHECK_INT(kv_list_trim(b.s, STR("l"), 1, -3), 0);
    CHECK_STR(all_of(&b, STR("l"), KV_LIST), "c x b a");
    CHECK_INT(kv_list_pop(b.s, STR("l"), KV_TAIL, 10, &items), 0);
    CHECK_INT(items.n, 4);
    CHECK_INT(kv_list_pop(b.s, STR("l"), KV_TAIL, 1, &items), ERR_NOTFOUND);
    kv_items_fini(&items);
    bed_close(&b);
}

static void test_set_random_members_are_all_as_likely(void)
{
    enum { N = 300, ROUNDS = 60000 };
    unsigned count[N] = {0}, least = ROUNDS, most = 0;
    struct kv_items items = {0};
    struct kv_item item;
    char name[32];
    uint64_t i;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    for (int k = 0; k < N; k++) {
        (void)snprintf(name, sizeof(name), "%d", k);
        CHECK_INT(add_one(&b, STR("s"), KV_SET, name), 0);
    }
    for (int k = 0; k < ROUNDS / 20; k++) {
        /* 10 different ones, and 10 of which some may be the same. */
        CHECK_INT(kv_coll_random(b.s, STR("s"), KV_SET, k % 2 ? 20 : -20, &items), 0);
        CHECK_INT(items.n, 20);
        while (kv_items_next(&items, &item))
            if (str_u64(item.member, &i) == 0 && i < N)
                count[i]++;
    }
    for (int k = 0; k < N; k++) {
        least = MIN(least, count[k]);
        most = MAX(most, count[k]);
    }
    /* 200 each; five standard deviations are 70. */
    CHECK(least > 120 && most < 280);
    kv_items_fini(&items);
    bed_close(&b);
}

static void test_zset_flags_and_ranges(void)
{
    struct kv_item m[4] = {
        item_of("a", "", 1), item_of("b", "", 2), item_of("c", "", 2), item_of("d", "", 3)};
    struct kv_range range = {.by = KV_BY_SCORE, .min = 2, .max = 2, .limit = -1};
    struct kv_zadd done = {0};
    uint64_t n = 9;
    double d = 0;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_zset_add(b.s, STR("z"), m, 4, KV_ONLY_OLD, &done), 0);
    CHECK(!kv_store_exists(b.s, STR("z")));
    CHECK_INT(kv_zset_add(b.s, STR("z"), m, 4, 0, &done), 0);
    CHECK_INT(done.added, 4);
    m[0].score = 5;
    CHECK_INT(kv_zset_add(b.s, STR("z"), m, 1, KV_ONLY_LESS, &done), 0);
    CHECK_INT(done.changed, 0);
    CHECK_INT(kv_zset_add(b.s, STR("z"), m, 1, KV_ONLY_NEW, &done), 0);
    CHECK_INT(done.changed, 0);
    CHECK_INT(kv_zset_add(b.s, STR("z"), m, 1, KV_ONLY_GREATER, &done), 0);
    CHECK_INT(done.changed, 1);
    CHECK_STR(all_of(&b, STR("z"), KV_ZSET), "b:2 c:2 d:3 a:5");
    CHECK_INT(kv_zset_incr(b.s, STR("z"), STR("a"), -4.5, 0, &d), 0);
    CHECK(d == 0.5);
    CHECK_INT(kv_zset_incr(b.s, STR("z"), STR("a"), 1, KV_ONLY_NEW, &d), ERR_BUSY);
    CHECK_INT(kv_zset_count(b.s, STR("z"), &range, &n), 0);
    CHECK_INT(n, 2);
    range.min_excluded = true;
    CHECK_INT(kv_zset_count(b.s, STR("z"), &range, &n), 0);
    CHECK_INT(n, 0);
    range = (struct kv_range){.by = KV_BY_RANK, .start = -2, .stop = -1};
    CHECK_INT(kv_zset_rem_range(b.s, STR("z"), &range, &n), 0);
    CHECK_INT(n, 2);
    CHECK_STR(all_of(&b, STR("z"), KV_ZSET), "a:0.5 b:2");
    range = (struct kv_range){.by = KV_BY_LEX, .nothing = true};
    CHECK_INT(kv_zset_count(b.s, STR("z"), &range, &n), 0);
    CHECK_INT(n, 0);
    bed_close(&b);
}

/* ---- eviction ---- */

static void fill(struct bed *b, unsigned from, unsigned n, int64_t ttl)
{
    struct kv_value v = bed_string("the value of a key that is there to need memory for it");
    char name[32];

    for (unsigned i = from; i < from + n; i++) {
        (void)snprintf(name, sizeof(name), "string %u", i);
        CHECK_INT(kv_store_set(b->s, str_c(name), &v, 0, ttl), 0);
    }
}

static void make(struct bed *b, struct str key, enum kv_type kind, unsigned n)
{
    char name[32];

    for (unsigned i = 0; i < n; i++) {
        (void)snprintf(name, sizeof(name), "%u", i);
        CHECK_INT(add_one(b, key, kind, name), 0);
    }
}

static void test_evict_takes_collections_that_nobody_reads(void)
{
    char name[32];
    unsigned gone = 0, lost = 0;
    uint64_t n;
    struct bed b;

    bed_open(&b, MB(8), KV_ALLKEYS_LRU);
    for (unsigned i = 0; i < 20; i++) {
        (void)snprintf(name, sizeof(name), "coll %u", i);
        make(&b, str_c(name), kinds[i % 4], 2000);
    }
    for (unsigned i = 0; i < 60; i++) {
        fill(&b, i * 2000, 2000, 0);
        CHECK_INT(kv_coll_len(b.s, STR("coll 3"), KV_ZSET, &n), 0);
        /* All are as new when the memory is full for the first time: any may be the one that goes.
         */
        if (n == 0) {
            lost++;
            make(&b, STR("coll 3"), KV_ZSET, 2000);
            continue;
        }
        CHECK_INT(n, 2000);
    }
    CHECK(lost <= 1);
    for (unsigned i = 0; i < 20; i++) {
        (void)snprintf(name, sizeof(name), "coll %u", i);
        gone += !kv_store_exists(b.s, str_c(name));
        if (kv_store_exists(b.s, str_c(name))) {
            CHECK_INT(kv_coll_len(b.s, str_c(name), kinds[i % 4], &n), 0);
            CHECK_INT(n, 2000);
        }
    }
    CHECK(gone >= 15);
    CHECK_INT(bed_stats(&b).dropped, 0);
    kv_store_flush(b.s);
    CHECK_INT(bed_stats(&b).used, 0);
    bed_close(&b);
}

/* A collection grows into all the memory there is: others go, it does not. */
static void test_evict_spares_the_collection_that_is_changed(void)
{
    uint64_t n = 0, last = 0;
    char name[32];
    int r = 0;
    struct bed b;

    bed_open(&b, MB(2), KV_ALLKEYS_LRU);
    fill(&b, 0, 20000, 0);
    make(&b, STR("old"), KV_SET, 1000);
    for (unsigned i = 0; r == 0 && i < 100000; i++) {
        (void)snprintf(name, sizeof(name), "%u", i);
        r = add_one(&b, STR("growing"), KV_HASH, name);
        CHECK_INT(kv_coll_len(b.s, STR("growing"), KV_HASH, &n), 0);
        CHECK_INT(n, last + (r == 0));
        last = n;
    }
    CHECK_INT(r, ERR_FULL);
    CHECK(n > 10000);
    CHECK(!kv_store_exists(b.s, STR("old")));
    /* A string needs room, for which it goes as a whole. */
    fill(&b, 0, 2000, 0);
    CHECK_INT(bed_stats(&b).dropped, 0);
    kv_store_flush(b.s);
    CHECK_INT(bed_stats(&b).used, 0);
    bed_close(&b);
}

/* It was refused room because the search did not get beyond its own pages. */
static void test_evict_finds_room_beyond_a_large_collection(void)
{
    char *p = mem_new(5000);
    struct kv_value v = {.type = KV_STRING, .bytes = {p, 5000}};
    uint64_t n;
    struct bed b;

    bed_open(&b, MB(32), KV_ALLKEYS_LRU);
    fill(&b, 0, 100000, 0);
    for (unsigned i = 0; i < 4500; i++)
        CHECK_INT(kv_list_push(b.s, STR("list"), KV_TAIL, &v, 1, 0, &n), 0);
    CHECK_INT(n, 4500);
    CHECK(bed_stats(&b).evicted > 0);
    mem_free(p);
    bed_close(&b);
}

static void test_evict_volatile_spares_collections_without_deadline(void)
{
    uint64_t n = 0;
    struct bed b;

    bed_open(&b, MB(4), KV_VOLATILE_LRU);
    make(&b, STR("stays"), KV_ZSET, 3000);
    make(&b, STR("may go"), KV_ZSET, 3000);
    CHECK_INT(kv_store_expire(b.s, STR("may go"), 1000000), 0);
    fill(&b, 0, 50000, 1000000);
    CHECK_INT(kv_coll_len(b.s, STR("stays"), KV_ZSET, &n), 0);
    CHECK_INT(n, 3000);
    CHECK(!kv_store_exists(b.s, STR("may go")));
    bed_close(&b);
}

/* ---- repair ---- */

/* Writes over one word: of the head, or of the root of its first tree. */
static void damage(struct bed *b, bool in_head, size_t word, uint32_t value)
{
    struct kv_spot spot;
    struct kv_head head;
    uint32_t *p;

    kv_spot_open(b->s, STR("key"), &spot);
    kv_entry_head(spot.e, &head);
    p = in_head ? (uint32_t *)(void *)kv_entry_word(spot.e, 3)
                : (uint32_t *)(void *)kv_key_words(kv_at(b->s, head.root[0]));
    p[word] = value == 0 ? p[0] : value;
    kv_spot_close(b->s, &spot);
}

static void test_repair_drops_a_shard_whose_tree_was_written_over(void)
{
    static const struct {
        const char *name;
        bool in_head;
        size_t word;
        uint32_t value; /* 0: that of the first word */
    } rows[] = {
        {"a root that is none", true, 0, 12345},
        {"a second root that is none", true, 1, 4},
        {"the same root twice", true, 1, 0},
        {"more elements than there are", true, 2, 301},
        {"a child that is none", false, 3, 99},
        {"the same child twice", false, 3, 0},
    };
    struct bed b;
    uint64_t n = 0;

    bed_open(&b, MB(2), KV_NOEVICTION);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].name);
        make(&b, STR("key"), KV_ZSET, 300);
        damage(&b, rows[i].in_head, rows[i].word, rows[i].value);
        kv_shard_lock(b.s, 0);
        kv_repair(b.s, 0);
        kv_shard_unlock(b.s, 0);
        CHECK_INT(bed_stats(&b).dropped, i + 1);
        CHECK_INT(bed_stats(&b).used, 0);
    }
    test_row(NULL);
    make(&b, STR("key"), KV_ZSET, 300);
    kv_shard_lock(b.s, 0);
    kv_repair(b.s, 0);
    kv_shard_unlock(b.s, 0);
    CHECK_INT(kv_coll_len(b.s, STR("key"), KV_ZSET, &n), 0);
    CHECK_INT(n, 300);
    bed_close(&b);
}

const struct test tests_coll[] = {TEST(test_repair_drops_a_shard_whose_tree_was_written_over),
    TEST(test_coll_wrong_type), TEST(test_coll_limits),
    TEST(test_coll_empty_is_gone_and_deadline_stays), TEST(test_coll_full_changes_nothing),
    TEST(test_coll_large_is_freed_in_steps), TEST(test_coll_that_is_being_freed_makes_room),
    TEST(test_coll_large_values), TEST(test_coll_read_in_steps), TEST(test_coll_rename_and_copy),
    TEST(test_hash_fields), TEST(test_list_order), TEST(test_set_random_members_are_all_as_likely),
    TEST(test_zset_flags_and_ranges), TEST(test_evict_takes_collections_that_nobody_reads),
    TEST(test_evict_spares_the_collection_that_is_changed),
    TEST(test_evict_finds_room_beyond_a_large_collection),
    TEST(test_evict_volatile_spares_collections_without_deadline), TEST_END};
