/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdlib.h>

#include "db/translate/internal.h"

void val_set(struct val *v, struct ty ty, struct str sql, enum prec prec)
{
    v->t = ty;
    v->sql = sql;
    v->prec = prec;
    v->lit = NULL;
    v->natural = STR_NONE;
    v->exact = STR_NONE;
}

void val_mix(struct val *v, const struct val *from)
{
    v->impure |= from->impure;
    v->has_agg |= from->has_agg;
    v->has_query |= from->has_query;
    v->has_window |= from->has_window;
    v->constant &= from->constant;
}

bool val_is_null(const struct val *v)
{
    return v->lit && v->lit->kind == SQL_NULL;
}

/* ---- literals ---- */

static int64_t utf8_chars(struct str s)
{
    int64_t n = 0;

    for (size_t i = 0; i < s.len; i++)
        n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
    return n;
}

static struct ty ty_of_int(uint64_t u)
{
    int digits = 1, bits = 0;
    struct ty t;

    for (uint64_t n = u; n >= 10; n /= 10)
        digits++;
    for (uint64_t n = u; n; n >>= 1)
        bits++;
    t = ty_int(digits, bits);
    t.uns = u > INT64_MAX;
    t.big = t.uns;
    if (t.uns)
        t.base = DB_T_BIGINT;
    return t;
}

/* "1.50", "001.5", ".5": without needless zeros in front. */
static struct str decimal_text(struct tr *t, struct str s)
{
    bool neg = s.len && s.p[0] == '-';
    struct str d = neg ? str_sub(s, 1, s.len) : s;

    while (d.len > 1 && d.p[0] == '0' && d.p[1] != '.')
        d = str_sub(d, 1, d.len);
    if (str_ends(d, STR(".")))
        d.len--;
    if (!d.len)
        return STR("0");
    return cat(t, "$$$", neg ? STR("-") : STR_NONE, d.p[0] == '.' ? STR("0") : STR_NONE, d);
}

static struct ty ty_of_decimal(struct str s)
{
    ptrdiff_t point = str_chr(s, '.');
    int dec = point < 0 ? 0 : (int)(s.len - (size_t)point - 1);
    int digits = 0;

    for (size_t i = 0; i < s.len; i++)
        digits += s.p[i] >= '0' && s.p[i] <= '9';
    if (point == 1 && s.p[0] == '0')
        digits--;
    return ty_decimal(digits, dec);
}

int val_literal(struct tr *t, const struct sql_expr *e, struct val *out)
{
    const struct db_collation *coll = t->coll;

    *out = (struct val){.lit = e, .prec = PREC_ATOM, .constant = true};
    switch (e->kind) {
    case SQL_NULL:
        out->t = ty_null();
        return 0;
    case SQL_INT:
        out->t = ty_of_int(e->u);
        break;
    case SQL_BOOL:
        out->t = ty_bool();
        break;
    case SQL_DECIMAL:
        out->t = ty_of_decimal(e->s);
        break;
    case SQL_DOUBLE:
        out->t = ty_double();
        out->t.len = (int64_t)e->s.len;
        break;
    case SQL_STRING:
        if (e->charset.len && !(coll = db_charset_default(e->charset)))
            return db_error_set(t->e, DB_E_UNKNOWN_CHARSET, zstr(t, e->charset));
        if (e->charset.len && str_eq(coll->charset, t->coll->charset))
            coll = t->coll;
        if (str_eq(coll->charset, STR("binary"))) {
            out->t = ty_binary((int64_t)e->s.len);
            out->t.coer = COER_LITERAL;
        } else {
            out->t = ty_text(coll, utf8_chars(e->s), COER_LITERAL);
        }
        break;
    case SQL_HEX:
        out->t = ty_binary((int64_t)e->s.len);
        out->t.coer = COER_LITERAL;
        break;
    default:
        out->t = ty_temporal(e->base, 0);
        if (str_chr(e->s, '.') >= 0)
            out->t = ty_temporal(
                e->base, (int)MIN(e->s.len - (size_t)str_chr(e->s, '.') - 1, (size_t)6));
        out->t.coer = COER_NUMBER;
        break;
    }
    out->t.not_null = true;
    return 0;
}

/* Has the text the form, 9 for a digit? */
static bool has_form(struct str s, const char *form)
{
    size_t i;

    for (i = 0; i < s.len && form[i]; i++) {
        if (form[i] == '9' ? s.p[i] < '0' || s.p[i] > '9' : s.p[i] != form[i])
            return false;
    }
    return i == s.len && !form[i];
}

static int two(struct str s, size_t i)
{
    return (s.p[i] - '0') * 10 + s.p[i + 1] - '0';
}

/* A real date, or the zero one. */
static bool good_date(struct str s)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int month = two(s, 5), day = two(s, 8);

    if (str_starts(s, STR("0000-00-00")))
        return true;
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
}

static bool good_time(struct str s, size_t i)
{
    return two(s, i) < 24 && two(s, i + 3) < 60 && two(s, i + 6) < 60;
}

static bool plain_date(struct str s)
{
    return has_form(s, "9999-99-99") && good_date(s);
}

static bool plain_datetime(struct str s)
{
    return has_form(s, "9999-99-99 99:99:99") && good_date(s) && good_time(s, 11);
}

static struct str temporal_literal(struct tr *t, const struct val *v)
{
    struct str s = v->lit->s, p;

    if ((v->t.base == DB_T_DATE && plain_date(s)) ||
        (v->t.base == DB_T_DATETIME && plain_datetime(s)))
        return param_text(t, s);
    p = param_text(t, s);
    if (v->t.base == DB_T_DATE)
        return cat(t, "m_cast_date($)", p);
    if (v->t.base == DB_T_TIME)
        return cat(t, "m_cast_time($,#)", p, (int)v->t.dec);
    return cat(t, "m_cast_datetime($,#)", p, (int)v->t.dec);
}

static struct str literal_sql(struct tr *t, const struct val *v)
{
    const struct sql_expr *e = v->lit;
    char digits[24];

    switch (e->kind) {
    case SQL_NULL:
        return STR("NULL");
    case SQL_BOOL:
        return e->u ? STR("1") : STR("0");
    case SQL_INT:
        if (e->u <= INT64_MAX)
            return param_int(t, (int64_t)e->u);
        return param_text(t, arena_str(t->arena, str_n(digits, str_put_u64(digits, e->u))));
    case SQL_DECIMAL:
        return param_text(t, decimal_text(t, e->s));
    case SQL_DOUBLE:
        return param_real(t, strtod(zstr(t, e->s), NULL));
    case SQL_STRING:
        if (!db_base_is_binary(v->t.base))
            return param_text(t, e->s);
        return param_blob(t, e->s);
    case SQL_HEX:
        return param_blob(t, e->s);
    default:
        return temporal_literal(t, v);
    }
}

struct str val_sql(struct tr *t, struct val *v)
{
    if (!v->sql.p && v->lit) {
        v->sql = literal_sql(t, v);
        v->prec = PREC_ATOM;
    }
    return v->sql;
}

struct str val_paren(struct tr *t, struct val *v, enum prec prec)
{
    struct str s = val_sql(t, v);

    return v->prec >= prec ? s : cat(t, "($)", s);
}

bool lit_is_string(const struct val *v)
{
    return v->lit && v->lit->kind == SQL_STRING && !db_base_is_binary(v->t.base);
}

/* The literal as number, when it wholly is one. */
bool lit_number(const struct val *v, double *d, int64_t *i, bool *is_int)
{
    char text[64], *end;
    size_t n;
    struct str s;

    if (!v->lit)
        return false;
    *is_int = true;
    if ((v->lit->kind == SQL_INT || v->lit->kind == SQL_BOOL) && v->lit->u <= INT64_MAX) {
        *i = (int64_t)v->lit->u;
        *d = (double)*i;
        return true;
    }
    if (v->lit->kind == SQL_HEX) {
        *i = 0;
        for (n = 0; n < v->lit->s.len && v->lit->s.len < 8; n++)
            *i = *i << 8 | (unsigned char)v->lit->s.p[n];
        *d = (double)*i;
        return v->lit->s.len < 8;
    }
    if (v->lit->kind != SQL_STRING && v->lit->kind != SQL_DECIMAL && v->lit->kind != SQL_DOUBLE)
        return false;
    s = str_trim(v->lit->s);
    if (!s.len || s.len >= sizeof(text))
        return false;
    str_put(text, sizeof(text), s);
    if (strspn(text, "0123456789+-.eE") < s.len)
        return false;
    if (!str_i64(s, i)) {
        *d = (double)*i;
        return true;
    }
    *d = strtod(text, &end);
    *is_int = false;
    return end == text + s.len;
}

/* ---- conversions ---- */

/* The text of a call with it. */
static struct str wrap(struct tr *t, struct val *v, const char *function)
{
    return cat(t, "$($)", str_c(function), val_sql(t, v));
}

struct str val_num(struct tr *t, struct val *v, struct ty *ty)
{
    double d;
    int64_t i;
    bool is_int;

    *ty = v->t;
    if (ty_is_num(&v->t) || v->t.base == DB_T_NULL)
        return val_sql(t, v);
    if (v->t.base == DB_T_ENUM || v->t.base == DB_T_SET) {
        *ty = v->t.base == DB_T_ENUM ? ty_int(6, 16) : ty_int(20, 63);
        return cat(t, "$($,$)", v->t.base == DB_T_ENUM ? STR("m_enum_index") : STR("m_set_bits"),
            val_sql(t, v), ty_members(t, &v->t));
    }
    if (db_base_is_temporal(v->t.base)) {
        *ty = v->t.dec ? ty_decimal(ty_int_digits(&v->t) + v->t.dec, v->t.dec)
                       : ty_int(v->t.base == DB_T_DATE ? 8 : 14, 48);
        return wrap(t, v, v->t.base == DB_T_TIME ? "m_time_num" : "m_date_num");
    }
    *ty = ty_double();
    ty->not_null = v->t.not_null;
    if (v->t.base == DB_T_JSON)
        return wrap(t, v, "m_json_num");
    if (lit_number(v, &d, &i, &is_int)) {
        if (!v->lit || v->lit->kind != SQL_HEX)
            return param_real(t, d);
        *ty = ty_int(21, 63);
        return param_int(t, i);
    }
    return wrap(t, v, "m_double");
}

struct str val_exact(struct tr *t, struct val *v, struct ty *ty)
{
    struct str s = val_num(t, v, ty);

    return v->exact.p ? v->exact : s;
}

struct str val_double(struct tr *t, struct val *v)
{
    double d;
    int64_t i;
    bool is_int;
    struct ty ty;
    struct str s;

    if (lit_number(v, &d, &i, &is_int))
        return is_int ? param_int(t, i) : param_real(t, d);
    if (ty_is_num(&v->t) && v->t.base != DB_T_DECIMAL && !v->t.big)
        return val_sql(t, v);
    s = val_num(t, v, &ty);
    if (ty.base == DB_T_DECIMAL || ty.big)
        return cat(t, "m_cast_double($)", s);
    return s;
}

struct str val_int(struct tr *t, struct val *v)
{
    double d;
    int64_t i;
    bool is_int;
    struct ty ty;

    if (db_base_is_int(v->t.base) || v->t.base == DB_T_NULL)
        return val_sql(t, v);
    if (lit_number(v, &d, &i, &is_int) && is_int)
        return param_int(t, i);
    return cat(t, "m_int($)", val_num(t, v, &ty));
}

struct str val_text(struct tr *t, struct val *v)
{
    char text[32];

    if (v->lit && v->lit->kind == SQL_HEX)
        return param_text(t, v->lit->s);
    if (v->lit && v->lit->kind == SQL_STRING)
        return param_text(t, v->lit->s);
    if (v->lit && (v->lit->kind == SQL_INT || v->lit->kind == SQL_BOOL))
        return param_text(t, arena_str(t->arena, str_n(text, str_put_u64(text, v->lit->u))));
    if (v->t.base == DB_T_FLOAT)
        return wrap(t, v, "m_float_text");
    if (v->t.base == DB_T_YEAR)
        return cat(t, "printf('%04d',$)", val_sql(t, v));
    if (v->t.zerofill && db_base_is_int(v->t.base))
        return cat(t, "printf('%0#d',$)", (int)v->t.len, val_sql(t, v));
    if (v->t.base == DB_T_DOUBLE || db_base_is_binary(v->t.base))
        return wrap(t, v, "m_text");
    if (db_base_is_int(v->t.base))
        return cat(t, "CAST($ AS TEXT)", val_sql(t, v));
    return val_sql(t, v);
}

struct str val_blob(struct tr *t, struct val *v)
{
    if (v->lit && (v->lit->kind == SQL_STRING || v->lit->kind == SQL_HEX))
        return param_blob(t, v->lit->s);
    if (db_base_is_binary(v->t.base) || v->t.base == DB_T_NULL)
        return val_sql(t, v);
    return cat(t, "CAST($ AS BLOB)", val_text(t, v));
}

struct str val_decimal(struct tr *t, struct val *v)
{
    struct ty ty;
    struct str s;

    if (v->lit && v->lit->kind == SQL_INT)
        return val_text(t, v);
    if (v->t.base == DB_T_DECIMAL || v->t.base == DB_T_NULL)
        return val_sql(t, v);
    s = val_num(t, v, &ty);
    if (ty.base == DB_T_DECIMAL)
        return s;
    if (db_base_is_int(ty.base) || ty.base == DB_T_YEAR)
        return cat(t, "CAST($ AS TEXT)", s);
    return cat(t, "m_dec($)", s);
}

static struct str zeros(int fsp)
{
    static const char text[] = " 00:00:00.000000";

    return str_n(text, fsp ? (size_t)(10 + fsp) : 9);
}

static struct str as_datetime(struct tr *t, struct val *v, int fsp)
{
    if (lit_is_string(v) && plain_date(v->lit->s))
        return param_text(t, cat(t, "$$", v->lit->s, zeros(fsp)));
    if (lit_is_string(v) && plain_datetime(v->lit->s) && fsp == 0)
        return param_text(t, v->lit->s);
    if (v->t.base == DB_T_DATE)
        return cat(t, "m_as_datetime($,#)", val_sql(t, v), fsp);
    if ((v->t.base == DB_T_DATETIME || v->t.base == DB_T_TIMESTAMP) && v->t.dec == fsp)
        return val_sql(t, v);
    return cat(t, "m_as_datetime($,#)", val_sql(t, v), fsp);
}

struct str val_temporal(struct tr *t, struct val *v, enum db_base base, int fsp)
{
    if (v->t.base == DB_T_NULL)
        return val_sql(t, v);
    if (base == DB_T_DATETIME || base == DB_T_TIMESTAMP)
        return as_datetime(t, v, fsp);
    if (v->t.base == base)
        return val_sql(t, v);
    if (base == DB_T_TIME)
        return cat(t, "m_as_time($,#)", val_sql(t, v), fsp);
    if (lit_is_string(v) && plain_date(v->lit->s))
        return param_text(t, v->lit->s);
    return wrap(t, v, "m_as_date");
}

struct str val_json(struct tr *t, struct val *v)
{
    char how;

    if (v->t.base == DB_T_JSON || v->t.base == DB_T_NULL)
        return val_sql(t, v);
    if (ty_is_string(&v->t))
        return cat(t, "m_json_quote($)", val_text(t, v));
    how = (char)ty_how(&v->t);
    return cat(t, "m_cast_json('$',$)", arena_str(t->arena, str_n(&how, 1)), val_sql(t, v));
}

struct str val_cond(struct tr *t, struct val *v, enum prec prec)
{
    struct ty ty;

    if (ty_is_num(&v->t) || v->t.base == DB_T_NULL)
        return val_paren(t, v, prec);
    return cat(t, "m_bool($)", val_num(t, v, &ty));
}

struct str with_collation(struct tr *t, struct val *v, struct str sql, struct str collation)
{
    bool same_text = sql.p == v->sql.p && sql.len == v->sql.len;

    if (same_text && str_eq(v->natural, collation))
        return sql;
    if (!collation.len && (!same_text || !v->natural.len))
        return sql;
    if (same_text && v->prec < PREC_COLLATE)
        sql = cat(t, "($)", sql);
    return cat(t, "$ COLLATE $", sql, collation.len ? quote_name(t, collation) : STR("BINARY"));
}

struct str val_sort(struct tr *t, struct val *v)
{
    struct str sql = val_sql(t, v);

    return with_collation(t, v, sql, ty_natural(&v->t));
}

static struct str as_decimal(struct tr *t, struct val *v, const struct ty *ty)
{
    if (v->t.base == DB_T_DECIMAL && v->t.dec == ty->dec)
        return val_sql(t, v);
    if (ty->dec == 0 && db_base_is_int(v->t.base))
        return cat(t, "CAST($ AS TEXT)", val_sql(t, v));
    return cat(t, "m_cast_decimal($,#,#)", val_sql(t, v), (int)ty->len, (int)ty->dec);
}

struct str val_as(struct tr *t, struct val *v, const struct ty *ty)
{
    struct ty num;

    if (v->t.base == DB_T_NULL)
        return val_sql(t, v);
    if (db_base_is_text(ty->base))
        return val_text(t, v);
    if (db_base_is_binary(ty->base))
        return val_blob(t, v);
    if (ty->base == DB_T_DECIMAL)
        return as_decimal(t, v, ty);
    if (ty->base == DB_T_DOUBLE || ty->base == DB_T_FLOAT) {
        if (v->t.base == DB_T_DOUBLE || v->t.base == DB_T_FLOAT)
            return val_sql(t, v);
        return cat(t, "CAST($ AS REAL)", val_num(t, v, &num));
    }
    if (db_base_is_temporal(ty->base)) {
        if (v->t.base == ty->base && v->t.dec == ty->dec)
            return val_sql(t, v);
        return val_temporal(t, v, ty->base, ty->dec);
    }
    if (ty->base == DB_T_JSON)
        return val_json(t, v);
    return val_num(t, v, &num);
}
