/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "platform/huge.h"

#include "php/internal.h"

/*
 * A request of an application runs through a megabyte of PHP's code and several of compiled
 * scripts, here and there: it waits for page tables more than for anything else. So the part of the
 * code that all requests need, and OPcache's memory as it fills, get huge pages. A worker's own
 * tables do not: that was no faster under load, and 2 MB more for each.
 */

/* The linker puts what is used together near each other: around these are the interpreter, the
 * memory manager, hash tables, and with a trained PHP everything else that is used. */
enum { CODE_AROUND = 640 << 10 };

static struct huge_area scripts;

void embed_settle_startup(void)
{
    (void)!huge_move_code((const void *)(uintptr_t)execute_ex, CODE_AROUND); /* refused: it stays */
    /* OPcache keeps the names that PHP knows in its memory. Without, PHP's own memory is private.
     */
    if (huge_area_find(ZSTR_KNOWN(ZEND_STR_FILE), &scripts))
        scripts = (struct huge_area){0};
}

bool embed_settle_scripts(void)
{
    return huge_area_look(&scripts);
}
