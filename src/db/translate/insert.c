/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

/*
 * INSERT and REPLACE. Every column that is not generated is written, since SQLite's tables have no
 * defaults. REPLACE deletes first, in a step of its own, so that what it deletes is counted.
 */

struct insert {
    struct tr *t;
    const struct sql_insert *i;
    const struct db_cat_table *table;
    int32_t *columns; /* of the values given: the column's index */
    uint32_t n_columns;
    struct scope scope; /* earlier columns of the row, for expressions */
    struct source *row;
    struct str *text; /* of the row: each column's value */
    struct str *keys; /* the same without m_auto(), for REPLACE; empty: not known */
};

static int writable(struct tr *t, const struct db_cat_table *table)
{
    if (table->is_system)
        return db_error_set(t->e, DB_E_DB_ACCESS, "root", "localhost", zstr(t, table->schema));
    if (table->is_view)
        return not_supported(t, "changing a view");
    return 0;
}

static int columns(struct insert *n)
{
    const struct db_cat_table *table = n->table;
    struct tr *t = n->t;

    n->columns = arena_new(t->arena, sizeof(*n->columns) * (table->n_columns + n->i->columns.n));
    if (!n->i->has_columns) {
        for (uint32_t i = 0; i < table->n_columns; i++) {
            if (!table->columns[i].invisible)
                n->columns[n->n_columns++] = (int32_t)i;
        }
        return 0;
    }
    for (uint32_t i = 0; i < n->i->columns.n; i++) {
        int32_t at = db_cat_column_find(table, n->i->columns.v[i]);

        if (at < 0)
            return db_error_set(t->e, DB_E_BAD_FIELD, zstr(t, n->i->columns.v[i]), "field list");
        for (uint32_t k = 0; k < n->n_columns; k++) {
            if (n->columns[k] == at)
                return db_error_set(t->e, DB_E_FIELD_TWICE, zstr(t, n->i->columns.v[i]));
        }
        n->columns[n->n_columns++] = at;
    }
    return 0;
}

/* The auto column numbers itself when it gets NULL, or 0. */
static struct str auto_value(struct insert *n, struct str value)
{
    bool rowid = n->table->rowid_column == n->table->auto_column;

    return rowid ? cat(n->t, "m_auto($)", value)
                 : cat(n->t, "m_auto($,$)", value, quote_text(n->t, n->table->name));
}

static void set_column(struct insert *n, uint32_t i, struct str value)
{
    n->keys[i] = value;
    n->row->cols[i].replaced = value;
    n->text[i] = value;
    if ((int32_t)i == n->table->auto_column) {
        n->text[i] = auto_value(n, value);
        if (str_eq(value, STR("NULL")))
            n->keys[i] = STR_NONE;
    }
}

/* Columns that were not given, or where DEFAULT stands. */
static int set_default(struct insert *n, uint32_t i, bool said, struct store_flags flags)
{
    const struct db_cat_column *c = &n->table->columns[i];
    struct str value;
    int rc;

    if (col_is_generated(c))
        return 0;
    if ((rc = store_default(n->t, n->table, c, &n->scope, said, flags, &value)))
        return rc;
    set_column(n, i, value);
    return 0;
}

static int set_value(struct insert *n, uint32_t i, struct val *v, struct store_flags flags)
{
    const struct db_cat_column *c = &n->table->columns[i];
    struct str value;
    int rc;

    if (col_is_generated(c))
        return db_error_set(
            n->t->e, DB_E_GENERATED_COLUMN, zstr(n->t, c->name), zstr(n->t, n->table->name));
    if (c->auto_increment && val_is_null(v))
        value = STR("NULL");
    else if ((rc = store_value(n->t, c, v, flags, &value)))
        return rc;
    set_column(n, i, value);
    return 0;
}

static void row_begin(struct insert *n)
{
    memset(n->text, 0, sizeof(*n->text) * n->table->n_columns);
    memset(n->keys, 0, sizeof(*n->keys) * n->table->n_columns);
    for (uint32_t i = 0; i < n->row->n_cols; i++)
        n->row->cols[i].replaced = STR("NULL");
}

static int row_values(struct insert *n, const struct sql_exprs *row, struct store_flags flags)
{
    uint32_t given = row->n ? n->n_columns : 0;
    struct val v;
    int rc;

    if (row->n && row->n != n->n_columns)
        return db_error_set(n->t->e, DB_E_COLUMN_COUNT, flags.row);
    /* () gives every column its default; a list of columns with () is an error */
    if (!row->n && n->i->has_columns && n->n_columns)
        return db_error_set(n->t->e, DB_E_COLUMN_COUNT, flags.row);
    row_begin(n);
    for (uint32_t k = 0; k < given; k++) {
        const struct sql_expr *e = row->v[k];

        if (e->kind == SQL_DEFAULT && !e->a) {
            rc = set_default(n, (uint32_t)n->columns[k], true, flags);
        } else {
            if ((rc = val_of1(n->t, &n->scope, e, &v)))
                return rc;
            rc = set_value(n, (uint32_t)n->columns[k], &v, flags);
        }
        if (rc)
            return rc;
    }
    for (uint32_t i = 0; i < n->table->n_columns; i++) {
        if (!n->text[i].p && (rc = set_default(n, i, false, flags)))
            return rc;
    }
    return 0;
}

static struct str row_text(struct insert *n)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < n->table->n_columns; i++) {
        if (!col_is_generated(&n->table->columns[i]))
            sb_cat(n->t, &b, "$$", b.len ? STR(", ") : STR_NONE, n->text[i]);
    }
    return sb_str(&b);
}

static struct str column_names(struct insert *n)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < n->table->n_columns; i++) {
        if (!col_is_generated(&n->table->columns[i]))
            sb_cat(n->t, &b, "$$", b.len ? STR(", ") : STR_NONE,
                quote_name(n->t, n->table->columns[i].name));
    }
    return sb_str(&b);
}

/* ---- REPLACE ---- */

static bool key_known(const struct insert *n, const struct db_cat_key *key)
{
    if (key->kind > DB_KEY_UNIQUE)
        return false;
    for (uint32_t i = 0; i < key->n_parts; i++) {
        if (key->parts[i].column < 0 || !n->keys[key->parts[i].column].len)
            return false;
    }
    return true;
}

static struct str part_text(struct tr *t, const struct db_cat_part *p, struct str value)
{
    return p->length ? cat(t, "m_prefix($,#)", value, (int)p->length) : value;
}

static struct str key_columns(struct insert *n, const struct db_cat_key *key, struct str alias)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < key->n_parts; i++) {
        const struct db_cat_column *c = &n->table->columns[key->parts[i].column];
        struct ty ty = ty_of_column(&c->type, false);
        struct str x = cat(n->t, "$.$", alias, quote_name(n->t, c->name));

        x = part_text(n->t, &key->parts[i], x);
        if (key->parts[i].length && ty_natural(&ty).len)
            x = cat(n->t, "$ COLLATE $", x, quote_name(n->t, ty_natural(&ty)));
        sb_cat(n->t, &b, "$$", i ? STR(",") : STR_NONE, x);
    }
    return sb_str(&b);
}

static struct str key_values(struct insert *n, const struct db_cat_key *key)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < key->n_parts; i++)
        sb_cat(n->t, &b, "$$", i ? STR(",") : STR_NONE,
            part_text(n->t, &key->parts[i], n->keys[key->parts[i].column]));
    return sb_str(&b);
}

/* Of each unique key, the values that the rows bring. */
static void replace_collect(struct insert *n, struct sb *lists)
{
    for (uint32_t k = 0; k < n->table->n_keys; k++) {
        const struct db_cat_key *key = &n->table->keys[k];

        if (!key_known(n, key))
            continue;
        if (key->n_parts == 1)
            sb_cat(n->t, &lists[k], "$$", lists[k].len ? STR(",") : STR_NONE, key_values(n, key));
        else
            sb_cat(n->t, &lists[k], "$($)", lists[k].len ? STR(",") : STR_NONE, key_values(n, key));
    }
}

static int replace_delete(struct insert *n, struct sb *lists)
{
    struct tr *t = n->t;
    struct str alias = new_alias(t);
    struct sb where = {0};

    for (uint32_t k = 0; k < n->table->n_keys; k++) {
        const struct db_cat_key *key = &n->table->keys[k];
        struct str or = where.len ? STR(" OR ") : STR_NONE;

        if (!lists[k].len)
            continue;
        if (key->n_parts == 1)
            sb_cat(t, &where, "$$ IN ($)", or, key_columns(n, key, alias), sb_str(&lists[k]));
        else
            sb_cat(
                t, &where, "$($) IN (VALUES $)", or, key_columns(n, key, alias), sb_str(&lists[k]));
    }
    if (!where.len)
        return 0;
    return step_add(t, TR_STEP_CHANGE,
        cat(t, "DELETE FROM $ AS $ WHERE $", table_sql(t, n->table), alias, sb_str(&where)),
        n->table);
}

/* ---- ON DUPLICATE KEY UPDATE ---- */

static struct source *excluded(struct insert *n, struct str name)
{
    struct source *src = source_of_table(n->t, n->table, name, STR("excluded"));

    src->no_star = true;
    src->schema = STR_NONE;
    for (uint32_t i = 0; i < n->i->column_aliases.n && i < n->n_columns; i++)
        src->cols[n->columns[i]].name = n->i->column_aliases.v[i];
    return src;
}

static int on_duplicate(struct insert *n, struct str alias, struct str *out)
{
    struct tr *t = n->t;
    struct scope s;
    struct source *target = source_of_table(t, n->table, n->table->name, alias);
    struct assign_out assigns;
    int rc;

    *out = STR_NONE;
    if (!n->i->on_duplicate.n)
        return 0;
    scope_init(&s, NULL);
    s.values = source_of_table(t, n->table, STR("values"), STR("excluded"));
    if ((rc = scope_add(t, &s, target)) ||
        (n->i->row_alias.len && (rc = scope_add(t, &s, excluded(n, n->i->row_alias)))))
        return rc;
    if ((rc = assigns_translate(t, &s, target, &n->i->on_duplicate,
             (struct store_flags){.ignore = n->i->ignore, .multi = true, .row = 1}, &assigns)))
        return rc;
    *out = cat(t, " ON CONFLICT DO UPDATE SET $ WHERE m_matched($)", assigns.set, assigns.changed);
    return 0;
}

static struct str verb(const struct insert *n)
{
    if (n->i->replace)
        return STR("REPLACE");
    return n->i->ignore ? STR("INSERT OR IGNORE") : STR("INSERT");
}

static int insert_values(struct insert *n, struct str alias)
{
    struct tr *t = n->t;
    struct sb rows = {0}, *lists = arena_new(t->arena, sizeof(*lists) * MAX(n->table->n_keys, 1));
    struct str update;
    int rc;

    for (uint32_t r = 0; r < n->i->n_rows; r++) {
        struct store_flags flags = {
            .ignore = n->i->ignore, .multi = n->i->n_rows > 1, .row = (int)r + 1};

        if ((rc = row_values(n, &n->i->rows[r], flags)))
            return rc;
        sb_cat(t, &rows, "$($)", r ? STR(", ") : STR_NONE, row_text(n));
        if (n->i->replace)
            replace_collect(n, lists);
    }
    if ((n->i->replace && (rc = replace_delete(n, lists))) ||
        (rc = on_duplicate(n, alias, &update)))
        return rc;
    t->plan->n_rows = n->i->n_rows;
    return step_add(t, TR_STEP_CHANGE,
        cat(t, "$ INTO $ AS $ ($) VALUES $$", verb(n), table_sql(t, n->table), alias,
            column_names(n), sb_str(&rows), update),
        n->table);
}

/* ---- INSERT ... SELECT ---- */

static int select_row(struct insert *n, struct query *q, struct str alias)
{
    struct store_flags flags = {.ignore = n->i->ignore, .multi = true, .row = -1};
    int rc;

    if (q->n_items != n->n_columns)
        return db_error_set(n->t->e, DB_E_COLUMN_COUNT, 1);
    row_begin(n);
    for (uint32_t i = 0; i < n->n_columns; i++) {
        struct val v = {0};

        val_set(&v, q->items[i].v.t, cat(n->t, "$.c#", alias, (int)i + 1), PREC_ATOM);
        v.source = q->items[i].v.source;
        if ((rc = set_value(n, (uint32_t)n->columns[i], &v, flags)))
            return rc;
        flags.row = -2;
    }
    for (uint32_t i = 0; i < n->table->n_columns; i++) {
        if (!n->text[i].p && (rc = set_default(n, i, false, flags)))
            return rc;
    }
    return 0;
}

static int replace_select(struct insert *n, struct query *q, struct str alias)
{
    struct tr *t = n->t;
    struct str target = new_alias(t), other = new_alias(t);
    struct sb where = {0};

    for (uint32_t k = 0; k < n->table->n_keys; k++) {
        const struct db_cat_key *key = &n->table->keys[k];

        if (key_known(n, key))
            sb_cat(t, &where, "$SELECT $.$ FROM ($) AS $ JOIN $ AS $ ON ($) = ($)",
                where.len ? STR(" UNION ALL ") : STR_NONE, target, rowid_name(n->table), q->sql,
                alias, table_sql(t, n->table), target, key_columns(n, key, target),
                key_values(n, key));
    }
    if (!where.len)
        return 0;
    return step_add(t, TR_STEP_CHANGE,
        cat(t, "DELETE FROM $ AS $ WHERE $.$ IN ($)", table_sql(t, n->table), other, other,
            rowid_name(n->table), sb_str(&where)),
        n->table);
}

static int insert_select(struct insert *n, struct str alias)
{
    struct tr *t = n->t;
    struct str from = new_alias(t), update;
    struct query q;
    int rc;

    if ((rc = query_translate(t, NULL, n->i->query, &q)) || (rc = select_row(n, &q, from)) ||
        (n->i->replace && (rc = replace_select(n, &q, from))) ||
        (rc = on_duplicate(n, alias, &update)))
        return rc;
    /* "WHERE 1": else ON of the upsert reads as that of a join */
    return step_add(t, TR_STEP_CHANGE,
        cat(t, "$ INTO $ AS $ ($) SELECT $ FROM ($) AS $ WHERE 1$", verb(n), table_sql(t, n->table),
            alias, column_names(n), row_text(n), q.sql, from, update),
        n->table);
}

int insert_translate(struct tr *t, const struct sql_insert *i)
{
    struct insert n = {.t = t, .i = i};
    struct str alias = new_alias(t);
    int rc;

    if ((rc = find_table(t, i->table, &n.table)) || (rc = writable(t, n.table)) ||
        (rc = columns(&n)))
        return rc;
    n.text = arena_new(t->arena, sizeof(*n.text) * n.table->n_columns);
    n.keys = arena_new(t->arena, sizeof(*n.keys) * n.table->n_columns);
    scope_init(&n.scope, NULL);
    n.row = source_of_table(t, n.table, n.table->name, STR("\"row\""));
    for (uint32_t k = 0; k < n.row->n_cols; k++)
        n.row->cols[k].natural = STR_NONE;
    if ((rc = scope_add(t, &n.scope, n.row)))
        return rc;
    t->plan->class = TR_WRITE;
    t->plan->ignore = i->ignore;
    t->plan->has_auto = n.table->auto_column >= 0;
    t->plan->count = i->replace          ? TR_COUNT_REPLACE
                     : i->on_duplicate.n ? TR_COUNT_UPSERT
                                         : TR_COUNT_INSERT;
    return i->query ? insert_select(&n, alias) : insert_values(&n, alias);
}
