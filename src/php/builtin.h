/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PHP_BUILTIN_H
#define EPHPM_PHP_BUILTIN_H

/*
 * What is different when PHP is a part of this program, and not the distribution's library: most
 * extensions are inside, OPcache too, which PHP before 8.5 knows as a file only.
 */

#include <stdbool.h>

#ifdef EPHPM_PHP_STATIC

/* While PHP reads its settings (sapi_module.ini_defaults): OPcache is the first Zend extension, as
 * if an ini file had named it. */
void embed_builtin_register(void);

#else

static inline void embed_builtin_register(void)
{
}

#endif

/* Is PHP a part of this program? */
bool embed_builtin_php(void);

#endif
