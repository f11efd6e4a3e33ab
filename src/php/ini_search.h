/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PHP_INI_SEARCH_H
#define EPHPM_PHP_INI_SEARCH_H

/*
 * Where a SAPI finds php.ini.  Debian compiles one folder for each SAPI into its binaries
 * (/etc/php/8.2/cli, .../cgi, .../embed), and all that libphp knows is .../embed. So the command
 * line and CGI look here for theirs first, in the order of PHP: $PHPRC, the folder of the binary,
 * the SAPI's own.
 *
 * A PHP that is a part of this program knows no folder. There all SAPIs look here: /etc/ephpm comes
 * before the distribution's folder for the SAPI, if that exists, and conf.d in there after the
 * distribution's.
 */

#include <stdbool.h>

/* As the SAPI: the server's requests. There are folders for them in a PHP of our own only. */
#define EMBED_INI_SERVER "server"

struct embed_ini_search {
    char *path;             /* for php_ini_path_override, or NULL */
    const char *config_dir; /* what PHP_CONFIG_FILE_PATH should be; NULL: it is right */
    const char *scan_dir;   /* and PHP_CONFIG_FILE_SCAN_DIR */
    char *scan_env;         /* "PHP_INI_SCAN_DIR=..." of the environment while PHP starts */
    char *saved_env;        /* the caller's value, or NULL */
};

/* Prepares the search for sapi ("cli", "cgi-fcgi") of the program binary (absolute path), and sets
 * PHP_INI_SCAN_DIR for the start of PHP. file: of -c, or NULL. none: -n. */
void embed_ini_search_begin(
    struct embed_ini_search *s, const char *sapi, const char *binary, const char *file, bool none);
/* After the start: puts the environment back, corrects PHP's constants. */
void embed_ini_search_end(struct embed_ini_search *s);
void embed_ini_search_fini(struct embed_ini_search *s);

#endif
