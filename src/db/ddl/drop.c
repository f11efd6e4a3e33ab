/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/alter.h"

#define REMOVE(list, n, at)                                                                  \
    do {                                                                                     \
        memmove(&(list)[at], &(list)[(at) + 1], ((n) - (size_t)(at) - 1) * sizeof(*(list))); \
        (n)--;                                                                               \
    } while (0)

static int32_t fk_find(const struct build *b, struct str name)
{
    for (uint32_t i = 0; i < b->n_fks; i++) {
        if (str_ieq(b->fks[i].name, name))
            return (int32_t)i;
    }
    return -1;
}

static int32_t check_find(const struct build *b, struct str name)
{
    for (uint32_t i = 0; i < b->n_checks; i++) {
        if (str_ieq(b->checks[i].name, name))
            return (int32_t)i;
    }
    return -1;
}

static int cannot_drop(struct alter *a, const struct sql_alter_action *act, struct str name)
{
    return act->if_exists ? 0 : db_error_set(a->b.e, DB_E_CANT_DROP, alter_cstr(a, name));
}

static int drop_fk(struct alter *a, const struct sql_alter_action *act)
{
    int32_t at = fk_find(&a->b, act->name);

    if (at < 0)
        return cannot_drop(a, act, act->name);
    REMOVE(a->b.fks, a->b.n_fks, at);
    a->b.kept_fks--;
    return 0;
}

static int drop_check(struct alter *a, const struct sql_alter_action *act)
{
    int32_t at = check_find(&a->b, act->name);

    if (at < 0)
        return act->if_exists
                   ? 0
                   : db_error_set(a->b.e, DB_E_CHECK_NOT_FOUND, alter_cstr(a, act->name));
    REMOVE(a->b.checks, a->b.n_checks, at);
    return 0;
}

static int drop_key(struct alter *a, const struct sql_alter_action *act, struct str name)
{
    int32_t at = build_key_find(&a->b, name);

    if (at < 0)
        return cannot_drop(a, act, name);
    build_drop_key(&a->b, (uint32_t)at);
    return 0;
}

static int drop_constraint(struct alter *a, const struct sql_alter_action *act)
{
    int32_t key = build_key_find(&a->b, act->name);

    if (fk_find(&a->b, act->name) >= 0)
        return drop_fk(a, act);
    if (check_find(&a->b, act->name) >= 0)
        return drop_check(a, act);
    if (key >= 0 && a->b.keys[key].k.kind <= DB_KEY_UNIQUE)
        return drop_key(a, act, act->name);
    return act->if_exists ? 0 : db_error_set(a->b.e, DB_E_NO_CONSTRAINT, alter_cstr(a, act->name));
}

/* Keys lose the part; what is left of a key without parts is nothing. */
static int drop_from_keys(struct alter *a, struct str column)
{
    struct build *b = &a->b;

    for (uint32_t i = b->n_keys; i-- > 0;) {
        struct build_key *k = &b->keys[i];
        uint32_t n = 0;

        for (uint32_t j = 0; j < k->n_parts; j++) {
            if (k->parts[j].expr.len > 0 && build_uses(b->arena, k->parts[j].expr, column))
                return db_error_set(b->e, DB_E_FUNCTIONAL_DEPENDENCY, alter_cstr(a, column));
            if (k->parts[j].expr.len > 0 || !str_ieq(k->parts[j].column, column))
                k->parts[n++] = k->parts[j];
        }
        if (n < k->n_parts)
            k->old = -1;
        k->n_parts = n;
        if (n == 0)
            build_drop_key(b, i);
    }
    return 0;
}

struct columns_of {
    struct str column;
    bool uses;
    bool others;
};

static void look(void *arg, struct sql_expr *column)
{
    struct columns_of *c = arg;

    if (str_ieq(column->name, c->column))
        c->uses = true;
    else
        c->others = true;
}

/* A check of that column alone goes with it. */
static int drop_from_checks(struct alter *a, struct str column)
{
    struct build *b = &a->b;

    for (uint32_t i = b->n_checks; i-- > 0;) {
        struct columns_of c = {.column = column};
        struct sql_expr *e;
        int r = build_parse(b->arena, b->checks[i].expr, &e, b->e);

        if (r)
            return r;
        build_walk(e, look, &c);
        if (c.uses && c.others)
            return db_error_set(
                b->e, DB_E_CHECK_COLUMN, alter_cstr(a, b->checks[i].name), alter_cstr(a, column));
        if (c.uses)
            REMOVE(b->checks, b->n_checks, i);
    }
    return 0;
}

static int drop_column(struct alter *a, const struct sql_alter_action *act)
{
    struct build *b = &a->b;
    int32_t at = build_column_find(b, act->name);
    int r;

    if (at < 0)
        return cannot_drop(a, act, act->name);
    for (uint32_t i = 0; i < b->n_fks; i++) {
        for (uint32_t j = 0; j < b->fks[i].n_columns; j++) {
            if (str_ieq(b->fks[i].columns[j], act->name))
                return db_error_set(b->e, DB_E_FK_COLUMN_DROP, alter_cstr(a, act->name),
                    alter_cstr(a, b->fks[i].name));
        }
    }
    REMOVE(b->columns, b->n_columns, at);
    if ((r = drop_from_keys(a, act->name)))
        return r;
    return drop_from_checks(a, act->name);
}

/* Columns that others are made of stay; all drops of the statement have been made. */
static int check_generated(struct alter *a)
{
    struct build *b = &a->b;

    for (uint32_t i = 0; i < a->stmt->n_actions; i++) {
        const struct sql_alter_action *act = &a->stmt->actions[i];

        for (uint32_t j = 0; act->kind == SQL_ALTER_DROP_COLUMN && j < b->n_columns; j++) {
            if (b->columns[j].c.generated.len > 0 &&
                build_uses(b->arena, b->columns[j].c.generated, act->name))
                return db_error_set(b->e, DB_E_GENERATED_DEPENDENCY, alter_cstr(a, act->name));
        }
    }
    return 0;
}

/* A foreign key that stays needs a key that begins with its columns. */
static int check_fk_keys(struct alter *a, const struct sql_alter_action *act)
{
    struct build *b = &a->b;

    for (uint32_t i = 0; i < b->kept_fks; i++) {
        const struct db_cat_fk *fk = &b->fks[i];
        bool had = false, has = false;

        for (uint32_t j = 0; j < b->old->n_keys && !had; j++) {
            const struct db_cat_key *k = &b->old->keys[j];

            had = str_ieq(k->name, act->name) && k->n_parts > 0 && k->parts[0].column >= 0 &&
                  str_ieq(b->old->columns[k->parts[0].column].name, fk->columns[0]);
        }
        for (uint32_t j = 0; j < b->n_keys && !has; j++)
            has = build_key_covers(&b->keys[j], fk->columns, fk->n_columns);
        for (uint32_t j = 0; j < a->stmt->n_actions && !has; j++) {
            const struct sql_key *k = &a->stmt->actions[j].key;

            has = a->stmt->actions[j].kind == SQL_ALTER_ADD_KEY && k->n_parts > 0 &&
                  str_ieq(k->parts[0].column, fk->columns[0]);
        }
        if (had && !has)
            return db_error_set(b->e, DB_E_DROP_INDEX_FK, alter_cstr(a, act->name));
    }
    return 0;
}

static int drop_one(struct alter *a, const struct sql_alter_action *act)
{
    switch (act->kind) {
    case SQL_ALTER_DROP_KEY:
        return drop_key(a, act, act->name);
    case SQL_ALTER_DROP_PRIMARY:
        return drop_key(a, act, STR("PRIMARY"));
    case SQL_ALTER_DROP_FK:
        return drop_fk(a, act);
    case SQL_ALTER_DROP_CHECK:
        return drop_check(a, act);
    case SQL_ALTER_DROP_CONSTRAINT:
        return drop_constraint(a, act);
    default:
        return 0;
    }
}

int alter_drops(struct alter *a)
{
    const struct sql_alter_table *s = a->stmt;
    int r = 0;

    for (uint32_t i = 0; !r && i < s->n_actions; i++)
        r = drop_one(a, &s->actions[i]);
    for (uint32_t i = 0; !r && i < s->n_actions; i++) {
        if (s->actions[i].kind == SQL_ALTER_DROP_KEY)
            r = check_fk_keys(a, &s->actions[i]);
    }
    for (uint32_t i = 0; !r && i < s->n_actions; i++) {
        if (s->actions[i].kind == SQL_ALTER_DROP_COLUMN)
            r = drop_column(a, &s->actions[i]);
    }
    return r ? r : check_generated(a);
}
