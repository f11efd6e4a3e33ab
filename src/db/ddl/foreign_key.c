/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/build.h"

static struct str action_text(enum sql_fk_action action)
{
    static const struct str texts[] = {[SQL_FK_NONE] = STR("NO ACTION"),
        [SQL_FK_RESTRICT] = STR("RESTRICT"),
        [SQL_FK_CASCADE] = STR("CASCADE"),
        [SQL_FK_SET_NULL] = STR("SET NULL"),
        [SQL_FK_NO_ACTION] = STR("NO ACTION"),
        [SQL_FK_SET_DEFAULT] = STR("SET DEFAULT")};

    return texts[action];
}

static struct str *copy_names(struct arena *arena, const struct sql_names *names)
{
    struct str *out = arena_new(arena, (names->n + 1) * sizeof(*out));

    for (uint32_t i = 0; i < names->n; i++)
        out[i] = arena_str(arena, names->v[i]);
    return out;
}

/* The key that a foreign key needs on its columns, when no other does. */
static void add_index(struct build *b, const struct sql_fk *fk, const struct db_cat_fk *made)
{
    struct build_key *k = BUILD_MORE(b, keys);
    struct str name = fk->name.len > 0 ? fk->name : fk->index;

    k->old = -1;
    k->k.kind = DB_KEY_INDEX;
    k->k.using_type = STR("BTREE");
    k->k.of_foreign = true;
    k->k.name = arena_str(b->arena, name);
    k->n_parts = made->n_columns;
    k->parts = arena_new(b->arena, made->n_columns * sizeof(*k->parts));
    for (uint32_t i = 0; i < made->n_columns; i++)
        k->parts[i].column = made->columns[i];
}

static struct str fk_name(struct build *b)
{
    struct str start = arena_printf(b->arena, STR_F "_ibfk_", STR_A(b->t.name));
    uint64_t top = 0, v;

    for (uint32_t i = 0; i < b->n_fks; i++) {
        struct str name = b->fks[i].name;

        if (str_istarts(name, start) && !str_u64(str_sub(name, start.len, name.len), &v) &&
            v < UINT32_MAX && v > top)
            top = v;
    }
    return arena_printf(b->arena, STR_F "%u", STR_A(start), (unsigned)top + 1);
}

int build_add_fk(struct build *b, const struct sql_fk *fk)
{
    struct db_cat_fk made = {.n_columns = fk->columns.n};
    struct str schema = fk->ref_table.schema;
    struct str name = fk->name.len > 0 ? fk->name : STR("foreign key without name");

    if (!str_eq(b->t.engine, STR("InnoDB")))
        return 0; /* as MySQL does with engines that have none */
    if (fk->columns.n != fk->ref_columns.n && fk->ref_columns.n > 0)
        return db_error_set(b->e, DB_E_WRONG_FK_DEF, arena_str(b->arena, name).p,
            "Key reference and table reference don't match");
    if (schema.len > 0 && !str_ieq(schema, b->t.schema))
        return db_error_set(
            b->e, DB_E_NOT_SUPPORTED_YET, "foreign keys to tables of another database");
    if (fk->on_delete == SQL_FK_SET_DEFAULT || fk->on_update == SQL_FK_SET_DEFAULT ||
        b->t.temporary)
        return db_error_set(b->e, DB_E_CANNOT_ADD_FOREIGN);
    if (fk->name.len > 0 && build_name(b, fk->name, DB_E_WRONG_COLUMN_NAME))
        return ERR_INVAL;
    made.name = fk->name.len > 0 ? arena_str(b->arena, fk->name) : fk_name(b);
    made.columns = copy_names(b->arena, &fk->columns);
    made.ref_columns = copy_names(b->arena, &fk->ref_columns);
    made.ref_table = arena_str(b->arena, fk->ref_table.name);
    made.on_delete = action_text(fk->on_delete);
    made.on_update = action_text(fk->on_update);
    for (uint32_t i = 0; i < b->n_fks; i++) {
        if (str_ieq(b->fks[i].name, made.name))
            return db_error_set(b->e, DB_E_FK_DUP_NAME, made.name.p);
    }
    /* `columns` now, so that a key written later in the statement still can serve: see build_fks */
    *(struct db_cat_fk *)BUILD_MORE(b, fks) = made;
    if (fk->ref_columns.n == 0)
        return db_error_set(b->e, DB_E_WRONG_FK_DEF, arena_str(b->arena, name).p,
            "Key reference and table reference don't match");
    add_index(b, fk, &made);
    return 0;
}

/* What a foreign key compares: the same kind of number, or text of one collation. */
static bool types_fit(const struct db_type *a, const struct db_type *p)
{
    bool text = db_base_is_text(a->base) && db_base_is_text(p->base);

    if (a->base == DB_T_ENUM || a->base == DB_T_SET)
        return a->base == p->base;
    if (text)
        return str_ieq(a->collation, p->collation);
    if (db_base_is_binary(a->base) && db_base_is_binary(p->base))
        return true;
    if (a->base == DB_T_DECIMAL && p->base == DB_T_DECIMAL)
        return a->decimals == p->decimals;
    return a->base == p->base && a->is_unsigned == p->is_unsigned;
}

/* The table that is referred to, in one form for ourselves and for others. */
struct parent {
    const struct build *self;
    const struct db_cat_table *other;
};

static const struct db_cat_column *parent_column(const struct parent *p, struct str name)
{
    int32_t at = p->self ? build_column_find(p->self, name) : db_cat_column_find(p->other, name);

    if (at < 0)
        return NULL;
    return p->self ? &p->self->columns[at].c : &p->other->columns[at];
}

static struct str part_column(const struct parent *p, uint32_t key, uint32_t part)
{
    const struct db_cat_part *cp;

    if (p->self)
        return p->self->keys[key].parts[part].length > 0 ? STR_NONE
                                                         : p->self->keys[key].parts[part].column;
    cp = &p->other->keys[key].parts[part];
    return cp->column < 0 || cp->length > 0 ? STR_NONE : p->other->columns[cp->column].name;
}

/* 2: the columns are a unique key, 1: a key, 0: none. */
static int parent_key(const struct parent *p, const struct db_cat_fk *fk)
{
    uint32_t n = p->self ? p->self->n_keys : p->other->n_keys;
    int best = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct db_cat_key *k = p->self ? &p->self->keys[i].k : &p->other->keys[i];
        uint32_t parts = p->self ? p->self->keys[i].n_parts : k->n_parts, j, found = 0;

        if (k->kind > DB_KEY_INDEX || parts < fk->n_columns)
            continue;
        for (j = 0; j < fk->n_columns; j++) {
            for (uint32_t c = 0; c < fk->n_columns; c++)
                found += str_ieq(part_column(p, i, j), fk->ref_columns[c]);
        }
        if (found != fk->n_columns)
            continue;
        best = MAX(best, k->kind <= DB_KEY_UNIQUE && parts == fk->n_columns ? 2 : 1);
    }
    return best;
}

static int check_columns(struct build *b, struct db_cat_fk *fk)
{
    struct str *columns = arena_new(b->arena, fk->n_columns * sizeof(*columns));

    for (uint32_t i = 0; i < fk->n_columns; i++) {
        int32_t at = build_column_find(b, fk->columns[i]);
        bool set_null =
            str_eq(fk->on_delete, STR("SET NULL")) || str_eq(fk->on_update, STR("SET NULL"));

        if (at < 0)
            return db_error_set(b->e, DB_E_KEY_COLUMN, fk->columns[i].p);
        columns[i] = b->columns[at].c.name;
        if (set_null && b->columns[at].c.not_null)
            return db_error_set(b->e, DB_E_FK_NOT_NULL, columns[i].p, fk->name.p);
        if (b->columns[at].c.generated.len > 0 && !b->columns[at].c.stored)
            return db_error_set(b->e, DB_E_FK_VIRTUAL, fk->name.p, columns[i].p);
    }
    fk->columns = columns;
    return 0;
}

static int check_parent(struct build *b, struct db_cat_fk *fk, const struct parent *p)
{
    struct str *refs = arena_new(b->arena, fk->n_columns * sizeof(*refs));
    const char *table = fk->ref_table.p;

    for (uint32_t i = 0; i < fk->n_columns; i++) {
        const struct db_cat_column *ref = parent_column(p, fk->ref_columns[i]);
        const struct db_cat_column *own = &b->columns[build_column_find(b, fk->columns[i])].c;

        if (!ref)
            return db_error_set(
                b->e, DB_E_FK_NO_COLUMN_PARENT, fk->ref_columns[i].p, fk->name.p, table);
        refs[i] = arena_str(b->arena, ref->name);
        if (!types_fit(&own->type, &ref->type))
            return db_error_set(b->e, DB_E_FK_INCOMPATIBLE, own->name.p, refs[i].p, fk->name.p);
    }
    fk->ref_columns = refs;
    switch (parent_key(p, fk)) {
    case 2:
        return 0;
    case 1: /* SQLite knows none such, and MySQL 8.4 no longer makes them */
        return db_error_set(b->e, DB_E_FK_NO_UNIQUE_PARENT, fk->name.p, table);
    default:
        return db_error_set(b->e, DB_E_FK_NO_INDEX_PARENT, fk->name.p, table);
    }
}

/* A key that was made for the foreign key is not needed when another one begins with its columns.
 */
static void drop_needless(struct build *b)
{
    for (uint32_t i = b->n_keys; i-- > 0;) {
        const struct build_key *k = &b->keys[i];
        struct str *columns;
        bool needless = false;

        if (!k->k.of_foreign)
            continue;
        columns = arena_new(b->arena, k->n_parts * sizeof(*columns));
        for (uint32_t j = 0; j < k->n_parts; j++)
            columns[j] = k->parts[j].column;
        for (uint32_t j = 0; j < b->n_keys && !needless; j++)
            needless = j != i && build_key_covers(&b->keys[j], columns, k->n_parts) &&
                       (!b->keys[j].k.of_foreign || b->keys[j].n_parts > k->n_parts || j < i);
        if (needless)
            build_drop_key(b, i);
    }
}

int build_fks(struct build *b)
{
    int r;

    drop_needless(b);
    for (uint32_t i = b->kept_fks; i < b->n_fks; i++) {
        struct db_cat_fk *fk = &b->fks[i];
        struct parent p = {0};

        if ((r = check_columns(b, fk)))
            return r;
        if (str_ieq(fk->ref_table, b->t.name) || (b->old && str_ieq(fk->ref_table, b->old->name))) {
            p.self = b;
            fk->ref_table = b->t.name;
        } else if (b->env && b->env->table) {
            p.other = b->env->table(b->env->arg, b->t.schema, fk->ref_table);
        }
        if (p.other && (p.other->temporary || p.other->is_view))
            p.other = NULL;
        if (!p.self && !p.other) {
            if (b->fk_checks)
                return db_error_set(b->e, DB_E_FK_OPEN_PARENT, fk->ref_table.p);
            continue; /* it may come later, as in a dump */
        }
        if (p.other)
            fk->ref_table = arena_str(b->arena, p.other->name);
        if ((r = check_parent(b, fk, &p)))
            return r;
    }
    return 0;
}
