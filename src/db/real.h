/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_REAL_H
#define EPHPM_DB_REAL_H

/*
 * Floating-point numbers as MySQL prints them, wherever they become text: on the wire, in CONCAT(),
 * in SHOW CREATE TABLE. Pure, any thread, independent of the locale.
 */

#include <stddef.h>

enum { DB_REAL_TEXT = 400 }; /* room for any of these, with a NUL */

/* DOUBLE without decimals: the fewest digits that read back as the same number; with an exponent
 * ("1e15", "1.5e-20") when the point would stand more than 15 digits to the right of the first, or
 * 14 zeros to its left. Returns the length. Infinities and NaN, which MySQL has not, are "0". */
size_t db_real_text(double v, char out[DB_REAL_TEXT]);
/* FLOAT without decimals: the same with 6 digits at most. */
size_t db_float_text(double v, char out[DB_REAL_TEXT]);
/* FLOAT(m,d) and DOUBLE(m,d): always so many decimals (0 to 30), no exponent. */
size_t db_fixed_text(double v, int decimals, char out[DB_REAL_TEXT]);

#endif
