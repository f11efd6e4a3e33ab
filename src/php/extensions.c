/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/internal.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "platform/fs.h"

enum { INI_FILE_MAX = 4 << 20 };

/*
 * The extensions of the options, on their way into PHP: found, looked at, left out when an ini file
 * names them already. What is wrong with one stops the start: PHP itself would warn and go on
 * without it.
 */

struct extension {
    const char *asked; /* as the option has it */
    char *path;
    const char *module; /* its name for PHP, NULL: not known before it is loaded */
    bool zend;          /* it hooks into the engine: a zend_extension= line */
    bool missing;       /* there is no such file: it has to be built into PHP */
};

static struct extension *list;
static size_t count;
static struct err problem; /* the first one */

/* --- the user's own ini files ----------------------------------------------------------------- */

static struct str constant(const char *name)
{
    zval *z = zend_get_constant_str(name, strlen(name));

    return z && Z_TYPE_P(z) == IS_STRING ? str_n(Z_STRVAL_P(z), Z_STRLEN_P(z)) : STR_NONE;
}

static int add_file(struct buf *out, struct str dir, const char *name)
{
    struct buf path = {0};
    int rc;

    buf_printf(&path, STR_F "%s%s", STR_A(dir), *name ? "/" : "", name);
    buf_add_char(out, '\n');
    rc = fs_read_file(buf_cstr(&path), INI_FILE_MAX, out);
    buf_fini(&path);
    return rc;
}

/* php.ini, where PHP looks for it. */
static void add_main_file(struct buf *out)
{
    struct str places = str_c(embed_g.opt.ini_file), dir; /* a file, or folders */
    struct buf standard = {0};
    char by_sapi[80];

    (void)snprintf(by_sapi, sizeof(by_sapi), "php-%s.ini", sapi_module.name);
    if (places.len == 0) {
        const char *rc = getenv("PHPRC");

        buf_printf(&standard, "%s:" STR_F, rc ? rc : "", STR_A(constant("PHP_CONFIG_FILE_PATH")));
        places = buf_str(&standard);
    }
    while (str_split(&places, ':', &dir))
        if (dir.len && (add_file(out, dir, by_sapi) == 0 || add_file(out, dir, "php.ini") == 0 ||
                           add_file(out, dir, "") == 0))
            break;
    buf_fini(&standard);
}

static void add_dir(struct buf *out, struct str dir)
{
    char *copy = mem_dup_str(dir.p, dir.len);
    struct fs_dir *d = NULL;
    struct str name;

    if (fs_dir_open(copy, &d) == 0) {
        while (fs_dir_next(d, &name) == 0)
            if (str_ends(name, STR(".ini")))
                (void)add_file(out, dir, name.p);
        fs_dir_close(d);
    }
    mem_free(copy);
}

/* What PHP is about to read; a file that cannot be read says so in PHP's own log. */
static void read_ini(struct buf *out)
{
    struct str standard = constant("PHP_CONFIG_FILE_SCAN_DIR"), dir;
    const char *dirs = getenv("PHP_INI_SCAN_DIR");
    struct str rest = dirs ? str_c(dirs) : standard;

    if (!embed_g.opt.ini_none || embed_g.opt.ini_file)
        add_main_file(out);
    if (dirs && !*dirs)
        return;
    while (!embed_g.opt.ini_none && str_split(&rest, ':', &dir))
        if (dir.len || standard.len)
            add_dir(out, dir.len ? dir : standard);
    buf_add_char(out, '\n');
    buf_add_str(out, str_c(embed_g.opt.ini_entries));
}

/* The next "name = value" of an ini text, quotes taken off. */
static bool next_setting(struct str *rest, struct str *name, struct str *value)
{
    struct str line;

    while (str_split(rest, '\n', &line)) {
        ptrdiff_t eq = str_chr(line, '='), end;

        *name = str_trim(str_sub(line, 0, eq < 0 ? 0 : (size_t)eq));
        if (name->len == 0 || name->p[0] == ';' || name->p[0] == '[')
            continue;
        *value = str_trim(str_sub(line, (size_t)eq + 1, line.len));
        if (value->len && (value->p[0] == '"' || value->p[0] == '\'')) {
            end = str_chr(str_sub(*value, 1, value->len), value->p[0]);
            *value = str_sub(*value, 1, end < 0 ? value->len : (size_t)end);
        } else if (str_chr(*value, ';') >= 0) {
            *value = str_trim(str_sub(*value, 0, (size_t)str_chr(*value, ';')));
        }
        return true;
    }
    return false;
}

/* --- finding and judging one ------------------------------------------------------------------ */

/* "redis" and "redis.so" are in the extension directory, a path is itself. */
static void resolve(struct str name, struct str dir, struct buf *out)
{
    buf_clear(out);
    if (str_chr(name, '/') < 0)
        buf_printf(out, STR_F "/", STR_A(dir));
    buf_add_str(out, name);
    if (str_chr(name, '/') < 0 && !str_ends(name, STR(".so")))
        buf_add_lit(out, ".so");
}

static void complain(const struct extension *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void complain(const struct extension *e, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (!problem.code)
        (void)err_set(&problem, ERR_INVAL, "php.extensions: \"%s\": %s", e->asked, text);
}

static bool fits(const struct extension *e, const char *what, unsigned have, unsigned want,
    const char *build, const char *want_build)
{
    if (have != want)
        complain(e, "%s was built for the %s API %u, and PHP %s needs %u", e->path, what, have,
            embed_php_version(), want);
    else if (!build || strcmp(build, want_build) != 0)
        complain(e, "%s was built for %s, and PHP %s needs %s", e->path, build ? build : "?",
            embed_php_version(), want_build);
    else
        return true;
    return false;
}

/*
 * Which kind it is and whether it fits, told by the library itself. It stays open: PHP opens it
 * again, and this way its constructors run once.
 */
static bool judge(struct extension *e)
{
    void *lib = dlopen(e->path, RTLD_LAZY | RTLD_LOCAL);
    const zend_extension_version_info *version;
    zend_extension *zend;
    zend_module_entry *(*get)(void), *module;

    if (!lib) {
        const char *why = dlerror();
        size_t n = strlen(e->path);

        /* It may be in a library that PHP opens first (one extension uses another). */
        if (why && strstr(why, "undefined symbol"))
            return true;
        if (why && strncmp(why, e->path, n) == 0 && strncmp(why + n, ": ", 2) == 0)
            why += n + 2;
        complain(e, "%s cannot be loaded: %s", e->path, why ? why : "no reason given");
        return false;
    }
    zend = dlsym(lib, "zend_extension_entry");
    version = dlsym(lib, "extension_version_info");
    if (zend && version) {
        e->zend = true;
        e->module = zend->name;
        return fits(e, "Zend extension", (unsigned)version->zend_extension_api_no,
            ZEND_EXTENSION_API_NO, version->build_id, ZEND_EXTENSION_BUILD_ID);
    }
    *(void **)(void *)&get = dlsym(lib, "get_module");
    module = get ? get() : NULL;
    if (!module) {
        complain(e, "%s is a library, but no PHP extension", e->path);
        return false;
    }
    if (!fits(e, "module", module->zend_api, ZEND_MODULE_API_NO,
            module->zend_api == ZEND_MODULE_API_NO ? module->build_id : "", ZEND_MODULE_BUILD_ID))
        return false;
    e->module = module->name;
    return true;
}

static struct str file_name(struct str path)
{
    path = str_sub(path, (size_t)(str_rchr(path, '/') + 1), path.len);
    return str_ends(path, STR(".so")) ? str_sub(path, 0, path.len - 3) : path;
}

/* Does an ini file load it already? */
static bool is_in_ini(const struct extension *e, struct str ini, struct str dir)
{
    struct str name, value, mine = file_name(str_c(e->path));
    struct buf other = {0};
    bool found = false;

    while (!found && next_setting(&ini, &name, &value)) {
        if (!str_eq(name, STR("extension")) && !str_eq(name, STR("zend_extension")))
            continue;
        found = str_eq(file_name(value), mine);
        resolve(value, dir, &other);
        if (found && !str_eq(buf_str(&other), str_c(e->path)))
            embed_logf("extension \"%s\": an ini file loads %s, so %s is not", e->asked,
                buf_cstr(&other), e->path);
    }
    buf_fini(&other);
    return found;
}

static bool is_listed(const struct extension *e)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].path, e->path) == 0)
            return true;
    return false;
}

static void add(const char *asked, struct str ini, struct str dir, struct buf *lines)
{
    struct extension *e = &list[count];
    struct buf path = {0};

    *e = (struct extension){.asked = asked};
    resolve(str_c(asked), dir, &path);
    e->path = mem_dup_str(path.p, path.len);
    buf_fini(&path);
    if (strchr(e->path, '\'')) {
        complain(e, "a name with a quote cannot be told to PHP");
    } else if (fs_readable(e->path) == ERR_NOTFOUND) {
        e->missing = true;
        count++;
        return;
    } else if (!is_listed(e) && !is_in_ini(e, ini, dir) && judge(e)) {
        buf_printf(lines, "%s='%s'\n", e->zend ? "zend_extension" : "extension", e->path);
        count++;
        return;
    }
    mem_free(e->path);
}

void embed_extensions_find(struct buf *lines)
{
    const char *const *asked = embed_g.opt.extensions;
    struct str dir = constant("PHP_EXTENSION_DIR"), name, value, rest;
    struct buf ini = {0};
    size_t n = 0;

    while (asked && asked[n])
        n++;
    if (n == 0)
        return;
    list = mem_new_array(n, sizeof(*list));
    read_ini(&ini);
    rest = buf_str(&ini);
    while (next_setting(&rest, &name, &value))
        if (str_eq(name, STR("extension_dir")) && value.len)
            dir = value;
    for (size_t i = 0; i < n; i++)
        add(asked[i], buf_str(&ini), dir, lines);
    buf_fini(&ini);
}

static bool is_module(struct str name)
{
    struct buf lower = {0};
    bool found;

    for (size_t i = 0; i < name.len; i++)
        buf_add_char(&lower, str_lower_char(name.p[i]));
    found = zend_hash_str_exists(&module_registry, buf_cstr(&lower), lower.len);
    buf_fini(&lower);
    return found;
}

static bool is_loaded(const struct extension *e)
{
    struct str name = file_name(str_c(e->path));

    if (e->module)
        return zend_get_extension(e->module) || is_module(str_c(e->module));
    /* The file of "Zend OPcache" is opcache.so; newer versions of PHP have it built in. */
    return is_module(name) || (str_ieq(name, STR("opcache")) && is_module(STR("Zend OPcache")));
}

static void verify(const struct extension *e, const struct err *first)
{
    if (is_loaded(e) && !(e->missing && strchr(e->asked, '/')))
        return;
    if (e->missing)
        complain(e, "there is no file %s (PHP %s, module API %d)", e->path, embed_php_version(),
            ZEND_MODULE_API_NO);
    else
        complain(
            e, "PHP did not load %s: %s", e->path, first->code ? first->text : "no reason given");
}

int embed_extensions_verify(const struct err *first, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        verify(&list[i], first);
        mem_free(list[i].path);
    }
    mem_free(list);
    list = NULL;
    count = 0;
    if (problem.code)
        *err = problem;
    return problem.code;
}
