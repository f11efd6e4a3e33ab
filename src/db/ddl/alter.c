/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/alter.h"

int32_t alter_old_column(const struct alter *a, struct str name)
{
    int32_t old = db_cat_column_find(a->b.old, name);

    for (uint32_t i = 0; old >= 0 && i < a->b.n_columns; i++) {
        if (a->b.columns[i].old == old)
            return (int32_t)i;
    }
    return -1;
}

static int unknown_column(struct alter *a, struct str name)
{
    return db_error_set(a->b.e, DB_E_BAD_FIELD, alter_cstr(a, name), alter_cstr(a, a->b.old->name));
}

/* ---- columns that stay, under the names that they had ---- */

static void add_rename(struct alter *a, struct str from, struct str to)
{
    if (str_eq(from, to))
        return;
    a->renames[a->n_renames++] = (struct ddl_rename){.from = from, .to = arena_str(a->b.arena, to)};
}

static int change_column(struct alter *a, const struct sql_alter_action *act)
{
    struct str name =
        act->kind == SQL_ALTER_MODIFY_COLUMN && act->name.len == 0 ? act->column.name : act->name;
    int32_t at = alter_old_column(a, name);
    struct str from;
    int r;

    if (at < 0)
        return act->if_exists ? 0 : unknown_column(a, name);
    from = a->b.columns[at].c.name;
    if ((r = build_change_column(&a->b, &act->column, (uint32_t)at)))
        return r;
    if (act->kind == SQL_ALTER_MODIFY_COLUMN)
        a->b.columns[at].c.name = from; /* its letters stay as they were */
    add_rename(a, from, a->b.columns[at].c.name);
    return 0;
}

static int rename_column(struct alter *a, const struct sql_alter_action *act)
{
    int32_t at = alter_old_column(a, act->name);
    struct build_column *c;

    if (at < 0)
        return act->if_exists ? 0 : unknown_column(a, act->name);
    if (build_name(&a->b, act->new_name, DB_E_WRONG_COLUMN_NAME))
        return ERR_INVAL;
    c = &a->b.columns[at];
    add_rename(a, c->c.name, act->new_name);
    c->c.name = arena_str(a->b.arena, act->new_name);
    return 0;
}

static int set_default(struct alter *a, const struct sql_alter_action *act)
{
    int32_t at = alter_old_column(a, act->name);
    struct db_cat_column *c;

    if (at < 0)
        return act->if_exists ? 0 : unknown_column(a, act->name);
    c = &a->b.columns[at].c;
    c->default_kind = c->not_null ? DB_DEFAULT_NONE : DB_DEFAULT_NULL;
    c->default_text = STR_NONE;
    if (act->kind == SQL_ALTER_DROP_DEFAULT)
        return 0;
    if (c->auto_increment || c->generated.len > 0)
        return db_error_set(a->b.e, DB_E_INVALID_DEFAULT, alter_cstr(a, c->name));
    a->b.columns[at].changed = true;
    return build_default(&a->b, c, act->column.default_value);
}

static int change_one(struct alter *a, const struct sql_alter_action *act)
{
    switch (act->kind) {
    case SQL_ALTER_MODIFY_COLUMN:
    case SQL_ALTER_CHANGE_COLUMN:
        return change_column(a, act);
    case SQL_ALTER_RENAME_COLUMN:
        return rename_column(a, act);
    case SQL_ALTER_SET_DEFAULT:
    case SQL_ALTER_DROP_DEFAULT:
        return set_default(a, act);
    default:
        return 0;
    }
}

/* ---- everything that names a column, after renaming ---- */

static struct str new_name(const struct alter *a, struct str name)
{
    for (uint32_t i = 0; i < a->n_renames; i++) {
        if (str_ieq(a->renames[i].from, name))
            return a->renames[i].to;
    }
    return name;
}

static const struct str *new_names(const struct alter *a, const struct str *names, uint32_t n)
{
    struct str *out = arena_new(a->b.arena, (n + 1) * sizeof(*out));

    for (uint32_t i = 0; i < n; i++)
        out[i] = new_name(a, names[i]);
    return out;
}

static struct str new_text(const struct alter *a, struct str text)
{
    return build_rename(a->b.arena, text, a->renames, a->n_renames);
}

/* Texts that the statement itself wrote (changed columns) name the new columns already. */
static void carry_renames(struct alter *a)
{
    struct build *b = &a->b;

    for (uint32_t i = 0; i < b->n_columns; i++) {
        struct build_column *c = &b->columns[i];

        if (c->changed)
            continue;
        c->c.generated = new_text(a, c->c.generated);
        if (c->c.default_kind == DB_DEFAULT_EXPR)
            c->c.default_text = new_text(a, c->c.default_text);
    }
    for (uint32_t i = 0; i < b->n_keys; i++) {
        for (uint32_t j = 0; b->keys[i].old >= 0 && j < b->keys[i].n_parts; j++) {
            struct build_part *p = &b->keys[i].parts[j];

            p->column = new_name(a, p->column);
            p->expr = new_text(a, p->expr);
        }
    }
    for (uint32_t i = 0; i < b->kept_fks; i++) {
        struct db_cat_fk *fk = &b->fks[i];

        fk->columns = new_names(a, fk->columns, fk->n_columns);
        if (str_ieq(fk->ref_table, b->old->name))
            fk->ref_columns = new_names(a, fk->ref_columns, fk->n_columns);
    }
    for (uint32_t i = 0; i < b->n_checks; i++)
        b->checks[i].expr = new_text(a, b->checks[i].expr);
}

/* ---- places and new columns ---- */

static int place_of(struct alter *a, const struct sql_alter_action *act, uint32_t *place)
{
    int32_t after;

    *place = a->b.n_columns;
    if (act->first)
        *place = 0;
    if (act->after.len == 0)
        return 0;
    after = build_column_find(&a->b, act->after);
    if (after < 0)
        return unknown_column(a, act->after);
    *place = (uint32_t)after + 1;
    return 0;
}

static int move_column(struct alter *a, const struct sql_alter_action *act)
{
    int32_t at = build_column_find(&a->b, act->column.name);
    struct build_column c;
    uint32_t place;
    int r;

    if (at < 0 || (!act->first && act->after.len == 0))
        return 0;
    c = a->b.columns[at];
    memmove(
        &a->b.columns[at], &a->b.columns[at + 1], (a->b.n_columns - (uint32_t)at - 1) * sizeof(c));
    a->b.n_columns--;
    if ((r = place_of(a, act, &place)))
        return r;
    memmove(&a->b.columns[place + 1], &a->b.columns[place], (a->b.n_columns - place) * sizeof(c));
    a->b.columns[place] = c;
    a->b.n_columns++;
    return 0;
}

static int add_column(struct alter *a, const struct sql_alter_action *act)
{
    uint32_t place;
    int r;

    if (act->if_exists && build_column_find(&a->b, act->column.name) >= 0)
        return 0;
    if ((r = place_of(a, act, &place)) || (r = build_add_column(&a->b, &act->column, place)))
        return r;
    a->b.columns[place].numbered = a->b.columns[place].c.auto_increment;
    return 0;
}

static int place_one(struct alter *a, const struct sql_alter_action *act)
{
    switch (act->kind) {
    case SQL_ALTER_ADD_COLUMN:
        return add_column(a, act);
    case SQL_ALTER_MODIFY_COLUMN:
    case SQL_ALTER_CHANGE_COLUMN:
        return move_column(a, act);
    default:
        return 0;
    }
}

/* ---- keys, options and the rest ---- */

static int rename_key(struct alter *a, const struct sql_alter_action *act)
{
    int32_t at = build_key_find(&a->b, act->name);

    if (at < 0)
        return act->if_exists ? 0
                              : db_error_set(a->b.e, DB_E_KEY_NOT_FOUND, alter_cstr(a, act->name),
                                    alter_cstr(a, a->b.old->name));
    if (str_ieq(act->new_name, STR("PRIMARY")) || str_ieq(act->name, STR("PRIMARY")))
        return db_error_set(a->b.e, DB_E_WRONG_NAME_FOR_INDEX, "PRIMARY");
    if (build_name(&a->b, act->new_name, DB_E_WRONG_NAME_FOR_INDEX))
        return ERR_INVAL;
    a->b.keys[at].k.name = arena_str(a->b.arena, act->new_name);
    return 0;
}

static int key_visible(struct alter *a, const struct sql_alter_action *act)
{
    int32_t at = build_key_find(&a->b, act->name);

    if (at < 0)
        return db_error_set(
            a->b.e, DB_E_KEY_NOT_FOUND, alter_cstr(a, act->name), alter_cstr(a, a->b.old->name));
    a->b.keys[at].k.invisible = !act->yes;
    return 0;
}

static int add_key(struct alter *a, const struct sql_alter_action *act)
{
    struct str name = act->key.name.len > 0 ? act->key.name : act->key.constraint;

    if (act->if_exists && name.len > 0 && build_key_find(&a->b, name) >= 0)
        return 0;
    return build_add_key(&a->b, &act->key);
}

static int add_fk(struct alter *a, const struct sql_alter_action *act)
{
    for (uint32_t i = 0; act->if_exists && i < a->b.n_fks; i++) {
        if (act->fk.name.len > 0 && str_ieq(a->b.fks[i].name, act->fk.name))
            return 0;
    }
    return build_add_fk(&a->b, &act->fk);
}

static uint32_t max_bytes(struct str collation)
{
    const struct db_collation *c = db_collation_find(collation);

    return c ? c->max_bytes : 1;
}

/* TEXT of one byte characters becomes MEDIUMTEXT when its characters need more. */
static void convert_type(struct db_type *t, struct str charset, struct str collation)
{
    if (max_bytes(collation) > max_bytes(t->collation) && t->base >= DB_T_TINYTEXT &&
        t->base < DB_T_LONGTEXT)
        t->base++;
    t->charset = charset;
    t->collation = collation;
}

static int convert(struct alter *a, const struct sql_alter_action *act)
{
    int r = build_options(&a->b, act->options, act->n_options);

    for (uint32_t i = 0; !r && i < a->b.n_columns; i++) {
        struct db_cat_column *c = &a->b.columns[i].c;

        if (!db_base_is_text(c->type.base))
            continue;
        convert_type(&c->type, a->b.t.charset, a->b.t.collation);
        if (c->type.base == DB_T_VARCHAR || str_eq(c->type.charset, STR("binary")))
            r = build_type(&a->b, c->name, &c->type);
    }
    return r;
}

/* Foreign keys that MySQL named itself follow the table's name. */
static void rename_fks(struct alter *a, struct str old, struct str name)
{
    struct str start = arena_printf(a->b.arena, STR_F "_ibfk_", STR_A(old));
    uint64_t n;

    for (uint32_t i = 0; i < a->b.n_fks; i++) {
        struct db_cat_fk *fk = &a->b.fks[i];

        if (str_ieq(fk->ref_table, old))
            fk->ref_table = name;
        if (str_istarts(fk->name, start) && !str_u64(str_sub(fk->name, start.len, 64), &n))
            fk->name =
                arena_printf(a->b.arena, STR_F "_ibfk_%llu", STR_A(name), (unsigned long long)n);
    }
}

static int rename_table(struct alter *a, struct sql_name name)
{
    struct str old = a->b.t.name;

    if (build_table_name(&a->b, name.name))
        return ERR_INVAL;
    if (name.schema.len > 0 && !str_ieq(name.schema, a->b.t.schema))
        return db_error_set(a->b.e, DB_E_NOT_SUPPORTED_YET, "moving a table to another database");
    a->b.t.name = arena_str(a->b.arena, name.name);
    rename_fks(a, old, a->b.t.name);
    return 0;
}

static int other_one(struct alter *a, const struct sql_alter_action *act)
{
    switch (act->kind) {
    case SQL_ALTER_RENAME_KEY:
        return rename_key(a, act);
    case SQL_ALTER_KEY_VISIBLE:
        return key_visible(a, act);
    case SQL_ALTER_ADD_KEY:
        return add_key(a, act);
    case SQL_ALTER_ADD_FK:
        return add_fk(a, act);
    case SQL_ALTER_ADD_CHECK:
        return build_add_check(&a->b, &act->check, STR_NONE);
    case SQL_ALTER_OPTIONS:
        return build_options(&a->b, act->options, act->n_options);
    case SQL_ALTER_CONVERT:
        return convert(a, act);
    case SQL_ALTER_RENAME_TABLE:
        return rename_table(a, act->table);
    default:
        return 0;
    }
}

static int no_double_columns(struct alter *a)
{
    for (uint32_t i = 0; i < a->b.n_columns; i++) {
        if (build_column_find(&a->b, a->b.columns[i].c.name) != (int32_t)i)
            return db_error_set(a->b.e, DB_E_DUP_FIELD, alter_cstr(a, a->b.columns[i].c.name));
    }
    return 0;
}

static int apply(struct alter *a)
{
    const struct sql_alter_table *s = a->stmt;
    int r = alter_drops(a);

    for (uint32_t i = 0; !r && i < s->n_actions; i++)
        r = change_one(a, &s->actions[i]);
    if (r)
        return r;
    if (a->n_renames > 0)
        carry_renames(a);
    if ((r = no_double_columns(a)))
        return r;
    for (uint32_t i = 0; !r && i < s->n_actions; i++)
        r = place_one(a, &s->actions[i]);
    for (uint32_t i = 0; !r && i < s->n_actions; i++)
        r = other_one(a, &s->actions[i]);
    return r;
}

int ddl_alter(struct arena *arena, const struct db_cat_table *old,
    const struct sql_alter_table *stmt, const struct ddl_defaults *defaults,
    const struct tr_env *env, struct ddl_change **out, struct db_error *e)
{
    struct alter *a = arena_new(arena, sizeof(*a));
    struct db_cat_table *t;
    int r;

    if (old->is_view)
        return db_error_set(e, DB_E_VIEW_WRONG, arena_str(arena, old->schema).p,
            arena_str(arena, old->name).p, "BASE TABLE");
    build_init(&a->b, arena, env, defaults, e);
    build_of(&a->b, old);
    a->stmt = stmt;
    a->renames = arena_new(arena, (stmt->n_actions + 1) * sizeof(*a->renames));
    if ((r = apply(a)) || (r = build_finish(&a->b, &t)))
        return r;
    return alter_change(a, t, out);
}

int ddl_rename_table(struct arena *arena, const struct db_cat_table *old, struct sql_name name,
    const struct tr_env *env, struct ddl_change **out, struct db_error *e)
{
    const struct ddl_defaults defaults = {
        .schema = old->schema, .charset = old->charset, .collation = old->collation};
    struct sql_alter_action act = {.kind = SQL_ALTER_RENAME_TABLE, .table = name};
    struct sql_alter_table stmt = {.actions = &act, .n_actions = 1};

    return ddl_alter(arena, old, &stmt, &defaults, env, out, e);
}
