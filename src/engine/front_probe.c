/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "engine/front.h"
#include "http/conn.h"

/*
 * A probe is a real HTTP request over a local stream pair, tagged with its generation: it takes the
 * same way as a client's, through routing and a worker.
 */
enum { PROBE_MS = 60000, PROBE_HEAD = 64 };

struct front_probe {
    struct list node;
    struct front *front;
    uint64_t generation;
    char *url;
    sock_t fd;
    struct net_watch *watch;
    struct net_timer *timer;
    char head[PROBE_HEAD]; /* start of the answer */
    size_t nhead;
};

static void probe_free(struct front_probe *pr)
{
    list_remove(&pr->node);
    net_watch_close(pr->watch);
    net_timer_close(pr->timer);
    sock_close(pr->fd);
    mem_free(pr->url);
    mem_free(pr);
}

/* Status of "HTTP/1.1 200 ...", 0 when it is none. */
static unsigned probe_status(const struct front_probe *pr)
{
    uint64_t v;
    struct str s = str_sub(str_n(pr->head, pr->nhead), 9, 3);

    return str_u64(s, &v) ? 0 : (unsigned)v;
}

static void probe_done(struct front_probe *pr, const char *problem)
{
    struct pool_generation *g = pool_generation_find(&pr->front->pool, pr->generation);
    struct ipc_out m;

    ipc_begin(&m, "probed");
    ipc_add_u64(&m, "generation", pr->generation);
    ipc_add(&m, "url", str_c(pr->url));
    ipc_add_u64(&m, "status", problem ? 0 : probe_status(pr));
    ipc_add(&m, "note", str_c(problem ? problem : g ? g->note : ""));
    front_tell(pr->front, &m);
    probe_free(pr);
}

static void probe_timeout(void *arg)
{
    probe_done(arg, "no answer in time");
}

static void probe_readable(void *arg, int events)
{
    struct front_probe *pr = arg;
    char *scratch = pr->front->http.scratch;
    size_t got;
    int rc;

    (void)events;
    rc = sock_recv(pr->fd, scratch, HTTP_SCRATCH, &got);
    if (rc == ERR_AGAIN)
        return;
    if (rc) {
        probe_done(pr, pr->nhead ? NULL : "the connection was cut without an answer");
        return;
    }
    got = MIN(got, sizeof(pr->head) - pr->nhead);
    memcpy(pr->head + pr->nhead, scratch, got);
    pr->nhead += got;
}

void front_probe(struct front *f, struct ipc_in *m)
{
    struct front_probe *pr = mem_new(sizeof(*pr));
    uint64_t id = ipc_get_u64(m, "generation");
    struct pool_generation *g = pool_generation_find(&f->pool, id);
    struct sock_addr peer = {.family = SOCK_LOCAL};
    struct buf b = {0};
    struct str text;
    sock_t pair[2] = {SOCK_NONE, SOCK_NONE};
    size_t sent = 0;
    int rc;

    pr->front = f;
    pr->generation = id;
    pr->url = mem_dup_str(ipc_get_c(m, "url"), strlen(ipc_get_c(m, "url")));
    list_push(&f->probes, &pr->node);
    rc = g ? sock_stream_pair(pair) : ERR_NOTFOUND;
    pr->fd = pair[0];
    if (rc == 0)
        rc = net_watch_open(f->loop, pair[0], probe_readable, pr, &pr->watch);
    if (rc) {
        sock_close(pair[1]);
        probe_done(pr, err_text(rc));
        return;
    }
    g->note[0] = '\0';
    pr->timer = net_timer_open(f->loop, probe_timeout, pr);
    net_timer_start(pr->timer, PROBE_MS, 0);
    net_watch_set(pr->watch, NET_READ);
    buf_printf(&b,
        "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: ephpm-probe/" EPHPM_VERSION
        "\r\nAccept: */*\r\nConnection: close\r\n\r\n",
        pr->url, ipc_get_c(m, "host"));
    text = buf_str(&b);
    rc = sock_sendv(pair[0], &text, 1, false, &sent);
    buf_fini(&b);
    http_conn_open(&f->http, pair[1], &peer, (void *)(uintptr_t)id, false);
    if (rc || sent != text.len)
        probe_done(pr, "the request could not be written");
}

void front_probes_fini(struct front *f)
{
    list_each_safe (it, &f->probes)
        probe_free(CONTAINER_OF(it, struct front_probe, node));
}
