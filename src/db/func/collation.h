/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_FUNC_COLLATION_H
#define EPHPM_DB_FUNC_COLLATION_H

/*
 * How collations compare. THE ORDER IS FROZEN: indexes in the users' files lie in it.
 *
 * The many names share a few ways: bytes, code points, one weight for each character (general_ci,
 * latin1's), several weights of the default collation table (unicode_ci, unicode_520_ci, 0900).
 * Languages' own orders (utf8mb4_polish_ci) are those of unicode_ci.
 */

#include "base/buf.h"
#include "base/str.h"

enum collation_kind {
    COLLATION_BINARY, /* bytes */
    COLLATION_BIN,    /* bytes with padding: UTF-8's order is that of code points */
    COLLATION_GENERAL,
    COLLATION_UNICODE,     /* characters beyond U+FFFF are all equal, as in unicode_ci */
    COLLATION_UNICODE_520, /* they differ */
    COLLATION_ACCENT,      /* accents count, case does not */
    COLLATION_ACCENT_CASE,
    COLLATION_LATIN1_SWEDISH,
    COLLATION_LATIN1_GENERAL,
    COLLATION_LATIN1_GENERAL_CS,
    COLLATION_ASCII,
};

struct collation {
    enum collation_kind kind;
    bool pad; /* trailing spaces do not count */
};

/* By its name; a name that is not known is utf8mb4_0900_ai_ci. */
struct collation collation_get(struct str name);
/* < 0, 0 or > 0 */
int collation_cmp(struct collation c, struct str a, struct str b);
/* Appends bytes that are equal for equal texts only, and that sort as the texts do (but for control
 * characters behind spaces in collations that pad). */
void collation_key(struct collation c, struct str s, struct buf *out);
/* Are two characters the same in it? */
bool collation_same(struct collation c, uint32_t a, uint32_t b);
/* Does case count? */
bool collation_is_cs(struct collation c);

int collation_cmp_decimal(struct str a, struct str b);
int collation_cmp_time(struct str a, struct str b);

/* private to collation.c, utf8.c and the table */
struct collation_case {
    uint32_t from;
    uint32_t to;
    int32_t delta;
    uint32_t step;
};

extern const struct collation_case collation_to_upper[];
extern const unsigned collation_to_upper_n;
extern const struct collation_case collation_to_lower[];
extern const unsigned collation_to_lower_n;
extern const uint16_t *const collation_general[256];
extern const uint16_t *const collation_uca[256];
extern const uint16_t collation_expansions[];

#endif
