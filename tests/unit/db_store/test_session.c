/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_store/fixture.h"

static void test_session_answers_several_statements(void)
{
    static const struct step steps[] = {
        {"SELECT 1 AS a; SELECT 'x' AS b;", "a\n1\nb\nx"},
        {"SELECT 1 AS a; -- the end\n", "a\n1"},
        {"SELECT 1 AS a; SELECT nope; SELECT 2",
            "a\n1\n1054 42S22 Unknown column 'nope' in 'field list'"},
        {"", "1065 42000 Query was empty"},
        {"/* nothing */", "1065 42000 Query was empty"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_session_uses_databases(void)
{
    static const struct step steps[] = {
        {"SELECT DATABASE()", "DATABASE()\napp"},
        {"USE nope", "1049 42000 Unknown database 'nope'"},
        {"USE information_schema", "ok 0"},
        {"SELECT DATABASE()", "DATABASE()\ninformation_schema"},
        {"SELECT COUNT(*) FROM TABLES WHERE TABLE_SCHEMA = 'app'", "COUNT(*)\n0"},
        {"USE app", "ok 0"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_session_prepares_by_name(void)
{
    static const struct step steps[] = {
        {"PREPARE p FROM 'SELECT ? + 1 AS n'", "ok 0 (Statement prepared)"},
        {"SET @a = 41", "ok 0"},
        {"EXECUTE p USING @a", "n\n42"},
        {"EXECUTE p", "1210 HY000 Incorrect arguments to EXECUTE"},
        {"DEALLOCATE PREPARE p", "ok 0"},
        {"EXECUTE p USING @a",
            "1243 HY000 Unknown prepared statement handler (p) given to EXECUTE"},
        {"PREPARE p FROM 'SELECT 1 FROM nope'", "1146 42S02 Table 'app.nope' doesn't exist"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_session_executes_with_parameters(void)
{
    struct db_value v[2] = {{.kind = DB_V_INT, .i = 5}, {.kind = DB_V_TEXT, .s = STR("it's")}};
    struct fixture f;
    struct client c;

    fixture_init(&f);
    fixture_start(&f);
    client_open(&c, &f, 0);
    client_run(&c, "CREATE TABLE t (a INT, b VARCHAR(20))");
    CHECK_STR(str_c(client_execute(&c, "INSERT INTO t VALUES (?, ?)", v, 2)), "ok 1");
    CHECK_STR(
        str_c(client_execute(&c, "SELECT a, b FROM t WHERE a = ? AND b = ?", v, 2)), "a|b\n5|it's");
    CHECK_STR(str_c(client_execute(&c, "SELECT a FROM t WHERE a = ?", v, 1)), "a\n5");
    CHECK_STR(str_c(client_execute(&c, "SELECT ? FROM", v, 1)),
        "1064 42000 You have an error in your SQL syntax; check the manual that corresponds to "
        "your MySQL server version for the right syntax to use near '' at line 1");
    client_close(&c);
    fixture_fini(&f);
}

static void test_session_counts_by_shape(void)
{
    struct fixture f;
    struct client c;

    fixture_init(&f);
    fixture_start(&f);
    client_open(&c, &f, 0);
    for (int i = 0; i < 3; i++)
        client_run(&c, "SELECT 1");
    client_run(&c, "SELECT 'text'");
    client_run(&c, "SELECT FROM");
    CHECK_INT(db_counted(&f.stats.statements[DB_CLASS_SELECT]), 4);
    CHECK_INT(db_counted(&f.stats.errors[DB_CLASS_INVALID]), 1);
    CHECK_INT(db_counted(&f.stats.rows_sent), 4);
    CHECK_INT(client_number(&c, "SELECT COUNT_STAR FROM "
                                "performance_schema.events_statements_summary_by_digest "
                                "ORDER BY COUNT_STAR DESC LIMIT 1"),
        4);
    client_close(&c);
    fixture_fini(&f);
}

static void test_session_warnings_are_shown(void)
{
    static const struct step steps[] = {
        {"DROP TABLE IF EXISTS nope", "ok 0 w1"},
        {"SHOW WARNINGS", "Level|Code|Message\nNote|1051|Unknown table 'app.nope'"},
        {"SHOW COUNT(*) WARNINGS", "@@session.warning_count\n1"},
        {"SELECT 1", "1\n1"},
        {"SHOW WARNINGS", "Level|Code|Message"},
        {"SELECT nope", "1054 42S22 Unknown column 'nope' in 'field list'"},
        {"SHOW ERRORS", "Level|Code|Message\nError|1054|Unknown column 'nope' in 'field list'"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_session_refuses(void)
{
    static const struct step steps[] = {
        {"ATTACH DATABASE 'x' AS y",
            "1064 42000 You have an error in your SQL syntax; check the manual that corresponds "
            "to your MySQL server version for the right syntax to use near 'ATTACH DATABASE 'x' "
            "AS y' at line 1"},
        {"PRAGMA user_version",
            "1064 42000 You have an error in your SQL syntax; check the manual that corresponds "
            "to your MySQL server version for the right syntax to use near 'PRAGMA user_version' "
            "at line 1"},
        {"SELECT load_extension('x')", "1305 42000 FUNCTION app.load_extension does not exist"},
        {"SELECT * FROM _ephpm_catalog", "1146 42S02 Table 'app._ephpm_catalog' doesn't exist"},
        {"SELECT * FROM sqlite_schema", "1146 42S02 Table 'app.sqlite_schema' doesn't exist"},
        {"CREATE TABLE _ephpm_x (a INT)", "1103 42000 Incorrect table name '_ephpm_x'"},
        {"CREATE DATABASE other",
            "1044 42000 Access denied for user 'app'@'localhost' to database 'other' (one file is "
            "one database: this account has 'app')"},
        {"CREATE DATABASE app", "1007 HY000 Can't create database 'app'; database exists"},
        {"CREATE DATABASE IF NOT EXISTS app", "ok 1 w1"},
        {"KILL 99999", "1094 HY000 Unknown thread id: 99999"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_session_reset_forgets(void)
{
    struct fixture f;
    struct client c;
    struct db_error e;

    fixture_init(&f);
    fixture_start(&f);
    client_open(&c, &f, 0);
    client_run(&c, "CREATE TABLE t (a INT)");
    client_run(&c, "SET @a = 1, sql_mode = ''");
    client_run(&c, "CREATE TEMPORARY TABLE x (a INT)");
    client_run(&c, "BEGIN");
    client_run(&c, "INSERT INTO t VALUES (1)");
    CHECK_INT(db_session_reset(c.s, &e), 0);
    CHECK_STR(str_c(client_run(&c, "SELECT @a")), "@a\nNULL");
    CHECK_INT(client_number(&c, "SELECT COUNT(*) FROM t"), 0);
    CHECK_STR(str_c(client_run(&c, "SELECT * FROM x")), "1146 42S02 Table 'app.x' doesn't exist");
    client_close(&c);
    fixture_fini(&f);
}

/* What a wire could tell before the first row. */
struct before_rows {
    struct db_session *s;
    uint32_t n;
    uint16_t status[4];
    uint16_t charset[4];
};

static int see_columns(void *arg, const struct db_column *columns, uint32_t n)
{
    struct before_rows *seen = arg;

    if (n && seen->n < ARRAY_LEN(seen->status)) {
        seen->status[seen->n] = db_session_status(seen->s);
        seen->charset[seen->n++] = columns[0].charset;
    }
    return 0;
}

static int see_row(void *arg, const struct db_value *values, uint32_t n)
{
    return 0;
}

static void see_end(void *arg, const struct db_ok *ok)
{
}

static void see_error(void *arg, const struct db_error *e)
{
}

static void test_columns_tell_whether_more_results_follow(void)
{
    struct fixture f;
    struct client c;
    struct before_rows seen = {0};
    struct db_sink sink = {&seen, see_columns, see_row, see_end, see_end, see_error};

    fixture_init(&f);
    fixture_start(&f);
    client_open(&c, &f, DB_CLIENT_MULTI_STATEMENTS);
    seen.s = c.s;
    db_session_query(
        c.s, STR("SELECT 'a'; SET NAMES utf8; SELECT 'b'; SELECT nope; SELECT 2"), &sink);
    CHECK_INT(seen.n, 2);
    CHECK(seen.status[0] & DB_STATUS_MORE_RESULTS && seen.status[1] & DB_STATUS_MORE_RESULTS);
    CHECK_INT(seen.charset[0], 255);
    CHECK_INT(seen.charset[1], 33); /* as the client asked for utf8 */
    CHECK(!(db_session_status(c.s) & DB_STATUS_MORE_RESULTS));
    seen.n = 0;
    db_session_query(c.s, STR("SELECT 'alone'"), &sink);
    CHECK(seen.n == 1 && !(seen.status[0] & DB_STATUS_MORE_RESULTS));
    client_close(&c);
    fixture_fini(&f);
}

static void test_what_cannot_exist_need_not_be_dropped(void)
{
    static const struct step steps[] = {
        {"DROP PROCEDURE IF EXISTS p", "ok 0 w1"},
        {"SHOW WARNINGS", "Level|Code|Message\nNote|1305|PROCEDURE does not exist"},
        {"DROP PROCEDURE p",
            "1235 42000 This version of ephpm doesn't yet support 'DROP PROCEDURE'"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

const struct test tests_session[] = {
    TEST(test_session_answers_several_statements),
    TEST(test_session_uses_databases),
    TEST(test_session_prepares_by_name),
    TEST(test_session_executes_with_parameters),
    TEST(test_session_counts_by_shape),
    TEST(test_session_warnings_are_shown),
    TEST(test_session_refuses),
    TEST(test_session_reset_forgets),
    TEST(test_columns_tell_whether_more_results_follow),
    TEST(test_what_cannot_exist_need_not_be_dropped),
    TEST_END,
};
