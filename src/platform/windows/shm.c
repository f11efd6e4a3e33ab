/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/*
 * A segment is a temporary file that goes with its last handle, so that its descriptor is a CRT
 * descriptor like all others: fs_close() closes it and process_spawn() passes it on.
 */
#include "platform/shm.h"

#include <windows.h>

#include <io.h>
#include <stdint.h>

#include "platform/fs.h"
#include "platform/windows/oserr.h"

int shm_create(const char *label, size_t size, int *fd)
{
    LARGE_INTEGER end = {.QuadPart = (LONGLONG)size};
    int f = -1, rc;

    if (size == 0 || size > INT64_MAX)
        return ERR_INVAL;
    rc = fs_open_spool(NULL, &f);
    if (rc)
        return rc;
    /* What a file grows by reads as zeros. */
    if (!SetFilePointerEx((HANDLE)_get_osfhandle(f), end, NULL, FILE_BEGIN) ||
        !SetEndOfFile((HANDLE)_get_osfhandle(f))) {
        rc = oserr_last();
        fs_close(f);
        return rc;
    }
    *fd = f;
    return 0;
}

int shm_map(int fd, size_t size, void **out)
{
    struct fs_stat st;
    HANDLE mapping;
    void *p;
    int rc = fs_fstat(fd, &st);

    if (rc)
        return rc;
    if (size == 0 || st.size < size)
        return ERR_INVAL;
    mapping = CreateFileMappingW((HANDLE)_get_osfhandle(fd), NULL, PAGE_READWRITE,
        (DWORD)((uint64_t)size >> 32), (DWORD)size, NULL);
    if (!mapping)
        return oserr_last();
    p = MapViewOfFile(mapping, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, size);
    rc = p ? 0 : oserr_last();
    (void)CloseHandle(mapping); /* the view keeps it */
    if (rc == 0)
        *out = p;
    return rc;
}

void shm_unmap(void *p, size_t size)
{
    if (p)
        (void)UnmapViewOfFile(p); /* fails only for a view that is none */
}
