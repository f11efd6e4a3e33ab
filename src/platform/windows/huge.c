/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/huge.h"

/* Large pages need a privilege here, and memory that is there cannot become one. */

size_t huge_block(void)
{
    return 0;
}

int huge_move_code(const void *p, size_t around)
{
    (void)p;
    (void)around;
    return ERR_UNSUPPORTED;
}

int huge_area_find(const void *p, struct huge_area *out)
{
    (void)p;
    *out = (struct huge_area){0};
    return ERR_UNSUPPORTED;
}

bool huge_area_look(struct huge_area *area)
{
    (void)area;
    return false;
}

void huge_area_fini(struct huge_area *area)
{
    *area = (struct huge_area){0};
}
