/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_REDIS_BITS_H
#define EPHPM_KV_REDIS_BITS_H

#include "kv/redis/command.h"

/* The offset of `width` bits; with a unit of more than 1, "#3" is three units. False: the error was
 * written. */
bool redis_bit_offset(
    struct redis_call *c, struct str word, int64_t unit, int64_t width, int64_t *out);

#endif
