/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_PHP_COMMAND_H
#define EPHPM_CLI_PHP_COMMAND_H

/*
 * Where PHP is: in a program of its own, ephpm-php, which lies beside this one (php_beside.c), or
 * in this one (php_inside.c). The build chooses a file.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"

/* The program that is started for a role of PHP. */
int cli_php_path(char *out, size_t cap) MUST_CHECK;
/* Is it this one? */
bool cli_php_is_inside(void);
/* Is this start meant for PHP alone, as a role of it or by a link named ephpm-php? */
bool cli_php_claims(int argc, char **argv);
/*
 * Becomes the php command; the result is the exit code. name: what is in place of the first two
 * arguments ("ephpm", "php"), or NULL: argv is that command's already.
 */
int cli_php_become(int argc, char **argv, const char *name);

#endif
