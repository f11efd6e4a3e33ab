/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_FS_LOCK_H
#define EPHPM_PLATFORM_FS_LOCK_H

/* What the systems' fs_lock() share. Private to src/platform. */

#include <stdint.h>

/* The number that the holder left in the file; 0: none yet. */
uint64_t fs_lock_read(int fd);

#endif
