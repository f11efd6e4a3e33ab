/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* CAST and the conversions that expressions imply. */
#include <math.h>
#include <stdio.h>

#include "db/func/call.h"
#include "db/func/latin1.h"
#include "db/func/utf8.h"
#include "db/real.h"

void fn_text(struct call *c)
{
    if (!call_null(c, 0))
        ret_str(c, call_str(c, 0));
}

void fn_float_text(struct call *c)
{
    char text[DB_REAL_TEXT];

    if (call_null(c, 0))
        return;
    if (sqlite3_value_type(c->v[0]) != SQLITE_FLOAT)
        ret_str(c, call_str(c, 0));
    else
        ret_str(c, str_n(text, db_float_text(sqlite3_value_double(c->v[0]), text)));
}

void fn_double(struct call *c)
{
    if (!call_null(c, 0))
        ret_double(c, call_real(c, 0));
}

void fn_dec(struct call *c)
{
    struct num n;
    struct db_decimal d;

    if (call_null(c, 0))
        return;
    call_num(c, 0, &n);
    num_decimal(&n, &d);
    ret_dec(c, &d);
}

void fn_int(struct call *c)
{
    struct num n;
    struct db_decimal d;

    if (call_null(c, 0))
        return;
    call_num(c, 0, &n);
    if (n.kind == NUM_INT) {
        ret_i64(c, n.i);
        return;
    }
    num_decimal(&n, &d);
    (void)db_decimal_round(&d, 0, DB_DECIMAL_HALF_UP); /* that is what it is for */
    if (d.neg) {
        int64_t v;

        (void)db_decimal_to_i64(&d, &v); /* clips */
        ret_i64(c, v);
    } else {
        uint64_t v;

        (void)db_decimal_to_u64(&d, &v); /* clips */
        ret_u64(c, v);
    }
}

void fn_bool(struct call *c)
{
    if (!call_null(c, 0))
        ret_bool(c, call_real(c, 0) != 0);
}

void fn_unsigned(struct call *c)
{
    if (!call_null(c, 0))
        ret_u64(c, call_u64(c, 0));
}

/* A temporal value as number: an integer, or DECIMAL with the decimals that it has. */
static void ret_temporal_number(struct call *c, const struct db_time *t)
{
    char text[48];
    char fraction[8];
    long long v = (long long)db_time_to_number(t);
    int n;

    if (t->fsp == 0) {
        ret_i64(c, v);
        return;
    }
    (void)snprintf(fraction, sizeof(fraction), "%06d", t->micro % 1000000);
    n = snprintf(
        text, sizeof(text), "%s%lld.%.*s", t->neg && v == 0 ? "-" : "", v, t->fsp, fraction);
    ret_str(c, str_n(text, (size_t)n));
}

void fn_date_num(struct call *c)
{
    struct db_time t;

    if (!call_null(c, 0) && call_date(c, 0, 0, &t))
        ret_temporal_number(c, &t);
}

void fn_time_num(struct call *c)
{
    struct db_time t;

    if (!call_null(c, 0) && call_time(c, 0, &t))
        ret_temporal_number(c, &t);
}

/* Comparing with a temporal column: what is no date is an error, as in MySQL 8. */
static bool as_date(struct call *c, const char *type, struct db_time *t)
{
    unsigned warn = DB_TIME_INVALID;
    int type_of = sqlite3_value_type(c->v[0]);
    bool ok;

    if (type_of == SQLITE_NULL)
        return false;
    if (type_of == SQLITE_INTEGER || type_of == SQLITE_FLOAT)
        ok = db_date_number(call_i64(c, 0), 0, t, &warn);
    else
        ok = db_date_parse(call_str(c, 0), 0, t, &warn);
    if (!ok) {
        struct db_error e;
        struct str s = str_sub(call_str(c, 0), 0, 128);

        (void)db_error_text(
            &e, DB_E_WRONG_VALUE_ONLY, "Incorrect %s value: '" STR_F "'", type, STR_A(s));
        call_raise(c, &e);
    } else if (warn & DB_TIME_CUT) {
        struct db_error e;

        (void)db_error_text(&e, DB_E_TRUNCATED_WRONG,
            "Truncated incorrect datetime value: '" STR_F "'",
            STR_A(str_sub(call_str(c, 0), 0, 128)));
        call_warn(c, DB_WARNING, &e);
    }
    return ok;
}

/* The decimals that are there, without zeros at their end, but at least fsp. */
static int needed_fsp(const struct db_time *t, int fsp)
{
    int n = 6;
    int v = t->micro;

    for (; n > fsp && v % 10 == 0; n--)
        v /= 10;
    return n;
}

void fn_as_date(struct call *c)
{
    struct db_time t;

    if (!as_date(c, "DATE", &t))
        return;
    /* a DATETIME with a time sorts behind the day and equals none */
    if (t.kind == DB_TIME_DATETIME && !t.hour && !t.minute && !t.second && !t.micro)
        t.kind = DB_TIME_DATE;
    ret_time(c, &t, t.kind == DB_TIME_DATE ? 0 : needed_fsp(&t, 0));
}

void fn_as_datetime(struct call *c)
{
    struct db_time t;

    if (!as_date(c, "DATETIME", &t))
        return;
    t.kind = DB_TIME_DATETIME;
    ret_time(c, &t, needed_fsp(&t, call_fsp(c, 1)));
}

void fn_as_time(struct call *c)
{
    struct db_time t;

    if (!call_null(c, 0) && call_time(c, 0, &t))
        ret_time(c, &t, needed_fsp(&t, call_fsp(c, 1)));
}

/* The integer that a text begins with, as CAST reads it: no exponent, no point. */
static void cast_text(struct call *c, bool is_unsigned)
{
    struct str s = call_str(c, 0);
    struct str all = s;
    size_t i = 0;
    bool neg = false;
    uint64_t v = 0;
    bool any = false;
    bool over = false;

    while (i < s.len && (s.p[i] == ' ' || (s.p[i] >= '\t' && s.p[i] <= '\r')))
        i++;
    if (i < s.len && (s.p[i] == '-' || s.p[i] == '+'))
        neg = s.p[i++] == '-';
    for (; i < s.len && s.p[i] >= '0' && s.p[i] <= '9'; i++, any = true) {
        if (over || __builtin_mul_overflow(v, UINT64_C(10), &v) ||
            __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
            over = true;
    }
    if (over)
        v = UINT64_MAX;
    if (neg && (over || v > (uint64_t)INT64_MAX + 1)) {
        v = (uint64_t)INT64_MAX + 1;
        over = true;
    }
    while (i < s.len && s.p[i] == ' ')
        i++;
    if (!any || i < s.len || over)
        call_truncated(c, "INTEGER", all);
    if (c->failed)
        return;
    if (neg)
        v = 0 - v;
    if (is_unsigned)
        ret_u64(c, v);
    else
        ret_i64(c, (int64_t)v);
}

/* A DECIMAL lies as text too: it is rounded, where a string is cut. Strings that look like one
 * ("1.7") cannot be told apart; MySQL cuts them, and so does this. */
static void cast_int(struct call *c, bool is_unsigned)
{
    int type = sqlite3_value_type(c->v[0]);
    double d;

    if (type == SQLITE_NULL)
        return;
    if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
        cast_text(c, is_unsigned);
        return;
    }
    if (type == SQLITE_INTEGER) {
        if (is_unsigned)
            ret_u64(c, (uint64_t)sqlite3_value_int64(c->v[0]));
        else
            ret_arg(c, 0);
        return;
    }
    d = rint(sqlite3_value_double(c->v[0]));
    if (is_unsigned && d >= 9223372036854775808.0)
        ret_u64(c, d >= 18446744073709551615.0 ? UINT64_MAX : (uint64_t)d);
    else if (is_unsigned)
        ret_u64(c, (uint64_t)call_i64(c, 0));
    else
        ret_i64(c, call_i64(c, 0));
}

void fn_cast_signed(struct call *c)
{
    cast_int(c, false);
}

void fn_cast_unsigned(struct call *c)
{
    cast_int(c, true);
}

void fn_cast_decimal(struct call *c)
{
    struct db_decimal d;
    struct num n;
    int precision;
    int scale;
    int type = sqlite3_value_type(c->v[0]);

    if (type == SQLITE_NULL)
        return;
    precision = (int)MIN(MAX(call_i64(c, 1), 0), DB_DECIMAL_DIGITS);
    scale = (int)MIN(MAX(call_i64(c, 2), 0), DB_DECIMAL_SCALE);
    if (precision == 0)
        precision = 10;
    scale = MIN(scale, precision);
    if (type == SQLITE_TEXT || type == SQLITE_BLOB) {
        struct str s = call_str(c, 0);
        bool overflow;
        size_t used = db_decimal_parse(s, &d, &overflow);

        while (used < s.len && used > 0 && s.p[used] == ' ')
            used++;
        if (used < s.len || used == 0)
            call_truncated(c, "DECIMAL", s);
    } else {
        call_num(c, 0, &n);
        num_decimal(&n, &d);
    }
    (void)db_decimal_round(&d, scale, DB_DECIMAL_HALF_UP); /* that is what it is for */
    if (db_decimal_int_digits(&d) > precision - scale || d.scale < scale) {
        struct str s = call_str(c, 0);

        db_decimal_max(&d, precision, scale, d.neg);
        call_truncated(c, "DECIMAL", s);
    }
    if (!c->failed)
        ret_dec(c, &d);
}

void fn_cast_double(struct call *c)
{
    fn_double(c);
}

void fn_cast_float(struct call *c)
{
    if (!call_null(c, 0))
        ret_double(c, (double)(float)call_real(c, 0));
}

void fn_cast_char(struct call *c)
{
    struct str s;
    int64_t n;

    if (call_null(c, 0))
        return;
    s = call_str(c, 0);
    n = call_i64(c, 1);
    if (n >= 0) {
        size_t at = utf8_offset(s, (size_t)n);

        if (at < s.len)
            call_truncated(c, "CHAR", s);
        s.len = at;
    }
    if (!c->failed)
        ret_str(c, s);
}

void fn_cast_binary(struct call *c)
{
    struct str s;
    struct buf b = {0};
    int64_t n;

    if (call_null(c, 0))
        return;
    s = call_str(c, 0);
    n = call_i64(c, 1);
    if (n < 0) {
        ret_blob(c, s);
        return;
    }
    if (!ret_fits(c, (uint64_t)n))
        return;
    if (s.len > (size_t)n)
        call_truncated(c, "BINARY", s);
    buf_add(&b, s.p, MIN(s.len, (size_t)n));
    while (b.len < (size_t)n)
        buf_add_char(&b, '\0');
    ret_buf(c, &b, true);
}

void fn_cast_date(struct call *c)
{
    struct db_time t;

    if (call_null(c, 0) || !call_date(c, 0, call_date_flags(c), &t))
        return;
    t.kind = DB_TIME_DATE;
    ret_time(c, &t, 0);
}

void fn_cast_datetime(struct call *c)
{
    struct db_time t;
    int fsp = call_fsp(c, 1);

    if (call_null(c, 0) || !call_date(c, 0, call_date_flags(c), &t))
        return;
    t.kind = DB_TIME_DATETIME;
    if (db_time_round(&t, fsp))
        ret_time(c, &t, fsp);
}

void fn_cast_time(struct call *c)
{
    struct db_time t;
    int fsp = call_fsp(c, 1);

    if (call_null(c, 0) || !call_time(c, 0, &t))
        return;
    (void)db_time_round(&t, fsp); /* clipped is right */
    ret_time(c, &t, fsp);
}

void fn_cast_year(struct call *c)
{
    int64_t v;

    if (call_null(c, 0))
        return;
    v = call_i64(c, 0);
    if (v > 0 && v < 70)
        v += 2000;
    else if (v >= 70 && v < 100)
        v += 1900;
    else if (v == 0 && sqlite3_value_type(c->v[0]) == SQLITE_TEXT)
        v = 2000;
    if (v == 0 || (v >= 1901 && v <= 2155))
        ret_i64(c, v);
}

/* Text of which every character is below the limit; others become question marks. */
static void ret_limited(struct call *c, struct str s, bool (*fits)(uint32_t c))
{
    struct buf b = {0};

    for (size_t i = 0; i < s.len;) {
        uint32_t x = utf8_next(s, &i);

        utf8_encode(&b, fits(x) ? x : '?');
    }
    ret_buf(c, &b, false);
}

static bool in_ascii(uint32_t c)
{
    return c < 0x80;
}

static bool in_latin1(uint32_t c)
{
    return latin1_byte(c) >= 0;
}

static bool in_bmp(uint32_t c)
{
    return c < 0x10000;
}

static bool in_unicode(uint32_t c)
{
    return c < UTF8_BAD;
}

void fn_convert(struct call *c)
{
    struct str s;
    struct str charset;
    bool latin1;

    if (call_any_null(c))
        return;
    s = call_str(c, 0);
    charset = call_str(c, 1);
    latin1 = str_ieq(charset, STR("latin1"));
    if (str_ieq(charset, STR("binary"))) {
        ret_blob(c, s);
    } else if (latin1 && call_blob(c, 0)) {
        struct buf b = {0};

        for (size_t i = 0; i < s.len; i++)
            utf8_encode(&b, latin1_char((unsigned char)s.p[i]));
        ret_buf(c, &b, false);
    } else if (latin1) {
        ret_limited(c, s, in_latin1);
    } else if (str_ieq(charset, STR("ascii"))) {
        ret_limited(c, s, in_ascii);
    } else if (str_ieq(charset, STR("utf8")) || str_ieq(charset, STR("utf8mb3"))) {
        ret_limited(c, s, in_bmp);
    } else if (str_is_utf8(s)) {
        ret_str(c, s);
    } else {
        ret_limited(c, s, in_unicode);
    }
}

/* TIMESTAMP and the session's time zone; zero dates stay. */
static void shift_zone(struct call *c, bool to_local)
{
    struct db_time t;
    struct db_time r;
    unsigned warn;
    int64_t us;

    if (call_null(c, 0))
        return;
    if (!db_date_parse(call_str(c, 0), 0, &t, &warn) || t.month == 0 || t.day == 0) {
        ret_arg(c, 0);
        return;
    }
    us = db_time_to_micros(&t);
    us = to_local ? call_to_local(c, us) : call_to_utc(c, us);
    if (db_time_from_micros(us, &r))
        ret_time(c, &r, t.fsp);
}

void fn_ts_local(struct call *c)
{
    shift_zone(c, true);
}

void fn_ts_utc(struct call *c)
{
    shift_zone(c, false);
}
