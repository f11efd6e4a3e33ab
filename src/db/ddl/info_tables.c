/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/info_out.h"

#define CATALOG STR("def")

void info_rows_schemata(struct info_out *o, const struct info_facts *f)
{
    static const struct info_schema own[] = {
        {STR("information_schema"), STR("utf8mb3"), STR("utf8mb3_general_ci")},
        {STR("mysql"), STR("utf8mb4"), STR("utf8mb4_0900_ai_ci")},
        {STR("performance_schema"), STR("utf8mb4"), STR("utf8mb4_0900_ai_ci")},
        {STR("sys"), STR("utf8mb4"), STR("utf8mb4_0900_ai_ci")},
    };

    for (uint32_t i = 0; i < f->n_schemas + 4; i++) {
        const struct info_schema *s = i < 4 ? &own[i] : &f->schemas[i - 4];

        if (!out_wants(o, s->name, STR_NONE))
            continue;
        out_str(o, CATALOG);
        out_str(o, s->name);
        out_str(o, s->charset);
        out_str(o, s->collation);
        out_null(o);
        out_str(o, STR("NO"));
    }
}

/* "COMPRESSED" as "Compressed" */
static struct str row_format(struct info_out *o, const struct db_cat_table *t)
{
    struct str out;
    char *p;

    if (t->row_format.len == 0)
        return str_eq(t->engine, STR("InnoDB")) ? STR("Dynamic") : STR("Fixed");
    p = arena_bytes(o->arena, t->row_format.len);
    for (size_t i = 0; i < t->row_format.len; i++)
        p[i] = i == 0 ? t->row_format.p[i] : str_lower_char(t->row_format.p[i]);
    out = str_n(p, t->row_format.len);
    return out;
}

static struct str create_options(struct info_out *o, const struct db_cat_table *t)
{
    bool both = t->row_format.len > 0 && t->options.len > 0;

    if (t->partition.len > 0)
        return STR("partitioned");
    if (t->row_format.len == 0)
        return t->options;
    return arena_printf(o->arena, "row_format=" STR_F "%s" STR_F, STR_A(t->row_format),
        both ? " " : "", STR_A(t->options));
}

static void table_sizes(struct info_out *o, const struct info_table *it)
{
    out_uint(o, it->rows);
    out_uint(o, it->rows ? it->data_length / it->rows : 0);
    out_uint(o, it->data_length);
    out_uint(o, 0);
    out_uint(o, it->index_length);
    out_uint(o, 0);
}

static void base_table(struct info_out *o, const struct info_facts *f, const struct info_table *it)
{
    const struct db_cat_table *t = it->table;

    out_str(o, STR("BASE TABLE"));
    out_str(o, t->engine);
    out_int(o, 10);
    out_str(o, row_format(o, t));
    table_sizes(o, it);
    if (it->auto_increment)
        out_uint(o, it->auto_increment);
    else
        out_null(o);
    out_time(o, f, t->created);
    out_time(o, f, it->updated);
    out_null(o);
    out_str(o, t->collation);
    out_null(o);
    out_str(o, create_options(o, t));
    out_str(o, t->comment);
}

void info_rows_tables(struct info_out *o, const struct info_facts *f)
{
    const struct info_table *it;
    uint32_t i = 0;

    while ((it = out_table(o, f, &i, true))) {
        const struct db_cat_table *t = it->table;

        out_str(o, CATALOG);
        out_str(o, t->schema);
        out_str(o, t->name);
        if (t->is_system) {
            bool view = str_eq(t->schema, STR("information_schema"));

            out_str(o, view ? STR("SYSTEM VIEW") : STR("BASE TABLE"));
            out_opt(o, view ? STR_NONE : STR("InnoDB"));
            out_int(o, 10);
            out_nulls(o, 8);
            out_null(o);
            out_nulls(o, 2);
            out_opt(o, view ? STR_NONE : t->collation);
            out_null(o);
            out_str(o, STR_NONE);
            out_str(o, STR_NONE);
        } else if (t->is_view) {
            out_str(o, STR("VIEW"));
            out_nulls(o, 9);
            out_null(o);
            out_time(o, f, t->created);
            out_nulls(o, 5);
            out_str(o, STR("VIEW"));
        } else {
            base_table(o, f, it);
        }
    }
}

void info_rows_views(struct info_out *o, const struct info_facts *f)
{
    const struct info_table *it;
    uint32_t i = 0;

    while ((it = out_table(o, f, &i, false))) {
        if (!it->table->is_view)
            continue;
        out_str(o, CATALOG);
        out_str(o, it->table->schema);
        out_str(o, it->table->name);
        out_str(o, it->table->view_text);
        out_str(o, STR("NONE"));
        out_str(o, STR("NO"));
        out_str(o, arena_printf(o->arena, STR_F "@" STR_F, STR_A(f->user), STR_A(f->host)));
        out_str(o, STR("DEFINER"));
        out_str(o, STR("utf8mb4"));
        out_str(o, STR("utf8mb4_0900_ai_ci"));
    }
}

void info_rows_partitions(struct info_out *o, const struct info_facts *f)
{
    const struct info_table *it;
    uint32_t i = 0;

    while ((it = out_table(o, f, &i, false))) {
        if (it->table->is_view)
            continue;
        out_str(o, CATALOG);
        out_str(o, it->table->schema);
        out_str(o, it->table->name);
        out_nulls(o, 9);
        table_sizes(o, it);
        out_time(o, f, it->table->created);
        out_time(o, f, it->updated);
        out_nulls(o, 2);
        out_str(o, STR_NONE);
        out_nulls(o, 2);
    }
}
