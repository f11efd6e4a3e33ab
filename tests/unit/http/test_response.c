/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/response.h"

#include "unit/test.h"

/* Fields as text: one "Name: value" a line, '|' ends a line. */
static void fields_from(struct fields *f, struct arena *a, const char *text)
{
    struct str rest = str_c(text), line;

    fields_init(f, a);
    while (str_split(&rest, '|', &line)) {
        ptrdiff_t colon = str_chr(line, ':');

        if (line.len == 0)
            continue;
        if (colon < 0)
            fields_add(f, line, STR(""));
        else
            fields_add(
                f, str_sub(line, 0, (size_t)colon), str_sub(line, (size_t)colon + 1, line.len));
    }
}

static void fields_to(struct buf *b, const struct fields *f)
{
    buf_clear(b);
    for (size_t i = 0; i < f->count; i++) {
        if (i > 0)
            buf_add_char(b, '|');
        buf_add_str(b, f->items[i].name);
        buf_add_char(b, ':');
        buf_add_str(b, f->items[i].value);
    }
}

static void collect(void *arg, enum response_drop why, struct str name, struct str value)
{
    struct buf *b = arg;

    (void)name;
    (void)value;
    if (b->len > 0)
        buf_add_char(b, ' ');
    buf_add_str(b, str_c(response_drop_name(why)));
}

static const struct {
    const char *name;
    int status;
    const char *reason, *fields;
    int want_status;
    const char *want_reason, *want_fields;
    int64_t want_length;
    const char *drops;
} check_rows[] = {
    {"plain", 200, "", "Content-Type: text/html|X-A:1", 200, "OK", "Content-Type:text/html|X-A:1",
        -1, ""},
    {"order, case, duplicates", 200, "", "Set-Cookie: a=1|x-b: 2|Set-Cookie: b=2", 200, "OK",
        "Set-Cookie:a=1|x-b:2|Set-Cookie:b=2", -1, ""},
    {"reason", 299, "Foo Bar", "", 299, "Foo Bar", "", -1, ""},
    {"bad reason", 299, "Foo\r\nX: y", "", 299, "Unknown", "", -1, ""},
    {"trim", 200, "", "X-A: \t v  w \t", 200, "OK", "X-A:v  w", -1, ""},
    {"empty value", 200, "", "X-A:", 200, "OK", "X-A:", -1, ""},
    {"no colon name", 200, "", "No Colon", 200, "OK", "", -1, "bad_name"},
    {"empty name", 200, "", ": empty", 200, "OK", "", -1, "bad_name"},
    {"space before colon", 200, "", "X : 1|Y:2", 200, "OK", "Y:2", -1, "bad_name"},
    {"cr in value", 200, "", "X: a\rb|Y: 2", 200, "OK", "Y:2", -1, "bad_value"},
    {"lf in value", 200, "", "X: a\r\nSet-Cookie: b", 200, "OK", "", -1, "bad_value"},
    {"leading lf", 200, "", "X: \nb", 200, "OK", "", -1, "bad_value"},
    {"high bytes", 200, "", "X: \xc3\xa9", 200, "OK", "X:\xc3\xa9", -1, ""},
    {"hop by hop", 200, "",
        "Connection: close|Keep-Alive: 1|Proxy-Connection: x|TE: x|Trailer: x|"
        "Transfer-Encoding: chunked|UPGRADE: h2c|A: 1",
        200, "OK", "A:1", -1,
        "hop_by_hop hop_by_hop hop_by_hop hop_by_hop hop_by_hop hop_by_hop hop_by_hop"},
    {"status -1", -1, "", "", 500, "Internal Server Error", "", -1, "bad_status"},
    {"status 0", 0, "Zero", "", 500, "Internal Server Error", "", -1, "bad_status"},
    {"status 999", 999, "", "X:1", 500, "Internal Server Error", "X:1", -1, "bad_status"},
    {"status 100 final", 100, "", "", 500, "Internal Server Error", "", -1, "bad_status"},
    {"status field", 200, "", "Status: 404 Not Here|X:1", 404, "Not Here", "X:1", -1, ""},
    {"status field number", 200, "", "status: 503", 503, "Service Unavailable", "", -1, ""},
    {"status field bad", 200, "", "Status: abc", 200, "OK", "", -1, "bad_status_line"},
    {"status field 1xx", 200, "", "Status: 100", 200, "OK", "", -1, "bad_status_line"},
    {"status field long", 200, "", "Status: 4040", 200, "OK", "", -1, "bad_status_line"},
    {"length", 200, "", "Content-Length: 12", 200, "OK", "", 12, ""},
    {"length twice", 200, "", "Content-Length: 12|content-length: 12", 200, "OK", "", 12, ""},
    {"lengths differ", 200, "", "Content-Length: 12|Content-Length: 13", 200, "OK", "", -1,
        "bad_content_length"},
    {"length sign", 200, "", "Content-Length: +5", 200, "OK", "", -1, "bad_content_length"},
    {"length list", 200, "", "Content-Length: 5, 5", 200, "OK", "", -1, "bad_content_length"},
    {"length hex", 200, "", "Content-Length: 0x5", 200, "OK", "", -1, "bad_content_length"},
    {"length empty", 200, "", "Content-Length:", 200, "OK", "", -1, "bad_content_length"},
    {"length bad then good", 200, "", "Content-Length: x|Content-Length: 5", 200, "OK", "", -1,
        "bad_content_length"},
    {"length huge", 200, "", "Content-Length: 18446744073709551615", 200, "OK", "", -1,
        "bad_content_length"},
    {"204", 204, "", "Content-Length: 3|Content-Type: a/b", 204, "No Content", "Content-Type:a/b",
        -1, ""},
    {"304 drops type", 304, "", "Content-Type: a/b|ETag: \"x\"|Content-Length: 9", 304,
        "Not Modified", "ETag:\"x\"", -1, ""},
    {"last type counts", 200, "", "Content-Type: a/b|X:1|content-type: c/d", 200, "OK",
        "X:1|content-type:c/d", -1, ""},
    {"empty type omitted", 200, "", "Content-Type: |X:1", 200, "OK", "X:1", -1, ""},
};

static void test_response_check_cases(void)
{
    struct buf text = {0}, drops = {0};
    struct arena a = {0};

    for (size_t i = 0; i < ARRAY_LEN(check_rows); i++) {
        struct response_head h;
        struct fields f;
        struct response_raw raw = {check_rows[i].status, str_c(check_rows[i].reason), &f};

        test_row(check_rows[i].name);
        fields_from(&f, &a, check_rows[i].fields);
        buf_clear(&drops);
        response_check(&raw, &a, collect, &drops, &h);
        fields_to(&text, &h.fields);
        CHECK_INT(h.status, check_rows[i].want_status);
        CHECK_STR(h.reason, check_rows[i].want_reason);
        CHECK_STR(buf_str(&text), check_rows[i].want_fields);
        CHECK_INT(h.content_length, check_rows[i].want_length);
        CHECK_STR(buf_str(&drops), check_rows[i].drops);
        CHECK_INT(h.no_body, h.status == 204 || h.status == 304);
        arena_reset(&a);
    }
    test_row(NULL);
    buf_fini(&text);
    buf_fini(&drops);
    arena_fini(&a);
}

static void test_response_check_nul_in_value(void)
{
    struct response_head h;
    struct arena a = {0};
    struct fields f;
    struct response_raw raw = {200, STR_NONE, &f};

    fields_init(&f, &a);
    fields_add(&f, STR("X"), STR("a\0b"));
    fields_add(&f, STR("X\0"), STR("b"));
    response_check(&raw, &a, NULL, NULL, &h);
    CHECK_INT(h.fields.count, 0);
    arena_fini(&a);
}

static void test_response_check_takes_instructions(void)
{
    struct response_head h;
    struct arena a = {0};
    struct fields f;
    struct response_raw raw = {200, STR_NONE, &f};

    fields_from(&f, &a,
        "X-Accel-Redirect: /p/f|x-sendfile: /srv/f|X-Accel-Buffering: no|X-Accel-Charset: utf-8|"
        "X-Accel-Expires: 10|X-Accel-Limit-Rate: 5|X-Accel-Other: 1");
    response_check(&raw, &a, NULL, NULL, &h);
    CHECK_STR(h.accel_redirect, "/p/f");
    CHECK_STR(h.sendfile, "/srv/f");
    CHECK_INT(h.buffering, RESPONSE_BUFFERING_OFF);
    CHECK_STR(h.accel_charset, "utf-8");
    CHECK_STR(h.accel_expires, "10");
    CHECK_STR(h.accel_limit_rate, "5");
    CHECK_INT(h.fields.count, 1);
    fields_from(&f, &a, "X-Accel-Buffering: yes");
    response_check(&raw, &a, NULL, NULL, &h);
    CHECK_INT(h.buffering, RESPONSE_BUFFERING_ON);
    CHECK(h.accel_redirect.p == NULL);
    fields_from(&f, &a, "X-Accel-Buffering: perhaps");
    response_check(&raw, &a, NULL, NULL, &h);
    CHECK_INT(h.buffering, RESPONSE_BUFFERING_DEFAULT);
    arena_fini(&a);
}

static void test_response_check_info_is_for_early_hints(void)
{
    struct buf out = {0};
    struct response_head h;
    struct arena a = {0};
    struct fields f;
    struct response_raw raw = {103, STR_NONE, &f};
    struct response_send send = {.framing = RESPONSE_LENGTH, .date = STR("D"), .server = STR("S")};

    fields_from(&f, &a, "Link: </a.css>; rel=preload|Content-Length: 3|Status: 200");
    CHECK_INT(response_check_info(&raw, &a, NULL, NULL, &h), 0);
    response_write_head(&out, &h, &send);
    CHECK_STR(buf_str(&out), "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n");
    for (int status = 99; status < 300; status += status == 101 ? 99 : 1) {
        raw.status = status;
        CHECK_INT(response_check_info(&raw, &a, NULL, NULL, &h), ERR_INVAL);
    }
    buf_fini(&out);
    arena_fini(&a);
}

static void test_response_write_head_cases(void)
{
    static const struct {
        const char *name;
        int status;
        const char *fields, *custom;
        enum response_framing framing;
        enum response_connection connection;
        const char *want;
    } rows[] = {
        {"length", 200, "Content-Type: text/html", NULL, RESPONSE_LENGTH, RESPONSE_CONN_NONE,
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nDate: D\r\nServer: S\r\n"
            "Content-Length: 1234567890123\r\n\r\n"},
        {"chunked", 404, "", NULL, RESPONSE_CHUNKED, RESPONSE_CONN_CLOSE,
            "HTTP/1.1 404 Not Found\r\nDate: D\r\nServer: S\r\nConnection: close\r\n"
            "Transfer-Encoding: chunked\r\n\r\n"},
        {"none", 200, "", NULL, RESPONSE_NONE, RESPONSE_CONN_KEEP_ALIVE,
            "HTTP/1.1 200 OK\r\nDate: D\r\nServer: S\r\nConnection: keep-alive\r\n\r\n"},
        {"204 frames nothing", 204, "", NULL, RESPONSE_CHUNKED, RESPONSE_CONN_NONE,
            "HTTP/1.1 204 No Content\r\nDate: D\r\nServer: S\r\n\r\n"},
        {"304 frames nothing", 304, "Content-Type: a/b|ETag: x", NULL, RESPONSE_LENGTH,
            RESPONSE_CONN_NONE,
            "HTTP/1.1 304 Not Modified\r\nETag: x\r\nDate: D\r\nServer: S\r\n\r\n"},
        {"101", 101, "Upgrade: websocket", "X: 1", RESPONSE_NONE, RESPONSE_CONN_UPGRADE,
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\n\r\n"},
        {"own date and server", 200, "date: X|SERVER: Y", NULL, RESPONSE_NONE, RESPONSE_CONN_NONE,
            "HTTP/1.1 200 OK\r\ndate: X\r\nSERVER: Y\r\n\r\n"},
        {"custom replaces", 200, "X-Frame: a|B: 1|Set-Cookie: c=1",
            "x-frame: d|Set-Cookie: e=2|N: 1|N: 2|Server: Mine", RESPONSE_NONE, RESPONSE_CONN_NONE,
            "HTTP/1.1 200 OK\r\nB: 1\r\nSet-Cookie: c=1\r\nx-frame: d\r\nSet-Cookie: e=2\r\n"
            "N: 1\r\nN: 2\r\nServer: Mine\r\nDate: D\r\n\r\n"},
    };
    struct buf out = {0};
    struct arena a = {0};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct response_head h;
        struct fields custom, f;
        struct response_send send = {.framing = rows[i].framing,
            .length = 1234567890123,
            .connection = rows[i].connection,
            .date = STR("D"),
            .server = STR("S")};

        test_row(rows[i].name);
        response_head_init(&h, rows[i].status, &a);
        fields_from(&f, &a, rows[i].fields);
        for (size_t k = 0; k < f.count; k++)
            fields_add(&h.fields, f.items[k].name, str_trim(f.items[k].value));
        fields_from(&custom, &a, rows[i].custom ? rows[i].custom : "");
        for (size_t k = 0; k < custom.count; k++)
            custom.items[k].value = str_trim(custom.items[k].value);
        send.custom = rows[i].custom ? &custom : NULL;
        buf_clear(&out);
        response_write_head(&out, &h, &send);
        CHECK_STR(buf_str(&out), rows[i].want);
        arena_reset(&a);
    }
    test_row(NULL);
    buf_fini(&out);
    arena_fini(&a);
}

static void test_response_fields_set_remove_and_custom(void)
{
    struct buf text = {0};
    struct arena a = {0};
    struct fields f, custom;

    fields_from(&f, &a, "A:1|B:2|a:3");
    response_fields_set(&f, STR("A"), STR("9"));
    response_fields_set(&f, STR("C"), STR("4"));
    fields_to(&text, &f);
    CHECK_STR(buf_str(&text), "A:9|B:2|C:4");
    CHECK_INT(response_fields_remove(&f, STR("b")), 1);
    CHECK_INT(response_fields_remove(&f, STR("b")), 0);
    fields_from(&custom, &a, "a:x|Set-Cookie:1|a:y");
    response_apply_custom(&f, &custom);
    fields_to(&text, &f);
    CHECK_STR(buf_str(&text), "C:4|a:x|Set-Cookie:1|a:y");
    buf_fini(&text);
    arena_fini(&a);
}

static void test_response_reason_and_names(void)
{
    CHECK_STR(response_reason(200), "OK");
    CHECK_STR(response_reason(413), "Content Too Large");
    CHECK_STR(response_reason(599), "Unknown");
    CHECK(response_forbids_body(100) && response_forbids_body(204) && response_forbids_body(304));
    CHECK(!response_forbids_body(200) && !response_forbids_body(205));
    CHECK(response_is_hop_by_hop(STR("connection")) && response_is_hop_by_hop(STR("TE")));
    CHECK(!response_is_hop_by_hop(STR("Content-Length")) && !response_is_hop_by_hop(STR("")));
}

const struct test tests_response[] = {
    TEST(test_response_check_cases),
    TEST(test_response_check_nul_in_value),
    TEST(test_response_check_takes_instructions),
    TEST(test_response_check_info_is_for_early_hints),
    TEST(test_response_write_head_cases),
    TEST(test_response_fields_set_remove_and_custom),
    TEST(test_response_reason_and_names),
    TEST_END,
};
