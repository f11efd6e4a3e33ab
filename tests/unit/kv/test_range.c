/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "kv/keys.h"
#include "kv/layout.h"
#include "unit/kv/bed.h"

static void test_range_of_a_string(void)
{
    static const struct {
        const char *name;
        int64_t start, end;
        const char *want;
    } rows[] = {
        {"all", 0, -1, "This is a string"},
        {"start", 0, 3, "This"},
        {"end", -3, -1, "ing"},
        {"middle", 5, 8, "is a"},
        {"across words", 6, 14, "s a strin"},
        {"past the end", 10, 100, "string"},
        {"before the start", -100, 1, "Th"},
        {"both before", -100, -99, ""},
        {"both behind", 50, 60, ""},
        {"backwards", 5, 2, ""},
        {"extremes", INT64_MIN, INT64_MAX, "This is a string"},
    };
    struct kv_value n = bed_int(-12345), f = {.type = KV_FLOAT, .f = 10.5};
    struct kv_value other = {.type = KV_SERIALIZED, .bytes = STR("i:1;")};
    struct str out;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_store_getrange(b.s, STR("a"), 0, -1, &b.buf, &out), ERR_NOTFOUND);
    CHECK_INT(bed_set(&b, "a", "This is a string"), 0);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].name);
        CHECK_INT(kv_store_getrange(b.s, STR("a"), rows[i].start, rows[i].end, &b.buf, &out), 0);
        CHECK_STR(out, rows[i].want);
    }
    test_row(NULL);
    CHECK_INT(kv_store_set(b.s, STR("n"), &n, 0, 0), 0);
    CHECK_INT(kv_store_getrange(b.s, STR("n"), 1, 3, &b.buf, &out), 0);
    CHECK_STR(out, "123");
    CHECK_INT(kv_store_set(b.s, STR("f"), &f, 0, 0), 0);
    CHECK_INT(kv_store_getrange(b.s, STR("f"), 0, -1, &b.buf, &out), 0);
    CHECK_STR(out, "10.5");
    CHECK_INT(kv_store_set(b.s, STR("s"), &other, 0, 0), 0);
    CHECK_INT(kv_store_getrange(b.s, STR("s"), 0, -1, &b.buf, &out), ERR_INVAL);
    bed_close(&b);
}

static void test_setrange_pads_and_grows(void)
{
    struct kv_value v = bed_string("Hello World"), n = bed_int(1234);
    size_t len = 9;
    struct bed b;
    int64_t ms;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_store_setrange(b.s, STR("a"), 5, STR_NONE, &len), 0);
    CHECK_INT(len, 0);
    CHECK(!kv_store_exists(b.s, STR("a")));
    CHECK_INT(kv_store_setrange(b.s, STR("a"), 3, STR("xy"), &len), 0);
    CHECK_INT(len, 5);
    CHECK(str_eq(bed_get(&b, "a"), STR("\0\0\0xy")));
    CHECK_INT(kv_store_set(b.s, STR("b"), &v, 0, 50000), 0);
    CHECK_INT(kv_store_setrange(b.s, STR("b"), 6, STR("Redis"), &len), 0);
    CHECK_STR(bed_get(&b, "b"), "Hello Redis");
    CHECK_INT(kv_store_setrange(b.s, STR("b"), 0, STR("J"), &len), 0);
    CHECK_INT(kv_store_setrange(b.s, STR("b"), 10, STR("s!"), &len), 0);
    CHECK_INT(len, 12);
    CHECK_STR(bed_get(&b, "b"), "Jello Redis!");
    CHECK_INT(kv_store_ttl(b.s, STR("b"), &ms), 0);
    CHECK(ms > 40000);
    CHECK_INT(kv_store_set(b.s, STR("n"), &n, 0, 0), 0);
    CHECK_INT(kv_store_setrange(b.s, STR("n"), 1, STR("0"), &len), 0);
    CHECK_STR(bed_get(&b, "n"), "1034");
    CHECK_INT(kv_store_setrange(b.s, STR("b"), KV_VALUE_MAX, STR("x"), &len), ERR_TOOBIG);
    CHECK_INT(kv_store_setrange(b.s, STR("b"), SIZE_MAX, STR("x"), &len), ERR_TOOBIG);
    CHECK_INT(kv_store_setrange(b.s, STR("b"), SIZE_MAX, STR_NONE, &len), 0);
    CHECK_INT(len, 12);
    bed_close(&b);
}

/* Every place of a value of several pages, against a plain array. */
static void test_setrange_of_a_large_string(void)
{
    enum { SIZE = 3 * KV_PAGE + 100 };
    char *plain = mem_new(SIZE);
    struct kv_value v = {.type = KV_STRING, .bytes = {plain, SIZE}};
    uint64_t random = 7;
    struct str out;
    struct bed b;
    size_t len;

    bed_open(&b, MB(4), KV_NOEVICTION);
    for (size_t i = 0; i < SIZE; i++)
        plain[i] = (char)(i * 7 >> 3);
    CHECK_INT(kv_store_set(b.s, STR("a"), &v, 0, 0), 0);
    for (int i = 0; i < 300; i++) {
        char bytes[40];
        size_t at, n;

        random = random * 6364136223846793005u + 1442695040888963407u;
        n = random >> 40 & 31;
        at = i % 3 ? (random >> 33) % (SIZE - 40) : (random >> 33) % 3 * KV_PAGE + KV_PAGE - n / 2;
        at = MIN(at, SIZE - n);
        memset(bytes, i, sizeof(bytes));
        memcpy(plain + at, bytes, n);
        CHECK_INT(kv_store_setrange(b.s, STR("a"), at, str_n(bytes, n), &len), 0);
        CHECK_INT(len, SIZE);
        at = at > 20 ? at - 20 : 0;
        CHECK_INT(kv_store_getrange(b.s, STR("a"), (int64_t)at, (int64_t)at + 79, &b.buf, &out), 0);
        CHECK(str_eq(out, str_sub(v.bytes, at, 80)));
    }
    CHECK_INT(kv_store_get(b.s, STR("a"), &b.buf, &b.v), 0);
    CHECK(str_eq(b.v.bytes, v.bytes));
    bed_close(&b);
    mem_free(plain);
}

static bool set_bit(void *arg, char *bytes, size_t n)
{
    int *was = arg;

    *was = bytes[0] & 4;
    bytes[0] |= 4;
    return *was == 0;
}

static void test_edit_reads_and_writes_in_one_step(void)
{
    struct kv_info before, after;
    struct bed b;
    size_t len;
    int was = 1;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_store_edit(b.s, STR("a"), 9, 1, set_bit, &was, &len), 0);
    CHECK(was == 0 && len == 10);
    CHECK_INT(kv_store_info(b.s, STR("a"), &before), 0);
    CHECK_INT(kv_store_edit(b.s, STR("a"), 9, 1, set_bit, &was, &len), 0);
    CHECK_INT(was, 4);
    CHECK_INT(kv_store_info(b.s, STR("a"), &after), 0);
    CHECK_INT(after.version, before.version);
    CHECK_INT(kv_store_edit(b.s, STR("a"), 2, 1, set_bit, &was, &len), 0);
    CHECK(was == 0 && len == 10);
    CHECK_INT(kv_store_info(b.s, STR("a"), &after), 0);
    CHECK(after.version > before.version);
    CHECK(str_eq(bed_get(&b, "a"), STR("\0\0\4\0\0\0\0\0\0\4")));
    bed_close(&b);
}

const struct test tests_range[] = {TEST(test_range_of_a_string), TEST(test_setrange_pads_and_grows),
    TEST(test_setrange_of_a_large_string), TEST(test_edit_reads_and_writes_in_one_step), TEST_END};
