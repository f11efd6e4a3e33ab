/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/buf.h"
#include "base/mem.h"
#include "http/h1_parser.h"
#include "unit/test.h"

#define IN(lit) lit, sizeof(lit) - 1
#define H       "Host: a\r\n"
#define GET     "GET / HTTP/1.1\r\n"
#define POST    "POST / HTTP/1.1\r\n" H
#define END     "\r\n"
#define CL(v)   POST "Content-Length:" v "\r\n" END
#define TE(v)   POST "Transfer-Encoding:" v "\r\n" END

static const struct h1_limits limits = {.head_bytes = 512, .fields = 8, .uri_bytes = 100};

/* Parses data in pieces of step bytes, each time from a copy that just holds them. */
static int parse_steps(struct h1_parser *p, struct arena *a, struct str data, size_t step,
    struct h1_head *out, size_t *consumed, struct buf *copy)
{
    int rc = ERR_AGAIN;

    h1_parser_init(p, &limits, a);
    for (size_t n = 0; rc == ERR_AGAIN && n < data.len;) {
        n = MIN(n + step, data.len);
        buf_fini(copy);
        buf_add(copy, data.p, n);
        rc = h1_parse_head(p, copy->p, copy->len, out, consumed);
    }
    return rc;
}

enum { WAITS = 1 }; /* a status of rows that ask for more bytes */

static const struct {
    const char *data;
    size_t len;
    int status;
} verdicts[] = {
    /* good */
    {IN(GET H END), 0},
    {IN("\r\n" GET H END), 0},
    {IN("GET / HTTP/1.0\r\n\r\n"), 0},
    {IN("GET / HTTP/1.0\r\n" H END), 0},
    {IN("PROPFIND /x HTTP/1.1\r\n" H END), 0},
    {IN("QUERY /x HTTP/1.1\r\n" H END), 0},
    {IN("get /x HTTP/1.1\r\n" H END), 0},
    {IN("X!#$%&'*+-.^_`|~9 /x HTTP/1.1\r\n" H END), 0},
    {IN("GET http://h/x HTTP/1.1\r\n" H END), 0},
    {IN("OPTIONS * HTTP/1.1\r\n" H END), 0},
    {IN("CONNECT h:443 HTTP/1.1\r\n" H END), 0},
    {IN("GET /\xff\xc3\xa9 HTTP/1.1\r\n" H END), 0},
    {IN(GET H "X:\r\n" END), 0},
    {IN(GET H "X: \t \r\n" END), 0},
    {IN(GET H "X-Bd: 0\r\n" END), 0},
    {IN(GET H "X: a\tb \xff\r\n" END), 0},
    {IN(GET H "X: a: b\r\n" END), 0},
    {IN(GET H "x!#$%&'*+-.^_`|~9A: v\r\n" END), 0},
    {IN(GET "Host:\r\n" END), 0},
    {IN(GET "HOST:a\r\n" END), 0},
    {IN(CL(" 0")), 0},
    {IN(CL("5")), 0},
    {IN(CL(" \t5 ")), 0},
    {IN(CL(" 007")), 0},
    {IN(CL(" 9223372036854775807")), 0},
    {IN(TE(" chunked")), 0},
    {IN(TE(" Chunked ")), 0},
    {IN(GET H "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n" END), 0},
    {IN(GET H "Content-Length: 3\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n" END), 0},
    {IN(GET H END GET H END), 0},
    {IN(GET H END "\r\n" GET H END), 0},
    {IN(GET H END "\r"), 0},
    {IN(CL(" 4") "\rabc"), 0},
    {IN(TE(" chunked") "\rx"), 0},
    /* not finished */
    {IN("\r"), WAITS},
    {IN("\r\n"), WAITS},
    {IN("GET"), WAITS},
    {IN(GET), WAITS},
    {IN(GET H "\r"), WAITS},
    /* request line */
    {IN("\r\n\r\n" GET H END), 400},
    {IN("\n" GET H END), 400},
    {IN("\rGET / HTTP/1.1\r\n" H END), 400},
    {IN(" GET / HTTP/1.1\r\n" H END), 400},
    {IN("\x16\x03\x01\x02"), 400},
    {IN("\0"), 400},
    {IN("GET /\r\n" H END), 400},
    {IN("GET\r\n" H END), 400},
    {IN("GET  / HTTP/1.1\r\n" H END), 400},
    {IN("GET /  HTTP/1.1\r\n" H END), 400},
    {IN("GET / HTTP/1.1 \r\n" H END), 400},
    {IN("GET / x HTTP/1.1\r\n" H END), 400},
    {IN("GET\t/ HTTP/1.1\r\n" H END), 400},
    {IN("GET /a\tb HTTP/1.1\r\n" H END), 400},
    {IN("GET /a\0b HTTP/1.1\r\n" H END), 400},
    {IN("GET /a\x7f HTTP/1.1\r\n" H END), 400},
    {IN("GET /a\rb HTTP/1.1\r\n" H END), 400},
    {IN("G(T / HTTP/1.1\r\n" H END), 400},
    {IN("G:T / HTTP/1.1\r\n" H END), 400},
    {IN("GET / http/1.1\r\n" H END), 400},
    {IN("GET / HTTP/11\r\n" H END), 400},
    {IN("GET / HTTP/1.10\r\n" H END), 400},
    {IN("GET / HTTP/1.\r\n" H END), 400},
    {IN("GET / HTTP/+.1\r\n" H END), 400},
    {IN("GET / HTTP/1.1\n" H END), 400},
    {IN("GET / HTTP/1.2\r\n" H END), 505},
    {IN("GET / HTTP/2.0\r\n" H END), 505},
    {IN("GET / HTTP/0.9\r\n" H END), 505},
    {IN("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505},
    /* Host */
    {IN(GET END), 400},
    {IN(GET "X: y\r\n" END), 400},
    {IN(GET H H END), 400},
    {IN(GET H "hOST: b\r\n" END), 400},
    {IN("GET / HTTP/1.0\r\n" H H END), 400},
    /* lines */
    {IN(GET H "X: y\n" END), 400},
    {IN(GET H "\n"), 400},
    {IN(GET H "X: y\r\n\n"), 400},
    {IN(GET H "X: y\n\n"), 400},
    {IN(GET H "X: y\rZ: 1\r\n" END), 400},
    {IN(GET H "X-Abc:\rxTransfer-Encoding: chunked\r\n" END), 400},
    {IN(GET H "\rX: y\r\n" END), 400},
    {IN(GET H "X: y\r\r\n" END), 400},
    {IN(GET H "X: a\r\n b\r\n" END), 400},
    {IN(GET H "X: a\r\n\tb\r\n" END), 400},
    {IN(GET " X: a\r\n" H END), 400},
    {IN(GET H " \r\n" END), 400},
    {IN(GET H END "\rX: y"), 400},
    {IN(CL(" 0") "\rX: y"), 400},
    /* names and values */
    {IN(GET "Host : a\r\n" END), 400},
    {IN(GET H "X : a\r\n" END), 400},
    {IN(GET H "X\t: a\r\n" END), 400},
    {IN(GET H ": a\r\n" END), 400},
    {IN(GET H "NoColon\r\n" END), 400},
    {IN(GET H "X Y: a\r\n" END), 400},
    {IN(GET H "X\0: a\r\n" END), 400},
    {IN(GET H "X\xff: a\r\n" END), 400},
    {IN(GET H "X(: a\r\n" END), 400},
    {IN(GET H "X\"Y: a\r\n" END), 400},
    {IN(GET H "X: a\0b\r\n" END), 400},
    {IN(GET H "X: a\x01\r\n" END), 400},
    {IN(GET H "X: a\x0b\r\n" END), 400},
    {IN(GET H "X: a\x1f\r\n" END), 400},
    {IN(GET H "X: a\x7f\r\n" END), 400},
    {IN(GET H "Content-Type: a\r\ncontent-type: a\r\n" END), 400},
    {IN(GET H "Authorization: a\r\nAuthorization: b\r\n" END), 400},
    /* length of the body */
    {IN(CL("")), 400},
    {IN(CL(" ")), 400},
    {IN(CL(" +5")), 400},
    {IN(CL(" -5")), 400},
    {IN(CL(" 0x5")), 400},
    {IN(CL(" 5a")), 400},
    {IN(CL(" 5 5")), 400},
    {IN(CL(" 5,5")), 400},
    {IN(CL(" 5, 6")), 400},
    {IN(CL(" 5.0")), 400},
    {IN(CL(" 9223372036854775808")), 400},
    {IN(CL(" 18446744073709551616")), 400},
    {IN(CL(" 99999999999999999999999")), 400},
    {IN(POST "Content-Length: 5\r\nContent-Length: 5\r\n" END), 400},
    {IN(POST "Content-Length: 5\r\nContent-Length: 6\r\n" END), 400},
    {IN(POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n" END), 400},
    {IN(POST "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n" END), 400},
    {IN(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" END), 400},
    {IN(POST "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n" END), 400},
    {IN(POST "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n" END), 400},
    {IN(TE("")), 400},
    {IN(TE(" xchunked")), 400},
    {IN(TE(" chunkedx")), 400},
    {IN(TE(" chunked, identity")), 400},
    {IN(TE(" chunked,")), 400},
    {IN(TE(" ,chunked")), 400},
    {IN(TE(" gzip, chunked")), 400},
    {IN(TE(" identity")), 400},
    {IN(TE(" \"chunked\"")), 400},
    {IN(TE(" chunked;q=1")), 400},
    {IN(TE("\x0b"
           "chunked")),
        400},
    {IN("POST / HTTP/1.0\r\n" H "Transfer-Encoding: chunked\r\n" END), 400},
};

static void check_verdict(struct str data, int status, size_t step)
{
    struct arena a = {0};
    struct buf copy = {0};
    struct h1_parser p;
    struct h1_head h;
    size_t used = 0;
    int rc = parse_steps(&p, &a, data, step, &h, &used, &copy);

    CHECK_INT(rc, status == 0 ? 0 : status == WAITS ? ERR_AGAIN : ERR_PROTO);
    if (rc == ERR_PROTO) {
        CHECK_INT(p.status, status);
        CHECK(p.reason != NULL);
    }
    buf_fini(&copy);
    arena_fini(&a);
}

static void test_h1_parse_head_verdicts(void)
{
    for (size_t i = 0; i < ARRAY_LEN(verdicts); i++) {
        test_row(verdicts[i].data);
        check_verdict(str_n(verdicts[i].data, verdicts[i].len), verdicts[i].status, SIZE_MAX / 2);
    }
    test_row(NULL);
}

/* In small pieces the verdict is the same; bytes behind the head are just not there yet. */
static void test_h1_parse_head_verdicts_in_pieces(void)
{
    for (size_t i = 0; i < ARRAY_LEN(verdicts); i++) {
        struct str data = str_n(verdicts[i].data, verdicts[i].len);
        ptrdiff_t end = str_find(data, STR("\r\n\r\n"));

        if (verdicts[i].status == 400 && end > 0 && (size_t)end + 4 < data.len)
            continue;
        test_row(verdicts[i].data);
        for (size_t step = 1; step < 4; step++)
            check_verdict(data, verdicts[i].status, step);
    }
    test_row(NULL);
}

static void test_h1_parse_head_result(void)
{
    static const struct str data = {
        IN("\r\npost /a?b HTTP/1.1\r\nHOST:  ex:9999 \r\nCookie: a=1\r\nX-E:\r\n"
           "Content-Length: 12\r\nExpect: 100-Continue\r\nConnection: close\r\n\r\nBODY")};

    for (size_t step = 1; step < data.len + 7; step += 7) {
        struct arena a = {0};
        struct buf copy = {0};
        struct h1_parser p;
        struct h1_head h = {.minor = -1};
        size_t used = 0;

        CHECK_INT(parse_steps(&p, &a, data, step, &h, &used, &copy), 0);
        CHECK_INT(used, data.len - 4);
        CHECK_STR(h.method, "post");
        CHECK_STR(h.target, "/a?b");
        CHECK_INT(h.minor, 1);
        CHECK_INT(h.fields.count, 6);
        CHECK_STR(h.fields.items[0].name, "HOST");
        CHECK_STR(h.fields.items[0].value, "ex:9999");
        CHECK_STR(h.fields.items[2].name, "X-E");
        CHECK_STR(h.fields.items[2].value, "");
        CHECK(h.has_host);
        CHECK_STR(h.host, "ex:9999");
        CHECK_INT(h.content_length, 12);
        CHECK(!h.chunked);
        CHECK(!h.keep_alive);
        CHECK(h.expect_continue);
        CHECK(!h.upgrade);
        buf_fini(&copy);
        arena_fini(&a);
    }
}

static void test_h1_parse_head_flags(void)
{
    static const struct {
        const char *data;
        bool keep_alive, expect, upgrade, chunked;
        int64_t length;
    } rows[] = {
        {GET H END, true, false, false, false, -1},
        {"GET / HTTP/1.0\r\n\r\n", false, false, false, false, -1},
        {"GET / HTTP/1.0\r\nConnection: x, Keep-Alive\r\n\r\n", true, false, false, false, -1},
        {"GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n", false, false, false, false, -1},
        {GET H "Connection: keep-alive\r\nConnection: Close\r\n\r\n", false, false, false, false,
            -1},
        {GET H "Connection: closed\r\n\r\n", true, false, false, false, -1},
        {GET H "Connection: upgrade\r\n\r\n", true, false, false, false, -1},
        {GET H "Upgrade: websocket\r\n\r\n", true, false, false, false, -1},
        {GET H "Upgrade: websocket\r\nConnection: x, Upgrade\r\n\r\n", true, false, true, false,
            -1},
        {"GET / HTTP/1.0\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", false, false, false, false,
            -1},
        {TE(" chunked"), true, false, false, true, -1},
        {CL(" 0"), true, false, false, false, 0},
        {POST "Expect: 100-continue\r\n\r\n", true, false, false, false, -1},
        {POST "Expect: 100-continue\r\nContent-Length: 0\r\n\r\n", true, false, false, false, 0},
        {POST "Expect: other\r\nContent-Length: 1\r\n\r\n", true, false, false, false, 1},
        {POST "Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n", true, true, false, true,
            -1},
        {"POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n", false, false,
            false, false, 1},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = {0};
        struct buf copy = {0};
        struct h1_parser p;
        struct h1_head h = {.minor = -1};
        size_t used = 0;

        test_row(rows[i].data);
        CHECK_INT(parse_steps(&p, &a, str_c(rows[i].data), 4096, &h, &used, &copy), 0);
        CHECK_INT(h.keep_alive, rows[i].keep_alive);
        CHECK_INT(h.expect_continue, rows[i].expect);
        CHECK_INT(h.upgrade, rows[i].upgrade);
        CHECK_INT(h.chunked, rows[i].chunked);
        CHECK_INT(h.content_length, rows[i].length);
        buf_fini(&copy);
        arena_fini(&a);
    }
    test_row(NULL);
}

/* n times c between before and after. */
static void check_size(const char *before, size_t n, const char *after, int status)
{
    struct buf b = {0};

    buf_add_str(&b, str_c(before));
    memset(buf_reserve(&b, n), 'a', n);
    b.len += n;
    buf_add_str(&b, str_c(after));
    check_verdict(buf_str(&b), status, SIZE_MAX / 2);
    check_verdict(buf_str(&b), status, 1);
    buf_fini(&b);
}

static void test_h1_parse_head_limits(void)
{
    const size_t rest = sizeof(GET H "X: \r\n\r\n") - 1;

    check_size("GET /", 99, " HTTP/1.1\r\n" H END, 0);
    check_size("GET /", 100, " HTTP/1.1\r\n" H END, 414);
    check_size("GET /", 100, "\r\n" H END, 414);
    check_size("GET /", 600, " HTTP/1.1\r\n" H END, 414);
    check_size("GET /", 600, "", 414);
    check_size("", 600, "", 414);
    check_size(GET H "X: ", 512 - rest, "\r\n\r\n", 0);
    check_size(GET H "X: ", 512 - rest + 1, "\r\n\r\n", 431);
    check_size(GET H "X: ", 600, "", 431);
    check_size(GET H "A:1\r\nB:1\r\nC:1\r\nD:1\r\nE:1\r\nF:1\r\nG: ", 1, "\r\n\r\n", 0);
    check_size(GET H "A:1\r\nB:1\r\nC:1\r\nD:1\r\nE:1\r\nF:1\r\nG:1\r\nH: ", 1, "\r\n\r\n", 431);
}

static void test_h1_parse_head_pipelined(void)
{
    static const struct str data = {
        IN(GET H END "\r\n"
                     "POST /2 HTTP/1.1\r\n" H "Content-Length: 2\r\n\r\n"
                     "ab" GET H END)};
    static const char *const targets[] = {"/", "/2", "/"};
    struct arena a = {0};
    struct h1_parser p;
    size_t at = 0;

    h1_parser_init(&p, &limits, &a);
    for (size_t i = 0; i < 3; i++) {
        struct h1_head h = {.content_length = -1};
        size_t used = 0;

        CHECK_INT(h1_parse_head(&p, data.p + at, data.len - at, &h, &used), 0);
        CHECK_STR(h.target, targets[i]);
        at += used + (h.content_length > 0 ? 2 : 0);
        h1_parser_reset(&p, &a);
    }
    CHECK_INT(at, data.len);
    arena_fini(&a);
}

/* Decodes data in pieces of step bytes; returns 0 when done, ERR_AGAIN at the end of data. */
static int decode(struct h1_body *b, struct str data, size_t step, struct buf *out, size_t *used)
{
    bool done = false;
    size_t at = 0, end = 0;

    while (!done) {
        size_t consumed = 0;
        struct str piece = STR_NONE;
        int rc = h1_body_next(b, data.p + at, end - at, &consumed, &piece, &done);

        if (rc != 0)
            return rc;
        buf_add_str(out, piece);
        at += consumed;
        if (done || (at == end && end == data.len))
            break;
        if (at == end)
            end = MIN(end + step, data.len);
    }
    *used = at;
    return done ? 0 : ERR_AGAIN;
}

#define HEX15 "fffffffffffffff"

static const struct {
    const char *data;
    const char *body; /* NULL: refused, or not finished */
    int rc;
    size_t rest; /* bytes left for the next request */
} chunked[] = {
    {"0\r\n\r\n", "", 0, 0},
    {"5\r\nhello\r\n0\r\n\r\n", "hello", 0, 0},
    {"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\nGET", "hello world", 0, 3},
    {"00005\r\nhello\r\n000\r\n\r\n", "hello", 0, 0},
    {"A\r\n0123456789\r\n0\r\n\r\n", "0123456789", 0, 0},
    {"a;x=y;z=\"a\\\";b\"\r\n0123456789\r\n0;last\r\n\r\n", "0123456789", 0, 0},
    {"5;\r\nhello\r\n0\r\n\r\n", "hello", 0, 0},
    {"2\r\n\r\n\r\n0\r\n\r\n", "\r\n", 0, 0},
    {"0\r\nX-T: a\r\nY:\r\n\r\nG", "", 0, 1},
    {"", NULL, ERR_AGAIN, 0},
    {"5\r\nhel", NULL, ERR_AGAIN, 0},
    {"5\r\nhello\r\n0\r\n\r", NULL, ERR_AGAIN, 0},
    {"7fffffffffffffff\r\n", NULL, ERR_AGAIN, 0},
    {"8000000000000000\r\n", NULL, ERR_PROTO, 0},
    {HEX15 "f\r\n", NULL, ERR_PROTO, 0},
    {"1" HEX15 "ff\r\n", NULL, ERR_PROTO, 0},
    {"00000000000000005\r\n", NULL, ERR_PROTO, 0},
    {"\r\n", NULL, ERR_PROTO, 0},
    {";x\r\n", NULL, ERR_PROTO, 0},
    {"+5\r\nhello\r\n", NULL, ERR_PROTO, 0},
    {"-5\r\nhello\r\n", NULL, ERR_PROTO, 0},
    {" 5\r\nhello\r\n", NULL, ERR_PROTO, 0},
    {"5 \r\nhello\r\n", NULL, ERR_PROTO, 0},
    {"5\t;x\r\nhello\r\n", NULL, ERR_PROTO, 0},
    {"0x5\r\nhello\r\n", NULL, ERR_PROTO, 0},
    {"5g\r\nhello\r\n", NULL, ERR_PROTO, 0},
    {"5\nhello\r\n", NULL, ERR_PROTO, 0},
    {"5\rhello\r\n", NULL, ERR_PROTO, 0},
    {"5;a\nb\r\nhello\r\n", NULL, ERR_PROTO, 0},
    {"5;a\rb\r\nhello\r\n", NULL, ERR_PROTO, 0},
    {"5;a\x01\r\nhello\r\n", NULL, ERR_PROTO, 0},
    {"5\r\nhello\n0\r\n\r\n", NULL, ERR_PROTO, 0},
    {"5\r\nhello0\r\n\r\n", NULL, ERR_PROTO, 0},
    {"5\r\nhello!\r\n0\r\n\r\n", NULL, ERR_PROTO, 0},
    {"5\r\nhello\rX", NULL, ERR_PROTO, 0},
    {"0\r\n\n", NULL, ERR_PROTO, 0},
    {"0\r\n\rX", NULL, ERR_PROTO, 0},
    {"0\r\nX : a\r\n\r\n", NULL, ERR_PROTO, 0},
    {"0\r\n X: a\r\n\r\n", NULL, ERR_PROTO, 0},
    {"0\r\n: a\r\n\r\n", NULL, ERR_PROTO, 0},
    {"0\r\nX\r\n\r\n", NULL, ERR_PROTO, 0},
    {"0\r\nX: a\n\r\n", NULL, ERR_PROTO, 0},
    {"0\r\nX: a\r\n b\r\n\r\n", NULL, ERR_PROTO, 0},
    {"0\r\nX: \x7f\r\n\r\n", NULL, ERR_PROTO, 0},
};

static void test_h1_body_chunked_table(void)
{
    for (size_t i = 0; i < ARRAY_LEN(chunked); i++) {
        struct str data = str_c(chunked[i].data);

        test_row(chunked[i].data);
        for (size_t step = 1; step <= data.len + 1; step++) {
            struct buf out = {0};
            struct h1_body b;
            size_t used = 0;
            int rc;

            h1_body_init(&b, 99, true);
            rc = decode(&b, data, step, &out, &used);
            CHECK_INT(rc, chunked[i].rc);
            if (rc == 0 && chunked[i].body) {
                CHECK_STR(buf_str(&out), chunked[i].body);
                CHECK_INT(data.len - used, chunked[i].rest);
                CHECK_INT(b.received, out.len);
            }
            CHECK((rc == ERR_PROTO) == (b.reason != NULL));
            buf_fini(&out);
        }
    }
    test_row(NULL);
}

static void test_h1_body_bounds_what_it_drops(void)
{
    static const struct {
        const char *before, *after;
        size_t n;
        int rc;
    } rows[] = {
        {"5;", "\r\nhello\r\n0\r\n\r\n", H1_BODY_EXT_MAX, 0},
        {"5;", "\r\nhello\r\n0\r\n\r\n", H1_BODY_EXT_MAX + 1, ERR_PROTO},
        {"0\r\nX:", "\r\n\r\n", H1_BODY_TRAILER_MAX - 4, 0},
        {"0\r\nX:", "\r\n\r\n", H1_BODY_TRAILER_MAX, ERR_PROTO},
        {"0\r\n", ":\r\n\r\n", H1_BODY_TRAILER_MAX + 1, ERR_PROTO},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf data = {0}, out = {0};
        struct h1_body b;
        size_t used = 0;

        buf_add_str(&data, str_c(rows[i].before));
        memset(buf_reserve(&data, rows[i].n), 'a', rows[i].n);
        data.len += rows[i].n;
        buf_add_str(&data, str_c(rows[i].after));
        h1_body_init(&b, -1, true);
        CHECK_INT(decode(&b, buf_str(&data), 4096, &out, &used), rows[i].rc);
        buf_fini(&data);
        buf_fini(&out);
    }
}

static void test_h1_body_content_length(void)
{
    static const struct {
        int64_t length;
        const char *data, *body;
        int rc;
        size_t rest;
    } rows[] = {
        {-1, "GET", "", 0, 3},
        {0, "GET", "", 0, 3},
        {3, "abcGET", "abc", 0, 3},
        {3, "abc", "abc", 0, 0},
        {4, "abc", "abc", ERR_AGAIN, 0},
        {INT64_MAX, "abc", "abc", ERR_AGAIN, 0},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (size_t step = 1; step < 8; step++) {
            struct str data = str_c(rows[i].data);
            struct buf out = {0};
            struct h1_body b;
            size_t used = 0;

            h1_body_init(&b, rows[i].length, false);
            CHECK_INT(decode(&b, data, step, &out, &used), rows[i].rc);
            CHECK_STR(buf_str(&out), rows[i].body);
            CHECK_INT(data.len - used, rows[i].rest);
            buf_fini(&out);
        }
    }
}

const struct test tests_h1_parser[] = {TEST(test_h1_parse_head_verdicts),
    TEST(test_h1_parse_head_verdicts_in_pieces), TEST(test_h1_parse_head_result),
    TEST(test_h1_parse_head_flags), TEST(test_h1_parse_head_limits),
    TEST(test_h1_parse_head_pipelined), TEST(test_h1_body_chunked_table),
    TEST(test_h1_body_bounds_what_it_drops), TEST(test_h1_body_content_length), TEST_END};
