/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/turn.h"

#include "base/err.h"
#include "platform/clock.h"
#include "unit/test.h"

struct line {
    struct store_turn turn;
    _Atomic int order[8];
    _Atomic int n;
};

struct member {
    struct line *line;
    int number;
    struct store_stop stop;
    int code;
    pthread_t thread;
};

static void *join_line(void *arg)
{
    struct member *m = arg;
    uint64_t waited;

    m->code = store_turn_take(&m->line->turn, &m->stop, 10000, &waited);
    if (m->code == 0) {
        m->line->order[m->line->n++] = m->number;
        store_turn_give(&m->line->turn);
    }
    return NULL;
}

static bool in_line(struct line *line, int n)
{
    int found = 0;

    pthread_mutex_lock(&line->turn.mutex);
    list_each (it, &line->turn.waiters)
        found++;
    pthread_mutex_unlock(&line->turn.mutex);
    return found == n;
}

static void start(struct line *line, struct member *m, int number)
{
    memset(m, 0, sizeof(*m));
    m->line = line;
    m->number = number;
    CHECK_INT(pthread_create(&m->thread, NULL, join_line, m), 0);
}

static void test_turn_is_given_in_order(void)
{
    struct line line = {0};
    struct member m[5];
    struct store_stop stop = {0};
    uint64_t waited;

    store_turn_init(&line.turn);
    CHECK_INT(store_turn_take(&line.turn, &stop, 0, &waited), 0);
    for (int i = 0; i < 5; i++) {
        start(&line, &m[i], i);
        while (!in_line(&line, i + 1))
            clock_sleep_ms(1);
    }
    store_turn_give(&line.turn);
    for (int i = 0; i < 5; i++)
        pthread_join(m[i].thread, NULL);
    for (int i = 0; i < 5; i++)
        CHECK_INT(line.order[i], i);
    CHECK_INT(store_turn_take(&line.turn, &stop, 0, &waited), 0);
    store_turn_give(&line.turn);
    store_turn_fini(&line.turn);
}

static void test_turn_that_is_taken_times_out(void)
{
    struct line line = {0};
    struct store_stop stop = {0};
    uint64_t waited;

    store_turn_init(&line.turn);
    CHECK_INT(store_turn_take(&line.turn, &stop, 0, &waited), 0);
    CHECK_INT(store_turn_take(&line.turn, &stop, 0, &waited), ERR_TIMEOUT);
    CHECK_INT(store_turn_take(&line.turn, &stop, 20, &waited), ERR_TIMEOUT);
    CHECK(waited >= 20000);
    CHECK(in_line(&line, 0));
    store_turn_fini(&line.turn);
}

static void test_turn_wait_ends_when_killed(void)
{
    struct line line = {0};
    struct member m;
    struct store_stop stop = {0};
    uint64_t waited;

    store_turn_init(&line.turn);
    CHECK_INT(store_turn_take(&line.turn, &stop, 0, &waited), 0);
    start(&line, &m, 0);
    while (!in_line(&line, 1))
        clock_sleep_ms(1);
    atomic_store(&m.stop.kill, STORE_KILL_QUERY);
    pthread_join(m.thread, NULL);
    CHECK_INT(m.code, ERR_INTR);
    store_turn_fini(&line.turn);
}

const struct test tests_turn[] = {
    TEST(test_turn_is_given_in_order),
    TEST(test_turn_that_is_taken_times_out),
    TEST(test_turn_wait_ends_when_killed),
    TEST_END,
};
