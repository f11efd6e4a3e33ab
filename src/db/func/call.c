/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/func/call.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "db/func/tz.h"
#include "db/real.h"

bool call_any_null(const struct call *c)
{
    for (int i = 0; i < c->n; i++) {
        if (call_null(c, i))
            return true;
    }
    return false;
}

struct str call_str(struct call *c, int i)
{
    char text[DB_REAL_TEXT];
    const char *p;

    switch (sqlite3_value_type(c->v[i])) {
    case SQLITE_NULL:
        return STR("");
    case SQLITE_FLOAT:
        return arena_str(&c->arena, str_n(text, db_real_text(sqlite3_value_double(c->v[i]), text)));
    case SQLITE_BLOB:
        p = sqlite3_value_blob(c->v[i]);
        return str_n(p ? p : "", (size_t)sqlite3_value_bytes(c->v[i]));
    default:
        p = (const char *)sqlite3_value_text(c->v[i]);
        return str_n(p ? p : "", p ? (size_t)sqlite3_value_bytes(c->v[i]) : 0);
    }
}

/* What a constant argument names is kept with it, as the bits of a pointer. */
struct collation call_coll(struct call *c, int i)
{
    uintptr_t bits = (uintptr_t)sqlite3_get_auxdata(c->sq, i);
    struct collation coll;

    if (bits)
        return (struct collation){(enum collation_kind)(bits >> 2), bits >> 1 & 1};
    coll = collation_get(call_str(c, i));
    bits = (uintptr_t)coll.kind << 2 | (coll.pad ? 2 : 0) | 1;
    sqlite3_set_auxdata(c->sq, i, (void *)bits, NULL);
    return coll;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* How many bytes of s are a number (with spaces before it); 0: none. */
static size_t number_extent(struct str s)
{
    size_t i = 0;
    size_t digits = 0;
    size_t end;

    while (i < s.len && is_space(s.p[i]))
        i++;
    if (i < s.len && (s.p[i] == '-' || s.p[i] == '+'))
        i++;
    for (; i < s.len && s.p[i] >= '0' && s.p[i] <= '9'; i++)
        digits++;
    if (i < s.len && s.p[i] == '.') {
        size_t point = i++;

        for (; i < s.len && s.p[i] >= '0' && s.p[i] <= '9'; i++)
            digits++;
        if (digits == 0)
            return 0;
        (void)point; /* "1." is a number with its point */
    }
    if (digits == 0)
        return 0;
    end = i;
    if (i < s.len && (s.p[i] == 'e' || s.p[i] == 'E')) {
        i++;
        if (i < s.len && (s.p[i] == '-' || s.p[i] == '+'))
            i++;
        if (i < s.len && s.p[i] >= '0' && s.p[i] <= '9') {
            while (i < s.len && s.p[i] >= '0' && s.p[i] <= '9')
                i++;
            end = i;
        }
    }
    return end;
}

double text_double(struct str s, size_t *used)
{
    char copy[128];
    size_t n = number_extent(s);
    double v;

    *used = n;
    if (n == 0)
        return 0;
    if (n < sizeof(copy)) {
        memcpy(copy, s.p, n);
        copy[n] = '\0';
        v = strtod(copy, NULL);
    } else {
        char *long_copy = mem_dup_str(s.p, n);

        v = strtod(long_copy, NULL);
        mem_free(long_copy);
    }
    if (isinf(v))
        v = v < 0 ? -1.7976931348623157e308 : 1.7976931348623157e308;
    return v;
}

static bool only_spaces(struct str s, size_t from)
{
    while (from < s.len && is_space(s.p[from]))
        from++;
    return from == s.len;
}

double call_real(struct call *c, int i)
{
    int type = sqlite3_value_type(c->v[i]);
    struct str s;
    size_t used;
    double v;

    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT || type == SQLITE_NULL)
        return sqlite3_value_double(c->v[i]);
    s = call_str(c, i);
    v = text_double(s, &used);
    if (used == 0 || !only_spaces(s, used))
        call_truncated(c, "DOUBLE", s);
    return v;
}

/* Is it digits with an optional sign and point, and nothing else? */
static bool is_plain(struct str s)
{
    size_t i = s.len > 0 && s.p[0] == '-';
    bool point = false;
    bool digit = false;

    for (; i < s.len; i++) {
        if (s.p[i] == '.' && !point)
            point = true;
        else if (s.p[i] >= '0' && s.p[i] <= '9')
            digit = true;
        else
            return false;
    }
    return digit;
}

void call_num(struct call *c, int i, struct num *out)
{
    struct str s;
    bool overflow = false;

    switch (sqlite3_value_type(c->v[i])) {
    case SQLITE_INTEGER:
        out->kind = NUM_INT;
        out->i = sqlite3_value_int64(c->v[i]);
        return;
    case SQLITE_TEXT:
        s = call_str(c, i);
        if (is_plain(s)) {
            out->kind = NUM_DEC;
            (void)db_decimal_parse(s, &out->dec, &overflow); /* overflow clips */
            return;
        }
        break;
    default:
        break;
    }
    out->kind = NUM_REAL;
    out->d = call_real(c, i);
}

double num_double(const struct num *n)
{
    return n->kind == NUM_INT   ? (double)n->i
           : n->kind == NUM_DEC ? db_decimal_to_double(&n->dec)
                                : n->d;
}

void num_decimal(const struct num *n, struct db_decimal *out)
{
    if (n->kind == NUM_INT)
        db_decimal_i64(out, n->i);
    else if (n->kind == NUM_DEC)
        *out = n->dec;
    else
        (void)db_decimal_double(out, n->d); /* beyond it: the greatest */
}

static int64_t round_double(double d)
{
    d = rint(d);
    if (d >= 9223372036854775807.0)
        return INT64_MAX;
    if (d <= -9223372036854775808.0)
        return INT64_MIN;
    return (int64_t)d;
}

int64_t call_i64(struct call *c, int i)
{
    struct db_decimal d;
    struct str s;
    bool overflow;
    int64_t v;
    size_t used;

    switch (sqlite3_value_type(c->v[i])) {
    case SQLITE_INTEGER:
        return sqlite3_value_int64(c->v[i]);
    case SQLITE_FLOAT:
        return round_double(sqlite3_value_double(c->v[i]));
    case SQLITE_NULL:
        return 0;
    default:
        s = call_str(c, i);
        used = db_decimal_parse(s, &d, &overflow);
        if (used == 0 || !only_spaces(s, used))
            call_truncated(c, "INTEGER", s);
        (void)db_decimal_to_i64(&d, &v); /* clips */
        return v;
    }
}

uint64_t call_u64(struct call *c, int i)
{
    struct db_decimal d;
    struct str s;
    bool overflow;
    uint64_t v;
    double r;

    switch (sqlite3_value_type(c->v[i])) {
    case SQLITE_INTEGER:
        return (uint64_t)sqlite3_value_int64(c->v[i]);
    case SQLITE_FLOAT:
        r = rint(sqlite3_value_double(c->v[i]));
        if (r < 0)
            return (uint64_t)round_double(r);
        return r >= 18446744073709551615.0 ? UINT64_MAX : (uint64_t)r;
    case SQLITE_NULL:
        return 0;
    default:
        s = call_str(c, i);
        if (db_decimal_parse(s, &d, &overflow) == 0)
            call_truncated(c, "INTEGER", s);
        if (d.neg) {
            int64_t n;

            (void)db_decimal_to_i64(&d, &n); /* clips */
            return (uint64_t)n;
        }
        (void)db_decimal_to_u64(&d, &v); /* clips */
        return v;
    }
}

unsigned call_date_flags(const struct call *c)
{
    unsigned flags = 0;

    if (c->s->mode & DB_MODE_NO_ZERO_DATE)
        flags |= DB_TIME_NO_ZERO_DATE;
    if (c->s->mode & DB_MODE_NO_ZERO_IN_DATE)
        flags |= DB_TIME_NO_ZERO_IN;
    if (c->s->mode & DB_MODE_ALLOW_INVALID_DATES)
        flags |= DB_TIME_INVALID_DATES;
    return flags;
}

static void bad_value(struct call *c, const char *type, struct str s)
{
    struct db_error e;

    (void)db_error_text(
        &e, DB_E_TRUNCATED_WRONG, "Incorrect %s value: '" STR_F "'", type, STR_A(s));
    call_warn(c, DB_WARNING, &e);
}

/* A number's whole part and its millionths. */
static bool split_number(struct call *c, int i, int64_t *whole, int *micro)
{
    struct num n;
    struct db_decimal d;
    struct db_decimal w;
    struct db_decimal million;

    *micro = 0;
    call_num(c, i, &n);
    if (n.kind == NUM_INT) {
        *whole = n.i;
        return true;
    }
    num_decimal(&n, &d);
    (void)db_decimal_round(&d, 6, DB_DECIMAL_HALF_UP); /* digits beyond go */
    w = d;
    (void)db_decimal_round(&w, 0, DB_DECIMAL_CUT); /* the fraction goes */
    if (!db_decimal_to_i64(&w, whole) || !db_decimal_sub(&d, &w, &d))
        return false;
    db_decimal_i64(&million, 1000000);
    if (db_decimal_mul(&d, &million, &d)) {
        int64_t v;

        (void)db_decimal_to_i64(&d, &v); /* below a million */
        *micro = (int)(v < 0 ? -v : v);
    }
    return true;
}

bool call_date(struct call *c, int i, unsigned flags, struct db_time *t)
{
    unsigned warn = DB_TIME_INVALID;
    int64_t whole;
    int micro;
    bool ok;
    int type = sqlite3_value_type(c->v[i]);

    if (type == SQLITE_NULL)
        return false;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        ok = split_number(c, i, &whole, &micro) && db_date_number(whole, flags, t, &warn);
        if (ok && micro) {
            t->micro = micro;
            t->fsp = 6;
        }
    } else {
        ok = db_date_parse(call_str(c, i), flags, t, &warn);
    }
    if (!ok)
        bad_value(c, "datetime", call_str(c, i));
    else if (warn & DB_TIME_CUT)
        call_truncated(c, "datetime", call_str(c, i));
    return ok;
}

bool call_time(struct call *c, int i, struct db_time *t)
{
    unsigned warn = DB_TIME_INVALID;
    int64_t whole;
    int micro;
    bool ok;
    int type = sqlite3_value_type(c->v[i]);

    if (type == SQLITE_NULL)
        return false;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        ok = split_number(c, i, &whole, &micro) && db_time_number(whole, micro, t, &warn);
        if (ok && micro)
            t->fsp = 6;
    } else {
        ok = db_time_parse(call_str(c, i), t, &warn);
    }
    if (!ok)
        call_truncated(c, "time", call_str(c, i));
    else if (warn)
        call_truncated(c, "time", call_str(c, i));
    return ok;
}

int call_fsp(struct call *c, int i)
{
    int64_t v = i < c->n ? call_i64(c, i) : 0;

    return v < 0 ? 0 : v > 6 ? 6 : (int)v;
}

/* ---- results ---- */

void ret_i64(struct call *c, int64_t v)
{
    sqlite3_result_int64(c->sq, v);
}

void ret_u64(struct call *c, uint64_t v)
{
    char text[20];

    if (v <= INT64_MAX) {
        sqlite3_result_int64(c->sq, (int64_t)v);
        return;
    }
    ret_str(c, str_n(text, str_put_u64(text, v)));
}

void ret_bool(struct call *c, bool v)
{
    sqlite3_result_int(c->sq, v);
}

void ret_double(struct call *c, double v)
{
    if (!isfinite(v)) {
        call_range(c, "DOUBLE", c->name);
        return;
    }
    sqlite3_result_double(c->sq, v == 0 ? 0 : v);
}

void ret_dec(struct call *c, const struct db_decimal *d)
{
    char text[DB_DECIMAL_TEXT];
    size_t n = db_decimal_print(d, text);

    sqlite3_result_text(c->sq, text, (int)n, SQLITE_TRANSIENT);
}

bool ret_fits(struct call *c, uint64_t bytes)
{
    uint64_t most = c->s->max_packet ? c->s->max_packet : UINT64_C(64) << 20;
    struct db_error e;

    if (bytes <= most)
        return true;
    (void)db_error_text(&e, DB_E_ALLOWED_PACKET,
        "Result of %s() was larger than max_allowed_packet (%llu) - truncated", c->name,
        (unsigned long long)most);
    call_warn(c, DB_WARNING, &e);
    return false;
}

void ret_str(struct call *c, struct str s)
{
    if (ret_fits(c, s.len))
        sqlite3_result_text64(c->sq, s.p ? s.p : "", s.len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

void ret_blob(struct call *c, struct str s)
{
    if (ret_fits(c, s.len))
        sqlite3_result_blob64(c->sq, s.p ? s.p : "", s.len, SQLITE_TRANSIENT);
}

void ret_buf(struct call *c, struct buf *b, bool blob)
{
    if (ret_fits(c, b->len)) {
        (void)buf_reserve(b, 1); /* so that p is not NULL */
        if (blob)
            sqlite3_result_blob64(c->sq, b->p, b->len, mem_free);
        else
            sqlite3_result_text64(c->sq, b->p, b->len, mem_free, SQLITE_UTF8);
        *b = (struct buf){0};
    } else {
        buf_fini(b);
    }
}

void ret_arg(struct call *c, int i)
{
    sqlite3_result_value(c->sq, c->v[i]);
}

void ret_time(struct call *c, const struct db_time *t, int fsp)
{
    char text[DB_TIME_TEXT];
    size_t n = db_time_print(t, fsp, text);

    sqlite3_result_text(c->sq, text, (int)n, SQLITE_TRANSIENT);
}

/* ---- errors ---- */

void call_raise(struct call *c, const struct db_error *e)
{
    char text[600];

    c->failed = true;
    db_error_pack(e, text);
    sqlite3_result_error(c->sq, text, -1);
}

void call_warn(struct call *c, enum db_warning_level level, const struct db_error *e)
{
    if (c->s->warn)
        c->s->warn(c->s->arg, level, e);
}

bool call_strict(const struct call *c)
{
    return c->s->writes && (c->s->mode & DB_MODE_STRICT) && !c->s->ignore;
}

void call_truncated(struct call *c, const char *type, struct str s)
{
    struct db_error e;

    if (s.len > 128)
        s.len = 128;
    (void)db_error_text(
        &e, DB_E_TRUNCATED_WRONG, "Truncated incorrect %s value: '" STR_F "'", type, STR_A(s));
    if (call_strict(c))
        call_raise(c, &e);
    else
        call_warn(c, DB_WARNING, &e);
}

void call_range(struct call *c, const char *type, const char *what)
{
    CALL_RAISE(c, DB_E_DATA_OUT_OF_RANGE, type, what);
}

/* ---- time zones ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;

    return q - (a % b < 0);
}

int64_t call_to_local(const struct call *c, int64_t utc_us)
{
    int64_t offset =
        c->s->tz ? db_tz_from_utc(c->s->tz, floor_div(utc_us, 1000000)) : c->s->utc_offset;

    return utc_us + offset * 1000000;
}

int64_t call_to_utc(const struct call *c, int64_t local_us)
{
    bool gap;
    int64_t seconds = floor_div(local_us, 1000000);

    if (!c->s->tz)
        return local_us - c->s->utc_offset * 1000000;
    return db_tz_to_utc(c->s->tz, seconds, &gap) * 1000000 +
           (gap ? 0 : local_us - seconds * 1000000);
}
