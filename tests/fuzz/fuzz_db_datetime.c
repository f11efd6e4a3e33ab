/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Dates and times: texts, formats and intervals, up to the first line break the text, then the
 * format or interval. What is printed reads as the same. */
#include <stdint.h>

#include "base/mem.h"
#include "db/datetime.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void same_again(const struct db_time *t)
{
    char text[DB_TIME_TEXT];
    struct db_time u;
    unsigned warn;
    size_t n = db_time_print(t, 6, text);
    bool ok;

    ENSURE(n < DB_TIME_TEXT);
    ok = t->kind == DB_TIME_TIME ? db_time_parse(str_n(text, n), &u, &warn)
                                 : db_date_parse(str_n(text, n), DB_TIME_INVALID_DATES, &u, &warn);
    ENSURE(ok && warn == 0);
    ENSURE(u.year == t->year && u.month == t->month && u.day == t->day && u.hour == t->hour &&
           u.minute == t->minute && u.second == t->second && u.neg == t->neg);
}

static void calculate(struct db_time t, struct str s)
{
    struct db_interval interval;
    struct db_time u;
    int year;

    if (t.kind != DB_TIME_TIME && t.month && t.day) {
        (void)db_week(&t, 3, &year);
        (void)db_year_day(&t);
        if (t.year > 0 && t.day <= db_month_days(t.year, t.month)) {
            u = t;
            ENSURE(db_date_from_days(db_date_days(t.year, t.month, t.day), &u));
            ENSURE(u.year == t.year && u.month == t.month && u.day == t.day);
        }
    }
    for (int unit = 0; unit < DB_UNIT__COUNT; unit++) {
        u = t;
        (void)db_time_extract((enum db_unit)unit, &t);
        if (db_interval_parse(s, (enum db_unit)unit, &interval) &&
            db_time_add(&u, &interval, (enum db_unit)unit, s.len & 1)) {
            same_again(&u);
            if (u.kind != DB_TIME_TIME)
                (void)db_time_diff((enum db_unit)unit, &t, &u);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str s = str_n((const char *)data, size);
    ptrdiff_t line = str_chr(s, '\n');
    struct str text = line < 0 ? s : str_sub(s, 0, (size_t)line);
    struct str rest = line < 0 ? s : str_sub(s, (size_t)line + 1, size);
    struct buf out = {0};
    struct db_time t;
    unsigned warn;
    int64_t v;

    if (db_date_parse(text, size & 7, &t, &warn)) {
        same_again(&t);
        calculate(t, rest);
        if (rest.len < 200)
            (void)db_time_format(&out, rest, &t);
        if (db_time_round(&t, (int)(size % 7)))
            same_again(&t);
    }
    if (db_time_parse(text, &t, &warn)) {
        same_again(&t);
        calculate(t, rest);
        (void)db_time_round(&t, (int)(size % 7)); /* clipped is right */
        same_again(&t);
    }
    if (db_time_scan(text, rest, &t, &warn) && db_date_check(&t, 0) == 0)
        same_again(&t);
    if (str_i64(text, &v) == 0) {
        if (db_date_number(v, 0, &t, &warn))
            same_again(&t);
        if (db_time_number(v, 0, &t, &warn))
            same_again(&t);
    }
    buf_fini(&out);
    return 0;
}
