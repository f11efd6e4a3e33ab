/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/h1_response.h"

#include "base/str.h"
#include "unit/test.h"

extern const struct test tests_h1_response[];

#define OK "HTTP/1.1 200 OK\r\n"

static const struct {
    const char *name, *in;
    int status;
    uint64_t body;
    bool keep_alive;
    bool head;   /* of a HEAD request */
    bool at_end; /* complete when the connection ends */
} answers[] = {
    {"length", OK "Content-Length: 5\r\n\r\nhello", 200, 5, true},
    {"no body", OK "Content-Length: 0\r\n\r\n", 200, 0, true},
    {"chunked", OK "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", 200, 5,
        true},
    {"trailers", OK "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n", 200, 1, true},
    {"close", OK "Connection: close\r\nContent-Length: 1\r\n\r\nx", 200, 1, false},
    {"1.0", "HTTP/1.0 404 Not Found\r\nContent-Length: 1\r\n\r\nx", 404, 1, false},
    {"1.0, kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", 200, 1,
        true},
    {"204", "HTTP/1.1 204 No Content\r\n\r\n", 204, 0, true},
    {"304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", 304, 0, true},
    {"head", OK "Content-Length: 99\r\n\r\n", 200, 0, true, .head = true},
    {"after 100 and 103",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" OK
        "Content-Length: 2\r\n\r\nab",
        200, 2, true},
    {"no reason", "HTTP/1.1 500 \r\nContent-Length: 0\r\n\r\n", 500, 0, true},
    {"until the end", OK "\r\nall that comes", 200, 14, false, .at_end = true},
};

static void check_result(const struct h1_response *r, size_t i)
{
    CHECK_INT(r->status, answers[i].status);
    CHECK_INT(r->body, answers[i].body);
    CHECK_INT(r->keep_alive, answers[i].keep_alive);
}

/* All at once with more behind it, then byte by byte: the same answer. */
static void test_response_is_read(void)
{
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct str in = str_c(answers[i].in);
        struct h1_response r;
        size_t used = 0;

        test_row(answers[i].name);
        h1_response_init(&r);
        if (!answers[i].at_end) {
            char more[512];
            size_t n = (size_t)snprintf(more, sizeof(more), "%s" OK, answers[i].in);

            h1_response_begin(&r, answers[i].head);
            CHECK_INT(h1_response_feed(&r, more, n, &used), 0);
            CHECK_INT(used, in.len);
            check_result(&r, i);
        }
        h1_response_begin(&r, answers[i].head);
        for (size_t k = 0; k < in.len; k++) {
            used = 99;
            CHECK_INT(h1_response_feed(&r, in.p + k, 1, &used),
                k + 1 < in.len || answers[i].at_end ? ERR_AGAIN : 0);
        }
        if (answers[i].at_end)
            CHECK_INT(h1_response_end(&r), 0);
        else
            CHECK_INT(used, 1);
        check_result(&r, i);
    }
    test_row(NULL);
}

static void test_response_that_is_cut(void)
{
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        struct str in = str_c(answers[i].in);

        test_row(answers[i].name);
        for (size_t n = 0; n < in.len && !answers[i].at_end; n++) {
            struct h1_response r;
            size_t used;

            h1_response_init(&r);
            h1_response_begin(&r, answers[i].head);
            if (n)
                CHECK_INT(h1_response_feed(&r, in.p, n, &used), ERR_AGAIN);
            CHECK_INT(h1_response_end(&r), ERR_CLOSED);
        }
    }
    test_row(NULL);
}

static void test_response_that_is_none(void)
{
    static const char *const cases[] = {
        "SSH-2.0-OpenSSH_9.2\r\n",
        "\x15\x03\x01\x00\x02\x02\x32",
        "HTTP/2.0 200 OK\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        OK "Content-Length: x\r\n\r\n",
        OK "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        OK "Transfer-Encoding: chunked\r\n\r\nxyz\r\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct h1_response r;
        size_t used;

        test_row(cases[i]);
        h1_response_init(&r);
        h1_response_begin(&r, false);
        CHECK_INT(h1_response_feed(&r, cases[i], strlen(cases[i]), &used), ERR_PROTO);
        CHECK_INT(h1_response_end(&r), ERR_CLOSED);
    }
    test_row(NULL);
}

static void test_response_with_a_head_without_end(void)
{
    struct h1_response r;
    char line[64] = OK;
    size_t used, sent = 0;
    int rc;

    h1_response_init(&r);
    h1_response_begin(&r, false);
    do {
        rc = h1_response_feed(&r, line, strlen(line), &used);
        sent += strlen(line);
        (void)snprintf(line, sizeof(line), "X-Field: something that goes on and on\r\n");
    } while (rc == ERR_AGAIN && sent < 2 * H1_RESPONSE_HEAD_MAX);
    CHECK_INT(rc, ERR_PROTO);
    CHECK(sent >= H1_RESPONSE_HEAD_MAX);
}

const struct test tests_h1_response[] = {
    TEST(test_response_is_read),
    TEST(test_response_that_is_cut),
    TEST(test_response_that_is_none),
    TEST(test_response_with_a_head_without_end),
    TEST_END,
};
