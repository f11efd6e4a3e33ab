/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/cli_internal.h"

#include <stdio.h>

#include "ext/standard/info.h"
#include "zend_extensions.h"

#include "base/str.h"
#include "php/embed.h"

/* --- -v --------------------------------------------------------------------------------------- */

/* The value of a line "Name => value" of phpinfo(), which alone knows how this libphp was built. */
static struct str info_line(struct str info, struct str name)
{
    ptrdiff_t at = str_find(info, name);
    struct str line;

    if (at < 0)
        return STR_NONE;
    info = str_sub(info, (size_t)at + name.len, info.len);
    return str_split(&info, '\n', &line) ? line : STR_NONE;
}

static void show_version(void)
{
    struct str info, date, provider;
    zval text;

    php_output_start_default();
    php_print_info(PHP_INFO_GENERAL);
    ZVAL_UNDEF(&text);
    (void)php_output_get_contents(&text); /* checked by its type */
    php_output_discard();
    info = Z_TYPE(text) == IS_STRING ? str_n(Z_STRVAL(text), Z_STRLEN(text)) : STR_NONE;
    date = info_line(info, STR("\nBuild Date => "));
    provider = info_line(info, STR("\nBuild Provider => "));
    php_printf(
        "PHP %s (%s) (built: " STR_F ")", embed_php_version(), sapi_module.name, STR_A(date));
    if (COMPAT_CGI_SAYS_NTS || strcmp(sapi_module.name, "cli") == 0)
        php_printf(" (NTS%s)", ZEND_DEBUG ? " DEBUG" : "");
    php_printf("\nCopyright (c) The PHP Group\n");
    if (provider.len)
        php_printf("Built by " STR_F "\n", STR_A(provider));
    php_printf("%s", get_zend_version());
    zval_ptr_dtor(&text);
}

/* --- -m --------------------------------------------------------------------------------------- */

static int by_module_name(Bucket *a, Bucket *b)
{
    return strcasecmp(
        ((zend_module_entry *)Z_PTR(a->val))->name, ((zend_module_entry *)Z_PTR(b->val))->name);
}

static void show_modules(void)
{
    HashTable sorted;
    zend_module_entry *module;

    php_printf("[PHP Modules]\n");
    zend_hash_init(&sorted, 64, NULL, NULL, false);
    zend_hash_copy(&sorted, &module_registry, NULL);
    zend_hash_sort(&sorted, by_module_name, 0);
    ZEND_HASH_FOREACH_PTR(&sorted, module)
    php_printf("%s\n", module->name);
    ZEND_HASH_FOREACH_END();
    zend_hash_destroy(&sorted);
}

static int by_extension_name(const zend_llist_element **a, const zend_llist_element **b)
{
    const zend_extension *x = (const void *)(*a)->data, *y = (const void *)(*b)->data;

    return strcmp(x->name, y->name);
}

static void show_extensions(void)
{
    zend_llist sorted;

    php_printf("\n[Zend Modules]\n");
    zend_llist_copy(&sorted, &zend_extensions);
    sorted.dtor = NULL;
    zend_llist_sort(&sorted, by_extension_name);
    for (zend_llist_element *e = sorted.head; e; e = e->next)
        php_printf("%s\n", ((const zend_extension *)(const void *)e->data)->name);
    zend_llist_destroy(&sorted);
    php_printf("\n");
}

/* --- --ini ------------------------------------------------------------------------------------ */

static void show_ini_path(const char *what, const char *path)
{
    php_printf("%-34s ", what);
    php_printf(path ? COMPAT_CLI_INI_PATH "\n" : "(none)\n", path);
}

static void show_ini_files(void)
{
    zval *dir = zend_get_constant_str(ZEND_STRL("PHP_CONFIG_FILE_PATH"));

    show_ini_path("Configuration File (php.ini) Path:", dir ? Z_STRVAL_P(dir) : "");
    show_ini_path("Loaded Configuration File:", php_ini_opened_path);
    show_ini_path("Scan for additional .ini files in:", php_ini_scanned_path);
    php_printf("Additional .ini files parsed:      %s\n",
        php_ini_scanned_files ? php_ini_scanned_files : "(none)");
}

static void show_value(const char *value)
{
    php_printf(value ? "\"%s\"" : "(none)", value);
}

/* --ini=diff: what is not as PHP has it built in. */
static void show_ini_difference(void)
{
    zend_ini_entry *e;

    zend_ini_sort_entries();
    php_printf("Non-default INI settings:\n");
    ZEND_HASH_FOREACH_PTR(EG(ini_directives), e)
    {
        const char *usual = compat_ini_default(e), *is = e->value ? ZSTR_VAL(e->value) : NULL;

        if (usual == is || (usual && is && strcmp(usual, is) == 0))
            continue;
        php_printf("%s: ", ZSTR_VAL(e->name));
        show_value(usual);
        php_printf(" -> ");
        show_value(is);
        php_printf("\n");
    }
    ZEND_HASH_FOREACH_END();
}

/* --- --rf, --rc, --re, --rz, --ri ------------------------------------------------------------- */

static const char *reflection_class(const struct cli_command *c)
{
    switch (c->mode) {
    case CLI_REFLECT_FUNCTION:
        return strstr(c->subject, "::") ? "reflectionmethod" : "reflectionfunction";
    case CLI_REFLECT_CLASS:
        return "reflectionclass";
    case CLI_REFLECT_EXTENSION:
        return "reflectionextension";
    default:
        return "reflectionzendextension";
    }
}

static void show_exception(void)
{
    zend_object *e = EG(exception);
    zval copy;
    zval *message = zend_read_property_ex(
        zend_get_exception_base(e), e, ZSTR_KNOWN(ZEND_STR_MESSAGE), true, &copy);

    zend_printf("Exception: %s\n", Z_TYPE_P(message) == IS_STRING ? Z_STRVAL_P(message) : "");
    zend_clear_exception();
    EG(exit_status) = 1;
}

static void show_reflection(const struct cli_command *c)
{
    const char *name = reflection_class(c);
    zend_class_entry *class = zend_hash_str_find_ptr(CG(class_table), name, strlen(name));
    zend_execute_data frame = {.func = (zend_function *)&zend_pass_function};
    zval object, subject, text;

    if (!class || object_init_ex(&object, class) == FAILURE)
        return;
    EG(current_execute_data) = &frame; /* without one, an exception is fatal at once */
    ZVAL_STRING(&subject, c->subject);
    zend_call_known_instance_method_with_1_params(
        class->constructor, Z_OBJ(object), NULL, &subject);
    if (EG(exception)) {
        show_exception();
    } else {
        ZVAL_UNDEF(&text);
        zend_call_known_instance_method_with_0_params(class->__tostring, Z_OBJ(object), &text);
        if (Z_TYPE(text) == IS_STRING)
            php_printf("%s\n", Z_STRVAL(text));
        zval_ptr_dtor(&text);
    }
    zval_ptr_dtor(&subject);
    zval_ptr_dtor(&object);
    EG(current_execute_data) = NULL;
}

static void show_extension_info(const char *name)
{
    size_t n = strlen(name);
    char *lower = zend_str_tolower_dup(name, n);
    zend_module_entry *module = zend_hash_str_find_ptr(&module_registry, lower, n);

    efree(lower);
    if (module) {
        php_info_print_module(module);
    } else if (strcmp(name, "main") == 0) {
        display_ini_entries(NULL);
    } else {
        php_printf("Extension '%s' not present.\n", name);
        EG(exit_status) = 1;
    }
}

/* --- -h --------------------------------------------------------------------------------------- */

static const char usage[] =
    "Usage: %s [options] [-f] <file> [--] [args...]\n"
    "   %s [options] -r <code> [--] [args...]\n"
    "   %s [options] [-B <code>] -R <code> [-E <code>] [--] [args...]\n"
    "   %s [options] [-B <code>] -F <file> [-E <code>] [--] [args...]\n"
    "   %s [options] -S <addr>:<port> [-t <folder>] [router]\n"
    "   %s [options] -- [args...]     (the program comes on standard input)\n"
    "   %s [options] -a\n"
    "\n";

static const char usage_options[] =
    "what to run\n"
    "  -f, --file <file>         the program\n"
    "  -r, --run CODE            this code, without <?php\n"
    "  -B, --process-begin CODE  before the first line of standard input\n"
    "  -R, --process-code CODE   for each line, which is in $argn, its number in $argi\n"
    "  -F, --process-file FILE   for each line, a file\n"
    "  -E, --process-end CODE    after the last line\n"
    "  -a, --interactive         read and run line by line (needs ext-readline)\n"
    "  -S, --server ADDR:PORT    serve a folder for development\n"
    "  -t, --docroot FOLDER      that folder\n"
    "\n"
    "settings\n"
    "  -c, --php-ini PATH        php.ini, or the folder to look for it\n"
    "  -n, --no-php-ini          no php.ini and no scanned files\n"
    "  -d, --define NAME[=VALUE] one setting\n"
    "  -z, --zend-extension FILE load it\n"
    "  -e, --profile-info        compile with information for debuggers and profilers\n"
    "  -H, --hide-args           hide the arguments from ps\n"
    "  -C, -q                    nothing: what php-cgi does with them is so here\n"
    "\n"
    "instead of running\n"
    "  -l, --syntax-check        only check the syntax\n"
    "  -s, --syntax-highlight    print the source as coloured HTML\n"
    "  -w, --strip               print the source without comments and white space\n"
    "  -i, --info                phpinfo()\n"
    "  -m, --modules             extensions\n"
    "  -v, --version             version\n"
    "  --ini                     which configuration files were read; from PHP 8.5 on also\n"
    "  --ini=diff                settings that are not as PHP has them built in\n"
    "  --rf NAME, --rc NAME      what there is to know about a function, a class\n"
    "  --re NAME, --rz NAME      about an extension, a Zend extension\n"
    "  --ri NAME                 settings of an extension\n"
    "  --repeat NUMBER           run it so often, as PHP's own tests want it\n"
    "  -h, --help                this text\n";

void embed_cli_usage(const char *argv0)
{
    const char *slash = strrchr(argv0, '/');
    const char *p = slash ? slash + 1 : argv0;

    printf(usage, p, p, p, p, p, p, p);
    fputs(usage_options, stdout);
}

/* --- all of them ------------------------------------------------------------------------------ */

void embed_cli_show(const struct cli_command *c)
{
    switch (c->mode) {
    case CLI_VERSION:
        show_version();
        break;
    case CLI_MODULES:
        show_modules();
        show_extensions();
        break;
    case CLI_INFO:
        php_print_info(PHP_INFO_ALL & ~PHP_INFO_CREDITS);
        break;
    case CLI_INI_FILES:
        if (c->subject)
            show_ini_difference();
        else
            show_ini_files();
        break;
    case CLI_EXTENSION_INFO:
        show_extension_info(c->subject);
        break;
    default:
        show_reflection(c);
        break;
    }
    php_output_end_all();
}
