/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_CONFIG_H
#define EPHPM_ENGINE_CONFIG_H

/*
 * The configuration: an immutable snapshot whose members mirror the sections of ephpm.toml.
 *
 * config_load() reads file, environment and command line (precedence: command line > environment >
 * file > default). Everything a member points to is owned by the snapshot and valid until the last
 * config_unref().  References may be taken and dropped on any thread.  A reload loads another
 * snapshot; work in flight keeps the old one.
 *
 * Durations are milliseconds, sizes bytes.  An unset string is NULL.  Numbers that are derived when
 * unset hold CONF_AUTO, or 0 where the comment says so; engine/shape.h derives them.  The rows
 * behind this struct, with defaults and meanings, are in config_table.c; docs/configuration.md is
 * printed from them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "core/conf.h"

enum config_mode { CONFIG_SERVE, CONFIG_DEV };

/* Enumerated values; the order is the order of the names in the table. */
enum config_overload { CONFIG_OVERLOAD_SHED, CONFIG_OVERLOAD_WAIT };
enum config_hidden { CONFIG_HIDDEN_DENY, CONFIG_HIDDEN_IGNORE, CONFIG_HIDDEN_ALLOW };
enum config_compress_stream { CONFIG_STREAM_OFF, CONFIG_STREAM_SSE, CONFIG_STREAM_ALL };
enum config_access_format { CONFIG_ACCESS_COMBINED, CONFIG_ACCESS_JSON };
enum config_jit {
    CONFIG_JIT_UNSET,
    CONFIG_JIT_TRACING,
    CONFIG_JIT_FUNCTION,
    CONFIG_JIT_DISABLE,
    CONFIG_JIT_AUTO
};
enum config_php_mode { CONFIG_PHP_FPM, CONFIG_PHP_WORKER };
enum config_kv_compression {
    CONFIG_KV_COMPRESSION_NONE,
    CONFIG_KV_COMPRESSION_GZIP,
    CONFIG_KV_COMPRESSION_BROTLI,
    CONFIG_KV_COMPRESSION_ZSTD
};

struct config_request {
    uint64_t max_body_size;   /* 0: no limit */
    uint64_t max_header_size; /* request line and headers together */
    int64_t max_headers;
    uint64_t max_uri;
    uint64_t memory_buffer; /* a larger body is spooled to a file */
    const char *spool_dir;  /* NULL: the system's */
    struct conf_list streaming_paths;
    bool underscores_in_headers;
    struct conf_list trusted_hosts;
};

struct config_timeouts { /* milliseconds, 0: off */
    uint64_t header_read;
    uint64_t idle;
    uint64_t body;
    uint64_t send;
    uint64_t request;
    uint64_t shutdown;
};

struct config_response {
    bool compression;
    int64_t compression_level;
    uint64_t compression_min_size;
    int compression_streaming; /* enum config_compress_stream */
    struct conf_pairs headers;
    struct conf_pairs error_pages; /* "404" -> path */
    uint64_t buffer_memory;
    uint64_t max_spool;
    const char *server_header; /* "": none is sent */
};

struct config_static {
    const char *cache_control; /* "": none is sent */
    int hidden_files;          /* enum config_hidden */
    bool etag;
};

struct config_security {
    struct conf_list trusted_proxies;   /* CIDRs, checked */
    struct conf_list blocked_paths;     /* globs */
    struct conf_list allowed_php_paths; /* globs */
    int open_basedir;                   /* -1 auto, 0, 1 */
    int disable_shell_exec;             /* -1 auto, 0, 1 */
    int multi_tenant_hardening;         /* -1 auto, 0, 1 */
    int proxy_protocol;                 /* 0 off, 1 on */
};

struct config_logging {
    const char *access; /* "": no access log */
    int level;          /* enum log_level */
    int format;         /* enum log_format */
    int access_format;  /* enum config_access_format */
};

struct config_diagnostics {
    int request_log; /* -1 auto (on in dev), 0, 1; see config_request_log() */
};

struct config_metrics {
    bool enabled;
    const char *path;
    const char *listen;     /* NULL: the server's own listener */
    struct conf_list allow; /* CIDRs, checked */
};

struct config_limits { /* 0: no limit */
    int64_t max_connections;
    int64_t per_ip_max_connections;
    double per_ip_rate;
    int64_t per_ip_burst;
    double per_site_rate;
    int64_t per_site_burst;
};

struct config_file_cache {
    bool enabled;
    int64_t max_entries;
    int64_t valid_secs;
    int64_t inactive_secs;
    uint64_t inline_threshold;
    bool precompress;
};

/* [[server.internal]]: a folder that only the application can have sent. */
struct config_internal {
    const char *path; /* "/protected/" */
    const char *dir;
    const char *site; /* NULL: all */
};

struct config_server {
    const char *listen;
    const char *document_root;
    const char *sites_dir; /* set: multi-site */
    const char *sites_domain_suffix;
    const char *run_as_user;
    const char *run_as_group;
    struct conf_list index_files;
    struct conf_list fallback;
    int64_t backlog;
    const char *control_socket; /* NULL: derived, see config_control_path() */
    const char *pid_file;
    struct conf_tables internal; /* struct config_internal */
    struct config_request request;
    struct config_timeouts timeouts;
    struct config_response response;
    struct config_static static_;
    struct config_security security;
    struct config_logging logging;
    struct config_metrics metrics;
    struct config_diagnostics diagnostics;
    struct config_limits limits;
    struct config_file_cache file_cache;
};

/* [[php.path]]: settings of requests below a path. */
struct config_php_path {
    const char *path; /* "/admin/" */
    const char *site; /* NULL: all */
    struct conf_pairs values;
    struct conf_pairs admin_values;
};

/* [[php.site]]: what one site has besides the keys of [php]. */
struct config_php_site {
    const char *site;
    struct conf_pairs values;
    struct conf_pairs admin_values;
    struct conf_pairs env;
};

struct config_php {
    int mode;           /* enum config_php_mode */
    const char *binary; /* NULL: beside this executable */
    const char *sapi_name;
    int64_t workers; /* 0: derived */
    int64_t workers_min;
    uint64_t worker_idle;       /* "worker_idle_secs" */
    int64_t max_requests;       /* per worker, 0: no limit */
    uint64_t max_worker_memory; /* 0: derived, 2 * memory_limit */
    int64_t queue_size;         /* 0: derived */
    int overload_policy;        /* enum config_overload */
    uint64_t shed_after;        /* "shed_after_ms"; 0: derived, 10 s */
    int64_t crash_loop_count;
    int64_t crash_loop_seconds;
    int64_t max_execution_time;         /* seconds, 0: none */
    const char *memory_limit;           /* NULL: derived; "php_memory_limit" is its other name */
    int opcache_validate_timestamps;    /* -1: by mode */
    int64_t opcache_revalidate_freq;    /* CONF_AUTO */
    int64_t opcache_memory_consumption; /* MB, CONF_AUTO */
    int64_t opcache_interned_strings_buffer; /* MB, CONF_AUTO */
    int64_t opcache_jit_buffer_size;         /* MB, CONF_AUTO */
    int opcache_jit;                         /* enum config_jit */
    uint64_t opcache_jit_auto;               /* "opcache_jit_auto_secs": how long, ms */
    const char *opcache_jit_auto_file;       /* NULL: in the server's folder */
    int64_t opcache_max_accelerated_files;   /* CONF_AUTO */
    const char *realpath_cache_size;         /* NULL: by mode */
    int64_t realpath_cache_ttl;              /* CONF_AUTO */
    int64_t zend_assertions;                 /* CONF_AUTO */
    const char *ini_file;
    const char *ini_scan_dir;
    bool user_ini;
    bool huge_pages;
    struct conf_pairs ini_overrides;
    struct conf_pairs admin_values;
    struct conf_pairs values;
    struct conf_list extensions;
    struct conf_pairs env;
    int fpm_engine;           /* accepted for compatibility, changes nothing */
    bool crash_containment;   /* likewise */
    int clear_env;            /* -1 auto (on in serve), 0, 1; see config_clear_env() */
    struct conf_tables sites; /* "php.site": struct config_php_site */
    struct conf_tables paths; /* "php.path": struct config_php_path */
};

struct config_deploy {
    struct conf_list warmup_urls;
    bool warmup_scripts;
    uint64_t timeout; /* ms */
    uint64_t drain;   /* ms; server.timeouts.shutdown unless set */
};

struct config_kv_redis { /* [kv.redis_compat] */
    bool enabled;
    const char *listen; /* "": no TCP */
    const char *socket; /* NULL: none */
    const char *password;
    int64_t max_connections;
    uint64_t max_input_buffer; /* per connection */
    uint64_t idle_timeout;     /* "idle_timeout_secs", ms; 0: off */
};

struct config_kv {
    bool enabled;
    uint64_t memory_limit; /* of each site's store */
    int eviction_policy;   /* enum kv_policy */
    int compression;       /* enum config_kv_compression */
    int64_t compression_level;
    uint64_t compression_min_size;
    const char *secret;
    const char *persist; /* NULL: nothing is kept */
    uint64_t persist_interval;
    struct config_kv_redis redis;
};

enum config_db_engine { CONFIG_DB_SQLITE, CONFIG_DB_TURSO };

struct config_db_proxy {      /* [db.sqlite.proxy] */
    const char *socket;       /* NULL: derived, see config_db_socket() */
    const char *mysql_listen; /* NULL: no TCP */
    int64_t max_connections;  /* 0: 151 */
    const char *tls_cert;     /* NULL: no TLS */
    const char *tls_key;
};

struct config_db {        /* [db.sqlite] */
    const char *path;     /* of the one database; NULL: none */
    const char *dir;      /* with sites_dir: of DIR/SITE.db; NULL: none */
    const char *user;     /* NULL: "ephpm" */
    const char *password; /* NULL: made at the start */
    int64_t max_open;
    int engine;      /* enum config_db_engine; accepted for compatibility, changes nothing */
    int synchronous; /* enum db_synchronous */
    uint64_t lock_wait;
    uint64_t statement_timeout;
    struct config_db_proxy proxy;
};

struct config_analysis { /* [db.analysis] */
    bool query_stats;
    uint64_t slow_query; /* "slow_query_threshold", ms; 0: none */
    bool auto_explain;
    const char *auto_explain_target;
    int64_t digests;      /* "digest_store_max_entries" */
    int64_t label_series; /* "metric_label_series_max" */
};

struct config {
    enum config_mode mode;
    struct config_server server;
    struct config_php php;
    struct config_deploy deploy;
    struct config_kv kv;
    struct config_db db;
    struct config_analysis analysis;
    struct conf_list warnings; /* set, but cannot act: to be logged at startup, one each */
    struct conf_list notices;  /* accepted for compatibility, change nothing */
    /* private to config.c */
    struct conf conf;
    struct arena arena;
    _Atomic int refs;
};

struct config_override {
    const char *key;   /* "server.listen" */
    const char *value; /* plain text, lists as JSON */
    const char *where; /* what the user typed, for messages: "--listen" */
};

/* What to load. All of it is borrowed for the call only. */
struct config_source {
    enum config_mode mode;
    const char *path;       /* NULL: no file (dev) */
    bool path_explicit;     /* a missing file is an error; else it means "defaults" */
    const char *const *env; /* NULL-terminated "NAME=value"; NULL: none */
    const struct config_override *overrides;
    size_t noverrides;
};

/* A snapshot with one reference. On failure err has code, text (with key, value and place) and
 * position. */
int config_load(const struct config_source *src, struct config **out, struct err *err) MUST_CHECK;
struct config *config_ref(struct config *cfg);
void config_unref(struct config *cfg); /* NULL is fine */

/* Was the key given by the user (file, environment, command line)? */
bool config_is_set(const struct config *cfg, const char *key);
/* Multi-site mode: sites_dir is set. */
static inline bool config_is_multi(const struct config *cfg)
{
    return cfg->server.sites_dir != NULL;
}
/* The name of the server's own variable that a value of php.env stands for ("$NAME"), or NULL. */
const char *config_env_name(const char *value);
/* The [[php.site]] table of a site, or NULL. */
const struct config_php_site *config_php_site(const struct config *cfg, const char *site);
/* The auto keys, resolved. */
bool config_request_log(const struct config *cfg);
bool config_clear_env(const struct config *cfg);
bool config_hardening(const struct config *cfg);
bool config_open_basedir(const struct config *cfg);
bool config_disable_shell_exec(const struct config *cfg);
/* Path of the control socket: the key, or derived from the listen address so that two servers do
 * not clash. */
void config_control_path(const struct config *cfg, struct buf *out);

/* Is there an embedded database? */
static inline bool config_has_db(const struct config *cfg)
{
    return config_is_multi(cfg) ? cfg->db.dir != NULL : cfg->db.path != NULL;
}
/* Path of the database's socket: the key, or beside the control socket. */
void config_db_socket(const struct config *cfg, struct buf *out);

/* Every key, its effective value and where it came from; secrets as ***. */
void config_dump(const struct config *cfg, struct buf *out);
/* The reference page, Markdown. */
void config_reference(struct buf *out);

/* The snapshot as text for another process of this version, and back. Equal in every member. */
void config_serialize(const struct config *cfg, struct buf *out);
int config_deserialize(struct str text, struct config **out, struct err *err) MUST_CHECK;

#endif
