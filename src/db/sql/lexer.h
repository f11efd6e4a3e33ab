/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_SQL_LEXER_H
#define EPHPM_DB_SQL_LEXER_H

/*
 * From text to tokens, as MySQL cuts it: quotes and escapes by sql_mode, comments that are run
 * (slash, star, ! and a version), names that are words and words that are names.
 *
 * Tokens borrow from the text, or lie in the arena when they had escapes. Pure; one pass, no
 * going back, so that time is linear.
 */

#include "base/arena.h"
#include "db/sql/words.h"

enum sql_token_kind {
    T_END,      /* of the text */
    T_BAD,      /* no token: a lone quote, a control character, a comment without end */
    T_WORD,     /* a name without quotes, or a word (word) */
    T_NAME,     /* a quoted name, or one beside a point, which is never a word */
    T_STRING,   /* '..', "..", N'..' (charset is utf8mb3 then) */
    T_HEX,      /* s: the bytes */
    T_BIT,      /* s: the bytes */
    T_CHARSET,  /* _utf8mb4: s is the name without _ */
    T_INT,      /* u */
    T_DECIMAL,  /* s; also whole numbers above 64 bits */
    T_DOUBLE,   /* s */
    T_PARAM,    /* ? */
    T_USER_VAR, /* @name; s, empty for @'' and for an @ alone */
    T_ATAT,     /* @@ */
    T_DOT,
    T_COMMA,
    T_SEMICOLON,
    T_OPEN,
    T_CLOSE,
    T_BRACE_OPEN,
    T_BRACE_CLOSE,
    T_COLON,
    T_ASSIGN, /* := */
    T_EQ,
    T_NE,
    T_LT,
    T_LE,
    T_GT,
    T_GE,
    T_NULL_SAFE, /* <=> */
    T_PLUS,
    T_MINUS,
    T_STAR,
    T_SLASH,
    T_PERCENT,
    T_AND_AND,
    T_OR_OR,
    T_BANG,
    T_AMP,
    T_PIPE,
    T_CARET,
    T_TILDE,
    T_SHIFT_LEFT,
    T_SHIFT_RIGHT,
    T_ARROW,      /* -> */
    T_ARROW_TEXT, /* ->> */
};

struct sql_token {
    enum sql_token_kind kind;
    enum sql_word word; /* of T_WORD, or W_NO_WORD */
    bool reserved;      /* the word is no name */
    bool calls;         /* ( follows at once, or after space where that is the same */
    uint32_t pos;       /* bytes pos to end of the text */
    uint32_t end;
    uint64_t u;
    struct str s; /* decoded */
};

struct sql_lexer {
    /* private to lexer.c */
    struct arena
        *arena; /* NULL: strings and names are not decoded (the digest has no use for them) */
    const char *p;
    uint32_t len;
    uint32_t at;
    uint32_t mode;
    uint32_t version;
    bool in_comment; /* inside a comment that is run */
    bool after_dot;  /* what begins like a name is one */
};

/* text is at most UINT32_MAX - 1 bytes. */
void sql_lexer_init(
    struct sql_lexer *l, struct arena *arena, struct str text, uint32_t mode, uint32_t version);
/* The next token; after T_END and T_BAD the same again. */
void sql_lexer_next(struct sql_lexer *l, struct sql_token *t);

#endif
