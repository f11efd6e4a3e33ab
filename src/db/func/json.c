/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* The document model: building, printing, comparing. */
#include "db/func/json.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "db/func/sort.h"
#include "db/real.h"

struct json *json_new(struct arena *arena, enum json_kind kind)
{
    struct json *j = arena_new(arena, sizeof(*j));

    j->kind = kind;
    return j;
}

struct json *json_new_int(struct arena *arena, int64_t v)
{
    struct json *j = json_new(arena, JSON_INT);

    j->i = v;
    return j;
}

struct json *json_new_string(struct arena *arena, struct str s)
{
    struct json *j = json_new(arena, JSON_STRING);

    j->s = s;
    return j;
}

/* Room for one more item of that size. */
static void *grow(struct arena *arena, void *old, struct json *j, size_t size)
{
    uint32_t cap = j->cap ? j->cap * 2 : 4;
    void *p;

    if (j->n < j->cap)
        return old;
    p = arena_new(arena, cap * size);
    if (j->n)
        memcpy(p, old, j->n * size);
    j->cap = cap;
    return p;
}

void json_append(struct arena *arena, struct json *array, struct json *item)
{
    array->items = grow(arena, array->items, array, sizeof(struct json *));
    array->items[array->n++] = item;
}

void json_insert_at(struct arena *arena, struct json *array, uint32_t at, struct json *item)
{
    json_append(arena, array, item);
    if (at >= array->n - 1)
        return;
    memmove(
        &array->items[at + 1], &array->items[at], (array->n - 1 - at) * sizeof(array->items[0]));
    array->items[at] = item;
}

static int key_cmp(struct str a, struct str b)
{
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return a.len ? memcmp(a.p, b.p, a.len) : 0;
}

/* Where the key is, or would be. */
static bool locate(const struct json *object, struct str key, uint32_t *at)
{
    uint32_t low = 0;
    uint32_t high = object->n;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int r = key_cmp(object->members[mid].key, key);

        if (r == 0) {
            *at = mid;
            return true;
        }
        if (r < 0)
            low = mid + 1;
        else
            high = mid;
    }
    *at = low;
    return false;
}

void json_put(struct arena *arena, struct json *object, struct str key, struct json *value)
{
    uint32_t at;

    if (locate(object, key, &at)) {
        object->members[at].value = value;
        return;
    }
    object->members = grow(arena, object->members, object, sizeof(struct json_member));
    memmove(&object->members[at + 1], &object->members[at],
        (object->n - at) * sizeof(struct json_member));
    object->members[at] = (struct json_member){key, value};
    object->n++;
}

void json_add_member(struct arena *arena, struct json *object, struct str key, struct json *value)
{
    object->members = grow(arena, object->members, object, sizeof(struct json_member));
    object->members[object->n++] = (struct json_member){key, value};
}

static int member_cmp(void *arg, const void *a, const void *b)
{
    (void)arg;
    return key_cmp(((const struct json_member *)a)->key, ((const struct json_member *)b)->key);
}

/* Are they in order, each key once? */
static bool in_order(const struct json *object)
{
    for (uint32_t i = 1; i < object->n; i++) {
        if (key_cmp(object->members[i - 1].key, object->members[i].key) >= 0)
            return false;
    }
    return true;
}

void json_sort_members(struct json *object)
{
    void **order;
    struct json_member *copy;
    uint32_t n = 0;

    if (in_order(object))
        return;
    order = mem_new_array(object->n, sizeof(*order));
    copy = mem_new_array(object->n, sizeof(*copy));
    memcpy(copy, object->members, object->n * sizeof(*copy));
    for (uint32_t i = 0; i < object->n; i++)
        order[i] = &copy[i];
    sort_pointers(order, object->n, member_cmp, NULL);
    for (uint32_t i = 0; i < object->n; i++) {
        const struct json_member *m = order[i];

        if (n > 0 && key_cmp(object->members[n - 1].key, m->key) == 0)
            n--;
        object->members[n++] = *m;
    }
    object->n = n;
    mem_free(copy);
    mem_free(order);
}

struct json *json_member(const struct json *object, struct str key)
{
    uint32_t at;

    return locate(object, key, &at) ? object->members[at].value : NULL;
}

void json_remove_member(struct json *object, struct str key)
{
    uint32_t at;

    if (!locate(object, key, &at))
        return;
    object->n--;
    memmove(&object->members[at], &object->members[at + 1],
        (object->n - at) * sizeof(struct json_member));
}

void json_remove_item(struct json *array, uint32_t at)
{
    array->n--;
    memmove(&array->items[at], &array->items[at + 1], (array->n - at) * sizeof(struct json *));
}

/* NOLINTNEXTLINE(misc-no-recursion): JSON_MAX_DEPTH; documents put together may be twice that */
int json_depth(const struct json *j)
{
    int deepest = 0;

    if (j->kind != JSON_ARRAY && j->kind != JSON_OBJECT)
        return 1;
    for (uint32_t i = 0; i < j->n; i++) {
        int d = json_depth(j->kind == JSON_ARRAY ? j->items[i] : j->members[i].value);

        deepest = MAX(deepest, d);
    }
    return deepest + 1;
}

/* ---- printing ---- */

void json_print_string(struct buf *out, struct str s)
{
    static const char plain[] = "\b\t\n\f\r\"\\";
    static const char letters[] = "btnfr\"\\";
    size_t from = 0;

    buf_add_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char b = (unsigned char)s.p[i];
        const char *at;

        if (b >= 0x20 && b != '"' && b != '\\')
            continue;
        buf_add(out, s.p + from, i - from);
        from = i + 1;
        at = b ? strchr(plain, b) : NULL;
        if (at)
            buf_printf(out, "\\%c", letters[at - plain]);
        else
            buf_printf(out, "\\u%04x", b);
    }
    buf_add(out, s.p + from, s.len - from);
    buf_add_char(out, '"');
}

static void print_double(struct buf *out, double d)
{
    char text[DB_REAL_TEXT];
    size_t n = db_real_text(d, text);

    buf_add(out, text, n);
    if (!memchr(text, '.', n) && !memchr(text, 'e', n))
        buf_add_lit(out, ".0");
}

static void print_scalar(struct buf *out, const struct json *j)
{
    switch (j->kind) {
    case JSON_NULL:
        buf_add_lit(out, "null");
        return;
    case JSON_FALSE:
        buf_add_lit(out, "false");
        return;
    case JSON_TRUE:
        buf_add_lit(out, "true");
        return;
    case JSON_INT:
        buf_printf(out, "%lld", (long long)j->i);
        return;
    case JSON_UINT:
        buf_add_u64(out, j->u);
        return;
    case JSON_DOUBLE:
        print_double(out, j->d);
        return;
    case JSON_DECIMAL:
        buf_add_str(out, j->s);
        return;
    default:
        json_print_string(out, j->s);
    }
}

/* indent < 0: on one line */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the document */
static void print(struct buf *out, const struct json *j, int indent)
{
    bool array = j->kind == JSON_ARRAY;

    if (!array && j->kind != JSON_OBJECT) {
        print_scalar(out, j);
        return;
    }
    buf_add_char(out, array ? '[' : '{');
    for (uint32_t i = 0; i < j->n; i++) {
        if (i && indent < 0)
            buf_add_lit(out, ", ");
        else if (i)
            buf_add_char(out, ',');
        if (indent >= 0)
            buf_printf(out, "\n%*s", 2 * (indent + 1), "");
        if (!array) {
            json_print_string(out, j->members[i].key);
            buf_add_lit(out, ": ");
        }
        print(out, array ? j->items[i] : j->members[i].value, indent < 0 ? indent : indent + 1);
    }
    if (indent >= 0 && j->n)
        buf_printf(out, "\n%*s", 2 * indent, "");
    buf_add_char(out, array ? ']' : '}');
}

void json_print(struct buf *out, const struct json *j)
{
    print(out, j, -1);
}

void json_pretty(struct buf *out, const struct json *j)
{
    print(out, j, 0);
}

/* ---- comparing ---- */

struct str json_type_name(const struct json *j)
{
    static const struct str names[] = {
        [JSON_NULL] = STR("NULL"),
        [JSON_FALSE] = STR("BOOLEAN"),
        [JSON_TRUE] = STR("BOOLEAN"),
        [JSON_INT] = STR("INTEGER"),
        [JSON_UINT] = STR("UNSIGNED INTEGER"),
        [JSON_DOUBLE] = STR("DOUBLE"),
        [JSON_DECIMAL] = STR("DECIMAL"),
        [JSON_STRING] = STR("STRING"),
        [JSON_OPAQUE] = STR("DATETIME"),
        [JSON_ARRAY] = STR("ARRAY"),
        [JSON_OBJECT] = STR("OBJECT"),
    };

    return names[j->kind];
}

static bool is_number(const struct json *j)
{
    return j->kind >= JSON_INT && j->kind <= JSON_DECIMAL;
}

double json_double(const struct json *j)
{
    struct db_decimal d;
    bool overflow;

    switch (j->kind) {
    case JSON_TRUE:
        return 1;
    case JSON_INT:
        return (double)j->i;
    case JSON_UINT:
        return (double)j->u;
    case JSON_DOUBLE:
        return j->d;
    case JSON_DECIMAL:
        (void)db_decimal_parse(j->s, &d, &overflow); /* a number it is */
        return db_decimal_to_double(&d);
    default:
        return 0;
    }
}

static int cmp_numbers(const struct json *a, const struct json *b)
{
    double x;
    double y;

    if (a->kind == JSON_INT && b->kind == JSON_INT)
        return a->i < b->i ? -1 : a->i > b->i;
    if (a->kind == JSON_UINT && b->kind == JSON_UINT)
        return a->u < b->u ? -1 : a->u > b->u;
    x = json_double(a);
    y = json_double(b);
    return x < y ? -1 : x > y;
}

/* Precedence of the types. */
static int rank(const struct json *j)
{
    switch (j->kind) {
    case JSON_NULL:
        return 0;
    case JSON_STRING:
        return 2;
    case JSON_OBJECT:
        return 3;
    case JSON_ARRAY:
        return 4;
    case JSON_FALSE:
    case JSON_TRUE:
        return 5;
    case JSON_OPAQUE:
        return 6;
    default:
        return 1;
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the documents */
static int cmp_arrays(const struct json *a, const struct json *b)
{
    for (uint32_t i = 0; i < a->n && i < b->n; i++) {
        int r = json_cmp(a->items[i], b->items[i]);

        if (r)
            return r;
    }
    return a->n < b->n ? -1 : a->n > b->n;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the documents */
static int cmp_objects(const struct json *a, const struct json *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (uint32_t i = 0; i < a->n; i++) {
        int r = key_cmp(a->members[i].key, b->members[i].key);

        if (r == 0)
            r = json_cmp(a->members[i].value, b->members[i].value);
        if (r)
            return r;
    }
    return 0;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the documents */
int json_cmp(const struct json *a, const struct json *b)
{
    int x = rank(a);
    int y = rank(b);

    if (x != y)
        return x < y ? -1 : 1;
    if (is_number(a))
        return cmp_numbers(a, b);
    switch (a->kind) {
    case JSON_STRING:
    case JSON_OPAQUE:
        return str_cmp(a->s, b->s);
    case JSON_ARRAY:
        return cmp_arrays(a, b);
    case JSON_OBJECT:
        return cmp_objects(a, b);
    default:
        return a->kind < b->kind ? -1 : a->kind > b->kind;
    }
}

int json_text_cmp(struct str a, struct str b)
{
    struct arena arena = {0};
    struct json *x;
    struct json *y;
    struct json_error bad;
    int r;

    if (str_eq(a, b))
        return 0;
    if (json_doc_parse(&arena, a, &x, &bad) != 0)
        x = json_new_string(&arena, a);
    if (json_doc_parse(&arena, b, &y, &bad) != 0)
        y = json_new_string(&arena, b);
    r = json_cmp(x, y);
    arena_fini(&arena);
    return r;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the documents */
bool json_contains(const struct json *doc, const struct json *candidate)
{
    if (doc->kind == JSON_OBJECT) {
        if (candidate->kind != JSON_OBJECT)
            return false;
        for (uint32_t i = 0; i < candidate->n; i++) {
            const struct json *v = json_member(doc, candidate->members[i].key);

            if (!v || !json_contains(v, candidate->members[i].value))
                return false;
        }
        return true;
    }
    if (doc->kind != JSON_ARRAY)
        return candidate->kind != JSON_ARRAY && json_cmp(doc, candidate) == 0;
    if (candidate->kind == JSON_ARRAY) {
        for (uint32_t i = 0; i < candidate->n; i++) {
            if (!json_contains(doc, candidate->items[i]))
                return false;
        }
        return true;
    }
    for (uint32_t i = 0; i < doc->n; i++) {
        if (json_contains(doc->items[i], candidate))
            return true;
    }
    return false;
}

bool json_overlaps(const struct json *a, const struct json *b)
{
    if (a->kind == JSON_OBJECT && b->kind == JSON_OBJECT) {
        for (uint32_t i = 0; i < a->n; i++) {
            const struct json *v = json_member(b, a->members[i].key);

            if (v && json_cmp(v, a->members[i].value) == 0)
                return true;
        }
        return false;
    }
    if (a->kind != JSON_ARRAY && b->kind != JSON_ARRAY)
        return json_cmp(a, b) == 0;
    if (a->kind != JSON_ARRAY) {
        const struct json *t = a;

        a = b;
        b = t;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        if (b->kind != JSON_ARRAY) {
            if (json_cmp(a->items[i], b) == 0)
                return true;
            continue;
        }
        for (uint32_t k = 0; k < b->n; k++) {
            if (json_cmp(a->items[i], b->items[k]) == 0)
                return true;
        }
    }
    return false;
}
