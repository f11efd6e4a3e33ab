/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PHP_CLI_H
#define EPHPM_PHP_CLI_H

/*
 * The stock `php` command: its options, modes, texts and exit codes, as a SAPI of its own ("cli")
 * beside the one of embed.h.  A process uses one of the two, since PHP's state is global.  Debian's
 * libphp has no command line in it, so this is one on PHP's public functions.
 *
 * Single-threaded, ends with the process: whoever calls embed_cli_main() leaves with its result.
 *
 * Files in reading order: cli.c (options that count before PHP starts, start and stop), cli_mode.c
 * (which mode the options choose), cli_run.c (the modes that run code), cli_show.c (those that tell
 * about PHP), cli_sapi.c (output, log, $_SERVER, functions), ini_search.c (where php.ini is).
 */

#include <stdbool.h>

/* What -S says. Strings live until the callback returns; NULL: not given. */
struct embed_cli_serve {
    const char *address;
    const char *document_root;
    const char *router;
    const char *binary; /* PHP_BINARY */
    const char *ini_file;
    const char *ini_entries;
    bool no_ini;
    bool index_for_dots; /* a path with a dot in it ("/no.css") may have an index on the way up */
};
typedef int embed_cli_serve_cb(const struct embed_cli_serve *serve);

/* Runs `php` with these arguments, argv[0] included, and returns the exit code.
 * process_title_init() comes first; argv stays valid. sapi: "cli", or whose -v, -m and -i it is.
 * serve is called for -S, before PHP starts, and its result is the exit code; NULL: there is no -S.
 */
int embed_cli_main(const char *sapi, embed_cli_serve_cb *serve, int argc, char **argv);

#endif
