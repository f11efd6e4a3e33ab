/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/message.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "unit/test.h"

static const struct message_field headers[] = {
    {STR("Host"), STR("example.org")},
    {STR("Accept"), STR("*/*")},
    {STR("X-Empty"), STR("")},
};
static const struct message_field env[] = {{STR("APP_ENV"), STR("prod")}};

static struct message_request browser_request(void)
{
    return (struct message_request){
        .method = STR("POST"),
        .uri = STR("/a%20b?x=1"),
        .query = STR("x=1"),
        .script_filename = STR("/srv/www/index.php"),
        .script_name = STR("/index.php"),
        .document_root = STR("/srv/www"),
        .document_uri = STR("/index.php"),
        .path = STR("/asked/for"),
        .protocol = STR("HTTP/1.1"),
        .scheme = STR("https"),
        .server_name = STR("example.org"),
        .server_addr = STR("127.0.0.1"),
        .server_port = STR("443"),
        .remote_addr = STR("10.0.0.1"),
        .remote_port = STR("5555"),
        .server_software = STR("ephpm"),
        .content_type = STR(""), /* there, and empty */
        .request_id = STR("abc"),
        .content_length = 12,
        .time = 1234.5,
        .request_timeout_ms = 300000,
        .https = true,
        .body_fd = true,
        .measured = true,
        .headers = headers,
        .nheaders = ARRAY_LEN(headers),
        .env = env,
        .nenv = ARRAY_LEN(env),
    };
}

static void check_str(struct str got, struct str want)
{
    CHECK((got.p == NULL) == (want.p == NULL));
    CHECK(str_eq(got, want));
    if (got.p)
        CHECK_INT(got.p[got.len], '\0');
}

static void check_fields(
    const struct message_field *got, size_t n, const struct message_field *want)
{
    for (size_t i = 0; i < n; i++) {
        check_str(got[i].name, want[i].name);
        check_str(got[i].value, want[i].value);
    }
}

static void test_message_request_round_trip(void)
{
    struct message_request req = browser_request(), got;
    struct arena a = {0};
    struct buf b = {0};

    buf_add_lit(&b, "before");
    CHECK_INT(message_request_encode(&req, &b), 0);
    CHECK_INT(message_request_decode(b.p + 6, b.len - 6, &a, &got), 0);
    check_str(got.method, req.method);
    check_str(got.uri, req.uri);
    check_str(got.query, req.query);
    check_str(got.script_filename, req.script_filename);
    check_str(got.script_name, req.script_name);
    check_str(got.path_info, STR_NONE);
    check_str(got.document_root, req.document_root);
    check_str(got.document_uri, req.document_uri);
    check_str(got.path, req.path);
    check_str(got.protocol, req.protocol);
    check_str(got.scheme, req.scheme);
    check_str(got.server_name, req.server_name);
    check_str(got.server_addr, req.server_addr);
    check_str(got.server_port, req.server_port);
    check_str(got.remote_addr, req.remote_addr);
    check_str(got.remote_port, req.remote_port);
    check_str(got.server_software, req.server_software);
    check_str(got.content_type, req.content_type);
    check_str(got.cookie, STR_NONE);
    check_str(got.authorization, STR_NONE);
    check_str(got.request_id, req.request_id);
    CHECK_INT(got.content_length, 12);
    CHECK(got.time == 1234.5);
    CHECK_INT(got.request_timeout_ms, 300000);
    CHECK(got.https && got.body_fd && !got.head_only && !got.body_streaming && got.measured);
    CHECK_INT(got.nheaders, 3);
    CHECK_INT(got.nenv, 1);
    if (got.nheaders == 3 && got.nenv == 1) {
        check_fields(got.headers, 3, headers);
        check_fields(got.env, 1, env);
    }
    arena_fini(&a);
    buf_fini(&b);
}

/* Cut anywhere, or with a byte changed anywhere: refused or whole, and never read beyond (the copy
 * is exact, for ASan). */
static void test_message_request_damaged_is_refused_or_whole(void)
{
    struct message_request req = browser_request(), got;
    struct arena a = {0};
    struct buf b = {0};
    int refused = 0;
    char *p;

    CHECK_INT(message_request_encode(&req, &b), 0);
    for (size_t n = 0; n < b.len; n++) {
        p = mem_new(n);
        if (n > 0)
            memcpy(p, b.p, n);
        CHECK_INT(message_request_decode(p, n, &a, &got), ERR_CORRUPT);
        mem_free(p);
    }
    for (size_t i = 0; i < b.len; i++)
        for (int v = 0; v < 256; v += 15) {
            p = mem_new(b.len);
            memcpy(p, b.p, b.len);
            p[i] = (char)v;
            if (message_request_decode(p, b.len, &a, &got) < 0)
                refused++;
            else
                CHECK(got.method.p && got.uri.p && got.query.p && got.script_filename.p);
            arena_reset(&a);
            mem_free(p);
        }
    CHECK(refused > 1000);
    buf_add_char(&b, '\0');
    CHECK_INT(message_request_decode(b.p, b.len, &a, &got), ERR_CORRUPT);
    arena_fini(&a);
    buf_fini(&b);
}

static void test_message_request_encode_checks_limits(void)
{
    static struct message_field many[MESSAGE_MAX_FIELDS + 1];
    static const struct message_field nameless[] = {{STR(""), STR("x")}};
    struct message_request req = browser_request(), got;
    struct arena a = {0};
    struct buf b = {0};

    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        many[i] = (struct message_field){STR("n"), STR("v")};
    req.headers = many;
    req.nheaders = MESSAGE_MAX_FIELDS;
    CHECK_INT(message_request_encode(&req, &b), 0);
    CHECK_INT(message_request_decode(b.p, b.len, &a, &got), 0);
    CHECK_INT(got.nheaders, MESSAGE_MAX_FIELDS);
    buf_clear(&b);
    req.nheaders++;
    CHECK_INT(message_request_encode(&req, &b), ERR_TOOBIG);
    req = browser_request();
    req.env = nameless;
    CHECK_INT(message_request_encode(&req, &b), ERR_INVAL);
    req = browser_request();
    req.cookie = str_n(b.p, (size_t)MESSAGE_MAX_STRING + 1);
    CHECK_INT(message_request_encode(&req, &b), ERR_TOOBIG);
    req = browser_request();
    req.query = STR_NONE;
    CHECK_INT(message_request_encode(&req, &b), ERR_INVAL);
    CHECK_INT(b.len, 0);
    arena_fini(&a);
    buf_fini(&b);
}

static void test_message_head_round_trip(void)
{
    static const struct {
        const char *name;
        struct message_head head;
    } rows[] = {
        {"plain", {200, STR_NONE, headers, 3}},
        {"reason", {299, STR("Foo Bar"), headers, 1}},
        {"empty reason", {404, STR(""), NULL, 0}},
        {"odd status", {-7, STR_NONE, NULL, 0}},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct message_head got = {0};
        struct arena a = {0};
        struct buf b = {0};

        test_row(rows[i].name);
        CHECK_INT(message_head_encode(&rows[i].head, &b), 0);
        CHECK_INT(message_head_decode(b.p, b.len, &a, &got), 0);
        CHECK_INT(got.status, rows[i].head.status);
        check_str(got.reason, rows[i].head.reason);
        CHECK_INT(got.nfields, rows[i].head.nfields);
        if (got.nfields == rows[i].head.nfields)
            check_fields(got.fields, got.nfields, rows[i].head.fields);
        for (size_t n = 0; n < b.len; n++)
            CHECK(message_head_decode(b.p, n, &a, &got) == ERR_CORRUPT ||
                  (n == 8 && rows[i].head.nfields == 0)); /* whole without its reason */
        arena_fini(&a);
        buf_fini(&b);
    }
    test_row(NULL);
}

#define HEAD(status, n)        status "\0\0\0" n "\0\0\0"
#define ROW(name, bytes, want) {name, bytes, sizeof(bytes) - 1, want}

static void test_message_head_decode_is_strict(void)
{
    static const struct {
        const char *name;
        const char *p;
        size_t n;
        int want;
    } rows[] = {
        ROW("no fields", HEAD("\xc8", "\0"), 0),
        ROW("one field", HEAD("\xc8", "\1") "\xfe\1\0\0n\0\xff\1\0\0v\0", 0),
        ROW("empty name", HEAD("\xc8", "\1") "\xfe\0\0\0\0\xff\1\0\0v\0", ERR_CORRUPT),
        ROW("no NUL", HEAD("\xc8", "\1") "\xfe\1\0\0n\0\xff\1\0\0vx", ERR_CORRUPT),
        ROW("value first", HEAD("\xc8", "\1") "\xff\1\0\0n\0\xfe\1\0\0v\0", ERR_CORRUPT),
        ROW("one more byte", HEAD("\xc8", "\1") "\xfe\1\0\0n\0\xff\1\0\0v\0\0", ERR_CORRUPT),
        ROW("one more field", HEAD("\xc8", "\0") "\xfe\1\0\0n\0\xff\1\0\0v\0", ERR_CORRUPT),
        ROW("too many announced", HEAD("\xc8", "\2") "\xfe\1\0\0n\0\xff\1\0\0v\0", ERR_CORRUPT),
        ROW("huge count", "\xc8\0\0\0\xff\xff\xff\xff", ERR_CORRUPT),
        ROW("huge length", HEAD("\xc8", "\1") "\xfe\xff\xff\xff\0\xff\0\0\0\0", ERR_CORRUPT),
        ROW("unknown tag", HEAD("\xc8", "\0") "\x02\1\0\0n\0", ERR_CORRUPT),
        ROW("two reasons", HEAD("\xc8", "\0") "\1\0\0\0\0\1\0\0\0\0", ERR_CORRUPT),
        ROW("empty", "", ERR_CORRUPT),
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct message_head got;
        struct arena a = {0};

        test_row(rows[i].name);
        CHECK_INT(message_head_decode(rows[i].p, rows[i].n, &a, &got), rows[i].want);
        arena_fini(&a);
    }
    test_row(NULL);
}

static void test_message_head_encode_checks_limits(void)
{
    static char big[MESSAGE_MAX_HEAD_BYTES];
    struct message_field field = {STR("n"), {big, sizeof(big)}};
    struct message_head head = {200, STR_NONE, &field, 1};
    struct buf b = {0};

    CHECK_INT(message_head_encode(&head, &b), ERR_TOOBIG);
    field.value.len = sizeof(big) - 8 - 5 - 1 - 5;
    CHECK_INT(message_head_encode(&head, &b), 0);
    CHECK_INT(b.len, MESSAGE_MAX_HEAD_BYTES);
    buf_clear(&b);
    field.name.len = 0;
    CHECK_INT(message_head_encode(&head, &b), ERR_INVAL);
    head.nfields = MESSAGE_MAX_FIELDS + 1;
    CHECK_INT(message_head_encode(&head, &b), ERR_TOOBIG);
    CHECK_INT(b.len, 0);
    buf_fini(&b);
}

static void test_message_done_round_trip(void)
{
    struct message_done done = {.end = MESSAGE_END_MEMORY,
        .status = 500,
        .memory_peak = (uint64_t)5 << 32,
        .sessions = 3,
        .sessions_taken_over = 2,
        .sessions_not_written = 1,
        .session_wait_us = 1500000,
        .cpu_ns = UINT64_C(7000000000),
        .resident = 77,
        .php_us = 123456,
        .replace = MESSAGE_REPLACE_MEMORY};
    struct message_done got = {0};
    struct buf b = {0};

    message_done_encode(&done, &b);
    CHECK_INT(message_done_decode(b.p, b.len, &got), 0);
    CHECK_INT(got.end, MESSAGE_END_MEMORY);
    CHECK_INT(got.status, 500);
    CHECK(got.memory_peak == done.memory_peak && got.resident == 77 && got.php_us == 123456);
    CHECK(got.sessions == 3 && got.sessions_taken_over == 2 && got.sessions_not_written == 1);
    CHECK(got.session_wait_us == 1500000 && got.cpu_ns == UINT64_C(7000000000));
    CHECK(got.replace == MESSAGE_REPLACE_MEMORY && !got.client_gone);
    CHECK_INT(message_done_decode(b.p, b.len - 1, &got), ERR_CORRUPT);
    for (size_t i = 50; i < b.len; i++) {
        char old = b.p[i];

        b.p[i] = 9;
        CHECK_INT(message_done_decode(b.p, b.len, &got), ERR_CORRUPT);
        b.p[i] = old;
    }
    buf_add_char(&b, 0);
    CHECK_INT(message_done_decode(b.p, b.len, &got), ERR_CORRUPT);
    buf_fini(&b);
}

static void test_message_ready_round_trip(void)
{
    struct message_ready ready = {.pid = 4711, .php_version = "8.2.30", .opcache = true};
    struct message_ready got = {0};
    struct buf b = {0};

    message_ready_encode(&ready, &b);
    CHECK_INT(message_ready_decode(b.p, b.len, &got), 0);
    CHECK_INT(got.pid, 4711);
    CHECK_STR(str_c(got.php_version), "8.2.30");
    CHECK(got.opcache && !got.jit);
    CHECK_INT(message_ready_decode(b.p, b.len - 1, &got), ERR_CORRUPT);
    memset(b.p + 8, 'x', 32); /* no NUL */
    CHECK_INT(message_ready_decode(b.p, b.len, &got), ERR_CORRUPT);
    b.p[39] = '\0';
    CHECK_INT(message_ready_decode(b.p, b.len, &got), 0);
    b.p[9] = '\n';
    CHECK_INT(message_ready_decode(b.p, b.len, &got), ERR_CORRUPT);
    buf_fini(&b);
}

const struct test tests_message[] = {
    TEST(test_message_request_round_trip),
    TEST(test_message_request_damaged_is_refused_or_whole),
    TEST(test_message_request_encode_checks_limits),
    TEST(test_message_head_round_trip),
    TEST(test_message_head_decode_is_strict),
    TEST(test_message_head_encode_checks_limits),
    TEST(test_message_done_round_trip),
    TEST(test_message_ready_round_trip),
    TEST_END,
};
