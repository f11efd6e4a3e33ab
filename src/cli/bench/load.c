/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/bench/load.h"

#include <signal.h>

#include "base/list.h"
#include "base/mem.h"
#include "http/h1_response.h"
#include "net/loop.h"
#include "platform/clock.h"

enum { TICK_MS = 20, READ_SIZE = 256 * 1024 };
#define SECOND UINT64_C(1000000000)

enum conn_state {
    CONN_CLOSED, /* is opened at the next tick */
    CONN_CONNECTING,
    CONN_FREE,
    CONN_SENDING,
    CONN_WAITING, /* for the answer, or more of it */
};

struct conn {
    struct load *load;
    enum conn_state state;
    sock_t sock;
    struct net_watch *watch;
    size_t sent;
    uint64_t started; /* what the answer's time counts from */
    uint64_t active;  /* when it was sent, or the connection begun: for the time-out */
    struct h1_response response;
    struct list node; /* among the free ones */
};

struct load {
    const struct bench_load *opt;
    struct bench_load_result *out;
    struct net_loop *loop;
    struct net_timer *tick, *end, *pace;
    struct net_signal *signals[2];
    struct conn *conns;
    struct list free;
    uint64_t started, issued; /* issued: with a rate, how many are sent */
    bool over;
    char *in; /* READ_SIZE bytes that all share */
};

static void conn_advance(struct conn *c);

/* --- a connection ----------------------------------------------------------------------------- */

static void conn_close(struct conn *c)
{
    if (c->state == CONN_FREE)
        list_remove(&c->node);
    net_watch_close(c->watch);
    c->watch = NULL;
    sock_close(c->sock);
    c->sock = SOCK_NONE;
    c->state = CONN_CLOSED;
}

static void conn_fail(struct conn *c, enum bench_load_error why)
{
    c->load->out->errors[why]++;
    conn_close(c); /* the next tick opens it, which keeps a dead server from being hammered */
}

static void conn_fail_connect(struct conn *c, int code)
{
    c->load->out->connect_error = code;
    conn_fail(c, BENCH_LOAD_CONNECT);
}

static void on_ready(void *arg, int events);

static void conn_open(struct conn *c)
{
    struct load *l = c->load;
    int rc = sock_connect_start(&l->opt->to, &c->sock);

    c->active = clock_mono_ns();
    if (rc == 0)
        rc = net_watch_open(l->loop, c->sock, on_ready, c, &c->watch);
    if (rc) {
        conn_fail_connect(c, rc);
        return;
    }
    c->state = CONN_CONNECTING;
    net_watch_set(c->watch, NET_WRITE);
}

/* Sends what is left of the request. */
static void conn_send(struct conn *c)
{
    struct str rest = str_sub(c->load->opt->request, c->sent, SIZE_MAX);
    size_t n = 0;
    int rc = sock_sendv(c->sock, &rest, 1, false, &n);

    if (rc && rc != ERR_AGAIN) {
        conn_fail(c, BENCH_LOAD_CUT);
        return;
    }
    c->sent += n;
    c->state = n == rest.len ? CONN_WAITING : CONN_SENDING;
    /* Reading is watched all along, so that sending is one system call. */
    net_watch_set(c->watch, c->state == CONN_SENDING ? NET_READ | NET_WRITE : NET_READ);
}

static void conn_begin(struct conn *c, uint64_t started, uint64_t now)
{
    h1_response_begin(&c->response, false);
    c->sent = 0;
    c->started = started;
    c->active = now;
    conn_send(c);
}

/* When request i is due, on a grid of milliseconds. */
static uint64_t due(const struct load *l, uint64_t i)
{
    uint64_t ms = (i * 1000 + l->opt->rate - 1) / l->opt->rate;

    return l->started + ms * 1000000;
}

/* How many are due by now: due(i) <= now for exactly i < this. */
static uint64_t due_by(const struct load *l, uint64_t now)
{
    return (now - l->started) / 1000000 * l->opt->rate / 1000 + 1;
}

/* A connection is free: the next request, if one is due. */
static void conn_advance(struct conn *c)
{
    struct load *l = c->load;
    uint64_t now = clock_mono_ns();

    if (!l->over && l->opt->rate == 0) {
        conn_begin(c, now, now);
    } else if (!l->over && due(l, l->issued) <= now) {
        conn_begin(c, due(l, l->issued++), now);
    } else {
        c->state = CONN_FREE;
        list_push(&l->free, &c->node);
        net_watch_set(c->watch, NET_READ); /* the server may close it */
    }
}

/* --- answers ---------------------------------------------------------------------------------- */

static void note_size(struct bench_load_result *r, uint64_t size)
{
    if (r->sized++ == 0)
        r->size_first = r->size_min = r->size_max = size;
    r->size_min = MIN(r->size_min, size);
    r->size_max = MAX(r->size_max, size);
    r->size_differs += size != r->size_first;
}

static void conn_answered(struct conn *c)
{
    struct load *l = c->load;
    struct bench_load_result *r = l->out;
    uint64_t now = clock_mono_ns(), second = (now - l->started) / SECOND;

    r->requests++;
    if (c->response.status >= 0 && c->response.status < (int)ARRAY_LEN(r->statuses))
        r->statuses[c->response.status]++;
    if (c->response.status / 100 == 2)
        note_size(r, c->response.body);
    bench_histogram_add(&r->latency, now - c->started);
    if (second < r->nslices)
        r->slices[second]++;
    if (c->response.keep_alive) {
        conn_advance(c);
        return;
    }
    conn_close(c);
    conn_open(c);
}

/* Bytes, or the end, on a connection that nothing was asked on. */
static void conn_unexpected(struct conn *c, int rc)
{
    if (rc == 0)
        c->load->out->errors[BENCH_LOAD_PROTOCOL]++;
    conn_close(c);
}

static void conn_read(struct conn *c)
{
    struct load *l = c->load;
    size_t n = 0, used = 0;
    int rc = sock_recv(c->sock, l->in, READ_SIZE, &n);

    if (rc == ERR_AGAIN)
        return;
    l->out->received += n;
    if (c->state == CONN_FREE) {
        conn_unexpected(c, rc);
        return;
    }
    if (rc == ERR_EOF)
        rc = h1_response_end(&c->response);
    else if (rc == 0)
        rc = h1_response_feed(&c->response, l->in, n, &used);
    if (rc == ERR_AGAIN)
        return;
    if (rc)
        conn_fail(c, rc == ERR_PROTO ? BENCH_LOAD_PROTOCOL : BENCH_LOAD_CUT);
    else if (n > used)
        conn_fail(c, BENCH_LOAD_PROTOCOL); /* more than one answer */
    else
        conn_answered(c);
}

static void on_ready(void *arg, int events)
{
    struct conn *c = arg;
    int rc;

    if (c->state == CONN_CONNECTING) {
        rc = sock_connect_end(c->sock);
        if (rc) {
            conn_fail_connect(c, rc);
            return;
        }
        c->load->out->connections++;
        conn_advance(c);
        return;
    }
    if ((events & NET_WRITE) && c->state == CONN_SENDING)
        conn_send(c);
    if ((events & NET_READ) && c->state >= CONN_FREE)
        conn_read(c);
}

/* --- time ------------------------------------------------------------------------------------- */

static void on_tick(void *arg)
{
    struct load *l = arg;
    uint64_t now = clock_mono_ns(), limit = l->opt->timeout * SECOND;

    for (unsigned i = 0; i < l->opt->connections; i++) {
        struct conn *c = &l->conns[i];

        if (c->state == CONN_CLOSED)
            conn_open(c);
        else if (c->state != CONN_FREE && now - c->active > limit)
            conn_fail(c, BENCH_LOAD_TIMEOUT);
    }
}

/* Requests that became due go to connections that wait for them. */
static void on_pace(void *arg)
{
    struct load *l = arg;
    uint64_t now = clock_mono_ns();

    while (!list_empty(&l->free) && due(l, l->issued) <= now) {
        struct conn *c = CONTAINER_OF(list_pop(&l->free), struct conn, node);

        conn_begin(c, due(l, l->issued++), now);
    }
}

static void on_end(void *arg)
{
    struct load *l = arg;

    l->over = true;
    net_loop_stop(l->loop);
}

static void on_signal(void *arg, int signum)
{
    struct load *l = arg;

    l->out->stopped = true;
    on_end(l);
}

/* --- run -------------------------------------------------------------------------------------- */

static int open_all(struct load *l)
{
    static const int signals[2] = {SIGINT, SIGTERM};
    int rc = net_loop_new(&l->loop);

    if (rc)
        return rc;
    for (size_t i = 0; i < ARRAY_LEN(signals) && rc == 0; i++)
        rc = net_signal_open(l->loop, signals[i], on_signal, l, &l->signals[i]);
    if (rc)
        return rc;
    l->tick = net_timer_open(l->loop, on_tick, l);
    l->end = net_timer_open(l->loop, on_end, l);
    l->pace = net_timer_open(l->loop, on_pace, l);
    net_loop_update(l->loop); /* so that the time starts now */
    net_timer_start(l->tick, TICK_MS, TICK_MS);
    net_timer_start(l->end, l->opt->duration_ms, 0);
    if (l->opt->rate)
        net_timer_start(l->pace, 1, 1);
    return 0;
}

static void close_all(struct load *l)
{
    for (unsigned i = 0; i < l->opt->connections; i++)
        conn_close(&l->conns[i]);
    for (size_t i = 0; i < ARRAY_LEN(l->signals); i++)
        net_signal_close(l->signals[i]);
    if (l->tick) {
        net_timer_close(l->tick);
        net_timer_close(l->end);
        net_timer_close(l->pace);
    }
    net_loop_free(l->loop);
}

static void prepare(struct load *l)
{
    list_init(&l->free);
    l->in = mem_new(READ_SIZE);
    l->conns = mem_new_array(l->opt->connections, sizeof(*l->conns));
    l->out->nslices = l->opt->duration_ms / 1000;
    l->out->slices = mem_new_array(l->out->nslices + 1, sizeof(*l->out->slices));
    for (unsigned i = 0; i < l->opt->connections; i++) {
        l->conns[i] = (struct conn){.load = l, .sock = SOCK_NONE};
        h1_response_init(&l->conns[i].response);
    }
}

static void finish(struct load *l)
{
    struct bench_load_result *r = l->out;
    uint64_t now = clock_mono_ns();

    r->elapsed_ns = now - l->started;
    r->nslices = MIN(r->nslices, (size_t)(r->elapsed_ns / SECOND));
    if (l->opt->rate)
        r->late = due_by(l, now) - l->issued;
}

int bench_load_run(const struct bench_load *load, struct bench_load_result *out, struct err *err)
{
    struct load l = {.opt = load, .out = out};
    uint64_t cpu;
    int rc;

    prepare(&l);
    rc = open_all(&l);
    if (rc == 0) {
        cpu = clock_cpu_ns();
        l.started = clock_mono_ns();
        for (unsigned i = 0; i < load->connections; i++)
            conn_open(&l.conns[i]);
        net_loop_run(l.loop);
        finish(&l);
        out->cpu_ns = clock_cpu_ns() - cpu;
    } else {
        (void)err_set(err, rc, "the event loop cannot be made: %s", err_text(rc));
    }
    close_all(&l);
    mem_free(l.conns);
    mem_free(l.in);
    return rc;
}

void bench_load_result_fini(struct bench_load_result *r)
{
    mem_free(r->slices);
    r->slices = NULL;
}
