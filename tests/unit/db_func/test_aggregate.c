/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Aggregates, errors of operators, and what functions read of the session. */
#include "db/func/tz.h"
#include "unit/db_func/handle.h"
#include "unit/test.h"

static const struct {
    const char *sql;
    const char *want;
} rows[] = {
    {"SELECT m_sum(i) FROM t", "6"},
    {"SELECT m_avg(i) FROM t", "2.0000"},
    {"SELECT m_sum(d) FROM t", "0.60"},
    {"SELECT m_avg(d) FROM t", "0.200000"},
    {"SELECT m_sum(r) FROM t", "7.5"},
    {"SELECT m_avg(r) FROM t", "2.5"},
    {"SELECT m_sum(i) FROM t WHERE 0", "NULL"},
    {"SELECT m_avg(d) FROM t WHERE i > 9", "NULL"},
    {"SELECT m_sum(DISTINCT g) FROM t", "3"},
    {"SELECT m_sum(9223372036854775807) FROM t", "27670116110564327421"},
    {"SELECT m_bit_or(i) FROM t", "3"},
    {"SELECT m_bit_and(i) FROM t", "0"},
    {"SELECT m_bit_xor(i) FROM t", "0"},
    {"SELECT m_bit_and(i) FROM t WHERE 0", "18446744073709551615"},
    {"SELECT m_bit_or(i) FROM t WHERE 0", "0"},
    {"SELECT m_variance(i) FROM t", "0.6666666666666666"},
    {"SELECT m_var_samp(i) FROM t", "1"},
    {"SELECT m_stddev_samp(i) FROM t WHERE i = 1", "NULL"},
    {"SELECT m_stddev(i) FROM t WHERE i = 1", "0"},
    {"SELECT m_group_concat(s, ',', 0, 'utf8mb4_bin') FROM t", "b,A,a"},
    {"SELECT m_group_concat(s, ',', 0, 'utf8mb4_bin', i, 'di') FROM t", "a,A,b"},
    {"SELECT m_group_concat(s, '', 0, 'utf8mb4_bin', s, 'as:utf8mb4_general_ci', i, 'di') FROM t",
        "aAb"},
    {"SELECT m_group_concat(s, ',', 1, 'utf8mb4_general_ci') FROM t", "b,A"},
    {"SELECT m_group_concat(s, ',', 1, 'utf8mb4_bin') FROM t", "b,A,a"},
    {"SELECT m_group_concat(NULL, ',', 0, 'utf8mb4_bin') FROM t", "NULL"},
    {"SELECT m_group_concat(d, ',', 0, 'utf8mb4_bin', d, 'dd') FROM t", "0.30,0.20,0.10"},
    {"SELECT m_count_distinct(g, m_key(s, 'utf8mb4_general_ci')) FROM t", "3"},
    {"SELECT m_count_distinct(m_key(s, 'utf8mb4_general_ci')) FROM t", "2"},
    {"SELECT m_count_distinct(NULL) FROM t", "0"},
    {"SELECT m_json_arrayagg('i', i) FROM t", "[1, 2, 3]"},
    {"SELECT m_json_objectagg('si', s, i) FROM t", "{\"A\": 2, \"a\": 3, \"b\": 1}"},
    {"SELECT m_json_arrayagg('i', i) FROM t WHERE 0", "NULL"},
    {"SELECT group_concat(x) FROM (SELECT m_sum(d) OVER (ORDER BY i ROWS 1 PRECEDING) AS x FROM t)",
        "0.10,0.30,0.50"},
    {"SELECT group_concat(x) FROM (SELECT m_avg(i) OVER (PARTITION BY g) AS x FROM t)",
        "1.5000,1.5000,3.0000"},
    {"SELECT group_concat(x) FROM (SELECT m_bit_or(i) OVER (ORDER BY i ROWS CURRENT ROW) AS x FROM "
     "t)",
        "1,2,3"},
    {"SELECT m_add(9223372036854775807, 1)",
        "ERROR 1690 (22003): BIGINT value is out of range in '(9223372036854775807 + 1)'"},
    {"SELECT m_usub(1, 2)",
        "ERROR 1690 (22003): BIGINT UNSIGNED value is out of range in '(1 - 2)'"},
    {"SELECT m_uadd('18446744073709551615', 1)", "ERROR 1690 (22003): BIGINT UNSIGNED value is out "
                                                 "of range in '(18446744073709551615 + 1)'"},
    {"SELECT m_mul(1e300, 1e300)",
        "ERROR 1690 (22003): DOUBLE value is out of range in '(1e300 * 1e300)'"},
    {"SELECT m_pow(10, 400)", "ERROR 1690 (22003): DOUBLE value is out of range in 'pow(10,400)'"},
    {"SELECT m_json_extract('{', '$')",
        "ERROR 3141 (22032): Invalid JSON text in argument 1 to function json_extract: \"Missing a "
        "name for object member.\" at position 1."},
    {"SELECT m_json_extract('{}', 'a')", "ERROR 3143 (42000): Invalid JSON path expression. The "
                                         "error is around character position 1."},
    {"SELECT m_regexp('utf8mb4_bin', 'a', '(')", "ERROR 3685 (HY000): Illegal argument to a "
                                                 "regular expression: missing closing parenthesis"},
    {"SELECT m_as_date('abc')", "ERROR 1525 (HY000): Incorrect DATE value: 'abc'"},
    {"SELECT m_as_datetime('2024-1-2', 3)", "2024-01-02 00:00:00.000"},
    {"SELECT m_error(1242, '21000', 'Subquery returns more than 1 row')",
        "ERROR 1242 (21000): Subquery returns more than 1 row"},
    {"SELECT m_database()", "shop"},
    {"SELECT m_user()", "app@localhost"},
    {"SELECT m_current_user()", "app@%"},
    {"SELECT m_connection_id()", "7"},
    {"SELECT m_last_insert_id()", "42"},
    {"SELECT m_last_insert_id(5)", "5"},
    {"SELECT m_row_count()", "-1"},
    {"SELECT m_found_rows()", "3"},
    {"SELECT m_now()", "2024-01-31 12:10:10"},
    {"SELECT m_now(3)", "2024-01-31 12:10:10.123"},
    {"SELECT m_utc_timestamp()", "2024-01-31 10:10:10"},
    {"SELECT m_curdate()", "2024-01-31"},
    {"SELECT m_curtime()", "12:10:10"},
    {"SELECT m_unix_timestamp()", "1706695810"},
    {"SELECT m_ts_local('2024-01-31 10:00:00')", "2024-01-31 12:00:00"},
    {"SELECT m_ts_utc('2024-01-31 10:00:00.5')", "2024-01-31 08:00:00.5"},
    {"SELECT m_ts_local('0000-00-00 00:00:00')", "0000-00-00 00:00:00"},
    {"SELECT m_convert_tz('2024-07-01 12:00:00', 'UTC', '+05:30')", "2024-07-01 17:30:00"},
    {"SELECT m_convert_tz('2024-07-01 12:00:00', 'Nowhere/City', 'UTC')", "NULL"},
    {"SELECT m_is_uuid(m_uuid())", "1"},
    {"SELECT m_bin_to_uuid(m_uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db', 1), 1)",
        "6ccd780c-baba-1026-9564-5b8c656024db"},
    {"SELECT m_hex(m_uuid_to_bin('6ccd780c-baba-1026-9564-5b8c656024db', 1))",
        "1026BABA6CCD780C95645B8C656024DB"},
    {"SELECT m_match('black cat', 'a Cat', 'the black one') > 0", "1"},
    {"SELECT m_match_boolean('+cat -dog', 'a cat and a dog')", "0"},
    {"SELECT m_match_boolean('+ca*', 'a cat')", "1"},
    {"SELECT m_member_of('is', 2, '[1, 2]')", "1"},
    {"SELECT m_json_num('\"12\"')", "12"},
    {"SELECT m_cast_json('s', '[1,2]')", "[1, 2]"},
    {"SELECT m_cast_json('E', '2024-01-31 10:00:00')", "\"2024-01-31 10:00:00.000000\""},
    {"SELECT m_date_num('2024-01-31 10:00:00')", "20240131100000"},
    {"SELECT m_time_num('-10:11:12.5')", "-101112.5"},
};

static void test_statements(void)
{
    struct handle h;

    handle_open(&h);
    h.session.utc_offset = 7200;
    CHECK_STR(handle_ask(&h, "CREATE TABLE t(i INTEGER, g INTEGER, d TEXT, r REAL, s TEXT)"), "");
    CHECK_STR(handle_ask(&h, "INSERT INTO t VALUES(1, 1, '0.10', 0.5, 'b'), (2, 1, '0.20', 2.5, "
                             "'A'), (3, 2, '0.30', 4.5, 'a')"),
        "");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        test_row(rows[i].sql);
        CHECK_STR(handle_ask(&h, rows[i].sql), rows[i].want);
    }
    test_row(NULL);
    handle_close(&h);
}

static void test_group_concat_is_cut_with_a_warning(void)
{
    struct handle h;

    handle_open(&h);
    h.session.group_concat_max_len = 5;
    CHECK_STR(handle_ask(&h, "SELECT m_group_concat(x, ',', 0, 'utf8mb4_bin') FROM (SELECT 'ab' AS "
                             "x UNION ALL SELECT 'c\xC3\xA9' UNION ALL SELECT 'd')"),
        "ab,c");
    CHECK_INT(h.warning.number, 1260);
    handle_close(&h);
}

static void test_division_by_zero_follows_sql_mode(void)
{
    struct handle h;

    handle_open(&h);
    CHECK_STR(handle_eval(&h, "m_div(1, 0)"), "NULL");
    CHECK_INT(h.warning.number, 1365);
    h.session.writes = true;
    CHECK_STR(handle_eval(&h, "m_div(1, 0)"), "ERROR 1365 (22012): Division by 0");
    h.session.mode = 0;
    CHECK_STR(handle_eval(&h, "m_div(1, 0)"), "NULL");
    CHECK_INT(h.warnings, 0);
    handle_close(&h);
}

/* Zones have both sides of a change, and go on after the file's last one. */
static void test_time_zones(void)
{
    struct db_tz *tz = NULL;
    bool gap;
    int64_t seconds;

    CHECK(db_tz_offset(STR("+05:30"), &seconds) && seconds == 19800);
    CHECK(!db_tz_offset(STR("+15:00"), &seconds));
    CHECK(!db_tz_offset(STR("5:00"), &seconds));
    CHECK(db_tz_open(STR("../../etc/passwd"), &tz) != 0);
    CHECK_INT(db_tz_open(STR("UTC"), &tz), 0);
    CHECK_INT(db_tz_from_utc(tz, 1706695810), 0);
    db_tz_close(tz);
    if (db_tz_open(STR("Europe/Vienna"), &tz) != 0)
        return; /* no zoneinfo here */
    CHECK_INT(db_tz_from_utc(tz, 1706695810), 3600);
    CHECK_INT(db_tz_from_utc(tz, 1719828000), 7200);
    CHECK_INT(db_tz_from_utc(tz, 4086504000), 7200); /* July 2099 */
    CHECK_INT(db_tz_to_utc(tz, 1719828000, &gap), 1719828000 - 7200);
    CHECK(!gap);
    /* 2024-03-31 02:30 does not exist: the change was at 01:00 UTC */
    CHECK_INT(db_tz_to_utc(tz, 1711852200, &gap), 1711846800);
    CHECK(gap);
    /* 2024-10-27 02:30 comes twice: the first */
    CHECK_INT(db_tz_to_utc(tz, 1729996200, &gap), 1729996200 - 7200);
    db_tz_close(tz);
}

const struct test tests_aggregate[] = {TEST(test_statements),
    TEST(test_group_concat_is_cut_with_a_warning), TEST(test_division_by_zero_follows_sql_mode),
    TEST(test_time_zones), TEST_END};
