/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Locks between processes that are killed while they hold one. */
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kv/lock.h"
#include "platform/clock.h"
#include "unit/kv/bed.h"

#define WAITERS 4

/* What the processes share besides the store. */
struct seen {
    _Atomic unsigned inside; /* owners of the lock now */
    _Atomic unsigned most;
    _Atomic unsigned taken;
};

static struct seen *seen_new(void)
{
    return mmap(
        NULL, sizeof(struct seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* A child that takes the lock, stays in it, and ends; stay < 0: until it is killed. */
static pid_t start(struct bed *b, struct seen *seen, int stay_ms)
{
    struct kv_lock_wait wait = {.timeout = 60000};
    pid_t pid = fork();
    struct kv_owner me;
    unsigned n;

    if (pid != 0)
        return pid;
    kv_store_after_fork(b->s);
    kv_owner_init(&me, 0);
    if (kv_lock_take(b->s, STR("l"), &me, &wait) != 0)
        _exit(1);
    n = atomic_fetch_add(&seen->inside, 1) + 1;
    if (n > atomic_load(&seen->most))
        atomic_store(&seen->most, n);
    atomic_fetch_add(&seen->taken, 1);
    if (stay_ms < 0)
        for (;;)
            (void)pause();
    (void)usleep((useconds_t)stay_ms * 1000);
    atomic_fetch_sub(&seen->inside, 1);
    _exit(kv_lock_release(b->s, STR("l"), &me) != 0);
}

static void wait_for(const _Atomic unsigned *n, unsigned want)
{
    for (int i = 0; i < 60000 && atomic_load(n) != want; i++)
        (void)usleep(1000);
    CHECK_INT(atomic_load(n), want);
}

static void test_lock_of_a_killed_process_goes_to_one_waiter_at_a_time(void)
{
    struct seen *seen = seen_new();
    pid_t owner, waiter[WAITERS];
    int status;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    owner = start(&b, seen, -1);
    wait_for(&seen->taken, 1);
    for (int i = 0; i < WAITERS; i++)
        waiter[i] = start(&b, seen, 20);
    (void)usleep(50000);
    CHECK_INT(atomic_load(&seen->taken), 1);
    atomic_store(&seen->inside, 0);
    /* Nobody reaps it yet: a zombie is dead as well. */
    CHECK_INT(kill(owner, SIGKILL), 0);
    wait_for(&seen->taken, 2);
    for (int i = 0; i < WAITERS; i++) {
        CHECK(waitpid(waiter[i], &status, 0) == waiter[i]);
        CHECK_INT(status, 0);
    }
    CHECK_INT(atomic_load(&seen->most), 1);
    CHECK_INT(atomic_load(&seen->taken), 1 + WAITERS);
    CHECK_STR(bed_get(&b, "l"), "(none)");
    CHECK(waitpid(owner, &status, 0) == owner);
    bed_close(&b);
    CHECK_INT(munmap(seen, sizeof(*seen)), 0);
}

/* A signal stops the wait only if the caller says so. */
static void on_alarm(int sig)
{
}

static bool stop_at_fiftieth(void *arg)
{
    return ++*(int *)arg == 50;
}

static void test_lock_wait_asks_after_a_signal(void)
{
    struct sigaction act = {.sa_handler = on_alarm}, old;
    struct seen *seen = seen_new();
    int asked = 0, status;
    struct kv_lock_wait wait = {.timeout = -1, .stop = stop_at_fiftieth, .arg = &asked};
    struct kv_owner me;
    uint64_t begin;
    pid_t owner;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    kv_owner_init(&me, 1);
    owner = start(&b, seen, -1);
    wait_for(&seen->taken, 1);
    CHECK_INT(sigaction(SIGALRM, &act, &old), 0);
    (void)ualarm(5000, 5000);
    begin = clock_mono_ms();
    CHECK_INT(kv_lock_take(b.s, STR("l"), &me, &wait), ERR_INTR);
    (void)ualarm(0, 0);
    CHECK_INT(asked, 50);
    /* More often than it would have been by its own looks. */
    CHECK(clock_mono_ms() - begin < 48 * KV_LOCK_LOOK_MS);
    CHECK_INT(sigaction(SIGALRM, &old, NULL), 0);
    CHECK_INT(kill(owner, SIGKILL), 0);
    CHECK(waitpid(owner, &status, 0) == owner);
    bed_close(&b);
    CHECK_INT(munmap(seen, sizeof(*seen)), 0);
}

const struct test tests_lock_process[] = {
    TEST(test_lock_of_a_killed_process_goes_to_one_waiter_at_a_time),
    TEST(test_lock_wait_asks_after_a_signal), TEST_END};
