/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/err.h"
#include "db/charset.h"
#include "db/ddl/build.h"
#include "db/sql/parse.h"

/* Names of types that other programs use and MySQL has not; the rest is SQLite's affinity. */
static const struct {
    struct str part; /* of the declared type, in upper case */
    enum db_base base;
} guesses[] = {
    {STR("INT"), DB_T_BIGINT},
    {STR("CHAR"), DB_T_LONGTEXT},
    {STR("CLOB"), DB_T_LONGTEXT},
    {STR("TEXT"), DB_T_LONGTEXT},
    {STR("BLOB"), DB_T_LONGBLOB},
    {STR("REAL"), DB_T_DOUBLE},
    {STR("FLOA"), DB_T_DOUBLE},
    {STR("DOUB"), DB_T_DOUBLE},
    {STR("BOOL"), DB_T_BIGINT},
    {STR("DATE"), DB_T_LONGTEXT},
    {STR("TIME"), DB_T_LONGTEXT},
};

static struct str upper(struct arena *arena, struct str s)
{
    char *p = arena_bytes(arena, s.len + 1);

    for (size_t i = 0; i < s.len; i++)
        p[i] = str_upper_char(s.p[i]);
    p[s.len] = '\0';
    return str_n(p, s.len);
}

/*
 * What the column holds was put there by SQLite's rules, so that MySQL's limits do not hold: sizes
 * are the largest of their kind. Exact types (DECIMAL, DATE) are left to text, as their texts need
 * not be in our form.
 */
static struct db_type type_of(struct arena *arena, const struct ddl_foreign_column *c)
{
    struct str declared = upper(arena, c->type);
    struct db_type t = {.base = DB_T_LONGTEXT, .length = -1, .decimals = -1};

    if (declared.len == 0)
        t.base = DB_T_LONGBLOB;
    for (size_t i = 0; i < sizeof(guesses) / sizeof(*guesses); i++) {
        if (str_find(declared, guesses[i].part) >= 0) {
            t.base = guesses[i].base;
            break;
        }
    }
    if (t.base == DB_T_LONGTEXT) {
        uint64_t length;
        ptrdiff_t open = str_chr(declared, '('), close = str_chr(declared, ')');

        if (str_find(declared, STR("CHAR")) >= 0 && open >= 0 && close > open &&
            !str_u64(str_trim(str_sub(declared, (size_t)open + 1, (size_t)(close - open - 1))),
                &length) &&
            length > 0 && length <= 16383) {
            t.base = DB_T_VARCHAR;
            t.length = (int32_t)length;
        }
        /* SQLite compares it bytewise unless a collation is said; ours must not differ from that
         * of the indexes that are there */
        t.charset = STR("utf8mb4");
        t.collation = STR("utf8mb4_bin");
    }
    return t;
}

/* A default that is a plain literal of SQLite: number, 'text', NULL, CURRENT_TIMESTAMP. */
static void default_of(
    struct arena *arena, const struct ddl_foreign_column *c, struct db_cat_column *out)
{
    struct str s = str_trim(c->default_text), digits;
    struct buf text = {0};

    out->default_kind = out->not_null ? DB_DEFAULT_NONE : DB_DEFAULT_NULL;
    if (!c->default_text.p || str_ieq(s, STR("NULL")))
        return;
    if (s.len >= 2 && s.p[0] == '\'' && s.p[s.len - 1] == '\'') {
        for (size_t i = 1; i + 1 < s.len; i++) {
            buf_add_char(&text, s.p[i]);
            i += s.p[i] == '\'' && s.p[i + 1] == '\'' && i + 2 < s.len;
        }
        out->default_kind = DB_DEFAULT_VALUE;
        out->default_text = arena_str(arena, buf_str(&text));
        buf_fini(&text);
        return;
    }
    digits = s.len > 0 && s.p[0] == '-' ? str_sub(s, 1, s.len) : s;
    for (size_t i = 0; i < digits.len; i++) {
        if (!(digits.p[i] >= '0' && digits.p[i] <= '9') && digits.p[i] != '.')
            return;
    }
    if (digits.len == 0)
        return;
    out->default_kind = DB_DEFAULT_VALUE;
    out->default_text = arena_str(arena, s);
}

static void add_columns(struct build *b, const struct ddl_foreign_table *t)
{
    for (uint32_t i = 0; i < t->n_columns; i++) {
        const struct ddl_foreign_column *from = &t->columns[i];
        struct build_column *c;

        if (from->hidden == 1)
            continue;
        c = BUILD_MORE(b, columns);
        c->old = -1;
        c->c.name = arena_str(b->arena, from->name);
        c->c.type = type_of(b->arena, from);
        c->c.not_null = from->not_null || from->pk > 0;
        if (from->hidden >= 2) {
            c->c.generated = STR("null"); /* its expression is SQLite's */
            c->c.stored = from->hidden == 3;
        } else {
            default_of(b->arena, from, &c->c);
        }
    }
}

static struct build_key *new_key(struct build *b, enum db_cat_key_kind kind, uint32_t n)
{
    struct build_key *k = BUILD_MORE(b, keys);

    k->old = -1;
    k->k.kind = kind;
    k->k.using_type = STR("BTREE");
    k->parts = arena_new(b->arena, (n + 1) * sizeof(*k->parts));
    return k;
}

/* The primary key, of table_xinfo's numbers. */
static void add_primary(struct build *b, const struct ddl_foreign_table *t)
{
    struct build_key *k = NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_columns; i++)
        n += t->columns[i].pk > 0;
    if (n == 0)
        return;
    k = new_key(b, DB_KEY_PRIMARY, n);
    k->k.name = STR("PRIMARY");
    for (int32_t at = 1; at <= (int32_t)n; at++) {
        for (uint32_t i = 0; i < t->n_columns; i++) {
            if (t->columns[i].pk != at)
                continue;
            k->parts[k->n_parts++].column = arena_str(b->arena, t->columns[i].name);
        }
    }
}

static void add_index(struct build *b, const struct ddl_foreign_index *index)
{
    struct build_key *k;

    if (index->partial || str_eq(index->origin, STR("pk")))
        return;
    for (uint32_t i = 0; i < index->n_columns; i++) {
        if (!index->columns[i].p || build_column_find(b, index->columns[i]) < 0)
            return;
    }
    if (index->n_columns == 0)
        return;
    k = new_key(b, index->unique ? DB_KEY_UNIQUE : DB_KEY_INDEX, index->n_columns);
    k->n_parts = index->n_columns;
    if (str_eq(index->origin, STR("c"))) {
        struct str own = ddl_key_of_index(b->t.name, index->name);

        k->k.name = arena_str(b->arena, own.len > 0 ? own : index->name);
    }
    for (uint32_t i = 0; i < index->n_columns; i++) {
        k->parts[i].column = arena_str(b->arena, index->columns[i]);
        k->parts[i].desc = index->desc && index->desc[i];
    }
}

static void add_fk(struct build *b, const struct ddl_foreign_key *key, uint32_t number)
{
    struct db_cat_fk fk = {.n_columns = key->n_columns};
    struct str *columns = arena_new(b->arena, (key->n_columns + 1) * sizeof(*columns));
    struct str *refs = arena_new(b->arena, (key->n_columns + 1) * sizeof(*refs));

    for (uint32_t i = 0; i < key->n_columns; i++) {
        if (!key->ref_columns[i].p)
            return; /* the other's primary key, whatever that is */
        columns[i] = arena_str(b->arena, key->columns[i]);
        refs[i] = arena_str(b->arena, key->ref_columns[i]);
    }
    fk.columns = columns;
    fk.ref_columns = refs;
    fk.ref_table = arena_str(b->arena, key->table);
    fk.name = arena_printf(b->arena, STR_F "_ibfk_%u", STR_A(b->t.name), number);
    fk.on_delete = key->on_delete.len > 0 ? arena_str(b->arena, key->on_delete) : STR("NO ACTION");
    fk.on_update = key->on_update.len > 0 ? arena_str(b->arena, key->on_update) : STR("NO ACTION");
    *(struct db_cat_fk *)BUILD_MORE(b, fks) = fk;
}

/* INTEGER PRIMARY KEY, which is the rowid: that exact type, alone. */
static int32_t rowid_of(const struct build *b, const struct ddl_foreign_table *t)
{
    int32_t at = -1;

    for (uint32_t i = 0; i < t->n_columns; i++) {
        if (t->columns[i].pk == 0)
            continue;
        if (at >= 0 || !str_ieq(str_trim(t->columns[i].type), STR("INTEGER")))
            return -1;
        at = build_column_find(b, t->columns[i].name);
    }
    for (uint32_t i = 0; at >= 0 && i < t->n_indexes; i++) {
        if (str_eq(t->indexes[i].origin, STR("pk")))
            return -1; /* a table without rowid, or DESC */
    }
    return at;
}

int ddl_foreign(struct arena *arena, const struct ddl_foreign_table *t,
    const struct ddl_defaults *defaults, struct db_cat_table **out)
{
    struct db_error ignored;
    struct build b;
    int32_t rowid;

    build_init(&b, arena, NULL, defaults, &ignored);
    b.t.name = b.t.sqlite_name = arena_str(arena, t->name);
    b.t.is_view = t->is_view;
    add_columns(&b, t);
    if (b.n_columns == 0)
        return ERR_INVAL;
    if (!t->is_view)
        add_primary(&b, t);
    for (uint32_t i = 0; i < t->n_indexes; i++)
        add_index(&b, &t->indexes[i]);
    for (uint32_t i = 0; i < t->n_keys; i++)
        add_fk(&b, &t->keys[i], i + 1);
    rowid = rowid_of(&b, t);
    if (rowid >= 0) /* SQLite numbers it when none is given, with or without AUTOINCREMENT */
        b.columns[rowid].c.auto_increment = true;
    build_keys_as_they_are(&b);
    *out = build_table(&b);
    (*out)->rowid_column = rowid;
    (*out)->auto_column = rowid;
    return 0;
}
