/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "rows.h"

/* Of the only column: its type on the wire, length, collation, flags (hexadecimal) and decimals, as
 * MariaDB 10.11 sends them. */
static const struct row rows[] = {
    {"select 1", "3 1 63 8081 0"},
    {"select 1+1", "3 3 63 8081 0"},
    {"select i+1 from t", "8 12 63 8080 0"},
    {"select u+1 from t", "8 21 63 80a0 0"},
    {"select b+1 from t", "8 21 63 8080 0"},
    {"select i*i from t", "8 21 63 8080 0"},
    {"select b*2 from t", "8 21 63 8080 0"},
    {"select d+1 from t", "246 13 63 8080 2"},
    {"select d*d from t", "246 22 63 8080 4"},
    {"select d/3 from t", "246 16 63 8080 6"},
    {"select i/3 from t", "246 16 63 8080 4"},
    {"select r/3 from t", "5 23 63 8080 31"},
    {"select i div 2 from t", "8 10 63 8080 0"},
    {"select i%3 from t", "8 11 63 8080 0"},
    {"select 'abc'", "253 12 45 1 31"},
    {"select concat(i,s) from t", "253 244 45 0 31"},
    {"select concat(s,d,r,dt,e) from t", "253 436 45 0 31"},
    {"select a from pair union select id from p order by 1", "3 11 63 8001 0"},
    {"(select a from pair order by v desc limit 1) union (select id from p order by id limit 1)",
        "3 11 63 8001 0"},
    {"select s from t union select d from t", "253 200 45 0 0"},
    {"select i from t union select 'x'", "253 44 45 0 0"},
    {"select 1 union select 1.5 union select null", "246 4 63 8000 1"},
    {"select e from t order by e", "254 24 45 100 0"},
    {"select count(*) from t where s", "8 21 63 8081 0"},
    {"select count(*) from t where d", "8 21 63 8081 0"},
    {"select count(*) from t group by i having count(*) > 5", "8 21 63 8081 0"},
    {"select 1 from t having 1", "3 1 63 8081 0"},
    {"select min(id) from t where i > 100", "3 10 63 80a0 0"},
};

static void test_metadata_is_what_mariadb_sends(void)
{
    rows_meta(rows, sizeof(rows) / sizeof(*rows));
}

const struct test tests_meta[] = {TEST(test_metadata_is_what_mariadb_sends), TEST_END};
