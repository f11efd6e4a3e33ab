/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Comparisons of values whose types SQLite would compare otherwise. */
#include "db/func/compare.h"

#include "db/func/json.h"
#include "db/func/utf8.h"

struct how how_get(struct str text)
{
    struct how h = {.letter = text.len ? text.p[0] : 's'};

    h.coll = collation_get(
        text.len > 2 && text.p[1] == ':' ? str_sub(text, 2, text.len) : STR("utf8mb4_0900_ai_ci"));
    return h;
}

static int cmp_exact(struct call *c, int i, int k)
{
    struct num a;
    struct num b;
    struct db_decimal x;
    struct db_decimal y;

    call_num(c, i, &a);
    call_num(c, k, &b);
    if (a.kind == NUM_INT && b.kind == NUM_INT)
        return a.i < b.i ? -1 : a.i > b.i;
    if (a.kind == NUM_REAL || b.kind == NUM_REAL) {
        double p = num_double(&a);
        double q = num_double(&b);

        return p < q ? -1 : p > q;
    }
    num_decimal(&a, &x);
    num_decimal(&b, &y);
    return db_decimal_cmp(&x, &y);
}

static int cmp_real(struct call *c, int i, int k)
{
    double a = call_real(c, i);
    double b = call_real(c, k);

    return a < b ? -1 : a > b;
}

static int cmp_date(struct call *c, int i, int k)
{
    struct db_time a;
    struct db_time b;
    int64_t x;
    int64_t y;

    if (!call_date(c, i, 0, &a))
        a = (struct db_time){.kind = DB_TIME_DATE};
    if (!call_date(c, k, 0, &b))
        b = (struct db_time){.kind = DB_TIME_DATE};
    a.kind = b.kind = DB_TIME_DATETIME;
    x = db_time_to_number(&a);
    y = db_time_to_number(&b);
    if (x != y)
        return x < y ? -1 : 1;
    return a.micro < b.micro ? -1 : a.micro > b.micro;
}

static int cmp_time(struct call *c, int i, int k)
{
    struct db_time a;
    struct db_time b;
    int64_t x;
    int64_t y;

    if (!call_time(c, i, &a))
        a = (struct db_time){0};
    if (!call_time(c, k, &b))
        b = (struct db_time){0};
    x = db_time_span(&a);
    y = db_time_span(&b);
    return x < y ? -1 : x > y;
}

/* JSON text or another value, as a document. */
static struct json *document(struct call *c, int i)
{
    struct json_error bad;
    struct json *j;
    struct str s = call_str(c, i);

    if (sqlite3_value_type(c->v[i]) == SQLITE_INTEGER)
        return json_new_int(&c->arena, sqlite3_value_int64(c->v[i]));
    if (json_doc_parse(&c->arena, s, &j, &bad) != 0)
        j = json_new_string(&c->arena, s);
    return j;
}

int how_cmp(struct call *c, struct how how, int i, int k)
{
    switch (how.letter) {
    case 'i':
    case 'u':
    case 'd':
        return cmp_exact(c, i, k);
    case 'r':
        return cmp_real(c, i, k);
    case 'D':
    case 'E':
        return cmp_date(c, i, k);
    case 'T':
        return cmp_time(c, i, k);
    case 'x':
        return str_cmp(call_str(c, i), call_str(c, k));
    case 'j':
        return json_cmp(document(c, i), document(c, k));
    default:
        return collation_cmp(how.coll, call_str(c, i), call_str(c, k));
    }
}

/* The order of the first two arguments; false: NULL. */
static bool compare(struct call *c, int *r)
{
    if (call_null(c, 0) || call_null(c, 1))
        return false;
    *r = how_cmp(c, how_get(call_str(c, 2)), 0, 1);
    return !c->failed;
}

void fn_cmp(struct call *c)
{
    int r;

    if (compare(c, &r))
        ret_i64(c, r < 0 ? -1 : r > 0);
}

void fn_eq(struct call *c)
{
    int r;

    if (compare(c, &r))
        ret_bool(c, r == 0);
}

void fn_ne(struct call *c)
{
    int r;

    if (compare(c, &r))
        ret_bool(c, r != 0);
}

void fn_lt(struct call *c)
{
    int r;

    if (compare(c, &r))
        ret_bool(c, r < 0);
}

void fn_le(struct call *c)
{
    int r;

    if (compare(c, &r))
        ret_bool(c, r <= 0);
}

void fn_gt(struct call *c)
{
    int r;

    if (compare(c, &r))
        ret_bool(c, r > 0);
}

void fn_ge(struct call *c)
{
    int r;

    if (compare(c, &r))
        ret_bool(c, r >= 0);
}

void fn_nseq(struct call *c)
{
    int r;

    if (call_null(c, 0) || call_null(c, 1))
        ret_bool(c, call_null(c, 0) && call_null(c, 1));
    else if (compare(c, &r))
        ret_bool(c, r == 0);
}

static void extreme(struct call *c, int sign)
{
    struct how how;
    int best = 1;

    if (call_any_null(c))
        return;
    how = how_get(call_str(c, 0));
    for (int i = 2; i < c->n; i++) {
        if (how_cmp(c, how, i, best) * sign > 0)
            best = i;
    }
    if (!c->failed)
        ret_arg(c, best);
}

void fn_greatest(struct call *c)
{
    extreme(c, 1);
}

void fn_least(struct call *c)
{
    extreme(c, -1);
}

void fn_strcmp(struct call *c)
{
    int r;

    if (call_any_null(c))
        return;
    r = collation_cmp(call_coll(c, 0), call_str(c, 1), call_str(c, 2));
    ret_i64(c, r < 0 ? -1 : r > 0);
}

void fn_field(struct call *c)
{
    struct how how;

    ret_i64(c, 0);
    if (call_null(c, 0) || call_null(c, 1))
        return;
    how = how_get(call_str(c, 0));
    for (int i = 2; i < c->n; i++) {
        if (!call_null(c, i) && how_cmp(c, how, 1, i) == 0) {
            if (!c->failed)
                ret_i64(c, i - 1);
            return;
        }
    }
}

void fn_interval(struct call *c)
{
    double v;

    if (call_null(c, 0)) {
        ret_i64(c, -1);
        return;
    }
    v = call_real(c, 0);
    for (int i = 1; i < c->n; i++) {
        if (!call_null(c, i) && call_real(c, i) > v) {
            ret_i64(c, i - 1);
            return;
        }
    }
    ret_i64(c, c->n - 1);
}

void fn_key(struct call *c)
{
    struct buf b = {0};

    if (call_any_null(c))
        return;
    collation_key(call_coll(c, 1), call_str(c, 0), &b);
    ret_buf(c, &b, true);
}

void fn_prefix(struct call *c)
{
    struct str s;
    int64_t n;

    if (call_any_null(c))
        return;
    s = call_str(c, 0);
    n = MAX(call_i64(c, 1), 0);
    if (call_blob(c, 0))
        ret_blob(c, str_sub(s, 0, (size_t)n));
    else
        ret_str(c, str_sub(s, 0, (size_t)n >= s.len ? s.len : utf8_offset(s, (size_t)n)));
}

/* ---- LIKE ---- */

struct like {
    struct str pattern;
    struct str text;
    struct collation coll;
    uint32_t escape; /* 0: none */
    bool bytes;
};

static uint32_t next_char(const struct like *l, struct str s, size_t *i)
{
    return l->bytes ? (unsigned char)s.p[(*i)++] : utf8_next(s, i);
}

/*
 * The usual matching with one way back: to the last %, one character further. Time is at most
 * pattern times text.
 */
static bool like(const struct like *l)
{
    size_t p = 0;
    size_t t = 0;
    size_t star = SIZE_MAX; /* behind the last % */
    size_t star_text = 0;

    while (t < l->text.len || p < l->pattern.len) {
        if (p < l->pattern.len) {
            size_t q = p;
            size_t u = t;
            uint32_t c = next_char(l, l->pattern, &q);

            if (c == l->escape && l->escape && q < l->pattern.len) {
                c = next_char(l, l->pattern, &q);
            } else if (c == '%') {
                star = p = q;
                star_text = t;
                continue;
            } else if (c == '_') {
                c = UINT32_MAX;
            }
            if (u < l->text.len) {
                uint32_t d = next_char(l, l->text, &u);

                if (c == UINT32_MAX || collation_same(l->coll, c, d)) {
                    p = q;
                    t = u;
                    continue;
                }
            }
        }
        if (star == SIZE_MAX || star_text >= l->text.len)
            return false;
        (void)next_char(l, l->text, &star_text); /* only the way counts */
        p = star;
        t = star_text;
    }
    return true;
}

bool like_match(struct str pattern, struct str text, struct str escape, struct collation coll)
{
    struct like l = {.pattern = pattern, .text = text, .coll = coll};
    size_t i = 0;

    l.bytes = coll.kind == COLLATION_BINARY;
    if (escape.len > 0)
        l.escape = utf8_next(escape, &i);
    return like(&l);
}

void fn_like(struct call *c)
{
    if (!call_any_null(c))
        ret_bool(c, like_match(call_str(c, 0), call_str(c, 1), call_str(c, 2), call_coll(c, 3)));
}
