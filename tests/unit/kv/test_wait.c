/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/clock.h"
#include "unit/kv/bed.h"

/* Is there a change beyond version right now? Then the new version. */
static bool changed(struct bed *b, uint64_t *version)
{
    int r = kv_store_wait(b->s, STR("k"), *version, 0, &b->buf, &b->v, version);

    CHECK(r == 0 || r == ERR_NOTFOUND || r == ERR_TIMEOUT);
    return r != ERR_TIMEOUT;
}

static void test_wait_counts_changes_of_the_value(void)
{
    uint64_t version = 0;
    size_t len;
    int64_t n;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK(changed(&b, &version));
    CHECK(!changed(&b, &version));
    CHECK_INT(bed_set(&b, "k", "1"), 0);
    CHECK(changed(&b, &version));
    CHECK_STR(b.v.bytes, "1");
    CHECK(!changed(&b, &version));
    CHECK_INT(bed_set(&b, "k", "1"), 0);
    CHECK(changed(&b, &version));
    CHECK_INT(kv_store_append(b.s, STR("k"), STR("1"), &len), 0);
    CHECK(changed(&b, &version));
    CHECK_INT(kv_store_incr(b.s, STR("k"), 1, &n), 0);
    CHECK(changed(&b, &version));
    CHECK_INT(b.v.i, 12);
    CHECK_INT(kv_store_incr(b.s, STR("k"), 1, &n), 0);
    CHECK(changed(&b, &version));
    CHECK_INT(kv_store_expire(b.s, STR("k"), 1000000), 0);
    CHECK(!changed(&b, &version));
    CHECK_INT(kv_store_del(b.s, STR("k")), 0);
    CHECK(changed(&b, &version));
    CHECK(!changed(&b, &version));
    CHECK_INT(bed_set(&b, "k", "1"), 0);
    CHECK(changed(&b, &version));
    kv_store_flush(b.s);
    CHECK(changed(&b, &version));
    CHECK(!changed(&b, &version));
    bed_close(&b);
}

static void test_wait_times_out(void)
{
    uint64_t version = 0, start;
    struct bed b;

    bed_open(&b, MB(2), KV_NOEVICTION);
    CHECK_INT(kv_store_wait(b.s, STR("k"), 0, 1000, &b.buf, &b.v, &version), ERR_NOTFOUND);
    start = clock_mono_ns();
    CHECK_INT(kv_store_wait(b.s, STR("k"), version, 30, &b.buf, &b.v, &version), ERR_TIMEOUT);
    CHECK(clock_mono_ns() - start >= 30000000u);
    CHECK_INT(kv_store_wait(b.s, STR("k"), version, -1, &b.buf, &b.v, &version), ERR_TIMEOUT);
    bed_close(&b);
}

static void test_wait_sees_a_key_expire(void)
{
    struct kv_value v = bed_string("v");
    uint64_t version = 0;
    struct bed b;
    int r;

    bed_open(&b, MB(2), KV_NOEVICTION);
    do { /* again when the machine stood still, and it was gone already */
        CHECK_INT(kv_store_set(b.s, STR("k"), &v, 0, 20), 0);
        r = kv_store_wait(b.s, STR("k"), 0, 0, &b.buf, &b.v, &version);
    } while (r == ERR_NOTFOUND);
    CHECK_INT(r, 0);
    CHECK_INT(kv_store_wait(b.s, STR("k"), version, 60000, &b.buf, &b.v, &version), ERR_NOTFOUND);
    bed_close(&b);
}

const struct test tests_wait[] = {TEST(test_wait_counts_changes_of_the_value),
    TEST(test_wait_times_out), TEST(test_wait_sees_a_key_expire), TEST_END};
