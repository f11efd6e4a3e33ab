/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_ACCESS_LOG_H
#define EPHPM_HTTP_ACCESS_LOG_H

/*
 * The access log: formatting of a line (pure), and a writer that collects lines.
 *
 * The writer writes when enough has gathered and when the caller's timer says so; a line is never
 * split between two writes.  A failing disk costs lines, which are counted, and nothing else.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum access_log_format { ACCESS_LOG_COMBINED, ACCESS_LOG_JSON };

/* One answered request. Empty strings are written as "-" (combined) or left out (JSON). */
struct access_log_entry {
    uint64_t wall_us; /* when it arrived, since 1970 */
    struct str remote;
    struct str user;
    struct str method;
    struct str target;   /* raw */
    struct str protocol; /* "HTTP/1.1" */
    struct str host;
    struct str site;
    struct str referer;
    struct str user_agent;
    struct str request_id;
    int status;
    uint64_t bytes; /* of the body, as sent */
    uint64_t duration_us;
    uint64_t php_us;   /* 0: no PHP */
    int64_t worker_id; /* -1: none */
};

/* "combined", "json". ERR_INVAL. */
int access_log_format_parse(struct str s, enum access_log_format *out) MUST_CHECK;
/* Appends one line with its newline. */
void access_log_add(struct buf *b, enum access_log_format f, const struct access_log_entry *e);

struct access_log;

/* path: appended to, created 0640; "-" is standard output.  Lines are written from flush_bytes on.
 * Errors as fs_open_append(). */
int access_log_open(const char *path, enum access_log_format f, size_t flush_bytes,
    struct access_log **out) MUST_CHECK;
/* Flushes and closes; NULL is fine. */
void access_log_close(struct access_log *l);
void access_log_write(struct access_log *l, const struct access_log_entry *e);
/* Writes what has gathered; for a timer (about once a second) and at shutdown. */
void access_log_flush(struct access_log *l);
/* After rotation: opens the path again; the old file stays in use when that fails. */
int access_log_reopen(struct access_log *l) MUST_CHECK;
/* Lines lost so far. */
uint64_t access_log_dropped(const struct access_log *l);

#endif
