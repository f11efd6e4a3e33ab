/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Aggregates that keep their rows: GROUP_CONCAT, COUNT(DISTINCT a, b), JSON_ARRAYAGG, _OBJECTAGG.
 */
#include "base/mem.h"
#include "db/func/compare.h"
#include "db/func/json_arg.h"
#include "db/func/sort.h"

enum { MOST_KEYS = 64 };

struct row {
    struct str text;
    struct str key; /* of DISTINCT */
    uint64_t number;
    bool twice;
    sqlite3_value *keys[];
};

struct rows {
    struct arena arena;
    void **items; /* struct row * */
    size_t n;
    size_t cap;
    int n_keys;
    struct str separator;
    bool distinct;
    struct collation coll;
    struct how hows[MOST_KEYS];
    bool desc[MOST_KEYS];
    bool bytes; /* the result is a BLOB */
};

static struct row *add_row(struct rows *r, int n_keys)
{
    struct row *row = arena_new(&r->arena, sizeof(*row) + (size_t)n_keys * sizeof(row->keys[0]));

    if (r->n == r->cap) {
        r->cap = r->cap ? r->cap * 2 : 16;
        r->items = mem_resize(r->items, r->cap * sizeof(r->items[0]));
    }
    row->number = r->n;
    r->items[r->n++] = row;
    return row;
}

static struct str with_key(struct arena *arena, struct collation coll, struct str s)
{
    struct buf b = {0};
    struct str key;

    collation_key(coll, s, &b);
    key = arena_str(arena, buf_str(&b));
    buf_fini(&b);
    return key;
}

/* What is the same in each row: the arguments but the text and the keys. */
static void concat_begin(struct call *c, struct rows *r)
{
    r->separator = arena_str(&r->arena, call_str(c, 1));
    r->distinct = call_i64(c, 2) != 0;
    r->coll = collation_get(call_str(c, 3));
    r->n_keys = MIN((c->n - 4) / 2, MOST_KEYS);
    for (int i = 0; i < r->n_keys; i++) {
        struct str how = call_str(c, 5 + 2 * i);

        r->desc[i] = how.len && how.p[0] == 'd';
        r->hows[i] = how_get(str_sub(how, 1, how.len));
    }
}

static void concat_step(struct call *c, void *state)
{
    struct rows *r = state;
    struct row *row;

    if (call_null(c, 0))
        return;
    if (r->n == 0)
        concat_begin(c, r);
    row = add_row(r, r->n_keys);
    row->text = arena_str(&r->arena, call_str(c, 0));
    r->bytes = r->bytes || call_blob(c, 0);
    if (r->distinct)
        row->key = with_key(&r->arena, r->coll, row->text);
    for (int i = 0; i < r->n_keys; i++)
        row->keys[i] = sqlite3_value_dup(c->v[4 + 2 * i]);
}

static int cmp_keys(void *arg, const void *a, const void *b)
{
    const struct row *x = a;
    const struct row *y = b;

    (void)arg;
    return str_cmp(x->key, y->key);
}

/* Rows that have an earlier row's text. */
static void mark_twice(struct rows *r)
{
    void **sorted = mem_new_array(r->n + 1, sizeof(*sorted));

    memcpy(sorted, r->items, r->n * sizeof(*sorted));
    sort_pointers(sorted, r->n, cmp_keys, NULL);
    for (size_t i = 1; i < r->n; i++) {
        struct row *row = sorted[i];

        row->twice = cmp_keys(NULL, sorted[i - 1], row) == 0;
    }
    mem_free(sorted);
}

struct order {
    struct call *c;
    const struct rows *rows;
};

static int cmp_order(void *arg, const void *a, const void *b)
{
    struct order *o = arg;
    const struct row *x = a;
    const struct row *y = b;

    for (int i = 0; i < o->rows->n_keys; i++) {
        sqlite3_value *pair[2] = {x->keys[i], y->keys[i]};
        bool null_x = !pair[0] || sqlite3_value_type(pair[0]) == SQLITE_NULL;
        bool null_y = !pair[1] || sqlite3_value_type(pair[1]) == SQLITE_NULL;
        int r;

        if (null_x || null_y) {
            r = null_y - null_x;
        } else {
            o->c->v = pair;
            o->c->n = 2;
            r = how_cmp(o->c, o->rows->hows[i], 0, 1);
        }
        if (r)
            return o->rows->desc[i] ? -r : r;
    }
    return 0;
}

static void concat_value(struct call *c, void *state)
{
    struct rows *r = state;
    struct buf b = {0};
    struct order order = {c, r};
    uint64_t most = c->s->group_concat_max_len ? c->s->group_concat_max_len : 1024;
    bool any = false;

    if (!r || r->n == 0)
        return;
    if (r->distinct)
        mark_twice(r);
    if (r->n_keys)
        sort_pointers(r->items, r->n, cmp_order, &order);
    if (c->failed)
        return;
    for (size_t i = 0; i < r->n; i++) {
        const struct row *row = r->items[i];

        if (row->twice)
            continue;
        if (any)
            buf_add_str(&b, r->separator);
        buf_add_str(&b, row->text);
        any = true;
        if (b.len > most) {
            b.len = most;
            while (!r->bytes && b.len > 0 && most - b.len < 4 && !str_is_utf8(buf_str(&b)))
                b.len--;
            CALL_WARN(c, DB_WARNING, DB_E_CUT_GROUP_CONCAT, (int)row->number + 1);
            break;
        }
    }
    ret_buf(c, &b, r->bytes);
}

static void rows_fini(void *state)
{
    struct rows *r = state;

    for (size_t i = 0; i < r->n; i++) {
        struct row *row = r->items[i];

        for (int k = 0; k < r->n_keys; k++)
            sqlite3_value_free(row->keys[k]);
    }
    mem_free(r->items);
    arena_fini(&r->arena);
}

const struct func_aggregate agg_group_concat = {
    sizeof(struct rows), concat_step, NULL, concat_value, rows_fini};

/* ---- COUNT(DISTINCT ...) ---- */

static void distinct_step(struct call *c, void *state)
{
    struct rows *r = state;
    struct buf b = {0};
    struct row *row;

    if (call_any_null(c))
        return;
    for (int i = 0; i < c->n; i++) {
        struct str s = call_str(c, i);

        buf_printf(&b, "%d:%zu:", sqlite3_value_type(c->v[i]), s.len);
        buf_add_str(&b, s);
    }
    row = add_row(r, 0);
    row->key = arena_str(&r->arena, buf_str(&b));
    buf_fini(&b);
}

static void distinct_value(struct call *c, void *state)
{
    struct rows *r = state;
    int64_t n = 0;

    if (r && r->n) {
        mark_twice(r);
        for (size_t i = 0; i < r->n; i++)
            n += !((struct row *)r->items[i])->twice;
    }
    ret_i64(c, n);
}

const struct func_aggregate agg_count_distinct = {
    sizeof(struct rows), distinct_step, NULL, distinct_value, rows_fini};

/* ---- JSON ---- */

struct document {
    struct arena arena;
    struct json *j;
};

static void arrayagg_step(struct call *c, void *state)
{
    struct document *d = state;
    struct json *v = json_value_arg(c, &d->arena, 1, json_type_letter(call_str(c, 0), 0));

    if (!d->j)
        d->j = json_new(&d->arena, JSON_ARRAY);
    if (v)
        json_append(&d->arena, d->j, v);
}

static void objectagg_step(struct call *c, void *state)
{
    struct document *d = state;
    struct json *v = json_value_arg(c, &d->arena, 2, json_type_letter(call_str(c, 0), 1));

    if (call_null(c, 1)) {
        CALL_RAISE(c, DB_E_JSON_NULL_KEY);
        return;
    }
    if (!d->j)
        d->j = json_new(&d->arena, JSON_OBJECT);
    if (v)
        json_add_member(&d->arena, d->j, arena_str(&d->arena, call_str(c, 1)), v);
}

static void document_value(struct call *c, void *state)
{
    struct document *d = state;
    struct buf b = {0};

    if (!d || !d->j)
        return;
    if (d->j->kind == JSON_OBJECT)
        json_sort_members(d->j);
    json_print(&b, d->j);
    ret_buf(c, &b, false);
}

static void document_fini(void *state)
{
    struct document *d = state;

    arena_fini(&d->arena);
}

const struct func_aggregate agg_json_arrayagg = {
    sizeof(struct document), arrayagg_step, NULL, document_value, document_fini};
const struct func_aggregate agg_json_objectagg = {
    sizeof(struct document), objectagg_step, NULL, document_value, document_fini};
