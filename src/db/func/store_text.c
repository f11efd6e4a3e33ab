/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Texts, bytes, dates, ENUM, SET and JSON on their way into a column. */
#include <math.h>
#include <stdio.h>

#include "db/func/json.h"
#include "db/func/latin1.h"
#include "db/func/store.h"
#include "db/func/utf8.h"

static void zero_text(struct call *c)
{
    ret_str(c, STR(""));
}

static void zero_blob(struct call *c)
{
    ret_blob(c, STR(""));
}

/* ---- texts ---- */

/* May the character be in a column of the charset? */
static bool in_charset(struct str charset, uint32_t x)
{
    if (x < 0x80)
        return true;
    if (x >= UTF8_BAD)
        return false;
    if (str_eq(charset, STR("utf8mb4")) || charset.len == 0)
        return true;
    if (str_eq(charset, STR("latin1")))
        return latin1_byte(x) >= 0;
    if (str_eq(charset, STR("ascii")))
        return false;
    if (str_istarts(charset, STR("utf8")))
        return x < 0x10000;
    return true;
}

/* "\xF0\x9F..." as the error says it: at most six bytes. */
static struct str escape_bytes(struct call *c, struct str s)
{
    struct str out = STR("");

    for (size_t i = 0; i < s.len && i < 6; i++) {
        unsigned char b = (unsigned char)s.p[i];

        out = b >= 0x20 && b < 0x7F ? arena_printf(&c->arena, STR_F "%c", STR_A(out), b)
                                    : arena_printf(&c->arena, STR_F "\\x%02X", STR_A(out), b);
    }
    return s.len > 6 ? arena_printf(&c->arena, STR_F "...", STR_A(out)) : out;
}

/* The text with only characters that the charset has; false: an error was raised. */
static bool check_charset(struct target *t, struct str charset, struct str *s)
{
    struct buf b = {0};
    size_t i = 0;

    if (str_eq(charset, STR("utf8mb4")) && str_is_utf8(*s))
        return true;
    while (i < s->len) {
        size_t at = i;

        if (!in_charset(charset, utf8_next(*s, &i))) {
            i = at;
            break;
        }
    }
    if (i == s->len)
        return true;
    if (!store_wrong(t, "string", escape_bytes(t->c, str_sub(*s, i, s->len))))
        return false;
    for (i = 0; i < s->len;) {
        uint32_t x = utf8_next(*s, &i);

        utf8_encode(&b, in_charset(charset, x) ? x : '?');
    }
    *s = arena_str(&t->c->arena, buf_str(&b));
    buf_fini(&b);
    return true;
}

static bool all_spaces(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] != ' ')
            return false;
    }
    return true;
}

static bool prepare_text(struct target *t, struct str *s)
{
    if (store_begin(t, t->c, zero_text))
        return false;
    *s = call_str(t->c, 0);
    return check_charset(t, call_str(t->c, 2), s);
}

void fn_st_char(struct call *c)
{
    struct target t = {.c = c};
    struct str s;
    size_t n = (size_t)MAX(call_i64(c, 1), 0);
    size_t at;

    if (!prepare_text(&t, &s))
        return;
    at = s.len <= n ? s.len : utf8_offset(s, n);
    if (at < s.len && !all_spaces(str_sub(s, at, s.len)) && !store_too_long(&t))
        return;
    s.len = at;
    while (s.len > 0 && s.p[s.len - 1] == ' ')
        s.len--;
    ret_str(c, s);
}

void fn_st_varchar(struct call *c)
{
    struct target t = {.c = c};
    struct str s;
    size_t n = (size_t)MAX(call_i64(c, 1), 0);
    size_t at;

    if (!prepare_text(&t, &s))
        return;
    at = s.len <= n ? s.len : utf8_offset(s, n);
    if (at < s.len) {
        if (all_spaces(str_sub(s, at, s.len)))
            store_note(&t);
        else if (!store_too_long(&t))
            return;
    }
    s.len = at;
    ret_str(c, s);
}

void fn_st_text(struct call *c)
{
    struct target t = {.c = c};
    struct str s;
    uint64_t most = (uint64_t)MAX(call_i64(c, 1), 0);

    if (!prepare_text(&t, &s))
        return;
    if (s.len > most) {
        if (!store_too_long(&t))
            return;
        s.len = most;
        while (s.len > 0 && !str_is_utf8(s) && most - s.len < 4)
            s.len--;
    }
    ret_str(c, s);
}

static void store_bytes(struct call *c, bool pad)
{
    struct target t = {.c = c};
    struct str s;
    uint64_t most = (uint64_t)MAX(call_i64(c, 1), 0);

    if (store_begin(&t, c, zero_blob))
        return;
    s = call_str(c, 0);
    if (s.len > most) {
        if (!store_too_long(&t))
            return;
        s.len = most;
    }
    if (pad && s.len < most && most <= 65535) {
        struct buf b = {0};

        buf_add_str(&b, s);
        while (b.len < most)
            buf_add_char(&b, '\0');
        ret_buf(c, &b, true);
        return;
    }
    ret_blob(c, s);
}

void fn_st_binary(struct call *c)
{
    store_bytes(c, true);
}

void fn_st_varbinary(struct call *c)
{
    store_bytes(c, false);
}

void fn_st_blob(struct call *c)
{
    store_bytes(c, false);
}

/* ---- dates and times ---- */

static void zero_date(struct call *c)
{
    ret_str(c, STR("0000-00-00"));
}

static void zero_datetime(struct call *c)
{
    ret_str(c, STR("0000-00-00 00:00:00"));
}

static void zero_time(struct call *c)
{
    ret_str(c, STR("00:00:00"));
}

/* 1292 when strict, else warning 1265. */
static bool wrong_time(struct target *t, const char *type)
{
    struct db_error e;
    struct str s = str_sub(call_str(t->c, 0), 0, 128);

    if (!store_strict(t))
        return store_truncated(t);
    (void)db_error_text(&e, DB_E_INCORRECT_VALUE,
        "Incorrect %s value: '" STR_F "' for column '" STR_F "' at row %lld", type, STR_A(s),
        STR_A(t->column), t->row);
    call_raise(t->c, &e);
    return false;
}

static bool value_number(struct call *c, int64_t *whole, int *micro)
{
    int type = sqlite3_value_type(c->v[0]);
    double d;

    *micro = 0;
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return false;
    if (type == SQLITE_INTEGER) {
        *whole = sqlite3_value_int64(c->v[0]);
        return true;
    }
    d = sqlite3_value_double(c->v[0]);
    if (fabs(d) > 1e15)
        d = 1e15;
    *whole = (int64_t)d;
    *micro = (int)(fabs(d - (double)*whole) * 1e6);
    return true;
}

/* The argument as date (with time); false: an error was raised. */
static bool read_date(struct target *t, const char *type, struct db_time *out)
{
    unsigned flags = call_date_flags(t->c);
    unsigned warn;
    int64_t whole;
    int micro;
    bool ok;

    if (!(t->c->s->mode & DB_MODE_STRICT))
        flags &= ~(unsigned)(DB_TIME_NO_ZERO_DATE | DB_TIME_NO_ZERO_IN);
    if (value_number(t->c, &whole, &micro))
        ok = db_date_number(whole, flags, out, &warn);
    else
        ok = db_date_parse(call_str(t->c, 0), flags, out, &warn);
    if (!ok && !store_strict(t) && (warn & DB_TIME_ZERO_DATE))
        return true; /* INSERT IGNORE: it stays zero */
    if (!ok || (warn & DB_TIME_CUT))
        return wrong_time(t, type);
    return true;
}

void fn_st_date(struct call *c)
{
    struct target t;
    struct db_time v;

    if (store_begin(&t, c, zero_date) || !read_date(&t, "date", &v))
        return;
    if (v.kind == DB_TIME_DATETIME && (v.hour || v.minute || v.second || v.micro))
        store_note(&t);
    v.kind = DB_TIME_DATE;
    ret_time(c, &v, 0);
}

void fn_st_datetime(struct call *c)
{
    struct target t;
    struct db_time v;
    int fsp = call_fsp(c, 1);

    if (store_begin(&t, c, zero_datetime) || !read_date(&t, "datetime", &v))
        return;
    v.kind = DB_TIME_DATETIME;
    if (!db_time_round(&v, fsp) && !wrong_time(&t, "datetime"))
        return;
    ret_time(c, &v, fsp);
}

void fn_st_timestamp(struct call *c)
{
    const int64_t most = INT64_C(2147483647) * 1000000 + 999999;
    struct target t;
    struct db_time v;
    struct db_time r = {.kind = DB_TIME_DATETIME};
    int fsp = call_fsp(c, 1);
    int64_t us;

    if (store_begin(&t, c, zero_datetime) || !read_date(&t, "datetime", &v))
        return;
    v.kind = DB_TIME_DATETIME;
    if (v.year || v.month || v.day) {
        if (v.month == 0 || v.day == 0 || !db_time_round(&v, fsp)) {
            if (!wrong_time(&t, "datetime"))
                return;
        } else {
            us = call_to_utc(c, db_time_to_micros(&v));
            if (us < 1000000 || us > most || !db_time_from_micros(us, &r)) {
                if (store_strict(&t) ? !wrong_time(&t, "datetime") : !store_range(&t))
                    return;
                r = (struct db_time){.kind = DB_TIME_DATETIME};
            }
        }
    }
    ret_time(c, &r, fsp);
}

void fn_st_time(struct call *c)
{
    struct target t;
    struct db_time v;
    unsigned warn;
    int64_t whole;
    int micro;
    int fsp = call_fsp(c, 1);
    bool ok;

    if (store_begin(&t, c, zero_time))
        return;
    if (value_number(c, &whole, &micro)) {
        ok = db_time_number(whole, micro, &v, &warn);
    } else {
        struct str s = call_str(c, 0);
        struct db_time date;
        unsigned w;

        ok = db_time_parse(s, &v, &warn);
        if (ok && !warn && db_date_parse(s, 0, &date, &w) && date.kind == DB_TIME_DATETIME &&
            str_chr(str_sub(s, 1, s.len), '-') > 0)
            store_note(&t);
    }
    if (!ok || (warn & DB_TIME_CUT)) {
        if (!wrong_time(&t, "time"))
            return;
    } else if (warn & DB_TIME_RANGE) {
        if (store_strict(&t) ? !wrong_time(&t, "time") : !store_range(&t))
            return;
    }
    (void)db_time_round(&v, fsp); /* clipped is right */
    ret_time(c, &v, fsp);
}

static void zero_year(struct call *c)
{
    ret_i64(c, 0);
}

void fn_st_year(struct call *c)
{
    struct target t;
    struct db_decimal d;
    struct str s;
    int64_t v;
    bool overflow;
    bool text = sqlite3_value_type(c->v[0]) == SQLITE_TEXT;

    if (store_begin(&t, c, zero_year))
        return;
    if (text) {
        size_t used;

        s = call_str(c, 0);
        used = db_decimal_parse(s, &d, &overflow);
        if (used == 0) {
            if (store_wrong(&t, "integer", s))
                ret_i64(c, 0);
            return;
        }
        if (used < str_trim(s).len && !store_truncated(&t))
            return;
        (void)db_decimal_to_i64(&d, &v); /* clips */
        text = used <= 3;                /* '0' and '00' are 2000, '0000' is the zero year */
    } else {
        v = call_i64(c, 0);
    }
    if (v > 0 && v < 70)
        v += 2000;
    else if (v >= 70 && v < 100)
        v += 1900;
    else if (v == 0 && text)
        v = 2000;
    if (v != 0 && (v < 1901 || v > 2155)) {
        if (!store_range(&t))
            return;
        v = 0;
    }
    ret_i64(c, v);
}

/* ---- ENUM and SET ---- */

/* The next member of "a,b\,c", without its backslashes; false: there are no more. */
static bool next_member(struct call *c, struct str list, size_t *i, struct str *out)
{
    char *p;
    size_t n = 0;

    if (*i > list.len)
        return false;
    p = arena_bytes(&c->arena, list.len - *i + 1);
    for (; *i < list.len && list.p[*i] != ','; (*i)++) {
        if (list.p[*i] == '\\' && *i + 1 < list.len)
            (*i)++;
        p[n++] = list.p[*i];
    }
    (*i)++;
    *out = str_n(p, n);
    return true;
}

/* Number of the member (1..) whose text is s; 0: none. */
static uint64_t find_member(
    struct call *c, struct str list, struct collation coll, struct str s, struct str *member)
{
    size_t i = 0;
    uint64_t n = 0;

    while (next_member(c, list, &i, member)) {
        n++;
        if (collation_cmp(coll, *member, s) == 0)
            return n;
    }
    return 0;
}

static bool member_at(struct call *c, struct str list, uint64_t index, struct str *member)
{
    size_t i = 0;

    while (next_member(c, list, &i, member)) {
        if (--index == 0)
            return true;
    }
    return false;
}

/* A whole number, as text */
static bool whole_number(struct str s, uint64_t *out)
{
    return s.len > 0 && s.len < 20 && str_u64(s, out) == 0;
}

static void zero_enum(struct call *c)
{
    struct str member = STR("");
    size_t i = 0;

    (void)next_member(c, call_str(c, 1), &i, &member); /* there is one */
    ret_str(c, member);
}

void fn_st_enum(struct call *c)
{
    struct target t;
    struct str list = call_str(c, 1);
    struct str member = STR("");
    int type = sqlite3_value_type(c->v[0]);
    uint64_t index = 0;
    bool found;

    if (store_begin(&t, c, zero_enum))
        return;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        index = call_u64(c, 0);
        found = index > 0 && member_at(c, list, index, &member);
    } else {
        struct str s = call_str(c, 0);

        while (s.len > 0 && s.p[s.len - 1] == ' ')
            s.len--;
        found = find_member(c, list, call_coll(c, 2), s, &member) > 0;
        if (!found && whole_number(s, &index) && index > 0)
            found = member_at(c, list, index, &member);
    }
    if (!found) {
        if (!store_truncated(&t))
            return;
        member = STR("");
    }
    ret_str(c, member);
}

/* The bits that a list of members names; *ok: all of them are there. */
static uint64_t set_of(
    struct call *c, struct str list, struct collation coll, struct str s, bool *ok)
{
    struct str rest = s;
    struct str part;
    struct str member;
    uint64_t bits = 0;

    *ok = true;
    if (s.len == 0)
        return 0;
    while (str_split(&rest, ',', &part)) {
        uint64_t n = find_member(c, list, coll, part, &member);

        if (n > 0 && n <= 64)
            bits |= UINT64_C(1) << (n - 1);
        else
            *ok = false;
    }
    return bits;
}

static void ret_set(struct call *c, struct str list, uint64_t bits)
{
    struct buf b = {0};
    struct str member;
    size_t i = 0;

    for (; bits && next_member(c, list, &i, &member); bits >>= 1) {
        if (!(bits & 1))
            continue;
        if (b.len)
            buf_add_char(&b, ',');
        buf_add_str(&b, member);
    }
    ret_buf(c, &b, false);
}

void fn_st_set(struct call *c)
{
    struct target t;
    struct str list = call_str(c, 1);
    struct str member;
    int type = sqlite3_value_type(c->v[0]);
    uint64_t bits;
    uint64_t all = 0;
    bool ok = true;
    size_t i = 0;

    if (store_begin(&t, c, zero_text))
        return;
    while (next_member(c, list, &i, &member))
        all = all << 1 | 1;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        bits = call_u64(c, 0);
    } else {
        struct str s = call_str(c, 0);

        bits = set_of(c, list, call_coll(c, 2), s, &ok);
        if (!ok && whole_number(s, &bits))
            ok = true;
    }
    if ((!ok || (bits & ~all)) && !store_truncated(&t))
        return;
    ret_set(c, list, bits & all);
}

void fn_enum_index(struct call *c)
{
    struct str member;

    if (!call_any_null(c))
        ret_u64(c, find_member(c, call_str(c, 1), collation_get(STR("utf8mb4_bin")), call_str(c, 0),
                       &member));
}

void fn_set_bits(struct call *c)
{
    bool ok;

    if (!call_any_null(c))
        ret_u64(
            c, set_of(c, call_str(c, 1), collation_get(STR("utf8mb4_bin")), call_str(c, 0), &ok));
}

/* ---- JSON ---- */

static void zero_json(struct call *c)
{
    ret_str(c, STR("null"));
}

void fn_st_json(struct call *c)
{
    struct target t;
    struct json *doc;
    struct json_error bad;
    struct db_error e;
    struct buf b = {0};
    struct str s;
    int type = sqlite3_value_type(c->v[0]);

    if (store_begin(&t, c, zero_json))
        return;
    s = call_str(c, 0);
    if (type == SQLITE_BLOB) {
        (void)db_error_set(&e, DB_E_JSON_CHARSET, "binary");
        call_raise(c, &e);
        return;
    }
    if (json_doc_parse(&c->arena, s, &doc, &bad) != 0) {
        (void)db_error_text(&e, DB_E_INVALID_JSON,
            "Invalid JSON text: \"%s\" at position %zu in value for column '" STR_F "'.", bad.text,
            bad.position, STR_A(t.column));
        call_raise(c, &e);
        return;
    }
    json_print(&b, doc);
    ret_buf(c, &b, false);
}
