/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/internal.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"

extern char **environ;

/* --- the CGI variables, as a table ------------------------------------------------------------ */

enum source {
    FROM_FIELD, /* a struct str of the request, left out when NULL */
    FROM_CONST,
    FROM_PATH_TRANSLATED,
    FROM_PHP_SELF,
    FROM_HTTPS,
    FROM_LENGTH,
};

struct variable {
    struct str name;
    enum source source;
    size_t offset;
    const char *text;
};

#define FIELD(name_, member_) \
    {{name_, sizeof(name_) - 1}, FROM_FIELD, offsetof(struct embed_request, member_), NULL}
#define CONSTANT(name_, text_)   {{name_, sizeof(name_) - 1}, FROM_CONST, 0, text_}
#define COMPUTED(name_, source_) {{name_, sizeof(name_) - 1}, source_, 0, NULL}

static const struct variable variables[] = {
    FIELD("SCRIPT_FILENAME", script_filename),
    FIELD("SCRIPT_NAME", script_name),
    FIELD("PATH_INFO", path_info),
    COMPUTED("PATH_TRANSLATED", FROM_PATH_TRANSLATED),
    COMPUTED("PHP_SELF", FROM_PHP_SELF),
    FIELD("DOCUMENT_ROOT", document_root),
    FIELD("DOCUMENT_URI", document_uri),
    FIELD("REQUEST_URI", uri),
    FIELD("QUERY_STRING", query),
    FIELD("REQUEST_METHOD", method),
    FIELD("SERVER_PROTOCOL", protocol),
    FIELD("REQUEST_SCHEME", scheme),
    COMPUTED("HTTPS", FROM_HTTPS),
    FIELD("SERVER_NAME", server_name),
    FIELD("SERVER_ADDR", server_addr),
    FIELD("SERVER_PORT", server_port),
    FIELD("REMOTE_ADDR", remote_addr),
    FIELD("REMOTE_PORT", remote_port),
    CONSTANT("GATEWAY_INTERFACE", "CGI/1.1"),
    FIELD("SERVER_SOFTWARE", server_software),
    CONSTANT("REDIRECT_STATUS", "200"),
    FIELD("CONTENT_TYPE", content_type),
    COMPUTED("CONTENT_LENGTH", FROM_LENGTH),
    FIELD("REQUEST_ID", request_id),
};

/* Interned, so that no request hashes or copies the names. */
static zend_string *keys[ARRAY_LEN(variables)];

/* Joined values need a place that outlives the call; one of each is enough. */
static struct buf path_translated, php_self;
static char length_text[24];

static struct str joined(struct buf *b, struct str head, struct str tail)
{
    buf_clear(b);
    buf_add_str(b, head);
    buf_add_str(b, tail);
    (void)buf_cstr(b);
    return buf_str(b);
}

static struct str php_self_value(const struct embed_request *r)
{
    return r->path_info.p ? joined(&php_self, r->script_name, r->path_info) : r->script_name;
}

/* The value, NUL-terminated, valid until the next call for the same variable; STR_NONE: no such
 * key. */
static struct str variable_value(const struct variable *v, const struct embed_request *r)
{
    switch (v->source) {
    case FROM_FIELD:
        return *(const struct str *)(const void *)((const char *)r + v->offset);
    case FROM_CONST:
        return str_c(v->text);
    case FROM_PATH_TRANSLATED:
        return r->path_info.p ? joined(&path_translated, r->document_root, r->path_info) : STR_NONE;
    case FROM_PHP_SELF:
        return php_self_value(r);
    case FROM_HTTPS:
        return str_eq(r->scheme, STR("https")) ? STR("on") : STR_NONE;
    case FROM_LENGTH:
        if (r->content_length < 0)
            return STR_NONE;
        (void)snprintf(length_text, sizeof(length_text), "%lld", (long long)r->content_length);
        return str_c(length_text);
    }
    return STR_NONE;
}

/* --- header names ----------------------------------------------------------------------------- */

/* The name in the making. A client chooses its length, up to that of a request's head. */
static struct buf header_name;

/* "X-Forwarded-For" to "HTTP_X_FORWARDED_FOR" with a NUL, valid until the next call. False: this
 * header has no variable. */
static bool header_variable(struct str name, struct str *variable)
{
    static const struct str prefix = {"HTTP_", 5};
    char *out;

    if (name.len == 0)
        return false;
    /* Proxy would become HTTP_PROXY, which HTTP clients obey; the body's coding is already undone.
     */
    if (str_ieq(name, STR("Proxy")) || str_ieq(name, STR("Transfer-Encoding")))
        return false;
    buf_clear(&header_name);
    out = buf_reserve(&header_name, prefix.len + name.len + 1);
    memcpy(out, prefix.p, prefix.len);
    out += prefix.len;
    for (size_t i = 0; i < name.len; i++) {
        char c = str_upper_char(name.p[i]);

        if (c == '-')
            c = '_';
        else if (!(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '_')
            return false;
        out[i] = c;
    }
    out[name.len] = '\0';
    header_name.len = prefix.len + name.len;
    *variable = buf_str(&header_name);
    return true;
}

/* "HTTP_X_FORWARDED_FOR" to "X-Forwarded-For", as FPM does it: what begins a word stays as it is,
 * an underscore too. */
static struct str title_case(struct buf *b, struct str variable)
{
    size_t prefix = strlen("HTTP_"), len = variable.len - prefix;
    bool start = true;
    char *out;

    buf_clear(b);
    out = buf_reserve(b, len + 1);
    for (size_t i = 0; i < len; i++) {
        char c = variable.p[prefix + i];

        out[i] = start ? c : c == '_' ? '-' : str_lower_char(c);
        start = !start && c == '_';
    }
    out[len] = '\0';
    b->len = len;
    return buf_str(b);
}

/* --- all of them, in order -------------------------------------------------------------------- */

typedef void variable_cb(zval *array, zend_string *key, struct str name, struct str value);

static void each_header(const struct embed_request *r, variable_cb *cb, zval *array)
{
    bool cookie = false, authorization = false;
    struct str name;

    for (size_t i = 0; i < r->nheaders; i++) {
        const struct embed_field *h = &r->headers[i];

        if (!header_variable(h->name, &name))
            continue;
        cookie = cookie || str_ieq(h->name, STR("Cookie"));
        authorization = authorization || str_ieq(h->name, STR("Authorization"));
        cb(array, NULL, name, h->value);
    }
    if (!cookie && r->cookie.p)
        cb(array, NULL, STR("HTTP_COOKIE"), r->cookie);
    if (!authorization && r->authorization.p)
        cb(array, NULL, STR("HTTP_AUTHORIZATION"), r->authorization);
}

static void each_cgi_variable(const struct embed_request *r, variable_cb *cb, zval *array)
{
    if (embed_g.opt.cgi_environment)
        return; /* they came by the process environment */
    for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
        struct str value = variable_value(&variables[i], r);

        if (value.p)
            cb(array, keys[i], variables[i].name, value);
    }
    each_header(r, cb, array);
}

static void each_variable(const struct embed_request *r, variable_cb *cb, zval *array)
{
    each_cgi_variable(r, cb, array);
    for (size_t i = 0; i < r->nenv; i++)
        cb(array, NULL, r->env[i].name, r->env[i].value);
}

static void put(zval *array, zend_string *key, struct str name, zval *value)
{
    if (key)
        zend_hash_update(Z_ARRVAL_P(array), key, value);
    else
        zend_symtable_str_update(Z_ARRVAL_P(array), name.p, name.len, value);
}

static void put_unfiltered(zval *array, zend_string *key, struct str name, struct str value)
{
    zval z;

    ZVAL_STRINGL_FAST(&z, value.p ? value.p : "", value.len);
    put(array, key, name, &z);
}

static void put_filtered(
    int where, zval *array, zend_string *key, struct str name, struct str value)
{
    size_t n = value.len;
    zval z;

    if (sapi_module.input_filter && sapi_module.input_filter != php_default_input_filter) {
        char *copy = estrndup(value.p ? value.p : "", n);

        if (sapi_module.input_filter(where, name.p, &copy, n, &n)) {
            ZVAL_STRINGL_FAST(&z, copy, n);
            put(array, key, name, &z);
        }
        efree(copy);
        return;
    }
    ZVAL_STRINGL_FAST(&z, value.p ? value.p : "", n);
    put(array, key, name, &z);
}

/*
 * The extension `filter` sees each value on its way into an array and keeps it for filter_input();
 * it makes the name's form and a copy of either twice, a twelfth of a small request's work. With
 * its usual setting it changes no value, so it gets them only when a script asks for what it kept.
 */
static bool filter_is_phps; /* no other extension has put itself in its place */
static bool filter_is_idle; /* for the array that is made now */
static uint64_t filter_fed; /* the request whose values it has */

static bool filter_may_wait(void)
{
    bool may = filter_is_phps && !embed_g.opt.cgi_environment; /* as php-cgi does it */
    const char *filter = may ? INI_STR("filter.default") : NULL;

    return filter && (*filter == '\0' || strcmp(filter, "unsafe_raw") == 0);
}

/* PHP turns other names into variables' names; the filter does that, too. */
static bool is_plain_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.p[i] == ' ' || name.p[i] == '.' || name.p[i] == '[' || name.p[i] == '\0')
            return false;
    return name.len > 0;
}

static void put_value(int where, zval *array, zend_string *key, struct str name, struct str value)
{
    if (filter_is_idle && (key || is_plain_name(name)))
        put_unfiltered(array, key, name, value);
    else
        put_filtered(where, array, key, name, value);
}

static void put_server(zval *array, zend_string *key, struct str name, struct str value)
{
    put_value(PARSE_SERVER, array, key, name, value);
}

static void put_env(zval *array, zend_string *key, struct str name, struct str value)
{
    put_value(PARSE_ENV, array, key, name, value);
}

/* The filter puts into PHP's array what it keeps: another one takes that's place meanwhile, since
 * the script may have changed its own. */
static void feed_filter(int track, variable_cb *cb)
{
    zval kept;

    ZVAL_COPY_VALUE(&kept, &PG(http_globals)[track]);
    array_init(&PG(http_globals)[track]);
    each_variable(embed_g.req, cb, &PG(http_globals)[track]);
    zval_ptr_dtor(&PG(http_globals)[track]);
    ZVAL_COPY_VALUE(&PG(http_globals)[track], &kept);
}

void embed_variables_feed_filter(void)
{
    if (!embed_g.req || filter_fed == embed_g.nrequests || !filter_may_wait())
        return;
    filter_fed = embed_g.nrequests;
    filter_is_idle = false;
    feed_filter(TRACK_VARS_SERVER, put_server);
    if (strpbrk(PG(variables_order), "eE"))
        feed_filter(TRACK_VARS_ENV, put_env);
}

/* --- what PHP calls --------------------------------------------------------------------------- */

static void (*import_environment)(zval *array);
static void (*load_environment)(zval *array);

void embed_variables_register(zval *array)
{
    if (!embed_g.req)
        return;
    filter_is_idle = filter_may_wait();
    /* As FPM with clear_env = no: the process environment is visible, and anything of the request
     * wins. */
    if (!embed_g.opt.clear_env)
        import_environment(array);
    if (embed_g.opt.cgi_environment)
        put_server(array, NULL, STR("PHP_SELF"), php_self_value(embed_g.req));
    each_variable(embed_g.req, put_server, array);
}

/* $_ENV when variables_order has an E: as FPM, with the request's variables. */
static void import_with_request(zval *array)
{
    import_environment(array);
    if (array != &PG(http_globals)[TRACK_VARS_ENV])
        return; /* getenv(), see load_with_request() */
    filter_is_idle = filter_may_wait();
    if (embed_g.req)
        each_variable(embed_g.req, put_env, array);
}

/* getenv() without a name agrees with getenv(name): the site's entries are in the environment,
 * where putenv() may have changed them. */
static void load_with_request(zval *array)
{
    load_environment(array);
    if (embed_g.req)
        each_cgi_variable(embed_g.req, put_unfiltered, array);
}

static char *find_header(const struct embed_request *r, struct str wanted)
{
    struct str name;

    if (!str_starts(wanted, STR("HTTP_")))
        return NULL;
    for (size_t i = 0; i < r->nheaders; i++)
        if (header_variable(r->headers[i].name, &name) && str_eq(name, wanted))
            return (char *)(uintptr_t)r->headers[i].value.p;
    if (str_eq(wanted, STR("HTTP_COOKIE")))
        return (char *)(uintptr_t)r->cookie.p;
    if (str_eq(wanted, STR("HTTP_AUTHORIZATION")))
        return (char *)(uintptr_t)r->authorization.p;
    return NULL;
}

/* putenv() of the script comes after ours in PHP's order, so the site's entries are left to the
 * environment. */
char *embed_variables_getenv(const char *name, size_t len)
{
    const struct embed_request *r = embed_g.req;
    struct str wanted = {name, len};

    if (!r || embed_g.opt.cgi_environment)
        return NULL;
    for (size_t i = 0; i < r->nenv; i++)
        if (str_eq(r->env[i].name, wanted))
            return NULL;
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        if (str_eq(variables[i].name, wanted))
            return (char *)(uintptr_t)variable_value(&variables[i], r).p;
    return find_header(r, wanted);
}

static void put_header_line(zval *array, zend_string *key, struct str name, struct str value)
{
    static struct buf title;
    struct str key_name = title_case(&title, name);

    add_assoc_stringl_ex(array, key_name.p, key_name.len, value.p ? value.p : "", value.len);
}

void embed_variables_headers(zval *array)
{
    const struct embed_request *r = embed_g.req;

    if (!r)
        return;
    each_header(r, put_header_line, array);
    if (r->content_type.p)
        add_assoc_stringl(array, "Content-Type", r->content_type.p, r->content_type.len);
    if (r->content_length >= 0) {
        (void)snprintf(length_text, sizeof(length_text), "%lld", (long long)r->content_length);
        add_assoc_string(array, "Content-Length", length_text);
    }
}

/* --- the process environment ------------------------------------------------------------------ */

/* Names put there for the last request; "name=value" pairs to compare. */
static struct buf applied;

static bool env_is_applied(const struct embed_request *r)
{
    size_t at = 0;

    for (size_t i = 0; i < r->nenv; i++) {
        const struct embed_field *e = &r->env[i];
        size_t n = e->name.len + e->value.len + 2;

        if (applied.len - at < n || memcmp(applied.p + at, e->name.p, e->name.len) != 0 ||
            applied.p[at + e->name.len] != '\0' ||
            memcmp(applied.p + at + e->name.len + 1, e->value.p, e->value.len) != 0 ||
            applied.p[at + n - 1] != '\0')
            return false;
        at += n;
    }
    return at == applied.len;
}

void embed_variables_apply_env(const struct embed_request *r)
{
    if (env_is_applied(r))
        return;
    for (size_t at = 0; at < applied.len;) {
        const char *name = applied.p + at;

        (void)unsetenv(name);
        at += strlen(name) + 1;
        at += strlen(applied.p + at) + 1;
    }
    buf_clear(&applied);
    for (size_t i = 0; i < r->nenv; i++) {
        const struct embed_field *e = &r->env[i];

        /* A name that setenv refuses ("", "A=B") is in $_SERVER only. */
        (void)setenv(e->name.p, e->value.p, 1);
        buf_add(&applied, e->name.p, e->name.len);
        buf_add_char(&applied, '\0');
        buf_add(&applied, e->value.p, e->value.len);
        buf_add_char(&applied, '\0');
    }
}

void embed_variables_clear_env(void)
{
    const char *path = getenv("PATH"), *tmp = getenv("TMPDIR");
    char *keep_path = path ? mem_dup_str(path, strlen(path)) : NULL;
    char *keep_tmp = tmp ? mem_dup_str(tmp, strlen(tmp)) : NULL;

    (void)clearenv();
    if (keep_path)
        (void)setenv("PATH", keep_path, 1);
    if (keep_tmp)
        (void)setenv("TMPDIR", keep_tmp, 1);
    mem_free(keep_path);
    mem_free(keep_tmp);
}

/* Does it lie in PHP itself? */
static bool is_phps(const void *function)
{
    Dl_info own, other;

    return function && dladdr(function, &other) &&
           dladdr((void *)(uintptr_t)php_register_variable, &own) &&
           own.dli_fbase == other.dli_fbase;
}

void embed_variables_startup(void)
{
    filter_is_phps = is_phps((void *)(uintptr_t)sapi_module.input_filter) &&
                     sapi_module.input_filter != php_default_input_filter;
    /* Startup is over, so without OPcache new interned strings would belong to a request. */
    zend_interned_strings_switch_storage(0);
    for (size_t i = 0; i < ARRAY_LEN(variables); i++)
        keys[i] = zend_string_init_interned(variables[i].name.p, variables[i].name.len, true);
    zend_interned_strings_switch_storage(1);
    import_environment = php_import_environment_variables;
    php_import_environment_variables = import_with_request;
    load_environment = php_load_environment_variables;
    php_load_environment_variables = load_with_request;
}

void embed_variables_shutdown(void)
{
    buf_fini(&applied);
    buf_fini(&path_translated);
    buf_fini(&php_self);
}
