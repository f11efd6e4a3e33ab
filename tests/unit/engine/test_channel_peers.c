/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* The channel between two threads and between two processes, one of which is killed or hostile. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/channel.h"
#include "platform/clock.h"
#include "platform/wake.h"
#include "unit/engine/channel_pair.h"
#include "unit/test.h"

#ifdef EPHPM_SANITIZED
#define MESSAGES 60000
#define ROUNDS   20
#else
#define MESSAGES 1000000
#define ROUNDS   100
#endif
#define KB64  (64u << 10)
#define STUCK 20000 /* ms: then something is lost */

struct duo {
    struct pair t;
    int bell;
    char *pattern;
    size_t max;
};

static void duo_open(struct duo *d)
{
    pair_open(&d->t, KB64, KB64);
    channel_close(d->t.worker);
    d->t.worker = channel_open_other(d->t.front);
    CHECK_INT(wake_bell_open(&d->bell), 0);
    d->pattern = mem_new(PAIR_PATTERN);
    pair_pattern(d->pattern);
    d->max = channel_max_data(d->t.front);
}

static void duo_close(struct duo *d)
{
    pair_close(&d->t);
    fs_close(d->bell);
    mem_free(d->pattern);
}

static void worker_publish(struct duo *d)
{
    if (channel_publish(d->t.worker))
        wake_bell_ring(d->bell);
}

static int worker_answer(struct duo *d, uint64_t id)
{
    struct str data = pair_data(d->pattern, id * 3, d->max);
    int r = channel_put(d->t.worker, CHANNEL_DATA, 0, id, &data, 1);

    while (r == ERR_AGAIN) {
        worker_publish(d);
        r = channel_wait_room(d->t.worker, data.len, STUCK);
        if (r == 0)
            r = channel_put(d->t.worker, CHANNEL_DATA, 0, id, &data, 1);
        else if (r == ERR_INTR)
            r = ERR_AGAIN;
    }
    return r;
}

/* Answers each message with one that follows from its id; publishes when there is nothing to read.
 */
static void *worker_thread(void *arg)
{
    struct duo *d = arg;
    struct channel_msg msg;
    const char *data;
    uint64_t next = 0;
    int r = 0;

    while (r == 0) {
        r = channel_peek(d->t.worker, &msg, &data);
        if (r == ERR_AGAIN) {
            if (channel_release(d->t.worker))
                wake_bell_ring(d->bell);
            worker_publish(d);
            do
                r = channel_wait_message(d->t.worker, STUCK);
            while (r == ERR_INTR);
            continue;
        }
        if (r < 0)
            break;
        CHECK_INT(msg.id, next);
        next++;
        if (msg.type == CHANNEL_STOP)
            return NULL;
        CHECK(str_eq(str_n(data, msg.len), pair_data(d->pattern, msg.id, d->max)));
        channel_take(d->t.worker);
        if (msg.id % 3 == 0 && channel_release(d->t.worker))
            wake_bell_ring(d->bell);
        r = worker_answer(d, msg.id);
    }
    CHECK_INT(r, 0);
    return NULL;
}

static void front_publish(struct duo *d)
{
    if (channel_publish(d->t.front))
        channel_ring_worker(d->t.front);
}

/* Takes what there is. */
static bool front_receive(struct duo *d, uint64_t *got)
{
    struct channel_msg msg;
    const char *data;
    bool any = false;
    int r;

    while ((r = channel_peek(d->t.front, &msg, &data)) == 0) {
        CHECK_INT(msg.id, *got);
        CHECK(str_eq(str_n(data, msg.len), pair_data(d->pattern, msg.id * 3, d->max)));
        channel_take(d->t.front);
        (*got)++;
        any = true;
    }
    CHECK_INT(r, ERR_AGAIN);
    if (channel_release(d->t.front))
        channel_ring_worker(d->t.front);
    return any;
}

static bool front_send(struct duo *d, uint64_t *sent, uint64_t batch)
{
    bool any = false;

    for (; batch > 0 && *sent < MESSAGES; batch--, (*sent)++) {
        struct str data = pair_data(d->pattern, *sent, d->max);

        if (channel_put(d->t.front, CHANNEL_BODY, 0, *sent, &data, 1) < 0)
            break;
        any = true;
    }
    front_publish(d);
    return any;
}

/* As the event loop does: announce, then poll. False when stuck. */
static bool front_sleep(struct duo *d, uint64_t sent)
{
    struct pollfd p = {.fd = d->bell, .events = POLLIN};
    size_t n = sent < MESSAGES ? pair_data(d->pattern, sent, d->max).len : d->max;
    bool idle = channel_prepare_sleep(d->t.front);
    int r = 1;

    if (idle && (sent == MESSAGES || channel_prepare_room(d->t.front, n)))
        r = poll(&p, 1, STUCK);
    channel_cancel_sleep(d->t.front);
    wake_bell_clear(d->bell);
    return r > 0;
}

static void test_channel_two_threads_exchange_messages(void)
{
    uint64_t sent = 0, got = 0, state = 7;
    pthread_t thread;
    struct duo d;

    duo_open(&d);
    CHECK_INT(pthread_create(&thread, NULL, worker_thread, &d), 0);
    while (got < MESSAGES) {
        bool any = front_receive(&d, &got);

        any |= front_send(&d, &sent, 1 + pair_random(&state) % 40);
        if (!any && !front_sleep(&d, sent)) {
            test_fail(__FILE__, __LINE__, "stuck: sent %llu, got %llu", (unsigned long long)sent,
                (unsigned long long)got);
            break;
        }
    }
    CHECK_INT(channel_put(d.t.front, CHANNEL_STOP, 0, sent, NULL, 0), 0);
    front_publish(&d);
    CHECK_INT(pthread_join(thread, NULL), 0);
    duo_close(&d);
}

#define TRIPS (MESSAGES / 10)

/* Moves the two sides against each other by a random bit, so that announcing and publishing meet.
 */
static void dawdle(uint64_t *state)
{
    for (volatile uint64_t n = pair_random(state) % 600; n > 0; n--)
        ;
}

static void *echo_thread(void *arg)
{
    struct duo *d = arg;
    struct channel_msg msg;
    const char *data;
    uint64_t state = 3;
    int r;

    for (int i = 0; i < TRIPS; i++) {
        do
            r = channel_wait_message(d->t.worker, STUCK);
        while (r == ERR_INTR);
        if (r == 0)
            r = channel_peek(d->t.worker, &msg, &data);
        CHECK_INT(r, 0);
        if (r < 0)
            break;
        channel_take(d->t.worker);
        (void)!channel_release(d->t.worker);
        dawdle(&state);
        CHECK_INT(channel_put(d->t.worker, CHANNEL_DONE, 0, msg.id, NULL, 0), 0);
        worker_publish(d);
    }
    return NULL;
}

static void test_channel_loses_no_wake_up(void)
{
    uint64_t state = 5;
    pthread_t thread;
    struct duo d;

    duo_open(&d);
    CHECK_INT(pthread_create(&thread, NULL, echo_thread, &d), 0);
    for (uint64_t i = 0; i < TRIPS; i++) {
        struct channel_msg msg;
        const char *data;
        int r;

        CHECK_INT(channel_put(d.t.front, CHANNEL_BODY, 0, i, NULL, 0), 0);
        front_publish(&d);
        dawdle(&state);
        while ((r = channel_peek(d.t.front, &msg, &data)) == ERR_AGAIN)
            if (!front_sleep(&d, MESSAGES))
                break;
        CHECK_INT(r, 0);
        if (r < 0)
            break;
        CHECK_INT(msg.id, i);
        channel_take(d.t.front);
        (void)!channel_release(d.t.front);
    }
    CHECK_INT(pthread_join(thread, NULL), 0);
    duo_close(&d);
}

/* Messages of which two fill the ring: each has to wait for room. */
static void *big_thread(void *arg)
{
    struct duo *d = arg;
    struct str data = {d->pattern, d->max};
    uint64_t state = 9;
    int r = 0;

    for (uint64_t i = 0; i < TRIPS && r == 0; i++) {
        while ((r = channel_put(d->t.worker, CHANNEL_DATA, 0, i, &data, 1)) == ERR_AGAIN) {
            dawdle(&state);
            r = channel_wait_room(d->t.worker, data.len, STUCK);
            if (r < 0 && r != ERR_INTR)
                break;
        }
        worker_publish(d);
    }
    CHECK_INT(r, 0);
    return NULL;
}

static void test_channel_loses_no_room(void)
{
    uint64_t state = 11;
    pthread_t thread;
    struct duo d;
    int r = 0;

    duo_open(&d);
    CHECK_INT(pthread_create(&thread, NULL, big_thread, &d), 0);
    for (uint64_t i = 0; i < TRIPS && r == 0; i++) {
        struct channel_msg msg;
        const char *data;

        while ((r = channel_peek(d.t.front, &msg, &data)) == ERR_AGAIN)
            if (!front_sleep(&d, MESSAGES))
                break;
        CHECK_INT(r, 0);
        if (r < 0)
            break;
        CHECK_INT(msg.id, i);
        CHECK(msg.len == d.max && data[msg.len - 1] == d.pattern[d.max - 1]);
        channel_take(d.t.front);
        dawdle(&state);
        if (channel_release(d.t.front))
            channel_ring_worker(d.t.front);
    }
    CHECK_INT(pthread_join(thread, NULL), 0);
    duo_close(&d);
}

static void *cancelled_thread(void *arg)
{
    struct duo *d = arg;
    int r;

    while (channel_get_cancel(d->t.worker, 5) == CHANNEL_CANCEL_NONE) {
        r = channel_wait_message(d->t.worker, STUCK);
        CHECK_INT(r, ERR_INTR);
        if (r != ERR_INTR)
            break;
    }
    CHECK_INT(channel_get_cancel(d->t.worker, 5), CHANNEL_CANCEL_TIMEOUT);
    return NULL;
}

static void test_channel_cancel_wakes_a_sleeping_worker(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t thread;
        struct duo d;

        duo_open(&d);
        CHECK_INT(pthread_create(&thread, NULL, cancelled_thread, &d), 0);
        if (i % 2)
            usleep(200);
        channel_set_cancel(d.t.front, 5, CHANNEL_CANCEL_TIMEOUT);
        CHECK_INT(pthread_join(thread, NULL), 0);
        duo_close(&d);
    }
}

static void child_run(struct duo *d)
{
    for (uint64_t id = 0;; id++) {
        if (worker_answer(d, id) < 0)
            _exit(1);
        if (id % 5 == 0)
            worker_publish(d);
    }
}

/* Reads until the child has been dead for a round of reading; everything must be whole and in
 * order. */
static uint64_t read_from_dying(struct duo *d, pid_t child, uint64_t kill_ns)
{
    uint64_t got = 0, deadline = clock_mono_ns() + kill_ns;
    bool dead = false, any = true;
    int status = 0;

    while (!dead || any) {
        any = front_receive(d, &got);
        if (dead || clock_mono_ns() < deadline)
            continue;
        CHECK_INT(kill(child, SIGKILL), 0);
        CHECK_INT(waitpid(child, &status, 0), child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        dead = any = true;
    }
    return got;
}

static void test_channel_survives_a_worker_killed_at_any_instant(void)
{
    uint64_t state = clock_mono_ns() | 1, total = 0;

    for (int i = 0; i < ROUNDS; i++) {
        struct duo d;
        pid_t child;

        duo_open(&d);
        child = fork();
        CHECK(child >= 0);
        if (child == 0)
            child_run(&d);
        if (child > 0)
            total += read_from_dying(&d, child, pair_random(&state) % 4000000);
        duo_close(&d);
    }
    CHECK(total > 0);
}

/* Writes everywhere: sometimes noise, sometimes near misses. */
static void hostile_run(struct duo *d, uint64_t state)
{
    struct channel_ring *out = &d->t.raw->rings[1], *in = &d->t.raw->rings[0];

    for (;;) {
        uint64_t r = pair_random(&state), at = (r >> 16) % (KB64 / 16) * 16;
        uint32_t len = (uint32_t)(r >> 32) % 2048;

        memcpy(d->t.response + at, &len, sizeof(len));
        d->t.response[at + 4] = (char)(r % 40);
        d->t.response[at + 5] = 0;
        if (r % 8 == 0)
            atomic_fetch_add(&out->head, (r >> 20) % 64 * 16);
        if (r % 1024 == 1)
            atomic_store(&in->tail, (r >> 20) % 256 * 16);
        if (r % 4096 == 2)
            atomic_store(&out->head, r);
    }
}

static void test_channel_front_survives_a_hostile_worker(void)
{
    uint64_t seed = clock_mono_ns() | 1;

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t end = clock_mono_ns() + 2000000, sum = 0;
        struct channel_msg msg;
        const char *data;
        struct duo d;
        pid_t child;
        int r = 0;

        duo_open(&d);
        child = fork();
        CHECK(child >= 0);
        if (child == 0)
            hostile_run(&d, seed + (uint64_t)i * 2 + 2);
        while (r != ERR_CORRUPT && clock_mono_ns() < end) {
            r = channel_put(d.t.front, CHANNEL_BODY, 0, 1, &STR("body"), 1);
            if (r == ERR_CORRUPT)
                break;
            (void)!channel_publish(d.t.front);
            r = channel_peek(d.t.front, &msg, &data);
            if (r < 0)
                continue;
            CHECK(msg.len <= channel_max_data(d.t.worker));
            for (uint32_t k = 0; k < msg.len; k++) /* faults when it is not in the mapping */
                sum += (unsigned char)data[k];
            channel_take(d.t.front);
            (void)!channel_release(d.t.front);
        }
        CHECK(sum != UINT64_MAX);
        if (child > 0) {
            CHECK_INT(kill(child, SIGKILL), 0);
            CHECK_INT(waitpid(child, NULL, 0), child);
        }
        duo_close(&d);
    }
}

const struct test tests_channel_peers[] = {
    TEST(test_channel_survives_a_worker_killed_at_any_instant),
    TEST(test_channel_front_survives_a_hostile_worker),
    TEST(test_channel_two_threads_exchange_messages),
    TEST(test_channel_loses_no_wake_up),
    TEST(test_channel_loses_no_room),
    TEST(test_channel_cancel_wakes_a_sleeping_worker),
    TEST_END,
};
