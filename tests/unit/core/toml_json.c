/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * For toml_peer.py: reads documents (a line with the length, then the bytes) and prints each as one
 * line of JSON with types, or an empty line when it is not TOML.
 */

#include <stdio.h>

#include "core/json.h"
#include "core/toml.h"

static void print_value(struct json_writer *w, const struct toml_value *v);

static void print_table(struct json_writer *w, const struct toml_table *t)
{
    json_open_object(w);
    for (const struct toml_entry *e = t->first; e; e = e->next) {
        json_key(w, e->key.p);
        print_value(w, &e->value);
    }
    json_close_object(w);
}

static void print_array(struct json_writer *w, const struct toml_array *a)
{
    json_open_array(w);
    for (size_t i = 0; i < a->n; i++)
        print_value(w, &a->v[i]);
    json_close_array(w);
}

/* Scalars are {"kind": "text"}, so that 1 and 1.0 differ. */
static void print_value(struct json_writer *w, const struct toml_value *v)
{
    char text[64] = "";
    struct str s;

    if (v->kind == TOML_TABLE) {
        print_table(w, v->table);
        return;
    }
    if (v->kind == TOML_ARRAY) {
        print_array(w, v->array);
        return;
    }
    if (v->kind == TOML_INT)
        (void)snprintf(text, sizeof(text), "%lld", (long long)v->i);
    else if (v->kind == TOML_FLOAT)
        (void)snprintf(text, sizeof(text), "%a", v->f);
    else if (v->kind == TOML_BOOL)
        (void)snprintf(text, sizeof(text), "%s", v->b ? "true" : "false");
    s = v->kind == TOML_STRING ? v->s : v->kind == TOML_DATETIME ? STR("") : str_c(text);
    json_open_object(w);
    json_add_str(w, toml_kind_name(v->kind), s);
    json_close_object(w);
}

static void answer(struct str text)
{
    struct arena a = {0};
    struct buf out = {0};
    struct json_writer w = JSON_WRITER(&out);
    struct toml_table *root;
    struct err err;

    if (toml_parse(&a, text, &root, &err) == 0)
        print_table(&w, root);
    printf("%s\n", buf_cstr(&out));
    buf_fini(&out);
    arena_fini(&a);
}

int main(void)
{
    unsigned long n;

    while (scanf("%lu", &n) == 1 && getchar() == '\n') {
        struct buf in = {0};

        in.len = fread(buf_reserve(&in, n + 1), 1, n, stdin);
        answer(buf_str(&in));
        buf_fini(&in);
    }
    return 0;
}
