/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Reads zoneinfo files (RFC 8536): transitions of the file, then the rule of its last line. */
#include "db/func/tz.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"

enum { MOST_BYTES = 1 << 20, MOST_TRANSITIONS = 20000 };

/* When a rule of a POSIX TZ string changes: Mm.w.d, or a day of the year. */
struct rule {
    char kind; /* 'M', 'J' (1..365 without 29 February), 'N' (0..365) */
    int month;
    int week;
    int day;
    int64_t time;
};

struct db_tz {
    uint32_t n;
    int64_t *when;   /* of n transitions, ascending */
    int32_t *offset; /* from then on */
    int32_t first;   /* before them */
    bool has_rule;   /* after them: */
    bool has_dst;
    int32_t std;
    int32_t dst;
    struct rule start;
    struct rule end;
};

bool db_tz_offset(struct str text, int64_t *seconds)
{
    uint64_t hours;
    uint64_t minutes;
    ptrdiff_t colon = str_chr(text, ':');
    int64_t v;

    if (colon < 2 || colon > 3 || (text.p[0] != '+' && text.p[0] != '-') ||
        str_u64(str_sub(text, 1, (size_t)colon - 1), &hours) != 0 ||
        text.len - (size_t)colon - 1 != 2 ||
        str_u64(str_sub(text, (size_t)colon + 1, 2), &minutes) != 0 || minutes > 59)
        return false;
    v = (int64_t)(hours * 3600 + minutes * 60);
    if (text.p[0] == '-')
        v = -v;
    if (v > 14 * 3600 || v < -(13 * 3600 + 59 * 60))
        return false;
    *seconds = v;
    return true;
}

/* ---- the rule's text: "CET-1CEST,M3.5.0,M10.5.0/3" ---- */

struct text {
    const char *p;
    const char *end;
};

static bool skip_name(struct text *t)
{
    const char *from = t->p;

    if (t->p < t->end && *t->p == '<') {
        while (t->p < t->end && *t->p != '>')
            t->p++;
        if (t->p == t->end)
            return false;
        t->p++;
        return true;
    }
    while (t->p < t->end && ((*t->p | 32) >= 'a' && (*t->p | 32) <= 'z'))
        t->p++;
    return t->p > from;
}

static int read_int(struct text *t)
{
    int v = 0;

    for (; t->p < t->end && *t->p >= '0' && *t->p <= '9'; t->p++)
        v = v < 100000 ? v * 10 + (*t->p - '0') : v;
    return v;
}

/* [+-]hh[:mm[:ss]] */
static int64_t read_clock(struct text *t)
{
    bool neg = false;
    int64_t v;

    if (t->p < t->end && (*t->p == '-' || *t->p == '+'))
        neg = *t->p++ == '-';
    v = (int64_t)read_int(t) * 3600;
    for (int unit = 60; unit >= 1 && t->p < t->end && *t->p == ':'; unit /= 60) {
        t->p++;
        v += (int64_t)read_int(t) * unit;
    }
    return neg ? -v : v;
}

static bool read_rule(struct text *t, struct rule *r)
{
    if (t->p >= t->end || *t->p != ',')
        return false;
    t->p++;
    r->kind = 'N';
    if (t->p < t->end && (*t->p == 'M' || *t->p == 'J'))
        r->kind = *t->p++;
    r->day = read_int(t);
    if (r->kind == 'M') {
        r->month = r->day;
        if (t->p >= t->end || *t->p != '.')
            return false;
        t->p++;
        r->week = read_int(t);
        if (t->p >= t->end || *t->p != '.')
            return false;
        t->p++;
        r->day = read_int(t);
        if (r->month < 1 || r->month > 12 || r->week < 1 || r->week > 5 || r->day > 6)
            return false;
    }
    r->time = 7200;
    if (t->p < t->end && *t->p == '/') {
        t->p++;
        r->time = read_clock(t);
    }
    return true;
}

static void read_posix(struct db_tz *z, struct str s)
{
    struct text t = {s.p, s.p + s.len};

    if (!skip_name(&t))
        return;
    z->std = (int32_t)-read_clock(&t);
    z->has_rule = true;
    if (t.p >= t.end || !skip_name(&t))
        return;
    z->dst = z->std + 3600;
    if (t.p < t.end && *t.p != ',')
        z->dst = (int32_t)-read_clock(&t);
    z->has_dst = read_rule(&t, &z->start) && read_rule(&t, &z->end);
}

/* ---- the calendar, in days since 1970 ---- */

static int64_t days_of(int64_t year, int month, int day)
{
    int64_t y = year - (month <= 2);
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t yoe = y - era * 400;
    int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static int64_t year_of(int64_t seconds)
{
    int64_t year = 1970 + seconds / 31556952;

    while (days_of(year + 1, 1, 1) * 86400 <= seconds)
        year++;
    while (days_of(year, 1, 1) * 86400 > seconds)
        year--;
    return year;
}

/* Seconds of the rule's moment in that year, in the local time before it. */
static int64_t rule_time(const struct rule *r, int64_t year)
{
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    int64_t day;

    if (r->kind == 'M') {
        int64_t first = days_of(year, r->month, 1);
        int64_t next = r->month == 12 ? days_of(year + 1, 1, 1) : days_of(year, r->month + 1, 1);
        int weekday = (int)((first % 7 + 7 + 4) % 7); /* 1970 began on a Thursday */

        day = first + (r->day - weekday + 7) % 7 + (int64_t)(r->week - 1) * 7;
        while (day >= next)
            day -= 7;
    } else {
        day = days_of(year, 1, 1) + r->day - (r->kind == 'J' && !(leap && r->day >= 60));
    }
    return day * 86400 + r->time;
}

static int64_t rule_offset(const struct db_tz *z, int64_t utc)
{
    int64_t year;
    int64_t start;
    int64_t end;
    bool in;

    if (!z->has_dst)
        return z->std;
    year = year_of(utc + z->std);
    start = rule_time(&z->start, year) - z->std;
    end = rule_time(&z->end, year) - z->dst;
    in = start < end ? utc >= start && utc < end : utc >= start || utc < end;
    return in ? z->dst : z->std;
}

bool db_tz_is_utc(const struct db_tz *tz)
{
    return tz->n == 0 && tz->first == 0 && (!tz->has_rule || (tz->std == 0 && !tz->has_dst));
}

int64_t db_tz_from_utc(const struct db_tz *z, int64_t utc)
{
    uint32_t low = 0;
    uint32_t high = z->n;

    if (z->n == 0 || utc >= z->when[z->n - 1]) {
        if (z->has_rule)
            return rule_offset(z, utc);
        return z->n ? z->offset[z->n - 1] : z->first;
    }
    while (low < high) { /* the last transition that is not after it */
        uint32_t mid = low + (high - low) / 2;

        if (z->when[mid] <= utc)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? z->offset[low - 1] : z->first;
}

int64_t db_tz_to_utc(const struct db_tz *z, int64_t local, bool *gap)
{
    /* offsets a day before and after: around a change, both sides of it */
    int64_t before = db_tz_from_utc(z, local - 86400);
    int64_t after = db_tz_from_utc(z, local + 86400);
    int64_t low;
    int64_t high;

    *gap = false;
    if (db_tz_from_utc(z, local - before) == before)
        return local - before;
    if (db_tz_from_utc(z, local - after) == after)
        return local - after;
    *gap = true;
    low = local - MAX(before, after) - 1;
    high = local - MIN(before, after);
    while (low + 1 < high) { /* the moment of the change */
        int64_t mid = low + (high - low) / 2;

        if (db_tz_from_utc(z, mid) == before)
            low = mid;
        else
            high = mid;
    }
    return high;
}

/* ---- the file ---- */

static uint32_t be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t be64(const unsigned char *p)
{
    return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4));
}

struct header {
    uint32_t isut, isstd, leap, times, types, chars;
};

static bool read_header(const unsigned char *p, size_t n, struct header *h)
{
    if (n < 44 || memcmp(p, "TZif", 4) != 0)
        return false;
    h->isut = be32(p + 20);
    h->isstd = be32(p + 24);
    h->leap = be32(p + 28);
    h->times = be32(p + 32);
    h->types = be32(p + 36);
    h->chars = be32(p + 40);
    return h->times <= MOST_TRANSITIONS && h->types >= 1 && h->types <= 256 && h->chars <= 4096 &&
           h->leap <= 4096 && h->isut <= 256 && h->isstd <= 256;
}

static size_t body_size(const struct header *h, size_t width)
{
    return h->times * (width + 1) + h->types * 6 + h->chars + h->leap * (width + 4) + h->isstd +
           h->isut;
}

static int parse(struct db_tz *z, const unsigned char *p, size_t n)
{
    struct header h;
    const unsigned char *types;
    const unsigned char *index;
    size_t at = 44;
    size_t end;

    if (!read_header(p, n, &h) || p[4] < '2')
        return ERR_CORRUPT;
    at += body_size(&h, 4);
    if (at > n || !read_header(p + at, n - at, &h))
        return ERR_CORRUPT;
    at += 44;
    end = at + body_size(&h, 8);
    if (end > n)
        return ERR_CORRUPT;
    index = p + at + (size_t)h.times * 8;
    types = index + h.times;
    z->when = mem_new_array(h.times + 1, sizeof(z->when[0]));
    z->offset = mem_new_array(h.times + 1, sizeof(z->offset[0]));
    z->first = (int32_t)be32(types);
    for (; z->n < h.times; z->n++) {
        z->when[z->n] = be64(p + at + (size_t)z->n * 8);
        if (index[z->n] >= h.types)
            return ERR_CORRUPT;
        z->offset[z->n] = (int32_t)be32(types + (size_t)index[z->n] * 6);
    }
    if (end + 2 < n && p[end] == '\n') {
        struct str rest = str_n((const char *)p + end + 1, n - end - 1);
        ptrdiff_t line = str_chr(rest, '\n');

        if (line > 0)
            read_posix(z, str_sub(rest, 0, (size_t)line));
    }
    return 0;
}

static int load(const char *path, struct db_tz **out)
{
    struct db_tz *z = NULL;
    unsigned char *bytes = NULL;
    FILE *f = fopen(path, "rb");
    size_t n;
    int rc = ERR_NOTFOUND;

    if (!f)
        return rc;
    bytes = mem_resize(NULL, MOST_BYTES); /* not zeroed: each session reads one */
    n = fread(bytes, 1, MOST_BYTES, f);
    (void)fclose(f); /* it was only read */
    z = mem_new(sizeof(*z));
    rc = parse(z, bytes, n);
    mem_free(bytes);
    if (rc) {
        db_tz_close(z);
        return ERR_NOTFOUND;
    }
    *out = z;
    return 0;
}

/* Letters, digits, _ + - and single slashes; nothing that leaves the folder. */
static bool safe_name(struct str name)
{
    if (name.len == 0 || name.len > 64 || name.p[0] == '/')
        return false;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.p[i];
        bool ok = ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
                  c == '+' || c == '-' || c == '/';

        if (!ok)
            return false;
    }
    return true;
}

int db_tz_open(struct str name, struct db_tz **out)
{
    char path[128];

    if (str_ieq(name, STR("SYSTEM"))) {
        const char *env = getenv("TZ");

        if (env && *env && safe_name(str_c(env)))
            return db_tz_open(str_c(env), out);
        if (load("/etc/localtime", out) == 0)
            return 0;
        name = STR("UTC");
    }
    if (str_ieq(name, STR("UTC"))) {
        *out = mem_new(sizeof(**out));
        return 0;
    }
    if (!safe_name(name))
        return ERR_NOTFOUND;
    (void)snprintf(path, sizeof(path), "/usr/share/zoneinfo/" STR_F, STR_A(name));
    return load(path, out);
}

void db_tz_close(struct db_tz *tz)
{
    if (!tz)
        return;
    mem_free(tz->when);
    mem_free(tz->offset);
    mem_free(tz);
}
