/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_HUGE_H
#define EPHPM_PLATFORM_HUGE_H

/*
 * Huge pages for memory that is there already. A program that jumps about in megabytes of code and
 * data waits for page tables; a table has one entry for a huge page, or 512 for the same memory.
 *
 * All of it is a favour that the system may refuse (no such pages, an old kernel, none free):
 * everything goes on as before then, only slower, and ERR_UNSUPPORTED says so. A block is what one
 * huge page covers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

/* Bytes of a block; 0 when the system has no huge pages or its administrator forbids them. */
size_t huge_block(void);

/* Machine code moves into memory of this process, shared with children that it forks: the blocks
 * that reach into the `around` bytes before or behind p, as far as they are whole in the mapping
 * that holds it. The code may run meanwhile. Tools that name code by its file do not know these
 * pages any more. */
int huge_move_code(const void *p, size_t around) MUST_CHECK;

/* Shared memory whose blocks are collapsed as they fill. */
struct huge_area {
    char *start; /* of the first block; NULL: none */
    size_t nblocks;
    uint16_t *seen; /* pages that each had at the last look, HUGE_AREA_DONE */
    unsigned failed;
};
enum { HUGE_AREA_DONE = UINT16_MAX };

/*
 * The shared memory without a name that p points into. Its blocks must lie at the same offset in
 * the memory as in the address space; where they do not, it is exchanged for other memory of the
 * same contents, which begins and ends with a block when the addresses around are free. So: before
 * the first fork, and with no other thread that uses it.
 */
int huge_area_find(const void *p, struct huge_area *out) MUST_CHECK;
/* Collapses blocks that are full, and those that have not grown since the last look. True:
 * something has changed, look again soon. */
bool huge_area_look(struct huge_area *area);
void huge_area_fini(struct huge_area *area);

#endif
