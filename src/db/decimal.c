/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/decimal.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attr.h"
#include "db/real.h"

enum { BASE = 1000000000, WIDE = 2 * DB_DECIMAL_WORDS };

static const uint32_t pow10s[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};

/* Whole numbers wide enough for products and shifted dividends. */
struct wide {
    int n;
    uint32_t w[WIDE];
};

static void trim(struct wide *a)
{
    while (a->n > 0 && a->w[a->n - 1] == 0)
        a->n--;
}

static void widen(const struct db_decimal *d, struct wide *out)
{
    memset(out, 0, sizeof(*out));
    out->n = d->n;
    memcpy(out->w, d->w, d->n * sizeof(d->w[0]));
}

/* a = a * m + plus; words beyond WIDE cannot come up (the callers' digits are bounded). */
static void mul_small(struct wide *a, uint32_t m, uint32_t plus)
{
    uint64_t carry = plus;

    for (int i = 0; i < a->n; i++) {
        carry += (uint64_t)a->w[i] * m;
        a->w[i] = (uint32_t)(carry % BASE);
        carry /= BASE;
    }
    if (carry && a->n < WIDE)
        a->w[a->n++] = (uint32_t)carry;
}

static uint32_t div_small(struct wide *a, uint32_t by)
{
    uint64_t rest = 0;

    for (int i = a->n - 1; i >= 0; i--) {
        rest = rest * BASE + a->w[i];
        a->w[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    trim(a);
    return (uint32_t)rest;
}

/* a * 10^k */
static void shift_up(struct wide *a, int k)
{
    int words = k / 9;

    if (a->n == 0)
        return;
    if (words > 0) {
        int keep = MIN(a->n, WIDE - words);

        memmove(a->w + words, a->w, (size_t)keep * sizeof(a->w[0]));
        memset(a->w, 0, (size_t)words * sizeof(a->w[0]));
        a->n = keep + words;
    }
    if (k % 9)
        mul_small(a, pow10s[k % 9], 0);
}

/* a / 10^k; *half: the first digit that went is 5 or more; *lost: something went */
static void shift_down(struct wide *a, int k, bool *half, bool *lost)
{
    uint32_t last = 0;

    *half = *lost = false;
    for (; k > 9; k -= 9)
        *lost |= div_small(a, BASE) != 0;
    if (k > 0) {
        last = div_small(a, pow10s[k]);
        *lost |= last != 0;
        *half = last >= 5 * pow10s[k - 1];
    }
}

static int cmp_wide(const struct wide *a, const struct wide *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (int i = a->n - 1; i >= 0; i--) {
        if (a->w[i] != b->w[i])
            return a->w[i] < b->w[i] ? -1 : 1;
    }
    return 0;
}

static void add_wide(struct wide *a, const struct wide *b)
{
    uint32_t carry = 0;
    int n = MAX(a->n, b->n);

    for (int i = 0; i < n; i++) {
        uint32_t v = (i < a->n ? a->w[i] : 0) + (i < b->n ? b->w[i] : 0) + carry;

        carry = v >= BASE;
        a->w[i] = carry ? v - BASE : v;
    }
    a->n = n;
    if (carry && n < WIDE)
        a->w[a->n++] = 1;
}

/* a >= b */
static void sub_wide(struct wide *a, const struct wide *b)
{
    uint32_t borrow = 0;

    for (int i = 0; i < a->n; i++) {
        uint32_t minus = (i < b->n ? b->w[i] : 0) + borrow;

        borrow = a->w[i] < minus;
        a->w[i] = borrow ? a->w[i] + BASE - minus : a->w[i] - minus;
    }
    trim(a);
}

static int digits(const struct wide *a)
{
    int n;

    if (a->n == 0)
        return 0;
    n = (a->n - 1) * 9;
    for (uint32_t v = a->w[a->n - 1]; v; v /= 10)
        n++;
    return n;
}

/* The three words of a that end at word i, as one number. */
static long double top(const struct wide *a, int i)
{
    long double v = 0;

    for (int k = 0; k < 3; k++, i--)
        v = v * BASE + (i >= 0 && i < WIDE ? a->w[i] : 0);
    return v;
}

/* t = b * digit * BASE^at; is it at most a? */
static bool fits_below(
    const struct wide *a, const struct wide *b, uint32_t digit, int at, struct wide *t)
{
    *t = *b;
    mul_small(t, digit, 0);
    shift_up(t, at * 9);
    trim(t);
    return cmp_wide(t, a) <= 0;
}

/*
 * a / b, quotient in *q, remainder in *a: long division in base 10^9, each digit of the quotient
 * guessed from the leading words and put right afterwards.
 */
static void div_wide(struct wide *a, const struct wide *b, struct wide *q)
{
    struct wide t;

    memset(q, 0, sizeof(*q));
    if (b->n == 1) {
        *q = *a;
        a->w[0] = div_small(q, b->w[0]);
        a->n = a->w[0] ? 1 : 0;
        return;
    }
    for (int at = a->n - b->n; at >= 0; at--) {
        long double guess = top(a, at + b->n) * BASE / top(b, b->n - 1);
        uint32_t digit = guess >= BASE ? BASE - 1 : (uint32_t)guess;

        while (digit > 0 && !fits_below(a, b, digit, at, &t))
            digit--;
        while (digit < BASE - 1 && fits_below(a, b, digit + 1, at, &t))
            digit++;
        if (!digit)
            continue;
        (void)fits_below(a, b, digit, at, &t); /* t is what to take away */
        sub_wide(a, &t);
        q->w[at] = digit;
        q->n = MAX(q->n, at + 1);
    }
}

/* Into *out with that scale; decimals are cut (rounded) when there are more than 65 digits or 30
 * decimals. */
static bool narrow(struct wide *a, int scale, bool neg, struct db_decimal *out)
{
    int cut = MAX(scale - DB_DECIMAL_SCALE, 0);
    bool half;
    bool lost;

    trim(a);
    cut = MAX(cut, MIN(digits(a) - DB_DECIMAL_DIGITS, scale));
    if (cut > 0) {
        shift_down(a, cut, &half, &lost);
        if (half)
            add_wide(a, &(struct wide){.n = 1, .w = {1}});
        scale -= cut;
    }
    if (digits(a) > DB_DECIMAL_DIGITS)
        return false;
    memset(out, 0, sizeof(*out));
    out->n = (uint8_t)a->n;
    out->scale = (uint8_t)scale;
    out->neg = neg && a->n > 0;
    memcpy(out->w, a->w, (size_t)a->n * sizeof(a->w[0]));
    return true;
}

void db_decimal_zero(struct db_decimal *out, int scale)
{
    memset(out, 0, sizeof(*out));
    out->scale = (uint8_t)MIN(MAX(scale, 0), DB_DECIMAL_SCALE);
}

void db_decimal_u64(struct db_decimal *out, uint64_t v)
{
    memset(out, 0, sizeof(*out));
    for (; v; v /= BASE)
        out->w[out->n++] = (uint32_t)(v % BASE);
}

void db_decimal_i64(struct db_decimal *out, int64_t v)
{
    db_decimal_u64(out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
    out->neg = v < 0;
}

bool db_decimal_double(struct db_decimal *out, double v)
{
    char text[DB_REAL_TEXT];
    size_t n;
    bool overflow = false;

    if (!isfinite(v)) {
        db_decimal_max(out, DB_DECIMAL_DIGITS, 0, v < 0);
        return false;
    }
    n = db_real_text(v, text);
    (void)db_decimal_parse(str_n(text, n), out, &overflow); /* a number it is */
    return !overflow;
}

void db_decimal_max(struct db_decimal *out, int precision, int scale, bool neg)
{
    struct wide a = {.n = 0};

    for (int i = 0; i < precision; i++) {
        if (a.n == 0)
            a.w[a.n++] = 9;
        else
            mul_small(&a, 10, 9);
    }
    (void)narrow(&a, scale, neg, out); /* 65 digits fit */
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The exponent at *i, if one is there; *i goes behind it. */
static long parse_exponent(struct str s, size_t *i)
{
    size_t at = *i;
    bool neg = false;
    long v = 0;

    if (at >= s.len || (s.p[at] != 'e' && s.p[at] != 'E'))
        return 0;
    at++;
    if (at < s.len && (s.p[at] == '+' || s.p[at] == '-'))
        neg = s.p[at++] == '-';
    if (at >= s.len || !is_digit(s.p[at]))
        return 0;
    for (; at < s.len && is_digit(s.p[at]); at++)
        v = v < 100000 ? v * 10 + (s.p[at] - '0') : v;
    *i = at;
    return neg ? -v : v;
}

/* Digits in a text: where they are, and where the point stands among them. */
struct mantissa {
    const char *p;
    size_t end;
    size_t first; /* that is not zero */
    long before;  /* digits from the first one to the point; negative: zeros after the point */
    long count;   /* digits from the first one on */
};

static size_t scan(struct str s, size_t i, struct mantissa *m)
{
    bool point = false;
    bool any = false;
    bool started = false;

    *m = (struct mantissa){.p = s.p};
    for (; i < s.len; i++) {
        if (s.p[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(s.p[i]))
            break;
        any = true;
        if (!started && s.p[i] != '0') {
            started = true;
            m->first = i;
        }
        if (started) {
            m->count++;
            m->before += !point;
        } else {
            m->before -= point;
        }
    }
    m->end = i;
    if (!started)
        m->before = 0;
    return any ? i : 0;
}

/* Decimals that were written: what the exponent leaves of them. */
static int written_scale(struct str s, size_t from, size_t to, long exponent)
{
    ptrdiff_t point = str_chr(str_sub(s, from, to - from), '.');
    long scale = point < 0 ? 0 : (long)(to - from) - point - 1;

    scale -= exponent;
    return (int)MIN(MAX(scale, 0), DB_DECIMAL_SCALE);
}

static void take_digits(const struct mantissa *m, long take, struct wide *a)
{
    for (size_t i = m->first; take > 0 && i < m->end; i++) {
        if (m->p[i] == '.')
            continue;
        if (a->n == 0) {
            if (m->p[i] != '0')
                a->w[a->n++] = (uint32_t)(m->p[i] - '0');
        } else {
            mul_small(a, 10, (uint32_t)(m->p[i] - '0'));
        }
        take--;
    }
    for (; take > 0; take--)
        mul_small(a, 10, 0);
}

size_t db_decimal_parse(struct str s, struct db_decimal *out, bool *overflow)
{
    struct mantissa m;
    struct wide a = {.n = 0};
    size_t i = 0;
    size_t from;
    size_t end;
    bool neg = false;
    long exponent;
    int scale;

    *overflow = false;
    while (i < s.len && (s.p[i] == ' ' || (s.p[i] >= '\t' && s.p[i] <= '\r')))
        i++;
    if (i < s.len && (s.p[i] == '-' || s.p[i] == '+'))
        neg = s.p[i++] == '-';
    from = i;
    end = scan(s, i, &m);
    if (end == 0) {
        db_decimal_zero(out, 0);
        return 0;
    }
    i = end;
    exponent = parse_exponent(s, &i);
    scale = written_scale(s, from, end, exponent);
    if (m.count > 0 && m.before + exponent > DB_DECIMAL_DIGITS) {
        *overflow = true;
        db_decimal_max(out, DB_DECIMAL_DIGITS, 0, neg);
        return i;
    }
    if (m.count > 0) { /* one digit more than wanted: it rounds */
        take_digits(&m, m.before + exponent + scale + 1, &a);
        if (m.before + exponent + scale + 1 > 0) {
            bool half = div_small(&a, 10) >= 5;

            if (half)
                add_wide(&a, &(struct wide){.n = 1, .w = {1}});
        }
    }
    if (!narrow(&a, scale, neg, out)) {
        *overflow = true;
        db_decimal_max(out, DB_DECIMAL_DIGITS, 0, neg);
    }
    return i;
}

size_t db_decimal_print(const struct db_decimal *d, char out[DB_DECIMAL_TEXT])
{
    char text[DB_DECIMAL_WORDS * 9 + 1];
    int n = 0;
    size_t len = 0;
    int whole;

    for (int i = 0; i < d->n; i++) { /* backwards */
        uint32_t v = d->w[i];

        for (int k = 0; k < 9 && (i < d->n - 1 || v); k++, v /= 10)
            text[n++] = (char)('0' + v % 10);
    }
    while (n <= d->scale)
        text[n++] = '0';
    whole = n - d->scale;
    if (d->neg)
        out[len++] = '-';
    for (int i = 0; i < n; i++) {
        if (i == whole)
            out[len++] = '.';
        out[len++] = text[n - 1 - i];
    }
    out[len] = '\0';
    return len;
}

static bool sum(const struct db_decimal *a, bool a_neg, const struct db_decimal *b, bool b_neg,
    struct db_decimal *out)
{
    struct wide x;
    struct wide y;
    int scale = MAX(a->scale, b->scale);

    widen(a, &x);
    widen(b, &y);
    shift_up(&x, scale - a->scale);
    shift_up(&y, scale - b->scale);
    if (a_neg == b_neg) {
        add_wide(&x, &y);
        return narrow(&x, scale, a_neg, out);
    }
    if (cmp_wide(&x, &y) >= 0) {
        sub_wide(&x, &y);
        return narrow(&x, scale, a_neg, out);
    }
    sub_wide(&y, &x);
    return narrow(&y, scale, b_neg, out);
}

bool db_decimal_add(const struct db_decimal *a, const struct db_decimal *b, struct db_decimal *out)
{
    return sum(a, a->neg, b, b->neg, out);
}

bool db_decimal_sub(const struct db_decimal *a, const struct db_decimal *b, struct db_decimal *out)
{
    return sum(a, a->neg, b, !b->neg, out);
}

bool db_decimal_mul(const struct db_decimal *a, const struct db_decimal *b, struct db_decimal *out)
{
    struct wide r = {.n = 0};

    for (int i = 0; i < a->n; i++) {
        uint64_t carry = 0;

        for (int k = 0; k < b->n || carry; k++) {
            carry += r.w[i + k] + (k < b->n ? (uint64_t)a->w[i] * b->w[k] : 0);
            r.w[i + k] = (uint32_t)(carry % BASE);
            carry /= BASE;
        }
    }
    r.n = a->n && b->n ? MIN(a->n + b->n, WIDE) : 0;
    return narrow(&r, a->scale + b->scale, a->neg != b->neg, out);
}

/*
 * MySQL divides in words of nine digits: so many decimals it has before it rounds to the scale of
 * the result. When they are just as many, the rest is cut.
 */
static int quotient_decimals(int a_scale, int b_scale, int more)
{
    int a = (a_scale + 8) / 9 * 9;
    int b = (b_scale + 8) / 9 * 9;
    int extra = MAX(more - (a - a_scale) - (b - b_scale), 0);

    return (a + b + extra + 8) / 9 * 9;
}

bool db_decimal_div(
    const struct db_decimal *a, const struct db_decimal *b, int more, struct db_decimal *out)
{
    struct wide x;
    struct wide y;
    struct wide q;
    int scale = MIN(a->scale + MAX(more, 0), DB_DECIMAL_SCALE);
    int computed = MAX(quotient_decimals(a->scale, b->scale, MAX(more, 0)), scale);
    bool half;
    bool lost;

    assert(b->n > 0);
    widen(a, &x);
    widen(b, &y);
    /* a/10^sa / (b/10^sb) * 10^computed */
    shift_up(&x, computed - a->scale + b->scale);
    div_wide(&x, &y, &q);
    shift_down(&q, computed - scale, &half, &lost);
    if (half)
        add_wide(&q, &(struct wide){.n = 1, .w = {1}});
    return narrow(&q, scale, a->neg != b->neg, out);
}

/* Both as whole numbers of the same scale, which is returned. */
static int align(
    const struct db_decimal *a, const struct db_decimal *b, struct wide *x, struct wide *y)
{
    int scale = MAX(a->scale, b->scale);

    widen(a, x);
    widen(b, y);
    shift_up(x, scale - a->scale);
    shift_up(y, scale - b->scale);
    return scale;
}

bool db_decimal_intdiv(
    const struct db_decimal *a, const struct db_decimal *b, struct db_decimal *out)
{
    struct wide x;
    struct wide y;
    struct wide q;

    assert(b->n > 0);
    (void)align(a, b, &x, &y); /* the scale falls out of the quotient */
    div_wide(&x, &y, &q);
    return narrow(&q, 0, a->neg != b->neg, out);
}

bool db_decimal_mod(const struct db_decimal *a, const struct db_decimal *b, struct db_decimal *out)
{
    struct wide x;
    struct wide y;
    struct wide q;
    int scale = align(a, b, &x, &y);

    assert(b->n > 0);
    div_wide(&x, &y, &q);
    return narrow(&x, scale, a->neg, out);
}

bool db_decimal_round(struct db_decimal *d, int scale, enum db_decimal_mode mode)
{
    struct wide a;
    bool neg = d->neg;
    bool half = false;
    bool lost = false;
    bool up;

    scale = MIN(scale, DB_DECIMAL_SCALE);
    widen(d, &a);
    if (scale >= d->scale) {
        shift_up(&a, scale - d->scale);
        if (!narrow(&a, scale, neg, d)) /* no room for the zeros: as it was */
            return false;
        return false;
    }
    if (d->scale - scale > DB_DECIMAL_WORDS * 9) {
        lost = a.n > 0;
        a.n = 0;
    } else {
        shift_down(&a, d->scale - scale, &half, &lost);
    }
    up = mode == DB_DECIMAL_HALF_UP ? half
                                    : lost && mode == (neg ? DB_DECIMAL_FLOOR : DB_DECIMAL_CEIL);
    if (up)
        add_wide(&a, &(struct wide){.n = 1, .w = {1}});
    if (scale < 0) {
        shift_up(&a, MIN(-scale, DB_DECIMAL_DIGITS + 1));
        scale = 0;
    }
    if (!narrow(&a, scale, neg, d))
        db_decimal_max(d, DB_DECIMAL_DIGITS, 0, neg);
    return lost;
}

int db_decimal_cmp(const struct db_decimal *a, const struct db_decimal *b)
{
    struct wide x;
    struct wide y;
    int r;

    if (a->neg != b->neg)
        return a->neg ? -1 : 1;
    (void)align(a, b, &x, &y); /* only the order counts */
    r = cmp_wide(&x, &y);
    return a->neg ? -r : r;
}

bool db_decimal_is_zero(const struct db_decimal *d)
{
    return d->n == 0;
}

int db_decimal_int_digits(const struct db_decimal *d)
{
    struct wide a;

    widen(d, &a);
    return MAX(digits(&a) - d->scale, 0);
}

double db_decimal_to_double(const struct db_decimal *d)
{
    char text[DB_DECIMAL_TEXT];

    db_decimal_print(d, text);
    return strtod(text, NULL);
}

/* The magnitude as u64; false: too great. */
static bool magnitude(const struct db_decimal *d, uint64_t *out)
{
    uint64_t v = 0;

    for (int i = d->n - 1; i >= 0; i--) {
        if (__builtin_mul_overflow(v, (uint64_t)BASE, &v) ||
            __builtin_add_overflow(v, (uint64_t)d->w[i], &v))
            return false;
    }
    *out = v;
    return true;
}

bool db_decimal_to_u64(const struct db_decimal *d, uint64_t *out)
{
    struct db_decimal r = *d;

    (void)db_decimal_round(&r, 0, DB_DECIMAL_HALF_UP); /* what is lost does not matter */
    if (r.neg) {
        *out = 0;
        return false;
    }
    if (magnitude(&r, out))
        return true;
    *out = UINT64_MAX;
    return false;
}

bool db_decimal_to_i64(const struct db_decimal *d, int64_t *out)
{
    struct db_decimal r = *d;
    uint64_t v;

    (void)db_decimal_round(&r, 0, DB_DECIMAL_HALF_UP); /* what is lost does not matter */
    if (!magnitude(&r, &v) || v > (uint64_t)INT64_MAX + r.neg) {
        *out = r.neg ? INT64_MIN : INT64_MAX;
        return false;
    }
    *out = r.neg ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}
