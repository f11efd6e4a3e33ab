/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/mysql/server.h"

#include <pthread.h>

#include "base/mem.h"
#include "core/log.h"
#include "db/mysql/conn.h"
#include "db/mysql/threads.h"
#include "platform/clock.h"

enum {
    SERVER_LISTENERS = 4,
    SERVER_ACCEPTS = 64,   /* in one round of the loop */
    SERVER_CONNECT_S = 10, /* limits as MySQL has them */
    SERVER_READ_S = 30,
    SERVER_WRITE_S = 60,
    SERVER_PAUSE_MS = 100 /* without descriptors */
};

struct server_account {
    struct list node;
    char *user;
    char *database;
    struct mysql_secret secret;
};

struct server_listener {
    struct mysql_server *server;
    sock_t fd;
    struct net_watch *watch;
};

struct mysql_server {
    struct mysql_options opt;
    struct net_loop *loop;
    struct mysql_tls *tls;
    struct mysql_rsa *rsa;
    struct mysql_threads *threads;
    struct server_listener listeners[SERVER_LISTENERS];
    size_t nlisteners;
    struct net_timer *pause;
    _Atomic bool stops;
    pthread_mutex_t lock; /* of what follows */
    struct list accounts;
    struct list conns;
    unsigned nconns;
};

static void server_lock(struct mysql_server *s)
{
    ENSURE(pthread_mutex_lock(&s->lock) == 0);
}

static void server_unlock(struct mysql_server *s)
{
    ENSURE(pthread_mutex_unlock(&s->lock) == 0);
}

const struct mysql_options *mysql_server_options(const struct mysql_server *s)
{
    return &s->opt;
}

const struct mysql_tls *mysql_server_tls(const struct mysql_server *s)
{
    return s->tls;
}

struct mysql_rsa *mysql_server_rsa(const struct mysql_server *s)
{
    return s->rsa;
}

bool mysql_server_stops(const struct mysql_server *s)
{
    return s->stops;
}

/* --- accounts --------------------------------------------------------------------------------- */

static struct server_account *server_find(struct mysql_server *s, struct str user)
{
    list_each (it, &s->accounts) {
        struct server_account *a = CONTAINER_OF(it, struct server_account, node);

        if (str_eq(str_c(a->user), user))
            return a;
    }
    return NULL;
}

static void server_account_free(struct server_account *a)
{
    list_remove(&a->node);
    mysql_wipe(&a->secret, sizeof(a->secret));
    mem_free(a->user);
    mem_free(a->database);
    mem_free(a);
}

void mysql_server_set_account(struct mysql_server *s, const struct mysql_account *account)
{
    struct server_account *a = mem_new(sizeof(*a)), *before;

    a->user = mem_dup_str(account->user.p, account->user.len);
    a->database = mem_dup_str(account->database.p, account->database.len);
    mysql_secret_init(&a->secret, account->password);
    server_lock(s);
    before = server_find(s, account->user);
    if (before)
        server_account_free(before);
    list_push(&s->accounts, &a->node);
    server_unlock(s);
}

void mysql_server_remove_account(struct mysql_server *s, struct str user)
{
    struct server_account *a;

    server_lock(s);
    a = server_find(s, user);
    if (a)
        server_account_free(a);
    server_unlock(s);
}

bool mysql_server_find(struct mysql_server *s, struct str user, struct mysql_secret *secret,
    char *database, size_t cap)
{
    const struct server_account *a;

    server_lock(s);
    a = server_find(s, user);
    if (a) {
        *secret = a->secret;
        (void)str_put(database, cap, str_c(a->database));
    }
    server_unlock(s);
    return a != NULL;
}

/* --- connections ------------------------------------------------------------------------------ */

static void server_forget(struct mysql_conn *c)
{
    struct mysql_server *s = c->server;

    server_lock(s);
    list_remove(&c->node);
    s->nconns--;
    sock_close(c->fd); /* under the lock: nobody wakes another one's socket */
    server_unlock(s);
    db_uncount(&s->opt.stats->connected, 1);
    mem_free(c);
}

/* In the connection's thread. */
static void server_serve(struct list *job)
{
    struct mysql_conn *c = CONTAINER_OF(job, struct mysql_conn, wait);

    mysql_conn_run(c);
    server_forget(c);
}

/* Without waiting: what does not fit into the socket's buffer is lost. */
static void server_refuse(struct mysql_server *s, sock_t fd, enum db_error_name name, int arg)
{
    struct mysql_conn c = {.server = s, .fd = fd};
    struct db_error e;
    struct str bytes;
    size_t sent;

    (void)db_error_set(&e, name, arg);
    mysql_answer_error(&c, &e);
    bytes = buf_str(&c.out);
    if (sock_sendv(fd, &bytes, 1, false, &sent))
        log_debug("db_refusal_not_sent", F_UINT("number", (unsigned)e.number));
    buf_fini(&c.out);
    sock_close(fd);
    db_count(&s->opt.stats->refused, 1);
}

static void server_name_host(struct mysql_conn *c, const struct sock_addr *peer)
{
    c->local = peer->family != SOCK_INET4 && peer->family != SOCK_INET6;
    if (c->local || sock_ip_is_loopback(peer))
        (void)str_put(c->host, sizeof(c->host), STR("localhost"));
    else
        (void)sock_ip_format(peer, c->host);
}

static bool server_count_in(struct mysql_server *s, struct mysql_conn *c)
{
    struct db_stats *st = s->opt.stats;
    bool fits;

    server_lock(s);
    fits = s->nconns < s->opt.max_connections;
    if (fits) {
        s->nconns++;
        list_push(&s->conns, &c->node);
    }
    server_unlock(s);
    if (!fits)
        return false;
    db_count(&st->connections, 1);
    db_count(&st->connected, 1);
    if (db_counted(&st->connected) > db_counted(&st->max_connected)) /* the loop alone counts up */
        atomic_store_explicit(&st->max_connected, db_counted(&st->connected), memory_order_relaxed);
    return true;
}

static void server_take(struct mysql_server *s, sock_t fd, const struct sock_addr *peer)
{
    struct mysql_conn *c = mem_new(sizeof(*c));
    int rc;

    c->server = s;
    c->fd = fd;
    list_init(&c->node);
    list_init(&c->wait);
    server_name_host(c, peer);
    if (!server_count_in(s, c)) {
        log_warn("db_too_many_connections", F_UINT("max_connections", s->opt.max_connections),
            F_CSTR("host", c->host));
        mem_free(c);
        server_refuse(s, fd, DB_E_TOO_MANY_CONNECTIONS, 0);
        return;
    }
    rc = mysql_threads_run(s->threads, &c->wait);
    if (rc == 0)
        return;
    log_error("db_thread_failed", F_ERR(rc));
    c->fd = SOCK_NONE;
    server_forget(c);
    server_refuse(s, fd, DB_E_CANT_CREATE_THREAD, -rc);
}

static void server_on_accept(void *arg, int events)
{
    struct server_listener *l = arg;

    (void)events;
    for (unsigned i = 0; i < SERVER_ACCEPTS; i++) {
        struct sock_addr peer = {0};
        sock_t fd;
        int rc = sock_accept(l->fd, &fd, &peer);

        if (rc == ERR_AGAIN)
            return;
        if (rc) { /* no descriptors: those who come wait in the queue */
            log_error("db_accept_failed", F_ERR(rc));
            net_watch_set(l->watch, 0);
            net_timer_start(l->server->pause, SERVER_PAUSE_MS, 0);
            return;
        }
        server_take(l->server, fd, &peer);
    }
}

static void server_go_on(void *arg)
{
    struct mysql_server *s = arg;

    for (size_t i = 0; i < s->nlisteners; i++)
        net_watch_set(s->listeners[i].watch, NET_READ);
}

int mysql_server_listen(struct mysql_server *s, sock_t listener)
{
    struct server_listener *l = &s->listeners[s->nlisteners];
    int rc;

    if (s->nlisteners == SERVER_LISTENERS)
        return ERR_FULL;
    l->server = s;
    l->fd = listener;
    rc = net_watch_open(s->loop, listener, server_on_accept, l, &l->watch);
    if (rc)
        return rc;
    s->nlisteners++;
    net_watch_set(l->watch, NET_READ);
    return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

int mysql_server_new(struct net_loop *loop, const struct mysql_options *opt,
    struct mysql_server **out, struct err *err)
{
    struct mysql_tls *tls = NULL;
    struct mysql_server *s;
    int rc = 0;

    if (opt->tls_cert)
        rc = mysql_tls_new(opt->tls_cert, opt->tls_key, &tls, err);
    if (rc)
        return rc;
    s = mem_new(sizeof(*s));
    s->opt = *opt;
    if (!s->opt.max_connections)
        s->opt.max_connections = MYSQL_MAX_CONNECTIONS;
    if (!s->opt.timeouts.connect)
        s->opt.timeouts.connect = SERVER_CONNECT_S;
    if (!s->opt.timeouts.read)
        s->opt.timeouts.read = SERVER_READ_S;
    if (!s->opt.timeouts.write)
        s->opt.timeouts.write = SERVER_WRITE_S;
    s->loop = loop;
    s->tls = tls;
    s->rsa = mysql_rsa_new();
    s->threads = mysql_threads_new(server_serve, opt->stats);
    s->pause = net_timer_open(loop, server_go_on, s);
    list_init(&s->accounts);
    list_init(&s->conns);
    ENSURE(pthread_mutex_init(&s->lock, NULL) == 0);
    *out = s;
    return 0;
}

/* Each finds out when it reads next. */
static unsigned server_wake_all(struct mysql_server *s, bool both)
{
    unsigned n;

    server_lock(s);
    list_each (it, &s->conns) {
        struct mysql_conn *c = CONTAINER_OF(it, struct mysql_conn, node);

        c->ending = true;
        sock_shutdown_wake(c->fd, both);
    }
    n = s->nconns;
    server_unlock(s);
    return n;
}

bool mysql_server_close(struct mysql_server *s, unsigned wait_ms)
{
    uint64_t begin = clock_mono_ms();
    unsigned n;

    s->stops = true;
    for (size_t i = 0; i < s->nlisteners; i++)
        net_watch_close(s->listeners[i].watch);
    s->nlisteners = 0;
    net_timer_close(s->pause);
    s->pause = NULL;
    n = server_wake_all(s, false);
    while (n && clock_mono_ms() - begin < wait_ms) {
        clock_sleep_ms(n > 1 ? 5 : 1);
        /* In the second half those who do not take their answer are cut off. */
        n = server_wake_all(s, clock_mono_ms() - begin > wait_ms / 2);
    }
    if (n)
        log_error("db_connections_hang", F_UINT("connections", n));
    return n == 0 && mysql_threads_close(s->threads);
}

void mysql_server_free(struct mysql_server *s)
{
    if (!s)
        return;
    while (!list_empty(&s->accounts))
        server_account_free(CONTAINER_OF(list_first(&s->accounts), struct server_account, node));
    mysql_threads_free(s->threads);
    mysql_rsa_free(s->rsa);
    mysql_tls_free(s->tls);
    (void)pthread_mutex_destroy(&s->lock); /* nobody holds it */
    mem_free(s);
}
