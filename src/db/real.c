/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/real.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum {
    REAL_DIGITS = 17,   /* always enough to read a double back */
    REAL_F_MAX = 15,    /* places before the point without an exponent */
    REAL_F_MIN = -14,   /* zeros behind it */
    REAL_DECIMALS = 30, /* MySQL's most */
};

/* A number taken apart: 0.DIGITS times 10 to the power of point. */
struct real_parts {
    bool negative;
    char digits[REAL_DIGITS + 1];
    size_t n;
    int point;
};

static double real_read(const char *text)
{
    return strtod(text, NULL);
}

/* text is printf's "-d.ddde+xx"; its radix may be the locale's, so it is stepped over unread. */
static void real_take_apart(const char *text, struct real_parts *out)
{
    const char *p = text, *e = strchr(text, 'e');

    out->negative = *p == '-';
    p += out->negative;
    out->n = 0;
    out->digits[0] = '0';
    for (; p < e && out->n < REAL_DIGITS; p++) {
        if (*p >= '0' && *p <= '9')
            out->digits[out->n++] = *p;
    }
    while (out->n > 1 && out->digits[out->n - 1] == '0')
        out->n--;
    out->point = (int)strtol(e + 1, NULL, 10) + 1;
}

static void real_split(double v, int least, int most, struct real_parts *out)
{
    char text[64];

    for (int n = least; n <= most; n++) {
        (void)snprintf(text, sizeof(text), "%.*e", n - 1, v);
        if (n == most || real_read(text) == v)
            break;
    }
    real_take_apart(text, out);
}

static size_t real_put_plain(const struct real_parts *r, char *p)
{
    char *at = p;

    if (r->point <= 0) {
        *at++ = '0';
        *at++ = '.';
        for (int i = r->point; i < 0; i++)
            *at++ = '0';
    }
    for (size_t i = 0; i < r->n; i++) {
        if (r->point > 0 && i == (size_t)r->point)
            *at++ = '.';
        *at++ = r->digits[i];
    }
    for (int i = (int)r->n; i < r->point; i++)
        *at++ = '0';
    return (size_t)(at - p);
}

static size_t real_put_exponent(const struct real_parts *r, char *p)
{
    char *at = p;

    *at++ = r->digits[0];
    if (r->n > 1)
        *at++ = '.';
    memcpy(at, r->digits + 1, r->n - 1);
    at += r->n - 1;
    at += snprintf(at, 16, "e%d", r->point - 1);
    return (size_t)(at - p);
}

static size_t real_put(const struct real_parts *r, char out[DB_REAL_TEXT])
{
    size_t n = 0;

    if (r->negative)
        out[n++] = '-';
    if (r->digits[0] == '0')
        out[n++] = '0';
    else if (r->point >= REAL_F_MIN && r->point <= REAL_F_MAX)
        n += real_put_plain(r, out + n);
    else
        n += real_put_exponent(r, out + n);
    out[n] = '\0';
    return n;
}

static size_t real_put_zero(char out[DB_REAL_TEXT])
{
    out[0] = '0';
    out[1] = '\0';
    return 1;
}

size_t db_real_text(double v, char out[DB_REAL_TEXT])
{
    struct real_parts r;

    if (!isfinite(v))
        return real_put_zero(out);
    /* Most are whole numbers, or close to one. */
    if (v > -1e15 && v < 1e15 && v == (double)(int64_t)v && (v != 0 || !signbit(v))) {
        size_t n = 0;

        if (v < 0)
            out[n++] = '-';
        n += str_put_u64(out + n, (uint64_t)(v < 0 ? -v : v));
        out[n] = '\0';
        return n;
    }
    /* Fewer than 15 digits are those with zeros behind; not where digits are lost below 1e-307. */
    real_split(v, fabs(v) < 1e-307 ? 1 : 15, REAL_DIGITS, &r);
    return real_put(&r, out);
}

size_t db_float_text(double v, char out[DB_REAL_TEXT])
{
    struct real_parts r;

    if (!isfinite(v))
        return real_put_zero(out);
    real_split(v, 6, 6, &r);
    return real_put(&r, out);
}

size_t db_fixed_text(double v, int decimals, char out[DB_REAL_TEXT])
{
    int n;

    if (!isfinite(v))
        return real_put_zero(out);
    if (decimals < 0 || decimals > REAL_DECIMALS)
        return db_real_text(v, out);
    n = snprintf(out, DB_REAL_TEXT, "%.*f", decimals, v);
    for (int i = 0; i < n; i++) {
        if (out[i] == ',') /* the radix of some locales */
            out[i] = '.';
    }
    return (size_t)n;
}
