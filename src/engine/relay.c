/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>

#include "base/mem.h"
#include "core/log.h"
#include "engine/pool.h"
#include "http/internal.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/process.h"

enum {
    RELAY_BODY_STEP = 32768, /* body bytes per message */
    /* A request block may stand behind a pad of its own size, and a body that is in memory follows
     * it: all that fits into an empty ring of GENERATION_REQUEST_RING (256 KiB). */
    RELAY_BLOCK_MAX = 92 << 10,
    RELAY_BODY_MAX = 68 << 10, /* a larger one goes as a file */
    RELAY_SELF_MS = 1000       /* while no request ends for so long, one from this machine gets the
                                  reserve in any case */
};

void relay_broken(struct pool *p, struct pool_worker *w, const char *why)
{
    if (w->broken)
        return;
    log_error("worker_channel_broken", F_UINT("worker", w->id), F_INT("pid", w->pid),
        F_CSTR("reason", why), F_CSTR("script", w->script), F_CSTR("uri", w->uri));
    w->broken = w->paused = true; /* nothing more is read; pool_worker_gone() follows the kill */
    p->hooks.signal(p->hooks.arg, w, POOL_KILL);
}

/* Has one of its workers at work that connection open? */
static bool relay_holds_socket(struct pool_generation *g, uint64_t inode)
{
    list_each (it, &g->workers) {
        struct pool_worker *w = CONTAINER_OF(it, struct pool_worker, node);

        if (w->state == WORKER_BUSY && process_holds_socket(w->pid, inode))
            return true;
    }
    return false;
}

bool relay_is_own_php(struct pool *p, struct pool_generation *g, struct pool_request *r)
{
    uint64_t inode;

    /* Nothing has moved for long: whoever made it (a program that PHP started, say), it is taken.
     */
    if (clock_mono_ns() - r->queued_ns > RELAY_SELF_MS * 1000000ull &&
        net_loop_now(p->loop) - g->moved_ms > RELAY_SELF_MS)
        return true;
    /* Once per request: who waits for it has had the connection since before it came. Under load
     * from this machine (a TLS terminator, a load test) every request in the queue is asked about.
     */
    if (r->self_known)
        return false;
    r->self_known = true;
    inode = process_tcp_inode(http_exchange_peer(r->x), http_exchange_local(r->x));
    if (!inode)
        return false;
    list_each (git, &p->generations) { /* it may have been made by the release before, or a rival */
        struct pool_generation *other = CONTAINER_OF(git, struct pool_generation, node);

        if (other->site == g->site && relay_holds_socket(other, inode))
            return true;
    }
    return false;
}

/* --- the request ------------------------------------------------------------------------------ */

static struct str relay_port(struct arena *a, const struct sock_addr *addr)
{
    char text[20];

    if (addr->family == SOCK_LOCAL || addr->family == SOCK_UNSPEC)
        return arena_str(a, STR(""));
    return arena_str(a, str_n(text, str_put_u64(text, addr->port)));
}

static struct str relay_ip(struct arena *a, const struct sock_addr *addr)
{
    char text[SOCK_ADDR_TEXT];

    return arena_str(a, str_n(text, sock_ip_format(addr, text)));
}

static struct str relay_field(struct http_exchange *x, struct str name)
{
    struct str v;

    return fields_join(&x->head.fields, name, &v) ? v : STR_NONE;
}

/* Do two names become the same variable? X_A does the same as X-A. */
static bool relay_same_variable(struct str a, struct str b)
{
    bool same = a.len == b.len;

    for (size_t i = 0; same && i < a.len; i++)
        same = str_lower_char(a.p[i] == '_' ? '-' : a.p[i]) == str_lower_char(b.p[i]);
    return same;
}

/* Request headers as PHP shall see them: each name once, joined, nothing that could pose as
 * something else. */
static size_t relay_headers(struct http_exchange *x, struct str mapping, struct message_field *out)
{
    struct fields *f = &x->head.fields;
    size_t n = 0;

    for (size_t i = 0; i < f->count && n < MESSAGE_MAX_FIELDS - 2; i++) {
        struct str name = f->items[i].name, value = f->items[i].value;
        bool again = false;

        if (!field_is_variable(name, x->settings->underscores))
            continue;
        if (mapping.len && (relay_same_variable(name, STR("X-Sendfile-Type")) ||
                               relay_same_variable(name, STR("X-Accel-Mapping"))))
            continue; /* ours follow */
        for (size_t j = 0; j < i && !again; j++)
            again = f->items[j].name.len == name.len && str_ieq(f->items[j].name, name);
        if (again)
            continue; /* joined into its first one */
        if (str_ieq(name, STR("Host")))
            value = x->http_host;
        else if (f->count - i > 1)
            (void)fields_join(f, name, &value); /* it is there */
        out[n++] = (struct message_field){name, value};
    }
    if (mapping.len) {
        out[n++] = (struct message_field){STR("X-Sendfile-Type"), STR("X-Accel-Redirect")};
        out[n++] = (struct message_field){STR("X-Accel-Mapping"), mapping};
    }
    return n;
}

static void relay_fill(struct pool *p, struct http_exchange *x, struct message_request *m)
{
    struct arena *a = &x->arena;
    const struct sock_addr *local = http_exchange_local(x);
    const struct pool_request *r = x->owner; /* NULL: only its size is asked for */
    struct message_field *headers = arena_new(a, sizeof(*headers) * (x->head.fields.count + 2));
    struct str name = x->site.server_name.len ? x->site.server_name : x->host.name;

    *m = (struct message_request){
        .method = x->head.method,
        .uri = x->uri.request_uri,
        .query = x->route.query.p ? x->route.query : STR(""),
        .script_filename = x->route.file,
        .script_name = x->route.script_name,
        .document_root = x->site.root,
        .document_uri = x->route.document_uri,
        .path = x->path,
        .protocol = x->head.minor ? STR("HTTP/1.1") : STR("HTTP/1.0"),
        .scheme = x->from.https ? STR("https") : STR("http"),
        .https = x->from.https,
        .server_name = name.len ? name : relay_ip(a, local),
        .server_addr = relay_ip(a, local),
        .server_port = relay_port(a, local),
        .remote_addr = relay_ip(a, &x->from.client),
        .remote_port = relay_port(a, &x->from.client),
        .server_software = str_c(p->server_software),
        .content_type = relay_field(x, STR("Content-Type")),
        .cookie = relay_field(x, STR("Cookie")),
        .authorization = relay_field(x, STR("Authorization")),
        .request_id = str_n(x->id, 16),
        .content_length = -1,
        .time = (double)x->wall_us / 1e6,
        .request_timeout_ms = (uint32_t)p->limits.request_ms,
        .head_only = x->is_head,
        .body_streaming = x->body.mode == HTTP_BODY_STREAM,
        .body_fd = x->body.mode == HTTP_BODY_SPOOL,
        .measured = r && r->tag,
        .headers = headers,
    };
    if (x->route.path_info.len)
        m->path_info = x->route.path_info;
    if (x->body.mode == HTTP_BODY_MEMORY || x->body.mode == HTTP_BODY_SPOOL)
        m->content_length = (int64_t)x->body.size;
    else if (x->head.content_length >= 0)
        m->content_length = x->head.content_length;
    m->nheaders = relay_headers(x, internal_mapping(x), headers);
}

bool relay_fits(struct pool *p, struct http_exchange *x)
{
    const struct h1_limits *most = &x->settings->head;
    struct message_request m;

    /* Some fields and the path are in it more than once; the usual limits cannot be too much. */
    if (2 * (most->head_bytes + most->uri_bytes) + 10 * most->fields <= RELAY_BLOCK_MAX - 8192)
        return true;
    relay_fill(p, x, &m);
    buf_clear(&p->block);
    return message_request_encode(&m, &p->block) == 0 && p->block.len <= RELAY_BLOCK_MAX;
}

static int relay_spool_body(struct http_exchange *x)
{
    struct http_body *b = &x->body;
    int rc = fs_open_spool(x->settings->spool_dir, &b->fd);

    if (rc == 0)
        rc = fs_pwrite(b->fd, b->data.p, b->data.len, 0);
    if (rc == 0) {
        buf_fini(&b->data);
        b->mode = HTTP_BODY_SPOOL;
    }
    return rc;
}

static int relay_send_body(struct pool_worker *w, struct http_exchange *x)
{
    struct str data = buf_str(&x->body.data);
    int rc = 0;

    if (x->body.mode == HTTP_BODY_SPOOL) {
        rc = sock_send_msg(w->socket, "body", 4, &x->body.fd, 1);
        if (rc == 0)
            rc = channel_put(w->channel, CHANNEL_BODY_FD, 0, w->request_id, NULL, 0);
        return rc;
    }
    if (x->body.mode != HTTP_BODY_MEMORY)
        return 0;
    while (rc == 0 && data.len) {
        struct str piece =
            str_sub(data, 0, MIN(channel_max_data(w->channel), (size_t)RELAY_BODY_STEP));

        rc = channel_put(w->channel, CHANNEL_BODY, 0, w->request_id, &piece, 1);
        data = str_sub(data, piece.len, data.len);
    }
    if (rc == 0)
        rc = channel_put(w->channel, CHANNEL_BODY_END, 0, w->request_id, NULL, 0);
    return rc;
}

static void relay_note_request(struct pool_worker *w, struct http_exchange *x)
{
    (void)str_put(w->uri, sizeof(w->uri), x->uri.request_uri);
    (void)str_put(w->script, sizeof(w->script), x->route.file);
    memcpy(w->request_name, x->id, sizeof(w->request_name));
}

/* Puts the request block; id names the request in the channel. */
static int relay_put(
    struct pool *p, struct pool_worker *w, struct http_exchange *x, uint16_t flags, uint64_t id)
{
    struct message_request m;
    struct str part;
    int rc;

    relay_fill(p, x, &m);
    buf_clear(&p->block);
    rc = message_request_encode(&m, &p->block);
    part = buf_str(&p->block);
    if (rc == 0)
        rc = channel_put(w->channel, CHANNEL_REQUEST, flags, id, &part, 1);
    return rc;
}

/* The request is the worker's from now on. */
static void relay_run(struct pool *p, struct pool_worker *w, struct pool_request *r)
{
    r->worker = w;
    w->request = r;
    w->tag = r->tag;
    w->state = WORKER_BUSY;
    w->answered = w->interrupted = w->aborted = w->paused = false;
    w->busy_since = net_loop_now(p->loop);
    r->x->worker_id = (int64_t)w->id;
    list_remove(&w->in_busy); /* a dead worker's claimed request may follow one without an end */
    list_push(&p->busy, &w->in_busy);
    deadline_arm(&w->deadline, &p->on_request);
    relay_note_request(w, r->x);
}

bool relay_offer(struct pool *p, struct pool_worker *w, struct pool_request *r)
{
    w->offered_mark = channel_mark(w->channel);
    w->offered_id = p->next_request + 1;
    if (relay_put(p, w, r->x, CHANNEL_OFFERED, w->offered_id)) {
        w->offered_id = 0;
        return false;
    }
    p->next_request++;
    w->offered = r;
    r->offered_to = w;
    channel_offer(w->channel, w->offered_id);
    if (channel_publish(w->channel))
        channel_ring_worker(w->channel);
    return true;
}

void relay_promote(struct pool *p, struct pool_worker *w)
{
    struct pool_request *r = w->offered;

    w->request_id = w->offered_id;
    w->request_mark = w->offered_mark;
    w->offered = NULL;
    w->offered_id = 0;
    if (!r) { /* its client is gone; PHP runs it to its next write */
        w->tag = 0;
        w->state = WORKER_BUSY;
        w->answered = w->interrupted = w->aborted = w->paused = false;
        w->busy_since = net_loop_now(p->loop);
        list_remove(&w->in_busy);
        list_push(&p->busy, &w->in_busy);
        deadline_arm(&w->deadline, &p->on_request);
        channel_set_cancel(w->channel, w->request_id, CHANNEL_CANCEL_CLIENT_GONE);
        return;
    }
    r->offered_to = NULL;
    w->generation->offered--;
    deadline_disarm(&r->wait);
    pool_count_wait(p, r);
    relay_run(p, w, r);
}

void relay_start(struct pool *p, struct pool_worker *w, struct pool_request *r)
{
    struct http_exchange *x = r->x;
    int rc;

    w->request_id = ++p->next_request;
    w->request_mark = channel_mark(w->channel);
    relay_run(p, w, r);
    rc = 0;
    if (x->body.mode == HTTP_BODY_MEMORY && x->body.data.len > RELAY_BODY_MAX)
        rc = relay_spool_body(x);
    if (rc == 0)
        rc = relay_put(p, w, x, 0, w->request_id);
    if (rc == 0)
        rc = relay_send_body(w, x);
    if (rc) {
        relay_broken(p, w, err_text(rc));
        return;
    }
    if (x->body.mode == HTTP_BODY_STREAM)
        relay_body(p, w);
    if (channel_publish(w->channel))
        channel_ring_worker(w->channel);
}

void relay_body(struct pool *p, struct pool_worker *w)
{
    struct http_exchange *x = w->request ? w->request->x : NULL;
    int rc = 0;

    if (!x || x->body.mode != HTTP_BODY_STREAM)
        return;
    while (rc == 0 && x->body.data.len) {
        size_t room = channel_room(w->channel);
        struct str piece;

        if (room == 0 && channel_prepare_room(w->channel, 1))
            break;
        room = channel_room(w->channel);
        piece = http_body_take(x, MIN(room, (size_t)RELAY_BODY_STEP));
        rc = channel_put(w->channel, CHANNEL_BODY, 0, w->request_id, &piece, 1);
    }
    if (rc == 0 && x->body.done && x->body.data.len == 0 && !w->request->body_ended) {
        rc = channel_put(w->channel, CHANNEL_BODY_END, 0, w->request_id, NULL, 0);
        if (rc == 0)
            w->request->body_ended = true;
        else if (rc == ERR_AGAIN && channel_prepare_room(w->channel, 1))
            rc = 0;
    }
    if (rc && rc != ERR_AGAIN)
        relay_broken(p, w, err_text(rc));
    else if (channel_publish(w->channel))
        channel_ring_worker(w->channel);
}

/* --- the answer ------------------------------------------------------------------------------- */

static int relay_head(
    struct pool *p, struct pool_worker *w, const struct channel_msg *msg, const char *data)
{
    struct http_exchange *x = w->request ? w->request->x : NULL;
    struct message_head h;
    struct response_raw raw;
    struct fields f;
    int rc;

    if (!x)
        return 0;
    buf_clear(&p->copy);
    buf_add(&p->copy, data, msg->len);
    arena_reset(&p->arena);
    rc = message_head_decode(p->copy.p, p->copy.len, &p->arena, &h);
    if (rc)
        return rc;
    fields_init(&f, &p->arena);
    fields_reserve(&f, h.nfields + 1);
    for (size_t i = 0; i < h.nfields; i++)
        fields_add(&f, h.fields[i].name, h.fields[i].value);
    raw = (struct response_raw){.status = h.status, .reason = h.reason, .fields = &f};
    if (msg->type == CHANNEL_INFO) {
        http_respond_info(x, &raw);
        return 0;
    }
    if (w->request->has_head)
        return ERR_PROTO;
    w->request->has_head = true;
    http_respond_head(x, &raw);
    return 0;
}

/* ERR_AGAIN: the client is slow, leave the message where it is. */
static int relay_data(struct pool_worker *w, struct str data)
{
    int rc;

    if (!w->request)
        return 0;
    if (!w->request->has_head)
        return ERR_PROTO;
    rc = http_respond_data(w->request->x, data);
    return rc == ERR_CLOSED ? 0 : rc; /* hooks.gone follows */
}

static int relay_end(struct pool *p, struct pool_worker *w)
{
    struct pool_request *r = w->request;
    struct http_exchange *x;

    w->answered = true;
    if (!r)
        return 0;
    if (!r->has_head)
        return ERR_PROTO;
    x = r->x;
    if (x->body.mode == HTTP_BODY_STREAM && !r->body_ended)
        channel_set_cancel(
            w->channel, w->request_id, CHANNEL_CANCEL_CLIENT_GONE); /* no more of it */
    metric_observe(p->metrics, METRIC_PHP_OUTPUT, w->generation->site->label, 0, x->body_sent);
    x->php_us = (net_loop_now(p->loop) - w->busy_since) * 1000;
    pool_request_end(p, r);
    http_respond_end(x);
    return 0;
}

static int relay_done(
    struct pool *p, struct pool_worker *w, const struct channel_msg *msg, const char *data)
{
    struct message_done done;
    int rc = message_done_decode(data, msg->len, &done);

    if (rc)
        return rc;
    if (!w->answered && w->request)
        return ERR_PROTO;
    pool_worker_done(p, w, &done);
    return 0;
}

static int relay_message(
    struct pool *p, struct pool_worker *w, const struct channel_msg *msg, const char *data)
{
    struct message_ready ready;
    int rc;

    if (msg->type == CHANNEL_READY) {
        rc = message_ready_decode(data, msg->len, &ready);
        if (rc == 0)
            pool_worker_ready(p, w, &ready);
        return rc;
    }
    switch (msg->type) {
    case CHANNEL_HEAD:
    case CHANNEL_INFO:
        return relay_head(p, w, msg, data);
    case CHANNEL_FLUSH:
        if (w->request && w->request->has_head)
            (void)!http_respond_flush(w->request->x); /* a lost client shows in hooks.gone */
        return 0;
    case CHANNEL_END:
        return relay_end(p, w);
    case CHANNEL_DONE:
        return relay_done(p, w, msg, data);
    case CHANNEL_NOTE:
        (void)snprintf(
            w->generation->note, sizeof(w->generation->note), "%.*s", (int)msg->len, data);
        return 0;
    default:
        return ERR_PROTO;
    }
}

/* May this message come now? */
static bool relay_belongs(const struct pool_worker *w, const struct channel_msg *msg)
{
    if (msg->type == CHANNEL_READY)
        return w->state == WORKER_STARTING;
    if (msg->type == CHANNEL_DONE)
        return w->request_id != 0;
    return w->request_id != 0 && msg->id == w->request_id;
}

void relay_read(struct pool *p, struct pool_worker *w)
{
    struct channel_msg msg;
    const char *data;
    int rc = 0;

    while (!w->paused) {
        rc = channel_peek(w->channel, &msg, &data);
        if (rc == ERR_AGAIN)
            break;
        if (rc == 0 && !relay_belongs(w, &msg)) {
            log_warn("worker_message_unexpected", F_UINT("worker", w->id), F_UINT("type", msg.type),
                F_UINT("id", msg.id), F_UINT("expected", w->request_id),
                F_UINT("offered", w->offered_id), F_INT("state", w->state));
            rc = ERR_PROTO;
        }
        if (rc == 0 && msg.type == CHANNEL_DATA) {
            rc = relay_data(w, str_n(data, msg.len));
            if (rc == ERR_AGAIN) {
                w->paused = true;
                break;
            }
        }
        /* Taken before it is acted on: the answer's end may start this connection's next request,
         * and DONE the next one in this worker, which both come back here. The bytes stay until the
         * release. */
        if (rc == 0) {
            channel_take(w->channel);
            if (msg.type != CHANNEL_DATA)
                rc = relay_message(p, w, &msg, data);
        }
        if (rc) {
            relay_broken(p, w, err_text(rc));
            break;
        }
    }
    if (channel_release(w->channel))
        channel_ring_worker(w->channel);
    relay_body(p, w);
}
