/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "rows.h"

/* How SQLite finds the rows: a plan for each statement, without the numbers of its steps. */
static const struct row rows[] = {
    {"select * from t where s = 'abc'", "SEARCH t1 USING INDEX t__s (s=?)"},
    {"select * from t where 'abc' = s", "SEARCH t1 USING INDEX t__s (s=?)"},
    {"select * from t where id = '5'", "SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?)"},
    {"select * from t where id = '5x'", "SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?)"},
    {"select * from t where i in ('1','2',3)", "SEARCH t1 USING INDEX t__i (i=?)"},
    {"select * from t where d = 10", "SEARCH t1 USING INDEX t__d (d=?)"},
    {"select * from t where d > '10.5'", "SEARCH t1 USING INDEX t__d (d>?)"},
    {"select * from t where d between 1 and 2.5", "SEARCH t1 USING INDEX t__d (d>? AND d<?)"},
    {"select * from t where dt > '2024-01-01'", "SEARCH t1 USING INDEX t__dt (dt>?)"},
    {"select * from t where dt >= 20240101", "SEARCH t1 USING INDEX t__dt (dt>?)"},
    {"select * from t where dt > now() - interval 1 day", "SEARCH t1 USING INDEX t__dt (dt>?)"},
    {"select * from t where date(dt) = '2024-01-01'", "SCAN t1"},
    {"select * from t where da = '2024-01-01 00:00:00'", "SEARCH t1 USING INDEX t__da (da=?)"},
    {"select * from t where ts > '2024-01-01'", "SEARCH t1 USING INDEX t__ts (ts>?)"},
    {"select * from t where s like 'abc%'", "SEARCH t1 USING INDEX t__s (s>? AND s<?)"},
    {"select * from t where s in ('a','b')", "SEARCH t1 USING INDEX t__s (s=?)"},
    {"select * from t where s collate utf8mb4_bin = 'a'", "SCAN t1"},
    {"select * from t where i = 1.5", "SEARCH t1 USING INDEX t__i (i=?)"},
    {"select * from t where i > 1.5e0", "SEARCH t1 USING INDEX t__i (i>?)"},
    {"select * from t where id = 1 or i = 2",
        "MULTI-INDEX OR;INDEX 1;SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?);INDEX 2;SEARCH t1 "
        "USING INDEX t__i (i=?)"},
    {"select * from t join p on p.t_id = t.id where t.s = 'x'",
        "SEARCH t1 USING INDEX t__s (s=?);SEARCH t2 USING INDEX p__t_id (t_id=?)"},
    {"select * from t left join p on p.t_id = t.id and p.name = 'x' where t.i = 4",
        "SEARCH t1 USING INDEX t__i (i=?);SEARCH t2 USING INDEX p__name (name=?) LEFT-JOIN"},
    {"select * from t, p where p.t_id = t.id",
        "SCAN t2;SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?)"},
    {"select * from p where name = (select s from t where id = 4)",
        "SEARCH t1 USING INDEX p__name (name=?);SCALAR SUBQUERY 1;SEARCH t2 USING INTEGER PRIMARY "
        "KEY (rowid=?)"},
    {"select * from p where t_id in (select id from t where i = 3)",
        "SEARCH t1 USING INDEX p__t_id (t_id=?);LIST SUBQUERY 1;SEARCH t3 USING COVERING INDEX "
        "t__i (i=?)"},
    {"select * from t where exists (select 1 from p where p.t_id = t.id)",
        "SCAN t1;CORRELATED SCALAR SUBQUERY 1;SEARCH t2 USING COVERING INDEX p__t_id (t_id=?)"},
    {"select * from t order by i limit 10", "SCAN t1 USING INDEX t__i"},
    {"select * from t order by s desc limit 10", "SCAN t1 USING INDEX t__s"},
    {"select i, count(*) from t group by i", "SCAN t1 USING COVERING INDEX t__i"},
    {"select * from pair where a = 1 and b = 'x'",
        "SEARCH t1 USING INDEX pair__PRIMARY (a=? AND b=?)"},
    {"select * from pair where (a,b) = (1,'x')",
        "SEARCH t1 USING INDEX pair__PRIMARY (a=? AND b=?)"},
    {"select * from pair where (a,b) in ((1,'x'),(2,'y'))",
        "MULTI-INDEX OR;INDEX 1;SEARCH t1 USING INDEX pair__PRIMARY (a=? AND b=?);INDEX 2;SEARCH "
        "t1 USING INDEX pair__PRIMARY (a=? AND b=?)"},
    {"select * from wp_postmeta where meta_key = '_x'",
        "SEARCH t1 USING INDEX wp_postmeta__meta_key (<expr>=?)"},
    {"select * from wp_postmeta where meta_key in ('_x','_y')",
        "SEARCH t1 USING INDEX wp_postmeta__meta_key (<expr>=?)"},
    {"select * from wp_posts where post_name = 'hello' and post_type = 'page'",
        "SEARCH t1 USING INDEX wp_posts__post_name (<expr>=?)"},
    {"select wp_posts.ID from wp_posts left join wp_term_relationships on (wp_posts.ID = "
     "wp_term_relationships.object_id) where 1=1 and (wp_term_relationships.term_taxonomy_id in "
     "(5)) and wp_posts.post_type = 'post' and ((wp_posts.post_status = 'publish')) group by "
     "wp_posts.ID order by wp_posts.post_date desc limit 0, 10",
        "SEARCH t1 USING COVERING INDEX wp_posts__type_status_date (post_type=? AND "
        "post_status=?);SEARCH t2 USING COVERING INDEX wp_term_relationships__PRIMARY (object_id=? "
        "AND term_taxonomy_id=?);USE TEMP B-TREE FOR GROUP BY;USE TEMP B-TREE FOR ORDER BY"},
    {"select option_value from wp_options where option_name = 'siteurl' limit 1",
        "SEARCH t1 USING INDEX wp_options__option_name (option_name=?)"},
    {"update t set i = 1 where id = '4'", "SEARCH t1 USING INTEGER PRIMARY KEY (rowid=?)"},
    {"update wp_options set option_value = 'x' where option_name = 'y'",
        "SEARCH t1 USING INDEX wp_options__option_name (option_name=?)"},
    {"delete from t where i = 4", "SEARCH t1 USING INDEX t__i (i=?)"},
    {"select * from (select id, s from t) x where x.s = 'a'",
        "SEARCH t2 USING COVERING INDEX t__s (s=?)"},
    {"select * from t where s = 5", "SCAN t1"},
    {"select * from t where u = 5", "SEARCH t1 USING INDEX t__u (u=?)"},
    {"select * from t where i = true", "SEARCH t1 USING INDEX t__i (i=?)"},
    {"select * from t where dt = null", "SEARCH t1 USING INDEX t__dt (dt=?)"},
    {"select max(i), min(s) from t", "SCAN t1"},
    {"select * from t where i is null", "SEARCH t1 USING INDEX t__i (i=?)"},
    {"select * from t where i <=> 5", "SEARCH t1 USING INDEX t__i (i=?)"},
    {"select * from t where not (i = 5)", "SCAN t1"},
    {"select a.ID from wp_posts a join wp_posts b on a.post_parent = b.ID where b.post_author = "
     "'1'",
        "SEARCH t2 USING COVERING INDEX wp_posts__post_author (post_author=?);SEARCH t1 USING "
        "COVERING INDEX wp_posts__post_parent (post_parent=?)"},
};

static void test_statements_use_the_indexes(void)
{
    rows_explain(rows, sizeof(rows) / sizeof(*rows));
}

const struct test tests_index[] = {TEST(test_statements_use_the_indexes), TEST_END};
