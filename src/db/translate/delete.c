/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

static int check_target(struct tr *t, const struct db_cat_table *table)
{
    if (!table)
        return not_supported(t, "changing a derived table");
    if (table->is_system)
        return db_error_set(t->e, DB_E_DB_ACCESS, "root", "localhost", zstr(t, table->schema));
    if (table->is_view)
        return not_supported(t, "changing a view");
    return 0;
}

static int delete_one(struct tr *t, const struct sql_delete *d, struct str with)
{
    const struct db_cat_table *table;
    struct str name = d->from->alias.len ? d->from->alias : d->from->name.name;
    struct str alias = new_alias(t), where = STR_NONE, order, limit;
    struct scope s;
    struct val v;
    int rc;

    if ((rc = find_table(t, d->from->name, &table)) || (rc = check_target(t, table)))
        return rc;
    scope_init(&s, NULL);
    if ((rc = scope_add(t, &s, source_of_table(t, table, name, alias))))
        return rc;
    s.clause = "where clause";
    if (d->where) {
        if ((rc = val_of1(t, &s, d->where, &v)))
            return rc;
        where = cat(t, " WHERE $", val_cond(t, &v, PREC_OR));
    }
    if ((rc = order_of_items(t, &s, &d->order, NULL, 0, "order clause", &order)) ||
        (rc = limit_translate(t, &d->limit, &limit)))
        return rc;
    if (!limit.len)
        return step_add(t, TR_STEP_CHANGE,
            cat(t, "$DELETE FROM $ AS $$", with, table_sql(t, table), alias, where), table);
    return step_add(t, TR_STEP_CHANGE,
        cat(t, "$DELETE FROM $ WHERE $ IN (SELECT $.$ FROM $ AS $$$$)", with, table_sql(t, table),
            rowid_name(table), alias, rowid_name(table), table_sql(t, table), alias, where, order,
            limit),
        table);
}

/* The table of FROM that is named by its alias or its name. */
static struct source *target_of(struct scope *s, struct sql_name name)
{
    for (uint32_t i = 0; i < s->n_sources; i++) {
        if (str_ieq(s->sources[i]->name, name.name) &&
            (!name.schema.len || str_ieq(s->sources[i]->schema, name.schema)))
            return s->sources[i];
    }
    return NULL;
}

static int delete_rows(struct tr *t, const struct db_cat_table *table, struct str keys)
{
    return step_add(t, TR_STEP_CHANGE,
        cat(t, "DELETE FROM $ WHERE $ IN ($)", table_sql(t, table), rowid_name(table), keys),
        table);
}

static int delete_multi(struct tr *t, const struct sql_delete *d, struct str with)
{
    struct scope s;
    struct str from, where, q;
    struct sb keys = {0};
    struct source **targets = arena_new(t->arena, sizeof(void *) * d->n_targets);
    struct val v;
    int rc;

    scope_init(&s, NULL);
    if ((rc = from_translate(t, &s, d->from, &from, &where)))
        return rc;
    s.clause = "where clause";
    if (d->where) {
        if ((rc = val_of1(t, &s, d->where, &v)))
            return rc;
        where = where.len ? cat(t, "$ AND $", where, val_cond(t, &v, PREC_AND))
                          : val_cond(t, &v, PREC_AND);
    }
    for (uint32_t i = 0; i < d->n_targets; i++) {
        if (!(targets[i] = target_of(&s, d->targets[i])))
            return db_error_set(
                t->e, DB_E_UNKNOWN_TABLE, zstr(t, d->targets[i].name), "MULTI DELETE");
        if ((rc = check_target(t, targets[i]->table)))
            return rc;
        sb_cat(t, &keys, "$$.$ AS k#", i ? STR(", ") : STR_NONE, targets[i]->alias,
            rowid_name(targets[i]->table), (int)i + 1);
    }
    q = cat(t, "$SELECT $ FROM $$$", with, sb_str(&keys), from,
        where.len ? STR(" WHERE ") : STR_NONE, where);
    if (d->n_targets == 1)
        return delete_rows(t, targets[0]->table, q);
    if ((rc = step_add(t, TR_STEP_PREPARE, STR("DROP TABLE IF EXISTS temp._ephpm_rows"), NULL)) ||
        (rc = step_add(t, TR_STEP_PREPARE, cat(t, "CREATE TABLE temp._ephpm_rows AS $", q), NULL)))
        return rc;
    for (uint32_t i = 0; i < d->n_targets; i++) {
        if ((rc = delete_rows(
                 t, targets[i]->table, cat(t, "SELECT k# FROM temp._ephpm_rows", (int)i + 1))))
            return rc;
    }
    return step_add(t, TR_STEP_FINISH, STR("DROP TABLE IF EXISTS temp._ephpm_rows"), NULL);
}

int delete_translate(struct tr *t, const struct sql_delete *d)
{
    struct str with;
    int rc;

    t->plan->class = TR_WRITE;
    t->plan->count = TR_COUNT_DELETE;
    t->plan->ignore = d->ignore;
    if ((rc = ctes_open(t, NULL, d->ctes, d->n_ctes, d->recursive, &with)))
        return rc;
    return d->n_targets ? delete_multi(t, d, with) : delete_one(t, d, with);
}
