/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/random.h"

#include <windows.h>

#include <bcrypt.h>

#include "base/mem.h"

void random_bytes(void *p, size_t n)
{
    unsigned char *q = p;

    while (n) {
        ULONG part = (ULONG)MIN(n, (size_t)1 << 30);

        /* Nothing to fall back to. */
        ENSURE(BCryptGenRandom(NULL, q, part, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0);
        q += part;
        n -= part;
    }
}

uint64_t random_u64(void)
{
    uint64_t v;

    random_bytes(&v, sizeof(v));
    return v;
}
