/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/sha256.h"

#include "base/buf.h"
#include "unit/test.h"

extern const struct test tests_sha256[];

static struct str repeat(struct buf *b, char c, size_t n)
{
    buf_clear(b);
    while (n--)
        buf_add_char(b, c);
    return buf_str(b);
}

/* FIPS 180-4's examples. */
static void test_sha256_gives_known_sums(void)
{
    static const struct {
        const char *text;
        const char *want;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf hex = {0};
        struct sha256 h;
        uint8_t out[SHA256_SIZE];

        test_row(rows[i].text);
        sha256_init(&h);
        for (const char *p = rows[i].text; *p; p++)
            sha256_add(&h, str_n(p, 1));
        sha256_end(&h, out);
        for (int k = 0; k < SHA256_SIZE; k++)
            buf_printf(&hex, "%02x", out[k]);
        CHECK_STR(buf_str(&hex), rows[i].want);
        buf_fini(&hex);
    }
}

/* RFC 4231. */
static void test_sha256_hmac_gives_the_standards_sums(void)
{
    struct buf a = {0}, b = {0};
    char hex[SHA256_HEX];

    sha256_hmac_hex(repeat(&a, 0x0b, 20), STR("Hi There"), hex);
    CHECK_STR(str_n(hex, sizeof(hex)),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    sha256_hmac_hex(STR("Jefe"), STR("what do ya want for nothing?"), hex);
    CHECK_STR(str_n(hex, sizeof(hex)),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    sha256_hmac_hex(repeat(&a, (char)0xaa, 20), repeat(&b, (char)0xdd, 50), hex);
    CHECK_STR(str_n(hex, sizeof(hex)),
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    sha256_hmac_hex(repeat(&a, (char)0xaa, 131),
        STR("Test Using Larger Than Block-Size Key - Hash Key First"), hex);
    CHECK_STR(str_n(hex, sizeof(hex)),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    buf_fini(&a);
    buf_fini(&b);
}

static void test_sha256_same_compares_all_bytes(void)
{
    CHECK(sha256_same(STR("abc"), STR("abc")));
    CHECK(sha256_same(STR(""), STR_NONE));
    CHECK(!sha256_same(STR("abc"), STR("abd")));
    CHECK(!sha256_same(STR("xbc"), STR("abc")));
    CHECK(!sha256_same(STR("abc"), STR("abcd")));
}

const struct test tests_sha256[] = {TEST(test_sha256_gives_known_sums),
    TEST(test_sha256_hmac_gives_the_standards_sums), TEST(test_sha256_same_compares_all_bytes),
    TEST_END};
