/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/keys.h"

#include "base/mem.h"
#include "kv/layout.h"
#include "platform/clock.h"
#include "unit/kv/bed.h"

static struct kv_pair pair(const char *key, const char *value)
{
    return (struct kv_pair){.key = str_c(key), .value = bed_string(value)};
}

/* ---- several keys ---- */

static void test_mset_sets_all(void)
{
    struct kv_pair pairs[] = {pair("a", "1"), pair("b", "two"), pair("", "empty"), pair("a", "3")};
    struct bed b;

    bed_open(&b, MB(16), KV_NOEVICTION);
    CHECK_INT(bed_set(&b, "b", "old"), 0);
    CHECK_INT(kv_store_mset(b.s, pairs, ARRAY_LEN(pairs), 0), 0);
    CHECK_STR(bed_get(&b, "a"), "3");
    CHECK_STR(bed_get(&b, "b"), "two");
    CHECK_STR(bed_get(&b, ""), "empty");
    CHECK_INT(kv_store_count(b.s), 3);
    CHECK_INT(kv_store_mset(b.s, pairs, 0, 0), 0);
    bed_close(&b);
}

static void test_mset_sets_deadlines(void)
{
    struct kv_pair pairs[] = {pair("a", "1"), pair("b", "2")};
    struct bed b;
    int64_t ms;

    bed_open(&b, MB(16), KV_NOEVICTION);
    pairs[0].ttl = 50000;
    CHECK_INT(kv_store_mset(b.s, pairs, 2, 0), 0);
    CHECK_INT(kv_store_ttl(b.s, STR("a"), &ms), 0);
    CHECK(ms > 40000 && ms <= 50000);
    CHECK_INT(kv_store_ttl(b.s, STR("b"), &ms), 0);
    CHECK_INT(ms, KV_NO_TTL);
    pairs[1].ttl = -1;
    CHECK_INT(kv_store_mset(b.s, pairs, 2, 0), ERR_INVAL);
    bed_close(&b);
}

static void test_mset_only_new_sets_none_when_one_is_there(void)
{
    struct kv_pair pairs[] = {pair("a", "1"), pair("b", "2"), pair("c", "3")};
    struct bed b;

    bed_open(&b, MB(16), KV_NOEVICTION);
    CHECK_INT(bed_set(&b, "c", "old"), 0);
    CHECK_INT(kv_store_mset(b.s, pairs, 3, KV_ONLY_NEW), ERR_EXISTS);
    CHECK_STR(bed_get(&b, "a"), "(none)");
    CHECK_STR(bed_get(&b, "c"), "old");
    CHECK_INT(kv_store_del(b.s, STR("c")), 0);
    CHECK_INT(kv_store_mset(b.s, pairs, 3, KV_ONLY_NEW), 0);
    CHECK_STR(bed_get(&b, "c"), "3");
    bed_close(&b);
}

/* The last value does not fit any more. */
static void test_mset_without_room_sets_none(void)
{
    char *large = mem_new(MB(1));
    struct kv_pair pairs[] = {pair("a", "new"), pair("b", ""), pair("c", ""), pair("d", "")};
    struct kv_stats before, after;
    struct bed b;

    bed_open(&b, KV_MEMORY_MIN, KV_NOEVICTION);
    for (int i = 1; i < 4; i++)
        pairs[i].value.bytes = str_n(large, 900000);
    CHECK_INT(bed_set(&b, "a", "old"), 0);
    before = bed_stats(&b);
    CHECK_INT(kv_store_mset(b.s, pairs, 4, 0), ERR_FULL);
    after = bed_stats(&b);
    CHECK_STR(bed_get(&b, "a"), "old");
    CHECK_STR(bed_get(&b, "b"), "(none)");
    CHECK_INT(after.used, before.used);
    pairs[2].value.bytes.len = (size_t)KV_VALUE_MAX + 1;
    CHECK_INT(kv_store_mset(b.s, pairs, 4, 0), ERR_TOOBIG);
    bed_close(&b);
    mem_free(large);
}

static void test_mset_of_many_evicts(void)
{
    enum { N = 20000 };
    struct kv_pair *pairs = mem_new_array(N, sizeof(*pairs));
    char(*names)[32] = mem_new_array(N, sizeof(*names));
    struct bed b;

    bed_open(&b, KV_MEMORY_MIN, KV_ALLKEYS_LRU);
    for (int i = 0; i < N; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "key %d", i);
        pairs[i] = pair(names[i], names[i]);
        CHECK_INT(kv_store_set(b.s, pairs[i].key, &pairs[i].value, 0, 0), 0);
    }
    CHECK_INT(kv_store_mset(b.s, pairs, 5000, 0), 0);
    for (int i = 0; i < 5000; i++)
        CHECK_STR(bed_get(&b, names[i]), names[i]);
    /* More than there is memory for: nothing stays that is not linked. */
    CHECK_INT(kv_store_mset(b.s, pairs, N, 0), ERR_FULL);
    kv_store_flush(b.s);
    CHECK_INT(bed_stats(&b).used, 0);
    CHECK_INT(bed_stats(&b).dropped, 0);
    bed_close(&b);
    mem_free(pairs);
    mem_free(names);
}

static void test_rename_moves_value_and_deadline(void)
{
    struct kv_value v = bed_string("value");
    struct bed b;
    int64_t ms = 0;

    bed_open(&b, MB(16), KV_NOEVICTION);
    for (int i = 0; i < 40; i++) {
        char from[32], to[32];

        (void)snprintf(from, sizeof(from), "from %d", i);
        (void)snprintf(to, sizeof(to), "to %d", i);
        CHECK_INT(kv_store_set(b.s, str_c(from), &v, 0, 50000), 0);
        if (i % 2)
            CHECK_INT(bed_set(&b, to, "old"), 0);
        CHECK_INT(kv_store_rename(b.s, str_c(from), str_c(to), 0), 0);
        CHECK_STR(bed_get(&b, from), "(none)");
        CHECK_STR(bed_get(&b, to), "value");
        CHECK_INT(kv_store_ttl(b.s, str_c(to), &ms), 0);
        CHECK(ms > 40000 && ms <= 50000);
    }
    CHECK_INT(kv_store_count(b.s), 40);
    CHECK_INT(kv_store_rename(b.s, STR("none"), STR("x"), 0), ERR_NOTFOUND);
    CHECK_INT(kv_store_rename(b.s, STR("to 1"), STR("to 2"), KV_ONLY_NEW), ERR_EXISTS);
    CHECK_INT(kv_store_rename(b.s, STR("to 1"), STR("to 1"), 0), 0);
    CHECK_STR(bed_get(&b, "to 1"), "value");
    CHECK_INT(kv_store_rename(b.s, STR("to 1"), STR("to 1"), KV_ONLY_NEW), ERR_EXISTS);
    bed_close(&b);
}

static void test_rename_of_what_has_expired(void)
{
    struct kv_value v = bed_string("value");
    char from[32];
    struct bed b;

    bed_open(&b, KV_MEMORY_MIN, KV_NOEVICTION);
    for (int i = 0; i < 200; i++) {
        (void)snprintf(from, sizeof(from), "from %d", i);
        CHECK_INT(kv_store_set(b.s, str_c(from), &v, 0, 1), 0);
        CHECK_INT(kv_store_set(b.s, STR("to"), &v, 0, 1), 0);
    }
    clock_sleep_ms(3);
    for (int i = 0; i < 200; i++) {
        (void)snprintf(from, sizeof(from), "from %d", i);
        CHECK_INT(kv_store_rename(b.s, str_c(from), STR("to"), 0), ERR_NOTFOUND);
    }
    CHECK_INT(kv_store_count(b.s), 0);
    CHECK_INT(bed_stats(&b).used, 0);
    bed_close(&b);
}

static void test_copy_keeps_the_first(void)
{
    struct bed b;

    bed_open(&b, MB(16), KV_NOEVICTION);
    CHECK_INT(bed_set(&b, "a", "one"), 0);
    CHECK_INT(bed_set(&b, "b", "two"), 0);
    CHECK_INT(kv_store_copy(b.s, STR("a"), STR("b"), KV_ONLY_NEW), ERR_EXISTS);
    CHECK_INT(kv_store_copy(b.s, STR("a"), STR("c"), KV_ONLY_NEW), 0);
    CHECK_INT(kv_store_copy(b.s, STR("a"), STR("b"), 0), 0);
    CHECK_INT(kv_store_copy(b.s, STR("a"), STR("a"), 0), ERR_INVAL);
    CHECK_INT(kv_store_copy(b.s, STR("none"), STR("b"), 0), ERR_NOTFOUND);
    CHECK_STR(bed_get(&b, "a"), "one");
    CHECK_STR(bed_get(&b, "b"), "one");
    CHECK_STR(bed_get(&b, "c"), "one");
    bed_close(&b);
}

/* ---- what is known ---- */

static void test_info_tells_without_reading(void)
{
    struct kv_value n = bed_int(-1234), f = {.type = KV_FLOAT, .f = 0.1};
    struct kv_info was, now;
    char *large = mem_new(200000);
    struct kv_value v = {.type = KV_STRING, .bytes = {large, 200000}};
    enum kv_type type;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_store_info(b.s, STR("a"), &was), ERR_NOTFOUND);
    CHECK_INT(bed_set(&b, "a", "one"), 0);
    CHECK_INT(kv_store_info(b.s, STR("a"), &now), 0);
    CHECK(now.type == KV_STRING && now.length == 3 && now.bytes == 64);
    CHECK(now.version > was.version && now.until == KV_NO_TTL);
    CHECK_INT(bed_set(&b, "a", "one"), 0);
    was = now;
    CHECK_INT(kv_store_info(b.s, STR("a"), &now), 0);
    CHECK(now.version > was.version);
    CHECK_INT(kv_store_del(b.s, STR("a")), 0);
    was = now;
    CHECK_INT(kv_store_info(b.s, STR("a"), &now), ERR_NOTFOUND);
    CHECK(now.version > was.version);
    CHECK_INT(kv_store_set(b.s, STR("n"), &n, 0, 0), 0);
    CHECK_INT(kv_store_set(b.s, STR("f"), &f, 0, 0), 0);
    CHECK_INT(kv_store_set(b.s, STR("large"), &v, 0, 0), 0);
    CHECK_INT(kv_store_info(b.s, STR("n"), &now), 0);
    CHECK(now.type == KV_INT && now.length == 5);
    CHECK_INT(kv_store_info(b.s, STR("f"), &now), 0);
    CHECK(now.type == KV_FLOAT && now.length == 3);
    CHECK_INT(kv_store_info(b.s, STR("large"), &now), 0);
    CHECK(now.length == 200000 && now.bytes == 4 * KV_PAGE + 80);
    CHECK_INT(kv_store_type(b.s, STR("n"), &type), 0);
    CHECK_INT(type, KV_INT);
    CHECK_INT(kv_store_type(b.s, STR("none"), &type), ERR_NOTFOUND);
    bed_close(&b);
    mem_free(large);
}

static void test_random_key_finds_each(void)
{
    unsigned seen[50] = {0};
    char name[32];
    struct bed b;
    struct buf key = {0};

    bed_open(&b, MB(32), KV_NOEVICTION);
    CHECK_INT(kv_store_random_key(b.s, &key), ERR_NOTFOUND);
    for (int i = 0; i < 50; i++) {
        (void)snprintf(name, sizeof(name), "%d", i);
        CHECK_INT(bed_set(&b, name, name), 0);
    }
    for (int i = 0; i < 5000; i++) {
        uint64_t n = 50;

        CHECK_INT(kv_store_random_key(b.s, &key), 0);
        CHECK(str_u64(buf_str(&key), &n) == 0 && n < 50);
        seen[MIN(n, 49)]++;
    }
    for (int i = 0; i < 50; i++)
        CHECK(seen[i] > 0);
    bed_close(&b);
    buf_fini(&key);
}

/* ---- deadlines ---- */

static void test_expire_at_reads_as_it_was_set(void)
{
    int64_t now = (int64_t)(clock_wall_us() / 1000), when = 0;
    struct kv_value v = bed_string("x");
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_store_set(b.s, STR("a"), &v, KV_TTL_AT, now + 60000), 0);
    CHECK_INT(kv_store_until(b.s, STR("a"), &when), 0);
    CHECK_INT(when, now + 60000);
    for (int i = 0; i < 1000; i++) {
        CHECK_INT(kv_store_expire_at(b.s, STR("a"), now + 5000 + i * 1237, 0), 0);
        CHECK_INT(kv_store_until(b.s, STR("a"), &when), 0);
        CHECK_INT(when, now + 5000 + i * 1237);
    }
    CHECK_INT(kv_store_ttl(b.s, STR("a"), &when), 0);
    CHECK(when > 1000000 && when <= 5000 + 999 * 1237);
    CHECK_INT(kv_store_persist(b.s, STR("a")), 0);
    CHECK_INT(kv_store_until(b.s, STR("a"), &when), 0);
    CHECK_INT(when, KV_NO_TTL);
    CHECK_INT(kv_store_expire_at(b.s, STR("a"), INT64_MAX, 0), 0);
    CHECK_STR(bed_get(&b, "a"), "x");
    CHECK_INT(kv_store_expire_at(b.s, STR("a"), now - 1, 0), 0);
    CHECK_STR(bed_get(&b, "a"), "(none)");
    CHECK_INT(kv_store_expire_at(b.s, STR("a"), now + 5000, 0), ERR_NOTFOUND);
    CHECK_INT(kv_store_until(b.s, STR("a"), &when), ERR_NOTFOUND);
    CHECK_INT(kv_store_set(b.s, STR("a"), &v, KV_TTL_AT, 1000), 0);
    CHECK_STR(bed_get(&b, "a"), "(none)");
    bed_close(&b);
}

static void test_expire_at_conditions(void)
{
    static const struct {
        const char *name;
        unsigned conditions;
        int none, later, earlier; /* without a deadline; the new one later, earlier than it */
    } rows[] = {
        {"always", 0, 0, 0, 0},
        {"if none", KV_IF_NONE, 0, ERR_BUSY, ERR_BUSY},
        {"if some", KV_IF_SOME, ERR_BUSY, 0, 0},
        {"if later", KV_IF_LATER, ERR_BUSY, 0, ERR_BUSY},
        {"if earlier", KV_IF_EARLIER, 0, ERR_BUSY, 0},
        {"some and later", KV_IF_SOME | KV_IF_LATER, ERR_BUSY, 0, ERR_BUSY},
        {"some and earlier", KV_IF_SOME | KV_IF_EARLIER, ERR_BUSY, ERR_BUSY, 0},
    };
    int64_t now = (int64_t)(clock_wall_us() / 1000);
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].name);
        CHECK_INT(bed_set(&b, "a", "x"), 0);
        CHECK_INT(kv_store_expire_at(b.s, STR("a"), now + 9000, rows[i].conditions), rows[i].none);
        CHECK_INT(kv_store_expire_at(b.s, STR("a"), now + 9000, 0), 0);
        CHECK_INT(kv_store_expire_at(b.s, STR("a"), now + 9001, rows[i].conditions), rows[i].later);
        CHECK_INT(kv_store_expire_at(b.s, STR("a"), now + 9000, 0), 0);
        CHECK_INT(
            kv_store_expire_at(b.s, STR("a"), now + 8999, rows[i].conditions), rows[i].earlier);
    }
    test_row(NULL);
    bed_close(&b);
}

const struct test tests_keys[] = {TEST(test_mset_sets_all), TEST(test_mset_sets_deadlines),
    TEST(test_mset_only_new_sets_none_when_one_is_there), TEST(test_mset_without_room_sets_none),
    TEST(test_mset_of_many_evicts), TEST(test_rename_moves_value_and_deadline),
    TEST(test_rename_of_what_has_expired), TEST(test_copy_keeps_the_first),
    TEST(test_info_tells_without_reading), TEST(test_random_key_finds_each),
    TEST(test_expire_at_reads_as_it_was_set), TEST(test_expire_at_conditions), TEST_END};
