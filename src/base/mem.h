/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_BASE_MEM_H
#define EPHPM_BASE_MEM_H

/*
 * Allocation, checked sizes and the memory-safety guard.
 *
 * mem_new() and friends never return NULL: they end the process when memory is gone, which is for
 * sizes that we choose.  A size that a peer chooses is checked against a limit first and then taken
 * with mem_try_*(), whose NULL becomes an error to that peer.  All blocks are freed by mem_free().
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

/* Cheap guard of memory safety, in all builds: says what failed and aborts. */
#define ENSURE(cond)                                      \
    do {                                                  \
        if (UNLIKELY(!(cond)))                            \
            mem_ensure_failed(#cond, __FILE__, __LINE__); \
    } while (0)

NORETURN COLD void mem_ensure_failed(const char *cond, const char *file, int line);

/* n zeroed bytes (n = 0 gives a block that can be freed). Never NULL. */
void *mem_new(size_t n) MUST_CHECK;
/* count zeroed items of size bytes; an overflowing product ends the process. */
void *mem_new_array(size_t count, size_t size) MUST_CHECK;
/* Grows or shrinks; new bytes are not zeroed. Never NULL. */
void *mem_resize(void *p, size_t n) MUST_CHECK;
/* A copy of n bytes with a NUL after them. */
char *mem_dup_str(const char *p, size_t n) MUST_CHECK;
/* Like mem_new / mem_resize, but NULL when there is no memory (the old block stays). */
void *mem_try_new(size_t n) MUST_CHECK;
void *mem_try_resize(void *p, size_t n) MUST_CHECK;
/* Frees; NULL is fine. */
void mem_free(void *p);

/* Checked arithmetic: false (and *out untouched) on overflow. */
static inline bool mem_add(size_t a, size_t b, size_t *out)
{
    size_t r;

    if (__builtin_add_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

static inline bool mem_mul(size_t a, size_t b, size_t *out)
{
    size_t r;

    if (__builtin_mul_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

#endif
