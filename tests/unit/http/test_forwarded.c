/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/buf.h"
#include "http/forwarded.h"
#include "unit/test.h"

static struct forwarded_rules rules_default(struct forwarded_net nets[3])
{
    CHECK_INT(forwarded_net_parse(STR("10.0.0.0/8"), &nets[0]), 0);
    CHECK_INT(forwarded_net_parse(STR("127.0.0.1"), &nets[1]), 0);
    CHECK_INT(forwarded_net_parse(STR("fd00::/8"), &nets[2]), 0);
    return (struct forwarded_rules){nets, 3, true};
}

static const struct {
    const char *peer;     /* "unix" for a local one */
    const char *lines[6]; /* name, value, ... */
    const char *client;
    const char *scheme;
    const char *host;
    int port;
} rows[] = {
    /* an untrusted peer says nothing */
    {"1.1.1.1",
        {"X-Forwarded-For", "9.9.9.9", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "h"},
        "1.1.1.1:5", "http", "", -1},
    {"1.1.1.1", {"Forwarded", "for=9.9.9.9;proto=https;host=h"}, "1.1.1.1:5", "http", "", -1},
    {"10.0.0.1", {NULL}, "10.0.0.1:5", "http", "", -1},
    /* addresses, right to left */
    {"10.0.0.1", {"x-forwarded-for", "9.9.9.9"}, "9.9.9.9:0", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "6.6.6.6, 9.9.9.9"}, "9.9.9.9:0", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "6.6.6.6, 9.9.9.9 ,10.1.1.1,127.0.0.1"}, "9.9.9.9:0", "http",
        "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "6.6.6.6", "X-Forwarded-For", "9.9.9.9,10.1.1.1"}, "9.9.9.9:0",
        "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "10.9.9.9, 10.1.1.1"}, "10.9.9.9:0", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", ",, 9.9.9.9 ,,"}, "9.9.9.9:0", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", ""}, "10.0.0.1:5", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "9.9.9.9:1234"}, "9.9.9.9:1234", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "2001:db8::1"}, "[2001:db8::1]:0", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "[2001:db8::1]"}, "[2001:db8::1]:0", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "[2001:db8::1]:77"}, "[2001:db8::1]:77", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "::ffff:9.9.9.9"}, "9.9.9.9:0", "http", "", -1},
    {"fd00::1", {"X-Forwarded-For", "9.9.9.9, fd00::2"}, "9.9.9.9:0", "http", "", -1},
    {"unix", {"X-Forwarded-For", "9.9.9.9"}, "9.9.9.9:0", "http", "", -1},
    {"unix", {NULL}, "unix:", "http", "", -1},
    /* what is no address ends the walk */
    {"10.0.0.1", {"X-Forwarded-For", "unknown"}, "10.0.0.1:5", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "9.9.9.9, unknown"}, "10.0.0.1:5", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "9.9.9.9, bad, 10.1.1.1"}, "10.1.1.1:0", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "9.9.9.9:99999"}, "10.0.0.1:5", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "[::1"}, "10.0.0.1:5", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "[1.2.3.4]"}, "10.0.0.1:5", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "\", 9.9.9.9"}, "9.9.9.9:0", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", ":80"}, "10.0.0.1:5", "http", "", -1},
    /* scheme, host, port */
    {"10.0.0.1", {"X-Forwarded-Proto", "https"}, "10.0.0.1:5", "https", "", -1},
    {"10.0.0.1", {"X-Forwarded-Proto", "HTTPS"}, "10.0.0.1:5", "https", "", -1},
    {"10.0.0.1", {"X-Forwarded-Proto", "wss"}, "10.0.0.1:5", "https", "", -1},
    {"10.0.0.1", {"X-Forwarded-Proto", "ftp"}, "10.0.0.1:5", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-Proto", "https, http"}, "10.0.0.1:5", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "9.9.9.9, 10.1.1.1", "X-Forwarded-Proto", "https, http"},
        "9.9.9.9:0", "https", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "9.9.9.9, 10.1.1.1", "X-Forwarded-Proto", "https"},
        "9.9.9.9:0", "https", "", -1},
    {"10.0.0.1", {"X-Forwarded-For", "6.6.6.6, 9.9.9.9", "X-Forwarded-Proto", "https, http"},
        "9.9.9.9:0", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-Host", "a.example, b.example", "X-Forwarded-Port", "8443"},
        "10.0.0.1:5", "http", "b.example", 8443},
    {"10.0.0.1", {"X-Forwarded-Port", "70000"}, "10.0.0.1:5", "http", "", -1},
    {"10.0.0.1", {"X-Forwarded-Port", "+1"}, "10.0.0.1:5", "http", "", -1},
    /* RFC 7239 */
    {"10.0.0.1", {"Forwarded", "for=9.9.9.9;proto=https;host=h.example;by=10.0.0.1"}, "9.9.9.9:0",
        "https", "h.example", -1},
    {"10.0.0.1", {"Forwarded", "For=\"[2001:db8::1]:47\""}, "[2001:db8::1]:47", "http", "", -1},
    {"10.0.0.1", {"Forwarded", "for=\"9.9.9.9:_x\" ; Proto=https"}, "9.9.9.9:0", "https", "", -1},
    {"10.0.0.1", {"Forwarded", "for=6.6.6.6;host=no, for=9.9.9.9;host=yes, for=10.1.1.1;host=in"},
        "9.9.9.9:0", "http", "yes", -1},
    {"10.0.0.1", {"Forwarded", "for=9.9.9.9", "Forwarded", "for=10.1.1.1"}, "9.9.9.9:0", "http", "",
        -1},
    {"10.0.0.1", {"Forwarded", "for=unknown;proto=https"}, "10.0.0.1:5", "https", "", -1},
    {"10.0.0.1", {"Forwarded", "for=9.9.9.9;host=x, for=_hidden;host=y"}, "10.0.0.1:5", "http", "y",
        -1},
    {"10.0.0.1", {"Forwarded", "for=9.9.9.9, for=_hidden, for=10.1.1.1"}, "10.1.1.1:0", "http", "",
        -1},
    {"10.0.0.1", {"Forwarded", "for=\"x, for=9.9.9.9"}, "9.9.9.9:0", "http", "", -1},
    {"10.0.0.1", {"Forwarded", "for=\"x, for=\"[2001:db8::1]\""}, "[2001:db8::1]:0", "http", "",
        -1},
    {"10.0.0.1", {"Forwarded", "for=\"\\\", for=9.9.9.9"}, "9.9.9.9:0", "http", "", -1},
    {"10.0.0.1", {"Forwarded", "nonsense"}, "10.0.0.1:5", "http", "", -1},
    {"10.0.0.1", {"Forwarded", "=;;,"}, "10.0.0.1:5", "http", "", -1},
    {"10.0.0.1", {"Forwarded", "for=6.6.6.6;proto=https", "X-Forwarded-For", "9.9.9.9"},
        "9.9.9.9:0", "http", "", -1},
};

static void test_forwarded_table(void)
{
    struct forwarded_net nets[3];
    struct forwarded_rules rules = rules_default(nets);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = {0};
        struct fields f;
        struct forwarded out;
        struct sock_addr peer = {.family = SOCK_LOCAL};
        char text[SOCK_ADDR_TEXT];

        test_row(rows[i].lines[1] ? rows[i].lines[1] : rows[i].peer);
        fields_init(&f, &a);
        for (size_t k = 0; k < 6 && rows[i].lines[k]; k += 2)
            fields_add(&f, str_c(rows[i].lines[k]), str_c(rows[i].lines[k + 1]));
        if (strcmp(rows[i].peer, "unix") != 0) {
            CHECK_INT(sock_ip_parse(str_c(rows[i].peer), &peer), 0);
            peer.port = 5;
        }
        forwarded_resolve(&rules, &peer, false, &f, &out);
        sock_addr_format(&out.client, text);
        CHECK_STR(str_c(text), rows[i].client);
        CHECK_INT(out.https, strcmp(rows[i].scheme, "https") == 0);
        CHECK_STR(out.host, rows[i].host);
        CHECK_INT(out.port, rows[i].port);
        CHECK_INT(out.trusted, strcmp(rows[i].peer, "1.1.1.1") != 0);
        arena_fini(&a);
    }
    test_row(NULL);
}

static void test_forwarded_keeps_the_scheme_of_the_connection(void)
{
    struct forwarded_net nets[3];
    struct forwarded_rules rules = rules_default(nets);
    struct sock_addr peer;
    struct arena a = {0};
    struct forwarded out;
    struct fields f;

    fields_init(&f, &a);
    CHECK_INT(sock_ip_parse(STR("1.1.1.1"), &peer), 0);
    forwarded_resolve(&rules, &peer, true, &f, &out);
    CHECK(out.https);
    fields_add(&f, STR("X-Forwarded-Proto"), STR("http"));
    forwarded_resolve(&rules, &peer, true, &f, &out);
    CHECK(out.https);
    CHECK_INT(sock_ip_parse(STR("10.1.1.1"), &peer), 0);
    forwarded_resolve(&rules, &peer, true, &f, &out);
    CHECK(!out.https);
    arena_fini(&a);
}

/* More proxies than anybody has: the walk ends, quickly and within bounds. */
static void test_forwarded_long_list(void)
{
    struct forwarded_net nets[3];
    struct forwarded_rules rules = rules_default(nets);
    struct sock_addr peer;
    struct arena a = {0};
    struct forwarded out;
    struct fields f;
    struct buf b = {0};

    buf_add_str(&b, STR("9.9.9.9"));
    for (int i = 0; i < 1000; i++)
        buf_printf(&b, ", 10.0.%d.%d", i / 250, i % 250);
    fields_init(&f, &a);
    fields_add(&f, STR("X-Forwarded-For"), buf_str(&b));
    CHECK_INT(sock_ip_parse(STR("10.1.1.1"), &peer), 0);
    forwarded_resolve(&rules, &peer, false, &f, &out);
    CHECK_INT(out.client.ip[0], 10);
    CHECK_INT(out.client.ip[2], 3);
    buf_fini(&b);
    arena_fini(&a);
}

static void test_forwarded_net_parse_refuses_garbage(void)
{
    static const char *const bad[] = {"", "x", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "::/129"};
    struct forwarded_net n;

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        test_row(bad[i]);
        CHECK_INT(forwarded_net_parse(str_c(bad[i]), &n), ERR_INVAL);
    }
    test_row(NULL);
}

const struct test tests_forwarded[] = {TEST(test_forwarded_table),
    TEST(test_forwarded_keeps_the_scheme_of_the_connection), TEST(test_forwarded_long_list),
    TEST(test_forwarded_net_parse_refuses_garbage), TEST_END};
