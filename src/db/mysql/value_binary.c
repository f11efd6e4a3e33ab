/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <string.h>

#include "db/mysql/value.h"
#include "db/mysql/value_text.h"

/* --- dates and times -------------------------------------------------------------------------- */

/* Year or hours, month, day and so on, and microseconds, as far as they are there. */
struct moment {
    bool negative;
    uint32_t v[6];
    uint32_t us;
};

static bool moment_number(struct str *s, uint32_t *out)
{
    size_t n = 0;

    *out = 0;
    while (n < s->len && n < 8 && s->p[n] >= '0' && s->p[n] <= '9')
        *out = *out * 10 + (uint32_t)(s->p[n++] - '0');
    *s = str_sub(*s, n, s->len);
    return n > 0;
}

static void moment_fraction(struct str s, uint32_t *us)
{
    uint32_t unit = 100000;

    for (size_t i = 0; i < s.len && unit && s.p[i] >= '0' && s.p[i] <= '9'; i++, unit /= 10)
        *us += (uint32_t)(s.p[i] - '0') * unit;
}

/* Numbers with one byte between them, count at most; false when there is not even one. */
static bool moment_parse(struct str s, unsigned count, struct moment *out)
{
    *out = (struct moment){0};
    if (s.len && *s.p == '-') {
        out->negative = true;
        s = str_sub(s, 1, s.len);
    }
    for (unsigned i = 0; i < count; i++) {
        if (!moment_number(&s, &out->v[i]))
            return i > 0;
        if (s.len && *s.p == '.' && i + 1 == count)
            moment_fraction(str_sub(s, 1, s.len), &out->us);
        s = str_sub(s, 1, s.len);
    }
    return true;
}

/* 0, 4, 7 or 11 bytes: what is zero at the end is not sent. */
static void put_datetime(struct buf *b, struct str text, bool with_time)
{
    struct moment m;
    bool time, date;

    if (!moment_parse(text, with_time ? 6 : 3, &m) || m.negative)
        m = (struct moment){0};
    time = m.v[3] || m.v[4] || m.v[5] || m.us;
    date = m.v[0] || m.v[1] || m.v[2];
    mysql_put_int(b, m.us ? 11 : time ? 7 : date ? 4 : 0, 1);
    if (!time && !date)
        return;
    mysql_put_int(b, m.v[0], 2);
    mysql_put_int(b, m.v[1], 1);
    mysql_put_int(b, m.v[2], 1);
    if (!time)
        return;
    for (unsigned i = 3; i < 6; i++)
        mysql_put_int(b, m.v[i], 1);
    if (m.us)
        mysql_put_int(b, m.us, 4);
}

/* 0, 8 or 12 bytes: the hours are days and hours. */
static void put_time(struct buf *b, struct str text)
{
    struct moment m;

    if (!moment_parse(text, 3, &m))
        m = (struct moment){0};
    if (!m.v[0] && !m.v[1] && !m.v[2] && !m.us) {
        mysql_put_int(b, 0, 1);
        return;
    }
    mysql_put_int(b, m.us ? 12 : 8, 1);
    mysql_put_int(b, m.negative, 1);
    mysql_put_int(b, m.v[0] / 24, 4);
    mysql_put_int(b, m.v[0] % 24, 1);
    mysql_put_int(b, m.v[1], 1);
    mysql_put_int(b, m.v[2], 1);
    if (m.us)
        mysql_put_int(b, m.us, 4);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* Bytes of a number of that type; 0: it goes as text. */
static unsigned binary_int_size(enum db_base base)
{
    switch (base) {
    case DB_T_TINYINT:
        return 1;
    case DB_T_SMALLINT:
    case DB_T_YEAR:
        return 2;
    case DB_T_MEDIUMINT:
    case DB_T_INT:
        return 4;
    case DB_T_BIGINT:
        return 8;
    default:
        return 0;
    }
}

static void put_float(struct buf *b, double d)
{
    float f = (float)d;
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    mysql_put_int(b, bits, 4);
}

static void put_double(struct buf *b, double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof(bits));
    mysql_put_int(b, bits, 8);
}

static void put_binary(struct buf *b, const struct db_column *c, const struct db_value *v)
{
    char text[MYSQL_VALUE_TEXT];
    unsigned size = binary_int_size(c->type.base);

    if (size) {
        mysql_put_int(b, mysql_value_int(v), size);
        return;
    }
    switch (c->type.base) {
    case DB_T_FLOAT:
        put_float(b, mysql_value_real(v));
        break;
    case DB_T_DOUBLE:
        put_double(b, mysql_value_real(v));
        break;
    case DB_T_DATE:
    case DB_T_DATETIME:
    case DB_T_TIMESTAMP:
        put_datetime(b, mysql_value_text(c, v, text), c->type.base != DB_T_DATE);
        break;
    case DB_T_TIME:
        put_time(b, mysql_value_text(c, v, text));
        break;
    default:
        mysql_put_lenstr(b, mysql_value_text(c, v, text));
    }
}

void mysql_put_binary_row(
    struct buf *b, const struct db_column *columns, const struct db_value *values, uint32_t n)
{
    enum { OFFSET = 2 }; /* of the first column's bit */
    size_t size = ((size_t)n + 7 + OFFSET) / 8, bitmap;

    buf_add_char(b, '\0');
    bitmap = b->len;
    memset(buf_reserve(b, size), 0, size);
    b->len += size;
    for (uint32_t i = 0; i < n; i++) {
        if (values[i].kind == DB_V_NULL || columns[i].type.base == DB_T_NULL) {
            char *at = b->p + bitmap + (i + OFFSET) / 8;

            *at = (char)(*at | 1 << ((i + OFFSET) % 8));
        } else {
            put_binary(b, &columns[i], &values[i]);
        }
    }
}
