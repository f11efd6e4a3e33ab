/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* JSON paths: reading them and following them. */
#include "base/err.h"
#include "db/func/json.h"

enum { MOST_STEPS = 100, MOST_FOUND = 1 << 20 };

struct reader {
    struct arena *arena;
    struct str s;
    size_t i;
    struct json_path *path;
};

static void skip(struct reader *r)
{
    while (r->i < r->s.len && (r->s.p[r->i] == ' ' || r->s.p[r->i] == '\t' ||
                                  r->s.p[r->i] == '\n' || r->s.p[r->i] == '\r'))
        r->i++;
}

static bool take(struct reader *r, char c)
{
    skip(r);
    if (r->i >= r->s.len || r->s.p[r->i] != c)
        return false;
    r->i++;
    return true;
}

static bool word(struct reader *r, struct str w)
{
    skip(r);
    if (!str_starts(str_sub(r->s, r->i, w.len), w))
        return false;
    r->i += w.len;
    return true;
}

static bool is_name(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c >= 0x80;
}

/* name or "name" */
static bool read_key(struct reader *r, struct json_step *step)
{
    size_t from;

    skip(r);
    from = r->i;
    if (r->i < r->s.len && r->s.p[r->i] == '"') {
        struct json *j;
        struct json_error bad;

        for (r->i++; r->i < r->s.len && r->s.p[r->i] != '"'; r->i++) {
            if (r->s.p[r->i] == '\\')
                r->i++;
        }
        if (r->i >= r->s.len)
            return false;
        r->i++;
        if (json_doc_parse(r->arena, str_sub(r->s, from, r->i - from), &j, &bad) != 0)
            return false;
        step->key = j->s;
        return true;
    }
    if (r->i < r->s.len && r->s.p[r->i] >= '0' && r->s.p[r->i] <= '9')
        return false;
    while (r->i < r->s.len && is_name((unsigned char)r->s.p[r->i]))
        r->i++;
    step->key = str_sub(r->s, from, r->i - from);
    return step->key.len > 0;
}

/* 3, last, last-2 */
static bool read_index(struct reader *r, uint32_t *v, bool *last)
{
    uint64_t n = 0;
    size_t from;

    *last = word(r, STR("last"));
    if (*last && !take(r, '-')) {
        *v = 0;
        return true;
    }
    skip(r);
    for (from = r->i; r->i < r->s.len && r->s.p[r->i] >= '0' && r->s.p[r->i] <= '9'; r->i++) {
        n = n * 10 + (uint64_t)(r->s.p[r->i] - '0');
        if (n > UINT32_MAX)
            return false;
    }
    *v = (uint32_t)n;
    return r->i > from;
}

static bool read_cell(struct reader *r, struct json_step *step)
{
    step->kind = JSON_STEP_CELL;
    if (take(r, '*')) {
        step->kind = JSON_STEP_ANY_CELL;
        r->path->many = true;
        return take(r, ']');
    }
    if (!read_index(r, &step->from, &step->from_last))
        return false;
    if (word(r, STR("to"))) {
        step->kind = JSON_STEP_RANGE;
        r->path->many = true;
        if (!read_index(r, &step->to, &step->to_last))
            return false;
    }
    return take(r, ']');
}

static bool read_step(struct reader *r, struct json_step *step)
{
    if (take(r, '[')) {
        return read_cell(r, step);
    }
    if (take(r, '.')) {
        step->kind = JSON_STEP_KEY;
        if (!take(r, '*'))
            return read_key(r, step);
        step->kind = JSON_STEP_ANY_KEY;
        r->path->many = true;
        return true;
    }
    if (word(r, STR("**"))) {
        step->kind = JSON_STEP_ANY;
        r->path->many = true;
        skip(r);
        return r->i < r->s.len && r->s.p[r->i] != '*'; /* never the last one */
    }
    return false;
}

int json_path_parse(struct arena *arena, struct str s, struct json_path *out, size_t *position)
{
    struct reader r = {.arena = arena, .s = s, .path = out};
    bool ok;

    *out = (struct json_path){.steps = arena_new(arena, MOST_STEPS * sizeof(struct json_step))};
    ok = take(&r, '$');
    skip(&r);
    while (ok && r.i < s.len) {
        ok = out->n < MOST_STEPS && read_step(&r, &out->steps[out->n]);
        if (ok)
            out->n++;
        skip(&r);
    }
    if (ok)
        return 0;
    *position = MAX(r.i, 1);
    return ERR_INVAL;
}

bool json_cell(const struct json_step *step, uint32_t n, uint32_t *index)
{
    if (!step->from_last) {
        *index = step->from;
        return true;
    }
    if (step->from >= n)
        return false;
    *index = n - 1 - step->from;
    return true;
}

struct finder {
    struct arena *arena;
    struct json **found;
    uint32_t n;
    uint32_t cap;
};

static void add(struct finder *f, struct json *j)
{
    for (uint32_t i = 0; f->n < 64 && i < f->n; i++) { /* ** may come upon one twice */
        if (f->found[i] == j)
            return;
    }
    if (f->n == f->cap) {
        uint32_t cap = f->cap ? f->cap * 2 : 8;
        struct json **p = arena_new(f->arena, cap * sizeof(struct json *));

        if (f->n)
            memcpy(p, f->found, f->n * sizeof(struct json *));
        f->found = p;
        f->cap = cap;
    }
    f->found[f->n++] = j;
}

static void follow(struct finder *f, struct json *j, const struct json_step *steps, uint32_t n);

/* Cells from one to another; a scalar is an array of itself. */
/* NOLINTNEXTLINE(misc-no-recursion): MOST_STEPS and the document's depth */
static void follow_cells(
    struct finder *f, struct json *j, const struct json_step *steps, uint32_t n)
{
    const struct json_step *s = steps;
    bool array = j->kind == JSON_ARRAY;
    uint32_t count = array ? j->n : 1;
    uint32_t from = 0;
    uint32_t to = count;

    if (s->kind == JSON_STEP_ANY_CELL && !array)
        return;
    if (s->kind == JSON_STEP_CELL) {
        if (!json_cell(s, count, &from) || from >= count)
            return;
        to = from + 1;
    } else if (s->kind == JSON_STEP_RANGE) {
        struct json_step end = {.from = s->to, .from_last = s->to_last};

        if (!json_cell(s, count, &from))
            from = 0;
        if (!json_cell(&end, count, &to))
            return;
        to = to < count ? to + 1 : count;
    }
    for (uint32_t i = from; i < to; i++)
        follow(f, array ? j->items[i] : j, steps + 1, n - 1);
}

/* NOLINTNEXTLINE(misc-no-recursion): MOST_STEPS and the document's depth */
static void follow_any(struct finder *f, struct json *j, const struct json_step *steps, uint32_t n)
{
    follow(f, j, steps + 1, n - 1);
    if (j->kind != JSON_ARRAY && j->kind != JSON_OBJECT)
        return;
    for (uint32_t i = 0; i < j->n && f->n < MOST_FOUND; i++)
        follow_any(f, j->kind == JSON_ARRAY ? j->items[i] : j->members[i].value, steps, n);
}

/* NOLINTNEXTLINE(misc-no-recursion): MOST_STEPS and the document's depth */
static void follow(struct finder *f, struct json *j, const struct json_step *steps, uint32_t n)
{
    struct json *v;

    if (n == 0) {
        add(f, j);
        return;
    }
    switch (steps->kind) {
    case JSON_STEP_KEY:
        v = j->kind == JSON_OBJECT ? json_member(j, steps->key) : NULL;
        if (v)
            follow(f, v, steps + 1, n - 1);
        return;
    case JSON_STEP_ANY_KEY:
        for (uint32_t i = 0; j->kind == JSON_OBJECT && i < j->n; i++)
            follow(f, j->members[i].value, steps + 1, n - 1);
        return;
    case JSON_STEP_ANY:
        follow_any(f, j, steps, n);
        return;
    default:
        follow_cells(f, j, steps, n);
    }
}

struct json **json_find(
    struct arena *arena, struct json *doc, const struct json_path *path, uint32_t *n)
{
    struct finder f = {.arena = arena};

    follow(&f, doc, path->steps, path->n);
    *n = f.n;
    return f.found;
}

struct json *json_find_parent(struct json *doc, const struct json_path *path)
{
    struct arena arena = {0};
    struct finder f = {.arena = &arena};
    struct json *parent;

    follow(&f, doc, path->steps, path->n ? path->n - 1 : 0);
    parent = f.n ? f.found[0] : NULL;
    arena_fini(&arena);
    return parent;
}
