/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/cli_internal.h"

#include <errno.h>
#include <stdio.h>

#include "ext/standard/dl.h"
#include "sapi/cli/cli.h"

#include "base/str.h"
#include "php/builtin.h"
#include "platform/fs.h"
#include "platform/process.h"

const char *embed_cli_script = "";

/* ext/readline finds these by dlsym() and fills them when it has a shell. */
static cli_shell_callbacks_t shell;

cli_shell_callbacks_t *php_cli_get_shell_callbacks(void)
{
    return &shell;
}

/* --- output: unbuffered ----------------------------------------------------------------------- */

ssize_t sapi_cli_single_write(const char *p, size_t n)
{
    size_t done;

    if (shell.cli_shell_write)
        (void)shell.cli_shell_write(p, n); /* a copy for the shell; the terminal gets it as well */
    return fs_write_some(1, p, n, &done) == 0 ? (ssize_t)done : -1;
}

static size_t write_output(const char *p, size_t n)
{
    size_t done = 0;

    if (n && shell.cli_shell_ub_write) {
        size_t taken = shell.cli_shell_ub_write(p, n);

        if (taken != (size_t)-1)
            return taken;
    }
    while (done < n) {
        ssize_t r = sapi_cli_single_write(p + done, n - done);

        if (r < 0) {
            EG(exit_status) = 255;
            php_handle_aborted_connection(); /* does not return unless ignore_user_abort is on */
            break;
        }
        done += (size_t)r;
    }
    return done;
}

/* Only C code that prints by itself leaves anything to flush. */
static void flush_output(void *server_context)
{
    if (fflush(stdout) == EOF && errno == EBADF)
        php_handle_aborted_connection();
}

static void log_message(const char *message, int syslog_type)
{
    fprintf(stderr, "%s\n", message);
    (void)fflush(stderr); /* nowhere to complain */
}

/* --- headers: collected by header(), printed by nobody ---------------------------------------- */

static int take_header(
    sapi_header_struct *header, sapi_header_op_enum op, sapi_headers_struct *headers)
{
    return 0; /* not kept: headers_list() is empty */
}

static int send_headers(sapi_headers_struct *headers)
{
    return SAPI_HEADER_SENT_SUCCESSFULLY;
}

static void send_header(sapi_header_struct *header, void *server_context)
{
}

static char *read_cookies(void)
{
    return NULL;
}

/* --- $_SERVER and settings -------------------------------------------------------------------- */

static void put(zval *array, const char *name, const char *value)
{
    size_t n = strlen(value);
    char *copy = estrndup(value, n);

    if (sapi_module.input_filter(PARSE_SERVER, name, &copy, n, &n))
        php_register_variable_safe(name, copy, n, array);
    efree(copy);
}

static void register_variables(zval *array)
{
    static const char *const names[] = {
        "PHP_SELF", "SCRIPT_NAME", "SCRIPT_FILENAME", "PATH_TRANSLATED"};

    php_import_environment_variables(array);
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        put(array, names[i], embed_cli_script);
    put(array, "DOCUMENT_ROOT", "");
}

/* Weaker than php.ini; what the command line forces is in cli.c. */
static void set_defaults(HashTable *settings)
{
    zval on;

    embed_builtin_register();
    ZVAL_NEW_STR(&on, zend_string_init("1", 1, true));
    zend_hash_str_update(settings, "display_errors", sizeof("display_errors") - 1, &on);
}

static int start(sapi_module_struct *module)
{
    return php_module_startup(module, NULL);
}

static int deactivate(void)
{
    (void)fflush(stdout);
    return SUCCESS;
}

/* --- functions -------------------------------------------------------------------------------- */

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_dl, 0, 1, _IS_BOOL, 0)
ZEND_ARG_TYPE_INFO(0, extension_filename, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_set_title, 0, 1, _IS_BOOL, 0)
ZEND_ARG_TYPE_INFO(0, title, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_get_title, 0, 0, IS_STRING, 1)
ZEND_END_ARG_INFO()

static ZEND_FUNCTION(cli_set_process_title)
{
    char *title;
    size_t n;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STRING(title, n)
    ZEND_PARSE_PARAMETERS_END();
    if (process_title_put(str_n(title, strlen(title))) == 0)
        RETURN_TRUE;
    php_error_docref(
        NULL, E_WARNING, "cli_set_process_title had an error: Not initialized correctly");
    RETURN_FALSE;
}

static ZEND_FUNCTION(cli_get_process_title)
{
    struct str title = process_title();

    ZEND_PARSE_PARAMETERS_NONE();
    RETURN_STRINGL(title.p ? title.p : "", title.len);
}

static const zend_function_entry functions[] = {
    ZEND_FE(dl, arginfo_dl) ZEND_FE(cli_set_process_title, arginfo_set_title)
        ZEND_FE(cli_get_process_title, arginfo_get_title) ZEND_FE_END};

sapi_module_struct embed_cli_module = {
    .name = (char *)(uintptr_t)"cli",
    .pretty_name = (char *)(uintptr_t)"Command Line Interface",
    .startup = start,
    .shutdown = php_module_shutdown_wrapper,
    .deactivate = deactivate,
    .ub_write = write_output,
    .flush = flush_output,
    .sapi_error = php_error,
    .header_handler = take_header,
    .send_headers = send_headers,
    .send_header = send_header,
    .read_cookies = read_cookies,
    .register_server_variables = register_variables,
    .log_message = log_message,
    .ini_defaults = set_defaults,
    .phpinfo_as_text = 1,
    .php_ini_ignore_cwd = 1,
    .additional_functions = functions,
};
