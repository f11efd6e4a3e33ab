/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/lock.h"

#include <pthread.h>
#include <stdio.h>

#include "platform/clock.h"
#include "platform/process.h"
#include "unit/kv/bed.h"

static int take_key(
    struct kv_store *s, const char *key, const struct kv_owner *o, int64_t timeout, bool taken_over)
{
    struct kv_lock_wait wait = {.timeout = timeout};
    int r = kv_lock_take(s, str_c(key), o, &wait);

    CHECK_INT(wait.taken_over, taken_over);
    return r;
}

static int take(struct bed *b, const struct kv_owner *o, int64_t timeout)
{
    return take_key(b->s, "l", o, timeout, false);
}

static void test_lock_has_one_owner(void)
{
    struct kv_owner one, two;
    uint64_t begin;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    kv_owner_init(&one, 1);
    kv_owner_init(&two, 2);
    CHECK(one.pid == process_id() && one.start != 0);
    CHECK_INT(kv_lock_release(b.s, STR("l"), &one), ERR_NOTFOUND);
    CHECK_INT(take(&b, &one, 0), 0);
    CHECK_INT(take(&b, &one, 0), 0);
    CHECK_INT(take(&b, &two, 0), ERR_TIMEOUT);
    begin = clock_mono_ms();
    CHECK_INT(take(&b, &two, 50), ERR_TIMEOUT);
    CHECK(clock_mono_ms() - begin >= 50);
    CHECK_INT(kv_lock_release(b.s, STR("l"), &two), ERR_BUSY);
    CHECK_INT(kv_lock_release(b.s, STR("l"), &one), 0);
    CHECK_STR(bed_get(&b, "l"), "(none)");
    CHECK_INT(take(&b, &two, 0), 0);
    CHECK_INT(kv_lock_release(b.s, STR("l"), &one), ERR_BUSY);
    bed_close(&b);
}

static void test_lock_is_not_evicted(void)
{
    static const enum kv_policy policies[] = {KV_ALLKEYS_LRU, KV_ALLKEYS_RANDOM};
    struct kv_owner one, two;
    char name[32], lock[32];
    struct bed b;

    kv_owner_init(&one, 1);
    kv_owner_init(&two, 2);
    for (size_t p = 0; p < ARRAY_LEN(policies); p++) {
        bed_open(&b, MB(2), policies[p]);
        for (int i = 0; i < 20; i++) {
            (void)snprintf(lock, sizeof(lock), "lock %d", i);
            CHECK_INT(take_key(b.s, lock, &one, 0, false), 0);
        }
        /* Of the locks' size, so that they come to lie among them. */
        for (int i = 0; i < 50000; i++) {
            (void)snprintf(name, sizeof(name), "key %d", i);
            CHECK_INT(bed_set(&b, name, "about as long as a lock"), 0);
        }
        CHECK(bed_stats(&b).evicted > 1000);
        for (int i = 0; i < 20; i++) {
            (void)snprintf(lock, sizeof(lock), "lock %d", i);
            CHECK_INT(take_key(b.s, lock, &two, 0, false), ERR_TIMEOUT);
            CHECK_INT(kv_lock_release(b.s, str_c(lock), &one), 0);
        }
        bed_close(&b);
    }
}

static void test_lock_of_the_dead_is_taken_over(void)
{
    struct kv_owner me, dead;
    struct kv_value rubbish[] = {bed_string(""), bed_string("nobody"), bed_string("1 2"),
        bed_string("-1 2 3"), bed_string("1 x 3"), bed_int(1)};
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    kv_owner_init(&me, 1);
    /* Its pid is used again, by us. */
    dead = me;
    dead.start++;
    CHECK_INT(take(&b, &dead, 0), 0);
    CHECK_INT(take_key(b.s, "l", &me, 0, true), 0);
    CHECK_INT(kv_lock_release(b.s, STR("l"), &dead), ERR_BUSY);
    CHECK_INT(kv_lock_release(b.s, STR("l"), &me), 0);
    for (size_t i = 0; i < ARRAY_LEN(rubbish); i++) {
        CHECK_INT(kv_store_set(b.s, STR("l"), &rubbish[i], 0, 0), 0);
        CHECK_INT(take_key(b.s, "l", &me, 0, true), 0);
        CHECK_INT(kv_lock_release(b.s, STR("l"), &me), 0);
    }
    bed_close(&b);
}

static bool stop_at_once(void *arg)
{
    ++*(int *)arg;
    return true;
}

static void test_lock_wait_can_be_stopped(void)
{
    struct kv_owner one, two;
    struct bed b;
    int asked = 0;
    struct kv_lock_wait wait = {.timeout = -1, .stop = stop_at_once, .arg = &asked};

    bed_open(&b, MB(2), KV_NOEVICTION);
    kv_owner_init(&one, 1);
    kv_owner_init(&two, 2);
    CHECK_INT(take(&b, &one, 0), 0);
    CHECK_INT(kv_lock_take(b.s, STR("l"), &two, &wait), ERR_INTR);
    CHECK_INT(asked, 1);
    CHECK_INT(kv_lock_release(b.s, STR("l"), &one), 0);
    CHECK_INT(kv_lock_take(b.s, STR("l"), &two, &wait), 0);
    CHECK_INT(asked, 1);
    bed_close(&b);
}

static void test_lock_needs_room(void)
{
    struct kv_value v = {.type = KV_STRING, .bytes = STR("a lock needs as much as this or more")};
    struct kv_owner me;
    char name[16];
    struct bed b;
    int r = 0;

    bed_open(&b, MB(2), KV_NOEVICTION);
    kv_owner_init(&me, 1);
    for (unsigned i = 0; r == 0; i++) {
        (void)snprintf(name, sizeof(name), "%u", i);
        r = kv_store_set(b.s, str_c(name), &v, 0, 0);
    }
    CHECK_INT(r, ERR_FULL);
    CHECK_INT(take(&b, &me, 1000), ERR_FULL);
    bed_close(&b);
}

static void test_lock_sweep_frees_those_of_the_dead(void)
{
    struct kv_owner me, dead;
    uint64_t cursor = 0;
    size_t freed = 0;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    kv_owner_init(&me, 1);
    dead = me;
    dead.start++;
    CHECK_INT(take_key(b.s, "l:dead", &dead, 0, false), 0);
    CHECK_INT(take_key(b.s, "l:mine", &me, 0, false), 0);
    CHECK_INT(take_key(b.s, "other:dead", &dead, 0, false), 0);
    CHECK_INT(bed_set(&b, "l:text", "1 is no owner"), 0);
    do {
        freed += kv_lock_sweep(b.s, &cursor, STR("l:"), 1);
    } while (cursor);
    CHECK_INT(freed, 1);
    CHECK_STR(bed_get(&b, "l:dead"), "(none)");
    CHECK(kv_store_exists(b.s, STR("l:mine")));
    CHECK(kv_store_exists(b.s, STR("other:dead")));
    CHECK(kv_store_exists(b.s, STR("l:text")));
    bed_close(&b);
}

#define THREADS 4
#ifdef EPHPM_SANITIZED
#define ROUNDS 500
#else
#define ROUNDS 5000
#endif

struct worker {
    struct kv_store *s;
    struct kv_owner me;
    unsigned *count; /* no atomic: the lock is all there is */
    pthread_t thread;
};

static void *count_under_lock(void *arg)
{
    struct worker *w = arg;

    for (unsigned i = 0; i < ROUNDS; i++) {
        CHECK_INT(take_key(w->s, "l", &w->me, 20000, false), 0);
        ++*w->count;
        CHECK_INT(kv_lock_release(w->s, STR("l"), &w->me), 0);
    }
    return NULL;
}

static void test_lock_threads_lose_no_count(void)
{
    struct worker w[THREADS];
    unsigned count = 0;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    for (unsigned i = 0; i < THREADS; i++) {
        w[i] = (struct worker){.s = kv_store_open_other(b.s), .count = &count};
        kv_owner_init(&w[i].me, i);
        CHECK_INT(pthread_create(&w[i].thread, NULL, count_under_lock, &w[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK_INT(pthread_join(w[i].thread, NULL), 0);
        kv_store_close(w[i].s);
    }
    CHECK_INT(count, THREADS * ROUNDS);
    bed_close(&b);
}

const struct test tests_lock[] = {TEST(test_lock_has_one_owner), TEST(test_lock_is_not_evicted),
    TEST(test_lock_of_the_dead_is_taken_over), TEST(test_lock_wait_can_be_stopped),
    TEST(test_lock_needs_room), TEST(test_lock_sweep_frees_those_of_the_dead),
    TEST(test_lock_threads_lose_no_count), TEST_END};
