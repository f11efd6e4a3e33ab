/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* ALTER TABLE, CREATE INDEX, DROP INDEX, RENAME TABLE: changes that ddl/ works out. */

#include "base/err.h"
#include "db/store/ddl.h"
#include "db/store/sqlerr.h"

/* Other tables of the catalog that name what changes. */
static int refer(struct def *d, const struct db_cat_table *old, const struct ddl_change *change,
    struct db_cat_table **others, uint32_t *n, struct db_error *e)
{
    *n = 0;
    if (old->temporary)
        return 0;
    for (uint32_t i = 0; i < d->tables->n; i++) {
        const struct db_cat_table *t = d->tables->v[i]->table;
        struct db_cat_table *changed = NULL;

        if (t == old || t->is_view)
            continue;
        if (ddl_refer(&d->s->arena, t, old, change, &changed, e) != 0)
            return ERR_INVAL;
        if (changed)
            others[(*n)++] = changed;
    }
    return 0;
}

static int check_foreign_keys(struct def *d, const struct db_cat_table *t, struct db_error *e)
{
    struct str text = arena_printf(&d->s->arena, "PRAGMA main.foreign_key_check(" STR_F ")",
        STR_A(tr_quote(&d->s->arena, t->name)));
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(d->s->handle->sql, text.p, (int)text.len, &stmt, NULL);
    bool broken = rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW;

    (void)sqlite3_finalize(stmt);
    if (!broken)
        return 0;
    text = arena_printf(&d->s->arena, "`" STR_F "`.`" STR_F "`", STR_A(t->schema), STR_A(t->name));
    return db_error_set(e, DB_E_NO_REFERENCED_ROW, text.p);
}

/* Error 1062 of an index that cannot be: which key, and which value it has twice. */
static void name_duplicate(struct def *d, const struct db_cat_table *t, struct db_error *e)
{
    struct arena *a = &d->s->arena;
    const struct db_cat_key *key = store_sqlerr_key(sqlite3_errmsg(d->s->handle->sql), t);
    struct buf columns = {0}, value = {0};
    struct str text;
    sqlite3_stmt *stmt = NULL;

    if (!key)
        return;
    for (uint32_t i = 0; i < key->n_parts; i++) {
        if (key->parts[i].column < 0)
            return;
    }
    for (uint32_t i = 0; i < key->n_parts; i++)
        buf_printf(&columns, "%s" STR_F, i ? ", " : "",
            STR_A(tr_quote(a, t->columns[key->parts[i].column].name)));
    text = arena_printf(a,
        "SELECT " STR_F " FROM " STR_F " GROUP BY " STR_F " HAVING count(*) > 1 LIMIT 1",
        STR_A(buf_str(&columns)), STR_A(tr_quote(a, t->name)), STR_A(buf_str(&columns)));
    if (sqlite3_prepare_v2(d->s->handle->sql, text.p, (int)text.len, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW) {
        for (uint32_t i = 0; i < key->n_parts; i++) {
            const char *p = (const char *)sqlite3_column_text(stmt, (int)i);

            buf_printf(&value, "%s%.64s", i ? "-" : "", p ? p : "NULL");
        }
        db_error_set(e, DB_E_DUP_ENTRY, buf_cstr(&value),
            arena_printf(a, STR_F "." STR_F, STR_A(t->name), STR_A(key->name)).p);
    }
    (void)sqlite3_finalize(stmt);
    buf_fini(&columns);
    buf_fini(&value);
}

static int run_change(
    struct def *d, const struct ddl_change *change, uint64_t *rows, struct db_error *e)
{
    struct str *views = NULL;
    uint32_t n_views = 0;
    int code = 0;

    store_handle_foreign_keys(d->s->handle, false);
    if (change->views_off)
        code = def_views_off(d, &views, &n_views, e);
    for (uint32_t i = 0; i < change->n_statements && code == 0; i++) {
        if ((int32_t)i == change->copy)
            d->s->f.row = 0;
        code = def_sql(d, change->statements[i], e);
        if (code == 0 && (int32_t)i == change->copy)
            *rows = (uint64_t)sqlite3_changes64(d->s->handle->sql);
    }
    if (code == 0 && change->views_off)
        code = def_views_on(d, views, n_views, e);
    if (code && e->number == 1062)
        name_duplicate(d, change->table, e);
    return code;
}

/* Runs the change of `old` and keeps what it makes. */
static int apply(struct def *d, const struct db_cat_table *old, const struct ddl_change *change,
    uint64_t *rows, struct db_error *e)
{
    struct db_cat_table **others = arena_new(&d->s->arena, (d->tables->n + 1) * sizeof(*others));
    struct str old_name = arena_str(&d->s->arena, old->name);
    bool temporary = old->temporary;
    uint32_t n;

    if (refer(d, old, change, others, &n, e) != 0)
        return ERR_INVAL;
    if (!str_eq(change->table->name, old_name) && !temporary) {
        const struct db_cat_table *other = store_tables_find_any(d->tables, change->table->name);

        if (other && other != old)
            return db_error_set(
                e, DB_E_TABLE_EXISTS, arena_str(&d->s->arena, change->table->name).p);
    }
    if (run_change(d, change, rows, e) != 0)
        return ERR_IO;
    if (def_put(d, change->table, old_name, temporary, e) != 0)
        return ERR_IO;
    for (uint32_t i = 0; i < n; i++) {
        if (def_put(d, others[i], others[i]->name, false, e) != 0)
            return ERR_IO;
    }
    if (def_auto(d, change->table, change->auto_increment, e) != 0)
        return ERR_IO;
    if (change->check_foreign_keys && store_var_int(&d->s->vars, VAR_foreign_key_checks))
        return check_foreign_keys(d, change->table, e);
    return 0;
}

/* CREATE INDEX and DROP INDEX as the ALTER they are. */
static void as_alter(
    const struct sql_stmt *stmt, struct sql_alter_table *alter, struct sql_alter_action *action)
{
    memset(action, 0, sizeof(*action));
    alter->actions = action;
    alter->n_actions = 1;
    if (stmt->kind == SQL_STMT_CREATE_INDEX) {
        alter->table = stmt->create_index->table;
        action->kind = SQL_ALTER_ADD_KEY;
        action->key = stmt->create_index->key;
        action->if_exists = stmt->create_index->if_not_exists;
        return;
    }
    alter->table = stmt->drop->names[0];
    action->kind =
        str_ieq(stmt->drop->index, STR("PRIMARY")) ? SQL_ALTER_DROP_PRIMARY : SQL_ALTER_DROP_KEY;
    action->name = stmt->drop->index;
    action->if_exists = stmt->drop->if_exists;
}

static int alter_table(
    struct def *d, const struct sql_alter_table *alter, uint64_t *rows, struct db_error *e)
{
    const struct db_cat_table *t = def_table(d, alter->table.name);
    struct ddl_change *change;

    if (!t)
        return sess_no_table(d->s, alter->table.schema, alter->table.name, e);
    if (t->is_view)
        return db_error_set(
            e, DB_E_VIEW_WRONG, d->s->db->name.p, arena_str(&d->s->arena, t->name).p, "BASE TABLE");
    if (ddl_alter(&d->s->arena, t, alter, &d->defaults, &d->env, &change, e) != 0)
        return ERR_INVAL;
    return apply(d, t, change, rows, e);
}

int ddl_alter_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    struct sql_alter_table made;
    struct sql_alter_action action;
    const struct sql_alter_table *alter = &made;
    struct def d;
    uint64_t rows = 0;
    bool temporary;
    int code;

    if (stmt->kind == SQL_STMT_ALTER_TABLE)
        alter = stmt->alter_table;
    else
        as_alter(stmt, &made, &action);
    if (def_schema(s, alter->table.schema, e) != 0)
        return ERR_INVAL;
    temporary = s->temp && store_tables_find(s->temp, alter->table.name);
    if (def_begin(&d, s, temporary, e) != 0)
        return ERR_IO;
    s->f.writes = true;
    code = def_end(&d, alter_table(&d, alter, &rows, e), e);
    if (code == 0)
        sess_ok(s, rows,
            arena_printf(&s->arena, "Records: %llu  Duplicates: 0  Warnings: %u",
                (unsigned long long)rows, s->total_warnings));
    return code;
}

/* ---- RENAME TABLE ---- */

/* SQLite cannot rename a view: it is made again. */
static int rename_view(
    struct def *d, const struct db_cat_table *old, struct str name, struct db_error *e)
{
    struct arena *a = &d->s->arena;
    struct db_cat_table *t = arena_new(a, sizeof(*t));
    struct str *views;
    uint32_t n;

    if (def_views_off(d, &views, &n, e) != 0)
        return ERR_IO;
    for (uint32_t i = 0; i < n; i++) {
        struct str prefix = arena_printf(a, "CREATE VIEW " STR_F, STR_A(tr_quote(a, old->name)));

        if (str_starts(views[i], prefix))
            views[i] = arena_printf(a, "CREATE VIEW " STR_F STR_F, STR_A(tr_quote(a, name)),
                STR_A(str_sub(views[i], prefix.len, views[i].len)));
    }
    if (def_views_on(d, views, n, e) != 0)
        return ERR_IO;
    *t = *old;
    t->name = name;
    return def_put(d, t, arena_str(a, old->name), false, e);
}

static int rename_one(struct def *d, const struct sql_rename *r, struct db_error *e)
{
    struct db_session *s = d->s;
    const struct db_cat_table *t = def_table(d, r->from.name);
    struct ddl_change *change;
    uint64_t rows;

    if (!t)
        return sess_no_table(s, r->from.schema, r->from.name, e);
    if (store_tables_find_any(d->tables, r->to.name) && !str_ieq(r->to.name, r->from.name))
        return db_error_set(e, DB_E_TABLE_EXISTS, arena_str(&s->arena, r->to.name).p);
    if (t->is_view)
        return rename_view(d, t, r->to.name, e);
    if (ddl_rename_table(&s->arena, t, r->to, &d->env, &change, e) != 0)
        return ERR_INVAL;
    return apply(d, t, change, &rows, e);
}

int ddl_rename_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    struct def d;
    int code = 0;

    for (uint32_t i = 0; i < stmt->n_renames && code == 0; i++) {
        code = def_schema(s, stmt->renames[i].from.schema, e);
        if (code == 0)
            code = def_schema(s, stmt->renames[i].to.schema, e);
    }
    if (code)
        return code;
    if (def_begin(&d, s, false, e) != 0)
        return ERR_IO;
    for (uint32_t i = 0; i < stmt->n_renames && code == 0; i++)
        code = rename_one(&d, &stmt->renames[i], e);
    code = def_end(&d, code, e);
    if (code == 0)
        sess_ok(s, 0, STR_NONE);
    return code;
}
