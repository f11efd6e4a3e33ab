/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* SORT: the elements of a list, set or sorted set, by themselves or by what other keys hold. */
#include <stdlib.h>

#include "base/mem.h"
#include "kv/collections.h"
#include "kv/keys.h"
#include "kv/redis/state.h"

/* What one SORT may look up and give: a list of equal elements and a long row of GET would ask for
 * more than there are memory and time. */
enum {
    RESULTS_MAX = 4 << 20,
    LOOK_UP_COST = 64, /* bytes, besides those of the value */
    LOOK_UP_MAX = 128 << 20,
};

struct element {
    const struct sort *sort;
    struct str text;
    struct str weight; /* ALPHA with BY; p NULL: its key is missing */
    double score;
};

struct sort {
    struct redis_call *c;
    bool read_only;
    bool alpha, desc, keep_order;
    struct str by; /* p NULL: by the elements */
    size_t *gets;  /* indexes of the words behind GET */
    size_t ngets;
    int64_t offset, count; /* count negative: all */
    const struct str *store;
    size_t looked_up; /* bytes */
    struct arena memory;
    struct kv_items items;
    enum kv_type type;
    struct element *elements;
    size_t n;
    size_t from, to; /* of the elements that are given */
};

/* ---- words ---- */

static bool parse(struct redis_call *c, struct sort *s)
{
    s->gets = arena_new(&s->memory, c->argc * sizeof(*s->gets));
    s->count = -1;
    for (size_t i = 2; i < c->argc; i++) {
        size_t left = c->argc - i - 1;

        if (call_is(c, i, "asc")) {
            s->desc = false;
        } else if (call_is(c, i, "desc")) {
            s->desc = true;
        } else if (call_is(c, i, "alpha")) {
            s->alpha = true;
        } else if (call_is(c, i, "limit") && left >= 2) {
            if (!call_int(c, i + 1, &s->offset) || !call_int(c, i + 2, &s->count))
                return false;
            i += 2;
        } else if (call_is(c, i, "by") && left >= 1) {
            s->by = c->argv[++i];
            s->keep_order = str_chr(s->by, '*') < 0;
        } else if (call_is(c, i, "get") && left >= 1) {
            s->gets[s->ngets++] = ++i;
        } else if (call_is(c, i, "store") && left >= 1 && !s->read_only) {
            s->store = &c->argv[++i];
        } else {
            call_syntax_error(c);
            return false;
        }
    }
    return true;
}

/* ---- other keys ---- */

static bool is_too_much(const struct sort *s)
{
    return s->looked_up > LOOK_UP_MAX;
}

static void refuse_too_much(struct redis_call *c)
{
    reply_error(c->reply, "ERR SORT would look up or give too much");
}

/* What stands at the pattern with the element in the place of its star; "a*->f" is a field of a
 * hash. Borrows from c->buf. False: nothing. */
static bool look_up(struct sort *s, struct str pattern, struct str element, struct str *out)
{
    struct redis_call *c = s->c;
    ptrdiff_t star = str_chr(pattern, '*'), arrow;
    struct buf *key = &c->server->buf2;
    struct str field = STR_NONE, rest;
    struct kv_value v;
    char text[REDIS_TEXT_MAX];
    int r;

    s->looked_up += LOOK_UP_COST;
    if (str_eq(pattern, STR("#"))) {
        s->looked_up += element.len;
        *out = element;
        return true;
    }
    if (star < 0 || is_too_much(s))
        return false;
    rest = str_sub(pattern, (size_t)star + 1, pattern.len);
    arrow = str_find(rest, STR("->"));
    if (arrow >= 0 && (size_t)arrow + 2 < rest.len) {
        field = str_sub(rest, (size_t)arrow + 2, rest.len);
        rest = str_sub(rest, 0, (size_t)arrow);
    }
    buf_clear(key);
    buf_add_str(key, str_sub(pattern, 0, (size_t)star));
    buf_add_str(key, element);
    buf_add_str(key, rest);
    r = field.p ? kv_hash_get(c->store, buf_str(key), field, c->buf, &v)
                : kv_store_get(c->store, buf_str(key), c->buf, &v);
    if (r || !redis_value_text(&v, text, out))
        return false;
    s->looked_up += out->len;
    if (out->p == text) {
        buf_clear(c->buf);
        buf_add_str(c->buf, *out);
        *out = buf_str(c->buf);
    }
    return true;
}

/* ---- reading ---- */

/* False: the error was written. */
static bool read_elements(struct redis_call *c, struct sort *s)
{
    struct kv_item item;
    int r = kv_store_type(c->store, c->argv[1], &s->type);

    if (r == ERR_NOTFOUND)
        return true;
    if (r == 0 && s->type != KV_LIST && s->type != KV_SET && s->type != KV_ZSET)
        r = ERR_TYPE;
    if (r == 0)
        r = kv_coll_all(c->store, c->argv[1], s->type, &s->items);
    if (r) {
        call_store_error(c, r);
        return false;
    }
    s->elements = arena_new(&s->memory, (s->items.n + 1) * sizeof(*s->elements));
    while (kv_items_next(&s->items, &item)) {
        struct element *e = &s->elements[s->n++];
        char text[REDIS_TEXT_MAX];

        e->sort = s;
        e->text = item.member;
        if (s->type == KV_LIST && !redis_value_text(&item.value, text, &e->text))
            e->text = STR("");
        if (s->type == KV_LIST && e->text.p == text)
            e->text = arena_str(&s->memory, e->text);
    }
    return true;
}

/* What they are compared by. */
static bool weigh(struct redis_call *c, struct sort *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct element *e = &s->elements[i];
        struct str weight = e->text;
        bool there = !s->by.p || look_up(s, s->by, e->text, &weight);

        if (is_too_much(s)) {
            refuse_too_much(c);
            return false;
        }
        if (s->alpha) {
            if (there)
                e->weight = s->by.p ? arena_str(&s->memory, weight) : weight;
        } else if (there && !redis_double(weight, &e->score)) {
            reply_error(c->reply, "ERR One or more scores can't be converted into double");
            return false;
        }
    }
    return true;
}

static int compare_texts(const struct element *a, const struct element *b)
{
    if (!a->weight.p || !b->weight.p)
        return (a->weight.p != NULL) - (b->weight.p != NULL);
    return str_cmp(a->weight, b->weight);
}

static int compare(const void *pa, const void *pb)
{
    const struct element *a = pa, *b = pb;
    int d = a->sort->alpha ? compare_texts(a, b) : (a->score > b->score) - (a->score < b->score);

    /* The same order each time. */
    if (d == 0)
        d = str_cmp(a->text, b->text);
    return a->sort->desc ? -d : d;
}

static void reverse(struct sort *s)
{
    for (size_t i = 0; i < s->n / 2; i++) {
        struct element e = s->elements[i];

        s->elements[i] = s->elements[s->n - 1 - i];
        s->elements[s->n - 1 - i] = e;
    }
}

static void cut(struct sort *s)
{
    int64_t n = (int64_t)s->n, from = MIN(MAX(s->offset, 0), n);

    s->from = (size_t)from;
    s->to = (size_t)(s->count < 0 ? n : MIN(s->count, n - from) + from);
}

/* ---- answering ---- */

static void reply_all(struct redis_call *c, struct sort *s)
{
    size_t before = c->reply->out.len;
    struct str value;

    reply_array(c->reply, (s->to - s->from) * MAX(s->ngets, 1));
    for (size_t i = s->from; i < s->to && !c->reply->overflow && !is_too_much(s); i++) {
        if (s->ngets == 0)
            reply_bulk(c->reply, s->elements[i].text);
        for (size_t k = 0; k < s->ngets; k++) {
            if (look_up(s, c->argv[s->gets[k]], s->elements[i].text, &value))
                reply_bulk(c->reply, value);
            else
                reply_null(c->reply);
        }
    }
    if (is_too_much(s)) {
        c->reply->out.len = before;
        refuse_too_much(c);
    }
}

static void store_all(struct redis_call *c, struct sort *s)
{
    size_t n = (s->to - s->from) * MAX(s->ngets, 1), at = 0;
    struct kv_item *items = arena_new(&s->memory, (n + 1) * sizeof(*items));
    struct str value;
    int r;

    for (size_t i = s->from; i < s->to; i++) {
        if (s->ngets == 0)
            items[at++].value = (struct kv_value){.type = KV_STRING, .bytes = s->elements[i].text};
        for (size_t k = 0; k < s->ngets; k++) {
            bool there = look_up(s, c->argv[s->gets[k]], s->elements[i].text, &value);

            if (is_too_much(s)) {
                refuse_too_much(c);
                return;
            }
            items[at++].value = (struct kv_value){
                .type = KV_STRING, .bytes = there ? arena_str(&s->memory, value) : STR("")};
        }
    }
    r = kv_coll_replace(c->store, *s->store, KV_LIST, items, at, 0);
    if (r)
        call_store_error(c, r);
    else
        reply_int(c->reply, (int64_t)at);
}

static void sort(struct redis_call *c, bool read_only)
{
    struct sort s = {.c = c, .read_only = read_only};

    if (!parse(c, &s) || !read_elements(c, &s))
        goto done;
    /* A set has no order of its own that could be kept. */
    if (s.keep_order && s.type == KV_SET && s.store) {
        s.keep_order = false;
        s.alpha = true;
        s.by = STR_NONE;
    }
    if (s.keep_order) {
        if (s.desc && s.type == KV_ZSET)
            reverse(&s);
    } else {
        if (!weigh(c, &s))
            goto done;
        if (s.n)
            qsort(s.elements, s.n, sizeof(*s.elements), compare);
    }
    cut(&s);
    if (s.ngets > 1 && s.to - s.from > RESULTS_MAX / s.ngets)
        refuse_too_much(c);
    else if (s.store)
        store_all(c, &s);
    else
        reply_all(c, &s);
done:
    kv_items_fini(&s.items);
    arena_fini(&s.memory);
}

static void cmd_sort(struct redis_call *c)
{
    sort(c, false);
}

static void cmd_sort_ro(struct redis_call *c)
{
    sort(c, true);
}

/* The key, and the one behind STORE. */
static size_t keys_of_sort(const struct str *argv, size_t argc, size_t *out, size_t max)
{
    size_t n = 0;

    if (n < max)
        out[n] = 1;
    n++;
    for (size_t i = 2; i + 1 < argc; i++)
        if (str_ieq(argv[i], STR("store"))) {
            if (n < max)
                out[n] = i + 1;
            n++;
        }
    return n;
}

const struct redis_command redis_sort_commands[] = {
    {"sort", cmd_sort, -2, CMD_WRITE | CMD_DENYOOM | CMD_MOVABLE, 1, 1, 1, "1.0.0",
        "Sorts the elements in a list, a set, or a sorted set, optionally storing the result.",
        keys_of_sort},
    {"sort_ro", cmd_sort_ro, -2, CMD_READONLY, 1, 1, 1, "7.0.0",
        "Returns the sorted elements of a list, a set, or a sorted set."},
    {0},
};
