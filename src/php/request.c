/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/internal.h"

#include <errno.h>

#include "base/mem.h"

/* The directory PHP was last sent to; NULL when it is not known. */
static char *cwd_dir;
static size_t cwd_len;
static bool code_is_immutable; /* opcache.validate_timestamps=0 */

static void (*next_interrupt)(zend_execute_data *execute_data);
static zend_result (*next_stream_open)(zend_file_handle *handle);

/* --- hooks ------------------------------------------------------------------------------------ */

/*
 * Opening the main script is PHP's first look at it (none at all on an OPcache hit without
 * timestamps).  A failure is a 404 or 403, not PHP's "Failed opening required": leave by the
 * bailout that php_execute_script() catches.
 */
static zend_result on_stream_open(zend_file_handle *handle)
{
    if (!handle->primary_script || !embed_g.req)
        return next_stream_open(handle);
    errno = 0;
    if (php_stream_open_for_zend_ex(handle, USE_PATH | STREAM_OPEN_FOR_INCLUDE) == SUCCESS)
        return SUCCESS;
    embed_g.open_errno = errno ? errno : EACCES;
    zend_bailout();
    return FAILURE;
}

static void on_interrupt(zend_execute_data *execute_data)
{
    static char trace[4096];

    if (embed_g.interrupted) {
        size_t n;

        embed_g.interrupted = 0;
        if (embed_g.req) {
            embed_g.interrupt_hit = true;
            n = embed_backtrace(trace, sizeof(trace) - 1);
            trace[n] = '\0';
            embed_log_line(EMBED_LOG_PHP_MESSAGE, trace);
            zend_error_noreturn(E_ERROR, "Request time limit of the server exceeded");
        }
    }
    if (next_interrupt)
        next_interrupt(execute_data);
}

static void on_error(int type, zend_string *file, uint32_t line, zend_string *message)
{
    struct str text = {ZSTR_VAL(message), ZSTR_LEN(message)};

    (void)snprintf(
        embed_g.error_file, sizeof(embed_g.error_file), "%s", file ? ZSTR_VAL(file) : "");
    embed_g.error_line = line;
    if (!(type & (E_ERROR | E_CORE_ERROR | E_COMPILE_ERROR | E_PARSE)))
        return;
    embed_g.fatal = true;
    if (str_starts(text, STR("Allowed memory size of ")) || str_starts(text, STR("Out of memory")))
        embed_g.memory = true;
    if (embed_g.collect && !embed_g.collect->code)
        (void)err_set_at(embed_g.collect, ERR_INVAL, (int)line, 0, "%s in %s on line %u", text.p,
            file ? ZSTR_VAL(file) : "?", line);
}

void embed_request_hooks_early(void)
{
    /* The JIT builds this hook into its code at the end of the startup, or leaves it out for good
     * when there is none. */
    next_interrupt = zend_interrupt_function;
    zend_interrupt_function = on_interrupt;
    next_stream_open = zend_stream_open_function;
    zend_stream_open_function = on_stream_open;
}

void embed_request_hooks_late(void)
{
    zend_observer_error_register(on_error);
    code_is_immutable = !INI_BOOL("opcache.validate_timestamps") && INI_BOOL("opcache.enable");
}

void embed_interrupt(void)
{
    embed_g.interrupted = 1;
    zend_atomic_bool_store(&EG(vm_interrupt), true);
}

/* --- working directory ------------------------------------------------------------------------ */

/*
 * The script starts in its own directory.  One system call per change of directory is enough as
 * long as nobody else moved, and as long as the code below is taken for immutable: a directory that
 * was replaced by another of the same name would be missed.
 */
static void enter_script_dir(const struct str path)
{
    ptrdiff_t slash = str_rchr(path, '/');
    size_t n = slash > 0 ? (size_t)slash : 1;
    if (slash < 0)
        return;
    if (code_is_immutable && cwd_dir && !embed_functions_cwd_changed && cwd_len == n &&
        memcmp(cwd_dir, path.p, n) == 0)
        return;
    cwd_dir = mem_resize(cwd_dir, n + 1);
    memcpy(cwd_dir, path.p, n);
    cwd_dir[n] = '\0';
    cwd_len = n;
    embed_functions_cwd_changed = false;
    if (VCWD_CHDIR(cwd_dir) != 0)
        cwd_len = 0;
}

/* --- one request ------------------------------------------------------------------------------ */

static void fill_request_info(const struct embed_request *req)
{
    sapi_request_info *info = &SG(request_info);

    memset(info, 0, sizeof(*info));
    info->request_method = req->method.p;
    info->query_string = (char *)(uintptr_t)(req->query.p ? req->query.p : "");
    info->request_uri = (char *)(uintptr_t)req->uri.p;
    info->path_translated = (char *)(uintptr_t)req->script_filename.p;
    info->content_type = req->content_type.p;
    info->content_length = req->content_length > 0 ? (zend_long)req->content_length : 0;
    info->argc = req->argc;
    info->argv = req->argv;
    info->proto_num = 1000; /* as FPM: a Location after POST is a 302, not a 303 */
    SG(server_context) = (void *)(uintptr_t)req;
    SG(sapi_headers).http_response_code = 200;
    if (req->authorization.p)
        (void)php_handle_auth_data(req->authorization.p);
}

static void reset_state(const struct embed_request *req)
{
    embed_g.req = req;
    embed_g.head_sent = embed_g.finished = embed_g.client_gone = embed_g.body_done = false;
    embed_g.declined = false;
    embed_g.fatal = embed_g.memory = embed_g.interrupt_hit = false;
    embed_g.quiet = embed_g.has_children = false;
    embed_g.collect = NULL;
    embed_g.status = 0;
    embed_g.open_errno = 0;
    embed_g.error_file[0] = '\0';
    embed_g.interrupted = 0;
    embed_g.nrequests++;
    embed_output_reset();
}

static bool extension_allowed(struct str path)
{
    return embed_g.opt.limit_extensions_off || str_ends(path, STR(".php")) ||
           str_ends(path, STR(".phar"));
}

/* A short answer instead of the script: drops what a prepended file may have printed. */
static void refuse(int status, const char *text, const char *why)
{
    embed_logf("%s: %s", why, embed_g.req->script_filename.p);
    zend_try
    {
        php_output_discard_all();
        SG(sapi_headers).http_response_code = status;
        PHPWRITE(text, strlen(text));
    }
    zend_end_try();
}

/* A router that returns false leaves the request to the host, which may have held back what was
 * written so far. */
static void execute_router(zend_file_handle *script)
{
    zval value;

    ZVAL_UNDEF(&value);
    (void)php_execute_simple_script(script, &value); /* a failure has been reported */
    if (Z_TYPE(value) == IS_FALSE) {
        php_output_discard_all();
        embed_output_reset();
        embed_g.declined = embed_g.head_sent = embed_g.finished = true;
    }
    zval_ptr_dtor(&value);
}

static void execute(const struct embed_request *req)
{
    zend_file_handle script;

    if (!extension_allowed(req->script_filename)) {
        refuse(403, "Access denied.\n", "Access to the script has been denied by its extension");
        return;
    }
    SG(options) |= SAPI_OPTION_NO_CHDIR;
    if (embed_g.opt.chdir_per_request)
        enter_script_dir(req->script_filename);
    if (str_eq(req->script_filename, STR(EMBED_SCRIPT_STDIN)))
        zend_stream_init_fp(&script, stdin, "Standard input code");
    else
        zend_stream_init_filename(&script, req->script_filename.p);
    script.primary_script = 1;
    CG(skip_shebang) = embed_g.opt.cgi_environment;
    if (req->router)
        execute_router(&script);
    else
        (void)php_execute_script(&script);
    zend_destroy_file_handle(&script);
    if (embed_g.open_errno == ENOENT || embed_g.open_errno == ENOTDIR)
        refuse(404, "File not found.\n", "Primary script unknown");
    else if (embed_g.open_errno)
        refuse(403, "Access denied.\n", "Unable to open primary script");
}

static enum embed_end classify(void)
{
    if (embed_g.broken)
        return EMBED_BROKEN;
    if (embed_g.interrupt_hit)
        return EMBED_TIMEOUT;
    if (embed_g.memory)
        return EMBED_MEMORY;
    return embed_g.fatal ? EMBED_FATAL : EMBED_OK;
}

/*
 * A bailout stopped PHP on its way into the request: a body that the memory limit has no room for.
 * The client has its answer and the body's temporary file goes, then the process is not to be
 * trusted.
 */
static void end_failed_startup(void)
{
    embed_g.broken = true;
    zend_first_try
    {
        SG(sapi_headers).http_response_code = 500;
        php_request_shutdown(NULL);
    }
    zend_end_try();
}

/* The parts that may longjmp, each behind its own barrier. */
static void run_guarded(const struct embed_request *req, struct embed_result *out)
{
    volatile bool timed_out = false, user_error = false;

    zend_first_try
    {
        embed_ini_apply(req);
    }
    zend_end_try();
    fill_request_info(req);
    if (php_request_startup() == FAILURE) {
        end_failed_startup();
        return;
    }
    zend_first_try
    {
        execute(req);
        user_error =
            EG(exit_status) == 255 && (PG(last_error_type) & (E_USER_ERROR | E_RECOVERABLE_ERROR));
    }
    zend_catch
    {
        embed_g.fatal = embed_g.fatal || !embed_g.client_gone;
    }
    zend_end_try();
    timed_out = (PG(connection_status) & PHP_CONNECTION_TIMEOUT) != 0;
    out->memory_peak = zend_memory_peak_usage(1);
    zend_first_try
    {
        php_request_shutdown(NULL);
    }
    zend_catch
    {
        embed_g.broken = true;
    }
    zend_end_try();
    embed_g.interrupt_hit = embed_g.interrupt_hit || timed_out;
    embed_g.fatal = embed_g.fatal || user_error;
}

void embed_run(const struct embed_request *req, struct embed_result *out)
{
    *out = (struct embed_result){.end = EMBED_BROKEN, .replace = true};
    if (!embed_g.started || embed_g.broken)
        return;
    reset_state(req);
    embed_variables_apply_env(req);
    run_guarded(req, out);
    embed_session_end(&out->sessions);
    if (embed_g.forked)
        _exit(EG(exit_status) & 0xff); /* the parent answers */
    embed_output_drain();
    SG(server_context) = NULL;
    embed_g.req = NULL;
    out->exit_status = EG(exit_status);
    EG(exit_status) = 0;
    out->end = classify();
    out->status = embed_g.status;
    out->declined = embed_g.declined;
    out->client_gone = embed_g.client_gone;
    out->replace = embed_g.broken || embed_g.spent;
    out->forked = embed_g.has_children;
}
