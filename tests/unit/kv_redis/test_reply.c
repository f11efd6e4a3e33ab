/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/redis/reply.h"

#include <math.h>

#include "unit/test.h"

extern const struct test tests_reply[];

static void add_all(struct reply *r)
{
    size_t at;

    reply_ok(r);
    reply_error(r, "ERR two\r\nlines");
    reply_int(r, -5);
    reply_bulk(r, STR("ab"));
    reply_null(r);
    reply_null_array(r);
    reply_map(r, 1);
    reply_bulk_int(r, INT64_MIN);
    reply_double(r, 0.1);
    reply_set(r, 0);
    reply_push(r, 1);
    reply_bool(r, true);
    reply_verbatim(r, STR("hi"));
    at = reply_deferred(r);
    reply_int(r, 1);
    reply_int(r, 2);
    reply_deferred_array(r, at, 2);
}

static void test_reply_writes_both_protocols(void)
{
    struct reply r = {.limit = 1000, .resp = 2};

    add_all(&r);
    CHECK_STR(buf_str(&r.out), "+OK\r\n-ERR two  lines\r\n:-5\r\n$2\r\nab\r\n$-1\r\n*-1\r\n*2\r\n"
                               "$20\r\n-9223372036854775808\r\n$3\r\n0.1\r\n*0\r\n*1\r\n:1\r\n$"
                               "2\r\nhi\r\n*2\r\n:1\r\n:2\r\n");
    buf_clear(&r.out);
    r.resp = 3;
    add_all(&r);
    CHECK_STR(buf_str(&r.out), "+OK\r\n-ERR two  lines\r\n:-5\r\n$2\r\nab\r\n_\r\n_\r\n%1\r\n"
                               "$20\r\n-9223372036854775808\r\n,0.1\r\n~0\r\n>1\r\n#t\r\n=6\r\ntxt:"
                               "hi\r\n*2\r\n:1\r\n:2\r\n");
    CHECK(!r.overflow);
    buf_fini(&r.out);
}

static void test_reply_stops_at_its_limit(void)
{
    struct reply r = {.limit = 40, .resp = 2};

    reply_bulk(&r, STR("ab"));
    CHECK(!r.overflow);
    reply_bulk(&r, STR("0123456789"));
    CHECK(r.overflow);
    CHECK_STR(buf_str(&r.out), "$2\r\nab\r\n");
    reply_ok(&r);
    CHECK_STR(buf_str(&r.out), "$2\r\nab\r\n");
    buf_fini(&r.out);
}

static void test_reply_muted_writes_nothing(void)
{
    struct reply r = {.limit = 1000, .resp = 2, .muted = true};

    add_all(&r);
    CHECK_INT(r.out.len, 0);
    buf_fini(&r.out);
}

static void test_reply_doubles_are_short_and_exact(void)
{
    static const struct {
        double d;
        const char *want;
    } rows[] = {{3, "3"}, {0.1, "0.1"}, {-1.5, "-1.5"}, {1e20, "1e+20"},
        {1.0 / 3, "0.33333333333333331"}, {17179869184.0, "17179869184"}, {INFINITY, "inf"},
        {-INFINITY, "-inf"}, {0, "0"}, {1e-7, "1e-07"}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char text[REPLY_DOUBLE_MAX];

        CHECK_STR(str_n(text, reply_put_double(text, rows[i].d)), rows[i].want);
    }
}

const struct test tests_reply[] = {TEST(test_reply_writes_both_protocols),
    TEST(test_reply_stops_at_its_limit), TEST(test_reply_muted_writes_nothing),
    TEST(test_reply_doubles_are_short_and_exact), TEST_END};
