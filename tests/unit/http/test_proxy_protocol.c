/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/proxy_protocol.h"
#include "unit/test.h"

#define SIG  "\r\n\r\n\0\r\nQUIT\n"
#define V4   "\x01\x02\x03\x04\x05\x06\x07\x08\x10\x00\x00\x50"
#define IP6  "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"
#define MAP  "\0\0\0\0\0\0\0\0\0\0\xff\xff\x01\x02\x03\x04"
#define X26  "xxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X106 X26 X26 X26 X26 "xx"

#define IN(lit) lit, sizeof(lit) - 1

struct row {
    const char *name;
    const char *data;
    size_t len;
    int rc;
    size_t consumed;
    const char *src, *dst; /* NULL: not known */
};

static const struct row rows[] = {
    {"v1 tcp4", IN("PROXY TCP4 1.2.3.4 5.6.7.8 4096 80\r\nGET"), 0, 36, "1.2.3.4:4096",
        "5.6.7.8:80"},
    {"v1 tcp6", IN("PROXY TCP6 ::1 2001:db8::2 1 65535\r\n"), 0, 36, "[::1]:1",
        "[2001:db8::2]:65535"},
    {"v1 mapped", IN("PROXY TCP6 ::ffff:1.2.3.4 ::1 1 2\r\n"), 0, 35, "1.2.3.4:1", "[::1]:2"},
    {"v1 unknown", IN("PROXY UNKNOWN\r\n"), 0, 15, NULL, NULL},
    {"v1 unknown with rest", IN("PROXY UNKNOWN ::1 x\r\n"), 0, 21, NULL, NULL},
    {"v1 wrong family", IN("PROXY TCP4 ::1 ::1 1 2\r\n"), ERR_PROTO},
    {"v1 wrong family 6", IN("PROXY TCP6 1.2.3.4 ::1 1 2\r\n"), ERR_PROTO},
    {"v1 udp", IN("PROXY UDP4 1.2.3.4 5.6.7.8 1 2\r\n"), ERR_PROTO},
    {"v1 port", IN("PROXY TCP4 1.2.3.4 5.6.7.8 65536 2\r\n"), ERR_PROTO},
    {"v1 port sign", IN("PROXY TCP4 1.2.3.4 5.6.7.8 +1 2\r\n"), ERR_PROTO},
    {"v1 port missing", IN("PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n"), ERR_PROTO},
    {"v1 two spaces", IN("PROXY TCP4  1.2.3.4 5.6.7.8 1 2\r\n"), ERR_PROTO},
    {"v1 extra", IN("PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3\r\n"), ERR_PROTO},
    {"v1 space at end", IN("PROXY TCP4 1.2.3.4 5.6.7.8 1 2 \r\n"), ERR_PROTO},
    {"v1 bare cr", IN("PROXY UNKNOWN\rX"), ERR_PROTO},
    {"v1 bare lf", IN("PROXY TCP4 1.2.3.4 5.6.7.8 1 2\nGET / HTTP/1.1\r\n"), ERR_PROTO},
    {"v1 scope", IN("PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n"), ERR_PROTO},
    {"v1 lower case", IN("proxy TCP4 "), ERR_PROTO},
    {"v1 too long", IN("PROXY UNKNOWN " X106 "\r\n"), ERR_PROTO},
    {"not a header", IN("GET / HTTP/1.1\r\n"), ERR_PROTO},
    {"v2 tcp4", IN(SIG "\x21\x11\0\x0c" V4 "GET"), 0, 28, "1.2.3.4:4096", "5.6.7.8:80"},
    {"v2 tcp4 tlv", IN(SIG "\x21\x11\0\x10" V4 "\x04\0\x01x"), 0, 32, "1.2.3.4:4096", "5.6.7.8:80"},
    {"v2 tcp6", IN(SIG "\x21\x21\0\x24" IP6 IP6 "\0\x01\0\x02"), 0, 52, "[2001:db8::1]:1",
        "[2001:db8::1]:2"},
    {"v2 mapped", IN(SIG "\x21\x21\0\x24" MAP IP6 "\0\x01\0\x02"), 0, 52, "1.2.3.4:1",
        "[2001:db8::1]:2"},
    {"v2 local", IN(SIG "\x20\0\0\0"), 0, 16, NULL, NULL},
    {"v2 local with addresses", IN(SIG "\x20\x11\0\x0c" V4), 0, 28, NULL, NULL},
    {"v2 unspec", IN(SIG "\x21\0\0\x02zz"), 0, 18, NULL, NULL},
    {"v2 udp4", IN(SIG "\x21\x12\0\x0c" V4), 0, 28, NULL, NULL},
    {"v2 unix", IN(SIG "\x21\x31\0\xd8" X106 X106 "zzzz"), 0, 232, "unix:", "unix:"},
    {"v2 short tcp4", IN(SIG "\x21\x11\0\x0b" V4), ERR_PROTO},
    {"v2 short tcp6", IN(SIG "\x21\x21\0\x0c" V4), ERR_PROTO},
    {"v2 short unix", IN(SIG "\x21\x31\0\x0c" V4), ERR_PROTO},
    {"v2 version", IN(SIG "\x11\x11\0\x0c" V4), ERR_PROTO},
    {"v2 command", IN(SIG "\x22\x11\0\x0c" V4), ERR_PROTO},
    {"v2 too big", IN(SIG "\x21\x11\xff\xff" V4), ERR_PROTO},
    {"v2 signature", IN("\r\n\r\n\0\r\nQUIX\n\x21\x11"), ERR_PROTO},
};

static void check_addr(const struct sock_addr *addr, const char *want)
{
    char text[SOCK_ADDR_TEXT];

    sock_addr_format(addr, text);
    CHECK_STR(str_c(text), want);
}

static void test_proxy_protocol_table(void)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct proxy_header h = {.known = false};
        size_t used = 0;
        int rc = proxy_protocol_parse(rows[i].data, rows[i].len, &used, &h);

        test_row(rows[i].name);
        CHECK_INT(rc, rows[i].rc);
        CHECK_INT(used, rows[i].consumed);
        CHECK_INT(h.known, rows[i].src != NULL);
        if (h.known && rows[i].src) {
            check_addr(&h.src, rows[i].src);
            check_addr(&h.dst, rows[i].dst);
        }
    }
    test_row(NULL);
}

/* Every shorter start of a good header asks for more; a start of a bad one never succeeds. */
static void test_proxy_protocol_prefixes_ask_for_more(void)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        size_t whole = rows[i].rc == 0 ? rows[i].consumed : rows[i].len;

        test_row(rows[i].name);
        for (size_t n = 0; n < whole; n++) {
            struct proxy_header h;
            size_t used = 0;
            int rc = proxy_protocol_parse(rows[i].data, n, &used, &h);

            if (rows[i].rc == 0)
                CHECK_INT(rc, ERR_AGAIN);
            else
                CHECK(rc == ERR_AGAIN || rc == ERR_PROTO);
            CHECK_INT(used, 0);
        }
    }
    test_row(NULL);
}

const struct test tests_proxy_protocol[] = {
    TEST(test_proxy_protocol_table), TEST(test_proxy_protocol_prefixes_ask_for_more), TEST_END};
