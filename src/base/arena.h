/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_BASE_ARENA_H
#define EPHPM_BASE_ARENA_H

/*
 * An arena: memory that is freed all at once (one request, one config load).  Zero-initialise or
 * arena_init(); arena_fini() frees, arena_reset() empties but keeps the first block.  Blocks never
 * move.  arena_defer() runs a clean-up at reset/fini, newest first.  Never NULL (mem.h).
 */

#include "base/str.h"

struct arena_block;
struct arena_cleanup;

struct arena {
    /* private to arena.c */
    struct arena_block *blocks;
    struct arena_cleanup *cleanups;
    char *p;
    char *end;
    size_t total;
};

typedef void arena_cleanup_cb(void *arg);

void arena_init(struct arena *a);
void arena_reset(struct arena *a);
void arena_fini(struct arena *a);
/* n zeroed bytes, aligned for any type, valid until reset or fini. */
void *arena_new(struct arena *a, size_t n) MUST_CHECK;
/* n bytes, not zeroed, no alignment. */
char *arena_bytes(struct arena *a, size_t n) MUST_CHECK;
/* A copy with a NUL after it (not counted in len). */
struct str arena_str(struct arena *a, struct str s) MUST_CHECK;
struct str arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3) MUST_CHECK;
void arena_defer(struct arena *a, arena_cleanup_cb *cb, void *arg);
/* Bytes handed out since the last reset. */
size_t arena_used(const struct arena *a);

#endif
