/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mem_ensure_failed(const char *cond, const char *file, int line)
{
    fprintf(stderr, "ephpm: alert: %s:%d: ensure failed: %s\n", file, line, cond);
    abort();
}

NORETURN COLD static void mem_exhausted(size_t n)
{
    fprintf(stderr, "ephpm: error: out of memory (%zu bytes wanted)\n", n);
    abort();
}

void *mem_new(size_t n)
{
    void *p = mem_try_new(n);

    if (!p)
        mem_exhausted(n);
    return p;
}

void *mem_new_array(size_t count, size_t size)
{
    size_t n;

    if (!mem_mul(count, size, &n))
        mem_exhausted(SIZE_MAX);
    return mem_new(n);
}

void *mem_resize(void *p, size_t n)
{
    void *q = mem_try_resize(p, n);

    if (!q)
        mem_exhausted(n);
    return q;
}

char *mem_dup_str(const char *p, size_t n)
{
    char *q = mem_new(n + 1);

    if (n)
        memcpy(q, p, n);
    return q;
}

void *mem_try_new(size_t n)
{
    return calloc(1, n ? n : 1);
}

void *mem_try_resize(void *p, size_t n)
{
    return realloc(p, n ? n : 1);
}

void mem_free(void *p)
{
    free(p);
}
