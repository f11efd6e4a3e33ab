/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_DECIMAL_H
#define EPHPM_DB_DECIMAL_H

/*
 * Exact decimal numbers as MySQL computes with them: up to 65 digits, up to 30 of them after the
 * point (DB_DECIMAL_SCALE); intermediate results may be longer. A value is a whole number, in words
 * of nine digits, and its scale. Pure; nothing is allocated.
 *
 * Functions that compute return false when the result has more than 65 digits before its decimals
 * are cut, that is, when MySQL has error 1690; *out is then not to be used. out may be an operand.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum {
    DB_DECIMAL_WORDS = 18,
    DB_DECIMAL_DIGITS = 65,
    DB_DECIMAL_SCALE = 30,
    DB_DECIMAL_TEXT = 172, /* room for any of them, with a NUL */
};

struct db_decimal {
    bool neg;                     /* never set for zero */
    uint8_t n;                    /* words in use; none for zero */
    uint8_t scale;                /* digits after the point */
    uint32_t w[DB_DECIMAL_WORDS]; /* lowest first, each below 10^9 */
};

void db_decimal_zero(struct db_decimal *out, int scale);
void db_decimal_i64(struct db_decimal *out, int64_t v);
void db_decimal_u64(struct db_decimal *out, uint64_t v);
/* The digits that MySQL prints the number with. Beyond 65 digits: the greatest, and false. */
bool db_decimal_double(struct db_decimal *out, double v);

/*
 * The number that s begins with (spaces, sign, digits, point, digits, exponent); returns how many
 * bytes it took, 0 when there is none. Digits after the point beyond 30 are rounded away. Too many
 * digits before it: the greatest value, and *overflow.
 */
size_t db_decimal_parse(struct str s, struct db_decimal *out, bool *overflow);
/* With exactly `scale` decimals and a NUL; returns the length. */
size_t db_decimal_print(const struct db_decimal *d, char out[DB_DECIMAL_TEXT]);

bool db_decimal_add(const struct db_decimal *a, const struct db_decimal *b, struct db_decimal *out);
bool db_decimal_sub(const struct db_decimal *a, const struct db_decimal *b, struct db_decimal *out);
bool db_decimal_mul(const struct db_decimal *a, const struct db_decimal *b, struct db_decimal *out);
/* b is not zero. The scale is that of a and `more`, at most 30, rounded half up as far as MySQL
 * computes digits (decimal.c). */
bool db_decimal_div(
    const struct db_decimal *a, const struct db_decimal *b, int more, struct db_decimal *out);
/* Whole part of a/b, without its fraction. b is not zero. */
bool db_decimal_intdiv(
    const struct db_decimal *a, const struct db_decimal *b, struct db_decimal *out);
/* The remainder, with a's sign. b is not zero. */
bool db_decimal_mod(const struct db_decimal *a, const struct db_decimal *b, struct db_decimal *out);

enum db_decimal_mode {
    DB_DECIMAL_HALF_UP, /* away from zero */
    DB_DECIMAL_CUT,     /* towards zero */
    DB_DECIMAL_FLOOR,
    DB_DECIMAL_CEIL,
};

/* To that many decimals (more are zeros); negative ones round before the point, scale is 0 then.
 * True: digits that were not zero went away. */
bool db_decimal_round(struct db_decimal *d, int scale, enum db_decimal_mode mode);

int db_decimal_cmp(const struct db_decimal *a, const struct db_decimal *b);
bool db_decimal_is_zero(const struct db_decimal *d);
/* Digits before the point, without leading zeros. */
int db_decimal_int_digits(const struct db_decimal *d);
/* The greatest of DECIMAL(p,s). */
void db_decimal_max(struct db_decimal *out, int precision, int scale, bool neg);

double db_decimal_to_double(const struct db_decimal *d);
/* Rounded half up; beyond the type: its nearest value, and false. */
bool db_decimal_to_i64(const struct db_decimal *d, int64_t *out);
bool db_decimal_to_u64(const struct db_decimal *d, uint64_t *out);

#endif
