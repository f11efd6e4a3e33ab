/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/conn.h"

#include "base/mem.h"
#include "core/log.h"
#include "http/proxy_protocol.h"
#include "platform/clock.h"
#include "platform/fs.h"

enum { CONN_AHEAD = 65536 /* bytes read ahead of the current exchange */ };

static void conn_advance(struct http_conn *c);

static void conn_set_state(struct http_conn *c, enum conn_state state)
{
    struct http_server *s = c->server;

    c->state = state;
    switch (state) {
    case CONN_PROXY:
    case CONN_HEAD:
        deadline_arm(&c->deadline, &s->on_header);
        break;
    case CONN_IDLE:
        deadline_arm(&c->deadline, s->draining ? &s->on_fresh : &s->on_idle);
        break;
    case CONN_BODY:
        deadline_arm(&c->deadline, &s->on_body);
        break;
    case CONN_EXCHANGE:
        deadline_arm(&c->deadline, &s->on_request);
        break;
    case CONN_LINGER:
        deadline_arm(&c->deadline, &s->on_linger);
        break;
    case CONN_CLOSED:
        deadline_disarm(&c->deadline);
        deadline_disarm(&c->sending);
        deadline_disarm(&c->receiving);
        break;
    }
}

/* A streamed body's next piece is awaited, unless its reader is behind. */
static void conn_await_body(struct http_conn *c)
{
    struct http_body *b = &c->x.body;

    if (b->mode == HTTP_BODY_STREAM && !b->done && b->data.len < CONN_AHEAD)
        deadline_arm(&c->receiving, &c->server->on_receive);
    else
        deadline_disarm(&c->receiving);
}

struct stream *http_conn_stream(struct http_conn *c)
{
    return &c->stream;
}

/* --- end -------------------------------------------------------------------------------------- */

static void conn_drop_exchange(struct http_conn *c, enum http_gone why)
{
    deadline_disarm(&c->receiving);
    if (!c->has_x)
        return;
    if (c->x.stage == EXCHANGE_HANDLER && c->x.owner)
        c->server->hooks.gone(c->server->hooks.arg, &c->x, why);
    http_exchange_fini(&c->x);
    c->has_x = false;
}

static void conn_bury(struct http_conn *c, const char *why, bool reset)
{
    if (c->state == CONN_CLOSED)
        return;
    log_debug("connection_closed", F_CSTR("reason", why), F_UINT("requests", c->requests));
    conn_set_state(c, CONN_CLOSED);
    c->server->counters.bytes_sent += c->stream.sent;
    c->server->counters.bytes_received += c->stream.received;
    if (reset)
        stream_abort(&c->stream);
    else
        stream_close(&c->stream);
    conn_drop_exchange(c, HTTP_GONE_CLIENT);
    if (c->counted)
        http_limits_close(&c->server->limits, &c->peer);
    list_remove(&c->node);
    list_push(&c->server->graveyard, &c->node);
    c->server->nconns--;
}

void http_conn_close(struct http_conn *c, const char *why)
{
    conn_bury(c, why, false);
}

void http_conn_cut(struct http_conn *c, const char *why)
{
    conn_bury(c, why, true);
}

void http_conn_free(struct http_conn *c)
{
    buf_fini(&c->in);
    arena_fini(&c->x.arena);
    mem_free(c);
}

/* --- deadlines -------------------------------------------------------------------------------- */

static struct http_conn *conn_of(struct deadline *d)
{
    return CONTAINER_OF(d, struct http_conn, deadline);
}

/* Answers a request that was not read to its end, and closes. */
static void conn_refuse(struct http_conn *c, int status, const char *why)
{
    if (!c->has_x) {
        http_exchange_init(&c->x, c->server, c);
        c->has_x = true;
    }
    c->x.keep_alive = false;
    if (!c->x.wall_us)
        c->x.wall_us = clock_wall_us();
    http_respond_status(&c->x, status, STR_NONE, STR_NONE, why);
}

static void conn_count_timeout(struct http_conn *c, enum http_event stage)
{
    c->server->counters.timeouts++;
    http_server_event(c->server, stage);
}

void http_conn_on_header(struct deadline *d)
{
    struct http_conn *c = conn_of(d);

    conn_count_timeout(c, HTTP_EVENT_HEADER_TIMEOUT);
    log_info("request_timeout", F_CSTR("stage", "header_read"), F_UINT("bytes", c->in.len));
    if (c->state == CONN_HEAD)
        conn_refuse(c, 408, "header_read timeout");
    else
        http_conn_close(c, "header_read timeout");
}

void http_conn_on_idle(struct deadline *d)
{
    http_conn_close(conn_of(d), "idle timeout");
}

void http_conn_on_fresh(struct deadline *d)
{
    http_conn_close(conn_of(d), "draining");
}

void http_conn_on_body(struct deadline *d)
{
    struct http_conn *c = conn_of(d);

    conn_count_timeout(c, HTTP_EVENT_BODY_TIMEOUT);
    log_info("request_timeout", F_CSTR("stage", "body"), F_CSTR("request_id", c->x.id),
        F_UINT("received", c->x.body.size));
    conn_refuse(c, 408, "body timeout");
}

void http_conn_on_receive(struct deadline *d)
{
    struct http_conn *c = CONTAINER_OF(d, struct http_conn, receiving);
    struct http_exchange *x = &c->x;

    if (x->stage != EXCHANGE_HANDLER || !x->owner)
        return; /* answered without the rest of the body */
    conn_count_timeout(c, HTTP_EVENT_BODY_TIMEOUT);
    log_info("request_timeout", F_CSTR("stage", "body"), F_CSTR("request_id", x->id),
        F_UINT("received", x->body.size));
    c->server->hooks.gone(c->server->hooks.arg, x, HTTP_GONE_CLIENT);
    x->owner = NULL;
    x->keep_alive = false;
    http_respond_cut(x, 408, "body timeout");
}

void http_conn_on_request(struct deadline *d)
{
    struct http_conn *c = conn_of(d);
    struct http_exchange *x = &c->x;

    conn_count_timeout(c, HTTP_EVENT_REQUEST_TIMEOUT);
    log_warn("request_timeout", F_CSTR("stage", "request"), F_CSTR("request_id", x->id),
        F_STR("method", x->head.method), F_STR("uri", x->uri.request_uri));
    if (x->stage == EXCHANGE_HANDLER && x->owner)
        c->server->hooks.gone(c->server->hooks.arg, x, HTTP_GONE_TIMEOUT);
    x->owner = NULL;
    if (x->stage == EXCHANGE_ANSWERED)
        return; /* the send deadline watches over the rest */
    http_respond_cut(x, 504, "request timeout");
}

static uint64_t conn_taken(struct http_conn *c)
{
    return c->stream.sent - MIN(sock_untaken(c->stream.fd), c->stream.sent);
}

void http_conn_on_send(struct deadline *d)
{
    struct http_conn *c = CONTAINER_OF(d, struct http_conn, sending);
    uint64_t taken = conn_taken(c);

    /* A slow client empties the kernel's buffer for long before the kernel asks for more. */
    if (taken > c->taken) {
        c->taken = taken;
        deadline_arm(&c->sending, &c->server->on_send);
        return;
    }
    conn_count_timeout(c, HTTP_EVENT_SEND_TIMEOUT);
    log_info("request_timeout", F_CSTR("stage", "send"), F_CSTR("request_id", c->x.id),
        F_UINT("queued", stream_queued(&c->stream)));
    http_conn_cut(c, "send timeout");
}

void http_conn_on_linger(struct deadline *d)
{
    http_conn_close(conn_of(d), "lingered");
}

static void conn_arm_sending(struct http_conn *c)
{
    c->taken = conn_taken(c);
    deadline_arm(&c->sending, &c->server->on_send);
}

/* More to send is no sign of life of the client: an armed deadline stays as it is. */
void http_conn_sending(struct http_conn *c)
{
    if (!stream_queued(&c->stream))
        deadline_disarm(&c->sending);
    else if (!deadline_armed(&c->sending))
        conn_arm_sending(c);
}

/* --- a request's head ------------------------------------------------------------------------- */

static void conn_make_id(struct http_server *s, char out[17])
{
    /* splitmix64 of a counter: unique per server run, not guessable from one to the next seed */
    uint64_t z = s->id_seed + ++s->id_next * 0x9e3779b97f4a7c15ull;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    for (int i = 0; i < 16; i++)
        out[i] = "0123456789abcdef"[(z >> (60 - 4 * i)) & 15];
    out[16] = '\0';
}

static struct str conn_moved(struct str s, const char *from, size_t n, const char *to)
{
    if (s.p && s.p >= from && s.p <= from + n)
        s.p = to + (s.p - from);
    return s;
}

/* The head's strings point into the read buffer, which moves: they move to the arena. */
static void conn_keep_head(struct http_exchange *x, const char *data, size_t n)
{
    char *copy = arena_bytes(&x->arena, n);
    struct h1_head *h = &x->head;

    memcpy(copy, data, n);
    h->method = conn_moved(h->method, data, n, copy);
    h->target = conn_moved(h->target, data, n, copy);
    h->host = conn_moved(h->host, data, n, copy);
    for (size_t i = 0; i < h->fields.count; i++) {
        struct field *f = &h->fields.items[i];

        f->name = conn_moved(f->name, data, n, copy);
        f->value = conn_moved(f->value, data, n, copy);
    }
}

/* Host, client address, target, path. 0, or the status to refuse with. */
static int conn_understand(struct http_conn *c, const char **why)
{
    struct http_exchange *x = &c->x;
    struct http_settings *set = x->settings;
    struct str host;
    int status = 400;

    *why = "bad request target";
    if (uri_parse(x->head.method, x->head.target, &x->arena, &x->uri, &status))
        return status;
    forwarded_resolve(&set->proxies, &c->peer, false, &x->head.fields, &x->from);
    host = x->uri.form == URI_ABSOLUTE ? x->uri.authority : x->head.host;
    if (x->from.trusted && x->from.host.len)
        host = x->from.host;
    x->http_host = host;
    *why = "bad host";
    if (host.len || x->head.minor >= 1) {
        if (host_parse(host, &x->arena, &x->host))
            return 400;
    }
    *why = "bad escape or path outside the root";
    if (x->uri.form == URI_ASTERISK)
        x->path = STR("/");
    else if (uri_decode_path(x->uri.path, &x->arena, &x->path))
        return 400;
    return 0;
}

static bool conn_host_is_trusted(const struct http_exchange *x)
{
    struct http_settings *set = x->settings;

    return !set->ntrusted_hosts ||
           host_is_trusted(x->host.name, set->trusted_hosts, set->ntrusted_hosts);
}

/* True when the body's announced length is acceptable; else answers. */
static bool conn_check_length(struct http_conn *c)
{
    struct http_exchange *x = &c->x;
    uint64_t max = x->settings->max_body;

    if (!max || x->head.content_length < 0 || (uint64_t)x->head.content_length <= max)
        return true;
    log_info("body_too_large", F_CSTR("request_id", x->id),
        F_CSTR("setting", "server.request.max_body_size"), F_UINT("limit", max),
        F_INT("content_length", x->head.content_length));
    http_server_event(c->server, HTTP_EVENT_BODY_TOO_LARGE);
    conn_refuse(c, 413, "body over server.request.max_body_size");
    return false;
}

/* Decides how the body is taken. False: the exchange was answered. */
static bool conn_begin_body(struct http_conn *c)
{
    struct http_exchange *x = &c->x;
    struct http_settings *set = x->settings;
    bool has_body = x->head.chunked || x->head.content_length > 0;

    h1_body_init(&x->body.framing, x->head.content_length, x->head.chunked);
    if (!has_body) {
        x->body.done = true;
        return true;
    }
    if (!conn_check_length(c))
        return false;
    x->body.continue_due = x->head.expect_continue;
    if (x->route.kind != ROUTE_PHP) {
        x->body.mode = HTTP_BODY_DISCARD;
        return true;
    }
    x->body.mode = HTTP_BODY_MEMORY;
    for (size_t i = 0; i < set->nstreaming_paths; i++)
        if (str_glob(set->streaming_paths[i], x->path))
            x->body.mode = HTTP_BODY_STREAM;
    return true;
}

/* 429. The connection goes on unless a body follows, which nobody would read. */
static void conn_too_many(struct http_conn *c, unsigned retry_s, const char *why)
{
    struct http_exchange *x = &c->x;

    x->body.done = x->head.content_length <= 0 && !x->head.chunked;
    http_respond_status(x, 429, STR("Retry-After"), arena_printf(&x->arena, "%u", retry_s), why);
}

static bool conn_is_internal(const struct http_conn *c)
{
    const struct http_exchange *x = &c->x;
    struct str path = x->settings->internal_path;

    return c->internal || str_starts(x->path, STR("/_ephpm/")) ||
           (path.len && str_eq(x->path, path));
}

/* Everything between a parsed head and the body. */
static void conn_on_head(struct http_conn *c)
{
    struct http_exchange *x = &c->x;
    struct http_server *s = c->server;
    const char *why;
    unsigned retry = 1;
    int status = conn_understand(c, &why);

    s->counters.requests++;
    c->requests++;
    if (status) {
        log_debug("request_refused", F_CSTR("reason", why), F_STR("target", x->head.target));
        conn_refuse(c, status, why);
        return;
    }
    x->keep_alive = x->head.keep_alive && !s->draining;
    x->is_head = str_eq(x->head.method, STR("HEAD"));
    if (x->settings->limits_on && !http_limits_request(&s->limits, &x->settings->limits,
                                      &x->from.client, net_loop_now(s->loop), &retry)) {
        http_server_event(s, HTTP_EVENT_RATE_LIMITED);
        conn_too_many(c, retry, "per-address rate");
        return;
    }
    if (conn_is_internal(c)) { /* for every host: health checks know only the address */
        x->handler = HTTP_BY_INTERNAL;
        if (s->hooks.internal(s->hooks.arg, x))
            return;
        x->handler = HTTP_BY_ERROR;
    }
    x->counted = true;
    s->nrequests++;
    if (!conn_host_is_trusted(x)) {
        conn_refuse(c, 421, "host is not in server.request.trusted_hosts");
        return;
    }
    status = 404;
    if (!s->hooks.site(s->hooks.arg, x, &x->site, &status)) {
        struct str name = status == 503 ? STR("Retry-After") : STR_NONE;

        x->keep_alive = false;
        http_respond_status(x, status, name, STR("1"), "no site");
        return;
    }
    http_route(x);
    if (x->route.kind == ROUTE_PHP && !http_limits_site(&s->limits, &x->settings->limits,
                                          x->site.name, net_loop_now(s->loop), &retry)) {
        http_server_event(s, HTTP_EVENT_SITE_RATE_LIMITED);
        conn_too_many(c, retry, "per-site rate");
        return;
    }
    if (!conn_begin_body(c))
        return;
    x->stage = EXCHANGE_BODY;
    conn_set_state(c, CONN_BODY);
}

static void conn_begin_exchange(struct http_conn *c)
{
    struct http_settings *set = c->server->settings;
    struct stream_limits limits = {
        .memory = set->response_memory, .spool = set->response_spool, .spool_dir = set->spool_dir};

    http_exchange_init(&c->x, c->server, c);
    stream_set_limits(&c->stream, &limits); /* they live as long as the exchange's settings */
    c->has_x = true;
    h1_parser_init(&c->parser, &c->x.settings->head, &c->x.arena);
    conn_set_state(c, CONN_HEAD);
}

/* Parses the head from c->in. True: go on, false: wait for more. */
static bool conn_read_head(struct http_conn *c)
{
    size_t used = 0;
    struct http_exchange *x = &c->x;
    int rc = h1_parse_head(&c->parser, c->in.p, c->in.len, &x->head, &used);

    if (rc == ERR_AGAIN)
        return false;
    conn_make_id(c->server, x->id);
    x->wall_us = clock_wall_us();
    x->start_ns = clock_mono_ns();
    if (rc) {
        c->server->counters.parse_errors++;
        http_server_event(c->server, HTTP_EVENT_BAD_REQUEST);
        log_info(
            "bad_request", F_CSTR("reason", c->parser.reason), F_INT("status", c->parser.status));
        conn_refuse(c, c->parser.status ? c->parser.status : 400, c->parser.reason);
        return false;
    }
    conn_keep_head(x, c->in.p, used);
    buf_consume(&c->in, used);
    conn_on_head(c);
    return true;
}

/* --- a request's body ------------------------------------------------------------------------- */

static int conn_store_body(struct http_exchange *x, struct str data)
{
    struct http_body *b = &x->body;
    int rc;

    if (b->mode == HTTP_BODY_MEMORY && b->data.len + data.len > x->settings->body_memory) {
        rc = fs_open_spool(x->settings->spool_dir, &b->fd);
        if (rc == 0)
            rc = fs_pwrite(b->fd, b->data.p, b->data.len, 0);
        if (rc)
            return rc;
        buf_fini(&b->data);
        b->mode = HTTP_BODY_SPOOL;
    }
    if (b->mode == HTTP_BODY_SPOOL)
        return fs_pwrite(b->fd, data.p, data.len, b->size);
    if (b->mode == HTTP_BODY_MEMORY || b->mode == HTTP_BODY_STREAM)
        buf_add_str(&b->data, data);
    return 0;
}

/* Takes one piece off c->in. 0, or the status to refuse with. */
static int conn_body_piece(struct http_conn *c, size_t *at, const char **why)
{
    struct http_exchange *x = &c->x;
    struct str data = STR_NONE;
    size_t used = 0;
    uint64_t max = x->settings->max_body;
    int rc =
        h1_body_next(&x->body.framing, c->in.p + *at, c->in.len - *at, &used, &data, &x->body.done);

    if (rc) {
        *why = x->body.framing.reason;
        return 400;
    }
    *at += used;
    if (max && x->body.size + data.len > max) {
        log_info("body_too_large", F_CSTR("request_id", x->id),
            F_CSTR("setting", "server.request.max_body_size"), F_UINT("limit", max));
        http_server_event(c->server, HTTP_EVENT_BODY_TOO_LARGE);
        *why = "body over server.request.max_body_size";
        return 413;
    }
    rc = conn_store_body(x, data);
    if (rc) {
        log_error("body_spool_failed", F_CSTR("setting", "server.request.spool_dir"),
            F_CSTR("request_id", x->id), F_ERR(rc),
            F_CSTR("dir", x->settings->spool_dir ? x->settings->spool_dir : "(default)"));
        *why = "no room for the body";
        return rc == ERR_NOSPACE ? 507 : 500;
    }
    x->body.size += data.len;
    return 0;
}

/* Moves what is in c->in to the body. False when the exchange was refused. */
static bool conn_feed_body(struct http_conn *c)
{
    struct http_exchange *x = &c->x;
    size_t at = 0;
    int status = 0;
    const char *why = "";

    /* All that was read, also when a stream's reader is behind: nothing would come back for a rest.
     * It is reading that stops then. */
    while (!x->body.done && status == 0) {
        size_t before = at;

        if (at == c->in.len)
            break;
        status = conn_body_piece(c, &at, &why);
        if (at == before && !x->body.done)
            break;
    }
    buf_consume(&c->in, at);
    if (at && c->state == CONN_BODY)
        deadline_arm(&c->deadline, &c->server->on_body);
    if (status == 0)
        return true;
    if (x->stage == EXCHANGE_HANDLER && x->owner) {
        c->server->hooks.gone(c->server->hooks.arg, x, HTTP_GONE_CLIENT);
        x->owner = NULL;
    }
    x->keep_alive = false;
    http_respond_cut(x, status, why);
    return false;
}

static void conn_say_continue(struct http_conn *c)
{
    struct str text = STR("HTTP/1.1 100 Continue\r\n\r\n");

    c->x.body.continue_due = false;
    if (c->in.len == 0)
        (void)!stream_write(&c->stream, &text, 1, false); /* a failure shows in on_error */
}

void http_exchange_defer(struct http_exchange *x)
{
    ENSURE(x->owner && x->stage == EXCHANGE_HEAD);
    x->stage = EXCHANGE_HANDLER;
    conn_set_state(x->conn, CONN_EXCHANGE);
}

static void conn_to_handler(struct http_conn *c)
{
    struct http_exchange *x = &c->x;

    x->stage = EXCHANGE_HANDLER;
    conn_set_state(c, CONN_EXCHANGE);
    conn_await_body(c);
    if (x->route.kind == ROUTE_PHP && x->uri.form != URI_ASTERISK) {
        x->handler = HTTP_BY_PHP;
        c->server->hooks.php(c->server->hooks.arg, x);
        return;
    }
    if (x->route.kind != ROUTE_STATUS)
        x->handler = HTTP_BY_STATIC;
    http_handle_route(x);
}

/* BODY: until it is complete (or its owner takes it as it comes). True: state changed. */
static bool conn_read_body(struct http_conn *c)
{
    struct http_exchange *x = &c->x;

    if (x->body.mode == HTTP_BODY_DISCARD) {
        /* Nobody wants it. A short rest is read away so that the connection can go on; for a long
         * one, or one that waits for 100 Continue, the connection is closed after the answer. */
        if (x->body.continue_due || x->head.chunked || x->head.content_length > CONN_AHEAD) {
            x->keep_alive = false;
            conn_to_handler(c);
            return true;
        }
    }
    if (x->body.continue_due)
        conn_say_continue(c);
    if (!conn_feed_body(c))
        return true;
    if (!x->body.done && x->body.mode != HTTP_BODY_STREAM)
        return false;
    conn_to_handler(c);
    return true;
}

struct str http_body_take(struct http_exchange *x, size_t max)
{
    struct http_body *b = &x->body;
    size_t n = MIN(b->data.len, max);

    buf_clear(&b->taken);
    buf_add_str(&b->taken, str_n(b->data.p, n));
    buf_consume(&b->data, n);
    if (!b->done && b->data.len < CONN_AHEAD) {
        stream_want_read(&x->conn->stream, true);
        conn_await_body(x->conn);
    }
    return buf_str(&b->taken);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Counts the connection for its client's address. False: that has too many. */
static bool conn_count(struct http_conn *c)
{
    struct http_server *s = c->server;
    const struct http_limits_config *limits = &s->settings->limits;

    if (!s->settings->limits_on || !limits->per_ip_connections)
        return true;
    c->counted = http_limits_open(&s->limits, limits, &c->peer, net_loop_now(s->loop));
    if (!c->counted)
        log_info("connection_refused", F_CSTR("setting", "server.limits.per_ip_max_connections"));
    return c->counted;
}

static bool conn_read_proxy(struct http_conn *c)
{
    struct proxy_header ph = {0};
    size_t used = 0;
    int rc = proxy_protocol_parse(c->in.p, c->in.len, &used, &ph);

    if (rc == ERR_AGAIN)
        return false;
    if (rc) {
        http_conn_cut(c, "bad PROXY header");
        return false;
    }
    buf_consume(&c->in, used);
    if (ph.known) {
        c->peer = ph.src;
        c->local = ph.dst;
        if (!conn_count(c)) {
            http_conn_cut(c, "too many connections of the address");
            return false;
        }
    }
    conn_set_state(c, CONN_IDLE);
    return true;
}

/* While an exchange runs: bytes are kept for later, up to a bound. */
static bool conn_read_ahead(struct http_conn *c)
{
    struct http_exchange *x = &c->x;

    if (x->stage == EXCHANGE_HANDLER && x->body.mode == HTTP_BODY_STREAM && !x->body.done) {
        size_t before = x->body.data.len;

        if (!conn_feed_body(c))
            return false;
        conn_await_body(c);
        if (x->body.data.len >= CONN_AHEAD)
            stream_want_read(&c->stream, false);
        if ((x->body.data.len > before || x->body.done) && x->owner)
            c->server->hooks.body(c->server->hooks.arg, x);
        return false;
    }
    if (c->in.len >= CONN_AHEAD)
        stream_want_read(&c->stream, false);
    return false;
}

/* Steps the state machine until it needs more bytes. */
static void conn_advance(struct http_conn *c)
{
    bool go = !c->advancing; /* an answer given inside comes back here: the outer one goes on */

    if (!go)
        return;
    c->advancing = true;
    while (go) {
        switch (c->state) {
        case CONN_PROXY:
            go = c->in.len > 0 && conn_read_proxy(c);
            break;
        case CONN_IDLE:
            go = c->in.len > 0;
            if (go)
                conn_begin_exchange(c);
            break;
        case CONN_HEAD:
            go = conn_read_head(c);
            break;
        case CONN_BODY:
            go = conn_read_body(c);
            break;
        case CONN_EXCHANGE:
            go = conn_read_ahead(c);
            break;
        case CONN_LINGER:
            buf_clear(&c->in);
            go = false;
            break;
        case CONN_CLOSED:
            go = false;
            break;
        }
    }
    c->advancing = false;
}

static void conn_on_eof(struct http_conn *c)
{
    c->eof = true;
    stream_want_read(&c->stream, false);
    switch (c->state) {
    case CONN_EXCHANGE:
        if (c->x.stage == EXCHANGE_ANSWERED)
            return; /* the rest of the answer may still be wanted */
        http_conn_close(c, "client closed during the request");
        break;
    case CONN_BODY:
        http_conn_close(c, "client closed within the body");
        break;
    default:
        http_conn_close(c, "client closed");
    }
}

static void conn_on_readable(struct stream *st)
{
    struct http_conn *c = CONTAINER_OF(st, struct http_conn, stream);
    char *scratch = c->server->scratch;
    size_t got = 0;
    int rc = stream_read(st, scratch, HTTP_SCRATCH, &got);

    if (rc == ERR_AGAIN)
        return;
    if (rc == ERR_EOF) {
        conn_on_eof(c);
        return;
    }
    if (rc) {
        http_conn_close(c, "read failed");
        return;
    }
    if (c->state == CONN_LINGER)
        return;
    buf_add(&c->in, scratch, got);
    conn_advance(c);
    if (c->state == CONN_IDLE && c->in.len == 0 && c->in.cap > 4096)
        buf_fini(&c->in);
}

static bool conn_waits(const struct http_conn *c)
{
    return c->state == CONN_IDLE || c->state == CONN_PROXY;
}

void http_conn_drain(struct http_conn *c)
{
    if (conn_waits(c))
        conn_on_readable(&c->stream); /* what is here already was sent to be answered */
    if (!conn_waits(c))
        return;
    if (c->requests)
        http_conn_close(c, "draining");
    else
        deadline_arm(&c->deadline, &c->server->on_fresh);
}

static void conn_on_drained(struct stream *st)
{
    struct http_conn *c = CONTAINER_OF(st, struct http_conn, stream);

    deadline_disarm(&c->sending);
    if (c->state != CONN_EXCHANGE || !c->has_x)
        return;
    if (c->x.stage == EXCHANGE_ANSWERED && !c->x.blocked.len)
        http_conn_exchange_done(c);
    else
        http_exchange_drained(&c->x);
}

static void conn_on_progress(struct stream *st)
{
    conn_arm_sending(CONTAINER_OF(st, struct http_conn, stream));
}

static void conn_on_error(struct stream *st, int code)
{
    (void)code;
    http_conn_close(CONTAINER_OF(st, struct http_conn, stream), "client closed while sending");
}

static const struct stream_cbs conn_cbs = {
    .on_readable = conn_on_readable,
    .on_drained = conn_on_drained,
    .on_progress = conn_on_progress,
    .on_error = conn_on_error,
};

/* --- start and next --------------------------------------------------------------------------- */

void http_conn_open(
    struct http_server *s, sock_t fd, const struct sock_addr *peer, void *tag, bool internal)
{
    struct http_conn *c = mem_new(sizeof(*c));
    bool trusted = forwarded_is_trusted(&s->settings->proxies, peer);

    c->server = s;
    c->peer = *peer;
    /* A proxy's connections are not those of one client. */
    if (!trusted && !conn_count(c)) {
        http_server_refuse(s, fd);
        mem_free(c);
        return;
    }
    if (stream_open(&c->stream, s->loop, fd, &conn_cbs)) {
        if (c->counted)
            http_limits_close(&s->limits, peer);
        sock_close(fd);
        mem_free(c);
        return;
    }
    c->tag = tag;
    c->internal = internal;
    if (sock_local_addr(fd, &c->local))
        c->local = (struct sock_addr){.family = SOCK_UNSPEC};
    deadline_init(&c->deadline);
    deadline_init(&c->sending);
    deadline_init(&c->receiving);
    list_push(&s->conns, &c->node);
    s->nconns++;
    conn_set_state(c, CONN_IDLE);
    if (s->settings->proxy_protocol && trusted)
        conn_set_state(c, CONN_PROXY);
    else
        deadline_arm(&c->deadline, &s->on_header); /* the first request must begin soon */
    stream_want_read(&c->stream, true);
}

/* Nothing is asked of the client but to take the answer, which may have been given while its head
 * or body was still being read. */
void http_conn_answered(struct http_conn *c)
{
    c->x.stage = EXCHANGE_ANSWERED;
    conn_set_state(c, CONN_EXCHANGE);
    deadline_disarm(&c->deadline); /* the send deadline watches over the rest */
}

/* The answer is with the kernel (or in its queue): next request, or close. */
void http_conn_exchange_done(struct http_conn *c)
{
    bool keep = c->x.keep_alive && c->x.body.done && !c->eof && !c->server->draining;

    c->x.stage = EXCHANGE_ANSWERED;
    deadline_disarm(&c->deadline);
    if (stream_queued(&c->stream)) {
        http_conn_answered(c);
        http_conn_sending(c);
        return; /* again from on_drained */
    }
    conn_drop_exchange(c, HTTP_GONE_CLIENT);
    if (keep) {
        conn_set_state(c, CONN_IDLE);
        stream_want_read(&c->stream, true);
        if (c->in.len)
            conn_advance(c);
        return;
    }
    if (c->eof) {
        http_conn_close(c, "answered");
        return;
    }
    sock_shutdown_send(c->stream.fd);
    conn_set_state(c, CONN_LINGER);
    stream_want_read(&c->stream, true);
}
