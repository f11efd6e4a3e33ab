/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>

#include "base/err.h"
#include "db/charset.h"
#include "db/ddl/build.h"
#include "db/ddl/form.h"

enum { COLUMNS_MAX = 4096, LIST_MAX = 65535 };

/* A list of one kind of record while it grows. */
struct list {
    void *v;
    uint32_t n, cap;
};

struct loader {
    struct arena *arena;
    struct str rest;
    struct db_cat_table *t;
    bool has_table;
    struct list columns, members, keys, parts, fks, refs, checks;
};

/* The next word up to one of the two bytes, which is taken too. */
static bool take_until(struct str *rest, char a, char b, struct str *word, char *end)
{
    for (size_t i = 0; i < rest->len; i++) {
        if (rest->p[i] != a && rest->p[i] != b)
            continue;
        *word = str_sub(*rest, 0, i);
        *end = rest->p[i];
        *rest = str_sub(*rest, i + 1, rest->len);
        return true;
    }
    return false;
}

static bool take_value(struct str *rest, struct str *value)
{
    struct str digits;
    uint64_t n;
    char end;

    if (!take_until(rest, ':', ':', &digits, &end) || str_u64(digits, &n) || n > rest->len)
        return false;
    *value = str_sub(*rest, 0, (size_t)n);
    *rest = str_sub(*rest, (size_t)n, rest->len);
    return true;
}

static bool set_number(const struct form_field *f, char *at, struct str value)
{
    int64_t v, least = f->kind == FORM_I16 || f->kind == FORM_I32 ? -1 : 0;

    if (f->kind == FORM_I64)
        least = INT64_MIN;
    if (str_i64(value, &v) || v < least || v > f->max + (f->kind == FORM_I32_1))
        return false;
    switch (f->kind) {
    case FORM_BOOL:
        *(bool *)at = v != 0;
        break;
    case FORM_I16:
        *(int16_t *)at = (int16_t)v;
        break;
    case FORM_I32:
        *(int32_t *)at = (int32_t)v;
        break;
    case FORM_I32_1:
        *(int32_t *)at = (int32_t)(v - 1);
        break;
    case FORM_I64:
        *(int64_t *)at = v;
        break;
    case FORM_U16:
        *(uint16_t *)at = (uint16_t)v;
        break;
    default:
        *(uint32_t *)at = (uint32_t)v;
        break;
    }
    return true;
}

static bool set_field(
    struct loader *l, const struct form_field *fields, void *what, struct str name, struct str v)
{
    for (const struct form_field *f = fields; f->name; f++) {
        char *at = (char *)what + f->offset;

        if (!str_eq(str_c(f->name), name))
            continue;
        if (f->kind != FORM_STR)
            return set_number(f, at, v);
        *(struct str *)at = arena_str(l->arena, v);
        return true;
    }
    return true; /* of a later version */
}

/* The fields up to the line's end, which may be at once: `end` is what followed the record's name.
 */
static bool take_fields(struct loader *l, const struct form_field *fields, void *what, char end)
{
    while (end != '\n') {
        struct str name, value;

        if (!take_until(&l->rest, '=', '=', &name, &end) || !take_value(&l->rest, &value) ||
            l->rest.len == 0)
            return false;
        if (fields && !set_field(l, fields, what, name, value))
            return false;
        end = l->rest.p[0];
        if (end != ' ' && end != '\n')
            return false;
        l->rest = str_sub(l->rest, 1, l->rest.len);
    }
    return true;
}

static void *more(struct loader *l, struct list *list, size_t size)
{
    return build_more(l->arena, &list->v, &list->n, &list->cap, size);
}

static void start_i32(const struct form_field *fields, void *what)
{
    for (const struct form_field *f = fields; f->name; f++) {
        if (f->kind == FORM_I32_1)
            *(int32_t *)((char *)what + f->offset) = -1;
    }
}

/* Members, parts and references belong to the record before: it points to a list of its own, which
 * the next of the kind before closes. */
static void close_members(struct loader *l)
{
    struct db_cat_column *columns = l->columns.v;

    if (l->columns.n > 0 && l->members.n > 0) {
        struct db_type *t = &columns[l->columns.n - 1].type;

        t->members = l->members.v;
        t->n_members = l->members.n;
    }
    l->members = (struct list){0};
}

static void close_parts(struct loader *l)
{
    struct db_cat_key *keys = l->keys.v;

    if (l->keys.n > 0) {
        keys[l->keys.n - 1].parts = l->parts.v;
        keys[l->keys.n - 1].n_parts = l->parts.n;
    }
    l->parts = (struct list){0};
}

static void close_refs(struct loader *l)
{
    struct db_cat_fk *fks = l->fks.v;
    struct form_ref *refs = l->refs.v;

    if (l->fks.n > 0) {
        struct str *from = arena_new(l->arena, (l->refs.n + 1) * sizeof(*from));
        struct str *to = arena_new(l->arena, (l->refs.n + 1) * sizeof(*to));

        for (uint32_t i = 0; i < l->refs.n; i++) {
            from[i] = refs[i].from;
            to[i] = refs[i].to;
        }
        fks[l->fks.n - 1].columns = from;
        fks[l->fks.n - 1].ref_columns = to;
        fks[l->fks.n - 1].n_columns = l->refs.n;
    }
    l->refs = (struct list){0};
}

static const struct record {
    struct str name;
    const struct form_field *fields;
    size_t list;
    size_t size;
    void (*close)(struct loader *l); /* ends the lists of the one before */
    size_t parent;                   /* the list that must not be empty, or 0 */
} records[] = {
    {STR("column"), form_column, offsetof(struct loader, columns), sizeof(struct db_cat_column),
        close_members, 0},
    {STR("member"), form_member, offsetof(struct loader, members), sizeof(struct form_member), NULL,
        offsetof(struct loader, columns)},
    {STR("key"), form_key, offsetof(struct loader, keys), sizeof(struct db_cat_key), close_parts,
        0},
    {STR("part"), form_part, offsetof(struct loader, parts), sizeof(struct db_cat_part), NULL,
        offsetof(struct loader, keys)},
    {STR("fk"), form_fk, offsetof(struct loader, fks), sizeof(struct db_cat_fk), close_refs, 0},
    {STR("ref"), form_ref, offsetof(struct loader, refs), sizeof(struct form_ref), NULL,
        offsetof(struct loader, fks)},
    {STR("check"), form_check, offsetof(struct loader, checks), sizeof(struct db_cat_check), NULL,
        0},
};

static bool take_record(struct loader *l)
{
    struct str name;
    char end;

    if (!take_until(&l->rest, ' ', '\n', &name, &end))
        return false;
    if (str_eq(name, STR("table"))) {
        if (l->has_table)
            return false;
        l->has_table = true;
        start_i32(form_table, l->t);
        return take_fields(l, form_table, l->t, end);
    }
    for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++) {
        const struct record *r = &records[i];
        struct list *list = (struct list *)((char *)l + r->list);
        void *item;

        if (!str_eq(r->name, name))
            continue;
        if (list->n >= LIST_MAX || (r->parent && ((struct list *)((char *)l + r->parent))->n == 0))
            return false;
        if (r->close)
            r->close(l);
        item = more(l, list, r->size);
        start_i32(r->fields, item);
        return take_fields(l, r->fields, item, end);
    }
    return take_fields(l, NULL, NULL, end);
}

static bool column_ok(const struct db_cat_column *c)
{
    const struct db_type *t = &c->type;

    if (c->name.len == 0 || t->base == DB_T_NULL)
        return false;
    if (db_base_is_text(t->base) && !db_collation_find(t->collation))
        return false;
    if ((t->base == DB_T_ENUM || t->base == DB_T_SET) != (t->n_members > 0))
        return false;
    if (t->base == DB_T_DECIMAL && (t->length < 1 || t->length > 65 || t->decimals < 0 ||
                                       t->decimals > 30 || t->decimals > t->length))
        return false;
    return t->base != DB_T_BIT || (t->length >= 1 && t->length <= 64);
}

static bool key_ok(const struct db_cat_table *t, const struct db_cat_key *k)
{
    if (k->name.len == 0 || k->n_parts == 0)
        return false;
    for (uint32_t i = 0; i < k->n_parts; i++) {
        const struct db_cat_part *p = &k->parts[i];

        if (p->column >= (int32_t)t->n_columns || p->length < 0 ||
            (p->column < 0 && p->expr.len == 0))
            return false;
    }
    return true;
}

static bool table_ok(const struct db_cat_table *t)
{
    if (t->name.len == 0 || (t->n_columns == 0 && !t->is_view) || t->n_columns > COLUMNS_MAX ||
        t->auto_column >= (int32_t)t->n_columns || t->rowid_column >= (int32_t)t->n_columns ||
        !db_collation_find(t->collation))
        return false;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        if (!column_ok(&t->columns[i]))
            return false;
    }
    for (uint32_t i = 0; i < t->n_keys; i++) {
        if (!key_ok(t, &t->keys[i]))
            return false;
    }
    for (uint32_t i = 0; i < t->n_fks; i++) {
        const struct db_cat_fk *fk = &t->fks[i];

        if (fk->n_columns == 0 || fk->ref_table.len == 0 || fk->name.len == 0 ||
            fk->on_delete.len == 0 || fk->on_update.len == 0)
            return false;
        for (uint32_t j = 0; j < fk->n_columns; j++) {
            if (db_cat_column_find(t, fk->columns[j]) < 0)
                return false;
        }
    }
    return true;
}

/* "ephpm-table 1 <hash>": 0, ERR_VERSION, ERR_CORRUPT */
static int check_head(struct str *rest)
{
    struct str line, word;
    uint64_t version;
    char end, hash[17];

    if (!take_until(rest, '\n', '\n', &line, &end) || !str_split(&line, ' ', &word) ||
        !str_eq(word, STR("ephpm-table")) || !str_split(&line, ' ', &word) ||
        str_u64(word, &version))
        return ERR_CORRUPT;
    if (version > FORM_VERSION)
        return ERR_VERSION;
    snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)form_hash(*rest));
    return version == FORM_VERSION && str_eq(line, str_c(hash)) ? 0 : ERR_CORRUPT;
}

int ddl_load(struct arena *arena, struct str text, struct db_cat_table **out)
{
    struct loader l = {.arena = arena, .rest = text};
    int r = check_head(&l.rest);

    if (r)
        return r;
    l.t = arena_new(arena, sizeof(*l.t));
    while (l.rest.len > 0) {
        if (!take_record(&l))
            return ERR_CORRUPT;
    }
    close_members(&l);
    close_parts(&l);
    close_refs(&l);
    l.t->columns = l.columns.v;
    l.t->n_columns = l.columns.n;
    l.t->keys = l.keys.v;
    l.t->n_keys = l.keys.n;
    l.t->fks = l.fks.v;
    l.t->n_fks = l.fks.n;
    l.t->checks = l.checks.v;
    l.t->n_checks = l.checks.n;
    l.t->sqlite_name = l.t->name;
    if (!l.has_table || !table_ok(l.t))
        return ERR_CORRUPT;
    *out = l.t;
    return 0;
}
