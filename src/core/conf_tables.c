/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "core/conf_value.h"

/* A key of an item and what was written for it. */
struct member {
    struct str key;
    const struct toml_value *value;
    int line, col; /* 0: no position (from a variable) */
};

static const struct conf_row *find(const struct conf_item *item, struct str key)
{
    for (size_t i = 0; i < item->nrows; i++) {
        if (str_eq(key, str_c(item->rows[i].key)))
            return &item->rows[i];
    }
    return NULL;
}

static int fail_unknown(const struct conf_item *item, const struct member *m, struct err *why)
{
    const char *best = NULL;
    int limit = 3;

    for (size_t i = 0; i < item->nrows; i++) {
        int d = str_distance(m->key, str_c(item->rows[i].key));

        if (d < limit) {
            limit = d;
            best = item->rows[i].key;
        }
    }
    return err_set_at(why, ERR_INVAL, m->line, m->col, "unknown key " STR_F "%s%s%s",
        STR_A(str_sub(m->key, 0, 60)), best ? " (did you mean " : "", best ? best : "",
        best ? "?)" : "");
}

static int set_member(const struct conf_item *item, const struct member *m, char *base, bool *seen,
    struct arena *a, struct err *why)
{
    const struct conf_row *row = find(item, m->key);
    struct err inner = {0};
    int rc;

    if (!row)
        return fail_unknown(item, m, why);
    seen[row - item->rows] = true;
    rc = conf_value_set(row, m->value, base + row->offset, a, &inner);
    if (rc)
        return err_set_at(why, rc, m->line, m->col, "%s: %s", row->key, inner.text);
    return 0;
}

/* A table of a document, or the pairs that conf_value_read() made of a JSON object. */
static int set_members(const struct conf_item *item, const struct toml_value *v, char *base,
    bool *seen, struct arena *a, struct err *why)
{
    int rc = 0;

    if (v->kind == TOML_TABLE) {
        for (const struct toml_entry *e = v->table->first; e && rc == 0; e = e->next) {
            struct member m = {e->key, &e->value, e->line, e->col};

            rc = set_member(item, &m, base, seen, a, why);
        }
        return rc;
    }
    for (size_t i = 0; i < v->array->n && rc == 0; i++) {
        const struct toml_value *pair = &v->array->v[i];
        struct member m = {.line = 0};

        if (pair->kind != TOML_ARRAY || pair->array->n != 2 ||
            pair->array->v[0].kind != TOML_STRING)
            return err_set(why, ERR_INVAL, "is no table");
        m.key = pair->array->v[0].s;
        m.value = &pair->array->v[1];
        rc = set_member(item, &m, base, seen, a, why);
    }
    return rc;
}

static void set_defaults(const struct conf_item *item, char *base, struct arena *a)
{
    for (size_t i = 0; i < item->nrows; i++) {
        const struct conf_row *row = &item->rows[i];
        struct toml_value v = {0};
        struct err err;

        conf_value_unset(row, base + row->offset);
        if (!row->def)
            continue;
        /* A table whose defaults do not parse is our bug, and the first use of the key shows it. */
        ENSURE(toml_parse_value(a, str_c(row->def), &v, &err) == 0 &&
               conf_value_set(row, &v, base + row->offset, a, &err) == 0);
    }
}

static int set_item(const struct conf_item *item, const struct toml_value *v, char *base,
    struct arena *a, struct err *why)
{
    bool *seen = arena_new(a, item->nrows * sizeof(*seen));
    int rc;

    if (v->kind != TOML_TABLE && v->kind != TOML_ARRAY)
        return err_set_at(why, ERR_INVAL, v->line, v->col, "is no table");
    set_defaults(item, base, a);
    rc = set_members(item, v, base, seen, a, why);
    for (size_t i = 0; rc == 0 && i < item->nrows; i++) {
        if ((item->rows[i].flags & CONF_REQUIRED) && !seen[i])
            rc = err_set_at(why, ERR_INVAL, v->line, v->col, "%s is missing", item->rows[i].key);
    }
    return rc;
}

int conf_tables_set(const struct conf_row *row, const struct toml_value *v,
    struct conf_tables *field, struct arena *a, struct err *why)
{
    struct conf_tables tables = {0};
    struct err inner = {0};

    if (v->kind != TOML_ARRAY)
        return err_set(why, ERR_INVAL, "must be a list of tables: write [[%s]]", row->key);
    tables.v = arena_new(a, (v->array->n + 1) * row->item->size);
    for (; tables.n < v->array->n; tables.n++) {
        char *base = (char *)tables.v + tables.n * row->item->size;
        int rc = set_item(row->item, &v->array->v[tables.n], base, a, &inner);

        if (rc && inner.line)
            return err_set_at(why, rc, inner.line, inner.col, "table %zu (line %d): %s",
                tables.n + 1, inner.line, inner.text);
        if (rc)
            return err_set(why, rc, "table %zu: %s", tables.n + 1, inner.text);
    }
    *field = tables;
    return 0;
}

static void format_item(const struct conf_item *item, const char *base, bool hide, struct buf *out)
{
    bool more = false;

    buf_add_char(out, '{');
    for (size_t i = 0; i < item->nrows; i++) {
        const struct conf_row *row = &item->rows[i];
        struct buf value = {0};

        if (conf_value_format(row, base + row->offset, &value)) {
            buf_printf(out, "%s%s = ", more ? ", " : "", row->key);
            if (hide && (row->flags & CONF_SECRET))
                buf_add_lit(out, "\"***\"");
            else
                buf_add_str(out, buf_str(&value));
            more = true;
        }
        buf_fini(&value);
    }
    buf_add_char(out, '}');
}

void conf_tables_format(
    const struct conf_row *row, const struct conf_tables *field, bool hide, struct buf *out)
{
    buf_add_char(out, '[');
    for (size_t i = 0; i < field->n; i++) {
        if (i)
            buf_add_lit(out, ", ");
        format_item(row->item, (const char *)field->v + i * row->item->size, hide, out);
    }
    buf_add_char(out, ']');
}
