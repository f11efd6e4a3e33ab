/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_sql/dump.h"
#include "unit/test.h"

#include "db/type.h"
static void test_literals_are_decoded(void)
{
    static const struct dump_row rows[] = {
        {"select null, true, false, 'a''b', \"c\"\"d\", 'e\\'f', '\\0\\n\\r\\t\\b\\Z\\\\\\%\\_\\q'",
            "(select null true false 'a\\27b' 'c\"d' 'e\\27f' "
            "'\\00\\0a\\0d\\09\\08\\1a\\5c\\5c%\\5c_q')"},
        {"select 'a' 'b' \"c\"", "(select 'abc')"},
        {"select _utf8mb4'x', _binary'y', _latin1 x'41', N'z', n'q', _utf8 'w'",
            "(select _utf8mb4'x' _binary'y' _latin1'A' _utf8mb3'z' _utf8mb3'q' _utf8mb3'w')"},
        {"select 0x41, 0x4, x'4142', X'', b'101', 0b1, b''",
            "(select x#41 x#04 x#4142 x# b#05 b#01 b#)"},
        {"select 1, 00012, 18446744073709551615, 18446744073709551616, 1.5, .5, 1., 1e5, 1.5e-3, "
         "1E+2",
            "(select 1 12 18446744073709551615 18446744073709551616d 1.5d .5d 1.d 1e5 1.5e-3 "
            "1E+2)"},
        {"select date '2024-01-31', time '10:00', timestamp '2024-01-31 10:00:00', {d "
         "'2024-01-31'}, {t '10:00:00'}, {ts '2024-01-31 10:00:00'}, {fn now()}",
            "(select date'2024-01-31' time'10:00' datetime'2024-01-31 10:00:00' date'2024-01-31' "
            "time'10:00:00' datetime'2024-01-31 10:00:00' (now))"},
        {"select ?, ? + ?", "(select ?0 (+ ?1 ?2))"},
        {"select date, time, timestamp, year, month, value, status, type, data, count, sum, "
         "position from user",
            "(select date time timestamp year month value status type data count sum position from "
            "user)"},
        {"select _koi8r'x', _ucs2 0x0041, _utf16le 'y', _nothing 'z'",
            "(select _koi8r'x' _ucs2'\\00A' _utf16le'y' _nothing:z)"},
    };

    dump_check(rows, ARRAY_LEN(rows), 0);
}

static void test_nonreserved_words_are_names(void)
{
    static const struct dump_row rows[] = {
        {"select action, after, algorithm, at, auto_increment, avg, begin, bit, bool, chain, "
         "checksum, comment, commit, current, data, date, day, definer, disable, do, duplicate, "
         "enable, end, engine, enum, escape, event, execute from engines",
            "(select action after algorithm at auto_increment avg begin bit bool chain checksum "
            "comment commit current data date day definer disable do duplicate enable end engine "
            "enum escape event execute from engines)"},
        {"select first, fixed, flush, format, full, global, handler, hash, host, hour, import, "
         "invoker, json, language, last, level, list, local, logs, master, max_rows, member, "
         "merge, minute, mode, modify, month, names, national, new, next, no, none, offset from t",
            "(select first fixed flush format full global handler hash host hour import invoker "
            "json language last level list local logs master max_rows member merge minute mode "
            "modify month names national new next no none offset from t)"},
        {"select open, option_, owner, page, parser, partial, password, path, plugin, point, port, "
         "prev, privileges, process, quarter, query, quick, repeatable, replica, reset, restore, "
         "role, rollback, routine, row_count from t",
            "(select open option_ owner page parser partial password path plugin point port prev "
            "privileges process quarter query quick repeatable replica reset restore role rollback "
            "routine row_count from t)"},
        {"select savepoint, schedule, second, security, serial, server, session, share, signed, "
         "slave, snapshot, some, source, start, status, stop, storage, subject, tables, temporary, "
         "text, than, time, timestamp, transaction, truncate, type from t",
            "(select savepoint schedule second security serial server session share signed slave "
            "snapshot some source start status stop storage subject tables temporary text than "
            "time timestamp transaction truncate type from t)"},
        {"select unknown, until, use_frm, user, value, variables, view, visible, wait, warnings, "
         "week, work, xml, year from t",
            "(select unknown until use_frm user value variables view visible wait warnings week "
            "work xml year from t)"},
        {"select rank, groups, row_number, system, lead, lag, empty, cube, function, grouping from "
         "t",
            "(select rank groups row_number system lead lag empty cube function grouping from t)"},
        {"select count, sum, max, min, now, position, trim, substring, cast, extract, "
         "group_concat, std from t",
            "(select count sum max min now position trim substring cast extract group_concat std "
            "from t)"},
        {"select a as begin, b end, c status from t as date, u as value",
            "(select a:begin b:end c:status from (, t:date u:value))"},
        {"select t.key, t.index, t.order, t.group, `key`, key_ from t",
            "(select t.key t.index t.order t.group key key_ from t)"},
        {"select key from t", "! 1064 near 'key from t' at line 1"},
        {"select index from t", "! 1064 near 'index from t' at line 1"},
        {"select group from t", "! 1064 near 'group from t' at line 1"},
        {"select a as select from t", "! 1064 near 'select from t' at line 1"},
        {"select a select from t", "! 1064 near 'select from t' at line 1"},
        {"select order.a from order.order", "(select order.a from order.order)"},
        {"update t set status = 1, type = 2, value = 3, end = 4",
            "(update t (set status=1 type=2 value=3 end=4))"},
        {"insert into t (date, time, year, text, format, comment, user, role, password, level) "
         "values (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)",
            "(insert t (date time year text format comment user role password level) (row 1 2 3 4 "
            "5 6 7 8 9 10))"},
    };

    dump_check(rows, ARRAY_LEN(rows), 0);
}

static void test_ansi_quotes_name(void)
{
    static const struct dump_row rows[] = {
        {"select \"a\".\"b\" from \"c d\" where \"e\"\"f\" = 'x'",
            "(select a.b from c d where (= e\"f 'x'))"},
        {"select 'a\"b' as \"c\"", "(select 'a\"b':c)"},
        {"select \"\" from t", "! 1064 near '\"\" from t' at line 1"},
    };

    dump_check(rows, ARRAY_LEN(rows), DB_MODE_ANSI_QUOTES);
}

static void test_space_before_parentheses(void)
{
    static const struct dump_row rows[] = {
        {"select count (*), sum (a) , now ()", "(select (count *) (sum a) (now))"},
        {"select count from t", "(select count from t)"},
        {"select cast (a as char)", "(select (cast a char))"},
    };

    dump_check(rows, ARRAY_LEN(rows), DB_MODE_IGNORE_SPACE);
}

static void test_backslashes_stay(void)
{
    static const struct dump_row rows[] = {
        {"select 'a\\b', '\\\\', 'it''s \\'", "(select 'a\\5cb' '\\5c\\5c' 'it\\27s \\5c')"},
        {"select '\\' x", "(select '\\5c':x)"},
        {"select 'a\\'b'", "! 1064 near 'b'' at line 1"},
    };

    dump_check(rows, ARRAY_LEN(rows), DB_MODE_NO_BACKSLASH_ESCAPES);
}

extern const struct test tests_lexer[];
const struct test tests_lexer[] = {TEST(test_literals_are_decoded),
    TEST(test_nonreserved_words_are_names), TEST(test_ansi_quotes_name),
    TEST(test_space_before_parentheses), TEST(test_backslashes_stay), TEST_END};
