/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/alter.h"

static int int_bits(const struct db_type *t)
{
    static const int bits[] = {[DB_T_TINYINT] = 8,
        [DB_T_SMALLINT] = 16,
        [DB_T_MEDIUMINT] = 24,
        [DB_T_INT] = 32,
        [DB_T_BIGINT] = 64};

    return bits[t->base];
}

/* Bytes that a text or binary type has room for. */
static uint64_t room(const struct db_type *t)
{
    const struct db_collation *c = db_collation_find(t->collation);
    uint64_t bytes = db_base_is_text(t->base) && c ? c->max_bytes : 1;

    switch (t->base) {
    case DB_T_CHAR:
    case DB_T_VARCHAR:
    case DB_T_BINARY:
    case DB_T_VARBINARY:
        return (uint64_t)t->length * bytes;
    default:
        return db_base_bytes(t->base);
    }
}

static bool same_text(const struct db_type *a, const struct db_type *b)
{
    return str_eq(a->collation, b->collation);
}

/* Are all members of `from` still there; for SET in the same places? */
static bool members_stay(const struct db_type *from, const struct db_type *to)
{
    if (from->base != to->base || !same_text(from, to) || from->n_members > to->n_members)
        return false;
    for (uint32_t i = 0; i < from->n_members; i++) {
        if (!str_eq(from->members[i], to->members[i]))
            return false;
    }
    return true;
}

static bool ints_fit(const struct db_type *from, const struct db_type *to)
{
    if (from->base > DB_T_BIGINT || to->base > DB_T_BIGINT) /* BIT */
        return from->base == to->base && from->length <= to->length;
    if (from->is_unsigned == to->is_unsigned)
        return int_bits(from) <= int_bits(to);
    return from->is_unsigned && int_bits(from) < int_bits(to);
}

bool type_widens(const struct db_type *from, const struct db_type *to)
{
    enum db_base f = from->base, t = to->base;

    if (f >= DB_T_TINYINT && f <= DB_T_BIT)
        return t >= DB_T_TINYINT && t <= DB_T_BIT && ints_fit(from, to);
    if (f == DB_T_DECIMAL)
        return t == f && from->decimals == to->decimals && from->length <= to->length &&
               from->is_unsigned >= to->is_unsigned;
    if (f == DB_T_FLOAT || f == DB_T_DOUBLE)
        return (t == f || t == DB_T_DOUBLE) && from->is_unsigned >= to->is_unsigned &&
               ((from->decimals == to->decimals && from->length <= to->length) || to->decimals < 0);
    if (f == DB_T_ENUM || f == DB_T_SET)
        return members_stay(from, to);
    if (db_base_is_text(f) && db_base_is_text(t) && t != DB_T_ENUM && t != DB_T_SET)
        return same_text(from, to) && (t != DB_T_CHAR || f == DB_T_CHAR) && room(from) <= room(to);
    if (db_base_is_binary(f) && db_base_is_binary(t))
        return room(from) <= room(to) &&
               (t != DB_T_BINARY || (f == DB_T_BINARY && from->length == to->length));
    if (db_base_is_temporal(f))
        return f == t && from->decimals == to->decimals;
    return f == t; /* YEAR, JSON */
}

/* The expression's text as it is after renaming. */
static struct str renamed(const struct alter *a, struct str text)
{
    return build_rename(a->b.arena, text, a->renames, a->n_renames);
}

static bool column_stays(const struct alter *a, const struct db_cat_column *from,
    const struct db_cat_column *to, bool is_rowid)
{
    if ((from->not_null != to->not_null && !is_rowid) || from->stored != to->stored ||
        from->auto_increment != to->auto_increment)
        return false;
    if (from->generated.len > 0 || to->generated.len > 0) {
        if (!str_eq(renamed(a, from->generated), to->generated))
            return false;
        return type_widens(&from->type, &to->type) && type_widens(&to->type, &from->type);
    }
    return type_widens(&from->type, &to->type);
}

bool is_local_default(const struct tr_env *env, const struct db_cat_column *c)
{
    return c->type.base == DB_T_TIMESTAMP && c->default_kind == DB_DEFAULT_VALUE && env &&
           !env->utc && !str_starts(c->default_text, STR("0000-00-00"));
}

/* Can SQLite's ADD COLUMN make it? Its default must be a constant. */
static bool can_add(const struct tr_env *env, const struct db_cat_column *c)
{
    if (is_local_default(env, c))
        return false;
    if (c->auto_increment || c->default_kind == DB_DEFAULT_NOW ||
        c->default_kind == DB_DEFAULT_EXPR)
        return false;
    return c->generated.len == 0 || (!c->stored && !c->not_null);
}

static bool same_fks(const struct alter *a, const struct db_cat_table *t)
{
    if (a->b.kept_fks != t->n_fks || t->n_fks != a->b.old->n_fks)
        return false;
    return true;
}

static bool same_checks(const struct alter *a, const struct db_cat_table *t)
{
    const struct db_cat_table *old = a->b.old;

    if (old->n_checks != t->n_checks)
        return false;
    for (uint32_t i = 0; i < t->n_checks; i++) {
        if (!str_eq(old->checks[i].name, t->checks[i].name) ||
            old->checks[i].enforced != t->checks[i].enforced ||
            !str_eq(renamed(a, old->checks[i].expr), t->checks[i].expr))
            return false;
    }
    return true;
}

static bool kept_columns_stay(const struct alter *a, const struct db_cat_table *t)
{
    const struct build *b = &a->b;

    for (uint32_t i = 0; i < b->n_columns; i++) {
        int32_t old = b->columns[i].old;
        bool is_rowid = t->rowid_column == (int32_t)i;

        if (old >= 0 && (is_rowid != (b->old->rowid_column == old) ||
                            !column_stays(a, &b->old->columns[old], &t->columns[i], is_rowid)))
            return false;
    }
    return true;
}

bool needs_rebuild(const struct alter *a, const struct db_cat_table *t)
{
    const struct build *b = &a->b;
    uint32_t stayed = 0;

    for (uint32_t i = 0; i < b->n_columns; i++) {
        if (b->columns[i].old >= 0)
            stayed++;
        else if (t->rowid_column == (int32_t)i || !can_add(b->env, &t->columns[i]))
            return true;
    }
    return stayed < b->old->n_columns || !kept_columns_stay(a, t) || !same_fks(a, t) ||
           !same_checks(a, t);
}

bool counts_rows(const struct alter *a, const struct db_cat_table *t)
{
    for (uint32_t i = 0; i < t->n_columns; i++) {
        if (a->b.columns[i].old < 0 && t->columns[i].stored)
            return true;
    }
    return !kept_columns_stay(a, t) || t->n_fks > a->b.kept_fks || t->n_checks > a->b.old->n_checks;
}

bool same_index(const struct alter *a, const struct db_cat_key *from, const struct db_cat_table *t,
    const struct db_cat_key *to)
{
    if ((from->kind <= DB_KEY_UNIQUE) != (to->kind <= DB_KEY_UNIQUE) ||
        from->n_parts != to->n_parts)
        return false;
    for (uint32_t i = 0; i < from->n_parts; i++) {
        const struct db_cat_part *f = &from->parts[i], *p = &to->parts[i];

        if (f->length != p->length || f->desc != p->desc || (f->column < 0) != (p->column < 0))
            return false;
        if (f->column < 0 && !str_eq(renamed(a, f->expr), p->expr))
            return false;
        if (f->column >= 0 && a->b.columns[p->column].old != f->column)
            return false;
        (void)t;
    }
    return true;
}
