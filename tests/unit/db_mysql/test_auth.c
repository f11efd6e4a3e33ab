/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/err.h"
#include "db/mysql/auth.h"
#include "unit/test.h"

/* Made with the formulas of auth.h by another implementation. */
static const uint8_t scramble[] = "abcdefghijklmnopqrst";
static void test_auth_right_and_wrong_proofs(void)
{
    struct mysql_secret s;
    char proof[MYSQL_SHA256] = {0};

    mysql_secret_init(&s, STR("secret"));
    CHECK(!s.empty);
    CHECK(mysql_prove_clear(&s, STR("secret")));
    CHECK(!mysql_prove_clear(&s, STR("Secret")));
    CHECK(!mysql_prove_clear(&s, STR("")));
    CHECK(!mysql_prove_native(&s, scramble, STR("")));
    CHECK(!mysql_prove_sha2(&s, scramble, STR("")));
    CHECK(!mysql_prove_native(&s, scramble, str_n(proof, MYSQL_SHA1)));
    CHECK(!mysql_prove_sha2(&s, scramble, str_n(proof, MYSQL_SHA256)));
    CHECK(!mysql_prove_native(&s, scramble, str_n(proof, 7)));
}

static void test_auth_proofs_of_another_implementation(void)
{
    static const uint8_t native[] = {0x88, 0x17, 0xc5, 0x0f, 0xa7, 0x79, 0xda, 0xef, 0x01, 0x0e,
        0xe7, 0x57, 0x78, 0x25, 0xb0, 0x84, 0x7d, 0xf9, 0x84, 0x2e};
    static const uint8_t sha2[] = {0xc7, 0x6e, 0x28, 0x98, 0x61, 0x2a, 0x4c, 0xf0, 0x42, 0xc7, 0x7f,
        0xa8, 0xc4, 0x70, 0x2c, 0x4c, 0x64, 0xc0, 0xc2, 0xc5, 0x57, 0xc5, 0x3c, 0x4d, 0x75, 0x59,
        0x5a, 0xaa, 0x6a, 0xba, 0xe8, 0x09};
    struct mysql_secret s;

    mysql_secret_init(&s, STR("secret"));
    CHECK(mysql_prove_native(&s, scramble, str_n((const char *)native, sizeof(native))));
    CHECK(mysql_prove_sha2(&s, scramble, str_n((const char *)sha2, sizeof(sha2))));
    mysql_secret_init(&s, STR("secret2"));
    CHECK(!mysql_prove_native(&s, scramble, str_n((const char *)native, sizeof(native))));
    CHECK(!mysql_prove_sha2(&s, scramble, str_n((const char *)sha2, sizeof(sha2))));
}

static void test_auth_empty_password_is_one_proof(void)
{
    struct mysql_secret s;
    char proof[MYSQL_SHA256] = {0};

    mysql_secret_init(&s, STR(""));
    CHECK(s.empty);
    CHECK(mysql_prove_native(&s, scramble, STR("")));
    CHECK(mysql_prove_sha2(&s, scramble, STR("")));
    CHECK(!mysql_prove_native(&s, scramble, str_n(proof, MYSQL_SHA1)));
    CHECK(mysql_prove_clear(&s, STR("")));
    CHECK(!mysql_prove_clear(&s, STR("x")));
}

static void test_auth_scrambles_differ_and_have_no_nul(void)
{
    uint8_t a[MYSQL_SCRAMBLE], b[MYSQL_SCRAMBLE];

    for (int i = 0; i < 200; i++) {
        mysql_scramble(a);
        CHECK(memchr(a, 0, sizeof(a)) == NULL);
    }
    mysql_scramble(b);
    CHECK(memcmp(a, b, sizeof(a)) != 0);
}

static void test_auth_rsa_refuses_garbage(void)
{
    struct mysql_rsa *k = mysql_rsa_new();
    struct buf pem = {0};
    char out[512], garbage[256] = {1};
    size_t n = 0;

    CHECK_INT(mysql_rsa_public(k, &pem), 0);
    CHECK(str_starts(buf_str(&pem), STR("-----BEGIN PUBLIC KEY-----\n")));
    CHECK_INT(mysql_rsa_password(k, scramble, str_n(garbage, sizeof(garbage)), out, &n), ERR_PROTO);
    CHECK_INT(mysql_rsa_password(k, scramble, STR(""), out, &n), ERR_PROTO);
    buf_fini(&pem);
    mysql_rsa_free(k);
}

const struct test tests_auth[] = {TEST(test_auth_right_and_wrong_proofs),
    TEST(test_auth_proofs_of_another_implementation), TEST(test_auth_empty_password_is_one_proof),
    TEST(test_auth_scrambles_differ_and_have_no_nul), TEST(test_auth_rsa_refuses_garbage),
    TEST_END};
