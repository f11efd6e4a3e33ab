/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/random.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>

#include "base/mem.h"

void random_bytes(void *p, size_t n)
{
    unsigned char *q = p;

    while (n) {
        ssize_t got = getrandom(q, n, 0);

        if (got < 0) {
            ENSURE(errno == EINTR); /* nothing to fall back to */
            continue;
        }
        q += got;
        n -= (size_t)got;
    }
}

uint64_t random_u64(void)
{
    uint64_t v;

    random_bytes(&v, sizeof(v));
    return v;
}
