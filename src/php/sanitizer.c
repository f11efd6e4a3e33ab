/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/internal.h"

#include <dlfcn.h>

/*
 * Builds with sanitizers only.  PHP loads extensions with RTLD_DEEPBIND, which the address
 * sanitizer refuses, so its calls come here first.
 */
#ifdef EPHPM_SANITIZED

typedef void *dlopen_fn(const char *file, int mode);

void *dlopen(const char *file, int mode)
{
    static dlopen_fn *next;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "dlopen");
    return next ? next(file, mode & ~RTLD_DEEPBIND) : NULL;
}

#endif

bool embed_sanitizer_on(void)
{
#ifdef EPHPM_SANITIZED
    return true;
#else
    return false;
#endif
}
