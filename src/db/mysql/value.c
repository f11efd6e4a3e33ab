/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/mysql/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/mysql/value_text.h"
#include "db/real.h"

enum { NOT_FIXED = 31, WIDTH_MAX = 255 };

size_t mysql_bit_bytes(uint64_t v, int bits, char out[8])
{
    size_t n = bits > 0 && bits <= 64 ? ((size_t)bits + 7) / 8 : 8;

    for (size_t i = 0; i < n; i++)
        out[i] = (char)(v >> (8 * (n - 1 - i)));
    return n;
}

/* Reads what strtod() reads of the start; s need not end in a NUL. */
double mysql_value_real(const struct db_value *v)
{
    char text[DB_REAL_TEXT];

    switch (v->kind) {
    case DB_V_INT:
        return (double)v->i;
    case DB_V_UINT:
        return (double)v->u;
    case DB_V_REAL:
        return v->d;
    case DB_V_TEXT:
    case DB_V_BLOB:
        (void)str_put(text, sizeof(text), v->s);
        return strtod(text, NULL);
    default:
        return 0;
    }
}

static uint64_t value_of_real(double d)
{
    if (!isfinite(d))
        return 0;
    if (d >= 18446744073709551615.0)
        return UINT64_MAX;
    if (d >= 9223372036854775808.0)
        return (uint64_t)d;
    return d <= -9223372036854775808.0 ? (uint64_t)INT64_MIN : (uint64_t)(int64_t)round(d);
}

uint64_t mysql_value_int(const struct db_value *v)
{
    int64_t i;
    uint64_t u;

    switch (v->kind) {
    case DB_V_INT:
        return (uint64_t)v->i;
    case DB_V_UINT:
        return v->u;
    case DB_V_REAL:
        return value_of_real(v->d);
    case DB_V_TEXT:
    case DB_V_BLOB:
        if (str_i64(v->s, &i) == 0)
            return (uint64_t)i;
        if (str_u64(v->s, &u) == 0)
            return u;
        return value_of_real(mysql_value_real(v));
    default:
        return 0;
    }
}

/* With zeros before it, width digits at least. */
static struct str value_put_int(uint64_t v, bool negative, size_t width, char *out)
{
    char digits[20];
    size_t n = str_put_u64(digits, negative ? 0 - v : v), len = 0;

    if (negative)
        out[len++] = '-';
    while (width > n && len < width - n)
        out[len++] = '0';
    memcpy(out + len, digits, n);
    return str_n(out, len + n);
}

/* Digits that the column shows at least. */
static size_t value_width(const struct db_column *c)
{
    if (c->type.base == DB_T_YEAR)
        return 4;
    if (!c->type.zerofill && !(c->flags & DB_COL_ZEROFILL))
        return 0;
    return MIN(c->type.length > 0 ? (size_t)c->type.length : (size_t)c->length, (size_t)WIDTH_MAX);
}

static struct str value_put_real(const struct db_column *c, double d, char *out)
{
    uint64_t v;

    if (db_base_is_int(c->type.base)) {
        v = value_of_real(d);
        return value_put_int(v, d < 0 && (int64_t)v < 0, value_width(c), out);
    }
    if (db_base_is_number(c->type.base) && c->decimals < NOT_FIXED)
        return str_n(out, db_fixed_text(d, c->decimals, out));
    if (c->type.base == DB_T_FLOAT)
        return str_n(out, db_float_text(d, out));
    return str_n(out, db_real_text(d, out));
}

struct str mysql_value_text(
    const struct db_column *c, const struct db_value *v, char out[MYSQL_VALUE_TEXT])
{
    bool is_real = c->type.base == DB_T_FLOAT || c->type.base == DB_T_DOUBLE;

    if (v->kind == DB_V_TEXT || v->kind == DB_V_BLOB)
        return v->s;
    if (c->type.base == DB_T_BIT)
        return str_n(out, mysql_bit_bytes(mysql_value_int(v), (int)c->type.length, out));
    if (v->kind == DB_V_REAL || (is_real && c->decimals < NOT_FIXED))
        return value_put_real(c, mysql_value_real(v), out);
    if (v->kind == DB_V_INT)
        return value_put_int((uint64_t)v->i, v->i < 0, value_width(c), out);
    return value_put_int(v->u, false, value_width(c), out);
}

void mysql_put_text_row(
    struct buf *b, const struct db_column *columns, const struct db_value *values, uint32_t n)
{
    char text[MYSQL_VALUE_TEXT];

    for (uint32_t i = 0; i < n; i++) {
        if (values[i].kind == DB_V_NULL)
            mysql_put_null(b);
        else
            mysql_put_lenstr(b, mysql_value_text(&columns[i], &values[i], text));
    }
}
