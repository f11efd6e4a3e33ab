/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_FUNC_LATIN1_H
#define EPHPM_DB_FUNC_LATIN1_H

/* MySQL's latin1, which is Windows' code page 1252. */

#include <stdint.h>

/* The character's byte, or -1. */
int latin1_byte(uint32_t c);
uint32_t latin1_char(unsigned char b);

#endif
