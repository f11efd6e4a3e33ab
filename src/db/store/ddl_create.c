/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* CREATE TABLE, also LIKE and AS. */

#include "base/err.h"
#include "db/store/ddl.h"
#include "db/store/sqlerr.h"

/* A query whose rows become the table's. */
struct source {
    struct str sql;
    const struct db_column *columns;
    uint32_t n;
};

static bool exists(const struct def *d, struct str name, bool temporary)
{
    if (temporary)
        return d->temp && store_tables_find(d->temp, name);
    return store_tables_find_any(d->tables, name) != NULL;
}

static int make_table(struct def *d, const struct sql_create_table *c, const struct source *from,
    struct db_cat_table **out, struct db_error *e)
{
    struct db_session *s = d->s;
    const struct db_cat_table *old;

    if (!c->like.name.len)
        return ddl_create(&s->arena, c, &d->defaults, &d->env, from->columns, from->n, out, e);
    old = sess_table(s, c->like.schema, c->like.name);
    if (!old)
        return sess_no_table(s, c->like.schema, c->like.name, e);
    return ddl_like(&s->arena, old, c->table, c->temporary, &d->defaults, out, e);
}

static int run_all(struct def *d, const struct str *v, uint32_t n, struct db_error *e)
{
    int code = 0;

    for (uint32_t i = 0; i < n && code == 0; i++)
        code = def_sql(d, v[i], e);
    return code;
}

/* The column's value in rows of AS SELECT that do not have it. */
static struct str absent_value(struct arena *a, const struct db_cat_column *c)
{
    struct buf b = {0};
    struct str s;

    if (c->default_kind != DB_DEFAULT_VALUE)
        return c->not_null && !c->auto_increment
                   ? tr_store_call(a, c, db_base_is_number(c->type.base) ? STR("0") : STR("''"))
                   : STR("NULL");
    buf_add_char(&b, '\'');
    for (size_t i = 0; i < c->default_text.len; i++) {
        if (c->default_text.p[i] == '\'')
            buf_add_char(&b, '\'');
        buf_add_char(&b, c->default_text.p[i]);
    }
    buf_add_char(&b, '\'');
    s = tr_store_call(a, c, arena_str(a, buf_str(&b)));
    buf_fini(&b);
    return s;
}

/* INSERT INTO t SELECT ... of the source. */
static int fill(struct def *d, const struct sql_create_table *c, const struct db_cat_table *t,
    const struct source *from, uint64_t *rows, struct db_error *e)
{
    struct arena *a = &d->s->arena;
    struct buf b = {0}, names = {0}, values = {0};
    int code;

    for (uint32_t i = 0; i < t->n_columns; i++) {
        struct str name = tr_quote(a, t->columns[i].name), value = STR_NONE;

        if (t->columns[i].generated.len)
            continue;
        for (uint32_t j = 0; j < from->n; j++) {
            if (str_ieq(from->columns[j].name, t->columns[i].name))
                value = tr_store_call(a, &t->columns[i], name);
        }
        if (!value.len)
            value = absent_value(a, &t->columns[i]);
        buf_printf(&names, "%s" STR_F, names.len ? ", " : "", STR_A(name));
        buf_printf(&values, "%s" STR_F, values.len ? ", " : "", STR_A(value));
    }
    buf_add_lit(&b, "WITH \"_ephpm_rows\" (");
    for (uint32_t j = 0; j < from->n; j++)
        buf_printf(&b, "%s" STR_F, j ? ", " : "", STR_A(tr_quote(a, from->columns[j].name)));
    buf_printf(&b,
        ") AS (" STR_F ") INSERT %sINTO %s." STR_F " (" STR_F ") SELECT " STR_F
        " FROM \"_ephpm_rows\"",
        STR_A(from->sql),
        c->as_ignore    ? "OR IGNORE "
        : c->as_replace ? "OR REPLACE "
                        : "",
        t->temporary ? "temp" : "main", STR_A(tr_quote(a, t->name)), STR_A(buf_str(&names)),
        STR_A(buf_str(&values)));
    code = def_sql(d, arena_str(a, buf_str(&b)), e);
    *rows = code ? 0 : (uint64_t)sqlite3_changes64(d->s->handle->sql);
    buf_fini(&b);
    buf_fini(&names);
    buf_fini(&values);
    return code;
}

static int create(
    struct def *d, const struct sql_create_table *c, uint64_t *rows, struct db_error *e)
{
    struct db_session *s = d->s;
    struct source from = {STR_NONE, NULL, 0};
    struct db_cat_table *t = NULL;
    struct str *statements;
    uint32_t n;

    if (c->as && tr_query(&s->arena, c->as, &d->env, &from.sql, &from.columns, &from.n, e) != 0)
        return ERR_INVAL;
    if (make_table(d, c, &from, &t, e) != 0 || !t)
        return ERR_INVAL;
    t->temporary = c->temporary;
    if (ddl_sqlite(&s->arena, t, t->name, &d->env, &statements, &n, e) != 0 ||
        run_all(d, statements, 1, e) != 0)
        return ERR_INVAL;
    if (def_auto(d, t, ddl_auto_increment(&c->def), e) != 0)
        return ERR_IO;
    if (c->as && fill(d, c, t, &from, rows, e) != 0)
        return ERR_IO;
    if (run_all(d, statements + 1, n - 1, e) != 0)
        return ERR_IO;
    return def_put(d, t, STR_NONE, c->temporary, e);
}

int ddl_create_run(struct db_session *s, const struct sql_create_table *c, struct db_error *e)
{
    struct str name = arena_str(&s->arena, c->table.name), info = STR_NONE;
    struct def d;
    uint64_t rows = 0;
    int code;

    if (def_schema(s, c->table.schema, e) != 0)
        return ERR_INVAL;
    if (str_istarts(name, STR("_ephpm")) || str_istarts(name, STR("sqlite_")))
        return db_error_set(e, DB_E_WRONG_TABLE_NAME, name.p);
    if (def_begin(&d, s, c->temporary, e) != 0)
        return ERR_IO;
    if (!exists(&d, name, c->temporary)) {
        code = create(&d, c, &rows, e);
    } else if (c->if_not_exists) {
        sess_warn_name(s, DB_NOTE, DB_E_TABLE_EXISTS, name.p);
        code = 0;
    } else {
        code = db_error_set(e, DB_E_TABLE_EXISTS, name.p);
    }
    code = def_end(&d, code, e);
    if (code)
        return code;
    if (c->as)
        info = arena_printf(&s->arena, "Records: %llu  Duplicates: 0  Warnings: %u",
            (unsigned long long)rows, s->total_warnings);
    sess_ok(s, rows, info);
    return 0;
}
