/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/mem.h"
#include "core/log.h"
#include "http/conn.h"
#include "http/exchange.h"
#include "http/internal.h"
#include "platform/fs.h"
#include "platform/random.h"

enum { HANDLERS_COMPRESS_MAX = 1 << 20 /* larger files are not compressed on the fly */ };

/* --- look-ups for the router ------------------------------------------------------------------ */

static int handlers_lookup(void *arg, const char *path, struct fs_stat *out)
{
    struct http_exchange *x = arg;
    const struct file_cache_entry *e;
    int rc = file_cache_lookup(x->server->files, str_c(path), net_loop_now(x->server->loop), &e);

    if (rc == 0)
        *out = e->st;
    return rc;
}

static bool handlers_contained(void *arg, const char *path)
{
    struct http_exchange *x = arg;
    const struct file_cache_entry *e;
    struct str root = x->site.root;

    if (file_cache_lookup(x->server->files, str_c(path), net_loop_now(x->server->loop), &e))
        return false;
    if (!str_starts(e->resolved, root))
        return false;
    return root.len == 1 || e->resolved.len == root.len || e->resolved.p[root.len] == '/';
}

void http_route(struct http_exchange *x)
{
    struct router_site site = x->settings->route;
    struct router_fs fs = {handlers_lookup, handlers_contained, x};

    if (internal_find(x, x->path)) {
        x->route =
            (struct route){.kind = ROUTE_STATUS, .status = 404, .reason = "an internal path"};
        return;
    }
    site.document_root = x->site.root;
    router_route(&site, &fs, &x->arena, x->path, x->uri.query, x->uri.has_query, &x->route);
}

/* --- files ------------------------------------------------------------------------------------ */

static bool handlers_sibling(void *arg, enum coding coding, struct fs_stat *out)
{
    struct http_exchange *x = arg;

    return file_cache_sibling(
        x->server->files, x->route.file, coding, net_loop_now(x->server->loop), out);
}

static void handlers_put_file(void *arg)
{
    file_cache_put(arg);
}

static int handlers_open(struct http_exchange *x, struct str path, struct file_cache_file **f)
{
    return file_cache_open(x->server->files, path, net_loop_now(x->server->loop), f);
}

/* Queues the plan's segments. Each file part holds a reference of its own to the file that the plan
 * was made for. */
static int handlers_send_segments(
    struct http_exchange *x, const struct static_plan *plan, struct file_cache_file *f)
{
    struct stream *st = http_conn_stream(x->conn);

    for (size_t i = 0; i < plan->nsegments; i++) {
        const struct static_segment *seg = &plan->segments[i];
        int rc;

        x->body_wire += seg->mem.p ? seg->mem.len : seg->len;
        if (seg->mem.p) {
            rc = stream_write(st, &seg->mem, 1, true);
        } else {
            file_cache_ref(f);
            rc = stream_write_file(st, f->fd, seg->off, seg->len, handlers_put_file, f);
        }
        if (rc)
            return rc;
    }
    return 0;
}

static void handlers_sent(struct http_exchange *x, int rc)
{
    if (rc)
        http_conn_cut(x->conn, "sending a file failed");
    else
        http_conn_exchange_done(x->conn);
}

/* Compresses a file of bounded size, or takes what was kept from the last time. */
static int handlers_coded(struct http_exchange *x, struct file_cache_file *f, enum coding coding,
    struct buf *out, struct str *body)
{
    struct compress *enc = NULL;
    struct buf plain = {0};
    size_t got = 0;
    int rc;

    *body = file_cache_coded(f, coding);
    if (body->p)
        return 0;
    rc = fs_pread(f->fd, buf_reserve(&plain, (size_t)f->st.size + 1), (size_t)f->st.size, 0, &got);
    plain.len = got;
    if (rc == 0)
        rc = compress_open(x->server->compressors, coding, x->settings->compress.level, &enc);
    if (rc == 0)
        rc = compress_write(enc, buf_str(&plain), COMPRESS_FINISH, out);
    compress_close(enc);
    buf_fini(&plain);
    if (rc)
        return rc;
    *body = buf_str(out);
    file_cache_keep_coded(x->server->files, f, coding, *body);
    return 0;
}

static void handlers_send_coded(struct http_exchange *x, struct static_plan *plan,
    struct response_head *h, struct file_cache_file *f)
{
    struct buf coded = {0};
    struct str body;
    int rc = handlers_coded(x, f, plan->encode, &coded, &body);

    if (rc) {
        buf_fini(&coded);
        http_respond_status(x, 500, STR_NONE, STR_NONE, "static file cannot be read");
        return;
    }
    if (!plan->head)
        x->coded = f->st.size;
    rc = http_exchange_send_head(x, h, body.len, false, plan->head ? STR_NONE : body, false);
    buf_fini(&coded);
    handlers_sent(x, rc);
}

static void handlers_send_plan(
    struct http_exchange *x, struct static_plan *plan, struct file_cache_file *f)
{
    struct response_head h;
    const struct static_segment *seg = plan->segments;
    int rc;

    response_head_init(&h, plan->status, &x->arena);
    h.fields = plan->fields;
    if (plan->encode != CODING_IDENTITY) {
        handlers_send_coded(x, plan, &h, f);
        return;
    }
    if (plan->nsegments == 1 && !seg->mem.p && f->content.p &&
        seg->off + seg->len <= f->content.len) {
        rc = http_exchange_send_head(
            x, &h, plan->length, false, str_n(f->content.p + seg->off, (size_t)seg->len), false);
        handlers_sent(x, rc);
        return;
    }
    rc = http_exchange_send_head(
        x, &h, plan->length, plan->status == 304, STR_NONE, plan->nsegments > 0);
    if (rc == 0)
        rc = handlers_send_segments(x, plan, f);
    handlers_sent(x, rc);
}

/* The file that the plan wants sent: f, or its sibling of another coding (which may be gone
 * meanwhile). */
static int handlers_variant(
    struct http_exchange *x, const struct static_plan *plan, struct file_cache_file **f)
{
    struct file_cache_file *sibling;
    struct str path;
    int rc;

    if (plan->variant == CODING_IDENTITY)
        return 0;
    path = arena_printf(
        &x->arena, STR_F STR_F, STR_A(x->route.file), STR_A(coding_suffix(plan->variant)));
    rc = handlers_open(x, path, &sibling);
    if (rc == 0 && sibling->st.size != plan->length) {
        file_cache_put(sibling);
        rc = ERR_AGAIN;
    }
    if (rc)
        return rc;
    file_cache_put(*f);
    *f = sibling;
    return 0;
}

static void handlers_static(struct http_exchange *x)
{
    struct static_config cfg = x->settings->static_files;
    struct static_ask ask = {
        .method = x->head.method,
        .request = &x->head.fields,
        .path = x->route.file,
        .sibling = handlers_sibling,
        .sibling_arg = x,
    };
    struct file_cache_file *f = NULL;
    struct static_plan plan;
    int rc = handlers_open(x, x->route.file, &f);

    if (rc) {
        int status = rc == ERR_ACCESS ? 403 : rc == ERR_MFILE ? 503 : 404;

        http_respond_status(x, status, STR_NONE, STR_NONE, err_text(rc));
        return;
    }
    if (f->st.size > HANDLERS_COMPRESS_MAX)
        cfg.compress = NULL;
    if (fields_get(&x->head.fields, STR("Range")))
        ask.boundary = random_u64();
    ask.st = &f->st;
    static_plan(&cfg, &ask, &x->arena, &plan);
    if (plan.error_page) {
        const struct str *allow = fields_get(&plan.fields, STR("Allow"));
        const struct str *range = fields_get(&plan.fields, STR("Content-Range"));

        if (allow)
            http_respond_status(x, plan.status, STR("Allow"), *allow, "static file");
        else if (range)
            http_respond_status(x, plan.status, STR("Content-Range"), *range, "static file");
        else
            http_respond_status(x, plan.status, STR_NONE, STR_NONE, "static file");
    } else if (handlers_variant(x, &plan, &f)) {
        http_respond_status(x, 503, STR("Retry-After"), STR("1"), "the file changes just now");
    } else {
        handlers_send_plan(x, &plan, f);
    }
    file_cache_put(f);
}

void http_handle_route(struct http_exchange *x)
{
    if (x->uri.form == URI_ASTERISK) {
        struct str allow = STR("GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
        struct response_head h;

        response_head_init(&h, 200, &x->arena);
        fields_add(&h.fields, STR("Allow"), allow);
        if (http_exchange_send_head(x, &h, 0, false, STR_NONE, false))
            http_conn_cut(x->conn, "sending failed");
        else
            http_conn_exchange_done(x->conn);
        return;
    }
    switch (x->route.kind) {
    case ROUTE_STATIC:
        handlers_static(x);
        return;
    case ROUTE_REDIRECT:
        http_respond_status(x, x->route.status, STR("Location"), x->route.location, "directory");
        return;
    case ROUTE_STATUS:
    case ROUTE_PHP:
        http_respond_status(
            x, x->route.status, STR_NONE, STR_NONE, x->route.reason ? x->route.reason : "route");
        return;
    }
}

/* --- X-Accel-Redirect, X-Sendfile ------------------------------------------------------------- */

void http_handle_send_instead(struct http_exchange *x)
{
    struct response_head *app = &x->answer;
    struct static_config cfg = x->settings->static_files;
    struct static_ask ask = {.method = x->is_head ? STR("HEAD") : STR("GET"),
        .request = &x->head.fields,
        .st = &x->route.stat,
        .boundary = random_u64()};
    struct static_plan plan;
    struct fields merged;
    struct file_cache_file *f = NULL;
    const char *why;

    x->send_instead = false;
    why = internal_file(x, &ask.path);
    if (!why && x->head_sent)
        why = "the answer has begun";
    if (!why && handlers_open(x, ask.path, &f))
        why = "it cannot be opened";
    if (why) {
        struct str named = app->accel_redirect.p ? app->accel_redirect : app->sendfile;

        log_warn("internal_file_refused", F_STR("path", named), F_CSTR("request_id", x->id),
            F_CSTR("reason", why));
        http_respond_cut(x, 404, "X-Accel-Redirect or X-Sendfile");
        return;
    }
    cfg.compress = NULL;
    ask.st = &f->st;
    static_plan(&cfg, &ask, &x->arena, &plan);
    /* The application's fields win over the file's, but for those that say what is sent. */
    fields_init(&merged, &x->arena);
    for (size_t i = 0; i < app->fields.count; i++) {
        struct field *h = &app->fields.items[i];

        if (!str_ieq(h->name, STR("Content-Range")) && !str_ieq(h->name, STR("Accept-Ranges")))
            fields_add(&merged, h->name, h->value);
    }
    for (size_t i = 0; i < plan.fields.count; i++) {
        struct field *h = &plan.fields.items[i];
        bool multipart = str_istarts(h->value, STR("multipart/byteranges"));

        if (multipart || !fields_get(&merged, h->name))
            fields_add(&merged, h->name, h->value);
    }
    if (plan.status == 200 && app->status != 200)
        plan.status = app->status;
    plan.fields = merged;
    if (plan.error_page)
        http_respond_cut(x, plan.status, "internal file");
    else
        handlers_send_plan(x, &plan, f);
    file_cache_put(f);
}
