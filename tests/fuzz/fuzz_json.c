/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* The JSON reader and writer: what was read and is written again reads as the same text. */
#include <stdint.h>

#include "base/mem.h"
#include "core/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_value(struct json_writer *w, const struct json_value *v)
{
    if (v->kind == JSON_NULL)
        json_null(w);
    else if (v->kind == JSON_BOOL)
        json_bool(w, v->b);
    else if (v->kind == JSON_STRING)
        json_str(w, v->s);
    else if (v->kind == JSON_NUMBER && v->is_int)
        json_int(w, v->i);
    else if (v->kind == JSON_NUMBER)
        json_float(w, v->number);
    else if (v->kind == JSON_ARRAY)
        json_open_array(w);
    else
        json_open_object(w);
    for (const struct json_value *c = v->first; c; c = c->next) {
        /* Keys with a NUL do not survive the writer's C strings; null stands for them. */
        if (v->kind == JSON_OBJECT)
            json_key(w, "k");
        write_value(w, c);
    }
    if (v->kind == JSON_ARRAY)
        json_close_array(w);
    else if (v->kind == JSON_OBJECT)
        json_close_object(w);
}

static bool has_object(const struct json_value *v)
{
    if (v->kind == JSON_OBJECT)
        return true;
    for (const struct json_value *c = v->first; c; c = c->next) {
        if (has_object(c))
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct json_value *v, *again;
    struct buf one = {0}, two = {0};
    struct json_writer w1 = JSON_WRITER(&one), w2 = JSON_WRITER(&two);
    struct err err;

    if (json_parse(&a, str_n((const char *)data, size), &v, &err) == 0) {
        write_value(&w1, v);
        if (!has_object(v)) {
            ENSURE(json_parse(&a, buf_str(&one), &again, &err) == 0);
            write_value(&w2, again);
            ENSURE(str_eq(buf_str(&one), buf_str(&two)));
        }
    }
    buf_fini(&one);
    buf_fini(&two);
    arena_fini(&a);
    return 0;
}
