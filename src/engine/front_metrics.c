/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/log.h"
#include "engine/front.h"
#include "http/conn.h"
#include "http/negotiate.h"
#include "platform/clock.h"

/*
 * What the front records, and the answer to a scrape. The figures of processes and generations are
 * the master's: a scrape asks it to set them, and waits for a moment. When the master is busy, the
 * last ones are shown.
 */
enum { METRICS_PATIENCE_MS = 500 };

struct front_scrape {
    struct list node;
    struct http_exchange *x;
    enum metrics_format format;
};

/* --- recording -------------------------------------------------------------------------------- */

static unsigned metrics_class(int status)
{
    unsigned class = (unsigned)status / 100;

    return class >= 1 && class <= 5 ? class - 1 : 5;
}

void front_metrics_finished(struct front *f, const struct http_exchange *x)
{
    struct metrics *m = f->metrics;
    unsigned method = metric_method(x->head.method);
    const struct pool_generation *g = x->site.owner;

    metrics_add(m, METRIC_HTTP_REQUESTS,
        metrics_at(m, METRIC_HTTP_REQUESTS, method, metric_status(x->status), x->handler), 1);
    if (x->start_ns)
        metric_observe(m, METRIC_HTTP_DURATION, method, x->handler, clock_mono_ns() - x->start_ns);
    if (x->body.size)
        metric_observe(m, METRIC_HTTP_REQUEST_BODY, method, 0, x->body.size);
    metric_observe(m, METRIC_HTTP_RESPONSE_BODY, x->handler, 0, x->body_wire);
    if (x->coded)
        metric_observe(m, METRIC_HTTP_COMPRESSION, 0, 0, x->body_wire * 1000 / x->coded);
    if (g)
        metric_count(m, METRIC_SITE_REQUESTS, g->site->label, metrics_class(x->status));
}

void front_metrics_event(void *arg, enum http_event e)
{
    struct metrics *m = ((struct front *)arg)->metrics;

    switch (e) {
    case HTTP_EVENT_ACCEPTED:
        metric_count(m, METRIC_HTTP_CONNECTIONS_TOTAL, 0, 0);
        break;
    case HTTP_EVENT_REFUSED:
        metric_count(m, METRIC_HTTP_CONNECTIONS_REFUSED, 0, 0);
        break;
    case HTTP_EVENT_BAD_REQUEST:
        metric_count(m, METRIC_HTTP_BAD_REQUESTS, 0, 0);
        break;
    case HTTP_EVENT_HEADER_TIMEOUT:
        metric_count(m, METRIC_HTTP_TIMEOUTS, METRIC_STAGE_HEADER, 0);
        break;
    case HTTP_EVENT_BODY_TIMEOUT:
        metric_count(m, METRIC_HTTP_TIMEOUTS, METRIC_STAGE_BODY, 0);
        break;
    case HTTP_EVENT_SEND_TIMEOUT:
        metric_count(m, METRIC_HTTP_TIMEOUTS, METRIC_STAGE_SEND, 0);
        break;
    case HTTP_EVENT_REQUEST_TIMEOUT:
        metric_count(m, METRIC_HTTP_TIMEOUTS, METRIC_STAGE_REQUEST, 0);
        break;
    case HTTP_EVENT_BODY_TOO_LARGE:
        metric_count(m, METRIC_HTTP_BODY_OVERFLOW, 0, 0);
        break;
    case HTTP_EVENT_RATE_LIMITED:
        metric_count(m, METRIC_RATE_LIMITED, 0, 0);
        break;
    case HTTP_EVENT_SITE_RATE_LIMITED:
        metric_count(m, METRIC_SITE_RATE_LIMITED, 0, 0);
        break;
    }
}

/* --- gauges ----------------------------------------------------------------------------------- */

static void metrics_set_http(struct front *f)
{
    struct metrics *m = f->metrics;
    struct http_spool spool = http_server_spool(&f->http);

    metric_gauge(m, METRIC_BUILD_INFO, 0, 0, 1);
    metric_gauge(m, METRIC_HTTP_IN_FLIGHT, 0, 0, f->http.nrequests);
    metric_gauge(m, METRIC_HTTP_CONNECTIONS, 0, 0, f->http.nconns);
    metric_gauge(m, METRIC_SPOOL_BYTES, METRIC_REQUEST, 0, spool.request_bytes);
    metric_gauge(m, METRIC_SPOOL_FILES, METRIC_REQUEST, 0, spool.request_files);
    metric_gauge(m, METRIC_SPOOL_BYTES, METRIC_RESPONSE, 0, spool.response_bytes);
    metric_gauge(m, METRIC_SPOOL_FILES, METRIC_RESPONSE, 0, spool.response_files);
}

static void metrics_set_site(struct front *f, const struct pool_site *s)
{
    size_t workers = 0, busy = 0, idle = 0, queued = 0;
    struct metrics *m = f->metrics;

    list_each (it, &f->pool.generations) {
        const struct pool_generation *g = CONTAINER_OF(it, struct pool_generation, node);

        if (g->site != s)
            continue;
        queued += g->queued + g->offered;
        list_each (wit, &g->workers) {
            enum pool_worker_state state = CONTAINER_OF(wit, struct pool_worker, node)->state;

            workers++;
            busy += state == WORKER_BUSY;
            idle += state == WORKER_IDLE;
        }
    }
    metric_gauge(m, METRIC_POOL_SIZE, s->label, 0, f->pool.limits.workers);
    metric_gauge(m, METRIC_POOL_QUEUE, s->label, 0, queued);
    metric_gauge(m, METRIC_WORKER_POOL_SIZE, s->label, 0, workers);
    metric_gauge(m, METRIC_WORKER_BUSY, s->label, 0, busy);
    metric_gauge(m, METRIC_WORKER_IDLE, s->label, 0, idle);
    metric_gauge(m, METRIC_WORKER_QUEUE, s->label, 0, queued);
}

/* --- scrapes ---------------------------------------------------------------------------------- */

static enum metrics_format metrics_choose(const struct http_exchange *x)
{
    struct str accept;
    unsigned open, text;

    if (!fields_join(&x->head.fields, STR("Accept"), &accept))
        return METRICS_TEXT;
    open = negotiate_accept_q(accept, STR("application"), STR("openmetrics-text"));
    text = negotiate_accept_q(accept, STR("text"), STR("plain"));
    /* A browser's or curl's "anything" is not meant as a wish for the newer one. */
    return open && open >= text && str_find(accept, STR("openmetrics-text")) >= 0 ? METRICS_OPEN
                                                                                  : METRICS_TEXT;
}

void front_metrics_sampled(struct front *f)
{
    struct buf text = {0};
    struct list *it;

    net_timer_stop(f->scrape_late);
    if (list_empty(&f->scrapes))
        return;
    metrics_set_http(f);
    list_each (s, &f->pool.sites)
        metrics_set_site(f, CONTAINER_OF(s, struct pool_site, node));
    while ((it = list_pop(&f->scrapes)) != NULL) {
        struct front_scrape *s = CONTAINER_OF(it, struct front_scrape, node);

        buf_clear(&text);
        metrics_write(f->registry, s->format, &text);
        s->x->owner = NULL;
        http_respond_simple(s->x, 200, metrics_content_type(s->format), buf_str(&text));
    }
    buf_fini(&text);
}

static void metrics_late(void *arg)
{
    log_debug("metrics_sample_late", F_UINT("ms", METRICS_PATIENCE_MS));
    front_metrics_sampled(arg);
}

bool front_metrics_is_path(const struct front *f, const struct http_exchange *x)
{
    const struct config_metrics *c = &f->config->server.metrics;

    return f->metrics && str_eq(x->path, str_c(c->path)) && (x->conn->internal || !c->listen);
}

void front_metrics_scrape(struct front *f, struct http_exchange *x, bool may)
{
    struct front_scrape *s = arena_new(&x->arena, sizeof(*s));
    bool first = list_empty(&f->scrapes);
    struct ipc_out m;

    if (!may) {
        http_respond_status(x, 403, STR_NONE, STR_NONE, "server.metrics.allow");
        return;
    }
    s->x = x;
    s->format = metrics_choose(x);
    x->owner = s;
    list_push(&f->scrapes, &s->node);
    http_exchange_defer(x);
    if (!first)
        return; /* the same figures are good for it */
    ipc_begin(&m, "sample");
    front_tell(f, &m);
    net_timer_start(f->scrape_late, METRICS_PATIENCE_MS, 0);
}

void front_metrics_gone(struct front *f, struct http_exchange *x)
{
    struct front_scrape *s = x->owner;

    (void)f;
    list_remove(&s->node);
}

/* --- life ------------------------------------------------------------------------------------- */

int front_metrics_init(struct front *f)
{
    list_init(&f->scrapes);
    f->scrape_late = net_timer_open(f->loop, metrics_late, f);
    return metrics_open(&metric_schema, FRONT_METRICS, &f->registry);
}

void front_metrics_configure(struct front *f)
{
    f->metrics = f->config->server.metrics.enabled ? f->registry : NULL;
    pool_set_metrics(&f->pool, f->metrics);
}

void front_metrics_fini(struct front *f)
{
    net_timer_close(f->scrape_late);
    metrics_close(f->registry);
}
