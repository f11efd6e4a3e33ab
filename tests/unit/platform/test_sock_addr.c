/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/sock.h"
#include "unit/test.h"

extern const struct test tests_sock_addr[];

static void test_sock_addr_parse_table(void)
{
    static const struct {
        const char *in;
        int rc;
        const char *want;
    } rows[] = {
        {"127.0.0.1:80", 0, "127.0.0.1:80"},
        {"0.0.0.0:0", 0, "0.0.0.0:0"},
        {"*:80", 0, "0.0.0.0:80"},
        {":80", 0, "0.0.0.0:80"},
        {"80", 0, "0.0.0.0:80"},
        {"65535", 0, "0.0.0.0:65535"},
        {"[::1]:80", 0, "[::1]:80"},
        {"[::]:443", 0, "[::]:443"},
        {"[FE80::1%eth0]:1", 0, "[fe80::1]:1"},
        {"[::ffff:1.2.3.4]:5", 0, "1.2.3.4:5"},
        {"65536", ERR_RANGE, ""},
        {"", ERR_INVAL, ""},
        {":", ERR_INVAL, ""},
        {"127.0.0.1", ERR_INVAL, ""},
        {"127.0.0.1:", ERR_INVAL, ""},
        {"127.0.0.1:x", ERR_INVAL, ""},
        {"127.0.0.1:-1", ERR_INVAL, ""},
        {"127.0.0.256:80", ERR_INVAL, ""},
        {"127.1:80", ERR_INVAL, ""},
        {"::1:80", ERR_INVAL, ""},
        {"[::1]", ERR_INVAL, ""},
        {"[::1:80", ERR_INVAL, ""},
        {"[127.0.0.1]:80", ERR_INVAL, ""},
        {"[]:80", ERR_INVAL, ""},
        {"[:80", ERR_INVAL, ""},
        {"localhost:80", ERR_INVAL, ""},
        {" 127.0.0.1:80", ERR_INVAL, ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sock_addr a = {0};
        char text[SOCK_ADDR_TEXT];

        test_row(rows[i].in);
        CHECK_INT(sock_addr_parse(str_c(rows[i].in), &a), rows[i].rc);
        CHECK_INT(sock_addr_format(&a, text), strlen(rows[i].want));
        CHECK_STR(str_c(text), rows[i].want);
    }
}

static void test_sock_ip_parse_table(void)
{
    static const struct {
        struct str in;
        int rc;
        const char *want;
    } rows[] = {
        {{"1.2.3.4", 7}, 0, "1.2.3.4"},
        {{"::", 2}, 0, "::"},
        {{"2001:DB8:0:0:0:0:0:1", 20}, 0, "2001:db8::1"},
        {{"::ffff:10.0.0.1", 15}, 0, "10.0.0.1"},
        {{"fe80::1%eth0", 12}, 0, "fe80::1"},
        {{"1.2.3.4%eth0", 12}, ERR_INVAL, ""},
        {{"[::1]", 5}, ERR_INVAL, ""},
        {{"1.2.3.4:80", 10}, ERR_INVAL, ""},
        {{"1.2.3", 5}, ERR_INVAL, ""},
        {{"1.2.3.4\0x", 9}, ERR_INVAL, ""},
        {{"%", 1}, ERR_INVAL, ""},
        {{NULL, 0}, ERR_INVAL, ""},
        {{"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000", 69}, ERR_INVAL,
            ""},
        {{"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255", 45}, 0,
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sock_addr a = {0};
        char text[SOCK_ADDR_TEXT];

        test_row(rows[i].in.p);
        CHECK_INT(sock_ip_parse(rows[i].in, &a), rows[i].rc);
        CHECK_INT(sock_ip_format(&a, text), strlen(rows[i].want));
        CHECK_STR(str_c(text), rows[i].want);
    }
}

static void test_sock_cidr_table(void)
{
    static const struct {
        const char *net, *ip;
        int rc;
        bool want;
    } rows[] = {
        {"10.0.0.0/8", "10.255.1.2", 0, true},
        {"10.0.0.0/8", "11.0.0.0", 0, false},
        {"10.1.2.3/8", "10.9.9.9", 0, true}, /* host bits do not count */
        {"192.168.1.128/25", "192.168.1.200", 0, true},
        {"192.168.1.128/25", "192.168.1.127", 0, false},
        {"172.16.0.0/12", "172.31.255.255", 0, true},
        {"172.16.0.0/12", "172.32.0.0", 0, false},
        {"127.0.0.1", "127.0.0.1", 0, true},
        {"127.0.0.1", "127.0.0.2", 0, false},
        {"0.0.0.0/0", "8.8.8.8", 0, true},
        {"0.0.0.0/0", "::1", 0, false},
        {"::/0", "2001:db8::1", 0, true},
        {"::/0", "1.2.3.4", 0, false},
        {"::1", "::1", 0, true},
        {"fc00::/7", "fdff::1", 0, true},
        {"fc00::/7", "fe00::1", 0, false},
        {"2001:db8::/33", "2001:db8:7fff::", 0, true},
        {"2001:db8::/33", "2001:db8:8000::", 0, false},
        {"10.0.0.0/8", "::ffff:10.1.1.1", 0, true}, /* a mapped address is IPv4 */
        {"::ffff:10.0.0.0/104", "10.1.1.1", 0, true},
        {"::ffff:10.0.0.0/104", "11.1.1.1", 0, false},
        {"10.0.0.0/33", "", ERR_RANGE, false},
        {"::/129", "", ERR_RANGE, false},
        {"10.0.0.0/", "", ERR_INVAL, false},
        {"10.0.0.0/x", "", ERR_INVAL, false},
        {"/8", "", ERR_INVAL, false},
        {"", "", ERR_INVAL, false},
        {"10.0.0/8", "", ERR_INVAL, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct sock_addr net, ip;
        unsigned bits = 0;

        test_row(rows[i].net);
        CHECK_INT(sock_cidr_parse(str_c(rows[i].net), &net, &bits), rows[i].rc);
        if (rows[i].rc)
            continue;
        CHECK_INT(sock_ip_parse(str_c(rows[i].ip), &ip), 0);
        CHECK_INT(sock_cidr_contains(&net, bits, &ip), rows[i].want);
    }
}

static void test_sock_cidr_never_contains_local(void)
{
    struct sock_addr net, local = {.family = SOCK_LOCAL};
    unsigned bits;

    CHECK_INT(sock_cidr_parse(STR("0.0.0.0/0"), &net, &bits), 0);
    CHECK(!sock_cidr_contains(&net, bits, &local));
    CHECK(!sock_cidr_contains(&local, 0, &local));
}

static void test_sock_ip_compares(void)
{
    struct sock_addr a, b, c, v6;
    char text[SOCK_ADDR_TEXT];

    CHECK_INT(sock_addr_parse(STR("127.0.0.1:1"), &a), 0);
    CHECK_INT(sock_addr_parse(STR("127.0.0.1:2"), &b), 0);
    CHECK_INT(sock_ip_parse(STR("126.255.255.255"), &c), 0);
    CHECK_INT(sock_ip_parse(STR("::1"), &v6), 0);
    CHECK(sock_ip_equal(&a, &b) && !sock_ip_equal(&a, &c) && !sock_ip_equal(&a, &v6));
    CHECK(sock_ip_is_loopback(&a) && !sock_ip_is_loopback(&c) && sock_ip_is_loopback(&v6));
    CHECK_INT(sock_ip_parse(STR("::2"), &v6), 0);
    CHECK(!sock_ip_is_loopback(&v6));
    c = (struct sock_addr){.family = SOCK_LOCAL};
    CHECK(!sock_ip_is_loopback(&c));
    CHECK_INT(sock_ip_format(&c, text), 0);
    CHECK_INT(sock_addr_format(&c, text), 5);
    CHECK_STR(str_c(text), "unix:");
}

const struct test tests_sock_addr[] = {
    TEST(test_sock_addr_parse_table),
    TEST(test_sock_ip_parse_table),
    TEST(test_sock_cidr_table),
    TEST(test_sock_cidr_never_contains_local),
    TEST(test_sock_ip_compares),
    TEST_END,
};
