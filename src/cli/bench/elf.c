/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <string.h>

#include "cli/bench/bench.h"
#include "platform/fs.h"

/*
 * The VM kind is decided when PHP is compiled, and PHP code cannot ask for it. But executables of
 * PHP export their functions for extensions, and zend_vm_kind() does nothing but return the number.
 * ELF, 64 bits, little endian; every offset of the file is checked.
 */

enum { ELF_HEADER = 64, ELF_SECTION = 64, ELF_SEGMENT = 56, ELF_SYMBOL = 24 };
enum { SECTION_SYMTAB = 2, SECTION_DYNSYM = 11, SEGMENT_LOAD = 1 };
enum { FILE_MAX = 512 << 20 };

static uint64_t number(const char *p, size_t bytes)
{
    uint64_t v = 0;

    for (size_t i = 0; i < bytes; i++)
        v |= (uint64_t)(unsigned char)p[i] << (8 * i);
    return v;
}

/* n bytes at an offset that the file gave; NULL when it does not have them. */
static const char *at(struct str file, uint64_t offset, uint64_t n)
{
    return offset <= file.len && n <= file.len - offset ? file.p + offset : NULL;
}

/* The entry i of a table of the file, whose size was read from it, too. */
static const char *entry(struct str file, uint64_t table, uint64_t i, uint64_t size)
{
    return table < file.len ? at(file, table + i * size, size) : NULL;
}

static bool is_named(struct str file, uint64_t names, uint64_t size, uint64_t name)
{
    static const char want[] = "zend_vm_kind";
    const char *p = name < size && names < file.len ? at(file, names + name, sizeof(want)) : NULL;

    return p && memcmp(p, want, sizeof(want)) == 0;
}

/* Where an address of the program lies in the file; 0: nowhere. */
static uint64_t offset_of(struct str file, uint64_t address)
{
    uint64_t table = number(file.p + 32, 8), n = number(file.p + 56, 2);

    for (uint64_t i = 0; i < n; i++) {
        const char *s = entry(file, table, i, ELF_SEGMENT);

        if (s && number(s, 4) == SEGMENT_LOAD && address >= number(s + 16, 8) &&
            address - number(s + 16, 8) < number(s + 32, 8))
            return address - number(s + 16, 8) + number(s + 8, 8);
    }
    return 0;
}

/* The address of the function in one table of symbols; 0: it is not there, or only wanted. */
static uint64_t find_symbol(struct str file, const char *section)
{
    uint64_t sections = number(file.p + 40, 8);
    uint64_t offset = number(section + 24, 8), size = number(section + 32, 8);
    const char *names = entry(file, sections, number(section + 40, 4), ELF_SECTION);

    if (!names || !at(file, offset, size))
        return 0;
    for (uint64_t i = 0; i < size / ELF_SYMBOL; i++) {
        const char *s = file.p + offset + i * ELF_SYMBOL;

        if (number(s + 6, 2) != 0 &&
            is_named(file, number(names + 24, 8), number(names + 32, 8), number(s, 4)))
            return number(s + 8, 8);
    }
    return 0;
}

/* The number that the code returns, -1: it does something else. */
static int returned(struct str code)
{
    struct str c = code;

    if (str_starts(c, STR("\xf3\x0f\x1e\xfa"))) /* endbr64 */
        c = str_sub(c, 4, c.len);
    if (c.len >= 6 && c.p[0] == '\xb8' && c.p[5] == '\xc3') /* mov eax, N; ret */
        return (int)number(c.p + 1, 4);
    c = code;
    if (c.len >= 4 && number(c.p, 4) == 0xd503245f) /* bti c */
        c = str_sub(c, 4, c.len);
    if (c.len >= 8 && (number(c.p, 4) & 0xffe0001f) == 0x52800000 && /* mov w0, N; ret */
        number(c.p + 4, 4) == 0xd65f03c0)
        return (int)(number(c.p, 4) >> 5 & 0xffff);
    return -1;
}

int bench_elf_find_vm_kind(struct str file, const char **out)
{
    static const char *const kinds[] = {NULL, "CALL", "SWITCH", "GOTO", "HYBRID", "TAILCALL"};
    uint64_t sections, n, address = 0, offset;
    int kind;

    if (file.len < ELF_HEADER || !str_starts(file, STR("\x7f"
                                                       "ELF\2\1")))
        return ERR_NOTFOUND;
    sections = number(file.p + 40, 8);
    n = number(file.p + 60, 2);
    for (uint64_t i = 0; i < n && !address; i++) {
        const char *s = entry(file, sections, i, ELF_SECTION);

        if (s && (number(s + 4, 4) == SECTION_DYNSYM || number(s + 4, 4) == SECTION_SYMTAB))
            address = find_symbol(file, s);
    }
    offset = address ? offset_of(file, address) : 0;
    if (!offset || offset >= file.len)
        return ERR_NOTFOUND;
    kind = returned(str_sub(file, (size_t)offset, 32));
    if (kind < 1 || (size_t)kind >= ARRAY_LEN(kinds))
        return ERR_UNSUPPORTED;
    *out = kinds[kind];
    return 0;
}

int bench_elf_vm_kind(const char *path, const char **out)
{
    struct buf file = {0};
    int rc = fs_read_file(path, FILE_MAX, &file);

    if (rc == 0)
        rc = bench_elf_find_vm_kind(buf_str(&file), out);
    buf_fini(&file);
    return rc;
}
