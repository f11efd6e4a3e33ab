/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_BENCH_PHP_ROLE_H
#define EPHPM_CLI_BENCH_PHP_ROLE_H

/*
 * The role bench of ephpm-php: what `ephpm bench` asks of PHP in process. Each answer is a line of
 * JSON on standard output.
 *
 *   --role=bench facts
 *   --role=bench request NAME JIT REPEATS INI FOLDER   runs FOLDER/NAME.php REPEATS times
 */

/* argv[0] is the program, argv[1] the role. Returns the exit code. */
int bench_php_role(int argc, char **argv);

#endif
