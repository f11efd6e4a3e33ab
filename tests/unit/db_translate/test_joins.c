/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "rows.h"

/* What MariaDB 10.11 answers, too, with the same data. */
static const struct row rows[] = {
    {"select p.id, q.b, t.s from p left join (pair q left join t on t.id = q.a) on q.a = p.id "
     "order by p.id, q.b",
        "1|x|Abc;1|y|Abc;2|x|éclair;3|NULL|NULL;4|NULL|NULL;5|NULL|NULL"},
    {"select p.id, x.id from p join (pair left join t x on x.id = pair.w) on pair.a = p.id order "
     "by p.id, pair.b",
        "1|NULL;1|3;2|4"},
    {"select a.id, b.id, c.id from p a join p b using (id) join p c using (id) order by 1",
        "1|1|1;2|2|2;3|3|3;4|4|4;5|5|5"},
    {"select * from (select id, n from p) a join (select id, t_id from p) b using (id) order by id",
        "1|5|1;2|5|2;3|5|1;4|5|NULL;5|5|99"},
    {"select * from (select id, n from p) a left join (select id, t_id from p where id < 3) b "
     "using (id) order by id",
        "1|5|1;2|5|2;3|5|NULL;4|5|NULL;5|5|NULL"},
    {"select * from (select id, t_id from p where id < 3) b right join (select id, n from p) a "
     "using (id) order by id",
        "1|5|1;2|5|2;3|5|NULL;4|5|NULL;5|5|NULL"},
    {"select id from (select id, n from p) a natural join (select id, t_id from p) b order by id",
        "1;2;3;4;5"},
    {"select p.id from p join t on t.id = (select min(a) from pair where pair.a = p.id) order by "
     "p.id",
        "1;2"},
    {"select t_id, count(*) c from p group by 1 having c > 0 order by 2 desc, 1",
        "1|2;NULL|1;2|1;99|1"},
    {"select t_id tt, max(n) from p group by tt order by max(id) desc", "99|5;NULL|5;1|5;2|5"},
    {"select n + 1 as n1, count(*) from p group by n1", "6|5"},
    {"select n as t_id, count(*) from p group by t_id order by 1", "5|1;5|2;5|1;5|1"},
    {"select count(*) from p having count(*) > 2", "5"},
    {"select count(*) c from p having c > 20", ""},
    {"select max(id) from p where id > 1000", "NULL"},
    {"select id from p where id > 1000 having id > 1", ""},
    {"select (select count(*) from p p2 where p2.t_id = p.t_id) x from p order by x, id",
        "0;1;1;2;2"},
    {"select name, (select s from t where t.id = p.t_id) s from p order by p.id",
        "one|Abc;two|éclair;three|Abc;four|NULL;five|NULL"},
    {"select * from (select a aa, v from pair) z where aa in (select id from p) order by aa, v",
        "1|1;1|2;2|3"},
    {"with c (x, y) as (select a, v from pair) select sum(x), max(y) from c", "4|3"},
    {"with a as (select 1 x), b as (select x + 1 y from a) select * from a, b", "1|2"},
    {"with recursive seq as (select 1 n, cast('a' as char(20)) s union all select n + 1, concat(s, "
     "'b') from seq where n < 4) select * from seq",
        "1|a;2|ab;3|abb;4|abbb"},
    {"select a, sum(v) over (partition by a order by b rows between unbounded preceding and "
     "current row) from pair order by a, b",
        "1|1;1|3;2|3"},
    {"select id, ntile(2) over (order by id), first_value(name) over (order by id), "
     "last_value(name) over (order by id) from p order by id",
        "1|1|one|one;2|1|one|two;3|1|one|three;4|2|one|four;5|2|one|five"},
    {"select id, count(*) over () c, avg(n) over (partition by t_id) from p order by id",
        "1|5|5.0000;2|5|5.0000;3|5|5.0000;4|5|5.0000;5|5|5.0000"},
    {"insert into pair (a, b) select id, name from p union select 100, 'hundred'", "6 changed"},
    {"select count(*) from pair", "9"},
    {"update pair set v = (select count(*) from p where p.id = pair.a)", "7 changed"},
    {"update pair set v = v + 1, w = v * 2 where a in (select id from p)", "8 changed"},
    {"select a, b, v, w from pair order by a, b",
        "1|one|2|4;1|x|2|4;1|y|2|4;2|two|2|4;2|x|2|4;3|three|2|4;4|four|2|4;5|five|2|4;100|hundred|"
        "0|NULL"},
    {"update p set t_id = null where t_id not in (select id from t)", "1 changed"},
    {"update p, (select a, max(v) m from pair group by a) x set p.n = x.m where p.id = x.a",
        "5 changed"},
    {"select id, t_id, n from p order by id", "1|1|2;2|2|2;3|1|2;4|NULL|2;5|NULL|2"},
    {"delete from pair where a > 50 or b in (select name from p where n = 2)", "6 changed"},
    {"delete from pair where (a, b) in (select id, name from p)", "0 changed"},
    {"delete p from p left join pair on pair.a = p.id where pair.a is null and p.id > 4",
        "1 changed"},
    {"select a, b from pair order by a, b", "1|x;1|y;2|x"},
    {"select id from p order by id", "1;2;3;4"},
    {"select if(1, null, 'a'), case when 0 then 1 end, ifnull(null, null)", "NULL|NULL|NULL"},
    {"select 1 union all select 2 union select 2", "1;2"},
    {"select 'a' union select 'A' union select 'b'", "a;b"},
    {"(select 1) union (select 2) order by 1 desc limit 1", "2"},
    {"select 1 as x union select 2 order by x desc", "2;1"},
    {"select 1 as x union select 2 order by x + 1", "1;2"},
    {"(select id from p order by id desc limit 2) union all (select a from pair limit 1) limit 5",
        "4;3;1"},
    {"select * from (select 1 a union select 2) x where a > 1", "2"},
    {"select exists(select 1 from p where 0), not exists(select 1)", "0|0"},
    {"select id from p where (select 1) = 1 order by id limit 1", "1"},
    {"select id from p where name = binary 'one'", "1"},
    {"select id from p where name = binary 'ONE'", ""},
    {"select id from p where name collate utf8mb4_bin = 'ONE'", ""},
    {"select id from p where binary name = 'one'", "1"},
    {"select id from p where name = _latin1'one'", "1"},
    {"select id from p where concat(name, 'x') = 'ONEX'", "1"},
    {"select id from p where lower(name) in ('one', 'TWO') order by id", "1;2"},
    {"select id from p where name >= 'o' order by name", "1;3;2"},
    {"select name from p order by name collate utf8mb4_bin", "four;one;three;two"},
    {"select distinct left(name, 1) l from p order by l", "f;o;t"},
    {"select count(distinct left(name,1)) from p", "3"},
    {"select group_concat(distinct n order by n), group_concat(id, ':', name order by id separator "
     "'|') from p",
        "2|1:one|2:two|3:three|4:four"},
    {"select min(name), max(name), min(dt), max(da) from p, t",
        "four|two|1999-12-31 23:59:59|2024-02-29"},
    {"select i, s from t where (s, i) > ('a', 1) order by i", "-7|éclair;1|Abc;2|b;12|ABC"},
    {"select i from t where i > any (select a from pair) order by i", "2;3;10;11;12"},
    {"select i from t where i >= all (select a from pair) order by i", "2;3;10;11;12"},
    {"select i from t where i = any (select 1 union select 2) order by i", "1;2"},
    {"select i from t where i <> all (select 1 union select 2) order by i", "-7;3;10;11;12"},
    {"select i from t where i not in (select null)", ""},
    {"select s from t where s = any (select b from pair)", ""},
    {"select cast('10' as unsigned) + 1, '5' * '2', '3' + 4.5, 2 ** 3",
        "error 1064: You have an error in your SQL syntax; check the manual that corresponds to "
        "your MySQL server version for the right syntax to use near '* 3' at line 1"},
    {"select 5 / 2, 5 div 2, 5 mod 2, -5 div 2, 5.5 div 2, 1e1 div 3", "2.5000|2|1|-2|2|3"},
    {"select 1 < 2 < 3, 3 > 2 > 1, 1 = 1 = 1, not 1 = 2", "1|0|1|1"},
    {"select 2 + 3 * 4 - 6 / 2, (2 + 3) * 4, -2 * -3, - - 2", "11.0000|20|6|2"},
    {"select 1 | 2 & 3, 1 << 2 + 1, ~0, 5 & ~1, 1 ^ 3", "3|8|18446744073709551615|4|2"},
    {"select date '2024-01-01' + interval 1 month, timestamp '2024-01-01 00:00:00' - interval 1 "
     "second, time '10:00:00' + interval 1 hour",
        "2024-02-01|2023-12-31 23:59:59|11:00:00"},
    {"select dt - interval 1 day > '2024-01-01' from t where id = 1", "1"},
    {"select timestamp(da), date(dt) = da, time(dt) from t where id = 1",
        "2024-01-31 00:00:00|1|10:00:00"},
    {"select sum(r), sum(d), sum(i), sum(s) from t", "1e20|99.81|32|123"},
    {"select avg(i), avg(d), avg(r), avg(s) from t", "4.5714|16.635000|2e19|20.5"},
    {"select d, round(avg(d), 2) from t group by d order by d",
        "NULL|NULL;-12.34|-12.34;-2.35|-2.35;0.00|0.00;4.50|4.50;10.00|10.00;100.00|100.00"},
    {"select sum(d) / count(*) , sum(d) * 1.1 from t", "14.258571|109.791"},
    {"select i / 3, i / 3.0, d / i, i / d, r / i from t where id = 1",
        "0.3333|0.3333|4.500000|0.2222|1.5"},
    {"select 1.0 / 3.0, 1 / 3 * 3, 10 / 3 * 3, 0.1 + 0.2 = 0.3", "0.33333|1.0000|10.0000|1"},
    {"select greatest(d, 1), least(i, d), greatest('a', 'B'), greatest(dt, '2024-01-01') from t "
     "where id = 1",
        "4.50|1.00|B|2024-01-31 10:00:00"},
    {"select coalesce(d, i, 0), coalesce(dt, da), coalesce(null, s, 'x'), ifnull(e, 'none') from t "
     "order by id",
        "4.50|2024-01-31 10:00:00|Abc|medium;-12.34|1999-12-31 "
        "23:59:59|éclair|large;10.00|NULL|b|none;-2.35|NULL|x|none;0.00|2024-02-29 "
        "00:00:00|123abc|none;11.00|NULL||none;100.00|2024-01-31 10:00:00|ABC|none"},
    {"select s + 0, s * 1, - s, s / 2, s div 2, s % 2 from t where id in (5,7)",
        "123|123|-123|61.5|61|1;0|0|0|0|0|0"},
    {"select e + 1, e * 2, e in ('small', 'medium'), e > 'a', e = 2, field(e, 'medium', 'large') "
     "from t where id < 3",
        "3|4|1|1|1|1;4|6|0|1|0|2"},
    {"select id from t where s", "5"},
    {"select id from t where not s order by id", "1;2;3;6;7"},
    {"select id from t where i and d order by id", "1;2;3;4;7"},
    {"select id from t where dt order by id", "1;2;5;7"},
    {"select id from t where e order by id", "1;2"},
    {"select if(s, 'yes', 'no'), if(dt, 1, 0), if(d, 1, 0) from t order by id",
        "no|1|1;no|1|1;no|0|1;no|0|1;yes|1|0;no|0|0;no|1|1"},
    {"select 10/3*3, 1/3 = 0.3333, 1/3 > 0.33333, round(2/3, 5), sum(i/3), avg(i/7), 1/3 + 1/3 + "
     "1/3, (1/3) / (1/3), 5/7 - 5/7, cast(1/3 as decimal(10,8)) from t",
        "10.0000|1|0|0.66667|10.6667|0.65306122|1.0000|1.00000000|0.0000|0.33333333"},
    {"select id, i/3*3, (i+1)/7*7 = i + 1, round(d/3, 3) from t order by id",
        "1|1.0000|1|1.500;2|-7.0000|1|-4.113;3|2.0000|1|3.333;4|3.0000|1|-0.783;5|10.0000|1|0.000;"
        "6|11.0000|1|NULL;7|12.0000|1|33.333"},
    {"select sum(i)/3*3, sum(d)/count(*)*2 from t", "32.0000|28.517143"},
};

static void test_joins_and_the_rest(void)
{
    rows_check(rows, sizeof(rows) / sizeof(*rows));
}

const struct test tests_joins_and_the_rest[] = {TEST(test_joins_and_the_rest), TEST_END};
