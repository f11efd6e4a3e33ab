/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/info_out.h"

static void constraint_of(struct info_out *o, const struct db_cat_table *t, struct str name)
{
    out_str(o, STR("def"));
    out_str(o, t->schema);
    out_str(o, name);
}

static void usage_head(
    struct info_out *o, const struct db_cat_table *t, struct str name, struct str column)
{
    constraint_of(o, t, name);
    constraint_of(o, t, t->name); /* the table's catalog, schema, name */
    out_str(o, column);
}

void info_rows_key_usage(struct info_out *o, const struct info_facts *f)
{
    const struct info_table *it;
    uint32_t i = 0;

    while ((it = out_table(o, f, &i, false))) {
        const struct db_cat_table *t = it->table;

        for (uint32_t k = 0; k < t->n_keys && t->keys[k].kind <= DB_KEY_UNIQUE; k++) {
            for (uint32_t p = 0; p < t->keys[k].n_parts; p++) {
                int32_t column = t->keys[k].parts[p].column;

                if (column < 0)
                    continue;
                usage_head(o, t, t->keys[k].name, t->columns[column].name);
                out_uint(o, p + 1);
                out_nulls(o, 4);
            }
        }
        for (uint32_t k = 0; k < t->n_fks; k++) {
            for (uint32_t p = 0; p < t->fks[k].n_columns; p++) {
                usage_head(o, t, t->fks[k].name, t->fks[k].columns[p]);
                out_uint(o, p + 1);
                out_uint(o, p + 1);
                out_str(o, t->schema);
                out_str(o, t->fks[k].ref_table);
                out_str(o, t->fks[k].ref_columns[p]);
            }
        }
    }
}

static void constraint_row(struct info_out *o, const struct db_cat_table *t, struct str name,
    struct str type, bool enforced)
{
    constraint_of(o, t, name);
    out_str(o, t->schema);
    out_str(o, t->name);
    out_str(o, type);
    out_str(o, enforced ? STR("YES") : STR("NO"));
}

void info_rows_table_constraints(struct info_out *o, const struct info_facts *f)
{
    const struct info_table *it;
    uint32_t i = 0;

    while ((it = out_table(o, f, &i, false))) {
        const struct db_cat_table *t = it->table;

        for (uint32_t k = 0; k < t->n_keys && t->keys[k].kind <= DB_KEY_UNIQUE; k++)
            constraint_row(o, t, t->keys[k].name,
                t->keys[k].kind == DB_KEY_PRIMARY ? STR("PRIMARY KEY") : STR("UNIQUE"), true);
        for (uint32_t k = 0; k < t->n_fks; k++)
            constraint_row(o, t, t->fks[k].name, STR("FOREIGN KEY"), true);
        for (uint32_t k = 0; k < t->n_checks; k++)
            constraint_row(o, t, t->checks[k].name, STR("CHECK"), t->checks[k].enforced);
    }
}

static bool key_has(
    const struct db_cat_table *t, const struct db_cat_key *k, const struct db_cat_fk *fk)
{
    if (k->kind > DB_KEY_UNIQUE || k->n_parts != fk->n_columns)
        return false;
    for (uint32_t i = 0; i < k->n_parts; i++) {
        bool found = false;

        for (uint32_t j = 0; j < fk->n_columns && k->parts[i].column >= 0; j++)
            found = found || str_ieq(t->columns[k->parts[i].column].name, fk->ref_columns[j]);
        if (!found)
            return false;
    }
    return true;
}

/* The unique key that a foreign key refers to, or STR_NONE. */
static struct str parent_key(
    const struct info_facts *f, const struct db_cat_table *child, const struct db_cat_fk *fk)
{
    for (uint32_t i = 0; i < f->n_tables; i++) {
        const struct db_cat_table *t = f->tables[i].table;

        if (!str_ieq(t->name, fk->ref_table) || !str_ieq(t->schema, child->schema) || t->temporary)
            continue;
        for (uint32_t k = 0; k < t->n_keys; k++) {
            if (key_has(t, &t->keys[k], fk))
                return t->keys[k].name;
        }
    }
    return STR_NONE;
}

void info_rows_referential(struct info_out *o, const struct info_facts *f)
{
    const struct info_table *it;
    uint32_t i = 0;

    while ((it = out_table(o, f, &i, false))) {
        for (uint32_t k = 0; k < it->table->n_fks; k++) {
            const struct db_cat_fk *fk = &it->table->fks[k];

            constraint_of(o, it->table, fk->name);
            out_str(o, STR("def"));
            out_str(o, it->table->schema);
            out_opt(o, parent_key(f, it->table, fk));
            out_str(o, STR("NONE"));
            out_str(o, fk->on_update);
            out_str(o, fk->on_delete);
            out_str(o, it->table->name);
            out_str(o, fk->ref_table);
        }
    }
}

void info_rows_checks(struct info_out *o, const struct info_facts *f)
{
    const struct info_table *it;
    uint32_t i = 0;

    while ((it = out_table(o, f, &i, false))) {
        for (uint32_t k = 0; k < it->table->n_checks; k++) {
            constraint_of(o, it->table, it->table->checks[k].name);
            out_str(o, it->table->checks[k].expr);
        }
    }
}
