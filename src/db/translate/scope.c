/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

void scope_init(struct scope *s, struct scope *outer)
{
    memset(s, 0, sizeof(*s));
    s->outer = outer;
    s->hi = UINT32_MAX;
    s->clause = "field list";
}

static bool same_table(
    const struct tr *t, const struct source *src, struct str schema, struct str name)
{
    if (!str_ieq(src->name, name))
        return false;
    if (!schema.len || !src->schema.len)
        return !schema.len || str_ieq(schema, t->env->database);
    return str_ieq(src->schema, schema);
}

int scope_add(struct tr *t, struct scope *s, struct source *src)
{
    for (uint32_t i = 0; i < s->n_sources; i++) {
        if (str_ieq(s->sources[i]->name, src->name) && str_ieq(s->sources[i]->schema, src->schema))
            return db_error_set(t->e, DB_E_NONUNIQ_TABLE, zstr(t, src->name));
    }
    s->sources = list_grow(t, s->sources, s->n_sources, &s->cap_sources, sizeof(*s->sources));
    s->sources[s->n_sources++] = src;
    return 0;
}

static int ambiguous(struct tr *t, struct scope *s, struct str name)
{
    return db_error_set(t->e, DB_E_NON_UNIQ, zstr(t, name), s->clause);
}

/* Is the column the one of two that USING made one, which is not to be found again? */
static struct merged *merged_of(struct scope *s, uint32_t src, uint32_t col)
{
    for (uint32_t i = s->n_merged; i-- > 0;) {
        struct merged *m = &s->merged[i];

        if ((m->left_source == src && m->left_col == col) ||
            (m->right_source == src && m->right_col == col))
            return m;
    }
    return NULL;
}

/* Do both belong to the same chain of USING? */
static bool same_merged(
    struct scope *s, uint32_t a_src, uint32_t a_col, uint32_t b_src, uint32_t b_col)
{
    for (uint32_t i = 0; i < s->n_merged; i++) {
        struct merged *m = &s->merged[i];

        if (m->right_source == b_src && m->right_col == b_col &&
            ((m->left_source == a_src && m->left_col == a_col) ||
                same_merged(s, a_src, a_col, m->left_source, m->left_col)))
            return true;
    }
    return false;
}

int scope_find(struct tr *t, struct scope *s, struct str schema, struct str table, struct str name,
    uint32_t *src, uint32_t *col, struct merged **merged)
{
    int found = 0;

    for (uint32_t i = s->lo; i < MIN(s->n_sources, s->hi); i++) {
        struct source *source = s->sources[i];

        if (table.len && !same_table(t, source, schema, table))
            continue;
        if (!table.len && source->no_star)
            continue;
        for (uint32_t k = 0; k < source->n_cols; k++) {
            if (!str_ieq(source->cols[k].name, name))
                continue;
            if (found && same_merged(s, *src, *col, i, k))
                continue;
            if (found)
                return ambiguous(t, s, table.len ? cat(t, "$.$", table, name) : name);
            found = 1;
            *src = i;
            *col = k;
        }
    }
    if (found && merged)
        *merged = table.len ? NULL : merged_of(s, *src, *col);
    return found;
}

void val_of_col(struct tr *t, struct source *src, uint32_t i, struct val *out)
{
    struct col *c = &src->cols[i];

    *out = (struct val){.t = c->t, .sql = c->sql, .prec = PREC_ATOM, .source = src, .column = i};
    out->natural = c->natural;
    out->field = true;
    out->schema = c->schema;
    out->org_table = c->org_table;
    out->org_name = c->org_name;
    out->table = src->name;
    out->flags = c->flags;
    if (src->nullable) {
        out->t.not_null = false;
        out->flags &= (uint16_t)~DB_COL_NOT_NULL;
    }
    if (c->replaced.p) {
        out->sql = cat(t, "($)", c->replaced);
        out->natural = STR_NONE;
        out->source = NULL;
    } else if (c->t.base == DB_T_TIMESTAMP && c->cat && !t->env->utc && !src->table->is_system) {
        out->raw = c->sql;
        out->sql = cat(t, "m_ts_local($)", c->sql);
    }
}

/* The column named so by the items of the select list; *out is set when there is one. */
static int find_alias(struct tr *t, struct scope *s, struct str name, struct val *out, bool *found)
{
    *found = false;
    for (uint32_t i = 0; i < s->n_items; i++) {
        if (!s->items[i].alias || !str_ieq(s->items[i].name, name))
            continue;
        if (*found) {
            if (str_eq(out->sql, s->items[i].v.sql))
                continue;
            return ambiguous(t, s, name);
        }
        *found = true;
        *out = s->items[i].v;
        s->correlated |= s->items[i].correlated;
        (void)val_sql(t, out);
    }
    return 0;
}

static int find_here(
    struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out, bool *found)
{
    uint32_t src, col;
    struct merged *m = NULL;
    int rc;

    *found = false;
    if (s->alias_first && s->items && !e->table.len) {
        if ((rc = find_alias(t, s, e->name, out, found)) || *found)
            return rc;
    }
    rc = scope_find(t, s, e->schema, e->table, e->name, &src, &col, &m);
    if (rc < 0)
        return rc;
    if (rc) {
        *found = true;
        val_of_col(t, s->sources[src], col, out);
        if (m && m->sql.p) {
            val_set(out, out->t, m->sql, PREC_ATOM);
            out->source = NULL;
        } else if (m && m->use_right) {
            val_of_col(t, s->sources[m->right_source], m->right_col, out);
        }
        return 0;
    }
    if (s->items && !e->table.len)
        return find_alias(t, s, e->name, out, found);
    return 0;
}

static int unknown(struct tr *t, struct scope *s, const struct sql_expr *e)
{
    struct str name = e->name;

    if (e->table.len)
        name = cat(t, "$.$", e->table, name);
    if (e->schema.len)
        name = cat(t, "$.$", e->schema, name);
    return db_error_set(t->e, DB_E_BAD_FIELD, zstr(t, name), s ? s->clause : "field list");
}

int resolve_column(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    bool found;
    int rc;

    for (struct scope *at = s; at; at = at->outer) {
        if ((rc = find_here(t, at, e, out, &found)))
            return rc;
        if (!found)
            continue;
        for (struct scope *in = s; in != at; in = in->outer)
            in->correlated = true;
        if (at != s) {
            out->has_agg = false;
            out->has_window = false;
        }
        return 0;
    }
    return unknown(t, s, e);
}

static void col_of_table(
    struct tr *t, const struct db_cat_table *table, uint32_t i, struct str alias, struct col *c)
{
    const struct db_cat_column *column = &table->columns[i];

    c->name = column->name;
    c->cat = column;
    c->hidden = column->invisible;
    c->t = ty_of_column(&column->type, column->not_null);
    c->sql = cat(t, "$.$", alias, quote_name(t, column->name));
    c->natural = ty_natural(&c->t);
    c->schema = table->schema;
    c->org_table = table->name;
    c->org_name = column->name;
    c->flags = column->key_flags;
    if (column->auto_increment)
        c->flags |= DB_COL_AUTO_INCREMENT;
    if (column->on_update_now)
        c->flags |= DB_COL_ON_UPDATE_NOW;
    if (column->not_null && column->default_kind == DB_DEFAULT_NONE && !column->auto_increment &&
        !column->generated.len)
        c->flags |= DB_COL_NO_DEFAULT;
    /* what SQLite makes of a view or a virtual table's column is not known */
    if (table->is_view || table->is_system)
        c->natural = STR_NONE;
}

struct source *source_of_table(
    struct tr *t, const struct db_cat_table *table, struct str name, struct str alias)
{
    struct source *src = arena_new(t->arena, sizeof(*src));

    src->schema = table->schema;
    src->name = name;
    src->alias = alias;
    src->table = table;
    src->n_cols = table->n_columns;
    src->cols = arena_new(t->arena, sizeof(*src->cols) * MAX(src->n_cols, 1));
    for (uint32_t i = 0; i < src->n_cols; i++)
        col_of_table(t, table, i, alias, &src->cols[i]);
    return src;
}
