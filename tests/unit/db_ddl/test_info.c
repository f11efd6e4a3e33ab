/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/err.h"
#include "db/ddl/info.h"
#include "unit/db_ddl/support.h"

static const struct info_schema schemas[] = {
    {STR("shop"), STR("utf8mb4"), STR("utf8mb4_0900_ai_ci")}};
static const struct info_pair variables[] = {
    {STR("max_allowed_packet"), STR("67108864")}, {STR("version"), STR("8.0.36-ephpm")}};
static const struct info_pair status[] = {{STR("Threads_connected"), STR("1")}};
static const struct info_process processes[] = {{.id = 7,
    .user = STR("app"),
    .host = STR("localhost"),
    .db = STR("shop"),
    .command = STR("Query"),
    .seconds = 2,
    .state = STR("executing"),
    .info = STR("SHOW PROCESSLIST")}};
static const struct info_warning warnings[] = {
    {STR("Warning"), 1265, STR("Data truncated")}, {STR("Error"), 1064, STR("no")}};

struct shown {
    struct world w;
    struct info_table tables[WORLD_TABLES];
    struct info_facts facts;
};

static const char *const definitions[] = {
    "CREATE TABLE p (id int auto_increment primary key, x varchar(10) not null unique comment 'k')",
    "CREATE TABLE t (a int unsigned, b varchar(20) collate utf8mb4_bin default 'z', c timestamp(3) "
    "not null default current_timestamp(3) on update current_timestamp(3), d decimal(8,2), "
    "e int as (a + 1) stored, f enum('x','yy'), g text, h bit(2) default b'10', primary key (a, "
    "b), "
    "key k (b(5), d desc) comment 'i', unique u (d), constraint fk foreign key (b) references p "
    "(x) on delete cascade, check (a > 1)) comment 'goods' row_format=compressed",
    "CREATE TEMPORARY TABLE tmp (n int)",
};

static void start(struct shown *s)
{
    memset(s, 0, sizeof(*s));
    world_open(&s->w);
    s->w.fk_checks = false;
    (void)world_run(&s->w, definitions[0]);
    s->w.fk_checks = true;
    (void)world_run(
        &s->w, "ALTER TABLE p MODIFY x varchar(20) collate utf8mb4_bin not null comment 'k'");
    for (size_t i = 1; i < sizeof(definitions) / sizeof(*definitions); i++)
        CHECK(str_starts(world_run(&s->w, definitions[i]), STR("CREATE T")));
    for (uint32_t i = 0; i < s->w.n; i++)
        s->tables[i] = (struct info_table){.table = s->w.tables[i],
            .rows = 10,
            .data_length = 1000,
            .index_length = 500,
            .auto_increment = s->w.tables[i]->auto_column >= 0 ? 11 : 0};
    s->facts = (struct info_facts){.schemas = schemas,
        .n_schemas = 1,
        .tables = s->tables,
        .n_tables = s->w.n,
        .session_variables = {variables, 2},
        .global_variables = {variables, 1},
        .session_status = {status, 1},
        .global_status = {status, 1},
        .processes = processes,
        .n_processes = 1,
        .warnings = warnings,
        .n_warnings = 2,
        .user = STR("app"),
        .host = STR("localhost")};
}

static void stop(struct shown *s)
{
    world_close(&s->w);
}

static void add_value(struct buf *out, const struct db_value *v)
{
    switch (v->kind) {
    case DB_V_NULL:
        buf_add_lit(out, "NULL");
        break;
    case DB_V_INT:
        buf_printf(out, "%lld", (long long)v->i);
        break;
    case DB_V_UINT:
        buf_printf(out, "%llu", (unsigned long long)v->u);
        break;
    default:
        buf_add_str(out, v->s);
    }
}

/* All rows of the relation as "a|b\n". */
static struct str list(struct shown *s, const char *relation, const char *schema, const char *table)
{
    const struct info_relation *r = info_find(STR("information_schema"), str_c(relation));
    const struct info_filter filter = {str_c(schema), str_c(table)};
    struct info_rows rows;

    CHECK(r);
    rows = info_list(&s->w.arena, r, &s->facts, &filter);
    buf_clear(&s->w.answer);
    for (uint32_t i = 0; i < rows.n_rows * rows.n_columns; i++) {
        add_value(&s->w.answer, &rows.values[i]);
        buf_add_char(&s->w.answer, (i + 1) % rows.n_columns ? '|' : '\n');
    }
    return buf_str(&s->w.answer);
}

static void test_info_rows_of_tables(void)
{
    struct shown s;

    start(&s);
    CHECK_STR(list(&s, "TABLES", "shop", NULL),
        "def|shop|p|BASE TABLE|InnoDB|10|Dynamic|10|100|1000|0|500|0|11|2024-01-31 10:10:10|NULL|"
        "NULL|utf8mb4_0900_ai_ci|NULL||\n"
        "def|shop|t|BASE TABLE|InnoDB|10|Compressed|10|100|1000|0|500|0|NULL|2024-01-31 10:10:10|"
        "NULL|NULL|utf8mb4_0900_ai_ci|NULL|row_format=COMPRESSED|goods\n");
    CHECK_STR(list(&s, "COLUMNS", "SHOP", "T"),
        "def|shop|t|a|1|NULL|NO|int|NULL|NULL|10|0|NULL|NULL|NULL|int unsigned|PRI||"
        "select,insert,update,references|||NULL\n"
        "def|shop|t|b|2|z|NO|varchar|20|80|NULL|NULL|NULL|utf8mb4|utf8mb4_bin|varchar(20)|PRI||"
        "select,insert,update,references|||NULL\n"
        "def|shop|t|c|3|CURRENT_TIMESTAMP(3)|NO|timestamp|NULL|NULL|NULL|NULL|3|NULL|NULL|"
        "timestamp(3)||DEFAULT_GENERATED on update CURRENT_TIMESTAMP(3)|"
        "select,insert,update,references|||NULL\n"
        "def|shop|t|d|4|NULL|YES|decimal|NULL|NULL|8|2|NULL|NULL|NULL|decimal(8,2)|UNI||"
        "select,insert,update,references|||NULL\n"
        "def|shop|t|e|5|NULL|YES|int|NULL|NULL|10|0|NULL|NULL|NULL|int||STORED GENERATED|"
        "select,insert,update,references||(`a` + 1)|NULL\n"
        "def|shop|t|f|6|NULL|YES|enum|2|8|NULL|NULL|NULL|utf8mb4|utf8mb4_0900_ai_ci|"
        "enum('x','yy')|||select,insert,update,references|||NULL\n"
        "def|shop|t|g|7|NULL|YES|text|65535|65535|NULL|NULL|NULL|utf8mb4|utf8mb4_0900_ai_ci|text|"
        "||select,insert,update,references|||NULL\n"
        "def|shop|t|h|8|b'10'|YES|bit|NULL|NULL|2|NULL|NULL|NULL|NULL|bit(2)|||"
        "select,insert,update,references|||NULL\n");
    CHECK_STR(list(&s, "STATISTICS", "shop", "t"),
        "def|shop|t|0|shop|PRIMARY|1|a|A|10|NULL|NULL||BTREE|||YES|NULL\n"
        "def|shop|t|0|shop|PRIMARY|2|b|A|10|NULL|NULL||BTREE|||YES|NULL\n"
        "def|shop|t|0|shop|u|1|d|A|10|NULL|NULL|YES|BTREE|||YES|NULL\n"
        "def|shop|t|1|shop|k|1|b|A|10|5|NULL||BTREE||i|YES|NULL\n"
        "def|shop|t|1|shop|k|2|d|D|10|NULL|NULL|YES|BTREE||i|YES|NULL\n"
        "def|shop|t|1|shop|fk|1|b|A|10|NULL|NULL||BTREE|||YES|NULL\n");
    stop(&s);
}

static void test_info_rows_of_constraints(void)
{
    struct shown s;

    start(&s);
    CHECK_STR(list(&s, "KEY_COLUMN_USAGE", "shop", "t"),
        "def|shop|PRIMARY|def|shop|t|a|1|NULL|NULL|NULL|NULL\n"
        "def|shop|PRIMARY|def|shop|t|b|2|NULL|NULL|NULL|NULL\n"
        "def|shop|u|def|shop|t|d|1|NULL|NULL|NULL|NULL\n"
        "def|shop|fk|def|shop|t|b|1|1|shop|p|x\n");
    CHECK_STR(list(&s, "TABLE_CONSTRAINTS", NULL, "t"), "def|shop|PRIMARY|shop|t|PRIMARY KEY|YES\n"
                                                        "def|shop|u|shop|t|UNIQUE|YES\n"
                                                        "def|shop|fk|shop|t|FOREIGN KEY|YES\n"
                                                        "def|shop|t_chk_1|shop|t|CHECK|YES\n");
    CHECK_STR(list(&s, "REFERENTIAL_CONSTRAINTS", NULL, NULL),
        "def|shop|fk|def|shop|x|NONE|NO ACTION|CASCADE|t|p\n");
    CHECK_STR(list(&s, "CHECK_CONSTRAINTS", NULL, NULL), "def|shop|t_chk_1|(`a` > 1)\n");
    CHECK_STR(list(&s, "SCHEMATA", "shop", NULL), "def|shop|utf8mb4|utf8mb4_0900_ai_ci|NULL|NO\n");
    stop(&s);
}

/* Every relation can be declared and gives whole rows. */
static void test_info_relations_are_whole(void)
{
    struct shown s;
    uint32_t n;
    const struct info_relation *r = info_relations(&n);

    start(&s);
    for (uint32_t i = 0; i < n; i++) {
        struct info_rows rows = info_list(&s.w.arena, &r[i], &s.facts, NULL);
        const struct db_cat_table *t = info_catalog(&s.w.arena, &r[i]);

        test_row(r[i].name.p);
        CHECK_INT(t->n_columns, r[i].n_columns);
        CHECK_INT(rows.n_columns, r[i].n_columns);
        CHECK_STR(world_sqlite(&s.w, info_declare(&s.w.arena, &r[i]).p), "");
        CHECK_STR(world_sqlite(&s.w, "DROP TABLE x"), "");
        for (uint32_t k = 0; k < rows.n_rows; k++) {
            for (uint32_t c = 0; c < rows.n_columns; c++) {
                enum db_value_kind kind = rows.values[k * rows.n_columns + c].kind;
                bool number = db_base_is_number(t->columns[c].type.base);

                if (kind != DB_V_NULL)
                    CHECK_INT(kind == DB_V_INT || kind == DB_V_UINT, number);
            }
        }
        if (r[i].schema_column >= 0)
            CHECK(str_ends(t->columns[r[i].schema_column].name, STR("SCHEMA")) ||
                  str_ends(t->columns[r[i].schema_column].name, STR("SCHEMA_NAME")));
    }
    test_row(NULL);
    stop(&s);
}

/* ---- SHOW, through the translator and SQLite ---- */

static const struct db_cat_table *system_table(void *arg, struct str schema, struct str name)
{
    struct shown *s = arg;
    const struct info_relation *r = info_find(schema, name);

    return r ? info_catalog(&s->w.arena, r) : NULL;
}

static bool any_schema(void *arg, struct str schema)
{
    (void)arg;
    return info_is_schema(schema) || str_eq(schema, STR("shop"));
}

/* The relation as a real table of SQLite. */
static void fill(struct shown *s, const struct info_relation *r)
{
    const struct db_cat_table *t = info_catalog(&s->w.arena, r);
    struct info_rows rows = info_list(&s->w.arena, r, &s->facts, NULL);
    struct str declared = info_declare(&s->w.arena, r);
    struct buf sql = {0};

    buf_printf(&sql, "CREATE TABLE " STR_F STR_F, STR_A(t->sqlite_name),
        STR_A(str_sub(declared, strlen("CREATE TABLE x"), declared.len)));
    (void)world_sqlite(&s->w, buf_cstr(&sql));
    for (uint32_t i = 0; i < rows.n_rows; i++) {
        buf_clear(&sql);
        buf_printf(&sql, "INSERT INTO " STR_F " VALUES (", STR_A(t->sqlite_name));
        for (uint32_t c = 0; c < rows.n_columns; c++) {
            const struct db_value *v = &rows.values[i * rows.n_columns + c];

            if (c > 0)
                buf_add_char(&sql, ',');
            if (v->kind != DB_V_TEXT) {
                add_value(&sql, v);
                continue;
            }
            buf_add_char(&sql, '\'');
            for (size_t k = 0; k < v->s.len; k++)
                buf_printf(&sql, v->s.p[k] == '\'' ? "''" : "%c", v->s.p[k]);
            buf_add_char(&sql, '\'');
        }
        buf_add_char(&sql, ')');
        CHECK_STR(world_sqlite(&s->w, buf_cstr(&sql)), "");
    }
    buf_fini(&sql);
}

static void bind(sqlite3_stmt *stmt, const struct tr_step *step)
{
    for (uint32_t i = 0; i < step->n_params; i++) {
        const struct db_value *v = &step->params[i].value;
        int at = (int)i + 1;

        if (v->kind == DB_V_INT || v->kind == DB_V_UINT)
            sqlite3_bind_int64(stmt, at, v->i);
        else if (v->kind == DB_V_TEXT)
            sqlite3_bind_text(stmt, at, v->s.p, (int)v->s.len, SQLITE_TRANSIENT);
    }
}

static void run_plan(struct shown *s, const struct tr_plan *plan)
{
    sqlite3_stmt *stmt = NULL;
    struct buf *out = &s->w.answer;

    if (sqlite3_prepare_v2(
            s->w.handle.db, plan->steps[0].sql.p, (int)plan->steps[0].sql.len, &stmt, NULL)) {
        buf_printf(out, "%s", sqlite3_errmsg(s->w.handle.db));
        return;
    }
    bind(stmt, &plan->steps[0]);
    for (uint32_t i = 0; i < plan->n_columns; i++)
        buf_printf(out, "%s" STR_F, i > 0 ? "|" : "", STR_A(plan->columns[i].name));
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            const unsigned char *p = sqlite3_column_text(stmt, i);

            buf_printf(out, "%c%s", i > 0 ? '|' : '\n', p ? (const char *)p : "NULL");
        }
    }
    sqlite3_finalize(stmt);
}

/* Names of columns and rows that the SHOW answers. */
static struct str show(struct shown *s, const char *sql)
{
    const struct sql_parse_options options = {.version = 80036};
    struct tr_env env = s->w.env;
    struct sql_stmt *stmt = NULL;
    struct db_error e = {0};
    struct tr_plan *plan;
    struct str rest, text;
    struct buf made = {0};

    buf_clear(&s->w.answer);
    env.arg = s;
    env.table = system_table;
    env.schema = any_schema;
    if (sql_parse(&s->w.arena, str_c(sql), &options, &stmt, &rest, &e) ||
        info_show_text(&s->w.arena, stmt->show, "shop", &made, &e)) {
        buf_printf(&s->w.answer, "%d: %s", e.number, e.text);
        buf_fini(&made);
        return buf_str(&s->w.answer);
    }
    text = arena_str(&s->w.arena, buf_str(&made));
    buf_fini(&made);
    if (sql_parse(&s->w.arena, text, &options, &stmt, &rest, &e) ||
        tr_translate(&s->w.arena, stmt, &env, &plan, &e))
        buf_printf(&s->w.answer, "%d: %s in " STR_F, e.number, e.text, STR_A(text));
    else
        run_plan(s, plan);
    return buf_str(&s->w.answer);
}

static const struct {
    const char *sql;
    const char *answer;
} shows[] = {
    {"SHOW TABLES", "Tables_in_shop\np\nt"},
    {"SHOW FULL TABLES LIKE 't'", "Tables_in_shop (t)|Table_type\nt|BASE TABLE"},
    {"SHOW FULL TABLES WHERE Tables_in_shop <> 't' AND Table_type = 'BASE TABLE'",
        "Tables_in_shop|Table_type\np|BASE TABLE"},
    {"SHOW TABLES FROM nowhere", "Tables_in_nowhere"},
    {"DESCRIBE p", "Field|Type|Null|Key|Default|Extra\nid|int|NO|PRI|NULL|auto_increment\n"
                   "x|varchar(20)|NO|UNI|NULL|"},
    {"SHOW COLUMNS FROM tmp", "Field|Type|Null|Key|Default|Extra\nn|int|YES||NULL|"},
    {"SHOW FULL COLUMNS FROM p LIKE 'X'",
        "Field|Type|Collation|Null|Key|Default|Extra|Privileges|Comment\n"
        "x|varchar(20)|utf8mb4_bin|NO|UNI|NULL||select,insert,update,references|k"},
    {"SHOW COLUMNS FROM t WHERE `Key` = 'PRI'",
        "Field|Type|Null|Key|Default|Extra\na|int unsigned|NO|PRI|NULL|\n"
        "b|varchar(20)|NO|PRI|z|"},
    {"SHOW INDEX FROM p WHERE Key_name = 'x'",
        "Table|Non_unique|Key_name|Seq_in_index|Column_name|Collation|Cardinality|Sub_part|Packed|"
        "Null|Index_type|Comment|Index_comment|Visible|Expression\n"
        "p|0|x|1|x|A|10|NULL|NULL||BTREE|||YES|NULL"},
    {"SHOW DATABASES", "Database\ninformation_schema\nmysql\nperformance_schema\nshop\nsys"},
    {"SHOW VARIABLES LIKE 'VERSION%'", "Variable_name|Value\nversion|8.0.36-ephpm"},
    {"SHOW GLOBAL VARIABLES", "Variable_name|Value\nmax_allowed_packet|67108864"},
    {"SHOW STATUS WHERE Variable_name IN ('threads_connected')",
        "Variable_name|Value\nThreads_connected|1"},
    {"SHOW CHARSET LIKE 'utf8mb4'",
        "Charset|Description|Default collation|Maxlen\nutf8mb4|UTF-8 Unicode|utf8mb4_0900_ai_ci|4"},
    {"SHOW COLLATION WHERE `Charset` = 'ascii' AND `Default` = 'Yes'",
        "Collation|Charset|Id|Default|Compiled|Sortlen|Pad_attribute\n"
        "ascii_general_ci|ascii|11|Yes|Yes|1|PAD SPACE"},
    {"SHOW ENGINES",
        "Engine|Support|Comment|Transactions|XA|Savepoints\n"
        "InnoDB|DEFAULT|Supports transactions, row-level locking, and foreign keys|YES"
        "|NO|YES\nMyISAM|YES|MyISAM storage engine|NO|NO|NO\n"
        "MEMORY|YES|Hash based, stored in memory, useful for temporary tables|NO|NO|NO"},
    {"SHOW PROCESSLIST", "Id|User|Host|db|Command|Time|State|Info\n"
                         "7|app|localhost|shop|Query|2|executing|SHOW PROCESSLIST"},
    {"SHOW WARNINGS", "Level|Code|Message\nWarning|1265|Data truncated\nError|1064|no"},
    {"SHOW WARNINGS LIMIT 1", "Level|Code|Message\nWarning|1265|Data truncated"},
    {"SHOW ERRORS", "Level|Code|Message\nError|1064|no"},
    {"SHOW COUNT(*) WARNINGS", "@@session.warning_count\n2"},
    {"SHOW TRIGGERS", "Trigger|Event|Table|Statement|Timing|Created|sql_mode|Definer|"
                      "character_set_client|collation_connection|Database Collation"},
    {"SHOW PROCEDURE STATUS", "Db|Name|Type|Definer|Modified|Created|Security_type|Comment|"
                              "character_set_client|collation_connection|Database Collation"},
    {"SHOW GRANTS", "Grants for current user\n"
                    "GRANT ALL PRIVILEGES ON *.* TO `app`@`%` WITH GRANT OPTION"},
    {"SHOW PLUGINS", "Name|Status|Type|Library|License\n"
                     "mysql_native_password|ACTIVE|AUTHENTICATION|NULL|NULL\n"
                     "caching_sha2_password|ACTIVE|AUTHENTICATION|NULL|NULL\n"
                     "InnoDB|ACTIVE|STORAGE ENGINE|NULL|NULL"},
    {"SHOW TABLE STATUS LIKE 'p'",
        "Name|Engine|Version|Row_format|Rows|Avg_row_length|Data_length|Max_data_length|"
        "Index_length|Data_free|Auto_increment|Create_time|Update_time|Check_time|Collation|"
        "Checksum|Create_options|Comment\n"
        "p|InnoDB|10|Dynamic|10|100|1000|0|500|0|11|2024-01-31 10:10:10|NULL|NULL|"
        "utf8mb4_0900_ai_ci|NULL||"},
    {"SHOW EVENTS", "Db|Name|Definer|Time zone|Type|Execute at|Interval value|Interval field|Starts"
                    "|Ends|Status|Originator|character_set_client|collation_connection|Database "
                    "Collation"},
    {"SHOW MASTER STATUS", "File|Position|Binlog_Do_DB|Binlog_Ignore_DB|Executed_Gtid_Set"},
};

static void test_show_is_a_query(void)
{
    struct shown s;
    uint32_t n;
    const struct info_relation *r = info_relations(&n);

    start(&s);
    for (uint32_t i = 0; i < n; i++)
        fill(&s, &r[i]);
    for (size_t i = 0; i < sizeof(shows) / sizeof(*shows); i++) {
        test_row(shows[i].sql);
        CHECK_STR(show(&s, shows[i].sql), shows[i].answer);
    }
    test_row(NULL);
    stop(&s);
}

static void test_show_without_a_database(void)
{
    struct sql_show_stmt s = {.what = SQL_SHOW_TABLES};
    struct db_error e = {0};
    struct buf text = {0};
    struct arena arena;

    arena_init(&arena);
    CHECK_INT(info_show_text(&arena, &s, NULL, &text, &e), ERR_INVAL);
    CHECK_INT(e.number, 1046);
    s.what = SQL_SHOW_CREATE_TABLE;
    CHECK_INT(info_show_text(&arena, &s, "shop", &text, &e), ERR_UNSUPPORTED);
    buf_fini(&text);
    arena_fini(&arena);
}

const struct test tests_info[] = {TEST(test_info_rows_of_tables),
    TEST(test_info_rows_of_constraints), TEST(test_info_relations_are_whole),
    TEST(test_show_is_a_query), TEST(test_show_without_a_database), TEST_END};
