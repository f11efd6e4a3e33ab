/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/datetime.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_HOUR = 838 };

static const int64_t second_us = 1000000;
static const int64_t day_us = INT64_C(86400) * 1000000;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_punct(char c)
{
    return (c > ' ' && c < '0') || (c > '9' && c < 'A') || (c > 'Z' && c < 'a') ||
           (c > 'z' && c < 127);
}

/* ---- the calendar ---- */

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || (year % 400 == 0 && year != 0);
}

int db_month_days(int year, int month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    if (month < 1 || month > 12)
        return 31;
    return days[month - 1] + (month == 2 && is_leap(year));
}

int64_t db_date_days(int year, int month, int day)
{
    int64_t y = year;
    int64_t n;

    if (year == 0 && month == 0)
        return 0;
    n = 365 * y + 31 * (month - 1) + day;
    if (month <= 2)
        y--;
    else
        n -= (month * 4 + 23) / 10;
    return n + y / 4 - (y / 100 + 1) * 3 / 4;
}

bool db_date_from_days(int64_t days, struct db_time *t)
{
    int year;
    int rest;
    int month = 1;

    t->year = t->month = t->day = 0;
    if (days <= 365 || days > 3652424)
        return false;
    year = (int)(days * 100 / 36525);
    while (db_date_days(year + 1, 1, 1) <= days)
        year++;
    while (db_date_days(year, 1, 1) > days)
        year--;
    rest = (int)(days - db_date_days(year, 1, 1)) + 1;
    while (rest > db_month_days(year, month))
        rest -= db_month_days(year, month++);
    t->year = year;
    t->month = month;
    t->day = rest;
    return true;
}

int db_weekday(int64_t days)
{
    return (int)((days + 5) % 7);
}

int db_year_day(const struct db_time *t)
{
    return (int)(db_date_days(t->year, t->month, t->day) - db_date_days(t->year, 1, 1)) + 1;
}

/* Sunday first, when monday is false. */
static int weekday_from(int64_t days, bool monday)
{
    return (int)((days + (monday ? 5 : 6)) % 7);
}

static int year_days(int year)
{
    return is_leap(year) ? 366 : 365;
}

/* Modes by their bits: 1 Monday is first; 2 weeks are 1 to 53, else 0 to 53; 4 week 1 is the first
 * with that weekday, else with four days in the year. Modes 0..7 of SQL have bit 4 the other way
 * round when Monday is first. */
int db_week(const struct db_time *t, unsigned mode, int *year)
{
    bool monday = mode & 1;
    bool in_year = mode & 2;
    bool first_day = (mode & 4) != 0;
    int64_t day = db_date_days(t->year, t->month, t->day);
    int64_t first = db_date_days(t->year, 1, 1);
    int week;
    int weekday;
    int days;

    if (!monday)
        first_day = !first_day;
    weekday = weekday_from(first, monday);
    *year = t->year;
    if (t->month == 1 && t->day <= 7 - weekday) {
        if (!in_year && ((first_day && weekday != 0) || (!first_day && weekday >= 4)))
            return 0;
        in_year = true;
        if ((first_day && weekday != 0) || (!first_day && weekday >= 4)) {
            (*year)--;
            days = year_days(*year);
            first -= days;
            weekday = (weekday + 53 * 7 - days) % 7;
        }
    }
    if ((first_day && weekday != 0) || (!first_day && weekday >= 4))
        days = (int)(day - (first + (7 - weekday)));
    else
        days = (int)(day - (first - weekday));
    week = days / 7 + 1;
    if (in_year && days >= 52 * 7) {
        weekday = (weekday + year_days(*year)) % 7;
        if ((!first_day && weekday < 4) || (first_day && weekday == 0)) {
            (*year)++;
            return 1;
        }
    }
    return week;
}

/* ---- reading ---- */

unsigned db_date_check(const struct db_time *t, unsigned flags)
{
    if (t->year == 0 && t->month == 0 && t->day == 0)
        return flags & DB_TIME_NO_ZERO_DATE ? DB_TIME_ZERO_DATE : 0;
    if (t->month == 0 || t->day == 0)
        return flags & DB_TIME_NO_ZERO_IN ? DB_TIME_ZERO_IN : 0;
    if (!(flags & DB_TIME_INVALID_DATES) && t->day > db_month_days(t->year, t->month))
        return DB_TIME_INVALID;
    return 0;
}

static bool in_range(const struct db_time *t)
{
    return t->year <= 9999 && t->month <= 12 && t->day <= 31 && t->hour <= 23 && t->minute <= 59 &&
           t->second <= 59;
}

/* The last step of all: is it a date? */
static bool accept(struct db_time *t, unsigned flags, unsigned *warn)
{
    unsigned w = in_range(t) ? db_date_check(t, flags) : DB_TIME_INVALID;

    *warn |= w;
    if (!w)
        return true;
    *t = (struct db_time){.kind = t->kind};
    return false;
}

/* At most `most` digits at *i as a number; *n how many. */
static int take(struct str s, size_t *i, int most, int *n)
{
    int v = 0;

    for (*n = 0; *n < most && *i < s.len && is_digit(s.p[*i]); (*i)++, (*n)++)
        v = v * 10 + (s.p[*i] - '0');
    return v;
}

/* The decimals of a second after a point; a seventh one rounds (*round), more are ignored. */
static int take_fraction(struct str s, size_t *i, uint8_t *fsp, bool *round)
{
    int n;
    int v = take(s, i, 6, &n);

    *fsp = (uint8_t)n;
    for (; n < 6; n++)
        v *= 10;
    *round = *i < s.len && s.p[*i] >= '5' && s.p[*i] <= '9';
    while (*i < s.len && is_digit(s.p[*i]))
        (*i)++;
    return v;
}

static void add_micro(struct db_time *t)
{
    struct db_time r;

    if (t->kind == DB_TIME_TIME) {
        (void)db_time_from_span(db_time_span(t) + (t->neg ? -1 : 1), &r); /* clipped is right */
    } else if (t->month == 0 || t->day == 0 || !db_time_from_micros(db_time_to_micros(t) + 1, &r)) {
        return;
    }
    r.kind = t->kind;
    r.fsp = t->fsp;
    *t = r;
}

static int full_year(int year, int n_digits)
{
    if (n_digits > 2)
        return year;
    return year < 70 ? year + 2000 : year + 1900;
}

static void skip_spaces(struct str s, size_t *i)
{
    while (*i < s.len && is_space(s.p[*i]))
        (*i)++;
}

/* YYYYMMDD, YYMMDD, YYYYMMDDhhmmss, YYMMDDhhmmss, with a fraction; n digits stand there. */
static bool read_compact(struct str s, size_t *i, size_t n, struct db_time *t, bool *round)
{
    int *fields[] = {&t->month, &t->day, &t->hour, &t->minute, &t->second};
    bool long_year = n == 4 || n == 8 || n >= 14;
    int got = 0;

    if (n < 5 || n == 9 || n == 11)
        return false;
    t->year = full_year(take(s, i, long_year ? 4 : 2, &got), long_year ? 4 : 2);
    for (size_t k = 0; k < ARRAY_LEN(fields); k++) {
        if (k == 2 && *i + 1 < s.len && s.p[*i] == 'T' && is_digit(s.p[*i + 1]))
            (*i)++;
        *fields[k] = take(s, i, 2, &got);
        if (got == 0)
            break;
        if (k >= 2)
            t->kind = DB_TIME_DATETIME;
    }
    if (t->kind == DB_TIME_DATETIME && *i + 1 < s.len && s.p[*i] == '.' && is_digit(s.p[*i + 1])) {
        (*i)++;
        t->micro = take_fraction(s, i, &t->fsp, round);
    }
    return true;
}

/* hh[:mm[:ss[.frac]]] after a date. */
static void read_clock(struct str s, size_t *i, struct db_time *t, bool *round)
{
    int *fields[] = {&t->hour, &t->minute, &t->second};
    int got;

    t->kind = DB_TIME_DATETIME;
    for (size_t k = 0; k < 3; k++) {
        *fields[k] = take(s, i, 2, &got);
        if (k == 2)
            break;
        if (*i + 1 >= s.len || !is_punct(s.p[*i]) || !is_digit(s.p[*i + 1]) ||
            (s.p[*i] == '.' && k > 1))
            return;
        (*i)++;
    }
    if (*i + 1 < s.len && s.p[*i] == '.' && is_digit(s.p[*i + 1])) {
        (*i)++;
        t->micro = take_fraction(s, i, &t->fsp, round);
    } else if (*i < s.len && s.p[*i] == '.') {
        (*i)++;
    }
}

static bool read_parts(struct str s, size_t *i, struct db_time *t, bool *round)
{
    int got;
    size_t at;

    t->year = take(s, i, 4, &got);
    t->year = full_year(t->year, got);
    for (int k = 0; k < 2; k++) {
        if (*i >= s.len || !is_punct(s.p[*i]))
            return false;
        while (*i < s.len && is_punct(s.p[*i]))
            (*i)++;
        *(k ? &t->day : &t->month) = take(s, i, 2, &got);
        if (got == 0)
            return false;
    }
    at = *i;
    if (at < s.len && (s.p[at] == 'T' || s.p[at] == 't'))
        at++;
    else
        skip_spaces(s, &at);
    if (at == *i) { /* any other separator */
        while (at < s.len && is_punct(s.p[at]))
            at++;
    }
    if (at > *i && at < s.len && is_digit(s.p[at])) {
        *i = at;
        read_clock(s, i, t, round);
    }
    return true;
}

bool db_date_parse(struct str s, unsigned flags, struct db_time *t, unsigned *warn)
{
    size_t i = 0;
    size_t n = 0;
    bool round = false;
    bool ok;

    *t = (struct db_time){.kind = DB_TIME_DATE};
    *warn = 0;
    skip_spaces(s, &i);
    while (i + n < s.len && is_digit(s.p[i + n]))
        n++;
    if (n == 0) {
        *warn = DB_TIME_INVALID;
        return false;
    }
    if (i + n == s.len || n > 4 || (s.p[i + n] == '.' && n > 4) || is_space(s.p[i + n]))
        ok = read_compact(s, &i, n, t, &round);
    else
        ok = read_parts(s, &i, t, &round);
    if (!ok) {
        *warn = DB_TIME_INVALID;
        *t = (struct db_time){.kind = DB_TIME_DATE};
        return false;
    }
    skip_spaces(s, &i);
    if (i < s.len)
        *warn |= DB_TIME_CUT;
    if (!accept(t, flags, warn))
        return false;
    if (round)
        add_micro(t);
    return true;
}

bool db_date_number(int64_t v, unsigned flags, struct db_time *t, unsigned *warn)
{
    int64_t date;
    int64_t clock = 0;

    *t = (struct db_time){.kind = DB_TIME_DATE};
    *warn = 0;
    if (v == 0)
        return accept(t, flags, warn);
    if (v < 101 || v > INT64_C(99991231235959)) {
        *warn = DB_TIME_INVALID;
        return false;
    }
    if (v > 99991231) {
        t->kind = DB_TIME_DATETIME;
        if (v < INT64_C(101000000)) {
            *warn = DB_TIME_INVALID;
            return false;
        }
        clock = v % 1000000;
        date = v / 1000000;
        if (date < 700000)
            date += 20000000;
        else if (date < 1000000)
            date += 19000000;
    } else {
        date = v;
        if (date < 700000)
            date += 20000000;
        else if (date <= 991231)
            date += 19000000;
        else if (date < 10000101) {
            *warn = DB_TIME_INVALID;
            return false;
        }
    }
    t->year = (int)(date / 10000);
    t->month = (int)(date / 100 % 100);
    t->day = (int)(date % 100);
    t->hour = (int)(clock / 10000);
    t->minute = (int)(clock / 100 % 100);
    t->second = (int)(clock % 100);
    return accept(t, flags, warn);
}

static bool clip_time(struct db_time *t, unsigned *warn)
{
    if (t->minute > 59 || t->second > 59) {
        bool neg = t->neg;

        *t = (struct db_time){.kind = DB_TIME_TIME, .neg = false};
        (void)neg;
        *warn |= DB_TIME_INVALID;
        return false;
    }
    if (t->hour > MAX_HOUR ||
        (t->hour == MAX_HOUR && t->minute == 59 && t->second == 59 && t->micro > 0)) {
        t->hour = MAX_HOUR;
        t->minute = t->second = 59;
        t->micro = 0;
        *warn |= DB_TIME_RANGE;
    }
    if (t->hour == 0 && t->minute == 0 && t->second == 0 && t->micro == 0)
        t->neg = false;
    return true;
}

/* Digits only: [h..]mmss; v has them. */
static void split_clock(int64_t v, struct db_time *t)
{
    t->hour = (int)MIN(v / 10000, 100000);
    t->minute = (int)(v / 100 % 100);
    t->second = (int)(v % 100);
}

bool db_time_number(int64_t v, int micro, struct db_time *t, unsigned *warn)
{
    *t = (struct db_time){.kind = DB_TIME_TIME, .neg = v < 0};
    *warn = 0;
    if (v > 8385959 || v < -8385959) {
        if (v >= INT64_C(10000000000)) { /* a date with time */
            if (db_date_number(v, 0, t, warn)) {
                t->kind = DB_TIME_TIME;
                t->year = t->month = t->day = 0;
                return true;
            }
            t->kind = DB_TIME_TIME;
        }
        t->hour = MAX_HOUR;
        t->minute = t->second = 59;
        *warn = DB_TIME_RANGE;
        return true;
    }
    split_clock(v < 0 ? -v : v, t);
    t->micro = micro;
    return clip_time(t, warn);
}

static int64_t take_long(struct str s, size_t *i)
{
    int64_t v = 0;

    for (; *i < s.len && is_digit(s.p[*i]); (*i)++)
        v = v < 100000000 ? v * 10 + (s.p[*i] - '0') : v;
    return v;
}

/* Does a date stand there (so many digits, or a dash after digits)? */
static bool looks_like_date(struct str s, size_t i)
{
    size_t n = 0;

    while (i + n < s.len && is_digit(s.p[i + n]))
        n++;
    if (n >= 12)
        return true;
    return n > 0 && n <= 4 && i + n + 1 < s.len && (s.p[i + n] == '-' || s.p[i + n] == '/') &&
           is_digit(s.p[i + n + 1]);
}

static void read_time(struct str s, size_t *i, struct db_time *t, bool *days)
{
    int64_t v = take_long(s, i);
    size_t at = *i;
    int got;

    *days = false;
    skip_spaces(s, &at);
    if (at > *i && at < s.len && is_digit(s.p[at])) { /* days hours */
        *days = true;
        t->day = (int)MIN(v, 1000);
        *i = at;
        v = take_long(s, i);
    }
    if (*i < s.len && s.p[*i] == ':') {
        t->hour = (int)MIN(v, 100000);
        (*i)++;
        t->minute = take(s, i, 2, &got);
        if (*i + 1 < s.len && s.p[*i] == ':' && is_digit(s.p[*i + 1])) {
            (*i)++;
            t->second = take(s, i, 2, &got);
        }
    } else if (*days) {
        t->hour = (int)MIN(v, 100000);
    } else {
        split_clock(v, t);
    }
}

bool db_time_parse(struct str s, struct db_time *t, unsigned *warn)
{
    size_t i = 0;
    bool round = false;
    bool days;

    *t = (struct db_time){.kind = DB_TIME_TIME};
    *warn = 0;
    skip_spaces(s, &i);
    if (looks_like_date(s, i)) {
        bool ok = db_date_parse(s, 0, t, warn);

        if (!ok && s.len >= 12)
            return false;
        if (ok && t->kind == DB_TIME_DATETIME) {
            t->year = t->month = t->day = 0;
            t->kind = DB_TIME_TIME;
            return true;
        }
        *t = (struct db_time){.kind = DB_TIME_TIME};
        *warn = 0;
    }
    if (i < s.len && (s.p[i] == '-' || s.p[i] == '+'))
        t->neg = s.p[i++] == '-';
    if (i >= s.len || !is_digit(s.p[i])) {
        *warn = DB_TIME_INVALID;
        t->neg = false;
        return false;
    }
    read_time(s, &i, t, &days);
    if (i < s.len && s.p[i] == '.') {
        i++;
        t->micro = take_fraction(s, &i, &t->fsp, &round);
    }
    t->hour += t->day * 24;
    t->day = 0;
    skip_spaces(s, &i);
    if (i < s.len)
        *warn |= DB_TIME_CUT;
    if (!clip_time(t, warn))
        return false;
    if (round && !(*warn & DB_TIME_RANGE))
        add_micro(t);
    return true;
}

/* ---- writing ---- */

void db_time_cut(struct db_time *t, int fsp)
{
    int unit = 1;

    for (int i = fsp; i < 6; i++)
        unit *= 10;
    t->micro -= t->micro % unit;
    t->fsp = (uint8_t)fsp;
}

bool db_time_round(struct db_time *t, int fsp)
{
    int unit = 1;
    int rest;
    struct db_time r;
    bool ok = true;

    for (int i = fsp; i < 6; i++)
        unit *= 10;
    rest = t->micro % unit;
    t->micro -= rest;
    t->fsp = (uint8_t)fsp;
    if (rest == 0 || rest * 2 < unit) {
        /* nothing is left of "-00:00:00.3": there is no negative zero */
        if (t->kind == DB_TIME_TIME && db_time_span(t) == 0)
            t->neg = false;
        return true;
    }
    if (t->kind == DB_TIME_TIME) {
        ok = db_time_from_span(db_time_span(t) + (t->neg ? -unit : unit), &r);
    } else {
        if (t->month == 0 || t->day == 0)
            return true;
        if (!db_time_from_micros(db_time_to_micros(t) + unit, &r))
            return false;
        r.kind = t->kind;
    }
    r.fsp = (uint8_t)fsp;
    *t = r;
    return ok;
}

size_t db_time_print(const struct db_time *t, int fsp, char out[DB_TIME_TEXT])
{
    static const int units[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
    int n;

    switch (t->kind) {
    case DB_TIME_DATE:
        return (size_t)snprintf(
            out, DB_TIME_TEXT, "%04d-%02d-%02d", t->year % 10000, t->month % 100, t->day % 100);
    case DB_TIME_TIME:
        n = snprintf(out, DB_TIME_TEXT, "%s%02d:%02d:%02d", t->neg ? "-" : "", t->hour % 10000,
            t->minute % 100, t->second % 100);
        break;
    default:
        n = snprintf(out, DB_TIME_TEXT, "%04d-%02d-%02d %02d:%02d:%02d", t->year % 10000,
            t->month % 100, t->day % 100, t->hour % 100, t->minute % 100, t->second % 100);
    }
    if (fsp > 0 && fsp <= 6)
        n += snprintf(
            out + n, DB_TIME_TEXT - (size_t)n, ".%0*d", fsp, t->micro % 1000000 / units[fsp]);
    return (size_t)n;
}

int64_t db_time_to_number(const struct db_time *t)
{
    int64_t date = ((int64_t)t->year * 100 + t->month) * 100 + t->day;
    int64_t clock = ((int64_t)t->hour * 100 + t->minute) * 100 + t->second;

    if (t->kind == DB_TIME_DATE)
        return date;
    if (t->kind == DB_TIME_TIME)
        return t->neg ? -clock : clock;
    return date * 1000000 + clock;
}

int64_t db_time_to_micros(const struct db_time *t)
{
    int64_t days = db_date_days(t->year, t->month, t->day) - 719528;

    return days * day_us + (((int64_t)t->hour * 60 + t->minute) * 60 + t->second) * second_us +
           t->micro;
}

static void set_clock(struct db_time *t, int64_t us)
{
    t->micro = (int)(us % second_us);
    us /= second_us;
    t->second = (int)(us % 60);
    t->minute = (int)(us / 60 % 60);
    t->hour = (int)(us / 3600);
}

bool db_time_from_micros(int64_t micros, struct db_time *t)
{
    int64_t days = micros / day_us;
    int64_t rest = micros % day_us;

    if (rest < 0) {
        rest += day_us;
        days--;
    }
    *t = (struct db_time){.kind = DB_TIME_DATETIME};
    if (!db_date_from_days(days + 719528, t))
        return false;
    set_clock(t, rest);
    return true;
}

int64_t db_time_span(const struct db_time *t)
{
    int64_t us = (((int64_t)t->hour * 60 + t->minute) * 60 + t->second) * second_us + t->micro;

    return t->neg ? -us : us;
}

bool db_time_from_span(int64_t micros, struct db_time *t)
{
    const int64_t most = ((INT64_C(838) * 60 + 59) * 60 + 59) * second_us;
    bool ok = micros <= most && micros >= -most;

    *t = (struct db_time){.kind = DB_TIME_TIME, .neg = micros < 0};
    if (!ok)
        micros = most;
    set_clock(t, micros < 0 ? -micros : micros);
    return ok;
}
