/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_store/fixture.h"

static void test_definition_of_tables(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE t (a INT)", "ok 0"},
        {"CREATE TABLE t (a INT)", "1050 42S01 Table 't' already exists"},
        {"CREATE TABLE IF NOT EXISTS t (a INT)", "ok 0 w1"},
        {"CREATE TABLE u LIKE t", "ok 0"},
        {"CREATE TABLE v AS SELECT 1 AS one, 'x' AS two",
            "ok 1 (Records: 1  Duplicates: 0  Warnings: 0)"},
        {"SELECT * FROM v", "one|two\n1|x"},
        {"DROP TABLE nope", "1051 42S02 Unknown table 'app.nope'"},
        {"DROP TABLE t, nope", "1051 42S02 Unknown table 'app.nope'"},
        {"SELECT COUNT(*) FROM t", "COUNT(*)\n0"},
        {"RENAME TABLE t TO w, u TO t", "ok 0"},
        {"SHOW TABLES", "Tables_in_app\nt\nv\nw"},
        {"DROP TABLE t, v, w", "ok 0"},
        {"SHOW TABLES", "Tables_in_app"},
        {"CREATE TABLE other.t (a INT)", "1049 42000 Unknown database 'other'"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_definition_changes(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT) AUTO_INCREMENT = 100", "ok 0"},
        {"INSERT INTO t (a) VALUES (1), (2)",
            "ok 2 id 100 (Records: 2  Duplicates: 0  Warnings: 0)"},
        {"ALTER TABLE t ADD COLUMN b VARCHAR(10) NOT NULL DEFAULT 'x' AFTER id", NULL},
        {"SELECT * FROM t", "id|b|a\n100|x|1\n101|x|2"},
        {"ALTER TABLE t MODIFY a VARCHAR(20), RENAME COLUMN b TO c, ADD UNIQUE (a)", NULL},
        {"INSERT INTO t (c, a) VALUES ('y', '1')", "1062 23000 Duplicate entry '1' for key 't.a'"},
        {"ALTER TABLE t AUTO_INCREMENT = 500", NULL},
        {"INSERT INTO t (a) VALUES ('z')", "ok 1 id 500"},
        {"CREATE INDEX i ON t (c)", NULL},
        {"CREATE INDEX i ON t (c)", "1061 42000 Duplicate key name 'i'"},
        {"DROP INDEX i ON t", NULL},
        {"DROP INDEX i ON t", "1091 42000 Can't DROP 'i'; check that column/key exists"},
        {"ALTER TABLE t DROP COLUMN nope",
            "1091 42000 Can't DROP 'nope'; check that column/key exists"},
        {"ALTER TABLE t ADD COLUMN a INT", "1060 42S21 Duplicate column name 'a'"},
        {"ALTER TABLE nope ADD COLUMN a INT", "1146 42S02 Table 'app.nope' doesn't exist"},
        {"SELECT id, c, a FROM t ORDER BY id", "id|c|a\n100|x|1\n101|x|2\n500|x|z"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_definition_of_views(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE t (a INT, b INT)", "ok 0"},
        {"INSERT INTO t VALUES (1, 2)", "ok 1"},
        {"CREATE VIEW v AS SELECT a, a + b AS s FROM t", "ok 0"},
        {"SELECT * FROM v", "a|s\n1|3"},
        {"CREATE VIEW v AS SELECT 1", "1050 42S01 Table 'v' already exists"},
        {"CREATE OR REPLACE VIEW v (x) AS SELECT b FROM t", "ok 0"},
        {"SELECT x FROM v WHERE x > 1", "x\n2"},
        {"ALTER TABLE t ADD COLUMN c INT", NULL},
        {"SELECT * FROM v", "x\n2"},
        {"DROP TABLE v", "1051 42S02 Unknown table 'app.v'"},
        {"DROP VIEW t", "1347 HY000 'app.t' is not VIEW"},
        {"DROP VIEW v", "ok 0"},
        {"DROP VIEW v", "1051 42S02 Unknown table 'app.v'"},
        {"DROP VIEW IF EXISTS v", "ok 0 w1"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_definition_keeps_foreign_keys(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE p (id INT PRIMARY KEY)", "ok 0"},
        {"CREATE TABLE c (id INT PRIMARY KEY, p INT)", "ok 0"},
        {"INSERT INTO p VALUES (1)", "ok 1"},
        {"INSERT INTO c VALUES (1, 1)", "ok 1"},
        {"ALTER TABLE c ADD CONSTRAINT fk FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE",
            NULL},
        {"ALTER TABLE p MODIFY id BIGINT", NULL},
        {"SELECT COUNT(*) FROM c", "COUNT(*)\n1"},
        {"RENAME TABLE p TO parent", "ok 0"},
        {"DELETE FROM parent", "ok 1"},
        {"SELECT COUNT(*) FROM c", "COUNT(*)\n0"},
        {"INSERT INTO c VALUES (1, 7)",
            "1452 23000 Cannot add or update a child row: a foreign key constraint fails "
            "(`app`.`c`, CONSTRAINT `fk` FOREIGN KEY (`p`) REFERENCES `parent` (`id`) ON DELETE "
            "CASCADE)"},
        {"ALTER TABLE c DROP FOREIGN KEY fk", NULL},
        {"INSERT INTO c VALUES (1, 7)", "ok 1"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_definition_survives_the_server(void)
{
    struct fixture f;
    struct client c;

    fixture_init(&f);
    fixture_start(&f);
    client_open(&c, &f, 0);
    client_run(&c, "CREATE TABLE t (a DECIMAL(8,2) NOT NULL DEFAULT 1.5 COMMENT 'x', KEY k (a))");
    client_run(&c, "INSERT INTO t VALUES (2)");
    client_close(&c);
    fixture_stop(&f);
    fixture_start(&f);
    client_open(&c, &f, 0);
    CHECK_STR(str_c(client_run(&c, "SHOW CREATE TABLE t")),
        "Table|Create Table\n"
        "t|CREATE TABLE `t` (\n"
        "  `a` decimal(8,2) NOT NULL DEFAULT '1.50' COMMENT 'x',\n"
        "  KEY `k` (`a`)\n"
        ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci");
    CHECK_STR(str_c(client_run(&c, "SELECT * FROM t")), "a\n2.00");
    client_close(&c);
    fixture_fini(&f);
}

static void test_definition_that_fails_changes_nothing(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE t (a INT, b INT)", "ok 0"},
        {"INSERT INTO t VALUES (1, 1), (1, 2)", NULL},
        {"ALTER TABLE t ADD COLUMN c INT, ADD UNIQUE u (a)",
            "1062 23000 Duplicate entry '1' for key 't.u'"},
        {"SELECT * FROM t", "a|b\n1|1\n1|2"},
        {"SHOW COLUMNS FROM t",
            "Field|Type|Null|Key|Default|Extra\na|int|YES||NULL|\nb|int|YES||NULL|"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

static void test_definition_of_the_database(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE t (a INT)", "ok 0"},
        {"CREATE VIEW v AS SELECT a FROM t", "ok 0"},
        {"DROP DATABASE app", "ok 2"},
        {"SELECT DATABASE()", "DATABASE()\nNULL"},
        {"CREATE DATABASE app", "ok 1"},
        {"USE app", "ok 0"},
        {"SHOW TABLES", "Tables_in_app"},
        {"DROP DATABASE nope", "1008 HY000 Can't drop database 'nope'; database doesn't exist"},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

const struct test tests_definition[] = {
    TEST(test_definition_of_tables),
    TEST(test_definition_changes),
    TEST(test_definition_of_views),
    TEST(test_definition_keeps_foreign_keys),
    TEST(test_definition_survives_the_server),
    TEST(test_definition_that_fails_changes_nothing),
    TEST(test_definition_of_the_database),
    TEST_END,
};
