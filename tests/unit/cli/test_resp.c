/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/resp.h"
#include "unit/test.h"

extern const struct test tests_resp[];

/* A reply as text: "+OK", ":5", "$text", "nil", "[:1 $a]". */
static void show(const struct resp_value *v, struct buf *out)
{
    switch (v->kind) {
    case RESP_SIMPLE:
    case RESP_ERROR:
    case RESP_BULK:
        buf_add_char(out, v->kind == RESP_SIMPLE ? '+' : v->kind == RESP_ERROR ? '-' : '$');
        buf_add_str(out, v->s);
        break;
    case RESP_INT:
        buf_printf(out, ":%lld", (long long)v->i);
        break;
    case RESP_NIL:
        buf_add_lit(out, "nil");
        break;
    case RESP_ARRAY:
        buf_add_char(out, '[');
        for (size_t i = 0; i < v->n; i++) {
            if (i)
                buf_add_char(out, ' ');
            show(&v->items[i], out);
        }
        buf_add_char(out, ']');
        break;
    }
}

static void test_resp_parse_replies(void)
{
    static const struct {
        const char *in, *want;
    } cases[] = {
        {"+OK\r\n", "+OK"},
        {"-ERR no\r\n", "-ERR no"},
        {":-12\r\n", ":-12"},
        {"$5\r\na\r\nbc\r\n", "$a\r\nbc"},
        {"$0\r\n\r\n", "$"},
        {"$-1\r\n", "nil"},
        {"*-1\r\n", "nil"},
        {"*0\r\n", "[]"},
        {"*3\r\n:1\r\n$1\r\nx\r\n*1\r\n+y\r\n", "[:1 $x [+y]]"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str in = str_c(cases[i].in);
        struct arena a = {0};
        struct buf got = {0};
        struct resp_value v;
        size_t used = 0;

        test_row(cases[i].in);
        for (size_t n = 0; n < in.len; n++)
            CHECK_INT(resp_parse(&a, str_sub(in, 0, n), &used, &v), ERR_AGAIN);
        CHECK_INT(resp_parse(&a, in, &used, &v), 0);
        CHECK_INT(used, in.len);
        show(&v, &got);
        CHECK_STR(buf_str(&got), cases[i].want);
        buf_fini(&got);
        arena_fini(&a);
    }
    test_row(NULL);
}

static void test_resp_parse_refuses(void)
{
    static const char *const cases[] = {"x\r\n", "\r\n", ":\r\n", ":x\r\n", ":1 \r\n", "$x\r\n",
        "$-2\r\n", "$536870913\r\n", "$1\r\nab\r\n", "*-2\r\n", "*1048577\r\n",
        "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", "*1\r\nxyz"};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a = {0};
        struct resp_value v;
        size_t used = 0;

        test_row(cases[i]);
        CHECK_INT(resp_parse(&a, str_c(cases[i]), &used, &v), ERR_PROTO);
        arena_fini(&a);
    }
    test_row(NULL);
}

static void test_resp_parse_takes_no_memory_for_promises(void)
{
    struct arena a = {0};
    struct resp_value v;
    size_t used = 0;

    CHECK_INT(resp_parse(&a, STR("*1048576\r\n:1\r\n"), &used, &v), ERR_AGAIN);
    CHECK_INT(arena_used(&a), 0);
    arena_fini(&a);
}

const struct test tests_resp[] = {
    TEST(test_resp_parse_replies),
    TEST(test_resp_parse_refuses),
    TEST(test_resp_parse_takes_no_memory_for_promises),
    TEST_END,
};
