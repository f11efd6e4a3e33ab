/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_LINUX_OSERR_H
#define EPHPM_PLATFORM_LINUX_OSERR_H

/* errno values as codes of base/err.h; for the files of this folder only. */

#include "base/attr.h"

/* The code of an errno value; ERR_IO for those without a better one, never 0. */
int oserr_code(int e);
/* The code of errno. */
int oserr_last(void);

#endif
