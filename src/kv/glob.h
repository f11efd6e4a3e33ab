/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_KV_GLOB_H
#define EPHPM_KV_GLOB_H

/* Patterns of keys: '*' any bytes, '?' one byte, '[a-z]' '[^a-z]' a class, '\' takes the next byte
 * literally; an unclosed class ends with the pattern. No byte is special in keys (str_glob() is for
 * paths). Time is bounded by O(pattern * key). */

#include <stdbool.h>

#include "base/str.h"

bool kv_glob(struct str pattern, struct str key);

#endif
