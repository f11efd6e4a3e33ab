/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "db/mysql/packet.h"
#include "unit/test.h"

static const struct {
    const char *name;
    struct str bytes;
    size_t max;
    enum mysql_frame_result result;
    size_t payload, need;
} frames[] = {
    {"nothing", STR(""), 100, MYSQL_FRAME_MORE, 0, 4},
    {"half a header", STR("\x01\x00"), 100, MYSQL_FRAME_MORE, 0, 2},
    {"empty", STR("\0\0\0\0"), 100, MYSQL_FRAME_OK, 0, 0},
    {"one byte", STR("\x01\0\0\0\x0e"), 100, MYSQL_FRAME_OK, 1, 0},
    {"a byte is missing", STR("\x03\0\0\0ab"), 100, MYSQL_FRAME_MORE, 0, 1},
    {"followed by another", STR("\x01\0\0\0\x0e\x01\0\0\0\x0e"), 100, MYSQL_FRAME_OK, 1, 0},
    {"wrong number", STR("\x01\0\0\x01\x0e"), 100, MYSQL_FRAME_ORDER, 0, 0},
    {"as long as may be", STR("\x02\0\0\0ab"), 2, MYSQL_FRAME_OK, 2, 0},
    {"too long", STR("\x03\0\0\0"), 2, MYSQL_FRAME_LARGE, 0, 0},
    {"much too long", STR("\xff\xff\xff\0"), 1000, MYSQL_FRAME_LARGE, 0, 0},
};

static void test_packet_frames_are_found(void)
{
    for (size_t i = 0; i < ARRAY_LEN(frames); i++) {
        char bytes[64];
        size_t len = str_put(bytes, sizeof(bytes), frames[i].bytes);
        struct mysql_framing f;

        test_row(frames[i].name);
        mysql_framing_init(&f, 0, frames[i].max);
        CHECK_INT(mysql_frame(&f, bytes, &len), frames[i].result);
        if (frames[i].result == MYSQL_FRAME_OK)
            CHECK_INT(f.payload, frames[i].payload);
        if (frames[i].result == MYSQL_FRAME_MORE)
            CHECK_INT(f.need, frames[i].need);
    }
    test_row(NULL);
}

/* A payload of every interesting length is written, and read back as it comes: in pieces. */
static void packet_round_trip(size_t n)
{
    struct buf b = {0}, got = {0};
    struct mysql_framing f;
    uint8_t seq = 254;
    size_t mark = mysql_begin(&b), fed = 0, packets = n / MYSQL_CHUNK + 1;
    enum mysql_frame_result r;

    for (size_t i = 0; i < n; i++)
        buf_add_char(&b, (char)(i * 31 + i / 251));
    mysql_end(&b, mark, &seq);
    CHECK_INT(seq, (uint8_t)(254 + packets));
    CHECK_INT(b.len, n + packets * MYSQL_HEADER);
    mysql_framing_init(&f, 254, n);
    do {
        size_t len;

        r = mysql_frame(&f, got.p, (len = got.len, &len));
        got.len = len;
        if (r == MYSQL_FRAME_MORE) {
            CHECK(fed + f.need <= b.len);
            buf_add(&got, b.p + fed, f.need);
            fed += f.need;
        }
    } while (r == MYSQL_FRAME_MORE && fed <= b.len);
    CHECK_INT(r, MYSQL_FRAME_OK);
    CHECK_INT(f.payload, n);
    for (size_t i = 0; i < n && f.payload == n; i++) {
        if (got.p[MYSQL_HEADER + i] != (char)(i * 31 + i / 251)) {
            CHECK(!"a byte is another one");
            break;
        }
    }
    buf_fini(&b);
    buf_fini(&got);
}

static void test_packet_long_payloads_are_divided(void)
{
    static const size_t lengths[] = {0, 1, MYSQL_CHUNK - 1, MYSQL_CHUNK, MYSQL_CHUNK + 1,
        2 * MYSQL_CHUNK - 1, 2 * MYSQL_CHUNK, 2 * MYSQL_CHUNK + 7};

    for (size_t i = 0; i < ARRAY_LEN(lengths); i++)
        packet_round_trip(lengths[i]);
}

static void test_packet_second_part_is_limited(void)
{
    struct buf b = {0};
    uint8_t seq = 0;
    size_t mark = mysql_begin(&b), len;
    struct mysql_framing f;

    memset(buf_reserve(&b, MYSQL_CHUNK + 100), 'x', MYSQL_CHUNK + 100);
    b.len += MYSQL_CHUNK + 100;
    mysql_end(&b, mark, &seq);
    mysql_framing_init(&f, 0, MYSQL_CHUNK + 99);
    len = MYSQL_CHUNK + 2 * MYSQL_HEADER; /* the second header says it */
    CHECK_INT(mysql_frame(&f, b.p, &len), MYSQL_FRAME_LARGE);
    buf_fini(&b);
}

static void test_packet_integers_are_read_back(void)
{
    static const uint64_t values[] = {
        0, 1, 250, 251, 255, 256, 65535, 65536, 0xffffff, 0x1000000, UINT32_MAX, UINT64_MAX};
    struct buf b = {0};

    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        struct mysql_reader r;

        buf_clear(&b);
        mysql_put_lenenc(&b, values[i]);
        r = mysql_reader(buf_str(&b));
        CHECK(mysql_read_lenenc(&r) == values[i] && !r.bad && r.rest.len == 0);
        r = mysql_reader(str_sub(buf_str(&b), 0, b.len - 1));
        CHECK(mysql_read_lenenc(&r) == 0 && r.bad);
    }
    buf_fini(&b);
}

static void test_packet_reader_stays_within(void)
{
    struct mysql_reader r = mysql_reader(STR("\xfb"));

    CHECK(mysql_read_lenenc(&r) == 0 && r.bad);
    r = mysql_reader(STR("\xfe\xff\xff\xff\xff\xff\xff\xff\xff"
                         "a"));
    CHECK(mysql_read_lenstr(&r).len == 0 && r.bad);
    CHECK(mysql_read_rest(&r).len == 0);
    r = mysql_reader(STR("abc"));
    CHECK(mysql_read_nul(&r).len == 0 && r.bad);
    r = mysql_reader(STR("abc"));
    CHECK_STR(mysql_read_nul_or_end(&r), "abc");
    CHECK(!r.bad);
    r = mysql_reader(STR("ab\0c"));
    CHECK_STR(mysql_read_nul(&r), "ab");
    CHECK_INT(mysql_read_int(&r, 1), 'c');
    CHECK_INT(mysql_read_int(&r, 4), 0);
    CHECK(r.bad);
}

const struct test tests_packet[] = {TEST(test_packet_frames_are_found),
    TEST(test_packet_long_payloads_are_divided), TEST(test_packet_second_part_is_limited),
    TEST(test_packet_integers_are_read_back), TEST(test_packet_reader_stays_within), TEST_END};
