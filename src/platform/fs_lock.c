/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/fs_lock.h"

#include "platform/fs.h"

uint64_t fs_lock_read(int fd)
{
    char text[32];
    size_t got = 0;
    uint64_t n = 0;

    if (fs_pread(fd, text, sizeof(text), 0, &got) || str_u64(str_trim(str_n(text, got)), &n))
        return 0;
    return n;
}
