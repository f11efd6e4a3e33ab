/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/build.h"
#include "db/sql/parse.h"
#include "db/sql/print.h"

struct str build_print(struct arena *arena, const struct sql_expr *e)
{
    struct buf text = {0};
    struct str out;

    sql_print_expr(&text, e);
    out = arena_str(arena, buf_str(&text));
    buf_fini(&text);
    return out;
}

int build_parse(struct arena *arena, struct str text, struct sql_expr **out, struct db_error *e)
{
    const struct sql_parse_options options = {.mode = 0, .version = 80036};

    return sql_parse_expr(arena, text, &options, out, e);
}

static void walk_list(const struct sql_exprs *list, build_column_cb *cb, void *arg)
{
    for (uint32_t i = 0; i < list->n; i++)
        build_walk(list->v[i], cb, arg);
}

/* The parser bounds how deep a tree is. */
void build_walk(struct sql_expr *e, build_column_cb *cb, void *arg)
{
    if (!e)
        return;
    if (e->kind == SQL_COLUMN)
        cb(arg, e);
    build_walk(e->a, cb, arg);
    build_walk(e->b, cb, arg);
    build_walk(e->c, cb, arg);
    walk_list(&e->list, cb, arg);
    for (uint32_t i = 0; i < e->order.n; i++)
        build_walk(e->order.v[i].expr, cb, arg);
}

struct looked_for {
    struct str name;
    bool found;
};

static void look_for(void *arg, struct sql_expr *column)
{
    struct looked_for *l = arg;

    l->found = l->found || str_ieq(column->name, l->name);
}

bool build_uses(struct arena *arena, struct str text, struct str column)
{
    struct looked_for l = {.name = column};
    struct db_error ignored;
    struct sql_expr *e;

    if (text.len == 0 || build_parse(arena, text, &e, &ignored))
        return false;
    build_walk(e, look_for, &l);
    return l.found;
}

struct renamed {
    const struct ddl_rename *renames;
    uint32_t n;
    bool any;
};

static void rename_column(void *arg, struct sql_expr *column)
{
    struct renamed *r = arg;

    for (uint32_t i = 0; i < r->n; i++) {
        if (!str_ieq(column->name, r->renames[i].from))
            continue;
        column->name = r->renames[i].to;
        r->any = true;
        return;
    }
}

struct str build_rename(
    struct arena *arena, struct str text, const struct ddl_rename *renames, uint32_t n)
{
    struct renamed r = {.renames = renames, .n = n};
    struct db_error ignored;
    struct sql_expr *e;

    if (text.len == 0 || build_parse(arena, text, &e, &ignored))
        return text;
    build_walk(e, rename_column, &r);
    return r.any ? build_print(arena, e) : text;
}
