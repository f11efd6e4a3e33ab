/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_RANGE_H
#define EPHPM_HTTP_RANGE_H

/*
 * Range requests (RFC 9110 section 14): the Range field, Content-Range, multipart/byteranges. Pure.
 *
 * A Range that is malformed, of another unit, of more than RANGE_MAX ranges, or overlapping is
 * ignored as the RFC allows: the whole representation is sent.
 */

#include "base/buf.h"
#include "base/str.h"

enum { RANGE_MAX = 16, RANGE_BOUNDARY_LEN = 20 };

/* Bytes first to last, both included. */
struct range {
    uint64_t first;
    uint64_t last;
};

enum range_result {
    RANGE_WHOLE,         /* send everything with 200 */
    RANGE_PARTIAL,       /* 206 */
    RANGE_UNSATISFIABLE, /* 416 */
};

/* Satisfiable ranges in the order asked for; out and n are set for RANGE_PARTIAL only (n >= 1). */
enum range_result range_parse(
    struct str value, uint64_t size, struct range out[RANGE_MAX], size_t *n);

/* "bytes 0-4/10", appended. */
void range_add_content_range(struct buf *b, struct range r, uint64_t size);
/* "bytes * / 10" without the spaces, for 416. */
void range_add_unsatisfied(struct buf *b, uint64_t size);

/* The boundary for a number (random, so that no file can hold it). */
void range_boundary(uint64_t number, char out[RANGE_BOUNDARY_LEN]);
/* CRLF, delimiter and head of one part. type may be empty. */
void range_add_part_head(
    struct buf *b, struct str boundary, struct str type, struct range r, uint64_t size);
/* The closing delimiter. */
void range_add_part_end(struct buf *b, struct str boundary);

#endif
