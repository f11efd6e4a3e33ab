/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/config_warn.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kv/store.h"
#include "platform/fs.h"

/* Named in errors that come from two keys: where one of them was set. */
static const char *where(const struct config *cfg, const char *key)
{
    const char *w = conf_mark_of(&cfg->conf, key).where;

    return w ? w : "default";
}

/* Each algorithm has levels of its own. */
static int verify_kv_level(const struct config *cfg, struct err *err)
{
    static const char *const names[] = {"none", "gzip", "brotli", "zstd"};
    const struct config_kv *kv = &cfg->kv;
    int least, most;

    if (!kv_compression_levels((enum kv_algorithm)kv->compression, &least, &most) ||
        (kv->compression_level >= least && kv->compression_level <= most))
        return 0;
    return err_set(err, ERR_RANGE,
        "%s: kv.compression_level = %lld: must be between %d and %d with kv.compression = \"%s\"",
        where(cfg, "kv.compression_level"), (long long)kv->compression_level, least, most,
        names[kv->compression]);
}

static int verify_kv(const struct config *cfg, struct err *err)
{
    const struct config_kv *kv = &cfg->kv;

    if (kv->enabled && kv->redis.enabled && !*kv->redis.listen && !kv->redis.socket)
        return err_set(err, ERR_INVAL,
            "%s: kv.redis_compat.listen is empty and kv.redis_compat.socket is not set: there is "
            "nowhere to listen",
            where(cfg, "kv.redis_compat.listen"));
    if (kv->enabled && kv->redis.enabled && config_is_multi(cfg) && !kv->secret)
        return err_set(err, ERR_INVAL,
            "%s: kv.redis_compat.enabled: with server.sites_dir it needs kv.secret, from which "
            "each site's password is derived",
            where(cfg, "kv.redis_compat.enabled"));
    return verify_kv_level(cfg, err);
}

static int verify_db(const struct config *cfg, struct err *err)
{
    const struct config_db *db = &cfg->db;

    if (config_is_multi(cfg) && db->path)
        return err_set(err, ERR_INVAL,
            "%s: db.sqlite.path: with server.sites_dir each site has a database of its own: set "
            "db.sqlite.dir",
            where(cfg, "db.sqlite.path"));
    if (!db->proxy.tls_cert != !db->proxy.tls_key)
        return err_set(err, ERR_INVAL,
            "%s: db.sqlite.proxy.tls_cert and db.sqlite.proxy.tls_key belong together",
            where(
                cfg, db->proxy.tls_cert ? "db.sqlite.proxy.tls_cert" : "db.sqlite.proxy.tls_key"));
    return 0;
}

int config_verify(const struct config *cfg, struct err *err)
{
    int rc;

    if (cfg->php.mode == CONFIG_PHP_WORKER)
        return err_set(err, ERR_UNSUPPORTED,
            "%s: php.mode = \"worker\": not available in this version", where(cfg, "php.mode"));
    if (cfg->php.workers > 0 && cfg->php.workers_min > cfg->php.workers)
        return err_set(err, ERR_INVAL, "%s: php.workers_min = %lld is more than php.workers = %lld",
            where(cfg, "php.workers_min"), (long long)cfg->php.workers_min,
            (long long)cfg->php.workers);
    if (cfg->server.request.max_uri > cfg->server.request.max_header_size)
        return err_set(err, ERR_INVAL,
            "%s: server.request.max_uri = %llu is more than server.request.max_header_size = %llu, "
            "which it is a part of",
            config_is_set(cfg, "server.request.max_uri")
                ? where(cfg, "server.request.max_uri")
                : where(cfg, "server.request.max_header_size"),
            (unsigned long long)cfg->server.request.max_uri,
            (unsigned long long)cfg->server.request.max_header_size);
    rc = verify_db(cfg, err);
    return rc ? rc : verify_kv(cfg, err);
}

/* A key that was set and cannot act while `idle` holds. */
struct inert {
    const char *key;
    bool (*idle)(const struct config *cfg);
    const char *reason;
};

static bool is_single(const struct config *cfg)
{
    return !config_is_multi(cfg);
}

static bool has_no_user(const struct config *cfg)
{
    return cfg->server.run_as_user == NULL;
}

static bool no_compression(const struct config *cfg)
{
    return !cfg->server.response.compression;
}

static bool no_file_cache(const struct config *cfg)
{
    return !cfg->server.file_cache.enabled;
}

static bool is_waiting(const struct config *cfg)
{
    return cfg->php.overload_policy == CONFIG_OVERLOAD_WAIT;
}

static bool no_timestamps(const struct config *cfg)
{
    int v = cfg->php.opcache_validate_timestamps;

    return v == 0 || (v < 0 && cfg->mode == CONFIG_SERVE);
}

/* Why "auto" measures nothing here; NULL: it does, or it is not asked for. */
static const char *why_no_jit_auto(const struct config *cfg)
{
    if (cfg->php.opcache_jit != CONFIG_JIT_AUTO)
        return NULL;
    if (cfg->mode == CONFIG_DEV)
        return "dev has no JIT unless one is named";
    return config_is_multi(cfg) ? "with server.sites_dir nothing is measured, as each site would "
                                  "need memory for a second generation"
                                : NULL;
}

static bool no_jit(const struct config *cfg)
{
    int v = cfg->php.opcache_jit;

    return v == CONFIG_JIT_DISABLE || (v == CONFIG_JIT_UNSET && cfg->mode == CONFIG_DEV) ||
           why_no_jit_auto(cfg);
}

static bool no_jit_auto(const struct config *cfg)
{
    return cfg->php.opcache_jit != CONFIG_JIT_AUTO || why_no_jit_auto(cfg);
}

static bool no_ip_rate(const struct config *cfg)
{
    return cfg->server.limits.per_ip_rate <= 0;
}

static bool no_kv(const struct config *cfg)
{
    return !cfg->kv.enabled;
}

static bool no_kv_compression(const struct config *cfg)
{
    return cfg->kv.compression == CONFIG_KV_COMPRESSION_NONE;
}

static bool no_kv_persist(const struct config *cfg)
{
    return cfg->kv.persist == NULL;
}

static bool no_redis(const struct config *cfg)
{
    return !cfg->kv.redis.enabled;
}

/* Nobody can be the user "default" where every client belongs to a folder of sites_dir. */
static bool no_redis_default(const struct config *cfg)
{
    return config_is_multi(cfg) && !config_is_set(cfg, "server.document_root");
}

static bool no_site_rate(const struct config *cfg)
{
    return cfg->server.limits.per_site_rate <= 0;
}

static bool no_access_log(const struct config *cfg)
{
    return !cfg->server.logging.access[0];
}

static bool no_metrics(const struct config *cfg)
{
    return !cfg->server.metrics.enabled;
}

static bool no_proxies(const struct config *cfg)
{
    return cfg->server.security.trusted_proxies.n == 0;
}

static bool no_db(const struct config *cfg)
{
    return !config_has_db(cfg);
}

static bool no_query_stats(const struct config *cfg)
{
    return no_db(cfg) || !cfg->analysis.query_stats;
}

static bool always(const struct config *cfg)
{
    (void)cfg;
    return true;
}

static const char single_site[] = "acts in multi-site mode only (server.sites_dir is not set)";
static const char compression_off[] = "server.response.compression is off";
static const char metrics_off[] = "server.metrics.enabled is false";
static const char cache_off[] = "server.file_cache.enabled is false";
static const char kv_off[] = "kv.enabled is false";
static const char kv_plain[] = "kv.compression is \"none\"";
static const char redis_off[] = "kv.redis_compat.enabled is false";

static const char db_off[] = "there is no database (db.sqlite.path, or with server.sites_dir "
                             "db.sqlite.dir)";
static const char stats_off[] = "there are no query statistics (db.analysis.query_stats)";

static const struct inert inerts[] = {
    {"server.security.open_basedir", is_single, single_site},
    {"server.security.disable_shell_exec", is_single, single_site},
    {"server.security.multi_tenant_hardening", is_single, single_site},
    {"server.sites_domain_suffix", is_single, single_site},
    {"server.run_as_group", has_no_user, "server.run_as_user is not set"},
    {"server.response.compression_level", no_compression, compression_off},
    {"server.response.compression_min_size", no_compression, compression_off},
    {"server.response.compression_streaming", no_compression, compression_off},
    {"server.file_cache.max_entries", no_file_cache, cache_off},
    {"server.file_cache.valid_secs", no_file_cache, cache_off},
    {"server.file_cache.inactive_secs", no_file_cache, cache_off},
    {"server.file_cache.inline_threshold", no_file_cache, cache_off},
    {"server.file_cache.precompress", no_file_cache, cache_off},
    {"server.security.proxy_protocol", no_proxies,
        "server.security.trusted_proxies is empty, so no peer may use it"},
    {"server.metrics.path", no_metrics, metrics_off},
    {"server.metrics.listen", no_metrics, metrics_off},
    {"server.metrics.allow", no_metrics, metrics_off},
    {"server.logging.access_format", no_access_log, "server.logging.access is empty"},
    {"server.limits.per_ip_burst", no_ip_rate, "server.limits.per_ip_rate is 0"},
    {"server.limits.per_site_burst", no_site_rate, "server.limits.per_site_rate is 0"},
    {"php.shed_after_ms", is_waiting, "php.overload_policy is \"wait\""},
    {"php.opcache_revalidate_freq", no_timestamps, "php.opcache_validate_timestamps is off"},
    {"php.opcache_jit_buffer_size", no_jit, "the JIT is off"},
    {"php.opcache_jit_auto_secs", no_jit_auto, "php.opcache_jit does not measure"},
    {"php.opcache_jit_auto_file", no_jit_auto, "php.opcache_jit does not measure"},
    {"kv.memory_limit", no_kv, kv_off},
    {"kv.eviction_policy", no_kv, kv_off},
    {"kv.compression", no_kv, kv_off},
    {"kv.persist", no_kv, kv_off},
    {"kv.redis_compat.enabled", no_kv, kv_off},
    {"kv.compression_level", no_kv_compression, kv_plain},
    {"kv.compression_min_size", no_kv_compression, kv_plain},
    {"kv.persist_interval", no_kv_persist, "kv.persist is not set"},
    {"kv.secret", no_redis, redis_off},
    {"kv.redis_compat.listen", no_redis, redis_off},
    {"kv.redis_compat.socket", no_redis, redis_off},
    {"kv.redis_compat.password", no_redis, redis_off},
    {"kv.redis_compat.password", no_redis_default,
        "with server.sites_dir alone, sites have passwords of their own (kv.secret)"},
    {"kv.redis_compat.max_connections", no_redis, redis_off},
    {"kv.redis_compat.max_input_buffer", no_redis, redis_off},
    {"kv.redis_compat.idle_timeout_secs", no_redis, redis_off},
    {"db.sqlite.dir", is_single, single_site},
    {"db.sqlite.user", config_is_multi,
        "with server.sites_dir each site's user has the site's name"},
    {"db.sqlite.password", config_is_multi,
        "with server.sites_dir each site has a password of its own"},
    {"db.sqlite.user", no_db, db_off},
    {"db.sqlite.password", no_db, db_off},
    {"db.sqlite.synchronous", no_db, db_off},
    {"db.sqlite.lock_wait_timeout", no_db, db_off},
    {"db.sqlite.statement_timeout", no_db, db_off},
    {"db.sqlite.max_open_dbs", no_db, db_off},
    {"db.sqlite.proxy.socket", no_db, db_off},
    {"db.sqlite.proxy.mysql_listen", no_db, db_off},
    {"db.sqlite.proxy.max_connections", no_db, db_off},
    {"db.sqlite.proxy.tls_cert", no_db, db_off},
    {"db.analysis.query_stats", no_db, db_off},
    {"db.analysis.slow_query_threshold", no_db, db_off},
    {"db.analysis.digest_store_max_entries", no_query_stats, stats_off},
    {"db.analysis.metric_label_series_max", no_query_stats, stats_off},
    {"db.analysis.auto_explain", always, "plans are not written by themselves: use EXPLAIN"},
    {"db.analysis.auto_explain_target", always, "plans are not written by themselves"},
};

/* Setting a switch to its "off" side in a mode where it is off anyway loses nothing. */
static bool is_off_already(const struct config *cfg, const char *key)
{
    int i = conf_find(cfg->conf.table, str_c(key));
    const struct conf_row *row = &cfg->conf.table->rows[i];
    const void *field = (const char *)cfg + row->offset;

    if (row->kind == CONF_TRI)
        return *(const int *)field <= 0;
    if (row->kind == CONF_BOOL)
        return !*(const bool *)field;
    return row->kind == CONF_ENUM && *(const int *)field == 0;
}

static void add(struct config *cfg, struct conf_list *list, size_t cap, struct str text)
{
    ENSURE(list->n < cap);
    list->v[list->n++] = text.p;
}

/* Without server.sites_dir a table for a site of its own is for none. */
static void warn_site(struct config *cfg, size_t cap, const char *key, const char *site)
{
    if (site && !config_is_multi(cfg) && strcmp(site, "default") != 0)
        add(cfg, &cfg->warnings, cap,
            arena_printf(&cfg->arena, "%s (%s) for the site \"%s\" has no effect: %s", key,
                where(cfg, key), site, single_site));
}

/* It may come later, so this is no error. */
static void warn_folder(struct config *cfg, size_t cap, const struct config_internal *in)
{
    struct fs_stat st;
    int rc = fs_stat(in->dir, &st);

    if (rc == 0 && st.kind != FS_DIR)
        rc = ERR_NOTDIR;
    if (rc)
        add(cfg, &cfg->warnings, cap,
            arena_printf(&cfg->arena, "server.internal (%s): %s for %s: %s",
                where(cfg, "server.internal"), in->dir, in->path, err_text(rc)));
}

static void warn_variables(
    struct config *cfg, size_t cap, const char *key, const struct conf_pairs *env)
{
    for (size_t i = 0; i < env->n; i++) {
        const char *name = config_env_name(env->v[i].value);

        if (name && !getenv(name))
            add(cfg, &cfg->warnings, cap,
                arena_printf(&cfg->arena, "%s (%s): %s is empty: the server has no variable %s",
                    key, where(cfg, key), env->v[i].key, name));
    }
}

static void warn_tables(struct config *cfg, size_t cap)
{
    const struct config_php_site *sites = cfg->php.sites.v;
    const struct config_php_path *paths = cfg->php.paths.v;
    const struct config_internal *internal = cfg->server.internal.v;

    warn_variables(cfg, cap, "php.env", &cfg->php.env);
    for (size_t i = 0; i < cfg->php.sites.n; i++) {
        warn_site(cfg, cap, "php.site", sites[i].site);
        warn_variables(cfg, cap, "php.site", &sites[i].env);
    }
    for (size_t i = 0; i < cfg->php.paths.n; i++)
        warn_site(cfg, cap, "php.path", paths[i].site);
    for (size_t i = 0; i < cfg->server.internal.n; i++) {
        warn_site(cfg, cap, "server.internal", internal[i].site);
        warn_folder(cfg, cap, &internal[i]);
    }
}

/* Warnings that tables and variables can give, at most. */
static size_t count_possible(const struct config *cfg)
{
    const struct config_php_site *sites = cfg->php.sites.v;
    size_t n = cfg->php.env.n + cfg->php.sites.n + cfg->php.paths.n + 2 * cfg->server.internal.n;

    for (size_t i = 0; i < cfg->php.sites.n; i++)
        n += sites[i].env.n;
    return n;
}

void config_collect_warnings(struct config *cfg)
{
    enum { NOTICES = 5 };
    size_t cap = ARRAY_LEN(inerts) + 2 + count_possible(cfg);

    cfg->warnings = (struct conf_list){.v = arena_new(&cfg->arena, cap * sizeof(char *))};
    cfg->notices = (struct conf_list){.v = arena_new(&cfg->arena, NOTICES * sizeof(char *))};
    for (size_t i = 0; i < ARRAY_LEN(inerts); i++) {
        const struct inert *in = &inerts[i];

        if (config_is_set(cfg, in->key) && in->idle(cfg) && !is_off_already(cfg, in->key))
            add(cfg, &cfg->warnings, cap,
                arena_printf(&cfg->arena, "%s (%s) has no effect: %s", in->key, where(cfg, in->key),
                    in->reason));
    }
    if (cfg->server.control_socket && !*cfg->server.control_socket && no_timestamps(cfg) &&
        (no_kv(cfg) || no_redis(cfg)))
        add(cfg, &cfg->warnings, cap,
            arena_printf(&cfg->arena,
                "server.control_socket (%s) is empty and kv.redis_compat is off: no deploy reaches "
                "the server, so only SIGHUP or a restart changes code",
                where(cfg, "server.control_socket")));
    if (why_no_jit_auto(cfg))
        add(cfg, &cfg->warnings, cap,
            arena_printf(&cfg->arena,
                "php.opcache_jit = \"auto\" (%s) is the same as \"disable\": %s",
                where(cfg, "php.opcache_jit"), why_no_jit_auto(cfg)));
    warn_tables(cfg, cap);
    if (config_is_set(cfg, "php.fpm_engine"))
        add(cfg, &cfg->notices, NOTICES,
            arena_printf(&cfg->arena,
                "php.fpm_engine (%s) changes nothing: every worker is a process here",
                where(cfg, "php.fpm_engine")));
    if (cfg->db.engine == CONFIG_DB_TURSO)
        add(cfg, &cfg->notices, NOTICES,
            arena_printf(&cfg->arena,
                "db.sqlite.engine (%s) changes nothing: the engine is SQLite, which reads the same "
                "files",
                where(cfg, "db.sqlite.engine")));
    if (config_is_set(cfg, "php.crash_containment"))
        add(cfg, &cfg->notices, NOTICES,
            arena_printf(&cfg->arena,
                "php.crash_containment (%s) changes nothing: every crash is contained here",
                where(cfg, "php.crash_containment")));
}
