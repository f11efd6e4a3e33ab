/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_BASE_ERR_H
#define EPHPM_BASE_ERR_H

/*
 * The one list of error codes, and struct err for errors that a person reads.
 *
 * A function that can fail returns int: 0, or one of these negative codes.  Its results leave by
 * the last out-parameters, which stay untouched on failure.  Never compare error texts.
 */

#include "base/attr.h"

#define ERR_LIST(X)                                   \
    X(NOMEM, -1, "out of memory")                     \
    X(INVAL, -2, "invalid value")                     \
    X(RANGE, -3, "out of range")                      \
    X(NOTFOUND, -4, "not found")                      \
    X(EXISTS, -5, "exists already")                   \
    X(ACCESS, -6, "permission denied")                \
    X(IO, -7, "input/output error")                   \
    X(AGAIN, -8, "not now, try again")                \
    X(EOF, -9, "end of data")                         \
    X(CLOSED, -10, "closed by the other side")        \
    X(TIMEOUT, -11, "timed out")                      \
    X(TOOBIG, -12, "too big")                         \
    X(PROTO, -13, "protocol error")                   \
    X(UNSUPPORTED, -14, "not supported")              \
    X(BUSY, -15, "busy")                              \
    X(FULL, -16, "full")                              \
    X(CORRUPT, -17, "corrupt data")                   \
    X(ADDRINUSE, -18, "address in use")               \
    X(NOSPACE, -19, "no space left")                  \
    X(MFILE, -20, "too many open files")              \
    X(INTR, -21, "interrupted")                       \
    X(LOOP, -22, "too many levels of symbolic links") \
    X(ISDIR, -23, "is a directory")                   \
    X(NOTDIR, -24, "is not a directory")              \
    X(REFUSED, -25, "connection refused")             \
    X(VERSION, -26, "version mismatch")               \
    X(TYPE, -27, "wrong type of value")

enum err_code {
    ERR_OK = 0,
#define ERR_ENUM(name, value, text) ERR_##name = value,
    ERR_LIST(ERR_ENUM)
#undef ERR_ENUM
};

/* The code's text ("permission denied"); static, never NULL, for unknown codes too. */
const char *err_text(int code);

/*
 * An error that a person reads: config, command line, startup.  Lives in the caller's memory.
 * line and col are 1-based, 0 when there is no position.
 */
struct err {
    int code;
    int line;
    int col;
    char text[512];
};

/* Fills e (which may be NULL) with a code and a formatted text, no position; returns code. */
int err_set(struct err *e, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The same with a position. */
int err_set_at(struct err *e, int code, int line, int col, const char *fmt, ...) PRINTF_LIKE(5, 6);

#endif
