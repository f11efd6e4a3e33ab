/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/build.h"

/* ---- generated columns and defaults: what may be in them ---- */

struct look {
    struct build *b;
    uint32_t at;
    const char *where;
    bool is_default;
    int r;
};

static void look_at(void *arg, struct sql_expr *column)
{
    struct look *l = arg;
    int32_t i = build_column_find(l->b, column->name);
    const char *own = l->b->columns[l->at].c.name.p;

    if (l->r)
        return;
    if (i < 0)
        l->r =
            db_error_set(l->b->e, DB_E_BAD_FIELD, arena_str(l->b->arena, column->name).p, l->where);
    else if (l->b->columns[i].c.auto_increment)
        l->r = db_error_set(
            l->b->e, l->is_default ? DB_E_DEFAULT_REFERS_AUTO : DB_E_GENERATED_REFERS_AUTO, own);
    else if (!l->is_default && i >= (int32_t)l->at && l->b->columns[i].c.generated.len > 0)
        l->r = db_error_set(l->b->e, DB_E_GENERATED_NON_PRIOR);
}

static int check_text(struct build *b, uint32_t at, struct str text, bool is_default)
{
    struct look l = {.b = b,
        .at = at,
        .where = is_default ? "default value expression" : "generated column function",
        .is_default = is_default};
    struct sql_expr *e;
    int r = build_parse(b->arena, text, &e, b->e);

    if (r)
        return r;
    build_walk(e, look_at, &l);
    return l.r;
}

static int check_columns(struct build *b)
{
    bool visible = false;
    int r;

    if (b->n_columns == 0)
        return db_error_set(b->e, b->old ? DB_E_CANT_REMOVE_ALL : DB_E_NO_COLUMNS);
    for (uint32_t i = 0; i < b->n_columns; i++) {
        struct db_cat_column *c = &b->columns[i].c;

        c->name = arena_str(b->arena, c->name);
        visible = visible || !c->invisible;
        if (c->generated.len > 0 && (r = check_text(b, i, c->generated, false)))
            return r;
        if (c->default_kind == DB_DEFAULT_EXPR && (r = check_text(b, i, c->default_text, true)))
            return r;
    }
    return visible ? 0 : db_error_set(b->e, DB_E_NO_VISIBLE_COLUMN);
}

/* ---- the table ---- */

static const struct db_cat_key *make_keys(struct build *b)
{
    struct db_cat_key *keys = arena_new(b->arena, (b->n_keys + 1) * sizeof(*keys));

    for (uint32_t i = 0; i < b->n_keys; i++) {
        const struct build_key *k = &b->keys[i];
        struct db_cat_part *parts = arena_new(b->arena, (k->n_parts + 1) * sizeof(*parts));

        for (uint32_t j = 0; j < k->n_parts; j++) {
            parts[j] = (struct db_cat_part){.column = -1,
                .expr = k->parts[j].expr,
                .length = k->parts[j].length,
                .desc = k->parts[j].desc};
            if (k->parts[j].expr.len == 0)
                parts[j].column = build_column_find(b, k->parts[j].column);
        }
        keys[i] = k->k;
        keys[i].parts = parts;
        keys[i].n_parts = k->n_parts;
    }
    return keys;
}

static int32_t rowid_column(const struct db_cat_table *t)
{
    const struct db_cat_key *k = t->keys;
    enum db_base base;

    if (t->n_keys == 0 || k->kind != DB_KEY_PRIMARY || k->n_parts != 1 || k->parts[0].column < 0)
        return -1;
    base = t->columns[k->parts[0].column].type.base;
    return base >= DB_T_TINYINT && base <= DB_T_BIGINT &&
                   t->columns[k->parts[0].column].generated.len == 0
               ? k->parts[0].column
               : -1;
}

/* Expressions mean something to the translator, or the definition is refused. */
static int check_meaning(struct build *b, const struct db_cat_table *t)
{
    struct sql_expr *e;
    struct db_type type;
    struct str sql;
    int r = 0;

    for (uint32_t i = 0; !r && i < t->n_columns; i++) {
        const struct db_cat_column *c = &t->columns[i];
        struct str text = c->generated.len > 0                 ? c->generated
                          : c->default_kind == DB_DEFAULT_EXPR ? c->default_text
                                                               : STR_NONE;

        if (text.len > 0 && b->columns[i].changed && !(r = build_parse(b->arena, text, &e, b->e)))
            r = tr_expr(b->arena, e, t, b->env, &sql, &type, b->e);
    }
    for (uint32_t i = 0; !r && i < t->n_checks; i++) {
        if (!(r = build_parse(b->arena, t->checks[i].expr, &e, b->e)))
            r = tr_expr(b->arena, e, t, b->env, &sql, &type, b->e);
    }
    for (uint32_t i = 0; !r && i < t->n_keys; i++) {
        for (uint32_t j = 0; !r && j < t->keys[i].n_parts; j++) {
            if (t->keys[i].parts[j].column < 0 &&
                !(r = build_parse(b->arena, t->keys[i].parts[j].expr, &e, b->e)))
                r = tr_expr(b->arena, e, t, b->env, &sql, &type, b->e);
        }
    }
    return r;
}

struct db_cat_table *build_table(struct build *b)
{
    struct db_cat_table *t = arena_new(b->arena, sizeof(*t));
    struct db_cat_column *columns = arena_new(b->arena, (b->n_columns + 1) * sizeof(*columns));

    for (uint32_t i = 0; i < b->n_columns; i++)
        columns[i] = b->columns[i].c;
    *t = b->t;
    t->columns = columns;
    t->n_columns = b->n_columns;
    t->keys = make_keys(b);
    t->n_keys = b->n_keys;
    t->fks = b->fks;
    t->n_fks = b->n_fks;
    t->checks = b->checks;
    t->n_checks = b->n_checks;
    t->rowid_column = rowid_column(t);
    if (!t->is_system)
        t->sqlite_name = t->name;
    return t;
}

int build_finish(struct build *b, struct db_cat_table **out)
{
    struct db_cat_table *t;
    int r;

    if ((r = check_columns(b)) || (r = build_fks(b)) || (r = build_keys(b)) ||
        (r = build_checks(b)))
        return r;
    t = build_table(b);
    if ((r = check_meaning(b, t)))
        return r;
    *out = t;
    return 0;
}
