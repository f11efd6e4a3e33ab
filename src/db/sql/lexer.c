/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/sql/lexer.h"

#include "db/charset.h"
#include "db/type.h"

enum { C_SPACE = 1, C_NAME = 2, C_DIGIT = 4, C_HEX = 8 };

/* Classes of bytes. Bytes from 0x80 on belong to names. */
static const uint8_t classes[256] = {
    ['\t' ... '\r'] = C_SPACE,
    [' '] = C_SPACE,
    ['$'] = C_NAME,
    ['_'] = C_NAME,
    ['0' ... '9'] = C_NAME | C_DIGIT | C_HEX,
    ['A' ... 'F'] = C_NAME | C_HEX,
    ['G' ... 'Z'] = C_NAME,
    ['a' ... 'f'] = C_NAME | C_HEX,
    ['g' ... 'z'] = C_NAME,
    [0x80 ... 0xFF] = C_NAME,
};

static bool is(char c, uint8_t class)
{
    return classes[(unsigned char)c] & class;
}

/* The byte n further on, NUL behind the end. */
static char peek(const struct sql_lexer *l, uint32_t n)
{
    return n < l->len - l->at ? l->p[l->at + n] : '\0';
}

void sql_lexer_init(
    struct sql_lexer *l, struct arena *arena, struct str text, uint32_t mode, uint32_t version)
{
    *l = (struct sql_lexer){
        .arena = arena, .p = text.p, .len = (uint32_t)text.len, .mode = mode, .version = version};
}

/* ---- space and comments ---- */

static void skip_line(struct sql_lexer *l)
{
    const char *nl = memchr(l->p + l->at, '\n', l->len - l->at);

    l->at = nl ? (uint32_t)(nl - l->p) + 1 : l->len;
}

/* At what follows the opening of a comment: behind its end, or false. A comment may hold others
 * when it is one that would be run by a later version. */
static bool skip_comment(struct sql_lexer *l, bool nests)
{
    while (l->at < l->len) {
        const char *hit = memchr(l->p + l->at, nests ? '/' : '*', l->len - l->at);

        if (!hit)
            break;
        l->at = (uint32_t)(hit - l->p);
        if (!nests) {
            l->at++;
            if (peek(l, 0) == '/') {
                l->at++;
                return true;
            }
        } else if (l->at > 0 && l->p[l->at - 1] == '*') {
            l->at++;
            return true;
        } else if (peek(l, 1) == '*') {
            l->at += 2;
            if (!skip_comment(l, false))
                return false;
        } else {
            l->at++;
        }
    }
    l->at = l->len;
    return false;
}

/* At a slash and a star. */
static bool read_comment(struct sql_lexer *l)
{
    uint32_t mark = l->at + 2, version = 0, digits = 0;
    bool maria = peek(l, 2) == 'M' && peek(l, 3) == '!';

    if (peek(l, 2) != '!' && !maria) {
        l->at = mark;
        return skip_comment(l, false);
    }
    l->at = mark + (maria ? 2 : 1);
    while (digits < 6 && is(peek(l, 0), C_DIGIT)) {
        version = version * 10 + (uint32_t)(l->p[l->at] - '0');
        digits++;
        l->at++;
    }
    if (digits > 0 && digits < 5)
        l->at -= digits; /* no version: they belong to the text */
    if (digits >= 5 && version > l->version)
        return skip_comment(l, true);
    l->in_comment = true;
    return true;
}

/* False: a comment without end; at is at its begin. */
static bool skip_space(struct sql_lexer *l)
{
    while (l->at < l->len) {
        uint32_t begin = l->at;
        char c = l->p[begin];

        if (is(c, C_SPACE)) {
            l->at++;
        } else if (c == '#' || (c == '-' && peek(l, 1) == '-' &&
                                   (begin + 2 >= l->len || (unsigned char)peek(l, 2) <= ' '))) {
            skip_line(l);
        } else if (c == '/' && peek(l, 1) == '*') {
            if (!read_comment(l)) {
                l->at = begin;
                return false;
            }
        } else if (c == '*' && peek(l, 1) == '/' && l->in_comment) {
            l->in_comment = false;
            l->at += 2;
        } else {
            break;
        }
    }
    return true;
}

/* ---- quotes ---- */

static size_t put_escape(char *out, char c)
{
    static const char from[] = "0bnrtZ", to[] = "\0\b\n\r\t\032";
    const char *hit = c ? strchr(from, c) : NULL;

    if (c == '%' || c == '_') {
        out[0] = '\\';
        out[1] = c;
        return 2;
    }
    out[0] = hit ? to[hit - from] : c;
    return 1;
}

static struct str decode(struct arena *arena, struct str raw, char quote, bool escapes)
{
    char *out = arena_bytes(arena, raw.len);
    size_t n = 0;

    for (size_t i = 0; i < raw.len; i++) {
        if (raw.p[i] == quote)
            i++;
        else if (raw.p[i] == '\\' && escapes) {
            n += put_escape(out + n, raw.p[++i]);
            continue;
        }
        out[n++] = raw.p[i];
    }
    return str_n(out, n);
}

/* At an opening quote: to behind the closing one, with the text in *out; false when there is none.
 */
static bool read_quoted(struct sql_lexer *l, bool escapes, struct str *out)
{
    const char *p = l->p + l->at + 1, *end = l->p + l->len, *begin = p;
    char quote = l->p[l->at];
    bool plain = true;

    for (;; p++) {
        if (p >= end)
            return false;
        if (*p == '\\' && escapes) {
            if (++p >= end)
                return false;
            plain = false;
        } else if (*p == quote) {
            if (p + 1 >= end || p[1] != quote)
                break;
            p++;
            plain = false;
        }
    }
    *out = str_n(begin, (size_t)(p - begin));
    l->at = (uint32_t)(p + 1 - l->p);
    if (!plain && l->arena)
        *out = decode(l->arena, *out, quote, escapes);
    return true;
}

static bool backslash(const struct sql_lexer *l)
{
    return !(l->mode & DB_MODE_NO_BACKSLASH_ESCAPES);
}

static enum sql_token_kind lex_string(struct sql_lexer *l, struct sql_token *t)
{
    return read_quoted(l, backslash(l), &t->s) ? T_STRING : T_BAD;
}

static enum sql_token_kind lex_quoted_name(struct sql_lexer *l, struct sql_token *t)
{
    if (!read_quoted(l, false, &t->s) || t->s.len == 0 || !str_is_utf8(t->s) ||
        memchr(t->s.p, '\0', t->s.len))
        return T_BAD;
    return T_NAME;
}

static enum sql_token_kind lex_double_quote(struct sql_lexer *l, struct sql_token *t)
{
    return l->mode & DB_MODE_ANSI_QUOTES ? lex_quoted_name(l, t) : lex_string(l, t);
}

/* ---- numbers ---- */

/* Digits of base 16 or 2 to bytes, filled up with zeros on the left. */
static struct str to_bytes(struct sql_lexer *l, struct str digits, bool hex)
{
    size_t per = hex ? 2 : 8, n = (digits.len + per - 1) / per, lead = n * per - digits.len;
    unsigned char *out;

    if (!l->arena)
        return digits;
    out = arena_new(l->arena, n ? n : 1);
    for (size_t i = 0; i < digits.len; i++) {
        unsigned char *byte = &out[(i + lead) / per];

        *byte = (unsigned char)(*byte << (hex ? 4 : 1) | str_hex_digit(digits.p[i]));
    }
    return str_n((const char *)out, n);
}

static bool all_digits(struct str s, bool hex)
{
    for (size_t i = 0; i < s.len; i++) {
        if (hex ? !is(s.p[i], C_HEX) : s.p[i] != '0' && s.p[i] != '1')
            return false;
    }
    return true;
}

/* x'..' and b'..': at the letter. */
static enum sql_token_kind lex_quoted_digits(struct sql_lexer *l, struct sql_token *t, bool hex)
{
    const char *begin = l->p + l->at + 2;
    const char *close = memchr(begin, '\'', l->len - l->at - 2);
    struct str digits;

    if (!close)
        return T_BAD;
    digits = str_n(begin, (size_t)(close - begin));
    if (!all_digits(digits, hex) || (hex && digits.len % 2 != 0))
        return T_BAD;
    l->at = (uint32_t)(close + 1 - l->p);
    t->s = to_bytes(l, digits, hex);
    return hex ? T_HEX : T_BIT;
}

static void skip_class(struct sql_lexer *l, uint8_t class)
{
    while (l->at < l->len && is(l->p[l->at], class))
        l->at++;
}

/* At e or E: over an exponent, or false and nowhere. */
static bool skip_exponent(struct sql_lexer *l)
{
    uint32_t n = peek(l, 1) == '+' || peek(l, 1) == '-' ? 2 : 1;

    if (str_lower_char(peek(l, 0)) != 'e' || !is(peek(l, n), C_DIGIT))
        return false;
    l->at += n;
    skip_class(l, C_DIGIT);
    return true;
}

static enum sql_token_kind whole_number(struct sql_token *t)
{
    struct str s = t->s;

    while (s.len > 1 && s.p[0] == '0')
        s = str_sub(s, 1, s.len);
    t->s = s;
    return str_u64(s, &t->u) == 0 ? T_INT : T_DECIMAL;
}

static enum sql_token_kind lex_name(struct sql_lexer *l, struct sql_token *t);

/* 0x4D and 0b01, when they are numbers to their end. */
static bool lex_prefixed(struct sql_lexer *l, struct sql_token *t)
{
    bool hex = peek(l, 1) == 'x';
    uint32_t begin = l->at + 2, end = begin;

    if (!hex && peek(l, 1) != 'b')
        return false;
    while (end < l->len && is(l->p[end], C_NAME))
        end++;
    t->s = str_n(l->p + begin, end - begin);
    if (end == begin || !all_digits(t->s, hex))
        return false;
    l->at = end;
    t->s = to_bytes(l, t->s, hex);
    t->kind = hex ? T_HEX : T_BIT;
    return true;
}

static enum sql_token_kind lex_number(struct sql_lexer *l, struct sql_token *t)
{
    enum sql_token_kind kind = T_INT;
    uint32_t begin = l->at;

    if (l->p[begin] == '0' && lex_prefixed(l, t))
        return t->kind;
    skip_class(l, C_DIGIT);
    if (skip_exponent(l)) {
        kind = T_DOUBLE;
    } else if (peek(l, 0) == '.') {
        l->at++;
        skip_class(l, C_DIGIT);
        kind = skip_exponent(l) ? T_DOUBLE : T_DECIMAL;
    } else if (is(peek(l, 0), C_NAME)) {
        l->at = begin;
        return lex_name(l, t);
    }
    t->s = str_n(l->p + begin, l->at - begin);
    return kind == T_INT ? whole_number(t) : kind;
}

static enum sql_token_kind lex_dot(struct sql_lexer *l, struct sql_token *t)
{
    bool number = is(peek(l, 1), C_DIGIT) && !(l->at > 0 && is(l->p[l->at - 1], C_NAME)) &&
                  !(l->at > 0 && l->p[l->at - 1] == '`');

    if (number)
        return lex_number(l, t);
    l->at++;
    l->after_dot = is(peek(l, 0), C_NAME);
    return T_DOT;
}

/* ---- names and words ---- */

/* Is what follows the ( of a call? */
static bool calls(const struct sql_lexer *l)
{
    uint32_t at = l->at;

    if (l->mode & DB_MODE_IGNORE_SPACE) {
        while (at < l->len && is(l->p[at], C_SPACE))
            at++;
    }
    return at < l->len && l->p[at] == '(';
}

static bool find_word(const struct sql_lexer *l, struct sql_token *t)
{
    enum sql_word_class class;

    t->calls = calls(l);
    t->word = sql_word_find(t->s);
    if (t->word == W_NO_WORD)
        return false;
    class = sql_word_class(t->word);
    t->reserved = class == SQL_WORD_R || (class == SQL_WORD_F && t->calls);
    return true;
}

/* Names of all of MySQL's character sets are introducers behind a _, also of those that we lack. */
static bool is_charset(struct str s)
{
    static const char *const others[] = {"armscii8", "big5", "cp1250", "cp1251", "cp1256", "cp1257",
        "cp850", "cp852", "cp866", "cp932", "dec8", "eucjpms", "euckr", "gb18030", "gb2312", "gbk",
        "geostd8", "greek", "hebrew", "hp8", "keybcs2", "koi8r", "koi8u", "latin2", "latin5",
        "latin7", "macce", "macroman", "sjis", "swe7", "tis620", "ucs2", "ujis", "utf16", "utf16le",
        "utf32"};

    if (db_charset_default(s))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        if (str_ieq(s, str_c(others[i])))
            return true;
    }
    return false;
}

static enum sql_token_kind lex_name(struct sql_lexer *l, struct sql_token *t)
{
    uint32_t begin = l->at;
    bool ascii = true;

    while (l->at < l->len && is(l->p[l->at], C_NAME))
        ascii &= !((unsigned char)l->p[l->at++] & 0x80);
    t->s = str_n(l->p + begin, l->at - begin);
    if (!ascii && !str_is_utf8(t->s)) {
        l->at = begin;
        return T_BAD;
    }
    if (peek(l, 0) == '.' && is(peek(l, 1), C_NAME))
        return T_NAME; /* t.column: t may be a reserved word */
    if (find_word(l, t))
        return T_WORD;
    if (t->s.p[0] == '_' && is_charset(str_sub(t->s, 1, t->s.len))) {
        t->s = str_sub(t->s, 1, t->s.len);
        return T_CHARSET;
    }
    return T_WORD;
}

static enum sql_token_kind lex_letter(struct sql_lexer *l, struct sql_token *t)
{
    char c = str_lower_char(l->p[l->at]);

    if (peek(l, 1) == '\'') {
        if (c == 'x' || c == 'b')
            return lex_quoted_digits(l, t, c == 'x');
        if (c == 'n') {
            l->at++;
            return lex_string(l, t);
        }
    }
    return lex_name(l, t);
}

/* @name, @'name', @@ */
static enum sql_token_kind lex_at(struct sql_lexer *l, struct sql_token *t)
{
    char c = peek(l, 1);
    uint32_t begin = ++l->at;

    if (c == '@') {
        l->at++;
        l->after_dot = false;
        return T_ATAT;
    }
    if (c == '\'' || c == '"' || c == '`')
        return read_quoted(l, false, &t->s) && str_is_utf8(t->s) ? T_USER_VAR : T_BAD;
    while (l->at < l->len && (is(l->p[l->at], C_NAME) || l->p[l->at] == '.'))
        l->at++;
    t->s = str_n(l->p + begin, l->at - begin);
    return str_is_utf8(t->s) ? T_USER_VAR : T_BAD;
}

/* ---- operators ---- */

static const struct {
    char text[4];
    enum sql_token_kind kind;
} operators[] = {/* longer ones first */
    {"<=>", T_NULL_SAFE}, {"->>", T_ARROW_TEXT}, {":=", T_ASSIGN}, {"<=", T_LE}, {"<>", T_NE},
    {"<<", T_SHIFT_LEFT}, {">=", T_GE}, {">>", T_SHIFT_RIGHT}, {"!=", T_NE}, {"||", T_OR_OR},
    {"&&", T_AND_AND}, {"->", T_ARROW}, {"<", T_LT}, {">", T_GT}, {"!", T_BANG}, {"|", T_PIPE},
    {"&", T_AMP}, {"-", T_MINUS}, {":", T_COLON}};

static const uint8_t singles[128] = {
    [','] = T_COMMA,
    [';'] = T_SEMICOLON,
    ['('] = T_OPEN,
    [')'] = T_CLOSE,
    ['{'] = T_BRACE_OPEN,
    ['}'] = T_BRACE_CLOSE,
    ['='] = T_EQ,
    ['+'] = T_PLUS,
    ['*'] = T_STAR,
    ['/'] = T_SLASH,
    ['%'] = T_PERCENT,
    ['^'] = T_CARET,
    ['~'] = T_TILDE,
    ['?'] = T_PARAM,
};

static enum sql_token_kind lex_operator(struct sql_lexer *l)
{
    unsigned char c = (unsigned char)l->p[l->at];

    if (c < 128 && singles[c]) {
        l->at++;
        return (enum sql_token_kind)singles[c];
    }
    for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
        size_t n = strlen(operators[i].text);

        if (n <= l->len - l->at && memcmp(operators[i].text, l->p + l->at, n) == 0) {
            l->at += (uint32_t)n;
            return operators[i].kind;
        }
    }
    return T_BAD;
}

static enum sql_token_kind lex(struct sql_lexer *l, struct sql_token *t)
{
    char c = l->p[l->at];

    if (l->after_dot) {
        enum sql_token_kind kind;

        l->after_dot = false;
        kind = lex_name(l, t);
        t->word = W_NO_WORD;
        t->reserved = false;
        return kind == T_BAD ? T_BAD : T_NAME;
    }
    if (is(c, C_DIGIT))
        return lex_number(l, t);
    if (is(c, C_NAME))
        return lex_letter(l, t);
    switch (c) {
    case '\'':
        return lex_string(l, t);
    case '"':
        return lex_double_quote(l, t);
    case '`':
        return lex_quoted_name(l, t);
    case '.':
        return lex_dot(l, t);
    case '@':
        return lex_at(l, t);
    default:
        return lex_operator(l);
    }
}

void sql_lexer_next(struct sql_lexer *l, struct sql_token *t)
{
    *t = (struct sql_token){0};
    if (!skip_space(l)) {
        t->kind = T_BAD;
        t->pos = l->at;
        t->end = l->len;
        return;
    }
    t->pos = l->at;
    if (l->at >= l->len)
        t->kind = l->in_comment ? T_BAD : T_END;
    else
        t->kind = lex(l, t);
    if (t->kind == T_BAD)
        l->at = t->pos;
    t->end = t->kind == T_BAD ? l->len : l->at;
}
