/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "net/loop.h"

#include <uv.h>

#include "base/mem.h"

struct net_loop {
    uv_loop_t uv;
    uv_prepare_t prepare;
    net_sleep_cb *sleep_cb;
    void *sleep_arg;
};

struct net_watch {
    uv_poll_t uv;
    net_watch_cb *cb;
    void *arg;
    int events;
};

struct net_timer {
    uv_timer_t uv;
    net_timer_cb *cb;
    void *arg;
};

struct net_signal {
    uv_signal_t uv;
    net_signal_cb *cb;
    void *arg;
};

static int net_err(int uv)
{
    switch (uv) {
    case UV_ENOMEM:
        return ERR_NOMEM;
    case UV_EMFILE:
    case UV_ENFILE:
        return ERR_MFILE;
    case UV_EEXIST:
        return ERR_EXISTS;
    case UV_EBADF:
    case UV_EINVAL:
        return ERR_INVAL;
    default:
        return ERR_IO;
    }
}

int net_loop_new(struct net_loop **out)
{
    struct net_loop *l = mem_new(sizeof(*l));
    int rc = uv_loop_init(&l->uv);

    if (rc) {
        mem_free(l);
        return net_err(rc);
    }
    (void)uv_prepare_init(&l->uv, &l->prepare); /* cannot fail */
    l->prepare.data = l;
    *out = l;
    return 0;
}

void net_loop_free(struct net_loop *l)
{
    if (!l)
        return;
    uv_close((uv_handle_t *)&l->prepare, NULL);
    (void)uv_run(&l->uv, UV_RUN_NOWAIT); /* close callbacks */
    ENSURE(uv_loop_close(&l->uv) == 0);
    mem_free(l);
}

void net_loop_run(struct net_loop *l)
{
    (void)uv_run(&l->uv, UV_RUN_DEFAULT); /* says only whether handles are left */
}

void net_loop_stop(struct net_loop *l)
{
    uv_stop(&l->uv);
}

uint64_t net_loop_now(const struct net_loop *l)
{
    return uv_now(&l->uv);
}

void net_loop_update(struct net_loop *l)
{
    uv_update_time(&l->uv);
}

static void net_loop_prepare(uv_prepare_t *p)
{
    struct net_loop *l = p->data;

    l->sleep_cb(l->sleep_arg);
}

void net_loop_on_sleep(struct net_loop *l, net_sleep_cb *cb, void *arg)
{
    l->sleep_cb = cb;
    l->sleep_arg = arg;
    if (cb) {
        (void)uv_prepare_start(&l->prepare, net_loop_prepare); /* cannot fail */
        uv_unref((uv_handle_t *)&l->prepare);
    } else {
        (void)uv_prepare_stop(&l->prepare); /* cannot fail */
    }
}

static void net_watch_ready(uv_poll_t *p, int status, int events)
{
    struct net_watch *w = p->data;
    int ev = 0;

    if (status < 0) {
        /* An error on the socket, upon which libuv stops the handle. It goes on: the owner may find
         * bytes that came before the error, and has to meet the error itself after them. */
        ev = w->events;
        w->events = 0;
        net_watch_set(w, ev);
    } else {
        if (events & (UV_READABLE | UV_DISCONNECT))
            ev |= NET_READ;
        if (events & UV_WRITABLE)
            ev |= NET_WRITE;
    }
    ev &= w->events;
    if (ev)
        w->cb(w->arg, ev);
}

int net_watch_open(
    struct net_loop *l, sock_t fd, net_watch_cb *cb, void *arg, struct net_watch **out)
{
    struct net_watch *w = mem_new(sizeof(*w));
    int rc = uv_poll_init_socket(&l->uv, &w->uv, fd);

    if (rc) {
        mem_free(w);
        return net_err(rc);
    }
    w->uv.data = w;
    w->cb = cb;
    w->arg = arg;
    *out = w;
    return 0;
}

void net_watch_set(struct net_watch *w, int events)
{
    int uv = 0;

    if (w->events == events)
        return;
    w->events = events;
    if (events & NET_READ)
        uv |= UV_READABLE;
    if (events & NET_WRITE)
        uv |= UV_WRITABLE;
    if (uv)
        ENSURE(uv_poll_start(&w->uv, uv, net_watch_ready) == 0);
    else
        (void)uv_poll_stop(&w->uv); /* cannot fail on an open handle */
}

int net_watch_get(const struct net_watch *w)
{
    return w->events;
}

static void net_free_data(uv_handle_t *h)
{
    mem_free(h->data);
}

void net_watch_close(struct net_watch *w)
{
    if (!w)
        return;
    w->events = 0;
    uv_close((uv_handle_t *)&w->uv, net_free_data);
}

static void net_timer_fired(uv_timer_t *uv)
{
    struct net_timer *t = uv->data;

    t->cb(t->arg);
}

struct net_timer *net_timer_open(struct net_loop *l, net_timer_cb *cb, void *arg)
{
    struct net_timer *t = mem_new(sizeof(*t));

    (void)uv_timer_init(&l->uv, &t->uv); /* cannot fail */
    t->uv.data = t;
    t->cb = cb;
    t->arg = arg;
    return t;
}

void net_timer_start(struct net_timer *t, uint64_t ms, uint64_t repeat_ms)
{
    (void)uv_timer_start(&t->uv, net_timer_fired, ms, repeat_ms); /* cannot fail: open, with cb */
}

void net_timer_stop(struct net_timer *t)
{
    (void)uv_timer_stop(&t->uv); /* cannot fail */
}

void net_timer_close(struct net_timer *t)
{
    if (!t)
        return;
    (void)uv_timer_stop(&t->uv); /* cannot fail */
    uv_close((uv_handle_t *)&t->uv, net_free_data);
}

static void net_signal_caught(uv_signal_t *uv, int signum)
{
    struct net_signal *s = uv->data;

    s->cb(s->arg, signum);
}

int net_signal_open(
    struct net_loop *l, int signum, net_signal_cb *cb, void *arg, struct net_signal **out)
{
    struct net_signal *s = mem_new(sizeof(*s));
    int rc;

    (void)uv_signal_init(&l->uv, &s->uv); /* cannot fail after uv_loop_init */
    s->uv.data = s;
    s->cb = cb;
    s->arg = arg;
    rc = uv_signal_start(&s->uv, net_signal_caught, signum);
    if (rc) {
        uv_close((uv_handle_t *)&s->uv, net_free_data);
        return net_err(rc);
    }
    *out = s;
    return 0;
}

void net_signal_close(struct net_signal *s)
{
    if (!s)
        return;
    (void)uv_signal_stop(&s->uv); /* cannot fail */
    uv_close((uv_handle_t *)&s->uv, net_free_data);
}
