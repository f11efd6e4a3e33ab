/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_RANDOM_H
#define EPHPM_PLATFORM_RANDOM_H

/* Randomness from the operating system; never fails (ends the process when there is none). */

#include <stddef.h>
#include <stdint.h>

void random_bytes(void *p, size_t n);
uint64_t random_u64(void);

#endif
