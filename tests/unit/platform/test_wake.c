/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/wake.h"

#include <pthread.h>

#include "platform/clock.h"
#include "unit/test.h"

extern const struct test tests_wake[];

static void test_wake_wait_ends_at_once_when_the_word_differs(void)
{
    _Atomic uint32_t word = 5;

    CHECK_INT(wake_wait(&word, 4, -1), 0);
    CHECK_INT(wake_wait(&word, 5, 0), ERR_TIMEOUT);
    CHECK_INT(wake_wait(&word, 5, 20), ERR_TIMEOUT);
}

static void *wake_ping(void *arg)
{
    _Atomic uint32_t *words = arg;

    for (uint32_t i = 1; i <= 1000; i++) {
        /* release: pairs with the acquire of the loop in the test */
        atomic_store_explicit(&words[0], i, memory_order_release);
        wake_word(&words[0], 1);
        while (atomic_load_explicit(&words[1], memory_order_acquire) != i)
            if (wake_wait(&words[1], i - 1, 5000) != 0)
                return arg;
    }
    return NULL;
}

static void test_wake_threads_play_ping_pong(void)
{
    _Atomic uint32_t words[2] = {0, 0};
    pthread_t t;
    void *failed = NULL;

    CHECK_INT(pthread_create(&t, NULL, wake_ping, words), 0);
    for (uint32_t i = 1; i <= 1000; i++) {
        int rc = 0;

        /* acquire: pairs with the release in wake_ping */
        while (rc == 0 && atomic_load_explicit(&words[0], memory_order_acquire) != i)
            rc = wake_wait(&words[0], i - 1, 5000);
        CHECK_INT(rc, 0);
        if (rc)
            break;
        atomic_store_explicit(&words[1], i, memory_order_release);
        wake_word(&words[1], 1);
    }
    CHECK_INT(pthread_join(t, &failed), 0);
    CHECK(failed == NULL);
}

const struct test tests_wake[] = {
    TEST(test_wake_wait_ends_at_once_when_the_word_differs),
    TEST(test_wake_threads_play_ping_pong),
    TEST_END,
};
