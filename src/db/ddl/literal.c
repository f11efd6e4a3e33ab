/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdlib.h>

#include "db/datetime.h"
#include "db/ddl/build.h"
#include "db/decimal.h"
#include "db/real.h"

/* A literal as text, and what it was. */
struct literal {
    struct str text;
    bool is_number;
    bool is_bytes; /* x'..', b'..' */
};

static struct literal read_literal(struct arena *arena, const struct sql_expr *v)
{
    struct literal out = {.text = v->s};

    switch (v->kind) {
    case SQL_INT:
    case SQL_BOOL:
        out.is_number = true;
        out.text = arena_printf(arena, "%llu", (unsigned long long)v->u);
        break;
    case SQL_DECIMAL:
    case SQL_DOUBLE:
        out.is_number = true;
        break;
    case SQL_HEX:
        out.is_bytes = true;
        break;
    case SQL_UNARY:
        out = read_literal(arena, v->a);
        if (v->op == SQL_OP_NEG)
            out.text = arena_printf(arena, "-" STR_F, STR_A(out.text));
        break;
    default:
        break;
    }
    return out;
}

/* x'0102' as the number that it is where numbers are wanted. */
static bool bytes_number(struct str s, uint64_t *out)
{
    uint64_t v = 0;
    size_t i = 0;

    while (i < s.len && s.p[i] == '\0')
        i++;
    if (s.len - i > 8)
        return false;
    for (; i < s.len; i++)
        v = v << 8 | (unsigned char)s.p[i];
    *out = v;
    return true;
}

static struct str number_text(struct arena *arena, const struct literal *l)
{
    uint64_t v;

    if (!l->is_bytes)
        return l->text;
    return bytes_number(l->text, &v) ? arena_printf(arena, "%llu", (unsigned long long)v)
                                     : STR("x");
}

/* The whole text as a number with so many decimals. */
static bool number_fixed(
    struct arena *arena, struct str text, int decimals, struct str *out, int *digits)
{
    struct str s = str_trim(text);
    char number[DB_DECIMAL_TEXT];
    struct db_decimal d;
    bool overflow = false;

    if (s.len == 0 || db_decimal_parse(s, &d, &overflow) != s.len || overflow)
        return false;
    (void)db_decimal_round(&d, decimals, DB_DECIMAL_HALF_UP); /* rounding is no error */
    *digits = db_decimal_int_digits(&d);
    *out = arena_str(arena, str_n(number, db_decimal_print(&d, number)));
    return true;
}

static bool int_fits(const struct db_type *t, struct str s)
{
    static const int bits[] = {[DB_T_TINYINT] = 8,
        [DB_T_SMALLINT] = 16,
        [DB_T_MEDIUMINT] = 24,
        [DB_T_INT] = 32,
        [DB_T_BIGINT] = 64};
    int64_t v, top;

    if (str_i64(s, &v))
        return false; /* also what is above 2^63-1: it cannot be stored */
    if (t->is_unsigned)
        return v >= 0 && (bits[t->base] == 64 || v < (int64_t)1 << bits[t->base]);
    top = bits[t->base] == 64 ? INT64_MAX : ((int64_t)1 << (bits[t->base] - 1)) - 1;
    return v <= top && v >= -top - 1;
}

static bool put_int(
    struct build *b, const struct db_type *t, const struct literal *l, struct str *out)
{
    int digits;

    return number_fixed(b->arena, number_text(b->arena, l), 0, out, &digits) && int_fits(t, *out);
}

static bool put_bit(
    struct build *b, const struct db_type *t, const struct literal *l, struct str *out)
{
    uint64_t v;
    int digits;

    if (l->is_number) {
        if (!number_fixed(b->arena, l->text, 0, out, &digits) || str_u64(*out, &v))
            return false;
    } else if (!bytes_number(l->text, &v)) {
        return false;
    }
    if ((t->length < 64 && v >> t->length) || v > INT64_MAX)
        return false;
    *out = arena_printf(b->arena, "%llu", (unsigned long long)v);
    return true;
}

static bool put_decimal(
    struct build *b, const struct db_type *t, const struct literal *l, struct str *out)
{
    int digits;

    return number_fixed(b->arena, number_text(b->arena, l), t->decimals, out, &digits) &&
           digits <= t->length - t->decimals && !(t->is_unsigned && out->p[0] == '-');
}

static bool put_real(
    struct build *b, const struct db_type *t, const struct literal *l, struct str *out)
{
    struct str text = arena_str(b->arena, str_trim(number_text(b->arena, l)));
    char number[DB_REAL_TEXT], *end;
    size_t n;
    double v;

    /* strtod() reads more than numbers */
    if (text.len == 0 || strspn(text.p, "0123456789+-.eE") != text.len)
        return false;
    v = strtod(text.p, &end);
    if (*end || v > 1.7976931348623157e308 || v < -1.7976931348623157e308)
        return false;
    if ((t->is_unsigned && v < 0) ||
        (t->base == DB_T_FLOAT && (v > 3.40282347e38 || v < -3.40282347e38)))
        return false;
    if (t->decimals >= 0)
        n = db_fixed_text(v, t->decimals, number);
    else
        n = t->base == DB_T_FLOAT ? db_float_text(v, number) : db_real_text(v, number);
    *out = arena_str(b->arena, str_n(number, n));
    return t->decimals < 0 || number[0] == '0' ||
           str_chr(*out, '.') - (number[0] == '-') <= t->length - t->decimals;
}

static bool put_year(
    struct build *b, const struct db_type *t, const struct literal *l, struct str *out)
{
    uint64_t v;
    int digits;
    bool zero;

    (void)t;
    if (!number_fixed(b->arena, number_text(b->arena, l), 0, out, &digits) || str_u64(*out, &v))
        return false;
    zero = v == 0 && (l->is_number || str_trim(l->text).len > 2);
    if (v < 100 && !zero)
        v += v < 70 ? 2000 : 1900;
    *out = arena_printf(b->arena, "%llu", (unsigned long long)v);
    return v == 0 || (v >= 1901 && v <= 2155);
}

static unsigned date_flags(const struct build *b)
{
    uint32_t mode = b->env ? b->env->mode : 0;
    unsigned flags = 0;

    if ((mode & DB_MODE_NO_ZERO_DATE) && b->strict)
        flags |= DB_TIME_NO_ZERO_DATE;
    if ((mode & DB_MODE_NO_ZERO_IN_DATE) && b->strict)
        flags |= DB_TIME_NO_ZERO_IN;
    if (mode & DB_MODE_ALLOW_INVALID_DATES)
        flags |= DB_TIME_INVALID_DATES;
    return flags;
}

static bool put_time(
    struct build *b, const struct db_type *t, const struct literal *l, struct str *out)
{
    unsigned warn = 0, bad = ~(unsigned)DB_TIME_ROUND;
    int decimals = t->base == DB_T_DATE ? 0 : t->decimals;
    char text[DB_TIME_TEXT];
    struct db_time v;
    bool ok = t->base == DB_T_TIME ? db_time_parse(l->text, &v, &warn)
                                   : db_date_parse(l->text, date_flags(b), &v, &warn);

    if (!ok || (warn & bad))
        return false;
    v.kind = t->base == DB_T_TIME   ? DB_TIME_TIME
             : t->base == DB_T_DATE ? DB_TIME_DATE
                                    : DB_TIME_DATETIME;
    if (t->base != DB_T_DATE && !db_time_round(&v, decimals))
        return false;
    *out = arena_str(b->arena, str_n(text, db_time_print(&v, decimals, text)));
    return true;
}

static size_t characters(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

static bool put_text(
    struct build *b, const struct db_type *t, const struct literal *l, struct str *out)
{
    struct str s = l->text;

    if (!str_is_utf8(s))
        return false;
    while (s.len > 0 && s.p[s.len - 1] == ' ' &&
           (t->base == DB_T_CHAR || characters(s) > (size_t)t->length))
        s.len--;
    *out = arena_str(b->arena, s);
    return characters(s) <= (size_t)t->length;
}

static bool put_bytes(
    struct build *b, const struct db_type *t, const struct literal *l, struct str *out)
{
    size_t n = t->base == DB_T_BINARY ? (size_t)t->length : l->text.len;
    char *p = arena_new(b->arena, n + 1);

    if (l->text.len > (size_t)t->length)
        return false;
    if (l->text.len > 0)
        memcpy(p, l->text.p, l->text.len);
    *out = str_n(p, n);
    return true;
}

static int32_t member_find(const struct db_type *t, struct str s)
{
    while (s.len > 0 && s.p[s.len - 1] == ' ')
        s.len--;
    for (uint32_t i = 0; i < t->n_members; i++) {
        if (str_ieq(t->members[i], s))
            return (int32_t)i;
    }
    return -1;
}

static bool put_enum(
    struct build *b, const struct db_type *t, const struct literal *l, struct str *out)
{
    int32_t i = l->is_number ? -1 : member_find(t, l->text);

    (void)b;
    if (i < 0)
        return false;
    *out = t->members[i];
    return true;
}

static bool put_set(
    struct build *b, const struct db_type *t, const struct literal *l, struct str *out)
{
    struct str rest = l->text, part;
    struct buf text = {0};
    uint64_t bits = 0;
    int32_t i;

    if (l->is_number)
        return false;
    while (rest.len > 0 && str_split(&rest, ',', &part)) {
        if ((i = member_find(t, part)) < 0)
            return false;
        bits |= UINT64_C(1) << i;
    }
    for (uint32_t k = 0; k < t->n_members && k < 64; k++) {
        if (!(bits >> k & 1))
            continue;
        if (text.len > 0)
            buf_add_char(&text, ',');
        buf_add_str(&text, t->members[k]);
    }
    *out = arena_str(b->arena, buf_str(&text));
    buf_fini(&text);
    return true;
}

typedef bool put_fn(
    struct build *b, const struct db_type *t, const struct literal *l, struct str *out);

static put_fn *const puts_of[DB_T__COUNT] = {
    [DB_T_TINYINT] = put_int,
    [DB_T_SMALLINT] = put_int,
    [DB_T_MEDIUMINT] = put_int,
    [DB_T_INT] = put_int,
    [DB_T_BIGINT] = put_int,
    [DB_T_BIT] = put_bit,
    [DB_T_DECIMAL] = put_decimal,
    [DB_T_FLOAT] = put_real,
    [DB_T_DOUBLE] = put_real,
    [DB_T_YEAR] = put_year,
    [DB_T_DATE] = put_time,
    [DB_T_TIME] = put_time,
    [DB_T_DATETIME] = put_time,
    [DB_T_TIMESTAMP] = put_time,
    [DB_T_CHAR] = put_text,
    [DB_T_VARCHAR] = put_text,
    [DB_T_BINARY] = put_bytes,
    [DB_T_VARBINARY] = put_bytes,
    [DB_T_ENUM] = put_enum,
    [DB_T_SET] = put_set,
};

int build_literal(
    struct build *b, const struct db_cat_column *c, const struct sql_expr *v, struct str *out)
{
    struct literal l = read_literal(b->arena, v);
    put_fn *put = puts_of[c->type.base];

    if (!put || !put(b, &c->type, &l, out))
        return db_error_set(b->e, DB_E_INVALID_DEFAULT, c->name.p);
    return 0;
}
