/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/internal.h"

/* The functions of ephpm.stub.php, and the hooks on two of PHP's own. */

bool embed_functions_cwd_changed;

/* --- ours ------------------------------------------------------------------------------------- */

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_bool, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_array, 0, 0, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_headers_send, 0, 0, IS_LONG, 0)
ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, status, IS_LONG, 0, "200")
ZEND_END_ARG_INFO()

static ZEND_FUNCTION(fastcgi_finish_request)
{
    ZEND_PARSE_PARAMETERS_NONE();
    if (!embed_g.req || embed_g.finished)
        RETURN_FALSE;
    php_output_end_all();
    php_header();
    embed_output_drain();
    embed_g.finished = true;
    if (!embed_g.client_gone && embed_g.host.finish &&
        embed_g.host.finish(embed_g.host.arg) == ERR_CLOSED)
        embed_g.client_gone = true;
    RETURN_TRUE;
}

static ZEND_FUNCTION(getallheaders)
{
    ZEND_PARSE_PARAMETERS_NONE();
    array_init(return_value);
    embed_variables_headers(return_value);
}

static ZEND_FUNCTION(apache_response_headers)
{
    ZEND_PARSE_PARAMETERS_NONE();
    array_init(return_value);
    for (zend_llist_element *e = SG(sapi_headers).headers.head; e; e = e->next) {
        const sapi_header_struct *h = (const sapi_header_struct *)(void *)e->data;
        struct str line = {h->header, h->header_len};
        ptrdiff_t colon = str_chr(line, ':');
        struct str name, value;
        zval z;

        name = colon > 0 ? str_trim(str_sub(line, 0, (size_t)colon)) : STR_NONE;
        if (name.len == 0)
            continue;
        value = str_trim(str_sub(line, (size_t)colon + 1, line.len));
        ZVAL_STRINGL(&z, value.p, value.len);
        zend_symtable_str_update(Z_ARRVAL_P(return_value), name.p, name.len, &z);
    }
}

static ZEND_FUNCTION(headers_send)
{
    zend_long status = 200;

    ZEND_PARSE_PARAMETERS_START(0, 1)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(status)
    ZEND_PARSE_PARAMETERS_END();
    if (status >= 100 && status < 200) {
        /* 101 would hand the connection over, which a script cannot. */
        if (status == 101) {
            zend_argument_value_error(1, "must not be 101");
            RETURN_THROWS();
        }
        RETURN_LONG(embed_output_send_informational((int)status) == 0 ? status : 0);
    }
    if (status < 200 || status > 599) {
        zend_argument_value_error(1, "must be a status code");
        RETURN_THROWS();
    }
    if (SG(headers_sent))
        RETURN_LONG(0);
    SG(sapi_headers).http_response_code = (int)status;
    RETURN_LONG(sapi_send_headers() == SUCCESS ? status : 0);
}

static ZEND_FUNCTION(fpm_get_status)
{
    ZEND_PARSE_PARAMETERS_NONE();
    array_init(return_value);
    add_assoc_string(return_value, "process-manager", "dynamic");
    add_assoc_long(return_value, "accepted-conn", (zend_long)embed_g.nrequests);
    add_assoc_long(return_value, "pid", (zend_long)getpid());
    add_assoc_bool(return_value, "ephpm", true);
}

static const zend_function_entry functions[] = {ZEND_FE(fastcgi_finish_request, arginfo_bool)
        ZEND_FE(getallheaders, arginfo_array) ZEND_FALIAS(apache_request_headers, getallheaders,
            arginfo_array) ZEND_FE(apache_response_headers, arginfo_array) ZEND_FE(headers_send,
            arginfo_headers_send) ZEND_FE(fpm_get_status, arginfo_array) ZEND_FE_END};

/* --- hooks on PHP's functions ----------------------------------------------------------------- */

static zif_handler stock_chdir, stock_ini_get_all, stock_pcntl_fork, stock_opcache_reset,
    stock_pcntl_signal, stock_pcntl_sigprocmask;

static ZEND_FUNCTION(wrapped_chdir)
{
    embed_functions_cwd_changed = true;
    stock_chdir(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

static ZEND_FUNCTION(wrapped_pcntl_signal)
{
    embed_timer_forget();
    embed_g.spent = true;
    stock_pcntl_signal(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

static ZEND_FUNCTION(wrapped_pcntl_sigprocmask)
{
    embed_timer_forget();
    embed_g.spent = true;
    stock_pcntl_sigprocmask(INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

/* A child of the script would go on as a second worker, with the first one's channel. */
static ZEND_FUNCTION(wrapped_pcntl_fork)
{
    stock_pcntl_fork(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (Z_TYPE_P(return_value) == IS_LONG && Z_LVAL_P(return_value) == 0)
        embed_forked();
    else
        embed_g.has_children = true;
}

static ZEND_FUNCTION(wrapped_opcache_reset)
{
    stock_opcache_reset(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (Z_TYPE_P(return_value) == IS_TRUE && embed_g.req && embed_g.host.opcache_reset)
        embed_g.host.opcache_reset(embed_g.host.arg);
}

/* What it kept of $_SERVER and $_ENV is not there yet. */
static const char *const filter_names[] = {"filter_has_var", "filter_input", "filter_input_array"};
static zif_handler stock_filter[ARRAY_LEN(filter_names)];

static ZEND_FUNCTION(wrapped_filter)
{
    const zend_string *name = EX(func)->common.function_name;

    embed_variables_feed_filter();
    for (size_t i = 0; i < ARRAY_LEN(filter_names); i++)
        if (strcmp(ZSTR_VAL(name), filter_names[i]) == 0)
            stock_filter[i](INTERNAL_FUNCTION_PARAM_PASSTHRU);
}

/* The access of a locked setting has a bit that PHP does not know, see ini.c. */
static ZEND_FUNCTION(wrapped_ini_get_all)
{
    zval *setting;

    stock_ini_get_all(INTERNAL_FUNCTION_PARAM_PASSTHRU);
    if (Z_TYPE_P(return_value) != IS_ARRAY)
        return;
    ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(return_value), setting)
    {
        zval *access = Z_TYPE_P(setting) == IS_ARRAY
                           ? zend_hash_str_find(Z_ARRVAL_P(setting), "access", sizeof("access") - 1)
                           : NULL;

        if (access && Z_TYPE_P(access) == IS_LONG)
            Z_LVAL_P(access) &= ZEND_INI_ALL;
    }
    ZEND_HASH_FOREACH_END();
}

/*
 * What changes the process and cannot be taken back, or would have to be by name: an alarm that
 * rings in somebody else's request, a limit on descriptors, a priority. The request has it, and its
 * worker is replaced afterwards.
 */
static struct {
    const char *name;
    zif_handler stock;
} spending[] = {
    {"pcntl_alarm", NULL},
    {"pcntl_setcpuaffinity", NULL},
    {"pcntl_setpriority", NULL},
    {"pcntl_unshare", NULL},
    {"posix_initgroups", NULL},
    {"posix_setegid", NULL},
    {"posix_seteuid", NULL},
    {"posix_setgid", NULL},
    {"posix_setrlimit", NULL},
    {"posix_setuid", NULL},
    {"proc_nice", NULL},
};

static ZEND_FUNCTION(wrapped_spending)
{
    const zend_string *name = EX(func)->common.function_name;

    embed_g.spent = true;
    for (size_t i = 0; i < ARRAY_LEN(spending); i++) {
        if (strcmp(ZSTR_VAL(name), spending[i].name) == 0) {
            spending[i].stock(INTERNAL_FUNCTION_PARAM_PASSTHRU);
            return;
        }
    }
}

static zif_handler wrap(const char *name, zif_handler handler)
{
    zend_function *fn = zend_hash_str_find_ptr(CG(function_table), name, strlen(name));
    zif_handler stock;

    if (!fn || fn->type != ZEND_INTERNAL_FUNCTION)
        return NULL;
    stock = fn->internal_function.handler;
    fn->internal_function.handler = handler;
    return stock;
}

void embed_functions_wrap(void)
{
    /* PHP's library has it for command line programs; a worker that it locks in would serve nothing
     * more. FPM has none. */
    (void)zend_hash_str_del(CG(function_table), "chroot", sizeof("chroot") - 1);
    /* At a request's end PHP counts on the internal functions being the table's first, without
     * gaps: the gap would close when the table grows, and one function of the script would stay. */
    zend_hash_rehash(CG(function_table));
    stock_chdir = wrap("chdir", ZEND_FN(wrapped_chdir));
    stock_pcntl_fork = wrap("pcntl_fork", ZEND_FN(wrapped_pcntl_fork));
    stock_pcntl_signal = wrap("pcntl_signal", ZEND_FN(wrapped_pcntl_signal));
    stock_pcntl_sigprocmask = wrap("pcntl_sigprocmask", ZEND_FN(wrapped_pcntl_sigprocmask));
    stock_opcache_reset = wrap("opcache_reset", ZEND_FN(wrapped_opcache_reset));
    for (size_t i = 0; i < ARRAY_LEN(filter_names); i++)
        stock_filter[i] = wrap(filter_names[i], ZEND_FN(wrapped_filter));
    for (size_t i = 0; i < ARRAY_LEN(spending); i++)
        spending[i].stock = wrap(spending[i].name, ZEND_FN(wrapped_spending));
}

void embed_functions_hide_locks(void)
{
    stock_ini_get_all = wrap("ini_get_all", ZEND_FN(wrapped_ini_get_all));
}

/* --- module ----------------------------------------------------------------------------------- */

static PHP_MINIT_FUNCTION(ephpm)
{
    embed_request_hooks_early();
    embed_watch_opcache();
    return embed_kv_register() && embed_session_register() ? SUCCESS : FAILURE;
}

/* Comes after shutdown functions, destructors and output: PHP would read the rest of the body only
 * to drop it. */
static PHP_RSHUTDOWN_FUNCTION(ephpm)
{
    embed_g.body_done = true;
    return SUCCESS;
}

zend_module_entry embed_module = {
    STANDARD_MODULE_HEADER,
    "ephpm",
    functions,
    PHP_MINIT(ephpm),
    NULL,
    NULL,
    PHP_RSHUTDOWN(ephpm),
    NULL,
    EPHPM_VERSION,
    STANDARD_MODULE_PROPERTIES,
};
