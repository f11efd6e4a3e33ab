/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* The TOML parser: what it takes is a tree of valid text with places, what it refuses has a message
 * with a place. */
#include <stdint.h>

#include "base/mem.h"
#include "core/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_table(const struct toml_table *t);

static void check_value(const struct toml_value *v)
{
    ENSURE(v->line > 0 && v->col > 0);
    if (v->kind == TOML_STRING)
        ENSURE(str_is_utf8(v->s) && v->s.p[v->s.len] == 0);
    if (v->kind == TOML_TABLE)
        check_table(v->table);
    for (size_t i = 0; v->kind == TOML_ARRAY && i < v->array->n; i++)
        check_value(&v->array->v[i]);
}

static void check_table(const struct toml_table *t)
{
    size_t n = 0;

    for (const struct toml_entry *e = t->first; e; e = e->next, n++) {
        ENSURE(str_is_utf8(e->key));
        ENSURE(toml_get(t, e->key) == &e->value);
        check_value(&e->value);
    }
    ENSURE(n == t->n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct toml_table *root;
    struct toml_value v;
    struct err err = {0};
    struct str text = str_n((const char *)data, size);

    if (toml_parse(&a, text, &root, &err) == 0)
        check_table(root);
    else
        ENSURE(err.text[0] && err.line > 0 && err.col > 0);
    if (toml_parse_value(&a, text, &v, &err) == 0)
        check_value(&v);
    arena_fini(&a);
    return 0;
}
