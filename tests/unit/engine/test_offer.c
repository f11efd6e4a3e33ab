/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* The offer word between two threads: a request is taken back or claimed, never both or neither. */
#include <pthread.h>
#include <sched.h>

#include "base/mem.h"
#include "engine/channel.h"
#include "unit/engine/channel_pair.h"
#include "unit/test.h"

enum { OFFERS = 100000, STUCK_MS = 20000 };

struct bargain {
    struct pair t;
    /* By id; each is written by one thread and read when that has ended. */
    uint8_t *claimed;
    uint8_t *revoked;
};

static void *worker_claims(void *arg)
{
    struct bargain *b = arg;
    struct channel *c = b->t.worker;
    struct channel_msg msg;
    const char *data;
    uint64_t id;

    for (;;) {
        int rc = channel_peek(c, &msg, &data);

        if (rc == ERR_AGAIN) {
            (void)!channel_release(c); /* the front does not wait for room */
            do
                rc = channel_wait_message(c, STUCK_MS);
            while (rc == ERR_INTR);
            if (rc == 0)
                continue;
        }
        CHECK_INT(rc, 0);
        if (rc || msg.type == CHANNEL_STOP)
            return NULL;
        CHECK_INT(msg.flags, CHANNEL_OFFERED);
        memcpy(&id, data, sizeof(id));
        CHECK_INT(id, msg.id);
        channel_take(c);
        if (channel_claim(c, id)) {
            CHECK_INT(b->claimed[id], 0);
            b->claimed[id] = 1;
            CHECK(!channel_claim(c, id));
        }
    }
}

static void front_put(struct channel *c, uint16_t type, uint16_t flags, uint64_t id)
{
    struct str data = str_n((const char *)&id, sizeof(id));
    int rc;

    do {
        rc = channel_put(c, type, flags, id, &data, 1);
        if (rc == ERR_AGAIN)
            sched_yield();
    } while (rc == ERR_AGAIN);
    CHECK_INT(rc, 0);
    if (channel_publish(c))
        channel_ring_worker(c);
}

/* Offers one after the other, and takes most of them back after a while of varying length. */
static void front_offers(struct bargain *b)
{
    struct channel *c = b->t.front;
    uint64_t state = 88172645463325252u;

    for (uint64_t id = 1; id <= OFFERS; id++) {
        uint64_t r = pair_random(&state) >> 32;

        CHECK(!channel_is_offered(c));
        channel_offer(c, id);
        CHECK(channel_is_offered(c));
        front_put(c, CHANNEL_REQUEST, CHANNEL_OFFERED, id);
        if (r % 8 == 0) {
            while (channel_is_offered(c))
                sched_yield();
        } else {
            for (volatile unsigned n = (unsigned)(r >> 3) % 400; n > 0; n--)
                ;
        }
        if (channel_revoke(c, id)) {
            b->revoked[id] = 1;
            CHECK(!channel_revoke(c, id));
        }
    }
    front_put(c, CHANNEL_STOP, 0, 0);
}

static void test_offer_is_claimed_or_revoked(void)
{
    struct bargain b = {0};
    size_t claimed = 0, revoked = 0, both_or_none = 0;
    pthread_t worker;

    pair_open(&b.t, CHANNEL_RING_MIN, CHANNEL_RING_MIN);
    channel_close(b.t.worker);
    b.t.worker = channel_open_other(b.t.front);
    b.claimed = mem_new(OFFERS + 1);
    b.revoked = mem_new(OFFERS + 1);
    CHECK_INT(pthread_create(&worker, NULL, worker_claims, &b), 0);
    front_offers(&b);
    CHECK_INT(pthread_join(worker, NULL), 0);
    for (size_t id = 1; id <= OFFERS; id++) {
        claimed += b.claimed[id];
        revoked += b.revoked[id];
        both_or_none += b.claimed[id] == b.revoked[id];
    }
    CHECK_INT(both_or_none, 0);
    CHECK(claimed > 0);
    CHECK(revoked > 0);
    CHECK_INT(claimed + revoked, OFFERS);
    mem_free(b.claimed);
    mem_free(b.revoked);
    pair_close(&b.t);
}

/* An id that was settled, or never offered, is neither side's. */
static void test_offer_of_another_id_is_not_met(void)
{
    struct pair t;

    pair_open(&t, CHANNEL_RING_MIN, CHANNEL_RING_MIN);
    CHECK(!channel_is_offered(t.front));
    CHECK(!channel_claim(t.worker, 7));
    CHECK(!channel_revoke(t.front, 7));
    channel_offer(t.front, 7);
    CHECK(!channel_claim(t.worker, 6));
    CHECK(!channel_revoke(t.front, 8));
    CHECK(channel_is_offered(t.front));
    CHECK(channel_claim(t.worker, 7));
    CHECK(!channel_is_offered(t.front));
    CHECK(!channel_revoke(t.front, 7));
    channel_offer(t.front, 8);
    CHECK(!channel_claim(t.worker, 7));
    CHECK(channel_revoke(t.front, 8));
    CHECK(!channel_claim(t.worker, 8));
    pair_close(&t);
}

const struct test tests_offer[] = {
    TEST(test_offer_is_claimed_or_revoked),
    TEST(test_offer_of_another_id_is_not_met),
    TEST_END,
};
