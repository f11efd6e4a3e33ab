/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "base/mem.h"
#include "php/internal.h"
#include "zend_extensions.h"

/* --- calls into OPcache, each inside a small request ------------------------------------------ */

/*
 * disable_functions may forbid PHP code to call these, and a site of many gets them forbidden; the
 * server needs them all the same. They are noted while PHP starts, after OPcache has registered
 * them and before php.ini's list is applied: an extension of ours stands behind OPcache in the list
 * of those to be started.
 */
static struct {
    const char *name;
    zend_internal_function fn; /* handler NULL: OPcache is not loaded */
} opcache_calls[] = {{.name = "opcache_get_status"}, {.name = "opcache_compile_file"}};
enum { CALL_STATUS, CALL_COMPILE };

/* The description of the arguments is freed with a disabled function: this is a copy, as long as
 * the process. The entry before the first is the return value's. */
static zend_internal_arg_info *copy_arg_info(const zend_internal_function *fn)
{
    size_t n = (size_t)fn->num_args + 1;
    zend_internal_arg_info *copy = mem_new_array(n, sizeof(*copy));

    memcpy(copy, fn->arg_info - 1, n * sizeof(*copy));
    return copy + 1;
}

/* Returning failure takes this extension out of the list again. */
static int opcache_note_calls(zend_extension *extension)
{
    (void)extension;
    for (size_t i = 0; i < ARRAY_LEN(opcache_calls); i++) {
        zend_function *fn = zend_hash_str_find_ptr(
            CG(function_table), opcache_calls[i].name, strlen(opcache_calls[i].name));

        if (!fn || fn->type != ZEND_INTERNAL_FUNCTION)
            continue;
        opcache_calls[i].fn = fn->internal_function;
        opcache_calls[i].fn.arg_info = copy_arg_info(&fn->internal_function);
        if (fn->common.function_name)
            zend_string_addref(fn->common.function_name);
    }
    return FAILURE;
}

void embed_watch_opcache(void)
{
    zend_extension watcher = {.name = "ephpm", .startup = opcache_note_calls};

    zend_register_extension(&watcher, NULL);
}

/* False when there is no such function or it failed. */
static bool call(int which, zval *arg, zval *result)
{
    zend_string *name =
        zend_string_init("opcache.restrict_api", sizeof("opcache.restrict_api") - 1, 0);

    ZVAL_UNDEF(result);
    /* Only for this request. A failure shows in the call. */
    (void)zend_alter_ini_entry_chars(name, "", 0, ZEND_INI_SYSTEM, ZEND_INI_STAGE_RUNTIME);
    zend_string_release(name);
    if (!opcache_calls[which].fn.handler)
        return false;
    zend_call_known_function(
        (zend_function *)&opcache_calls[which].fn, NULL, NULL, result, 1, arg, NULL);
    return Z_TYPE_P(result) != IS_UNDEF;
}

static zval *member(zval *array, const char *name)
{
    if (!array || Z_TYPE_P(array) != IS_ARRAY)
        return NULL;
    return zend_hash_str_find(Z_ARRVAL_P(array), name, strlen(name));
}

static uint64_t member_u64(zval *array, const char *name)
{
    zval *z = member(array, name);
    zend_long v = z ? zval_get_long(z) : 0;

    return v > 0 ? (uint64_t)v : 0;
}

static bool member_true(zval *array, const char *name)
{
    zval *z = member(array, name);

    return z && zend_is_true(z);
}

static bool opcache_status(bool with_scripts, zval *out)
{
    zval arg;

    ZVAL_BOOL(&arg, with_scripts);
    return call(CALL_STATUS, &arg, out) && Z_TYPE_P(out) == IS_ARRAY &&
           member_true(out, "opcache_enabled");
}

/* --- scripts ---------------------------------------------------------------------------------- */

struct scripts_call {
    embed_script_cb *cb;
    void *arg;
    bool ok;
};

static void scripts_run(void *arg)
{
    struct scripts_call *c = arg;
    zval status, *scripts;
    zend_string *path;

    c->ok = opcache_status(true, &status);
    scripts = c->ok ? member(&status, "scripts") : NULL;
    if (scripts && Z_TYPE_P(scripts) == IS_ARRAY)
        ZEND_HASH_FOREACH_STR_KEY(Z_ARRVAL_P(scripts), path)
        {
            if (path)
                c->cb(c->arg, str_n(ZSTR_VAL(path), ZSTR_LEN(path)));
        }
    ZEND_HASH_FOREACH_END();
    zval_ptr_dtor(&status);
}

int embed_opcache_scripts(embed_script_cb *cb, void *arg)
{
    struct scripts_call c = {.cb = cb, .arg = arg};
    int r = embed_mini_request(scripts_run, &c);

    if (r < 0)
        return r;
    return c.ok ? 0 : ERR_UNSUPPORTED;
}

/* --- compile ---------------------------------------------------------------------------------- */

struct compile_call {
    const char *path;
    bool have, ok;
};

static void compile_run(void *arg)
{
    struct compile_call *c = arg;
    zval path, result;

    if (!opcache_status(false, &result)) {
        zval_ptr_dtor(&result);
        return;
    }
    zval_ptr_dtor(&result);
    c->have = true;
    ZVAL_STRING(&path, c->path);
    c->ok = call(CALL_COMPILE, &path, &result) && Z_TYPE(result) == IS_TRUE;
    zval_ptr_dtor(&path);
    zval_ptr_dtor(&result);
}

int embed_compile(const char *path, struct err *err)
{
    struct compile_call c = {.path = path};
    struct err first = {0};
    int r;

    embed_g.collect = &first;
    embed_g.quiet = true;
    r = embed_mini_request(compile_run, &c);
    embed_g.quiet = false;
    embed_g.collect = NULL;
    if (r < 0)
        return err_set(err, r, "PHP could not start a request to compile %s", path);
    if (!c.have)
        return err_set(err, ERR_UNSUPPORTED, "OPcache is off");
    if (first.code)
        return err_set_at(err, ERR_INVAL, first.line, 0, "%s", first.text);
    return c.ok ? 0 : err_set(err, ERR_INVAL, "%s could not be compiled", path);
}

/* --- status ----------------------------------------------------------------------------------- */

/* opcache.jit is a name or a four-digit number whose third digit is the trigger: 5 is tracing. */
static void jit_mode(struct embed_status *out)
{
    const char *v = INI_STR("opcache.jit");
    const char *mode = "function";

    if (!v || !*v || !strcmp(v, "disable") || !strcmp(v, "off") || !strcmp(v, "0") ||
        !strcmp(v, "no"))
        mode = "disable";
    else if (!strcmp(v, "tracing") || !strcmp(v, "on") || !strcmp(v, "yes") || !strcmp(v, "1") ||
             (strlen(v) == 4 && v[2] == '5'))
        mode = "tracing";
    (void)snprintf(out->jit_mode, sizeof(out->jit_mode), "%s", out->jit ? mode : "disable");
}

static void status_run(void *arg)
{
    struct embed_status *out = arg;
    zval status, *memory, *jit;

    if (opcache_status(false, &status)) {
        memory = member(&status, "memory_usage");
        jit = member(&status, "jit");
        out->opcache = true;
        out->opcache_full = member_true(&status, "cache_full");
        out->opcache_used = member_u64(memory, "used_memory");
        out->opcache_free = member_u64(memory, "free_memory");
        out->opcache_wasted = member_u64(memory, "wasted_memory");
        out->cached_scripts =
            member_u64(member(&status, "opcache_statistics"), "num_cached_scripts");
        out->jit = member_true(jit, "enabled") && member_true(jit, "on");
        out->jit_buffer_size = member_u64(jit, "buffer_size");
        out->jit_buffer_free = member_u64(jit, "buffer_free");
    }
    zval_ptr_dtor(&status);
}

static void status_names(struct embed_status *out)
{
    *out = (struct embed_status){0};
    (void)snprintf(out->php_version, sizeof(out->php_version), "%s", embed_php_version());
    (void)snprintf(out->sapi, sizeof(out->sapi), "%s", sapi_module.name ? sapi_module.name : "");
    (void)snprintf(out->vm_kind, sizeof(out->vm_kind), "%s", embed_vm_kind());
}

const char *embed_vm_kind(void)
{
    return compat_vm_kind();
}

bool embed_vm_has_jit(void)
{
    return compat_vm_has_jit();
}

void embed_get_status_quick(struct embed_status *out)
{
    status_names(out);
    out->opcache = zend_get_extension("Zend OPcache") != NULL && INI_BOOL("opcache.enable");
    out->jit = out->opcache && embed_vm_has_jit() && INI_INT("opcache.jit_buffer_size") > 0;
    jit_mode(out);
    out->jit = out->jit && strcmp(out->jit_mode, "disable") != 0;
}

void embed_get_status(struct embed_status *out)
{
    status_names(out);
    if (embed_g.started && embed_mini_request(status_run, out) == 0)
        jit_mode(out);
    else
        (void)snprintf(out->jit_mode, sizeof(out->jit_mode), "disable");
}
