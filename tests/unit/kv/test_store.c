/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "kv/layout.h"
#include "kv/slab.h"
#include "platform/clock.h"
#include "platform/shm.h"
#include "unit/kv/bed.h"

static void test_store_options_are_checked(void)
{
    static const struct {
        const char *name;
        size_t memory;
        int policy, want;
    } rows[] = {
        {"smallest", KV_MEMORY_MIN, KV_NOEVICTION, 0},
        {"too small", KV_MEMORY_MIN - 1, KV_NOEVICTION, ERR_INVAL},
        {"odd size", KV_MEMORY_MIN + 12345, KV_ALLKEYS_RANDOM, 0},
        {"too large", KV_MEMORY_MAX + 1, KV_NOEVICTION, ERR_INVAL},
        {"no policy", KV_MEMORY_MIN, 4, ERR_INVAL},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kv_options opt = {rows[i].memory, (enum kv_policy)rows[i].policy};
        int fd = -1;

        test_row(rows[i].name);
        CHECK_INT(kv_store_create(&opt, &fd), rows[i].want);
        if (fd >= 0)
            fs_close(fd);
    }
}

static void test_store_other_layout_is_refused(void)
{
    struct kv_store *s = NULL;
    struct kv_header *h;
    struct bed b;
    void *p;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(shm_map(b.fd, KV_HEADER_SIZE, &p), 0);
    h = p;
    h->fingerprint++;
    CHECK_INT(kv_store_open(b.fd, &s), ERR_VERSION);
    h->fingerprint--;
    h->version++;
    CHECK_INT(kv_store_open(b.fd, &s), ERR_VERSION);
    h->version--;
    h->size *= 2;
    CHECK_INT(kv_store_open(b.fd, &s), ERR_CORRUPT);
    h->size /= 2;
    h->magic++;
    CHECK_INT(kv_store_open(b.fd, &s), ERR_CORRUPT);
    shm_unmap(p, KV_HEADER_SIZE);
    bed_close(&b);
}

static void test_store_set_get_del(void)
{
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_STR(bed_get(&b, "a"), "(none)");
    CHECK_INT(bed_set(&b, "a", "one"), 0);
    CHECK_INT(bed_set(&b, "b", ""), 0);
    CHECK_INT(bed_set(&b, "", "empty key"), 0);
    CHECK_STR(bed_get(&b, "a"), "one");
    CHECK_STR(bed_get(&b, "b"), "");
    CHECK_STR(bed_get(&b, ""), "empty key");
    CHECK_INT(bed_set(&b, "a", "two, and longer than it was before"), 0);
    CHECK_STR(bed_get(&b, "a"), "two, and longer than it was before");
    CHECK_INT(bed_stats(&b).keys, 3);
    CHECK_INT(kv_store_del(b.s, STR("a")), 0);
    CHECK_INT(kv_store_del(b.s, STR("a")), ERR_NOTFOUND);
    CHECK_STR(bed_get(&b, "a"), "(none)");
    CHECK(!kv_store_exists(b.s, STR("a")));
    CHECK(kv_store_exists(b.s, STR("b")));
    CHECK_INT(kv_store_del(b.s, STR("b")), 0);
    CHECK_INT(kv_store_del(b.s, STR("")), 0);
    CHECK_INT(bed_stats(&b).keys, 0);
    CHECK_INT(bed_stats(&b).used, 0);
    CHECK_INT(bed_stats(&b).hits, 4);
    CHECK_INT(bed_stats(&b).misses, 2);
    bed_close(&b);
}

static void test_store_types_stay(void)
{
    static const char zeros[] = {0, 1, 0, -1, 0, '\n', 0};
    struct kv_value in[] = {
        {.type = KV_INT, .i = INT64_MIN},
        {.type = KV_FLOAT, .f = -0.1},
        {.type = KV_STRING, .bytes = {zeros, sizeof(zeros)}},
        {.type = KV_SERIALIZED, .bytes = {"a:0:{}", 6}},
    };
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    for (size_t i = 0; i < ARRAY_LEN(in); i++) {
        struct str key = {zeros, i + 1};

        CHECK_INT(kv_store_set(b.s, key, &in[i], 0, 0), 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(in); i++) {
        struct str key = {zeros, i + 1};

        CHECK_INT(kv_store_get(b.s, key, &b.buf, &b.v), 0);
        CHECK_INT(b.v.type, in[i].type);
        CHECK(in[i].type != KV_INT || b.v.i == in[i].i);
        CHECK(in[i].type != KV_FLOAT || b.v.f == in[i].f);
        CHECK(in[i].type < KV_STRING + 0 || in[i].bytes.len == 0 || str_eq(b.v.bytes, in[i].bytes));
    }
    bed_close(&b);
}

static void fill(char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(i * 31 + i / 251 + i / 65536);
}

/* Around the sizes of words, blocks and pages. */
static void test_store_every_size(void)
{
    size_t max = 3 * MB(1) + 7;
    char *p = mem_new(max);
    size_t sizes[200], n = 0;
    struct bed b;

    fill(p, max);
    for (size_t k = 0; k < KV_CLASSES; k++)
        for (int d = -1; d <= 1; d++)
            if (kv_slab_size((unsigned)k) > 57)
                sizes[n++] = kv_slab_size((unsigned)k) - 56 + (size_t)(d + 1) - 1;
    for (size_t i = 0; i < 20; i++)
        sizes[n++] = i;
    for (size_t i = 1; i <= 3; i++) {
        sizes[n++] = i * KV_PAGE - 1;
        sizes[n++] = i * KV_PAGE;
        sizes[n++] = i * KV_PAGE + 1;
    }
    sizes[n++] = max;
    bed_open(&b, MB(16), KV_NOEVICTION);
    for (int round = 0; round < 2; round++)
        for (size_t i = 0; i < n; i++) {
            struct kv_value v = {.type = KV_STRING, .bytes = {p, sizes[i]}};

            CHECK_INT(kv_store_set(b.s, STR("key"), &v, 0, 0), 0);
            CHECK_INT(kv_store_get(b.s, STR("key"), &b.buf, &b.v), 0);
            CHECK(str_eq(b.v.bytes, v.bytes));
        }
    CHECK_INT(kv_store_del(b.s, STR("key")), 0);
    CHECK_INT(bed_stats(&b).used, 0);
    bed_close(&b);
    mem_free(p);
}

static void test_store_limits_are_said(void)
{
    char *p = mem_new(KV_VALUE_MAX + 1);
    struct kv_value v = {.type = KV_STRING, .bytes = {p, KV_VALUE_MAX}};
    struct str longest = {p, KV_KEY_MAX}, longer = {p, KV_KEY_MAX + 1};
    struct kv_value small = bed_string("x");
    size_t len;
    int64_t n;
    struct bed b;

    bed_open(&b, MB(140), KV_NOEVICTION);
    fill(p, KV_VALUE_MAX);
    CHECK_INT(kv_store_set(b.s, longest, &v, 0, 0), 0);
    CHECK_INT(kv_store_get(b.s, longest, &b.buf, &b.v), 0);
    CHECK(str_eq(b.v.bytes, v.bytes));
    CHECK_INT(kv_store_append(b.s, longest, STR("x"), &len), ERR_TOOBIG);
    v.bytes.len++;
    CHECK_INT(kv_store_set(b.s, longest, &v, 0, 0), ERR_TOOBIG);
    CHECK_INT(kv_store_set(b.s, longer, &small, 0, 0), ERR_TOOBIG);
    CHECK_INT(kv_store_get(b.s, longer, &b.buf, &b.v), ERR_TOOBIG);
    CHECK_INT(kv_store_del(b.s, longer), ERR_TOOBIG);
    CHECK_INT(kv_store_incr(b.s, longer, 1, &n), ERR_TOOBIG);
    CHECK_INT(kv_store_set(b.s, STR("k"), &small, 0, -1), ERR_INVAL);
    kv_store_flush(b.s);
    CHECK_INT(bed_stats(&b).used, 0);
    bed_close(&b);

    bed_open(&b, MB(2), KV_ALLKEYS_LRU);
    v.bytes.len = MB(1) + MB(1) / 2;
    CHECK_INT(bed_set(&b, "stays", "here"), 0);
    CHECK_INT(kv_store_set(b.s, STR("k"), &v, 0, 0), ERR_FULL);
    CHECK_STR(bed_get(&b, "stays"), "here");
    bed_close(&b);
    mem_free(p);
}

static void test_store_conditions(void)
{
    struct kv_value one = bed_string("1"), two = bed_string("2"), other = bed_int(1);
    int64_t ms;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_store_set(b.s, STR("k"), &one, KV_ONLY_OLD, 0), ERR_NOTFOUND);
    CHECK_INT(kv_store_set(b.s, STR("k"), &one, KV_ONLY_NEW, 100000), 0);
    CHECK_INT(kv_store_set(b.s, STR("k"), &two, KV_ONLY_NEW, 0), ERR_EXISTS);
    CHECK_STR(bed_get(&b, "k"), "1");
    CHECK_INT(kv_store_set(b.s, STR("k"), &two, KV_ONLY_OLD | KV_KEEP_TTL, 0), 0);
    CHECK_INT(kv_store_ttl(b.s, STR("k"), &ms), 0);
    CHECK(ms > 0 && ms <= 100000);
    CHECK_INT(kv_store_cas(b.s, STR("k"), &one, &other, 0), ERR_BUSY);
    CHECK_INT(kv_store_cas(b.s, STR("k"), NULL, &other, 0), ERR_BUSY);
    CHECK_INT(kv_store_cas(b.s, STR("k"), &two, &other, 0), 0);
    CHECK_INT(kv_store_cas(b.s, STR("k"), &one, &two, 0), ERR_BUSY);
    CHECK_INT(kv_store_cas(b.s, STR("new"), &one, &two, 0), ERR_BUSY);
    CHECK_INT(kv_store_cas(b.s, STR("new"), NULL, &two, 0), 0);
    CHECK_INT(kv_store_cas(b.s, STR("new"), &one, NULL, 0), ERR_BUSY);
    CHECK(kv_store_exists(b.s, STR("new")));
    CHECK_INT(kv_store_cas(b.s, STR("new"), &two, NULL, 0), 0);
    CHECK(!kv_store_exists(b.s, STR("new")));
    CHECK_INT(kv_store_cas(b.s, STR("new"), NULL, NULL, 0), 0);
    CHECK(!kv_store_exists(b.s, STR("new")));
    CHECK_INT(kv_store_cas(b.s, STR("new"), NULL, &two, 0), 0);
    CHECK_STR(bed_get(&b, "new"), "2");
    CHECK_INT(kv_store_getset(b.s, STR("new"), &one, &b.buf, &b.v), 0);
    CHECK_STR(b.v.bytes, "2");
    CHECK_INT(kv_store_getset(b.s, STR("newer"), &one, &b.buf, &b.v), ERR_NOTFOUND);
    CHECK_INT(kv_store_getdel(b.s, STR("newer"), &b.buf, &b.v), 0);
    CHECK_STR(b.v.bytes, "1");
    CHECK_INT(kv_store_getdel(b.s, STR("newer"), &b.buf, &b.v), ERR_NOTFOUND);
    bed_close(&b);
}

static void test_store_getex(void)
{
    struct bed b;
    int64_t ms;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_store_getex(b.s, STR("k"), KV_EXPIRY_IN, 5, &b.buf, &b.v), ERR_NOTFOUND);
    CHECK_INT(bed_set(&b, "k", "v"), 0);
    CHECK_INT(kv_store_getex(b.s, STR("k"), KV_EXPIRY_IN, 100000, &b.buf, &b.v), 0);
    CHECK_STR(b.v.bytes, "v");
    CHECK_INT(kv_store_ttl(b.s, STR("k"), &ms), 0);
    CHECK(ms > 90000 && ms <= 100000);
    CHECK_INT(kv_store_getex(b.s, STR("k"), KV_EXPIRY_AT,
                  (int64_t)(clock_wall_us() / 1000 + 500000), &b.buf, &b.v),
        0);
    CHECK_INT(kv_store_ttl(b.s, STR("k"), &ms), 0);
    CHECK(ms > 400000 && ms <= 500100);
    CHECK_INT(kv_store_getex(b.s, STR("k"), KV_EXPIRY_NONE, 0, &b.buf, &b.v), 0);
    CHECK_INT(kv_store_ttl(b.s, STR("k"), &ms), 0);
    CHECK_INT(ms, KV_NO_TTL);
    CHECK_INT(kv_store_getex(b.s, STR("k"), KV_EXPIRY_AT, 1000, &b.buf, &b.v), 0);
    CHECK_STR(b.v.bytes, "v");
    CHECK(!kv_store_exists(b.s, STR("k")));
    CHECK_INT(bed_stats(&b).used, 0);
    bed_close(&b);
}

static void test_store_numbers(void)
{
    static const struct {
        const char *name, *start;
        int64_t by, sum;
        int want;
    } rows[] = {
        {"missing", NULL, 5, 5, 0},
        {"text", "41", 1, 42, 0},
        {"negative text", "-1", -1, -2, 0},
        {"no number", "4x", 1, 0, ERR_INVAL},
        {"space", " 4", 1, 0, ERR_INVAL},
        {"float", "1.5", 1, 0, ERR_INVAL},
        {"largest", "9223372036854775806", 1, INT64_MAX, 0},
        {"too large", "9223372036854775807", 1, 0, ERR_RANGE},
        {"too small", "-9223372036854775808", -1, 0, ERR_RANGE},
        {"no int64", "9223372036854775808", 1, 0, ERR_INVAL},
    };
    int64_t n, ms;
    double f;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].name);
        n = 0;
        if (rows[i].start)
            CHECK_INT(bed_set(&b, rows[i].name, rows[i].start), 0);
        CHECK_INT(kv_store_incr(b.s, str_c(rows[i].name), rows[i].by, &n), rows[i].want);
        CHECK_INT(n, rows[i].sum);
        if (rows[i].want)
            CHECK_STR(bed_get(&b, rows[i].name), rows[i].start);
    }
    test_row(NULL);
    CHECK_INT(kv_store_expire(b.s, STR("text"), 100000), 0);
    CHECK_INT(kv_store_incr(b.s, STR("text"), -2, &n), 0);
    CHECK_INT(n, 40);
    CHECK_INT(kv_store_ttl(b.s, STR("text"), &ms), 0);
    CHECK(ms > 0);
    CHECK_INT(kv_store_incr_float(b.s, STR("text"), 0.5, &f), 0);
    CHECK(f == 40.5);
    CHECK_INT(kv_store_incr_float(b.s, STR("text"), 0.25, &f), 0);
    CHECK(f == 40.75);
    CHECK_INT(kv_store_incr(b.s, STR("text"), 1, &n), ERR_INVAL);
    CHECK_INT(kv_store_incr_float(b.s, STR("float"), 1, &f), ERR_INVAL);
    CHECK_INT(kv_store_incr_float(b.s, STR("text"), 1e308 * 10, &f), ERR_RANGE);
    bed_close(&b);
}

static void test_store_append_grows(void)
{
    struct kv_value serialized = {.type = KV_SERIALIZED, .bytes = STR("a:0:{}")};
    struct buf want = {0};
    struct bed b;
    size_t len;

    bed_open(&b, MB(16), KV_NOEVICTION);
    for (unsigned i = 0; i < 3000; i++) {
        char part[100];

        fill(part, sizeof(part));
        buf_add(&want, part + i % 7, i % 90);
        CHECK_INT(kv_store_append(b.s, STR("k"), str_n(part + i % 7, i % 90), &len), 0);
        CHECK_INT(len, want.len);
        if (i % 50 == 0) {
            CHECK_INT(kv_store_get(b.s, STR("k"), &b.buf, &b.v), 0);
            CHECK(str_eq(b.v.bytes, buf_str(&want)));
        }
    }
    CHECK(kv_store_exists(b.s, STR("k")));
    CHECK_INT(kv_store_set(b.s, STR("n"), &(struct kv_value){.type = KV_INT}, 0, 0), 0);
    CHECK_INT(kv_store_append(b.s, STR("n"), STR("x"), &len), 0);
    CHECK_STR(bed_get(&b, "n"), "0x");
    CHECK_INT(kv_store_set(b.s, STR("s"), &serialized, 0, 0), 0);
    CHECK_INT(kv_store_append(b.s, STR("s"), STR("x"), &len), ERR_INVAL);
    bed_close(&b);
    buf_fini(&want);
}

static void test_store_key_is_gone_at_its_deadline(void)
{
    struct kv_value v = bed_string("x");
    uint64_t start, end;
    int64_t ms;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    start = clock_mono_ns();
    CHECK_INT(kv_store_set(b.s, STR("k"), &v, 0, 30), 0);
    end = clock_mono_ns();
    for (;;) {
        uint64_t before = clock_mono_ns();
        bool there = kv_store_exists(b.s, STR("k"));
        uint64_t after = clock_mono_ns();

        if (there)
            CHECK(before < end + 30000000u);
        else
            CHECK(after >= start + 30000000u);
        if (!there)
            break;
    }
    CHECK_INT(kv_store_ttl(b.s, STR("k"), &ms), ERR_NOTFOUND);
    CHECK_INT(kv_store_del(b.s, STR("k")), ERR_NOTFOUND);
    CHECK_INT(bed_stats(&b).expired, 1);
    CHECK_INT(bed_stats(&b).used, 0);
    bed_close(&b);
}

static void test_store_deadlines_change(void)
{
    int64_t ms;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_store_expire(b.s, STR("k"), 1000), ERR_NOTFOUND);
    CHECK_INT(kv_store_persist(b.s, STR("k")), ERR_NOTFOUND);
    CHECK_INT(bed_set(&b, "k", "v"), 0);
    CHECK_INT(kv_store_ttl(b.s, STR("k"), &ms), 0);
    CHECK_INT(ms, KV_NO_TTL);
    CHECK_INT(kv_store_persist(b.s, STR("k")), ERR_NOTFOUND);
    CHECK_INT(kv_store_expire(b.s, STR("k"), 1000000), 0);
    CHECK_INT(kv_store_ttl(b.s, STR("k"), &ms), 0);
    CHECK(ms > 900000 && ms <= 1000000);
    CHECK_INT(kv_store_persist(b.s, STR("k")), 0);
    CHECK_INT(kv_store_ttl(b.s, STR("k"), &ms), 0);
    CHECK_INT(ms, KV_NO_TTL);
    CHECK_INT(kv_store_expire(b.s, STR("k"), INT64_MAX), 0);
    CHECK_INT(kv_store_ttl(b.s, STR("k"), &ms), 0);
    CHECK(ms > 1000000);
    CHECK_INT(bed_set(&b, "k", "v"), 0);
    CHECK_INT(kv_store_ttl(b.s, STR("k"), &ms), 0);
    CHECK_INT(ms, KV_NO_TTL);
    CHECK_INT(kv_store_expire(b.s, STR("k"), -5), 0);
    CHECK_STR(bed_get(&b, "k"), "(none)");
    bed_close(&b);
}

const struct test tests_store[] = {TEST(test_store_options_are_checked),
    TEST(test_store_other_layout_is_refused), TEST(test_store_set_get_del),
    TEST(test_store_types_stay), TEST(test_store_every_size), TEST(test_store_limits_are_said),
    TEST(test_store_conditions), TEST(test_store_getex), TEST(test_store_numbers),
    TEST(test_store_append_grows), TEST(test_store_key_is_gone_at_its_deadline),
    TEST(test_store_deadlines_change), TEST_END};
