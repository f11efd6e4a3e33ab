/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_store/fixture.h"

static void test_change_counts_rows(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(20))", "ok 0"},
        {"INSERT INTO t (a, b) VALUES (1, 'x')", "ok 1 id 1"},
        {"INSERT INTO t (a, b) VALUES (2, 'y'), (3, 'z')",
            "ok 2 id 2 (Records: 2  Duplicates: 0  Warnings: 0)"},
        {"SELECT LAST_INSERT_ID(), ROW_COUNT()", "LAST_INSERT_ID()|ROW_COUNT()\n2|2"},
        {"SELECT ROW_COUNT()", "ROW_COUNT()\n-1"},
        {"UPDATE t SET a = 1", "ok 2 (Rows matched: 3  Changed: 2  Warnings: 0)"},
        {"UPDATE t SET a = 1", "ok 0 (Rows matched: 3  Changed: 0  Warnings: 0)"},
        {"DELETE FROM t WHERE id = 2", "ok 1"},
        {"INSERT INTO t VALUES (10, 7, 'w')", "ok 1 id 10"},
        {"INSERT INTO t (a) VALUES (8)", "ok 1 id 11"},
        {"SELECT id, a, b FROM t ORDER BY id", "id|a|b\n1|1|x\n3|1|z\n10|7|w\n11|8|NULL"},
        {"INSERT INTO t (a, b) SELECT a, b FROM t WHERE id < 4",
            "ok 2 id 12 (Records: 2  Duplicates: 0  Warnings: 0)"},
        {"DELETE FROM t", "ok 6"},
        {"TRUNCATE t", "ok 0"},
        {"INSERT INTO t (a) VALUES (1)", "ok 1 id 1"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_change_counts_upserts(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE t (id INT PRIMARY KEY, a INT)", "ok 0"},
        {"INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE a = 5", "ok 1"},
        {"INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE a = 5", "ok 2"},
        {"INSERT INTO t VALUES (1, 1) ON DUPLICATE KEY UPDATE a = 5", "ok 0"},
        {"REPLACE INTO t VALUES (1, 9)", "ok 2"},
        {"REPLACE INTO t VALUES (2, 9)", "ok 1"},
        {"INSERT IGNORE INTO t VALUES (2, 1), (3, 1)",
            "ok 1 w1 (Records: 2  Duplicates: 1  Warnings: 1)"},
        {"SELECT * FROM t ORDER BY id", "id|a\n1|9\n2|9\n3|1"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_change_counts_found_rows_when_asked(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE t (id INT PRIMARY KEY, a INT)", "ok 0"},
        {"INSERT INTO t VALUES (1, 1), (2, 2)", "ok 2 (Records: 2  Duplicates: 0  Warnings: 0)"},
        {"UPDATE t SET a = 1", "ok 2 (Rows matched: 2  Changed: 1  Warnings: 0)"},
        {"UPDATE t SET a = 1", "ok 2 (Rows matched: 2  Changed: 0  Warnings: 0)"},
        {NULL, NULL},
    };
    struct fixture f;
    struct client c;

    fixture_init(&f);
    fixture_start(&f);
    client_open(&c, &f, DB_CLIENT_FOUND_ROWS);
    CHECK_STEPS(&c, steps);
    client_close(&c);
    fixture_fini(&f);
}

static void test_change_names_the_duplicate(void)
{
    struct fixture f;
    struct client c;

    fixture_init(&f);
    fixture_start(&f);
    client_open(&c, &f, 0);
    client_run(&c, "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20), b INT, "
                   "UNIQUE uniq (a, b), UNIQUE KEY b (b))");
    CHECK_STR(str_c(client_run(&c, "INSERT INTO t VALUES (1, 'a', 5)")), "ok 1");
    CHECK_STR(str_c(client_run(&c, "INSERT INTO t VALUES (1, 'b', 6)")),
        "1062 23000 Duplicate entry '1' for key 't.PRIMARY'");
    CHECK_STR(str_c(client_run(&c, "INSERT INTO t VALUES (2, 'q', 5)")),
        "1062 23000 Duplicate entry '5' for key 't.b'");
    client_run(&c, "ALTER TABLE t DROP INDEX b");
    CHECK_STR(str_c(client_run(&c, "INSERT INTO t VALUES (3, 'z', 9), (4, 'A', 5)")),
        "1062 23000 Duplicate entry 'A-5' for key 't.uniq'");
    client_run(&c, "INSERT INTO t VALUES (8, 'h', 8)");
    CHECK_STR(str_c(client_run(&c, "UPDATE t SET a = 'a', b = 5 WHERE id = 8")),
        "1062 23000 Duplicate entry 'a-5' for key 't.uniq'");
    CHECK_INT(client_number(&c, "SELECT COUNT(*) FROM t"), 2);
    CHECK_STR(str_c(client_run(&c, "INSERT INTO t VALUES (9, 'i', 9)")), "ok 1");
    client_close(&c);
    fixture_fini(&f);
}

static void test_change_names_the_foreign_key(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE p (id INT PRIMARY KEY)", "ok 0"},
        {"CREATE TABLE q (id INT PRIMARY KEY)", "ok 0"},
        {"CREATE TABLE c (id INT PRIMARY KEY, p INT, q INT, CONSTRAINT fk_p FOREIGN KEY (p) "
         "REFERENCES p (id), CONSTRAINT fk_q FOREIGN KEY (q) REFERENCES q (id) ON DELETE CASCADE)",
            "ok 0"},
        {"INSERT INTO p VALUES (1)", "ok 1"},
        {"INSERT INTO q VALUES (1)", "ok 1"},
        {"INSERT INTO c VALUES (1, 1, 1)", "ok 1"},
        {"INSERT INTO c VALUES (2, 1, 7)",
            "1452 23000 Cannot add or update a child row: a foreign key constraint fails "
            "(`app`.`c`, CONSTRAINT `fk_q` FOREIGN KEY (`q`) REFERENCES `q` (`id`) ON DELETE "
            "CASCADE)"},
        {"DELETE FROM p",
            "1451 23000 Cannot delete or update a parent row: a foreign key constraint fails "
            "(`app`.`c`, CONSTRAINT `fk_p` FOREIGN KEY (`p`) REFERENCES `p` (`id`))"},
        {"DELETE FROM q", "ok 1"},
        {"SELECT COUNT(*) FROM c", "COUNT(*)\n0"},
        {"SET foreign_key_checks = 0", "ok 0"},
        {"INSERT INTO c VALUES (3, 9, 9)", "ok 1"},
        {"SET foreign_key_checks = 1", "ok 0"},
        {"TRUNCATE p", "1701 42000 Cannot truncate a table referenced in a foreign key constraint "
                       "(`app`.`c`, CONSTRAINT `fk_p` FOREIGN KEY (`p`) REFERENCES `p` (`id`))"},
        {"DROP TABLE p",
            "3730 HY000 Cannot drop table 'p' referenced by a foreign key constraint 'fk_p' on "
            "table 'c'."},
        {"DROP TABLE c, p, q", "ok 0"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_change_violates(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE t (a INT NOT NULL, b TINYINT, c VARCHAR(3), CONSTRAINT positive CHECK (b > "
         "0))",
            "ok 0"},
        {"INSERT INTO t VALUES (NULL, 1, '')", "1048 23000 Column 'a' cannot be null"},
        {"INSERT INTO t VALUES (1, 300, '')",
            "1264 22003 Out of range value for column 'b' at row 1"},
        {"INSERT INTO t VALUES (1, 1, 'long')", "1406 22001 Data too long for column 'c' at row 1"},
        {"INSERT INTO t VALUES (1, -1, '')", "3819 HY000 Check constraint 'positive' is violated."},
        {"INSERT INTO t (b) VALUES (1)", "1364 HY000 Field 'a' doesn't have a default value"},
        {"INSERT INTO nope VALUES (1)", "1146 42S02 Table 'app.nope' doesn't exist"},
        {"INSERT INTO t VALUES (1)", "1136 21S01 Column count doesn't match value count at row 1"},
        {"INSERT INTO t VALUES (1, 1, 'a'), (2, 2, 'toolong')",
            "1406 22001 Data too long for column 'c' at row 2"},
        {"SELECT COUNT(*) FROM t", "COUNT(*)\n0"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_change_finds_rows(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE t (a INT)", "ok 0"},
        {"INSERT INTO t VALUES (1), (2), (3), (4)",
            "ok 4 (Records: 4  Duplicates: 0  Warnings: 0)"},
        {"SELECT SQL_CALC_FOUND_ROWS a FROM t ORDER BY a LIMIT 2", NULL},
        {"SELECT FOUND_ROWS()", "FOUND_ROWS()\n4"},
        {"SELECT a FROM t LIMIT 3", NULL},
        {"SELECT FOUND_ROWS()", "FOUND_ROWS()\n3"},
        {"SELECT a INTO @a FROM t WHERE a = 2", "ok 1"},
        {"SELECT @a", "@a\n2"},
        {"SELECT a INTO @a FROM t", "1172 42000 Result consisted of more than one row"},
        {"SELECT a INTO @a FROM t WHERE a = 99", "ok 0 w1"},
        {"INSERT INTO t VALUES (LAST_INSERT_ID(77))", "ok 1 id 77"},
        {"SELECT LAST_INSERT_ID()", "LAST_INSERT_ID()\n77"},
        {"DO 1, SLEEP(0)", "ok 0"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

const struct test tests_change[] = {
    TEST(test_change_counts_rows),
    TEST(test_change_counts_upserts),
    TEST(test_change_counts_found_rows_when_asked),
    TEST(test_change_names_the_duplicate),
    TEST(test_change_names_the_foreign_key),
    TEST(test_change_violates),
    TEST(test_change_finds_rows),
    TEST_END,
};
