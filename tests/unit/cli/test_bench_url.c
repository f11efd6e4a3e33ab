/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/bench/url.h"
#include "unit/test.h"

extern const struct test tests_bench_url[];

static void test_url_and_its_request(void)
{
    static const struct {
        const char *url, *host;
        uint16_t port;
        const char *line, *host_header;
    } cases[] = {
        {"http://localhost", "localhost", 80, "GET / HTTP/1.1\r\n", "localhost"},
        {"HTTP://localhost/", "localhost", 80, "GET / HTTP/1.1\r\n", "localhost"},
        {"http://a.b:8080/x/y?z=1&w", "a.b", 8080, "GET /x/y?z=1&w HTTP/1.1\r\n", "a.b:8080"},
        {"http://a?q=/", "a", 80, "GET /?q=/ HTTP/1.1\r\n", "a"},
        {"http://a/p#part", "a", 80, "GET /p HTTP/1.1\r\n", "a"},
        {"http://a#part", "a", 80, "GET / HTTP/1.1\r\n", "a"},
        {"http://a:/", "a", 80, "GET / HTTP/1.1\r\n", "a"},
        {"http://[::1]:81/x", "::1", 81, "GET /x HTTP/1.1\r\n", "[::1]:81"},
        {"http://[fe80::1]", "fe80::1", 80, "GET / HTTP/1.1\r\n", "[fe80::1]"},
        {"http://a/%C3%BC", "a", 80, "GET /%C3%BC HTTP/1.1\r\n", "a"},
        {"http://a/x@y", "a", 80, "GET /x@y HTTP/1.1\r\n", "a"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf got = {0}, want = {0};
        struct bench_url url;

        test_row(cases[i].url);
        CHECK_INT(bench_url_parse(cases[i].url, &url, NULL), 0);
        CHECK_STR(str_c(url.host), cases[i].host);
        CHECK_INT(url.port, cases[i].port);
        CHECK_INT(bench_url_request(&url, NULL, 0, &got, NULL), 0);
        buf_printf(&want, "%sHost: %s\r\n\r\n", cases[i].line, cases[i].host_header);
        CHECK_STR(buf_str(&got), buf_cstr(&want));
        buf_fini(&got);
        buf_fini(&want);
    }
    test_row(NULL);
}

static void test_url_that_is_none(void)
{
    static const struct {
        const char *url, *why;
    } cases[] = {
        {"", "it starts with http://"},
        {"localhost:8080", "it starts with http://"},
        {"ftp://a/", "it starts with http://"},
        {"https://a/", "https is not possible yet"},
        {"HTTPS://a/", "https is not possible yet"},
        {"http://", "names no host"},
        {"http:///x", "names no host"},
        {"http://:80/", "names no host"},
        {"http://[::1/", "names no host"},
        {"http://[::1]x/", "names no host"},
        {"http://[]/", "names no host"},
        {"http://a:0/", "port"},
        {"http://a:65536/", "port"},
        {"http://a:8x/", "port"},
        {"http://a:-1/", "port"},
        {"http://a:b@c/", "-H 'Authorization"},
        {"http://a/ b", "%XX"},
        {"http://a/\xc3\xbc", "%XX"},
        {"http://a/\r\nX: y", "%XX"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct bench_url url;
        struct err err = {0};

        test_row(cases[i].url);
        CHECK(bench_url_parse(cases[i].url, &url, &err) < 0);
        CHECK(str_find(str_c(err.text), str_c(cases[i].why)) >= 0);
    }
    test_row(NULL);
}

static void test_url_with_a_host_that_is_too_long(void)
{
    struct buf text = {0};
    struct bench_url url;

    buf_add_lit(&text, "http://");
    for (int i = 0; i < 255; i++)
        buf_add_char(&text, 'a');
    CHECK_INT(bench_url_parse(buf_cstr(&text), &url, NULL), 0);
    buf_add_char(&text, 'a');
    CHECK_INT(bench_url_parse(buf_cstr(&text), &url, NULL), ERR_INVAL);
    buf_fini(&text);
}

static void test_request_with_headers(void)
{
    static const char *const good[] = {"Accept:text/html ", "host: other", "X-Empty:"};
    static const char *const bad[] = {"", "none", ": x", "A B: x", "X: a\nb", "Connection: close",
        "content-length: 1", "Transfer-Encoding: chunked", "Expect: 100-continue"};
    struct buf got = {0};
    struct bench_url url;

    CHECK_INT(bench_url_parse("http://a/", &url, NULL), 0);
    CHECK_INT(bench_url_request(&url, good, ARRAY_LEN(good), &got, NULL), 0);
    CHECK_STR(
        buf_str(&got), "GET / HTTP/1.1\r\nAccept: text/html\r\nhost: other\r\nX-Empty: \r\n\r\n");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct err err = {0};

        test_row(bad[i]);
        buf_clear(&got);
        CHECK_INT(bench_url_request(&url, &bad[i], 1, &got, &err), ERR_INVAL);
        CHECK(str_starts(str_c(err.text), STR("-H")));
    }
    test_row(NULL);
    buf_fini(&got);
}

const struct test tests_bench_url[] = {
    TEST(test_url_and_its_request),
    TEST(test_url_that_is_none),
    TEST(test_url_with_a_host_that_is_too_long),
    TEST(test_request_with_headers),
    TEST_END,
};
