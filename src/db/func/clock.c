/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Functions of the session's clock and time zone. */
#include <stdio.h>

#include "db/func/call.h"
#include "db/func/tz.h"
#include "platform/clock.h"

static void ret_now(struct call *c, int64_t us, enum db_time_kind kind, int fsp)
{
    struct db_time t;

    if (!db_time_from_micros(us, &t))
        return;
    db_time_cut(&t, fsp);
    t.kind = kind;
    ret_time(c, &t, fsp);
}

void fn_now(struct call *c)
{
    ret_now(c, call_to_local(c, c->s->now), DB_TIME_DATETIME, call_fsp(c, 0));
}

void fn_sysdate(struct call *c)
{
    ret_now(c, call_to_local(c, clock_wall_us()), DB_TIME_DATETIME, call_fsp(c, 0));
}

void fn_curdate(struct call *c)
{
    ret_now(c, call_to_local(c, c->s->now), DB_TIME_DATE, 0);
}

void fn_curtime(struct call *c)
{
    ret_now(c, call_to_local(c, c->s->now), DB_TIME_TIME, call_fsp(c, 0));
}

void fn_utc_date(struct call *c)
{
    ret_now(c, c->s->now, DB_TIME_DATE, 0);
}

void fn_utc_time(struct call *c)
{
    ret_now(c, c->s->now, DB_TIME_TIME, call_fsp(c, 0));
}

void fn_utc_timestamp(struct call *c)
{
    ret_now(c, c->s->now, DB_TIME_DATETIME, call_fsp(c, 0));
}

/* Microseconds as seconds, with so many decimals. */
static void ret_seconds(struct call *c, int64_t us, int fsp)
{
    char text[40];
    char fraction[8];
    int n;

    if (fsp == 0) {
        ret_i64(c, us / 1000000);
        return;
    }
    (void)snprintf(fraction, sizeof(fraction), "%06d", (int)(us % 1000000));
    n = snprintf(text, sizeof(text), "%lld.%.*s", (long long)(us / 1000000), fsp, fraction);
    ret_str(c, str_n(text, (size_t)n));
}

void fn_unix_timestamp(struct call *c)
{
    struct db_time t;
    int64_t us;

    if (c->n == 0) {
        ret_i64(c, c->s->now / 1000000);
        return;
    }
    if (!call_date(c, 0, 0, &t)) {
        if (!call_null(c, 0) && !c->failed)
            ret_i64(c, 0);
        return;
    }
    if (t.month == 0 || t.day == 0) {
        ret_i64(c, 0);
        return;
    }
    us = call_to_utc(c, db_time_to_micros(&t));
    if (us < 0 || us > INT64_C(32536771199999999))
        us = 0;
    ret_seconds(c, us, t.fsp);
}

void fn_from_unixtime(struct call *c)
{
    struct num n;
    struct db_decimal d;
    struct db_decimal million;
    struct db_time t;
    struct buf b = {0};
    int64_t us;
    int fsp;

    if (call_any_null(c))
        return;
    call_num(c, 0, &n);
    num_decimal(&n, &d);
    fsp = n.kind == NUM_REAL ? 6 : MIN(d.scale, 6);
    if (sqlite3_value_type(c->v[0]) == SQLITE_FLOAT && d.scale == 0)
        fsp = 0;
    db_decimal_i64(&million, 1000000);
    if (!db_decimal_mul(&d, &million, &d) || !db_decimal_to_i64(&d, &us) || us < 0 ||
        us > INT64_C(32536771199999999) || !db_time_from_micros(call_to_local(c, us), &t))
        return;
    if (c->n == 1) {
        ret_time(c, &t, fsp);
        return;
    }
    if (!ret_fits(c, (uint64_t)call_str(c, 1).len * 16))
        return;
    if (db_time_format(&b, call_str(c, 1), &t))
        ret_buf(c, &b, false);
    else
        buf_fini(&b);
}

/* ---- CONVERT_TZ: zones that were opened stay with the argument ---- */

static void close_zone(void *tz)
{
    db_tz_close(tz);
}

/* The offset of a name, or its zone; false: unknown. *mine: the caller closes it. */
static bool zone(struct call *c, int i, int64_t *offset, struct db_tz **tz, bool *mine)
{
    *mine = false;
    *tz = NULL;
    if (db_tz_offset(call_str(c, i), offset))
        return true;
    *tz = sqlite3_get_auxdata(c->sq, i);
    if (*tz)
        return true;
    if (db_tz_open(call_str(c, i), tz) != 0)
        return false;
    *mine = true;
    return true;
}

void fn_convert_tz(struct call *c)
{
    struct db_time t;
    struct db_time r;
    struct db_tz *from = NULL;
    struct db_tz *to = NULL;
    int64_t offset_from = 0;
    int64_t offset_to = 0;
    int64_t seconds;
    bool mine_from = false;
    bool mine_to = false;
    bool gap;

    if (call_any_null(c) || !call_date(c, 0, DB_TIME_NO_ZERO_IN | DB_TIME_NO_ZERO_DATE, &t) ||
        !zone(c, 1, &offset_from, &from, &mine_from))
        return;
    if (zone(c, 2, &offset_to, &to, &mine_to)) {
        t.kind = DB_TIME_DATETIME;
        seconds = db_time_to_micros(&t) / 1000000;
        seconds = from ? db_tz_to_utc(from, seconds, &gap) : seconds - offset_from;
        if (seconds < 0 || seconds > INT64_C(32536771199)) {
            ret_time(c, &t, t.fsp); /* beyond TIMESTAMP: as it is */
        } else {
            seconds += to ? db_tz_from_utc(to, seconds) : offset_to;
            if (db_time_from_micros(seconds * 1000000 + t.micro, &r))
                ret_time(c, &r, t.fsp);
        }
    }
    if (mine_from)
        sqlite3_set_auxdata(c->sq, 1, from, close_zone);
    if (mine_to)
        sqlite3_set_auxdata(c->sq, 2, to, close_zone);
}
