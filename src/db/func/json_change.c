/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* JSON functions that make documents or change them, and JSON_SEARCH. */
#include "db/func/compare.h"
#include "db/func/json_arg.h"
#include "db/func/json_doc.h"
#include "db/func/utf8.h"

void fn_json_array(struct call *c)
{
    struct json *a = json_new(&c->arena, JSON_ARRAY);
    struct str types = call_str(c, 0);

    for (int i = 1; i < c->n; i++) {
        struct json *v = json_value_arg(c, &c->arena, i, json_type_letter(types, (size_t)i - 1));

        if (!v)
            return;
        json_append(&c->arena, a, v);
    }
    ret_json(c, a);
}

void fn_json_object(struct call *c)
{
    struct json *o = json_new(&c->arena, JSON_OBJECT);
    struct str types = call_str(c, 0);

    if (c->n % 2 == 0) {
        CALL_RAISE(c, DB_E_BAD_PARAM_COUNT_NATIVE, c->name);
        return;
    }
    for (int i = 1; i + 1 < c->n; i += 2) {
        struct json *v = json_value_arg(c, &c->arena, i + 1, json_type_letter(types, (size_t)i));

        if (!v)
            return;
        if (call_null(c, i)) {
            CALL_RAISE(c, DB_E_JSON_NULL_KEY);
            return;
        }
        json_put(&c->arena, o, call_str(c, i), v);
    }
    ret_json(c, o);
}

void fn_cast_json(struct call *c)
{
    char type = json_type_letter(call_str(c, 0), 0);
    int storage = sqlite3_value_type(c->v[1]);
    struct json *j;

    if (storage == SQLITE_NULL)
        return;
    if ((type == 's' || type == 'n' || type == 'j') && storage == SQLITE_TEXT) {
        struct json_error bad;

        if (json_doc_parse(&c->arena, call_str(c, 1), &j, &bad) != 0) {
            CALL_RAISE(c, DB_E_INVALID_JSON_ARG, 1, "cast_as_json", bad.text,
                (unsigned long long)bad.position);
            return;
        }
    } else {
        j = json_value_arg(c, &c->arena, 1, type);
    }
    if (j)
        ret_json(c, j);
}

enum change { SET, INSERT, REPLACE };

/* Puts the value where the path ends, as far as the kind of change lets it. The root is replaced
 * in place. */
static void put(struct call *c, struct json *doc, const struct json_path *path, struct json *v,
    enum change change)
{
    struct json *parent;
    const struct json_step *last;
    uint32_t at;

    if (path->n == 0) {
        if (change != INSERT)
            *doc = *v;
        return;
    }
    parent = json_find_parent(doc, path);
    if (!parent)
        return;
    last = &path->steps[path->n - 1];
    if (last->kind == JSON_STEP_KEY) {
        bool there = parent->kind == JSON_OBJECT && json_member(parent, last->key);

        if (parent->kind == JSON_OBJECT && (there ? change != INSERT : change != REPLACE))
            json_put(&c->arena, parent, last->key, v);
        return;
    }
    if (parent->kind == JSON_ARRAY) {
        if (!json_cell(last, parent->n, &at)) {
            if (change != REPLACE)
                json_insert_at(&c->arena, parent, 0, v);
        } else if (at < parent->n) {
            if (change != INSERT)
                parent->items[at] = v;
        } else if (change != REPLACE) {
            json_append(&c->arena, parent, v);
        }
        return;
    }
    if (!json_cell(last, 1, &at))
        at = 1;
    if (at == 0) { /* a scalar is an array of itself */
        if (change != INSERT)
            *parent = *v;
    } else if (change != REPLACE) {
        struct json *copy = json_new(&c->arena, JSON_NULL);

        *copy = *parent;
        *parent = (struct json){.kind = JSON_ARRAY};
        json_append(&c->arena, parent, copy);
        json_append(&c->arena, parent, v);
    }
}

/* The document and each pair of path and value; f does the change. */
static void each_pair(struct call *c,
    bool (*f)(struct call *c, struct json *doc, const struct json_path *path, struct json *v))
{
    struct json *doc;
    struct json_path path;
    struct str types = call_str(c, 0);

    if (c->n % 2 || call_null(c, 1)) {
        if (c->n % 2)
            CALL_RAISE(c, DB_E_BAD_PARAM_COUNT_NATIVE, c->name);
        return;
    }
    if (!json_doc(c, 1, &doc))
        return;
    for (int i = 2; i + 1 < c->n; i += 2) {
        struct json *v;

        if (!json_path_arg(c, i, false, &path))
            return;
        v = json_value_arg(c, &c->arena, i + 1, json_type_letter(types, (size_t)i));
        if (!v || !f(c, doc, &path, v))
            return;
    }
    ret_json(c, doc);
}

static bool do_set(struct call *c, struct json *doc, const struct json_path *path, struct json *v)
{
    put(c, doc, path, v, SET);
    return true;
}

static bool do_insert(
    struct call *c, struct json *doc, const struct json_path *path, struct json *v)
{
    put(c, doc, path, v, INSERT);
    return true;
}

static bool do_replace(
    struct call *c, struct json *doc, const struct json_path *path, struct json *v)
{
    put(c, doc, path, v, REPLACE);
    return true;
}

static bool do_append(
    struct call *c, struct json *doc, const struct json_path *path, struct json *v)
{
    uint32_t n;
    struct json **found = json_find(&c->arena, doc, path, &n);

    if (n == 0)
        return true;
    if (found[0]->kind != JSON_ARRAY) {
        struct json *copy = json_new(&c->arena, JSON_NULL);

        *copy = *found[0];
        *found[0] = (struct json){.kind = JSON_ARRAY};
        json_append(&c->arena, found[0], copy);
    }
    json_append(&c->arena, found[0], v);
    return true;
}

static bool do_array_insert(
    struct call *c, struct json *doc, const struct json_path *path, struct json *v)
{
    struct json *parent;
    uint32_t at;

    if (path->n == 0 || path->steps[path->n - 1].kind != JSON_STEP_CELL) {
        CALL_RAISE(c, DB_E_JSON_ARRAY_CELL);
        return false;
    }
    parent = json_find_parent(doc, path);
    if (!parent || parent->kind != JSON_ARRAY)
        return true;
    if (!json_cell(&path->steps[path->n - 1], parent->n, &at))
        at = 0;
    json_insert_at(&c->arena, parent, MIN(at, parent->n), v);
    return true;
}

void fn_json_set(struct call *c)
{
    each_pair(c, do_set);
}

void fn_json_insert(struct call *c)
{
    each_pair(c, do_insert);
}

void fn_json_replace(struct call *c)
{
    each_pair(c, do_replace);
}

void fn_json_array_append(struct call *c)
{
    each_pair(c, do_append);
}

void fn_json_array_insert(struct call *c)
{
    each_pair(c, do_array_insert);
}

void fn_json_remove(struct call *c)
{
    struct json *doc;
    struct json_path path;

    if (call_any_null(c) || !json_doc(c, 0, &doc))
        return;
    for (int i = 1; i < c->n; i++) {
        struct json *parent;
        const struct json_step *last;
        uint32_t at;

        if (!json_path_arg(c, i, false, &path))
            return;
        if (path.n == 0) {
            CALL_RAISE(c, DB_E_JSON_VACUOUS);
            return;
        }
        parent = json_find_parent(doc, &path);
        last = &path.steps[path.n - 1];
        if (!parent)
            continue;
        if (last->kind == JSON_STEP_KEY && parent->kind == JSON_OBJECT)
            json_remove_member(parent, last->key);
        else if (last->kind == JSON_STEP_CELL && parent->kind == JSON_ARRAY &&
                 json_cell(last, parent->n, &at) && at < parent->n)
            json_remove_item(parent, at);
    }
    ret_json(c, doc);
}

/* ---- merging ---- */

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the documents */
static struct json *merge_patch(struct arena *arena, struct json *doc, struct json *patch)
{
    if (patch->kind != JSON_OBJECT)
        return patch;
    if (doc->kind != JSON_OBJECT)
        doc = json_new(arena, JSON_OBJECT);
    for (uint32_t i = 0; i < patch->n; i++) {
        struct str key = patch->members[i].key;
        struct json *v = patch->members[i].value;
        struct json *old = json_member(doc, key);

        if (v->kind == JSON_NULL)
            json_remove_member(doc, key);
        else
            json_put(
                arena, doc, key, merge_patch(arena, old ? old : json_new(arena, JSON_NULL), v));
    }
    return doc;
}

static struct json *as_array(struct arena *arena, struct json *j)
{
    struct json *a;

    if (j->kind == JSON_ARRAY)
        return j;
    a = json_new(arena, JSON_ARRAY);
    json_append(arena, a, j);
    return a;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the documents */
static struct json *merge_preserve(struct arena *arena, struct json *a, struct json *b)
{
    if (a->kind == JSON_OBJECT && b->kind == JSON_OBJECT) {
        for (uint32_t i = 0; i < b->n; i++) {
            struct json *old = json_member(a, b->members[i].key);
            struct json *v = b->members[i].value;

            json_put(arena, a, b->members[i].key, old ? merge_preserve(arena, old, v) : v);
        }
        return a;
    }
    a = as_array(arena, a);
    b = as_array(arena, b);
    for (uint32_t i = 0; i < b->n; i++)
        json_append(arena, a, b->items[i]);
    return a;
}

void fn_json_merge_preserve(struct call *c)
{
    struct json *doc;
    struct json *other;

    if (call_any_null(c) || !json_doc(c, 0, &doc))
        return;
    for (int i = 1; i < c->n; i++) {
        if (!json_doc(c, i, &other))
            return;
        doc = merge_preserve(&c->arena, doc, other);
    }
    ret_json(c, doc);
}

void fn_json_merge_patch(struct call *c)
{
    struct json *doc = NULL;
    struct json *other;

    for (int i = 0; i < c->n; i++) {
        if (call_null(c, i)) {
            doc = NULL;
            continue;
        }
        if (!json_doc(c, i, &other))
            return;
        if (i == 0 || other->kind != JSON_OBJECT)
            doc = other;
        else if (doc)
            doc = merge_patch(&c->arena, doc, other);
    }
    if (doc)
        ret_json(c, doc);
}

/* ---- JSON_SEARCH ---- */

struct search {
    struct call *c;
    struct json *found; /* array of paths */
    bool all;
};

/* The whole pattern language of LIKE, on one string. */
static bool matches(struct search *s, struct str text)
{
    struct str pattern = call_str(s->c, 2);
    struct str escape = s->c->n > 3 && !call_null(s->c, 3) ? call_str(s->c, 3) : STR("\\");

    return like_match(pattern, text, escape, collation_get(STR("utf8mb4_bin")));
}

static struct str key_text(struct arena *arena, struct str path, struct str key)
{
    struct buf b = {0};
    struct str out;
    bool plain = key.len > 0 && !(key.p[0] >= '0' && key.p[0] <= '9');

    for (size_t i = 0; i < key.len; i++) {
        char x = key.p[i];

        plain = plain && ((x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') ||
                             (x >= '0' && x <= '9') || x == '_' || x == '$');
    }
    buf_add_str(&b, path);
    buf_add_char(&b, '.');
    if (plain)
        buf_add_str(&b, key);
    else
        json_print_string(&b, key);
    out = arena_str(arena, buf_str(&b));
    buf_fini(&b);
    return out;
}

static void found_path(struct search *s, struct str path)
{
    for (uint32_t i = 0; i < s->found->n; i++) {
        if (str_eq(s->found->items[i]->s, path))
            return;
    }
    json_append(&s->c->arena, s->found, json_new_string(&s->c->arena, path));
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the document */
static void search(struct search *s, const struct json *j, struct str path)
{
    struct arena *arena = &s->c->arena;

    if (s->found->n && !s->all)
        return;
    if (j->kind == JSON_STRING) {
        if (matches(s, j->s))
            found_path(s, path);
        return;
    }
    if (j->kind != JSON_ARRAY && j->kind != JSON_OBJECT)
        return;
    for (uint32_t i = 0; i < j->n; i++) {
        if (j->kind == JSON_ARRAY)
            search(s, j->items[i], arena_printf(arena, STR_F "[%u]", STR_A(path), i));
        else
            search(s, j->members[i].value, key_text(arena, path, j->members[i].key));
    }
}

/* Searches below each thing that the path finds; its own path is found by walking along. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the document */
static void search_below(
    struct search *s, struct json *j, struct str path, struct json **start, uint32_t n)
{
    struct arena *arena = &s->c->arena;

    for (uint32_t i = 0; i < n; i++) {
        if (start[i] == j) {
            search(s, j, path);
            return;
        }
    }
    if (j->kind != JSON_ARRAY && j->kind != JSON_OBJECT)
        return;
    for (uint32_t i = 0; i < j->n; i++) {
        if (j->kind == JSON_ARRAY)
            search_below(
                s, j->items[i], arena_printf(arena, STR_F "[%u]", STR_A(path), i), start, n);
        else
            search_below(
                s, j->members[i].value, key_text(arena, path, j->members[i].key), start, n);
    }
}

void fn_json_search(struct call *c)
{
    struct search s = {.c = c};
    struct json *doc;
    struct str mode;

    if (call_null(c, 0) || call_null(c, 1) || call_null(c, 2) || !json_doc(c, 0, &doc))
        return;
    mode = call_str(c, 1);
    s.all = str_ieq(mode, STR("all"));
    if (!s.all && !str_ieq(mode, STR("one"))) {
        CALL_RAISE(c, DB_E_JSON_ONE_OR_ALL, c->name);
        return;
    }
    s.found = json_new(&c->arena, JSON_ARRAY);
    if (c->n < 5)
        search(&s, doc, STR("$"));
    for (int i = 4; i < c->n; i++) {
        struct json_path path;
        struct json **start;
        uint32_t n;

        if (!json_path_arg(c, i, true, &path))
            return;
        start = json_find(&c->arena, doc, &path, &n);
        search_below(&s, doc, STR("$"), start, n);
    }
    if (s.found->n == 1 || (s.found->n > 1 && !s.all))
        ret_json(c, s.found->items[0]);
    else if (s.found->n > 1)
        ret_json(c, s.found);
}
