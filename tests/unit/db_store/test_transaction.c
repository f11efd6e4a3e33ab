/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_store/fixture.h"

struct pair {
    struct fixture f;
    struct client a, b;
};

static void pair_open(struct pair *p)
{
    fixture_init(&p->f);
    fixture_start(&p->f);
    client_open(&p->a, &p->f, 0);
    client_open(&p->b, &p->f, 0);
    client_run(&p->a, "CREATE TABLE t (id INT PRIMARY KEY, v INT)");
    client_run(&p->a, "INSERT INTO t VALUES (1, 10)");
}

static void pair_close(struct pair *p)
{
    client_close(&p->a);
    client_close(&p->b);
    fixture_fini(&p->f);
}

static void test_transaction_commits_and_rolls_back(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE t (a INT)", "ok 0"},
        {"BEGIN", "ok 0"},
        {"INSERT INTO t VALUES (1)", "ok 1"},
        {"ROLLBACK", "ok 0"},
        {"SELECT COUNT(*) FROM t", "COUNT(*)\n0"},
        {"START TRANSACTION", "ok 0"},
        {"INSERT INTO t VALUES (1)", "ok 1"},
        {"SAVEPOINT s1", "ok 0"},
        {"INSERT INTO t VALUES (2)", "ok 1"},
        {"SAVEPOINT s2", "ok 0"},
        {"INSERT INTO t VALUES (3)", "ok 1"},
        {"ROLLBACK TO SAVEPOINT S1", "ok 0"},
        {"RELEASE SAVEPOINT s2", "1305 42000 SAVEPOINT s2 does not exist"},
        {"RELEASE SAVEPOINT s1", "ok 0"},
        {"COMMIT", "ok 0"},
        {"SELECT a FROM t", "a\n1"},
        {"SET autocommit = 0", "ok 0"},
        {"INSERT INTO t VALUES (5)", "ok 1"},
        {"ROLLBACK", "ok 0"},
        {"INSERT INTO t VALUES (6)", "ok 1"},
        {"SET autocommit = 1", "ok 0"},
        {"ROLLBACK", "ok 0"},
        {"SELECT a FROM t ORDER BY a", "a\n1\n6"},
        {"START TRANSACTION READ ONLY", "ok 0"},
        {"INSERT INTO t VALUES (7)",
            "1792 25006 Cannot execute statement in a READ ONLY transaction."},
        {"COMMIT", "ok 0"},
        {"BEGIN", "ok 0"},
        {"INSERT INTO t VALUES (8)", "ok 1"},
        {"CREATE TABLE u (a INT)", "ok 0"},
        {"ROLLBACK", "ok 0"},
        {"SELECT COUNT(*) FROM t WHERE a = 8", "COUNT(*)\n1"},
        {"BEGIN", "ok 0"},
        {"INSERT INTO t VALUES (9)", "ok 1"},
        {"BEGIN", "ok 0"},
        {"ROLLBACK", "ok 0"},
        {"SELECT COUNT(*) FROM t WHERE a = 9", "COUNT(*)\n1"},
        {"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "ok 0"},
        {"BEGIN", "ok 0"},
        {"SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
            "1568 25001 Transaction characteristics can't be changed while a transaction is in "
            "progress"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_transaction_of_a_failed_statement_goes_on(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE t (a INT PRIMARY KEY)", "ok 0"},
        {"BEGIN", "ok 0"},
        {"INSERT INTO t VALUES (1)", "ok 1"},
        {"INSERT INTO t VALUES (2), (1)", "1062 23000 Duplicate entry '1' for key 't.PRIMARY'"},
        {"INSERT INTO t VALUES (3)", "ok 1"},
        {"COMMIT", "ok 0"},
        {"SELECT a FROM t ORDER BY a", "a\n1\n3"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_transaction_reads_its_snapshot(void)
{
    struct pair p;

    pair_open(&p);
    client_run(&p.a, "BEGIN");
    CHECK_INT(client_number(&p.a, "SELECT v FROM t"), 10);
    CHECK_STR(str_c(client_run(&p.b, "UPDATE t SET v = 11")),
        "ok 1 (Rows matched: 1  Changed: 1  Warnings: 0)");
    CHECK_INT(client_number(&p.a, "SELECT v FROM t"), 10);
    client_run(&p.a, "COMMIT");
    CHECK_INT(client_number(&p.a, "SELECT v FROM t"), 11);
    client_run(&p.a, "START TRANSACTION WITH CONSISTENT SNAPSHOT");
    client_run(&p.b, "UPDATE t SET v = 12");
    CHECK_INT(client_number(&p.a, "SELECT v FROM t"), 11);
    client_run(&p.a, "COMMIT");
    pair_close(&p);
}

static void test_transaction_that_read_first_writes_on_the_newest_state(void)
{
    struct pair p;

    pair_open(&p);
    client_run(&p.a, "BEGIN");
    client_run(&p.a, "SAVEPOINT before_it");
    CHECK_INT(client_number(&p.a, "SELECT v FROM t"), 10);
    client_run(&p.b, "UPDATE t SET v = v + 1");
    CHECK_STR(str_c(client_run(&p.a, "UPDATE t SET v = v + 1")),
        "ok 1 (Rows matched: 1  Changed: 1  Warnings: 0)");
    CHECK_INT(client_number(&p.a, "SELECT v FROM t"), 12);
    CHECK_STR(str_c(client_run(&p.a, "ROLLBACK TO before_it")), "ok 0");
    CHECK_INT(client_number(&p.a, "SELECT v FROM t"), 11);
    client_run(&p.a, "COMMIT");
    pair_close(&p);
}

static void test_transaction_waits_no_longer_than_told(void)
{
    struct pair p;

    pair_open(&p);
    client_run(&p.a, "BEGIN");
    client_run(&p.a, "UPDATE t SET v = 1");
    CHECK_STR(str_c(client_run(&p.b, "UPDATE t SET v = 2")),
        "1205 HY000 Lock wait timeout exceeded; try restarting transaction");
    CHECK_INT(client_number(&p.b, "SELECT v FROM t"), 10);
    client_run(&p.b, "BEGIN");
    CHECK_STR(str_c(client_run(&p.b, "SELECT * FROM t FOR UPDATE NOWAIT")),
        "3572 HY000 Statement aborted because lock(s) could not be acquired immediately and "
        "NOWAIT is set.");
    client_run(&p.a, "COMMIT");
    CHECK_STR(str_c(client_run(&p.b, "SELECT v FROM t FOR UPDATE NOWAIT")), "v\n1");
    CHECK_STR(str_c(client_run(&p.a, "INSERT INTO t VALUES (2, 2)")),
        "1205 HY000 Lock wait timeout exceeded; try restarting transaction");
    client_run(&p.b, "COMMIT");
    CHECK_STR(str_c(client_run(&p.a, "INSERT INTO t VALUES (2, 2)")), "ok 1");
    pair_close(&p);
}

static void test_transaction_sees_tables_of_its_snapshot(void)
{
    struct pair p;

    pair_open(&p);
    client_run(&p.a, "BEGIN");
    CHECK_INT(client_number(&p.a, "SELECT v FROM t"), 10);
    CHECK_STR(str_c(client_run(&p.b, "ALTER TABLE t ADD COLUMN w INT DEFAULT 5")),
        "ok 0 (Records: 0  Duplicates: 0  Warnings: 0)");
    CHECK_STR(str_c(client_run(&p.a, "SELECT * FROM t")), "id|v\n1|10");
    CHECK_STR(str_c(client_run(&p.b, "SELECT * FROM t")), "id|v|w\n1|10|5");
    client_run(&p.a, "COMMIT");
    CHECK_STR(str_c(client_run(&p.a, "SELECT * FROM t")), "id|v|w\n1|10|5");
    pair_close(&p);
}

static void test_transaction_of_temporary_tables(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE t (a INT)", "ok 0"},
        {"INSERT INTO t VALUES (1)", "ok 1"},
        {"CREATE TEMPORARY TABLE t (b INT)", "ok 0"},
        {"SELECT * FROM t", "b"},
        {"INSERT INTO t VALUES (5)", "ok 1"},
        {"SELECT * FROM t", "b\n5"},
        {"DROP TEMPORARY TABLE t", "ok 0"},
        {"SELECT * FROM t", "a\n1"},
        {"CREATE TEMPORARY TABLE x AS SELECT a, a + 1 AS n FROM t",
            "ok 1 (Records: 1  Duplicates: 0  Warnings: 0)"},
        {"SELECT * FROM x", "a|n\n1|2"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_transaction_lock_tables(void)
{
    struct pair p;

    pair_open(&p);
    CHECK_STR(str_c(client_run(&p.a, "LOCK TABLES t WRITE")), "ok 0");
    CHECK_STR(str_c(client_run(&p.a, "INSERT INTO t VALUES (2, 2)")), "ok 1");
    CHECK_STR(str_c(client_run(&p.b, "INSERT INTO t VALUES (3, 3)")),
        "1205 HY000 Lock wait timeout exceeded; try restarting transaction");
    CHECK_STR(str_c(client_run(&p.a, "UNLOCK TABLES")), "ok 0");
    CHECK_STR(str_c(client_run(&p.b, "INSERT INTO t VALUES (3, 3)")), "ok 1");
    CHECK_STR(str_c(client_run(&p.a, "LOCK TABLES nope WRITE")),
        "1146 42S02 Table 'app.nope' doesn't exist");
    pair_close(&p);
}

const struct test tests_transaction[] = {
    TEST(test_transaction_commits_and_rolls_back),
    TEST(test_transaction_of_a_failed_statement_goes_on),
    TEST(test_transaction_reads_its_snapshot),
    TEST(test_transaction_that_read_first_writes_on_the_newest_state),
    TEST(test_transaction_waits_no_longer_than_told),
    TEST(test_transaction_sees_tables_of_its_snapshot),
    TEST(test_transaction_of_temporary_tables),
    TEST(test_transaction_lock_tables),
    TEST_END,
};
