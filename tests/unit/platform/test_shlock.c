/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <pthread.h>

#include "base/mem.h"
#include "platform/fs.h"
#include "platform/shlock.h"
#include "platform/shm.h"
#include "unit/test.h"

#define ROUNDS 20000

struct shared {
    struct shlock lock;
    uint64_t count;
};

static void test_shlock_try_says_busy(void)
{
    struct shlock *l = mem_new(2 * sizeof(*l));
    struct shlock *at = (struct shlock *)(((uintptr_t)l + 63) / 64 * 64);

    CHECK_INT(shlock_init(at), 0);
    CHECK_INT(shlock_try(at), SHLOCK_OK);
    CHECK_INT(shlock_try(at), SHLOCK_BUSY);
    shlock_unlock(at);
    CHECK_INT(shlock_lock(at), SHLOCK_OK);
    shlock_unlock(at);
    mem_free(l);
}

static void *count_up(void *arg)
{
    struct shared *s = arg;

    for (int i = 0; i < ROUNDS; i++) {
        if (shlock_lock(&s->lock) != SHLOCK_OK)
            break;
        s->count++;
        shlock_unlock(&s->lock);
    }
    return NULL;
}

static void test_shlock_excludes_threads(void)
{
    struct shared *s;
    pthread_t t[3];
    void *p;
    int fd;

    CHECK_INT(shm_create("shlock", 4096, &fd), 0);
    CHECK_INT(shm_map(fd, 4096, &p), 0);
    s = p;
    CHECK_INT(shlock_init(&s->lock), 0);
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        CHECK_INT(pthread_create(&t[i], NULL, count_up, s), 0);
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        CHECK_INT(pthread_join(t[i], NULL), 0);
    CHECK_INT(s->count, ARRAY_LEN(t) * ROUNDS);
    shm_unmap(p, 4096);
    fs_close(fd);
}

const struct test tests_shlock[] = {
    TEST(test_shlock_try_says_busy), TEST(test_shlock_excludes_threads), TEST_END};
