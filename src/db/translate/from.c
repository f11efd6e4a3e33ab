/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

/*
 * FROM. SQLite joins from left to right like MySQL, but what stands in parentheses is a query of
 * its own there; so joins in parentheses are written flat where that means the same.
 */

struct from {
    struct tr *t;
    struct scope *s;
    struct str where; /* conditions of joins that were written flat */
    bool inner_side;  /* in the part of an outer join that may be missing */
    int depth;
};

static int translate(struct from *f, const struct sql_table *tab, struct sb *b);

int find_table(struct tr *t, struct sql_name name, const struct db_cat_table **out)
{
    struct str schema = name.schema.len ? name.schema : t->env->database;

    if (!schema.len)
        return db_error_set(t->e, DB_E_NO_DB);
    if (name.schema.len && t->env->schema && !t->env->schema(t->env->arg, name.schema))
        return db_error_set(t->e, DB_E_BAD_DB, zstr(t, name.schema));
    *out = t->env->table(t->env->arg, name.schema, name.name);
    if (!*out)
        return db_error_set(t->e, DB_E_NO_SUCH_TABLE, zstr(t, schema), zstr(t, name.name));
    return 0;
}

struct str table_sql(struct tr *t, const struct db_cat_table *table)
{
    struct str name = quote_name(t, table->is_system ? table->sqlite_name : table->name);

    if (table->temporary)
        return cat(t, "temp.$", name);
    return table->is_system ? name : cat(t, "main.$", name);
}

static const struct cte *find_cte(struct tr *t, struct sql_name name)
{
    if (name.schema.len)
        return NULL;
    for (const struct cte *c = t->ctes; c; c = c->next) {
        if (str_ieq(c->name, name.name))
            return c;
    }
    return NULL;
}

static struct source *source_of_cols(
    struct tr *t, const struct col *cols, uint32_t n, struct str name, struct str alias)
{
    struct source *src = arena_new(t->arena, sizeof(*src));

    src->name = name;
    src->alias = alias;
    src->n_cols = n;
    src->cols = arena_new(t->arena, sizeof(*cols) * MAX(n, 1));
    for (uint32_t i = 0; i < n; i++) {
        src->cols[i] = cols[i];
        src->cols[i].sql = cat(t, "$.c#", alias, (int)i + 1);
        src->cols[i].natural = STR_NONE;
        src->cols[i].cat = NULL;
    }
    return src;
}

static int name_table(struct from *f, const struct sql_table *tab, struct sb *b)
{
    struct tr *t = f->t;
    struct str name = tab->alias.len ? tab->alias : tab->name.name;
    struct str alias = new_alias(t);
    const struct db_cat_table *table = NULL;
    const struct cte *c = find_cte(t, tab->name);
    int rc;

    if (c) {
        sb_cat(t, b, "$ AS $", c->alias, alias);
        return scope_add(t, f->s, source_of_cols(t, c->cols, c->n_cols, name, alias));
    }
    if ((rc = find_table(t, tab->name, &table)) || !table)
        return rc;
    sb_cat(t, b, "$ AS $", table_sql(t, table), alias);
    return scope_add(t, f->s, source_of_table(t, table, name, alias));
}

struct col *cols_of_items(struct tr *t, const struct item *items, uint32_t n, struct str alias,
    const struct sql_names *names)
{
    struct col *cols = arena_new(t->arena, sizeof(*cols) * MAX(n, 1));

    for (uint32_t i = 0; i < n; i++) {
        struct col *c = &cols[i];

        c->name = names && names->n ? names->v[i] : items[i].name;
        c->t = items[i].v.t;
        if (c->t.coer >= COER_LITERAL || c->t.coer == COER_EXPLICIT)
            c->t.coer = COER_IMPLICIT;
        c->sql = cat(t, "$.c#", alias, (int)i + 1);
        c->schema = items[i].v.schema;
        c->org_table = items[i].v.org_table;
        c->org_name = items[i].v.org_name;
        c->flags = items[i].v.flags &
                   (uint16_t)~(DB_COL_PRI_KEY | DB_COL_UNIQUE_KEY | DB_COL_MULTIPLE_KEY |
                               DB_COL_PART_KEY | DB_COL_AUTO_INCREMENT);
    }
    return cols;
}

static int derived(struct from *f, const struct sql_table *tab, struct sb *b)
{
    struct tr *t = f->t;
    struct str alias = new_alias(t);
    struct query q;
    struct col *cols;
    int rc;

    if (!tab->alias.len)
        return db_error_set(t->e, DB_E_DERIVED_ALIAS);
    if (tab->lateral)
        return not_supported(t, "LATERAL");
    /* a derived table sees what is outside of the query, not its neighbours */
    if ((rc = query_translate(t, f->s->outer, tab->query, &q)))
        return rc;
    if (tab->columns.n && tab->columns.n != q.n_items)
        return db_error_set(t->e, DB_E_VIEW_COLUMNS);
    if (q.correlated)
        f->s->correlated = true;
    cols = cols_of_items(t, q.items, q.n_items, alias, &tab->columns);
    for (uint32_t i = 0; i < q.n_items; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (str_ieq(cols[i].name, cols[k].name))
                return db_error_set(t->e, DB_E_DUP_FIELD, zstr(t, cols[i].name));
        }
    }
    sb_cat(t, b, "($) AS $", q.sql, alias);
    return scope_add(t, f->s, source_of_cols(t, cols, q.n_items, tab->alias, alias));
}

/* ---- joins ---- */

struct join {
    uint32_t left, right, end; /* sources: the left side's first, the right side's, after it */
    struct sb cond;
};

static int using_column(
    struct from *f, const struct sql_table *tab, struct join *j, struct str name)
{
    struct scope *s = f->s;
    struct merged m = {.name = name}, *lm = NULL;
    struct val a, b, eq;
    int rc;

    s->clause = "from clause";
    s->lo = j->left;
    s->hi = j->right;
    if ((rc = scope_find(f->t, s, STR_NONE, STR_NONE, name, &m.left_source, &m.left_col, &lm)) < 0)
        return rc;
    s->lo = j->right;
    s->hi = j->end;
    if (!rc || (rc = scope_find(
                    f->t, s, STR_NONE, STR_NONE, name, &m.right_source, &m.right_col, NULL)) == 0)
        return db_error_set(f->t->e, DB_E_BAD_FIELD, zstr(f->t, name), "from clause");
    if (rc < 0)
        return rc;
    val_of_col(f->t, s->sources[m.left_source], m.left_col, &a);
    val_of_col(f->t, s->sources[m.right_source], m.right_col, &b);
    if (lm && lm->sql.p)
        val_set(&a, a.t, lm->sql, PREC_ATOM);
    if ((rc = compare(f->t, &a, SQL_OP_EQ, &b, &eq)))
        return rc;
    sb_cat(f->t, &j->cond, "$$", j->cond.len ? STR(" AND ") : STR_NONE, eq.sql);
    m.use_right = tab->join == SQL_JOIN_RIGHT;
    s->merged = list_grow(f->t, s->merged, s->n_merged, &s->cap_merged, sizeof(m));
    s->merged[s->n_merged++] = m;
    return 0;
}

static int natural_columns(struct from *f, const struct sql_table *tab, struct join *j)
{
    struct scope *s = f->s;
    int rc;

    for (uint32_t i = j->left; i < j->right; i++) {
        for (uint32_t k = 0; k < s->sources[i]->n_cols; k++) {
            struct str name = s->sources[i]->cols[k].name;
            uint32_t src, col;
            bool again = false;

            for (uint32_t m = 0; m < s->n_merged; m++)
                again |= s->merged[m].right_source == i && s->merged[m].right_col == k;
            s->lo = j->right;
            s->hi = j->end;
            if (again || s->sources[i]->cols[k].hidden ||
                (rc = scope_find(f->t, s, STR_NONE, STR_NONE, name, &src, &col, NULL)) == 0)
                continue;
            if (rc < 0 || (rc = using_column(f, tab, j, name)))
                return rc;
        }
    }
    return 0;
}

static int condition(struct from *f, const struct sql_table *tab, struct join *j)
{
    struct scope *s = f->s;
    struct val v;
    int rc = 0;

    if (tab->natural)
        rc = natural_columns(f, tab, j);
    for (uint32_t i = 0; !rc && i < tab->using_columns.n; i++)
        rc = using_column(f, tab, j, tab->using_columns.v[i]);
    if (!rc && tab->on) {
        s->clause = "on clause";
        s->lo = j->left;
        s->hi = j->end;
        rc = val_of1(f->t, s, tab->on, &v);
        if (!rc)
            sb_add(f->t, &j->cond, val_cond(f->t, &v, PREC_AND));
    }
    s->lo = 0;
    s->hi = UINT32_MAX;
    return rc;
}

/* Can the tree be written without its parentheses, as the right side of an inner join? */
static bool is_flat(const struct sql_table *tab)
{
    for (; tab->kind == SQL_TABLE_JOIN; tab = tab->left) {
        if (tab->join == SQL_JOIN_RIGHT)
            return false;
        if (tab->right->kind == SQL_TABLE_JOIN)
            return false;
    }
    return true;
}

static struct str join_text(const struct sql_table *tab)
{
    switch (tab->join) {
    case SQL_JOIN_LEFT:
        return STR(" LEFT JOIN ");
    case SQL_JOIN_RIGHT:
        return STR(" RIGHT JOIN ");
    default:
        return tab->straight ? STR(" CROSS JOIN ") : STR(" JOIN ");
    }
}

static int join(struct from *f, const struct sql_table *tab, struct sb *b)
{
    struct tr *t = f->t;
    struct join j = {.left = f->s->n_sources};
    struct sb right = {0};
    bool outer = tab->join == SQL_JOIN_LEFT || tab->join == SQL_JOIN_RIGHT;
    bool nested = tab->right->kind == SQL_TABLE_JOIN;
    bool was = f->inner_side, flat;
    int rc;

    f->inner_side |= tab->join == SQL_JOIN_RIGHT;
    if ((rc = translate(f, tab->left, b)))
        return rc;
    j.right = f->s->n_sources;
    flat = nested && !outer && !was && is_flat(tab->right);
    f->inner_side = was || tab->join == SQL_JOIN_LEFT || (nested && !flat);
    if ((rc = translate(f, tab->right, &right)))
        return rc;
    f->inner_side = was;
    j.end = f->s->n_sources;
    if ((rc = condition(f, tab, &j)))
        return rc;
    sb_add(t, b, join_text(tab));
    sb_cat(t, b, nested && !flat ? "($)" : "$", sb_str(&right));
    if (j.cond.len && flat)
        f->where = f->where.len ? cat(t, "$ AND ($)", f->where, sb_str(&j.cond))
                                : cat(t, "($)", sb_str(&j.cond));
    else if (j.cond.len)
        sb_cat(t, b, " ON $", sb_str(&j.cond));
    else if (outer)
        sb_lit(t, b, " ON 1");
    for (uint32_t i = j.left; outer && i < j.end; i++) {
        if ((i >= j.right) == (tab->join == SQL_JOIN_LEFT))
            f->s->sources[i]->nullable = true;
    }
    return 0;
}

static int translate(struct from *f, const struct sql_table *tab, struct sb *b)
{
    int rc;

    if (f->depth > TR_MAX_DEPTH)
        return too_deep(f->t);
    f->depth++;
    switch (tab->kind) {
    case SQL_TABLE_NAME:
        rc = name_table(f, tab, b);
        break;
    case SQL_TABLE_DERIVED:
        rc = derived(f, tab, b);
        break;
    case SQL_TABLE_JOIN:
        rc = join(f, tab, b);
        break;
    default:
        rc = not_supported(f->t, "JSON_TABLE");
        break;
    }
    f->depth--;
    return rc;
}

int from_translate(
    struct tr *t, struct scope *s, const struct sql_table *from, struct str *sql, struct str *where)
{
    struct from f = {.t = t, .s = s};
    struct sb b = {0};
    int rc;

    *sql = *where = STR_NONE;
    if (!from)
        return 0;
    if ((rc = translate(&f, from, &b)))
        return rc;
    if (s->n_sources > 61)
        return not_supported(t, "joins of more than 61 tables");
    *sql = sb_str(&b);
    *where = f.where;
    return 0;
}
