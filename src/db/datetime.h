/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_DATETIME_H
#define EPHPM_DB_DATETIME_H

/*
 * Dates and times of MySQL: its liberal reading of texts and numbers, its calendar (proleptic
 * Gregorian, with zero dates), arithmetic, formats. Pure: no time zone, no clock.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum db_time_kind { DB_TIME_DATE, DB_TIME_DATETIME, DB_TIME_TIME };

struct db_time {
    enum db_time_kind kind;
    bool neg;    /* of TIME */
    uint8_t fsp; /* decimals that were written, 0..6 */
    int year;
    int month;
    int day;
    int hour; /* of TIME up to 838 */
    int minute;
    int second;
    int micro;
};

/* What reading found; added up. */
enum db_time_warning {
    DB_TIME_OK = 0,
    DB_TIME_CUT = 1,       /* something followed that does not belong to it */
    DB_TIME_INVALID = 2,   /* not a date or time at all, or no such day */
    DB_TIME_RANGE = 4,     /* beyond what the type holds */
    DB_TIME_ZERO_DATE = 8, /* 0000-00-00 where it must not be */
    DB_TIME_ZERO_IN = 16,  /* month or day 0 where it must not be */
    DB_TIME_ROUND = 32,    /* a seventh decimal that rounds up */
};

/* What dates may be; added up. */
enum db_time_flags {
    DB_TIME_NO_ZERO_DATE = 1,
    DB_TIME_NO_ZERO_IN = 2,
    DB_TIME_INVALID_DATES = 4, /* 31 February is fine */
};

enum { DB_TIME_TEXT = 32 }; /* room for any text of them, with a NUL */

/* Date, with a time if one is there, from text or number. False: *warn tells INVALID, ZERO_...;
 * *t is zeros then. */
bool db_date_parse(struct str s, unsigned flags, struct db_time *t, unsigned *warn);
bool db_date_number(int64_t v, unsigned flags, struct db_time *t, unsigned *warn);
/* A time, or the time of a date with time. RANGE: *t is the nearest that is possible. */
bool db_time_parse(struct str s, struct db_time *t, unsigned *warn);
bool db_time_number(int64_t v, int micro, struct db_time *t, unsigned *warn);
/* Does the day exist, as far as flags ask? Else a warning. */
unsigned db_date_check(const struct db_time *t, unsigned flags);
/* Rounds to that many decimals; false: beyond the year 9999 (or TIME's range, which is clipped). */
bool db_time_round(struct db_time *t, int fsp);
/* Drops decimals without rounding. */
void db_time_cut(struct db_time *t, int fsp);

/* In its kind's form with fsp decimals, and a NUL; returns the length. */
size_t db_time_print(const struct db_time *t, int fsp, char out[DB_TIME_TEXT]);
/* 20240131, 20240131101500, 101500 (negative for TIME) */
int64_t db_time_to_number(const struct db_time *t);

/* Days since the year 0, as TO_DAYS() counts; 0 for zero dates. */
int64_t db_date_days(int year, int month, int day);
/* False outside 0001-01-01 .. 9999-12-31: zeros. */
bool db_date_from_days(int64_t days, struct db_time *t);
int db_month_days(int year, int month);
/* 0: Monday; days of db_date_days() */
int db_weekday(int64_t days);
/* WEEK(), with the year it belongs to; mode 0..7. */
int db_week(const struct db_time *t, unsigned mode, int *year);
int db_year_day(const struct db_time *t);

/* Microseconds since 1970 of a DATETIME, and back (false: not in the years 1 to 9999). */
int64_t db_time_to_micros(const struct db_time *t);
bool db_time_from_micros(int64_t micros, struct db_time *t);
/* Microseconds of a TIME, with its sign, and back (clipped to 838:59:59: false). */
int64_t db_time_span(const struct db_time *t);
bool db_time_from_span(int64_t micros, struct db_time *t);

enum db_unit {
    DB_UNIT_MICROSECOND,
    DB_UNIT_SECOND,
    DB_UNIT_MINUTE,
    DB_UNIT_HOUR,
    DB_UNIT_DAY,
    DB_UNIT_WEEK,
    DB_UNIT_MONTH,
    DB_UNIT_QUARTER,
    DB_UNIT_YEAR,
    DB_UNIT_SECOND_MICROSECOND,
    DB_UNIT_MINUTE_MICROSECOND,
    DB_UNIT_MINUTE_SECOND,
    DB_UNIT_HOUR_MICROSECOND,
    DB_UNIT_HOUR_SECOND,
    DB_UNIT_HOUR_MINUTE,
    DB_UNIT_DAY_MICROSECOND,
    DB_UNIT_DAY_SECOND,
    DB_UNIT_DAY_MINUTE,
    DB_UNIT_DAY_HOUR,
    DB_UNIT_YEAR_MONTH,
    DB_UNIT__COUNT
};

/* "DAY", also "SQL_TSI_DAY"; any case. */
bool db_unit_parse(struct str name, enum db_unit *unit);
/* Does the unit count parts of a day? */
bool db_unit_has_time(enum db_unit unit);
bool db_unit_has_micros(enum db_unit unit);

struct db_interval {
    int64_t months;
    int64_t micros;
};

/* "1 10:30" DAY_MINUTE ...: a number (rounded but for SECOND) or the text of several.
 * False: too great, or too many of them. */
bool db_interval_parse(struct str s, enum db_unit unit, struct db_interval *out);
/* Date or datetime plus interval; false: out of range. The day of a month is clipped. A DATE
 * becomes a DATETIME when the unit has time. */
bool db_time_add(struct db_time *t, const struct db_interval *i, enum db_unit unit, bool minus);
/* TIMESTAMPDIFF() */
int64_t db_time_diff(enum db_unit unit, const struct db_time *a, const struct db_time *b);
/* EXTRACT(); fields of TIME and DATE alike */
int64_t db_time_extract(enum db_unit unit, const struct db_time *t);

extern const struct str db_month_names[12];
extern const struct str db_day_names[7]; /* Monday first */

/* DATE_FORMAT() and TIME_FORMAT(); false: NULL. */
bool db_time_format(struct buf *out, struct str format, const struct db_time *t);
/* STR_TO_DATE(): false: does not fit. The kind follows from the format; fsp is 6 with %f. */
bool db_time_scan(struct str s, struct str format, struct db_time *t, unsigned *warn);

#endif
