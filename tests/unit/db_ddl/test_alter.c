/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_ddl/support.h"

/* t before each row, with two rows in it; p refers to it. */
static const char *const setup[] = {
    "CREATE TABLE t (id int auto_increment primary key, name varchar(20) not null, "
    "price decimal(6,2) default 1, kind enum('a','b'), n int, key by_name (name), key kn (kind, n),"
    " unique u (n))",
    "CREATE TABLE p (id int primary key, t_id int, constraint p_t foreign key (t_id) references t "
    "(id))",
};

static const char insert[] =
    "INSERT INTO t (id, name, price, kind, n) VALUES (1, 'one', '1.50', 'a', 10), "
    "(5, 'two', '22.00', 'b', NULL)";

struct row {
    const char *name;
    const char *sql; /* ALTER TABLE t ... */
    enum ddl_way way;
    const char *show; /* a part of SHOW CREATE TABLE, or the error */
    const char *ask;  /* of SQLite, afterwards */
    const char *answer;
};

static const struct row rows[] = {
    {"comment", "COMMENT = 'new'", DDL_CATALOG_ONLY, "COMMENT='new'", NULL, NULL},
    {"engine", "ENGINE=InnoDB", DDL_CATALOG_ONLY, "ENGINE=InnoDB", NULL, NULL},
    {"default", "ALTER n SET DEFAULT 7", DDL_CATALOG_ONLY, "`n` int DEFAULT '7'", NULL, NULL},
    {"no default", "ALTER COLUMN price DROP DEFAULT", DDL_CATALOG_ONLY,
        "`price` decimal(6,2) DEFAULT NULL,\n", NULL, NULL},
    {"charset", "DEFAULT CHARSET=latin1", DDL_CATALOG_ONLY,
        "`name` varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci NOT NULL", NULL, NULL},
    {"wider", "MODIFY name varchar(200) not null, MODIFY n bigint, MODIFY kind enum('a','b','c')",
        DDL_CATALOG_ONLY, "`kind` enum('a','b','c') DEFAULT NULL,\n  `n` bigint DEFAULT NULL", NULL,
        NULL},
    {"add", "ADD z int not null default 3", DDL_STATEMENTS,
        "`n` int DEFAULT NULL,\n  `z` int NOT NULL DEFAULT '3'", "SELECT group_concat(z) FROM t",
        "3,3"},
    {"add in places", "ADD COLUMN a1 varchar(5) not null AFTER id, ADD COLUMN a0 date FIRST",
        DDL_STATEMENTS,
        "(\n  `a0` date DEFAULT NULL,\n  `id` int NOT NULL AUTO_INCREMENT,\n"
        "  `a1` varchar(5) NOT NULL,\n  `name`",
        "SELECT a1 = '', a0 FROM t", "1|NULL"},
    {"add several", "ADD (x int, y decimal(5,3) not null, key xy (x, y))", DDL_STATEMENTS,
        "`x` int DEFAULT NULL,\n  `y` decimal(5,3) NOT NULL,\n  PRIMARY KEY", "SELECT y, x FROM t",
        "0.000|NULL"},
    {"add key", "ADD INDEX nn (n), ADD UNIQUE (price)", DDL_STATEMENTS, "KEY `nn` (`n`)",
        "SELECT count(*) FROM sqlite_schema WHERE name IN ('t__nn', 't__price')", "2"},
    {"drop key", "DROP INDEX by_name", DDL_STATEMENTS, "UNIQUE KEY `u` (`n`),\n  KEY `kn`",
        "SELECT group_concat(name) FROM sqlite_schema WHERE type = 'index' AND tbl_name = 't'",
        "t__u,t__kn"},
    {"rename key", "RENAME INDEX by_name TO nom", DDL_STATEMENTS, "KEY `nom` (`name`)",
        "SELECT count(*) FROM sqlite_schema WHERE name = 't__nom'", "1"},
    {"rename column", "RENAME COLUMN n TO number", DDL_STATEMENTS,
        "`number` int DEFAULT NULL,\n  PRIMARY KEY (`id`),\n  UNIQUE KEY `u` (`number`),\n  KEY "
        "`by_name` (`name`),\n  KEY `kn` (`kind`,`number`)",
        "SELECT number FROM t WHERE id = 1", "10"},
    {"swap columns", "RENAME COLUMN n TO id2, RENAME COLUMN name TO n, RENAME COLUMN kind TO name",
        DDL_STATEMENTS,
        "UNIQUE KEY `u` (`id2`),\n  KEY `by_name` (`n`),\n  KEY `kn` (`name`,`id2`)",
        "SELECT n, name, id2 FROM t", "one|a|10"},
    {"rename key column that others refer to", "CHANGE id ident int auto_increment", DDL_STATEMENTS,
        "`ident` int NOT NULL AUTO_INCREMENT",
        "SELECT sql LIKE '%REFERENCES \"t\" (\"ident\")%' FROM sqlite_schema WHERE name = 'p'",
        "1"},
    {"rename table", "RENAME TO tt", DDL_STATEMENTS, "CREATE TABLE `tt`",
        "SELECT (SELECT sql LIKE '%REFERENCES \"tt\"%' FROM sqlite_schema WHERE name = 'p'), "
        "(SELECT count(*) FROM sqlite_schema WHERE name IN ('tt__by_name','tt__kn','tt__u'))",
        "1|3"},
    {"case of the name", "RENAME TO T", DDL_STATEMENTS, "CREATE TABLE `T`",
        "SELECT count(*) FROM sqlite_schema WHERE name = 'T__u'", "1"},
    {"drop column", "DROP COLUMN n", DDL_REBUILD,
        "`kind` enum('a','b') DEFAULT NULL,\n  PRIMARY KEY (`id`),\n  KEY `by_name` (`name`),\n"
        "  KEY `kn` (`kind`)\n",
        "SELECT count(*), max(name), (SELECT sql FROM sqlite_schema WHERE name = 't__kn') FROM t",
        "2|two|CREATE INDEX \"t__kn\" ON \"t\" (\"kind\")"},
    {"numbers stay given", "DROP price", DDL_REBUILD, "AUTO_INCREMENT",
        "INSERT INTO t (name) VALUES ('x') RETURNING id", "6"},
    {"convert", "MODIFY price int", DDL_REBUILD, "`price` int DEFAULT NULL",
        "SELECT group_concat(price || typeof(price)) FROM t", "2integer,22integer"},
    {"convert text", "MODIFY price varchar(10) not null, MODIFY n smallint unsigned", DDL_REBUILD,
        "`price` varchar(10) NOT NULL", "SELECT price, n FROM t", "1.50|10"},
    {"convert enum", "MODIFY kind int", DDL_REBUILD, "`kind` int DEFAULT NULL",
        "SELECT group_concat(kind) FROM t", "1,2"},
    {"too long", "MODIFY name varchar(2) not null", DDL_REBUILD,
        "1406: Data too long for column 'name' at row 1", "SELECT count(*) FROM t", "2"},
    {"not null", "MODIFY n int not null", DDL_REBUILD, "1048: Column 'n' cannot be null",
        "SELECT count(*) FROM t", "2"},
    {"collation", "CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", DDL_REBUILD,
        "COLLATE=utf8mb4_bin",
        "SELECT sql LIKE '%\"name\" TEXT COLLATE \"utf8mb4_bin\"%' FROM sqlite_schema WHERE name = "
        "'t'",
        "1"},
    {"check", "ADD CONSTRAINT c CHECK (n > 5)", DDL_REBUILD, "CONSTRAINT `c` CHECK ((`n` > 5))",
        "INSERT INTO t (name, n) VALUES ('x', 1)", "SQLite: CHECK constraint failed: c"},
    {"stored", "ADD g int AS (n + 1) STORED AFTER id", DDL_REBUILD,
        "`g` int GENERATED ALWAYS AS ((`n` + 1)) STORED", "SELECT g FROM t", "11"},
    {"virtual", "ADD g varchar(30) AS (name)", DDL_STATEMENTS,
        "`g` varchar(30) GENERATED ALWAYS AS (`name`) VIRTUAL", "SELECT g FROM t", "one"},
    {"now", "ADD made datetime not null default now()", DDL_REBUILD,
        "`made` datetime NOT NULL DEFAULT CURRENT_TIMESTAMP", "SELECT made FROM t",
        "2024-01-31 10:10:10"},
    {"another primary key",
        "DROP PRIMARY KEY, DROP COLUMN id, ADD nr int auto_increment primary key FIRST",
        DDL_REBUILD,
        "1829: Cannot drop column 'id': needed in a foreign key constraint 'p_t' of table 'p'",
        NULL, NULL},
    {"numbered", "MODIFY id int, DROP PRIMARY KEY, ADD nr int unsigned auto_increment primary key",
        DDL_REBUILD, "1553: Cannot drop index 'p_t': needed in a foreign key constraint", NULL,
        NULL},
    {"foreign key", "ADD CONSTRAINT self FOREIGN KEY (n) REFERENCES t (id)", DDL_REBUILD,
        "CONSTRAINT `self` FOREIGN KEY (`n`) REFERENCES `t` (`id`)",
        "SELECT \"table\", parent FROM pragma_foreign_key_check('t')", "t|t"},
    {"all at once",
        "CHANGE name title varchar(30) not null, DROP KEY kn, ADD KEY kn (n), ADD flag tinyint(1) "
        "not null default 1 AFTER title, ALTER price SET DEFAULT 9, RENAME TO u, COMMENT='c'",
        DDL_STATEMENTS,
        "CREATE TABLE `u` (\n  `id` int NOT NULL AUTO_INCREMENT,\n  `title` varchar(30) NOT NULL,\n"
        "  `flag` tinyint(1) NOT NULL DEFAULT '1',\n  `price` decimal(6,2) DEFAULT '9.00',",
        "SELECT title, flag FROM u WHERE n = 10", "one|1"},
    {"all at once, rebuilt",
        "CHANGE name title varchar(30) not null FIRST, DROP price, RENAME TO u, "
        "ADD CHECK (title <> '')",
        DDL_REBUILD,
        "CREATE TABLE `u` (\n  `title` varchar(30) NOT NULL,\n  `id` int NOT NULL AUTO_INCREMENT,",
        "SELECT title, (SELECT sql LIKE '%REFERENCES \"u\"%' FROM sqlite_schema WHERE name = 'p') "
        "FROM u",
        "one|1"},
    {"if exists",
        "DROP COLUMN IF EXISTS nope, ADD COLUMN IF NOT EXISTS n int, DROP KEY IF EXISTS q",
        DDL_CATALOG_ONLY, "CREATE TABLE `t`", NULL, NULL},
    {"again", "ADD nope int, DROP nope", DDL_REBUILD,
        "1091: Can't DROP 'nope'; check that column/key exists", NULL, NULL},
    {"1060", "ADD name int", DDL_REBUILD, "1060: Duplicate column name 'name'", NULL, NULL},
    {"1060 renamed", "RENAME COLUMN n TO name", DDL_REBUILD, "1060: Duplicate column name 'name'",
        NULL, NULL},
    {"1061", "ADD KEY kn (n)", DDL_REBUILD, "1061: Duplicate key name 'kn'", NULL, NULL},
    {"1068", "ADD PRIMARY KEY (n)", DDL_REBUILD, "1068: Multiple primary key defined", NULL, NULL},
    {"1091 key", "DROP KEY nope", DDL_REBUILD,
        "1091: Can't DROP 'nope'; check that column/key exists", NULL, NULL},
    {"1091 foreign", "DROP FOREIGN KEY nope", DDL_REBUILD,
        "1091: Can't DROP 'nope'; check that column/key exists", NULL, NULL},
    {"1054", "MODIFY nope int", DDL_REBUILD, "1054: Unknown column 'nope' in 't'", NULL, NULL},
    {"1054 after", "ADD x int AFTER nope", DDL_REBUILD, "1054: Unknown column 'nope' in 't'", NULL,
        NULL},
    {"1176", "RENAME KEY nope TO x", DDL_REBUILD, "1176: Key 'nope' doesn't exist in table 't'",
        NULL, NULL},
    {"1090", "DROP id, DROP name, DROP price, DROP kind, DROP n", DDL_REBUILD,
        "1090: You can't delete all columns with ALTER TABLE; use DROP TABLE instead", NULL, NULL},
    {"1075", "DROP PRIMARY KEY", DDL_REBUILD,
        "1075: Incorrect table definition; there can be only one auto column and it must be "
        "defined "
        "as a key",
        NULL, NULL},
    {"1062", "ADD UNIQUE two ((1))", DDL_REBUILD,
        "SQLite: UNIQUE constraint failed: index 't__two'", "SELECT count(*) FROM t", "2"},
    {"3821", "DROP CHECK nope", DDL_REBUILD,
        "3821: Check constraint 'nope' is not found in the table.", NULL, NULL},
};

static void run(const struct row *row)
{
    struct world w;
    struct str got;
    char sql[400];

    test_row(row->name);
    world_open(&w);
    for (size_t i = 0; i < sizeof(setup) / sizeof(*setup); i++)
        CHECK(str_starts(world_run(&w, setup[i]), STR("CREATE TABLE")));
    CHECK_STR(world_sqlite(&w, insert), "");
    snprintf(sql, sizeof(sql), "ALTER TABLE t %s", row->sql);
    got = world_run(&w, sql);
    if (str_find(got, str_c(row->show)) < 0)
        CHECK_STR(got, row->show);
    if (w.change)
        CHECK_INT(w.change->way, row->way);
    if (row->ask)
        CHECK_STR(world_sqlite(&w, row->ask), row->answer);
    CHECK_STR(world_sqlite(&w, "PRAGMA integrity_check"), "ok");
    world_close(&w);
}

static void test_alter_changes(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        run(&rows[i]);
    test_row(NULL);
}

/* "Records" are told where MySQL copies rows, and nowhere else. */
static void test_alter_counts_rows_as_mysql(void)
{
    static const struct {
        const char *sql;
        bool counts;
    } cases[] = {
        {"ADD x int", false},
        {"DROP n", false},
        {"ADD made datetime not null default now()", false},
        {"ADD UNIQUE (name)", false},
        {"MODIFY name varchar(30) not null", false},
        {"MODIFY price int", true},
        {"MODIFY name varchar(20)", true},
        {"ADD CHECK (n > 1)", true},
        {"ADD g int AS (n + 1) STORED", true},
        {"ADD FOREIGN KEY (n) REFERENCES p (id)", true},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct world w;
        char sql[200];

        test_row(cases[i].sql);
        world_open(&w);
        for (size_t k = 0; k < sizeof(setup) / sizeof(*setup); k++)
            (void)world_run(&w, setup[k]);
        snprintf(sql, sizeof(sql), "ALTER TABLE t %s", cases[i].sql);
        CHECK(str_starts(world_run(&w, sql), STR("CREATE")));
        CHECK_INT(w.change && w.change->copy >= 0, cases[i].counts);
        world_close(&w);
    }
    test_row(NULL);
}

static void test_alter_numbers_rows_for_a_new_auto_column(void)
{
    struct world w;

    world_open(&w);
    (void)world_run(&w, "CREATE TABLE t (a varchar(3))");
    (void)world_sqlite(&w, "INSERT INTO t VALUES ('x'), ('y'), ('z')");
    CHECK(str_find(world_run(&w, "ALTER TABLE t ADD id int auto_increment primary key FIRST"),
              STR("PRIMARY KEY (`id`)")) > 0);
    CHECK_STR(world_sqlite(&w, "SELECT group_concat(id || a) FROM t"), "1x,2y,3z");
    CHECK_STR(world_sqlite(&w, "INSERT INTO t (a) VALUES ('n') RETURNING id"), "4");
    world_close(&w);
}

static void test_alter_carries_renames_through_expressions(void)
{
    struct world w;

    world_open(&w);
    (void)world_run(&w,
        "CREATE TABLE t (a int, b int as (a + 1), c int default (a), key f ((a * 2)), "
        "check (a > 0))");
    CHECK_STR(world_run(&w, "ALTER TABLE t RENAME COLUMN a TO q"),
        "CREATE TABLE `t` (\n"
        "  `q` int DEFAULT NULL,\n"
        "  `b` int GENERATED ALWAYS AS ((`q` + 1)) VIRTUAL,\n"
        "  `c` int DEFAULT (`q`),\n"
        "  KEY `f` (((`q` * 2))),\n"
        "  CONSTRAINT `t_chk_1` CHECK ((`q` > 0))\n"
        ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci");
    CHECK_INT(w.change->way, DDL_STATEMENTS);
    CHECK_STR(world_sqlite(&w, "INSERT INTO t (q) VALUES (4) RETURNING b"), "5");
    CHECK_STR(world_run(&w, "ALTER TABLE t DROP q"),
        "3837: Column 'q' has a functional index dependency and cannot be dropped or renamed.");
    CHECK_STR(world_run(&w, "ALTER TABLE t DROP KEY f, DROP q"),
        "3108: Column 'q' has a generated column dependency.");
    world_close(&w);
}

static void test_alter_keeps_keys_of_foreign_keys(void)
{
    struct world w;

    world_open(&w);
    (void)world_run(&w, "CREATE TABLE p (id int primary key)");
    (void)world_run(&w, "CREATE TABLE t (a int, b int, foreign key (a) references p (id))");
    CHECK_STR(world_run(&w, "ALTER TABLE t DROP KEY a"),
        "1553: Cannot drop index 'a': needed in a foreign key constraint");
    CHECK_STR(world_run(&w, "ALTER TABLE t DROP COLUMN a"),
        "1828: Cannot drop column 'a': needed in a foreign key constraint 't_ibfk_1'");
    /* the key that was made goes when another one serves */
    CHECK_STR(world_run(&w, "ALTER TABLE t ADD KEY ab (a, b)"),
        "CREATE TABLE `t` (\n"
        "  `a` int DEFAULT NULL,\n"
        "  `b` int DEFAULT NULL,\n"
        "  KEY `ab` (`a`,`b`),\n"
        "  CONSTRAINT `t_ibfk_1` FOREIGN KEY (`a`) REFERENCES `p` (`id`)\n"
        ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci");
    CHECK(str_find(world_run(&w, "RENAME TABLE p TO parent"), STR("`parent`")) > 0);
    CHECK_STR(world_table(&w, STR("t"))->fks[0].ref_table, "parent");
    CHECK(str_find(world_run(&w, "ALTER TABLE t DROP FOREIGN KEY t_ibfk_1"), STR("FOREIGN")) < 0);
    CHECK_INT(w.change->way, DDL_REBUILD);
    CHECK(str_find(world_run(&w, "ALTER TABLE t DROP KEY ab"), STR("KEY")) < 0);
    world_close(&w);
}

static void test_alter_of_mysqldump(void)
{
    struct world w;

    /* as phpMyAdmin writes it: keys and numbers come after the rows */
    world_open(&w);
    (void)world_run(&w, "CREATE TABLE t (id bigint(20) UNSIGNED NOT NULL, a text)");
    (void)world_sqlite(&w, "INSERT INTO t VALUES (3, 'c'), (1, 'a')");
    CHECK(str_find(world_run(&w, "ALTER TABLE t ADD PRIMARY KEY (id), ADD KEY a (a(191))"),
              STR("KEY `a` (`a`(191))")) > 0);
    CHECK(str_find(world_run(&w, "ALTER TABLE t MODIFY id bigint(20) UNSIGNED NOT NULL "
                                 "AUTO_INCREMENT, AUTO_INCREMENT=17"),
              STR("AUTO_INCREMENT")) > 0);
    CHECK_INT(w.change->auto_increment, 17);
    CHECK_STR(world_sqlite(&w, "SELECT group_concat(id || a) FROM t"), "1a,3c");
    world_close(&w);
}

const struct test tests_alter[] = {TEST(test_alter_changes), TEST(test_alter_counts_rows_as_mysql),
    TEST(test_alter_numbers_rows_for_a_new_auto_column),
    TEST(test_alter_carries_renames_through_expressions),
    TEST(test_alter_keeps_keys_of_foreign_keys), TEST(test_alter_of_mysqldump), TEST_END};
