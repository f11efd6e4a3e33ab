/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_COND_H
#define EPHPM_HTTP_COND_H

/*
 * Validators and conditional requests (RFC 9110 sections 8.8 and 13), and HTTP dates.  Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
    COND_ETAG_MAX = 64, /* bytes, quotes and NUL included */
    COND_DATE_LEN = 29, /* "Sun, 06 Nov 1994 08:49:37 GMT" */
};

/* "mtime-size" in hex, strong, with its quotes and a NUL; returns the length.  The time is in
 * seconds; a fraction is added when the file system kept one, so that two writes within one second
 * differ. */
size_t cond_etag_format(int64_t mtime_ns, uint64_t size, char out[COND_ETAG_MAX]);
/* W/"..." or "..." with only allowed bytes inside. */
bool cond_etag_valid(struct str etag);
bool cond_etag_is_weak(struct str etag);
/* Equal and both strong / equal but for W/ (8.8.3.2). */
bool cond_etag_match_strong(struct str a, struct str b);
bool cond_etag_match_weak(struct str a, struct str b);
/* Is etag in the list of an If-Match (strong) or If-None-Match (weak)?  "*" matches when etag is
 * not empty.  A malformed tail of the list is ignored. */
bool cond_etag_in_list(struct str list, struct str etag, bool strong);

/* The IMF-fixdate of a time in seconds since 1970; no NUL, years 1970 to 9999 (others are cut). */
void cond_date_format(int64_t seconds, char out[COND_DATE_LEN]);
/* IMF-fixdate, RFC 850 and asctime forms. ERR_INVAL. */
int cond_date_parse(struct str s, int64_t *seconds) MUST_CHECK;

/* The request's conditional fields; p == NULL where absent. */
struct cond {
    struct str if_match;
    struct str if_none_match;
    struct str if_modified_since;
    struct str if_unmodified_since;
    struct str if_range;
};

enum cond_result {
    COND_SEND,         /* perform the method */
    COND_NOT_MODIFIED, /* 304 */
    COND_FAILED,       /* 412 */
};

/* Steps 1 to 4 of 13.2.2.  safe: the method is GET or HEAD.  etag: of the selected representation,
 * empty when it has none; mtime in seconds, or -1 for none. */
enum cond_result cond_check(const struct cond *c, bool safe, struct str etag, int64_t mtime);
/* Step 5: does Range apply?  True without If-Range. */
bool cond_range_applies(const struct cond *c, struct str etag, int64_t mtime);

#endif
