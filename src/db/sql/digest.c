/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * Digests, made of tokens: values are held back until it is known whether they are a list, signs
 * until it is known whether they belong to a value, and of the rows of VALUES only the first
 * counts.
 */
#include "db/sql/digest.h"

#include "db/sql/lexer.h"

enum { HOLD_NONE, HOLD_ONE, HOLD_LIST };

struct digest {
    struct buf *out;
    size_t room; /* bytes that may still be appended */
    uint64_t hash;
    enum sql_token_kind prev; /* written last */
    enum sql_word prev_word;
    bool glued;      /* nothing was written yet, or the next token follows without space */
    int held;        /* values that wait */
    bool held_comma; /* a comma behind them too */
    bool held_sign;
    char sign;
    bool called; /* the last ( was a call's */
    bool rows;   /* VALUES was read, or a row of it */
    uint32_t depth;
    uint32_t row_depth;
};

/* ---- writing ---- */

static void put(struct digest *d, struct str s)
{
    size_t n = MIN(s.len, d->room);

    for (size_t i = 0; i < s.len; i++)
        d->hash = (d->hash ^ (unsigned char)s.p[i]) * 0x100000001B3U;
    if (n < s.len) { /* not through a character; and nothing follows */
        while (n > 0 && ((unsigned char)s.p[n] & 0xC0) == 0x80)
            n--;
        d->room = n;
    }
    buf_add(d->out, s.p, n);
    d->room -= n;
}

static void write_token(struct digest *d, const struct sql_token *t, struct str text)
{
    bool tight = d->glued || t->kind == T_COMMA || t->kind == T_CLOSE || t->kind == T_DOT ||
                 t->kind == T_SEMICOLON || d->prev == T_OPEN || d->prev == T_DOT ||
                 d->prev == T_ATAT;

    if (!tight)
        put(d, STR(" "));
    put(d, text);
    d->prev = t->kind;
    d->prev_word = t->kind == T_WORD ? t->word : W_NO_WORD;
    d->glued = t->calls;
}

/* A sign stands behind the values that wait, if any do. */
static void flush(struct digest *d)
{
    static const struct sql_token value = {.kind = T_PARAM}, comma = {.kind = T_COMMA},
                                  minus = {.kind = T_MINUS};

    if (d->held != HOLD_NONE)
        write_token(d, &value, d->held == HOLD_ONE ? STR("?") : STR("..."));
    if (d->held_comma)
        write_token(d, &comma, STR(","));
    if (d->held_sign)
        write_token(d, &minus, str_n(&d->sign, 1));
    d->held = HOLD_NONE;
    d->held_comma = false;
    d->held_sign = false;
}

/* ---- reading ---- */

static bool is_value(const struct digest *d, const struct sql_token *t)
{
    bool tested = d->prev_word == W_IS || d->prev_word == W_NOT;

    switch (t->kind) {
    case T_STRING:
    case T_HEX:
    case T_BIT:
    case T_INT:
    case T_DECIMAL:
    case T_DOUBLE:
    case T_PARAM:
    case T_BAD:
        return true;
    case T_WORD:
        return !tested && (t->word == W_NULL || t->word == W_TRUE || t->word == W_FALSE);
    default:
        return false;
    }
}

/* Would + or - here be a sign? */
static bool sign_here(const struct digest *d)
{
    switch (d->prev) {
    case T_NAME:
    case T_CLOSE:
    case T_PARAM:
    case T_USER_VAR:
        return false;
    case T_WORD:
        return d->prev_word != W_NO_WORD && sql_word_class(d->prev_word) == SQL_WORD_R;
    default:
        return true;
    }
}

static void value(struct digest *d)
{
    d->held_sign = false;
    if (d->held != HOLD_NONE && !d->held_comma)
        return; /* 'a' 'b' */
    d->held = d->held == HOLD_NONE ? HOLD_ONE : HOLD_LIST;
    d->held_comma = false;
}

/* Words in capitals where they can only be words; names without quotes where that is the same. */
static void name(struct digest *d, const struct sql_token *t)
{
    bool plain = t->kind != T_NAME;

    if (t->kind == T_WORD && t->word != W_NO_WORD &&
        (t->reserved || d->prev == T_END || t->calls)) {
        write_token(d, t, sql_word_text(t->word));
        return;
    }
    for (size_t i = 0; t->kind == T_NAME && i <= t->s.len; i++) {
        char c = i < t->s.len ? str_lower_char(t->s.p[i]) : 'a';

        plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
        if (!plain)
            break;
    }
    if (plain) {
        write_token(d, t, t->s);
        return;
    }
    write_token(d, t, STR("`"));
    put(d, t->s);
    put(d, STR("`"));
}

/* At what follows the ( of a row: to behind its ), or false when it has no end. */
static bool skip_row(struct sql_lexer *l, bool values_only)
{
    struct sql_token t;
    uint32_t depth = 1;

    while (depth > 0) {
        sql_lexer_next(l, &t);
        if (t.kind == T_END || t.kind == T_BAD)
            return false;
        if (values_only && t.kind != T_STRING && t.kind != T_HEX && t.kind != T_BIT &&
            t.kind != T_INT && t.kind != T_DECIMAL && t.kind != T_DOUBLE && t.kind != T_PARAM &&
            t.kind != T_COMMA && t.kind != T_MINUS && t.kind != T_CLOSE)
            return false;
        depth += t.kind == T_OPEN;
        depth -= t.kind == T_CLOSE;
    }
    return true;
}

/* Behind the ) of a row: over all rows that follow; or over those that hold values only. */
static void skip_rows(struct sql_lexer *l, bool values_only)
{
    for (;;) {
        struct sql_lexer look = *l;
        struct sql_token t;

        sql_lexer_next(&look, &t);
        if (t.kind != T_COMMA)
            return;
        sql_lexer_next(&look, &t);
        if (t.kind == T_WORD && t.word == W_ROW)
            sql_lexer_next(&look, &t);
        if (t.kind != T_OPEN || !skip_row(&look, values_only))
            return;
        *l = look;
    }
}

static void open(struct digest *d)
{
    if (d->rows && !d->row_depth &&
        (d->prev_word == W_VALUES || d->prev_word == W_VALUE || d->prev_word == W_ROW))
        d->row_depth = d->depth + 1;
    d->depth++;
    d->called = d->glued;
}

static void close(struct digest *d, struct sql_lexer *l, bool values_only)
{
    if (d->depth > 0 && d->row_depth == d->depth) {
        skip_rows(l, false);
        d->row_depth = 0;
        d->rows = false;
    } else if (values_only) {
        skip_rows(l, true);
    }
    d->depth -= d->depth > 0;
}

static void parenthesis(struct digest *d, struct sql_lexer *l, const struct sql_token *t)
{
    bool values_only = d->prev == T_OPEN && d->held != HOLD_NONE && !d->called;

    flush(d);
    if (t->kind == T_OPEN)
        open(d);
    else
        close(d, l, values_only);
    write_token(d, t, t->kind == T_OPEN ? STR("(") : STR(")"));
}

static void other(struct digest *d, const struct sql_token *t, struct str text)
{
    bool var = t->kind == T_USER_VAR;

    flush(d);
    if (t->kind == T_WORD || t->kind == T_NAME) {
        name(d, t);
    } else if (var) {
        write_token(d, t, STR("@"));
        put(d, t->s);
    } else if (t->kind != T_CHARSET) { /* belongs to the string behind it */
        write_token(d, t, str_sub(text, t->pos, t->end - t->pos));
    }
    if (t->kind == T_WORD && (t->word == W_VALUES || t->word == W_VALUE))
        d->rows = true;
}

static void token(struct digest *d, struct sql_lexer *l, const struct sql_token *t, struct str text)
{
    if (is_value(d, t)) {
        value(d);
    } else if (t->kind == T_COMMA && d->held != HOLD_NONE && !d->held_comma) {
        d->held_comma = true;
    } else if ((t->kind == T_MINUS || t->kind == T_PLUS) && !d->held_sign &&
               (d->held == HOLD_NONE ? sign_here(d) : d->held_comma)) {
        d->held_sign = true;
        d->sign = text.p[t->pos];
    } else if (t->kind == T_OPEN || t->kind == T_CLOSE) {
        parenthesis(d, l, t);
    } else {
        other(d, t, text);
    }
}

uint64_t sql_digest(struct buf *out, struct str text, uint32_t mode, size_t max)
{
    struct digest d = {
        .out = out, .room = max, .hash = 0xCBF29CE484222325U, .prev = T_END, .glued = true};
    struct sql_lexer l;
    struct sql_token t;

    text = str_sub(text, 0, UINT32_MAX - 1);
    sql_lexer_init(&l, NULL, text, mode, 80036);
    do {
        sql_lexer_next(&l, &t);
        if (t.kind == T_END || (t.kind == T_SEMICOLON && t.end == text.len))
            break;
        token(&d, &l, &t, text);
    } while (t.kind != T_BAD);
    flush(&d);
    return d.hash;
}
