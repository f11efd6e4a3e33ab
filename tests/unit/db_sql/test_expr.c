/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_sql/dump.h"
#include "unit/test.h"

#include "db/type.h"
static void test_operators_bind_as_in_mysql(void)
{
    static const struct dump_row rows[] = {
        {"select 1 + 2 * 3", "(select (+ 1 (* 2 3)))"},
        {"select 1 * 2 + 3", "(select (+ (* 1 2) 3))"},
        {"select 1 - 2 - 3", "(select (- (- 1 2) 3))"},
        {"select a or b and c", "(select (or a (and b c)))"},
        {"select a and b or c and d", "(select (or (and a b) (and c d)))"},
        {"select a or b or c or d or e", "(select (or (or (or a b) c) (or d e)))"},
        {"select a || b && c", "(select (or a (and b c)))"},
        {"select not a = b and c", "(select (and (not (= a b)) c))"},
        {"select not a in (1)", "(select (not (in a 1)))"},
        {"select ! a = b", "(select (= (not a) b))"},
        {"select -a + ~b", "(select (+ (neg a) (~ b)))"},
        {"select - - 1", "(select (neg (neg 1)))"},
        {"select a xor b xor c", "(select (xor (xor a b) c))"},
        {"select a | b & c << d + e * f ^ g", "(select (| a (& b (<< c (+ d (* e (^ f g)))))))"},
        {"select 1 div 2 mod 3 % 4", "(select (% (% (div 1 2) 3) 4))"},
        {"select a = b = c", "(select (= (= a b) c))"},
        {"select a <=> b, a <> b, a != b, a < b, a <= b, a > b, a >= b",
            "(select (<=> a b) (<> a b) (<> a b) (< a b) (<= a b) (> a b) (>= a b))"},
        {"select a = b is null", "(select (is null (= a b)))"},
        {"select a is not true, b is false, c is not unknown, d is not null",
            "(select (not-is true a) (is false b) (not-is unknown c) (not-is null d))"},
        {"select a between 1 and 2 and b", "(select (and (between a 1 2) b))"},
        {"select a not between 1 and 2 + 3 or c", "(select (or (not-between a 1 (+ 2 3)) c))"},
        {"select a in (1, 2, 3), b not in ('x')", "(select (in a 1 2 3) (not-in b 'x'))"},
        {"select a in (select b from t), c not in ((select 1))",
            "(select (in a (select b from t)) (not-in c (select 1)))"},
        {"select a in ((select 1) union (select 2))",
            "(select (in a (union [(select 1)] [(select 2)])))"},
        {"select a in ((select 1), 2)", "(select (in a (query (select 1)) 2))"},
        {"select (a, b) in ((1, 2), (3, 4))", "(select (in (row a b) (row 1 2) (row 3 4)))"},
        {"select (a, b) = (select 1, 2)", "(select (= (row a b) (query (select 1 2))))"},
        {"select row(1, 2) = row(3, 4)", "(select (= (row 1 2) (row 3 4)))"},
        {"select a like 'x%', b not like '\\_a' escape '|'",
            "(select (like a 'x%') (not-like b '\\5c_a' '|'))"},
        {"select a like binary 'x'", "(select (like a (binary 'x')))"},
        {"select a regexp 'x', b rlike 'y', c not rlike 'z', d not regexp 'q'",
            "(select (regexp a 'x') (regexp b 'y') (not-regexp c 'z') (not-regexp d 'q'))"},
        {"select a sounds like b", "(select (sounds a b))"},
        {"select 1 member of ('[1]'), 1 member of(j)", "(select (member 1 '[1]') (member 1 j))"},
        {"select a = any (select 1), a <> some (select 1), a > all (select 1)",
            "(select (=-any a (select 1)) (<>-any a (select 1)) (>-all a (select 1)))"},
        {"select exists (select 1), not exists (select 1 from t)",
            "(select (exists (select 1)) (not (exists (select 1 from t))))"},
        {"select (select 1)", "(select (query (select 1)))"},
        {"select ((select 1))", "(select (query (select 1)))"},
        {"select ((select 1) + 1)", "(select (+ (query (select 1)) 1))"},
        {"select ((select 1) union (select 2))",
            "(select (query (union [(select 1)] [(select 2)])))"},
        {"select (((select 1)) union all select 2 order by 1 limit 1)",
            "(select (query (union-all [(select 1)] (select 2)) (order 1) limit 1))"},
        {"select binary a = 'x', binary 'a' collate utf8mb4_bin",
            "(select (= (binary a) 'x') (binary (collate 'a' utf8mb4_bin)))"},
        {"select a collate utf8mb4_bin, 'x' collate 'utf8mb4_general_ci', -a collate latin1_bin",
            "(select (collate a utf8mb4_bin) (collate 'x' utf8mb4_general_ci) (neg (collate a "
            "latin1_bin)))"},
        {"select a + interval 1 day, a - interval '1:2' minute_second",
            "(select (date a 1 DAY) (minus-date a '1:2' MINUTE_SECOND))"},
        {"select interval 1 day + a, interval (1) day + a",
            "(select (date a 1 DAY) (date a 1 DAY))"},
        {"select a + interval (1) + 2 day, a + interval (2) day",
            "(select (date a (+ 1 2) DAY) (date a 2 DAY))"},
        {"select interval(1, 2, 3), 5 + interval(1, 2) * 2",
            "(select (INTERVAL 1 2 3) (+ 5 (* (INTERVAL 1 2) 2)))"},
        {"select date_add(a, interval 1 day), date_sub(a, interval b + 1 month), adddate(a, 3), "
         "subdate(a, interval 1 week)",
            "(select (date a 1 DAY) (minus-date a (+ b 1) MONTH) (date a 3 DAY) (minus-date a 1 "
            "WEEK))"},
        {"select date_add(now(), interval -1 sql_tsi_hour)", "(select (date (now) (neg 1) HOUR))"},
    };

    dump_check(rows, ARRAY_LEN(rows), 0);
}

static void test_functions_with_a_grammar_become_nodes(void)
{
    static const struct dump_row rows[] = {
        {"select case a when 1 then 'x' when 2 then 'y' else 'z' end",
            "(select (case a 'z' 1 'x' 2 'y'))"},
        {"select case when a then b end", "(select (case a b))"},
        {"select cast(a as signed), cast(a as unsigned integer), cast(a as char), cast(a as "
         "char(10) charset latin1)",
            "(select (cast a bigint) (cast a bigint unsigned) (cast a char) (cast a char(10) "
            "charset latin1))"},
        {"select cast(a as decimal), cast(a as decimal(10,2)), cast(a as date), cast(a as "
         "datetime(6)), cast(a as time(3)), cast(a as json), cast(a as binary(4)), cast(a as "
         "double), cast(a as float), cast(a as year)",
            "(select (cast a decimal(10,0)) (cast a decimal(10,2)) (cast a date) (cast a "
            "datetime(.6)) (cast a time(.3)) (cast a json) (cast a binary(4)) (cast a double) "
            "(cast a float) (cast a year))"},
        {"select convert(a, char), convert(a using utf8mb4), convert(a using binary)",
            "(select (cast a char) (convert a using utf8mb4) (convert a using binary))"},
        {"select substring(a, 1), substring(a, 1, 2), substring(a from 1), substr(a from 1 for 2), "
         "mid(a, 2, 3)",
            "(select (substring a 1) (substring a 1 2) (substring a 1) (substr a 1 2) (mid a 2 "
            "3))"},
        {"select position('a' in b), locate('a', b, 2)",
            "(select (LOCATE 'a' b) (locate 'a' b 2))"},
        {"select trim(a), trim(both from a), trim(leading 'x' from a), trim(trailing from a), "
         "trim('x' from a)",
            "(select (trim a) (trim a) (trim leading a 'x') (trim trailing a) (trim a 'x'))"},
        {"select extract(year from a), extract(day_microsecond from now())",
            "(select (extract a YEAR) (extract (now) DAY_MICROSECOND))"},
        {"select char(65, 66), char(65 using utf8mb4)",
            "(select (char 65 66) (char 65 using utf8mb4))"},
        {"select group_concat(a), group_concat(distinct a, b order by c desc, d separator '; ')",
            "(select (group_concat a',') (group_concat distinct a b (order c desc d)'; '))"},
        {"select count(*), count(distinct a, b), count(all a), sum(distinct a), avg(a), min(a), "
         "max(distinct a)",
            "(select (count *) (count distinct a b) (count a) (sum distinct a) (avg a) (min a) "
            "(max distinct a))"},
        {"select timestampadd(minute, 1, a), timestampdiff(sql_tsi_day, a, b)",
            "(select (timestampadd 1 a MINUTE) (timestampdiff a b DAY))"},
        {"select get_format(date, 'USA')", "(select (get_format 'DATE' 'USA'))"},
        {"select weight_string(a), weight_string(a as char(3))",
            "(select (weight_string a) (weight_string a char(3)))"},
        {"select match(a, b) against ('x'), match a against ('x' in boolean mode)",
            "(select (match 'x' a b) (match boolean 'x' a))"},
        {"select match(a) against ('x' in natural language mode), match(a) against ('x' with query "
         "expansion), match(a) against ('x' in natural language mode with query expansion)",
            "(select (match 'x' a) (match expansion 'x' a) (match expansion 'x' a))"},
        {"select now(), now(6), current_timestamp, current_timestamp(), current_timestamp(3), "
         "localtime, localtimestamp(), utc_date, utc_date(), utc_time(2), utc_timestamp, "
         "current_date, curdate(), curtime(), current_time",
            "(select (now) (now 6) (current_timestamp) (current_timestamp) (current_timestamp 3) "
            "(localtime) (localtimestamp) (utc_date) (utc_date) (utc_time 2) (utc_timestamp) "
            "(current_date) (curdate) (curtime) (current_time))"},
        {"select current_user, current_user(), user(), database(), schema(), session_user()",
            "(select (current_user) (current_user) (user) (database) (schema) (session_user))"},
        {"select if(a, b, c), left(a, 1), right(a, 2), replace(a, b, c), repeat(a, 2), insert(a, "
         "1, 2, 'x'), mod(a, 2), truncate(a, 1), format(a, 2)",
            "(select (if a b c) (left a 1) (right a 2) (replace a b c) (repeat a 2) (insert a 1 2 "
            "'x') (mod a 2) (truncate a 1) (format a 2))"},
        {"select default(a), values(b)", "(select (default a) (values b))"},
        {"select a->'$.x', t.a->>'$.y'", "(select (-> a '$.x') (->> t.a '$.y'))"},
        {"select @a, @`b c`, @'d', @a.b, @x := 1, @x := @x + 1",
            "(select @a @b c @d @a.b (assign 1 x) (assign (+ @x 1) x))"},
        {"select @@a, @@session.a, @@global.b, @@local.c, @@SESSION.sql_mode",
            "(select @@a @@session.a @@global.b @@session.c @@session.sql_mode)"},
        {"select a.b, a.b.c, `a`.`b`, `select`.`from`, t.select, t.1a",
            "(select a.b a.b.c a.b select.from t.select t.1a)"},
        {"select row_number() over (), rank() over (partition by a order by b desc), sum(a) over "
         "w, lag(a, 1, 0) over (w order by b) from t window w as (partition by c)",
            "(select (row_number (over)) (rank (over (partition a) (order b desc))) (sum a (over "
            "w)) (lag a 1 0 (over w (order b))) from t window w (over (partition c)))"},
        {"select sum(a) over (order by b rows between unbounded preceding and current row), sum(a) "
         "over (order by b range between interval 1 day preceding and 2 following), avg(a) over "
         "(rows 3 preceding)",
            "(select (sum a (over (order b) (rows unbounded-preceding current))) (sum a (over "
            "(order b) (range preceding (date 1 DAY) following 2))) (avg a (over (rows preceding 3 "
            "current))))"},
        {"select first_value(a) over (order by b rows between current row and unbounded "
         "following), nth_value(a, 2) from first over w, lead(a) respect nulls over w",
            "(select (first_value a (over (order b) (rows current unbounded-following))) "
            "(nth_value a 2 (over w)) (lead a (over w)))"},
        {"select db.f(1), f(1), `f`(2), db.g()", "(select (db.f 1) (f 1) (f 2) (db.g))"},
        {"select json_extract(a, '$.b'), json_value(a, '$.b'), json_value(a, '$.b' returning "
         "signed)",
            "(select (json_extract a '$.b') (json_value a '$.b') (json_value a '$.b' bigint))"},
    };

    dump_check(rows, ARRAY_LEN(rows), 0);
}

static void test_comments_and_bad_expressions(void)
{
    static const struct dump_row rows[] = {
        {"select a /*! + 1 */ /*!50000 + 2 */ /*!99999 + 3 */ /* + 4 */ /*!90000 /* x */ + 5 */ -- "
         "+ 6",
            "(select (+ (+ a 1) 2))"},
        {"select 1 # comment", "(select 1)"},
        {"select 1 -- comment", "(select 1)"},
        {"select 1--1", "(select (- 1 (neg 1)))"},
        {"select a--1", "(select (- a (neg 1)))"},
        {"select /*+ MAX_EXECUTION_TIME(10) */ 1", "(select 1)"},
        {"select /*M! 1 + */ 2, /*M!100100 3 + */ 4", "(select (+ 1 2) 4)"},
        {"select coalesce(a, b) is null and ifnull(c, d) in (1) or nullif(e, f) like 'x'",
            "(select (or (and (is null (coalesce a b)) (in (ifnull c d) 1)) (like (nullif e f) "
            "'x')))"},
        {"select x'4'", "! 1064 near 'x'4'' at line 1"},
        {"select 'abc", "! 1064 near ''abc' at line 1"},
        {"select `a", "! 1064 near '`a' at line 1"},
        {"select a.b.c.d", "! 1064 near '.d' at line 1"},
        {"select 1 +", "! 1064 near '' at line 1"},
        {"select (1", "! 1064 near '' at line 1"},
        {"select count (*) from t", "! 1064 near '*) from t' at line 1"},
        {"select sum (1)", "! 1630 FUNCTION sum does not exist. Check the 'Function Name Parsing "
                           "and Resolution' section in the Reference Manual"},
        {"select 1 = not 1", "! 1064 near 'not 1' at line 1"},
        {"select a in ()", "! 1064 near ')' at line 1"},
        {"select case end", "! 1064 near '' at line 1"},
        {"select cast(a as x)", "! 1064 near 'x)' at line 1"},
        {"select /* x", "! 1064 near '/* x' at line 1"},
        {"select 1 /*! + 2", "! 1064 near '' at line 1"},
        {"select @", "! 1064 near '' at line 1"},
        {"select 1 from t where a = = b", "! 1064 near '= b' at line 1"},
        {"select f(,)", "! 1064 near ')' at line 1"},
        {"select trim(leading 'x')", "! 1064 near ')' at line 1"},
        {"select interval 1 day", "! 1064 near '' at line 1"},
        {"select 1 as", "! 1064 near '' at line 1"},
        {"select next value for s", "(refused NEXT VALUE FOR)"},
        {"select date_add(a, 1)", "! 1064 near '1)' at line 1"},
        {"select .a", "! 1064 near '.a' at line 1"},
        {"select {d 'x'", "! 1064 near '' at line 1"},
        {"select 1;2", "(select 1) ; 2"},
    };

    dump_check(rows, ARRAY_LEN(rows), 0);
}

static void test_high_not_binds_closer(void)
{
    static const struct dump_row rows[] = {
        {"select not a between 1 and 2", "(select (between (not a) 1 2))"},
        {"select not a = b", "(select (= (not a) b))"},
        {"select 1 = not 1", "(select (= 1 (not 1)))"},
    };

    dump_check(rows, ARRAY_LEN(rows), DB_MODE_HIGH_NOT_PRECEDENCE);
}

static void test_pipes_concatenate(void)
{
    static const struct dump_row rows[] = {
        {"select a || b || c", "(select (|| (|| a b) c))"},
        {"select a || b + c", "(select (+ (|| a b) c))"},
        {"select -a || b", "(select (|| (neg a) b))"},
        {"select a or b || c", "(select (or a (|| b c)))"},
        {"select a like b || '%'", "(select (like a (|| b '%')))"},
    };

    dump_check(rows, ARRAY_LEN(rows), DB_MODE_PIPES_AS_CONCAT);
}

extern const struct test tests_expr[];
const struct test tests_expr[] = {TEST(test_operators_bind_as_in_mysql),
    TEST(test_functions_with_a_grammar_become_nodes), TEST(test_comments_and_bad_expressions),
    TEST(test_high_not_binds_closer), TEST(test_pipes_concatenate), TEST_END};
