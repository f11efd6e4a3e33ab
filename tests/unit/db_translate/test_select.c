/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "rows.h"

/* What MariaDB 10.11 answers, too, with the same data. */
static const struct row rows[] = {
    {"select 1", "1"},
    {"select 1+1", "2"},
    {"select i+1 from t", "-6;2;3;4;11;12;13"},
    {"select u+1 from t", "NULL;NULL;NULL;NULL;NULL;4;18446745"},
    {"select b+1 from t", "3;9007199254740994;NULL;NULL;NULL;NULL;NULL"},
    {"select i*i from t", "49;1;4;9;100;121;144"},
    {"select b*2 from t", "4;18014398509481986;NULL;NULL;NULL;NULL;NULL"},
    {"select d+1 from t", "NULL;-11.34;-1.35;1.00;5.50;11.00;101.00"},
    {"select d*d from t", "NULL;152.2756;5.5225;0.0000;20.2500;100.0000;10000.0000"},
    {"select d/3 from t", "NULL;-4.113333;-0.783333;0.000000;1.500000;3.333333;33.333333"},
    {"select i/3 from t", "-2.3333;0.3333;0.6667;1.0000;3.3333;3.6667;4.0000"},
    {"select r/3 from t", "0.5;-0.75;NULL;NULL;0.03333333333333333;3.333333333333333e19;1"},
    {"select i div 2 from t", "-3;0;1;1;5;5;6"},
    {"select i%3 from t", "-1;1;2;0;1;2;0"},
    {"select -i, -d, -r, -s from t", "-1|-4.50|-1.5|0;7|12.34|2.25|0;-2|-10.00|NULL|0;-3|2.35|NULL|"
                                     "NULL;-10|0.00|-0.1|-123;-11|NULL|-1e20|0;-12|-100.00|-3|0"},
    {"select 'abc'", "abc"},
    {"select concat(i,s) from t", "1Abc;-7éclair;2b;NULL;10123abc;11;12ABC"},
    {"select concat(s,d,r,dt,e) from t",
        "Abc4.501.52024-01-31 10:00:00medium;éclair-12.34-2.251999-12-31 "
        "23:59:59large;NULL;NULL;NULL;NULL;NULL"},
    {"select count(*), sum(i), avg(i), sum(d), avg(d), max(s), min(s), sum(r), avg(r) from t",
        "7|32|4.5714|99.81|16.635000|éclair||1e20|2e19"},
    {"select 1=1, i is null, i is not null, i = 1, s = 'abc', i in (1,2), i between 1 and 5 from t",
        "1|0|1|1|1|1|1;1|0|1|0|0|0|0;1|0|1|0|0|1|1;1|0|1|0|NULL|0|1;1|0|1|0|0|0|0;1|0|1|0|0|0|0;1|"
        "0|1|0|1|0|0"},
    {"select 1.5, 1e3, null, true, false, -1, -1.5, 3000000000, 0.05, 00012",
        "1.5|1000|NULL|1|0|-1|-1.5|3000000000|0.05|12"},
    {"select length(s), char_length(s), upper(s), lower(s), left(s,2), right(s,2), substr(s,2), "
     "substr(s,1,2), reverse(s) from t",
        "NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL;0|0|||||||;6|6|123ABC|123abc|12|bc|23abc|12|"
        "cba321;3|3|ABC|abc|Ab|bc|bc|Ab|cbA;3|3|ABC|abc|AB|BC|BC|AB|CBA;1|1|B|b|b|b||b|b;7|6|"
        "ÉCLAIR|éclair|éc|ir|clair|éc|rialcé"},
    {"select i&1, i|1, i^3, ~i, i<<2, i>>1 from t",
        "1|18446744073709551609|18446744073709551610|6|18446744073709551588|9223372036854775804;1|"
        "1|2|18446744073709551614|4|0;0|3|1|18446744073709551613|8|1;1|3|0|18446744073709551612|12|"
        "1;0|11|9|18446744073709551605|40|5;1|11|8|18446744073709551604|44|5;0|13|15|"
        "18446744073709551603|48|6"},
    {"select coalesce(i,1), coalesce(s,i), ifnull(d,0), ifnull(s,'x'), if(i>1,i,b), if(i,s,d) from "
     "t",
        "1|Abc|4.50|Abc|2|Abc;-7|éclair|-12.34|éclair|9007199254740993|éclair;2|b|10.00|b|2|b;3|3|-"
        "2.35|x|3|NULL;10|123abc|0.00|123abc|10|123abc;11||0.00||11|;12|ABC|100.00|ABC|12|ABC"},
    {"select id, i, b, u, d, r, y, bi+0 from t",
        "1|1|2|3|4.50|1.5|2024|5;2|-7|9007199254740993|18446744|-12.34|-2.25|1999|15;3|2|NULL|NULL|"
        "10.00|NULL|NULL|NULL;4|3|NULL|NULL|-2.35|NULL|NULL|NULL;5|10|NULL|NULL|0.00|0.1|NULL|NULL;"
        "6|11|NULL|NULL|NULL|1e20|NULL|NULL;7|12|NULL|NULL|100.00|3|NULL|NULL"},
    {"select year(dt), month(dt), day(dt), hour(dt), minute(dt), second(dt), dayofweek(dt), "
     "week(dt), dayname(dt), monthname(dt) from t",
        "NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL;NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|"
        "NULL|NULL;NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL;1999|12|31|23|59|59|6|52|"
        "Friday|December;2024|1|31|10|0|0|4|4|Wednesday|January;2024|1|31|10|0|0|4|4|Wednesday|"
        "January;2024|2|29|0|0|0|5|8|Thursday|February"},
    {"select date_format(dt,'%Y-%m-%d %H:%i:%s'), date(dt), time(dt), last_day(dt), "
     "datediff(dt,'2024-01-01'), to_days(da) from t",
        "2024-01-31 10:00:00|2024-01-31|10:00:00|2024-01-31|30|739281;1999-12-31 "
        "23:59:59|1999-12-31|23:59:59|1999-12-31|-8767|730544;NULL|NULL|NULL|NULL|NULL|NULL;NULL|"
        "NULL|NULL|NULL|NULL|NULL;2024-02-29 "
        "00:00:00|2024-02-29|00:00:00|2024-02-29|59|739310;NULL|NULL|NULL|NULL|NULL|NULL;2024-01-"
        "31 10:00:00|2024-01-31|10:00:00|2024-01-31|30|739281"},
    {"select cast(i as char), cast(s as signed), cast(d as signed), cast(s as decimal(10,3)), "
     "cast(i as unsigned), cast(r as signed), cast(dt as date), cast(s as binary), cast(i as "
     "double) from t",
        "1|0|5|0.000|1|2|2024-01-31|Abc|1;-7|0|-12|0.000|18446744073709551609|-2|1999-12-31|éclair|"
        "-7;2|0|10|0.000|2|NULL|NULL|b|2;3|NULL|-2|NULL|3|NULL|NULL|NULL|3;10|123|0|123.000|10|0|"
        "2024-02-29|123abc|10;11|0|NULL|0.000|11|9223372036854775807|NULL||11;12|0|100|0.000|12|3|"
        "2024-01-31|ABC|12"},
    {"select md5(s), sha1(s), crc32(s), hex(s), hex(i), unhex('4142'), hex(bin) from t",
        "35593b7ce5020eae3ca68fd5b6f3e031|915858afa2278f25527f192038108346164b47f2|224986914|"
        "416263|1|AB|62696E;d63b831a8d3c3ff065bf7c5a54f84636|"
        "a48eb176b1c62d3bff470406724379052ad612e1|2999533185|C3A9636C616972|FFFFFFFFFFFFFFF9|AB|"
        "00FF41;92eb5ffee6ae2fec3ad71c777531578f|e9d71f5ee7c92d6dc9e92ffdad17b8bd49418f98|"
        "1908338681|62|2|AB|NULL;NULL|NULL|NULL|NULL|3|AB|NULL;a906449d5769fa7361d7ecc6aa3f6d28|"
        "4be30d9814c6d4e9800e0d2ea9ec9fb00efa887b|2382254546|313233616263|A|AB|NULL;"
        "d41d8cd98f00b204e9800998ecf8427e|da39a3ee5e6b4b0d3255bfef95601890afd80709|0||B|AB|NULL;"
        "902fbdd2b1df0c4f70b4a5d23525e932|3c01bdbb26f358bab27f267924aa2c9a03fcfdb8|2743272264|"
        "414243|C|AB|NULL"},
    {"select dt + interval 1 day, dt - interval 1 hour, da + interval 1 month, da + interval 1 "
     "hour, '2024-01-01' + interval 1 day, date_add(dt, interval '1:30' minute_second) from t",
        "2024-02-01 10:00:00|2024-01-31 09:00:00|2024-02-29|2024-01-31 "
        "01:00:00|2024-01-02|2024-01-31 10:01:30;2000-01-01 23:59:59|1999-12-31 "
        "22:59:59|2000-03-29|2000-02-29 01:00:00|2024-01-02|2000-01-01 "
        "00:01:29;NULL|NULL|NULL|NULL|2024-01-02|NULL;NULL|NULL|NULL|NULL|2024-01-02|NULL;2024-03-"
        "01 00:00:00|2024-02-28 23:00:00|2024-03-29|2024-02-29 01:00:00|2024-01-02|2024-02-29 "
        "00:01:30;NULL|NULL|NULL|NULL|2024-01-02|NULL;2024-02-01 10:00:00|2024-01-31 "
        "09:00:00|2024-02-29|2024-01-31 01:00:00|2024-01-02|2024-01-31 10:01:30"},
    {"select greatest(i,b), least(i,2), greatest(s,'b'), greatest(d,i) from t",
        "2|1|b|4.50;9007199254740993|-7|éclair|-7.00;NULL|2|b|10.00;NULL|2|NULL|3.00;NULL|2|b|10."
        "00;NULL|2|b|NULL;NULL|2|b|100.00"},
    {"select replace(s,'b','xx'), locate('b',s), instr(s,'b'), lpad(s,6,'-'), rpad(s,6,'-'), "
     "trim(s), repeat('ab',3), space(3), concat_ws('-',s,i) from t",
        "Axxc|2|2|---Abc|Abc---|Abc|ababab|   |Abc-1;éclair|0|0|éclair|éclair|éclair|ababab|   "
        "|éclair--7;xx|1|1|-----b|b-----|b|ababab|   |b-2;NULL|NULL|NULL|NULL|NULL|NULL|ababab|   "
        "|3;123axxc|5|5|123abc|123abc|123abc|ababab|   |123abc-10;|0|0|------|------||ababab|   "
        "|-11;ABC|2|2|---ABC|ABC---|ABC|ababab|   |ABC-12"},
    {"select case when i > 2 then 'big' else 'small' end, case i when 1 then 1 else 2.5 end, case "
     "when i>1 then dt end from t",
        "small|1.0|NULL;small|2.5|NULL;small|2.5|NULL;big|2.5|NULL;big|2.5|2024-02-29 "
        "00:00:00;big|2.5|NULL;big|2.5|2024-01-31 10:00:00"},
    {"select not i, i and b, i or b, i xor b, !i from t",
        "0|1|1|0|0;0|1|1|0|0;0|NULL|1|NULL|0;0|NULL|1|NULL|0;0|NULL|1|NULL|0;0|NULL|1|NULL|0;0|"
        "NULL|1|NULL|0"},
    {"select d+i, d*i, r+i, r*d, s+1, '1'+1, i+s, u-1, 1.5+1 from t",
        "5.50|4.50|2.5|6.75|1|2|1|2|2.5;-19.34|86.38|-9.25|27.765|1|2|-7|18446743|2.5;12.00|20.00|"
        "NULL|NULL|1|2|2|NULL|2.5;0.65|-7.05|NULL|NULL|NULL|2|NULL|NULL|2.5;10.00|0.00|10.1|0|124|"
        "2|133|NULL|2.5;NULL|NULL|1e20|NULL|1|2|11|NULL|2.5;112.00|1200.00|15|300|1|2|12|NULL|2.5"},
    {"select e, e+0, concat(e,'x'), st, st+0, e='small', e>1, st='a,c' from t",
        "medium|2|mediumx|a,c|5|0|1|1;large|3|largex|b|2|0|1|0;NULL|NULL|NULL|NULL|NULL|NULL|NULL|"
        "NULL;NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL;NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL;NULL|"
        "NULL|NULL|NULL|NULL|NULL|NULL|NULL;NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL"},
    {"select dt+0, da+0, ti+0, ts+0, dt=20240131100000, da='2024-01-31', da=20240131 from t",
        "20240131100000|20240131|100000|20240131100000|1|1|1;19991231235959|20000229|-253000|"
        "20010101000001|0|0|0;NULL|NULL|NULL|NULL|NULL|NULL|NULL;NULL|NULL|NULL|NULL|NULL|NULL|"
        "NULL;20240229000000|20240229|NULL|NULL|0|0|0;NULL|NULL|NULL|NULL|NULL|NULL|NULL;"
        "20240131100000|20240131|NULL|NULL|1|1|1"},
    {"select i=1.0, i='1', i='1x', s=0, s='ABC', s=123, d='4.50', d=4.5, r=1.5, r='1.5' from t",
        "1|1|1|1|1|0|1|1|1|1;0|0|0|1|0|0|0|0|0|0;0|0|0|1|0|0|0|0|NULL|NULL;0|0|0|NULL|NULL|NULL|0|"
        "0|NULL|NULL;0|0|0|0|0|1|0|0|0|0;0|0|0|1|0|0|NULL|NULL|0|0;0|0|0|1|1|0|0|0|0|0"},
    {"select dt='2024-01-31', dt>'2024-01-31', da<'2024-01-31 00:00:01', ti='10:00', ti>'09:00:00' "
     "from t",
        "0|1|1|1|1;0|0|1|0|0;NULL|NULL|NULL|NULL|NULL;NULL|NULL|NULL|NULL|NULL;0|1|0|NULL|NULL;"
        "NULL|NULL|NULL|NULL|NULL;0|1|1|NULL|NULL"},
    {"select s like 'a%', s like '_b_', s like 'A%' , s regexp '^[a-c]', s like binary 'a%' from t",
        "NULL|NULL|NULL|NULL|NULL;0|0|0|0|0;0|0|0|0|0;1|1|1|1|0;1|1|1|1|0;0|0|0|1|0;0|0|0|0|0"},
    {"select 10/4, 10 div 4, 10 % 4, 10.5 % 3, -7 div 2, -7 % 2, 1/3, 2/3.0, 1e0/3",
        "2.5000|2|2|1.5|-3|-1|0.3333|0.6667|0.3333333333333333"},
    {"select 0.1+0.2, 0.1e0+0.2e0, 1.10*1.10, 100*1.1, 1.0/3, 12345678901234567890*2",
        "error 1690: BIGINT UNSIGNED value is out of range in '(12345678901234567890 * 2)'"},
    {"select ifnull(null,1), nullif(1,1), nullif(1,2), coalesce(null,null,3), isnull(null), "
     "isnull(1)",
        "1|NULL|1|3|1|0"},
    {"select json_extract(j,'$.a'), json_unquote(json_extract(j,'$[2].k')), json_length(j), "
     "json_type(j), json_valid(s) from t",
        "1|NULL|1|OBJECT|0;NULL|v|3|ARRAY|0;NULL|NULL|NULL|NULL|0;NULL|NULL|NULL|NULL|NULL;NULL|"
        "NULL|NULL|NULL|0;NULL|NULL|NULL|NULL|0;NULL|NULL|NULL|NULL|0"},
    {"select y, y+1, y=2024, y='2024' from t",
        "2024|2025|1|1;1999|2000|0|0;NULL|NULL|NULL|NULL;NULL|NULL|NULL|NULL;NULL|NULL|NULL|NULL;"
        "NULL|NULL|NULL|NULL;NULL|NULL|NULL|NULL"},
    {"select distinct s from t order by s", "NULL;;123abc;Abc;b;éclair"},
    {"select s, count(*) from t group by s order by s", "NULL|1;|1;123abc|1;Abc|2;b|1;éclair|1"},
    {"select upper(s) as us, count(*) c from t group by us having c > 1", "ABC|2"},
    {"select i from t order by -i", "12;11;10;3;2;1;-7"},
    {"select i from t order by s desc, i", "-7;2;1;12;10;11;3"},
    {"select id x from t order by x desc limit 2", "7;6"},
    {"select id from t order by id limit 2,3", "3;4;5"},
    {"select p.name, t.s from p left join t on t.id = p.t_id order by p.id",
        "one|Abc;two|éclair;three|Abc;four|NULL;five|NULL"},
    {"select p.name, t.s from t right join p on t.id = p.t_id order by p.id",
        "one|Abc;two|éclair;three|Abc;four|NULL;five|NULL"},
    {"select * from pair natural join p",
        "1|x|1|NULL|NULL|1|1|one|5;1|x|1|NULL|NULL|2|2|two|5;1|x|1|NULL|NULL|3|1|three|5;1|x|1|"
        "NULL|NULL|4|NULL|four|5;1|x|1|NULL|NULL|5|99|five|5;1|y|2|3|NULL|1|1|one|5;1|y|2|3|NULL|2|"
        "2|two|5;1|y|2|3|NULL|3|1|three|5;1|y|2|3|NULL|4|NULL|four|5;1|y|2|3|NULL|5|99|five|5;2|x|"
        "3|4|NULL|1|1|one|5;2|x|3|4|NULL|2|2|two|5;2|x|3|4|NULL|3|1|three|5;2|x|3|4|NULL|4|NULL|"
        "four|5;2|x|3|4|NULL|5|99|five|5"},
    {"select a.a, b.v from pair a, pair b where a.a = b.a and a.b <> b.b", "1|1;1|2"},
    {"select (select max(v) from pair), (select name from p where id=1), (select count(*) from t)",
        "3|one|7"},
    {"select * from (select a, sum(v) sv from pair group by a) z where sv > 2", "1|3;2|3"},
    {"select name from p where t_id in (select id from t where i = 1)", "one;three"},
    {"select name from p where t_id not in (select id from t where i = 1)", "two;five"},
    {"select name from p where exists (select * from t where t.id = p.t_id)", "one;two;three"},
    {"select name from p where id > all (select a from pair)", "five;four;three"},
    {"select name from p where id = any (select a from pair)", "one;two"},
    {"select a from pair union select id from p order by 1", "1;2;3;4;5"},
    {"select a, b from pair union all select id, name from p order by 1, 2",
        "1|one;1|x;1|y;2|two;2|x;3|three;4|four;5|five"},
    {"(select a from pair order by v desc limit 1) union (select id from p order by id limit 1)",
        "2;1"},
    {"select s from t union select d from t",
        "NULL;;123abc;Abc;b;éclair;-12.34;-2.35;0.00;4.50;10.00;100.00"},
    {"select i from t union select 'x'", "-7;1;2;3;10;11;12;x"},
    {"select 1 union select 1.5 union select null", "1.0;1.5;NULL"},
    {"select i, sum(d) from t group by i with rollup",
        "-7|-12.34;1|4.50;2|10.00;3|-2.35;10|0.00;11|NULL;12|100.00;NULL|99.81"},
    {"select a, b, sum(v) from pair group by a, b with rollup",
        "1|x|1;1|y|2;1|NULL|3;2|x|3;2|NULL|3;NULL|NULL|6"},
    {"select e from t order by e", "NULL;NULL;NULL;NULL;NULL;medium;large"},
    {"select max(e), min(e), max(dt), min(da), max(ti), max(d), min(r) from t",
        "medium|large|2024-02-29 00:00:00|2000-02-29|10:00:00|100.00|-2.25"},
    {"select count(*) from t where s", "1"},
    {"select count(*) from t where d", "5"},
    {"select sum(i) over (order by id), row_number() over (partition by a order by v) from pair, p "
     "where 0",
        "error 1054: Unknown column 'i' in 'field list'"},
    {"select row_number() over (order by v) n, rank() over (partition by a order by v), sum(v) "
     "over (partition by a), lag(v) over (order by v) from pair order by n",
        "1|1|3|NULL;2|2|3|1;3|1|3|2"},
    {"with c as (select a, v from pair) select c.a, count(*) from c group by c.a", "1|2;2|1"},
    {"with recursive c(n) as (select 1 union all select n+1 from c where n < 5) select sum(n) from "
     "c",
        "15"},
    {"select interval(5,1,3,10), field('b','a','b'), field(2,1,2), elt(2,'a','b'), "
     "find_in_set('b','a,b,c'), make_set(3,'a','b'), strcmp('a','b')",
        "2|2|2|b|2|a,b|-1"},
    {"select conv('ff',16,10), bin(5), oct(8), ascii('a'), char(65,66), ord('a'), "
     "format(1234.567,2), inet_aton('10.0.0.1'), inet_ntoa(167772161)",
        "255|101|10|97|AB|97|1,234.57|167772161|10.0.0.1"},
    {"select from_unixtime(0), unix_timestamp('2024-01-01'), unix_timestamp(), makedate(2024,60), "
     "maketime(1,2,3), sec_to_time(3661), time_to_sec('01:00:00'), "
     "str_to_date('01/02/2024','%d/%m/%Y')",
        "1970-01-01 00:00:00|1704067200|1706695200|2024-02-29|01:02:03|01:01:01|3600|2024-02-01"},
    {"select timestampdiff(day,'2024-01-01','2024-02-01'), timestampadd(hour,1,'2024-01-01'), "
     "extract(year from '2024-05-06'), period_add(202401,2), addtime('10:00:00','01:00'), "
     "timediff('10:00:00','09:00:00')",
        "31|2024-01-01 01:00:00|2024|202403|11:00:00|01:00:00"},
    {"select unknown from t", "error 1054: Unknown column 'unknown' in 'field list'"},
    {"select t.nope from t", "error 1054: Unknown column 't.nope' in 'field list'"},
    {"select nope.id from t", "error 1054: Unknown column 'nope.id' in 'field list'"},
    {"select id from t, p", "error 1052: Column 'id' in field list is ambiguous"},
    {"select 1 from t where nope = 1", "error 1054: Unknown column 'nope' in 'where clause'"},
    {"select 1 from t order by nope", "error 1054: Unknown column 'nope' in 'order clause'"},
    {"select 1 from t group by nope", "error 1054: Unknown column 'nope' in 'group statement'"},
    {"select 1 from t having nope", "error 1054: Unknown column 'nope' in 'having clause'"},
    {"select * from t join p on nope = 1", "error 1054: Unknown column 'nope' in 'on clause'"},
    {"select 1 from nope", "error 1146: Table 'test.nope' doesn't exist"},
    {"select nofunc(1)", "error 1305: FUNCTION test.nofunc does not exist"},
    {"select * from t where count(*) > 1", "error 1111: Invalid use of group function"},
    {"select (1,2) = (1,2), (1,2) < (1,3), (1,2) in ((1,2),(3,4))", "1|1|1"},
    {"select (select 1,2)", "error 1241: Operand should contain 1 column(s)"},
    {"select 1 union select 1,2",
        "error 1222: The used SELECT statements have a different number of columns"},
    {"select t1.id from t t1 join t t1", "error 1066: Not unique table/alias: 't1'"},
    {"select concat()",
        "error 1582: Incorrect parameter count in the call to native function 'concat'"},
    {"select upper(1,2)",
        "error 1582: Incorrect parameter count in the call to native function 'upper'"},
    {"select 5 as a, a from t", "error 1054: Unknown column 'a' in 'field list'"},
    {"select 'a' = 'A', 'a' = 'a ', 'a' < 'B', binary 'a' = 'A', 'é' = 'e', 'ß' = 's'",
        "1|1|1|0|1|1"},
    {"select if(1,'a',2), if(0,1,2.5), ifnull(1,'a'), case when 1 then 1 when 2 then 'a' end",
        "a|2.5|1|1"},
    {"select char_length('é'), length('é'), upper('é'), reverse('aé')", "1|2|É|éa"},
    {"select sum(i), s from t where id in (1,7) group by s", "13|Abc"},
    {"select i, count(*) c from t group by i having c >= 1 order by c desc, i desc",
        "12|1;11|1;10|1;3|1;2|1;1|1;-7|1"},
    {"select count(*) from t group by i having count(*) > 5", ""},
    {"select 1 from t having 1", "1;1;1;1;1;1;1"},
    {"select id, (select count(*) from p where p.t_id = t.id) c from t order by c desc, id",
        "1|2;2|1;3|0;4|0;5|0;6|0;7|0"},
    {"select min(id) from t where i > 100", "NULL"},
    {"select count(s), count(distinct s), count(distinct d) from t", "6|5|6"},
};

static void test_select_gives_what_mariadb_gives(void)
{
    rows_check(rows, sizeof(rows) / sizeof(*rows));
}

const struct test tests_select_gives_what_mariadb_gives[] = {
    TEST(test_select_gives_what_mariadb_gives), TEST_END};
