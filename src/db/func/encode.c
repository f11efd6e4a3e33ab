/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Texts in other forms: hex, base64, number bases, SOUNDEX, FORMAT, weights. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/func/call.h"
#include "db/func/utf8.h"
#include "db/real.h"

static void add_hex(struct buf *b, struct str s)
{
    static const char digits[] = "0123456789ABCDEF";
    char *p = buf_reserve(b, s.len * 2);

    for (size_t i = 0; i < s.len; i++) {
        *p++ = digits[(unsigned char)s.p[i] >> 4];
        *p++ = digits[(unsigned char)s.p[i] & 15];
    }
    b->len += s.len * 2;
}

static void hex_number(struct call *c, uint64_t v)
{
    char text[20];
    int n = snprintf(text, sizeof(text), "%llX", (unsigned long long)v);

    ret_str(c, str_n(text, (size_t)n));
}

void fn_hex(struct call *c)
{
    struct buf b = {0};
    struct str s;
    int type = sqlite3_value_type(c->v[0]);

    if (type == SQLITE_NULL)
        return;
    if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) {
        hex_number(c, call_u64(c, 0));
        return;
    }
    s = call_str(c, 0);
    if (!ret_fits(c, (uint64_t)s.len * 2))
        return;
    add_hex(&b, s);
    ret_buf(c, &b, false);
}

void fn_hex_num(struct call *c)
{
    if (!call_null(c, 0))
        hex_number(c, call_u64(c, 0));
}

void fn_unhex(struct call *c)
{
    struct str s;
    struct buf b = {0};
    size_t i = 0;

    if (call_null(c, 0))
        return;
    s = call_str(c, 0);
    if (s.len % 2) {
        int d = str_hex_digit(s.p[i++]);

        if (d < 0)
            return;
        buf_add_char(&b, (char)d);
    }
    for (; i + 1 < s.len; i += 2) {
        int high = str_hex_digit(s.p[i]);
        int low = str_hex_digit(s.p[i + 1]);

        if (high < 0 || low < 0) {
            buf_fini(&b);
            return;
        }
        buf_add_char(&b, (char)(high << 4 | low));
    }
    ret_buf(c, &b, true);
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void fn_to_base64(struct call *c)
{
    struct str s;
    struct buf b = {0};
    size_t column = 0;

    if (call_null(c, 0))
        return;
    s = call_str(c, 0);
    if (!ret_fits(c, (uint64_t)s.len / 3 * 4 + s.len / 57 + 5))
        return;
    for (size_t i = 0; i < s.len; i += 3) {
        uint32_t v = 0;
        size_t n = MIN(s.len - i, 3);

        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (k < n ? (unsigned char)s.p[i + k] : 0);
        if (column == 76) {
            buf_add_char(&b, '\n');
            column = 0;
        }
        for (size_t k = 0; k < 4; k++)
            buf_add_char(&b, k <= n ? alphabet[v >> (18 - 6 * k) & 63] : '=');
        column += 4;
    }
    ret_buf(c, &b, false);
}

void fn_from_base64(struct call *c)
{
    struct str s;
    struct buf b = {0};
    uint32_t v = 0;
    int n = 0;
    int pads = 0;

    if (call_null(c, 0))
        return;
    s = call_str(c, 0);
    for (size_t i = 0; i < s.len; i++) {
        const char *at;

        if (s.p[i] == ' ' || (s.p[i] >= '\t' && s.p[i] <= '\r'))
            continue;
        at = s.p[i] ? strchr(alphabet, s.p[i]) : NULL;
        if (s.p[i] == '=' && n >= 2) {
            pads++;
            v <<= 6;
        } else if (at && pads == 0) {
            v = v << 6 | (uint32_t)(at - alphabet);
        } else {
            buf_fini(&b);
            return;
        }
        if (++n < 4)
            continue;
        buf_add_char(&b, (char)(v >> 16));
        if (pads < 2)
            buf_add_char(&b, (char)(v >> 8));
        if (pads < 1)
            buf_add_char(&b, (char)v);
        n = 0;
        v = 0;
    }
    if (n == 0)
        ret_buf(c, &b, true);
    else
        buf_fini(&b);
}

/* v in a base of 2 to 36 */
static struct str in_base(uint64_t v, unsigned base, char out[66])
{
    size_t at = 66;

    do {
        out[--at] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[v % base];
        v /= base;
    } while (v);
    return str_n(out + at, 66 - at);
}

/* The bits of a number, whose decimals are cut. */
static uint64_t cut_u64(struct call *c)
{
    struct num n;
    struct db_decimal d;
    int64_t v;

    call_num(c, 0, &n);
    if (n.kind == NUM_INT)
        return (uint64_t)n.i;
    num_decimal(&n, &d);
    (void)db_decimal_round(&d, 0, DB_DECIMAL_CUT); /* that is what it is for */
    if (!d.neg) {
        uint64_t u;

        (void)db_decimal_to_u64(&d, &u); /* clips */
        return u;
    }
    (void)db_decimal_to_i64(&d, &v); /* clips */
    return (uint64_t)v;
}

void fn_bin(struct call *c)
{
    char text[66];

    if (!call_null(c, 0))
        ret_str(c, in_base(cut_u64(c), 2, text));
}

void fn_oct(struct call *c)
{
    char text[66];

    if (!call_null(c, 0))
        ret_str(c, in_base(cut_u64(c), 8, text));
}

void fn_conv(struct call *c)
{
    struct str s;
    char text[67];
    int64_t from;
    int64_t to;
    uint64_t v = 0;
    bool neg = false;
    bool over = false;
    size_t i = 0;
    struct str digits;

    if (call_any_null(c))
        return;
    s = call_str(c, 0);
    from = call_i64(c, 1);
    to = call_i64(c, 2);
    if (from == INT64_MIN || to == INT64_MIN || llabs(from) < 2 || llabs(from) > 36 ||
        llabs(to) < 2 || llabs(to) > 36)
        return;
    s = str_trim(s);
    if (s.len > 0 && (s.p[0] == '-' || s.p[0] == '+'))
        neg = s.p[i++] == '-';
    for (; i < s.len; i++) {
        char x = str_lower_char(s.p[i]);
        int64_t d = x >= '0' && x <= '9' ? x - '0' : x >= 'a' && x <= 'z' ? x - 'a' + 10 : 99;

        if (d >= llabs(from))
            break;
        over = over || __builtin_mul_overflow(v, (uint64_t)llabs(from), &v) ||
               __builtin_add_overflow(v, (uint64_t)d, &v);
    }
    if (over)
        v = UINT64_MAX;
    if (neg && !over)
        v = 0 - v;
    neg = to < 0 && (int64_t)v < 0;
    if (neg)
        v = 0 - v;
    digits = in_base(v, (unsigned)llabs(to), text + 1);
    if (neg) {
        char *p = text + 1 + (digits.p - (text + 1)) - 1;

        *p = '-';
        digits = str_n(p, digits.len + 1);
    }
    ret_str(c, digits);
}

/* ---- SOUNDEX ---- */

static char sound(uint32_t x)
{
    static const char codes[] = "01230120022455012623010202";

    x = utf8_upper(x);
    return x >= 'A' && x <= 'Z' ? codes[x - 'A'] : x >= 0xC0 ? '0' : '\0';
}

static struct str soundex(struct call *c, int i)
{
    struct str s = call_str(c, i);
    struct buf b = {0};
    char last = '\0';
    size_t n = 0;
    struct str out;

    for (size_t k = 0; k < s.len;) {
        uint32_t x = utf8_next(s, &k);
        char code = sound(x);

        if (!code)
            continue;
        if (b.len == 0) {
            utf8_encode(&b, utf8_upper(x));
            last = code;
            n = 1;
        } else if (code != '0' && code != last) {
            buf_add_char(&b, code);
            last = code;
            n++;
        }
    }
    for (; n > 0 && n < 4; n++)
        buf_add_char(&b, '0');
    out = arena_str(&c->arena, buf_str(&b));
    buf_fini(&b);
    return out;
}

void fn_soundex(struct call *c)
{
    if (!call_null(c, 0))
        ret_str(c, soundex(c, 0));
}

void fn_sounds_like(struct call *c)
{
    if (!call_any_null(c))
        ret_bool(c, str_eq(soundex(c, 0), soundex(c, 1)));
}

/* ---- FORMAT ---- */

struct locale {
    const char *prefix;
    char point;
    const char *group; /* "" none */
};

static struct locale locale_of(struct str name)
{
    static const struct locale rows[] = {
        {"de_AT", ',', ""},
        {"de", ',', "."},
        {"nl", ',', ""},
        {"it", ',', ""},
        {"fr", ',', ""},
        {"es_ES", ',', ""},
        {"pt_BR", ',', "."},
        {"pt", ',', ""},
        {"da", ',', "."},
        {"sv", ',', "."},
        {"nb", ',', "."},
        {"ru", ',', "."},
        {"pl", ',', ""},
        {"cs", ',', "."},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (str_istarts(name, str_c(rows[i].prefix)))
            return rows[i];
    }
    return (struct locale){"", '.', ","};
}

void fn_format(struct call *c)
{
    struct num n;
    struct db_decimal d;
    struct buf b = {0};
    char text[DB_REAL_TEXT];
    struct locale l;
    struct str s;
    struct str digits;
    ptrdiff_t point;
    size_t whole;
    int decimals;

    if (call_null(c, 0) || call_null(c, 1))
        return;
    decimals = (int)MIN(MAX(call_i64(c, 1), 0), DB_DECIMAL_SCALE);
    l = locale_of(c->n > 2 && !call_null(c, 2) ? call_str(c, 2) : STR(""));
    call_num(c, 0, &n);
    if (n.kind == NUM_REAL && fabs(n.d) >= 1e35) {
        s = str_n(text, db_fixed_text(n.d, decimals, text));
    } else {
        num_decimal(&n, &d);
        (void)db_decimal_round(&d, decimals, DB_DECIMAL_HALF_UP); /* that is what it is for */
        s = str_n(text, db_decimal_print(&d, text));
    }
    if (s.len && s.p[0] == '-')
        buf_add_char(&b, '-');
    digits = str_sub(s, s.len && s.p[0] == '-', s.len);
    point = str_chr(digits, '.');
    whole = point < 0 ? digits.len : (size_t)point;
    for (size_t i = 0; i < whole; i++) {
        if (i && (whole - i) % 3 == 0)
            buf_printf(&b, "%s", l.group);
        buf_add_char(&b, digits.p[i]);
    }
    if (decimals > 0 && point >= 0) {
        buf_add_char(&b, l.point);
        buf_add_str(&b, str_sub(digits, whole + 1, digits.len));
    }
    ret_buf(c, &b, false);
}

void fn_weight_string(struct call *c)
{
    struct buf b = {0};
    struct str s;

    if (call_null(c, 0) || call_null(c, 1))
        return;
    s = call_str(c, 1);
    if (c->n > 3 && !call_null(c, 3)) {
        size_t n = (size_t)MAX(call_i64(c, 3), 0);

        s = str_sub(s, 0, str_ieq(call_str(c, 2), STR("binary")) ? n : utf8_offset(s, n));
    }
    collation_key(call_coll(c, 0), s, &b);
    ret_buf(c, &b, true);
}
