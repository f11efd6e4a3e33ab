/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/build.h"

int build_table_name(struct build *b, struct str name)
{
    if (build_name(b, name, DB_E_WRONG_TABLE_NAME))
        return ERR_INVAL;
    if (str_istarts(name, STR("_ephpm")) || str_istarts(name, STR("sqlite_")))
        return db_error_set(b->e, DB_E_WRONG_TABLE_NAME, arena_str(b->arena, name).p);
    return 0;
}

uint64_t ddl_auto_increment(const struct sql_table_def *def)
{
    uint64_t n = 0, v;

    for (uint32_t i = 0; i < def->n_options; i++) {
        if (str_ieq(def->options[i].name, STR("AUTO_INCREMENT")) &&
            !str_u64(def->options[i].value, &v))
            n = v;
    }
    return n;
}

/* A column of AS SELECT as MySQL would declare it. */
static struct db_type as_type(const struct db_column *c)
{
    struct db_type t = c->type;

    switch (t.base) {
    case DB_T_NULL:
        t.base = DB_T_BINARY;
        t.length = 0;
        break;
    case DB_T_DECIMAL:
        t.decimals = t.decimals < 0 ? 0 : MIN(t.decimals, 30);
        t.length = t.length <= 0 ? 65 : MIN(t.length, 65);
        t.length = MAX(t.length, t.decimals);
        break;
    case DB_T_DOUBLE:
    case DB_T_FLOAT:
        if (t.decimals < 0 || t.decimals > 30 || t.length < 0)
            t.decimals = t.length = -1;
        break;
    case DB_T_CHAR:
    case DB_T_VARCHAR:
        if (t.length < 0 || t.length > 16383)
            t.base = t.length < 0 || t.length > 4194303 ? DB_T_LONGTEXT : DB_T_MEDIUMTEXT;
        break;
    case DB_T_BINARY:
    case DB_T_VARBINARY:
        if (t.length < 0 || t.length > 65535)
            t.base = DB_T_LONGBLOB;
        else if (t.length > 255)
            t.base = DB_T_VARBINARY;
        break;
    default:
        break;
    }
    if (t.base == DB_T_CHAR && t.length > 255)
        t.base = DB_T_VARCHAR;
    return t;
}

/* A number that is never NULL has the default 0, a text the empty one, when it was no column. */
static bool has_as_default(const struct db_column *c)
{
    if (!(c->flags & DB_COL_NOT_NULL))
        return false;
    if (c->flags & DB_COL_AUTO_INCREMENT)
        return true;
    return c->org_table.len == 0 &&
           (db_base_is_number(c->type.base) || c->type.base == DB_T_VARCHAR);
}

static int add_as_columns(struct build *b, const struct db_column *columns, uint32_t n)
{
    struct sql_expr zero = {.kind = SQL_INT}, none = {.kind = SQL_STRING};

    for (uint32_t i = 0; i < n; i++) {
        struct sql_column_def def = {.name = columns[i].name, .type = as_type(&columns[i])};
        int r;

        if (build_column_find(b, def.name) >= 0)
            continue; /* defined by the statement */
        if (has_as_default(&columns[i]))
            def.default_value = db_base_is_number(def.type.base) ? &zero : &none;
        def.nullable = columns[i].flags & DB_COL_NOT_NULL ? SQL_NULL_NO : SQL_NULL_UNSAID;
        if ((r = build_add_column(b, &def, b->n_columns)))
            return r;
    }
    return 0;
}

static int add_definition(struct build *b, const struct sql_table_def *def)
{
    int r = 0;

    for (uint32_t i = 0; !r && i < def->n_columns; i++)
        r = build_add_column(b, &def->columns[i], b->n_columns);
    for (uint32_t i = 0; !r && i < def->n_keys; i++)
        r = build_add_key(b, &def->keys[i]);
    for (uint32_t i = 0; !r && i < def->n_fks; i++)
        r = build_add_fk(b, &def->fks[i]);
    for (uint32_t i = 0; !r && i < def->n_checks; i++)
        r = build_add_check(b, &def->checks[i], STR_NONE);
    return r;
}

int ddl_create(struct arena *arena, const struct sql_create_table *stmt,
    const struct ddl_defaults *defaults, const struct tr_env *env,
    const struct db_column *as_columns, uint32_t n_as_columns, struct db_cat_table **out,
    struct db_error *e)
{
    struct build b;
    int r;

    build_init(&b, arena, env, defaults, e);
    b.t.name = arena_str(arena, stmt->table.name);
    b.t.temporary = stmt->temporary;
    b.t.partition = arena_str(arena, stmt->def.partition);
    if (stmt->table.schema.len > 0)
        b.t.schema = arena_str(arena, stmt->table.schema);
    if ((r = build_table_name(&b, b.t.name)) ||
        (r = build_options(&b, stmt->def.options, stmt->def.n_options)) ||
        (r = add_definition(&b, &stmt->def)) || (r = add_as_columns(&b, as_columns, n_as_columns)))
        return r;
    return build_finish(&b, out);
}

int ddl_like(struct arena *arena, const struct db_cat_table *old, struct sql_name name,
    bool temporary, const struct ddl_defaults *defaults, struct db_cat_table **out,
    struct db_error *e)
{
    struct db_cat_table *t = arena_new(arena, sizeof(*t));
    struct db_cat_check *checks = arena_new(arena, (old->n_checks + 1) * sizeof(*checks));
    struct build b;
    int r;

    build_init(&b, arena, NULL, defaults, e);
    if ((r = build_table_name(&b, name.name)))
        return r;
    if (old->is_view)
        return db_error_set(e, DB_E_VIEW_WRONG, arena_str(arena, old->schema).p,
            arena_str(arena, old->name).p, "BASE TABLE");
    *t = *old;
    t->name = t->sqlite_name = arena_str(arena, name.name);
    t->schema = name.schema.len > 0 ? arena_str(arena, name.schema) : defaults->schema;
    t->temporary = temporary;
    t->is_system = false;
    t->created = defaults->now;
    t->fks = NULL; /* MySQL copies no foreign keys; checks have new names */
    t->n_fks = 0;
    for (uint32_t i = 0; i < old->n_checks; i++) {
        checks[i] = old->checks[i];
        checks[i].name = arena_printf(arena, STR_F "_chk_%u", STR_A(t->name), i + 1);
    }
    t->checks = checks;
    *out = t;
    return 0;
}
