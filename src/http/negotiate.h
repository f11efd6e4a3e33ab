/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_HTTP_NEGOTIATE_H
#define EPHPM_HTTP_NEGOTIATE_H

/*
 * Choice of a content coding (RFC 9110 section 12.5.3) and of a media type for error pages.  Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* In ascending order of our preference. */
enum coding { CODING_IDENTITY, CODING_GZIP, CODING_ZSTD, CODING_BR, CODING_COUNT };

/* Set of codings: bit 1 << coding. */
#define CODING_BIT(c) (1u << (c))
#define CODING_ALL    (CODING_BIT(CODING_GZIP) | CODING_BIT(CODING_ZSTD) | CODING_BIT(CODING_BR))

/* "identity", "gzip", "zstd", "br". Static. */
struct str coding_name(enum coding c);
/* ".gz", ".zst", ".br"; "" for identity. Static. */
struct str coding_suffix(enum coding c);

/* Weights in thousandths, 0 is "not acceptable". */
struct negotiate {
    uint16_t q[CODING_COUNT];
    bool identity_named; /* the client gave identity a weight of its own */
};

/* Absent (p == NULL), empty or malformed: identity only. */
struct negotiate negotiate_parse(struct str accept_encoding);
/* The acceptable coding of the set with the highest weight, then by our preference; identity when
 * none is, or when the client prefers it by name. */
enum coding negotiate_choose(const struct negotiate *n, unsigned set);

/* Weight in thousandths that an Accept value gives to type/subtype, by the most specific range;
 * absent Accept: 1000.  0: not acceptable. */
unsigned negotiate_accept_q(struct str accept, struct str type, struct str subtype);

#endif
