/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/build.h"

void sqlite_name(struct buf *out, struct str name)
{
    buf_add_char(out, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] == '"')
            buf_add_char(out, '"');
        buf_add_char(out, name.p[i]);
    }
    buf_add_char(out, '"');
}

void sqlite_string(struct buf *out, struct str s)
{
    buf_add_char(out, '\'');
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == '\'')
            buf_add_char(out, '\'');
        buf_add_char(out, s.p[i]);
    }
    buf_add_char(out, '\'');
}

void sqlite_schema(struct buf *out, const struct db_cat_table *t)
{
    sqlite_name(out, t->temporary ? STR("temp") : STR("main"));
}

struct str ddl_index_name(struct arena *arena, struct str table, struct str key)
{
    return arena_printf(arena, STR_F "__" STR_F, STR_A(table), STR_A(key));
}

struct str ddl_key_of_index(struct str table, struct str index)
{
    if (index.len <= table.len + 2 || !str_istarts(index, table) ||
        memcmp(index.p + table.len, "__", 2) != 0)
        return STR_NONE;
    return str_sub(index, table.len + 2, index.len);
}

/* How a type lies in SQLite (catalog.h): its type, and the collation of those that are no text. */
void sqlite_type(struct buf *out, const struct db_type *t)
{
    struct str collation = t->collation;

    if (db_base_is_int(t->base) || t->base == DB_T_YEAR)
        buf_add_lit(out, " INTEGER");
    else if (t->base == DB_T_FLOAT || t->base == DB_T_DOUBLE)
        buf_add_lit(out, " REAL");
    else if (db_base_is_binary(t->base) || t->base == DB_T_GEOMETRY)
        buf_add_lit(out, " BLOB");
    else
        buf_add_lit(out, " TEXT");
    if (t->base == DB_T_DECIMAL)
        collation = STR("my_decimal");
    else if (t->base == DB_T_TIME)
        collation = STR("my_time");
    else if (!db_base_is_text(t->base))
        return;
    buf_add_lit(out, " COLLATE ");
    sqlite_name(out, collation);
}

/* MySQL's text of an expression as SQLite's. */
static int translate(struct arena *arena, struct str text, const struct db_cat_table *t,
    const struct tr_env *env, struct str *sql, struct db_error *e)
{
    struct sql_expr *expr;
    struct db_type type;
    int r = build_parse(arena, text, &expr, e);

    return r ? r : tr_expr(arena, expr, t, env, sql, &type, e);
}

int sqlite_column(struct buf *out, struct arena *arena, const struct db_cat_table *t, uint32_t at,
    const struct tr_env *env, struct db_error *e)
{
    const struct db_cat_column *c = &t->columns[at];
    struct str sql;
    int r;

    sqlite_name(out, c->name);
    sqlite_type(out, &c->type);
    if (t->rowid_column == (int32_t)at) {
        buf_add_lit(out, " PRIMARY KEY");
        if (c->auto_increment)
            buf_add_lit(out, " AUTOINCREMENT");
        return 0;
    }
    if (c->not_null)
        buf_add_lit(out, " NOT NULL");
    if (c->generated.len == 0)
        return 0;
    if ((r = translate(arena, c->generated, t, env, &sql, e)))
        return r;
    buf_add_lit(out, " GENERATED ALWAYS AS (");
    buf_add_str(out, tr_store_call(arena, c, sql));
    buf_add_str(out, c->stored ? STR(") STORED") : STR(") VIRTUAL"));
    return 0;
}

static void add_fk(struct buf *out, const struct db_cat_fk *fk)
{
    buf_add_lit(out, ", CONSTRAINT ");
    sqlite_name(out, fk->name);
    buf_add_lit(out, " FOREIGN KEY (");
    for (uint32_t i = 0; i < fk->n_columns; i++) {
        buf_add_str(out, i > 0 ? STR(", ") : STR_NONE);
        sqlite_name(out, fk->columns[i]);
    }
    buf_add_lit(out, ") REFERENCES ");
    sqlite_name(out, fk->ref_table);
    buf_add_lit(out, " (");
    for (uint32_t i = 0; i < fk->n_columns; i++) {
        buf_add_str(out, i > 0 ? STR(", ") : STR_NONE);
        sqlite_name(out, fk->ref_columns[i]);
    }
    buf_printf(
        out, ") ON DELETE " STR_F " ON UPDATE " STR_F, STR_A(fk->on_delete), STR_A(fk->on_update));
}

static int add_check(struct buf *out, struct arena *arena, const struct db_cat_table *t,
    const struct db_cat_check *c, const struct tr_env *env, struct db_error *e)
{
    struct str sql;
    int r;

    if (!c->enforced)
        return 0;
    if ((r = translate(arena, c->expr, t, env, &sql, e)))
        return r;
    buf_add_lit(out, ", CONSTRAINT ");
    sqlite_name(out, c->name);
    buf_add_lit(out, " CHECK (");
    buf_add_str(out, sql);
    buf_add_char(out, ')');
    return 0;
}

static int add_table(struct buf *out, struct arena *arena, const struct db_cat_table *t,
    struct str name, const struct tr_env *env, struct db_error *e)
{
    int r = 0;

    buf_add_lit(out, "CREATE TABLE ");
    sqlite_schema(out, t);
    buf_add_char(out, '.');
    sqlite_name(out, name);
    buf_add_lit(out, " (");
    for (uint32_t i = 0; !r && i < t->n_columns; i++) {
        buf_add_str(out, i > 0 ? STR(", ") : STR_NONE);
        r = sqlite_column(out, arena, t, i, env, e);
    }
    for (uint32_t i = 0; !r && i < t->n_checks; i++)
        r = add_check(out, arena, t, &t->checks[i], env, e);
    for (uint32_t i = 0; !r && i < t->n_fks; i++)
        add_fk(out, &t->fks[i]);
    buf_add_char(out, ')');
    return r;
}

bool sqlite_has_index(const struct db_cat_table *t, const struct db_cat_key *k)
{
    if (k->kind == DB_KEY_PRIMARY)
        return t->rowid_column < 0;
    return k->kind <= DB_KEY_INDEX;
}

static int add_part(struct buf *out, struct arena *arena, const struct db_cat_table *t,
    const struct db_cat_part *p, const struct tr_env *env, struct db_error *e)
{
    struct str sql;
    int r;

    if (p->column < 0) {
        if ((r = translate(arena, p->expr, t, env, &sql, e)))
            return r;
        buf_add_char(out, '(');
        buf_add_str(out, sql);
        buf_add_char(out, ')');
    } else if (p->length > 0) {
        const struct db_type *type = &t->columns[p->column].type;

        buf_add_lit(out, "m_prefix(");
        sqlite_name(out, t->columns[p->column].name);
        buf_printf(out, ", %d)", (int)p->length);
        if (db_base_is_text(type->base)) {
            buf_add_lit(out, " COLLATE ");
            sqlite_name(out, type->collation);
        }
    } else {
        sqlite_name(out, t->columns[p->column].name);
    }
    buf_add_str(out, p->desc ? STR(" DESC") : STR_NONE);
    return 0;
}

int sqlite_index(struct buf *out, struct arena *arena, const struct db_cat_table *t,
    const struct db_cat_key *k, struct str name, const struct tr_env *env, struct db_error *e)
{
    int r = 0;

    buf_add_str(out, k->kind <= DB_KEY_UNIQUE ? STR("CREATE UNIQUE INDEX ") : STR("CREATE INDEX "));
    sqlite_schema(out, t);
    buf_add_char(out, '.');
    sqlite_name(out, ddl_index_name(arena, t->name, k->name));
    buf_add_lit(out, " ON ");
    sqlite_name(out, name);
    buf_add_lit(out, " (");
    for (uint32_t i = 0; !r && i < k->n_parts; i++) {
        buf_add_str(out, i > 0 ? STR(", ") : STR_NONE);
        r = add_part(out, arena, t, &k->parts[i], env, e);
    }
    buf_add_char(out, ')');
    return r;
}

int ddl_sqlite(struct arena *arena, const struct db_cat_table *t, struct str name,
    const struct tr_env *env, struct str **statements, uint32_t *n, struct db_error *e)
{
    struct str *list = arena_new(arena, (t->n_keys + 1) * sizeof(*list));
    struct buf text = {0};
    uint32_t count = 0;
    int r = add_table(&text, arena, t, name, env, e);

    list[count++] = arena_str(arena, buf_str(&text));
    for (uint32_t i = 0; !r && i < t->n_keys; i++) {
        if (!sqlite_has_index(t, &t->keys[i]))
            continue;
        buf_clear(&text);
        r = sqlite_index(&text, arena, t, &t->keys[i], name, env, e);
        list[count++] = arena_str(arena, buf_str(&text));
    }
    buf_fini(&text);
    if (r)
        return r;
    *statements = list;
    *n = count;
    return 0;
}
