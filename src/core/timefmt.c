/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/timefmt.h"

#include <stdbool.h>

enum { DAY_SECONDS = 86400 };

/* Seconds of 0000-01-01 and of the last second of 9999. */
#define TIME_MIN INT64_C(-62167219200)
#define TIME_MAX INT64_C(253402300799)

static const char day_names[7][10] = {
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
static const char month_names[12][4] = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

struct civil {
    int year, month, day; /* month and day from 1 */
    int hour, minute, second;
    int weekday; /* 0: Sunday */
};

/*
 * Days since 1970 of a date of the proleptic Gregorian calendar.  Years are counted from March, so
 * that the leap day is the last of its year, and in eras of 400 years (146097 days).
 */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void civil_of(int64_t sec, struct civil *c)
{
    int64_t t = MIN(MAX(sec, TIME_MIN), TIME_MAX);
    int64_t days = t / DAY_SECONDS, rest = t % DAY_SECONDS;
    int64_t z, era, doe, yoe, doy, mp;

    if (rest < 0) {
        rest += DAY_SECONDS;
        days--;
    }
    c->hour = (int)(rest / 3600);
    c->minute = (int)(rest / 60 % 60);
    c->second = (int)(rest % 60);
    c->weekday = (int)(((days + 4) % 7 + 7) % 7);
    z = days + 719468;
    era = (z >= 0 ? z : z - 146096) / 146097;
    doe = z - era * 146097;
    yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    mp = (5 * doy + 2) / 153;
    c->day = (int)(doy - (153 * mp + 2) / 5 + 1);
    c->month = (int)(mp < 10 ? mp + 3 : mp - 9);
    c->year = (int)(yoe + era * 400 + (c->month <= 2));
}

static char *put(char *p, const char *s, size_t n)
{
    memcpy(p, s, n);
    return p + n;
}

static char *put_num(char *p, int v, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        p[i] = (char)('0' + v % 10);
        v /= 10;
    }
    return p + width;
}

static char *put_clock(char *p, const struct civil *c)
{
    p = put_num(p, c->hour, 2);
    *p++ = ':';
    p = put_num(p, c->minute, 2);
    *p++ = ':';
    return put_num(p, c->second, 2);
}

size_t timefmt_http(int64_t sec, char out[TIMEFMT_MAX])
{
    struct civil c;
    char *p = out;

    civil_of(sec, &c);
    p = put(p, day_names[c.weekday], 3);
    p = put(p, ", ", 2);
    p = put_num(p, c.day, 2);
    *p++ = ' ';
    p = put(p, month_names[c.month - 1], 3);
    *p++ = ' ';
    p = put_num(p, c.year, 4);
    *p++ = ' ';
    p = put_clock(p, &c);
    p = put(p, " GMT", 4);
    *p = 0;
    return (size_t)(p - out);
}

size_t timefmt_iso_ms(uint64_t wall_us, char out[TIMEFMT_MAX])
{
    struct civil c;
    char *p = out;

    civil_of((int64_t)(wall_us / 1000000), &c);
    p = put_num(p, c.year, 4);
    *p++ = '-';
    p = put_num(p, c.month, 2);
    *p++ = '-';
    p = put_num(p, c.day, 2);
    *p++ = 'T';
    p = put_clock(p, &c);
    *p++ = '.';
    p = put_num(p, (int)(wall_us / 1000 % 1000), 3);
    *p++ = 'Z';
    *p = 0;
    return (size_t)(p - out);
}

size_t timefmt_common_log(int64_t sec, char out[TIMEFMT_MAX])
{
    struct civil c;
    char *p = out;

    civil_of(sec, &c);
    p = put_num(p, c.day, 2);
    *p++ = '/';
    p = put(p, month_names[c.month - 1], 3);
    *p++ = '/';
    p = put_num(p, c.year, 4);
    *p++ = ':';
    p = put_clock(p, &c);
    p = put(p, " +0000", 6);
    *p = 0;
    return (size_t)(p - out);
}

/* The parser reads fields off the front of *s; each returns false when its field is not there. */

static bool take_char(struct str *s, char c)
{
    if (s->len == 0 || s->p[0] != c)
        return false;
    *s = str_sub(*s, 1, s->len);
    return true;
}

static bool take_num(struct str *s, size_t digits, int *out)
{
    int v = 0;

    if (s->len < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        if (s->p[i] < '0' || s->p[i] > '9')
            return false;
        v = v * 10 + (s->p[i] - '0');
    }
    *s = str_sub(*s, digits, s->len);
    *out = v;
    return true;
}

static bool take_month(struct str *s, int *out)
{
    for (int i = 0; i < 12; i++) {
        if (str_starts(*s, str_n(month_names[i], 3))) {
            *s = str_sub(*s, 3, s->len);
            *out = i + 1;
            return true;
        }
    }
    return false;
}

static bool take_clock(struct str *s, struct civil *c)
{
    return take_num(s, 2, &c->hour) && take_char(s, ':') && take_num(s, 2, &c->minute) &&
           take_char(s, ':') && take_num(s, 2, &c->second);
}

static bool take_day_name(struct str *s, bool *is_long)
{
    for (int i = 0; i < 7; i++) {
        struct str name = str_c(day_names[i]);

        if (str_starts(*s, name)) {
            *s = str_sub(*s, name.len, s->len);
            *is_long = true;
            return true;
        }
        if (str_starts(*s, str_n(name.p, 3))) {
            *s = str_sub(*s, 3, s->len);
            *is_long = false;
            return true;
        }
    }
    return false;
}

/* After "Sun": " Nov  6 08:49:37 1994" */
static bool parse_asctime(struct str *s, struct civil *c)
{
    if (!take_char(s, ' ') || !take_month(s, &c->month) || !take_char(s, ' '))
        return false;
    if (take_char(s, ' ') ? !take_num(s, 1, &c->day) : !take_num(s, 2, &c->day))
        return false;
    return take_char(s, ' ') && take_clock(s, c) && take_char(s, ' ') && take_num(s, 4, &c->year);
}

/* After the day's name: ", 06 Nov 1994 08:49:37 GMT" or ", 06-Nov-94 08:49:37 GMT" */
static bool parse_gmt(struct str *s, bool rfc850, struct civil *c)
{
    char sep = rfc850 ? '-' : ' ';

    if (!take_char(s, ',') || !take_char(s, ' ') || !take_num(s, 2, &c->day) ||
        !take_char(s, sep) || !take_month(s, &c->month) || !take_char(s, sep) ||
        !take_num(s, rfc850 ? 2 : 4, &c->year))
        return false;
    if (rfc850)
        c->year += c->year >= 70 ? 1900 : 2000;
    return take_char(s, ' ') && take_clock(s, c) && take_char(s, ' ') && take_char(s, 'G') &&
           take_char(s, 'M') && take_char(s, 'T');
}

static int days_in_month(int year, int month)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

int timefmt_http_parse(struct str s, int64_t *sec)
{
    struct civil c = {0};
    bool is_long, ok;

    if (!take_day_name(&s, &is_long))
        return ERR_INVAL;
    if (!is_long && s.len > 0 && s.p[0] == ' ')
        ok = parse_asctime(&s, &c);
    else
        ok = parse_gmt(&s, is_long, &c);
    /* A leap second (60) is allowed by the grammar and counts as the next second. */
    if (!ok || s.len != 0 || c.hour > 23 || c.minute > 59 || c.second > 60 || c.day < 1 ||
        c.day > days_in_month(c.year, c.month))
        return ERR_INVAL;
    *sec = days_of(c.year, c.month, c.day) * DAY_SECONDS + c.hour * 3600 + c.minute * 60 + c.second;
    return 0;
}
