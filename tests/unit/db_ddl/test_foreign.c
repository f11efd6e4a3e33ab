/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_ddl/support.h"

static void test_foreign_table_of_another_program(void)
{
    static const struct ddl_foreign_column columns[] = {
        {.name = STR("id"), .type = STR("INTEGER"), .pk = 1},
        {.name = STR("name"),
            .type = STR("varchar(40)"),
            .not_null = true,
            .default_text = STR("'it''s'")},
        {.name = STR("price"), .type = STR("DECIMAL(10,2)"), .default_text = STR("-1.5")},
        {.name = STR("made"), .type = STR("datetime"), .default_text = STR("CURRENT_TIMESTAMP")},
        {.name = STR("data"), .type = STR("")},
        {.name = STR("ratio"), .type = STR("FLOAT")},
        {.name = STR("hidden"), .type = STR("INT"), .hidden = 1},
        {.name = STR("double"), .type = STR("int"), .hidden = 2},
    };
    static const struct str on_name[] = {STR("name")}, on_both[] = {STR("ratio"), STR("id")};
    static const struct str on_expr[] = {STR_NONE};
    static const bool desc[] = {true, false};
    static const struct ddl_foreign_index indexes[] = {
        {.name = STR("sqlite_autoindex_t_1"),
            .unique = true,
            .origin = STR("u"),
            .columns = on_name,
            .n_columns = 1},
        {.name = STR("by_ratio"),
            .origin = STR("c"),
            .columns = on_both,
            .desc = desc,
            .n_columns = 2},
        {.name = STR("expr"), .origin = STR("c"), .columns = on_expr, .n_columns = 1},
        {.name = STR("part"),
            .origin = STR("c"),
            .partial = true,
            .columns = on_name,
            .n_columns = 1},
    };
    static const struct str child[] = {STR("ratio")}, parent[] = {STR("id")};
    static const struct ddl_foreign_key keys[] = {{.table = STR("p"),
        .columns = child,
        .ref_columns = parent,
        .n_columns = 1,
        .on_delete = STR("CASCADE")}};
    static const struct ddl_foreign_table t = {.name = STR("t"),
        .columns = columns,
        .n_columns = 8,
        .indexes = indexes,
        .n_indexes = 4,
        .keys = keys,
        .n_keys = 1};
    struct db_cat_table *out = NULL;
    struct buf text = {0}, saved = {0};
    struct world w;

    world_open(&w);
    CHECK_INT(ddl_foreign(&w.arena, &t, &w.defaults, &out), 0);
    if (out) {
        ddl_show(&text, out, 0);
        CHECK_INT(out->rowid_column, 0);
        CHECK_INT(out->auto_column, 0);
        ddl_save(&saved, out);
        CHECK_INT(ddl_load(&w.arena, buf_str(&saved), &out), 0);
    }
    CHECK_STR(buf_str(&text),
        "CREATE TABLE `t` (\n"
        "  `id` bigint NOT NULL AUTO_INCREMENT,\n"
        "  `name` varchar(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT 'it''s',\n"
        "  `price` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT '-1.5',\n"
        "  `made` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,\n"
        "  `data` longblob,\n"
        "  `ratio` double DEFAULT NULL,\n"
        "  `double` bigint GENERATED ALWAYS AS (null) VIRTUAL,\n"
        "  PRIMARY KEY (`id`),\n"
        "  UNIQUE KEY `name` (`name`),\n"
        "  KEY `by_ratio` (`ratio` DESC,`id`),\n"
        "  CONSTRAINT `t_ibfk_1` FOREIGN KEY (`ratio`) REFERENCES `p` (`id`) ON DELETE CASCADE\n"
        ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci");
    buf_fini(&text);
    buf_fini(&saved);
    world_close(&w);
}

static void test_foreign_table_without_rowid_column(void)
{
    static const struct ddl_foreign_column columns[] = {
        {.name = STR("a"), .type = STR("TEXT"), .pk = 2},
        {.name = STR("b"), .type = STR("INT"), .pk = 1},
    };
    static const struct ddl_foreign_table t = {
        .name = STR("t"), .columns = columns, .n_columns = 2};
    struct db_cat_table *out = NULL;
    struct world w;

    world_open(&w);
    CHECK_INT(ddl_foreign(&w.arena, &t, &w.defaults, &out), 0);
    if (out) {
        CHECK_INT(out->rowid_column, -1);
        CHECK_INT(out->n_keys, 1);
        CHECK_INT(out->keys[0].parts[0].column, 1);
        CHECK(out->columns[0].not_null);
    }
    world_close(&w);
}

const struct test tests_foreign[] = {TEST(test_foreign_table_of_another_program),
    TEST(test_foreign_table_without_rowid_column), TEST_END};
