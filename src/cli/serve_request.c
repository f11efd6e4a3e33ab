/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/serve.h"

#include <stdio.h>
#include <time.h>

#include "base/arena.h"
#include "core/timefmt.h"
#include "http/h1_parser.h"
#include "http/mime.h"
#include "http/uri.h"
#include "php/embed.h"
#include "platform/fs.h"
#include "platform/process.h"

enum {
    SERVE_HEAD_MAX = 65536,
    SERVE_WAIT_MS = 30000,
    SERVE_BLOCK = 65536,
    SERVE_LINGER_BLOCKS = 64,
    SERVE_LINGER_MS = 200
};

/* One request under way. */
struct serve_exchange {
    const struct serve *serve;
    struct serve_conn *conn;
    struct arena arena;
    struct h1_head head;
    struct uri uri;
    struct str path; /* decoded */
    struct h1_body body;
    bool body_done;
    bool continued; /* 100 Continue was sent */
    bool broken;    /* the client is gone */
    int status;
    struct buf kept; /* the body that a router read: who answers after it gets it once more */
    size_t replayed;
    bool routing;
    bool holding; /* a router runs: what it writes waits in held, since it may decline */
    struct buf held;
    /* what the path names */
    struct str file, script_name, path_info;
    bool is_php, is_index;
};

/* --- to the client ---------------------------------------------------------------------------- */

static int serve_push(struct serve_exchange *x, struct str data)
{
    while (data.len && !x->broken) {
        size_t sent = 0;
        int rc = sock_sendv(x->conn->sock, &data, 1, false, &sent);

        if (rc && rc != ERR_INTR)
            x->broken = true;
        data = str_sub(data, sent, data.len);
    }
    return x->broken ? ERR_CLOSED : 0;
}

static int serve_let_go(struct serve_exchange *x)
{
    int rc = serve_push(x, buf_str(&x->held));

    x->holding = false;
    buf_fini(&x->held);
    return rc;
}

static int serve_send(struct serve_exchange *x, struct str data)
{
    if (x->holding && x->held.len + data.len <= SERVE_BLOCK) {
        buf_add_str(&x->held, data);
        return 0;
    }
    if (x->holding && serve_let_go(x) < 0)
        return ERR_CLOSED;
    return serve_push(x, data);
}

/* dated: a Date follows among the other fields. */
static void serve_begin_head(
    struct serve_exchange *x, struct buf *b, int status, struct str reason, bool dated)
{
    const char *text = embed_status_text(status);
    char date[TIMEFMT_MAX];

    x->status = status;
    (void)timefmt_http((int64_t)time(NULL), date);
    buf_printf(b, "HTTP/1.%d %d ", x->head.minor, status);
    buf_add_str(b, reason.p ? reason : str_c(text ? text : "Unknown"));
    buf_printf(b, "\r\nHost: " STR_F "\r\n",
        STR_A(x->head.has_host ? x->head.host : str_c(x->serve->address)));
    if (!dated)
        buf_printf(b, "Date: %s\r\n", date);
    buf_add_lit(b, "Connection: close\r\n");
}

static void serve_error(struct serve_exchange *x, int status)
{
    const char *text = embed_status_text(status);
    struct buf body = {0}, head = {0};

    buf_printf(&body, "<!doctype html><title>%d %s</title><h1>%s</h1><p>", status, text, text);
    buf_add_html(&body, x->uri.request_uri);
    serve_begin_head(x, &head, status, STR_NONE, false);
    buf_printf(
        &head, "Content-Type: text/html; charset=UTF-8\r\nContent-Length: %zu\r\n\r\n", body.len);
    if (!str_eq(x->head.method, STR("HEAD")))
        buf_add_str(&head, buf_str(&body));
    (void)serve_send(x, buf_str(&head)); /* the log has the status all the same */
    buf_fini(&body);
    buf_fini(&head);
}

/* --- the host of embed.h ---------------------------------------------------------------------- */

static struct serve_exchange *serve_current; /* PHP knows one host for all requests */

/* Body bytes from what is there; more is read when there is nothing. */
static int serve_read_body(void *arg, char *p, size_t n, size_t *got)
{
    struct serve_exchange *x = serve_current;
    struct buf *in = &x->conn->in;
    size_t used, more;
    struct str part;

    *got = 0;
    if (!x->routing && x->replayed < x->kept.len) {
        *got = MIN(n, x->kept.len - x->replayed);
        memcpy(p, x->kept.p + x->replayed, *got);
        x->replayed += *got;
        return 0;
    }
    if (x->head.expect_continue && !x->continued && !x->status) {
        x->continued = true;
        (void)serve_push(x, STR("HTTP/1.1 100 Continue\r\n\r\n")); /* a dead client shows below */
    }
    while (!x->body_done) {
        if (h1_body_next(&x->body, in->p, MIN(in->len, n), &used, &part, &x->body_done) < 0)
            return ERR_CLOSED;
        if (part.len)
            memcpy(p, part.p, part.len);
        if (x->routing)
            buf_add_str(&x->kept, part);
        *got = part.len;
        buf_consume(in, used);
        if (*got)
            return 0;
        if (x->body_done || in->len)
            continue;
        if (sock_wait_readable(x->conn->sock, SERVE_WAIT_MS) ||
            sock_recv(x->conn->sock, buf_reserve(in, SERVE_BLOCK), SERVE_BLOCK, &more))
            return ERR_CLOSED;
        in->len += more;
    }
    return 0;
}

static int serve_send_head(void *arg, const struct embed_head *h)
{
    struct serve_exchange *x = serve_current;
    struct buf b = {0};
    bool dated = false;
    int rc;

    for (size_t i = 0; i < h->nfields; i++)
        dated = dated || str_ieq(h->fields[i].name, STR("Date"));
    serve_begin_head(x, &b, h->status, h->reason, dated);
    for (size_t i = 0; i < h->nfields; i++) {
        bool type = str_ieq(h->fields[i].name, STR("Content-Type"));

        buf_add_str(&b, type ? STR("Content-type") : h->fields[i].name); /* as PHP spells it */
        buf_add_lit(&b, ": ");
        buf_add_str(&b, h->fields[i].value);
        buf_add_lit(&b, "\r\n");
    }
    buf_add_lit(&b, "\r\n");
    rc = serve_send(x, buf_str(&b));
    buf_fini(&b);
    return rc;
}

static int serve_write(void *arg, const char *p, size_t n)
{
    return serve_send(serve_current, str_n(p, n));
}

static int serve_flush(void *arg)
{
    return serve_let_go(serve_current);
}

static void serve_log_php(
    void *arg, enum embed_log_kind kind, struct str message, const char *script, uint32_t line)
{
    serve_log(STR_F, STR_A(message));
}

static const struct embed_host serve_php_host = {
    .read_body = serve_read_body,
    .send_head = serve_send_head,
    .write = serve_write,
    .flush = serve_flush,
    .log = serve_log_php,
};

const struct embed_host *serve_host(void)
{
    return &serve_php_host;
}

/* --- what a path names ------------------------------------------------------------------------ */

static bool serve_is(struct serve_exchange *x, struct str path, const char *name, enum fs_kind kind)
{
    struct fs_stat st;
    struct buf b = {0};
    bool is;

    buf_add_str(&b, str_c(x->serve->document_root));
    buf_add_str(&b, path);
    buf_add_str(&b, str_c(name));
    is = fs_stat(buf_cstr(&b), &st) == 0 && st.kind == kind;
    buf_fini(&b);
    return is;
}

static void serve_found(
    struct serve_exchange *x, struct str path, const char *name, struct str rest)
{
    x->script_name = arena_printf(&x->arena, STR_F "%s", STR_A(path), name);
    x->file = arena_printf(&x->arena, "%s" STR_F, x->serve->document_root, STR_A(x->script_name));
    x->path_info = rest.len ? arena_str(&x->arena, rest) : STR_NONE;
    x->is_php = str_iends(x->script_name, STR(".php"));
    x->is_index = *name != '\0';
}

/* Is there a file of this URL path below the root; or, for a folder, an index in it? */
static bool serve_try(struct serve_exchange *x, struct str path, struct str rest, bool index)
{
    static const char *const names[] = {"", "/index.php", "/index.html"};

    for (size_t i = 0; i < (index ? ARRAY_LEN(names) : 1); i++) {
        if (serve_is(x, path, names[i], FS_FILE)) {
            serve_found(x, path, names[i], rest);
            return true;
        }
    }
    return false;
}

/* The file itself, an index of the first folder on the way up, or a script with a path behind it.
 * Before PHP 8.4, what looks like a file ("/a/b.css") has no index but its own. */
static bool serve_resolve(struct serve_exchange *x)
{
    struct str path = x->path;
    bool index = x->serve->index_for_dots || str_chr(path, '.') < 0;
    ptrdiff_t slash;

    while (path.len && path.p[path.len - 1] == '/')
        path.len--;
    for (;;) {
        struct str rest = str_sub(x->path, path.len, x->path.len);
        bool whole = rest.len == 0 || str_eq(rest, STR("/"));

        if (serve_try(x, path, whole ? STR("") : rest, index || whole) &&
            (whole || x->is_php || x->is_index))
            return true;
        if (serve_is(x, path, "", FS_DIR))
            return false;
        slash = str_rchr(path, '/');
        if (slash < 0)
            return false;
        path.len = (size_t)slash;
    }
}

/* --- answers ---------------------------------------------------------------------------------- */

static void serve_static(struct serve_exchange *x)
{
    static char block[SERVE_BLOCK];
    struct fs_stat st;
    struct buf b = {0};
    size_t got = 1;
    int fd = -1;

    if (!str_eq(x->head.method, STR("GET")) && !str_eq(x->head.method, STR("HEAD"))) {
        serve_error(x, 405);
        return;
    }
    if (fs_open_read(x->file.p, &fd) < 0 || fs_fstat(fd, &st) < 0) {
        serve_error(x, 403);
        fs_close(fd);
        return;
    }
    serve_begin_head(x, &b, 200, STR_NONE, false);
    buf_printf(&b, "Content-Type: " STR_F "\r\nContent-Length: %llu\r\n\r\n",
        STR_A(mime_of_path(x->file)->type), (unsigned long long)st.size);
    (void)serve_send(x, buf_str(&b)); /* a client that left is noticed below */
    buf_fini(&b);
    if (str_eq(x->head.method, STR("HEAD")))
        st.size = 0;
    for (uint64_t at = 0; at < st.size && got && !x->broken; at += got)
        if (fs_pread(fd, block, (size_t)MIN(sizeof(block), st.size - at), at, &got) < 0 ||
            serve_send(x, str_n(block, got)) < 0)
            break;
    fs_close(fd);
}

static struct str serve_joined(struct serve_exchange *x, struct str name)
{
    struct str value = STR_NONE;

    if (!fields_join(&x->head.fields, name, &value))
        return STR_NONE;
    return arena_str(&x->arena, value);
}

static void serve_fill(struct serve_exchange *x, struct embed_request *r)
{
    const struct fields *fields = &x->head.fields;
    struct embed_field *headers = arena_new(&x->arena, (fields->count + 1) * sizeof(*headers));
    char ip[SOCK_ADDR_TEXT];
    struct str host = str_c(x->serve->address);
    size_t n = 0;

    for (size_t i = 0; i < fields->count; i++)
        if (fields_get(fields, fields->items[i].name) == &fields->items[i].value)
            headers[n++] =
                (struct embed_field){fields->items[i].name, serve_joined(x, fields->items[i].name)};
    host.len = (size_t)MAX(str_rchr(host, ':'), 0);
    (void)sock_ip_format(&x->conn->peer, ip);
    *r = (struct embed_request){
        .method = arena_str(&x->arena, x->head.method),
        .uri = arena_str(&x->arena, x->uri.request_uri),
        .query = arena_str(&x->arena, x->uri.query),
        .script_name = x->script_name,
        .script_filename = x->file,
        .path_info = x->path_info,
        .document_root = str_c(x->serve->document_root),
        .protocol = arena_printf(&x->arena, "HTTP/1.%d", x->head.minor),
        .server_name = arena_str(&x->arena, host),
        .server_port = arena_printf(&x->arena, "%u", x->serve->at.port),
        .remote_addr = arena_str(&x->arena, str_c(ip)),
        .remote_port = arena_printf(&x->arena, "%u", x->conn->peer.port),
        .content_type = serve_joined(x, STR("Content-Type")),
        .cookie = serve_joined(x, STR("Cookie")),
        .authorization = serve_joined(x, STR("Authorization")),
        .content_length = x->head.chunked ? -1 : x->head.content_length,
        .body_streaming = x->head.chunked,
        .headers = headers,
        .nheaders = n,
    };
    r->server_software = arena_printf(&x->arena, "PHP %s Development Server", embed_php_version());
}

/* Runs PHP. Its state may be broken afterwards: then it serves nobody any more. */
static void serve_run(const struct embed_request *r, struct embed_result *result)
{
    embed_run(r, result);
    if (result->end != EMBED_BROKEN)
        return;
    serve_log("PHP could not end the request, the server stops");
    process_exit_now(255);
}

/* False: the router left the request to us. */
static bool serve_route(struct serve_exchange *x, bool resolved)
{
    struct embed_request r;
    struct embed_result result;

    serve_fill(x, &r);
    r.script_filename = str_c(x->serve->router);
    r.router = true;
    if (!resolved)
        r.script_name = arena_str(&x->arena, x->path);
    x->holding = x->routing = true;
    serve_run(&r, &result);
    x->routing = false;
    if (!result.declined || !x->holding) {
        (void)serve_let_go(x); /* a client that left is nobody's loss */
        return true;
    }
    buf_fini(&x->held);
    x->holding = false;
    x->status = 0;
    return false;
}

static void serve_answer(struct serve_exchange *x)
{
    struct embed_request r;
    struct embed_result result;
    bool resolved = serve_resolve(x);

    if (x->serve->router[0] && serve_route(x, resolved))
        return;
    if (!resolved) {
        serve_error(x, 404);
    } else if (!x->is_php) {
        serve_static(x);
    } else {
        serve_fill(x, &r);
        serve_run(&r, &result);
    }
}

/* A target that names nothing here. */
static int serve_check(struct serve_exchange *x)
{
    int status = 400;

    if (uri_parse(x->head.method, x->head.target, &x->arena, &x->uri, &status) < 0)
        return status;
    if (x->uri.form == URI_ASTERISK || uri_decode_path(x->uri.path, &x->arena, &x->path) < 0)
        return 400;
    return 0;
}

/* Takes what the client still sends: closing a socket with unread bytes would take the answer
 * back. */
static void serve_linger(struct serve_exchange *x)
{
    static char block[SERVE_BLOCK];
    size_t got;

    sock_shutdown_send(x->conn->sock);
    for (int i = 0; i < SERVE_LINGER_BLOCKS; i++)
        if (sock_wait_readable(x->conn->sock, SERVE_LINGER_MS) ||
            sock_recv(x->conn->sock, block, sizeof(block), &got))
            break;
}

static void serve_answer_and_log(struct serve_exchange *x, int status)
{
    char peer[SOCK_ADDR_TEXT];

    serve_current = x;
    if (status)
        serve_error(x, status);
    else
        serve_answer(x);
    serve_current = NULL;
    (void)sock_addr_format(&x->conn->peer, peer);
    serve_log("%s [%d]: " STR_F " " STR_F, peer, x->status, STR_A(x->head.method),
        STR_A(x->uri.request_uri));
    serve_linger(x);
}

/* Who speaks HTTP by hand, PHP's own tests among them, ends lines with LF alone. The parser refuses
 * that, for the sake of servers behind others; here nobody is in front. Only lines of the head. */
static void serve_mend_lines(struct buf *in)
{
    struct buf out = {0};
    size_t line = 0, i = 0;
    bool end = false;

    for (; i < in->len && i < SERVE_HEAD_MAX && !end; i++) {
        bool bare = in->p[i] == '\n' && (i == 0 || in->p[i - 1] != '\r');

        if (bare)
            buf_add_char(&out, '\r');
        buf_add_char(&out, in->p[i]);
        if (in->p[i] != '\n') {
            line++;
            continue;
        }
        end = i > 0 && line <= (bare ? 0u : 1u);
        line = 0;
    }
    buf_add(&out, in->p + i, in->len - i);
    buf_fini(in);
    *in = out;
}

int serve_request(const struct serve *s, struct serve_conn *c)
{
    static const struct h1_limits limits = {
        .head_bytes = SERVE_HEAD_MAX, .fields = H1_FIELDS_MAX, .uri_bytes = SERVE_HEAD_MAX};
    struct serve_exchange x = {.serve = s, .conn = c};
    struct buf head = {0};
    struct h1_parser parser;
    size_t used = 0;
    int rc;

    serve_mend_lines(&c->in);
    h1_parser_init(&parser, &limits, &x.arena);
    rc = h1_parse_head(&parser, c->in.p, c->in.len, &x.head, &used);
    if (rc != ERR_AGAIN) {
        sock_set_blocking(c->sock, true);
        head = c->in; /* the parsed head points into it, so the body goes on in another */
        c->in = (struct buf){0};
        buf_add(&c->in, head.p + used, head.len - used);
        h1_body_init(&x.body, x.head.content_length, x.head.chunked);
        serve_answer_and_log(&x, rc ? parser.status : serve_check(&x));
        rc = 0;
    }
    buf_fini(&x.kept);
    buf_fini(&head);
    arena_fini(&x.arena);
    return rc;
}
