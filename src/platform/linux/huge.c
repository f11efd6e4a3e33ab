/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/huge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

#define HUGE_SYS "/sys/kernel/mm/transparent_hugepage/"

enum {
    HUGE_BLOCK = 2 << 20, /* of the processors we know, with pages of 4 KB */
    HUGE_PAGE = 4096,
    HUGE_PAGES = HUGE_BLOCK / HUGE_PAGE,
    HUGE_FAILURES = 8 /* then the area is left alone */
};

struct huge_mapping {
    uintptr_t from, to, offset;
    uint64_t inode;
    char perms[5];
};

static bool huge_read_word(const char *file, char *out, size_t cap)
{
    FILE *f = fopen(file, "re");
    bool ok = f && fgets(out, (int)cap, f);

    if (f)
        (void)fclose(f); /* it was only read */
    return ok;
}

size_t huge_block(void)
{
    static int known = -1;
    char text[64];
    unsigned size = 0;

    if (known < 0)
        known = sysconf(_SC_PAGESIZE) == HUGE_PAGE &&
                huge_read_word(HUGE_SYS "enabled", text, sizeof(text)) &&
                !strstr(text, "[never]") &&
                huge_read_word(HUGE_SYS "hpage_pmd_size", text, sizeof(text)) &&
                sscanf(text, "%u", &size) == 1 && size == HUGE_BLOCK;
    return known ? HUGE_BLOCK : 0;
}

static uintptr_t huge_round_up(uintptr_t p)
{
    return (p + HUGE_BLOCK - 1) & ~(uintptr_t)(HUGE_BLOCK - 1);
}

static uintptr_t huge_round_down(uintptr_t p)
{
    return p & ~(uintptr_t)(HUGE_BLOCK - 1);
}

/* "from-to perms offset device inode path" */
static bool huge_next_mapping(FILE *f, struct huge_mapping *m)
{
    char line[8192]; /* a path of any length that the kernel shows */

    if (!fgets(line, sizeof(line), f))
        return false;
    return sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNxPTR " %*s %" SCNu64, &m->from, &m->to,
               m->perms, &m->offset, &m->inode) == 5;
}

/* The mapping that p lies in. What follows of the same memory belongs to it, whatever may be done
 * with its pages: OPcache takes the end of its memory for code. */
static bool huge_find_mapping(uintptr_t p, struct huge_mapping *out)
{
    FILE *f = fopen("/proc/self/maps", "re");
    struct huge_mapping m;
    bool found = false;

    if (!f)
        return false;
    while (huge_next_mapping(f, &m)) {
        if (p >= m.from && p < m.to) {
            *out = m;
            found = true;
        } else if (found && m.from == out->to && m.inode == out->inode && m.perms[3] == 's') {
            out->to = m.to;
        } else if (found) {
            break;
        }
    }
    (void)fclose(f); /* it was only read */
    return found;
}

static bool huge_collapse(uintptr_t at, size_t n)
{
    return madvise((void *)at, n, MADV_COLLAPSE) == 0;
}

/* --- code ------------------------------------------------------------------------------------- */

/* A place for n bytes, which are as many blocks. */
static uintptr_t huge_reserve(size_t n)
{
    void *p =
        mmap(NULL, n + HUGE_BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uintptr_t at = (uintptr_t)p, block = huge_round_up(at);

    if (p == MAP_FAILED)
        return 0;
    if (block > at)
        (void)munmap(p, block - at); /* address space only */
    (void)munmap((void *)(block + n), at + HUGE_BLOCK - block);
    return block;
}

int huge_move_code(const void *p, size_t around)
{
    uintptr_t at = (uintptr_t)p, first, end, copy;
    struct huge_mapping m;
    size_t n;

    if (!huge_block() || !huge_find_mapping(at, &m) || strcmp(m.perms, "r-xp") != 0)
        return ERR_UNSUPPORTED;
    first = at - m.from > around ? huge_round_down(at - around) : 0;
    first = MAX(first, huge_round_up(m.from));
    end = m.to - at > around ? huge_round_up(at + around) : UINTPTR_MAX;
    end = MIN(end, huge_round_down(m.to));
    if (end <= first)
        return ERR_UNSUPPORTED;
    n = end - first;
    copy = huge_reserve(n);
    if (!copy)
        return ERR_NOMEM;
    memcpy((void *)copy, (const void *)first, n);
    /* The exchange is one step: whoever runs this code runs the old pages before and the new after.
     */
    if (huge_collapse(copy, n) && mprotect((void *)copy, n, PROT_READ | PROT_EXEC) == 0 &&
        mremap((void *)copy, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)first) != MAP_FAILED)
        return 0;
    (void)munmap((void *)copy, n);
    return ERR_UNSUPPORTED;
}

/* --- shared memory ---------------------------------------------------------------------------- */

static size_t huge_resident(uintptr_t at, size_t pages, unsigned char *in)
{
    size_t n = 0;

    if (mincore((void *)at, pages * HUGE_PAGE, in) != 0)
        return 0;
    for (size_t i = 0; i < pages; i++)
        n += in[i] & 1;
    return n;
}

/* Copies pages that are there. The others are zero, and stay away. */
static void huge_copy_resident(char *to, uintptr_t from, size_t size)
{
    unsigned char in[HUGE_PAGES];

    for (size_t at = 0; at < size; at += HUGE_BLOCK) {
        size_t pages = MIN(size - at, (size_t)HUGE_BLOCK) / HUGE_PAGE;

        if (huge_resident(from + at, pages, in))
            for (size_t i = 0; i < pages; i++)
                if (in[i] & 1)
                    memcpy(to + at + i * HUGE_PAGE, (const char *)from + at + i * HUGE_PAGE,
                        HUGE_PAGE);
    }
}

/* Takes addresses that nobody has. */
static bool huge_take(uintptr_t from, uintptr_t to)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void *p;

    if (from == to)
        return true;
    p = mmap((void *)from, to - from, PROT_NONE, flags, -1, 0);
    if (p != MAP_FAILED && p != (void *)from)
        (void)munmap(p, to - from); /* an old kernel takes the address for a wish */
    return p == (void *)from;
}

/* Other memory takes the place of m's, from the offset on that its address wants, and with it the
 * rest of the first and the last block. */
static int huge_exchange(struct huge_mapping *m)
{
    uintptr_t first = huge_round_down(m->from), end = huge_round_up(m->to);
    size_t skip, size;
    char *p;

    if (!huge_take(first, m->from))
        first = m->from;
    if (!huge_take(m->to, end))
        end = m->to;
    skip = first % HUGE_BLOCK;
    size = end - first;
    p = mmap(NULL, skip + size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return ERR_NOMEM;
    huge_copy_resident(p + skip + (m->from - first), m->from, m->to - m->from);
    if (mremap(p + skip, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)first) == MAP_FAILED) {
        (void)munmap(p, skip + size);
        return ERR_UNSUPPORTED;
    }
    if (skip)
        (void)munmap(p, skip);
    m->from = first;
    m->to = end;
    return 0;
}

int huge_area_find(const void *p, struct huge_area *out)
{
    struct huge_mapping m;
    uintptr_t first, end;
    int rc;

    *out = (struct huge_area){0};
    if (!huge_block() || !huge_find_mapping((uintptr_t)p, &m) || m.perms[3] != 's' ||
        m.to - m.from < HUGE_BLOCK)
        return ERR_UNSUPPORTED;
    if ((m.from - m.offset) % HUGE_BLOCK) {
        rc = strcmp(m.perms, "rw-s") == 0 ? huge_exchange(&m) : ERR_UNSUPPORTED;
        if (rc)
            return rc;
    }
    first = huge_round_up(m.from);
    end = huge_round_down(m.to);
    out->start = (char *)first;
    out->nblocks = (end - first) / HUGE_BLOCK;
    out->seen = mem_new_array(out->nblocks, sizeof(*out->seen));
    memset(out->seen, 0, out->nblocks * sizeof(*out->seen));
    return 0;
}

bool huge_area_look(struct huge_area *area)
{
    unsigned char in[HUGE_PAGES];
    bool changed = false;

    for (size_t i = 0; i < area->nblocks && area->failed < HUGE_FAILURES; i++) {
        uintptr_t at = (uintptr_t)area->start + i * HUGE_BLOCK;
        size_t n;

        if (area->seen[i] == HUGE_AREA_DONE)
            continue;
        n = huge_resident(at, HUGE_PAGES, in);
        if (n == 0)
            continue;
        changed = true;
        if (n < HUGE_PAGES && n != area->seen[i])
            area->seen[i] = (uint16_t)n;
        else if (huge_collapse(at, HUGE_BLOCK))
            area->seen[i] = HUGE_AREA_DONE;
        else
            area->failed++;
    }
    return changed;
}

void huge_area_fini(struct huge_area *area)
{
    mem_free(area->seen);
    *area = (struct huge_area){0};
}
