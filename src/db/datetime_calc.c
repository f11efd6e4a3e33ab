/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Intervals: their units and texts, adding them, differences, EXTRACT(). */
#include <stdlib.h>

#include "db/datetime.h"
#include "db/decimal.h"

/* The parts that an interval's text may have, from the left. */
enum part { P_NONE, P_MONTHS, P_YEARS, P_DAYS, P_HOURS, P_MINUTES, P_SECONDS, P_MICROS };

static const struct unit {
    struct str name;
    uint8_t n;
    enum part parts[5];
    int scale; /* of single units: how many of the part */
} units[DB_UNIT__COUNT] = {
    [DB_UNIT_MICROSECOND] = {STR("MICROSECOND"), 1, {P_MICROS}, 1},
    [DB_UNIT_SECOND] = {STR("SECOND"), 1, {P_SECONDS}, 1},
    [DB_UNIT_MINUTE] = {STR("MINUTE"), 1, {P_MINUTES}, 1},
    [DB_UNIT_HOUR] = {STR("HOUR"), 1, {P_HOURS}, 1},
    [DB_UNIT_DAY] = {STR("DAY"), 1, {P_DAYS}, 1},
    [DB_UNIT_WEEK] = {STR("WEEK"), 1, {P_DAYS}, 7},
    [DB_UNIT_MONTH] = {STR("MONTH"), 1, {P_MONTHS}, 1},
    [DB_UNIT_QUARTER] = {STR("QUARTER"), 1, {P_MONTHS}, 3},
    [DB_UNIT_YEAR] = {STR("YEAR"), 1, {P_YEARS}, 1},
    [DB_UNIT_SECOND_MICROSECOND] = {STR("SECOND_MICROSECOND"), 2, {P_SECONDS, P_MICROS}, 0},
    [DB_UNIT_MINUTE_MICROSECOND] = {STR("MINUTE_MICROSECOND"), 3, {P_MINUTES, P_SECONDS, P_MICROS},
        0},
    [DB_UNIT_MINUTE_SECOND] = {STR("MINUTE_SECOND"), 2, {P_MINUTES, P_SECONDS}, 0},
    [DB_UNIT_HOUR_MICROSECOND] = {STR("HOUR_MICROSECOND"), 4,
        {P_HOURS, P_MINUTES, P_SECONDS, P_MICROS}, 0},
    [DB_UNIT_HOUR_SECOND] = {STR("HOUR_SECOND"), 3, {P_HOURS, P_MINUTES, P_SECONDS}, 0},
    [DB_UNIT_HOUR_MINUTE] = {STR("HOUR_MINUTE"), 2, {P_HOURS, P_MINUTES}, 0},
    [DB_UNIT_DAY_MICROSECOND] = {STR("DAY_MICROSECOND"), 5,
        {P_DAYS, P_HOURS, P_MINUTES, P_SECONDS, P_MICROS}, 0},
    [DB_UNIT_DAY_SECOND] = {STR("DAY_SECOND"), 4, {P_DAYS, P_HOURS, P_MINUTES, P_SECONDS}, 0},
    [DB_UNIT_DAY_MINUTE] = {STR("DAY_MINUTE"), 3, {P_DAYS, P_HOURS, P_MINUTES}, 0},
    [DB_UNIT_DAY_HOUR] = {STR("DAY_HOUR"), 2, {P_DAYS, P_HOURS}, 0},
    [DB_UNIT_YEAR_MONTH] = {STR("YEAR_MONTH"), 2, {P_YEARS, P_MONTHS}, 0},
};

static const int64_t part_us[] = {
    [P_DAYS] = INT64_C(86400) * 1000000,
    [P_HOURS] = INT64_C(3600) * 1000000,
    [P_MINUTES] = 60000000,
    [P_SECONDS] = 1000000,
    [P_MICROS] = 1,
};

bool db_unit_parse(struct str name, enum db_unit *unit)
{
    if (str_istarts(name, STR("SQL_TSI_")))
        name = str_sub(name, 8, name.len);
    for (int i = 0; i < DB_UNIT__COUNT; i++) {
        if (str_ieq(name, units[i].name)) {
            *unit = (enum db_unit)i;
            return true;
        }
    }
    return false;
}

bool db_unit_has_time(enum db_unit unit)
{
    return units[unit].parts[units[unit].n - 1] >= P_HOURS;
}

bool db_unit_has_micros(enum db_unit unit)
{
    return units[unit].parts[units[unit].n - 1] == P_MICROS;
}

static bool add_part(struct db_interval *out, enum part part, int64_t v)
{
    int64_t product;

    if (part == P_MONTHS || part == P_YEARS)
        return !__builtin_mul_overflow(v, (int64_t)(part == P_YEARS ? 12 : 1), &product) &&
               !__builtin_add_overflow(out->months, product, &out->months);
    return !__builtin_mul_overflow(v, part_us[part], &product) &&
           !__builtin_add_overflow(out->micros, product, &out->micros);
}

/* A single unit: seconds keep their decimals, the others are rounded. */
static bool parse_single(struct str s, const struct unit *u, struct db_interval *out)
{
    struct db_decimal d;
    struct db_decimal million;
    bool overflow;
    int64_t v;

    (void)db_decimal_parse(s, &d, &overflow); /* none is 0 */
    if (overflow)
        return false;
    if (u->parts[0] == P_SECONDS) {
        db_decimal_i64(&million, 1000000);
        return db_decimal_mul(&d, &million, &d) && db_decimal_to_i64(&d, &out->micros);
    }
    if (!db_decimal_to_i64(&d, &v) || __builtin_mul_overflow(v, (int64_t)u->scale, &v))
        return false;
    return add_part(out, u->parts[0], v);
}

bool db_interval_parse(struct str s, enum db_unit unit, struct db_interval *out)
{
    const struct unit *u = &units[unit];
    int64_t values[5] = {0};
    int n = 0;
    int last_digits = 0;
    bool neg = false;
    size_t i = 0;

    *out = (struct db_interval){0};
    if (u->n == 1)
        return parse_single(s, u, out);
    while (i < s.len && (s.p[i] == ' ' || s.p[i] == '\t'))
        i++;
    if (i < s.len && s.p[i] == '-') {
        neg = true;
        i++;
    }
    while (i < s.len && n < u->n) {
        int digits = 0;

        while (i < s.len && (s.p[i] < '0' || s.p[i] > '9'))
            i++;
        for (; i < s.len && s.p[i] >= '0' && s.p[i] <= '9'; i++, digits++) {
            if (__builtin_mul_overflow(values[n], INT64_C(10), &values[n]) ||
                __builtin_add_overflow(values[n], (int64_t)(s.p[i] - '0'), &values[n]))
                return false;
        }
        if (digits > 0) {
            n++;
            last_digits = digits;
        }
    }
    if (i < s.len && n == u->n) {
        while (i < s.len && (s.p[i] == ' ' || s.p[i] == '\t'))
            i++;
        if (i < s.len)
            return false; /* too many numbers */
    }
    /* "1.5" SECOND_MICROSECOND: the last number is a fraction */
    if (n > 0 && u->parts[u->n - 1] == P_MICROS) {
        for (; last_digits < 6; last_digits++) {
            if (__builtin_mul_overflow(values[n - 1], INT64_C(10), &values[n - 1]))
                return false;
        }
    }
    for (int k = 0; k < n; k++) { /* fewer numbers are the rightmost parts */
        if (!add_part(out, u->parts[u->n - n + k], neg ? -values[k] : values[k]))
            return false;
    }
    return true;
}

bool db_time_add(struct db_time *t, const struct db_interval *i, enum db_unit unit, bool minus)
{
    struct db_time r;
    int64_t months = minus ? -i->months : i->months;
    int64_t micros = minus ? -i->micros : i->micros;
    int64_t sum;

    if (t->kind == DB_TIME_TIME) {
        if (i->months || __builtin_add_overflow(db_time_span(t), micros, &sum))
            return false;
        r = (struct db_time){0};
        if (!db_time_from_span(sum, &r))
            return false;
        r.fsp = t->fsp;
        *t = r;
        return true;
    }
    if (units[unit].parts[0] <= P_YEARS) {
        if (i->months == INT64_MIN || llabs(i->months) > 12 * 10000)
            return false;
        sum = (int64_t)t->year * 12 + t->month - 1 + months;
        if (sum < 0 || sum >= 12 * 10000)
            return false;
        t->year = (int)(sum / 12);
        t->month = (int)(sum % 12) + 1;
        t->day = MIN(t->day, db_month_days(t->year, t->month));
        return true;
    }
    if (i->micros == INT64_MIN || t->month == 0 || t->day == 0 ||
        __builtin_add_overflow(db_time_to_micros(t), micros, &sum) || !db_time_from_micros(sum, &r))
        return false;
    r.kind = db_unit_has_time(unit) ? DB_TIME_DATETIME : t->kind;
    r.fsp = t->fsp;
    *t = r;
    return true;
}

/* Whole months from a to b, a <= b. */
static int64_t whole_months(const struct db_time *a, const struct db_time *b)
{
    int64_t n = ((int64_t)b->year - a->year) * 12 + b->month - a->month;
    struct db_time x = *a;
    struct db_time y = *b;

    x.kind = y.kind = DB_TIME_TIME;
    x.neg = y.neg = false;
    if (b->day < a->day || (b->day == a->day && db_time_span(&y) < db_time_span(&x)))
        n--;
    return n;
}

int64_t db_time_diff(enum db_unit unit, const struct db_time *a, const struct db_time *b)
{
    int64_t micros = db_time_to_micros(b) - db_time_to_micros(a);
    int64_t months;

    switch (unit) {
    case DB_UNIT_MONTH:
    case DB_UNIT_QUARTER:
    case DB_UNIT_YEAR:
    case DB_UNIT_YEAR_MONTH:
        months = micros >= 0 ? whole_months(a, b) : -whole_months(b, a);
        return months / (unit >= DB_UNIT_YEAR ? 12 : unit == DB_UNIT_QUARTER ? 3 : 1);
    case DB_UNIT_WEEK:
        return micros / part_us[P_DAYS] / 7;
    default:
        return micros / part_us[units[unit].parts[0]];
    }
}

int64_t db_time_extract(enum db_unit unit, const struct db_time *t)
{
    const struct unit *u = &units[unit];
    int64_t v = 0;
    int year;
    bool neg = t->kind == DB_TIME_TIME && t->neg;

    if (unit == DB_UNIT_WEEK)
        return db_week(t, 0, &year);
    if (unit == DB_UNIT_QUARTER)
        return (t->month + 2) / 3;
    for (int i = 0; i < u->n; i++) {
        switch (u->parts[i]) {
        case P_YEARS:
            v = t->year;
            break;
        case P_MONTHS:
            v = v * 100 + t->month;
            break;
        case P_DAYS:
            v = t->day;
            break;
        case P_HOURS:
            v = v * 100 + t->hour;
            break;
        case P_MINUTES:
            v = v * 100 + t->minute;
            break;
        case P_SECONDS:
            v = v * 100 + t->second;
            break;
        default:
            v = v * 1000000 + t->micro;
        }
    }
    return neg ? -v : v;
}
