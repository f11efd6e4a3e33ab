/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/cli_internal.h"

#include "zend_extensions.h"

#include "base/attr.h"

/*
 * Which mode the options choose, and which of them contradict one another. The order of the options
 * decides what is said, as with the stock command.
 */

#define OPTION(letter_, param_, name_) {letter_, param_, (char *)(uintptr_t)name_}

const opt_struct embed_cli_options[] = {
    OPTION('a', 0, "interactive"),
    OPTION('B', 1, "process-begin"),
    OPTION('C', 0, "no-chdir"),
    OPTION('c', 1, "php-ini"),
    OPTION('d', 1, "define"),
    OPTION('E', 1, "process-end"),
    OPTION('e', 0, "profile-info"),
    OPTION('F', 1, "process-file"),
    OPTION('f', 1, "file"),
    OPTION('h', 0, "help"),
    OPTION('i', 0, "info"),
    OPTION('l', 0, "syntax-check"),
    OPTION('m', 0, "modules"),
    OPTION('n', 0, "no-php-ini"),
    OPTION('q', 0, "no-header"),
    OPTION('R', 1, "process-code"),
    OPTION('H', 0, "hide-args"),
    OPTION('r', 1, "run"),
    OPTION('s', 0, "syntax-highlight"),
    OPTION('s', 0, "syntax-highlighting"),
    OPTION('S', 1, "server"),
    OPTION('t', 1, "docroot"),
    OPTION('w', 0, "strip"),
    OPTION('?', 0, "usage"),
    OPTION('v', 0, "version"),
    COMPAT_CLI_Z(OPTION('z', 1, "zend-extension")) OPTION(CLI_OPT_RF, 1, "rf"),
    OPTION(CLI_OPT_RF, 1, "rfunction"),
    OPTION(CLI_OPT_RC, 1, "rc"),
    OPTION(CLI_OPT_RC, 1, "rclass"),
    OPTION(CLI_OPT_RE, 1, "re"),
    OPTION(CLI_OPT_RE, 1, "rextension"),
    OPTION(CLI_OPT_RZ, 1, "rz"),
    OPTION(CLI_OPT_RZ, 1, "rzendextension"),
    OPTION(CLI_OPT_RI, 1, "ri"),
    OPTION(CLI_OPT_RI, 1, "rextinfo"),
    OPTION(CLI_OPT_INI, COMPAT_CLI_INI_PARAM, "ini"),
    OPTION(CLI_OPT_REPEAT, 1, "repeat"),
    {'-', 0, NULL},
};

static const char conflict[] = "Either execute direct code, process stdin or use a file.\n";

/* The letters that choose a mode by themselves. */
static const struct {
    int option;
    enum cli_mode mode;
} switches[] = {
    {'l', CLI_LINT},
    {CLI_OPT_RF, CLI_REFLECT_FUNCTION},
    {CLI_OPT_RC, CLI_REFLECT_CLASS},
    {CLI_OPT_RE, CLI_REFLECT_EXTENSION},
    {CLI_OPT_RZ, CLI_REFLECT_ZEND_EXTENSION},
    {CLI_OPT_RI, CLI_EXTENSION_INFO},
    {CLI_OPT_INI, CLI_INI_FILES},
};

/* -B, -R, -F and -E work together; what each holds may be given once. */
static const char *choose_lines(struct cli_command *c, int option, const char *arg)
{
    const char **slot = option == 'B'   ? &c->begin
                        : option == 'E' ? &c->end
                        : option == 'R' ? &c->code
                                        : &c->file;
    bool main_part = option == 'R' || option == 'F';

    if ((c->mode != CLI_RUN && c->mode != CLI_LINES) || (c->interactive && !main_part))
        return conflict;
    if (c->mode == CLI_LINES && (main_part ? c->code || c->file : *slot != NULL))
        return main_part       ? "You can use -R or -F only once.\n"
               : option == 'B' ? "You can use -B only once.\n"
                               : "You can use -E only once.\n";
    c->mode = CLI_LINES;
    *slot = arg;
    return NULL;
}

static const char *choose_code(struct cli_command *c, const char *arg)
{
    if (c->mode == CLI_CODE)
        return c->code || c->file ? "You can use -r only once.\n" : NULL;
    if (c->mode != CLI_RUN || c->interactive)
        return conflict;
    c->mode = CLI_CODE;
    c->code = arg;
    return NULL;
}

static const char *choose_file(struct cli_command *c, const char *arg)
{
    if (c->mode == CLI_CODE || c->mode == CLI_LINES)
        return conflict;
    if (c->file)
        return "You can use -f only once.\n";
    c->file = arg;
    return NULL;
}

static const char *choose_source(struct cli_command *c, int option)
{
    if (c->mode == CLI_CODE || c->mode == CLI_LINES)
        return option == 's' ? "Source highlighting only works for files.\n"
                             : "Source stripping only works for files.\n";
    c->mode = option == 's' ? CLI_HIGHLIGHT : CLI_STRIP;
    return NULL;
}

static const char *choose_interactive(struct cli_command *c)
{
    if (c->interactive)
        return NULL;
    if (c->mode != CLI_RUN)
        return conflict;
    c->interactive = true;
    return NULL;
}

static void choose_switch(struct cli_command *c, int option, const char *arg)
{
    for (size_t i = 0; i < ARRAY_LEN(switches); i++) {
        if (switches[i].option != option || (option == 'l' && c->mode != CLI_RUN))
            continue;
        c->mode = switches[i].mode;
        c->subject = arg;
    }
}

static const char *choose_option(struct cli_command *c, int option, char *arg)
{
    switch (option) {
    case 'B':
    case 'E':
    case 'F':
    case 'R':
        return choose_lines(c, option, arg);
    case 'f':
        return choose_file(c, arg);
    case 'r':
        return choose_code(c, arg);
    case 's':
    case 'w':
        return choose_source(c, option);
    case 'a':
        return choose_interactive(c);
    case 'z':
        (void)zend_load_extension(arg); /* it says itself what failed, and PHP goes on */
        return NULL;
    case 'H':
        c->hide_arguments = true;
        return NULL;
    case CLI_OPT_INI:
        choose_switch(c, option, arg);
        return arg && strcmp(arg, "diff") != 0 ? "Unknown argument for --ini\n" : NULL;
    case CLI_OPT_REPEAT:
        c->repeat = (int)strtol(arg, NULL, 10);
        return NULL;
    default:
        choose_switch(c, option, arg);
        return NULL;
    }
}

/* -i, -m and -v act at once, whatever else is there. */
static bool choose_telling(struct cli_command *c)
{
    int index = 1, option;
    char *arg = NULL;

    while ((option = php_getopt(c->argc, c->argv, embed_cli_options, &arg, &index, 0, 2)) != -1) {
        if (option != 'i' && option != 'm' && option != 'v')
            continue;
        c->mode = option == 'i' ? CLI_INFO : option == 'm' ? CLI_MODULES : CLI_VERSION;
        return true;
    }
    return false;
}

void embed_cli_choose(struct cli_command *c)
{
    int option;
    char *arg = NULL;

    if (choose_telling(c))
        return;
    c->optind = c->repeat = 1;
    while (!c->error && (option = php_getopt(
                             c->argc, c->argv, embed_cli_options, &arg, &c->optind, 0, 2)) != -1) {
        c->error = choose_option(c, option, arg);
        arg = NULL; /* an option without a parameter leaves it as it is */
    }
    if (c->error || c->mode == CLI_CODE || c->mode == CLI_LINES)
        return;
    /* Behind "--" there are arguments of a program on standard input. */
    if (!c->file && c->argc > c->optind && strcmp(c->argv[c->optind - 1], "--") != 0)
        c->file = c->argv[c->optind++];
}
