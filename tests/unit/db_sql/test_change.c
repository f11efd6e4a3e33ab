/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_sql/dump.h"
#include "unit/test.h"

static void test_changes_become_trees(void)
{
    static const struct dump_row rows[] = {
        {"insert into t values (1, 'a', null), (2, 'b', default)",
            "(insert t (row 1 'a' null) (row 2 'b' (default)))"},
        {"insert into t (a, b) values (1, 2)", "(insert t (a b) (row 1 2))"},
        {"insert t (t.a, db.t.b) value (1, 2)", "(insert t (a b) (row 1 2))"},
        {"insert into t () values ()", "(insert t () (row))"},
        {"insert into t values (), ()", "(insert t (row) (row))"},
        {"insert into t set a = 1, b = default, c = a + 1",
            "(insert t (a b c) (row 1 (default) (+ a 1)))"},
        {"insert into db.t set a := 1", "(insert db.t (a) (row 1))"},
        {"insert ignore into t values (1)", "(insert ignore t (row 1))"},
        {"insert low_priority ignore t values (1)", "(insert ignore t (row 1))"},
        {"insert delayed into t values (1)", "(insert t (row 1))"},
        {"insert into t select * from u", "(insert t (select * from u))"},
        {"insert into t (a) select b from u where c", "(insert t (a) (select b from u where c))"},
        {"insert into t (select 1)", "(insert t (select 1))"},
        {"insert into t (a, b) (select 1, 2)", "(insert t (a b) (select 1 2))"},
        {"insert into t with x as (select 1) select * from x",
            "(insert t with x=(select 1) (select * from x))"},
        {"insert into t table u", "(insert t (table u))"},
        {"insert into t values row(1), row(2)", "(insert t (values (row 1) (row 2)))"},
        {"insert into t partition (p) (a) values (1)", "(insert t (a) (row 1))"},
        {"insert into t values (1) on duplicate key update a = values(a), b = b + 1",
            "(insert t (row 1) (on-duplicate a=(values a) b=(+ b 1)))"},
        {"insert into t (a) values (1), (2) as new on duplicate key update a = new.a",
            "(insert t (a) (row 1) (row 2) as new (on-duplicate a=new.a))"},
        {"insert into t values (1, 2) as new(m, n) on duplicate key update a = m + n",
            "(insert t (row 1 2) as new(m n) (on-duplicate a=(+ m n)))"},
        {"insert into t set a = 1 as new on duplicate key update a = new.a",
            "(insert t (a) (row 1) as new (on-duplicate a=new.a))"},
        {"insert into t select a from u on duplicate key update b = 1",
            "(insert t (select a from u) (on-duplicate b=1))"},
        {"insert into t select a from u join v on duplicate key update b = 1",
            "(insert t (select a from (join u v)) (on-duplicate b=1))"},
        {"insert into t select a from u join v on u.a = v.a on duplicate key update b = "
         "last_insert_id(id)",
            "(insert t (select a from (join u v (= u.a v.a))) (on-duplicate b=(last_insert_id "
            "id)))"},
        {"insert into t (a) values (?), (now()), ((select 1)), (1 + 2)",
            "(insert t (a) (row ?0) (row (now)) (row (query (select 1))) (row (+ 1 2)))"},
        {"insert into `t-x` (`a b`) values ('it''s')", "(insert t-x (a b) (row 'it\\27s'))"},
        {"replace into t values (1)", "(replace t (row 1))"},
        {"replace t set a = 1", "(replace t (a) (row 1))"},
        {"replace delayed into t (a) select 1", "(replace t (a) (select 1))"},
        {"replace into t (a) values (1), (2)", "(replace t (a) (row 1) (row 2))"},
        {"update t set a = 1", "(update t (set a=1))"},
        {"update t set a = 1, t.b = default, c = c + 1 where d = 2 order by e desc limit 3",
            "(update t (set a=1 t.b=(default) c=(+ c 1)) where (= d 2) (order e desc) limit 3)"},
        {"update low_priority ignore t x set x.a = 1", "(update ignore t:x (set x.a=1))"},
        {"update t, u set t.a = u.b where t.c = u.c",
            "(update (, t u) (set t.a=u.b) where (= t.c u.c))"},
        {"update t join u on t.a = u.a set t.b = 1", "(update (join t u (= t.a u.a)) (set t.b=1))"},
        {"update t left join (select 1 b) u using (b) set t.a = u.b",
            "(update (left t (select 1:b):u (b)) (set t.a=u.b))"},
        {"update t set a = (select max(b) from u), b = case when c then d else e end",
            "(update t (set a=(query (select (max b) from u)) b=(case e c d)))"},
        {"update t set j = json_set(j, '$.a', 1)", "(update t (set j=(json_set j '$.a' 1)))"},
        {"delete from t", "(delete from t)"},
        {"delete from t where a = 1 order by b limit 2",
            "(delete from t where (= a 1) (order b) limit 2)"},
        {"delete low_priority quick ignore from t", "(delete ignore from t)"},
        {"delete from t as x where x.a", "(delete from t:x where x.a)"},
        {"delete from t x where x.a", "(delete from t:x where x.a)"},
        {"delete t from t join u on t.a = u.a", "(delete t from (join t u (= t.a u.a)))"},
        {"delete a, b from t a, u b where a.x = b.x",
            "(delete a b from (, t:a u:b) where (= a.x b.x))"},
        {"delete t.*, db.u.* from t, db.u", "(delete t db.u from (, t db.u))"},
        {"delete from t using t join u using (a) where u.b",
            "(delete t from (join t u (a)) where u.b)"},
        {"delete from a, b using t a join u b", "(delete a b from (join t:a u:b))"},
        {"delete from t.* using t", "(delete t from t)"},
        {"delete t1 from t as t1 inner join t t2 where t1.id > t2.id",
            "(delete t1 from (join t:t1 t:t2) where (> t1.id t2.id))"},
        {"DELETE a, b FROM wp_options a, wp_options b WHERE a.option_name LIKE '\\_transient\\_%' "
         "AND a.option_name NOT LIKE '\\_transient\\_timeout\\_%' AND b.option_name = CONCAT( "
         "'_transient_timeout_', SUBSTRING( a.option_name, 12 ) ) AND b.option_value < 5",
            "(delete a b from (, wp_options:a wp_options:b) where (and (and (like a.option_name "
            "'\\5c_transient\\5c_%') (not-like a.option_name '\\5c_transient\\5c_timeout\\5c_%')) "
            "(and (= b.option_name (CONCAT '_transient_timeout_' (SUBSTRING a.option_name 12))) (< "
            "b.option_value 5))))"},
    };

    dump_check(rows, ARRAY_LEN(rows), 0);
}

static void test_bad_changes_are_refused(void)
{
    static const struct dump_row rows[] = {
        {"insert into t (a, b,) values (1)", "! 1064 near ') values (1)' at line 1"},
        {"insert into t values", "! 1064 near '' at line 1"},
        {"insert into t values (1,,2)", "! 1064 near '2)' at line 1"},
        {"insert into t values (1", "! 1064 near '' at line 1"},
        {"insert into", "! 1064 near '' at line 1"},
        {"insert into t (a) returning", "! 1064 near 'returning' at line 1"},
        {"insert into t values (1) returning a", "(refused RETURNING)"},
        {"delete from t returning *", "(refused RETURNING)"},
        {"replace into t values (1) returning 1", "(refused RETURNING)"},
        {"replace ignore into t values (1)", "! 1064 near 'ignore into t values (1)' at line 1"},
        {"replace into t values (1) on duplicate key update a = 1",
            "! 1064 near 'on duplicate key update a = 1' at line 1"},
        {"update t a = 1", "! 1064 near '= 1' at line 1"},
        {"update t set", "! 1064 near '' at line 1"},
        {"update t set a", "! 1064 near '' at line 1"},
        {"update t set a = 1 limit 1, 2", "! 1064 near ' 2' at line 1"},
        {"update set a = 1", "! 1064 near 'set a = 1' at line 1"},
        {"delete t", "! 1064 near '' at line 1"},
        {"delete from t, u", "! 1064 near '' at line 1"},
        {"delete from t where", "! 1064 near '' at line 1"},
        {"delete a from t order by a", "! 1064 near 'order by a' at line 1"},
        {"insert into t (1) values (1)", "! 1064 near '1) values (1)' at line 1"},
        {"insert into t values (1) on duplicate key update", "! 1064 near '' at line 1"},
        {"insert into t select", "! 1064 near '' at line 1"},
        {"insert into t set a", "! 1064 near '' at line 1"},
    };

    dump_check(rows, ARRAY_LEN(rows), 0);
}

extern const struct test tests_change[];
const struct test tests_change[] = {
    TEST(test_changes_become_trees), TEST(test_bad_changes_are_refused), TEST_END};
