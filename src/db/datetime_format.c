/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* DATE_FORMAT(), TIME_FORMAT() and STR_TO_DATE(). */
#include "db/datetime.h"

const struct str db_month_names[12] = {STR("January"), STR("February"), STR("March"), STR("April"),
    STR("May"), STR("June"), STR("July"), STR("August"), STR("September"), STR("October"),
    STR("November"), STR("December")};

const struct str db_day_names[7] = {STR("Monday"), STR("Tuesday"), STR("Wednesday"),
    STR("Thursday"), STR("Friday"), STR("Saturday"), STR("Sunday")};

static void add_number(struct buf *out, int v, int width)
{
    buf_printf(out, "%0*d", width, v);
}

static const char *ordinal(int day)
{
    if (day >= 10 && day <= 19)
        return "th";
    switch (day % 10) {
    case 1:
        return "st";
    case 2:
        return "nd";
    case 3:
        return "rd";
    default:
        return "th";
    }
}

static int hour12(const struct db_time *t)
{
    return (t->hour % 24 + 11) % 12 + 1;
}

static const char *half_day(const struct db_time *t)
{
    return t->hour % 24 < 12 ? "AM" : "PM";
}

/* %U %u %V %v %X %x */
static bool format_week(struct buf *out, char c, const struct db_time *t)
{
    static const struct {
        char c;
        unsigned mode;
    } modes[] = {{'U', 0}, {'u', 1}, {'V', 2}, {'v', 3}, {'X', 2}, {'x', 3}};
    int year = 0;

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        int week;

        if (modes[i].c != c)
            continue;
        if (t->kind == DB_TIME_TIME || t->month == 0 || t->day == 0)
            return false;
        week = db_week(t, modes[i].mode, &year);
        if (c == 'X' || c == 'x')
            add_number(out, year, 4);
        else
            add_number(out, week, 2);
        return true;
    }
    return false;
}

/* %a %W %w %j: need a whole date */
static bool format_day(struct buf *out, char c, const struct db_time *t)
{
    int weekday;

    if (t->kind == DB_TIME_TIME || t->month == 0 || t->day == 0)
        return false;
    weekday = db_weekday(db_date_days(t->year, t->month, t->day));
    switch (c) {
    case 'a':
        buf_add(out, db_day_names[weekday].p, 3);
        return true;
    case 'W':
        buf_add_str(out, db_day_names[weekday]);
        return true;
    case 'w':
        add_number(out, (weekday + 1) % 7, 1);
        return true;
    default:
        add_number(out, db_year_day(t), 3);
        return true;
    }
}

static bool format_date(struct buf *out, char c, const struct db_time *t)
{
    switch (c) {
    case 'M':
    case 'b':
        if (t->month == 0)
            return false;
        if (c == 'M')
            buf_add_str(out, db_month_names[t->month - 1]);
        else
            buf_add(out, db_month_names[t->month - 1].p, 3);
        return true;
    case 'a':
    case 'W':
    case 'w':
    case 'j':
        return format_day(out, c, t);
    case 'D':
        buf_printf(out, "%d%s", t->day, ordinal(t->day));
        return true;
    case 'Y':
        add_number(out, t->year, 4);
        return true;
    case 'y':
        add_number(out, t->year % 100, 2);
        return true;
    case 'm':
        add_number(out, t->month, 2);
        return true;
    case 'c':
        add_number(out, t->month, 1);
        return true;
    case 'd':
        add_number(out, t->day, 2);
        return true;
    case 'e':
        add_number(out, t->day, 1);
        return true;
    default:
        return format_week(out, c, t);
    }
}

/* True: it was one of the clock's. */
static bool format_clock(struct buf *out, char c, const struct db_time *t)
{
    switch (c) {
    case 'f':
        add_number(out, t->micro, 6);
        return true;
    case 'H':
        add_number(out, t->hour, 2);
        return true;
    case 'k':
        add_number(out, t->hour, 1);
        return true;
    case 'h':
    case 'I':
        add_number(out, hour12(t), 2);
        return true;
    case 'l':
        add_number(out, hour12(t), 1);
        return true;
    case 'i':
        add_number(out, t->minute, 2);
        return true;
    case 's':
    case 'S':
        add_number(out, t->second, 2);
        return true;
    case 'p':
        buf_printf(out, "%s", half_day(t));
        return true;
    case 'r':
        buf_printf(out, "%02d:%02d:%02d %s", hour12(t), t->minute, t->second, half_day(t));
        return true;
    case 'T':
        buf_printf(out, "%02d:%02d:%02d", t->hour, t->minute, t->second);
        return true;
    default:
        return false;
    }
}

bool db_time_format(struct buf *out, struct str format, const struct db_time *t)
{
    if (t->kind == DB_TIME_TIME && t->neg)
        buf_add_char(out, '-');
    for (size_t i = 0; i < format.len; i++) {
        char c = format.p[i];

        if (c != '%' || i + 1 == format.len) {
            buf_add_char(out, c);
            continue;
        }
        c = format.p[++i];
        if (format_clock(out, c, t))
            continue;
        if (strchr("MbaWwjDYymcdeUuVvXx", c) && c) {
            if (!format_date(out, c, t))
                return false;
            continue;
        }
        buf_add_char(out, c);
    }
    return true;
}

/* ---- STR_TO_DATE ---- */

struct scanner {
    struct str s;
    size_t i;
    struct db_time *t;
    int half; /* -1 none, 0 AM, 1 PM */
    bool hour12;
    bool date;
    bool clock;
    bool micros;
    int weekday; /* 1..7 Monday first, 0 none */
    int year_day;
    int week; /* -1 none */
    char week_kind;
    int week_year; /* -1 none */
};

static bool number(struct scanner *c, int most, int *out)
{
    int n = 0;
    int v = 0;

    for (; n < most && c->i < c->s.len && c->s.p[c->i] >= '0' && c->s.p[c->i] <= '9'; n++, c->i++)
        v = v * 10 + (c->s.p[c->i] - '0');
    *out = v;
    return n > 0;
}

/* The index of the name that stands there; short names have three letters. */
static bool name_of(struct scanner *c, const struct str *names, int n, bool abbreviated, int *index)
{
    struct str rest = str_sub(c->s, c->i, c->s.len);

    for (int k = 0; k < n; k++) {
        struct str name = abbreviated ? str_sub(names[k], 0, 3) : names[k];

        if (str_istarts(rest, name)) {
            c->i += name.len;
            *index = k;
            return true;
        }
    }
    return false;
}

static bool scan_half(struct scanner *c)
{
    struct str rest = str_sub(c->s, c->i, 2);

    if (str_ieq(rest, STR("AM")))
        c->half = 0;
    else if (str_ieq(rest, STR("PM")))
        c->half = 1;
    else
        return false;
    c->i += 2;
    return true;
}

static bool scan_fraction(struct scanner *c)
{
    size_t from = c->i;

    c->micros = c->clock = true;
    if (!number(c, 6, &c->t->micro))
        return false;
    for (size_t n = c->i - from; n < 6; n++)
        c->t->micro *= 10;
    return true;
}

static bool scan_year(struct scanner *c, int most)
{
    size_t from = c->i;

    c->date = true;
    if (!number(c, most, &c->t->year))
        return false;
    if (c->i - from <= 2)
        c->t->year += c->t->year < 70 ? 2000 : 1900;
    return true;
}

static bool scan_week(struct scanner *c, char f)
{
    c->date = true;
    if (f == 'X' || f == 'x')
        return number(c, 4, &c->week_year);
    c->week_kind = f;
    return number(c, 2, &c->week) && c->week <= 53;
}

static bool scan_date(struct scanner *c, char f)
{
    int k;

    c->date = true;
    switch (f) {
    case 'Y':
    case 'y':
        return scan_year(c, f == 'Y' ? 4 : 2);
    case 'm':
    case 'c':
        return number(c, 2, &c->t->month);
    case 'd':
    case 'e':
        return number(c, 2, &c->t->day);
    case 'D':
        if (!number(c, 2, &c->t->day))
            return false;
        c->i = MIN(c->i + 2, c->s.len);
        return true;
    case 'M':
    case 'b':
        if (!name_of(c, db_month_names, 12, f == 'b', &k))
            return false;
        c->t->month = k + 1;
        return true;
    case 'a':
    case 'W':
        if (!name_of(c, db_day_names, 7, f == 'a', &k))
            return false;
        c->weekday = k + 1;
        return true;
    case 'w':
        if (!number(c, 1, &k) || k > 6)
            return false;
        c->weekday = k ? k : 7;
        return true;
    case 'j':
        return number(c, 3, &c->year_day) && c->year_day >= 1 && c->year_day <= 366;
    default:
        return scan_week(c, f);
    }
}

static bool scan_clock(struct scanner *c, char f)
{
    c->clock = true;
    switch (f) {
    case 'h':
    case 'I':
    case 'l':
        c->hour12 = true;
        return number(c, 2, &c->t->hour);
    case 'H':
    case 'k':
        return number(c, 2, &c->t->hour);
    case 'i':
        return number(c, 2, &c->t->minute);
    case 's':
    case 'S':
        return number(c, 2, &c->t->second);
    case 'p':
        c->hour12 = true;
        return scan_half(c);
    default:
        return scan_fraction(c);
    }
}

static bool scan_format(struct scanner *c, struct str format);

static void skip_class(struct scanner *c, char f)
{
    for (; c->i < c->s.len; c->i++) {
        unsigned char b = (unsigned char)c->s.p[c->i];
        bool digit = b >= '0' && b <= '9';
        bool alpha = (b | 32) >= 'a' && (b | 32) <= 'z';

        if (f == '#' ? !digit : f == '@' ? !alpha : digit || alpha || b <= ' ' || b >= 127)
            return;
    }
}

static bool scan_one(struct scanner *c, char f)
{
    if (strchr("hIlHkisSpf", f))
        return scan_clock(c, f);
    if (strchr("YymcdeDMbaWwjUuVvXx", f))
        return scan_date(c, f);
    switch (f) {
    case 'r':
        return scan_format(c, STR("%I:%i:%S %p"));
    case 'T':
        return scan_format(c, STR("%H:%i:%S"));
    case '#':
    case '@':
    case '.':
        skip_class(c, f);
        return true;
    case '%':
        if (c->i >= c->s.len || c->s.p[c->i] != '%')
            return false;
        c->i++;
        return true;
    default:
        return false;
    }
}

static bool scan_space(char b)
{
    return b == ' ' || (b >= '\t' && b <= '\r');
}

/* NOLINTNEXTLINE(misc-no-recursion): one level, for %r and %T */
static bool scan_format(struct scanner *c, struct str format)
{
    for (size_t i = 0; i < format.len && c->i <= c->s.len; i++) {
        char f = format.p[i];

        while (c->i < c->s.len && scan_space(c->s.p[c->i]))
            c->i++;
        if (c->i == c->s.len)
            return true; /* the rest of the format stays zero */
        if (f == '%' && i + 1 < format.len) {
            f = format.p[++i];
            if (!f || !scan_one(c, f))
                return false;
        } else if (!scan_space(f)) {
            if (c->s.p[c->i] != f)
                return false;
            c->i++;
        }
    }
    return true;
}

/* A date of year, week and weekday. */
static bool resolve_week(struct scanner *c)
{
    bool monday = c->week_kind == 'u' || c->week_kind == 'v';
    bool strict = c->week_kind == 'V' || c->week_kind == 'v';
    int year = strict ? c->week_year : c->t->year;
    int64_t first;
    int weekday;
    int64_t days;

    if (c->weekday == 0 || (strict && c->week_year < 0) || (strict && c->week == 0) ||
        (!strict && c->week_year >= 0))
        return false;
    first = db_date_days(year, 1, 1);
    weekday = db_weekday(first);
    if (!monday)
        weekday = (weekday + 1) % 7;
    if (monday)
        days =
            first + (weekday <= 3 ? 0 : 7) - weekday + (int64_t)(c->week - 1) * 7 + c->weekday - 1;
    else
        days =
            first + (weekday == 0 ? 0 : 7) - weekday + (int64_t)(c->week - 1) * 7 + c->weekday % 7;
    return db_date_from_days(days, c->t);
}

bool db_time_scan(struct str s, struct str format, struct db_time *t, unsigned *warn)
{
    struct scanner c = {.s = s, .t = t, .half = -1, .week = -1, .week_year = -1};

    *warn = DB_TIME_INVALID;
    *t = (struct db_time){.kind = DB_TIME_DATETIME};
    if (!scan_format(&c, format))
        return false;
    if (c.hour12) {
        if (t->hour > 12 || t->hour < 1)
            return false;
        t->hour = t->hour % 12 + (c.half == 1 ? 12 : 0);
    }
    if (c.year_day > 0 && !db_date_from_days(db_date_days(t->year, 1, 1) + c.year_day - 1, t))
        return false;
    if (c.week >= 0 && c.weekday && !resolve_week(&c))
        return false;
    if (t->month > 12 || t->day > 31 || t->minute > 59 || t->second > 59 ||
        (c.date && t->hour > 23))
        return false;
    t->kind = !c.clock ? DB_TIME_DATE : !c.date ? DB_TIME_TIME : DB_TIME_DATETIME;
    t->fsp = c.micros ? 6 : 0;
    while (c.i < s.len && scan_space(s.p[c.i]))
        c.i++;
    *warn = c.i < s.len ? DB_TIME_CUT : 0;
    return true;
}
