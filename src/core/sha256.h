/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CORE_SHA256_H
#define EPHPM_CORE_SHA256_H

/* SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), for proving that a secret is known. */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum { SHA256_SIZE = 32, SHA256_HEX = 64 };

struct sha256 {
    /* private to sha256.c */
    uint32_t state[8];
    uint64_t total;
    uint8_t block[64];
};

void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, struct str bytes);
void sha256_end(struct sha256 *h, uint8_t out[SHA256_SIZE]);

void sha256_hmac(struct str secret, struct str message, uint8_t out[SHA256_SIZE]);
/* The same in lower-case hex digits, no NUL. */
void sha256_hmac_hex(struct str secret, struct str message, char out[SHA256_HEX]);

/* Are the bytes the same? Takes as long for any two of the same lengths; the lengths may show. */
bool sha256_same(struct str a, struct str b);

#endif
