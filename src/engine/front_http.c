/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "core/json.h"
#include "engine/front.h"
#include "http/conn.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/process.h"

/* --- hooks ------------------------------------------------------------------------------------ */

/* Those without a site wait for /metrics. */
static void front_body(void *arg, struct http_exchange *x)
{
    if (x->site.owner)
        pool_on_body(&((struct front *)arg)->pool, x);
}

static void front_room(void *arg, struct http_exchange *x)
{
    if (x->site.owner)
        pool_on_room(&((struct front *)arg)->pool, x);
}

static void front_gone(void *arg, struct http_exchange *x, enum http_gone why)
{
    if (x->site.owner)
        pool_on_gone(&((struct front *)arg)->pool, x, why);
    else
        front_metrics_gone(arg, x);
}

static void front_finished(void *arg, const struct http_exchange *x)
{
    struct front *f = arg;
    struct front_logged *l;

    if (f->metrics)
        front_metrics_finished(f, x);
    if (!f->log || x->handler == HTTP_BY_INTERNAL || str_starts(x->path, STR("/_ephpm/")))
        return;
    l = &f->log[f->log_next++ % FRONT_REQUEST_LOG];
    l->wall_us = x->wall_us;
    l->duration_us = x->start_ns ? (clock_mono_ns() - x->start_ns) / 1000 : 0;
    l->bytes = x->body_wire;
    l->status = x->status;
    l->worker = x->worker_id;
    (void)str_put(l->method, sizeof(l->method), x->head.method);
    (void)str_put(l->uri, sizeof(l->uri), x->uri.request_uri);
    memcpy(l->id, x->id, sizeof(l->id));
}

/* --- internal endpoints ----------------------------------------------------------------------- */

static void front_request_log(struct front *f, struct buf *b)
{
    struct json_writer w = JSON_WRITER(b);

    json_open_array(&w);
    for (size_t i = 0; i < FRONT_REQUEST_LOG; i++) {
        struct front_logged *l = &f->log[(f->log_next - 1 - i) % FRONT_REQUEST_LOG];

        if (!l->status)
            break;
        json_open_object(&w);
        json_add_float(&w, "time", (double)l->wall_us / 1e6);
        json_add_str(&w, "method", str_c(l->method));
        json_add_str(&w, "uri", str_c(l->uri));
        json_add_int(&w, "status", l->status);
        json_add_uint(&w, "duration_us", l->duration_us);
        json_add_uint(&w, "bytes", l->bytes);
        json_add_int(&w, "worker", l->worker);
        json_add_str(&w, "request_id", str_c(l->id));
        json_close_object(&w);
    }
    json_close_array(&w);
    buf_add_char(b, '\n');
}

static bool front_is_ready(struct front *f)
{
    struct pool_site *site = pool_site_find(&f->pool, STR("default"));

    if (f->draining)
        return false;
    if (config_is_multi(f->config))
        return true; /* sites start when they are asked for */
    return site && site->active && site->active->nworkers > 0;
}

/* Do its headers say that it came through a proxy? */
static bool front_is_forwarded(const struct http_exchange *x)
{
    const struct fields *f = &x->head.fields;

    return fields_get(f, STR("X-Forwarded-For")) || fields_get(f, STR("Forwarded")) ||
           fields_get(f, STR("Via"));
}

/* From this machine, and not through a proxy on it. */
static bool front_is_operator(const struct http_exchange *x)
{
    return http_exchange_is_self(x) && !front_is_forwarded(x);
}

/* server.metrics.allow. A proxy's address stands for its clients only if it is a trusted one. */
static bool front_may_scrape(const struct http_exchange *x)
{
    const struct forwarded_rules *allow = &x->settings->internal_allow;

    if (front_is_operator(x))
        return true;
    if (!allow->count)
        return x->conn->internal;
    return forwarded_is_trusted(allow, &x->from.client) &&
           (x->from.trusted || !front_is_forwarded(x));
}

static bool front_internal(void *arg, struct http_exchange *x)
{
    struct front *f = arg;
    struct buf b = {0};
    bool get = str_eq(x->head.method, STR("GET")) || str_eq(x->head.method, STR("HEAD"));
    int status = 200;
    struct str type = STR("application/json");

    if (x->head.chunked || x->head.content_length > 0)
        x->keep_alive = false; /* the body is not read */
    else
        x->body.done = true;
    if (!get) {
        http_respond_status(x, 405, STR("Allow"), STR("GET, HEAD"), "internal endpoint");
        return true;
    }
    if (front_metrics_is_path(f, x)) {
        front_metrics_scrape(f, x, front_may_scrape(x));
        return true;
    }
    if (str_eq(x->path, STR("/_ephpm/health"))) {
        type = STR("text/plain; charset=utf-8");
        buf_add_lit(&b, "ok\n");
    } else if (str_eq(x->path, STR("/_ephpm/ready"))) {
        status = front_is_ready(f) ? 200 : 503;
        if (str_eq(x->uri.query, STR("verbose")) && front_is_operator(x)) {
            front_status(f, &b);
        } else {
            type = STR("text/plain; charset=utf-8");
            buf_add_str(&b, status == 200 ? STR("ready\n") : STR("not ready\n"));
        }
    } else if (str_eq(x->path, STR("/_ephpm/requests")) && f->log) {
        front_request_log(f, &b);
    } else {
        http_respond_status(x, 404, STR_NONE, STR_NONE, "no such endpoint");
        return true;
    }
    http_respond_simple(x, status, type, buf_str(&b));
    buf_fini(&b);
    return true;
}

/* --- status ----------------------------------------------------------------------------------- */

static const char *front_worker_state(const struct pool_worker *w)
{
    switch (w->state) {
    case WORKER_STARTING:
        return "starting";
    case WORKER_IDLE:
        return "idle";
    case WORKER_BUSY:
        return "busy";
    case WORKER_LEAVING:
        return "leaving";
    }
    return "?";
}

static const char *front_generation_state(const struct pool_generation *g)
{
    switch (g->state) {
    case GENERATION_WARMING:
        return g->site->rival == g ? "trial" : "warming";
    case GENERATION_ACTIVE:
        return "active";
    case GENERATION_RETIRED:
        return "retired";
    }
    return "?";
}

static void front_status_worker(struct front *f, struct json_writer *w, struct pool_worker *wk)
{
    json_open_object(w);
    json_add_uint(w, "id", wk->id);
    json_add_int(w, "pid", wk->pid);
    json_add_str(w, "state", str_c(front_worker_state(wk)));
    json_add_uint(w, "served", wk->served);
    if (wk->reserve)
        json_add_bool(w, "reserve", true);
    if (wk->state == WORKER_BUSY) {
        json_add_str(w, "uri", str_c(wk->uri));
        json_add_uint(w, "busy_ms", net_loop_now(f->loop) - wk->busy_since);
    }
    json_close_object(w);
}

static void front_status_generation(
    struct front *f, struct json_writer *w, struct pool_generation *g)
{
    json_open_object(w);
    json_add_uint(w, "id", g->id);
    json_add_str(w, "site", str_c(g->site->name));
    json_add_str(w, "state", str_c(front_generation_state(g)));
    json_add_str(w, "root", str_c(g->root));
    json_add_str(w, "php", str_c(g->php));
    json_add_str(w, "vm", str_c(g->vm));
    json_add_uint(w, "requests", g->requests);
    json_add_uint(w, "queued", g->queued);
    json_key(w, "workers");
    json_open_array(w);
    list_each (it, &g->workers)
        front_status_worker(f, w, CONTAINER_OF(it, struct pool_worker, node));
    json_close_array(w);
    json_close_object(w);
}

/* Of the sites whose JIT is measured. */
static void front_status_jit(struct front *f, struct json_writer *w)
{
    json_key(w, "jit_auto");
    json_open_array(w);
    list_each (it, &f->pool.sites) {
        const struct pool_site *s = CONTAINER_OF(it, struct pool_site, node);

        if (s->jit_auto)
            json_raw(w, str_c(s->jit_auto));
    }
    json_close_array(w);
}

void front_status(struct front *f, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    struct http_counters *h = &f->http.counters;
    struct pool_counters *c = &f->pool.counters;

    json_open_object(&w);
    json_add_int(&w, "front_pid", process_id());
    json_add_uint(&w, "uptime_ms", clock_mono_ms() - f->started_ms);
    json_add_uint(&w, "connections", f->http.nconns);
    json_add_uint(&w, "accepted", h->accepted);
    json_add_uint(&w, "refused", h->refused);
    json_add_uint(&w, "requests", h->requests);
    json_add_uint(&w, "bad_requests", h->parse_errors);
    json_add_uint(&w, "timeouts", h->timeouts);
    json_add_uint(&w, "status_2xx", h->status_class[2]);
    json_add_uint(&w, "status_3xx", h->status_class[3]);
    json_add_uint(&w, "status_4xx", h->status_class[4]);
    json_add_uint(&w, "status_5xx", h->status_class[5]);
    json_add_uint(&w, "php_executed", c->executed);
    json_add_uint(&w, "php_failed", c->failed);
    json_add_uint(&w, "shed", c->shed);
    json_add_uint(&w, "workers_crashed", c->crashed);
    json_add_uint(&w, "workers_replaced", c->replaced);
    json_add_uint(&w, "workers_killed", c->killed);
    json_add_uint(&w, "front_descriptors", process_count_fds());
    if (*f->db_state)
        json_add_str(&w, "database", str_c(f->db_state));
    json_key(&w, "generations");
    json_open_array(&w);
    list_each (it, &f->pool.generations)
        front_status_generation(f, &w, CONTAINER_OF(it, struct pool_generation, node));
    json_close_array(&w);
    front_status_jit(f, &w);
    json_close_object(&w);
    buf_add_char(out, '\n');
}

const struct http_hooks front_hooks = {
    .site = front_site,
    .internal = front_internal,
    .php = front_php,
    .body = front_body,
    .room = front_room,
    .gone = front_gone,
    .finished = front_finished,
    .event = front_metrics_event,
};
