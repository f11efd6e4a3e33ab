/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/tables.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"
#include "db/ddl/ddl.h"

static struct store_tables *list_new(uint32_t n)
{
    struct store_tables *t = mem_new(sizeof(*t) + n * sizeof(t->v[0]));

    atomic_init(&t->refs, 1);
    return t;
}

struct store_tables *store_tables_new(void)
{
    return list_new(0);
}

struct store_tables *store_tables_ref(struct store_tables *t)
{
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

void store_table_unref(struct store_table *t)
{
    /* acq_rel: what other holders did to the table is done before it goes */
    if (!t || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1)
        return;
    arena_fini(&t->arena);
    mem_free(t);
}

void store_tables_unref(struct store_tables *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < t->n; i++)
        store_table_unref(t->v[i]);
    mem_free(t);
}

/* Where the name is, or would be. */
static uint32_t place_of(const struct store_tables *t, struct str name, bool *found)
{
    uint32_t from = 0, to = t->n;

    *found = false;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        int order = str_cmp(t->v[mid]->table->name, name);

        if (order == 0) {
            *found = true;
            return mid;
        }
        if (order < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

const struct db_cat_table *store_tables_find(const struct store_tables *t, struct str name)
{
    bool found;
    uint32_t i = place_of(t, name, &found);

    return found ? t->v[i]->table : NULL;
}

const struct db_cat_table *store_tables_find_any(const struct store_tables *t, struct str name)
{
    for (uint32_t i = 0; i < t->n; i++) {
        if (str_ieq(t->v[i]->table->name, name))
            return t->v[i]->table;
    }
    return NULL;
}

static int table_load(struct str text, struct str schema, struct store_table **out)
{
    struct store_table *t = mem_new(sizeof(*t));
    int code;

    atomic_init(&t->refs, 1);
    arena_init(&t->arena);
    code = ddl_load(&t->arena, arena_str(&t->arena, text), &t->table);
    if (code) {
        store_table_unref(t);
        return code;
    }
    t->table->schema = arena_str(&t->arena, schema);
    *out = t;
    return 0;
}

int store_table_copy(const struct db_cat_table *t, struct str schema, struct store_table **out)
{
    struct buf text = {0};
    int code;

    ddl_save(&text, t);
    code = table_load(buf_str(&text), schema, out);
    buf_fini(&text);
    if (code)
        return code;
    (*out)->table->temporary = t->temporary;
    if (t->sqlite_name.len)
        (*out)->table->sqlite_name = arena_str(&(*out)->arena, t->sqlite_name);
    return 0;
}

struct store_tables *store_tables_change(
    const struct store_tables *old, struct str remove, struct store_table *add)
{
    struct store_tables *t = list_new(old->n + 1);

    t->version = old->version + 1;
    for (uint32_t i = 0; i < old->n; i++) {
        if (remove.len && str_eq(old->v[i]->table->name, remove))
            continue;
        if (add && str_cmp(add->table->name, old->v[i]->table->name) <= 0) {
            bool same = str_eq(add->table->name, old->v[i]->table->name);

            t->v[t->n++] = add;
            add = NULL;
            if (same)
                continue;
        }
        atomic_fetch_add_explicit(&old->v[i]->refs, 1, memory_order_relaxed);
        t->v[t->n++] = old->v[i];
    }
    if (add)
        t->v[t->n++] = add;
    return t;
}

static struct str column_str(sqlite3_stmt *stmt, int i)
{
    const char *p = (const char *)sqlite3_column_text(stmt, i);

    return str_n(p, p ? (size_t)sqlite3_column_bytes(stmt, i) : 0);
}

/* One row of the catalog into the list. */
static int load_row(
    sqlite3_stmt *stmt, struct str schema, struct store_tables **t, struct db_error *e)
{
    struct str name = column_str(stmt, 0);
    struct store_table *table;
    struct store_tables *next;
    uint64_t version;
    int code;

    if (name.len == 0)
        return str_u64(column_str(stmt, 1), &(*t)->version) ? SQLITE_CORRUPT : SQLITE_OK;
    if ((code = table_load(column_str(stmt, 1), schema, &table))) {
        db_error_text(e, DB_E_CRASHED, "Definition of table '" STR_F "' cannot be read: %s",
            STR_A(name), err_text(code));
        return SQLITE_CORRUPT;
    }
    version = (*t)->version;
    next = store_tables_change(*t, STR_NONE, table);
    next->version = version;
    store_tables_unref(*t);
    *t = next;
    return SQLITE_OK;
}

int store_tables_load(
    sqlite3 *sql, struct str schema, struct store_tables **out, struct db_error *e)
{
    struct store_tables *t = store_tables_new();
    sqlite3_stmt *stmt = NULL;
    int rc;

    e->number = 0;
    rc = sqlite3_prepare_v2(
        sql, "SELECT name, def FROM _ephpm_catalog ORDER BY name", -1, &stmt, NULL);
    while (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        rc = load_row(stmt, schema, &t, e);
    (void)sqlite3_finalize(stmt); /* its error was rc */
    if (rc != SQLITE_DONE) {
        store_tables_unref(t);
        return rc;
    }
    *out = t;
    return SQLITE_OK;
}

/* Runs a statement with up to two texts; the second one NULL is not bound. */
static int run(sqlite3 *sql, const char *text, struct str a, struct str b)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(sql, text, -1, &stmt, NULL);

    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(stmt, 1, a.p ? a.p : "", (int)a.len, SQLITE_STATIC);
    if (rc == SQLITE_OK && b.p)
        rc = sqlite3_bind_text(stmt, 2, b.p, (int)b.len, SQLITE_STATIC);
    if (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_DONE)
        rc = SQLITE_OK;
    (void)sqlite3_finalize(stmt);
    return rc;
}

int store_tables_save(sqlite3 *sql, struct str name, const struct db_cat_table *t)
{
    struct buf text = {0};
    int rc;

    if (!t)
        return run(sql, "DELETE FROM _ephpm_catalog WHERE name = ?1", name, STR_NONE);
    ddl_save(&text, t);
    rc = run(sql, "INSERT OR REPLACE INTO _ephpm_catalog (name, def) VALUES (?1, ?2)", name,
        buf_str(&text));
    buf_fini(&text);
    return rc;
}

int store_tables_save_version(sqlite3 *sql, uint64_t version)
{
    char digits[24];
    size_t n = str_put_u64(digits, version);

    return run(
        sql, "UPDATE _ephpm_catalog SET def = ?1 WHERE name = ''", str_n(digits, n), STR_NONE);
}
