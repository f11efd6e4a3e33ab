/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_ddl/support.h"

/* What MySQL 8 answers to SHOW CREATE TABLE: measured on MariaDB 10.11 and put into the words of
 * MySQL 8 (no display widths, quoted defaults, CURRENT_TIMESTAMP, names of checks). */
static const struct {
    const char *name;
    const char *sql;
    const char *show; /* the lines between the parentheses, or an error */
} rows[] = {
    {"numbers",
        "CREATE TABLE t (a int(11) unsigned zerofill default 7, b tinyint(1) default 1, c decimal, "
        "d decimal(5), e float(5,2) default 1.236, f double default '1e3', g bit(3) default b'101',"
        "h decimal(5,2) default 1.005, i int default 1.5, j int default '12', k float default 0.1, "
        "l double default 1e100, m bigint(20), n decimal(10,2) default -1, o int default true, "
        "p float(30), q boolean, r int unsigned)",
        "  `a` int(11) unsigned zerofill DEFAULT '00000000007',\n"
        "  `b` tinyint(1) DEFAULT '1',\n"
        "  `c` decimal(10,0) DEFAULT NULL,\n"
        "  `d` decimal(5,0) DEFAULT NULL,\n"
        "  `e` float(5,2) DEFAULT '1.24',\n"
        "  `f` double DEFAULT '1000',\n"
        "  `g` bit(3) DEFAULT b'101',\n"
        "  `h` decimal(5,2) DEFAULT '1.01',\n"
        "  `i` int DEFAULT '2',\n"
        "  `j` int DEFAULT '12',\n"
        "  `k` float DEFAULT '0.1',\n"
        "  `l` double DEFAULT '1e100',\n"
        "  `m` bigint DEFAULT NULL,\n"
        "  `n` decimal(10,2) DEFAULT '-1.00',\n"
        "  `o` int DEFAULT '1',\n"
        "  `p` double DEFAULT NULL,\n"
        "  `q` tinyint(1) DEFAULT NULL,\n"
        "  `r` int unsigned DEFAULT NULL"},
    {"texts",
        "CREATE TABLE t (h char default 'a', i varchar(20) character set binary default 'x', "
        "j text(10), k text(300), l blob(70000), m enum('a ','b') default 'B', "
        "n set('x','y') default 'Y,x', o varchar(10) default 1.50, p varchar(5) default x'41', "
        "q json, r varbinary(16), s binary(3), t national varchar(4), u char(3) default 'b  ')",
        "  `h` char(1) DEFAULT 'a',\n"
        "  `i` varbinary(20) DEFAULT 'x',\n"
        "  `j` tinytext,\n"
        "  `k` text,\n"
        "  `l` mediumblob,\n"
        "  `m` enum('a','b') DEFAULT 'b',\n"
        "  `n` set('x','y') DEFAULT 'x,y',\n"
        "  `o` varchar(10) DEFAULT '1.50',\n"
        "  `p` varchar(5) DEFAULT 'A',\n"
        "  `q` json DEFAULT NULL,\n"
        "  `r` varbinary(16) DEFAULT NULL,\n"
        "  `s` binary(3) DEFAULT NULL,\n"
        "  `t` varchar(4) CHARACTER SET utf8mb3 DEFAULT NULL,\n"
        "  `u` char(3) DEFAULT 'b'"},
    {"times",
        "CREATE TABLE t (o timestamp(3) default current_timestamp(3) on update "
        "current_timestamp(3), p date default '2024-1-2', q time default '1:2', r year default 99, "
        "s datetime default 20240102030405, t time(2) default '10:00:00.126', "
        "u date default '0000-00-00', v year default '0', w year default 0, x year(4), "
        "y time default '-1 2:3:4', z time default 123, a datetime default '2024/02/3 4:5', "
        "b datetime default '20240203', c date default '2024-01-01 10:00:00', d timestamp, "
        "e timestamp not null default now() on update now())",
        "  `o` timestamp(3) NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3),\n"
        "  `p` date DEFAULT '2024-01-02',\n"
        "  `q` time DEFAULT '01:02:00',\n"
        "  `r` year DEFAULT '1999',\n"
        "  `s` datetime DEFAULT '2024-01-02 03:04:05',\n"
        "  `t` time(2) DEFAULT '10:00:00.13',\n"
        "  `u` date DEFAULT '0000-00-00',\n"
        "  `v` year DEFAULT '2000',\n"
        "  `w` year DEFAULT '0000',\n"
        "  `x` year DEFAULT NULL,\n"
        "  `y` time DEFAULT '-26:03:04',\n"
        "  `z` time DEFAULT '00:01:23',\n"
        "  `a` datetime DEFAULT '2024-02-03 04:05:00',\n"
        "  `b` datetime DEFAULT '2024-02-03 00:00:00',\n"
        "  `c` date DEFAULT '2024-01-01',\n"
        "  `d` timestamp NULL DEFAULT NULL,\n"
        "  `e` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP"},
    {"keys",
        "CREATE TABLE t (a int, b int, c varchar(10), key(a), key(a,b), unique(b), unique u(a), "
        "primary key(c,b desc), key k(c(5)), fulltext f(c), constraint cu unique(a,c), "
        "key h using hash (b), key w (c(10)) comment 'whole')",
        "  `a` int DEFAULT NULL,\n"
        "  `b` int NOT NULL,\n"
        "  `c` varchar(10) NOT NULL,\n"
        "  PRIMARY KEY (`c`,`b` DESC),\n"
        "  UNIQUE KEY `b` (`b`),\n"
        "  UNIQUE KEY `u` (`a`),\n"
        "  UNIQUE KEY `cu` (`a`,`c`),\n"
        "  KEY `a` (`a`),\n"
        "  KEY `a_2` (`a`,`b`),\n"
        "  KEY `k` (`c`(5)),\n"
        "  KEY `h` (`b`) USING BTREE,\n"
        "  KEY `w` (`c`) COMMENT 'whole',\n"
        "  FULLTEXT KEY `f` (`c`)"},
    {"serial",
        "CREATE TABLE t (id serial, a int not null comment 'it''s \"x\"', `b``c` int invisible, "
        "d int unique)",
        "  `id` bigint unsigned NOT NULL AUTO_INCREMENT,\n"
        "  `a` int NOT NULL COMMENT 'it''s \"x\"',\n"
        "  `b``c` int DEFAULT NULL /*!80023 INVISIBLE */,\n"
        "  `d` int DEFAULT NULL,\n"
        "  UNIQUE KEY `id` (`id`),\n"
        "  UNIQUE KEY `d` (`d`)"},
    {"charsets",
        "CREATE TABLE t (a text character set latin1 collate latin1_bin, "
        "b varchar(10) collate utf8mb4_bin, c char(10) charset ascii, d varchar(3) charset utf8)",
        "  `a` text CHARACTER SET latin1 COLLATE latin1_bin,\n"
        "  `b` varchar(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,\n"
        "  `c` char(10) CHARACTER SET ascii DEFAULT NULL,\n"
        "  `d` varchar(3) CHARACTER SET utf8mb3 DEFAULT NULL"},
    {"generated",
        "CREATE TABLE t (a int, b int as (a+1) virtual, c varchar(10) generated always as "
        "(concat(a,'x')) stored not null, e int default (1+1), f int as (b*2))",
        "  `a` int DEFAULT NULL,\n"
        "  `b` int GENERATED ALWAYS AS ((`a` + 1)) VIRTUAL,\n"
        "  `c` varchar(10) GENERATED ALWAYS AS (concat(`a`,'x')) STORED NOT NULL,\n"
        "  `e` int DEFAULT ((1 + 1)),\n"
        "  `f` int GENERATED ALWAYS AS ((`b` * 2)) VIRTUAL"},
    {"checks",
        "CREATE TABLE t (a int check (a > 1), b int, check (a < b), constraint cc check (b <> 5) "
        "not enforced)",
        "  `a` int DEFAULT NULL,\n"
        "  `b` int DEFAULT NULL,\n"
        "  CONSTRAINT `t_chk_1` CHECK ((`a` > 1)),\n"
        "  CONSTRAINT `t_chk_2` CHECK ((`a` < `b`)),\n"
        "  CONSTRAINT `cc` CHECK ((`b` <> 5)) /*!80016 NOT ENFORCED */"},
    {"foreign keys",
        "CREATE TABLE t (a int, b int, constraint zz foreign key(a) references p(id), "
        "foreign key(b) references p(x) on delete set null, foreign key(b) references p(ID) "
        "on delete restrict on update cascade)",
        "  `a` int DEFAULT NULL,\n"
        "  `b` int DEFAULT NULL,\n"
        "  KEY `zz` (`a`),\n"
        "  KEY `b` (`b`),\n"
        "  CONSTRAINT `t_ibfk_1` FOREIGN KEY (`b`) REFERENCES `p` (`x`) ON DELETE SET NULL,\n"
        "  CONSTRAINT `t_ibfk_2` FOREIGN KEY (`b`) REFERENCES `p` (`id`) ON DELETE RESTRICT ON "
        "UPDATE CASCADE,\n"
        "  CONSTRAINT `zz` FOREIGN KEY (`a`) REFERENCES `p` (`id`)"},
    {"foreign key with a key",
        "CREATE TABLE t (a int, b int, foreign key(a) references p(id), key mine (a, b), "
        "parent int, id int primary key, foreign key (parent) references t(id))",
        "  `a` int DEFAULT NULL,\n"
        "  `b` int DEFAULT NULL,\n"
        "  `parent` int DEFAULT NULL,\n"
        "  `id` int NOT NULL,\n"
        "  PRIMARY KEY (`id`),\n"
        "  KEY `mine` (`a`,`b`),\n"
        "  KEY `parent` (`parent`),\n"
        "  CONSTRAINT `t_ibfk_1` FOREIGN KEY (`a`) REFERENCES `p` (`id`),\n"
        "  CONSTRAINT `t_ibfk_2` FOREIGN KEY (`parent`) REFERENCES `t` (`id`)"},
    {"functional key", "CREATE TABLE t (a int, key ((a+1)), key f ((a*2) desc, a))",
        "  `a` int DEFAULT NULL,\n"
        "  KEY `functional_index` (((`a` + 1))),\n"
        "  KEY `f` (((`a` * 2)) DESC,`a`)"},
    {"like", "CREATE TABLE t LIKE p",
        "  `id` int NOT NULL AUTO_INCREMENT,\n"
        "  `x` int DEFAULT NULL,\n"
        "  PRIMARY KEY (`id`),\n"
        "  UNIQUE KEY `x` (`x`)"},
    /* errors */
    {"1067 number", "CREATE TABLE t (a int default 'x')", "1067: Invalid default value for 'a'"},
    {"1067 range", "CREATE TABLE t (a tinyint default 300)", "1067: Invalid default value for 'a'"},
    {"1067 long", "CREATE TABLE t (a varchar(2) default 'abc')",
        "1067: Invalid default value for 'a'"},
    {"1067 enum", "CREATE TABLE t (a enum('a','b') default 'c')",
        "1067: Invalid default value for 'a'"},
    {"1067 enum number", "CREATE TABLE t (a enum('a','b') default 1)",
        "1067: Invalid default value for 'a'"},
    {"1067 year", "CREATE TABLE t (a year default 1900)", "1067: Invalid default value for 'a'"},
    {"1067 time", "CREATE TABLE t (a time default '900:00:00')",
        "1067: Invalid default value for 'a'"},
    {"1067 bit", "CREATE TABLE t (a bit(2) default 7)", "1067: Invalid default value for 'a'"},
    {"1067 date", "CREATE TABLE t (a datetime default '2024-02-30')",
        "1067: Invalid default value for 'a'"},
    {"1067 now", "CREATE TABLE t (a datetime(3) default current_timestamp)",
        "1067: Invalid default value for 'a'"},
    {"1067 null", "CREATE TABLE t (a int not null default null)",
        "1067: Invalid default value for 'a'"},
    {"1063", "CREATE TABLE t (a varchar(10) auto_increment primary key)",
        "1063: Incorrect column specifier for column 'a'"},
    {"1075 no key", "CREATE TABLE t (a int auto_increment)",
        "1075: Incorrect table definition; there can be only one auto column and it must be "
        "defined as a key"},
    {"1075 two", "CREATE TABLE t (a int auto_increment primary key, b int auto_increment unique)",
        "1075: Incorrect table definition; there can be only one auto column and it must be "
        "defined as a key"},
    {"1294", "CREATE TABLE t (a int on update current_timestamp)",
        "1294: Invalid ON UPDATE clause for 'a' column"},
    {"1171", "CREATE TABLE t (a int null primary key)",
        "1171: All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE "
        "instead"},
    {"1170", "CREATE TABLE t (a text, key(a))",
        "1170: BLOB/TEXT column 'a' used in key specification without a key length"},
    {"1089", "CREATE TABLE t (c varchar(10), key(c(11)))",
        "1089: Incorrect prefix key; the used key part isn't a string, the used length is longer "
        "than the key part, or the storage engine doesn't support unique prefix keys"},
    {"1061", "CREATE TABLE t (c int, key x(c), key X(c))", "1061: Duplicate key name 'X'"},
    {"1061 made", "CREATE TABLE t (c int, key (c), key c(c))", "1061: Duplicate key name 'c'"},
    {"1060 key", "CREATE TABLE t (c int, key (c,c))", "1060: Duplicate column name 'c'"},
    {"1060", "CREATE TABLE t (c int, C int)", "1060: Duplicate column name 'C'"},
    {"1072", "CREATE TABLE t (c int, key (d))", "1072: Key column 'd' doesn't exist in table"},
    {"1068", "CREATE TABLE t (c int primary key, d int, primary key(d))",
        "1068: Multiple primary key defined"},
    {"1280", "CREATE TABLE t (c int, index `PRIMARY`(c))", "1280: Incorrect index name 'PRIMARY'"},
    {"1291", "CREATE TABLE t (c enum('a','a'))",
        "1291: Column 'c' has duplicated value 'a' in ENUM"},
    {"1367", "CREATE TABLE t (c set('a','b,c'))",
        "1367: Illegal set 'b,c' value found during parsing"},
    {"1427", "CREATE TABLE t (c decimal(2,3))",
        "1427: For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column 'c')."},
    {"1426", "CREATE TABLE t (c decimal(70))",
        "1426: Too-big precision 70 specified for 'c'. Maximum is 65."},
    {"1425", "CREATE TABLE t (c decimal(40,31))",
        "1425: Too big scale 31 specified for column 'c'. Maximum is 30."},
    {"1439", "CREATE TABLE t (c int(300))",
        "1439: Display width out of range for column 'c' (max = 255)"},
    {"1426 time", "CREATE TABLE t (c time(7))",
        "1426: Too-big precision 7 specified for 'c'. Maximum is 6."},
    {"1074 char", "CREATE TABLE t (c char(300))",
        "1074: Column length too big for column 'c' (max = 255); use BLOB or TEXT instead"},
    {"1074", "CREATE TABLE t (c varchar(20000))",
        "1074: Column length too big for column 'c' (max = 16383); use BLOB or TEXT instead"},
    {"1101", "CREATE TABLE t (c text default 'a')",
        "1101: BLOB, TEXT, GEOMETRY or JSON column 'c' can't have a default value"},
    {"1115", "CREATE TABLE t (c int) charset klingon", "1115: Unknown character set: 'klingon'"},
    {"1253", "CREATE TABLE t (c text charset latin1 collate utf8mb4_bin)",
        "1253: COLLATION 'utf8mb4_bin' is not valid for CHARACTER SET 'latin1'"},
    {"1286", "CREATE TABLE t (c int) engine=foo", "1286: Unknown storage engine 'foo'"},
    {"1103", "CREATE TABLE `_ephpm_x` (c int)", "1103: Incorrect table name '_ephpm_x'"},
    {"1235", "CREATE TABLE t (c point)",
        "1235: This version of ephpm doesn't yet support 'spatial types'"},
    {"1826",
        "CREATE TABLE t (c int, foreign key(c) references p(id), constraint t_ibfk_1 "
        "foreign key(c) references p(x))",
        "1826: Duplicate foreign key constraint name 't_ibfk_1'"},
    {"1072 foreign", "CREATE TABLE t (c int, foreign key(z) references p(id))",
        "1072: Key column 'z' doesn't exist in table"},
    {"1824", "CREATE TABLE t (c int, foreign key(c) references nop(id))",
        "1824: Failed to open the referenced table 'nop'"},
    {"3734", "CREATE TABLE t (c int, foreign key(c) references p(zz))",
        "3734: Failed to add the foreign key constraint. Missing column 'zz' for constraint "
        "'t_ibfk_1' in the referenced table 'p'"},
    {"3780", "CREATE TABLE t (c varchar(10), foreign key(c) references p(id))",
        "3780: Referencing column 'c' and referenced column 'id' in foreign key constraint "
        "'t_ibfk_1' are incompatible."},
    {"1830", "CREATE TABLE t (c int not null, foreign key(c) references p(id) on delete set null)",
        "1830: Column 'c' cannot be NOT NULL: needed in a foreign key constraint 't_ibfk_1' SET "
        "NULL"},
    {"1239", "CREATE TABLE t (c int, foreign key(c) references p(id,x))",
        "1239: Incorrect foreign key definition for 'foreign key without name': Key reference and "
        "table reference don't match"},
    {"3818", "CREATE TABLE t (a int auto_increment primary key check (a > 1))",
        "3818: Check constraint 't_chk_1' cannot refer to an auto-increment column."},
    {"3820", "CREATE TABLE t (c int, check (zz > 0))",
        "3820: Check constraint 't_chk_1' refers to non-existing column 'zz'."},
    {"3813", "CREATE TABLE t (d int, c int check (d > 0))",
        "3813: Column check constraint 't_chk_1' references other column."},
    {"1054", "CREATE TABLE t (c int as (nope + 1))",
        "1054: Unknown column 'nope' in 'generated column function'"},
    {"3107", "CREATE TABLE t (a int as (b + 1), b int as (1))",
        "3107: Generated column can refer only to generated columns defined prior to it."},
    {"3109", "CREATE TABLE t (a int auto_increment primary key, b int as (a + 1))",
        "3109: Generated column 'b' cannot refer to auto-increment column."},
    {"4028", "CREATE TABLE t (a int invisible)",
        "4028: A table must have at least one visible column."},
};

static const char tail[] = "\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci";

static void test_create_shows(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct world w;
        struct str got;

        test_row(rows[i].name);
        world_open(&w);
        (void)world_run(&w, "CREATE TABLE p (id int auto_increment primary key, x int unique)");
        got = world_run(&w, rows[i].sql);
        if (str_starts(got, STR("CREATE TABLE `t` (\n")) && str_ends(got, STR(tail)))
            got = str_sub(got, 19, got.len - 19 - (sizeof(tail) - 1));
        CHECK_STR(got, rows[i].show);
        world_close(&w);
    }
    test_row(NULL);
}

static void test_create_options_show(void)
{
    static const struct {
        const char *options;
        const char *shown;
    } cases[] = {
        {"", "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci"},
        {"engine myisam default charset=utf8", "ENGINE=MyISAM DEFAULT CHARSET=utf8mb3"},
        {", foreign key (a) references nowhere (b)) engine=myisam",
            "ENGINE=MyISAM DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci"},
        {"DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_520_ci",
            "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci"},
        {"collate latin1_bin, engine = innodb", "ENGINE=InnoDB DEFAULT CHARSET=latin1 "
                                                "COLLATE=latin1_bin"},
        {"comment='tab''le' row_format=compressed key_block_size=8 auto_increment=7 "
         "stats_persistent=1",
            "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci KEY_BLOCK_SIZE=8 "
            "STATS_PERSISTENT=1 ROW_FORMAT=COMPRESSED COMMENT='tab''le'"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct world w;
        char sql[300], want[300];

        test_row(cases[i].options);
        world_open(&w);
        snprintf(sql, sizeof(sql), "CREATE TABLE t (a int%s %s",
            cases[i].options[0] == ',' ? "" : ")", cases[i].options);
        snprintf(
            want, sizeof(want), "CREATE TABLE `t` (\n  `a` int DEFAULT NULL\n) %s", cases[i].shown);
        CHECK_STR(world_run(&w, sql), want);
        world_close(&w);
    }
    test_row(NULL);
}

static void test_create_lies_in_sqlite_as_the_contract_says(void)
{
    struct world w;

    world_open(&w);
    (void)world_run(&w, "CREATE TABLE p (id int primary key)");
    (void)world_run(&w,
        "CREATE TABLE t (id int auto_increment primary key, a varchar(10) not null, b decimal(5,2),"
        " c time, d blob, e double, key k (a(3)), unique u (b), fulltext f (a), "
        "foreign key (id) references p (id) on delete cascade)");
    CHECK_STR(world_sqlite(&w, "SELECT sql FROM sqlite_schema WHERE name = 't'"),
        "CREATE TABLE \"t\" (\"id\" INTEGER PRIMARY KEY AUTOINCREMENT, "
        "\"a\" TEXT COLLATE \"utf8mb4_0900_ai_ci\" NOT NULL, "
        "\"b\" TEXT COLLATE \"my_decimal\", \"c\" TEXT COLLATE \"my_time\", \"d\" BLOB, "
        "\"e\" REAL, CONSTRAINT \"t_ibfk_1\" FOREIGN KEY (\"id\") REFERENCES \"p\" (\"id\") "
        "ON DELETE CASCADE ON UPDATE NO ACTION)");
    CHECK_STR(world_sqlite(&w, "SELECT group_concat(name, ' ') FROM (SELECT name FROM "
                               "sqlite_schema WHERE type = 'index' ORDER BY name)"),
        "t__k t__u");
    CHECK_STR(world_sqlite(&w, "SELECT sql FROM sqlite_schema WHERE name = 't__k'"),
        "CREATE INDEX \"t__k\" ON \"t\" (m_prefix(\"a\", 3) COLLATE \"utf8mb4_0900_ai_ci\")");
    CHECK_STR(world_sqlite(&w, "INSERT INTO t (a, b) VALUES ('x', '1.00'), ('y', '1.0')"),
        "SQLite: UNIQUE constraint failed: t.b");
    world_close(&w);
}

static void test_create_without_foreign_key_checks_takes_what_is_not_there(void)
{
    struct world w;

    world_open(&w);
    w.fk_checks = false;
    CHECK(str_starts(world_run(&w, "CREATE TABLE t (a int, foreign key (a) references later (id))"),
        STR("CREATE TABLE")));
    world_close(&w);
}

static void test_create_of_a_dump_by_mariadb(void)
{
    struct world w;

    world_open(&w);
    w.env.mode = DB_MODE_NO_AUTO_VALUE_ON_ZERO;
    CHECK_STR(world_run(&w,
                  "CREATE TABLE `t` (\n  `a` text DEFAULT 'abc',\n  `b` longtext NOT NULL DEFAULT "
                  "'',\n  `c` datetime DEFAULT current_timestamp(),\n  `d` char(36) DEFAULT "
                  "uuid(),\n  `e` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL "
                  "CHECK (json_valid(`e`))\n) ENGINE=InnoDB DEFAULT CHARSET=latin1 "
                  "COLLATE=latin1_swedish_ci"),
        "CREATE TABLE `t` (\n"
        "  `a` text DEFAULT ('abc'),\n"
        "  `b` longtext NOT NULL,\n"
        "  `c` datetime DEFAULT CURRENT_TIMESTAMP,\n"
        "  `d` char(36) DEFAULT (uuid()),\n"
        "  `e` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,\n"
        "  CONSTRAINT `t_chk_1` CHECK (json_valid(`e`))\n"
        ") ENGINE=InnoDB DEFAULT CHARSET=latin1");
    world_close(&w);
}

static void test_create_like_and_as_select(void)
{
    struct world w;
    const struct db_column columns[] = {
        {.name = STR("n"),
            .type = {.base = DB_T_BIGINT, .length = 20, .decimals = -1},
            .flags = DB_COL_NOT_NULL},
        {.name = STR("a"),
            .type = {.base = DB_T_VARCHAR,
                .length = 3,
                .decimals = -1,
                .charset = STR("utf8mb4"),
                .collation = STR("utf8mb4_bin")}},
        {.name = STR("s"),
            .type = {.base = DB_T_VARCHAR,
                .length = 50,
                .decimals = -1,
                .charset = STR("utf8mb4"),
                .collation = STR("utf8mb4_bin")}},
        {.name = STR("d"), .type = {.base = DB_T_DECIMAL, .length = 70, .decimals = 4}},
        {.name = STR("z"), .type = {.base = DB_T_NULL, .length = -1, .decimals = -1}},
    };
    struct sql_column_def own = {
        .name = STR("a"), .type = {.base = DB_T_INT, .length = -1, .decimals = -1}};
    struct sql_create_table stmt = {
        .table = {.name = STR("t")}, .def = {.columns = &own, .n_columns = 1}};
    struct db_cat_table *t = NULL;
    struct db_error e = {0};
    struct buf text = {0};

    world_open(&w);
    CHECK_INT(ddl_create(&w.arena, &stmt, &w.defaults, &w.env, columns, 5, &t, &e), 0);
    if (t)
        ddl_show(&text, t, 9);
    CHECK_STR(buf_str(&text),
        "CREATE TABLE `t` (\n"
        "  `a` int DEFAULT NULL,\n"
        "  `n` bigint NOT NULL DEFAULT '0',\n"
        "  `s` varchar(50) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL,\n"
        "  `d` decimal(65,4) DEFAULT NULL,\n"
        "  `z` binary(0) DEFAULT NULL\n"
        ") ENGINE=InnoDB AUTO_INCREMENT=9 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci");
    buf_fini(&text);
    world_close(&w);
}

const struct test tests_create[] = {TEST(test_create_shows), TEST(test_create_options_show),
    TEST(test_create_lies_in_sqlite_as_the_contract_says),
    TEST(test_create_without_foreign_key_checks_takes_what_is_not_there),
    TEST(test_create_of_a_dump_by_mariadb), TEST(test_create_like_and_as_select), TEST_END};
