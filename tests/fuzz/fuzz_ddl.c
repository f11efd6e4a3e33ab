/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Definitions: a CREATE TABLE and changes of it. What is made can be kept, and what is refused is
 * refused with an error. */
#include "base/mem.h"
#include "db/ddl/ddl.h"
#include "db/sql/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct db_cat_table *find(void *arg, struct str schema, struct str name)
{
    const struct db_cat_table **t = arg;

    (void)schema;
    return *t && str_ieq((*t)->name, name) ? *t : NULL;
}

static void keep(struct arena *arena, const struct db_cat_table *t, const struct tr_env *env)
{
    struct buf saved = {0}, again = {0}, show = {0};
    struct db_cat_table *loaded;
    struct db_error e;
    struct str *statements;
    uint32_t n;

    ddl_save(&saved, t);
    ENSURE(ddl_load(arena, buf_str(&saved), &loaded) == 0);
    ddl_save(&again, loaded);
    ENSURE(str_eq(buf_str(&saved), buf_str(&again)));
    ddl_show(&show, t, 0);
    (void)!ddl_sqlite(arena, t, t->name, env, &statements, &n, &e);
    buf_fini(&saved);
    buf_fini(&again);
    buf_fini(&show);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct ddl_defaults defaults = {.schema = STR("shop"),
        .charset = STR("utf8mb4"),
        .collation = STR("utf8mb4_0900_ai_ci"),
        .now = 1};
    const struct sql_parse_options options = {.version = 80036};
    const struct db_cat_table *current = NULL;
    struct tr_env env = {.arg = &current,
        .table = find,
        .database = STR("shop"),
        .mode = DB_MODE_STRICT_TRANS_TABLES,
        .charset = STR("utf8mb4"),
        .collation = STR("utf8mb4_0900_ai_ci"),
        .utc = true};
    struct str rest = str_n((const char *)data, size);
    struct arena arena = {0};

    while (rest.len > 0) {
        struct sql_stmt *s;
        struct db_cat_table *t = NULL;
        struct ddl_change *change = NULL;
        struct db_error e = {0};
        int r = 0;

        if (sql_parse(&arena, rest, &options, &s, &rest, &e))
            break;
        if (s->kind == SQL_STMT_CREATE_TABLE && !s->create_table->like.name.len)
            r = ddl_create(&arena, s->create_table, &defaults, &env, NULL, 0, &t, &e);
        else if (s->kind == SQL_STMT_ALTER_TABLE && current)
            r = ddl_alter(&arena, current, s->alter_table, &defaults, &env, &change, &e);
        ENSURE(r == 0 || e.number != 0);
        t = change ? change->table : t;
        if (t) {
            keep(&arena, t, &env);
            current = t;
        }
    }
    arena_fini(&arena);
    return 0;
}
