/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/charset.h"
#include "db/ddl/info_out.h"
#include "db/sql/print.h"
#include "db/value.h"

struct str info_column_key(const struct db_cat_table *t, uint32_t column)
{
    uint16_t flags = t->columns[column].key_flags;

    return flags & DB_COL_PRI_KEY        ? STR("PRI")
           : flags & DB_COL_UNIQUE_KEY   ? STR("UNI")
           : flags & DB_COL_MULTIPLE_KEY ? STR("MUL")
                                         : STR("");
}

static struct str now_text(struct arena *arena, const struct db_cat_column *c)
{
    if (c->type.decimals > 0)
        return arena_printf(arena, "CURRENT_TIMESTAMP(%d)", (int)c->type.decimals);
    return STR("CURRENT_TIMESTAMP");
}

struct str info_column_extra(struct arena *arena, const struct db_cat_column *c)
{
    struct buf text = {0};
    struct str out;

    if (c->auto_increment)
        buf_add_lit(&text, " auto_increment");
    if (c->default_kind == DB_DEFAULT_NOW || c->default_kind == DB_DEFAULT_EXPR)
        buf_add_lit(&text, " DEFAULT_GENERATED");
    if (c->on_update_now)
        buf_printf(&text, " on update " STR_F, STR_A(now_text(arena, c)));
    if (c->generated.len > 0)
        buf_add_str(&text, c->stored ? STR(" STORED GENERATED") : STR(" VIRTUAL GENERATED"));
    if (c->invisible)
        buf_add_lit(&text, " INVISIBLE");
    out = text.len > 0 ? arena_str(arena, str_sub(buf_str(&text), 1, text.len)) : STR("");
    buf_fini(&text);
    return out;
}

static struct str bits_text(struct arena *arena, struct str value)
{
    char digits[72];
    uint64_t v = 0;
    size_t n = sizeof(digits);

    (void)!str_u64(value, &v); /* the catalog has numbers here */
    digits[--n] = '\'';
    do {
        digits[--n] = (char)('0' + (v & 1));
        v >>= 1;
    } while (v);
    digits[--n] = '\'';
    digits[--n] = 'b';
    return arena_str(arena, str_n(digits + n, sizeof(digits) - n));
}

struct str info_column_default(struct arena *arena, const struct db_cat_column *c)
{
    switch (c->default_kind) {
    case DB_DEFAULT_NOW:
        return now_text(arena, c);
    case DB_DEFAULT_EXPR:
        return c->default_text;
    case DB_DEFAULT_VALUE:
        if (c->type.base == DB_T_BIT)
            return bits_text(arena, c->default_text);
        if (c->type.base == DB_T_YEAR && str_eq(c->default_text, STR("0")))
            return STR("0000");
        return c->default_text.p ? c->default_text : STR("");
    default:
        return STR_NONE;
    }
}

static size_t characters(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

/* Characters of an ENUM's longest member; of a SET all of them. */
static uint64_t members_length(const struct db_type *t)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < t->n_members; i++) {
        size_t len = characters(t->members[i]);

        n = t->base == DB_T_SET ? n + len + (i > 0) : MAX(n, len);
    }
    return n;
}

static void lengths(struct info_out *o, const struct db_type *t)
{
    static const uint32_t most[] = {[DB_T_TINYTEXT] = 255,
        [DB_T_TEXT] = 65535,
        [DB_T_MEDIUMTEXT] = 16777215,
        [DB_T_LONGTEXT] = UINT32_MAX,
        [DB_T_TINYBLOB] = 255,
        [DB_T_BLOB] = 65535,
        [DB_T_MEDIUMBLOB] = 16777215,
        [DB_T_LONGBLOB] = UINT32_MAX};
    const struct db_collation *c = db_collation_find(t->collation);
    uint64_t bytes = c ? c->max_bytes : 1, n;

    if (!db_base_is_text(t->base) && !db_base_is_binary(t->base)) {
        out_nulls(o, 2);
        return;
    }
    if (t->base == DB_T_ENUM || t->base == DB_T_SET) {
        n = members_length(t);
    } else if (most[t->base] > 0) {
        n = most[t->base];
        bytes = 1;
    } else {
        n = (uint64_t)MAX(t->length, 0);
    }
    out_int(o, (int64_t)n);
    out_int(o, (int64_t)(n * (db_base_is_binary(t->base) ? 1 : bytes)));
}

static void precisions(struct info_out *o, const struct db_type *t)
{
    static const uint8_t digits[] = {[DB_T_TINYINT] = 3,
        [DB_T_SMALLINT] = 5,
        [DB_T_MEDIUMINT] = 7,
        [DB_T_INT] = 10,
        [DB_T_BIGINT] = 19};

    if (t->base >= DB_T_TINYINT && t->base <= DB_T_BIGINT) {
        out_uint(o, digits[t->base] + (uint64_t)(t->base == DB_T_BIGINT && t->is_unsigned));
        out_uint(o, 0);
    } else if (t->base == DB_T_BIT) {
        out_uint(o, (uint64_t)MAX(t->length, 0));
        out_null(o);
    } else if (t->base == DB_T_DECIMAL || t->base == DB_T_FLOAT || t->base == DB_T_DOUBLE) {
        out_uint(o, t->length >= 0 ? (uint64_t)t->length : t->base == DB_T_FLOAT ? 12 : 22);
        if (t->decimals >= 0)
            out_uint(o, (uint64_t)t->decimals);
        else
            out_null(o);
    } else {
        out_nulls(o, 2);
    }
    if (t->base == DB_T_TIME || t->base == DB_T_DATETIME || t->base == DB_T_TIMESTAMP)
        out_uint(o, (uint64_t)MAX(t->decimals, 0));
    else
        out_null(o);
}

static struct str type_text(struct arena *arena, const struct db_type *t)
{
    struct buf text = {0};
    struct str out;

    sql_print_type(&text, t);
    out = arena_str(arena, buf_str(&text));
    buf_fini(&text);
    return out;
}

static void column_row(struct info_out *o, const struct db_cat_table *t, uint32_t i)
{
    const struct db_cat_column *c = &t->columns[i];
    bool text = db_base_is_text(c->type.base);

    out_str(o, STR("def"));
    out_str(o, t->schema);
    out_str(o, t->name);
    out_str(o, c->name);
    out_uint(o, i + 1);
    out_opt(o, info_column_default(o->arena, c));
    out_str(o, c->not_null ? STR("NO") : STR("YES"));
    out_str(o, db_base_name(c->type.base));
    lengths(o, &c->type);
    precisions(o, &c->type);
    out_opt(o, text ? c->type.charset : STR_NONE);
    out_opt(o, text ? c->type.collation : STR_NONE);
    out_str(o, type_text(o->arena, &c->type));
    out_str(o, info_column_key(t, i));
    out_str(o, info_column_extra(o->arena, c));
    out_str(o, t->is_system ? STR("select") : STR("select,insert,update,references"));
    out_str(o, c->comment);
    out_str(o, c->generated);
    out_null(o);
}

void info_rows_columns(struct info_out *o, const struct info_facts *f)
{
    const struct info_table *it;
    uint32_t i = 0;

    while ((it = out_table(o, f, &i, true))) {
        for (uint32_t k = 0; k < it->table->n_columns; k++)
            column_row(o, it->table, k);
    }
}

static void part_row(
    struct info_out *o, const struct info_table *it, const struct db_cat_key *k, uint32_t at)
{
    const struct db_cat_table *t = it->table;
    const struct db_cat_part *p = &k->parts[at];
    const struct db_cat_column *c = p->column >= 0 ? &t->columns[p->column] : NULL;
    bool full_text = k->kind == DB_KEY_FULLTEXT;

    out_str(o, STR("def"));
    out_str(o, t->schema);
    out_str(o, t->name);
    out_int(o, k->kind > DB_KEY_UNIQUE);
    out_str(o, t->schema);
    out_str(o, k->name);
    out_uint(o, at + 1);
    out_opt(o, c ? c->name : STR_NONE);
    out_opt(o, full_text ? STR_NONE : p->desc ? STR("D") : STR("A"));
    out_int(o, (int64_t)it->rows);
    if (p->length > 0)
        out_int(o, p->length);
    else
        out_null(o);
    out_null(o);
    out_str(o, !c || !c->not_null ? STR("YES") : STR(""));
    out_str(o, full_text ? STR("FULLTEXT") : k->using_type);
    out_str(o, STR(""));
    out_str(o, k->comment);
    out_str(o, k->invisible ? STR("NO") : STR("YES"));
    out_opt(o, c ? STR_NONE : p->expr);
}

void info_rows_statistics(struct info_out *o, const struct info_facts *f)
{
    const struct info_table *it;
    uint32_t i = 0;

    while ((it = out_table(o, f, &i, false))) {
        for (uint32_t k = 0; k < it->table->n_keys; k++) {
            for (uint32_t p = 0; p < it->table->keys[k].n_parts; p++)
                part_row(o, it, &it->table->keys[k], p);
        }
    }
}
