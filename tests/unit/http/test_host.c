/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/host.h"
#include "unit/test.h"

#define LABEL_63 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk"

static void test_host_parse_table(void)
{
    static const struct {
        const char *raw, *name; /* NULL: refused */
        int port;
        enum host_kind kind;
        const char *key; /* NULL: none */
    } rows[] = {
        {"example.com", "example.com", -1, HOST_NAME, "example.com"},
        {"Example.COM:8080", "example.com", 8080, HOST_NAME, "example.com"},
        {"ex:9999", "ex", 9999, HOST_NAME, "ex"},
        {"example.com.", "example.com", -1, HOST_NAME, "example.com"},
        {"example.com.:80", "example.com", 80, HOST_NAME, "example.com"},
        {"example.com:", "example.com", -1, HOST_NAME, "example.com"},
        {"a_b-c.x", "a_b-c.x", -1, HOST_NAME, "a_b-c.x"},
        {"-a", "-a", -1, HOST_NAME, NULL},
        {"a:0", "a", 0, HOST_NAME, "a"},
        {"a:65535", "a", 65535, HOST_NAME, "a"},
        {"a:00080", "a", 80, HOST_NAME, "a"},
        {"127.0.0.1:8080", "127.0.0.1", 8080, HOST_IPV4, "127.0.0.1"},
        {"127.0.0.1", "127.0.0.1", -1, HOST_IPV4, "127.0.0.1"},
        {"1.2.3", "1.2.3", -1, HOST_NAME, "1.2.3"},
        {"[::1]", "[::1]", -1, HOST_IPV6, NULL},
        {"[2001:DB8::A]:443", "[2001:db8::a]", 443, HOST_IPV6, NULL},
        {"[::ffff:1.2.3.4]", "[::ffff:1.2.3.4]", -1, HOST_IPV6, NULL},
        {LABEL_63, LABEL_63, -1, HOST_NAME, LABEL_63},
        {LABEL_63 "x", NULL},
        {LABEL_63 "." LABEL_63 "." LABEL_63 "." LABEL_63, NULL},
        {"", NULL},
        {".", NULL},
        {"..", NULL},
        {".a", NULL},
        {"a..b", NULL},
        {"a..", NULL},
        {":80", NULL},
        {"a:65536", NULL},
        {"a:+80", NULL},
        {"a:-1", NULL},
        {"a: 80", NULL},
        {"a:8x", NULL},
        {"a:80:80", NULL},
        {"a:000080", NULL},
        {"a b", NULL},
        {"a/b", NULL},
        {"../etc", NULL},
        {"a\\b", NULL},
        {"a@b", NULL},
        {"a,b", NULL},
        {"a%41", NULL},
        {"a?b", NULL},
        {"a#b", NULL},
        {"\xc3\xa9.com", NULL},
        {"a\tb", NULL},
        {"<x>", NULL},
        {"::1", NULL},
        {"[::1", NULL},
        {"[]", NULL},
        {"[::1]80", NULL},
        {"[::1]:x", NULL},
        {"[1.2.3.4]", NULL},
        {"[fe80::1%eth0]", NULL},
        {"[::g]", NULL},
        {"[v1.x]", NULL},
        {"a[::1]", NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = {0};
        struct host h = {.port = -2};
        int rc = host_parse(str_c(rows[i].raw), &a, &h);

        test_row(rows[i].raw);
        CHECK_INT(rc, rows[i].name ? 0 : ERR_INVAL);
        if (rc == 0 && rows[i].name) {
            struct str key = STR_NONE;

            CHECK_STR(h.name, rows[i].name);
            CHECK_INT(h.port, rows[i].port);
            CHECK_INT(h.kind, rows[i].kind);
            CHECK_INT(host_site_key(&h, &key), rows[i].key ? 0 : ERR_INVAL);
            CHECK_STR(key, rows[i].key);
        }
        arena_fini(&a);
    }
    test_row(NULL);
}

static void test_host_parse_refuses_nul(void)
{
    struct arena a = {0};
    struct host h;

    CHECK_INT(host_parse(STR("a\0b"), &a, &h), ERR_INVAL);
    arena_fini(&a);
}

static void test_host_is_trusted_table(void)
{
    static const struct str patterns[] = {
        {"example.com", 11}, {"*.Example.org", 13}, {"local:8080", 10}, {"[::1]", 5}};
    static const struct {
        const char *name;
        bool want;
    } rows[] = {
        {"example.com", true},
        {"EXAMPLE.com", true},
        {"www.example.com", false},
        {"example.com.evil", false},
        {"www.example.org", true},
        {"a.b.example.org", true},
        {"example.org", false},
        {".example.org", false},
        {"evilexample.org", false},
        {"local", true},
        {"[::1]", true},
        {"", false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].name);
        CHECK_INT(host_is_trusted(str_c(rows[i].name), patterns, 4), rows[i].want);
        CHECK(host_is_trusted(str_c(rows[i].name), NULL, 0));
    }
    test_row(NULL);
}

const struct test tests_host[] = {TEST(test_host_parse_table), TEST(test_host_parse_refuses_nul),
    TEST(test_host_is_trusted_table), TEST_END};
