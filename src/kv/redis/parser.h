/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_REDIS_PARSER_H
#define EPHPM_KV_REDIS_PARSER_H

/*
 * Requests of the Redis protocol, RESP2 and RESP3 alike: arrays of bulk strings, and inline
 * commands (words, which may be in quotes).
 *
 * Pure: bytes in, commands out. The caller keeps the bytes from the start of the current command
 * on and gives all of them each time; the parser remembers how far it came, so nothing is looked at
 * twice. The words point into those bytes, or (of inline commands) into the parser.
 */

#include "base/buf.h"
#include "base/err.h"

enum {
    REDIS_INLINE_MAX = 64 << 10, /* bytes of an inline command */
    REDIS_ARGS_MAX = 1 << 20,    /* words of a command */
};

struct redis_parser_limits {
    size_t request; /* bytes of a whole command */
    size_t bulk;    /* bytes of one word */
    size_t args;    /* words; more are refused */
};

/* A word before its bytes have their final place. */
struct redis_word {
    size_t off;
    size_t len;
};

struct redis_parser {
    struct str *argv; /* of the command that was read; valid until the next call */
    size_t argc;
    size_t used;       /* bytes that it took */
    const char *error; /* after ERR_PROTO: the text for the client, without "-ERR " */
    /* private to parser.c */
    char error_text[64];
    struct redis_word *words;
    size_t cap;
    struct buf line; /* words of an inline command */
    size_t at;       /* first byte not looked at */
    int64_t left;    /* words that are missing; 0: the command has not begun */
    int64_t bulk;    /* length of the word that has begun; -1: none has */
};

void redis_parser_init(struct redis_parser *p);
void redis_parser_fini(struct redis_parser *p);

/*
 * 0: a command was read (argc 0: an empty one, which is to be passed over); the caller drops
 * p->used bytes. ERR_AGAIN: more bytes are needed. ERR_PROTO: p->error says why, and nothing more
 * can be read.
 */
int redis_parser_next(
    struct redis_parser *p, struct str in, const struct redis_parser_limits *limits) MUST_CHECK;
/* Bytes that the word that has begun still needs: for reading it in one go. 0: unknown. */
size_t redis_parser_wants(const struct redis_parser *p, size_t have);

/* Splits a line into words as the inline form does, quotes and escapes included; the words borrow
 * from out. ERR_INVAL: unbalanced quotes. */
int redis_parser_split(struct redis_parser *p, struct str line) MUST_CHECK;

#endif
