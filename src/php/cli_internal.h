/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PHP_CLI_INTERNAL_H
#define EPHPM_PHP_CLI_INTERNAL_H

/* What the files of the `php` command share; cli.h tells the story. Includes PHP's headers. */

#include "php/compat.h"

#include "php_getopt.h"

#include <stdbool.h>

enum cli_mode {
    CLI_RUN,   /* a file, or what comes on standard input */
    CLI_CODE,  /* -r */
    CLI_LINES, /* -B, -R, -F, -E: for each line of standard input */
    CLI_LINT,
    CLI_STRIP,
    CLI_HIGHLIGHT,
    CLI_REFLECT_FUNCTION,
    CLI_REFLECT_CLASS,
    CLI_REFLECT_EXTENSION,
    CLI_REFLECT_ZEND_EXTENSION,
    CLI_EXTENSION_INFO,
    CLI_INI_FILES,
    CLI_INFO,
    CLI_VERSION,
    CLI_MODULES,
};

/* What the command line says. Strings are those of argv. */
struct cli_command {
    enum cli_mode mode;
    const char *file;
    const char *code; /* of -r and -R */
    const char *begin, *end;
    const char *subject; /* of the --r options */
    bool interactive;
    bool hide_arguments;
    int repeat;        /* how often to run it: --repeat */
    const char *error; /* the options contradict one another: the text to print */
    int optind;        /* first argument of the script */
    int argc;
    char **argv;
};

/* option numbers without a letter */
enum {
    CLI_OPT_RF = 10,
    CLI_OPT_RC,
    CLI_OPT_RE,
    CLI_OPT_RZ,
    CLI_OPT_RI,
    CLI_OPT_INI,
    CLI_OPT_REPEAT,
};

extern const opt_struct embed_cli_options[];

/* cli_mode.c; PHP is started: -z loads on the way. */
void embed_cli_choose(struct cli_command *c);

/* cli_run.c */
/* Runs the command in a request of its own; the exit code. */
int embed_cli_run(struct cli_command *c);

/* cli_show.c: inside a request. */
void embed_cli_show(const struct cli_command *c);
void embed_cli_usage(const char *argv0);

/* cli_sapi.c */
extern sapi_module_struct embed_cli_module;
/* $_SERVER['SCRIPT_NAME'] and its kind. */
extern const char *embed_cli_script;

#endif
