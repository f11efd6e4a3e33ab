/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_ddl/support.h"

struct db_cat_table *world_table(struct world *w, struct str name)
{
    for (uint32_t i = 0; i < w->n; i++) {
        if (str_ieq(w->tables[i]->name, name))
            return w->tables[i];
    }
    return NULL;
}

static const struct db_cat_table *find(void *arg, struct str schema, struct str name)
{
    (void)schema;
    return world_table(arg, name);
}

static bool has_schema(void *arg, struct str schema)
{
    (void)arg;
    return str_eq(schema, STR("shop"));
}

static bool variable(
    void *arg, enum sql_scope scope, struct str name, struct db_value *value, struct db_type *type)
{
    const struct world *w = arg;

    (void)scope;
    if (!str_eq(name, STR("foreign_key_checks")))
        return false;
    *value = (struct db_value){.kind = DB_V_INT, .i = w->fk_checks};
    *type = (struct db_type){.base = DB_T_BIGINT};
    return true;
}

static bool no_variable(void *arg, struct str name, struct db_type *type)
{
    (void)arg;
    (void)name;
    (void)type;
    return false;
}

void world_open(struct world *w)
{
    memset(w, 0, sizeof(*w));
    arena_init(&w->arena);
    handle_open(&w->handle);
    w->fk_checks = true;
    w->env = (struct tr_env){.arg = w,
        .table = find,
        .schema = has_schema,
        .system_var = variable,
        .user_var = no_variable,
        .database = STR("shop"),
        .mode = DB_MODE_STRICT_TRANS_TABLES | DB_MODE_NO_ENGINE_SUBSTITUTION,
        .charset = STR("utf8mb4"),
        .collation = STR("utf8mb4_0900_ai_ci"),
        .utc = true,
        .select_limit = UINT64_MAX};
    w->defaults = (struct ddl_defaults){.schema = STR("shop"),
        .charset = STR("utf8mb4"),
        .collation = STR("utf8mb4_0900_ai_ci"),
        .now = 1706695810};
}

void world_close(struct world *w)
{
    handle_close(&w->handle);
    arena_fini(&w->arena);
    buf_fini(&w->answer);
}

static struct str fail(struct world *w, const struct db_error *e)
{
    buf_clear(&w->answer);
    buf_printf(&w->answer, "%d: %s", e->number, e->text);
    return buf_str(&w->answer);
}

struct str world_sqlite(struct world *w, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    struct db_error e;

    buf_clear(&w->answer);
    if (sqlite3_prepare_v2(w->handle.db, sql, -1, &stmt, NULL) == SQLITE_OK) {
        int r = sqlite3_step(stmt);

        for (int i = 0; r == SQLITE_ROW && i < sqlite3_column_count(stmt); i++) {
            const unsigned char *p = sqlite3_column_text(stmt, i);

            buf_printf(&w->answer, "%s%s", i > 0 ? "|" : "", p ? (const char *)p : "NULL");
        }
        if (r == SQLITE_ROW || r == SQLITE_DONE) {
            sqlite3_finalize(stmt);
            return buf_str(&w->answer);
        }
    }
    if (db_error_unpack(sqlite3_errmsg(w->handle.db), &e))
        buf_printf(&w->answer, "%d: %s", e.number, e.text);
    else
        buf_printf(&w->answer, "SQLite: %s", sqlite3_errmsg(w->handle.db));
    sqlite3_finalize(stmt);
    return buf_str(&w->answer);
}

/* Runs them in a transaction; empty, or what went wrong. */
static struct str run_all(struct world *w, const struct str *statements, uint32_t n)
{
    (void)world_sqlite(w, "BEGIN");
    for (uint32_t i = 0; i < n; i++) {
        struct str bad = world_sqlite(w, statements[i].p);

        if (bad.len == 0)
            continue;
        buf_printf(&w->answer, " in: " STR_F, STR_A(statements[i]));
        bad = arena_str(&w->arena, buf_str(&w->answer));
        (void)world_sqlite(w, "ROLLBACK");
        buf_clear(&w->answer);
        buf_add_str(&w->answer, bad);
        return buf_str(&w->answer);
    }
    (void)world_sqlite(w, "COMMIT");
    buf_clear(&w->answer);
    return STR_NONE;
}

static struct str show(struct world *w, const struct db_cat_table *t)
{
    buf_clear(&w->answer);
    ddl_show(&w->answer, t, 0);
    return buf_str(&w->answer);
}

static struct str create(struct world *w, const struct sql_stmt *s)
{
    struct db_error e = {0};
    struct db_cat_table *t;
    struct str *statements, bad;
    uint32_t n;
    int r;

    if (s->create_table->like.name.len > 0)
        r = ddl_like(&w->arena, world_table(w, s->create_table->like.name), s->create_table->table,
            s->create_table->temporary, &w->defaults, &t, &e);
    else
        r = ddl_create(&w->arena, s->create_table, &w->defaults, &w->env, NULL, 0, &t, &e);
    if (r || (r = ddl_sqlite(&w->arena, t, t->name, &w->env, &statements, &n, &e)))
        return fail(w, &e);
    if ((bad = run_all(w, statements, n)).len > 0)
        return bad;
    w->tables[w->n++] = t;
    return show(w, t);
}

static struct str changed(struct world *w, struct db_cat_table *old, struct ddl_change *change)
{
    struct db_error e = {0};
    struct db_cat_table *others[WORLD_TABLES] = {0};
    struct str bad;

    for (uint32_t i = 0; i < w->n; i++) {
        if (w->tables[i] != old && ddl_refer(&w->arena, w->tables[i], old, change, &others[i], &e))
            return fail(w, &e);
    }
    if ((bad = run_all(w, change->statements, change->n_statements)).len > 0)
        return bad;
    for (uint32_t i = 0; i < w->n; i++) {
        if (w->tables[i] == old)
            w->tables[i] = change->table;
        else if (others[i])
            w->tables[i] = others[i];
    }
    w->change = change;
    return show(w, change->table);
}

static struct str alter(struct world *w, const struct sql_stmt *s)
{
    struct db_cat_table *old = world_table(w, s->alter_table->table.name);
    struct ddl_change *change;
    struct db_error e = {0};

    if (!old) {
        db_error_set(&e, DB_E_NO_SUCH_TABLE, "shop", "?");
        return fail(w, &e);
    }
    if (ddl_alter(&w->arena, old, s->alter_table, &w->defaults, &w->env, &change, &e))
        return fail(w, &e);
    return changed(w, old, change);
}

struct str world_run(struct world *w, const char *sql)
{
    const struct sql_parse_options options = {.mode = w->env.mode, .version = 80036};
    struct sql_stmt *s = NULL;
    struct db_error e = {0};
    struct str rest;

    if (sql_parse(&w->arena, str_c(sql), &options, &s, &rest, &e))
        return fail(w, &e);
    if (s->kind == SQL_STMT_CREATE_TABLE)
        return create(w, s);
    if (s->kind == SQL_STMT_ALTER_TABLE)
        return alter(w, s);
    if (s->kind == SQL_STMT_RENAME_TABLE) {
        struct db_cat_table *old = world_table(w, s->renames[0].from.name);
        struct ddl_change *change;

        if (ddl_rename_table(&w->arena, old, s->renames[0].to, &w->env, &change, &e))
            return fail(w, &e);
        return changed(w, old, change);
    }
    return STR("not a definition");
}
