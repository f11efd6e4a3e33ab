/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/limits.h"

#include "unit/test.h"

static struct sock_addr ip(const char *text)
{
    struct sock_addr a = {0};

    CHECK_INT(sock_ip_parse(str_c(text), &a), 0);
    return a;
}

/* A bucket of 3 that gets 2 a second. */
static void test_limits_bucket_empties_and_fills(void)
{
    static const struct {
        const char *name;
        uint64_t at_ms;
        bool allowed;
        unsigned retry_s;
    } rows[] = {
        {"burst, first", 1000, true, 0},
        {"burst, second", 1000, true, 0},
        {"burst, third", 1000, true, 0},
        {"empty", 1000, false, 1},
        {"half a token", 1250, false, 1},
        {"a token", 1500, true, 0},
        {"empty again", 1500, false, 1},
        {"the clock stands", 1500, false, 1},
        {"the clock went back", 1400, false, 1},
        {"two tokens, first", 2500, true, 0},
        {"two tokens, second", 2500, true, 0},
        {"two tokens, no third", 2500, false, 1},
        {"full after long, first", 900000, true, 0},
        {"full after long, second", 900000, true, 0},
        {"full after long, third", 900000, true, 0},
        {"no more than full", 900000, false, 1},
    };
    struct http_limits_config c = {.per_ip_rate = 2, .per_ip_burst = 3};
    struct sock_addr a = ip("192.0.2.1");
    struct http_limits l;

    http_limits_init(&l, 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        unsigned retry = 0;
        bool allowed = http_limits_request(&l, &c, &a, rows[i].at_ms, &retry);

        test_row(rows[i].name);
        CHECK_INT(allowed, rows[i].allowed);
        CHECK(allowed || retry == rows[i].retry_s);
    }
    test_row(NULL);
    http_limits_fini(&l);
}

static void test_limits_say_when_to_come_again(void)
{
    static const struct {
        double rate;
        unsigned retry_s;
    } rows[] = {{100, 1}, {1, 2}, {0.1, 11}, {0.001, 1001}, {0.0001, 3600}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct http_limits_config c = {.per_ip_rate = rows[i].rate, .per_ip_burst = 0};
        struct sock_addr a = ip("192.0.2.1");
        struct http_limits l;
        unsigned retry = 0;

        http_limits_init(&l, 1);
        CHECK(http_limits_request(&l, &c, &a, 0, &retry)); /* a burst of 0 lets one through */
        CHECK(!http_limits_request(&l, &c, &a, 0, &retry));
        CHECK_INT(retry, rows[i].retry_s);
        /* What it said holds. */
        if (retry < 3600)
            CHECK(http_limits_request(&l, &c, &a, retry * 1000ull, &retry));
        http_limits_fini(&l);
    }
}

static void test_limits_off_let_all_through(void)
{
    struct http_limits_config c = {0};
    struct sock_addr a = ip("192.0.2.1");
    struct http_limits l;
    unsigned retry = 77;

    http_limits_init(&l, 1);
    for (int i = 0; i < 1000; i++) {
        CHECK(http_limits_open(&l, &c, &a, 0));
        CHECK(http_limits_request(&l, &c, &a, 0, &retry));
        CHECK(http_limits_site(&l, &c, STR("s"), 0, &retry));
    }
    CHECK_INT(l.table.count + l.sites.count, 0);
    CHECK_INT(retry, 77);
    http_limits_close(&l, &a);
    http_limits_fini(&l);
}

/* Which addresses share an allowance of one connection. */
static void test_limits_count_by_address(void)
{
    static const struct {
        const char *first, *second;
        bool shared;
    } rows[] = {
        {"192.0.2.1", "192.0.2.1", true},
        {"192.0.2.1", "192.0.2.2", false},
        {"192.0.2.1", "::ffff:192.0.2.1", true},
        {"2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true},
        {"2001:db8:1:2::1", "2001:db8:1:3::1", false},
        {"::1", "127.0.0.1", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct http_limits_config c = {.per_ip_connections = 1, .per_ip_rate = 1};
        struct sock_addr a = ip(rows[i].first), b = ip(rows[i].second);
        struct http_limits l;
        unsigned retry;

        test_row(rows[i].second);
        http_limits_init(&l, 1);
        CHECK(http_limits_open(&l, &c, &a, 0));
        CHECK_INT(http_limits_open(&l, &c, &b, 0), !rows[i].shared);
        CHECK(http_limits_request(&l, &c, &a, 0, &retry));
        CHECK_INT(http_limits_request(&l, &c, &b, 0, &retry), !rows[i].shared);
        http_limits_fini(&l);
    }
    test_row(NULL);
}

static void test_limits_connections_come_and_go(void)
{
    struct http_limits_config c = {.per_ip_connections = 2};
    struct sock_addr a = ip("192.0.2.1"), unknown = ip("192.0.2.9"), local = {SOCK_LOCAL};
    struct http_limits l;

    http_limits_init(&l, 1);
    CHECK(http_limits_open(&l, &c, &a, 0));
    CHECK(http_limits_open(&l, &c, &a, 0));
    CHECK(!http_limits_open(&l, &c, &a, 0));
    http_limits_close(&l, &a);
    CHECK(http_limits_open(&l, &c, &a, 0));
    CHECK(!http_limits_open(&l, &c, &a, 0)); /* the refused one did not count */
    for (int i = 0; i < 5; i++)
        http_limits_close(&l, &a);
    http_limits_close(&l, &unknown);
    CHECK(http_limits_open(&l, &c, &a, 0));
    CHECK(http_limits_open(&l, &c, &a, 0));
    CHECK(!http_limits_open(&l, &c, &a, 0));
    CHECK(http_limits_open(&l, &c, &local, 0));
    http_limits_fini(&l);
}

static void test_limits_sites_have_buckets_of_their_own(void)
{
    struct http_limits_config c = {.per_site_rate = 1, .per_site_burst = 2};
    struct http_limits l;
    unsigned retry = 0;

    http_limits_init(&l, 1);
    CHECK(http_limits_site(&l, &c, STR("a"), 0, &retry));
    CHECK(http_limits_site(&l, &c, STR("a"), 0, &retry));
    CHECK(!http_limits_site(&l, &c, STR("a"), 0, &retry));
    CHECK_INT(retry, 2);
    CHECK(http_limits_site(&l, &c, STR("b"), 0, &retry));
    CHECK(http_limits_site(&l, &c, STR("a"), 1000, &retry));
    http_limits_fini(&l);
}

static struct sock_addr numbered(uint32_t n)
{
    return (struct sock_addr){
        .family = SOCK_INET4, .ip = {10, (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n}};
}

/* Addresses with a full bucket and no connection are forgotten, others never. */
static void test_limits_sweep_keeps_what_counts(void)
{
    struct http_limits_config c = {.per_ip_connections = 1, .per_ip_rate = 1, .per_ip_burst = 100};
    struct sock_addr busy = ip("192.0.2.1"), eager = ip("192.0.2.2");
    struct http_limits l;
    unsigned retry;

    http_limits_init(&l, 1);
    CHECK(http_limits_open(&l, &c, &busy, 0));
    for (int i = 0; i < 100; i++)
        CHECK(http_limits_request(&l, &c, &eager, 0, &retry));
    for (uint32_t i = 0; i < 1000; i++) {
        struct sock_addr a = numbered(i);

        CHECK(http_limits_request(&l, &c, &a, 0, &retry));
    }
    CHECK_INT(l.table.count, 1002);
    /* A new address after ten seconds: those with one token to get have it by now. */
    CHECK(http_limits_open(&l, &c, &(struct sock_addr){.family = SOCK_LOCAL}, 10000));
    CHECK_INT(l.table.count, 3);
    CHECK(!http_limits_open(&l, &c, &busy, 10000));
    for (int i = 0; i < 10; i++)
        CHECK(http_limits_request(&l, &c, &eager, 10000, &retry));
    CHECK(!http_limits_request(&l, &c, &eager, 10000, &retry));
    http_limits_fini(&l);
}

static void test_limits_full_table_refuses_new_addresses(void)
{
    struct http_limits_config c = {.per_ip_connections = 1};
    struct sock_addr late = ip("192.0.2.1"), first = numbered(0);
    struct http_limits l;
    size_t refused = 0;

    http_limits_init(&l, 1);
    for (uint32_t i = 0; i < HTTP_LIMITS_MAX; i++) {
        struct sock_addr a = numbered(i);

        refused += !http_limits_open(&l, &c, &a, 0);
    }
    CHECK_INT(refused, 0);
    CHECK(!http_limits_open(&l, &c, &late, 0));
    CHECK(!http_limits_open(&l, &c, &late, 20000)); /* all are busy: nothing to sweep */
    http_limits_close(&l, &first);
    CHECK(!http_limits_open(&l, &c, &late, 20999)); /* swept less than a second ago */
    CHECK(http_limits_open(&l, &c, &late, 21000));
    http_limits_fini(&l);
}

const struct test tests_limits[] = {
    TEST(test_limits_bucket_empties_and_fills),
    TEST(test_limits_say_when_to_come_again),
    TEST(test_limits_off_let_all_through),
    TEST(test_limits_count_by_address),
    TEST(test_limits_connections_come_and_go),
    TEST(test_limits_sites_have_buckets_of_their_own),
    TEST(test_limits_sweep_keeps_what_counts),
    TEST(test_limits_full_table_refuses_new_addresses),
    TEST_END,
};
