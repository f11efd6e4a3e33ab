/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_STATIC_H
#define EPHPM_HTTP_STATIC_H

/*
 * Static files: what to answer for a file that exists.
 *
 * static_plan() is pure: it is given what is known of the file and of its precompressed siblings
 * and says which status, fields and bytes to send.  The caller has resolved the path, checked that
 * it stays in the root, is a regular file and no PHP source, and does the opening and sending.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "http/compress.h"
#include "http/cond.h"
#include "http/fields.h"
#include "http/range.h"
#include "platform/fs.h"

struct static_config {
    bool etag;
    bool precompressed;                     /* look for .br, .zst, .gz siblings */
    struct str cache_control;               /* empty: none */
    const struct compress_policy *compress; /* dynamic compression; NULL: never */
    uint64_t compress_max; /* larger files are not compressed while sending; 0: no bound */
};

/* Is there a regular file with this coding's suffix beside the file?  Called during static_plan(),
 * at most once per coding. */
typedef bool static_sibling_cb(void *arg, enum coding coding, struct fs_stat *out);

struct static_ask {
    struct str method;
    const struct fields *request;
    struct str path;            /* for the Content-Type */
    const struct fs_stat *st;   /* of the file */
    static_sibling_cb *sibling; /* NULL: none */
    void *sibling_arg;
    uint64_t boundary; /* random number for multipart answers */
};

/* Bytes to send: of memory when mem.p is set, else of the file. */
struct static_segment {
    struct str mem;
    uint64_t off;
    uint64_t len;
};

enum { STATIC_SEGMENTS = 2 * RANGE_MAX + 1 };

struct static_plan {
    int status;           /* 200, 206, 304, 405, 412, 416 */
    struct fields fields; /* in the arena; without Date, Server, Content-Length */
    bool head;            /* send no body */
    bool error_page;      /* 405, 412, 416: the body is the caller's error page */
    enum coding variant;  /* send the sibling of this coding instead; identity: the file itself */
    enum coding encode;   /* run the segments through this encoder (length is unknown then) */
    uint64_t length;      /* Content-Length when encode is identity, also for HEAD */
    size_t nsegments;     /* 0 for HEAD, 304 and error pages */
    struct static_segment segments[STATIC_SEGMENTS];
};

/* Strings of out come from a, from cfg, or are static; a must outlive out. */
void static_plan(const struct static_config *cfg, const struct static_ask *ask, struct arena *a,
    struct static_plan *out);

#endif
