/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/limits.h"
#include "unit/test.h"

static struct sock_addr ip4(unsigned char last)
{
    return (struct sock_addr){.family = SOCK_INET4, .ip = {10, 0, 0, last}};
}

static struct sock_addr ip6(unsigned char net, unsigned char host)
{
    struct sock_addr a = {.family = SOCK_INET6, .ip = {0x20, 0x01}};

    a.ip[7] = net;
    a.ip[15] = host;
    return a;
}

static void test_limits_count_connections_per_address(void)
{
    const struct http_limits_config c = {.per_ip_connections = 2};
    struct sock_addr a = ip4(1), b = ip4(2), x = ip6(1, 1), y = ip6(1, 2), z = ip6(2, 1);
    struct http_limits l;

    http_limits_init(&l, 1);
    CHECK(http_limits_open(&l, &c, &a, 0) && http_limits_open(&l, &c, &a, 0));
    CHECK(!http_limits_open(&l, &c, &a, 0));
    CHECK(http_limits_open(&l, &c, &b, 0));
    http_limits_close(&l, &a);
    CHECK(http_limits_open(&l, &c, &a, 0));
    /* One IPv6 client has its /64. */
    CHECK(http_limits_open(&l, &c, &x, 0) && http_limits_open(&l, &c, &y, 0));
    CHECK(!http_limits_open(&l, &c, &x, 0));
    CHECK(http_limits_open(&l, &c, &z, 0));
    http_limits_close(&l, &b);
    http_limits_close(&l, &b); /* one too many is no underflow */
    CHECK(http_limits_open(&l, &c, &b, 100000));
    /* The sweep forgets who is gone, not who is connected. */
    CHECK(!http_limits_open(&l, &c, &a, 200000));
    http_limits_fini(&l);
}

static void test_limits_rate_is_a_bucket(void)
{
    const struct http_limits_config c = {.per_ip_rate = 2, .per_ip_burst = 3};
    struct sock_addr a = ip4(1), b = ip4(2);
    struct http_limits l;
    unsigned retry = 0;

    http_limits_init(&l, 1);
    for (int i = 0; i < 3; i++)
        CHECK(http_limits_request(&l, &c, &a, 1000, &retry));
    CHECK(!http_limits_request(&l, &c, &a, 1000, &retry));
    CHECK_INT(retry, 1);
    CHECK(http_limits_request(&l, &c, &b, 1000, &retry));
    CHECK(!http_limits_request(&l, &c, &a, 1499, &retry));
    CHECK(http_limits_request(&l, &c, &a, 1500, &retry));
    CHECK(!http_limits_request(&l, &c, &a, 1500, &retry));
    for (int i = 0; i < 3; i++) /* full again, and no fuller */
        CHECK(http_limits_request(&l, &c, &a, 60000, &retry));
    CHECK(!http_limits_request(&l, &c, &a, 60000, &retry));
    http_limits_fini(&l);
}

static void test_limits_rate_per_site(void)
{
    const struct http_limits_config none = {0}, c = {.per_site_rate = 0.1, .per_site_burst = 1};
    struct http_limits l;
    unsigned retry = 0;

    http_limits_init(&l, 1);
    for (int i = 0; i < 5; i++)
        CHECK(http_limits_site(&l, &none, STR("a"), 0, &retry));
    CHECK(http_limits_site(&l, &c, STR("a"), 0, &retry));
    CHECK(!http_limits_site(&l, &c, STR("a"), 0, &retry));
    CHECK_INT(retry, 11);
    CHECK(http_limits_site(&l, &c, STR("b"), 0, &retry));
    CHECK(http_limits_site(&l, &c, STR("a"), 10000, &retry));
    http_limits_fini(&l);
}

const struct test tests_limits[] = {
    TEST(test_limits_count_connections_per_address),
    TEST(test_limits_rate_is_a_bucket),
    TEST(test_limits_rate_per_site),
    TEST_END,
};
