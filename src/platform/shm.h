/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_SHM_H
#define EPHPM_PLATFORM_SHM_H

/* Shared memory segments without a name: a descriptor that is passed on, and mappings of it. */

#include <stddef.h>

#include "base/attr.h"
#include "base/err.h"

/* A zeroed segment of size bytes; its size is sealed. label shows in /proc. ERR_NOSPACE, ERR_MFILE,
 * ERR_NOMEM. */
int shm_create(const char *label, size_t size, int *fd) MUST_CHECK;
/* Maps all of it, read-write and shared; the size is checked to be at least size. */
int shm_map(int fd, size_t size, void **out) MUST_CHECK;
void shm_unmap(void *p, size_t size); /* NULL is fine */

#endif
