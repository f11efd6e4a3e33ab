/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_PHP_MAIN_H
#define EPHPM_CLI_PHP_MAIN_H

#include <stdbool.h>

/* The program with PHP: the stock `php` command, except for the roles that ephpm starts it in, and
 * by a name that is php-cgi's. Returns the exit code. */
int php_main(int argc, char **argv);
/* Is this the start of such a role? */
bool php_is_role(int argc, char **argv);

#endif
