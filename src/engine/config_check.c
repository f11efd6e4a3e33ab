/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/config_table.h"

#include <string.h>

#include "engine/config.h"
#include "platform/sock.h"

/* Letters of an HTTP field name (RFC 9110 "tchar"). */
static bool is_token(const char *s)
{
    if (!*s)
        return false;
    for (; *s; s++) {
        bool alnum =
            (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9');

        if (!alnum && !strchr("!#$%&'*+-.^_`|~", *s))
            return false;
    }
    return true;
}

static bool has_control(const char *s)
{
    for (; *s; s++) {
        if (((unsigned char)*s < 0x20 && *s != '\t') || *s == 0x7f)
            return true;
    }
    return false;
}

int config_check_listen(const struct conf_row *row, const void *value, struct err *why)
{
    const char *s = *(const char *const *)value;
    struct sock_addr addr;

    if (!s)
        return 0;
    if (sock_addr_parse(str_c(s), &addr) != 0)
        return err_set(why, ERR_INVAL,
            "must be an address and a port, as in \"127.0.0.1:8080\" or \"[::]:80\"");
    return 0;
}

int config_check_listen_or_none(const struct conf_row *row, const void *value, struct err *why)
{
    const char *s = *(const char *const *)value;

    return *s ? config_check_listen(row, value, why) : 0;
}

int config_check_cidrs(const struct conf_row *row, const void *value, struct err *why)
{
    const struct conf_list *list = value;

    for (size_t i = 0; i < list->n; i++) {
        struct sock_addr net;
        unsigned bits;

        if (sock_cidr_parse(str_c(list->v[i]), &net, &bits) != 0)
            return err_set(why, ERR_INVAL,
                "\"%.60s\" is no address or network, as in \"10.0.0.0/8\" or \"::1\"", list->v[i]);
    }
    return 0;
}

int config_check_filled(const struct conf_row *row, const void *value, struct err *why)
{
    const struct conf_list *list = value;

    for (size_t i = 0; i < list->n; i++) {
        if (!*list->v[i] || has_control(list->v[i]))
            return err_set(why, ERR_INVAL, "item %zu is empty or holds a control character", i + 1);
    }
    return 0;
}

int config_check_index(const struct conf_row *row, const void *value, struct err *why)
{
    const struct conf_list *list = value;

    for (size_t i = 0; i < list->n; i++) {
        if (!*list->v[i] || strchr(list->v[i], '/'))
            return err_set(
                why, ERR_INVAL, "\"%.60s\" must be a file name without a slash", list->v[i]);
    }
    return 0;
}

static bool is_status_entry(const char *s)
{
    return s[0] == '=' && strlen(s) == 4 && s[1] >= '1' && s[1] <= '5' && s[2] >= '0' &&
           s[2] <= '9' && s[3] >= '0' && s[3] <= '9';
}

int config_check_fallback(const struct conf_row *row, const void *value, struct err *why)
{
    const struct conf_list *list = value;

    for (size_t i = 0; i < list->n; i++) {
        const char *s = list->v[i];

        if (s[0] == '=' && (!is_status_entry(s) || i + 1 < list->n))
            return err_set(
                why, ERR_INVAL, "\"%.60s\": a status is written \"=404\" and stands last", s);
        if (s[0] != '=' && s[0] != '/' && s[0] != '$')
            return err_set(why, ERR_INVAL, "\"%.60s\" must start with \"/\", \"$uri\" or \"=\"", s);
    }
    return 0;
}

int config_check_header_value(const struct conf_row *row, const void *value, struct err *why)
{
    if (has_control(*(const char *const *)value))
        return err_set(why, ERR_INVAL, "must not hold control characters");
    return 0;
}

int config_check_one_line(const struct conf_row *row, const void *value, struct err *why)
{
    const char *s = *(const char *const *)value;

    if (s && has_control(s))
        return err_set(why, ERR_INVAL, "must not hold control characters");
    return 0;
}

/* The letters of host_site_key(): a host that holds others has no folder. */
int config_check_site(const struct conf_row *row, const void *value, struct err *why)
{
    const char *s = *(const char *const *)value;

    if (s && (s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789._-")] || *s == '.' || *s == '-'))
        return err_set(why, ERR_INVAL,
            "\"%.60s\" is no name of a site: as in a host, it has lower case letters, digits, "
            "\".\", \"_\" and \"-\"",
            s);
    return 0;
}

int config_check_headers(const struct conf_row *row, const void *value, struct err *why)
{
    const struct conf_pairs *pairs = value;

    for (size_t i = 0; i < pairs->n; i++) {
        if (!is_token(pairs->v[i].key))
            return err_set(why, ERR_INVAL, "\"%.60s\" is no header name", pairs->v[i].key);
        if (has_control(pairs->v[i].value))
            return err_set(
                why, ERR_INVAL, "the value of \"%.60s\" holds control characters", pairs->v[i].key);
    }
    return 0;
}

int config_check_error_pages(const struct conf_row *row, const void *value, struct err *why)
{
    const struct conf_pairs *pairs = value;

    for (size_t i = 0; i < pairs->n; i++) {
        uint64_t status;

        if (str_u64(str_c(pairs->v[i].key), &status) != 0 || status < 400 || status > 599)
            return err_set(
                why, ERR_INVAL, "\"%.60s\" is no status from 400 to 599", pairs->v[i].key);
        if (!pairs->v[i].value[0])
            return err_set(why, ERR_INVAL, "the page for %s is empty", pairs->v[i].key);
    }
    return 0;
}

int config_check_ini(const struct conf_row *row, const void *value, struct err *why)
{
    const struct conf_pairs *pairs = value;

    for (size_t i = 0; i < pairs->n; i++) {
        for (const char *p = pairs->v[i].key; *p; p++) {
            bool alnum =
                (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');

            if (!alnum && !strchr("_.-\\", *p))
                return err_set(
                    why, ERR_INVAL, "\"%.60s\" is no name of a PHP setting", pairs->v[i].key);
        }
        /* A line break would start another setting. */
        if (has_control(pairs->v[i].value))
            return err_set(
                why, ERR_INVAL, "the value of \"%.60s\" holds control characters", pairs->v[i].key);
    }
    return 0;
}

int config_check_env(const struct conf_row *row, const void *value, struct err *why)
{
    const struct conf_pairs *pairs = value;

    for (size_t i = 0; i < pairs->n; i++) {
        if (strchr(pairs->v[i].key, '='))
            return err_set(
                why, ERR_INVAL, "\"%.60s\": a variable's name holds no \"=\"", pairs->v[i].key);
    }
    return 0;
}

int config_check_urls(const struct conf_row *row, const void *value, struct err *why)
{
    const struct conf_list *list = value;

    for (size_t i = 0; i < list->n; i++) {
        if (list->v[i][0] != '/' || has_control(list->v[i]) || strchr(list->v[i], ' '))
            return err_set(
                why, ERR_INVAL, "\"%.60s\" must be a path that starts with \"/\"", list->v[i]);
    }
    return 0;
}

int config_check_prefix(const struct conf_row *row, const void *value, struct err *why)
{
    struct str s = str_c(*(const char *const *)value);

    if (!str_starts(s, STR("/")) || has_control(s.p) || str_find(s, STR("//")) >= 0 ||
        str_find(s, STR("/./")) >= 0 || str_find(s, STR("/../")) >= 0 || str_ends(s, STR("/.")) ||
        str_ends(s, STR("/..")))
        return err_set(why, ERR_INVAL,
            "\"%.60s\" must be a path as in \"/admin/\": from \"/\" on, not encoded, no empty or "
            "dot segments",
            s.p);
    return 0;
}

int config_check_metrics_path(const struct conf_row *row, const void *value, struct err *why)
{
    const char *s = *(const char *const *)value;

    if (strncmp(s, "/_ephpm/", 8) == 0)
        return err_set(why, ERR_INVAL, "\"%.60s\": what is below /_ephpm/ is the server's own", s);
    return config_check_prefix(row, value, why);
}

int config_check_absolute(const struct conf_row *row, const void *value, struct err *why)
{
    const char *s = *(const char *const *)value;

    if (s[0] != '/' || has_control(s))
        return err_set(why, ERR_INVAL, "\"%.60s\" must be an absolute path", s);
    return 0;
}

/* Read once while PHP starts, or kept by the process, with the code in OPcache too: another value
 * for some requests would do nothing, or act on the others. */
static bool is_kept(const char *name)
{
    static const char *const fixed[] = {"extension", "zend_extension", "extension_dir", "enable_dl",
        "disable_functions", "disable_classes", "auto_globals_jit", "short_open_tag",
        "sys_temp_dir", "hard_timeout", "zend.assertions", "zend.multibyte", "zend.signal_check",
        "ffi.enable", "ffi.preload", "xdebug.mode"};
    static const char *const per_request[] = {"opcache.enable", "opcache.jit",
        "opcache.validate_timestamps", "opcache.revalidate_freq", "opcache.revalidate_path",
        "opcache.file_update_protection"};

    for (size_t i = 0; i < ARRAY_LEN(per_request); i++) {
        if (strcmp(name, per_request[i]) == 0)
            return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        if (strcmp(name, fixed[i]) == 0)
            return true;
    }
    return strncmp(name, "opcache.", 8) == 0 || strncmp(name, "apc.", 4) == 0;
}

int config_check_path_ini(const struct conf_row *row, const void *value, struct err *why)
{
    const struct conf_pairs *pairs = value;

    for (size_t i = 0; i < pairs->n; i++) {
        if (is_kept(pairs->v[i].key))
            return err_set(why, ERR_UNSUPPORTED,
                "PHP keeps \"%.60s\" from request to request, so it cannot differ by path: set it "
                "in php.values or [[php.site]]",
                pairs->v[i].key);
    }
    return config_check_ini(row, value, why);
}

int config_check_sites(const struct conf_row *row, const void *value, struct err *why)
{
    const struct conf_tables *tables = value;
    const struct config_php_site *v = tables->v;

    for (size_t i = 0; i < tables->n; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(v[i].site, v[j].site) == 0)
                return err_set(why, ERR_EXISTS, "the site \"%.60s\" has two tables", v[i].site);
        }
    }
    return 0;
}

static bool is_same_site(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

int config_check_internal(const struct conf_row *row, const void *value, struct err *why)
{
    const struct conf_tables *tables = value;
    const struct config_internal *v = tables->v;

    for (size_t i = 0; i < tables->n; i++) {
        if (strcmp(v[i].path, "/") == 0)
            return err_set(why, ERR_INVAL, "path = \"/\" would leave nothing to clients");
        /* The list of pairs that the application reads is divided by these. */
        if (strpbrk(v[i].path, ",=\"") || strpbrk(v[i].dir, ",=\""))
            return err_set(why, ERR_INVAL,
                "\"%.60s\": path and dir must not hold a comma, an equals sign or a quote: "
                "X-Accel-Mapping could not say them",
                strpbrk(v[i].path, ",=\"") ? v[i].path : v[i].dir);
        for (size_t j = 0; j < i; j++) {
            if (strcmp(v[i].path, v[j].path) == 0 && is_same_site(v[i].site, v[j].site))
                return err_set(why, ERR_EXISTS, "\"%.60s\" has two tables", v[i].path);
        }
    }
    return 0;
}
