/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/response.h"

#include <stdio.h>

struct reason {
    int status;
    struct str text;
};

#define REASON(status, text) {status, {text, sizeof(text) - 1}}

static const struct reason reasons[] = {
    REASON(100, "Continue"),
    REASON(101, "Switching Protocols"),
    REASON(102, "Processing"),
    REASON(103, "Early Hints"),
    REASON(200, "OK"),
    REASON(201, "Created"),
    REASON(202, "Accepted"),
    REASON(203, "Non-Authoritative Information"),
    REASON(204, "No Content"),
    REASON(205, "Reset Content"),
    REASON(206, "Partial Content"),
    REASON(207, "Multi-Status"),
    REASON(208, "Already Reported"),
    REASON(226, "IM Used"),
    REASON(300, "Multiple Choices"),
    REASON(301, "Moved Permanently"),
    REASON(302, "Found"),
    REASON(303, "See Other"),
    REASON(304, "Not Modified"),
    REASON(305, "Use Proxy"),
    REASON(307, "Temporary Redirect"),
    REASON(308, "Permanent Redirect"),
    REASON(400, "Bad Request"),
    REASON(401, "Unauthorized"),
    REASON(402, "Payment Required"),
    REASON(403, "Forbidden"),
    REASON(404, "Not Found"),
    REASON(405, "Method Not Allowed"),
    REASON(406, "Not Acceptable"),
    REASON(407, "Proxy Authentication Required"),
    REASON(408, "Request Timeout"),
    REASON(409, "Conflict"),
    REASON(410, "Gone"),
    REASON(411, "Length Required"),
    REASON(412, "Precondition Failed"),
    REASON(413, "Content Too Large"),
    REASON(414, "URI Too Long"),
    REASON(415, "Unsupported Media Type"),
    REASON(416, "Range Not Satisfiable"),
    REASON(417, "Expectation Failed"),
    REASON(418, "I'm a Teapot"),
    REASON(421, "Misdirected Request"),
    REASON(422, "Unprocessable Content"),
    REASON(423, "Locked"),
    REASON(424, "Failed Dependency"),
    REASON(425, "Too Early"),
    REASON(426, "Upgrade Required"),
    REASON(428, "Precondition Required"),
    REASON(429, "Too Many Requests"),
    REASON(431, "Request Header Fields Too Large"),
    REASON(451, "Unavailable For Legal Reasons"),
    REASON(500, "Internal Server Error"),
    REASON(501, "Not Implemented"),
    REASON(502, "Bad Gateway"),
    REASON(503, "Service Unavailable"),
    REASON(504, "Gateway Timeout"),
    REASON(505, "HTTP Version Not Supported"),
    REASON(506, "Variant Also Negotiates"),
    REASON(507, "Insufficient Storage"),
    REASON(508, "Loop Detected"),
    REASON(510, "Not Extended"),
    REASON(511, "Network Authentication Required"),
};

struct str response_reason(int status)
{
    if (status == 200) /* nearly always */
        return STR("OK");
    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        if (reasons[i].status == status)
            return reasons[i].text;
    }
    return STR("Unknown");
}

bool response_forbids_body(int status)
{
    return status < 200 || status == 204 || status == 304;
}

/* What a field name means to response_check(). */
enum meaning {
    M_PLAIN,
    M_HOP,
    M_LENGTH,
    M_TYPE,
    M_STATUS,
    M_REDIRECT,
    M_SENDFILE,
    M_BUFFERING,
    M_CHARSET,
    M_EXPIRES,
    M_LIMIT_RATE,
};

static const struct {
    struct str name;
    enum meaning meaning;
} meanings[] = {
    {{"connection", 10}, M_HOP},
    {{"content-length", 14}, M_LENGTH},
    {{"content-type", 12}, M_TYPE},
    {{"keep-alive", 10}, M_HOP},
    {{"proxy-connection", 16}, M_HOP},
    {{"status", 6}, M_STATUS},
    {{"te", 2}, M_HOP},
    {{"trailer", 7}, M_HOP},
    {{"transfer-encoding", 17}, M_HOP},
    {{"upgrade", 7}, M_HOP},
    {{"x-accel-buffering", 17}, M_BUFFERING},
    {{"x-accel-charset", 15}, M_CHARSET},
    {{"x-accel-expires", 15}, M_EXPIRES},
    {{"x-accel-limit-rate", 18}, M_LIMIT_RATE},
    {{"x-accel-redirect", 16}, M_REDIRECT},
    {{"x-sendfile", 10}, M_SENDFILE},
};

static enum meaning meaning_of(struct str name)
{
    char first = str_lower_char(name.p[0]);

    for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
        struct str m = meanings[i].name;

        if (m.len == name.len && m.p[0] == first && str_ieq(m, name))
            return meanings[i].meaning;
    }
    return M_PLAIN;
}

bool response_is_hop_by_hop(struct str name)
{
    return name.len > 0 && meaning_of(name) == M_HOP;
}

const char *response_drop_name(enum response_drop why)
{
    switch (why) {
    case RESPONSE_DROP_NAME:
        return "bad_name";
    case RESPONSE_DROP_VALUE:
        return "bad_value";
    case RESPONSE_DROP_HOP:
        return "hop_by_hop";
    case RESPONSE_DROP_LENGTH:
        return "bad_content_length";
    case RESPONSE_DROP_STATUS:
        return "bad_status";
    case RESPONSE_DROP_STATUS_LINE:
        return "bad_status_line";
    }
    return "unknown";
}

/* The state of one response_check(). */
struct check {
    struct response_head *out;
    response_drop_cb *on_drop;
    void *arg;
    bool length_bad;
    bool info;
};

static void drop(struct check *c, enum response_drop why, struct str name, struct str value)
{
    if (c->on_drop)
        c->on_drop(c->arg, why, name, value);
}

static struct str trim_value(struct str v)
{
    while (v.len > 0 && (v.p[0] == ' ' || v.p[0] == '\t'))
        v = str_n(v.p + 1, v.len - 1);
    while (v.len > 0 && (v.p[v.len - 1] == ' ' || v.p[v.len - 1] == '\t'))
        v.len--;
    return v;
}

static void take_length(struct check *c, struct str name, struct str value)
{
    uint64_t n;

    if (str_u64(value, &n) || n > INT64_MAX ||
        (c->out->content_length >= 0 && (uint64_t)c->out->content_length != n)) {
        c->length_bad = true;
        drop(c, RESPONSE_DROP_LENGTH, name, value);
        return;
    }
    c->out->content_length = (int64_t)n;
}

/* "404 Not Found" or "404". */
static void take_status(struct check *c, struct str name, struct str value)
{
    uint64_t n;

    if (value.len < 3 || (value.len > 3 && value.p[3] != ' ') ||
        str_u64(str_sub(value, 0, 3), &n) || n < 200 || n > 599 || c->info) {
        drop(c, RESPONSE_DROP_STATUS_LINE, name, value);
        return;
    }
    c->out->status = (int)n;
    c->out->reason = trim_value(str_sub(value, 3, value.len));
}

static void take_buffering(struct response_head *h, struct str value)
{
    if (str_ieq(value, STR("no")))
        h->buffering = RESPONSE_BUFFERING_OFF;
    else if (str_ieq(value, STR("yes")))
        h->buffering = RESPONSE_BUFFERING_ON;
}

static void take_field(struct check *c, struct str name, struct str value)
{
    struct response_head *h = c->out;

    if (!field_is_token(name)) {
        drop(c, RESPONSE_DROP_NAME, name, value);
        return;
    }
    value = trim_value(value);
    if (field_value_is_bad(value)) {
        drop(c, RESPONSE_DROP_VALUE, name, value);
        return;
    }
    switch (meaning_of(name)) {
    case M_HOP:
        drop(c, RESPONSE_DROP_HOP, name, value);
        break;
    case M_LENGTH:
        take_length(c, name, value);
        break;
    case M_STATUS:
        take_status(c, name, value);
        break;
    case M_REDIRECT:
        h->accel_redirect = value;
        break;
    case M_SENDFILE:
        h->sendfile = value;
        break;
    case M_BUFFERING:
        take_buffering(h, value);
        break;
    case M_CHARSET:
        h->accel_charset = value;
        break;
    case M_EXPIRES:
        h->accel_expires = value;
        break;
    case M_LIMIT_RATE:
        h->accel_limit_rate = value;
        break;
    case M_TYPE: /* the last one counts, as with nginx */
        response_fields_remove(&h->fields, name);
        if (value.len > 0)
            fields_add(&h->fields, name, value);
        break;
    case M_PLAIN:
        fields_add(&h->fields, name, value);
        break;
    }
}

void response_head_init(struct response_head *h, int status, struct arena *a)
{
    *h = (struct response_head){.status = status, .content_length = -1};
    h->reason = response_reason(status);
    h->no_body = response_forbids_body(status);
    fields_init(&h->fields, a);
}

static void check_status(struct check *c, const struct response_raw *raw)
{
    char text[16];
    int n;

    if (c->info || (raw->status >= 200 && raw->status <= 599))
        return;
    n = snprintf(text, sizeof(text), "%d", raw->status);
    drop(c, RESPONSE_DROP_STATUS, STR_NONE, str_n(text, (size_t)n));
    c->out->status = 500;
    c->out->reason = STR_NONE;
}

static void check_fields(struct check *c, const struct response_raw *raw, struct arena *a)
{
    struct response_head *out = c->out;

    *out = (struct response_head){
        .status = raw->status, .reason = trim_value(raw->reason), .content_length = -1};
    fields_init(&out->fields, a);
    fields_reserve(&out->fields, raw->fields->count);
    check_status(c, raw);
    for (size_t i = 0; i < raw->fields->count; i++)
        take_field(c, raw->fields->items[i].name, raw->fields->items[i].value);
    if (out->reason.len == 0 || field_value_is_bad(out->reason))
        out->reason = response_reason(out->status);
    out->no_body = response_forbids_body(out->status);
    if (c->length_bad || out->no_body)
        out->content_length = -1;
}

void response_check(const struct response_raw *raw, struct arena *a, response_drop_cb *on_drop,
    void *arg, struct response_head *out)
{
    struct check c = {.out = out, .on_drop = on_drop, .arg = arg};

    check_fields(&c, raw, a);
    if (out->status == 304)
        response_fields_remove(&out->fields, STR("Content-Type"));
}

int response_check_info(const struct response_raw *raw, struct arena *a, response_drop_cb *on_drop,
    void *arg, struct response_head *out)
{
    struct check c = {.out = out, .on_drop = on_drop, .arg = arg, .info = true};

    if (raw->status < 102 || raw->status > 199)
        return ERR_INVAL;
    check_fields(&c, raw, a);
    return 0;
}

size_t response_fields_remove(struct fields *f, struct str name)
{
    size_t kept = 0, removed;

    for (size_t i = 0; i < f->count; i++) {
        if (!str_ieq(f->items[i].name, name))
            f->items[kept++] = f->items[i];
    }
    removed = f->count - kept;
    f->count = kept;
    return removed;
}

void response_fields_set(struct fields *f, struct str name, struct str value)
{
    size_t kept = 0;
    bool found = false;

    for (size_t i = 0; i < f->count; i++) {
        if (str_ieq(f->items[i].name, name)) {
            if (found)
                continue;
            found = true;
            f->items[i].value = value;
        }
        f->items[kept++] = f->items[i];
    }
    f->count = kept;
    if (!found)
        fields_add(f, name, value);
}

void response_apply_custom(struct fields *f, const struct fields *custom)
{
    /* First everything that is replaced goes, so that several configured fields of one name stay.
     */
    for (size_t i = 0; i < custom->count; i++) {
        if (!str_ieq(custom->items[i].name, STR("Set-Cookie")))
            response_fields_remove(f, custom->items[i].name);
    }
    for (size_t i = 0; i < custom->count; i++)
        fields_add(f, custom->items[i].name, custom->items[i].value);
}

static bool is_replaced(const struct fields *custom, struct str name)
{
    return custom && fields_get(custom, name) && !str_ieq(name, STR("Set-Cookie"));
}

static char *put(char *p, struct str s)
{
    if (s.len > 0)
        memcpy(p, s.p, s.len);
    return p + s.len;
}

#define PUT_LIT(p, lit) put((p), STR(lit))

static char *put_field(char *p, struct str name, struct str value)
{
    p = put(p, name);
    p = PUT_LIT(p, ": ");
    p = put(p, value);
    return PUT_LIT(p, "\r\n");
}

static char *put_u64(char *p, uint64_t v)
{
    char digits[20];
    size_t n = 0;

    do {
        digits[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v > 0);
    while (n > 0)
        *p++ = digits[--n];
    return p;
}

static size_t fields_bytes(const struct fields *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->count; i++)
        n += f->items[i].name.len + f->items[i].value.len + 4;
    return n;
}

/* Which of the fields that the server adds are there already. */
struct seen {
    bool date;
    bool server;
};

static char *put_fields(
    char *p, const struct fields *f, const struct fields *skip, bool no_type, struct seen *seen)
{
    for (size_t i = 0; i < f->count; i++) {
        struct str name = f->items[i].name;

        if (is_replaced(skip, name) || (no_type && str_ieq(name, STR("Content-Type"))))
            continue;
        if (name.len == 4 && str_ieq(name, STR("Date")))
            seen->date = true;
        else if (name.len == 6 && str_ieq(name, STR("Server")))
            seen->server = true;
        p = put_field(p, name, f->items[i].value);
    }
    return p;
}

static char *put_connection(char *p, enum response_connection c)
{
    switch (c) {
    case RESPONSE_CONN_NONE:
        break;
    case RESPONSE_CONN_KEEP_ALIVE:
        return PUT_LIT(p, "Connection: keep-alive\r\n");
    case RESPONSE_CONN_CLOSE:
        return PUT_LIT(p, "Connection: close\r\n");
    case RESPONSE_CONN_UPGRADE:
        return PUT_LIT(p, "Connection: Upgrade\r\n");
    }
    return p;
}

static char *put_framing(char *p, int status, const struct response_send *send)
{
    if (response_forbids_body(status) || send->framing == RESPONSE_NONE)
        return p;
    if (send->framing == RESPONSE_CHUNKED)
        return PUT_LIT(p, "Transfer-Encoding: chunked\r\n");
    p = PUT_LIT(p, "Content-Length: ");
    p = put_u64(p, send->length);
    return PUT_LIT(p, "\r\n");
}

void response_write_head(
    struct buf *out, const struct response_head *h, const struct response_send *send)
{
    const struct fields *custom = h->status >= 200 ? send->custom : NULL;
    struct seen seen = {false, false};
    size_t bytes = 192 + h->reason.len + send->date.len + send->server.len +
                   fields_bytes(&h->fields) + (custom ? fields_bytes(custom) : 0);
    char *start = buf_reserve(out, bytes), *p = start;

    p = PUT_LIT(p, "HTTP/1.1 ");
    p = put_u64(p, (uint64_t)h->status);
    *p++ = ' ';
    p = put(p, h->reason);
    p = PUT_LIT(p, "\r\n");
    p = put_fields(p, &h->fields, custom, h->status == 304, &seen);
    if (custom)
        p = put_fields(p, custom, NULL, false, &seen);
    /* Interim answers carry no Date or Server: they are not the answer. */
    if (!seen.date && send->date.len > 0 && h->status >= 200)
        p = put_field(p, STR("Date"), send->date);
    if (!seen.server && send->server.len > 0 && h->status >= 200)
        p = put_field(p, STR("Server"), send->server);
    p = put_connection(p, send->connection);
    p = put_framing(p, h->status, send);
    p = PUT_LIT(p, "\r\n");
    out->len += (size_t)(p - start);
}
