/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/boot.h"

#include <stdlib.h>

#include "base/mem.h"
#include "core/sha256.h"
#include "platform/process.h"

static void boot_add_pairs(struct ipc_out *out, const char *key, const struct conf_pairs *p)
{
    struct buf b = {0};

    for (size_t i = 0; i < p->n; i++) {
        buf_clear(&b);
        buf_printf(&b, "%s=%s", p->v[i].key, p->v[i].value);
        ipc_add(out, key, buf_str(&b));
    }
    buf_fini(&b);
}

/* "$NAME" is the server's own variable, empty when there is none, as in a pool of php-fpm. */
static void boot_add_variables(struct ipc_out *out, const struct conf_pairs *p)
{
    struct conf_pairs read = {.v = mem_new_array(p->n + 1, sizeof(*read.v)), .n = p->n};

    for (size_t i = 0; i < p->n; i++) {
        const char *name = config_env_name(p->v[i].value);
        const char *value = name ? getenv(name) : p->v[i].value;

        read.v[i] = (struct conf_pair){p->v[i].key, value ? value : ""};
    }
    boot_add_pairs(out, "env", &read);
    mem_free(read.v);
}

static const char *boot_value(const struct conf_pairs *pairs, const char *key)
{
    const char *value = NULL;

    for (size_t i = 0; i < pairs->n; i++)
        if (strcmp(pairs->v[i].key, key) == 0)
            value = pairs->v[i].value;
    return value;
}

/*
 * The locked settings. One that ini_overrides or the site name too has its value from there; the
 * list of disabled functions is locked by PHP itself, and a union (ini.c).
 */
static void boot_add_admin(
    struct ipc_out *out, const struct config *cfg, const struct config_php_site *own)
{
    const struct conf_pairs *all = &cfg->php.admin_values;
    struct conf_pairs merged = {0};

    merged.v = mem_new_array(all->n + (own ? own->admin_values.n : 0) + 1, sizeof(*merged.v));
    for (size_t i = 0; i < all->n; i++) {
        const char *over = boot_value(&cfg->php.ini_overrides, all->v[i].key);
        const char *here = own ? boot_value(&own->values, all->v[i].key) : NULL;
        struct conf_pair p = {all->v[i].key, here ? here : over ? over : all->v[i].value};

        if (strcmp(p.key, "disable_functions") != 0)
            merged.v[merged.n++] = p;
    }
    for (size_t i = 0; own && i < own->admin_values.n; i++)
        if (strcmp(own->admin_values.v[i].key, "disable_functions") != 0)
            merged.v[merged.n++] = own->admin_values.v[i];
    boot_add_pairs(out, "admin", &merged);
    mem_free(merged.v);
}

/* As php-fpm has it: programs that scripts start look for their files there. */
static void boot_add_user(
    struct ipc_out *out, const struct config *cfg, const struct config_php_site *own, uint32_t uid)
{
    char name[64], home[1024];
    struct conf_pair pairs[] = {{"USER", name}, {"HOME", home}};

    process_user_name(uid, name, sizeof(name));
    process_user_home(uid, home, sizeof(home));
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct conf_pairs one = {.v = &pairs[i], .n = 1};

        if (*pairs[i].value && !boot_value(&cfg->php.env, pairs[i].key) &&
            !(own && boot_value(&own->env, pairs[i].key)))
            boot_add_pairs(out, "env", &one);
    }
}

/* How PHP reaches the site's own store by the Redis protocol; what the configuration has of that
 * name stays. */
static void boot_add_redis(struct ipc_out *out, const struct config *cfg,
    const struct config_php_site *own, const struct boot_options *opt)
{
    const struct config_kv *kv = &opt->kv->kv;
    bool multi = config_is_multi(opt->kv);
    char host[SOCK_ADDR_TEXT] = "", port[8] = "", hex[SHA256_HEX + 1] = "";
    const char *password = kv->redis.password ? kv->redis.password : "";
    struct sock_addr at;
    struct conf_pair pairs[] = {{"EPHPM_REDIS_HOST", host}, {"EPHPM_REDIS_PORT", port},
        {"EPHPM_REDIS_SOCKET", kv->redis.socket ? kv->redis.socket : ""},
        {"EPHPM_REDIS_USERNAME", multi       ? opt->site
                                 : *password ? "default"
                                             : ""},
        {"EPHPM_REDIS_PASSWORD", multi ? hex : password}};

    if (opt->redis_port && sock_addr_parse(str_c(kv->redis.listen), &at) == 0) {
        static const uint8_t any[16];
        size_t n = at.family == SOCK_INET4 ? 4 : 16;

        if (memcmp(at.ip, any, n) == 0) { /* any address: this machine's */
            at.ip[0] = n == 4 ? 127 : 0;
            at.ip[n - 1] = 1;
        }
        (void)sock_ip_format(&at, host);
        port[str_put_u64(port, opt->redis_port)] = '\0';
    }
    if (multi && kv->secret)
        sha256_hmac_hex(str_c(kv->secret), str_c(opt->site), hex);
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct conf_pairs one = {.v = &pairs[i], .n = 1};

        if (*pairs[i].value && !boot_value(&cfg->php.env, pairs[i].key) &&
            !(own && boot_value(&own->env, pairs[i].key)))
            boot_add_pairs(out, "env", &one);
    }
}

/* For a part of a URL. */
static void boot_add_encoded(struct buf *out, const char *text)
{
    for (const char *p = text; *p; p++) {
        unsigned char c = (unsigned char)*p;
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     (c && strchr("-._~/", c));

        if (plain)
            buf_add_char(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
}

/* As Laravel, Symfony and Doctrine read it: the socket is a parameter. */
static void boot_add_db_url(const struct boot_db *db, struct buf *url)
{
    buf_add_lit(url, "mysql://");
    boot_add_encoded(url, db->user);
    buf_add_char(url, ':');
    boot_add_encoded(url, db->password);
    buf_printf(url, "@localhost/%s?unix_socket=", db->name);
    boot_add_encoded(url, db->socket);
    buf_add_lit(url, "&serverVersion=8.0.36&charset=utf8mb4");
}

/* How PHP reaches the site's own database, by the names that frameworks have for it; what the
 * configuration has of that name stays. */
static void boot_add_db(struct ipc_out *out, const struct config *cfg,
    const struct config_php_site *own, const struct boot_db *db)
{
    char port[8] = "3306";
    struct buf url = {0};
    struct conf_pair pairs[] = {{"DB_CONNECTION", "mysql"}, {"DB_HOST", "localhost"},
        {"DB_PORT", port}, {"DB_SOCKET", db->socket}, {"DB_NAME", db->name},
        {"DB_DATABASE", db->name}, {"DB_USER", db->user}, {"DB_USERNAME", db->user},
        {"DB_PASSWORD", db->password}, {"DATABASE_URL", NULL}};

    if (db->port)
        port[str_put_u64(port, db->port)] = '\0';
    boot_add_db_url(db, &url);
    pairs[ARRAY_LEN(pairs) - 1].value = buf_cstr(&url);
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
        struct conf_pairs one = {.v = &pairs[i], .n = 1};

        if (!boot_value(&cfg->php.env, pairs[i].key) &&
            !(own && boot_value(&own->env, pairs[i].key)))
            boot_add_pairs(out, "env", &one);
    }
    buf_fini(&url);
}

/* The site's variables, and those of all that it does not have. */
static void boot_add_env(
    struct ipc_out *out, const struct config *cfg, const struct config_php_site *own)
{
    struct conf_pairs merged = {.v = mem_new_array(cfg->php.env.n + 1, sizeof(*merged.v))};

    for (size_t i = 0; i < cfg->php.env.n; i++)
        if (!own || !boot_value(&own->env, cfg->php.env.v[i].key))
            merged.v[merged.n++] = cfg->php.env.v[i];
    boot_add_variables(out, &merged);
    if (own)
        boot_add_variables(out, &own->env);
    mem_free(merged.v);
}

/* The other settings are in the ini text, and PHP is silent about a name there that it lacks. */
static void boot_add_names(struct ipc_out *out, const struct conf_pairs *pairs)
{
    for (size_t i = 0; i < pairs->n; i++)
        ipc_add(out, "setting", str_c(pairs->v[i].key));
}

/* Without the final slash, which says nothing. */
static size_t boot_path_length(const struct config_php_path *p)
{
    struct str s = str_c(p->path);

    return s.len - str_ends(s, STR("/"));
}

/* The [[php.path]] tables of the site, the outer before the inner. */
static void boot_add_paths(struct ipc_out *out, const struct config *cfg, const char *site)
{
    const struct conf_tables *tables = &cfg->php.paths;
    const struct config_php_path *all = tables->v, **v;
    size_t n = 0;

    v = mem_new_array(tables->n + 1, sizeof(struct config_php_path *));
    for (size_t i = 0; i < tables->n; i++) {
        size_t at = n;

        if (all[i].site && strcmp(all[i].site, site) != 0)
            continue;
        for (; at > 0 && boot_path_length(v[at - 1]) > boot_path_length(&all[i]); at--)
            v[at] = v[at - 1];
        v[at] = &all[i];
        n++;
    }
    for (size_t i = 0; i < n; i++) {
        ipc_add(out, "path", str_c(v[i]->path));
        boot_add_pairs(out, "path_value", &v[i]->values);
        boot_add_pairs(out, "path_admin", &v[i]->admin_values);
    }
    mem_free(v);
}

void boot_add_settings(
    struct ipc_out *out, const struct config *cfg, const struct boot_options *opt)
{
    const struct config_php_site *own = config_php_site(cfg, opt->site);

    for (size_t i = 0; i < cfg->php.extensions.n; i++)
        ipc_add(out, "extension", str_c(cfg->php.extensions.v[i]));
    if (opt->user_env)
        boot_add_user(out, cfg, own, opt->uid);
    if (opt->kv && opt->kv->kv.redis.enabled)
        boot_add_redis(out, cfg, own, opt);
    if (opt->db.socket)
        boot_add_db(out, cfg, own, &opt->db);
    boot_add_env(out, cfg, own);
    boot_add_admin(out, cfg, own);
    boot_add_names(out, &cfg->php.values);
    boot_add_names(out, &cfg->php.ini_overrides);
    if (own)
        boot_add_names(out, &own->values);
    boot_add_paths(out, cfg, opt->site);
}
