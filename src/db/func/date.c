/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Functions that take dates and times apart and put them together. */
#include "db/func/call.h"

static void date_overflow(struct call *c)
{
    CALL_WARN(c, DB_WARNING, DB_E_DATETIME_OVERFLOW, "datetime");
}

/* A date of which the day must be whole. */
static bool whole_date(struct call *c, int i, struct db_time *t)
{
    return call_date(c, i, DB_TIME_NO_ZERO_DATE | DB_TIME_NO_ZERO_IN, t);
}

void fn_date(struct call *c)
{
    struct db_time t;

    if (call_date(c, 0, call_date_flags(c), &t)) {
        t.kind = DB_TIME_DATE;
        ret_time(c, &t, 0);
    }
}

void fn_time(struct call *c)
{
    struct db_time t;

    if (call_time(c, 0, &t))
        ret_time(c, &t, t.fsp);
}

void fn_timestamp(struct call *c)
{
    struct db_time t;
    struct db_time add;
    struct db_time r;
    int fsp;

    if (call_any_null(c) || !call_date(c, 0, 0, &t))
        return;
    t.kind = DB_TIME_DATETIME;
    if (c->n == 1) {
        ret_time(c, &t, t.fsp);
        return;
    }
    if (!call_time(c, 1, &add) || t.month == 0 || t.day == 0)
        return;
    fsp = MAX(t.fsp, add.fsp);
    if (db_time_from_micros(db_time_to_micros(&t) + db_time_span(&add), &r))
        ret_time(c, &r, fsp);
    else
        date_overflow(c);
}

void fn_year(struct call *c)
{
    struct db_time t;

    if (call_date(c, 0, 0, &t))
        ret_i64(c, t.year);
}

void fn_quarter(struct call *c)
{
    struct db_time t;

    if (call_date(c, 0, 0, &t))
        ret_i64(c, (t.month + 2) / 3);
}

void fn_month(struct call *c)
{
    struct db_time t;

    if (call_date(c, 0, 0, &t))
        ret_i64(c, t.month);
}

void fn_dayofmonth(struct call *c)
{
    struct db_time t;

    if (call_date(c, 0, 0, &t))
        ret_i64(c, t.day);
}

static unsigned week_mode(struct call *c)
{
    return c->n > 1 && !call_null(c, 1) ? (unsigned)call_i64(c, 1) & 7
                                        : c->s->default_week_format & 7;
}

void fn_week(struct call *c)
{
    struct db_time t;
    int year;

    if (whole_date(c, 0, &t))
        ret_i64(c, db_week(&t, week_mode(c), &year));
}

void fn_weekofyear(struct call *c)
{
    struct db_time t;
    int year;

    if (whole_date(c, 0, &t))
        ret_i64(c, db_week(&t, 3, &year));
}

void fn_yearweek(struct call *c)
{
    struct db_time t;
    int year;
    int week;

    if (!whole_date(c, 0, &t))
        return;
    week = db_week(&t, (c->n > 1 ? week_mode(c) : 0) | 2, &year);
    ret_i64(c, year * 100 + week);
}

void fn_weekday(struct call *c)
{
    struct db_time t;

    if (whole_date(c, 0, &t))
        ret_i64(c, db_weekday(db_date_days(t.year, t.month, t.day)));
}

void fn_dayofweek(struct call *c)
{
    struct db_time t;

    if (whole_date(c, 0, &t))
        ret_i64(c, (db_weekday(db_date_days(t.year, t.month, t.day)) + 1) % 7 + 1);
}

void fn_dayofyear(struct call *c)
{
    struct db_time t;

    if (whole_date(c, 0, &t))
        ret_i64(c, db_year_day(&t));
}

void fn_hour(struct call *c)
{
    struct db_time t;

    if (call_time(c, 0, &t))
        ret_i64(c, t.hour);
}

void fn_minute(struct call *c)
{
    struct db_time t;

    if (call_time(c, 0, &t))
        ret_i64(c, t.minute);
}

void fn_second(struct call *c)
{
    struct db_time t;

    if (call_time(c, 0, &t))
        ret_i64(c, t.second);
}

void fn_microsecond(struct call *c)
{
    struct db_time t;

    if (call_time(c, 0, &t))
        ret_i64(c, t.micro);
}

void fn_monthname(struct call *c)
{
    struct db_time t;

    if (call_date(c, 0, 0, &t) && t.month)
        ret_str(c, db_month_names[t.month - 1]);
}

void fn_dayname(struct call *c)
{
    struct db_time t;

    if (whole_date(c, 0, &t))
        ret_str(c, db_day_names[db_weekday(db_date_days(t.year, t.month, t.day))]);
}

void fn_last_day(struct call *c)
{
    struct db_time t;

    if (!call_date(c, 0, DB_TIME_NO_ZERO_DATE, &t) || t.month == 0)
        return;
    t.kind = DB_TIME_DATE;
    t.day = db_month_days(t.year, t.month);
    ret_time(c, &t, 0);
}

void fn_makedate(struct call *c)
{
    struct db_time t = {.kind = DB_TIME_DATE};
    int64_t year;
    int64_t day;

    if (call_any_null(c))
        return;
    year = call_i64(c, 0);
    day = call_i64(c, 1);
    if (year < 0 || year > 9999 || day < 1 || day > 4000000)
        return;
    if (year < 100)
        year += year < 70 ? 2000 : 1900;
    if (db_date_from_days(db_date_days((int)year, 1, 1) + day - 1, &t))
        ret_time(c, &t, 0);
}

void fn_maketime(struct call *c)
{
    struct db_time t = {.kind = DB_TIME_TIME};
    int64_t hour;
    int64_t minute;
    struct num n;
    struct db_decimal d;
    struct db_decimal million;
    int64_t micros;

    if (call_any_null(c))
        return;
    hour = call_i64(c, 0);
    minute = call_i64(c, 1);
    call_num(c, 2, &n);
    num_decimal(&n, &d);
    db_decimal_i64(&million, 1000000);
    t.fsp = (uint8_t)MIN(d.scale, 6);
    if (minute < 0 || minute > 59 || d.neg || num_double(&n) >= 60 ||
        !db_decimal_mul(&d, &million, &d) || !db_decimal_to_i64(&d, &micros))
        return;
    if (hour > 838 || hour < -838) {
        call_truncated(c, "time", call_str(c, 0));
        t = (struct db_time){.kind = DB_TIME_TIME, .hour = 838, .minute = 59, .second = 59};
        t.neg = hour < 0;
        if (!c->failed)
            ret_time(c, &t, 0);
        return;
    }
    t.neg = hour < 0;
    t.hour = (int)(hour < 0 ? -hour : hour);
    t.minute = (int)minute;
    t.second = (int)(micros / 1000000);
    t.micro = (int)(micros % 1000000);
    ret_time(c, &t, t.fsp);
}

/* ---- intervals ---- */

/* Is it a time of day and not a date? Only its text tells. */
static bool is_time(struct call *c, int i)
{
    struct str s;
    ptrdiff_t colon;

    if (sqlite3_value_type(c->v[i]) != SQLITE_TEXT)
        return false;
    s = call_str(c, i);
    colon = str_chr(s, ':');
    return colon > 0 && str_chr(str_sub(s, 1, s.len), '-') < 0 && colon <= 4;
}

/* Decimals of the result. A text as date shows all that are not zero. */
static int sum_decimals(struct call *c, enum db_unit unit, char type, int fsp, bool has_micros)
{
    struct db_decimal d;
    bool overflow;

    if (!type)
        return has_micros ? 6 : 0;
    if (db_unit_has_micros(unit))
        return 6;
    if (unit != DB_UNIT_SECOND || sqlite3_value_type(c->v[1]) == SQLITE_INTEGER)
        return fsp;
    (void)db_decimal_parse(call_str(c, 1), &d, &overflow); /* what is no number has no decimals */
    return MAX(fsp, MIN(d.scale, 6));
}

/* The interval's text; a DOUBLE is rounded, as a DECIMAL is before it comes here. */
static struct str interval_text(struct call *c, enum db_unit unit)
{
    if (sqlite3_value_type(c->v[1]) == SQLITE_FLOAT && unit <= DB_UNIT_YEAR &&
        unit != DB_UNIT_SECOND)
        return arena_printf(&c->arena, "%lld", (long long)call_i64(c, 1));
    return call_str(c, 1);
}

static void add_interval(struct call *c, bool minus)
{
    struct db_time t;
    struct db_interval interval;
    enum db_unit unit;
    char type = c->n > 3 && !call_null(c, 3) && call_str(c, 3).len ? call_str(c, 3).p[0] : '\0';
    int fsp;

    if (call_null(c, 0) || call_null(c, 1) || !db_unit_parse(call_str(c, 2), &unit))
        return;
    if (!db_interval_parse(interval_text(c, unit), unit, &interval)) {
        date_overflow(c);
        return;
    }
    if (type == 'T') {
        if (!call_time(c, 0, &t))
            return;
    } else if (!call_date(c, 0, DB_TIME_NO_ZERO_DATE | DB_TIME_NO_ZERO_IN, &t)) {
        return;
    }
    if (type == 'E')
        t.kind = DB_TIME_DATETIME;
    fsp = t.fsp;
    if (db_time_add(&t, &interval, unit, minus))
        ret_time(c, &t, t.kind == DB_TIME_DATE ? 0 : sum_decimals(c, unit, type, fsp, t.micro));
    else
        date_overflow(c);
}

void fn_date_add(struct call *c)
{
    add_interval(c, false);
}

void fn_date_sub(struct call *c)
{
    add_interval(c, true);
}

void fn_timestampadd(struct call *c)
{
    sqlite3_value *swapped[4] = {c->v[2], c->v[1], c->v[0], c->v[0]};
    sqlite3_value **v = c->v;

    c->v = swapped;
    add_interval(c, false);
    c->v = v;
}

void fn_timestampdiff(struct call *c)
{
    struct db_time a;
    struct db_time b;
    enum db_unit unit;

    if (call_any_null(c) || !db_unit_parse(call_str(c, 0), &unit))
        return;
    if (whole_date(c, 1, &a) && whole_date(c, 2, &b))
        ret_i64(c, db_time_diff(unit, &a, &b));
}

void fn_datediff(struct call *c)
{
    struct db_time a;
    struct db_time b;

    if (whole_date(c, 0, &a) && whole_date(c, 1, &b))
        ret_i64(c, db_date_days(a.year, a.month, a.day) - db_date_days(b.year, b.month, b.day));
}

/* A time, or a date with time: microseconds. */
static bool moment(struct call *c, int i, bool *date, int64_t *us, int *fsp)
{
    struct db_time t;

    if (call_null(c, i))
        return false;
    *date = sqlite3_value_type(c->v[i]) == SQLITE_TEXT && !is_time(c, i) &&
            str_chr(str_sub(call_str(c, i), 1, 32), '-') > 0;
    if (!(*date ? call_date(c, i, 0, &t) : call_time(c, i, &t)))
        return false;
    *us = *date ? db_time_to_micros(&t) : db_time_span(&t);
    *fsp = t.fsp;
    return true;
}

void fn_timediff(struct call *c)
{
    struct db_time r;
    bool a_date;
    bool b_date;
    int64_t a;
    int64_t b;
    int a_fsp;
    int b_fsp;

    if (!moment(c, 0, &a_date, &a, &a_fsp) || !moment(c, 1, &b_date, &b, &b_fsp))
        return;
    if (a_date != b_date)
        return;
    if (!db_time_from_span(a - b, &r))
        call_truncated(c, "time", call_str(c, 0));
    if (!c->failed)
        ret_time(c, &r, MAX(a_fsp, b_fsp));
}

/* A date with a time where only a time makes sense? */
static bool is_datetime(struct call *c, int i)
{
    struct db_time t;
    unsigned warn;

    return sqlite3_value_type(c->v[i]) == SQLITE_TEXT && !is_time(c, i) &&
           db_date_parse(call_str(c, i), 0, &t, &warn) && t.kind == DB_TIME_DATETIME;
}

static void add_time(struct call *c, int sign)
{
    struct db_time add;
    struct db_time r;
    bool date;
    int64_t us;
    int fsp;
    bool ok;

    if (call_any_null(c) || is_datetime(c, 1) || !moment(c, 0, &date, &us, &fsp) ||
        !call_time(c, 1, &add))
        return;
    us += sign * db_time_span(&add);
    ok = date ? db_time_from_micros(us, &r) : db_time_from_span(us, &r);
    if (!ok && date)
        date_overflow(c);
    else
        ret_time(c, &r, MAX(fsp, add.fsp));
}

void fn_addtime(struct call *c)
{
    add_time(c, 1);
}

void fn_subtime(struct call *c)
{
    add_time(c, -1);
}

/* Months of a period YYMM or YYYYMM */
static bool period(struct call *c, int i, int64_t *months)
{
    int64_t v = call_i64(c, i);
    int64_t year = v / 100;

    if (v < 0 || v % 100 < 1 || v % 100 > 12 || year > 9999) {
        CALL_RAISE(c, DB_E_WRONG_ARGUMENTS, c->name);
        return false;
    }
    if (year < 100)
        year += year < 70 ? 2000 : 1900;
    *months = year * 12 + v % 100 - 1;
    return true;
}

void fn_period_add(struct call *c)
{
    int64_t months;
    int64_t n;

    if (call_any_null(c) || !period(c, 0, &months))
        return;
    n = call_i64(c, 1);
    if (n > 1000000 || n < -1000000)
        return;
    months += n;
    ret_i64(c, months < 0 ? 0 : months / 12 * 100 + months % 12 + 1);
}

void fn_period_diff(struct call *c)
{
    int64_t a;
    int64_t b;

    if (!call_any_null(c) && period(c, 0, &a) && period(c, 1, &b))
        ret_i64(c, a - b);
}

/* Does a text begin with a date, as its dash tells? */
static bool has_date(struct call *c, int i)
{
    return sqlite3_value_type(c->v[i]) == SQLITE_TEXT &&
           str_chr(str_sub(call_str(c, i), 1, 32), '-') > 0;
}

void fn_extract(struct call *c)
{
    struct db_time t;
    enum db_unit unit;

    if (call_any_null(c) || !db_unit_parse(call_str(c, 0), &unit))
        return;
    if ((unit <= DB_UNIT_HOUR && !has_date(c, 1)) ||
        (db_unit_has_time(unit) && (is_time(c, 1) || sqlite3_value_type(c->v[1]) != SQLITE_TEXT))) {
        if (!call_time(c, 1, &t))
            return;
        t.day = unit >= DB_UNIT_DAY_MICROSECOND && unit <= DB_UNIT_DAY_HOUR ? t.hour / 24 : 0;
        if (t.day)
            t.hour %= 24;
    } else if (!call_date(c, 1,
                   unit == DB_UNIT_WEEK ? DB_TIME_NO_ZERO_IN | DB_TIME_NO_ZERO_DATE : 0, &t)) {
        return;
    }
    ret_i64(c, db_time_extract(unit, &t));
}

void fn_to_days(struct call *c)
{
    struct db_time t;

    if (whole_date(c, 0, &t))
        ret_i64(c, db_date_days(t.year, t.month, t.day));
}

void fn_to_seconds(struct call *c)
{
    struct db_time t;

    if (whole_date(c, 0, &t))
        ret_i64(c, db_date_days(t.year, t.month, t.day) * 86400 + t.hour * 3600 + t.minute * 60 +
                       t.second);
}

void fn_from_days(struct call *c)
{
    struct db_time t = {.kind = DB_TIME_DATE};

    if (call_null(c, 0))
        return;
    if (!db_date_from_days(call_i64(c, 0), &t) || t.year == 0)
        t.year = t.month = t.day = 0;
    ret_time(c, &t, 0);
}

void fn_time_to_sec(struct call *c)
{
    struct db_time t;

    if (call_time(c, 0, &t))
        ret_i64(c, db_time_span(&t) / 1000000);
}

void fn_sec_to_time(struct call *c)
{
    struct num n;
    struct db_decimal d;
    struct db_decimal million;
    struct db_time t;
    int64_t us;
    int fsp;

    if (call_null(c, 0))
        return;
    call_num(c, 0, &n);
    num_decimal(&n, &d);
    fsp = n.kind == NUM_REAL ? 6 : MIN(d.scale, 6);
    db_decimal_i64(&million, 1000000);
    if (!db_decimal_mul(&d, &million, &d) || !db_decimal_to_i64(&d, &us))
        us = d.neg ? INT64_MIN + 1 : INT64_MAX;
    if (!db_time_from_span(us, &t))
        call_truncated(c, "time", call_str(c, 0));
    if (!c->failed)
        ret_time(c, &t, fsp);
}

/* ---- texts ---- */

void fn_date_format(struct call *c)
{
    struct db_time t;
    struct buf b = {0};

    if (call_any_null(c) || call_str(c, 1).len == 0 || !call_date(c, 0, 0, &t))
        return;
    if (!ret_fits(c, (uint64_t)call_str(c, 1).len * 16))
        return;
    if (db_time_format(&b, call_str(c, 1), &t))
        ret_buf(c, &b, false);
    else
        buf_fini(&b);
}

void fn_time_format(struct call *c)
{
    struct db_time t;
    struct buf b = {0};

    if (call_any_null(c) || call_str(c, 1).len == 0 || !call_time(c, 0, &t))
        return;
    if (!ret_fits(c, (uint64_t)call_str(c, 1).len * 16))
        return;
    if (db_time_format(&b, call_str(c, 1), &t))
        ret_buf(c, &b, false);
    else
        buf_fini(&b);
}

void fn_get_format(struct call *c)
{
    static const struct {
        struct str type;
        struct str where;
        struct str format;
    } rows[] = {
        {STR("DATE"), STR("USA"), STR("%m.%d.%Y")},
        {STR("DATE"), STR("JIS"), STR("%Y-%m-%d")},
        {STR("DATE"), STR("ISO"), STR("%Y-%m-%d")},
        {STR("DATE"), STR("EUR"), STR("%d.%m.%Y")},
        {STR("DATE"), STR("INTERNAL"), STR("%Y%m%d")},
        {STR("DATETIME"), STR("USA"), STR("%Y-%m-%d %H.%i.%s")},
        {STR("DATETIME"), STR("JIS"), STR("%Y-%m-%d %H:%i:%s")},
        {STR("DATETIME"), STR("ISO"), STR("%Y-%m-%d %H:%i:%s")},
        {STR("DATETIME"), STR("EUR"), STR("%Y-%m-%d %H.%i.%s")},
        {STR("DATETIME"), STR("INTERNAL"), STR("%Y%m%d%H%i%s")},
        {STR("TIME"), STR("USA"), STR("%h:%i:%s %p")},
        {STR("TIME"), STR("JIS"), STR("%H:%i:%s")},
        {STR("TIME"), STR("ISO"), STR("%H:%i:%s")},
        {STR("TIME"), STR("EUR"), STR("%H.%i.%s")},
        {STR("TIME"), STR("INTERNAL"), STR("%H%i%s")},
    };
    struct str type = call_str(c, 0);

    if (call_any_null(c))
        return;
    if (str_ieq(type, STR("TIMESTAMP")))
        type = STR("DATETIME");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (str_ieq(type, rows[i].type) && str_ieq(call_str(c, 1), rows[i].where))
            ret_str(c, rows[i].format);
    }
}

void fn_str_to_date(struct call *c)
{
    struct db_time t;
    unsigned warn;
    unsigned bad;
    struct str s;

    if (call_any_null(c))
        return;
    s = call_str(c, 0);
    if (!db_time_scan(s, call_str(c, 1), &t, &warn)) {
        CALL_WARN(c, DB_WARNING, DB_E_WRONG_VALUE_FOR_TYPE, "datetime",
            arena_str(&c->arena, str_sub(s, 0, 128)).p, "str_to_date");
        return;
    }
    bad = t.kind == DB_TIME_TIME ? 0 : db_date_check(&t, call_date_flags(c));
    if (bad) {
        CALL_WARN(c, DB_WARNING, DB_E_WRONG_VALUE_FOR_TYPE, "datetime",
            arena_str(&c->arena, str_sub(s, 0, 128)).p, "str_to_date");
        return;
    }
    if (warn & DB_TIME_CUT)
        call_truncated(c, t.kind == DB_TIME_DATE ? "date" : "datetime", s);
    if (!c->failed)
        ret_time(c, &t, t.fsp);
}
