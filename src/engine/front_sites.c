/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>

#include "core/log.h"
#include "engine/front.h"
#include "http/conn.h"
#include "platform/fs.h"

/*
 * Which site a request belongs to. Without server.sites_dir there is one, "default". With it, a
 * folder of the host's name is a site; the first request for one has the master start it, and waits
 * in the queue of a generation that has no number yet.
 */
enum { SITES_RETRY_MS = 2000 /* after a site could not be started */ };

/* The folder's name for the request's host: without port, and without server.sites_domain_suffix.
 */
static bool sites_key(const struct config *cfg, const struct host *host, struct str *key)
{
    const char *suffix = cfg->server.sites_domain_suffix;
    struct str s = str_c(suffix);

    if (!suffix && cfg->mode == CONFIG_DEV)
        s = STR("localhost");
    if (s.len && s.p[0] == '.')
        s = str_sub(s, 1, s.len);
    if (host_site_key(host, key))
        return false;
    if (s.len && key->len > s.len + 1 && str_iends(*key, s) && key->p[key->len - s.len - 1] == '.')
        *key = str_sub(*key, 0, key->len - s.len - 1);
    return true;
}

static struct pool_site *sites_open(
    struct front *f, struct pool_site *site, const char *name, const char *folder, const char *root)
{
    struct pool_generation *g;
    struct ipc_out m;

    if (!site)
        site = pool_site_add(&f->pool, name);
    g = pool_generation_add(&f->pool, site, 0, root, f->config->mode == CONFIG_DEV);
    pool_activate(&f->pool, g);
    log_info("site_opened", F_CSTR("site", name), F_CSTR("root", root));
    ipc_begin(&m, "open_site");
    ipc_add(&m, "site", str_c(name));
    ipc_add(&m, "folder", str_c(folder));
    front_tell(f, &m);
    return site;
}

/* The site of a folder in sites_dir; NULL with *status when there is none. */
static struct pool_site *sites_find(struct front *f, struct http_exchange *x, int *status)
{
    const struct file_cache_entry *e;
    struct pool_site *site;
    struct str key, folder;
    char root[4096];

    *status = 404;
    if (!sites_key(f->config, &x->host, &key))
        return NULL;
    site = pool_site_find(&f->pool, key);
    if (site && site->active)
        return site;
    folder = arena_printf(&x->arena, "%s/" STR_F, f->config->server.sites_dir, STR_A(key));
    if (file_cache_lookup(f->http.files, folder, net_loop_now(f->loop), &e) || e->st.kind != FS_DIR)
        return pool_site_find(&f->pool, STR("default"));
    *status = 503;
    if (site && net_loop_now(f->loop) < site->retry_ms)
        return NULL;
    if (fs_realpath(folder.p, root, sizeof(root)))
        return NULL;
    return sites_open(f, site, arena_str(&x->arena, key).p, folder.p, root);
}

bool front_site(void *arg, struct http_exchange *x, struct http_site *out, int *status)
{
    struct front *f = arg;
    uint64_t probed = (uint64_t)(uintptr_t)x->conn->tag; /* a probe's generation: front_probe() */
    struct pool_generation *g = probed ? pool_generation_find(&f->pool, probed) : NULL;
    char root[4096];

    *status = 503;
    if (!probed) {
        struct pool_site *site = config_is_multi(f->config)
                                     ? sites_find(f, x, status)
                                     : pool_site_find(&f->pool, STR("default"));

        g = site ? site->active : NULL;
    }
    if (!g)
        return false;
    out->name = str_c(g->site->name);
    out->root = str_c(g->root);
    out->owner = g;
    pool_generation_hold(g, x);
    if (g->follow_root && fs_realpath(g->root_config, root, sizeof(root)) == 0)
        out->root = arena_str(&x->arena, str_c(root));
    return true;
}

void front_php(void *arg, struct http_exchange *x)
{
    struct front *f = arg;
    uint64_t tag = 0;
    struct pool_generation *g = front_trial_choose(x, x->site.owner, &tag);

    pool_submit(&f->pool, x, g, tag);
}

void front_on_generation(struct front *f, struct ipc_in *m)
{
    struct pool_site *site = pool_site_find(&f->pool, ipc_get(m, "site"));
    uint64_t id = ipc_get_u64(m, "generation");
    struct pool_generation *g;

    if (!site)
        site = pool_site_add(&f->pool, ipc_get_c(m, "site"));
    g = pool_generation_find(&f->pool, id); /* told twice */
    if (!g && site->active && site->active->id == 0) {
        g = site->active;
        pool_generation_name(&f->pool, g, id);
    } else if (!g) {
        g = pool_generation_add(
            &f->pool, site, id, ipc_get_c(m, "root"), ipc_get_u64(m, "follow") != 0);
    }
    (void)snprintf(g->php, sizeof(g->php), "%s", ipc_get_c(m, "php"));
    (void)snprintf(g->vm, sizeof(g->vm), "%s", ipc_get_c(m, "vm"));
}

void front_on_site_failed(struct front *f, struct ipc_in *m)
{
    struct pool_site *site = pool_site_find(&f->pool, ipc_get(m, "site"));

    if (!site || !site->active)
        return;
    site->retry_ms = net_loop_now(f->loop) + SITES_RETRY_MS;
    pool_abandon(&f->pool, site->active);
    pool_retire(&f->pool, site->active);
}

/* The master has ended it. If it was asked for again meanwhile, the master starts it anew. */
void front_on_site_gone(struct front *f, struct ipc_in *m)
{
    struct pool_site *site = pool_site_find(&f->pool, ipc_get(m, "site"));
    unsigned label = site ? site->label : 0;

    if (site && pool_site_remove(&f->pool, site) && f->metrics)
        metrics_clear_value(f->metrics, METRIC_LABEL_SITE, label);
}
