/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/uri.h"
#include "unit/test.h"

static void test_uri_parse_forms(void)
{
    static const struct {
        const char *method, *target;
        int status; /* 0: fine */
        enum uri_form form;
        const char *authority, *request_uri, *path, *query;
        bool has_query, https;
    } rows[] = {
        {"GET", "/", 0, URI_ORIGIN, "", "/", "/", ""},
        {"GET", "/a%2Fb?x=%2F", 0, URI_ORIGIN, "", "/a%2Fb?x=%2F", "/a%2Fb", "x=%2F", true},
        {"GET", "/x?", 0, URI_ORIGIN, "", "/x?", "/x", "", true},
        {"GET", "/x??a", 0, URI_ORIGIN, "", "/x??a", "/x", "?a", true},
        {"GET", "//evil/x", 0, URI_ORIGIN, "", "//evil/x", "//evil/x", ""},
        {"GET", "/\xff\xfe", 0, URI_ORIGIN, "", "/\xff\xfe", "/\xff\xfe", ""},
        {"GET", "http://h:81/p?q", 0, URI_ABSOLUTE, "h:81", "/p?q", "/p", "q", true},
        {"GET", "HTTPS://h", 0, URI_ABSOLUTE, "h", "/", "/", "", false, true},
        {"GET", "http://h?q", 0, URI_ABSOLUTE, "h", "/?q", "/", "q", true},
        {"GET", "http://[::1]:8/", 0, URI_ABSOLUTE, "[::1]:8", "/", "/", ""},
        {"OPTIONS", "*", 0, URI_ASTERISK, "", "*", "*", ""},
        {"OPTIONS", "/x", 0, URI_ORIGIN, "", "/x", "/x", ""},
        {"GET", "*", 400},
        {"options", "*", 400},
        {"OPTIONS", "*x", 400},
        {"GET", "", 400},
        {"GET", "x", 400},
        {"GET", "h:80", 400},
        {"GET", "ftp://h/", 400},
        {"GET", "http:/h/", 400},
        {"GET", "http:///x", 400},
        {"GET", "http://?x", 400},
        {"GET", "http://u:p@h/", 400},
        {"GET", "/x#f", 400},
        {"GET", "/x?a#f", 400},
        {"GET", "/a b", 400},
        {"GET", "/a\tb", 400},
        {"GET", "/a\x7f", 400},
        {"CONNECT", "h:443", 405},
        {"CONNECT", "/", 405},
        {"TRACE", "/", 405},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = {0};
        struct uri u = {.form = URI_ORIGIN};
        int status = 0;
        int rc = uri_parse(str_c(rows[i].method), str_c(rows[i].target), &a, &u, &status);

        test_row(rows[i].target);
        CHECK_INT(status, rows[i].status);
        CHECK_INT(rc != 0, rows[i].status != 0);
        if (rc == 0 && rows[i].status == 0) {
            CHECK_INT(u.form, rows[i].form);
            CHECK_STR(u.authority, rows[i].authority);
            CHECK_STR(u.request_uri, rows[i].request_uri);
            CHECK_STR(u.path, rows[i].path);
            CHECK_STR(u.query, rows[i].query);
            CHECK_INT(u.has_query, rows[i].has_query);
            CHECK_INT(u.https, rows[i].https);
        }
        arena_fini(&a);
    }
    test_row(NULL);
}

static void test_uri_decode_path_normalises_as_nginx(void)
{
    static const struct {
        const char *raw, *want; /* NULL: refused */
    } rows[] = {
        {"/", "/"},
        {"/a", "/a"},
        {"/a/", "/a/"},
        {"/a%2Fb", "/a/b"},
        {"/a%2fb%2F", "/a/b/"},
        {"//", "/"},
        {"//a///b//", "/a/b/"},
        {"/a/%2F/b", "/a/b"},
        {"/.", "/"},
        {"/./", "/"},
        {"/a/.", "/a/"},
        {"/a/./b", "/a/b"},
        {"/a/..", "/"},
        {"/a/../", "/"},
        {"/a/../b", "/b"},
        {"/a/b/../c", "/a/c"},
        {"/a/b/..", "/a/"},
        {"/a/b/../..", "/"},
        {"/a//../b", "/b"},
        {"/a/%2e%2E/b", "/b"},
        {"/a/.%2e", "/"},
        {"/a%2F..%2Fb", "/b"},
        {"/a/...", "/a/..."},
        {"/a/..b", "/a/..b"},
        {"/a/b..", "/a/b.."},
        {"/a/.b", "/a/.b"},
        {"/%252e%252e/", "/%2e%2e/"},
        {"/%2541", "/%41"},
        {"/a%20b+c", "/a b+c"},
        {"/index.php/PHP%0Ais_the_x.php", "/index.php/PHP\nis_the_x.php"},
        {"/a%3Fb%23", "/a?b#"},
        {"/a\\..\\b", "/a\\..\\b"},
        {"/a%5C..%5cb", "/a\\..\\b"},
        {"/%C3%A9", "/\xc3\xa9"},
        {"/%ff\xfe", "/\xff\xfe"},
        {"/..", NULL},
        {"/../", NULL},
        {"/../a", NULL},
        {"/a/../..", NULL},
        {"/a/../../b", NULL},
        {"/%2e%2e/", NULL},
        {"/..%2f", NULL},
        {"//..", NULL},
        {"/./..", NULL},
        {"/%00", NULL},
        {"/a%00.php", NULL},
        {"/%", NULL},
        {"/%4", NULL},
        {"/%4g", NULL},
        {"/%g4", NULL},
        {"/%-1", NULL},
        {"/%u0041", NULL},
        {"", NULL},
        {"a", NULL},
        {"%2Fa", NULL},
        {"*", NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = {0};
        struct str out = STR("untouched");
        int rc = uri_decode_path(str_c(rows[i].raw), &a, &out);

        test_row(rows[i].raw);
        CHECK_INT(rc, rows[i].want ? 0 : ERR_INVAL);
        CHECK_STR(out, rows[i].want ? rows[i].want : "untouched");
        if (rc == 0)
            CHECK_INT(strlen(out.p), out.len);
        arena_fini(&a);
    }
    test_row(NULL);
}

static void test_uri_decode_path_refuses_raw_nul(void)
{
    struct arena a = {0};
    struct str out;

    CHECK_INT(uri_decode_path(STR("/a\0b"), &a, &out), ERR_INVAL);
    arena_fini(&a);
}

static void test_uri_encode_path_is_safe_in_a_field(void)
{
    struct buf b = {0};

    uri_encode_path(STR("/a b/\xc3\xa9\\\r\n%?#\"<>~-._!$&'()*+,;=:@x"), &b);
    CHECK_STR(buf_str(&b), "/a%20b/%C3%A9%5C%0D%0A%25%3F%23%22%3C%3E~-._!$&'()*+,;=:@x");
    buf_fini(&b);
}

const struct test tests_uri[] = {TEST(test_uri_parse_forms),
    TEST(test_uri_decode_path_normalises_as_nginx), TEST(test_uri_decode_path_refuses_raw_nul),
    TEST(test_uri_encode_path_is_safe_in_a_field), TEST_END};
