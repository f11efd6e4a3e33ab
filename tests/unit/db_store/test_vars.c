/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_store/fixture.h"

static void test_vars_set_and_read(void)
{
    static const struct step steps[] = {
        {"SELECT @@autocommit, @@sql_auto_is_null", "@@autocommit|@@sql_auto_is_null\n1|0"},
        {"SET sql_safe_updates = ON, @@session.sql_big_selects = 0", "ok 0"},
        {"SELECT @@sql_safe_updates, @@session.sql_big_selects",
            "@@sql_safe_updates|@@session.sql_big_selects\n1|0"},
        {"SET sql_mode = ''", "ok 0"},
        {"SELECT @@sql_mode", "@@sql_mode\n"},
        {"SET SESSION sql_mode = 'TRADITIONAL'", "ok 0"},
        {"SELECT @@sql_mode",
            "@@sql_mode\nSTRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"
            "ERROR_FOR_DIVISION_BY_ZERO,TRADITIONAL,NO_ENGINE_SUBSTITUTION"},
        {"SET sql_mode = 'NO_SUCH_MODE'",
            "1231 42000 Variable 'sql_mode' can't be set to the value of 'NO_SUCH_MODE'"},
        {"SET sql_mode = DEFAULT", "ok 0"},
        {"SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci", "ok 0"},
        {"SELECT @@collation_connection, @@character_set_client",
            "@@collation_connection|@@character_set_client\nutf8mb4_unicode_ci|utf8mb4"},
        {"SET NAMES 'nope'", "1115 42000 Unknown character set: 'nope'"},
        {"SET NAMES latin1 COLLATE utf8mb4_bin",
            "1253 42000 COLLATION 'utf8mb4_bin' is not valid for CHARACTER SET 'latin1'"},
        {"SET time_zone = '+02:00'", "ok 0"},
        {"SELECT @@time_zone", "@@time_zone\n+02:00"},
        {"SET time_zone = 'Mars/Phobos'",
            "1298 HY000 Unknown or incorrect time zone: 'Mars/Phobos'"},
        {"SET version = 'x'", "1238 HY000 Variable 'version' is a read only variable"},
        {"SET max_connect_errors = 5",
            "1229 HY000 Variable 'max_connect_errors' is a GLOBAL variable and should be set with "
            "SET GLOBAL"},
        {"SET no_such = 1", "1193 HY000 Unknown system variable 'no_such'"},
        {"SELECT @@no_such", "1193 HY000 Unknown system variable 'no_such'"},
        {"SET autocommit = 'maybe'",
            "1231 42000 Variable 'autocommit' can't be set to the value of 'maybe'"},
        {"SET wait_timeout = 'x'", "1232 42000 Incorrect argument type to variable 'wait_timeout'"},
        {"SET default_week_format = 99", "ok 0 w1"},
        {"SELECT @@default_week_format", "@@default_week_format\n7"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_vars_of_a_refused_set_stay(void)
{
    static const struct step steps[] = {
        {"SET @a = 1", "ok 0"},
        {"SET @a = 2, sql_mode = 'NO_SUCH_MODE'",
            "1231 42000 Variable 'sql_mode' can't be set to the value of 'NO_SUCH_MODE'"},
        {"SELECT @a", "@a\n1"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_vars_of_users_keep_their_type(void)
{
    static const struct step steps[] = {
        {"SET @i = 7, @s = 'abc', @n = NULL", "ok 0"},
        {"SELECT @i + 1, @s, @n, @unset", "@i + 1|@s|@n|@unset\n8|abc|NULL|NULL"},
        {"SET @sum = @i * 6", "ok 0"},
        {"SELECT @sum", "@sum\n42"},
        {"SET @I = 8", "ok 0"},
        {"SELECT @i", "@i\n8"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_vars_global_reach_later_sessions(void)
{
    struct fixture f;
    struct client a, b;

    fixture_init(&f);
    fixture_start(&f);
    client_open(&a, &f, 0);
    CHECK_STR(str_c(client_run(&a, "SET GLOBAL default_week_format = 3")), "ok 0");
    CHECK_INT(client_number(&a, "SELECT @@default_week_format"), 0);
    CHECK_INT(client_number(&a, "SELECT @@global.default_week_format"), 3);
    client_open(&b, &f, 0);
    CHECK_INT(client_number(&b, "SELECT @@default_week_format"), 3);
    client_close(&b);
    client_close(&a);
    fixture_fini(&f);
}

const struct test tests_vars[] = {
    TEST(test_vars_set_and_read),
    TEST(test_vars_of_a_refused_set_stay),
    TEST(test_vars_of_users_keep_their_type),
    TEST(test_vars_global_reach_later_sessions),
    TEST_END,
};
