/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/huge.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/process.h"
#include "unit/test.h"

extern const struct test tests_huge[];

enum { BLOCK = 2 << 20, PAGE = 4096, SIZE = 6 * BLOCK };

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Bytes in huge pages that the mapping of p has. */
static size_t huge_bytes(const void *p)
{
    FILE *f = fopen("/proc/self/smaps", "re");
    uintptr_t from, to;
    size_t kb, sum = 0;
    bool in = false;
    char line[512];

    while (f && fgets(line, sizeof(line), f)) {
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
            in = (uintptr_t)p >= from && (uintptr_t)p < to;
        else if (in && (sscanf(line, "AnonHugePages: %zu", &kb) == 1 ||
                           sscanf(line, "ShmemPmdMapped: %zu", &kb) == 1))
            sum += kb * 1024;
    }
    if (f)
        (void)fclose(f); /* it was only read */
    return sum;
}

/* An address that lies `skip` bytes behind the start of a block; with free addresses around, or
 * others' memory. */
static char *map_between(size_t skip, int flags, bool free_around)
{
    char *p = mmap(NULL, SIZE + 2 * BLOCK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *at = (char *)(((uintptr_t)p + BLOCK) & ~(uintptr_t)(BLOCK - 1)) + skip;

    CHECK(p != MAP_FAILED);
    if (free_around)
        CHECK_INT(munmap(p, SIZE + 2 * BLOCK), 0);
    CHECK(mmap(at, SIZE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
    return at;
}

static char *map_at(size_t skip, int flags)
{
    return map_between(skip, flags, false);
}

/* Does this system do it at all? */
static bool possible(void)
{
    char *p = map_at(0, MAP_SHARED);
    bool ok;

    memset(p, 1, BLOCK);
    ok = huge_block() && madvise(p, BLOCK, MADV_COLLAPSE) == 0;
    (void)munmap(p, SIZE);
    if (!ok)
        (void)fprintf(stderr, "# no huge pages here: only that nothing breaks is tested\n");
    return ok;
}

static void test_huge_block_is_what_we_know(void)
{
    CHECK(huge_block() == 0 || huge_block() == BLOCK);
}

/* Three of six blocks are full, one has a few pages, the others none. */
static void check_area(size_t skip, bool free_around)
{
    bool can = possible();
    char *p = map_between(skip, MAP_SHARED, free_around), *filled, *part, *end = p + SIZE;
    int before = skip && free_around;
    struct process_status st = {0};
    struct huge_area area;
    int64_t pid = -1;
    int rc;

    p[0] = 'a'; /* before the first block, or its first page */
    filled = (char *)(((uintptr_t)p + BLOCK - 1) & ~(uintptr_t)(BLOCK - 1));
    for (size_t i = 0; i < 3 * BLOCK; i += PAGE)
        memcpy(filled + i, &i, sizeof(i));
    part = filled + (size_t)3 * BLOCK + (size_t)7 * PAGE;
    memcpy(part, "part", 5);
    end[-1] = 'z';
    rc = huge_area_find(part, &area);
    CHECK_INT(rc, huge_block() ? 0 : ERR_UNSUPPORTED);
    CHECK_INT(p[0] == 'a' || skip == 0, 1);
    CHECK_STR(str_c(part), "part");
    CHECK_INT(end[-1], 'z');
    CHECK_INT(part[PAGE], 0);
    if (rc)
        return;
    CHECK(area.start == filled - (size_t)before * BLOCK);
    CHECK_INT(area.nblocks, !skip ? 6 : before ? 7 : 5);
    CHECK_INT(process_fork(&pid), 0);
    if (pid == 0) {
        part[0] = 'P'; /* still shared */
        process_exit_now(0);
    }
    CHECK_INT(process_wait(pid, &st), 0);
    CHECK_INT(st.code, 0);
    CHECK_STR(str_c(part), "Part");
    CHECK(huge_area_look(&area));
    if (can) {
        CHECK_INT(area.failed, 0);
        for (int i = before; i < before + 3; i++)
            CHECK_INT(area.seen[i], HUGE_AREA_DONE);
        CHECK(area.seen[before + 3] != HUGE_AREA_DONE && area.seen[before + 3] > 0);
        CHECK_INT(area.seen[before + 4], 0);
    }
    part[(size_t)3 * PAGE] = 'g'; /* it grows: not yet */
    CHECK(huge_area_look(&area));
    CHECK(area.seen[before + 3] != HUGE_AREA_DONE);
    (void)huge_area_look(&area);
    if (can)
        CHECK_INT(area.seen[before + 3], HUGE_AREA_DONE);
    for (size_t i = 0; i < 3 * BLOCK; i += PAGE)
        CHECK_INT(memcmp(filled + i, &i, sizeof(i)), 0);
    CHECK_STR(str_c(part), "Part");
    CHECK_INT(part[(size_t)3 * PAGE], 'g');
    if (can)
        CHECK(huge_bytes(filled) >= (size_t)4 * BLOCK);
    for (int i = 0; i < 10 && huge_area_look(&area); i++)
        ;
    CHECK(!huge_area_look(&area) || !can); /* nothing left to do */
    huge_area_fini(&area);
    CHECK(area.seen == NULL);
    (void)munmap(p, SIZE);
}

static void test_huge_area_in_place(void)
{
    check_area(0, true);
}

static void test_huge_area_is_exchanged(void)
{
    check_area((size_t)5 * PAGE, false);
}

static void test_huge_area_takes_the_rest_of_its_blocks(void)
{
    check_area((size_t)5 * PAGE, true);
}

static void test_huge_area_is_shared_memory(void)
{
    char *p = map_at(0, MAP_PRIVATE);
    struct huge_area area;

    p[0] = 1;
    CHECK_INT(huge_area_find(p, &area), ERR_UNSUPPORTED);
    CHECK(!huge_area_look(&area));
    CHECK_INT(huge_area_find((void *)(uintptr_t)PAGE, &area), ERR_UNSUPPORTED);
    (void)munmap(p, SIZE);
}

static void test_huge_code_is_the_same_after(void)
{
    char *p = map_at(0, MAP_PRIVATE);
    bool can = possible();
    int rc, wrong = 0;

    for (size_t i = 0; i < SIZE; i += sizeof(i))
        memcpy(p + i, &i, sizeof(i));
#ifdef __x86_64__
    memcpy(p + (size_t)2 * BLOCK, "\xb8\x2a\0\0\0\xc3", 6); /* return 42 */
#endif
    CHECK_INT(huge_move_code(p, BLOCK), ERR_UNSUPPORTED); /* it can be written: no code */
    CHECK_INT(mprotect(p, SIZE, PROT_READ | PROT_EXEC), 0);
    CHECK_INT(huge_bytes(p), 0);
    rc = huge_move_code(p + (size_t)2 * BLOCK, BLOCK);
    CHECK(rc == 0 || (rc == ERR_UNSUPPORTED && !can));
    for (size_t i = 0; i < SIZE; i += sizeof(i))
        wrong += memcmp(p + i, &i, sizeof(i)) != 0;
#ifdef __x86_64__
    CHECK_INT(wrong, 1);
    CHECK_INT(((int (*)(void))(uintptr_t)(p + (size_t)2 * BLOCK))(), 42);
#else
    CHECK_INT(wrong, 0);
#endif
    if (can) {
        CHECK_INT(huge_bytes(p), 0);
        CHECK_INT(huge_bytes(p + BLOCK), 2 * BLOCK); /* one before, one behind */
        CHECK_INT(huge_bytes(p + (size_t)4 * BLOCK), 0);
    }
    CHECK(mprotect(p, SIZE, PROT_READ) == 0);
    (void)munmap(p, SIZE);
}

const struct test tests_huge[] = {
    TEST(test_huge_block_is_what_we_know),
    TEST(test_huge_area_in_place),
    TEST(test_huge_area_is_exchanged),
    TEST(test_huge_area_takes_the_rest_of_its_blocks),
    TEST(test_huge_area_is_shared_memory),
    TEST(test_huge_code_is_the_same_after),
    TEST_END,
};
