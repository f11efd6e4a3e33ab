/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/builtin.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "ext/standard/dl.h"

#include "php/internal.h"
#include "platform/fs.h"
#include "platform/process.h"

/* --- the command ------------------------------------------------------------------------------ */

/*
 * One program is both, and PHP_BINARY takes no arguments. A link named ephpm-php beside it is the
 * php command; without one it is this spelling of its own path, which is no other file's.
 */
static const char mark[] = "/./";

#ifdef EPHPM_ONE_FILE

static bool is_link_to(const char *link, const char *exe)
{
    char real[PATH_MAX];

    return fs_realpath(link, real, sizeof(real)) == 0 && strcmp(real, exe) == 0;
}

int embed_builtin_command(char *out, size_t cap)
{
    char exe[PATH_MAX];
    int slash, rc = process_exe_path(exe, sizeof(exe));

    if (rc)
        return rc;
    slash = (int)str_rchr(str_c(exe), '/');
    if (snprintf(out, cap, "%.*s/ephpm-php", slash, exe) < (int)cap && is_link_to(out, exe))
        return 0;
    return snprintf(out, cap, "%.*s%s%s", slash, exe, mark, exe + slash + 1) < (int)cap
               ? 0
               : ERR_TOOBIG;
}

void embed_builtin_set_command(const char *command)
{
    char *copy;

    if (!*command || (PG(php_binary) && strcmp(PG(php_binary), command) == 0))
        return;
    copy = strdup(command);
    if (!copy)
        return;
    free(PG(php_binary));
    PG(php_binary) = copy;
    embed_set_constant("PHP_BINARY", command);
}

#else

void embed_builtin_set_command(const char *command)
{
}

int embed_builtin_command(char *out, size_t cap)
{
    return process_exe_path(out, cap);
}

#endif

bool embed_builtin_is_command(struct str argv0)
{
    struct str folder = str_sub(argv0, 0, (size_t)(str_rchr(argv0, '/') + 1));

    return str_ends(folder, str_c(mark));
}

/* --- what is inside --------------------------------------------------------------------------- */

bool embed_builtin_php(void)
{
#ifdef EPHPM_PHP_STATIC
    return true;
#else
    return false;
#endif
}

#ifdef EPHPM_PHP_STATIC

/*
 * A distribution's ini files name each of its extensions (extension=mysqli.so). Those that are
 * inside this program are there already, so PHP would warn of each, after it has loaded the file
 * for nothing. The linker gives PHP's calls to these functions first (--wrap).
 */
int __real_php_load_extension(const char *filename, int type, int start_now);
int __wrap_php_load_extension(const char *filename, int type, int start_now);
void *__real_php_load_shlib(const char *path, char **errp);
void *__wrap_php_load_shlib(const char *path, char **errp);
zend_result __real_zend_load_extension(const char *path);
zend_result __wrap_zend_load_extension(const char *path);
zend_result __real_zend_load_extension_handle(DL_HANDLE handle, const char *path);
zend_result __wrap_zend_load_extension_handle(DL_HANDLE handle, const char *path);

/* Of opcache's objects, which are linked in before 8.5. */
extern zend_extension zend_extension_entry __attribute__((weak));

/* "mysqli" of "/usr/lib/php/20220829/mysqli.so". */
static struct str extension_name(const char *file)
{
    struct str s = str_c(file);

    s = str_sub(s, (size_t)(str_rchr(s, '/') + 1), s.len);
    return str_ends(s, STR(".so")) ? str_sub(s, 0, s.len - 3) : s;
}

static bool is_opcache(const char *file)
{
    return str_ieq(extension_name(file), STR("opcache"));
}

/* What came from a file has a handle, and twice the same file is worth PHP's warning. */
static bool is_builtin(const char *file)
{
    struct str name = extension_name(file);
    char lower[64];
    const zend_module_entry *module;

    if (name.len >= sizeof(lower))
        return false;
    for (size_t i = 0; i < name.len; i++)
        lower[i] = str_lower_char(name.p[i]);
    module = zend_hash_str_find_ptr(&module_registry, lower, name.len);
    return module && !module->handle;
}

int __wrap_php_load_extension(const char *filename, int type, int start_now)
{
    if (type == MODULE_PERSISTENT && (is_builtin(filename) || is_opcache(filename)))
        return SUCCESS;
    return __real_php_load_extension(filename, type, start_now);
}

/* Called for a Zend extension: any handle will do, it only comes back below. */
void *__wrap_php_load_shlib(const char *path, char **errp)
{
    return is_opcache(path) ? dlopen(NULL, RTLD_LAZY) : __real_php_load_shlib(path, errp);
}

zend_result __wrap_zend_load_extension_handle(DL_HANDLE handle, const char *path)
{
    if (!is_opcache(path))
        return __real_zend_load_extension_handle(handle, path);
    (void)dlclose(handle);
    return SUCCESS;
}

zend_result __wrap_zend_load_extension(const char *path)
{
    return is_opcache(path) ? SUCCESS : __real_zend_load_extension(path);
}

void embed_builtin_register(void)
{
    if (&zend_extension_entry)
        zend_register_extension(&zend_extension_entry, NULL);
}

/* --- what extensions may want ----------------------------------------------------------------- */

/*
 * Debian's newest PHP 8.2 has allocations that return NULL where others end the script; extensions
 * that were built with it look for them in any PHP. Here they are as the others.
 */
#if !COMPAT_FALLIBLE
ZEND_API void *ZEND_FASTCALL _femalloc(size_t size);
ZEND_API void *ZEND_FASTCALL _safe_femalloc(size_t n, size_t size, size_t offset);
ZEND_API void *ZEND_FASTCALL _safe_ferealloc(void *p, size_t n, size_t size, size_t offset);
ZEND_API bool ZEND_FASTCALL smart_str_ferealloc(smart_str *s, size_t len, bool fallible);

ZEND_API void *ZEND_FASTCALL _femalloc(size_t size)
{
    return emalloc(size);
}

ZEND_API void *ZEND_FASTCALL _safe_femalloc(size_t n, size_t size, size_t offset)
{
    return safe_emalloc(n, size, offset);
}

ZEND_API void *ZEND_FASTCALL _safe_ferealloc(void *p, size_t n, size_t size, size_t offset)
{
    return safe_erealloc(p, n, size, offset);
}

ZEND_API bool ZEND_FASTCALL smart_str_ferealloc(smart_str *s, size_t len, bool fallible)
{
    (void)fallible;
    smart_str_erealloc(s, len);
    return true;
}
#endif

#else

void embed_builtin_register(void)
{
}

#endif
