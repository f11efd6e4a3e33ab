/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* The store between threads on one mapping, so that the thread sanitizer sees what they share. */
#include <pthread.h>

#include "base/mem.h"
#include "kv/shard.h"
#include "torture/coll.h"
#include "unit/kv/bed.h"

#ifdef EPHPM_SANITIZED
#define STEPS 20000
#else
#define STEPS 200000
#endif
#define THREADS 4
#define STUCK   20000 /* ms: then something is lost */

struct worker {
    struct bed *b;
    struct kv_store *s;
    unsigned number;
    pthread_t thread;
};

static void run(struct bed *b, struct worker *w, unsigned n, void *(*fn)(void *))
{
    for (unsigned i = 0; i < n; i++) {
        w[i] = (struct worker){.b = b, .s = kv_store_open_other(b->s), .number = i};
        CHECK_INT(pthread_create(&w[i].thread, NULL, fn, &w[i]), 0);
    }
    for (unsigned i = 0; i < n; i++) {
        CHECK_INT(pthread_join(w[i].thread, NULL), 0);
        kv_store_close(w[i].s);
    }
}

/* All bytes of a value are the same, and its length tells which. */
static bool is_whole(struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((unsigned char)s.p[i] != s.len % 251)
            return false;
    return true;
}

static void *mix(void *arg)
{
    struct worker *w = arg;
    static const size_t sizes[] = {10, 100, 1000, 3000, 150000};
    uint64_t random = 88172645463325252u + w->number;
    struct kv_value v = {.type = KV_STRING}, got;
    char *p = mem_new(sizes[4]), name[32];
    struct buf buf = {0};
    int r;

    for (unsigned i = 0; i < STEPS; i++) {
        struct str key;

        random = random * 6364136223846793005u + 1442695040888963407u;
        key = str_n(name, (size_t)snprintf(name, sizeof(name), "%u", (unsigned)(random >> 55)));
        switch (random >> 40 & 15) {
        case 0:
            (void)!kv_store_del(w->s, key);
            break;
        case 1:
        case 2:
        case 3:
        case 4:
            v.bytes.len = (random >> 32 & 7) == 0 ? sizes[4] : sizes[random >> 36 & 3];
            memset(p, (int)(v.bytes.len % 251), v.bytes.len);
            v.bytes.p = p;
            r = kv_store_set(w->s, key, &v, 0, random >> 20 & 1);
            CHECK(r == 0 || r == ERR_FULL);
            break;
        case 5:
            (void)!kv_store_expire(w->s, key, 1);
            break;
        default:
            if (kv_store_get(w->s, key, &buf, &got) == 0)
                CHECK(is_whole(got.bytes));
            break;
        }
    }
    buf_fini(&buf);
    mem_free(p);
    return NULL;
}

/* More than fits: shards take memory from one another. */
static void test_threads_see_whole_values(void)
{
    struct worker w[THREADS];
    struct bed b;

    bed_open(&b, MB(8), KV_ALLKEYS_LRU);
    run(&b, w, THREADS, mix);
    CHECK(bed_stats(&b).evicted > 100);
    CHECK_INT(bed_stats(&b).dropped, 0);
    CHECK_INT(bed_stats(&b).repaired, 0);
    kv_store_flush(b.s);
    CHECK_INT(bed_stats(&b).used, 0);
    bed_close(&b);
}

static void *add(void *arg)
{
    struct worker *w = arg;
    int64_t n;

    for (unsigned i = 0; i < STEPS; i++)
        CHECK_INT(kv_store_incr(w->s, STR("n"), 1, &n), 0);
    return NULL;
}

static void test_threads_lose_no_increment(void)
{
    struct worker w[THREADS];
    int64_t n;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    run(&b, w, THREADS, add);
    CHECK_INT(kv_store_incr(b.s, STR("n"), 0, &n), 0);
    CHECK_INT(n, THREADS * STEPS);
    bed_close(&b);
}

/* One key whose large value is always being replaced. */
static void *replace_or_read(void *arg)
{
    struct worker *w = arg;
    struct kv_value v = {.type = KV_STRING}, got;
    static const size_t sizes[] = {60000, 59000, 20000, 200000};
    size_t size = sizes[w->number / 2 % ARRAY_LEN(sizes)];
    struct buf buf = {0};
    char *p = mem_new(size);

    for (unsigned i = 0; i < STEPS / 10; i++) {
        if (w->number % 2 == 0) {
            v.bytes = str_n(p, size - i % 7);
            memset(p, (int)(v.bytes.len % 251), v.bytes.len);
            CHECK_INT(kv_store_set(w->s, STR("hot"), &v, 0, 0), 0);
        } else if (kv_store_get(w->s, STR("hot"), &buf, &got) == 0) {
            CHECK(is_whole(got.bytes));
        }
    }
    buf_fini(&buf);
    mem_free(p);
    return NULL;
}

static void test_threads_read_a_value_that_is_replaced(void)
{
    struct worker w[8];
    struct bed b;

    bed_open(&b, MB(2), KV_ALLKEYS_LRU);
    run(&b, w, ARRAY_LEN(w), replace_or_read);
    CHECK_INT(bed_stats(&b).dropped, 0);
    bed_close(&b);
}

/* A name whose chain is that of "always", or is not. */
static struct str name_in_chain(struct kv_store *s, char *p, bool same, unsigned *n)
{
    for (;; ++*n) {
        struct str key = str_n(p, (size_t)snprintf(p, 32, "x %u", *n));

        if ((kv_bucket_of(s, kv_hash(s, key)) == kv_bucket_of(s, kv_hash(s, STR("always")))) ==
            same)
            return key;
    }
}

/* Keys before "always" in its chain come and go; their blocks are used again in other chains. A
 * number beside it goes up only. */
static void *churn_or_watch(void *arg)
{
    struct worker *w = arg;
    char name[32], elsewhere[32];
    struct kv_value v = bed_string("v"), got;
    unsigned n1 = w->number * 1000000, n2 = n1;
    struct str beside = name_in_chain(w->s, name, true, &n1);
    struct str other = name_in_chain(w->s, elsewhere, false, &n2);
    struct buf buf = {0};
    int64_t last = 0, n;

    for (unsigned i = 0; i < STEPS; i++) {
        if (w->number == 0)
            CHECK_INT(kv_store_incr(w->s, STR("up"), 1, &n), 0);
        if (w->number < 2) {
            CHECK_INT(kv_store_set(w->s, beside, &v, 0, 0), 0);
            CHECK_INT(kv_store_del(w->s, beside), 0);
            CHECK_INT(kv_store_set(w->s, other, &v, 0, 0), 0);
            CHECK_INT(kv_store_del(w->s, other), 0);
            continue;
        }
        CHECK(kv_store_exists(w->s, STR("always")));
        CHECK_INT(kv_store_get(w->s, STR("up"), &buf, &got), 0);
        CHECK(got.i >= last);
        last = got.i;
    }
    buf_fini(&buf);
    return NULL;
}

static void test_threads_miss_no_key_that_is_there(void)
{
    struct worker w[THREADS];
    struct kv_value zero = bed_int(0);
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(bed_set(&b, "always", "there"), 0);
    CHECK_INT(kv_store_set(b.s, STR("up"), &zero, 0, 0), 0);
    run(&b, w, THREADS, churn_or_watch);
    bed_close(&b);
}

/* Two threads hand a number to and fro, each waiting for the other's. */
static void *ping_pong(void *arg)
{
    struct worker *w = arg;
    struct str mine = w->number ? STR("pong") : STR("ping");
    struct str other = w->number ? STR("ping") : STR("pong");
    struct buf buf = {0};
    struct kv_value got;
    uint64_t version = 0;
    int64_t n, seen;

    for (int i = 1; i <= STEPS / 20; i++) {
        if (w->number == 0)
            CHECK_INT(kv_store_incr(w->s, mine, 1, &n), 0);
        for (seen = 0; seen < i && !test_failures;) {
            int r = kv_store_wait(w->s, other, version, STUCK, &buf, &got, &version);

            CHECK(r == 0 || r == ERR_NOTFOUND || r == ERR_INTR);
            seen = r ? 0 : got.i;
        }
        if (w->number == 1)
            CHECK_INT(kv_store_incr(w->s, mine, 1, &n), 0);
    }
    buf_fini(&buf);
    return NULL;
}

static void test_threads_wait_misses_no_change(void)
{
    struct worker w[2];
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    run(&b, w, 2, ping_pong);
    bed_close(&b);
}

/* Collections change while others read strings, whose blocks lie among theirs. */
static void *mix_collections(void *arg)
{
    struct worker *w = arg;
    uint64_t random = 88172645463325252u + w->number;
    struct kv_value v = {.type = KV_STRING}, got;
    struct buf buf = {0};
    char p[300], name[32];

    for (unsigned i = 0; i < STEPS / 2; i++) {
        struct str key;
        int r;

        random = random * 6364136223846793005u + 1442695040888963407u;
        key = str_n(name, (size_t)snprintf(name, sizeof(name), "%u", (unsigned)(random >> 59)));
        switch (random >> 40 & 3) {
        case 0:
            v.bytes = str_n(p, random >> 33 & 127);
            memset(p, (int)(v.bytes.len % 251), v.bytes.len);
            r = kv_store_set(w->s, key, &v, 0, 0);
            CHECK(r == 0 || r == ERR_FULL); /* collections without a deadline may have all pages */
            break;
        case 1:
            if (kv_store_get(w->s, key, &buf, &got) == 0)
                CHECK(is_whole(got.bytes));
            (void)kv_store_exists(w->s, STR("coll:5:0"));
            CHECK(kv_store_get(w->s, STR("coll:5:0"), &buf, &got) != 0);
            break;
        default:
            CHECK(coll_step(w->s, random >> 3));
            break;
        }
    }
    buf_fini(&buf);
    return NULL;
}

static void test_threads_keep_collections_consistent(void)
{
    struct worker w[THREADS];
    struct bed b;

    bed_open(&b, MB(8), KV_VOLATILE_LRU);
    run(&b, w, THREADS, mix_collections);
    CHECK(coll_check_all(b.s));
    CHECK_INT(bed_stats(&b).dropped, 0);
    kv_store_flush(b.s);
    CHECK_INT(bed_stats(&b).used, 0);
    bed_close(&b);
}

#define LARGE 1000 /* elements: more than are freed at once */

/* Two keys of collections that are replaced before the last ones are freed, in a store that has
 * room for a few; one thread does nothing but free. */
static void *replace_large(void *arg)
{
    static const enum kv_type kinds[] = {KV_SET, KV_HASH, KV_ZSET, KV_LIST};
    struct worker *w = arg;
    struct kv_item *items = mem_new(LARGE * sizeof(*items));
    char(*names)[16] = mem_new(LARGE * sizeof(*names));
    uint64_t len;

    for (unsigned i = 0; i < LARGE; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "%u", i);
        items[i] =
            (struct kv_item){.member = str_c(names[i]), .score = i, .value = bed_string(names[i])};
    }
    for (unsigned i = 0; i < STEPS / 1000; i++) {
        struct str key = i & 1 ? STR("large 1") : STR("large 2");
        enum kv_type kind = kinds[(i + w->number) % ARRAY_LEN(kinds)];
        int r;

        if (w->number == 0) {
            (void)kv_store_reclaim(w->s, 2);
            continue;
        }
        CHECK_INT(kv_coll_replace(w->s, key, kind, items, LARGE, 0), 0);
        r = kv_coll_len(w->s, key, kind, &len);
        CHECK(r == ERR_TYPE || (r == 0 && (len == LARGE || len == 0)));
        if (i % 3 == 0)
            (void)!kv_store_del(w->s, key); /* another may have been faster */
    }
    mem_free(names);
    mem_free(items);
    return NULL;
}

static void test_threads_free_large_collections(void)
{
    struct worker w[THREADS];
    struct bed b;

    bed_open(&b, MB(4), KV_NOEVICTION);
    run(&b, w, THREADS, replace_large);
    (void)!kv_store_del(b.s, STR("large 1"));
    (void)!kv_store_del(b.s, STR("large 2"));
    bed_reclaim(&b);
    CHECK_INT(bed_stats(&b).used, 0);
    CHECK_INT(bed_stats(&b).dropped, 0);
    bed_close(&b);
}

const struct test tests_threads[] = {TEST(test_threads_see_whole_values),
    TEST(test_threads_lose_no_increment), TEST(test_threads_read_a_value_that_is_replaced),
    TEST(test_threads_miss_no_key_that_is_there), TEST(test_threads_wait_misses_no_change),
    TEST(test_threads_keep_collections_consistent), TEST(test_threads_free_large_collections),
    TEST_END};
