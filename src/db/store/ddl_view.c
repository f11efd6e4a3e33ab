/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Views, and what is left of CREATE and DROP DATABASE where one file is one database. */

#include "base/err.h"
#include "db/store/ddl.h"

/* ---- views ---- */

static int view_table(struct def *d, const struct sql_create_view *v,
    const struct db_column *columns, uint32_t n, struct db_cat_table **out, struct db_error *e)
{
    struct arena *a = &d->s->arena;
    struct db_cat_table *t = arena_new(a, sizeof(*t));
    struct db_cat_column *c = arena_new(a, (n + 1) * sizeof(*c));

    if (v->columns.n && v->columns.n != n)
        return db_error_set(e, DB_E_VIEW_COLUMNS);
    for (uint32_t i = 0; i < n; i++) {
        c[i].name = v->columns.n ? v->columns.v[i] : columns[i].name;
        c[i].type = columns[i].type;
        if (c[i].type.base == DB_T_NULL)
            c[i].type = (struct db_type){.base = DB_T_BINARY, .length = 0, .decimals = -1};
        c[i].not_null = columns[i].flags & DB_COL_NOT_NULL;
        for (uint32_t j = 0; j < i; j++) {
            if (str_ieq(c[i].name, c[j].name))
                return db_error_set(e, DB_E_DUP_FIELD, arena_str(a, c[i].name).p);
        }
    }
    t->schema = d->s->db->name;
    t->name = v->view.name;
    t->is_view = true;
    t->columns = c;
    t->n_columns = n;
    t->auto_column = t->rowid_column = -1;
    t->view_text = v->text;
    t->options = v->columns.n ? STR("columns") : STR_NONE; /* SHOW CREATE VIEW names them */
    t->charset = d->defaults.charset;
    t->collation = d->defaults.collation;
    t->created = d->defaults.now;
    *out = t;
    return 0;
}

static int make_view(struct def *d, const struct sql_create_view *v, struct db_error *e)
{
    struct arena *a = &d->s->arena;
    const struct db_column *columns;
    struct db_cat_table *t = NULL;
    struct str sql, name = tr_quote(a, v->view.name);
    struct buf b = {0};
    uint32_t n;
    int code;

    if (tr_query(a, v->query, &d->env, &sql, &columns, &n, e) != 0 ||
        view_table(d, v, columns, n, &t, e) != 0 || !t)
        return ERR_INVAL;
    if (store_tables_find(d->tables, v->view.name) &&
        def_sql(d, arena_printf(a, "DROP VIEW main." STR_F, STR_A(name)), e) != 0)
        return ERR_IO;
    buf_printf(&b, "CREATE VIEW main." STR_F " (", STR_A(name));
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&b, "%s" STR_F, i ? ", " : "", STR_A(tr_quote(a, t->columns[i].name)));
    buf_printf(&b, ") AS " STR_F, STR_A(sql));
    code = def_sql(d, arena_str(a, buf_str(&b)), e);
    buf_fini(&b);
    return code ? code : def_put(d, t, t->name, false, e);
}

static int create_view(struct db_session *s, const struct sql_create_view *v, struct db_error *e)
{
    const struct db_cat_table *old;
    struct def d;
    int code;

    if (def_schema(s, v->view.schema, e) != 0)
        return ERR_INVAL;
    if (def_begin(&d, s, false, e) != 0)
        return ERR_IO;
    old = store_tables_find_any(d.tables, v->view.name);
    if (old && !old->is_view && v->or_replace)
        code = db_error_set(
            e, DB_E_VIEW_WRONG, s->db->name.p, arena_str(&s->arena, v->view.name).p, "VIEW");
    else if (old && !v->or_replace)
        code = db_error_set(e, DB_E_TABLE_EXISTS, arena_str(&s->arena, v->view.name).p);
    else
        code = make_view(&d, v, e);
    code = def_end(&d, code, e);
    if (code == 0)
        sess_ok(s, 0, STR_NONE);
    return code;
}

static int drop_view(
    struct def *d, const struct sql_drop *drop, const struct sql_name *n, struct db_error *e)
{
    struct arena *a = &d->s->arena;
    const struct db_cat_table *t = store_tables_find(d->tables, n->name);
    struct str full = arena_printf(a, STR_F "." STR_F, STR_A(d->s->db->name), STR_A(n->name));

    if (!t && drop->if_exists) {
        sess_warn_name(d->s, DB_NOTE, DB_E_BAD_TABLE, full.p);
        return 0;
    }
    if (!t)
        return db_error_set(e, DB_E_BAD_TABLE, full.p);
    if (!t->is_view)
        return db_error_set(e, DB_E_VIEW_WRONG, d->s->db->name.p, arena_str(a, n->name).p, "VIEW");
    if (def_sql(d, arena_printf(a, "DROP VIEW main." STR_F, STR_A(tr_quote(a, n->name))), e) != 0)
        return ERR_IO;
    return def_put(d, NULL, n->name, false, e);
}

static int drop_views(struct db_session *s, const struct sql_drop *drop, struct db_error *e)
{
    struct def d;
    int code = 0;

    for (uint32_t i = 0; i < drop->n_names && code == 0; i++)
        code = def_schema(s, drop->names[i].schema, e);
    if (code)
        return code;
    if (def_begin(&d, s, false, e) != 0)
        return ERR_IO;
    for (uint32_t i = 0; i < drop->n_names && code == 0; i++)
        code = drop_view(&d, drop, &drop->names[i], e);
    code = def_end(&d, code, e);
    if (code == 0)
        sess_ok(s, 0, STR_NONE);
    return code;
}

int ddl_view_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    if (stmt->kind == SQL_STMT_CREATE_VIEW)
        return create_view(s, stmt->create_view, e);
    return drop_views(s, stmt->drop, e);
}

/* ---- databases ---- */

static int not_ours(struct db_session *s, struct str name, struct db_error *e)
{
    return db_error_text(e, DB_E_DB_ACCESS,
        "Access denied for user '%s'@'%s' to database '" STR_F
        "' (one file is one database: this account has '" STR_F "')",
        s->user, s->host, STR_A(name), STR_A(s->db->name));
}

static int create_database(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    const char *name = arena_str(&s->arena, stmt->name).p;
    bool dropped;

    if (!str_eq(stmt->name, s->db->name) && !info_is_schema(stmt->name))
        return not_ours(s, stmt->name, e);
    pthread_mutex_lock(&s->db->mutex);
    dropped = s->db->dropped && str_eq(stmt->name, s->db->name);
    s->db->dropped = false;
    pthread_mutex_unlock(&s->db->mutex);
    if (!dropped && !stmt->if_exists)
        return db_error_set(e, DB_E_DB_CREATE_EXISTS, name);
    if (!dropped)
        sess_warn_name(s, DB_NOTE, DB_E_DB_CREATE_EXISTS, name);
    sess_ok(s, 1, STR_NONE);
    return 0;
}

/* All tables go; the file stays, and CREATE DATABASE of the name is welcome. */
static int drop_all(struct def *d, struct db_error *e)
{
    struct arena *a = &d->s->arena;
    int code = 0;

    while (d->tables->n && code == 0) {
        const struct db_cat_table *t = d->tables->v[0]->table;
        struct str name = arena_str(a, t->name);

        code = def_sql(d,
            arena_printf(
                a, "DROP %s main." STR_F, t->is_view ? "VIEW" : "TABLE", STR_A(tr_quote(a, name))),
            e);
        if (code == 0)
            code = def_put(d, NULL, name, false, e);
    }
    return code;
}

static int drop_database(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    const char *name = arena_str(&s->arena, stmt->name).p;
    struct def d;
    uint32_t n;
    int code;

    if (!str_eq(stmt->name, s->db->name)) {
        if (info_is_schema(stmt->name) || srv_db(s->server, stmt->name))
            return not_ours(s, stmt->name, e);
        if (!stmt->if_exists)
            return db_error_set(e, DB_E_DB_DROP_EXISTS, name);
        sess_warn_name(s, DB_NOTE, DB_E_DB_DROP_EXISTS, name);
        sess_ok(s, 0, STR_NONE);
        return 0;
    }
    if (def_begin(&d, s, false, e) != 0)
        return ERR_IO;
    n = d.tables->n;
    code = def_end(&d, drop_all(&d, e), e);
    if (code)
        return code;
    pthread_mutex_lock(&s->db->mutex);
    s->db->dropped = true;
    pthread_mutex_unlock(&s->db->mutex);
    s->database[0] = '\0';
    s->f.database = STR("");
    sess_ok(s, n, STR_NONE);
    return 0;
}

int ddl_database_run(struct db_session *s, const struct sql_stmt *stmt, struct db_error *e)
{
    if (stmt->kind == SQL_STMT_CREATE_DATABASE)
        return create_database(s, stmt, e);
    if (stmt->kind == SQL_STMT_DROP_DATABASE)
        return drop_database(s, stmt, e);
    if (stmt->name.len && !str_eq(stmt->name, s->db->name))
        return not_ours(s, stmt->name, e);
    sess_ok(s, 1, STR_NONE); /* ALTER DATABASE: its character set stays utf8mb4 */
    return 0;
}
