/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Values on their way into a column: strict, and not. */
#include "unit/db_func/handle.h"
#include "unit/test.h"

struct row {
    const char *call;
    const char *strict; /* the value, or the error */
    const char *loose;  /* the value with sql_mode '' */
    int warning;        /* its number then, 0: none */
};

static const struct row rows[] = {
    {"m_st_int(12, 8, 0, 'i', 1, 0)", "12", "12", 0},
    {"m_st_int(300, 8, 0, 'i', 1, 0)",
        "ERROR 1264 (22003): Out of range value for column 'i' at row 1", "127", 1264},
    {"m_st_int(-300, 8, 0, 'i', 1, 0)",
        "ERROR 1264 (22003): Out of range value for column 'i' at row 1", "-128", 1264},
    {"m_st_int(-1, 8, 1, 'i', 2, 0)",
        "ERROR 1264 (22003): Out of range value for column 'i' at row 2", "0", 1264},
    {"m_st_int(255, 8, 1, 'i', 1, 0)", "255", "255", 0},
    {"m_st_int('abc', 32, 0, 'i', 1, 0)",
        "ERROR 1366 (HY000): Incorrect integer value: 'abc' for column 'i' at row 1", "0", 1366},
    {"m_st_int('', 32, 0, 'i', 1, 0)",
        "ERROR 1366 (HY000): Incorrect integer value: '' for column 'i' at row 1", "0", 1366},
    {"m_st_int('12abc', 32, 0, 'i', 1, 0)",
        "ERROR 1265 (01000): Data truncated for column 'i' at row 1", "12", 1265},
    {"m_st_int('1e2', 32, 0, 'i', 1, 0)", "100", "100", 0},
    {"m_st_int('12.5', 32, 0, 'i', 1, 0)", "13", "13", 0},
    {"m_st_int('-12.5', 32, 0, 'i', 1, 0)", "-13", "-13", 0},
    {"m_st_int(1.5, 32, 0, 'i', 1, 0)", "2", "2", 0},
    {"m_st_int(' 7 ', 32, 0, 'i', 1, 0)", "7", "7", 0},
    {"m_st_int('18446744073709551615', 64, 1, 'i', 1, 0)",
        "ERROR 1264 (22003): Out of range value for column 'i' at row 1", "9223372036854775807",
        1264},
    {"m_st_int(NULL, 32, 0, 'i', 1, 0)", "NULL", "NULL", 0},
    {"m_st_int(NULL, 32, 0, 'i', 1, 1)", "ERROR 1048 (23000): Column 'i' cannot be null",
        "ERROR 1048 (23000): Column 'i' cannot be null", 0},
    {"m_st_int(NULL, 32, 0, 'i', 1, 5)", "ERROR 1048 (23000): Column 'i' cannot be null", "0",
        1048},
    {"m_st_int(NULL, 32, 0, 'i', 1, 33)", "NULL", "NULL", 0},
    {"m_st_int(300, 8, 0, 'i', 1, 2)", "127", "127", 1264},
    {"m_st_decimal('1.239', 5, 2, 0, 'd', 1, 0)", "1.24", "1.24", 1265},
    {"m_st_decimal('1', 5, 2, 0, 'd', 1, 0)", "1.00", "1.00", 0},
    {"m_st_decimal('1234.5', 5, 2, 0, 'd', 1, 0)",
        "ERROR 1264 (22003): Out of range value for column 'd' at row 1", "999.99", 1264},
    {"m_st_decimal('999.995', 5, 2, 0, 'd', 1, 0)",
        "ERROR 1264 (22003): Out of range value for column 'd' at row 1", "999.99", 1264},
    {"m_st_decimal('abc', 5, 2, 0, 'd', 1, 0)",
        "ERROR 1366 (HY000): Incorrect decimal value: 'abc' for column 'd' at row 1", "0.00", 1366},
    {"m_st_decimal(0.1, 5, 2, 0, 'd', 1, 0)", "0.10", "0.10", 0},
    {"m_st_decimal('-0.001', 5, 2, 0, 'd', 1, 0)", "0.00", "0.00", 1265},
    {"m_st_decimal('-1', 5, 2, 1, 'd', 1, 0)",
        "ERROR 1264 (22003): Out of range value for column 'd' at row 1", "0.00", 1264},
    {"m_st_decimal(NULL, 5, 2, 0, 'd', 1, 5)", "ERROR 1048 (23000): Column 'd' cannot be null",
        "0.00", 1048},
    {"m_st_double('abc', -1, -1, 0, 'd', 1, 0)",
        "ERROR 1366 (HY000): Incorrect double value: 'abc' for column 'd' at row 1", "0", 1366},
    {"m_st_double('1.5', -1, -1, 0, 'd', 1, 0)", "1.5", "1.5", 0},
    {"m_st_double(1.239, 5, 2, 0, 'd', 1, 0)", "1.24", "1.24", 0},
    {"m_st_double(1234.5, 5, 2, 0, 'd', 1, 0)",
        "ERROR 1264 (22003): Out of range value for column 'd' at row 1", "999.99", 1264},
    {"m_st_float(1e40, -1, -1, 0, 'f', 1, 0)",
        "ERROR 1264 (22003): Out of range value for column 'f' at row 1", "3.4028234663852886e38",
        1264},
    {"m_st_char('abcd', 3, 'utf8mb4', 'c', 1, 0)",
        "ERROR 1406 (22001): Data too long for column 'c' at row 1", "abc", 1265},
    {"m_st_char('abc  ', 3, 'utf8mb4', 'c', 1, 0)", "abc", "abc", 0},
    {"m_st_char('ab  ', 5, 'utf8mb4', 'c', 1, 0)", "ab", "ab", 0},
    {"m_st_varchar('abc  ', 3, 'utf8mb4', 'v', 1, 0)", "abc", "abc", 1265},
    {"m_st_varchar('abcd', 3, 'utf8mb4', 'v', 1, 0)",
        "ERROR 1406 (22001): Data too long for column 'v' at row 1", "abc", 1265},
    {"m_st_varchar('\xC3\xA9\xC3\xA9\xC3\xA9', 3, 'utf8mb4', 'v', 1, 0)",
        "\xC3\xA9\xC3\xA9\xC3\xA9", "\xC3\xA9\xC3\xA9\xC3\xA9", 0},
    {"m_st_varchar(x'61FF', 3, 'utf8mb4', 'v', 1, 0)",
        "ERROR 1366 (HY000): Incorrect string value: '\\xFF' for column 'v' at row 1", "a?", 1366},
    {"m_st_varchar('\xF0\x9F\x98\x80', 3, 'utf8mb3', 'v', 1, 0)",
        "ERROR 1366 (HY000): Incorrect string value: '\\xF0\\x9F\\x98\\x80' for column 'v' at row "
        "1",
        "?", 1366},
    {"m_st_varchar(1.5, 10, 'utf8mb4', 'v', 1, 0)", "1.5", "1.5", 0},
    {"m_st_text('abcd', 3, 'utf8mb4', 't', 1, 0)",
        "ERROR 1406 (22001): Data too long for column 't' at row 1", "abc", 1265},
    {"m_st_text('a\xC3\xA9z', 2, 'utf8mb4', 't', 1, 0)",
        "ERROR 1406 (22001): Data too long for column 't' at row 1", "a", 1265},
    {"m_st_binary('a', 3, 'b', 1, 0)", "x'610000'", "x'610000'", 0},
    {"m_st_varbinary('abcd', 3, 'b', 1, 0)",
        "ERROR 1406 (22001): Data too long for column 'b' at row 1", "x'616263'", 1265},
    {"m_st_bit(16, 4, 'b', 1, 0)", "ERROR 1406 (22001): Data too long for column 'b' at row 1",
        "15", 1264},
    {"m_st_bit('a', 8, 'b', 1, 0)", "97", "97", 0},
    {"m_st_date('2024-1-5', 'd', 1, 0)", "2024-01-05", "2024-01-05", 0},
    {"m_st_date('abc', 'd', 1, 0)",
        "ERROR 1292 (22007): Incorrect date value: 'abc' for column 'd' at row 1", "0000-00-00",
        1265},
    {"m_st_date('2024-01-31abc', 'd', 1, 0)",
        "ERROR 1292 (22007): Incorrect date value: '2024-01-31abc' for column 'd' at row 1",
        "2024-01-31", 1265},
    {"m_st_date('2024-02-30', 'd', 1, 0)",
        "ERROR 1292 (22007): Incorrect date value: '2024-02-30' for column 'd' at row 1",
        "0000-00-00", 1265},
    {"m_st_date('0000-00-00', 'd', 1, 0)",
        "ERROR 1292 (22007): Incorrect date value: '0000-00-00' for column 'd' at row 1",
        "0000-00-00", 0},
    {"m_st_date('2024-00-01', 'd', 1, 0)",
        "ERROR 1292 (22007): Incorrect date value: '2024-00-01' for column 'd' at row 1",
        "2024-00-01", 0},
    {"m_st_date('2024-01-31 10:00:00', 'd', 1, 0)", "2024-01-31", "2024-01-31", 1265},
    {"m_st_date(20240131, 'd', 1, 0)", "2024-01-31", "2024-01-31", 0},
    {"m_st_datetime('2024-01-31 10:00:00.6', 0, 'd', 1, 0)", "2024-01-31 10:00:01",
        "2024-01-31 10:00:01", 0},
    {"m_st_datetime('2024-01-31', 3, 'd', 1, 0)", "2024-01-31 00:00:00.000",
        "2024-01-31 00:00:00.000", 0},
    {"m_st_datetime('2024-01-31 25:00:00', 0, 'd', 1, 0)",
        "ERROR 1292 (22007): Incorrect datetime value: '2024-01-31 25:00:00' for column 'd' at row "
        "1",
        "0000-00-00 00:00:00", 1265},
    {"m_st_timestamp('2024-01-31 10:00:00', 0, 't', 1, 0)", "2024-01-31 08:00:00",
        "2024-01-31 08:00:00", 0},
    {"m_st_timestamp('1960-01-01 00:00:00', 0, 't', 1, 0)",
        "ERROR 1292 (22007): Incorrect datetime value: '1960-01-01 00:00:00' for column 't' at row "
        "1",
        "0000-00-00 00:00:00", 1264},
    {"m_st_time('10:11:12', 0, 't', 1, 0)", "10:11:12", "10:11:12", 0},
    {"m_st_time('900:00:00', 0, 't', 1, 0)",
        "ERROR 1292 (22007): Incorrect time value: '900:00:00' for column 't' at row 1",
        "838:59:59", 1264},
    {"m_st_time('10:70:00', 0, 't', 1, 0)",
        "ERROR 1292 (22007): Incorrect time value: '10:70:00' for column 't' at row 1", "00:00:00",
        1265},
    {"m_st_time('2024-01-31 10:00:00', 0, 't', 1, 0)", "10:00:00", "10:00:00", 1265},
    {"m_st_year(70, 'y', 1, 0)", "1970", "1970", 0},
    {"m_st_year('0', 'y', 1, 0)", "2000", "2000", 0},
    {"m_st_year(1800, 'y', 1, 0)", "ERROR 1264 (22003): Out of range value for column 'y' at row 1",
        "0", 1264},
    {"m_st_year('abc', 'y', 1, 0)",
        "ERROR 1366 (HY000): Incorrect integer value: 'abc' for column 'y' at row 1", "0", 1366},
    {"m_st_enum('A', 'a,b,1', 'utf8mb4_general_ci', 'e', 1, 0)", "a", "a", 0},
    {"m_st_enum('z', 'a,b,1', 'utf8mb4_general_ci', 'e', 1, 0)",
        "ERROR 1265 (01000): Data truncated for column 'e' at row 1", "", 1265},
    {"m_st_enum(2, 'a,b,1', 'utf8mb4_general_ci', 'e', 1, 0)", "b", "b", 0},
    {"m_st_enum('1', 'a,b,1', 'utf8mb4_general_ci', 'e', 1, 0)", "1", "1", 0},
    {"m_st_enum('2', 'a,b,1', 'utf8mb4_general_ci', 'e', 1, 0)", "b", "b", 0},
    {"m_st_enum('x,y', 'x\\,y,z', 'utf8mb4_general_ci', 'e', 1, 0)", "x,y", "x,y", 0},
    {"m_st_set('y,x', 'x,y', 'utf8mb4_general_ci', 's', 1, 0)", "x,y", "x,y", 0},
    {"m_st_set(3, 'x,y', 'utf8mb4_general_ci', 's', 1, 0)", "x,y", "x,y", 0},
    {"m_st_set('', 'x,y', 'utf8mb4_general_ci', 's', 1, 0)", "", "", 0},
    {"m_st_set('x,z', 'x,y', 'utf8mb4_general_ci', 's', 1, 0)",
        "ERROR 1265 (01000): Data truncated for column 's' at row 1", "x", 1265},
    {"m_st_json('{\"b\":1,\"a\":[1.0,true,\"x\"]}', 'j', 1, 0)",
        "{\"a\": [1.0, true, \"x\"], \"b\": 1}", "{\"a\": [1.0, true, \"x\"], \"b\": 1}", 0},
    {"m_st_json('{', 'j', 1, 0)",
        "ERROR 3140 (22032): Invalid JSON text: \"Missing a name for object member.\" at position "
        "1 in value for column 'j'.",
        NULL, 0},
    {"m_enum_index('b', 'a,b')", "2", "2", 0},
    {"m_set_bits('x,y', 'x,y')", "3", "3", 0},
};

static void test_store(void)
{
    struct handle h;

    handle_open(&h);
    h.session.utc_offset = 7200;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].call);
        h.session.mode =
            DB_MODE_STRICT_TRANS_TABLES | DB_MODE_NO_ZERO_DATE | DB_MODE_NO_ZERO_IN_DATE;
        CHECK_STR(handle_eval(&h, rows[i].call), rows[i].strict);
        if (!rows[i].loose)
            continue;
        h.session.mode = 0;
        CHECK_STR(handle_eval(&h, rows[i].call), rows[i].loose);
        CHECK_INT(h.warning.number, rows[i].warning);
    }
    test_row(NULL);
    handle_close(&h);
}

static void test_store_counts_rows(void)
{
    struct handle h;

    handle_open(&h);
    h.session.mode = 0;
    CHECK_STR(handle_ask(&h, "CREATE TABLE t(a INTEGER, b INTEGER)"), "");
    CHECK_STR(handle_ask(&h, "INSERT INTO t SELECT m_st_int(x, 8, 0, 'a', m_row(1), 0), "
                             "m_st_int('7', 8, 0, 'b', m_row(0), 0) FROM (SELECT 1 AS x UNION ALL "
                             "SELECT 2 UNION ALL SELECT 'z')"),
        "");
    CHECK_INT(h.warnings, 1);
    CHECK_STR(str_c(h.warning.text), "Incorrect integer value: 'z' for column 'a' at row 3");
    CHECK_INT(h.session.row, 3);
    handle_close(&h);
}

static void test_store_in_generated_columns_and_indexes(void)
{
    struct handle h;

    handle_open(&h);
    CHECK_STR(handle_ask(&h, "CREATE TABLE t(a TEXT, b INTEGER GENERATED ALWAYS AS "
                             "(m_st_int(m_char_length(a), 8, 1, 'b', 1, 0)) STORED, "
                             "CHECK (m_like('x%', a, '\\', 'utf8mb4_bin')))"),
        "");
    CHECK_STR(handle_ask(&h, "CREATE UNIQUE INDEX i ON t(m_prefix(a, 2) COLLATE "
                             "utf8mb4_general_ci)"),
        "");
    CHECK_STR(handle_ask(&h, "INSERT INTO t(a) VALUES('xabc')"), "");
    CHECK_STR(handle_ask(&h, "SELECT b FROM t"), "4");
    CHECK_STR(handle_ask(&h, "INSERT INTO t(a) VALUES('xAz')"),
        "SQLITE: UNIQUE constraint failed: index 'i'");
    handle_close(&h);
}

static void test_auto_column(void)
{
    struct handle h;

    handle_open(&h);
    CHECK_STR(handle_eval(&h, "m_auto(NULL)"), "NULL");
    CHECK_STR(handle_eval(&h, "m_auto(0)"), "NULL");
    CHECK_STR(handle_eval(&h, "m_auto('12')"), "12");
    CHECK_INT(h.session.auto_generated, 2);
    CHECK_INT(h.session.auto_explicit, 12);
    h.session.mode |= DB_MODE_NO_AUTO_VALUE_ON_ZERO;
    CHECK_STR(handle_eval(&h, "m_auto(0)"), "0");
    handle_close(&h);
}

const struct test tests_store[] = {TEST(test_store), TEST(test_store_counts_rows),
    TEST(test_store_in_generated_columns_and_indexes), TEST(test_auto_column), TEST_END};
