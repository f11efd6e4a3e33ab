/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_FUNC_SORT_H
#define EPHPM_DB_FUNC_SORT_H

/* Sorts pointers; what compares equal keeps its order. */

#include <stddef.h>

typedef int sort_cmp(void *arg, const void *a, const void *b);

void sort_pointers(void **items, size_t n, sort_cmp *cmp, void *arg);

#endif
