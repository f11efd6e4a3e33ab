/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/err.h"
#include "db/mysql/handshake.h"
#include "unit/test.h"

#define ZEROS_23 "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
/* Capabilities, largest packet, charset 45, filler. PROTOCOL_41 and SECURE_CONNECTION are 0x8200.
 */
#define LOGIN(low, high) low high "\0\0\0\x01\x2d" ZEROS_23

static const struct {
    const char *name;
    struct str payload;
    int rc;
    const char *user, *auth, *database;
    enum mysql_plugin plugin;
    bool tls;
} logins[] = {
    {"with one length byte", STR(LOGIN("\0\x82", "\0\0") "bob\0\x02xy"), 0, "bob", "xy", "",
        MYSQL_PLUGIN_NATIVE, false},
    {"with a database", STR(LOGIN("\x08\x82", "\0\0") "bob\0\x02xyshop\0"), 0, "bob", "xy", "shop",
        MYSQL_PLUGIN_NATIVE, false},
    {"database without NUL", STR(LOGIN("\x08\x82", "\0\0") "bob\0\0shop"), 0, "bob", "", "shop",
        MYSQL_PLUGIN_NATIVE, false},
    {"with a plugin", STR(LOGIN("\0\x82", "\x08\0") "bob\0\0caching_sha2_password\0"), 0, "bob", "",
        "", MYSQL_PLUGIN_SHA2, false},
    {"with another plugin", STR(LOGIN("\0\x82", "\x08\0") "bob\0\0client_ed25519\0"), 0, "bob", "",
        "", MYSQL_PLUGIN_UNKNOWN, false},
    {"lenenc and attributes",
        STR(LOGIN("\0\x82", "\x38\0") "b\0\x01zmysql_native_password\0\x08\x03_os\x03zos"), 0, "b",
        "z", "", MYSQL_PLUGIN_NATIVE, false},
    {"attributes that are cut",
        STR(LOGIN("\0\x82", "\x38\0") "b\0\x01zmysql_native_password\0\x08\x03_os\x09zos"),
        ERR_PROTO, NULL, NULL, NULL, 0, false},
    {"attributes that end too early",
        STR(LOGIN("\0\x82", "\x38\0") "b\0\x01zmysql_native_password\0\x20\x03_os"), ERR_PROTO,
        NULL, NULL, NULL, 0, false},
    {"TLS", STR(LOGIN("\0\x8a", "\0\0")), 0, "", "", "", MYSQL_PLUGIN_UNKNOWN, true},
    {"no user", STR(LOGIN("\0\x82", "\0\0")), ERR_PROTO, NULL, NULL, NULL, 0, false},
    {"a proof that is cut", STR(LOGIN("\0\x82", "\0\0") "bob\0\x14xy"), ERR_PROTO, NULL, NULL, NULL,
        0, false},
    {"a huge length", STR(LOGIN("\0\x82", "\x20\0") "b\0\xfe\xff\xff\xff\xff\xff\xff\xff\x7fq"),
        ERR_PROTO, NULL, NULL, NULL, 0, false},
    {"an old client",
        STR("\x00\x80\0\0\x01"
            "bob\0"),
        ERR_PROTO, NULL, NULL, NULL, 0, false},
    {"cut", STR("\0\x82\0\0\0\0\0\x01\x2d"), ERR_PROTO, NULL, NULL, NULL, 0, false},
    {"empty", STR(""), ERR_PROTO, NULL, NULL, NULL, 0, false},
};

static void test_handshake_logins_are_read(void)
{
    for (size_t i = 0; i < ARRAY_LEN(logins); i++) {
        struct mysql_login m = {0};

        test_row(logins[i].name);
        CHECK_INT(mysql_parse_login(logins[i].payload, &m), logins[i].rc);
        if (logins[i].rc)
            continue;
        CHECK_STR(m.user, logins[i].user);
        CHECK_STR(m.auth, logins[i].auth);
        CHECK_STR(m.database, logins[i].database);
        CHECK_INT(m.plugin, logins[i].plugin);
        CHECK_INT(m.wants_tls, logins[i].tls);
        CHECK_INT(m.charset, 45);
    }
    test_row(NULL);
}

/* Whatever the end of a login is cut off, it is an error or a shorter login; nothing is read behind
 * it (the sanitizers' build says so). */
static void test_handshake_every_cut_is_safe(void)
{
    for (size_t i = 0; i < ARRAY_LEN(logins); i++) {
        for (size_t n = 0; n < logins[i].payload.len; n++) {
            struct mysql_login m;
            struct str cut = str_sub(logins[i].payload, 0, n);

            (void)!mysql_parse_login(cut, &m);
            (void)!mysql_parse_change_user(cut, MYSQL_CAPABILITIES, &m);
        }
    }
}

static void test_handshake_change_user(void)
{
    struct mysql_login m = {0};

    CHECK_INT(mysql_parse_change_user(STR("eve\0\x03"
                                          "abcshop\0\x2d\0mysql_native_password\0"),
                  MYSQL_CAPABILITIES, &m),
        0);
    CHECK_STR(m.user, "eve");
    CHECK_STR(m.auth, "abc");
    CHECK_STR(m.database, "shop");
    CHECK_INT(m.charset, 45);
    CHECK_INT(m.plugin, MYSQL_PLUGIN_NATIVE);
    CHECK_INT(mysql_parse_change_user(STR("eve\0\0\0"), MYSQL_CAPABILITIES, &m), 0);
    CHECK_INT(mysql_parse_change_user(STR("eve"), MYSQL_CAPABILITIES, &m), ERR_PROTO);
}

static void test_handshake_greeting(void)
{
    struct buf b = {0};
    const uint8_t *scramble = (const uint8_t *)"abcdefghijklmnopqrst";
    struct mysql_greeting g = {
        .id = 258, .capabilities = MYSQL_CAPABILITIES, .status = 2, .scramble = scramble};
    static const char start[] = "\x0a" MYSQL_VERSION "\0\x02\x01\0\0abcdefgh";
    static const char end[] = "\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0caching_sha2_password\0";

    mysql_put_greeting(&b, &g);
    CHECK(str_starts(buf_str(&b), str_n(start, sizeof(start) - 1)));
    CHECK(str_ends(buf_str(&b), str_n(end, sizeof(end) - 1)));
    CHECK(!(MYSQL_CAPABILITIES & (MYSQL_SSL | MYSQL_COMPRESS | MYSQL_LOCAL_FILES)));
    buf_fini(&b);
}

const struct test tests_handshake[] = {TEST(test_handshake_logins_are_read),
    TEST(test_handshake_every_cut_is_safe), TEST(test_handshake_change_user),
    TEST(test_handshake_greeting), TEST_END};
