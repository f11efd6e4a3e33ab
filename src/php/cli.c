/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/cli_internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "php_ini_builder.h"

#include "php/builtin.h"
#include "php/cli.h"
#include "php/ini_search.h"
#include "php/internal.h"
#include "platform/process.h"

/* What a command line wants whatever php.ini says; -d comes behind it and wins. */
static const char forced_settings[] = "html_errors=0\n" COMPAT_CLI_ARGV "implicit_flush=1\n"
                                      "output_buffering=0\n"
                                      "max_execution_time=0\n"
                                      "max_input_time=-1\n";

/* What counts before PHP starts. */
struct startup {
    const char *ini_file;
    bool no_ini;
    bool extended_info;
    struct embed_cli_serve serve;
    struct php_ini_builder settings;
};

/* False: the usage was printed, *code is the exit code. */
static bool read_startup(int argc, char **argv, struct startup *s, int *code)
{
    int index = 1, option;
    char *arg = NULL;

    while ((option = php_getopt(argc, argv, embed_cli_options, &arg, &index, 1, 2)) != -1) {
        switch (option) {
        case 'c':
            s->ini_file = arg;
            break;
        case 'n':
            s->no_ini = true;
            break;
        case 'd':
            php_ini_builder_define(&s->settings, arg);
            break;
        case 'e':
            s->extended_info = true;
            break;
        case 'S':
            s->serve.address = arg;
            break;
        case 't':
            s->serve.document_root = arg;
            break;
        case 'h':
        case '?':
        case PHP_GETOPT_INVALID_ARG:
            embed_cli_usage(argv[0]);
            *code = option == PHP_GETOPT_INVALID_ARG;
            return false;
        case 'i':
        case 'm':
        case 'v':
            return true;
        default:
            break;
        }
    }
    s->serve.router = index < argc ? argv[index] : NULL;
    return true;
}

/*
 * Takes the place of libphp's own, as the functions of timer.c do: there it frees every interned
 * string, one by one, as the last act of php_module_shutdown(). A process that ends needs none of
 * that, and the program that does nothing is 5 % faster without.
 */
ZEND_API void zend_interned_strings_dtor(void)
{
}

static int start_and_run(struct startup *s, struct cli_command *c, const char *binary)
{
    sapi_module_struct *module = &embed_cli_module;
    struct embed_ini_search search = {0};
    volatile int code = 255;

    if (s->no_ini)
        module->php_ini_ignore = 1;
    embed_ini_search_begin(&search, module->name, binary, s->ini_file, s->no_ini);
    module->php_ini_path_override = search.path;
    module->executable_location = (char *)(uintptr_t)binary;
    sapi_startup(module);
    module->ini_entries = php_ini_builder_finish(&s->settings); /* sapi_startup() clears it */
    if (module->startup(module) == FAILURE) {
        sapi_shutdown();
        return 1;
    }
    embed_ini_search_end(&search);
    embed_builtin_set_command(binary);
    if (s->extended_info)
        CG(compiler_options) |= ZEND_COMPILE_EXTENDED_INFO;
    zend_first_try
    {
        code = embed_cli_run(c);
    }
    zend_end_try();
    php_module_shutdown();
    sapi_shutdown();
    embed_ini_search_fini(&search);
    return code;
}

int embed_cli_main(const char *sapi, embed_cli_serve_cb *serve, int argc, char **argv)
{
    static char binary[PATH_MAX];
    struct cli_command command = {.argc = argc, .argv = argv};
    struct startup s = {0};
    struct err err;
    int code = 0;

    if (embed_check_version(&err) < 0) {
        fprintf(stderr, "%s: %s\n", argv[0], err.text);
        return 1;
    }
    embed_cli_module.name = (char *)(uintptr_t)sapi;
    process_ignore_sigpipe();
    compat_signals_startup();
    if (embed_builtin_command(binary, sizeof(binary)) < 0)
        binary[0] = '\0'; /* PHP_BINARY is empty then */
    php_ini_builder_init(&s.settings);
    if (!read_startup(argc, argv, &s, &code)) {
        /* the usage was printed */
    } else if (s.serve.address && serve) {
        s.serve.binary = binary;
        s.serve.ini_file = s.ini_file;
        s.serve.no_ini = s.no_ini;
        s.serve.index_for_dots = COMPAT_SERVES_INDEX_FOR_DOTS;
        s.serve.ini_entries = php_ini_builder_finish(&s.settings);
        code = serve(&s.serve);
    } else {
        php_ini_builder_prepend_literal(&s.settings, forced_settings);
        code = start_and_run(&s, &command, binary);
    }
    php_ini_builder_deinit(&s.settings);
    return code;
}
