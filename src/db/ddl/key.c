/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/build.h"

enum { KEY_BYTES_MAX = 3072, PARTS_MAX = 16, KEYS_MAX = 64 };

static enum db_cat_key_kind kind_of(enum sql_key_kind kind)
{
    static const enum db_cat_key_kind kinds[] = {[SQL_KEY_PRIMARY] = DB_KEY_PRIMARY,
        [SQL_KEY_UNIQUE] = DB_KEY_UNIQUE,
        [SQL_KEY_INDEX] = DB_KEY_INDEX,
        [SQL_KEY_FULLTEXT] = DB_KEY_FULLTEXT,
        [SQL_KEY_SPATIAL] = DB_KEY_SPATIAL};

    return kinds[kind];
}

static int key_name(struct build *b, const struct sql_key *key, struct str *out)
{
    struct str name = key->name.len > 0 ? key->name : key->constraint;

    *out = STR_NONE;
    if (key->kind == SQL_KEY_PRIMARY) {
        *out = STR("PRIMARY");
        return 0;
    }
    if (name.len == 0)
        return 0;
    if (str_ieq(name, STR("PRIMARY")))
        return db_error_set(b->e, DB_E_WRONG_NAME_FOR_INDEX, arena_str(b->arena, name).p);
    *out = arena_str(b->arena, name);
    return build_name(b, name, DB_E_WRONG_NAME_FOR_INDEX);
}

int build_add_key(struct build *b, const struct sql_key *key)
{
    struct build_key k = {.old = -1};
    int r;

    if (key->kind == SQL_KEY_SPATIAL)
        return db_error_set(b->e, DB_E_NOT_SUPPORTED_YET, "spatial indexes");
    if ((r = key_name(b, key, &k.k.name)))
        return r;
    if (key->n_parts > PARTS_MAX)
        return db_error_set(b->e, DB_E_TOO_MANY_KEY_PARTS, PARTS_MAX);
    if (key->comment.len > 4096)
        return db_error_set(b->e, DB_E_TOO_LONG_INDEX_COMMENT, k.k.name.p, 1024UL);
    k.k.kind = kind_of(key->kind);
    k.k.using_type = STR("BTREE");
    k.k.using_said = key->using_type.len > 0;
    k.k.comment = arena_str(b->arena, key->comment);
    k.k.invisible = key->invisible;
    k.n_parts = key->n_parts;
    k.parts = arena_new(b->arena, (key->n_parts + 1) * sizeof(*k.parts));
    for (uint32_t i = 0; i < key->n_parts; i++) {
        const struct sql_key_part *p = &key->parts[i];

        k.parts[i] = (struct build_part){.length = p->length, .desc = p->desc};
        if (p->expr)
            k.parts[i].expr = build_print(b->arena, p->expr);
        else
            k.parts[i].column = arena_str(b->arena, p->column);
    }
    *(struct build_key *)BUILD_MORE(b, keys) = k;
    return 0;
}

void build_drop_key(struct build *b, uint32_t at)
{
    memmove(&b->keys[at], &b->keys[at + 1], (b->n_keys - at - 1) * sizeof(*b->keys));
    b->n_keys--;
}

bool build_key_covers(const struct build_key *k, const struct str *columns, uint32_t n)
{
    if (k->k.kind > DB_KEY_INDEX || k->n_parts < n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (k->parts[i].length > 0 || !str_ieq(k->parts[i].column, columns[i]))
            return false;
    }
    return true;
}

/* Is the name taken by a key before `at`? */
static bool taken(const struct build *b, uint32_t at, struct str name)
{
    for (uint32_t i = 0; i < at; i++) {
        if (str_ieq(b->keys[i].k.name, name))
            return true;
    }
    return str_ieq(name, STR("PRIMARY"));
}

static void name_key(struct build *b, uint32_t at)
{
    struct build_key *k = &b->keys[at];
    struct str base = k->parts[0].expr.len > 0 ? STR("functional_index") : k->parts[0].column;
    struct str name = base;

    if (k->parts[0].expr.len == 0)
        base = name = b->columns[build_column_find(b, base)].c.name;
    for (int i = 2; taken(b, at, name); i++)
        name = arena_printf(b->arena, STR_F "_%d", STR_A(base), i);
    k->k.name = name;
}

static uint32_t part_bytes(const struct db_type *t, int32_t length)
{
    const struct db_collation *c = db_collation_find(t->collation);
    uint32_t bytes = c ? c->max_bytes : 1;

    if (t->base == DB_T_ENUM || t->base == DB_T_SET)
        return 8;
    if (!db_base_is_text(t->base) && !db_base_is_binary(t->base))
        return 8;
    return (uint32_t)(length > 0 ? length : t->length > 0 ? t->length : 0) * bytes;
}

/* A part that is a column: what kind it is, and whether a prefix fits it. */
static int check_part(struct build *b, struct build_key *k, struct build_part *p, uint32_t *bytes)
{
    int32_t at = build_column_find(b, p->column);
    const struct db_type *t;
    bool is_blob;

    if (at < 0)
        return db_error_set(b->e, DB_E_KEY_COLUMN, p->column.p);
    t = &b->columns[at].c.type;
    is_blob = (t->base >= DB_T_TINYTEXT && t->base <= DB_T_LONGTEXT) ||
              (t->base >= DB_T_TINYBLOB && t->base <= DB_T_LONGBLOB);
    p->column = b->columns[at].c.name;
    if (k->k.kind == DB_KEY_FULLTEXT) {
        p->length = 0;
        if (!db_base_is_text(t->base) || t->base == DB_T_ENUM || t->base == DB_T_SET)
            return db_error_set(b->e, DB_E_BAD_FT_COLUMN, p->column.p);
        return 0;
    }
    if (t->base == DB_T_JSON)
        return db_error_set(b->e, DB_E_JSON_KEY, p->column.p);
    if (is_blob && p->length <= 0)
        return db_error_set(b->e, DB_E_BLOB_KEY, p->column.p);
    if (p->length > 0 && !is_blob) {
        bool can = (db_base_is_text(t->base) && t->base <= DB_T_VARCHAR) ||
                   t->base == DB_T_BINARY || t->base == DB_T_VARBINARY;

        if (!can || p->length > t->length)
            return db_error_set(b->e, DB_E_WRONG_SUB_KEY);
        if (p->length == t->length)
            p->length = 0;
    }
    *bytes += part_bytes(t, p->length);
    return 0;
}

static int check_key(struct build *b, struct build_key *k)
{
    uint32_t bytes = 0;
    int r;

    for (uint32_t i = 0; i < k->n_parts; i++) {
        struct build_part *p = &k->parts[i];

        if (p->expr.len > 0) {
            if (k->k.kind == DB_KEY_PRIMARY)
                return db_error_set(b->e, DB_E_FUNCTIONAL_PRIMARY);
            continue;
        }
        if ((r = check_part(b, k, p, &bytes)))
            return r;
        for (uint32_t j = 0; j < i; j++) {
            if (str_ieq(k->parts[j].column, p->column))
                return db_error_set(b->e, DB_E_DUP_FIELD, p->column.p);
        }
    }
    if (bytes > KEY_BYTES_MAX && k->old < 0)
        return db_error_set(b->e, DB_E_TOO_LONG_KEY, KEY_BYTES_MAX);
    return 0;
}

/* Primary key columns may not be NULL, whether that was said or not. */
static int primary_columns(struct build *b, const struct build_key *k)
{
    for (uint32_t i = 0; i < k->n_parts; i++) {
        struct build_column *c = &b->columns[build_column_find(b, k->parts[i].column)];

        if (c->null_said || (c->c.generated.len > 0 && !c->c.stored))
            return db_error_set(
                b->e, c->null_said ? DB_E_PRIMARY_CANT_HAVE_NULL : DB_E_VIRTUAL_PRIMARY);
        if (!c->c.not_null && c->c.default_kind == DB_DEFAULT_NULL)
            c->c.default_kind = DB_DEFAULT_NONE;
        c->c.not_null = true;
    }
    return 0;
}

static bool has_null(const struct build *b, const struct build_key *k)
{
    for (uint32_t i = 0; i < k->n_parts; i++) {
        if (k->parts[i].expr.len > 0 ||
            !b->columns[build_column_find(b, k->parts[i].column)].c.not_null)
            return true;
    }
    return false;
}

static bool has_prefix(const struct build_key *k)
{
    for (uint32_t i = 0; i < k->n_parts; i++) {
        if (k->parts[i].length > 0)
            return true;
    }
    return false;
}

/* MySQL's order: the primary key, unique ones without NULL and prefixes, other unique ones, others,
 * full text; in each as defined. */
static int rank_of(const struct build *b, const struct build_key *k)
{
    switch (k->k.kind) {
    case DB_KEY_PRIMARY:
        return 0;
    case DB_KEY_UNIQUE:
        return 1 + 2 * has_null(b, k) + has_prefix(k);
    case DB_KEY_INDEX:
        return 5;
    default:
        return 6;
    }
}

static void sort_keys(struct build *b)
{
    for (uint32_t i = 1; i < b->n_keys; i++) {
        struct build_key k = b->keys[i];
        int rank = rank_of(b, &k);
        uint32_t j = i;

        for (; j > 0 && rank_of(b, &b->keys[j - 1]) > rank; j--)
            b->keys[j] = b->keys[j - 1];
        b->keys[j] = k;
    }
}

static void flag_columns(struct build *b)
{
    bool has_primary = b->n_keys > 0 && b->keys[0].k.kind == DB_KEY_PRIMARY;

    for (uint32_t i = 0; i < b->n_columns; i++)
        b->columns[i].c.key_flags = 0;
    for (uint32_t i = 0; i < b->n_keys; i++) {
        const struct build_key *k = &b->keys[i];
        /* without a primary key, the first unique one that could be it counts as such */
        bool primary =
            k->k.kind == DB_KEY_PRIMARY || (i == 0 && !has_primary && k->k.kind == DB_KEY_UNIQUE &&
                                               !has_null(b, k) && !has_prefix(k));

        for (uint32_t j = 0; j < k->n_parts; j++) {
            uint16_t *flags;

            if (k->parts[j].expr.len > 0)
                continue;
            flags = &b->columns[build_column_find(b, k->parts[j].column)].c.key_flags;
            *flags |= DB_COL_PART_KEY;
            if (primary)
                *flags |= DB_COL_PRI_KEY;
            if (j == 0 && k->k.kind == DB_KEY_UNIQUE && k->n_parts == 1)
                *flags |= DB_COL_UNIQUE_KEY;
            else if (j == 0 && k->k.kind != DB_KEY_PRIMARY)
                *flags |= DB_COL_MULTIPLE_KEY;
        }
    }
}

/* One auto column at most, the first of some key. */
static int check_auto(struct build *b)
{
    int32_t at = -1;

    for (uint32_t i = 0; i < b->n_columns; i++) {
        if (!b->columns[i].c.auto_increment)
            continue;
        if (at >= 0)
            return db_error_set(b->e, DB_E_WRONG_AUTO_KEY);
        at = (int32_t)i;
    }
    b->t.auto_column = at;
    if (at < 0)
        return 0;
    for (uint32_t i = 0; i < b->n_keys; i++) {
        if (b->keys[i].k.kind <= DB_KEY_INDEX && b->keys[i].n_parts > 0 &&
            str_ieq(b->keys[i].parts[0].column, b->columns[at].c.name))
            return 0;
    }
    return db_error_set(b->e, DB_E_WRONG_AUTO_KEY);
}

int build_keys(struct build *b)
{
    bool primary = false;
    int r;

    for (uint32_t i = 0; i < b->n_keys; i++) {
        struct build_key *k = &b->keys[i];

        if (k->k.kind == DB_KEY_PRIMARY && primary)
            return db_error_set(b->e, DB_E_MULTIPLE_PRI_KEY);
        primary = primary || k->k.kind == DB_KEY_PRIMARY;
        if ((r = check_key(b, k)))
            return r;
        if (k->k.name.len == 0)
            name_key(b, i);
        else if (k->k.kind != DB_KEY_PRIMARY && taken(b, i, k->k.name))
            return db_error_set(b->e, DB_E_DUP_KEYNAME, arena_str(b->arena, k->k.name).p);
        if (k->k.kind == DB_KEY_PRIMARY && (r = primary_columns(b, k)))
            return r;
    }
    if (b->n_keys > KEYS_MAX)
        return db_error_set(b->e, DB_E_TOO_MANY_KEYS, KEYS_MAX);
    if ((r = check_auto(b)))
        return r;
    sort_keys(b);
    flag_columns(b);
    return 0;
}

void build_keys_as_they_are(struct build *b)
{
    for (uint32_t i = 0; i < b->n_keys; i++) {
        if (b->keys[i].k.name.len == 0)
            name_key(b, i);
    }
    sort_keys(b);
    flag_columns(b);
}
