/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <string.h>

#include "base/err.h"
#include "db/mysql/value.h"

/* The protocol's numbers of types that parameters have. */
enum wire_type {
    WIRE_DECIMAL = 0,
    WIRE_TINY = 1,
    WIRE_SHORT = 2,
    WIRE_LONG = 3,
    WIRE_FLOAT = 4,
    WIRE_DOUBLE = 5,
    WIRE_NULL = 6,
    WIRE_TIMESTAMP = 7,
    WIRE_LONGLONG = 8,
    WIRE_INT24 = 9,
    WIRE_DATE = 10,
    WIRE_TIME = 11,
    WIRE_DATETIME = 12,
    WIRE_YEAR = 13,
    WIRE_VARCHAR = 15,
    WIRE_BIT = 16,
    WIRE_JSON = 245,
    WIRE_NEWDECIMAL = 246,
    WIRE_ENUM = 247,
    WIRE_SET = 248,
    WIRE_TINY_BLOB = 249,
    WIRE_MEDIUM_BLOB = 250,
    WIRE_LONG_BLOB = 251,
    WIRE_BLOB = 252,
    WIRE_VAR_STRING = 253,
    WIRE_STRING = 254,
    WIRE_GEOMETRY = 255,
};

enum { PARAM_UNSIGNED = 0x80 };

/* How the value of a type is read; one that is not here is refused. */
enum param_form {
    FORM_NONE,
    FORM_NULL,
    FORM_INT,
    FORM_FLOAT,
    FORM_DOUBLE,
    FORM_TEXT,
    FORM_BYTES,
    FORM_DATE,
    FORM_DATETIME,
    FORM_TIME
};

static const struct {
    uint8_t form; /* enum param_form */
    uint8_t size;
} forms[256] = {
    [WIRE_DECIMAL] = {FORM_TEXT, 0},
    [WIRE_TINY] = {FORM_INT, 1},
    [WIRE_SHORT] = {FORM_INT, 2},
    [WIRE_LONG] = {FORM_INT, 4},
    [WIRE_FLOAT] = {FORM_FLOAT, 4},
    [WIRE_DOUBLE] = {FORM_DOUBLE, 8},
    [WIRE_NULL] = {FORM_NULL, 0},
    [WIRE_TIMESTAMP] = {FORM_DATETIME, 0},
    [WIRE_LONGLONG] = {FORM_INT, 8},
    [WIRE_INT24] = {FORM_INT, 4},
    [WIRE_DATE] = {FORM_DATE, 0},
    [WIRE_TIME] = {FORM_TIME, 0},
    [WIRE_DATETIME] = {FORM_DATETIME, 0},
    [WIRE_YEAR] = {FORM_INT, 2},
    [WIRE_VARCHAR] = {FORM_TEXT, 0},
    [WIRE_BIT] = {FORM_BYTES, 0},
    [WIRE_JSON] = {FORM_TEXT, 0},
    [WIRE_NEWDECIMAL] = {FORM_TEXT, 0},
    [WIRE_ENUM] = {FORM_TEXT, 0},
    [WIRE_SET] = {FORM_TEXT, 0},
    [WIRE_TINY_BLOB] = {FORM_BYTES, 0},
    [WIRE_MEDIUM_BLOB] = {FORM_BYTES, 0},
    [WIRE_LONG_BLOB] = {FORM_BYTES, 0},
    [WIRE_BLOB] = {FORM_BYTES, 0},
    [WIRE_VAR_STRING] = {FORM_TEXT, 0},
    [WIRE_STRING] = {FORM_TEXT, 0},
    [WIRE_GEOMETRY] = {FORM_BYTES, 0},
};

/* Text that is not UTF-8 is bytes: what it is assigned to says whether that may be. */
static struct db_value param_string(struct str s, bool bytes)
{
    bool text = !bytes && str_is_utf8(s);

    return (struct db_value){.kind = text ? DB_V_TEXT : DB_V_BLOB, .s = s};
}

static struct db_value param_int(struct mysql_reader *r, unsigned size, bool is_unsigned)
{
    uint64_t v = mysql_read_int(r, size), sign = UINT64_C(1) << (8 * size - 1);

    if (is_unsigned)
        return (struct db_value){.kind = DB_V_UINT, .u = v};
    return (struct db_value){.kind = DB_V_INT, .i = (int64_t)((v ^ sign) - sign)};
}

static struct db_value param_real(struct mysql_reader *r, unsigned size)
{
    uint64_t bits = mysql_read_int(r, size);
    uint32_t low = (uint32_t)bits;
    double d;
    float f;

    if (size == 4) {
        memcpy(&f, &low, sizeof(f));
        d = (double)f;
    } else {
        memcpy(&d, &bits, sizeof(d));
    }
    return (struct db_value){.kind = DB_V_REAL, .d = d};
}

static struct str param_fraction(struct arena *arena, struct str text, uint64_t us, bool given)
{
    if (!given)
        return text;
    return arena_printf(arena, STR_F ".%06u", STR_A(text), (unsigned)(us % 1000000));
}

static struct db_value param_datetime(struct mysql_reader *r, struct arena *arena, bool with_time)
{
    struct mysql_reader in = mysql_reader(mysql_read_lenstr(r));
    size_t n = in.rest.len;
    unsigned v[6] = {0};
    struct str text;

    if (n != 0 && n != 4 && n != 7 && n != 11)
        r->bad = true;
    v[0] = n ? (unsigned)mysql_read_int(&in, 2) : 0;
    for (size_t i = 1; i < 6 && in.rest.len; i++)
        v[i] = (unsigned)mysql_read_int(&in, 1);
    text = arena_printf(arena, "%04u-%02u-%02u", v[0], v[1], v[2]);
    if (with_time) {
        text = arena_printf(arena, STR_F " %02u:%02u:%02u", STR_A(text), v[3], v[4], v[5]);
        text = param_fraction(arena, text, n == 11 ? mysql_read_int(&in, 4) : 0, n == 11);
    }
    return (struct db_value){.kind = DB_V_TEXT, .s = text};
}

static struct db_value param_time(struct mysql_reader *r, struct arena *arena)
{
    struct mysql_reader in = mysql_reader(mysql_read_lenstr(r));
    size_t n = in.rest.len;
    bool negative = false;
    uint64_t hours = 0;
    unsigned minutes = 0, seconds = 0;
    struct str text;

    if (n != 0 && n != 8 && n != 12)
        r->bad = true;
    if (n >= 8) {
        negative = mysql_read_int(&in, 1) != 0;
        hours = mysql_read_int(&in, 4) * 24;
        hours += mysql_read_int(&in, 1);
        minutes = (unsigned)mysql_read_int(&in, 1);
        seconds = (unsigned)mysql_read_int(&in, 1);
    }
    text = arena_printf(arena, "%s%02llu:%02u:%02u", negative ? "-" : "", (unsigned long long)hours,
        minutes, seconds);
    text = param_fraction(arena, text, n == 12 ? mysql_read_int(&in, 4) : 0, n == 12);
    return (struct db_value){.kind = DB_V_TEXT, .s = text};
}

static struct db_value param_read(
    struct mysql_reader *r, struct arena *arena, struct mysql_param_type type)
{
    switch ((enum param_form)forms[type.wire].form) {
    case FORM_INT:
        return param_int(r, forms[type.wire].size, type.is_unsigned);
    case FORM_FLOAT:
    case FORM_DOUBLE:
        return param_real(r, forms[type.wire].size);
    case FORM_TEXT:
        return param_string(mysql_read_lenstr(r), false);
    case FORM_BYTES:
        return param_string(mysql_read_lenstr(r), true);
    case FORM_DATE:
        return param_datetime(r, arena, false);
    case FORM_DATETIME:
        return param_datetime(r, arena, true);
    case FORM_TIME:
        return param_time(r, arena);
    default:
        return (struct db_value){.kind = DB_V_NULL};
    }
}

/* All or nothing: a packet that is cut changes no types. */
static bool param_read_types(struct mysql_params *p, struct mysql_reader *r)
{
    struct str types = mysql_read_bytes(r, (uint64_t)p->n * 2);

    if (r->bad)
        return false;
    for (uint32_t i = 0; i < p->n; i++) {
        if (forms[(uint8_t)types.p[2 * (size_t)i]].form == FORM_NONE)
            return false;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        p->types[i].wire = (uint8_t)types.p[2 * (size_t)i];
        p->types[i].is_unsigned = (types.p[2 * (size_t)i + 1] & PARAM_UNSIGNED) != 0;
    }
    p->have_types = true;
    return true;
}

int mysql_parse_params(
    struct mysql_params *p, struct mysql_reader *r, struct arena *arena, struct db_value *out)
{
    struct str nulls = mysql_read_bytes(r, ((uint64_t)p->n + 7) / 8);
    bool sent;

    if (p->n == 0)
        return 0; /* what may follow says nothing */
    sent = mysql_read_int(r, 1) == 1;
    if (r->bad || (sent && !param_read_types(p, r)))
        return ERR_PROTO;
    if (!p->have_types)
        return ERR_INVAL;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct mysql_long_data *l = p->long_data ? &p->long_data[i] : NULL;
        bool bytes = forms[p->types[i].wire].form == FORM_BYTES;

        if (l && l->given)
            out[i] = param_string(buf_str(&l->bytes), bytes);
        else if (nulls.p[i / 8] >> (i % 8) & 1)
            out[i] = (struct db_value){.kind = DB_V_NULL};
        else
            out[i] = param_read(r, arena, p->types[i]);
    }
    return r->bad ? ERR_PROTO : 0;
}
