/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_REDIS_REPLY_H
#define EPHPM_KV_REDIS_REPLY_H

/*
 * Writing replies in RESP2 or RESP3. They gather in one buffer, which the client sends once for a
 * batch of commands. Aggregates are announced with their length, then their items follow.
 *
 * The buffer is bounded: what would pass the limit is dropped, `overflow` is set, and the client is
 * closed after the command. Loops over much may look at it and stop. What a muted reply leaves out
 * counts as well: it is work all the same.
 */

#include "base/buf.h"

struct reply {
    struct buf out;
    size_t limit;
    int resp; /* 2 or 3 */
    bool overflow;
    bool muted;    /* CLIENT REPLY OFF or SKIP: nothing is written */
    size_t unsaid; /* bytes of this command that were left out */
};

/* Bytes as they are. */
void reply_raw(struct reply *r, struct str bytes);
/* "+OK" */
void reply_ok(struct reply *r);
/* "+text"; no line ends in it. */
void reply_simple(struct reply *r, struct str text);
/* "-text"; starts with a code, as in "ERR ...". Line ends become spaces. */
void reply_error(struct reply *r, const char *text);
void reply_errorf(struct reply *r, const char *fmt, ...) PRINTF_LIKE(2, 3);
void reply_int(struct reply *r, int64_t n);
void reply_bulk(struct reply *r, struct str s);
void reply_bulk_c(struct reply *r, const char *s);
void reply_bulk_int(struct reply *r, int64_t n);
/* No value: "$-1", or "_" in RESP3. */
void reply_null(struct reply *r);
/* No array: "*-1", or "_" in RESP3. */
void reply_null_array(struct reply *r);
void reply_array(struct reply *r, size_t n);
/* n pairs; an array of 2n in RESP2. */
void reply_map(struct reply *r, size_t n);
void reply_set(struct reply *r, size_t n);
/* Outside the order of replies; an array in RESP2. */
void reply_push(struct reply *r, size_t n);
/* A double; its text as a bulk in RESP2. */
void reply_double(struct reply *r, double d);
/* true as 1 in RESP2. */
void reply_bool(struct reply *r, bool b);
/* Text for people: "=n\r\ntxt:...", a bulk in RESP2. */
void reply_verbatim(struct reply *r, struct str text);

/* An array whose length is known at its end: between the two calls its items are written. */
size_t reply_deferred(struct reply *r);
void reply_deferred_array(struct reply *r, size_t at, size_t n);
void reply_deferred_map(struct reply *r, size_t at, size_t n);
void reply_deferred_set(struct reply *r, size_t at, size_t n);

/* The shortest text that reads back as d ("3", "0.1", "inf"), as Redis prints doubles; the length.
 */
enum { REPLY_DOUBLE_MAX = 40 };
size_t reply_put_double(char out[REPLY_DOUBLE_MAX], double d);
/* n with a sign where needed, no NUL; the length. */
enum { REPLY_INT_MAX = 24 };
size_t reply_put_int(char out[REPLY_INT_MAX], int64_t n);

#endif
