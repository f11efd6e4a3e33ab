/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/ini_search.h"
#include "php/internal.h"

#include <stdarg.h>
#include <stdlib.h>

#include "ext/standard/info.h"

#include "base/buf.h"
#include "base/mem.h"
#include "platform/fs.h"

#ifdef EPHPM_PHP_STATIC

/* A PHP of our own has a folder for all SAPIs, and honours those of a distribution's PHP. */
#define OWN_DIR          "/etc/ephpm"
#define OWN_SCAN         OWN_DIR "/conf.d"
#define SYSTEM_DIR(name) EPHPM_SYSTEM_INI "/" name, EPHPM_SYSTEM_INI "/" name "/conf.d:" OWN_SCAN
#define OWN_FOLDERS      OWN_DIR, OWN_SCAN

/* Of those that exist the last counts. The server has had its settings in fpm before, or with a
 * distribution's libphp in embed. */
static const struct {
    const char *sapi, *config_dir, *scan_dir;
} folders[] = {
    {"cli", OWN_FOLDERS},
    {"cli", SYSTEM_DIR("cli")},
    {"cli-server", OWN_FOLDERS},
    {"cli-server", SYSTEM_DIR("cli")},
    {"cgi-fcgi", OWN_FOLDERS},
    {"cgi-fcgi", SYSTEM_DIR("cgi")},
    {EMBED_INI_SERVER, OWN_FOLDERS},
    {EMBED_INI_SERVER, SYSTEM_DIR("apache2")},
    {EMBED_INI_SERVER, SYSTEM_DIR("fpm")},
    {EMBED_INI_SERVER, SYSTEM_DIR("embed")},
};

#else

#define OWN_DIR ""

/* The build says where the command line has its settings: EPHPM_CLI_INI_PATH and _SCAN. */
static const struct {
    const char *sapi, *config_dir, *scan_dir;
} folders[] = {
    {"cli", EPHPM_CLI_INI_PATH, EPHPM_CLI_INI_SCAN},
    {"cli-server", EPHPM_CLI_INI_PATH, EPHPM_CLI_INI_SCAN},
    {"cgi-fcgi", EPHPM_CGI_INI_PATH, EPHPM_CGI_INI_SCAN},
};

#endif

/* Of the running PHP; NULL: what is compiled in is right. */
static const char *shown_config_dir;

static const char scan_name[] = "PHP_INI_SCAN_DIR";

static bool is_dir(const char *path)
{
    struct fs_stat st;

    return fs_stat(path, &st) == 0 && st.kind == FS_DIR;
}

static bool is_file(const char *path)
{
    struct fs_stat st;

    return fs_stat(path, &st) == 0 && st.kind != FS_DIR;
}

static void add_dir(struct buf *b, struct str dir)
{
    if (dir.len == 0)
        return;
    if (b->len)
        buf_add_char(b, ZEND_PATHS_SEPARATOR);
    buf_add_str(b, dir);
}

/* A file is taken as it is; else PHP walks this list with php-SAPI.ini, then with php.ini. */
static char *search_path(const char *binary, const char *config_dir)
{
    const char *env = getenv("PHPRC");
    struct str exe = str_c(binary);
    ptrdiff_t slash = str_rchr(exe, '/');
    struct buf b = {0};
    char *path;

    if (env && is_file(env))
        return mem_dup_str(env, strlen(env));
    add_dir(&b, str_c(env));
    if (slash > 0)
        add_dir(&b, str_sub(exe, 0, (size_t)slash));
    if (strcmp(config_dir, OWN_DIR) != 0)
        add_dir(&b, str_c(OWN_DIR));
    add_dir(&b, str_c(config_dir));
    path = mem_dup_str(b.p, b.len);
    buf_fini(&b);
    return path;
}

/* The caller's value with our folder for each empty part, which means the built-in one. */
static char *scan_setting(const char *value, const char *scan_dir)
{
    struct str rest = str_c(value ? value : scan_dir), part;
    struct buf b = {0};
    bool first = true;
    char *text;

    buf_printf(&b, "%s=", scan_name);
    /* Empty as a whole, it means that nothing is scanned. */
    while (rest.len + b.len > sizeof(scan_name) && str_split(&rest, ZEND_PATHS_SEPARATOR, &part)) {
        if (!first)
            buf_add_char(&b, ZEND_PATHS_SEPARATOR);
        first = false;
        buf_add_str(&b, part.len ? part : str_c(scan_dir));
    }
    text = mem_dup_str(b.p, b.len);
    buf_fini(&b);
    return text;
}

void embed_ini_search_begin(
    struct embed_ini_search *s, const char *sapi, const char *binary, const char *file, bool none)
{
    const char *env = getenv(scan_name);

    *s = (struct embed_ini_search){0};
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        if (strcmp(folders[i].sapi, sapi) == 0 &&
            (strcmp(folders[i].config_dir, OWN_DIR) == 0 || is_dir(folders[i].config_dir))) {
            s->config_dir = folders[i].config_dir;
            s->scan_dir = folders[i].scan_dir;
        }
    }
    if (file)
        s->path = mem_dup_str(file, strlen(file));
    if (!s->config_dir)
        return; /* PHP's own search is as good */
    if (!file && !none)
        s->path = search_path(binary, s->config_dir);
    s->saved_env = env ? mem_dup_str(env, strlen(env)) : NULL;
    s->scan_env = scan_setting(env, s->scan_dir);
    (void)putenv(s->scan_env); /* fails for want of memory only; then PHP scans its own folder */
}

void embed_set_constant(const char *name, const char *value)
{
    zval *constant = zend_get_constant_str(name, strlen(name));

    /* PHP has taken its startup for ended; these live as long as it does, too. */
    zend_interned_strings_switch_storage(0);
    if (constant)
        ZVAL_STR(constant, zend_string_init_interned(value, strlen(value), true));
    zend_interned_strings_switch_storage(1);
}

/* The environment does not point to scan_env any more. */
static void restore_environment(struct embed_ini_search *s)
{
    if (!s->scan_env)
        return;
    if (s->saved_env)
        (void)setenv(scan_name, s->saved_env, 1);
    else
        (void)unsetenv(scan_name);
    mem_free(s->scan_env);
    s->scan_env = NULL;
}

void embed_ini_search_end(struct embed_ini_search *s)
{
    if (!s->config_dir)
        return;
    restore_environment(s);
    if (php_ini_scanned_path)
        php_ini_scanned_path = s->saved_env ? s->saved_env : (char *)(uintptr_t)s->scan_dir;
    embed_set_constant("PHP_CONFIG_FILE_PATH", s->config_dir);
    embed_set_constant("PHP_CONFIG_FILE_SCAN_DIR", s->scan_dir);
    shown_config_dir = s->config_dir;
}

/*
 * phpinfo() prints the folder that is compiled in. As its rows come through a function that libphp
 * exports, this one of the executable is called in its place.
 */
void php_info_print_table_row(int n, ...)
{
    const char *cell[8] = {0};
    va_list ap;

    va_start(ap, n);
    for (int i = 0; i < MIN(n, (int)ARRAY_LEN(cell)); i++)
        cell[i] = va_arg(ap, const char *);
    va_end(ap);
    if (shown_config_dir && n == 2 && strcmp(cell[0], "Configuration File (php.ini) Path") == 0)
        cell[1] = shown_config_dir;
    php_info_print_table_row_ex(MIN(n, (int)ARRAY_LEN(cell)), "v", cell[0], cell[1], cell[2],
        cell[3], cell[4], cell[5], cell[6], cell[7]);
}

/* After PHP has stopped, which points into what is freed here. */
void embed_ini_search_fini(struct embed_ini_search *s)
{
    restore_environment(s); /* when PHP did not start */
    mem_free(s->path);
    mem_free(s->saved_env);
    *s = (struct embed_ini_search){0};
}
