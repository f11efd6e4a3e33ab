/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "net/deadline.h"

#include "base/mem.h"
#include "platform/clock.h"
#include "unit/net/net_pair.h"
#include "unit/test.h"

struct bench;

struct item {
    struct deadline d;
    struct bench *bench;
    int fired;
    int rearm; /* times, in its own callback, in the same class */
    struct deadline_class *moves_to;
    struct item *disarms;
    bool frees; /* itself; made by mem_new() */
};

struct bench {
    struct net_loop *loop;
    struct deadline_set set;
    struct deadline_class quick, slow, off;
    char order[32]; /* the names of the items that fired */
    size_t fired;
    size_t expected;
    struct item items[5]; /* 'a' to 'e' */
};

static void on_deadline(struct deadline *d)
{
    struct item *it = CONTAINER_OF(d, struct item, d);
    struct bench *b = it->bench;

    CHECK(!deadline_armed(d));
    CHECK(net_loop_now(b->loop) >= d->at);
    it->fired++;
    if (b->fired + 1 < sizeof(b->order))
        b->order[b->fired++] = it->frees ? '*' : (char)('a' + (it - b->items));
    if (it->disarms)
        deadline_disarm(&it->disarms->d);
    if (it->rearm > 0) {
        it->rearm--;
        deadline_arm(d, &b->quick);
    }
    if (it->moves_to) {
        deadline_arm(d, it->moves_to);
        it->moves_to = NULL;
    }
    if (it->frees)
        mem_free(it);
}

static void bench_open(struct bench *b)
{
    memset(b, 0, sizeof(*b));
    CHECK_INT(net_loop_new(&b->loop), 0);
    deadline_set_init(&b->set, b->loop);
    deadline_class_init(&b->quick, &b->set, 10, on_deadline);
    deadline_class_init(&b->slow, &b->set, 40, on_deadline);
    deadline_class_init(&b->off, &b->set, 0, on_deadline);
    for (size_t i = 0; i < ARRAY_LEN(b->items); i++) {
        b->items[i].bench = b;
        deadline_init(&b->items[i].d);
    }
    net_loop_update(b->loop);
}

static bool bench_is_done(void *arg)
{
    struct bench *b = arg;

    return b->fired >= b->expected;
}

/* Until n have fired, and a little longer. */
static void bench_run(struct bench *b, size_t n)
{
    b->expected = n;
    net_run_until(b->loop, bench_is_done, b);
    net_run_for(b->loop, 15);
    CHECK_INT(b->fired, n);
}

static void bench_close(struct bench *b)
{
    for (size_t i = 0; i < ARRAY_LEN(b->items); i++)
        deadline_disarm(&b->items[i].d);
    deadline_set_fini(&b->set);
    net_loop_free(b->loop);
}

static void test_deadline_fires_in_order_of_time(void)
{
    struct bench b;

    bench_open(&b);
    deadline_arm(&b.items[0].d, &b.slow);
    deadline_arm(&b.items[1].d, &b.quick);
    deadline_arm(&b.items[2].d, &b.quick);
    deadline_arm(&b.items[3].d, &b.off);
    CHECK(deadline_armed(&b.items[0].d));
    CHECK(!deadline_armed(&b.items[3].d));
    CHECK(!deadline_armed(&b.items[4].d));
    bench_run(&b, 3);
    CHECK_STR(str_c(b.order), "bca");
    bench_close(&b);
}

static void test_deadline_arm_again_puts_off(void)
{
    struct bench b;

    bench_open(&b);
    deadline_arm(&b.items[0].d, &b.quick);
    deadline_arm(&b.items[1].d, &b.quick);
    clock_sleep_ms(5);
    net_loop_update(b.loop);
    deadline_arm(&b.items[0].d, &b.quick); /* now behind the other */
    CHECK(b.items[0].d.at > b.items[1].d.at);
    bench_run(&b, 2);
    CHECK_STR(str_c(b.order), "ba");
    bench_close(&b);
}

static void test_deadline_disarmed_does_not_fire(void)
{
    struct bench b;

    bench_open(&b);
    deadline_arm(&b.items[0].d, &b.quick);
    deadline_arm(&b.items[1].d, &b.quick);
    deadline_disarm(&b.items[0].d);
    deadline_disarm(&b.items[0].d);
    CHECK(!deadline_armed(&b.items[0].d));
    bench_run(&b, 1);
    CHECK_STR(str_c(b.order), "b");
    bench_close(&b);
}

/* Both expired at the same time: the first one's callback takes the second one out. */
static void test_deadline_disarm_in_callback(void)
{
    struct bench b;

    bench_open(&b);
    b.items[0].disarms = &b.items[1];
    deadline_arm(&b.items[0].d, &b.quick);
    deadline_arm(&b.items[1].d, &b.quick);
    deadline_arm(&b.items[2].d, &b.quick);
    bench_run(&b, 2);
    CHECK_STR(str_c(b.order), "ac");
    bench_close(&b);
}

static void test_deadline_rearms_and_moves_in_callback(void)
{
    struct bench b;

    bench_open(&b);
    b.items[0].rearm = 2;
    b.items[1].moves_to = &b.slow;
    deadline_arm(&b.items[0].d, &b.quick);
    deadline_arm(&b.items[1].d, &b.quick);
    bench_run(&b, 5);
    CHECK_INT(b.items[0].fired, 3);
    CHECK_INT(b.items[1].fired, 2);
    bench_close(&b);
}

static void test_deadline_frees_itself_in_callback(void)
{
    struct bench b;

    bench_open(&b);
    for (int i = 0; i < 3; i++) {
        struct item *it = mem_new(sizeof(*it));

        *it = (struct item){.bench = &b, .frees = true};
        deadline_init(&it->d);
        deadline_arm(&it->d, &b.quick);
    }
    bench_run(&b, 3);
    CHECK_STR(str_c(b.order), "***");
    bench_close(&b);
}

static void test_deadline_class_length_changes(void)
{
    struct bench b;

    bench_open(&b);
    deadline_arm(&b.items[0].d, &b.slow);
    deadline_class_set_ms(&b.slow, 5);
    deadline_arm(&b.items[1].d, &b.slow); /* waits behind the earlier one, no longer */
    deadline_class_set_ms(&b.slow, 0);
    deadline_arm(&b.items[2].d, &b.slow); /* off */
    deadline_class_set_ms(&b.quick, 60000);
    deadline_arm(&b.items[3].d, &b.quick);
    deadline_class_set_ms(&b.quick, 1);
    deadline_arm(&b.items[3].d, &b.quick); /* armed again with the new length */
    bench_run(&b, 3);
    CHECK_STR(str_c(b.order), "dab");
    bench_close(&b);
}

/* A timer that was set for a member that left fires for nobody, and the next one is still met. */
static void test_deadline_first_leaves_others_stay(void)
{
    struct bench b;

    bench_open(&b);
    deadline_arm(&b.items[0].d, &b.quick);
    deadline_arm(&b.items[1].d, &b.slow);
    deadline_disarm(&b.items[0].d);
    bench_run(&b, 1);
    CHECK_STR(str_c(b.order), "b");
    bench_close(&b);
}

const struct test tests_deadline[] = {
    TEST(test_deadline_fires_in_order_of_time),
    TEST(test_deadline_arm_again_puts_off),
    TEST(test_deadline_disarmed_does_not_fire),
    TEST(test_deadline_disarm_in_callback),
    TEST(test_deadline_rearms_and_moves_in_callback),
    TEST(test_deadline_frees_itself_in_callback),
    TEST(test_deadline_class_length_changes),
    TEST(test_deadline_first_leaves_others_stay),
    TEST_END,
};
