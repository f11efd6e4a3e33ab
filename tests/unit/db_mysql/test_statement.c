/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "client.h"
#include "unit/test.h"

enum { PREPARE = 22, EXECUTE = 23, LONG_DATA = 24, CLOSE = 25, RESET = 26, FETCH = 28 };

/* The statement's number; reads what follows it. */
static uint32_t prepare(struct test_client *c, const char *text)
{
    struct mysql_reader r;
    uint64_t columns, params;
    uint32_t number;

    client_command(c, PREPARE, str_c(text));
    if (client_error(c))
        return 0;
    r = mysql_reader(c->payload);
    CHECK_INT(mysql_read_int(&r, 1), 0);
    number = (uint32_t)mysql_read_int(&r, 4);
    columns = mysql_read_int(&r, 2);
    params = mysql_read_int(&r, 2);
    for (uint64_t i = 0; i < params + (params > 0) + columns + (columns > 0); i++)
        CHECK(client_read(c));
    return number;
}

static void execute(struct test_client *c, uint32_t number, uint8_t flags, struct str rest)
{
    struct buf b = {0};

    mysql_put_int(&b, number, 4);
    mysql_put_int(&b, flags, 1);
    mysql_put_int(&b, 1, 4);
    buf_add_str(&b, rest);
    client_command(c, EXECUTE, buf_str(&b));
    buf_fini(&b);
}

static void send_numbered(struct test_client *c, uint8_t command, uint32_t number, struct str rest)
{
    struct buf b = {0};

    buf_add_char(&b, (char)command);
    mysql_put_int(&b, number, 4);
    buf_add_str(&b, rest);
    client_send(c, 0, buf_str(&b));
    buf_fini(&b);
}

/* Skips columns; the row of one text is then the last packet. */
static struct str only_row(struct test_client *c)
{
    CHECK(client_read(c) && client_read(c) && client_read(c));
    return str_sub(c->payload, 3, c->payload.len);
}

static void test_statement_parameters_arrive(void)
{
    struct test_server s;
    struct test_client c;
    uint32_t n;

    test_server_start(&s, 0);
    client_begin(&c, &s, 0);
    n = prepare(&c, "PARAMS ? ? ?");
    CHECK_INT(n, 1);
    execute(&c, n, 0, STR("\x04\x01\x01\0\xfd\0\x06\0\xff\x02hi"));
    CHECK_STR(only_row(&c), "int:-1 text:hi null");
    CHECK(client_read(&c));
    execute(&c, n, 0, STR("\0\0\x02\x01x")); /* types as before; the third is NULL by its type */
    CHECK_STR(only_row(&c), "int:2 text:x null");
    CHECK(client_read(&c));
    execute(&c, n, 0, STR("\0\x01\x01\0\xfd\0"));
    CHECK_INT(client_error(&c), 1835);
    execute(&c, 99, 0, STR(""));
    CHECK_INT(client_error(&c), 1243);
    client_close(&c);
    test_server_stop(&s);
}

static void test_statement_long_data(void)
{
    struct test_server s;
    struct test_client c;
    uint32_t n;

    test_server_start(&s, 0);
    client_begin(&c, &s, 0);
    n = prepare(&c, "PARAMS ?");
    send_numbered(&c, LONG_DATA, n, STR("\0\0lo"));
    send_numbered(&c, LONG_DATA, n, STR("\0\0ng"));
    execute(&c, n, 0, STR("\0\x01\xfd\0"));
    CHECK_STR(only_row(&c), "text:long");
    CHECK(client_read(&c));
    send_numbered(&c, LONG_DATA, n, STR("\x09\0ng")); /* there is no such parameter */
    execute(&c, n, 0, STR("\0\0"));
    CHECK_INT(client_error(&c), 1105);
    send_numbered(&c, LONG_DATA, n, STR("\0\0gone"));
    send_numbered(&c, RESET, n, STR(""));
    CHECK(client_read(&c));
    CHECK(client_is_ok(&c));
    execute(&c, n, 0, STR("\0\0\x01x"));
    CHECK_STR(only_row(&c), "text:x");
    CHECK(client_read(&c));
    client_close(&c);
    test_server_stop(&s);
}

static uint16_t fetch(struct test_client *c, uint32_t n, char count, unsigned *rows)
{
    struct mysql_reader r;

    send_numbered(c, FETCH, n, str_n((char[]){count, 0, 0, 0}, 4));
    for (*rows = 0; client_read(c) && c->payload.len && c->payload.p[0] == 0; ++*rows)
        ;
    r = mysql_reader(str_sub(c->payload, 3, 2));
    return (uint16_t)mysql_read_int(&r, 2);
}

static void test_statement_cursors_are_fetched(void)
{
    struct test_server s;
    struct test_client c;
    unsigned rows;
    uint32_t n;

    test_server_start(&s, 0);
    client_begin(&c, &s, 0);
    n = prepare(&c, "ROWS 5");
    execute(&c, n, 1, STR(""));
    CHECK(client_read(&c) && client_read(&c) && client_read(&c));
    CHECK(str_eq(c.payload, STR("\xfe\0\0\x42\0")));
    CHECK_INT(fetch(&c, n, 2, &rows), 0x42);
    CHECK_INT(rows, 2);
    CHECK_INT(fetch(&c, n, 3, &rows), 0x42);
    CHECK_INT(rows, 3);
    CHECK_INT(fetch(&c, n, 3, &rows), 0x82);
    CHECK_INT(rows, 0);
    (void)fetch(&c, n, 3, &rows);
    CHECK_INT(client_error(&c), 1421);
    (void)fetch(&c, 77, 3, &rows);
    CHECK_INT(client_error(&c), 1243);
    /* Without rows there is no cursor; an error takes the place of the columns. */
    n = prepare(&c, "UPDATE");
    execute(&c, n, 1, STR(""));
    CHECK(client_is_ok(&c));
    client_close(&c);
    test_server_stop(&s);
}

static void test_statement_late_error_replaces_the_cursor(void)
{
    struct test_server s;
    struct test_client c;
    uint32_t n;

    test_server_start(&s, 0);
    client_begin(&c, &s, 0);
    n = prepare(&c, "FAIL LATE");
    execute(&c, n, 1, STR(""));
    CHECK_INT(client_error(&c), 1317);
    CHECK_INT(c.seq, 1);
    execute(&c, n, 0, STR(""));
    CHECK_INT(client_rows(&c, false), 1);
    CHECK_INT(client_error(&c), 1317);
    CHECK_INT(prepare(&c, "FAIL"), 0);
    CHECK_INT(client_error(&c), 1146);
    client_close(&c);
    test_server_stop(&s);
}

static void test_statement_numbers_are_not_used_again(void)
{
    struct test_server s;
    struct test_client c;
    uint32_t n[20];

    test_server_start(&s, 0);
    client_begin(&c, &s, 0);
    for (uint32_t i = 0; i < ARRAY_LEN(n); i++) {
        n[i] = prepare(&c, "PARAMS ?");
        CHECK_INT(n[i], i + 1);
    }
    for (uint32_t i = 0; i < ARRAY_LEN(n); i += 2)
        send_numbered(&c, CLOSE, n[i], STR(""));
    send_numbered(&c, CLOSE, 1000, STR("")); /* says nothing */
    CHECK_INT(prepare(&c, "PARAMS ?"), 21);
    for (uint32_t i = 0; i < ARRAY_LEN(n); i++) {
        execute(&c, n[i], 0, STR("\0\x01\x01\0\x05"));
        if (i % 2 == 0) {
            CHECK_INT(client_error(&c), 1243);
        } else {
            CHECK_STR(only_row(&c), "int:5");
            CHECK(client_read(&c));
        }
    }
    client_command(&c, 31, STR("")); /* reset: all are gone */
    CHECK(client_is_ok(&c));
    execute(&c, n[1], 0, STR("\0\x01\x01\0\x05"));
    CHECK_INT(client_error(&c), 1243);
    client_close(&c);
    test_server_stop(&s);
}

const struct test tests_statement[] = {TEST(test_statement_parameters_arrive),
    TEST(test_statement_long_data), TEST(test_statement_cursors_are_fetched),
    TEST(test_statement_late_error_replaces_the_cursor),
    TEST(test_statement_numbers_are_not_used_again), TEST_END};
