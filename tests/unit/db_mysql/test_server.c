/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <pthread.h>

#include "client.h"
#include "platform/clock.h"
#include "unit/test.h"

/* The full proof, when the fast one was asked for in vain. */
static void full_proof(struct test_client *c, const char *password)
{
    char clear[32];
    size_t n = str_put(clear, sizeof(clear), str_c(password));

    CHECK(str_eq(c->payload, STR("\x01\x04")));
    client_send(c, (uint8_t)(c->seq + 1), str_n(clear, n + 1));
    (void)client_read(c);
}

static void test_server_logs_in_both_ways(void)
{
    struct test_server s;
    struct test_client c;

    test_server_start(&s, 0);
    client_begin(&c, &s, 0);
    client_close(&c);
    client_open(&c, &s);
    client_login(&c, "bob", "secret", MYSQL_PLUGIN_NATIVE, "shop", 0);
    CHECK(client_is_ok(&c));
    client_close(&c);
    client_open(&c, &s);
    client_login(&c, "nil", "", MYSQL_PLUGIN_NATIVE, "", 0);
    CHECK(client_is_ok(&c));
    client_close(&c);
    client_open(&c, &s);
    client_login(&c, "nil", "", MYSQL_PLUGIN_SHA2, "", 0);
    CHECK(client_is_ok(&c));
    client_close(&c);
    test_server_stop(&s);
    CHECK_INT(db_counted(&s.stats.denied), 0);
}

static void test_server_refuses_wrong_logins(void)
{
    struct test_server s;
    struct test_client c;

    test_server_start(&s, 0);
    client_open(&c, &s);
    client_login(&c, "bob", "wrong", MYSQL_PLUGIN_NATIVE, "", 0);
    CHECK_INT(client_error(&c), 1045);
    CHECK(str_find(c.payload, STR("#28000Access denied for user 'bob'@'localhost' (using "
                                  "password: YES)")) > 0);
    CHECK(!client_read(&c));
    client_close(&c);
    client_open(&c, &s);
    client_login(&c, "eve", "", MYSQL_PLUGIN_NATIVE, "", 0);
    CHECK(c.payload.len > 0 && (uint8_t)c.payload.p[0] == 0xfe); /* asked as if she were known */
    client_send(&c, (uint8_t)(c.seq + 1), STR(""));
    (void)client_read(&c);
    CHECK_INT(client_error(&c), 1045);
    client_close(&c);
    client_open(&c, &s);
    client_login(&c, "bob", "wrong", MYSQL_PLUGIN_SHA2, "", 0);
    full_proof(&c, "wrong");
    CHECK_INT(client_error(&c), 1045);
    client_close(&c);
    client_open(&c, &s);
    client_login(&c, "bob", "secret", MYSQL_PLUGIN_SHA2, "missing", 0);
    CHECK_INT(client_error(&c), 1049);
    client_close(&c);
    test_server_stop(&s);
    CHECK_INT(db_counted(&s.stats.denied), 4);
}

static void test_server_full_proof_lets_in(void)
{
    struct test_server s;
    struct test_client c;

    test_server_start(&s, 0);
    client_open(&c, &s);
    client_login(&c, "bob", "old", MYSQL_PLUGIN_SHA2, "", 0);
    full_proof(&c, "secret");
    CHECK(client_is_ok(&c));
    client_query(&c, "anything");
    CHECK(client_is_ok(&c));
    client_close(&c);
    test_server_stop(&s);
}

static void test_server_asks_for_a_proof_it_knows(void)
{
    struct test_server s;
    struct test_client c;

    test_server_start(&s, 0);
    client_open(&c, &s);
    client_login(&c, "nil", "", MYSQL_PLUGIN_UNKNOWN, "", 0);
    CHECK(str_starts(c.payload, STR("\xfe"
                                    "caching_sha2_password\0")));
    client_send(&c, (uint8_t)(c.seq + 1), STR("\0"));
    (void)client_read(&c);
    CHECK(client_is_ok(&c));
    client_close(&c);
    test_server_stop(&s);
}

static void test_server_limits_connections(void)
{
    struct test_server s;
    struct test_client a, b, c;

    test_server_start(&s, 2);
    client_begin(&a, &s, 0);
    client_begin(&b, &s, 0);
    client_open(&c, &s);
    CHECK_INT(client_error(&c), 1040);
    CHECK_STR(str_sub(c.payload, 3, 100), "Too many connections");
    CHECK(!client_read(&c));
    client_close(&c);
    client_close(&b);
    for (int i = 0; i < 500 && db_counted(&s.stats.connected) > 1; i++)
        clock_sleep_ms(2);
    client_begin(&c, &s, 0);
    client_close(&c);
    client_close(&a);
    test_server_stop(&s);
    CHECK_INT(db_counted(&s.stats.refused), 1);
    CHECK_INT(db_counted(&s.stats.max_connected), 2);
}

static void test_server_results_in_both_layouts(void)
{
    struct test_server s;
    struct test_client c;

    test_server_start(&s, 0);
    for (int eof = 0; eof < 2; eof++) {
        client_begin(&c, &s, eof ? 0 : MYSQL_DEPRECATE_EOF);
        client_query(&c, "ROWS 500");
        CHECK_INT(client_rows(&c, !eof), 500);
        CHECK_INT(c.payload.len, eof ? 5 : 7);
        client_query(&c, "ROWS 0");
        CHECK_INT(client_rows(&c, !eof), 0);
        client_query(&c, "FAIL LATE");
        CHECK_INT(client_rows(&c, !eof), 1);
        CHECK_INT(client_error(&c), 1317);
        client_query(&c, "NUMBER;FAIL;NUMBER");
        CHECK_INT(client_rows(&c, !eof), 1);
        CHECK(client_read(&c));
        CHECK_INT(client_error(&c), 1146);
        client_query(&c, "x");
        CHECK(str_eq(c.payload, STR("\0\x03\x07\x02\0\0\0\x04info")));
        client_close(&c);
    }
    test_server_stop(&s);
}

static void test_server_values_of_more_than_16_mib(void)
{
    struct test_server s;
    struct test_client c;
    struct buf text = {0};

    test_server_start(&s, 0);
    client_begin(&c, &s, 0);
    client_query(&c, "BYTES 17000000");
    CHECK(client_read(&c) && client_read(&c) && client_read(&c));
    CHECK_INT(c.payload.len, 17000009);
    CHECK(client_read(&c));
    buf_add_lit(&text, "BYTES 17 ");
    memset(buf_reserve(&text, 18 << 20), ' ', 18 << 20);
    text.len += 18 << 20;
    client_command(&c, 3, buf_str(&text));
    CHECK_INT(c.seq, 2 + 0); /* the command took two numbers */
    CHECK_INT(client_rows(&c, false), 1);
    memset(buf_reserve(&text, 3 << 20), ' ', 3 << 20);
    text.len += 3 << 20;
    client_command(&c, 3, buf_str(&text));
    CHECK_INT(client_error(&c), 1153);
    CHECK(!client_read(&c));
    client_close(&c);
    buf_fini(&text);
    test_server_stop(&s);
}

static void test_server_bad_packets_get_their_error(void)
{
    struct test_server s;
    struct test_client c;

    test_server_start(&s, 0);
    client_begin(&c, &s, 0);
    client_send(&c, 5, STR("\x0e"));
    CHECK(client_read(&c));
    CHECK_INT(client_error(&c), 1156);
    CHECK(!client_read(&c));
    client_close(&c);
    client_begin(&c, &s, 0);
    client_command(&c, 0x1f + 50, STR("?"));
    CHECK_INT(client_error(&c), 1047);
    client_send(&c, 0, STR(""));
    CHECK(client_read(&c));
    CHECK_INT(client_error(&c), 1047);
    client_command(&c, 14, STR(""));
    CHECK(client_is_ok(&c));
    client_close(&c);
    client_open(&c, &s);
    client_send(&c, 1, STR("GET / HTTP/1.0\r\n\r\n"));
    CHECK(client_read(&c));
    CHECK_INT(client_error(&c), 1043);
    client_close(&c);
    test_server_stop(&s);
}

static void test_server_commands_answer(void)
{
    struct test_server s;
    struct test_client c;

    test_server_start(&s, 0);
    client_begin(&c, &s, 0);
    client_command(&c, 2, STR("missing"));
    CHECK_INT(client_error(&c), 1049);
    client_command(&c, 2, STR("shop"));
    CHECK(client_is_ok(&c));
    client_command(&c, 9, STR(""));
    CHECK_STR(c.payload, "Uptime: 1");
    client_command(&c, 27, STR("\0\0"));
    CHECK_INT((uint8_t)c.payload.p[0], 0xfe);
    client_command(&c, 27, STR("\x07\0"));
    CHECK_INT(client_error(&c), 1047);
    client_command(&c, 31, STR(""));
    CHECK(client_is_ok(&c));
    client_command(&c, 4, STR("t\0%"));
    CHECK(client_read(&c) && client_read(&c));
    CHECK_INT((uint8_t)c.payload.p[0], 0xfe);
    client_command(&c, 4, STR("u\0"));
    CHECK_INT(client_error(&c), 1146);
    client_command(&c, 4, STR("u"));
    CHECK_INT(client_error(&c), 1835);
    client_command(&c, 12, STR("\x77\x77\0\0"));
    CHECK_INT(client_error(&c), 1094);
    client_command(&c, 1, STR(""));
    CHECK(!client_read(&c));
    client_close(&c);
    test_server_stop(&s);
    CHECK_INT(db_counted(&s.stats.aborted), 0);
}

static void test_server_changes_the_user(void)
{
    struct test_server s;
    struct test_client c;

    test_server_start(&s, 0);
    client_begin(&c, &s, 0);
    client_command(&c, 17, STR("nil\0\0shop\0\x2d\0mysql_native_password\0"));
    CHECK(client_is_ok(&c));
    client_query(&c, "NUMBER");
    CHECK_INT(client_rows(&c, false), 1);
    client_command(&c, 17,
        STR("bob\0\x04"
            "oops"
            "shop\0\x2d\0mysql_native_password\0"));
    CHECK_INT(client_error(&c), 1045);
    CHECK(!client_read(&c));
    client_close(&c);
    test_server_stop(&s);
}

/* The only way to know that a statement runs is the count. */
static void wait_running(struct test_server *s, unsigned n)
{
    for (int i = 0; i < 1000 && db_counted(&s->stats.running) < n; i++)
        clock_sleep_ms(2);
    CHECK_INT(db_counted(&s->stats.running), n);
}

static void test_server_kills(void)
{
    struct test_server s;
    struct test_client a, b, c;
    char text[32];

    test_server_start(&s, 0);
    client_begin(&a, &s, 0);
    client_begin(&b, &s, 0);
    client_begin(&c, &s, 0);
    client_send(&b, 0, STR("\x03SLEEP"));
    wait_running(&s, 1);
    (void)snprintf(text, sizeof(text), "KILL %u", (unsigned)b.id);
    client_query(&a, text);
    CHECK(client_is_ok(&a));
    CHECK(client_read(&b));
    CHECK_INT(client_error(&b), 1317);
    CHECK(!client_read(&b));
    (void)snprintf(text, sizeof(text), "KILL %u", (unsigned)c.id); /* an idle one */
    client_query(&a, text);
    CHECK(!client_read(&c));
    client_close(&a);
    client_close(&b);
    client_close(&c);
    test_server_stop(&s);
}

static void test_server_stops_while_clients_are_there(void)
{
    struct test_server s;
    struct test_client a, b;

    test_server_start(&s, 0);
    client_begin(&a, &s, 0);
    client_begin(&b, &s, 0);
    client_send(&b, 0, STR("\x03SLEEP"));
    wait_running(&s, 1);
    test_server_stop(&s);
    CHECK(s.stopped_ms < 2000);
    CHECK(client_read(&b));
    CHECK_INT(client_error(&b), 1053);
    CHECK(!client_read(&a));
    client_close(&a);
    client_close(&b);
}

static void test_server_silent_clients_are_ended(void)
{
    struct test_server s;
    struct test_client a, b, c;
    uint64_t begin;

    test_server_start(&s, 0);
    begin = clock_mono_ms();
    client_open(&a, &s); /* never logs in: 2 seconds */
    client_open(&b, &s);
    client_login(&b, "bob", "secret", MYSQL_PLUGIN_SHA2, "impatient", 0); /* 1 second */
    client_begin(&c, &s, 0);
    {
        struct str half = STR("\x10\0\0\0half"); /* a packet that does not come: 2 seconds */
        size_t sent;

        CHECK_INT(sock_sendv(c.fd, &half, 1, false, &sent), 0);
    }
    CHECK(!client_read(&b));
    CHECK(clock_mono_ms() - begin >= 900 && clock_mono_ms() - begin < 4000);
    CHECK(!client_read(&a));
    CHECK(!client_read(&c));
    CHECK(clock_mono_ms() - begin >= 1900 && clock_mono_ms() - begin < 6000);
    client_close(&a);
    client_close(&b);
    client_close(&c);
    test_server_stop(&s);
    CHECK_INT(db_counted(&s.stats.aborted), 3);
}

static void *run_client(void *arg)
{
    struct test_server *s = arg;

    for (int i = 0; i < 20; i++) {
        struct test_client c;

        client_begin(&c, s, 0);
        for (int j = 0; j < 5; j++) {
            client_query(&c, "ROWS 3");
            CHECK_INT(client_rows(&c, false), 3);
        }
        client_close(&c);
    }
    return NULL;
}

static void test_server_many_clients_at_once(void)
{
    struct test_server s;
    pthread_t threads[8];

    test_server_start(&s, 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run_client, &s), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(db_counted(&s.stats.connections), 160);
    CHECK(db_counted(&s.stats.threads_created) < 60);
    test_server_stop(&s);
}

const struct test tests_server[] = {TEST(test_server_logs_in_both_ways),
    TEST(test_server_refuses_wrong_logins), TEST(test_server_full_proof_lets_in),
    TEST(test_server_asks_for_a_proof_it_knows), TEST(test_server_limits_connections),
    TEST(test_server_results_in_both_layouts), TEST(test_server_values_of_more_than_16_mib),
    TEST(test_server_bad_packets_get_their_error), TEST(test_server_commands_answer),
    TEST(test_server_changes_the_user), TEST(test_server_kills),
    TEST(test_server_stops_while_clients_are_there), TEST(test_server_silent_clients_are_ended),
    TEST(test_server_many_clients_at_once), TEST_END};
