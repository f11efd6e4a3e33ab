/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/ddl.h"

#include "base/err.h"
#include "base/mem.h"
#include "db/store/fktext.h"
#include "db/store/sqlerr.h"
#include "platform/clock.h"

/* ---- one definition ---- */

int def_schema(struct db_session *s, struct str schema, struct db_error *e)
{
    struct str db = schema.len ? schema : str_c(s->database);

    if (db.len == 0)
        return db_error_set(e, DB_E_NO_DB);
    if (str_eq(db, s->db->name))
        return 0;
    if (!info_is_schema(db) && !srv_db(s->server, db))
        return db_error_set(e, DB_E_BAD_DB, arena_str(&s->arena, db).p);
    return db_error_set(e, DB_E_DB_ACCESS, s->user, s->host, arena_str(&s->arena, db).p);
}

int def_begin(struct def *d, struct db_session *s, bool temporary, struct db_error *e)
{
    memset(d, 0, sizeof(*d));
    d->s = s;
    if (!temporary && tx_implicit_commit(s, e) != 0)
        return ERR_IO;
    if (temporary ? tx_read(s, false, e) != 0 : tx_define(s, e) != 0)
        return ERR_IO;
    exec_env(s, &d->env);
    d->defaults.schema = s->db->name;
    d->defaults.charset = store_var_str(&s->vars, VAR_character_set_database);
    d->defaults.collation = store_var_str(&s->vars, VAR_collation_database);
    d->defaults.now = s->f.now / 1000000;
    d->tables = store_tables_ref(s->tables);
    d->temp = s->temp ? store_tables_ref(s->temp) : NULL;
    return 0;
}

static int sql_fail(struct def *d, int rc, struct db_error *e)
{
    store_sqlerr_set(d->s->handle, rc, NULL, e);
    return ERR_IO;
}

int def_sql(struct def *d, struct str text, struct db_error *e)
{
    int rc = store_handle_run_once(d->s->handle, text);

    return rc == SQLITE_OK ? 0 : sql_fail(d, rc, e);
}

int def_end(struct def *d, int code, struct db_error *e)
{
    struct db_session *s = d->s;
    struct store_tables *old = s->temp;
    struct db_error late;
    int rc;

    if (code == 0 && d->changed) {
        d->tables->version = s->tables->version + 1;
        rc = store_tables_save_version(s->handle->sql, d->tables->version);
        if (rc != SQLITE_OK)
            code = sql_fail(d, rc, e);
    }
    if (code == 0 && d->changed)
        s->new_tables = store_tables_ref(d->tables);
    if (code == 0) {
        s->temp = d->temp;
        d->temp = old;
    }
    if (tx_done(s, code == 0, &late) != 0 && code == 0) {
        *e = late;
        code = ERR_IO;
    }
    store_tables_unref(d->tables);
    store_tables_unref(d->temp);
    if (s->temp && s->temp->n == 0) {
        store_tables_unref(s->temp);
        s->temp = NULL;
    }
    tx_foreign_keys(s);
    return code;
}

int def_put(struct def *d, const struct db_cat_table *t, struct str remove, bool temporary,
    struct db_error *e)
{
    struct store_tables **list = temporary ? &d->temp : &d->tables, *next;
    struct store_table *copy = NULL;
    sqlite3 *sql = d->s->handle->sql;
    int rc = SQLITE_OK;

    if (t && store_table_copy(t, d->s->db->name, &copy) != 0)
        return db_error_set(e, DB_E_UNKNOWN, "the table's definition cannot be kept");
    if (!temporary && remove.len && !(t && str_eq(t->name, remove)))
        rc = store_tables_save(sql, remove, NULL);
    if (rc == SQLITE_OK && !temporary && t)
        rc = store_tables_save(sql, t->name, t);
    if (rc != SQLITE_OK) {
        store_table_unref(copy);
        return sql_fail(d, rc, e);
    }
    if (!*list)
        *list = store_tables_new();
    next = store_tables_change(*list, remove, copy);
    store_tables_unref(*list);
    *list = next;
    d->changed |= !temporary;
    return 0;
}

const struct db_cat_table *def_table(const struct def *d, struct str name)
{
    const struct db_cat_table *t = d->temp ? store_tables_find(d->temp, name) : NULL;

    return t ? t : store_tables_find(d->tables, name);
}

int def_auto(struct def *d, const struct db_cat_table *t, uint64_t next, struct db_error *e)
{
    struct arena *a = &d->s->arena;
    const char *schema = t->temporary ? "temp" : "main";
    struct buf name = {0};
    struct str literal;

    if (next == 0 || t->auto_column < 0 || t->auto_column != t->rowid_column)
        return 0;
    for (size_t i = 0; i < t->name.len; i++) {
        if (t->name.p[i] == '\'')
            buf_add_char(&name, '\'');
        buf_add_char(&name, t->name.p[i]);
    }
    literal = arena_str(a, buf_str(&name));
    buf_fini(&name);
    if (def_sql(d,
            arena_printf(a, "DELETE FROM %s.sqlite_sequence WHERE name = '" STR_F "'", schema,
                STR_A(literal)),
            e) != 0)
        return ERR_IO;
    return def_sql(d,
        arena_printf(a,
            "INSERT INTO %s.sqlite_sequence (name, seq) SELECT '" STR_F
            "', max(%llu, coalesce((SELECT max(rowid) FROM %s." STR_F "), 0))",
            schema, STR_A(literal), (unsigned long long)next - 1, schema,
            STR_A(tr_quote(a, t->name))),
        e);
}

int def_views_off(struct def *d, struct str **views, uint32_t *n, struct db_error *e)
{
    struct arena *a = &d->s->arena;
    struct str *v = arena_new(a, (d->tables->n + 1) * sizeof(*v));
    sqlite3_stmt *stmt = NULL;
    int rc, code = 0;

    *n = 0;
    rc = sqlite3_prepare_v2(d->s->handle->sql,
        "SELECT sql FROM main.sqlite_schema WHERE type = 'view' ORDER BY rowid", -1, &stmt, NULL);
    while (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW && *n < d->tables->n)
        v[(*n)++] = arena_str(a, str_c((const char *)sqlite3_column_text(stmt, 0)));
    (void)sqlite3_finalize(stmt);
    for (uint32_t i = 0; i < d->tables->n && code == 0; i++) {
        const struct db_cat_table *t = d->tables->v[i]->table;

        if (t->is_view)
            code = def_sql(
                d, arena_printf(a, "DROP VIEW main." STR_F, STR_A(tr_quote(a, t->name))), e);
    }
    *views = v;
    return code;
}

int def_views_on(struct def *d, const struct str *views, uint32_t n, struct db_error *e)
{
    int code = 0;

    for (uint32_t i = 0; i < n && code == 0; i++)
        code = def_sql(d, views[i], e);
    return code;
}

/* ---- DROP TABLE ---- */

/* A table that stays refers to t. */
static bool referenced(const struct store_tables *tables, const struct db_cat_table *t,
    const struct sql_drop *drop, struct fk_place *at)
{
    for (uint32_t i = 0; i < tables->n; i++) {
        const struct db_cat_table *child = tables->v[i]->table;
        bool goes = child == t;

        for (uint32_t j = 0; drop && j < drop->n_names && !goes; j++)
            goes = str_eq(drop->names[j].name, child->name);
        for (uint32_t j = 0; j < child->n_fks && !goes; j++) {
            if (!str_eq(child->fks[j].ref_table, t->name))
                continue;
            *at = (struct fk_place){child, &child->fks[j]};
            return true;
        }
    }
    return false;
}

static int drop_one(
    struct def *d, const struct db_cat_table *t, const struct sql_drop *drop, struct db_error *e)
{
    struct db_session *s = d->s;
    struct str name = arena_str(&s->arena, t->name);
    struct fk_place at;
    bool temporary = t->temporary;

    if (!temporary && store_var_int(&s->vars, VAR_foreign_key_checks) &&
        referenced(d->tables, t, drop, &at))
        return db_error_set(e, DB_E_DROP_PARENT, name.p, arena_str(&s->arena, at.fk->name).p,
            arena_str(&s->arena, at.table->name).p);
    if (def_sql(d,
            arena_printf(&s->arena, "DROP TABLE %s." STR_F, temporary ? "temp" : "main",
                STR_A(tr_quote(&s->arena, name))),
            e) != 0)
        return ERR_IO;
    return def_put(d, NULL, name, temporary, e);
}

static const struct db_cat_table *to_drop(const struct def *d, struct str name, bool temporary)
{
    const struct db_cat_table *t = d->temp ? store_tables_find(d->temp, name) : NULL;

    if (!t && !temporary)
        t = store_tables_find(d->tables, name);
    return t && t->is_view ? NULL : t;
}

/* Names that are not there: notes with IF EXISTS, else error 1051 and nothing is dropped. */
static int unknown_tables(struct def *d, const struct sql_drop *drop, struct db_error *e)
{
    struct db_session *s = d->s;
    struct buf b = {0};
    int code = 0;

    for (uint32_t i = 0; i < drop->n_names; i++) {
        const struct sql_name *n = &drop->names[i];
        struct str full;

        if (to_drop(d, n->name, drop->temporary))
            continue;
        full = arena_printf(&s->arena, STR_F "." STR_F,
            STR_A(n->schema.len ? n->schema : str_c(s->database)), STR_A(n->name));
        if (drop->if_exists) {
            sess_warn_name(s, DB_NOTE, DB_E_BAD_TABLE, full.p);
            continue;
        }
        if (b.len)
            buf_add_char(&b, ',');
        buf_add_str(&b, full);
    }
    if (b.len)
        code = db_error_set(e, DB_E_BAD_TABLE, buf_cstr(&b));
    buf_fini(&b);
    return code;
}

static bool only_temporary(struct db_session *s, const struct sql_drop *drop)
{
    bool all = true;

    for (uint32_t i = 0; i < drop->n_names; i++)
        all &= s->temp && store_tables_find(s->temp, drop->names[i].name);
    return all || drop->temporary;
}

static int drop_tables(struct db_session *s, const struct sql_drop *drop, struct db_error *e)
{
    struct def d;
    int code = 0;

    for (uint32_t i = 0; i < drop->n_names && code == 0; i++)
        code = def_schema(s, drop->names[i].schema, e);
    if (code)
        return code;
    if (def_begin(&d, s, only_temporary(s, drop), e) != 0)
        return ERR_IO;
    code = unknown_tables(&d, drop, e);
    for (uint32_t i = 0; i < drop->n_names && code == 0; i++) {
        const struct db_cat_table *t = to_drop(&d, drop->names[i].name, drop->temporary);

        if (t)
            code = drop_one(&d, t, drop, e);
    }
    code = def_end(&d, code, e);
    if (code == 0)
        sess_ok(s, 0, STR_NONE);
    return code;
}

/* ---- TRUNCATE ---- */

static int empty_table(struct def *d, const struct db_cat_table *t, struct db_error *e)
{
    struct db_session *s = d->s;
    const char *schema = t->temporary ? "temp" : "main";
    struct fk_place at;

    if (!t->temporary && store_var_int(&s->vars, VAR_foreign_key_checks) &&
        referenced(d->tables, t, NULL, &at)) {
        struct buf b = {0};

        fk_text(&b, s->db->name, at);
        db_error_set(e, DB_E_TRUNCATE_FK, buf_cstr(&b));
        buf_fini(&b);
        return ERR_INVAL;
    }
    if (def_sql(d,
            arena_printf(
                &s->arena, "DELETE FROM %s." STR_F, schema, STR_A(tr_quote(&s->arena, t->name))),
            e) != 0)
        return ERR_IO;
    return def_auto(d, t, 1, e);
}

static int truncate_table(struct db_session *s, const struct sql_drop *drop, struct db_error *e)
{
    const struct sql_name *n = &drop->names[0];
    const struct db_cat_table *t;
    struct def d;
    int code;

    if (def_schema(s, n->schema, e) != 0)
        return ERR_INVAL;
    if (def_begin(&d, s, only_temporary(s, drop), e) != 0)
        return ERR_IO;
    t = def_table(&d, n->name);
    code = t && !t->is_view ? empty_table(&d, t, e) : sess_no_table(s, n->schema, n->name, e);
    code = def_end(&d, code, e);
    if (code == 0)
        sess_ok(s, 0, STR_NONE);
    return code;
}

int ddl_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    switch (stmt->kind) {
    case SQL_STMT_CREATE_TABLE:
        return ddl_create_run(s, stmt->create_table, e);
    case SQL_STMT_ALTER_TABLE:
    case SQL_STMT_CREATE_INDEX:
    case SQL_STMT_DROP_INDEX:
        return ddl_alter_run(s, stmt, e);
    case SQL_STMT_RENAME_TABLE:
        return ddl_rename_run(s, stmt, e);
    case SQL_STMT_DROP_TABLE:
        return drop_tables(s, stmt->drop, e);
    case SQL_STMT_TRUNCATE:
        return truncate_table(s, stmt->drop, e);
    case SQL_STMT_CREATE_VIEW:
    case SQL_STMT_DROP_VIEW:
        return ddl_view_run(s, stmt, e);
    default:
        return ddl_database_run(s, stmt, e);
    }
}
