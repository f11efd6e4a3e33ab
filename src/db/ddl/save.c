/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <assert.h>
#include <stdio.h>

#include "db/ddl/ddl.h"
#include "db/ddl/form.h"

#define T(name, kind, max)        {#name, kind, offsetof(struct db_cat_table, name), max}
#define C(name, kind, max)        {#name, kind, offsetof(struct db_cat_column, name), max}
#define K(name, kind, max)        {#name, kind, offsetof(struct db_cat_key, name), max}
#define P(name, kind, max)        {#name, kind, offsetof(struct db_cat_part, name), max}
#define F(name, kind, max)        {#name, kind, offsetof(struct db_cat_fk, name), max}
#define H(name, kind, max)        {#name, kind, offsetof(struct db_cat_check, name), max}
#define OF(type, name, kind, max) {#name, kind, offsetof(struct type, name), max}
#define END                       {NULL, FORM_STR, 0, 0}

const struct form_field form_table[] = {
    T(schema, FORM_STR, 0),
    T(name, FORM_STR, 0),
    T(temporary, FORM_BOOL, 1),
    T(is_view, FORM_BOOL, 1),
    T(auto_column, FORM_I32_1, INT16_MAX),
    T(rowid_column, FORM_I32_1, INT16_MAX),
    T(engine, FORM_STR, 0),
    T(charset, FORM_STR, 0),
    T(collation, FORM_STR, 0),
    T(comment, FORM_STR, 0),
    T(row_format, FORM_STR, 0),
    T(options, FORM_STR, 0),
    T(partition, FORM_STR, 0),
    T(view_text, FORM_STR, 0),
    T(created, FORM_I64, INT64_MAX),
    END,
};

const struct form_field form_column[] = {
    C(name, FORM_STR, 0),
    C(type.base, FORM_ENUM, DB_T__COUNT - 1),
    C(type.length, FORM_I32_1, INT32_MAX - 1),
    C(type.decimals, FORM_I16, 255),
    C(type.is_unsigned, FORM_BOOL, 1),
    C(type.zerofill, FORM_BOOL, 1),
    C(type.charset, FORM_STR, 0),
    C(type.collation, FORM_STR, 0),
    C(not_null, FORM_BOOL, 1),
    C(auto_increment, FORM_BOOL, 1),
    C(on_update_now, FORM_BOOL, 1),
    C(invisible, FORM_BOOL, 1),
    C(stored, FORM_BOOL, 1),
    C(default_kind, FORM_ENUM, DB_DEFAULT_EXPR),
    C(default_text, FORM_STR, 0),
    C(generated, FORM_STR, 0),
    C(comment, FORM_STR, 0),
    C(key_flags, FORM_U16, UINT16_MAX),
    END,
};

const struct form_field form_member[] = {OF(form_member, value, FORM_STR, 0), END};

const struct form_field form_key[] = {
    K(name, FORM_STR, 0),
    K(kind, FORM_ENUM, DB_KEY_SPATIAL),
    K(using_type, FORM_STR, 0),
    K(using_said, FORM_BOOL, 1),
    K(of_foreign, FORM_BOOL, 1),
    K(comment, FORM_STR, 0),
    K(invisible, FORM_BOOL, 1),
    END,
};

const struct form_field form_part[] = {
    P(column, FORM_I32_1, INT16_MAX),
    P(expr, FORM_STR, 0),
    P(length, FORM_I32, INT32_MAX),
    P(desc, FORM_BOOL, 1),
    END,
};

const struct form_field form_fk[] = {
    F(name, FORM_STR, 0),
    F(ref_table, FORM_STR, 0),
    F(on_delete, FORM_STR, 0),
    F(on_update, FORM_STR, 0),
    END,
};

const struct form_field form_ref[] = {
    OF(form_ref, from, FORM_STR, 0), OF(form_ref, to, FORM_STR, 0), END};

const struct form_field form_check[] = {
    H(name, FORM_STR, 0), H(expr, FORM_STR, 0), H(enforced, FORM_BOOL, 1), END};

uint64_t form_hash(struct str s)
{
    uint64_t h = 14695981039346656037U;

    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (unsigned char)s.p[i]) * 1099511628211U;
    return h;
}

static int64_t number_of(const struct form_field *f, const char *at)
{
    static_assert(sizeof(enum db_base) == sizeof(uint32_t), "enums are kept as 32 bits");
    switch (f->kind) {
    case FORM_BOOL:
        return *(const bool *)at;
    case FORM_I16:
        return *(const int16_t *)at;
    case FORM_I32:
        return *(const int32_t *)at;
    case FORM_I32_1:
        return (int64_t)*(const int32_t *)at + 1;
    case FORM_I64:
        return *(const int64_t *)at;
    case FORM_U16:
        return *(const uint16_t *)at;
    default:
        return *(const uint32_t *)at;
    }
}

static void put(
    struct buf *out, const char *record, const struct form_field *fields, const void *what)
{
    buf_add_str(out, str_c(record));
    for (const struct form_field *f = fields; f->name; f++) {
        const char *at = (const char *)what + f->offset;
        char digits[24];
        struct str value;

        if (f->kind == FORM_STR) {
            value = *(const struct str *)at;
        } else {
            int64_t v = number_of(f, at);

            value = str_n(digits, (size_t)snprintf(digits, sizeof(digits), "%lld", (long long)v));
            if (v == 0)
                continue;
        }
        if (value.len == 0)
            continue;
        buf_printf(out, " %s=%zu:", f->name, value.len);
        buf_add_str(out, value);
    }
    buf_add_char(out, '\n');
}

static void put_lists(struct buf *out, const struct db_cat_table *t)
{
    for (uint32_t i = 0; i < t->n_columns; i++) {
        put(out, "column", form_column, &t->columns[i]);
        for (uint32_t j = 0; j < t->columns[i].type.n_members; j++)
            put(out, "member", form_member,
                &(struct form_member){.value = t->columns[i].type.members[j]});
    }
    for (uint32_t i = 0; i < t->n_keys; i++) {
        put(out, "key", form_key, &t->keys[i]);
        for (uint32_t j = 0; j < t->keys[i].n_parts; j++)
            put(out, "part", form_part, &t->keys[i].parts[j]);
    }
    for (uint32_t i = 0; i < t->n_fks; i++) {
        const struct db_cat_fk *fk = &t->fks[i];

        put(out, "fk", form_fk, fk);
        for (uint32_t j = 0; j < fk->n_columns; j++)
            put(out, "ref", form_ref,
                &(struct form_ref){.from = fk->columns[j], .to = fk->ref_columns[j]});
    }
    for (uint32_t i = 0; i < t->n_checks; i++)
        put(out, "check", form_check, &t->checks[i]);
}

void ddl_save(struct buf *out, const struct db_cat_table *t)
{
    struct buf body = {0};

    put(&body, "table", form_table, t);
    put_lists(&body, t);
    buf_printf(out, "ephpm-table %d %016llx\n", FORM_VERSION,
        (unsigned long long)form_hash(buf_str(&body)));
    buf_add_str(out, buf_str(&body));
    buf_fini(&body);
}
