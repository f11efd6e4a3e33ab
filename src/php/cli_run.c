/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/cli_internal.h"

#include <limits.h>
#include <stdio.h>

#include "sapi/cli/cli.h"
#include "zend_highlight.h"
#include "zend_language_scanner.h"

#include "base/mem.h"
#include "base/str.h"
#include "platform/fs.h"
#include "platform/process.h"

/* --- STDIN, STDOUT, STDERR -------------------------------------------------------------------- */

static php_stream *register_handle(
    const struct cli_command *c, const char *name, const char *url, const char *mode)
{
    php_stream *s = php_stream_open_wrapper_ex(url, mode, 0, NULL, NULL);
    zend_constant constant;

    if (!s)
        return NULL;
    if (c->repeat != 1)
        s->flags |= PHP_STREAM_FLAG_NO_RSCR_DTOR_CLOSE; /* the next run needs it */
    php_stream_to_zval(s, &constant.value);
    Z_CONSTANT_FLAGS(constant.value) = 0;
    constant.name = zend_string_init_interned(name, strlen(name), 0);
    (void)zend_register_constant(&constant); /* a constant of that name is there already */
    return s;
}

/* The stream of standard input, or NULL. */
static php_stream *register_handles(const struct cli_command *c)
{
    php_stream *in = register_handle(c, "STDIN", "php://stdin", "rb");

    (void)register_handle(c, "STDOUT", "php://stdout", "wb");
    (void)register_handle(c, "STDERR", "php://stderr", "wb");
    return in;
}

/* --- the program ------------------------------------------------------------------------------ */

static const char stdin_name[] = "Standard input code";

static bool open_file(const char *path, zend_file_handle *file)
{
    FILE *fp = VCWD_FOPEN(path, "rb");

    if (!fp) {
        fprintf(
            COMPAT_REFUSES_ON_STDERR ? stderr : stdout, "Could not open input file: %s\n", path);
        return false;
    }
    zend_stream_init_fp(file, fp, path); /* which closes it, what the analyzer cannot see */
    file->primary_script = 1;            /* NOLINT(clang-analyzer-unix.Stream) */
    return true;
}

static bool open_program(const struct cli_command *c, zend_file_handle *file)
{
    if (c->file)
        return open_file(c->file, file);
    zend_stream_init_fp(file, stdin, stdin_name);
    file->primary_script = 1;
    return true;
}

static void set_line(char *line, zend_long number)
{
    size_t n = strlen(line);
    zval argn, argi;

    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r'))
        n--;
    ZVAL_STRINGL(&argn, line, n);
    zend_hash_str_update(&EG(symbol_table), "argn", sizeof("argn") - 1, &argn);
    ZVAL_LONG(&argi, number);
    zend_hash_str_update(&EG(symbol_table), "argi", sizeof("argi") - 1, &argi);
}

static void eval(const char *code, const char *name)
{
    if (code)
        (void)zend_eval_string_ex(code, NULL, name, true); /* the exit status tells */
}

static void run_lines(const struct cli_command *c, zend_file_handle *file)
{
    php_stream *in = register_handles(c);
    zend_long number = 0;
    char *line;

    eval(c->begin, "Command line begin code");
    while (in && EG(exit_status) == SUCCESS && (line = php_stream_gets(in, NULL, 0)) != NULL) {
        set_line(line, ++number);
        efree(line);
        eval(c->code, "Command line run code");
        if (!c->file || c->code)
            continue;
        if (number > 1 && !open_file(c->file, file))
            EG(exit_status) = 1;
        else
            (void)php_execute_script(file);
    }
    eval(c->end, "Command line end code");
}

/* --- modes ------------------------------------------------------------------------------------ */

static void run_program(const struct cli_command *c, zend_file_handle *file)
{
    if (c->file || COMPAT_STDIN_OF_STDIN)
        (void)register_handles(c);
    if (c->interactive)
        EG(exit_status) = php_cli_get_shell_callbacks()->cli_shell_run();
    else
        (void)php_execute_script(file); /* the exit status tells */
}

static void lint(zend_file_handle *file)
{
    EG(exit_status) = php_lint_script(file);
    if (EG(exit_status) == SUCCESS) {
        zend_printf("No syntax errors detected in %s\n", ZSTR_VAL(file->filename));
    } else {
        zend_printf("Errors parsing %s\n", ZSTR_VAL(file->filename));
        EG(exit_status) = 255;
    }
}

static void highlight(zend_file_handle *file)
{
    zend_syntax_highlighter_ini colors;

    if (open_file_for_scanning(file) != SUCCESS)
        return;
    php_get_highlight_struct(&colors);
    zend_highlight(&colors);
}

static void run_mode(const struct cli_command *c, zend_file_handle *file)
{
    switch (c->mode) {
    case CLI_RUN:
        run_program(c, file);
        break;
    case CLI_CODE:
        (void)register_handles(c);
        eval(c->code, "Command line code");
        break;
    case CLI_LINES:
        run_lines(c, file);
        break;
    case CLI_LINT:
        lint(file);
        break;
    case CLI_STRIP:
        if (open_file_for_scanning(file) == SUCCESS)
            zend_strip();
        break;
    case CLI_HIGHLIGHT:
        highlight(file);
        break;
    default:
        embed_cli_show(c);
        break;
    }
}

/* --- one request ------------------------------------------------------------------------------ */

static bool says_about_php(enum cli_mode mode)
{
    return mode == CLI_INFO || mode == CLI_VERSION || mode == CLI_MODULES;
}

/* $argv begins with the program's name, which takes the place of the option before its arguments.
 */
static int start_request(struct cli_command *c, const char *name, const char *resolved)
{
    char **first = &c->argv[c->optind - 1];
    char *saved = *first;
    int rc;

    embed_cli_script = name;
    SG(request_info).argc = c->argc - c->optind + 1;
    SG(request_info).argv = first;
    SG(request_info).path_translated = (char *)(uintptr_t)(resolved ? resolved : name);
    *first = (char *)(uintptr_t)name;
    rc = php_request_startup();
    *first = saved;
    return rc;
}

static void say_interactive(void)
{
    if (php_cli_get_shell_callbacks()->cli_shell_run)
        fputs("Interactive shell\n\n", stdout);
    (void)fflush(stdout);
}

/* What cannot start leaves as PHP does without a request. */
static int refuse(void)
{
    sapi_deactivate();
    zend_ini_deactivate();
    return 1;
}

static void run_guarded(struct cli_command *c, zend_file_handle *file)
{
    zend_try
    {
        CG(skip_shebang) = 1;
        SG(options) |= SAPI_OPTION_NO_CHDIR;
        zend_register_bool_constant(
            "PHP_CLI_PROCESS_TITLE", sizeof("PHP_CLI_PROCESS_TITLE") - 1, true, 0, 0);
        if (c->hide_arguments)
            (void)!process_title_put(str_c("php")); /* without a title there is nothing to hide */
        zend_is_auto_global(ZSTR_KNOWN(ZEND_STR_AUTOGLOBAL_SERVER));
        PG(during_request_startup) = 0;
        run_mode(c, file);
    }
    zend_end_try();
    if (file)
        zend_destroy_file_handle(file);
    php_request_shutdown(NULL);
}

static int run_program_request(struct cli_command *c)
{
    static char resolved[PATH_MAX];
    bool has_path = c->file && fs_realpath(c->file, resolved, sizeof(resolved)) == 0;
    zend_file_handle file;

    if (!open_program(c, &file))
        return refuse();
    /* The handle's own copy of the name goes before the shutdown functions run. */
    if (start_request(c, c->file ? c->file : stdin_name, has_path ? resolved : NULL) == FAILURE) {
        fputs("Could not startup.\n", stdout);
        zend_destroy_file_handle(&file);
        return refuse();
    }
    run_guarded(c, &file);
    return EG(exit_status);
}

/* Each of the files to be checked is a request of its own. */
static int run_once(struct cli_command *c)
{
    int code = run_program_request(c), r;

    while (COMPAT_LINTS_MANY && c->mode == CLI_LINT && c->file && c->optind < c->argc) {
        c->file = c->argv[c->optind++];
        r = run_program_request(c);
        code = r ? r : code;
    }
    return code;
}

/* As the stock command does for its own tests; with less than 1 it never ends. */
static int run_repeatedly(struct cli_command *c)
{
    int code;

    if (c->repeat > 1)
        fputs("Executing for the first time...\n", stdout);
    for (;;) {
        (void)fflush(stdout); /* as it is written */
        code = run_once(c);
        if (--c->repeat == 0)
            return code;
        fputs("Finished execution, repeating...\n", stdout);
    }
}

static int run_telling_request(struct cli_command *c)
{
    if (php_request_startup() == FAILURE)
        return refuse();
    zend_try
    {
        embed_cli_show(c);
    }
    zend_end_try();
    php_request_shutdown(NULL);
    return EG(exit_status);
}

int embed_cli_run(struct cli_command *c)
{
    embed_cli_choose(c);
    if (says_about_php(c->mode))
        return run_telling_request(c);
    if (c->error) {
        fputs(c->error, stdout);
        return refuse();
    }
    if (c->interactive && !php_cli_get_shell_callbacks()->cli_shell_run) {
        fputs("Interactive shell (-a) requires the readline extension.\n", stdout);
        return refuse();
    }
    if (c->interactive)
        say_interactive();
    return run_repeatedly(c);
}
