/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PHP_BUILTIN_H
#define EPHPM_PHP_BUILTIN_H

/*
 * What is different when PHP is a part of this program, and not the distribution's library: most
 * extensions are inside, OPcache too, which PHP before 8.5 knows as a file only. And when this
 * program is all of ephpm, what PHP_BINARY should be.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/str.h"

/* Is PHP a part of this program? */
bool embed_builtin_php(void);
/* While PHP reads its settings (sapi_module.ini_defaults): OPcache becomes the first Zend
 * extension, as if an ini file had named it. Without effect when PHP is a library. */
void embed_builtin_register(void);

/* A path by which this program is the php command, for PHP_BINARY. ERR_TOOBIG: it is longer than
 * out. */
int embed_builtin_command(char *out, size_t cap) MUST_CHECK;
/* Once PHP has started, which resolves links and dots in what it is told: with one program
 * that would be another command. */
void embed_builtin_set_command(const char *command);
/* Is that how it was started? */
bool embed_builtin_is_command(struct str argv0);

#endif
