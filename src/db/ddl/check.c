/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/build.h"

/* Columns of a check: known ones, and for one written at a column only that. */
struct look {
    struct build *b;
    const char *check;
    struct str only;
    int r;
};

static void look_at(void *arg, struct sql_expr *column)
{
    struct look *l = arg;
    const char *name;
    int32_t at;

    if (l->r)
        return;
    name = arena_str(l->b->arena, column->name).p;
    at = build_column_find(l->b, column->name);
    if (at < 0)
        l->r = db_error_set(l->b->e, DB_E_CHECK_UNKNOWN_COLUMN, l->check, name);
    else if (l->only.len > 0 && !str_ieq(l->only, column->name))
        l->r = db_error_set(l->b->e, DB_E_COLUMN_CHECK_OTHER, l->check);
    else if (l->b->columns[at].c.auto_increment)
        l->r = db_error_set(l->b->e, DB_E_CHECK_AUTO, l->check);
}

static bool name_taken(const struct build *b, struct str name)
{
    for (uint32_t i = 0; i < b->n_checks; i++) {
        if (str_ieq(b->checks[i].name, name))
            return true;
    }
    return false;
}

/* t_chk_1 and so on: one more than the highest there is. */
static struct str make_name(const struct build *b)
{
    struct str start = arena_printf(b->arena, STR_F "_chk_", STR_A(b->t.name));
    uint64_t top = 0, v;

    for (uint32_t i = 0; i < b->n_checks; i++) {
        struct str name = b->checks[i].name;

        if (str_istarts(name, start) && !str_u64(str_sub(name, start.len, name.len), &v) &&
            v < UINT32_MAX && v > top)
            top = v;
    }
    return arena_printf(b->arena, STR_F "%u", STR_A(start), (unsigned)top + 1);
}

int build_add_check(struct build *b, const struct sql_check *check, struct str column)
{
    struct str name = arena_str(b->arena, check->name);
    struct db_cat_check *c;
    struct look l = {.b = b, .only = column};

    if (name.len == 0)
        name = make_name(b);
    else if (build_name(b, name, DB_E_WRONG_COLUMN_NAME))
        return ERR_INVAL;
    if (name_taken(b, name))
        return db_error_set(b->e, DB_E_DUP_CHECK_NAME, name.p);
    if (column.len > 0) {
        l.check = name.p;
        build_walk(check->expr, look_at, &l);
        if (l.r)
            return l.r;
    }
    c = BUILD_MORE(b, checks);
    c->name = name;
    c->expr = build_print(b->arena, check->expr);
    c->enforced = !check->not_enforced;
    return 0;
}

int build_checks(struct build *b)
{
    for (uint32_t i = 0; i < b->n_checks; i++) {
        struct look l = {.b = b, .check = arena_str(b->arena, b->checks[i].name).p};
        struct sql_expr *e;
        int r = build_parse(b->arena, b->checks[i].expr, &e, b->e);

        if (r)
            return r;
        build_walk(e, look_at, &l);
        if (l.r)
            return l.r;
    }
    return 0;
}
