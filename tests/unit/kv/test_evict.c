/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "kv/layout.h"
#include "platform/clock.h"
#include "unit/kv/bed.h"

#ifdef __SANITIZE_THREAD__
#define TURNOVER MB(10)
#define HELD     MB(4)
#else
#define TURNOVER MB(40)
#define HELD     MB(16)
#endif

static struct str key_of(char *p, unsigned i)
{
    return str_n(p, (size_t)snprintf(p, 32, "key %u", i));
}

/* Sets keys until one is refused or n are there; how many were set. */
static unsigned fill(struct bed *b, unsigned from, unsigned n, size_t size, int64_t ttl)
{
    char *p = mem_new(size), name[32];
    struct kv_value v = {.type = KV_STRING, .bytes = {p, size}};
    unsigned i;

    memset(p, 'x', size);
    for (i = 0; i < n; i++)
        if (kv_store_set(b->s, key_of(name, from + i), &v, 0, ttl) != 0)
            break;
    mem_free(p);
    return i;
}

static unsigned present(struct bed *b, unsigned from, unsigned n)
{
    unsigned there = 0;
    char name[32];

    for (unsigned i = 0; i < n; i++)
        there += kv_store_exists(b->s, key_of(name, from + i));
    return there;
}

static void test_evict_noeviction_refuses_and_keeps(void)
{
    struct kv_value v = bed_string("a longer value than the one before, which it shall replace");
    unsigned n;
    char name[32];
    struct bed b;

    bed_open(&b, MB(4), KV_NOEVICTION);
    n = fill(&b, 0, 1000000, 100, 0);
    CHECK(n > MB(4) / 300 && n < MB(4) / 100);
    CHECK_INT(kv_store_set(b.s, STR("more"), &v, 0, 0), ERR_FULL);
    CHECK_INT(present(&b, 0, n), n);
    CHECK_INT(bed_stats(&b).keys, n);
    CHECK_INT(bed_stats(&b).evicted, 0);
    CHECK(bed_stats(&b).used > MB(4) / 10 * 9);
    /* Room again, at once. */
    for (unsigned i = 0; i < 10; i++)
        CHECK_INT(kv_store_del(b.s, key_of(name, n - 1 - i)), 0);
    CHECK_INT(fill(&b, n - 10, 10, 100, 0), 10);
    bed_close(&b);
}

static void test_evict_lru_keeps_what_is_read(void)
{
    enum { HOT = 500, ROUNDS = 60 };
    struct bed b;

    bed_open(&b, MB(4), KV_ALLKEYS_LRU);
    CHECK_INT(fill(&b, 0, HOT, 100, 0), HOT);
    for (unsigned i = 0; i < ROUNDS; i++) {
        CHECK_INT(fill(&b, 1000 + i * 2000, 2000, 100, 0), 2000);
        (void)present(&b, 0, HOT);
    }
    CHECK(present(&b, 0, HOT) > HOT * 9 / 10);
    CHECK(bed_stats(&b).evicted > 50000);
    CHECK(bed_stats(&b).used <= MB(4));
    bed_close(&b);
}

static void test_evict_random_takes_all_alike(void)
{
    unsigned there;
    struct bed b;

    bed_open(&b, MB(4), KV_ALLKEYS_RANDOM);
    CHECK_INT(fill(&b, 0, 60000, 100, 0), 60000);
    there = present(&b, 0, 60000);
    CHECK_INT(there, bed_stats(&b).keys);
    CHECK(there > 10000);
    /* Not the oldest alone. */
    CHECK(present(&b, 0, 20000) > 50);
    bed_close(&b);
}

static void test_evict_volatile_spares_keys_without_deadline(void)
{
    struct bed b;
    unsigned n;

    bed_open(&b, MB(4), KV_VOLATILE_LRU);
    CHECK_INT(fill(&b, 0, 5000, 100, 0), 5000);
    CHECK_INT(fill(&b, 10000, 50000, 100, 1000000), 50000);
    CHECK_INT(present(&b, 0, 5000), 5000);
    CHECK(bed_stats(&b).evicted > 20000);
    /* Without any that may go it is full. */
    n = fill(&b, 100000, 1000000, 100, 0);
    CHECK(n < 100000);
    CHECK_INT(present(&b, 100000, n), n);
    CHECK_INT(present(&b, 0, 5000), 5000);
    bed_close(&b);
}

static void test_evict_expired_goes_first(void)
{
    struct bed b;
    unsigned n;

    bed_open(&b, MB(4), KV_NOEVICTION);
    CHECK_INT(fill(&b, 0, 4000, 100, 1), 4000);
    n = fill(&b, 10000, 8000, 100, 0);
    CHECK_INT(n, 8000);
    clock_sleep_ms(5);
    CHECK_INT(fill(&b, 20000, 8000, 100, 0), 8000);
    CHECK_INT(bed_stats(&b).evicted, 0);
    kv_store_sweep(b.s, SIZE_MAX);
    CHECK_INT(bed_stats(&b).keys, 16000);
    CHECK_INT(bed_stats(&b).expired, 4000);
    bed_close(&b);
}

/* Memory that small values hold becomes large ones', and the other way round. */
static void test_evict_sizes_change(void)
{
    static const size_t sizes[] = {20, 30000, 300, 700000, 100, 65000, 5000, 1000000, 8};
    struct bed b;

    bed_open(&b, HELD, KV_ALLKEYS_LRU);
    for (unsigned i = 0; i < ARRAY_LEN(sizes); i++) {
        unsigned n = (unsigned)(TURNOVER / (sizes[i] + 100));

        CHECK_INT(fill(&b, i * 1000000, n, sizes[i], 0), n);
        CHECK_INT(present(&b, i * 1000000 + n - 1, 1), 1);
        /* Most of the memory is theirs by now. */
        CHECK(present(&b, i * 1000000, n) * (sizes[i] + 80) > HELD / 3);
    }
    CHECK_INT(bed_stats(&b).dropped, 0);
    kv_store_flush(b.s);
    CHECK_INT(bed_stats(&b).used, 0);
    bed_close(&b);
}

/* Who gives a page back may be killed before it says so; whoever needed one looked for it for ever.
 */
static void test_evict_finds_a_page_that_was_given_back_in_silence(void)
{
    char name[32];
    struct bed b;
    unsigned n;

    bed_open(&b, MB(2), KV_NOEVICTION);
    n = fill(&b, 0, 1000000, 60000, 0);
    CHECK(n > 10);
    CHECK_INT(kv_store_del(b.s, key_of(name, 3)), 0);
    atomic_store(&b.s->h->scanned, atomic_load(&b.s->h->freed));
    CHECK_INT(fill(&b, n, 1, 60000, 0), 1);
    CHECK_INT(fill(&b, n + 1, 1, 60000, 0), 0);
    bed_close(&b);
}

const struct test tests_evict[] = {TEST(test_evict_finds_a_page_that_was_given_back_in_silence),
    TEST(test_evict_noeviction_refuses_and_keeps), TEST(test_evict_lru_keeps_what_is_read),
    TEST(test_evict_random_takes_all_alike), TEST(test_evict_volatile_spares_keys_without_deadline),
    TEST(test_evict_expired_goes_first), TEST(test_evict_sizes_change), TEST_END};
