/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"

enum { ARENA_FIRST = 4096, ARENA_MAX_STEP = 65536 };

struct arena_block {
    struct arena_block *next;
    size_t size; /* of data */
    alignas(max_align_t) char data[];
};

struct arena_cleanup {
    struct arena_cleanup *next;
    arena_cleanup_cb *cb;
    void *arg;
};

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

static void arena_run_cleanups(struct arena *a)
{
    while (a->cleanups) {
        struct arena_cleanup *c = a->cleanups;

        a->cleanups = c->next;
        c->cb(c->arg);
    }
}

void arena_reset(struct arena *a)
{
    struct arena_block *b;

    arena_run_cleanups(a);
    a->total = 0;
    if (!a->blocks)
        return;
    /* The list is newest first; keep the oldest, which has the usual size. */
    while ((b = a->blocks)->next) {
        a->blocks = b->next;
        mem_free(b);
    }
    a->p = b->data;
    a->end = b->data + b->size;
}

void arena_fini(struct arena *a)
{
    arena_run_cleanups(a);
    while (a->blocks) {
        struct arena_block *b = a->blocks;

        a->blocks = b->next;
        mem_free(b);
    }
    *a = (struct arena){0};
}

static void arena_grow(struct arena *a, size_t n)
{
    size_t size = a->blocks ? MIN(a->blocks->size * 2, (size_t)ARENA_MAX_STEP) : ARENA_FIRST;
    struct arena_block *b;
    size_t total;

    if (size < n)
        size = n;
    ENSURE(mem_add(size, sizeof(*b), &total));
    b = mem_resize(NULL, total);
    b->size = size;
    b->next = a->blocks;
    a->blocks = b;
    a->p = b->data;
    a->end = b->data + size;
}

char *arena_bytes(struct arena *a, size_t n)
{
    char *p;

    if ((size_t)(a->end - a->p) < n || !a->p)
        arena_grow(a, n);
    p = a->p;
    a->p += n;
    a->total += n;
    return p;
}

void *arena_new(struct arena *a, size_t n)
{
    const size_t al = alignof(max_align_t);
    size_t pad = a->p ? (al - (size_t)((uintptr_t)a->p % al)) % al : 0;
    char *p;

    if (!a->p || (size_t)(a->end - a->p) < pad || (size_t)(a->end - a->p) - pad < n) {
        arena_grow(a, n);
        pad = 0;
    }
    p = a->p + pad;
    a->p = p + n;
    a->total += n + pad;
    memset(p, 0, n);
    return p;
}

struct str arena_str(struct arena *a, struct str s)
{
    char *p = arena_bytes(a, s.len + 1);

    if (s.len)
        memcpy(p, s.p, s.len);
    p[s.len] = '\0';
    return str_n(p, s.len);
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    char *p;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    ENSURE(n >= 0);
    p = arena_bytes(a, (size_t)n + 1);
    (void)vsnprintf(p, (size_t)n + 1, fmt, again); /* measured above */
    va_end(again);
    return str_n(p, (size_t)n);
}

void arena_defer(struct arena *a, arena_cleanup_cb *cb, void *arg)
{
    struct arena_cleanup *c = arena_new(a, sizeof(*c));

    c->cb = cb;
    c->arg = arg;
    c->next = a->cleanups;
    a->cleanups = c;
}

size_t arena_used(const struct arena *a)
{
    return a->total;
}
