/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/exchange.h"

#include <stdio.h>

#include "base/mem.h"
#include "core/log.h"
#include "http/conn.h"
#include "http/mime.h"
#include "platform/clock.h"
#include "platform/fs.h"

enum { EXCHANGE_INFOS = 32 };

void http_exchange_init(struct http_exchange *x, struct http_server *s, struct http_conn *c)
{
    struct arena arena = x->arena; /* keeps its block from the last request */

    *x = (struct http_exchange){.arena = arena, .conn = c, .server = s};
    x->settings = http_settings_ref(s->settings);
    x->body.fd = -1;
    x->worker_id = -1;
    x->promised = -1;
    x->head.content_length = -1;
}

static void exchange_log_access(struct http_exchange *x)
{
    struct access_log_entry e = {
        .wall_us = x->wall_us,
        .method = x->head.method,
        .target = x->head.target,
        .protocol = x->head.minor ? STR("HTTP/1.1") : STR("HTTP/1.0"),
        .host = x->http_host,
        .site = x->site.name,
        .request_id = str_c(x->id),
        .status = x->status,
        .bytes = x->body_wire,
        .duration_us = x->start_ns ? (clock_mono_ns() - x->start_ns) / 1000 : 0,
        .php_us = x->php_us,
        .worker_id = x->worker_id,
    };
    char remote[SOCK_ADDR_TEXT];
    const struct str *v;

    e.remote = str_n(remote, sock_ip_format(&x->from.client, remote));
    if ((v = fields_get(&x->head.fields, STR("Referer"))) != NULL)
        e.referer = *v;
    if ((v = fields_get(&x->head.fields, STR("User-Agent"))) != NULL)
        e.user_agent = *v;
    access_log_write(x->server->access_log, &e);
}

void http_exchange_fini(struct http_exchange *x)
{
    if (x->counted)
        x->server->nrequests--;
    x->counted = false;
    if (x->status) {
        x->server->counters.status_class[MIN(x->status / 100, 5)]++;
        if (x->server->access_log)
            exchange_log_access(x);
        if (x->server->hooks.finished)
            x->server->hooks.finished(x->server->hooks.arg, x);
    }
    fs_close(x->body.fd);
    buf_fini(&x->body.data);
    buf_fini(&x->body.taken);
    buf_fini(&x->hold);
    buf_fini(&x->blocked);
    compress_close(x->encoder);
    x->encoder = NULL;
    http_settings_unref(x->settings);
    x->settings = NULL;
    arena_reset(&x->arena);
}

const struct sock_addr *http_exchange_local(const struct http_exchange *x)
{
    return &x->conn->local;
}

const struct sock_addr *http_exchange_peer(const struct http_exchange *x)
{
    return &x->conn->peer;
}

bool http_exchange_is_self(const struct http_exchange *x)
{
    return x->from.client.family == SOCK_LOCAL || sock_ip_equal(&x->from.client, &x->conn->local);
}

bool http_respond_started(const struct http_exchange *x)
{
    return x->head_sent;
}

/* --- bytes to the socket ---------------------------------------------------------------------- */

/* Everything for the wire goes through here. What the queue refuses is kept, so callers are
 * all-or-nothing. */
static int exchange_wire_more(struct http_exchange *x, const struct str *parts, size_t n, bool more)
{
    struct stream *st = http_conn_stream(x->conn);
    int rc = 0;

    if (x->blocked.len == 0) {
        rc = stream_write(st, parts, n, more);
        http_conn_sending(x->conn);
        if (rc == ERR_NOSPACE)
            log_error("response_spool_failed", F_CSTR("setting", "server.request.spool_dir"),
                F_CSTR("request_id", x->id), F_ERR(rc));
    }
    if (rc == ERR_FULL || rc == ERR_NOSPACE || x->blocked.len) {
        for (size_t i = 0; i < n; i++)
            buf_add_str(&x->blocked, parts[i]);
        return 0;
    }
    return rc;
}

static int exchange_wire(struct http_exchange *x, const struct str *parts, size_t n)
{
    return exchange_wire_more(x, parts, n, false);
}

static bool exchange_may_take(struct http_exchange *x)
{
    return x->blocked.len == 0 && stream_has_room(http_conn_stream(x->conn));
}

/* --- the head --------------------------------------------------------------------------------- */

static void exchange_on_drop(void *arg, enum response_drop why, struct str name, struct str value)
{
    struct http_exchange *x = arg;

    if (why == RESPONSE_DROP_HOP)
        return;
    log_warn("response_field_dropped", F_CSTR("reason", response_drop_name(why)),
        F_STR("name", name), F_STR("value", value), F_CSTR("request_id", x->id),
        F_STR("uri", x->uri.request_uri));
}

static void exchange_copy_raw(struct http_exchange *x, const struct response_raw *raw)
{
    fields_init(&x->answer_copy, &x->arena);
    fields_reserve(&x->answer_copy, raw->fields->count);
    for (size_t i = 0; i < raw->fields->count; i++)
        fields_add(&x->answer_copy, arena_str(&x->arena, raw->fields->items[i].name),
            arena_str(&x->arena, raw->fields->items[i].value));
}

void http_respond_head(struct http_exchange *x, const struct response_raw *raw)
{
    struct response_raw copy = *raw;

    ENSURE(!x->has_answer);
    exchange_copy_raw(x, raw);
    copy.fields = &x->answer_copy;
    if (raw->reason.len)
        copy.reason = arena_str(&x->arena, raw->reason);
    response_check(&copy, &x->arena, exchange_on_drop, x, &x->answer);
    x->has_answer = true;
    x->send_instead = x->answer.accel_redirect.p || x->answer.sendfile.p;
    x->discard = x->is_head || x->answer.no_body || x->send_instead;
}

/* How the connection goes on, as the head has to say it. */
static enum response_connection exchange_connection(struct http_exchange *x)
{
    if (x->server->draining || !x->body.done || x->close_after)
        x->keep_alive = false;
    if (!x->keep_alive)
        return RESPONSE_CONN_CLOSE;
    return x->head.minor == 0 ? RESPONSE_CONN_KEEP_ALIVE : RESPONSE_CONN_NONE;
}

static void exchange_write_head(struct http_exchange *x, const struct response_head *h,
    struct response_send *send, struct buf *out)
{
    send->connection = exchange_connection(x);
    send->date = http_server_date(x->server);
    send->server = x->settings->server;
    send->custom = x->settings->custom.count ? &x->settings->custom : NULL;
    response_write_head(out, h, send);
    x->head_sent = true;
    x->status = h->status;
}

/*
 * Does this answer get a content coding? length: of the whole body, -1 when not known. streamed:
 * the application flushes it in pieces, and does not just print a long page.
 */
static void exchange_choose_coding(struct http_exchange *x, int64_t length, bool streamed)
{
    const struct str *accept = fields_get(&x->head.fields, STR("Accept-Encoding"));
    const struct str *type = fields_get(&x->answer.fields, STR("Content-Type"));
    struct http_settings *set = x->settings;
    bool events = type && str_ieq(mime_essence(*type), STR("text/event-stream"));
    enum coding coding;
    bool vary = false;

    if (!set->compress.enabled || x->answer.no_body || x->send_instead)
        return;
    if ((events && length < 0 && !set->compress_events) ||
        (!events && streamed && !set->compress_streams))
        return;
    coding = compress_decide_fields(&set->compress, x->answer.status, length, &x->answer.fields,
        accept ? *accept : STR_NONE, &vary);
    if (vary)
        compress_add_vary(&x->answer.fields, &x->arena);
    if (coding == CODING_IDENTITY)
        return;
    if (x->is_head ||
        compress_open(x->server->compressors, coding, set->compress.level, &x->encoder) == 0)
        compress_apply(&x->answer.fields, coding, &x->arena);
    x->answer.content_length = -1;
}

/* How far the body is known when its head leaves. */
enum exchange_extent {
    EXCHANGE_WHOLE,   /* it ends here */
    EXCHANGE_LONG,    /* more follows, as it is printed */
    EXCHANGE_STREAMED /* the application wants this part at the client now */
};

/* How the body's end is told; a declared length cuts `first`. length: of the whole body, -1: not
 * known. */
static void exchange_frame(struct http_exchange *x, struct str *first, bool whole, int64_t length,
    struct response_send *send)
{
    const struct response_head *h = &x->answer;

    if (x->is_head) {
        if (h->content_length >= 0) {
            send->framing = RESPONSE_LENGTH;
            send->length = (uint64_t)h->content_length;
        }
    } else if (h->no_body) {
        *first = STR_NONE;
    } else if (h->content_length >= 0) {
        send->framing = RESPONSE_LENGTH;
        send->length = (uint64_t)h->content_length;
        x->promised = h->content_length;
        if ((int64_t)first->len > x->promised) {
            first->len = (size_t)x->promised;
            x->keep_alive = false;
        }
        if (whole && (int64_t)first->len < x->promised)
            x->keep_alive = false;
    } else if (length >= 0) {
        send->framing = RESPONSE_LENGTH;
        send->length = (uint64_t)length;
        x->promised = length;
    } else if (x->head.minor >= 1) {
        send->framing = RESPONSE_CHUNKED;
        x->chunked = true;
    } else {
        x->keep_alive = false;
    }
}

/* Sends the held head, with what is held of the body in `first`. */
static int exchange_start(struct http_exchange *x, struct str first, enum exchange_extent extent)
{
    static const enum compress_flush flush[] = {COMPRESS_FINISH, COMPRESS_MORE, COMPRESS_FLUSH};
    bool whole = extent == EXCHANGE_WHOLE;
    struct response_send send = {.framing = RESPONSE_NONE};
    struct response_head *h = &x->answer;
    struct buf head = {0}, coded = {0};
    struct str parts[5];
    size_t n = 0;
    char size[20];
    int64_t length = whole ? (int64_t)first.len : -1;
    int rc = 0;

    if (x->is_head && h->content_length >= 0)
        length = h->content_length;
    if (x->is_head &&
        length <= 0) /* PHP prints nothing: whether the body is too small is unknown */
        exchange_choose_coding(x, -1, true);
    else
        exchange_choose_coding(x, length, extent == EXCHANGE_STREAMED);
    if (x->encoder) {
        x->coded += first.len;
        rc = compress_write(x->encoder, first, flush[extent], &coded);
        first = buf_str(&coded);
        length = whole ? (int64_t)coded.len : -1;
    }
    exchange_frame(x, &first, whole, length, &send);
    exchange_write_head(x, h, &send, &head);
    parts[n++] = buf_str(&head);
    if (first.len) {
        if (x->chunked) {
            parts[n++] = str_n(size, (size_t)snprintf(size, sizeof(size), "%zx\r\n", first.len));
            parts[n++] = first;
            parts[n++] = STR("\r\n");
        } else {
            parts[n++] = first;
        }
    }
    x->body_wire += first.len;
    if (rc == 0)
        rc = exchange_wire(x, parts, n);
    buf_fini(&head);
    buf_fini(&coded);
    return rc;
}

int http_exchange_send_head(struct http_exchange *x, const struct response_head *h, uint64_t length,
    bool forbid_body, struct str body, bool more)
{
    struct response_send send = {
        .framing = forbid_body ? RESPONSE_NONE : RESPONSE_LENGTH, .length = length};
    struct buf *head = &x->server->head;
    struct str parts[2];
    int rc;

    buf_clear(head);
    exchange_write_head(x, h, &send, head);
    parts[0] = buf_str(head);
    parts[1] = body;
    rc = exchange_wire_more(x, parts, body.len ? 2 : 1, more);
    x->body_wire += body.len;
    return rc;
}

void http_respond_info(struct http_exchange *x, const struct response_raw *raw)
{
    struct response_head h;
    struct response_send send = {.framing = RESPONSE_NONE};
    struct buf out = {0};
    struct str part;

    if (x->head_sent || x->has_answer || x->head.minor < 1)
        return;
    /* They are hints: an endless row of them, or a client that does not take them, costs no memory.
     */
    if (x->infos++ >= EXCHANGE_INFOS || !exchange_may_take(x))
        return;
    if (response_check_info(raw, &x->arena, exchange_on_drop, x, &h))
        return;
    response_write_head(&out, &h, &send);
    part = buf_str(&out);
    (void)!exchange_wire(x, &part, 1); /* a broken connection shows in on_error */
    buf_fini(&out);
}

/* --- the body --------------------------------------------------------------------------------- */

static int exchange_emit(struct http_exchange *x, struct str data, enum compress_flush flush)
{
    struct buf coded = {0};
    struct str parts[3];
    char size[20];
    int rc = 0;

    if (x->encoder) {
        x->coded += data.len;
        rc = compress_write(x->encoder, data, flush, &coded);
        data = buf_str(&coded);
    }
    if (x->promised >= 0 && (int64_t)(x->body_wire + data.len) > x->promised) {
        data.len = (size_t)(x->promised - (int64_t)x->body_wire);
        x->close_after = true;
    }
    x->body_wire += data.len;
    if (rc == 0 && data.len) {
        if (x->chunked) {
            parts[0] = str_n(size, (size_t)snprintf(size, sizeof(size), "%zx\r\n", data.len));
            parts[1] = data;
            parts[2] = STR("\r\n");
            rc = exchange_wire(x, parts, 3);
        } else {
            rc = exchange_wire(x, &data, 1);
        }
    }
    buf_fini(&coded);
    return rc;
}

static int exchange_release_hold(struct http_exchange *x, enum exchange_extent extent)
{
    int rc = exchange_start(x, buf_str(&x->hold), extent);

    buf_fini(&x->hold);
    return rc;
}

int http_respond_data(struct http_exchange *x, struct str data)
{
    int rc = 0;

    ENSURE(x->has_answer);
    if (!exchange_may_take(x))
        return http_conn_stream(x->conn)->error ? ERR_CLOSED : ERR_AGAIN;
    x->body_sent += data.len;
    if (x->discard)
        return 0;
    if (!x->head_sent) {
        if (x->answer.buffering != RESPONSE_BUFFERING_OFF &&
            x->hold.len + data.len <= EXCHANGE_HOLD) {
            buf_add_str(&x->hold, data);
            return 0;
        }
        rc = exchange_release_hold(x, EXCHANGE_LONG);
    }
    return rc ? rc : exchange_emit(x, data, COMPRESS_MORE);
}

int http_respond_flush(struct http_exchange *x)
{
    ENSURE(x->has_answer);
    if (x->send_instead)
        return 0;
    if (!x->head_sent)
        return exchange_release_hold(x, EXCHANGE_STREAMED);
    if (x->encoder)
        return exchange_emit(x, STR_NONE, COMPRESS_FLUSH);
    return 0;
}

static void exchange_done(struct http_exchange *x)
{
    x->owner = NULL;
    if (x->blocked.len) {
        http_conn_answered(x->conn); /* the rest follows from http_exchange_drained() */
        return;
    }
    http_conn_exchange_done(x->conn);
}

void http_respond_end(struct http_exchange *x)
{
    int rc = 0;

    ENSURE(x->has_answer);
    x->owner = NULL;
    if (x->send_instead) {
        http_handle_send_instead(x);
        return;
    }
    if (!x->head_sent) {
        rc = exchange_start(x, buf_str(&x->hold), EXCHANGE_WHOLE);
    } else if (!x->discard) {
        if (x->encoder)
            rc = exchange_emit(x, STR_NONE, COMPRESS_FINISH);
        if (rc == 0 && x->chunked) {
            struct str last = STR("0\r\n\r\n");

            rc = exchange_wire(x, &last, 1);
        }
    }
    if (rc == 0 && x->promised >= 0 && (int64_t)x->body_wire < x->promised && !x->discard) {
        log_warn("response_too_short", F_CSTR("request_id", x->id),
            F_STR("uri", x->uri.request_uri), F_INT("content_length", x->promised),
            F_UINT("sent", x->body_wire));
        x->keep_alive = false;
    }
    if (x->close_after)
        x->keep_alive = false;
    if (rc) {
        http_conn_cut(x->conn, "sending failed");
        return;
    }
    exchange_done(x);
}

void http_exchange_drained(struct http_exchange *x)
{
    struct buf b = x->blocked;

    if (b.len) {
        struct str part = buf_str(&b);

        x->blocked = (struct buf){0};
        if (exchange_wire(x, &part, 1)) {
            buf_fini(&b);
            return; /* on_error follows */
        }
        buf_fini(&b);
        if (x->blocked.len)
            return;
        if (x->stage == EXCHANGE_ANSWERED) {
            http_conn_exchange_done(x->conn);
            return;
        }
    }
    if (x->stage == EXCHANGE_HANDLER && x->owner)
        x->server->hooks.room(x->server->hooks.arg, x);
}

/* --- whole answers ---------------------------------------------------------------------------- */

void http_respond_simple(struct http_exchange *x, int status, struct str type, struct str body)
{
    struct fields f;
    struct response_raw raw = {.status = status, .fields = &f};
    int rc;

    fields_init(&f, &x->arena);
    fields_add(&f, STR("Content-Type"), type);
    http_respond_head(x, &raw);
    x->discard = x->is_head;
    if (x->is_head) {
        x->answer.content_length = (int64_t)body.len;
    } else {
        buf_add_str(&x->hold, body);
    }
    rc = exchange_start(x, buf_str(&x->hold), EXCHANGE_WHOLE);
    if (rc) {
        http_conn_cut(x->conn, "sending failed");
        return;
    }
    exchange_done(x);
}

/* A configured page is looked for below the document root, then as a path of its own. */
static int exchange_read_page(struct http_exchange *x, struct str path, struct buf *out)
{
    struct str root = x->site.root;

    if (root.len) {
        struct str full = arena_printf(&x->arena, STR_F "/" STR_F, STR_A(root), STR_A(path));

        if (fs_read_file(full.p, 1 << 20, out) == 0)
            return 0;
        buf_clear(out);
    }
    return fs_read_file(path.p, 1 << 20, out);
}

/* A site's own page for the status, or the default one. */
static void exchange_error_body(
    struct http_exchange *x, int status, struct buf *out, struct str *type)
{
    const struct error_page_file *f =
        error_page_find(x->settings->error_pages, x->settings->nerror_pages, status);
    const struct str *accept = fields_get(&x->head.fields, STR("Accept"));
    enum error_page_kind kind = error_page_choose(accept ? *accept : STR_NONE);

    if (f) {
        int rc = exchange_read_page(x, f->path, out);

        *type = mime_of_path(f->path)->type;
        if (rc == 0)
            return;
        log_warn("error_page_unreadable", F_STR("path", f->path), F_ERR(rc));
        buf_clear(out);
    }
    *type = error_page_type(kind);
    error_page_write(out, kind, status, STR_NONE, str_c(x->id));
}

void http_respond_status(struct http_exchange *x, int status, struct str extra_name,
    struct str extra_value, const char *why)
{
    struct buf body = {0};
    struct fields f;
    struct response_raw raw = {.status = status, .fields = &f};
    struct str type;
    int rc;

    log_debug("answered_by_server", F_INT("status", status), F_CSTR("reason", why),
        F_CSTR("request_id", x->id), F_STR("target", x->head.target));
    x->is_head = str_eq(x->head.method, STR("HEAD"));
    exchange_error_body(x, status, &body, &type);
    fields_init(&f, &x->arena);
    fields_add(&f, STR("Content-Type"), type);
    if (extra_name.len)
        fields_add(&f, extra_name, extra_value);
    x->has_answer = false;
    http_respond_head(x, &raw);
    x->discard = x->is_head;
    if (x->is_head)
        x->answer.content_length = (int64_t)body.len;
    rc = exchange_start(x, x->is_head ? STR_NONE : buf_str(&body), EXCHANGE_WHOLE);
    buf_fini(&body);
    if (rc) {
        http_conn_cut(x->conn, "sending failed");
        return;
    }
    exchange_done(x);
}

void http_respond_cut(struct http_exchange *x, int status, const char *why)
{
    x->owner = NULL;
    buf_fini(&x->hold);
    if (x->head_sent) {
        http_conn_cut(x->conn, why);
        return;
    }
    if (!x->body.done)
        x->keep_alive = false;
    x->send_instead = false;
    http_respond_status(x, status, STR_NONE, STR_NONE, why);
}
