/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/ddl/number.h"

#include <stdio.h>

enum { DIGITS_MAX = 100 };

/* A number taken apart: 0.d[0]d[1]... * 10^point */
struct digits {
    bool negative;
    char d[DIGITS_MAX + 1]; /* one before the first for a carry */
    int n;
    int point;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool read_exponent(struct str s, size_t i, int *exponent)
{
    bool negative = false;
    int v = 0;

    if (i == s.len)
        return true;
    if (s.p[i] != 'e' && s.p[i] != 'E')
        return false;
    i++;
    if (i < s.len && (s.p[i] == '+' || s.p[i] == '-'))
        negative = s.p[i++] == '-';
    if (i == s.len)
        return false;
    for (; i < s.len; i++) {
        if (!is_digit(s.p[i]))
            return false;
        v = v > 1000 ? v : v * 10 + (s.p[i] - '0');
    }
    *exponent += negative ? -v : v;
    return true;
}

static bool read_digits(struct str s, struct digits *out)
{
    bool any = false, point = false;
    size_t i = 0;

    *out = (struct digits){0};
    if (s.len > 0 && (s.p[0] == '-' || s.p[0] == '+'))
        out->negative = s.p[i++] == '-';
    for (; i < s.len && (is_digit(s.p[i]) || (s.p[i] == '.' && !point)); i++) {
        if (s.p[i] == '.') {
            point = true;
            continue;
        }
        any = true;
        if (s.p[i] == '0' && out->n == 0) {
            out->point -= point; /* leading zeros */
            continue;
        }
        if (out->n == DIGITS_MAX)
            return false;
        out->d[out->n++] = s.p[i];
        out->point += !point;
    }
    return any && read_exponent(s, i, &out->point) && out->point <= DIGITS_MAX &&
           out->point >= -1100;
}

/* Leaves `keep` digits, rounded. */
static void round_digits(struct digits *d, int keep)
{
    bool up;

    if (keep >= d->n)
        return;
    up = keep >= 0 && d->d[keep] >= '5';
    d->n = keep < 0 ? 0 : keep;
    if (!up)
        return;
    for (int i = d->n - 1; i >= 0; i--) {
        if (d->d[i] != '9') {
            d->d[i]++;
            return;
        }
        d->d[i] = '0';
    }
    memmove(d->d + 1, d->d, (size_t)d->n);
    d->d[0] = '1';
    d->n++;
    d->point++;
}

static bool is_zero(const struct digits *d)
{
    for (int i = 0; i < d->n; i++) {
        if (d->d[i] != '0')
            return false;
    }
    return true;
}

static char digit_at(const struct digits *d, int i)
{
    return i >= 0 && i < d->n ? d->d[i] : '0';
}

bool number_fixed(struct arena *arena, struct str text, int decimals, struct str *out)
{
    struct digits d;
    char *p, *at;

    if (!read_digits(str_trim(text), &d))
        return false;
    round_digits(&d, d.point + decimals);
    if (d.point > DIGITS_MAX)
        return false;
    if (is_zero(&d))
        d = (struct digits){0};
    p = at = arena_bytes(arena, (size_t)DIGITS_MAX + (size_t)decimals + 8);
    if (d.negative)
        *at++ = '-';
    for (int i = 0; i < d.point; i++)
        *at++ = digit_at(&d, i);
    if (d.point <= 0)
        *at++ = '0';
    if (decimals > 0)
        *at++ = '.';
    for (int i = 0; i < decimals; i++)
        *at++ = digit_at(&d, d.point + i);
    *at = '\0';
    *out = str_n(p, (size_t)(at - p));
    return true;
}

size_t number_digits(struct str fixed)
{
    size_t n = 0, i = fixed.len > 0 && fixed.p[0] == '-';

    if (i < fixed.len && fixed.p[i] == '0')
        return 0;
    for (; i < fixed.len && fixed.p[i] != '.'; i++)
        n++;
    return n;
}

/* ---- times ---- */

struct moment {
    int v[6]; /* year, month, day, hour, minute, second */
    int micro;
};

static int number_of(const char *p, size_t n)
{
    int v = 0;

    for (size_t i = 0; i < n; i++)
        v = v * 10 + (p[i] - '0');
    return v;
}

/* ".123" to microseconds, rounded to decimals. */
static int fraction(struct str s, int decimals)
{
    int v = 0, unit = 1;

    for (int i = 0; i < 6; i++) {
        int digit = (size_t)i < s.len ? s.p[i] - '0' : 0;

        if (i < decimals)
            v = v * 10 + digit;
    }
    if ((size_t)decimals < s.len && s.p[decimals] >= '5')
        v++;
    for (int i = decimals; i < 6; i++)
        unit *= 10;
    return v * unit;
}

static int full_year(int year, size_t digits)
{
    return digits > 2 ? year : year < 70 ? year + 2000 : year + 1900;
}

/* YYMMDD, YYYYMMDD, and with hhmmss */
static bool read_compact(struct str digits, struct moment *m)
{
    size_t year = digits.len == 8 || digits.len == 14 ? 4 : 2;

    if (digits.len != 6 && digits.len != 8 && digits.len != 12 && digits.len != 14)
        return false;
    m->v[0] = full_year(number_of(digits.p, year), year);
    for (size_t i = year, k = 1; i < digits.len; i += 2, k++)
        m->v[k] = number_of(digits.p + i, 2);
    return true;
}

static size_t digits_from(struct str s, size_t i)
{
    size_t n = 0;

    while (i + n < s.len && is_digit(s.p[i + n]))
        n++;
    return n;
}

static bool read_moment(struct str s, int decimals, struct moment *m)
{
    size_t i = digits_from(s, 0), n, k = 0;

    if (i >= 5) {
        if (!read_compact(str_sub(s, 0, i), m))
            return false;
    } else {
        for (i = 0; k < 6 && (n = digits_from(s, i)) > 0; k++) {
            if (n > (k == 0 ? 4U : 2U))
                return false;
            m->v[k] = k == 0 ? full_year(number_of(s.p, n), n) : number_of(s.p + i, n);
            i += n;
            if (i == s.len || (k == 5 && s.p[i] == '.'))
                break;
            for (i++; k == 2 && i < s.len && s.p[i] == ' ';)
                i++;
        }
        if (k < 2)
            return false;
    }
    if (i < s.len && s.p[i] == '.') {
        n = digits_from(s, i + 1);
        m->micro = fraction(str_sub(s, i + 1, n), decimals < 0 ? 0 : decimals);
        i += 1 + n;
    }
    return i == s.len;
}

static int days_in(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month < 1 || month > 12 ? 31 : days[month - 1] + (month == 2 && leap);
}

static bool moment_fits(const struct moment *m, uint32_t mode)
{
    const int *v = m->v;
    bool strict = mode & DB_MODE_STRICT;
    bool none = v[0] == 0 && v[1] == 0 && v[2] == 0;

    if (v[1] > 12 || v[2] > 31 || v[3] > 23 || v[4] > 59 || v[5] > 59)
        return false;
    if (none)
        return !(strict && (mode & DB_MODE_NO_ZERO_DATE));
    if ((v[1] == 0 || v[2] == 0) && strict && (mode & DB_MODE_NO_ZERO_IN_DATE))
        return false;
    return v[2] <= days_in(v[0], v[1]) || (mode & DB_MODE_ALLOW_INVALID_DATES);
}

static struct str with_fraction(struct arena *arena, struct str s, int micro, int decimals)
{
    char digits[16];

    if (decimals <= 0)
        return s;
    snprintf(digits, sizeof(digits), "%06d", micro);
    return arena_printf(arena, STR_F ".%.*s", STR_A(s), decimals, digits);
}

/* A fraction that was rounded up to a whole second. */
static bool carry(struct moment *m)
{
    static const int limits[] = {60, 60, 24};

    if (m->micro < 1000000)
        return true;
    m->micro -= 1000000;
    for (int i = 0; i < 3; i++) {
        if (++m->v[5 - i] < limits[i])
            return true;
        m->v[5 - i] = 0;
    }
    if (++m->v[2] > days_in(m->v[0], m->v[1])) {
        m->v[2] = 1;
        if (++m->v[1] > 12) {
            m->v[1] = 1;
            m->v[0]++;
        }
    }
    return m->v[0] < 10000;
}

bool time_date(struct arena *arena, struct str text, int decimals, uint32_t mode, struct str *out)
{
    struct moment m = {0};
    const int *v = m.v;

    if (!read_moment(str_trim(text), decimals, &m) || !moment_fits(&m, mode) || !carry(&m))
        return false;
    if (decimals < 0)
        *out = arena_printf(arena, "%04d-%02d-%02d", v[0], v[1], v[2]);
    else
        *out = with_fraction(arena,
            arena_printf(
                arena, "%04d-%02d-%02d %02d:%02d:%02d", v[0], v[1], v[2], v[3], v[4], v[5]),
            m.micro, decimals);
    return true;
}

/* "D hh:mm:ss", "hh:mm", "hhmmss": into hours, minutes, seconds. */
static bool read_clock(struct str s, int v[3], struct str *rest)
{
    size_t n = digits_from(s, 0), i = n, k = 0;
    int days = 0;

    if (n == 0 || n > 7)
        return false;
    v[0] = number_of(s.p, n);
    if (i == s.len || s.p[i] == '.') { /* hhmmss from the right */
        v[2] = v[0] % 100;
        v[1] = v[0] / 100 % 100;
        v[0] = v[0] / 10000;
        *rest = str_sub(s, i, s.len);
        return true;
    }
    if (s.p[i] == ' ') {
        days = v[0];
        i++;
        n = digits_from(s, i);
        if (n == 0 || n > 2 || days > 34)
            return false;
        v[0] = number_of(s.p + i, n);
        i += n;
    }
    for (k = 1; k < 3 && i < s.len && s.p[i] == ':'; k++) {
        n = digits_from(s, i + 1);
        if (n == 0 || n > 2)
            return false;
        v[k] = number_of(s.p + i + 1, n);
        i += 1 + n;
    }
    v[0] += days * 24;
    *rest = str_sub(s, i, s.len);
    return true;
}

bool time_time(struct arena *arena, struct str text, int decimals, struct str *out)
{
    struct str s = str_trim(text), rest = STR_NONE;
    bool negative = s.len > 0 && s.p[0] == '-';
    struct moment m = {0};
    int v[3] = {0};

    if (negative)
        s = str_sub(s, 1, s.len);
    if (!read_clock(s, v, &rest) || v[0] > 838 || v[1] > 59 || v[2] > 59)
        return false;
    if (rest.len > 0) {
        if (rest.p[0] != '.' || digits_from(rest, 1) != rest.len - 1)
            return false;
        m.micro = fraction(str_sub(rest, 1, rest.len), decimals);
    }
    m.v[4] = v[1];
    m.v[5] = v[2];
    if (m.micro >= 1000000) {
        m.micro -= 1000000;
        if (++v[2] == 60 && ++v[1] == 60)
            v[0]++;
        v[1] %= 60;
        v[2] %= 60;
    }
    if (v[0] > 838)
        return false;
    negative = negative && (v[0] || v[1] || v[2] || m.micro);
    *out = with_fraction(arena,
        arena_printf(arena, "%s%02d:%02d:%02d", negative ? "-" : "", v[0], v[1], v[2]), m.micro,
        decimals);
    return true;
}
