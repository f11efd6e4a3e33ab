/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/sql/parse.h"
#include "db/sql/print.h"
#include "unit/db_sql/dump.h"
#include "unit/test.h"

static const struct sql_parse_options options = {0, 80036};

static void test_expressions_print_as_mysql_shows_them(void)
{
    static const struct dump_row rows[] = {
        {"a+1", "(`a` + 1)"},
        {"A > 0 AND b IS NOT NULL", "((`A` > 0) and (`b` is not null))"},
        {"concat(a, 'x')", "concat(`a`,'x')"},
        {"CURRENT_TIMESTAMP", "current_timestamp()"},
        {"NOW(6)", "now(6)"},
        {"'it''s\\n'", "'it''s\\n'"},
        {"_latin1'x'", "_latin1'x'"},
        {"-1", "-1"},
        {"-a", "-(`a`)"},
        {"a in (1,2)", "(`a` in (1,2))"},
        {"a not like 'x%' escape '|'", "(`a` not like 'x%' escape '|')"},
        {"cast(a as unsigned)", "cast(`a` as unsigned)"},
        {"cast(a as char(10) charset latin1)", "cast(`a` as char(10) charset `latin1`)"},
        {"a + interval 1 day", "(`a` + interval 1 day)"},
        {"case a when 1 then 2 else 3 end", "(case `a` when 1 then 2 else 3 end)"},
        {"json_extract(a, '$.b')", "json_extract(`a`,'$.b')"},
        {"a->>'$.b'", "`a`->>'$.b'"},
        {"`a``b`.c", "`a``b`.`c`"},
        {"`cast`(1)", "`cast`(1)"},
        {"`count`(1, 2)", "`count`(1,2)"},
        {"`select`()", "`select`()"},
        {"x'4142'", "x'4142'"},
        {"b'101'", "b'00000101'"},
        {"_binary x'ff'", "_binary x'ff'"},
        {"(-a) collate utf8mb4_bin", "((-(`a`)) collate `utf8mb4_bin`)"},
        {"(select 1)", "(select 1)"},
        {"if(a, b, c)", "if(`a`,`b`,`c`)"},
        {"not a", "(not(`a`))"},
        {"date '2024-01-31'", "date '2024-01-31'"},
        {"@a := @@session.b", "(@`a` := @@session.`b`)"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena arena = {0};
        struct buf b = {0}, again = {0};
        struct sql_expr *e;
        struct db_error err;

        test_row(rows[i].sql);
        CHECK_INT(sql_parse_expr(&arena, str_c(rows[i].sql), &options, &e, &err), 0);
        sql_print_expr(&b, e);
        CHECK_STR(buf_str(&b), rows[i].want);
        CHECK_INT(sql_parse_expr(&arena, buf_str(&b), &options, &e, &err), 0);
        sql_print_expr(&again, e);
        CHECK_STR(buf_str(&again), rows[i].want);
        buf_fini(&b);
        buf_fini(&again);
        arena_fini(&arena);
    }
    test_row(NULL);
}

static void test_types_print_as_mysql_shows_them(void)
{
    static const struct dump_row rows[] = {
        {"int(11)", "int"},
        {"INTEGER UNSIGNED", "int unsigned"},
        {"tinyint(1)", "tinyint(1)"},
        {"tinyint(4)", "tinyint"},
        {"tinyint(1) unsigned", "tinyint unsigned"},
        {"bool", "tinyint(1)"},
        {"int(5) zerofill", "int(5) unsigned zerofill"},
        {"bigint zerofill", "bigint(20) unsigned zerofill"},
        {"decimal", "decimal(10,0)"},
        {"numeric(8,2) unsigned", "decimal(8,2) unsigned"},
        {"float(30)", "double"},
        {"float(7,3)", "float(7,3)"},
        {"double precision", "double"},
        {"varchar(20) character set latin1 collate latin1_bin", "varchar(20)"},
        {"char", "char(1)"},
        {"text(10)", "tinytext"},
        {"varbinary(8)", "varbinary(8)"},
        {"enum('a','it''s')", "enum('a','it''s')"},
        {"set('x','y')", "set('x','y')"},
        {"datetime(3)", "datetime(3)"},
        {"timestamp", "timestamp"},
        {"time(0)", "time"},
        {"year(4)", "year"},
        {"bit", "bit(1)"},
        {"json", "json"},
        {"long varchar", "mediumtext"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena arena = {0};
        struct buf b = {0};
        struct db_type t;
        struct db_error err;

        test_row(rows[i].sql);
        CHECK_INT(sql_parse_type(&arena, str_c(rows[i].sql), &t, &err), 0);
        sql_print_type(&b, &t);
        CHECK_STR(buf_str(&b), rows[i].want);
        buf_fini(&b);
        arena_fini(&arena);
    }
    test_row(NULL);
}

static void test_bad_expressions_and_types_are_refused(void)
{
    static const char *const exprs[] = {"", "1 2", "a;", "(", "a b", "select 1"};
    static const char *const types[] = {"", "foo", "int x", "varchar", "int(", "enum"};
    struct arena arena = {0};
    struct sql_expr *e;
    struct db_type t;
    struct db_error err;

    for (size_t i = 0; i < ARRAY_LEN(exprs); i++) {
        test_row(exprs[i]);
        CHECK(sql_parse_expr(&arena, str_c(exprs[i]), &options, &e, &err) != 0);
        CHECK_INT(err.number, 1064);
    }
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        test_row(types[i]);
        CHECK(sql_parse_type(&arena, str_c(types[i]), &t, &err) != 0);
        CHECK_INT(err.number, 1064);
    }
    test_row(NULL);
    arena_fini(&arena);
}

extern const struct test tests_print[];
const struct test tests_print[] = {TEST(test_expressions_print_as_mysql_shows_them),
    TEST(test_types_print_as_mysql_shows_them), TEST(test_bad_expressions_and_types_are_refused),
    TEST_END};
