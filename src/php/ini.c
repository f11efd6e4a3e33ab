/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/internal.h"

#include "base/buf.h"
#include "base/mem.h"

/* --- startup ---------------------------------------------------------------------------------- */

/*
 * One "name=value" line. error_reporting is an expression of constants; anything else is quoted so
 * that the parser takes no character of it for syntax.
 */
static void add_setting(struct buf *b, const char *name, const char *value)
{
    buf_printf(b, "%s=", name);
    if (strcmp(name, "error_reporting") == 0) {
        buf_add_str(b, str_c(value));
    } else if (!strchr(value, '\'')) {
        buf_printf(b, "'%s'", value);
    } else {
        buf_add_char(b, '"');
        for (const char *p = value; *p; p++) {
            if (*p == '"' || *p == '\\')
                buf_add_char(b, '\\');
            buf_add_char(b, *p);
        }
        buf_add_char(b, '"');
    }
    buf_add_char(b, '\n');
}

char *embed_ini_text(const struct embed_options *opt, struct str extensions)
{
    struct str entries = str_c(opt->ini_entries);
    ptrdiff_t section = str_find(entries, STR("\n["));
    size_t general = section < 0 ? entries.len : (size_t)section;
    struct buf b = {0};
    char *text;

    buf_add_str(&b, extensions);
    /* A [PATH=] or [HOST=] section cannot be left again, so what is for all comes before the first.
     */
    buf_add_str(&b, str_sub(entries, 0, general));
    buf_add_char(&b, '\n');
    /* As ini text and not by altering entries later: some settings act at startup only. */
    for (size_t i = 0; opt->admin_ini && opt->admin_ini[i] && opt->admin_ini[i + 1]; i += 2)
        add_setting(&b, opt->admin_ini[i], opt->admin_ini[i + 1]);
    buf_add_str(&b, str_sub(entries, general, entries.len));
    text = mem_dup_str(b.p, b.len);
    buf_fini(&b);
    return text;
}

void embed_ini_lock_admin(const struct embed_options *opt)
{
    for (size_t i = 0; opt->admin_ini && opt->admin_ini[i] && opt->admin_ini[i + 1]; i += 2) {
        const char *name = opt->admin_ini[i];
        zend_ini_entry *entry = zend_hash_str_find_ptr(EG(ini_directives), name, strlen(name));

        if (entry)
            entry->modifiable = ZEND_INI_SYSTEM;
        else
            embed_logf("locked setting \"%s\" is unknown to PHP and its extensions", name);
    }
}

void embed_ini_check_names(const struct embed_options *opt)
{
    for (size_t i = 0; opt->ini_names && opt->ini_names[i]; i++) {
        const char *name = opt->ini_names[i];
        bool loads = strcmp(name, "extension") == 0 || strcmp(name, "zend_extension") == 0;

        if (!loads && !zend_hash_str_find_ptr(EG(ini_directives), name, strlen(name)))
            embed_logf("setting \"%s\" is unknown to PHP and its extensions", name);
    }
}

/* --- paths ------------------------------------------------------------------------------------ */

/*
 * A setting that the request may not change has this access instead of ZEND_INI_SYSTEM: OPcache
 * puts the value of a setting of that very access into the code that it caches, for all requests.
 */
enum { INI_LOCKED = ZEND_INI_SYSTEM | 8 };

struct path_setting {
    zend_string *name, *value; /* as long as PHP */
    bool unknown;
    bool told; /* that PHP refused it */
};

struct path_rule {
    struct str path; /* without a final slash */
    struct path_setting *values, *admin;
    size_t nvalues, nadmin;
};

static struct path_rule *rules;
static size_t nrules;

static struct path_setting *make_settings(
    const struct embed_path *p, const char *const *pairs, size_t *n)
{
    struct path_setting *v;

    for (*n = 0; pairs && pairs[2 * *n]; (*n)++)
        ;
    v = mem_new_array(*n + 1, sizeof(*v));
    for (size_t i = 0; i < *n; i++) {
        const char *name = pairs[2 * i], *value = pairs[2 * i + 1];
        zend_ini_entry *entry = zend_hash_str_find_ptr(EG(ini_directives), name, strlen(name));

        v[i].name = zend_string_init(name, strlen(name), true);
        v[i].value = zend_string_init(value, strlen(value), true);
        v[i].unknown = !entry;
        if (!entry)
            embed_logf("setting \"%s\" of the path %s is unknown to PHP and its extensions", name,
                p->path);
        else if (entry->modifiable == ZEND_INI_SYSTEM)
            entry->modifiable = INI_LOCKED;
    }
    return v;
}

void embed_ini_startup(const struct embed_options *opt)
{
    if (opt->npaths || php_ini_has_per_host_config() || php_ini_has_per_dir_config())
        embed_functions_hide_locks();
    if (!opt->npaths)
        return;
    rules = mem_new_array(opt->npaths, sizeof(*rules));
    for (; nrules < opt->npaths; nrules++) {
        const struct embed_path *p = &opt->paths[nrules];
        struct path_rule *r = &rules[nrules];

        r->path = str_c(p->path);
        if (str_ends(r->path, STR("/")))
            r->path.len--;
        r->values = make_settings(p, p->values, &r->nvalues);
        r->admin = make_settings(p, p->admin, &r->nadmin);
    }
}

/* False: PHP refuses it, which is told once; the next request may have it. */
static bool set_one(const struct path_rule *r, struct path_setting *v)
{
    int level = EG(error_reporting);
    bool ok;

    if (v->told)
        EG(error_reporting) = 0; /* PHP's own warning came with ours */
    ok = zend_alter_ini_entry_ex(
             v->name, v->value, ZEND_INI_SYSTEM, ZEND_INI_STAGE_HTACCESS, true) == SUCCESS;
    if (v->told)
        EG(error_reporting) = level;
    else if (!ok)
        embed_logf("PHP refuses \"%s\" as %s for the path " STR_F "/", ZSTR_VAL(v->value),
            ZSTR_VAL(v->name), STR_A(r->path));
    v->told = v->told || !ok;
    return ok;
}

/* PHP takes them back at the request's end. lock: against .user.ini and the script. */
static void set_all(const struct path_rule *r, struct path_setting *v, size_t n, bool lock)
{
    for (size_t i = 0; i < n; i++) {
        zend_ini_entry *entry;

        if (v[i].unknown || !set_one(r, &v[i]))
            continue;
        entry = zend_hash_find_ptr(EG(ini_directives), v[i].name);
        if (lock && entry)
            entry->modifiable = INI_LOCKED;
    }
}

static void apply_paths(const struct embed_request *req)
{
    for (size_t i = 0; i < nrules; i++) {
        if (!str_under(req->path, rules[i].path))
            continue;
        set_all(&rules[i], rules[i].values, rules[i].nvalues, false);
        set_all(&rules[i], rules[i].admin, rules[i].nadmin, true);
    }
}

/* --- .user.ini -------------------------------------------------------------------------------- */

/* The merged settings of one script directory, from the document root down. */
struct user_ini {
    HashTable settings;
    double expires;
};

static HashTable cache; /* "root\ndirectory" to struct user_ini */
static bool cache_ready;

static void free_user_ini(zval *z)
{
    struct user_ini *u = Z_PTR_P(z);

    zend_hash_destroy(&u->settings);
    free(u);
}

static void parse_dir(struct user_ini *u, struct str dir)
{
    char *copy = mem_dup_str(dir.p, dir.len);

    (void)php_parse_user_ini_file(copy, PG(user_ini_filename), &u->settings);
    mem_free(copy);
}

/* From the document root down when the script is below it, else its own directory alone. */
static void scan(struct user_ini *u, struct str root, struct str dir)
{
    if (root.len == 0 || !str_under(dir, root)) {
        parse_dir(u, dir);
        return;
    }
    for (size_t i = root.len; i <= dir.len; i++)
        if (i == dir.len || dir.p[i] == '/')
            parse_dir(u, str_sub(dir, 0, i));
}

static struct user_ini *lookup(struct str root, struct str dir, double now)
{
    struct buf key = {0};
    struct user_ini *u;

    if (!cache_ready) {
        zend_hash_init(&cache, 8, NULL, free_user_ini, true);
        cache_ready = true;
    }
    buf_add_str(&key, root);
    buf_add_char(&key, '\n');
    buf_add_str(&key, dir);
    u = zend_hash_str_find_ptr(&cache, key.p, key.len);
    if (!u || now > u->expires) {
        u = pecalloc(1, sizeof(*u), true);
        zend_hash_init(&u->settings, 8, NULL, (dtor_func_t)config_zval_dtor, true);
        zend_hash_str_update_ptr(&cache, key.p, key.len, u);
        scan(u, root, dir);
        u->expires = now + (double)PG(user_ini_cache_ttl);
    }
    buf_fini(&key);
    return u;
}

static void apply_user_ini(const struct embed_request *req, struct str dir)
{
    struct user_ini *u;

    if (!embed_g.opt.user_ini || !PG(user_ini_filename) || !*PG(user_ini_filename))
        return;
    u = lookup(req->document_root, dir, req->time);
    if (zend_hash_num_elements(&u->settings) > 0)
        php_ini_activate_config(&u->settings, PHP_INI_PERDIR, PHP_INI_STAGE_HTACCESS);
}

/* What a section of php.ini sets is locked, and is this request's alone. */
static void apply_sections(const struct embed_request *req)
{
    zend_ini_entry *entry;

    if (php_ini_has_per_host_config() && req->server_name.len)
        php_ini_activate_per_host_config(req->server_name.p, req->server_name.len);
    if (php_ini_has_per_dir_config()) {
        /* PHP writes to it while it walks, and takes only what ends in a slash for a directory. */
        char *copy = mem_dup_str(req->script_filename.p, req->script_filename.len);

        php_ini_activate_per_dir_config(copy, req->script_filename.len);
        mem_free(copy);
    }
    if (!EG(modified_ini_directives))
        return;
    ZEND_HASH_FOREACH_PTR(EG(modified_ini_directives), entry)
    {
        if (entry->modifiable == ZEND_INI_SYSTEM)
            entry->modifiable = INI_LOCKED;
    }
    ZEND_HASH_FOREACH_END();
}

/*
 * Called before php_request_startup(), so that post_max_size and enable_post_data_reading act on
 * this very request; PHP before 8.5 reads a form body ahead of the activate callback, where CGI and
 * FPM apply their files.
 */
void embed_ini_apply(const struct embed_request *req)
{
    struct str path = req->script_filename;
    ptrdiff_t slash = str_rchr(path, '/');
    struct str dir = slash > 0 ? str_sub(path, 0, (size_t)slash) : STR("/");

    apply_paths(req);
    apply_sections(req);
    apply_user_ini(req, dir);
}

static void free_settings(struct path_setting *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        zend_string_release(v[i].name);
        zend_string_release(v[i].value);
    }
    mem_free(v);
}

void embed_ini_shutdown(void)
{
    for (; nrules > 0; nrules--) {
        struct path_rule *r = &rules[nrules - 1];

        free_settings(r->values, r->nvalues);
        free_settings(r->admin, r->nadmin);
    }
    mem_free(rules);
    rules = NULL;
    if (cache_ready)
        zend_hash_destroy(&cache);
    cache_ready = false;
}
