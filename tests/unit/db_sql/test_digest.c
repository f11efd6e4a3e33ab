/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/sql/digest.h"
#include "unit/db_sql/dump.h"
#include "unit/test.h"

static void test_digests_hold_no_values(void)
{
    static const struct dump_row rows[] = {
        {"SELECT * FROM wp_options WHERE option_name = 'x' LIMIT 1",
            "SELECT * FROM wp_options WHERE option_name = ? LIMIT ?"},
        {" select  *  from `wp_options`\n where option_name=\"y\"  limit 22; -- c",
            "SELECT * FROM wp_options WHERE option_name = ? LIMIT ?;"},
        {"select a from t where a in (1,2,3) and b in (1) and c in (-1, +2, 'x')",
            "SELECT a FROM t WHERE a IN (...) AND b IN (?) AND c IN (...)"},
        {"insert into t (a,b) values (1,'x'),(2,'y'),(3, now())",
            "INSERT INTO t (a, b) VALUES (...)"},
        {"insert into t values (1, now(), null), (2, now(), null)",
            "INSERT INTO t VALUES (?, NOW(), ?)"},
        {"select a - 1, -1, a+-1, count(*) from t", "SELECT a - ..., a + ?, COUNT(*) FROM t"},
        {"select * from t where a is null and b = null and c is not null",
            "SELECT * FROM t WHERE a IS NULL AND b = ? AND c IS NOT NULL"},
        {"select _utf8mb4'x', N'y', x'41', 0x42, b'1', 1.5, 1e5, ?", "SELECT ..."},
        {"select `a b`.`c`, @x, @@session.sql_mode, f(1)",
            "SELECT `a b`.c, @x, @@session.sql_mode, f(?)"},
        {"begin", "BEGIN"},
        {"select 'abc", "SELECT ?"},
        {"select 1 /* x", "SELECT ?"},
        {"select * from t where (a,b) in ((1,2),(3,4))", "SELECT * FROM t WHERE (a, b) IN ((...))"},
        {"insert into t values row(1,2), row(3,4)", "INSERT INTO t VALUES ROW(...)"},
        {"", ""},
        {"\xff\xfe", "?"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf b = {0};

        test_row(rows[i].sql);
        (void)sql_digest(&b, str_c(rows[i].sql), 0, 1000);
        CHECK_STR(buf_str(&b), rows[i].want);
        buf_fini(&b);
    }
    test_row(NULL);
}

static void test_digest_hash_is_of_all_when_the_text_is_cut(void)
{
    struct buf a = {0}, b = {0};
    uint64_t whole = sql_digest(&a, STR("select \xC3\xA9t\xC3\xA9, 1 from t"), 0, 1000);

    CHECK(sql_digest(&b, STR("select `\xC3\xA9t\xC3\xA9`, 2 from t"), 0, 8) == whole);
    CHECK_STR(buf_str(&b), "SELECT ");
    CHECK(sql_digest(&b, STR("select `\xC3\xA9t\xC3\xA9`, 2 from u"), 0, 8) != whole);
    buf_fini(&a);
    buf_fini(&b);
}

extern const struct test tests_digest[];
const struct test tests_digest[] = {TEST(test_digests_hold_no_values),
    TEST(test_digest_hash_is_of_all_when_the_text_is_cut), TEST_END};
