/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* JSON functions that read documents; json_change.c has those that make them. */
#include "db/func/json_arg.h"
#include "db/func/json_doc.h"
#include "db/real.h"

char json_type_letter(struct str types, size_t n)
{
    return n < types.len ? types.p[n] : 'n';
}

static struct json *number_arg(struct call *c, struct arena *arena, int i, char type)
{
    struct json *j = json_new(arena, JSON_INT);
    int storage = sqlite3_value_type(c->v[i]);

    if (type == 'b') {
        j->kind = call_i64(c, i) ? JSON_TRUE : JSON_FALSE;
    } else if (storage == SQLITE_INTEGER) {
        j->i = sqlite3_value_int64(c->v[i]);
    } else if (storage == SQLITE_FLOAT) {
        j->kind = JSON_DOUBLE;
        j->d = sqlite3_value_double(c->v[i]);
    } else if (type == 'u' || type == 'i') {
        j->kind = JSON_UINT;
        j->u = call_u64(c, i);
    } else {
        j->kind = JSON_DECIMAL;
        j->s = arena_str(arena, call_str(c, i));
    }
    return j;
}

/* A DATETIME in JSON always has six decimals. */
static struct json *temporal_arg(struct call *c, struct arena *arena, int i, char type)
{
    struct json *j = json_new(arena, JSON_OPAQUE);
    struct db_time t;
    char text[DB_TIME_TEXT];
    unsigned warn;
    struct str s = call_str(c, i);
    bool ok = type == 'T' ? db_time_parse(s, &t, &warn) : db_date_parse(s, 0, &t, &warn);

    if (!ok) {
        j->s = arena_str(arena, s);
        return j;
    }
    if (type == 'E')
        t.kind = DB_TIME_DATETIME;
    j->s = arena_str(arena, str_n(text, db_time_print(&t, 6, text)));
    return j;
}

struct json *json_value_arg(struct call *c, struct arena *arena, int i, char type)
{
    struct json *j;
    struct json_error bad;
    int storage = sqlite3_value_type(c->v[i]);

    if (storage == SQLITE_NULL)
        return json_new(arena, JSON_NULL);
    switch (type) {
    case 'j':
        if (json_doc_parse(arena, arena_str(arena, call_str(c, i)), &j, &bad) != 0) {
            CALL_RAISE(c, DB_E_INVALID_JSON_ARG, i + 1, c->name, bad.text,
                (unsigned long long)bad.position);
            return NULL;
        }
        return j;
    case 'D':
    case 'E':
    case 'T':
        return temporal_arg(c, arena, i, type);
    case 'b':
    case 'd':
    case 'i':
    case 'u':
        return number_arg(c, arena, i, type);
    default:
        if (storage == SQLITE_INTEGER || storage == SQLITE_FLOAT)
            return number_arg(c, arena, i, type);
        j = json_new_string(arena, arena_str(arena, call_str(c, i)));
        if (!str_is_utf8(j->s))
            j->s = STR("");
        return j;
    }
}

/* ---- documents and paths ---- */

static const char *shown_name(struct call *c)
{
    return c->name;
}

bool json_doc(struct call *c, int i, struct json **out)
{
    struct json_error bad;
    int storage = sqlite3_value_type(c->v[i]);

    if (storage == SQLITE_NULL)
        return false;
    if (storage == SQLITE_INTEGER || storage == SQLITE_FLOAT) {
        CALL_RAISE(c, DB_E_JSON_TYPE, i + 1, shown_name(c));
        return false;
    }
    if (json_doc_parse(&c->arena, call_str(c, i), out, &bad) == 0)
        return true;
    if (bad.too_deep)
        CALL_RAISE(c, DB_E_JSON_DEPTH);
    else
        CALL_RAISE(c, DB_E_INVALID_JSON_ARG, i + 1, shown_name(c), bad.text,
            (unsigned long long)bad.position);
    return false;
}

bool json_path_arg(struct call *c, int i, bool many, struct json_path *out)
{
    size_t position = 0;

    if (call_null(c, i))
        return false;
    if (json_path_parse(&c->arena, call_str(c, i), out, &position) != 0) {
        CALL_RAISE(c, DB_E_INVALID_JSON_PATH, (unsigned long long)position);
        return false;
    }
    if (!many && out->many) {
        CALL_RAISE(c, DB_E_JSON_WILDCARD);
        return false;
    }
    return true;
}

void ret_json(struct call *c, const struct json *j)
{
    struct buf b = {0};

    if (json_depth(j) > JSON_MAX_DEPTH) {
        CALL_RAISE(c, DB_E_JSON_DEPTH);
        return;
    }
    json_print(&b, j);
    ret_buf(c, &b, false);
}

void fn_json_extract(struct call *c)
{
    struct json *doc;
    struct json *all;
    struct json_path path;
    bool many = c->n > 2;

    if (call_any_null(c) || !json_doc(c, 0, &doc))
        return;
    all = json_new(&c->arena, JSON_ARRAY);
    for (int i = 1; i < c->n; i++) {
        uint32_t n;
        struct json **found;

        if (!json_path_arg(c, i, true, &path))
            return;
        many = many || path.many;
        found = json_find(&c->arena, doc, &path, &n);
        for (uint32_t k = 0; k < n; k++)
            json_append(&c->arena, all, found[k]);
    }
    if (all->n == 0)
        return;
    ret_json(c, many ? all : all->items[0]);
}

void fn_json_unquote(struct call *c)
{
    struct json *j;
    struct json_error bad;
    struct str s;

    if (call_null(c, 0))
        return;
    s = call_str(c, 0);
    if (s.len < 2 || s.p[0] != '"' || s.p[s.len - 1] != '"') {
        ret_str(c, s);
        return;
    }
    if (json_doc_parse(&c->arena, s, &j, &bad) != 0)
        CALL_RAISE(
            c, DB_E_INVALID_JSON_ARG, 1, shown_name(c), bad.text, (unsigned long long)bad.position);
    else
        ret_str(c, j->s);
}

void fn_json_value(struct call *c)
{
    struct json *doc;
    struct json_path path;
    struct buf b = {0};
    struct json **found;
    uint32_t n;

    if (call_any_null(c) || !json_doc(c, 0, &doc) || !json_path_arg(c, 1, true, &path))
        return;
    found = json_find(&c->arena, doc, &path, &n);
    if (n != 1 || found[0]->kind == JSON_ARRAY || found[0]->kind == JSON_OBJECT ||
        found[0]->kind == JSON_NULL)
        return;
    if (found[0]->kind == JSON_STRING) {
        ret_str(c, found[0]->s);
        return;
    }
    json_print(&b, found[0]);
    ret_buf(c, &b, false);
}

void fn_json_num(struct call *c)
{
    struct json *j;
    struct json_error bad;

    if (call_null(c, 0))
        return;
    if (sqlite3_value_type(c->v[0]) != SQLITE_TEXT ||
        json_doc_parse(&c->arena, call_str(c, 0), &j, &bad) != 0) {
        ret_double(c, call_real(c, 0));
        return;
    }
    switch (j->kind) {
    case JSON_INT:
        ret_i64(c, j->i);
        return;
    case JSON_UINT:
        ret_u64(c, j->u);
        return;
    case JSON_NULL:
        return;
    case JSON_STRING: {
        size_t used;

        ret_double(c, text_double(j->s, &used));
        return;
    }
    default:
        ret_double(c, json_double(j));
    }
}

void fn_json_contains(struct call *c)
{
    struct json *doc;
    struct json *candidate;
    struct json_path path;

    if (call_any_null(c) || !json_doc(c, 0, &doc) || !json_doc(c, 1, &candidate))
        return;
    if (c->n > 2) {
        uint32_t n;
        struct json **found;

        if (!json_path_arg(c, 2, false, &path))
            return;
        found = json_find(&c->arena, doc, &path, &n);
        if (n == 0)
            return;
        doc = found[0];
    }
    ret_bool(c, json_contains(doc, candidate));
}

/* 'one' or 'all'; false: an error was raised. */
static bool one_or_all(struct call *c, int i, bool *all)
{
    struct str s = call_str(c, i);

    *all = str_ieq(s, STR("all"));
    if (*all || str_ieq(s, STR("one")))
        return true;
    CALL_RAISE(c, DB_E_JSON_ONE_OR_ALL, shown_name(c));
    return false;
}

void fn_json_contains_path(struct call *c)
{
    struct json *doc;
    struct json_path path;
    bool all;

    if (call_any_null(c) || !json_doc(c, 0, &doc) || !one_or_all(c, 1, &all))
        return;
    for (int i = 2; i < c->n; i++) {
        uint32_t n;

        if (!json_path_arg(c, i, true, &path))
            return;
        (void)json_find(&c->arena, doc, &path, &n); /* whether there is one counts */
        if ((n > 0) != all) {
            ret_bool(c, n > 0);
            return;
        }
    }
    ret_bool(c, all);
}

void fn_json_overlaps(struct call *c)
{
    struct json *a;
    struct json *b;

    if (!call_any_null(c) && json_doc(c, 0, &a) && json_doc(c, 1, &b))
        ret_bool(c, json_overlaps(a, b));
}

void fn_member_of(struct call *c)
{
    struct json *v;
    struct json *doc;

    if (call_any_null(c) || !json_doc(c, 2, &doc))
        return;
    v = json_value_arg(c, &c->arena, 1, json_type_letter(call_str(c, 0), 0));
    if (!v)
        return;
    if (doc->kind != JSON_ARRAY) {
        ret_bool(c, json_cmp(doc, v) == 0);
        return;
    }
    for (uint32_t i = 0; i < doc->n; i++) {
        if (json_cmp(doc->items[i], v) == 0) {
            ret_bool(c, true);
            return;
        }
    }
    ret_bool(c, false);
}

/* The document, or what its path names; false: NULL. */
static bool doc_at(struct call *c, struct json **out)
{
    struct json_path path;
    struct json **found;
    uint32_t n;

    if (call_any_null(c) || !json_doc(c, 0, out))
        return false;
    if (c->n < 2)
        return true;
    if (!json_path_arg(c, 1, false, &path))
        return false;
    found = json_find(&c->arena, *out, &path, &n);
    if (n == 0)
        return false;
    *out = found[0];
    return true;
}

void fn_json_length(struct call *c)
{
    struct json *j;

    if (doc_at(c, &j))
        ret_i64(c, j->kind == JSON_ARRAY || j->kind == JSON_OBJECT ? j->n : 1);
}

void fn_json_keys(struct call *c)
{
    struct json *j;
    struct json *keys;

    if (!doc_at(c, &j) || j->kind != JSON_OBJECT)
        return;
    keys = json_new(&c->arena, JSON_ARRAY);
    for (uint32_t i = 0; i < j->n; i++)
        json_append(&c->arena, keys, json_new_string(&c->arena, j->members[i].key));
    ret_json(c, keys);
}

void fn_json_depth(struct call *c)
{
    struct json *j;

    if (json_doc(c, 0, &j))
        ret_i64(c, json_depth(j));
}

void fn_json_type(struct call *c)
{
    struct json *j;

    if (json_doc(c, 0, &j))
        ret_str(c, json_type_name(j));
}

void fn_json_valid(struct call *c)
{
    struct json *j;
    struct json_error bad;

    if (call_null(c, 0))
        return;
    ret_bool(c, sqlite3_value_type(c->v[0]) == SQLITE_TEXT &&
                    json_doc_parse(&c->arena, call_str(c, 0), &j, &bad) == 0);
}

void fn_json_pretty(struct call *c)
{
    struct json *j;
    struct buf b = {0};

    if (!json_doc(c, 0, &j))
        return;
    json_pretty(&b, j);
    ret_buf(c, &b, false);
}

void fn_json_storage_size(struct call *c)
{
    struct json *j;

    if (json_doc(c, 0, &j))
        ret_i64(c, (int64_t)call_str(c, 0).len);
}

void fn_json_quote(struct call *c)
{
    struct buf b = {0};

    if (call_null(c, 0))
        return;
    json_print_string(&b, call_str(c, 0));
    ret_buf(c, &b, false);
}
