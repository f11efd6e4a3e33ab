/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_JIT_MEMORY_H
#define EPHPM_ENGINE_JIT_MEMORY_H

/*
 * What was measured of the JIT, kept in a file so that it is not measured again: one record per
 * revision of a site, newest first, JIT_MEMORY_RECORDS at most. The file is small, is read whole
 * and replaced whole, and what is in it is input: a bad one is as good as none.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "engine/trial.h"

enum { JIT_MEMORY_RECORDS = 64, JIT_MEMORY_BYTES = 1 << 20 };

enum jit_choice {
    JIT_AS_DEFAULT, /* what is without measuring */
    JIT_ON,
    JIT_OFF
};

struct jit_record {
    /* which revision of which site */
    struct str site, root;
    struct str revision; /* as `ephpm deploy --rev` said; p == NULL: it did not */
    uint64_t stamp;      /* of the folder and its index scripts */
    /* in which PHP, against which JIT */
    struct str php, jit;
    /* what came out */
    enum jit_choice choice;
    struct str reason;
    struct trial_figures figures; /* without verdict, requests and warm-up */
    uint64_t wall_us;
};

/* "default", "on", "off". */
const char *jit_choice_name(enum jit_choice c);

/* The records of a file that there is; a missing one has none. Strings and array are the arena's.
 */
int jit_memory_load(struct arena *a, const char *path, struct jit_record **out, size_t *n,
    struct err *err) MUST_CHECK;
/* Puts a record first, in place of one of the same revision, and writes the file (as the user alone
 * may read it). */
int jit_memory_keep(const char *path, const struct jit_record *r, struct err *err) MUST_CHECK;
/* The newest record of the site, root, PHP and JIT of `like`: with a revision, of that one; without
 * one, of any whose files have the same stamp. NULL: there is none. */
const struct jit_record *jit_memory_find(
    const struct jit_record *v, size_t n, const struct jit_record *like);

#endif
