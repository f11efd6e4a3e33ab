/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "platform/process.h"

struct pages_range {
    uintptr_t from, to;
    bool clean; /* a private mapping of a file that cannot be written */
};

/* "from-to perms offset device inode path", else it is one of the lines about the last range. */
static bool pages_read_range(const char *line, struct pages_range *r)
{
    unsigned long inode;
    char perms[5];

    if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*s %*s %lu", &r->from, &r->to, perms,
            &inode) != 4)
        return false;
    r->clean = inode != 0 && perms[1] == '-' && perms[3] == 'p';
    return true;
}

void process_drop_start_pages(void)
{
    FILE *f = fopen("/proc/self/smaps", "re");
    struct pages_range r = {0};
    unsigned long own;
    char line[512];

    if (!f)
        return;
    while (fgets(line, sizeof(line), f)) {
        if (pages_read_range(line, &r))
            continue;
        /* Relocated tables look read-only as well, but their pages are our own: those stay. */
        if (r.clean && sscanf(line, "Anonymous: %lu kB", &own) == 1 && own == 0)
            (void)madvise((void *)r.from, r.to - r.from, MADV_DONTNEED); /* a loss of memory only */
    }
    (void)fclose(f); /* it was only read */
}

void process_allow_huge_pages(bool on)
{
    (void)prctl(PR_SET_THP_DISABLE, !on, 0, 0, 0); /* a kernel without them has nothing to allow */
}

void process_prepare_heap(size_t n)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start;
    void *p;

    /* So that the block lies in the heap and what is free at its end stays. */
    if (mallopt(M_MMAP_THRESHOLD, 4 << 20) == 0 || mallopt(M_TRIM_THRESHOLD, 8 << 20) == 0)
        return;
    p = malloc(n + page);
    start = ((uintptr_t)p + page - 1) & ~(page - 1);
    if (p)
        (void)madvise(
            (void *)start, n & ~(page - 1), MADV_POPULATE_WRITE); /* an old kernel has none */
    free(p);
}
