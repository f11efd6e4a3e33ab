/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/shm.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/linux/oserr.h"

int shm_create(const char *label, size_t size, int *fd)
{
    int f, rc;

    if (size == 0 || size > INT64_MAX)
        return ERR_INVAL;
    f = memfd_create(label, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (f < 0)
        return oserr_last();
    /* Sealed, so that no holder can shrink it under another's mapping (SIGBUS). */
    if (ftruncate(f, (off_t)size) < 0 ||
        fcntl(f, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        rc = oserr_last();
        close(f);
        return rc;
    }
    *fd = f;
    return 0;
}

int shm_map(int fd, size_t size, void **out)
{
    struct stat st;
    void *p;

    if (fstat(fd, &st) < 0)
        return oserr_last();
    if (size == 0 || st.st_size < 0 || (uint64_t)st.st_size < size)
        return ERR_INVAL;
    p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (p == MAP_FAILED)
        return oserr_last();
    *out = p;
    return 0;
}

void shm_unmap(void *p, size_t size)
{
    if (p)
        (void)munmap(p, size); /* fails only for a range that is none */
}
