/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/info.h"

#include "base/mem.h"
#include "db/store/facts.h"
#include "db/store/sess.h"

struct module_data {
    struct store_handle *handle;
    const struct info_relation *relation;
};

struct table {
    sqlite3_vtab base;
    struct module_data *data;
};

struct cursor {
    sqlite3_vtab_cursor base;
    struct arena arena;
    struct info_rows rows;
    uint32_t at;
};

enum { BY_SCHEMA = 1, BY_TABLE = 2 };

static int on_connect(
    sqlite3 *sql, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **error)
{
    struct module_data *data = aux;
    struct arena arena = {0};
    struct table *t;
    int rc;

    (void)argc;
    (void)argv;
    (void)error;
    rc = sqlite3_declare_vtab(sql, info_declare(&arena, data->relation).p);
    arena_fini(&arena);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_vtab_config(sql, SQLITE_VTAB_INNOCUOUS);
    t = mem_new(sizeof(*t));
    t->data = data;
    *out = &t->base;
    return SQLITE_OK;
}

static int on_disconnect(sqlite3_vtab *base)
{
    mem_free(CONTAINER_OF(base, struct table, base));
    return SQLITE_OK;
}

static int on_best_index(sqlite3_vtab *base, sqlite3_index_info *index)
{
    const struct info_relation *r = CONTAINER_OF(base, struct table, base)->data->relation;
    int n = 0;

    index->idxNum = 0;
    for (int i = 0; i < index->nConstraint; i++) {
        int bit = index->aConstraint[i].iColumn == r->schema_column  ? BY_SCHEMA
                  : index->aConstraint[i].iColumn == r->table_column ? BY_TABLE
                                                                     : 0;

        if (!bit || !index->aConstraint[i].usable || index->idxNum & bit ||
            index->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ)
            continue;
        index->idxNum |= bit;
        index->aConstraintUsage[i].argvIndex = ++n;
        /* which argument is which: a digit each */
        if (n == 2 && bit == BY_SCHEMA)
            index->idxNum |= 4; /* the schema is the second */
    }
    index->estimatedCost = index->idxNum & BY_TABLE ? 10 : index->idxNum ? 1000 : 2000;
    index->estimatedRows = index->idxNum & BY_TABLE ? 10 : 1000;
    return SQLITE_OK;
}

static int on_open(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    struct cursor *c = mem_new(sizeof(*c));

    (void)base;
    arena_init(&c->arena);
    *out = &c->base;
    return SQLITE_OK;
}

static int on_close(sqlite3_vtab_cursor *base)
{
    struct cursor *c = CONTAINER_OF(base, struct cursor, base);

    arena_fini(&c->arena);
    mem_free(c);
    return SQLITE_OK;
}

static struct str value_str(sqlite3_value *v)
{
    const char *p = (const char *)sqlite3_value_text(v);

    return str_n(p ? p : "", p ? (size_t)sqlite3_value_bytes(v) : 0);
}

static int on_filter(
    sqlite3_vtab_cursor *base, int number, const char *name, int argc, sqlite3_value **argv)
{
    struct cursor *c = CONTAINER_OF(base, struct cursor, base);
    struct module_data *data = CONTAINER_OF(base->pVtab, struct table, base)->data;
    struct info_filter filter = {STR_NONE, STR_NONE};
    struct info_facts *facts;

    (void)name;
    arena_reset(&c->arena);
    c->at = 0;
    c->rows = (struct info_rows){NULL, 0, data->relation->n_columns};
    if (!data->handle->session)
        return SQLITE_OK;
    for (int i = 0; i < argc; i++) {
        bool is_schema =
            number & BY_SCHEMA && (number & BY_TABLE ? (number & 4 ? i == 1 : i == 0) : true);

        if (is_schema)
            filter.schema = arena_str(&c->arena, value_str(argv[i]));
        else
            filter.table = arena_str(&c->arena, value_str(argv[i]));
    }
    facts = store_facts(data->handle->session, &c->arena, data->relation->needs, &filter);
    c->rows = info_list(&c->arena, data->relation, facts, &filter);
    return SQLITE_OK;
}

static int on_next(sqlite3_vtab_cursor *base)
{
    CONTAINER_OF(base, struct cursor, base)->at++;
    return SQLITE_OK;
}

static int on_eof(sqlite3_vtab_cursor *base)
{
    struct cursor *c = CONTAINER_OF(base, struct cursor, base);

    return c->at >= c->rows.n_rows;
}

static int on_column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
    struct cursor *c = CONTAINER_OF(base, struct cursor, base);
    const struct db_value *v = &c->rows.values[c->at * c->rows.n_columns + (uint32_t)i];

    switch (v->kind) {
    case DB_V_NULL:
        sqlite3_result_null(ctx);
        break;
    case DB_V_INT:
    case DB_V_UINT:
        sqlite3_result_int64(ctx, v->i);
        break;
    case DB_V_REAL:
        sqlite3_result_double(ctx, v->d);
        break;
    case DB_V_TEXT:
        sqlite3_result_text64(ctx, v->s.p ? v->s.p : "", v->s.len, SQLITE_TRANSIENT, SQLITE_UTF8);
        break;
    case DB_V_BLOB:
        sqlite3_result_blob64(ctx, v->s.p ? v->s.p : "", v->s.len, SQLITE_TRANSIENT);
        break;
    }
    return SQLITE_OK;
}

static int on_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    *out = CONTAINER_OF(base, struct cursor, base)->at;
    return SQLITE_OK;
}

static const sqlite3_module module = {
    .iVersion = 1,
    .xConnect = on_connect, /* no xCreate: they exist without being made */
    .xBestIndex = on_best_index,
    .xDisconnect = on_disconnect,
    .xDestroy = on_disconnect,
    .xOpen = on_open,
    .xClose = on_close,
    .xFilter = on_filter,
    .xNext = on_next,
    .xEof = on_eof,
    .xColumn = on_column,
    .xRowid = on_rowid,
};

int store_info_register(struct store_handle *h)
{
    struct arena arena = {0};
    const struct info_relation *all;
    uint32_t n;
    int rc = SQLITE_OK;

    all = info_relations(&n);
    for (uint32_t i = 0; i < n && rc == SQLITE_OK; i++) {
        struct module_data *data = mem_new(sizeof(*data));
        struct str name = info_catalog(&arena, &all[i])->sqlite_name;

        data->handle = h;
        data->relation = &all[i];
        rc = sqlite3_create_module_v2(h->sql, arena_str(&arena, name).p, &module, data, mem_free);
        arena_reset(&arena);
    }
    arena_fini(&arena);
    return rc;
}
