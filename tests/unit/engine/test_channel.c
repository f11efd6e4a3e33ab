/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/channel.h"

#include <stdlib.h>

#include "base/mem.h"
#include "unit/engine/channel_pair.h"
#include "unit/test.h"

#define KB64 (64u << 10)

static int put(struct channel *c, uint64_t id, struct str data)
{
    return channel_put(c, CHANNEL_DATA, 3, id, &data, 1);
}

/* Takes the next message, which must be id with these bytes. */
static void take(struct channel *c, uint64_t id, struct str want)
{
    struct channel_msg msg = {0};
    const char *data = NULL;
    int r = channel_peek(c, &msg, &data);

    CHECK_INT(r, 0);
    if (r < 0)
        return;
    CHECK_INT(msg.id, id);
    CHECK_INT(msg.type, CHANNEL_DATA);
    CHECK_INT(msg.flags, 3);
    CHECK_INT((uintptr_t)data % 16, 0);
    CHECK(str_eq(str_n(data, msg.len), want));
    channel_take(c);
}

static int peek(struct channel *c)
{
    struct channel_msg msg;
    const char *data;

    return channel_peek(c, &msg, &data);
}

static void test_channel_create_checks_sizes(void)
{
    static const struct {
        const char *name;
        uint32_t request, response;
        int want;
    } rows[] = {
        {"smallest", KB64, KB64, 0},
        {"different", KB64, 4 * KB64, 0},
        {"zero", 0, KB64, ERR_INVAL},
        {"too small", KB64 / 2, KB64, ERR_INVAL},
        {"not a power of two", KB64, KB64 + 16, ERR_INVAL},
        {"too big", 128u << 20, KB64, ERR_INVAL},
        {"high bit", KB64, 1u << 31, ERR_INVAL},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int fd = -1;

        test_row(rows[i].name);
        CHECK_INT(channel_create((struct channel_sizes){rows[i].request, rows[i].response}, &fd),
            rows[i].want);
        CHECK((fd >= 0) == (rows[i].want == 0));
        if (fd >= 0)
            fs_close(fd);
    }
    test_row(NULL);
}

static void test_channel_open_refuses_bad_headers(void)
{
    static const struct {
        const char *name;
        size_t at;
        uint32_t value;
        int want;
    } rows[] = {
        {"magic", offsetof(struct channel_header, magic), 1, ERR_CORRUPT},
        {"version", offsetof(struct channel_header, version), 2, ERR_VERSION},
        {"fingerprint", offsetof(struct channel_header, fingerprint), 0, ERR_VERSION},
        {"request zero", offsetof(struct channel_header, request), 0, ERR_CORRUPT},
        {"response odd", offsetof(struct channel_header, response), 65552, ERR_CORRUPT},
        {"response huge", offsetof(struct channel_header, response), 1u << 31, ERR_CORRUPT},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct channel *c = NULL;
        struct pair t;

        test_row(rows[i].name);
        pair_open(&t, KB64, KB64);
        memcpy((char *)t.raw + rows[i].at, &rows[i].value, sizeof(rows[i].value));
        CHECK_INT(channel_open(t.fd, CHANNEL_FRONT, &c), rows[i].want);
        CHECK(c == NULL);
        pair_close(&t);
    }
    test_row(NULL);
}

static void test_channel_open_refuses_sizes_beyond_the_segment(void)
{
    struct channel *c = NULL;
    struct pair t;

    pair_open(&t, KB64, KB64);
    t.raw->response = 4 * KB64;
    CHECK(channel_open(t.fd, CHANNEL_FRONT, &c) < 0);
    CHECK(c == NULL);
    pair_close(&t);
}

static void test_channel_publish_makes_messages_visible_together(void)
{
    struct str parts[] = {STR("ab"), STR_NONE, STR("cde")};
    struct pair t;

    pair_open(&t, KB64, KB64);
    CHECK_INT(peek(t.worker), ERR_AGAIN);
    CHECK(!channel_unpublished(t.front));
    CHECK_INT(channel_put(t.front, CHANNEL_DATA, 3, 7, parts, 3), 0);
    CHECK_INT(put(t.front, 8, STR_NONE), 0);
    CHECK(channel_unpublished(t.front));
    CHECK_INT(peek(t.worker), ERR_AGAIN);
    CHECK(!channel_publish(t.front));
    CHECK(!channel_unpublished(t.front));
    take(t.worker, 7, STR("abcde"));
    take(t.worker, 8, STR_NONE);
    CHECK_INT(peek(t.worker), ERR_AGAIN);
    channel_take(t.worker); /* nothing was peeked */
    CHECK_INT(peek(t.worker), ERR_AGAIN);
    CHECK(!channel_release(t.worker));
    /* The other direction is another ring. */
    CHECK_INT(peek(t.front), ERR_AGAIN);
    CHECK_INT(put(t.worker, 9, STR("back")), 0);
    CHECK(!channel_publish(t.worker));
    take(t.front, 9, STR("back"));
    pair_close(&t);
}

static void test_channel_carries_the_largest_message_at_every_position(void)
{
    struct pair t;
    size_t max;
    char *big;

    pair_open(&t, KB64, KB64);
    max = channel_max_data(t.front);
    CHECK_INT(max, KB64 / 2 - CHANNEL_MSG_HEADER);
    big = mem_new(max + 1);
    memset(big, 'x', max + 1);
    CHECK_INT(put(t.front, 1, str_n(big, max + 1)), ERR_TOOBIG);
    CHECK(!channel_has_room(t.front, max + 1));
    /* Each round moves by half a ring and 16 bytes; two rounds pass the end. */
    for (uint64_t i = 0; i < KB64 / 16 + 8; i++) {
        CHECK_INT(channel_room(t.front), max);
        CHECK_INT(put(t.front, 2, str_n(big, max)), 0);
        CHECK(!channel_publish(t.front));
        take(t.worker, 2, str_n(big, max));
        (void)!channel_release(t.worker);
        CHECK_INT(put(t.front, 3, STR_NONE), 0);
        CHECK(!channel_publish(t.front));
        take(t.worker, 3, STR_NONE);
        (void)!channel_release(t.worker);
    }
    mem_free(big);
    pair_close(&t);
}

static void test_channel_passed_tells_what_was_taken(void)
{
    struct pair t;
    uint64_t mark;

    pair_open(&t, KB64, KB64);
    CHECK_INT(put(t.front, 1, STR("first")), 0);
    mark = channel_mark(t.front);
    CHECK_INT(put(t.front, 2, STR("second")), 0);
    (void)!channel_publish(t.front);
    CHECK(!channel_passed(t.front, mark));
    take(t.worker, 1, STR("first"));
    (void)!channel_release(t.worker);
    CHECK(!channel_passed(t.front, mark)); /* the one before it */
    take(t.worker, 2, STR("second"));
    CHECK(!channel_passed(t.front, mark)); /* taken, not given back */
    (void)!channel_release(t.worker);
    CHECK(channel_passed(t.front, mark));
    pair_close(&t);
}

static void test_channel_room_says_what_put_does(void)
{
    char *pattern = mem_new(PAIR_PATTERN);
    uint64_t state = 42, sent = 0, got = 0;
    struct pair t;

    pair_pattern(pattern);
    pair_open(&t, KB64, KB64);
    for (int round = 0; round < 20000; round++) {
        size_t room = channel_room(t.front);
        struct str data = pair_data(pattern, sent, channel_max_data(t.front));

        CHECK(room == 0 || channel_has_room(t.front, room));
        CHECK(room == channel_max_data(t.front) || !channel_has_room(t.front, room + 16));
        if (pair_random(&state) % 2 == 0) {
            CHECK_INT(put(t.front, sent, data), data.len <= room ? 0 : ERR_AGAIN);
            sent += data.len <= room;
        } else if (sent > got) {
            (void)!channel_publish(t.front);
            take(t.worker, got, pair_data(pattern, got, channel_max_data(t.front)));
            got++;
            if (pair_random(&state) % 4 == 0)
                (void)!channel_release(t.worker);
        }
    }
    CHECK(got > 1000);
    pair_close(&t);
    mem_free(pattern);
}

static void test_channel_rings_a_sleeping_consumer_once(void)
{
    struct pair t;

    pair_open(&t, KB64, KB64);
    CHECK(channel_prepare_sleep(t.front));
    CHECK_INT(put(t.worker, 1, STR("a")), 0);
    CHECK(channel_publish(t.worker));
    CHECK(!channel_publish(t.worker)); /* nothing new */
    CHECK_INT(put(t.worker, 2, STR("b")), 0);
    CHECK(!channel_publish(t.worker)); /* already rung */
    CHECK(!channel_prepare_sleep(t.front));
    take(t.front, 1, STR("a"));
    take(t.front, 2, STR("b"));
    CHECK(channel_prepare_sleep(t.front));
    channel_cancel_sleep(t.front);
    CHECK_INT(put(t.worker, 3, STR("c")), 0);
    CHECK(!channel_publish(t.worker));
    pair_close(&t);
}

static void test_channel_rings_a_producer_when_there_is_room_enough(void)
{
    static char half[KB64 / 2 - CHANNEL_MSG_HEADER], small[1024 - CHANNEL_MSG_HEADER];
    struct pair t;
    int n = 0;

    pair_open(&t, KB64, KB64);
    CHECK(!channel_prepare_room(t.front, sizeof(half)));
    while (put(t.front, 5, str_n(small, sizeof(small))) == 0)
        n++;
    CHECK_INT(n, 64);
    CHECK_INT(channel_room(t.front), 0);
    CHECK(channel_prepare_room(t.front, sizeof(half)));
    CHECK(!channel_publish(t.front)); /* after the announcement is early enough */
    for (int i = 0; i < 31; i++) {
        take(t.worker, 5, str_n(small, sizeof(small)));
        CHECK(!channel_release(t.worker));
    }
    take(t.worker, 5, str_n(small, sizeof(small)));
    CHECK(channel_release(t.worker));
    CHECK(!channel_release(t.worker));
    CHECK(channel_has_room(t.front, sizeof(half)));
    CHECK_INT(put(t.front, 6, str_n(half, sizeof(half))), 0);
    pair_close(&t);
}

static void test_channel_wait_ends_by_timeout_and_cancel(void)
{
    struct pair t;

    pair_open(&t, KB64, KB64);
    CHECK_INT(channel_wait_message(t.worker, 1), ERR_TIMEOUT);
    CHECK_INT(channel_wait_room(t.worker, 1, 1), 0);
    CHECK_INT(channel_wait_room(t.worker, KB64, 1), ERR_TOOBIG);
    while (put(t.worker, 1, STR("0123456789")) == 0)
        ;
    CHECK(!channel_publish(t.worker));
    CHECK_INT(channel_wait_room(t.worker, 1, 1), ERR_TIMEOUT);
    /* A cancel before the sleep is not slept over, whichever wait it is. */
    channel_set_cancel(t.front, 77, CHANNEL_CANCEL_CLIENT_GONE);
    CHECK_INT(channel_wait_room(t.worker, 1, 60000), ERR_INTR);
    channel_set_cancel(t.front, 77, CHANNEL_CANCEL_TIMEOUT);
    CHECK_INT(channel_wait_message(t.worker, 60000), ERR_INTR);
    CHECK_INT(channel_wait_message(t.worker, 1), ERR_TIMEOUT);
    CHECK_INT(channel_get_cancel(t.worker, 77), CHANNEL_CANCEL_TIMEOUT);
    CHECK_INT(channel_get_cancel(t.worker, 78), CHANNEL_CANCEL_NONE);
    CHECK_INT(channel_get_cancel(t.worker, 0), CHANNEL_CANCEL_NONE);
    channel_set_cancel(t.front, 0, CHANNEL_CANCEL_NONE);
    CHECK_INT(channel_get_cancel(t.worker, 77), CHANNEL_CANCEL_NONE);
    pair_close(&t);
}

/* A good header, so that only the check under test can refuse. */
static void plant(char *at, uint32_t len, uint16_t type)
{
    memset(at, 0, CHANNEL_MSG_HEADER);
    memcpy(at, &len, 4);
    memcpy(at + 4, &type, 2);
}

/* What a worker may do to the response ring's head: the front has taken 1024 bytes, given back,
 * with 1024 more published. */
static void test_channel_front_refuses_impossible_heads(void)
{
    static const struct {
        const char *name;
        uint64_t head;
        int want;
    } rows[] = {
        {"unchanged", 2048, 0},
        {"backwards", 1024, ERR_CORRUPT},
        {"zero", 0, ERR_CORRUPT},
        {"off the grid", 2056, ERR_CORRUPT},
        {"one round ahead", 1024 + KB64 + 16, ERR_CORRUPT},
        {"all ones", UINT64_MAX, ERR_CORRUPT},
        {"wrapped around", UINT64_MAX - 15, ERR_CORRUPT},
    };
    static char data[1024 - CHANNEL_MSG_HEADER];

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pair t;

        test_row(rows[i].name);
        pair_open(&t, KB64, KB64);
        CHECK_INT(put(t.worker, 1, str_n(data, sizeof(data))), 0);
        CHECK(!channel_publish(t.worker));
        take(t.front, 1, str_n(data, sizeof(data)));
        CHECK(!channel_release(t.front));
        CHECK_INT(put(t.worker, 2, str_n(data, sizeof(data))), 0);
        CHECK(!channel_publish(t.worker));
        CHECK_INT(peek(t.front), 0);
        take(t.front, 2, str_n(data, sizeof(data)));
        if (rows[i].want == 0) {
            CHECK_INT(peek(t.front), ERR_AGAIN);
            CHECK(channel_prepare_sleep(t.front));
        } else {
            plant(t.response + 2048, 0, CHANNEL_DATA);
            atomic_store(&t.raw->rings[1].head, rows[i].head);
            CHECK(!channel_prepare_sleep(t.front));
            CHECK_INT(peek(t.front), ERR_CORRUPT);
            /* For good, also when the worker repairs it. */
            atomic_store(&t.raw->rings[1].head, 2048);
            CHECK_INT(peek(t.front), ERR_CORRUPT);
            CHECK_INT(put(t.front, 1, STR_NONE), ERR_CORRUPT);
        }
        pair_close(&t);
    }
    test_row(NULL);
}

static void test_channel_front_refuses_impossible_tails(void)
{
    static const struct {
        const char *name;
        uint64_t tail;
        int want;
    } rows[] = {
        {"all taken", KB64, 0},
        {"none taken", 0, ERR_AGAIN},
        {"beyond what was published", KB64 + 16, ERR_CORRUPT},
        {"off the grid", 8, ERR_CORRUPT},
        {"all ones", UINT64_MAX, ERR_CORRUPT},
    };
    static char data[1024 - CHANNEL_MSG_HEADER];

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pair t;

        test_row(rows[i].name);
        pair_open(&t, KB64, KB64);
        while (put(t.front, 1, str_n(data, sizeof(data))) == 0)
            ;
        CHECK(!channel_publish(t.front));
        atomic_store(&t.raw->rings[0].tail, rows[i].tail);
        CHECK_INT(put(t.front, 1, STR("x")), rows[i].want);
        if (rows[i].want == ERR_CORRUPT) {
            CHECK(channel_has_room(t.front, 1));
            CHECK_INT(channel_room(t.front), channel_max_data(t.front));
            CHECK(!channel_prepare_room(t.front, 1));
            CHECK_INT(put(t.front, 1, STR("x")), ERR_CORRUPT);
        }
        pair_close(&t);
    }
    test_row(NULL);
}

/* The header of the first message, with head at 4096. */
static void test_channel_front_checks_message_headers(void)
{
    static const struct {
        const char *name;
        uint64_t head;
        uint32_t len;
        uint16_t type;
        int want;
    } rows[] = {
        {"fits exactly", 4096, 4080, CHANNEL_DATA, 0},
        {"longer than published", 4096, 4081, CHANNEL_DATA, ERR_CORRUPT},
        {"longer than allowed", KB64, KB64 / 2 - 15, CHANNEL_DATA, ERR_CORRUPT},
        {"longest", KB64, KB64 / 2 - 16, CHANNEL_DATA, 0},
        {"all ones", 4096, UINT32_MAX, CHANNEL_DATA, ERR_CORRUPT},
        {"rounds up to zero", 4096, UINT32_MAX - 14, CHANNEL_DATA, ERR_CORRUPT},
        {"pad that ends early", 4096, 1008, 0, ERR_CORRUPT},
        {"pad over all", KB64, KB64 - 16, 0, ERR_CORRUPT},
        {"unknown type is the caller's", 4096, 0, 999, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pair t;

        test_row(rows[i].name);
        pair_open(&t, KB64, KB64);
        plant(t.response, rows[i].len, rows[i].type);
        atomic_store(&t.raw->rings[1].head, rows[i].head);
        CHECK_INT(peek(t.front), rows[i].want);
        pair_close(&t);
    }
    test_row(NULL);
}

/* A pad must reach the end exactly and be followed by a message that is no pad. */
static void test_channel_front_checks_pads(void)
{
    static const struct {
        const char *name;
        uint64_t head; /* beyond the ring's end */
        uint32_t pad;  /* data length of the pad, which has 1024 bytes for itself */
        uint16_t next; /* type of what follows */
        int want;
    } rows[] = {
        {"good", 32, 1008, CHANNEL_DATA, 0},
        {"nothing follows", 0, 1008, CHANNEL_DATA, ERR_CORRUPT},
        {"too short", 32, 992, CHANNEL_DATA, ERR_CORRUPT},
        {"too long", 32, 1024, CHANNEL_DATA, ERR_CORRUPT},
        {"two pads", 32, 1008, 0, ERR_CORRUPT},
    };
    static char half[KB64 / 2 - CHANNEL_MSG_HEADER];
    static char rest[KB64 / 2 - 1024 - CHANNEL_MSG_HEADER];

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct pair t;
        char *pad;

        test_row(rows[i].name);
        pair_open(&t, KB64, KB64);
        CHECK_INT(put(t.worker, 1, str_n(half, sizeof(half))), 0);
        CHECK_INT(put(t.worker, 2, str_n(rest, sizeof(rest))), 0);
        CHECK(!channel_publish(t.worker));
        take(t.front, 1, str_n(half, sizeof(half)));
        take(t.front, 2, str_n(rest, sizeof(rest)));
        CHECK(!channel_release(t.front));
        pad = t.response + KB64 - 1024;
        plant(pad, rows[i].pad, 0);
        plant(pad + 1008, 0, CHANNEL_DATA); /* where the short pad ends */
        plant(t.response, 16, rows[i].next);
        atomic_store(&t.raw->rings[1].head, KB64 + rows[i].head);
        CHECK_INT(peek(t.front), rows[i].want);
        pair_close(&t);
    }
    test_row(NULL);
}

const struct test tests_channel[] = {
    TEST(test_channel_create_checks_sizes),
    TEST(test_channel_open_refuses_bad_headers),
    TEST(test_channel_open_refuses_sizes_beyond_the_segment),
    TEST(test_channel_publish_makes_messages_visible_together),
    TEST(test_channel_carries_the_largest_message_at_every_position),
    TEST(test_channel_passed_tells_what_was_taken),
    TEST(test_channel_room_says_what_put_does),
    TEST(test_channel_rings_a_sleeping_consumer_once),
    TEST(test_channel_rings_a_producer_when_there_is_room_enough),
    TEST(test_channel_wait_ends_by_timeout_and_cancel),
    TEST(test_channel_front_refuses_impossible_heads),
    TEST(test_channel_front_refuses_impossible_tails),
    TEST(test_channel_front_checks_message_headers),
    TEST(test_channel_front_checks_pads),
    TEST_END,
};
