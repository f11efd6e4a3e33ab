/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/redis/parser.h"

#include "unit/test.h"

extern const struct test tests_parser[];

static const struct redis_parser_limits limits = {1000, 500, 100};

/* All commands in `in`, given in pieces of `step` bytes, as "[a|b][c]"; an error as "!text". */
static void parse(
    struct str in, size_t step, const struct redis_parser_limits *lim, struct buf *out)
{
    struct redis_parser p;
    size_t start = 0, end = 0;
    int r = ERR_AGAIN;

    buf_clear(out);
    redis_parser_init(&p);
    while (end < in.len || r == 0) {
        if (r == ERR_AGAIN)
            end = MIN(end + step, in.len);
        r = redis_parser_next(&p, str_n(in.p + start, end - start), lim);
        if (r == ERR_PROTO) {
            buf_printf(out, "!%s", p.error);
            break;
        }
        if (r)
            continue;
        buf_add_char(out, '[');
        for (size_t i = 0; i < p.argc; i++) {
            if (i)
                buf_add_char(out, '|');
            buf_add_str(out, p.argv[i]);
        }
        buf_add_char(out, ']');
        start += p.used;
    }
    redis_parser_fini(&p);
}

static void test_parser_reads_requests_in_any_pieces(void)
{
    static const struct {
        const char *in;
        const char *want;
    } rows[] = {
        {"*1\r\n$4\r\nPING\r\n", "[PING]"},
        {"*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$4\r\nPING\r\n", "[GET|a][PING]"},
        {"*2\r\n$3\r\nGET\r\n$0\r\n\r\n", "[GET|]"},
        {"*2\r\n$4\r\nECHO\r\n$4\r\n\r\n\r\n\r\n", "[ECHO|\r\n\r\n]"},
        {"*0\r\n*-1\r\n*1\r\n$4\r\nPING\r\n", "[][][PING]"},
        {"PING\r\n", "[PING]"},
        {"PING\n", "[PING]"},
        {"\r\n\r\nPING\r\n", "[][][PING]"},
        {"  set  a   b \r\n", "[set|a|b]"},
        {"set a \"b c\\x41\\n\\q\"\r\n", "[set|a|b cA\nq]"},
        {"set a 'b \\'c\\n'\r\n", "[set|a|b 'c\\n]"},
        {"set a ''\r\n", "[set|a|]"},
        {"''\r\n", "[]"},
        {"PING\r\n*1\r\n$4\r\nPING\r\nPING\r\n", "[PING][PING][PING]"},
        /* errors */
        {"*x\r\n", "!Protocol error: invalid multibulk length"},
        {"*101\r\n", "!Protocol error: unauthenticated multibulk length"},
        {"*99999999999999999999\r\n", "!Protocol error: invalid multibulk length"},
        {"*1\r\n:4\r\n", "!Protocol error: expected '$', got ':'"},
        {"*1\r\n\x01", "!Protocol error: expected '$', got '?'"},
        {"*1\r\n$-1\r\n", "!Protocol error: invalid bulk length"},
        {"*1\r\n$a\r\n", "!Protocol error: invalid bulk length"},
        {"*1\r\n$501\r\n", "!Protocol error: unauthenticated bulk length"},
        {"set a \"b\r\n", "!Protocol error: unbalanced quotes in request"},
        {"set a \"b\"c\r\n", "!Protocol error: unbalanced quotes in request"},
        {"set a 'b\r\n", "!Protocol error: unbalanced quotes in request"},
        {"*11111111111111111111111111111111111111111111111111111111111111111111111\r\n",
            "!Protocol error: invalid multibulk length"},
    };
    struct buf out = {0};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t step = 1; step <= 64; step = step * 2 + 1) {
            struct str in = str_c(rows[i].in);

            if (in.len > 70 && step < 70) /* the length is refused before its line ends */
                continue;
            test_row(rows[i].in);
            parse(in, step, &limits, &out);
            CHECK_STR(buf_str(&out), rows[i].want);
        }
    buf_fini(&out);
}

static void test_parser_refuses_what_passes_the_limits(void)
{
    static const struct redis_parser_limits authenticated = {2000, 1500, REDIS_ARGS_MAX};
    struct buf out = {0}, in = {0};

    parse(STR("*1048577\r\n"), 100, &authenticated, &out);
    CHECK_STR(buf_str(&out), "!Protocol error: invalid multibulk length");
    parse(STR("*1\r\n$1501\r\n"), 100, &authenticated, &out);
    CHECK_STR(buf_str(&out), "!Protocol error: invalid bulk length");
    buf_add_lit(&in, "*2\r\n$1200\r\n");
    memset(buf_reserve(&in, 1202), 'x', 1202);
    in.len += 1202;
    buf_add_lit(&in, "$1200\r\n");
    parse(buf_str(&in), 100, &authenticated, &out);
    CHECK_STR(buf_str(&out), "!Protocol error: request larger than max_input_buffer");
    buf_clear(&in);
    memset(buf_reserve(&in, REDIS_INLINE_MAX), 'x', REDIS_INLINE_MAX);
    in.len += REDIS_INLINE_MAX;
    parse(buf_str(&in), 1000, &authenticated, &out);
    CHECK_STR(buf_str(&out), "!Protocol error: too big inline request");
    buf_clear(&in);
    buf_add_lit(&in, "*");
    memset(buf_reserve(&in, 100), '1', 100);
    in.len += 100;
    parse(buf_str(&in), 10, &authenticated, &out);
    CHECK_STR(buf_str(&out), "!Protocol error: too big mbulk count string");
    buf_fini(&in);
    buf_fini(&out);
}

/* A word is waited for in one go, and what was seen is not looked at again. */
static void test_parser_tells_what_it_waits_for(void)
{
    struct redis_parser p;
    struct str in = STR("*1\r\n$100\r\nab");

    redis_parser_init(&p);
    CHECK_INT(redis_parser_next(&p, in, &limits), ERR_AGAIN);
    CHECK_INT(redis_parser_wants(&p, in.len), 100);
    CHECK_INT(redis_parser_wants(&p, in.len + 100), 0);
    redis_parser_fini(&p);
}

const struct test tests_parser[] = {TEST(test_parser_reads_requests_in_any_pieces),
    TEST(test_parser_refuses_what_passes_the_limits), TEST(test_parser_tells_what_it_waits_for),
    TEST_END};
