/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "kv/redis/server.h"

#include <stdio.h>

#include "base/mem.h"
#include "core/log.h"
#include "kv/redis/commands.h"
#include "kv/redis/state.h"
#include "platform/clock.h"
#include "platform/random.h"

enum {
    ACCEPT_BATCH = 64,
    RETRY_MS = 100, /* after no descriptor was left */
};

struct listener {
    struct list node;
    struct redis_server *server;
    sock_t fd;
    struct net_watch *watch;
    struct net_timer *retry;
};

int64_t redis_now_ms(void)
{
    return (int64_t)(clock_wall_us() / 1000);
}

/* ---- memory of closed clients ---- */

void redis_server_enter(struct redis_server *s)
{
    s->depth++;
}

void redis_server_leave(struct redis_server *s)
{
    struct list *it;

    if (s->depth == 1) {
        redis_block_serve(s);
        while ((it = list_pop(&s->dirty)) != NULL)
            redis_client_flush(CONTAINER_OF(it, struct redis_client, dirty));
        while ((it = list_first(&s->dead)) != NULL)
            redis_client_free(CONTAINER_OF(it, struct redis_client, node));
        if (s->buf.cap > REDIS_READ)
            buf_fini(&s->buf);
        if (s->buf2.cap > REDIS_READ)
            buf_fini(&s->buf2);
    }
    s->depth--;
}

void redis_server_wrote(struct redis_server *s, struct redis_client *c)
{
    if (list_empty(&c->dirty))
        list_push(&s->dirty, &c->dirty);
}

/* ---- accepting ---- */

static void refuse(struct redis_server *s, sock_t fd)
{
    struct str text = STR("-ERR max number of clients reached\r\n");
    size_t sent;

    s->stats.rejected++;
    if (sock_sendv(fd, &text, 1, false, &sent) != 0)
        log_debug("redis_refused_unheard", F_UINT("clients", s->nclients));
    sock_close(fd);
}

static void accept_one(struct redis_server *s, sock_t fd)
{
    if (s->nclients >= s->opt.max_connections)
        refuse(s, fd);
    else if (!redis_client_new(s, fd))
        sock_close(fd);
}

static void on_connection(void *arg, int events)
{
    struct listener *l = arg;
    sock_t fd;
    int r = 0;

    redis_server_enter(l->server);
    for (int i = 0; i < ACCEPT_BATCH && r == 0; i++) {
        r = sock_accept(l->fd, &fd, NULL);
        if (r == 0)
            accept_one(l->server, fd);
    }
    if (r && r != ERR_AGAIN) {
        log_warn("redis_accept_failed", F_ERR(r));
        net_watch_set(l->watch, 0);
        net_timer_start(l->retry, RETRY_MS, 0);
    }
    redis_server_leave(l->server);
}

static void on_retry(void *arg)
{
    struct listener *l = arg;

    net_watch_set(l->watch, NET_READ);
}

int redis_server_listen(struct redis_server *s, sock_t fd)
{
    struct listener *l = mem_new(sizeof(*l));
    int r = net_watch_open(s->loop, fd, on_connection, l, &l->watch);

    if (r) {
        mem_free(l);
        return r;
    }
    l->server = s;
    l->fd = fd;
    l->retry = net_timer_open(s->loop, on_retry, l);
    list_push(&s->listeners, &l->node);
    net_watch_set(l->watch, NET_READ);
    return 0;
}

static void listener_free(struct listener *l)
{
    list_remove(&l->node);
    net_watch_close(l->watch);
    net_timer_close(l->retry);
    mem_free(l);
}

/* ---- sites ---- */

struct redis_site *redis_server_site(const struct redis_server *s, struct str name)
{
    list_each (it, &s->sites) {
        struct redis_site *site = CONTAINER_OF(it, struct redis_site, node);

        if (str_eq(str_c(site->name), name))
            return site;
    }
    return NULL;
}

int redis_server_adopt(struct redis_server *s, sock_t fd, struct str name)
{
    struct redis_site *site = redis_server_site(s, name);
    struct redis_client *c = site ? redis_client_new(s, fd) : NULL;

    if (!c)
        return site ? ERR_NOMEM : ERR_NOTFOUND;
    redis_auth_enter(c, site, STR("default"));
    return 0;
}

int redis_server_add_site(struct redis_server *s, const char *name, struct kv_store *store)
{
    struct redis_site *site;

    if (redis_server_site(s, str_c(name)))
        return ERR_EXISTS;
    site = mem_new(sizeof(*site));
    site->name = mem_dup_str(name, strlen(name));
    site->store = store;
    map_init(&site->channels, random_u64());
    map_init(&site->keys, random_u64());
    list_init(&site->patterns);
    map_init(&site->patterns_by_name, random_u64());
    list_push(&s->sites, &site->node);
    return 0;
}

static void site_free(struct redis_site *site)
{
    list_remove(&site->node);
    redis_pubsub_site_fini(site);
    redis_block_site_fini(site);
    map_fini(&site->channels);
    map_fini(&site->patterns_by_name);
    map_fini(&site->keys);
    mem_free(site->name);
    mem_free(site);
}

void redis_server_remove_site(struct redis_server *s, const char *name)
{
    struct redis_site *site = redis_server_site(s, str_c(name));

    if (!site)
        return;
    redis_server_enter(s);
    list_each_safe (it, &s->clients) {
        struct redis_client *c = CONTAINER_OF(it, struct redis_client, node);

        if (c->site == site)
            redis_client_close(c, "the site is gone");
    }
    redis_server_leave(s);
    site_free(site);
}

/* ---- life cycle ---- */

static void on_idle(struct deadline *d)
{
    struct redis_client *c = CONTAINER_OF(d, struct redis_client, idle);
    struct redis_server *s = c->server;

    redis_server_enter(s);
    redis_client_close(c, "idle");
    redis_server_leave(s);
}

static void make_run_id(struct redis_server *s)
{
    for (size_t i = 0; i + 1 < sizeof(s->run_id); i++)
        s->run_id[i] = "0123456789abcdef"[random_u64() & 15];
}

int redis_server_open(struct net_loop *l, const struct redis_options *opt,
    const struct redis_hooks *hooks, struct redis_server **out)
{
    struct redis_server *s;

    if (opt->max_connections == 0 || opt->max_input_buffer == 0)
        return ERR_INVAL;
    s = mem_new(sizeof(*s));
    s->loop = l;
    s->opt = *opt;
    s->password = mem_dup_str(opt->password.p, opt->password.len);
    s->secret = mem_dup_str(opt->secret.p, opt->secret.len);
    s->opt.password.p = s->password;
    s->opt.secret.p = s->secret;
    if (hooks)
        s->hooks = *hooks;
    list_init(&s->sites);
    list_init(&s->clients);
    list_init(&s->dead);
    list_init(&s->dirty);
    list_init(&s->later);
    s->turn = net_timer_open(l, redis_client_turn, s);
    list_init(&s->listeners);
    s->started = net_loop_now(l);
    s->read_buf = mem_new(REDIS_READ);
    make_run_id(s);
    deadline_set_init(&s->deadlines, l);
    deadline_class_init(&s->idle, &s->deadlines, (uint64_t)opt->idle_timeout_secs * 1000, on_idle);
    redis_commands_index(s);
    redis_block_init(s);
    *out = s;
    return 0;
}

void redis_server_close(struct redis_server *s)
{
    struct list *it;

    if (!s)
        return;
    while ((it = list_first(&s->listeners)) != NULL)
        listener_free(CONTAINER_OF(it, struct listener, node));
    redis_server_enter(s);
    while ((it = list_first(&s->clients)) != NULL)
        redis_client_close(CONTAINER_OF(it, struct redis_client, node), "the server stops");
    redis_server_leave(s);
    while ((it = list_first(&s->sites)) != NULL)
        site_free(CONTAINER_OF(it, struct redis_site, node));
    redis_block_fini(s);
    net_timer_close(s->turn);
    deadline_set_fini(&s->deadlines);
    buf_fini(&s->buf);
    buf_fini(&s->buf2);
    mem_free(s->read_buf);
    mem_free(s->password);
    mem_free(s->secret);
    mem_free(s);
}

void redis_server_stats(const struct redis_server *s, struct redis_stats *out)
{
    *out = s->stats;
    out->clients = s->nclients;
    out->blocked = s->nblocked;
    out->subscribed = 0;
    list_each (it, &s->clients)
        out->subscribed += redis_client_subscribed(CONTAINER_OF(it, struct redis_client, node));
}
