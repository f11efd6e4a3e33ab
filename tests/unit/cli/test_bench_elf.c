/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <string.h>

#include "base/mem.h"
#include "cli/bench/bench.h"
#include "unit/test.h"

extern const struct test tests_bench_elf[];

/*
 * A program as small as it can be:
 *
 *   0    header   64   one segment   120  three sections (none, symbols, names)
 *   312  two symbols   360  names   400  code, loaded at 0x1000 + its offset
 */
enum { SECTIONS = 120, SYMBOLS = 312, NAMES = 360, CODE = 400, SIZE = 432, BASE = 0x1000 };

static void put(char *image, size_t at, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        image[at + i] = (char)(v >> (8 * i));
}

static void make(char image[SIZE], struct str code)
{
    static const char names[] = "\0zend_vm_kind";

    memset(image, 0, SIZE);
    memcpy(image,
        "\x7f"
        "ELF\2\1\1",
        7);
    put(image, 32, 64, 8);       /* segments */
    put(image, 40, SECTIONS, 8); /* sections */
    put(image, 56, 1, 2);
    put(image, 60, 3, 2);
    put(image, 64, 1, 4); /* load */
    put(image, 64 + 16, BASE, 8);
    put(image, 64 + 32, SIZE, 8);
    put(image, SECTIONS + 64 + 4, 11, 4); /* dynamic symbols */
    put(image, SECTIONS + 64 + 24, SYMBOLS, 8);
    put(image, SECTIONS + 64 + 32, 48, 8);
    put(image, SECTIONS + 64 + 40, 2, 4);
    put(image, SECTIONS + 128 + 24, NAMES, 8);
    put(image, SECTIONS + 128 + 32, sizeof(names), 8);
    put(image, SYMBOLS + 24, 1, 4); /* the second one: name, section, address */
    put(image, SYMBOLS + 24 + 6, 1, 2);
    put(image, SYMBOLS + 24 + 8, BASE + CODE, 8);
    memcpy(image + NAMES, names, sizeof(names));
    memcpy(image + CODE, code.p, code.len);
}

static void test_elf_reads_the_kind(void)
{
    static const struct {
        const char *name;
        struct str code;
        const char *kind; /* NULL: ERR_UNSUPPORTED */
    } cases[] = {
        {"x86-64", STR("\xb8\4\0\0\0\xc3"), "HYBRID"},
        {"x86-64 with endbr64", STR("\xf3\x0f\x1e\xfa\xb8\1\0\0\0\xc3"), "CALL"},
        {"arm64", STR("\xa0\0\x80\x52\xc0\x03\x5f\xd6"), "TAILCALL"},
        {"arm64 with bti", STR("\x5f\x24\x03\xd5\x80\0\x80\x52\xc0\x03\x5f\xd6"), "HYBRID"},
        {"no such kind", STR("\xb8\x09\0\0\0\xc3"), NULL},
        {"kind 0", STR("\xb8\0\0\0\0\xc3"), NULL},
        {"something else", STR("\x55\x48\x89\xe5\x90\x90\x90"), NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char image[SIZE];
        const char *kind = "";
        int rc;

        test_row(cases[i].name);
        make(image, cases[i].code);
        rc = bench_elf_find_vm_kind(str_n(image, SIZE), &kind);
        CHECK_INT(rc, cases[i].kind ? 0 : ERR_UNSUPPORTED);
        if (cases[i].kind)
            CHECK_STR(str_c(kind), cases[i].kind);
    }
    test_row(NULL);
}

/* Every cut and every changed byte: any answer, but nothing beyond the file (sanitizers see it). */
static void test_elf_copes_with_damage(void)
{
    char image[SIZE], *copy = NULL;
    const char *kind;

    make(image, STR("\xb8\4\0\0\0\xc3"));
    for (size_t n = 0; n < SIZE; n++) {
        copy = mem_dup_str(image, n);
        (void)!bench_elf_find_vm_kind(str_n(copy, n), &kind);
        mem_free(copy);
    }
    for (size_t i = 0; i < SIZE; i++)
        for (int v = 0; v < 256; v += 51) {
            copy = mem_dup_str(image, SIZE);
            copy[i] = (char)v;
            (void)!bench_elf_find_vm_kind(str_n(copy, SIZE), &kind);
            mem_free(copy);
        }
    CHECK_INT(bench_elf_find_vm_kind(STR("#!/bin/sh\n"), &kind), ERR_NOTFOUND);
    CHECK_INT(bench_elf_find_vm_kind(STR_NONE, &kind), ERR_NOTFOUND);
    /* Wanted from elsewhere: the symbol has no section. */
    put(image, SYMBOLS + 24 + 6, 0, 2);
    CHECK_INT(bench_elf_find_vm_kind(str_n(image, SIZE), &kind), ERR_NOTFOUND);
}

const struct test tests_bench_elf[] = {
    TEST(test_elf_reads_the_kind),
    TEST(test_elf_copes_with_damage),
    TEST_END,
};
