/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/cond.h"

#include <stdio.h>

enum { NS_PER_S = 1000000000, S_PER_DAY = 86400 };

static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
static const char months[][4] = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

size_t cond_etag_format(int64_t mtime_ns, uint64_t size, char out[COND_ETAG_MAX])
{
    int64_t s = mtime_ns / NS_PER_S;
    int64_t ns = mtime_ns % NS_PER_S;
    int n;

    if (ns < 0) {
        ns += NS_PER_S;
        s--;
    }
    if (ns == 0)
        n = snprintf(
            out, COND_ETAG_MAX, "\"%llx-%llx\"", (unsigned long long)s, (unsigned long long)size);
    else
        n = snprintf(out, COND_ETAG_MAX, "\"%llx.%llx-%llx\"", (unsigned long long)s,
            (unsigned long long)ns, (unsigned long long)size);
    return (size_t)n;
}

bool cond_etag_is_weak(struct str etag)
{
    return str_starts(etag, STR("W/"));
}

static struct str opaque(struct str etag)
{
    return cond_etag_is_weak(etag) ? str_sub(etag, 2, etag.len) : etag;
}

/* Length of the entity-tag at the start of s, 0 when there is none. */
static size_t etag_length(struct str s)
{
    size_t i = cond_etag_is_weak(s) ? 2 : 0;

    if (i >= s.len || s.p[i] != '"')
        return 0;
    for (i++; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c == '"')
            return i + 1;
        if (c <= ' ' || c == 0x7f)
            return 0;
    }
    return 0;
}

bool cond_etag_valid(struct str etag)
{
    return etag.len > 0 && etag_length(etag) == etag.len;
}

bool cond_etag_match_strong(struct str a, struct str b)
{
    return a.len > 0 && !cond_etag_is_weak(a) && str_eq(a, b);
}

bool cond_etag_match_weak(struct str a, struct str b)
{
    return a.len > 0 && str_eq(opaque(a), opaque(b));
}

bool cond_etag_in_list(struct str list, struct str etag, bool strong)
{
    list = str_trim(list);
    if (str_eq(list, STR("*")))
        return etag.len > 0;
    while (list.len > 0) {
        size_t n = etag_length(list);
        struct str one = str_sub(list, 0, n);

        if (n == 0)
            return false;
        if (strong ? cond_etag_match_strong(one, etag) : cond_etag_match_weak(one, etag))
            return true;
        list = str_trim(str_sub(list, n, list.len));
        while (list.len > 0 && list.p[0] == ',')
            list = str_trim(str_sub(list, 1, list.len));
    }
    return false;
}

/* Days since 1970 to and from the proleptic Gregorian calendar, counted from 1 March so that the
 * leap day is the last of its year. */
static int64_t days_from_date(int64_t year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static void date_from_days(int64_t n, int64_t *year, int *month, int *day)
{
    int64_t z = n + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097;
    int64_t doe = z - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    int64_t mp = (5 * doy + 2) / 153;

    *day = (int)(doy - (153 * mp + 2) / 5 + 1);
    *month = (int)(mp < 10 ? mp + 3 : mp - 9);
    *year = yoe + era * 400 + (*month <= 2);
}

static char *put_digits(char *p, int64_t v, int n)
{
    for (int i = n - 1; i >= 0; i--, v /= 10)
        p[i] = (char)('0' + v % 10);
    return p + n;
}

static char *put_text(char *p, const char *s, size_t n)
{
    memcpy(p, s, n);
    return p + n;
}

void cond_date_format(int64_t seconds, char out[COND_DATE_LEN])
{
    const int64_t last = 253402300799; /* 9999-12-31 23:59:59 */
    int64_t t = MAX((int64_t)0, MIN(seconds, last));
    int64_t day_number = t / S_PER_DAY, year;
    int rest = (int)(t % S_PER_DAY), month, day;
    char *p = out;

    date_from_days(day_number, &year, &month, &day);
    p = put_text(p, days[(day_number + 4) % 7], 3);
    p = put_text(p, ", ", 2);
    p = put_digits(p, day, 2);
    *p++ = ' ';
    p = put_text(p, months[month - 1], 3);
    *p++ = ' ';
    p = put_digits(p, year, 4);
    *p++ = ' ';
    p = put_digits(p, rest / 3600, 2);
    *p++ = ':';
    p = put_digits(p, rest / 60 % 60, 2);
    *p++ = ':';
    p = put_digits(p, rest % 60, 2);
    put_text(p, " GMT", 4);
}

/* A reader of fixed forms: every take_x() returns false at the first mismatch. */
struct scan {
    const char *p;
    const char *end;
};

static bool take_lit(struct scan *s, const char *lit)
{
    size_t n = strlen(lit);

    if ((size_t)(s->end - s->p) < n || memcmp(s->p, lit, n) != 0)
        return false;
    s->p += n;
    return true;
}

static bool take_num(struct scan *s, int n, int *out)
{
    int v = 0;

    if (s->end - s->p < n)
        return false;
    for (int i = 0; i < n; i++) {
        if (s->p[i] < '0' || s->p[i] > '9')
            return false;
        v = v * 10 + (s->p[i] - '0');
    }
    s->p += n;
    *out = v;
    return true;
}

static bool take_month(struct scan *s, int *out)
{
    for (int i = 0; i < 12; i++) {
        if (take_lit(s, months[i])) {
            *out = i + 1;
            return true;
        }
    }
    return false;
}

static bool take_time(struct scan *s, int *seconds)
{
    int h, m, sec;

    if (!take_num(s, 2, &h) || !take_lit(s, ":") || !take_num(s, 2, &m) || !take_lit(s, ":") ||
        !take_num(s, 2, &sec))
        return false;
    if (h > 23 || m > 59 || sec > 60)
        return false;
    *seconds = h * 3600 + m * 60 + sec;
    return true;
}

/* Two-digit years: the past, except for the next fifty years (5.6.7), which a server that lives
 * between 2020 and 2069 may fix at 70. */
static int full_year(int yy)
{
    return yy < 70 ? 2000 + yy : 1900 + yy;
}

static bool take_weekday(struct scan *s, bool *full)
{
    static const char tails[][7] = {"day", "day", "sday", "nesday", "rsday", "day", "urday"};

    for (size_t i = 0; i < ARRAY_LEN(days); i++) {
        if (!take_lit(s, days[i]))
            continue;
        *full = take_lit(s, tails[i]);
        return true;
    }
    return false;
}

struct parts {
    int year, month, day, time;
};

/* After "Sun, " / "Sunday, " / "Sun ". */
static bool take_imf(struct scan *s, struct parts *d)
{
    return take_num(s, 2, &d->day) && take_lit(s, " ") && take_month(s, &d->month) &&
           take_lit(s, " ") && take_num(s, 4, &d->year) && take_lit(s, " ") &&
           take_time(s, &d->time) && take_lit(s, " GMT");
}

static bool take_rfc850(struct scan *s, struct parts *d)
{
    if (!(take_num(s, 2, &d->day) && take_lit(s, "-") && take_month(s, &d->month) &&
            take_lit(s, "-") && take_num(s, 2, &d->year) && take_lit(s, " ") &&
            take_time(s, &d->time) && take_lit(s, " GMT")))
        return false;
    d->year = full_year(d->year);
    return true;
}

static bool take_asctime(struct scan *s, struct parts *d)
{
    if (!take_month(s, &d->month) || !take_lit(s, " "))
        return false;
    if (!(take_lit(s, " ") ? take_num(s, 1, &d->day) : take_num(s, 2, &d->day)))
        return false;
    return take_lit(s, " ") && take_time(s, &d->time) && take_lit(s, " ") &&
           take_num(s, 4, &d->year);
}

int cond_date_parse(struct str text, int64_t *seconds)
{
    struct scan s = {NULL, NULL};
    struct parts d = {0, 0, 0, 0};
    bool full = false, ok;

    if (text.len == 0)
        return ERR_INVAL;
    s = (struct scan){text.p, text.p + text.len};
    if (!take_weekday(&s, &full))
        return ERR_INVAL;
    if (take_lit(&s, ", "))
        ok = full ? take_rfc850(&s, &d) : take_imf(&s, &d);
    else
        ok = !full && take_lit(&s, " ") && take_asctime(&s, &d);
    if (!ok || s.p != s.end || d.day < 1 || d.day > 31)
        return ERR_INVAL;
    *seconds = days_from_date(d.year, d.month, d.day) * S_PER_DAY + d.time;
    return 0;
}

/* 1: changed after the date, 0: not, -1: no date, or nothing to compare. */
static int modified_since(struct str date, int64_t mtime)
{
    int64_t t;

    if (!date.p || mtime < 0 || cond_date_parse(date, &t))
        return -1;
    return mtime > t;
}

enum cond_result cond_check(const struct cond *c, bool safe, struct str etag, int64_t mtime)
{
    if (c->if_match.p) {
        if (!cond_etag_in_list(c->if_match, etag, true))
            return COND_FAILED;
    } else if (modified_since(c->if_unmodified_since, mtime) == 1) {
        return COND_FAILED;
    }
    if (c->if_none_match.p) {
        if (!cond_etag_in_list(c->if_none_match, etag, false))
            return COND_SEND;
        return safe ? COND_NOT_MODIFIED : COND_FAILED;
    }
    if (safe && modified_since(c->if_modified_since, mtime) == 0)
        return COND_NOT_MODIFIED;
    return COND_SEND;
}

bool cond_range_applies(const struct cond *c, struct str etag, int64_t mtime)
{
    int64_t t;

    if (!c->if_range.p)
        return true;
    if (c->if_range.len > 0 && (c->if_range.p[0] == '"' || cond_etag_is_weak(c->if_range)))
        return cond_etag_match_strong(c->if_range, etag);
    /* The date must be exact (13.1.5): "not modified since" is not enough. */
    return mtime >= 0 && cond_date_parse(c->if_range, &t) == 0 && t == mtime;
}
