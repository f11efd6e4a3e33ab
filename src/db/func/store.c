/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Values on their way into a column: what all types share, and numbers. */
#include "db/func/store.h"

#include <float.h>
#include <math.h>

#include "db/real.h"

bool store_begin(struct target *t, struct call *c, void (*zero)(struct call *c))
{
    *t = (struct target){.c = c, .column = call_str(c, c->n - 3)};
    t->row = (long long)call_i64(c, c->n - 2);
    t->flags = (unsigned)call_i64(c, c->n - 1);
    if (t->row <= 0)
        t->row = MAX((long long)c->s->row, 1);
    if (!call_null(c, 0))
        return false;
    if (!(t->flags & DB_ST_NOT_NULL) || (t->flags & DB_ST_AUTO))
        return true;
    if (!(t->flags & DB_ST_IGNORE) && !((t->flags & DB_ST_MULTI) && !store_strict(t))) {
        CALL_RAISE(c, DB_E_BAD_NULL, arena_str(&c->arena, t->column).p);
        return true;
    }
    CALL_WARN(c, DB_WARNING, DB_E_BAD_NULL, arena_str(&c->arena, t->column).p);
    zero(c);
    return true;
}

bool store_strict(const struct target *t)
{
    return (t->c->s->mode & DB_MODE_STRICT) && !(t->flags & DB_ST_IGNORE);
}

static bool complain(struct target *t, const struct db_error *e, bool strict)
{
    if (strict) {
        call_raise(t->c, e);
        return false;
    }
    call_warn(t->c, DB_WARNING, e);
    return true;
}

static const char *column(struct target *t)
{
    return arena_str(&t->c->arena, t->column).p;
}

bool store_truncated(struct target *t)
{
    struct db_error e;

    (void)db_error_set(&e, DB_E_TRUNCATED, column(t), t->row);
    return complain(t, &e, store_strict(t));
}

void store_note(struct target *t)
{
    struct db_error e;

    (void)db_error_set(&e, DB_E_TRUNCATED, column(t), t->row);
    call_warn(t->c, DB_NOTE, &e);
}

bool store_range(struct target *t)
{
    struct db_error e;

    (void)db_error_set(&e, DB_E_OUT_OF_RANGE, column(t), t->row);
    return complain(t, &e, store_strict(t));
}

bool store_too_long(struct target *t)
{
    struct db_error e;

    if (!store_strict(t))
        return store_truncated(t);
    (void)db_error_set(&e, DB_E_DATA_TOO_LONG, column(t), t->row);
    return complain(t, &e, true);
}

bool store_wrong(struct target *t, const char *type, struct str s)
{
    struct db_error e;
    const char *text = arena_str(&t->c->arena, str_sub(s, 0, 128)).p;

    (void)db_error_set(&e, DB_E_WRONG_VALUE, type, text, column(t), t->row);
    return complain(t, &e, store_strict(t));
}

static void zero_number(struct call *c)
{
    ret_i64(c, 0);
}

static void zero_double(struct call *c)
{
    ret_double(c, 0);
}

static bool only_spaces(struct str s, size_t from)
{
    while (from < s.len && (s.p[from] == ' ' || (s.p[from] >= '\t' && s.p[from] <= '\r')))
        from++;
    return from == s.len;
}

/* The argument as exact number; false: an error was raised. */
static bool read_decimal(struct target *t, const char *type, struct db_decimal *d)
{
    struct call *c = t->c;
    struct str s;
    bool overflow;
    size_t used;

    switch (sqlite3_value_type(c->v[0])) {
    case SQLITE_INTEGER:
        db_decimal_i64(d, sqlite3_value_int64(c->v[0]));
        return true;
    case SQLITE_FLOAT:
        (void)db_decimal_double(d, sqlite3_value_double(c->v[0])); /* beyond it: the greatest */
        return true;
    default:
        s = call_str(c, 0);
        used = db_decimal_parse(s, d, &overflow);
        if (used == 0)
            return store_wrong(t, type, s);
        return only_spaces(s, used) || store_truncated(t);
    }
}

/* Bounds of the integer types by bits. */
static void int_bounds(int bits, bool is_unsigned, int64_t *low, uint64_t *high)
{
    *low = is_unsigned ? 0 : bits == 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1));
    *high = is_unsigned ? (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1)
                        : (bits == 64 ? (uint64_t)INT64_MAX : (UINT64_C(1) << (bits - 1)) - 1);
}

void fn_st_int(struct call *c)
{
    struct target t;
    struct db_decimal d;
    int64_t low;
    uint64_t high;
    uint64_t u = 0;
    int64_t v;
    bool fits;
    int bits = (int)call_i64(c, 1);
    bool is_unsigned = call_i64(c, 2) != 0;

    if (store_begin(&t, c, zero_number))
        return;
    int_bounds(bits < 1 || bits > 64 ? 64 : bits, is_unsigned, &low, &high);
    high = MIN(high, (uint64_t)INT64_MAX); /* what SQLite can hold */
    if (sqlite3_value_type(c->v[0]) == SQLITE_INTEGER) {
        v = sqlite3_value_int64(c->v[0]);
        if (v >= low && (v < 0 || (uint64_t)v <= high)) {
            ret_i64(c, v);
            return;
        }
    }
    if (!read_decimal(&t, "integer", &d))
        return;
    if (d.neg) {
        fits = db_decimal_to_i64(&d, &v) && v >= low;
        v = fits ? v : low;
    } else {
        fits = db_decimal_to_u64(&d, &u) && u <= high;
        v = (int64_t)(fits ? u : high);
    }
    if (fits || store_range(&t))
        ret_i64(c, v);
}

void fn_st_bit(struct call *c)
{
    struct target t;
    int bits = (int)call_i64(c, 1);
    uint64_t most = bits >= 63 || bits < 1 ? INT64_MAX : (UINT64_C(1) << bits) - 1;
    uint64_t v = 0;
    bool over = false;
    int type = sqlite3_value_type(c->v[0]);

    if (store_begin(&t, c, zero_number))
        return;
    if (type == SQLITE_TEXT || type == SQLITE_BLOB) { /* its bytes are the bits */
        struct str s = call_str(c, 0);

        for (size_t i = 0; i < s.len; i++) {
            over |= v >> 56 != 0;
            v = v << 8 | (unsigned char)s.p[i];
        }
    } else {
        v = call_u64(c, 0);
    }
    if (over || v > most) {
        if (store_strict(&t) ? !store_too_long(&t) : !store_range(&t))
            return;
        v = most;
    }
    ret_i64(c, (int64_t)v);
}

void fn_st_decimal(struct call *c)
{
    struct target t;
    struct db_decimal d;
    struct db_decimal zero;
    int precision = (int)MIN(MAX(call_i64(c, 1), 1), DB_DECIMAL_DIGITS);
    int scale = (int)MIN(MAX(call_i64(c, 2), 0), MIN(precision, DB_DECIMAL_SCALE));
    bool is_unsigned = call_i64(c, 3) != 0;
    bool lost;

    db_decimal_zero(&zero, scale);
    if (store_begin(&t, c, zero_number)) {
        if (!c->failed && call_null(c, 0) && (t.flags & DB_ST_NOT_NULL))
            ret_dec(c, &zero);
        return;
    }
    if (!read_decimal(&t, "decimal", &d))
        return;
    lost = db_decimal_round(&d, scale, DB_DECIMAL_HALF_UP);
    if (db_decimal_int_digits(&d) > precision - scale || d.scale != scale) {
        if (!store_range(&t))
            return;
        db_decimal_max(&d, precision, scale, d.neg);
    } else if (lost && sqlite3_value_type(c->v[0]) != SQLITE_FLOAT) {
        store_note(&t);
    }
    if (is_unsigned && d.neg) {
        if (!store_range(&t))
            return;
        d = zero;
    }
    ret_dec(c, &d);
}

static bool read_double(struct target *t, double *out)
{
    struct call *c = t->c;
    int type = sqlite3_value_type(c->v[0]);
    struct str s;
    size_t used;

    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        *out = sqlite3_value_double(c->v[0]);
        return true;
    }
    s = call_str(c, 0);
    *out = text_double(s, &used);
    if (used == 0)
        return store_wrong(t, "double", s);
    return only_spaces(s, used) || store_truncated(t);
}

/* DOUBLE(m,d): so many decimals, and not beyond 99..9.99 */
static bool limit(double *v, int m, int d, double most)
{
    char text[DB_REAL_TEXT];
    size_t used;

    if (m > 0 && d >= 0) {
        most = MIN(most, pow(10, m - d) - pow(10, -d));
        if (d <= 30 && fabs(*v) < 1e15) {
            size_t n = db_fixed_text(*v, d, text);

            *v = text_double(str_n(text, n), &used);
        }
    }
    if (fabs(*v) <= most)
        return true;
    *v = *v < 0 ? -most : most;
    return false;
}

static void store_real(struct call *c, double most, bool is_float)
{
    struct target t;
    double v;
    bool fits;

    if (store_begin(&t, c, zero_double))
        return;
    if (!read_double(&t, &v))
        return;
    fits = limit(&v, (int)call_i64(c, 1), (int)call_i64(c, 2), most);
    if (call_i64(c, 3) && v < 0) {
        fits = false;
        v = 0;
    }
    if (fits || store_range(&t))
        ret_double(c, is_float ? (double)(float)v : v);
}

void fn_st_float(struct call *c)
{
    store_real(c, FLT_MAX, true);
}

void fn_st_double(struct call *c)
{
    store_real(c, DBL_MAX, false);
}

void fn_row(struct call *c)
{
    if (call_i64(c, 0))
        c->s->row++;
    ret_i64(c, c->s->row);
}

void fn_matched(struct call *c)
{
    c->s->matched++;
    if (c->n)
        ret_arg(c, 0);
    else
        ret_i64(c, 1);
}

void fn_auto(struct call *c)
{
    int64_t v = call_null(c, 0) ? 0 : call_i64(c, 0);
    bool next = call_null(c, 0) || (v == 0 && !(c->s->mode & DB_MODE_NO_AUTO_VALUE_ON_ZERO));

    if (!next) {
        c->s->auto_explicit = v;
        ret_arg(c, 0);
        return;
    }
    c->s->auto_generated++;
    if (c->n > 1 && c->s->next_auto) {
        v = c->s->next_auto(c->s->arg, call_str(c, 1));
        if (v)
            ret_i64(c, v);
        else
            sqlite3_result_error(c->sq, "no number left for the auto column", -1);
    }
}
