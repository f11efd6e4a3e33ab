/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/error_page.h"

#include "base/err.h"
#include "http/fields.h"
#include "http/mime.h"
#include "http/negotiate.h"
#include "http/response.h"

/* Is the type in the list by its name, not just within a wildcard? */
static bool is_named(struct str accept, struct str type)
{
    struct str item = STR_NONE;

    while (field_list_next(&accept, &item)) {
        if (str_ieq(mime_essence(item), type))
            return true;
    }
    return false;
}

enum error_page_kind error_page_choose(struct str accept)
{
    unsigned html, text, json;

    if (!accept.p)
        return ERROR_PAGE_HTML;
    html = negotiate_accept_q(accept, STR("text"), STR("html"));
    text = negotiate_accept_q(accept, STR("text"), STR("plain"));
    json = negotiate_accept_q(accept, STR("application"), STR("json"));
    if (json > html && json >= text)
        return ERROR_PAGE_JSON;
    /* Script libraries ask for JSON, or anything with the same weight. */
    if (json > 0 && json == html && json >= text && is_named(accept, STR("application/json")) &&
        !is_named(accept, STR("text/html")))
        return ERROR_PAGE_JSON;
    return text > html ? ERROR_PAGE_TEXT : ERROR_PAGE_HTML;
}

struct str error_page_type(enum error_page_kind kind)
{
    static const struct str types[] = {
        [ERROR_PAGE_HTML] = STR("text/html; charset=utf-8"),
        [ERROR_PAGE_TEXT] = STR("text/plain; charset=utf-8"),
        [ERROR_PAGE_JSON] = STR("application/json; charset=utf-8"),
    };

    return types[kind];
}

static void add_html(
    struct buf *out, int status, struct str reason, struct str detail, struct str request_id)
{
    buf_printf(out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"robots\" content=\"noindex\">\n<title>%d ",
        status);
    buf_add_html(out, reason);
    buf_add_lit(out, "</title>\n<style>\nbody { font: 16px/1.5 system-ui, sans-serif; "
                     "max-width: 36em; margin: 15vh auto 0; padding: 0 1em; }\n"
                     "h1 { font-size: 1.5em; }\nsmall { color: #666; }\n"
                     "@media (prefers-color-scheme: dark) { body { background: #181818; "
                     "color: #ddd; } small { color: #999; } }\n"
                     "</style>\n</head>\n<body>\n");
    buf_printf(out, "<h1>%d ", status);
    buf_add_html(out, reason);
    buf_add_lit(out, "</h1>\n");
    if (detail.len > 0) {
        buf_add_lit(out, "<p>");
        buf_add_html(out, detail);
        buf_add_lit(out, "</p>\n");
    }
    if (request_id.len > 0) {
        buf_add_lit(out, "<p><small>Request ");
        buf_add_html(out, request_id);
        buf_add_lit(out, "</small></p>\n");
    }
    buf_add_lit(out, "</body>\n</html>\n");
}

static void add_text(
    struct buf *out, int status, struct str reason, struct str detail, struct str request_id)
{
    buf_printf(out, "%d " STR_F "\n", status, STR_A(reason));
    if (detail.len > 0) {
        buf_add_str(out, detail);
        buf_add_char(out, '\n');
    }
    if (request_id.len > 0) {
        buf_add_lit(out, "Request ");
        buf_add_str(out, request_id);
        buf_add_char(out, '\n');
    }
}

static void add_json(
    struct buf *out, int status, struct str reason, struct str detail, struct str request_id)
{
    buf_printf(out, "{\"status\":%d,\"error\":", status);
    buf_add_json(out, reason);
    if (detail.len > 0) {
        buf_add_lit(out, ",\"detail\":");
        buf_add_json(out, detail);
    }
    if (request_id.len > 0) {
        buf_add_lit(out, ",\"request_id\":");
        buf_add_json(out, request_id);
    }
    buf_add_lit(out, "}\n");
}

void error_page_write(struct buf *out, enum error_page_kind kind, int status, struct str detail,
    struct str request_id)
{
    struct str reason = response_reason(status);

    switch (kind) {
    case ERROR_PAGE_HTML:
        add_html(out, status, reason, detail, request_id);
        break;
    case ERROR_PAGE_TEXT:
        add_text(out, status, reason, detail, request_id);
        break;
    case ERROR_PAGE_JSON:
        add_json(out, status, reason, detail, request_id);
        break;
    }
}

int error_page_parse_status(struct str s, int *status)
{
    uint64_t v;

    if (str_ieq(s, STR("4xx")) || str_ieq(s, STR("5xx"))) {
        *status = s.p[0] - '0';
        return 0;
    }
    if (s.len != 3 || str_u64(s, &v) || v < 400 || v > 599)
        return ERR_INVAL;
    *status = (int)v;
    return 0;
}

const struct error_page_file *error_page_find(const struct error_page_file *v, size_t n, int status)
{
    const struct error_page_file *best = NULL;

    for (size_t i = 0; i < n; i++) {
        if (v[i].status == status)
            return &v[i];
        if (!best && v[i].status == status / 100)
            best = &v[i];
    }
    return best;
}
