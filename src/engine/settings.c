/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/settings.h"

#include "base/mem.h"

enum {
    SETTINGS_OPEN_FILES = 512,
    SETTINGS_WATCHES = 4096,
    SETTINGS_INLINE_MAX = 65536, /* sendfile does better for larger files */
    SETTINGS_INLINE_MB = 64,
    SETTINGS_CODED_MB = 64,
    SETTINGS_UNWATCHED_MS = 1000 /* where no change notice can be had */
};

static void settings_release(void *owner)
{
    config_unref(owner);
}

static const struct str *settings_list(struct arena *a, const struct conf_list *l, size_t *n)
{
    struct str *v = arena_new(a, (l->n + 1) * sizeof(*v));

    for (size_t i = 0; i < l->n; i++)
        v[i] = str_c(l->v[i]);
    *n = l->n;
    return v;
}

static int settings_nets(struct http_settings *s, const char *key, const struct conf_list *l,
    struct forwarded_rules *out, struct err *err)
{
    struct forwarded_net *nets = arena_new(&s->arena, (l->n + 1) * sizeof(*nets));

    for (size_t i = 0; i < l->n; i++) {
        if (forwarded_net_parse(str_c(l->v[i]), &nets[i]))
            return err_set(err, ERR_INVAL, "%s: \"%s\" is no address or network", key, l->v[i]);
    }
    out->nets = nets;
    out->count = l->n;
    return 0;
}

static int settings_proxies(struct http_settings *s, const struct config *cfg, struct err *err)
{
    int rc = settings_nets(s, "server.security.trusted_proxies",
        &cfg->server.security.trusted_proxies, &s->proxies, err);

    if (rc == 0)
        rc = settings_nets(
            s, "server.metrics.allow", &cfg->server.metrics.allow, &s->internal_allow, err);
    s->proxy_protocol = cfg->server.security.proxy_protocol != 0;
    if (cfg->server.metrics.enabled && !cfg->server.metrics.listen)
        s->internal_path = str_c(cfg->server.metrics.path);
    return rc;
}

static int settings_error_pages(struct http_settings *s, const struct config *cfg, struct err *err)
{
    const struct conf_pairs *p = &cfg->server.response.error_pages;
    struct error_page_file *v = arena_new(&s->arena, (p->n + 1) * sizeof(*v));

    for (size_t i = 0; i < p->n; i++) {
        if (error_page_parse_status(str_c(p->v[i].key), &v[i].status))
            return err_set(err, ERR_INVAL,
                "server.response.error_pages: \"%s\" is no status (404, 5xx)", p->v[i].key);
        v[i].path = str_c(p->v[i].value);
    }
    s->error_pages = v;
    s->nerror_pages = p->n;
    return 0;
}

static int settings_headers(struct http_settings *s, const struct config *cfg, struct err *err)
{
    const struct conf_pairs *p = &cfg->server.response.headers;

    fields_init(&s->custom, &s->arena);
    for (size_t i = 0; i < p->n; i++) {
        struct str name = str_c(p->v[i].key), value = str_c(p->v[i].value);

        if (!field_is_token(name) || field_value_is_bad(value))
            return err_set(err, ERR_INVAL, "server.response.headers: \"%s: %s\" is no valid header",
                p->v[i].key, p->v[i].value);
        fields_add(&s->custom, name, value);
    }
    return 0;
}

static void settings_routes(struct http_settings *s, const struct config *cfg)
{
    struct router_site *r = &s->route;
    const struct config_server *c = &cfg->server;

    r->index_files = settings_list(&s->arena, &c->index_files, &r->index_file_count);
    r->fallback = settings_list(&s->arena, &c->fallback, &r->fallback_count);
    r->blocked = settings_list(&s->arena, &c->security.blocked_paths, &r->blocked_count);
    r->allowed_php =
        settings_list(&s->arena, &c->security.allowed_php_paths, &r->allowed_php_count);
    switch (c->static_.hidden_files) {
    case CONFIG_HIDDEN_ALLOW:
        r->hidden = ROUTER_HIDDEN_ALLOW;
        break;
    case CONFIG_HIDDEN_IGNORE:
        r->hidden = ROUTER_HIDDEN_IGNORE;
        break;
    default:
        r->hidden = ROUTER_HIDDEN_DENY;
    }
}

static struct str settings_no_slash(struct str s)
{
    return str_sub(s, 0, s.len - (s.len > 1 && str_ends(s, STR("/"))));
}

static void settings_internal(struct http_settings *s, const struct config *cfg)
{
    const struct conf_tables *t = &cfg->server.internal;
    const struct config_internal *from = t->v;
    struct http_internal *v = arena_new(&s->arena, (t->n + 1) * sizeof(*v));

    for (size_t i = 0; i < t->n; i++)
        v[i] = (struct http_internal){
            .path = settings_no_slash(str_c(from[i].path)),
            .dir = arena_str(&s->arena, settings_no_slash(str_c(from[i].dir))),
            .site = str_c(from[i].site),
        };
    s->internal = v;
    s->ninternal = t->n;
}

static void settings_static(struct http_settings *s, const struct config *cfg)
{
    const struct config_response *r = &cfg->server.response;

    s->compress = (struct compress_policy){
        .enabled = r->compression,
        .level = (int)r->compression_level,
        .min_size = r->compression_min_size,
        .codings = CODING_ALL,
    };
    s->compress_streams = r->compression && r->compression_streaming == CONFIG_STREAM_ALL;
    s->compress_events = r->compression && r->compression_streaming != CONFIG_STREAM_OFF;
    s->static_files = (struct static_config){
        .etag = cfg->server.static_.etag,
        .precompressed = true,
        .cache_control = str_c(cfg->server.static_.cache_control),
        .compress = r->compression ? &s->compress : NULL,
    };
}

/* Without the cache an entry is good for the moment only, and nothing is kept. */
static void settings_files(struct http_settings *s, const struct config *cfg)
{
    const struct config_file_cache *c = &cfg->server.file_cache;

    s->files = (struct file_cache_config){
        .max_entries = (size_t)c->max_entries,
        .max_open = c->enabled ? SETTINGS_OPEN_FILES : 0,
        .max_watches = c->enabled ? SETTINGS_WATCHES : 0,
        .inline_bytes = c->enabled ? MIN(c->inline_threshold, (uint64_t)SETTINGS_INLINE_MAX) : 0,
        .inline_total = SETTINGS_INLINE_MB << 20,
        .coded_bytes = c->enabled && c->precompress ? SETTINGS_CODED_MB << 20 : 0,
        .valid_ms = c->enabled ? (uint32_t)c->valid_secs * 1000 : 0,
        .unwatched_ms = c->enabled ? SETTINGS_UNWATCHED_MS : 0,
        .inactive_ms = (uint32_t)c->inactive_secs * 1000,
    };
}

static void settings_limits(struct http_settings *s, const struct config *cfg)
{
    const struct config_limits *l = &cfg->server.limits;

    s->limits = (struct http_limits_config){
        .max_connections = (uint64_t)l->max_connections,
        .per_ip_connections = (uint64_t)l->per_ip_max_connections,
        .per_ip_rate = l->per_ip_rate,
        .per_ip_burst = (uint64_t)l->per_ip_burst,
    };
    s->limits.per_site_rate = l->per_site_rate;
    s->limits.per_site_burst = (uint64_t)l->per_site_burst;
    s->limits_on = l->per_ip_max_connections > 0 || l->per_ip_rate > 0;
}

int settings_http(struct config *cfg, struct http_settings **out, struct err *err)
{
    struct http_settings *s = http_settings_new();
    const struct config_request *q = &cfg->server.request;
    const struct config_timeouts *t = &cfg->server.timeouts;
    int rc;

    s->owner = config_ref(cfg);
    s->release = settings_release;
    s->head = (struct h1_limits){q->max_header_size, (size_t)q->max_headers, q->max_uri};
    s->max_body = q->max_body_size;
    s->body_memory = q->memory_buffer;
    s->spool_dir = q->spool_dir;
    s->streaming_paths = settings_list(&s->arena, &q->streaming_paths, &s->nstreaming_paths);
    s->underscores = q->underscores_in_headers;
    s->trusted_hosts = settings_list(&s->arena, &q->trusted_hosts, &s->ntrusted_hosts);
    s->header_ms = t->header_read;
    s->idle_ms = t->idle;
    s->body_ms = t->body;
    s->send_ms = t->send;
    s->request_ms = t->request;
    s->response_memory = cfg->server.response.buffer_memory;
    s->response_spool = cfg->server.response.max_spool;
    s->server = str_c(cfg->server.response.server_header);
    settings_routes(s, cfg);
    settings_internal(s, cfg);
    settings_static(s, cfg);
    settings_limits(s, cfg);
    settings_files(s, cfg);
    rc = settings_proxies(s, cfg, err);
    if (rc == 0)
        rc = settings_error_pages(s, cfg, err);
    if (rc == 0)
        rc = settings_headers(s, cfg, err);
    if (rc) {
        http_settings_unref(s);
        return rc;
    }
    *out = s;
    return 0;
}
