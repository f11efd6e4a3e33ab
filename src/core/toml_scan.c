/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/toml_scan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"

void toml_cursor_init(struct toml_cursor *c, struct arena *a, struct str text, struct err *err)
{
    *c = (struct toml_cursor){.arena = a, .text = text, .line = 1, .col = 1, .err = err};
}

int toml_column(struct toml_cursor *c)
{
    if (c->col_pos < c->line_start || c->col_pos > c->pos) {
        c->col_pos = c->line_start;
        c->col = 1;
    }
    for (; c->col_pos < c->pos; c->col_pos++) {
        /* A character counts where it starts; UTF-8 continuation bytes are 10xxxxxx. */
        if (((unsigned char)c->text.p[c->col_pos] & 0xc0) != 0x80)
            c->col++;
    }
    return c->col;
}

int toml_fail(struct toml_cursor *c, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    return err_set_at(c->err, ERR_INVAL, c->line, toml_column(c), "%s", text);
}

int toml_fail_char(struct toml_cursor *c, const char *what)
{
    unsigned char ch = toml_peek(c, 0);

    if (toml_at_end(c))
        return toml_fail(c, "%s, but the file ends here", what);
    if (ch == '\n' || ch == '\r')
        return toml_fail(c, "%s, but the line ends here", what);
    if (ch < 0x20 || ch >= 0x7f)
        return toml_fail(c, "%s, not the byte 0x%02x", what, ch);
    return toml_fail(c, "%s, not '%c'", what, ch);
}

bool toml_take_newline(struct toml_cursor *c)
{
    if (toml_peek(c, 0) == '\n')
        c->pos++;
    else if (toml_peek(c, 0) == '\r' && toml_peek(c, 1) == '\n')
        c->pos += 2;
    else
        return false;
    c->line++;
    c->line_start = c->col_pos = c->pos;
    c->col = 1;
    return true;
}

void toml_skip_blank(struct toml_cursor *c)
{
    while (toml_peek(c, 0) == ' ' || toml_peek(c, 0) == '\t')
        c->pos++;
}

static bool is_control(unsigned char ch)
{
    return (ch < 0x20 && ch != '\t') || ch == 0x7f;
}

int toml_skip_comment(struct toml_cursor *c)
{
    if (toml_peek(c, 0) != '#')
        return 0;
    while (!toml_at_end(c) && toml_peek(c, 0) != '\n') {
        if (toml_peek(c, 0) == '\r' && toml_peek(c, 1) == '\n')
            break;
        if (is_control(toml_peek(c, 0)))
            return toml_fail(c, "control character 0x%02x in a comment", toml_peek(c, 0));
        c->pos++;
    }
    return 0;
}

bool toml_is_bare(unsigned char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           ch == '_' || ch == '-';
}

static void add_utf8(struct buf *b, uint32_t u)
{
    if (u < 0x80) {
        buf_add_char(b, (char)u);
    } else if (u < 0x800) {
        buf_add_char(b, (char)(0xc0 | u >> 6));
        buf_add_char(b, (char)(0x80 | (u & 0x3f)));
    } else if (u < 0x10000) {
        buf_add_char(b, (char)(0xe0 | u >> 12));
        buf_add_char(b, (char)(0x80 | (u >> 6 & 0x3f)));
        buf_add_char(b, (char)(0x80 | (u & 0x3f)));
    } else {
        buf_add_char(b, (char)(0xf0 | u >> 18));
        buf_add_char(b, (char)(0x80 | (u >> 12 & 0x3f)));
        buf_add_char(b, (char)(0x80 | (u >> 6 & 0x3f)));
        buf_add_char(b, (char)(0x80 | (u & 0x3f)));
    }
}

/* pos is after "\u" or "\U". */
static int scan_unicode(struct toml_cursor *c, int digits, struct buf *b)
{
    uint32_t u = 0;

    for (int i = 0; i < digits; i++) {
        int d = str_hex_digit((char)toml_peek(c, 0));

        if (d < 0)
            return toml_fail(
                c, "a \\%c escape needs %d hex digits", digits == 4 ? 'u' : 'U', digits);
        u = u << 4 | (uint32_t)d;
        c->pos++;
    }
    if (u > 0x10ffff || (u >= 0xd800 && u <= 0xdfff))
        return toml_fail(c, "U+%04X is not a character", u);
    add_utf8(b, u);
    return 0;
}

/* A backslash before the line's end swallows all white space up to the next character. */
static bool skip_line_break(struct toml_cursor *c)
{
    size_t ahead = 0;

    while (toml_peek(c, ahead) == ' ' || toml_peek(c, ahead) == '\t')
        ahead++;
    if (toml_peek(c, ahead) != '\n' &&
        !(toml_peek(c, ahead) == '\r' && toml_peek(c, ahead + 1) == '\n'))
        return false;
    do
        toml_skip_blank(c);
    while (toml_take_newline(c));
    return true;
}

/* pos is after the backslash. */
static int scan_escape(struct toml_cursor *c, bool multi, struct buf *b)
{
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
    unsigned char ch = toml_peek(c, 0);
    const char *hit = ch ? strchr(from, ch) : NULL;

    if (hit) {
        buf_add_char(b, to[hit - from]);
        c->pos++;
        return 0;
    }
    if (ch == 'u' || ch == 'U') {
        c->pos++;
        return scan_unicode(c, ch == 'u' ? 4 : 8, b);
    }
    if (multi && skip_line_break(c))
        return 0;
    return toml_fail_char(c, "a backslash starts an escape like \\n, \\\\ or \\u00e9 (quote "
                             "Windows paths with '...')");
}

/* Takes a closing run of quotes; false when it is part of the text (which it is then added to). */
static bool take_closing(struct toml_cursor *c, char quote, bool multi, struct buf *b)
{
    size_t n = 0;

    if (!multi) {
        c->pos++;
        return true;
    }
    while (n < 5 && toml_peek(c, n) == (unsigned char)quote)
        n++;
    c->pos += n;
    /* Up to two quotes may stand before the closing three. */
    for (size_t i = n >= 3 ? 3 : 0; i < n; i++)
        buf_add_char(b, quote);
    return n >= 3;
}

static int scan_string_body(struct toml_cursor *c, char quote, bool multi, struct buf *b)
{
    for (;;) {
        unsigned char ch = toml_peek(c, 0);
        int rc = 0;

        if (toml_at_end(c))
            return toml_fail(c, "a string is not closed");
        if (ch == (unsigned char)quote) {
            if (take_closing(c, quote, multi, b))
                return 0;
        } else if (ch == '\\' && quote == '"') {
            c->pos++;
            rc = scan_escape(c, multi, b);
        } else if (ch == '\n' || (ch == '\r' && toml_peek(c, 1) == '\n')) {
            if (!multi)
                return toml_fail(c, "a string is not closed before the line ends");
            toml_take_newline(c);
            buf_add_char(b, '\n');
        } else if (is_control(ch)) {
            return toml_fail(c, "control character 0x%02x in a string", ch);
        } else {
            buf_add_char(b, (char)ch);
            c->pos++;
        }
        if (rc)
            return rc;
    }
}

int toml_scan_string(struct toml_cursor *c, bool multi, struct str *out)
{
    char quote = (char)toml_peek(c, 0);
    bool three = toml_peek(c, 1) == (unsigned char)quote && toml_peek(c, 2) == (unsigned char)quote;
    struct buf b = {0};
    int rc;

    if (three && !multi)
        return toml_fail(c, "a key cannot be a multi-line string");
    c->pos += three ? 3 : 1;
    if (three)
        toml_take_newline(c);
    rc = scan_string_body(c, quote, three, &b);
    if (rc == 0)
        *out = arena_str(c->arena, buf_str(&b));
    buf_fini(&b);
    return rc;
}

static bool is_digit(char c, int base)
{
    int d = str_hex_digit(c);

    return d >= 0 && d < base;
}

/* Copies digits without underscores, each of which must stand between two digits. */
static bool strip_underscores(struct str s, struct buf *out)
{
    /* In 1e_5 the e is no digit. */
    int base = str_starts(s, STR("0x")) ? 16 : 10;

    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] != '_') {
            buf_add_char(out, s.p[i]);
            continue;
        }
        if (i == 0 || i + 1 == s.len || !is_digit(s.p[i - 1], base) || !is_digit(s.p[i + 1], base))
            return false;
    }
    return true;
}

static int parse_based(struct str digits, unsigned base, int64_t *out)
{
    uint64_t v = 0;

    if (digits.len == 0)
        return ERR_INVAL;
    for (size_t i = 0; i < digits.len; i++) {
        int d = str_hex_digit(digits.p[i]);

        if (d < 0 || (unsigned)d >= base)
            return ERR_INVAL;
        if (v > ((uint64_t)INT64_MAX - (unsigned)d) / base)
            return ERR_RANGE;
        v = v * base + (unsigned)d;
    }
    *out = (int64_t)v;
    return 0;
}

static bool all_digits(struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    }
    return s.len > 0;
}

static int parse_decimal(struct str s, int64_t *out)
{
    struct str digits = s;

    if (digits.len > 0 && (digits.p[0] == '+' || digits.p[0] == '-'))
        digits = str_sub(digits, 1, digits.len);
    if (!all_digits(digits) || (digits.len > 1 && digits.p[0] == '0'))
        return ERR_INVAL;
    return str_i64(s.p[0] == '+' ? digits : s, out);
}

static int parse_int(struct str s, int64_t *out)
{
    if (str_starts(s, STR("0x")))
        return parse_based(str_sub(s, 2, s.len), 16, out);
    if (str_starts(s, STR("0o")))
        return parse_based(str_sub(s, 2, s.len), 8, out);
    if (str_starts(s, STR("0b")))
        return parse_based(str_sub(s, 2, s.len), 2, out);
    return parse_decimal(s, out);
}

/* [+-] int [. digits] [e [+-] digits], checked by hand since strtod() takes more; or inf, nan. */
static int parse_float(struct buf *b, double *out)
{
    struct str s = buf_str(b), rest = s, whole;
    size_t n = 0;
    bool part = false;

    if (rest.len > 0 && (rest.p[0] == '+' || rest.p[0] == '-'))
        rest = str_sub(rest, 1, rest.len);
    if (str_eq(rest, STR("inf")) || str_eq(rest, STR("nan"))) {
        *out = rest.p[0] == 'i' ? HUGE_VAL : (double)NAN;
        if (s.p[0] == '-')
            *out = -*out;
        return 0;
    }
    while (n < rest.len && rest.p[n] >= '0' && rest.p[n] <= '9')
        n++;
    whole = str_sub(rest, 0, n);
    rest = str_sub(rest, n, rest.len);
    if (whole.len == 0 || (whole.len > 1 && whole.p[0] == '0'))
        return ERR_INVAL;
    if (rest.len > 0 && rest.p[0] == '.') {
        for (n = 1; n < rest.len && rest.p[n] >= '0' && rest.p[n] <= '9';)
            n++;
        if (n == 1)
            return ERR_INVAL;
        rest = str_sub(rest, n, rest.len);
        part = true;
    }
    if (rest.len > 0 && (rest.p[0] == 'e' || rest.p[0] == 'E')) {
        rest = str_sub(rest, 1, rest.len);
        if (rest.len > 0 && (rest.p[0] == '+' || rest.p[0] == '-'))
            rest = str_sub(rest, 1, rest.len);
        if (!all_digits(rest))
            return ERR_INVAL;
        rest = str_sub(rest, rest.len, 0);
        part = true;
    }
    if (rest.len != 0 || !part)
        return ERR_INVAL;
    /* The program never calls setlocale(), so the decimal point is a point. */
    *out = strtod(buf_cstr(b), NULL);
    return 0;
}

static int two(struct str s, size_t at)
{
    if (at + 2 > s.len || !all_digits(str_sub(s, at, 2)))
        return -1;
    return (s.p[at] - '0') * 10 + (s.p[at + 1] - '0');
}

/* "2026-01-31" */
static bool is_date(struct str s)
{
    static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    bool leap;

    if (s.len != 10 || s.p[4] != '-' || s.p[7] != '-' || !all_digits(str_sub(s, 0, 4)))
        return false;
    year = two(s, 0) * 100 + two(s, 2);
    month = two(s, 5);
    day = two(s, 8);
    leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

/* "12:00:00[.123]"; what follows is left in *rest. */
static bool is_time(struct str s, struct str *rest)
{
    size_t n = 8;
    int hour = two(s, 0), minute = two(s, 3), second = two(s, 6);

    if (s.len < 8 || s.p[2] != ':' || s.p[5] != ':' || hour < 0 || hour > 23 || minute < 0 ||
        minute > 59 || second < 0 || second > 59)
        return false;
    if (s.len > 8 && s.p[8] == '.') {
        for (n = 9; n < s.len && s.p[n] >= '0' && s.p[n] <= '9';)
            n++;
        if (n == 9)
            return false;
    }
    *rest = str_sub(s, n, s.len);
    return true;
}

static bool is_offset(struct str s)
{
    if (str_ieq(s, STR("z")))
        return true;
    return s.len == 6 && (s.p[0] == '+' || s.p[0] == '-') && s.p[3] == ':' && two(s, 1) >= 0 &&
           two(s, 1) <= 23 && two(s, 4) >= 0 && two(s, 4) <= 59;
}

static bool is_datetime(struct str s)
{
    struct str rest;

    if (s.len >= 3 && s.p[2] == ':')
        return is_time(s, &rest) && rest.len == 0;
    if (!is_date(str_sub(s, 0, 10)))
        return false;
    if (s.len == 10)
        return true;
    if (s.p[10] != 'T' && s.p[10] != 't' && s.p[10] != ' ')
        return false;
    return is_time(str_sub(s, 11, s.len), &rest) && (rest.len == 0 || is_offset(rest));
}

/* Length of the token at pos; a date and a time may be joined by one space. */
static size_t token_length(const struct toml_cursor *c)
{
    size_t n = 0;

    for (;; n++) {
        unsigned char ch = toml_peek(c, n);

        if (toml_is_bare(ch) || ch == '+' || ch == '.' || ch == ':')
            continue;
        if (n == 10 && ch == ' ' && toml_peek(c, 4) == '-' && toml_peek(c, n + 1) >= '0' &&
            toml_peek(c, n + 1) <= '9')
            continue;
        return n;
    }
}

static int scan_number(struct toml_cursor *c, struct str token, struct toml_value *out)
{
    struct buf digits = {0};
    int rc = ERR_INVAL;

    if (strip_underscores(token, &digits)) {
        out->kind = TOML_INT;
        rc = parse_int(buf_str(&digits), &out->i);
        if (rc == ERR_INVAL) {
            out->kind = TOML_FLOAT;
            rc = parse_float(&digits, &out->f);
        }
    }
    buf_fini(&digits);
    if (rc == ERR_RANGE)
        return toml_fail(c, STR_F " does not fit 64 bits", STR_A(token));
    if (rc)
        return toml_fail(c, "\"" STR_F "\" is not a value (text needs quotes)", STR_A(token));
    return 0;
}

int toml_scan_plain(struct toml_cursor *c, struct toml_value *out)
{
    struct str token = str_n(c->text.p + c->pos, token_length(c));
    int rc = 0;

    if (token.len == 0)
        return toml_fail_char(c, "a value is expected");
    if (str_eq(token, STR("true")) || str_eq(token, STR("false"))) {
        out->kind = TOML_BOOL;
        out->b = token.p[0] == 't';
    } else if (is_datetime(token)) {
        out->kind = TOML_DATETIME;
        out->s = arena_str(c->arena, token);
    } else {
        rc = scan_number(c, token, out);
    }
    if (rc == 0)
        c->pos += token.len;
    return rc;
}
