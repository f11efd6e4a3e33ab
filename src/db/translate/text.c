/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>

#include "db/translate/internal.h"

enum {
    /* Values beyond are written into the text: SQLite has an upper bound, and nobody runs such a
     * statement twice. */
    MAX_PARAMS = 20000,
    /* Equal values share a parameter as long as looking for them is cheap. */
    MAX_SHARED = 64,
    /* Entries that SQLite's parser keeps at most, less some for what is not counted. */
    MAX_STACK = 93,
    MAX_NESTING = 64,
};

void sb_add(struct tr *t, struct sb *b, struct str s)
{
    if (!b->p || b->len + s.len > b->cap) {
        size_t cap = MAX(b->cap * 2, b->len + s.len + 64);
        char *p = arena_bytes(t->arena, cap);

        if (b->p)
            memcpy(p, b->p, b->len);
        b->p = p;
        b->cap = cap;
    }
    if (s.len)
        memcpy(b->p + b->len, s.p, s.len);
    b->len += s.len;
}

struct str sb_str(const struct sb *b)
{
    return str_n(b->p, b->len);
}

static void sb_format(struct tr *t, struct sb *b, const char *format, va_list args)
{
    for (const char *p = format; *p;) {
        size_t n = strcspn(p, "$#");
        char number[24];

        sb_add(t, b, str_n(p, n));
        p += n;
        if (*p == '$')
            sb_add(t, b, va_arg(args, struct str));
        else if (*p == '#')
            sb_add(t, b,
                str_n(number, (size_t)snprintf(number, sizeof(number), "%d", va_arg(args, int))));
        if (*p)
            p++;
    }
}

struct str cat(struct tr *t, const char *format, ...)
{
    struct sb b = {0};
    va_list args;

    va_start(args, format);
    sb_format(t, &b, format, args);
    va_end(args);
    return sb_str(&b);
}

void sb_cat(struct tr *t, struct sb *b, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    sb_format(t, b, format, args);
    va_end(args);
}

const char *zstr(struct tr *t, struct str s)
{
    return arena_str(t->arena, s).p;
}

static struct str quoted(struct tr *t, struct str s, char q)
{
    char *p = arena_bytes(t->arena, s.len * 2 + 2);
    size_t n = 0;

    p[n++] = q;
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == q)
            p[n++] = q;
        p[n++] = s.p[i];
    }
    p[n++] = q;
    return str_n(p, n);
}

struct str quote_name(struct tr *t, struct str name)
{
    return quoted(t, name, '"');
}

static struct str hex(struct tr *t, struct str s)
{
    static const char digits[] = "0123456789ABCDEF";
    char *p = arena_bytes(t->arena, s.len * 2 + 3);
    size_t n = 0;

    p[n++] = 'x';
    p[n++] = '\'';
    for (size_t i = 0; i < s.len; i++) {
        p[n++] = digits[(unsigned char)s.p[i] >> 4];
        p[n++] = digits[(unsigned char)s.p[i] & 15];
    }
    p[n++] = '\'';
    return str_n(p, n);
}

/* A NUL would end the statement. */
struct str quote_text(struct tr *t, struct str s)
{
    if (s.len && memchr(s.p, '\0', s.len))
        return cat(t, "CAST($ AS TEXT)", hex(t, s));
    return quoted(t, s, '\'');
}

static struct str inline_value(struct tr *t, const struct db_value *v)
{
    char text[40];
    int n;

    switch (v->kind) {
    case DB_V_INT:
        /* the smallest one cannot be written as a number */
        if (v->i == INT64_MIN)
            return STR("(-9223372036854775807-1)");
        n = snprintf(text, sizeof(text), "%lld", (long long)v->i);
        return arena_str(t->arena, str_n(text, (size_t)n));
    case DB_V_REAL:
        n = snprintf(text, sizeof(text), "%.17g", v->d);
        if (!strpbrk(text, ".eni"))
            n += snprintf(text + n, sizeof(text) - (size_t)n, ".0");
        return arena_str(t->arena, str_n(text, (size_t)n));
    case DB_V_TEXT:
        return quote_text(t, v->s);
    case DB_V_BLOB:
        return hex(t, v->s);
    default:
        return STR("NULL");
    }
}

static bool same_value(const struct db_value *a, const struct db_value *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case DB_V_INT:
        return a->i == b->i;
    case DB_V_REAL:
        return a->u == b->u; /* the bits of d: 0.0 is not -0.0 */
    case DB_V_TEXT:
    case DB_V_BLOB:
        return str_eq(a->s, b->s);
    default:
        return false;
    }
}

void *list_grow(struct tr *t, void *v, uint32_t n, uint32_t *cap, size_t size)
{
    void *p;

    if (n < *cap)
        return v;
    *cap = MAX(*cap * 2, 8);
    p = arena_new(t->arena, *cap * size);
    if (n)
        memcpy(p, v, n * size);
    return p;
}

static struct str param_add(struct tr *t, struct tr_param p)
{
    uint32_t shared = MIN(t->n_params, (uint32_t)MAX_SHARED);

    for (uint32_t i = 0; i < shared; i++) {
        const struct tr_param *q = &t->params[i];

        if (p.from_client != q->from_client)
            continue;
        if (p.from_client ? p.index == q->index : same_value(&p.value, &q->value))
            return cat(t, "?#", (int)i + 1);
    }
    t->params = list_grow(t, t->params, t->n_params, &t->cap_params, sizeof(p));
    t->params[t->n_params++] = p;
    return cat(t, "?#", (int)t->n_params);
}

struct str param_value(struct tr *t, const struct db_value *v)
{
    if (v->kind == DB_V_NULL || t->inline_values || t->n_params >= MAX_PARAMS)
        return inline_value(t, v);
    return param_add(t, (struct tr_param){.value = *v});
}

struct str param_int(struct tr *t, int64_t i)
{
    return param_value(t, &(struct db_value){.kind = DB_V_INT, .i = i});
}

struct str param_text(struct tr *t, struct str s)
{
    return param_value(t, &(struct db_value){.kind = DB_V_TEXT, .s = s});
}

struct str param_blob(struct tr *t, struct str s)
{
    return param_value(t, &(struct db_value){.kind = DB_V_BLOB, .s = s});
}

struct str param_real(struct tr *t, double d)
{
    return param_value(t, &(struct db_value){.kind = DB_V_REAL, .d = d});
}

struct str param_client(struct tr *t, uint32_t index)
{
    return param_add(t, (struct tr_param){.from_client = true, .index = index});
}

struct str new_alias(struct tr *t)
{
    return cat(t, "\"t#\"", (int)++t->n_alias);
}

int too_deep(struct tr *t)
{
    return db_error_set(t->e, DB_E_STACK_OVERRUN);
}

int not_supported(struct tr *t, const char *what)
{
    return db_error_set(t->e, DB_E_NOT_SUPPORTED_YET, what);
}

/* The end of what is quoted from i on. */
static size_t skip_quoted(struct str s, size_t i)
{
    char q = s.p[i++];

    while (i < s.len && s.p[i] != q)
        i++;
    return i + 1;
}

/* About how much of its stack SQLite's parser needs for what is open. */
struct nesting {
    int used;
    int n;
    uint8_t weight[MAX_NESTING];
};

static bool word_at(struct str s, size_t i, struct str word)
{
    return str_eq(str_sub(s, i, word.len), word);
}

/* Looks at the byte; false: too deep. */
static bool nesting_step(struct nesting *d, struct str sql, size_t i)
{
    char c = sql.p[i];

    if (c == '(') {
        if (d->n == MAX_NESTING)
            return false;
        d->weight[d->n] =
            word_at(sql, i + 1, STR("SELECT")) || word_at(sql, i + 1, STR("WITH")) ? 7 : 3;
        d->used += d->weight[d->n++];
    } else if (c == ')' && d->n > 0) {
        d->used -= d->weight[--d->n];
    } else if (c == 'C' && word_at(sql, i, STR("CASE "))) {
        d->used += 5;
    } else if (c == 'E' && i > 0 && sql.p[i - 1] == ' ' && word_at(sql, i, STR("END")) &&
               (i + 3 == sql.len || strchr(" ),=<>+-*", sql.p[i + 3]))) {
        d->used -= 5;
    }
    return d->used <= MAX_STACK;
}

/* Numbers the text's parameters from 1 in the order they come, and lists them. */
static int renumber(struct tr *t, struct str sql, struct tr_step *step)
{
    uint32_t *map = arena_new(t->arena, sizeof(*map) * (t->n_params + 1));
    struct tr_param *list = arena_new(t->arena, sizeof(*list) * (t->n_params + 1));
    struct sb b = {0};
    struct nesting nesting = {0};
    size_t done = 0;

    for (size_t i = 0; i < sql.len;) {
        char c = sql.p[i];
        uint32_t n = 0;

        if (c == '"' || c == '\'') {
            i = skip_quoted(sql, i);
            continue;
        }
        if (!nesting_step(&nesting, sql, i))
            return too_deep(t);
        if (c != '?') {
            i++;
            continue;
        }
        sb_add(t, &b, str_sub(sql, done, i - done));
        for (i++; i < sql.len && sql.p[i] >= '0' && sql.p[i] <= '9'; i++)
            n = n * 10 + (uint32_t)(sql.p[i] - '0');
        if (!map[n]) {
            list[step->n_params++] = t->params[n - 1];
            map[n] = step->n_params;
        }
        sb_cat(t, &b, "?#", (int)map[n]);
        done = i;
    }
    sb_add(t, &b, str_sub(sql, done, sql.len));
    step->sql = arena_str(t->arena, sb_str(&b));
    step->params = list;
    return 0;
}

int step_add(
    struct tr *t, enum tr_step_kind kind, struct str sql, const struct db_cat_table *target)
{
    struct tr_step *step;

    t->steps = list_grow(t, t->steps, t->n_steps, &t->cap_steps, sizeof(*t->steps));
    step = &t->steps[t->n_steps++];
    step->kind = kind;
    step->target = target;
    return renumber(t, sql, step);
}
