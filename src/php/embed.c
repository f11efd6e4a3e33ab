/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/internal.h"

#include <link.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "php/builtin.h"

struct embed_global embed_g;

static char *ini_text; /* lives as long as PHP: php.ini parsing reads it at startup only, restarts
                          read it again */

/* --- log -------------------------------------------------------------------------------------- */

void embed_log_line(enum embed_log_kind kind, const char *text)
{
    const char *script = NULL;
    uint32_t line = 0;

    if (embed_g.quiet)
        return;
    if (embed_g.started && EG(current_execute_data)) {
        script = zend_get_executed_filename();
        line = zend_get_executed_lineno();
    } else if (embed_g.req && embed_g.error_file[0]) {
        script = embed_g.error_file;
        line = embed_g.error_line;
    }
    if (embed_g.host.log)
        embed_g.host.log(embed_g.host.arg, kind, str_c(text), script, line);
}

void embed_logf(const char *fmt, ...)
{
    struct buf b = {0};
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    buf_add_str(&b, str_c(text));
    embed_log_line(EMBED_LOG_PHP_MESSAGE, buf_cstr(&b));
    buf_fini(&b);
}

/* PHP does not say whether a message is its own or error_log()'s: the running function does. */
static void sapi_log(const char *message, int syslog_type)
{
    enum embed_log_kind kind = EMBED_LOG_PHP_MESSAGE;

    if (embed_g.started && EG(current_execute_data) && EG(current_execute_data)->func) {
        const zend_string *name = EG(current_execute_data)->func->common.function_name;

        if (name && zend_string_equals_literal(name, "error_log"))
            kind = EMBED_LOG_ERROR_LOG;
    }
    if (!embed_g.started && embed_g.collect && !embed_g.collect->code)
        (void)err_set(embed_g.collect, ERR_INVAL, "%s", message);
    embed_log_line(kind, message);
}

/* --- the SAPI table --------------------------------------------------------------------------- */

static int sapi_start(sapi_module_struct *module)
{
    return php_module_startup(module, &embed_module);
}

static int sapi_deactivate_request(void)
{
    return SUCCESS;
}

static size_t sapi_read_post(char *p, size_t n)
{
    const struct embed_request *req = embed_g.req;
    size_t done = 0;

    if (!req || embed_g.body_done || (req->content_length < 0 && !req->body_streaming))
        return 0;
    /* PHP takes a short count for the end, so only the end may be short. */
    while (done < n) {
        size_t got = 0;
        int r = embed_g.host.read_body(embed_g.host.arg, p + done, n - done, &got);

        if (r == ERR_CLOSED)
            embed_g.client_gone = true;
        if (r < 0 || got == 0) {
            embed_g.body_done = true;
            break;
        }
        done += MIN(got, n - done);
    }
    return done;
}

static char *sapi_read_cookies(void)
{
    const struct embed_request *req = embed_g.req;

    return req ? (char *)(uintptr_t)req->cookie.p : NULL;
}

static zend_result sapi_request_time(double *t)
{
    if (!embed_g.req || embed_g.req->time <= 0)
        return FAILURE;
    *t = embed_g.req->time;
    return SUCCESS;
}

static int sapi_send_head(sapi_headers_struct *headers)
{
    return embed_output_send_head(headers);
}

static void sapi_ini_defaults(HashTable *settings);

static sapi_module_struct module = {
    .name = (char *)(uintptr_t)"fpm-fcgi",
    .pretty_name = (char *)(uintptr_t)"ephpm",
    .startup = sapi_start,
    .shutdown = php_module_shutdown_wrapper,
    .deactivate = sapi_deactivate_request,
    .ub_write = embed_output_write,
    .flush = embed_output_flush,
    .getenv = embed_variables_getenv,
    .sapi_error = php_error,
    .send_headers = sapi_send_head,
    .read_post = sapi_read_post,
    .read_cookies = sapi_read_cookies,
    .register_server_variables = embed_variables_register,
    .log_message = sapi_log,
    .get_request_time = sapi_request_time,
    .ini_defaults = sapi_ini_defaults,
    .php_ini_ignore_cwd = 1,
};

/* PHP knows its own paths by now, and reads ini_entries after its files. */
static void sapi_ini_defaults(HashTable *settings)
{
    struct buf lines = {0};

    (void)settings;
    embed_builtin_register();
    embed_extensions_find(&lines);
    ini_text = embed_ini_text(&embed_g.opt, buf_str(&lines));
    sapi_module.ini_entries = ini_text; /* PHP's own copy of ours */
    buf_fini(&lines);
}

/* --- start and stop --------------------------------------------------------------------------- */

static char loaded_version[32];

/* The version that follows a string which every libphp holds, as PHP 8.2 has no function for it
 * before startup. */
static bool find_version(struct str memory)
{
    static const struct str mark = {"X-Powered-By: PHP/", sizeof("X-Powered-By: PHP/") - 1};

    while (memory.len > mark.len) {
        const char *at = memmem(memory.p, memory.len, mark.p, mark.len);
        size_t n = 0;

        if (!at)
            return false;
        memory.len -= (size_t)(at - memory.p) + mark.len;
        memory.p = at + mark.len;
        while (n < memory.len && n + 1 < sizeof(loaded_version) && memory.p[n] > ' ' &&
               memory.p[n] < 127)
            n++;
        if (n < 3 || memory.p[0] < '5' || memory.p[0] > '9')
            continue;
        memcpy(loaded_version, memory.p, n);
        return true;
    }
    return false;
}

/* Looks through the readable, unwritable segments of the object that holds PHP; the last has its
 * constants. */
static int visit_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    uintptr_t wanted = (uintptr_t)php_module_startup;
    bool holds = false;

    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t at = info->dlpi_addr + h->p_vaddr;

        holds = holds || (h->p_type == PT_LOAD && wanted >= at && wanted < at + h->p_memsz);
    }
    for (unsigned i = info->dlpi_phnum; holds && i > 0; i--) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i - 1];

        if (h->p_type == PT_LOAD && (h->p_flags & (PF_R | PF_W)) == PF_R &&
            find_version(str_n((const char *)(info->dlpi_addr + h->p_vaddr), h->p_filesz)))
            break;
    }
    return holds;
}

const char *embed_php_version(void)
{
    if (!loaded_version[0])
        (void)dl_iterate_phdr(visit_object, NULL);
    return loaded_version;
}

bool embed_has_opcache(void)
{
    return COMPAT_HAS_OPCACHE;
}

int embed_check_version(struct err *err)
{
    const char *have = embed_php_version();
    char want[16];

    (void)snprintf(want, sizeof(want), "%d.%d.", PHP_MAJOR_VERSION, PHP_MINOR_VERSION);
    if (strncmp(have, want, strlen(want)) == 0)
        return 0;
    return err_set(err, ERR_VERSION,
        "this program was built for PHP %d.%d, but the libphp.so that was loaded is PHP %s: "
        "another version's "
        "library was found first (check the library path and the libphp.so link)",
        PHP_MAJOR_VERSION, PHP_MINOR_VERSION, have);
}

/* PHP's memory manager reads its wishes from the environment, once. */
static int module_startup(bool huge_pages)
{
    static const char name[] = "USE_ZEND_ALLOC_HUGE_PAGES";
    bool ours = huge_pages && !getenv(name) && setenv(name, "1", 0) == 0;
    int r = module.startup(&module);

    if (ours)
        (void)unsetenv(name); /* not for the programs that scripts start */
    return r;
}

int embed_startup(const struct embed_options *opt, const struct embed_host *host, struct err *err)
{
    struct err first = {0};
    int r = embed_check_version(err);

    if (r < 0)
        return r;
    embed_g = (struct embed_global){.opt = *opt, .host = *host};
    embed_g.out = mem_new(EMBED_OUT_CAP);
    embed_g.collect = &first;
    if (opt->ini_scan_dir)
        (void)setenv("PHP_INI_SCAN_DIR", opt->ini_scan_dir, 1);
    compat_signals_startup();
    embed_timer_startup();
    if (opt->sapi_name)
        module.name = (char *)(uintptr_t)opt->sapi_name;
    sapi_startup(&module);
    module.php_ini_path_override = opt->ini_file ? strdup(opt->ini_file) : NULL;
    module.php_ini_ignore = opt->ini_none;
    module.executable_location = (char *)(uintptr_t)opt->php_binary;
    if (module_startup(opt->huge_pages) == FAILURE) {
        embed_g.collect = NULL;
        sapi_shutdown();
        return err_set(
            err, ERR_INVAL, "PHP did not start: %s", first.code ? first.text : "no reason given");
    }
    embed_g.collect = NULL;
    r = embed_extensions_verify(&first, err);
    if (r < 0) {
        php_module_shutdown();
        sapi_shutdown();
        return r;
    }
    embed_g.started = true;
    embed_builtin_set_command(opt->php_binary ? opt->php_binary : "");
    compat_signals_once();
    embed_request_hooks_late();
    embed_functions_wrap();
    embed_ini_lock_admin(opt);
    embed_ini_check_names(opt);
    embed_ini_startup(opt);
    embed_variables_startup();
    if (opt->clear_env)
        embed_variables_clear_env();
    return 0;
}

void embed_shutdown(void)
{
    if (!embed_g.started)
        return;
    embed_g.started = false;
    if (!embed_g.broken) {
        embed_ini_shutdown();
        php_module_shutdown();
        sapi_shutdown();
        embed_variables_shutdown();
    }
    mem_free(embed_g.out);
    mem_free(ini_text);
    embed_g.out = NULL;
    ini_text = NULL;
}

void embed_after_fork(void)
{
    compat_child_init();
    compat_random_reset();
    embed_timer_forget();
    embed_g.interrupted = 0;
    embed_g.nrequests = 0;
    embed_kv_after_fork();
    embed_session_after_fork();
    embed_install_crash_handler();
}

void embed_forked(void)
{
    embed_g.forked = true;
    embed_g.head_sent = embed_g.finished = embed_g.body_done = true;
    embed_output_reset();
    embed_session_after_fork();
    SG(rfc1867_uploaded_files) = NULL; /* the parent's to remove */
    if (embed_g.host.forked)
        embed_g.host.forked(embed_g.host.arg);
}

/* --- small requests of our own ---------------------------------------------------------------- */

int embed_mini_request(void (*fn)(void *arg), void *arg)
{
    if (!embed_g.started || embed_g.broken || embed_g.req)
        return ERR_UNSUPPORTED;
    SG(server_context) = NULL;
    memset(&SG(request_info), 0, sizeof(SG(request_info)));
    SG(request_info).no_headers = 1;
    SG(sapi_headers).http_response_code = 200;
    embed_g.fatal = false;
    if (php_request_startup() == FAILURE) {
        embed_g.broken = true;
        return ERR_IO;
    }
    SG(request_info).no_headers = 1;
    zend_first_try
    {
        fn(arg);
    }
    zend_end_try();
    zend_first_try
    {
        php_request_shutdown(NULL);
    }
    zend_end_try();
    return 0;
}
