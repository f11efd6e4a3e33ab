/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "platform/clock.h"
#include "unit/kv/bed.h"

enum { KEYS = 5000 };

struct seen {
    struct bed *b;
    int times[KEYS];
    unsigned total;
    bool change;
};

static bool on_key(void *arg, struct str key)
{
    struct seen *seen = arg;
    char name[64];
    uint64_t i;

    CHECK(str_starts(key, STR("key ")));
    CHECK_INT(str_u64(str_sub(key, 4, key.len), &i), 0);
    if (i < KEYS)
        seen->times[i]++;
    seen->total++;
    if (seen->change) {
        (void)snprintf(name, sizeof(name), "other %u", seen->total);
        CHECK_INT(bed_set(seen->b, name, "new while scanning"), 0);
    }
    return true;
}

static void fill(struct bed *b)
{
    char name[64];

    for (int i = 0; i < KEYS; i++) {
        (void)snprintf(name, sizeof(name), "key %d", i);
        CHECK_INT(bed_set(b, name, "v"), 0);
    }
}

static void test_scan_reports_each_key_once(void)
{
    struct seen seen = {.change = true};
    uint64_t cursor = 0;
    unsigned calls = 0;
    struct bed b;

    bed_open(&b, MB(8), KV_NOEVICTION);
    seen.b = &b;
    fill(&b);
    do {
        kv_store_scan(b.s, &cursor, STR("key *"), 100, on_key, &seen);
        calls++;
    } while (cursor);
    CHECK_INT(seen.total, KEYS);
    for (int i = 0; i < KEYS; i++)
        CHECK_INT(seen.times[i], 1);
    CHECK(calls > 10);
    bed_close(&b);
}

static bool stop_at_once(void *arg, struct str key)
{
    ++*(int *)arg;
    return false;
}

static void test_scan_stops_and_ends(void)
{
    uint64_t cursor = 0;
    int n = 0;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    kv_store_scan(b.s, &cursor, STR("*"), 10, stop_at_once, &n);
    CHECK_INT(cursor, 0);
    CHECK_INT(n, 0);
    fill(&b);
    kv_store_scan(b.s, &cursor, STR("*"), 10, stop_at_once, &n);
    CHECK_INT(n, 1);
    cursor = UINT64_MAX;
    kv_store_scan(b.s, &cursor, STR("*"), 10, stop_at_once, &n);
    CHECK_INT(n, 1);
    CHECK_INT(cursor, 0);
    bed_close(&b);
}

static void test_scan_leaves_out_expired_keys(void)
{
    struct kv_value v = bed_string("v");
    struct seen seen = {0};
    uint64_t cursor = 0;
    char name[32];
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    for (int i = 0; i < 200; i++) {
        struct str key = str_n(name, (size_t)snprintf(name, sizeof(name), "key %d", i));

        CHECK_INT(kv_store_set(b.s, key, &v, 0, i % 4 == 0 ? 0 : 1), 0);
    }
    clock_sleep_ms(5);
    kv_store_scan(b.s, &cursor, STR("*"), SIZE_MAX, on_key, &seen);
    CHECK_INT(seen.total, 50);
    CHECK_INT(bed_stats(&b).keys, 50);
    CHECK_INT(bed_stats(&b).dropped, 0);
    bed_close(&b);
}

const struct test tests_scan[] = {TEST(test_scan_reports_each_key_once),
    TEST(test_scan_stops_and_ends), TEST(test_scan_leaves_out_expired_keys), TEST_END};
