/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/codec.h"

#include "base/mem.h"
#include "kv/entry.h"
#include "kv/keys.h"
#include "kv/shard.h"
#include "unit/kv/bed.h"

#define TEXT_LEN 5000

static const struct kv_compression all[] = {{KV_GZIP, 1, 100}, {KV_GZIP, 9, 100},
    {KV_BROTLI, 0, 100}, {KV_BROTLI, 11, 100}, {KV_ZSTD, 1, 100}, {KV_ZSTD, 19, 100}};

/* What compresses well, and differs by seed. */
static void fill_text(char *p, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (char)('a' + (i * i + seed) % 7);
}

static void fill_noise(char *p, size_t n)
{
    uint64_t random = 88172645463325252u;

    for (size_t i = 0; i < n; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        p[i] = (char)(random >> 56);
    }
}

/* False: this build lacks the algorithm. */
static bool open_with(struct bed *b, const struct kv_compression *c)
{
    bed_open(b, MB(4), KV_NOEVICTION);
    if (kv_store_compress(b->s, c) != ERR_UNSUPPORTED)
        return true;
    bed_close(b);
    return false;
}

static void test_codec_options_are_checked(void)
{
    static const struct {
        const char *name;
        struct kv_compression c;
        int want;
    } rows[] = {
        {"none", {KV_UNCOMPRESSED, -5, 0}, 0},
        {"gzip 0", {KV_GZIP, 0, 0}, ERR_INVAL},
        {"gzip 1", {KV_GZIP, 1, 0}, 0},
        {"gzip 9", {KV_GZIP, 9, 0}, 0},
        {"gzip 10", {KV_GZIP, 10, 0}, ERR_INVAL},
        {"brotli -1", {KV_BROTLI, -1, 0}, ERR_INVAL},
        {"brotli 0", {KV_BROTLI, 0, 0}, 0},
        {"brotli 11", {KV_BROTLI, 11, 0}, 0},
        {"brotli 12", {KV_BROTLI, 12, 0}, ERR_INVAL},
        {"zstd 0", {KV_ZSTD, 0, 0}, ERR_INVAL},
        {"zstd 1", {KV_ZSTD, 1, 0}, 0},
        {"zstd 19", {KV_ZSTD, 19, 0}, 0},
        {"zstd 20", {KV_ZSTD, 20, 0}, ERR_INVAL},
        {"no algorithm", {(enum kv_algorithm)4, 1, 0}, ERR_INVAL},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct kv_options opt = {.memory = KV_MEMORY_MIN, .compression = rows[i].c};
        int fd = -1, r;

        test_row(rows[i].name);
        r = kv_store_create(&opt, &fd);
        if (r != ERR_UNSUPPORTED || rows[i].want != 0)
            CHECK_INT(r, rows[i].want);
        fs_close(fd);
    }
}

/* All ways to a value: they give what was set, and it takes less memory. */
static void test_codec_values_are_read_as_they_were_set(void)
{
    char text[TEXT_LEN], other[TEXT_LEN];
    struct kv_value v = {.type = KV_SERIALIZED, .bytes = {text, sizeof(text)}};
    struct kv_value w = {.type = KV_SERIALIZED, .bytes = {other, sizeof(other)}};
    struct kv_info info;
    uint64_t version;
    struct bed b;

    fill_text(text, sizeof(text), 1);
    fill_text(other, sizeof(other), 2);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!open_with(&b, &all[i]))
            continue;
        CHECK_INT(kv_store_set(b.s, STR("k"), &v, 0, 0), 0);
        CHECK_INT(kv_store_info(b.s, STR("k"), &info), 0);
        CHECK_INT(info.length, TEXT_LEN);
        CHECK(info.bytes < TEXT_LEN / 2);
        CHECK_INT(kv_store_get(b.s, STR("k"), &b.buf, &b.v), 0);
        CHECK(b.v.type == KV_SERIALIZED && str_eq(b.v.bytes, v.bytes) && b.v.coding == 0);
        CHECK_INT(kv_store_wait(b.s, STR("k"), 0, 0, &b.buf, &b.v, &version), 0);
        CHECK(str_eq(b.v.bytes, v.bytes));
        CHECK_INT(kv_store_cas(b.s, STR("k"), &w, &w, 0), ERR_BUSY);
        CHECK_INT(kv_store_cas(b.s, STR("k"), &v, &w, 0), 0);
        CHECK_INT(kv_store_getset(b.s, STR("k"), &v, &b.buf, &b.v), 0);
        CHECK(str_eq(b.v.bytes, w.bytes));
        CHECK_INT(kv_store_copy(b.s, STR("k"), STR("copy"), 0), 0);
        CHECK_INT(kv_store_rename(b.s, STR("copy"), STR("c"), 0), 0);
        CHECK_INT(kv_store_info(b.s, STR("c"), &info), 0);
        CHECK(info.bytes < TEXT_LEN / 2);
        CHECK_INT(kv_store_getdel(b.s, STR("c"), &b.buf, &b.v), 0);
        CHECK(str_eq(b.v.bytes, v.bytes));
        bed_close(&b);
    }
}

static void test_codec_strings_can_be_changed(void)
{
    char text[TEXT_LEN + 8];
    struct kv_value v = {.type = KV_STRING, .bytes = {text, TEXT_LEN}};
    struct str out;
    struct bed b;
    size_t len;
    int64_t n;

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!open_with(&b, &all[i]))
            continue;
        fill_text(text, TEXT_LEN, 3);
        CHECK_INT(kv_store_set(b.s, STR("k"), &v, 0, 0), 0);
        CHECK_INT(kv_store_incr(b.s, STR("k"), 1, &n), ERR_INVAL);
        CHECK_INT(kv_store_getrange(b.s, STR("k"), 10, 29, &b.buf, &out), 0);
        CHECK(str_eq(out, str_n(text + 10, 20)));
        CHECK_INT(kv_store_append(b.s, STR("k"), STR("the tail"), &len), 0);
        CHECK_INT(len, TEXT_LEN + 8);
        memcpy(text + TEXT_LEN, "the tail", 8);
        CHECK_INT(kv_store_get(b.s, STR("k"), &b.buf, &b.v), 0);
        CHECK(str_eq(b.v.bytes, str_n(text, sizeof(text))));
        CHECK_INT(kv_store_set(b.s, STR("k"), &v, 0, 0), 0);
        CHECK_INT(kv_store_setrange(b.s, STR("k"), 7, STR("X"), &len), 0);
        CHECK_INT(len, TEXT_LEN);
        text[7] = 'X';
        CHECK_INT(kv_store_get(b.s, STR("k"), &b.buf, &b.v), 0);
        CHECK(str_eq(b.v.bytes, v.bytes));
        bed_close(&b);
    }
}

static void test_codec_many_at_once(void)
{
    char text[4][TEXT_LEN];
    struct kv_pair pairs[5];
    char name[8];
    struct bed b;

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!open_with(&b, &all[i]))
            continue;
        for (unsigned k = 0; k < 4; k++) {
            fill_text(text[k], TEXT_LEN, k);
            pairs[k] = (struct kv_pair){str_n(&"abcd"[k], 1),
                {.type = KV_STRING, .bytes = {text[k], k == 2 ? 50 : TEXT_LEN - k}}};
        }
        pairs[4] = (struct kv_pair){STR("n"), bed_int(5)};
        CHECK_INT(kv_store_mset(b.s, pairs, 5, 0), 0);
        for (unsigned k = 0; k < 4; k++) {
            (void)snprintf(name, sizeof(name), "%c", 'a' + k);
            CHECK(str_eq(bed_get(&b, name), pairs[k].value.bytes));
        }
        CHECK_STR(bed_get(&b, "n"), "(other)");
        bed_close(&b);
    }
}

static void test_codec_what_does_not_shrink_stays(void)
{
    char noise[TEXT_LEN], text[99];
    struct kv_value v = {.type = KV_STRING, .bytes = {noise, sizeof(noise)}};
    struct kv_value small = {.type = KV_STRING, .bytes = {text, sizeof(text)}};
    struct kv_info info;
    struct bed b;

    fill_noise(noise, sizeof(noise));
    fill_text(text, sizeof(text), 0);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!open_with(&b, &all[i]))
            continue;
        CHECK_INT(kv_store_set(b.s, STR("k"), &v, 0, 0), 0);
        CHECK_INT(kv_store_info(b.s, STR("k"), &info), 0);
        CHECK(info.bytes > TEXT_LEN);
        CHECK_INT(kv_store_get(b.s, STR("k"), &b.buf, &b.v), 0);
        CHECK(str_eq(b.v.bytes, v.bytes));
        CHECK_INT(kv_store_set(b.s, STR("k"), &small, 0, 0), 0);
        CHECK_INT(kv_store_info(b.s, STR("k"), &info), 0);
        CHECK_INT(info.bytes, 160);
        bed_close(&b);
    }
}

/* Each process and each time may have other settings. */
static void test_codec_settings_may_differ(void)
{
    char text[TEXT_LEN];
    struct kv_value v = {.type = KV_STRING, .bytes = {text, sizeof(text)}};
    struct kv_compression none = {0};
    char name[8];
    struct kv_store *other;
    struct bed b;

    bed_open(&b, MB(4), KV_NOEVICTION);
    fill_text(text, sizeof(text), 0);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        (void)snprintf(name, sizeof(name), "%zu", i);
        (void)!kv_store_compress(b.s, &all[i]);
        CHECK_INT(kv_store_set(b.s, str_c(name), &v, 0, 0), 0);
    }
    CHECK_INT(kv_store_compress(b.s, &none), 0);
    other = kv_store_open_other(b.s);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        (void)snprintf(name, sizeof(name), "%zu", i);
        CHECK(str_eq(bed_get(&b, name), v.bytes));
        CHECK_INT(kv_store_get(other, str_c(name), &b.buf, &b.v), 0);
        CHECK(str_eq(b.v.bytes, v.bytes));
    }
    kv_store_close(other);
    bed_close(&b);
}

static void test_codec_large_value_has_pages(void)
{
    const size_t size = MB(3);
    char *text = mem_new(size), noise[1024];
    struct kv_value v = {.type = KV_STRING, .bytes = {text, size}};
    struct kv_compression c = {KV_GZIP, 1, 1024};
    struct bed b;

    fill_noise(noise, sizeof(noise));
    for (size_t i = 0; i < size; i++)
        text[i] = (char)(noise[i % 1024] + i / 32768);
    bed_open(&b, MB(4), KV_NOEVICTION);
    CHECK_INT(kv_store_set(b.s, STR("k"), &v, 0, 0), ERR_FULL);
    CHECK_INT(kv_store_compress(b.s, &c), 0);
    CHECK_INT(kv_store_set(b.s, STR("k"), &v, 0, 0), 0);
    CHECK(bed_stats(&b).used > KV_PAGE);
    CHECK_INT(kv_store_get(b.s, STR("k"), &b.buf, &b.v), 0);
    CHECK(str_eq(b.v.bytes, v.bytes));
    bed_close(&b);
    mem_free(text);
}

/* Where the value of the only key starts, and how long it is as it is stored. */
static char *stored(struct bed *b, size_t *len)
{
    struct kv_spot spot;

    kv_spot_open(b->s, STR("k"), &spot);
    CHECK(spot.e != NULL);
    *len = KV_GET(spot.e->value_len);
    kv_spot_close(b->s, &spot);
    return (char *)kv_entry_word(spot.e, 1);
}

static void test_codec_damaged_value_is_none(void)
{
    char text[300];
    struct kv_value v = {.type = KV_STRING, .bytes = {text, sizeof(text)}};
    struct bed b;
    size_t len;

    fill_text(text, sizeof(text), 0);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!open_with(&b, &all[i]))
            continue;
        CHECK_INT(kv_store_set(b.s, STR("k"), &v, 0, 0), 0);
        (void)stored(&b, &len);
        CHECK(len < sizeof(text));
        for (size_t at = 0; at < len * 8 && !test_failures; at++) {
            CHECK_INT(kv_store_set(b.s, STR("k"), &v, 0, 0), 0);
            stored(&b, &len)[at / 8] ^= (char)(1 << at % 8);
            if (kv_store_get(b.s, STR("k"), &b.buf, &b.v) == 0)
                CHECK(str_eq(b.v.bytes, v.bytes));
            else
                CHECK(!kv_store_exists(b.s, STR("k")));
        }
        CHECK(bed_stats(&b).dropped > 0);
        CHECK_INT(kv_store_set(b.s, STR("k"), &v, 0, 0), 0);
        memset(stored(&b, &len), 255, 8);
        CHECK_INT(kv_store_getdel(b.s, STR("k"), &b.buf, &b.v), ERR_NOTFOUND);
        CHECK_INT(bed_stats(&b).used, 0);
        bed_close(&b);
    }
}

const struct test tests_codec[] = {TEST(test_codec_options_are_checked),
    TEST(test_codec_values_are_read_as_they_were_set), TEST(test_codec_strings_can_be_changed),
    TEST(test_codec_many_at_once), TEST(test_codec_what_does_not_shrink_stays),
    TEST(test_codec_settings_may_differ), TEST(test_codec_large_value_has_pages),
    TEST(test_codec_damaged_value_is_none), TEST_END};
