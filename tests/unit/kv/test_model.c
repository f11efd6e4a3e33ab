/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Random operations on a store and on a plain map: after each the answers are the same. */
#include "base/mem.h"
#include "unit/kv/bed.h"

#ifdef EPHPM_SANITIZED
#define STEPS 200000
#else
#define STEPS 1000000
#endif
#define KEYS 3000

/* What the model knows of a key; a deadline is far away or none. */
struct slot {
    enum kv_type type; /* 0: not there */
    int64_t i;
    bool has_deadline;
    struct buf bytes;
};

struct model {
    struct bed b;
    struct slot slots[KEYS];
    uint64_t random;
    unsigned keys;
    char fill[70000];
};

static uint32_t below(struct model *m, uint32_t n)
{
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return (uint32_t)((m->random >> 32) * n >> 32);
}

/* Keys of many lengths; number i always has the same. */
static struct str key_of(char *p, uint32_t i)
{
    size_t n = (size_t)snprintf(p, 512, "key %u", i);

    while (n < 10 + i % 400)
        p[n++] = (char)i;
    return str_n(p, n);
}

static void slot_set(struct model *m, struct slot *t, const struct kv_value *v, bool deadline)
{
    m->keys += t->type == 0;
    t->type = v->type;
    t->i = v->i;
    t->has_deadline = deadline;
    buf_clear(&t->bytes);
    if (v->type == KV_STRING)
        buf_add_str(&t->bytes, v->bytes);
}

static void slot_drop(struct model *m, struct slot *t)
{
    m->keys -= t->type != 0;
    t->type = 0;
}

static struct kv_value random_value(struct model *m)
{
    static const uint32_t sizes[] = {0, 10, 100, 100, 1000, 1000, 5000, 70000};
    struct kv_value v = {.type = KV_STRING};
    uint32_t n = sizes[below(m, ARRAY_LEN(sizes))];

    if (below(m, 4) == 0)
        return bed_int((int64_t)m->random);
    if (n == 70000 && below(m, 20) != 0)
        n = 20;
    v.bytes.len = n ? below(m, n) : 0;
    v.bytes.p = m->fill + below(m, (uint32_t)(sizeof(m->fill) - v.bytes.len));
    return v;
}

static bool is_equal(const struct slot *t, const struct kv_value *v)
{
    if (t->type != v->type)
        return false;
    return v->type == KV_INT ? t->i == v->i : str_eq(buf_str(&t->bytes), v->bytes);
}

static void step_set(struct model *m, struct str key, struct slot *t)
{
    struct kv_value v = random_value(m);
    unsigned flags = below(m, 8);
    int64_t ttl = below(m, 3) == 0 ? 100000000 : 0;
    int want = 0;

    if (flags & KV_ONLY_NEW && t->type)
        want = ERR_EXISTS;
    else if (flags & KV_ONLY_OLD && !t->type)
        want = ERR_NOTFOUND;
    CHECK_INT(kv_store_set(m->b.s, key, &v, flags, ttl), want);
    if (want == 0)
        slot_set(m, t, &v, flags & KV_KEEP_TTL && t->type ? t->has_deadline : ttl != 0);
}

static void step_incr(struct model *m, struct str key, struct slot *t)
{
    int64_t by = (int64_t)below(m, 100) - 50, n = 0, sum = t->type == KV_INT ? t->i : 0;
    int want = 0;

    /* Only what was appended to a number is a string of digits. */
    if (t->type == KV_STRING && (t->bytes.len > 20 || str_i64(buf_str(&t->bytes), &sum) != 0))
        want = ERR_INVAL;

    if (want == 0 && __builtin_add_overflow(sum, by, &sum))
        want = ERR_RANGE;
    CHECK_INT(kv_store_incr(m->b.s, key, by, &n), want);
    if (want)
        return;
    CHECK_INT(n, sum);
    slot_set(m, t, &(struct kv_value){.type = KV_INT, .i = sum}, t->type && t->has_deadline);
}

static void step_append(struct model *m, struct str key, struct slot *t)
{
    struct str tail = {m->fill + below(m, 1000), below(m, 60)};
    struct kv_value empty = {.type = KV_STRING};
    char digits[24];
    size_t len = 0;

    CHECK_INT(kv_store_append(m->b.s, key, tail, &len), 0);
    if (!t->type)
        slot_set(m, t, &empty, false);
    if (t->type == KV_INT) {
        (void)snprintf(digits, sizeof(digits), "%lld", (long long)t->i);
        t->type = KV_STRING;
        buf_clear(&t->bytes);
        buf_add_str(&t->bytes, str_c(digits));
    }
    buf_add_str(&t->bytes, tail);
    CHECK_INT(len, t->bytes.len);
}

static void step_cas(struct model *m, struct str key, struct slot *t)
{
    struct kv_value v = random_value(m);
    struct kv_value is = {.type = t->type, .i = t->i, .bytes = buf_str(&t->bytes)};
    bool right = below(m, 2);
    int r;

    if (!right)
        is = random_value(m);
    r = kv_store_cas(m->b.s, key, is.type ? &is : NULL, &v, 0);
    if (right || is_equal(t, &is))
        CHECK_INT(r, 0);
    else
        CHECK_INT(r, ERR_BUSY);
    if (r == 0)
        slot_set(m, t, &v, false);
}

static void step_ttl(struct model *m, struct str key, struct slot *t)
{
    int64_t ms = 0;

    switch (below(m, 4)) {
    case 0:
        CHECK_INT(kv_store_expire(m->b.s, key, 100000000), t->type ? 0 : ERR_NOTFOUND);
        t->has_deadline = true;
        break;
    case 1:
        CHECK_INT(kv_store_persist(m->b.s, key), t->type && t->has_deadline ? 0 : ERR_NOTFOUND);
        t->has_deadline = false;
        break;
    case 2:
        CHECK_INT(kv_store_expire(m->b.s, key, 0), t->type ? 0 : ERR_NOTFOUND);
        slot_drop(m, t);
        break;
    default:
        CHECK_INT(kv_store_ttl(m->b.s, key, &ms), t->type ? 0 : ERR_NOTFOUND);
        if (t->type)
            CHECK(t->has_deadline ? ms > 1000000 : ms == KV_NO_TTL);
        break;
    }
}

static void step_get(struct model *m, struct str key, struct slot *t)
{
    CHECK_INT(kv_store_get(m->b.s, key, &m->b.buf, &m->b.v), t->type ? 0 : ERR_NOTFOUND);
    if (t->type)
        CHECK(is_equal(t, &m->b.v));
    CHECK_INT(kv_store_exists(m->b.s, key), t->type != 0);
}

static void step_take(struct model *m, struct str key, struct slot *t)
{
    struct kv_value v = random_value(m);
    int want = t->type ? 0 : ERR_NOTFOUND;

    if (below(m, 3) == 0) {
        bool deadline = below(m, 2);

        CHECK_INT(kv_store_getex(m->b.s, key, deadline ? KV_EXPIRY_IN : KV_EXPIRY_NONE, 1000000000,
                      &m->b.buf, &m->b.v),
            want);
        CHECK(want || is_equal(t, &m->b.v));
        t->has_deadline = t->type && deadline;
    } else if (below(m, 2)) {
        CHECK_INT(kv_store_getdel(m->b.s, key, &m->b.buf, &m->b.v), want);
        CHECK(want || is_equal(t, &m->b.v));
        slot_drop(m, t);
    } else {
        CHECK_INT(kv_store_getset(m->b.s, key, &v, &m->b.buf, &m->b.v), want);
        CHECK(want || is_equal(t, &m->b.v));
        slot_set(m, t, &v, false);
    }
}

static void step(struct model *m)
{
    uint32_t i = below(m, KEYS);
    struct slot *t = &m->slots[i];
    char name[512];
    struct str key = key_of(name, i);

    switch (below(m, 16)) {
    case 0:
    case 1:
    case 2:
    case 3:
        step_set(m, key, t);
        break;
    case 4:
        step_incr(m, key, t);
        break;
    case 5:
    case 6:
        step_append(m, key, t);
        break;
    case 7:
        step_cas(m, key, t);
        break;
    case 8:
        step_ttl(m, key, t);
        break;
    case 9:
        CHECK_INT(kv_store_del(m->b.s, key), t->type ? 0 : ERR_NOTFOUND);
        slot_drop(m, t);
        break;
    case 10:
        step_take(m, key, t);
        break;
    default:
        step_get(m, key, t);
        break;
    }
}

static void run(const struct kv_compression *c)
{
    struct model *m = mem_new(sizeof(*m));
    uint32_t bytes = c->algorithm == KV_UNCOMPRESSED ? 128 : 4; /* few of them compress well */
    char name[512];

    m->random = 88172645463325252u;
    for (size_t i = 0; i < sizeof(m->fill); i++)
        m->fill[i] = (char)(128 + below(m, bytes)); /* no digits: no numbers */
    bed_open(&m->b, MB(64), KV_NOEVICTION);
    CHECK_INT(kv_store_compress(m->b.s, c), 0);
    for (unsigned i = 0; i < STEPS && !test_failures; i++) {
        step(m);
        if (i % 50000 == 0)
            CHECK_INT(bed_stats(&m->b).keys, m->keys);
    }
    for (uint32_t i = 0; i < KEYS; i++) {
        int r = kv_store_del(m->b.s, key_of(name, i));

        CHECK_INT(r, m->slots[i].type ? 0 : ERR_NOTFOUND);
        buf_fini(&m->slots[i].bytes);
    }
    CHECK_INT(bed_stats(&m->b).keys, 0);
    CHECK_INT(bed_stats(&m->b).used, 0);
    CHECK_INT(bed_stats(&m->b).dropped, 0);
    bed_close(&m->b);
    mem_free(m);
}

static void test_model_answers_are_a_maps(void)
{
    run(&(struct kv_compression){0});
}

static void test_model_answers_are_a_maps_when_compressed(void)
{
    run(&(struct kv_compression){KV_GZIP, 1, 100});
}

const struct test tests_model[] = {TEST(test_model_answers_are_a_maps),
    TEST(test_model_answers_are_a_maps_when_compressed), TEST_END};
