/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_LINUX_OSERR_H
#define EPHPM_PLATFORM_LINUX_OSERR_H

/* errno values as codes of base/err.h; for the files of this folder only. */

#include <errno.h>

#include "base/err.h"

/* The code of an errno value; ERR_IO for those without a better one, never 0. */
int oserr_code(int e);
/* The code of errno. Inline, so that compilers and analysers see that it is never 0. */
static inline int oserr_last(void)
{
    int code = oserr_code(errno);

    return code < 0 ? code : ERR_IO;
}

#endif
