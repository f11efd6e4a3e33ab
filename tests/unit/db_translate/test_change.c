/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "rows.h"

/* What MariaDB 10.11 answers, too, with the same data. */
static const struct row rows[] = {
    {"insert into p (name) values ('six')", "1 changed"},
    {"select * from p order by id",
        "1|1|one|5;2|2|two|5;3|1|three|5;4|NULL|four|5;5|99|five|5;6|NULL|six|5"},
    {"insert into p values (null, 5, 'seven', default)", "1 changed"},
    {"insert into p () values ()", "error 1364: Field 'name' doesn't have a default value"},
    {"insert into p set name = 'eight', n = 3", "1 changed"},
    {"insert into p (name, nope) values (1,2)",
        "error 1054: Unknown column 'nope' in 'field list'"},
    {"insert into p (name, name) values (1,2)", "error 1110: Column 'name' specified twice"},
    {"insert into p (name) values ('a','b')",
        "error 1136: Column count doesn't match value count at row 1"},
    {"insert into p (name) values ('one')", "error: UNIQUE constraint failed: p.name"},
    {"insert ignore into p (name) values ('one'),('nine')", "1 changed"},
    {"insert into p (t_id) values (5)", "error 1364: Field 'name' doesn't have a default value"},
    {"insert into p (id, name) values (50,'fifty'),(0,'auto')", "2 changed"},
    {"select * from p order by id",
        "1|1|one|5;2|2|two|5;3|1|three|5;4|NULL|four|5;5|99|five|5;6|NULL|six|5;7|5|seven|5;8|NULL|"
        "eight|3;10|NULL|nine|5;50|NULL|fifty|5;51|NULL|auto|5"},
    {"insert into p (name, n) values ('one', 7) on duplicate key update n = values(n), t_id = 77",
        "1 changed"},
    {"insert into p (name, n) values ('ten', 7) on duplicate key update n = values(n)",
        "1 changed"},
    {"insert into p (name, n) values ('ten', 9) as new on duplicate key update n = new.n + p.n",
        "1 changed"},
    {"select * from p order by id",
        "1|77|one|7;2|2|two|5;3|1|three|5;4|NULL|four|5;5|99|five|5;6|NULL|six|5;7|5|seven|5;8|"
        "NULL|eight|3;10|NULL|nine|5;50|NULL|fifty|5;51|NULL|auto|5;53|NULL|ten|16"},
    {"replace into p (id, name) values (50, 'fifty2')", "2 changed"},
    {"replace into p (name) values ('ten')", "2 changed"},
    {"select * from p order by id",
        "1|77|one|7;2|2|two|5;3|1|three|5;4|NULL|four|5;5|99|five|5;6|NULL|six|5;7|5|seven|5;8|"
        "NULL|eight|3;10|NULL|nine|5;50|NULL|fifty2|5;51|NULL|auto|5;55|NULL|ten|5"},
    {"insert into pair (a, b, v) select id, name, n from p where id < 4", "3 changed"},
    {"insert into pair (a, b, v) select id, name, n from p where id < 4 on duplicate key update v "
     "= pair.v + 1",
        "3 changed"},
    {"select a, b, v, w from pair order by a, b",
        "1|one|8|NULL;1|x|1|NULL;1|y|2|3;2|two|6|NULL;2|x|3|4;3|three|6|NULL"},
    {"update p set n = n + 1 where id < 3", "2 changed"},
    {"update p set n = n where id < 3", "0 changed"},
    {"update p set name = concat(name, '!'), n = 100 where name like 't%'", "3 changed"},
    {"update p set n = 1, t_id = n where id = 1", "1 changed"},
    {"update p set n = default where id = 2", "1 changed"},
    {"update p order by id set n = 1",
        "error 1064: You have an error in your SQL syntax; check the manual that corresponds to "
        "your MySQL server version for the right syntax to use near 'order by id set n = 1' at "
        "line 1"},
    {"update p set n = 9 order by id desc limit 2", "2 changed"},
    {"select * from p order by id",
        "1|1|one|1;2|2|two!|5;3|1|three!|100;4|NULL|four|5;5|99|five|5;6|NULL|six|5;7|5|seven|5;8|"
        "NULL|eight|3;10|NULL|nine|5;50|NULL|fifty2|5;51|NULL|auto|9;55|NULL|ten!|9"},
    {"update p join pair on pair.a = p.id set p.n = pair.v, pair.w = 5 where pair.b <> 'x'",
        "7 changed"},
    {"update p, pair set p.n = 55 where pair.a = p.id and pair.b = 'x'", "2 changed"},
    {"update p left join pair on pair.a = p.id set p.n = 0 where pair.a is null", "9 changed"},
    {"select * from p order by id",
        "1|1|one|55;2|2|two!|55;3|1|three!|6;4|NULL|four|0;5|99|five|0;6|NULL|six|0;7|5|seven|0;8|"
        "NULL|eight|0;10|NULL|nine|0;50|NULL|fifty2|0;51|NULL|auto|0;55|NULL|ten!|0"},
    {"select a, b, v, w from pair order by a, b",
        "1|one|8|5;1|x|1|NULL;1|y|2|5;2|two|6|5;2|x|3|4;3|three|6|5"},
    {"delete from p where id = 50", "1 changed"},
    {"delete from p order by id desc limit 1", "1 changed"},
    {"delete p from p join pair on pair.a = p.id where pair.b = 'y'", "1 changed"},
    {"delete from pair using pair join p on p.id = pair.a where p.n = 55", "2 changed"},
    {"select * from p order by id", "2|2|two!|55;3|1|three!|6;4|NULL|four|0;5|99|five|0;6|NULL|six|"
                                    "0;7|5|seven|0;8|NULL|eight|0;10|NULL|nine|0;51|NULL|auto|0"},
    {"select a, b, v, w from pair order by a, b", "1|one|8|5;1|x|1|NULL;1|y|2|5;3|three|6|5"},
    {"delete from nope", "error 1146: Table 'test.nope' doesn't exist"},
    {"update nope set a = 1", "error 1146: Table 'test.nope' doesn't exist"},
    {"update p set nope = 1", "error 1054: Unknown column 'nope' in 'field list'"},
    {"update p set n = nope", "error 1054: Unknown column 'nope' in 'field list'"},
    {"delete from p where nope = 1", "error 1054: Unknown column 'nope' in 'where clause'"},
    {"insert into t (i) values ('12abc')", "error 1265: Data truncated for column 'i' at row 1"},
    {"insert into t (i) values (3000000000)",
        "error 1264: Out of range value for column 'i' at row 1"},
    {"insert into t (c) values ('12345678901')",
        "error 1406: Data too long for column 'c' at row 1"},
    {"insert into t (dt) values ('2024-02-31')",
        "error 1292: Incorrect datetime value: '2024-02-31' for column 'dt' at row 1"},
    {"insert into t (e) values ('nope')", "error 1265: Data truncated for column 'e' at row 1"},
    {"insert into t (d) values (123456789012)",
        "error 1264: Out of range value for column 'd' at row 1"},
    {"insert into t (i) values (null)", "1 changed"},
    {"insert into t (id) values (null)", "1 changed"},
    {"insert into p (name) values (null)", "error 1048: Column 'name' cannot be null"},
    {"update p set name = null", "error 1048: Column 'name' cannot be null"},
    {"insert into t (dt, da, ti, ts, y) values ('2024-1-5 1:2:3', '20240105', '101112', "
     "'2024-01-05', '24')",
        "1 changed"},
    {"insert into t (dt, da, ti) values (20240105101112, 20240105, 101112)", "1 changed"},
    {"insert into t (s, x, c) values (1.50, 1e3, now())",
        "error 1406: Data too long for column 'c' at row 1"},
    {"insert into t (bi, st, e, y) values (b'1010', 'c,a', 2, 70)", "1 changed"},
    {"insert into t (d, r) values ('1.005', '1.5e3'), (1.005, 2), (1.5e0, -1)", "3 changed"},
    {"insert into t (j) values ('{\"b\":1,\"a\":[1,2,{\"c\":null}]}')", "1 changed"},
    {"select d, r, s, x, c, dt, da, ti, ts, e, st, y, bi+0 from t order by id",
        "4.50|1.5|Abc|text|x|2024-01-31 10:00:00|2024-01-31|10:00:00|2024-01-31 "
        "10:00:00|medium|a,c|2024|5;-12.34|-2.25|éclair|long text here|Zed|1999-12-31 "
        "23:59:59|2000-02-29|-25:30:00|2001-01-01 "
        "00:00:01|large|b|1999|15;10.00|NULL|b|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL;-"
        "2.35|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL;0.00|0.1|123abc|NULL|"
        "NULL|2024-02-29 "
        "00:00:00|2024-02-29|NULL|NULL|NULL|NULL|NULL|NULL;NULL|1e20||NULL|NULL|NULL|NULL|NULL|"
        "NULL|NULL|NULL|NULL|NULL;100.00|3|ABC|NULL|NULL|2024-01-31 "
        "10:00:00|2024-01-31|NULL|NULL|NULL|NULL|NULL|NULL;NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|"
        "NULL|NULL|NULL|NULL|NULL;NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL;"
        "NULL|NULL|NULL|NULL|NULL|2024-01-05 01:02:03|2024-01-05|10:11:12|2024-01-05 "
        "00:00:00|NULL|NULL|2024|NULL;NULL|NULL|NULL|NULL|NULL|2024-01-05 "
        "10:11:12|2024-01-05|10:11:12|NULL|NULL|NULL|NULL|NULL;NULL|NULL|NULL|NULL|NULL|NULL|NULL|"
        "NULL|NULL|medium|a,c|1970|10;1.01|1500|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|"
        "NULL;1.01|2|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL;1.50|-1|NULL|NULL|NULL|"
        "NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL;NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|"
        "NULL|NULL|NULL"},
    {"insert into t (i, b) values (1, i + 1), (2, 5)", "2 changed"},
    {"select i, b from t order by id desc limit 2", "2|5;1|2"},
    {"select * from p where (id, n) = (1, 1) or (id, n) in (select a, v from pair)",
        "3|1|three!|6"},
    {"select p.*, t.s from p, t where p.t_id = t.id and t.s is not null order by p.id",
        "2|2|two!|55|éclair;3|1|three!|6|Abc;7|5|seven|0|123abc"},
    {"select count(*) n, max(id) from p where name > 'a' group by t_id having n > 0 order by n "
     "desc, 2",
        "5|51;1|2;1|3;1|5;1|7"},
    {"select t_id, group_concat(distinct name order by name separator ';') from p group by t_id "
     "order by 1",
        "NULL|auto;eight;four;nine;six;1|three!;2|two!;5|seven;99|five"},
    {"select id from p where name in (select b from pair) or exists (select 1 from pair where a = "
     "p.id)",
        "3"},
    {"select p1.id, (select count(*) from p p2 where p2.id < p1.id) c from p p1 order by c",
        "2|0;3|1;4|2;5|3;6|4;7|5;8|6;10|7;51|8"},
    {"select x.id from (select id from p union select a from pair) x order by x.id",
        "1;2;3;4;5;6;7;8;10;51"},
    {"select case t_id when 1 then 'one' when 2 then 'two' end z, count(*) from p group by z order "
     "by z",
        "NULL|7;one|1;two|1"},
    {"select date(dt) d1, count(*) from t group by d1 order by d1",
        "NULL|12;1999-12-31|1;2024-01-05|2;2024-01-31|2;2024-02-29|1"},
    {"select year(dt), sum(i) from t group by year(dt) order by 1", "NULL|19;1999|-7;2024|23"},
    {"select * from pair where b like 't%' or b like '%x'",
        "1|x|1|NULL|NULL;3|three|6|5|2024-01-31 10:00:00"},
    {"select ifnull(t.s,'none') ss from p left join t on t.id = p.t_id order by ss, p.id",
        "123abc;Abc;éclair;none;none;none;none;none;none"},
    {"select 1 from p limit 0", ""},
    {"select b.a from pair b where b.a = (select min(a) from pair)", "1;1;1"},
    {"select id from t where s between 'a' and 'c' order by id", "1;3;7"},
    {"select id from t where dt between '2024-01-01' and '2024-01-31 23:59:59' order by id",
        "1;7;10;11"},
    {"select id from t where d in (4.5, '10', 100) order by id", "1;3;7"},
    {"select id from t where not (i = 1 or s = 'b') order by id", "2;5;6;7"},
    {"select id, i from t where i = '10' or s = 10 order by id", "5|10"},
    {"select id from t where da in ('2024-01-31', '2000-02-29') order by id", "1;2;7"},
    {"select id from t where e in ('small','large') or e = 2 order by id", "1;2;12"},
    {"select id from t where i & 1 order by id", "1;2;4;6;17"},
    {"select id from t where st like '%a%' or find_in_set('b', st) order by id", "1;2;12"},
    {"select id from t where ti > '00:00:00' order by id", "1;10;11"},
    {"select id from t where ts < now() order by id", "2;10"},
    {"select id from t where x = 'TEXT' order by id", "1"},
    {"select id from t where bin = 'bin' order by id", "1"},
    {"select id from t where bin = 'BIN' order by id", ""},
    {"select id from t where dt = da order by id", "5"},
    {"select id from t where u > b order by id", "1"},
    {"select id from t where d > i order by id", "1;3;7"},
    {"select id from t where r > d order by id", "2;5;13;14"},
    {"select id from t where y > 2000 order by id", "1;10"},
    {"select id from t where dt > 20240101 order by id", "1;5;7;10;11"},
    {"select id from t where b = '9007199254740993' order by id", "2"},
    {"select id from t where b = 9007199254740993 order by id", "2"},
    {"select id from t where (i > 1) = (s > 'a') order by id", "3;7"},
    {"select id from t where i > 1 > 0 order by id", "3;4;5;6;7;18"},
    {"select id from t where -i = 7 order by id", "2"},
    {"select id from t where length(s) = 3 and upper(s) = 'abc' order by id", "1;7"},
    {"select id from t where s <=> null and i is not null order by id", "4;17;18"},
    {"select id, s from t order by s is null, s desc, id",
        "2|éclair;3|b;1|Abc;7|ABC;5|123abc;6|;4|NULL;8|NULL;9|NULL;10|NULL;11|NULL;12|NULL;13|NULL;"
        "14|NULL;15|NULL;16|NULL;17|NULL;18|NULL"},
    {"select id from t order by field(id, 3, 2, 1) desc, id",
        "1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18"},
    {"select id from t order by rand(1) limit 0", ""},
    {"select 1 + null, null = null, null <=> null, null and 0, null or 1, not null, null is null",
        "NULL|NULL|1|0|1|NULL|1"},
    {"select 5 between 1 and 10, 5 not between 1 and 3, 'b' between 'a' and 'c', null between 1 "
     "and 2",
        "1|1|1|NULL"},
    {"select 3 in (1,2,3), 3 not in (1,2), null in (1), 3 in (1,null), 'a' in ('A'), 1 in ('1x')",
        "1|1|NULL|NULL|1|1"},
    {"select if(null,1,2), ifnull(null,null), coalesce(null), nullif('a','A')", "2|NULL|NULL|NULL"},
    {"select concat('a',null), concat_ws(',', 'a', null, 'b'), concat(1.50, 2, true)",
        "NULL|a,b|1.5021"},
    {"select cast('abc' as signed), cast('1e2' as signed), cast(1.5 as signed), cast('2024-01-01' "
     "as datetime), cast(20240101 as date), cast('10:11' as time), cast(1.2345 as decimal(5,2))",
        "0|1|2|2024-01-01 00:00:00|2024-01-01|10:11:00|1.23"},
    {"select 1 where 1=1", "1"},
    {"select 1 from dual where 0", ""},
    {"select distinct i > 2 from t order by 1", "NULL;0;1"},
    {"select sum(distinct i), count(distinct i), avg(distinct d) from t", "32|7|12.790000"},
    {"select max(i) - min(i), sum(i) / count(*), sum(d) + 1 from t", "19|1.9444|104.33"},
    {"select count(*) from t where null", "0"},
    {"select i, count(*) from t where i in (1,2) group by i order by count(*) desc, i", "1|2;2|2"},
    {"select max(s), min(s), max(c) from t where s is not null", "éclair||Zed"},
};

static void test_changes_do_what_mariadb_does(void)
{
    rows_check(rows, sizeof(rows) / sizeof(*rows));
}

const struct test tests_changes_do_what_mariadb_does[] = {
    TEST(test_changes_do_what_mariadb_does), TEST_END};
