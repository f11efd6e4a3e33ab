/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/server.h"

#include "base/mem.h"
#include "core/log.h"
#include "http/conn.h"
#include "platform/clock.h"
#include "platform/random.h"

enum {
    SERVER_ACCEPTS = 64,          /* per wake-up, so that open connections get their turn */
    SERVER_ACCEPT_PAUSE_MS = 100, /* when descriptors are gone */
    SERVER_LINGER_MS = 2000,
    SERVER_FRESH_MS = 1000,     /* for the first request, when the server drains */
    SERVER_LAST_ACCEPTS = 4096, /* when it drains: what a listener's queue has at most, as a rule */
    SERVER_COMPRESSORS = 4
};

struct http_listener {
    struct list node;
    struct http_server *server;
    sock_t fd;
    struct net_watch *watch;
    bool internal;
};

struct http_settings *http_settings_new(void)
{
    struct http_settings *s = mem_new(sizeof(*s));

    s->refs = 1;
    return s;
}

struct http_settings *http_settings_ref(struct http_settings *s)
{
    s->refs++;
    return s;
}

void http_settings_unref(struct http_settings *s)
{
    if (!s || --s->refs)
        return;
    if (s->release)
        s->release(s->owner);
    arena_fini(&s->arena);
    mem_free(s);
}

static void server_accept_pause(struct http_server *s)
{
    list_each (it, &s->listeners)
        net_watch_set(CONTAINER_OF(it, struct http_listener, node)->watch, 0);
    net_timer_start(s->accept_pause, SERVER_ACCEPT_PAUSE_MS, 0);
}

static void server_accept_resume(void *arg)
{
    struct http_server *s = arg;

    list_each (it, &s->listeners)
        net_watch_set(CONTAINER_OF(it, struct http_listener, node)->watch, NET_READ);
}

/* A 503 that fits the socket's buffer, and close. */
void http_server_refuse(struct http_server *s, sock_t fd)
{
    struct str text = STR("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n"
                          "Retry-After: 1\r\nConnection: close\r\n\r\n");
    size_t sent;

    s->counters.refused++;
    http_server_event(s, HTTP_EVENT_REFUSED);
    (void)!sock_sendv(fd, &text, 1, false, &sent); /* best effort: it is closed either way */
    sock_shutdown_send(fd);
    /* A request that is here already would turn the close into a reset, which can overtake the
     * answer. */
    (void)!sock_recv(fd, s->scratch, HTTP_SCRATCH, &sent);
    sock_close(fd);
}

static void server_accept(struct http_listener *l, int most)
{
    struct http_server *s = l->server;

    for (int i = 0; i < most; i++) {
        struct sock_addr peer;
        uint64_t max = s->settings->limits.max_connections;
        sock_t fd;
        int rc = sock_accept(l->fd, &fd, &peer);

        if (rc == ERR_AGAIN)
            return;
        if (rc == ERR_MFILE || rc == ERR_NOMEM) {
            log_error("accept_failed", F_ERR(rc), F_UINT("connections", s->nconns));
            server_accept_pause(s);
            return;
        }
        if (rc)
            continue; /* that connection is gone already */
        s->counters.accepted++;
        http_server_event(s, HTTP_EVENT_ACCEPTED);
        if (max && s->nconns >= max)
            http_server_refuse(s, fd);
        else
            http_conn_open(s, fd, &peer, NULL, l->internal);
    }
}

static void server_on_listener(void *arg, int events)
{
    (void)events;
    server_accept(arg, SERVER_ACCEPTS);
}

static void server_on_files(void *arg, int events)
{
    struct http_server *s = arg;

    (void)events;
    file_cache_on_watch(s->files);
}

static void server_apply_timeouts(struct http_server *s)
{
    deadline_class_set_ms(&s->on_header, s->settings->header_ms);
    deadline_class_set_ms(&s->on_idle, s->settings->idle_ms);
    if (s->settings->header_ms)
        deadline_class_set_ms(&s->on_fresh, MIN(s->settings->header_ms, (uint64_t)SERVER_FRESH_MS));
    deadline_class_set_ms(&s->on_body, s->settings->body_ms);
    deadline_class_set_ms(&s->on_receive, s->settings->body_ms);
    deadline_class_set_ms(&s->on_send, s->settings->send_ms);
    deadline_class_set_ms(&s->on_request, s->settings->request_ms);
}

static int server_open_files(struct http_server *s)
{
    int fd, rc;

    s->files = file_cache_new(&s->settings->files);
    fd = file_cache_watch_fd(s->files);
    if (fd < 0)
        return 0;
    rc = net_watch_open(s->loop, (sock_t)fd, server_on_files, s, &s->file_watch);
    if (rc)
        return rc;
    net_watch_set(s->file_watch, NET_READ);
    return 0;
}

static void server_close_files(struct http_server *s)
{
    net_watch_close(s->file_watch);
    s->file_watch = NULL;
    file_cache_free(s->files); /* what is being sent stays open until it is sent */
    s->files = NULL;
}

int http_server_init(struct http_server *s, struct net_loop *l, struct http_settings *settings,
    const struct http_hooks *hooks)
{

    *s = (struct http_server){.loop = l, .hooks = *hooks};
    s->settings = http_settings_ref(settings);
    deadline_set_init(&s->deadlines, l);
    deadline_class_init(&s->on_header, &s->deadlines, 0, http_conn_on_header);
    deadline_class_init(&s->on_idle, &s->deadlines, 0, http_conn_on_idle);
    deadline_class_init(&s->on_fresh, &s->deadlines, SERVER_FRESH_MS, http_conn_on_fresh);
    deadline_class_init(&s->on_body, &s->deadlines, 0, http_conn_on_body);
    deadline_class_init(&s->on_receive, &s->deadlines, 0, http_conn_on_receive);
    deadline_class_init(&s->on_send, &s->deadlines, 0, http_conn_on_send);
    deadline_class_init(&s->on_request, &s->deadlines, 0, http_conn_on_request);
    deadline_class_init(&s->on_linger, &s->deadlines, SERVER_LINGER_MS, http_conn_on_linger);
    server_apply_timeouts(s);
    list_init(&s->conns);
    list_init(&s->graveyard);
    list_init(&s->listeners);
    http_limits_init(&s->limits, random_u64());
    s->compressors = compress_pool_new(SERVER_COMPRESSORS);
    s->scratch = mem_new(HTTP_SCRATCH);
    s->accept_pause = net_timer_open(l, server_accept_resume, s);
    s->id_seed = random_u64();
    return server_open_files(s);
}

void http_server_set_settings(struct http_server *s, struct http_settings *settings)
{
    struct http_settings *old = s->settings;

    s->settings = http_settings_ref(settings);
    http_settings_unref(old);
    server_apply_timeouts(s);
    server_close_files(s);
    if (server_open_files(s))
        log_warn("file_cache_unwatched", F_CSTR("reason", "no change notices can be had"));
}

int http_server_listen(struct http_server *s, sock_t fd, bool internal)
{
    struct http_listener *l = mem_new(sizeof(*l));
    int rc;

    l->server = s;
    l->fd = fd;
    l->internal = internal;
    rc = net_watch_open(s->loop, fd, server_on_listener, l, &l->watch);
    if (rc) {
        mem_free(l);
        return rc;
    }
    list_push(&s->listeners, &l->node);
    net_watch_set(l->watch, NET_READ);
    return 0;
}

static void server_close_listeners(struct http_server *s)
{
    struct list *it;

    while ((it = list_pop(&s->listeners)) != NULL) {
        struct http_listener *l = CONTAINER_OF(it, struct http_listener, node);

        net_watch_close(l->watch);
        sock_close(l->fd);
        mem_free(l);
    }
}

void http_server_drain(struct http_server *s)
{
    s->draining = true;
    list_each (it, &s->listeners)
        server_accept(CONTAINER_OF(it, struct http_listener, node), SERVER_LAST_ACCEPTS);
    server_close_listeners(s);
    list_each_safe (it, &s->conns)
        http_conn_drain(CONTAINER_OF(it, struct http_conn, node));
}

void http_server_fini(struct http_server *s)
{
    struct list *it;

    server_close_listeners(s);
    while ((it = list_first(&s->conns)) != NULL)
        http_conn_close(CONTAINER_OF(it, struct http_conn, node), "shutdown");
    http_server_before_sleep(s);
    net_timer_close(s->accept_pause);
    deadline_set_fini(&s->deadlines);
    http_limits_fini(&s->limits);
    compress_pool_free(s->compressors);
    server_close_files(s);
    access_log_close(s->access_log);
    http_settings_unref(s->settings);
    mem_free(s->scratch);
    buf_fini(&s->head);
}

void http_server_event(struct http_server *s, enum http_event e)
{
    if (s->hooks.event)
        s->hooks.event(s->hooks.arg, e);
}

struct http_spool http_server_spool(const struct http_server *s)
{
    struct http_spool out = {0};

    list_each (it, &s->conns) {
        const struct http_conn *c = CONTAINER_OF(it, struct http_conn, node);

        if (c->has_x && c->x.body.mode == HTTP_BODY_SPOOL) {
            out.request_files++;
            out.request_bytes += c->x.body.size;
        }
        if (stream_spooled(&c->stream)) {
            out.response_files++;
            out.response_bytes += stream_spooled(&c->stream);
        }
    }
    return out;
}

void http_server_before_sleep(struct http_server *s)
{
    struct list *it;

    while ((it = list_pop(&s->graveyard)) != NULL)
        http_conn_free(CONTAINER_OF(it, struct http_conn, node));
}

struct str http_server_date(struct http_server *s)
{
    uint64_t now = clock_wall_us() / 1000000;

    if (now != s->date_at) {
        s->date_at = now;
        cond_date_format((int64_t)now, s->date);
    }
    return str_n(s->date, COND_DATE_LEN);
}
