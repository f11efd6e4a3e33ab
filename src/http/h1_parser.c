/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/h1_parser.h"

#include <llhttp.h>

void h1_parser_init(struct h1_parser *p, const struct h1_limits *limits, struct arena *arena)
{
    p->limits = *limits;
    if (p->limits.fields > H1_FIELDS_MAX)
        p->limits.fields = H1_FIELDS_MAX;
    /* Offsets are 32 bits wide. */
    if (p->limits.head_bytes > INT32_MAX)
        p->limits.head_bytes = INT32_MAX;
    h1_parser_reset(p, arena);
}

void h1_parser_reset(struct h1_parser *p, struct arena *arena)
{
    p->status = 0;
    p->reason = NULL;
    p->arena = arena;
    p->start = p->scanned = p->line_count = 0;
}

static int refuse(struct h1_parser *p, int status, const char *reason)
{
    p->status = status;
    p->reason = reason;
    return ERR_PROTO;
}

/* One empty line in front, and a first look at what can be no request (TLS to a plain port). */
static int scan_start(struct h1_parser *p, const char *data, size_t len)
{
    size_t start = 0;

    if (len == 0)
        return ERR_AGAIN;
    if (data[0] == '\r') {
        if (len > 1 && data[1] != '\n')
            return refuse(p, 400, "CR without LF before the request line");
        if (len < 3)
            return ERR_AGAIN;
        start = 2;
    }
    if (!field_is_tchar(data[start]))
        return refuse(p, 400, "request line does not start with a method");
    p->start = p->scanned = start;
    return 0;
}

/*
 * Notes where each line ends, up to the empty one.  Starts where the last call stopped, so that a
 * head that comes byte by byte is searched once.
 */
static int scan_lines(struct h1_parser *p, const char *data, size_t len, size_t *head_end)
{
    size_t line = p->line_count > 0 ? p->line_end[p->line_count - 1] : p->start;
    size_t limit = p->start + p->limits.head_bytes;
    size_t end = MIN(len, limit);

    for (;;) {
        const char *nl =
            end > p->scanned ? memchr(data + p->scanned, '\n', end - p->scanned) : NULL;
        size_t at;

        if (!nl) {
            p->scanned = MAX(end, p->scanned);
            if (len < limit)
                return ERR_AGAIN;
            return p->line_count == 0 ? refuse(p, 414, "request line is too long")
                                      : refuse(p, 431, "request head is too large");
        }
        at = (size_t)(nl - data);
        if (at == line || data[at - 1] != '\r')
            return refuse(p, 400, "LF without CR in the request head");
        p->scanned = at + 1;
        if (at - 1 == line) {
            *head_end = at + 1;
            return 0;
        }
        if (p->line_count > p->limits.fields)
            return refuse(p, 431, "request has too many fields");
        p->line_end[p->line_count++] = (uint32_t)(at + 1);
        line = at + 1;
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int parse_version(struct h1_parser *p, struct str v, struct h1_head *h)
{
    if (v.len != 8 || memcmp(v.p, "HTTP/", 5) != 0 || !is_digit(v.p[5]) || v.p[6] != '.' ||
        !is_digit(v.p[7]))
        return refuse(p, 400, "request line is malformed");
    if (v.p[5] != '1' || v.p[7] > '1')
        return refuse(p, 505, "HTTP version is not 1.0 or 1.1");
    h->minor = v.p[7] - '0';
    return 0;
}

static int parse_request_line(struct h1_parser *p, struct str line, struct h1_head *h)
{
    ptrdiff_t space = str_chr(line, ' ');
    struct str rest;

    if (space < 0)
        return refuse(p, 400, "request line is malformed");
    h->method = str_n(line.p, (size_t)space);
    if (!field_is_token(h->method))
        return refuse(p, 400, "method is not a token");
    rest = str_n(line.p + space + 1, line.len - (size_t)space - 1);
    space = str_chr(rest, ' ');
    if (space < 0 && rest.len > p->limits.uri_bytes)
        return refuse(p, 414, "request target is too long");
    if (space <= 0)
        return refuse(p, 400, "request line is malformed");
    h->target = str_n(rest.p, (size_t)space);
    if (h->target.len > p->limits.uri_bytes)
        return refuse(p, 414, "request target is too long");
    if (field_value_is_bad(h->target) || memchr(h->target.p, '\t', h->target.len))
        return refuse(p, 400, "control character in the request target");
    return parse_version(p, str_n(rest.p + space + 1, rest.len - (size_t)space - 1), h);
}

/* What the guard learns from single fields and needs for the whole. */
struct seen {
    size_t hosts;
    size_t transfer_encodings;
    bool content_type;
    bool authorization;
    bool expect_continue;
    bool upgrade;
    bool close;
    bool keep_alive;
    bool connection_upgrade;
};

static int on_content_length(struct h1_parser *p, struct str value, struct h1_head *h)
{
    uint64_t n = 0;

    if (h->content_length >= 0)
        return refuse(p, 400, "several Content-Length fields");
    if (str_u64(value, &n) != 0 || n > INT64_MAX)
        return refuse(p, 400, "Content-Length is not a number");
    h->content_length = (int64_t)n;
    return 0;
}

static void on_connection(struct str value, struct seen *seen)
{
    struct str token;

    while (field_list_next(&value, &token)) {
        if (str_ieq(token, STR("close")))
            seen->close = true;
        else if (str_ieq(token, STR("keep-alive")))
            seen->keep_alive = true;
        else if (str_ieq(token, STR("upgrade")))
            seen->connection_upgrade = true;
    }
}

/* True when it was seen before. */
static bool set_seen(bool *flag)
{
    bool was = *flag;

    *flag = true;
    return was;
}

/* Fields that say something about framing, or that no sound client repeats. */
static int check_field(
    struct h1_parser *p, const struct field *f, struct h1_head *h, struct seen *seen)
{
    struct str n = f->name, v = f->value;

    /* The length first: most names match none of these. */
    switch (n.len) {
    case 4:
        if (str_ieq(n, STR("host"))) {
            seen->hosts++;
            h->host = v;
        }
        break;
    case 6:
        if (str_ieq(n, STR("expect")) && str_ieq(v, STR("100-continue")))
            seen->expect_continue = true;
        break;
    case 7:
        if (str_ieq(n, STR("upgrade")))
            seen->upgrade = true;
        break;
    case 10:
        if (str_ieq(n, STR("connection")))
            on_connection(v, seen);
        break;
    case 12:
        if (str_ieq(n, STR("content-type")) && set_seen(&seen->content_type))
            return refuse(p, 400, "several Content-Type fields");
        break;
    case 13:
        if (str_ieq(n, STR("authorization")) && set_seen(&seen->authorization))
            return refuse(p, 400, "several Authorization fields");
        break;
    case 14:
        if (str_ieq(n, STR("content-length")))
            return on_content_length(p, v, h);
        break;
    case 17:
        if (str_ieq(n, STR("transfer-encoding"))) {
            seen->transfer_encodings++;
            h->chunked = str_ieq(v, STR("chunked"));
        }
        break;
    default:
        break;
    }
    return 0;
}

static struct str trim_ows(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return str_n(p, (size_t)(end - p));
}

/* line is without its CRLF, and not empty. */
static int parse_field(struct h1_parser *p, struct str line, struct field *f)
{
    const char *colon = memchr(line.p, ':', line.len);

    if (line.p[0] == ' ' || line.p[0] == '\t')
        return refuse(p, 400, "folded header line");
    if (!colon)
        return refuse(p, 400, "header line without a colon");
    f->name = str_n(line.p, (size_t)(colon - line.p));
    /* A space before the colon is no tchar either. */
    if (!field_is_token(f->name))
        return refuse(p, 400, "field name is not a token");
    f->value = trim_ows(colon + 1, line.p + line.len);
    if (field_value_is_bad(f->value))
        return refuse(p, 400, "control character in a field value");
    return 0;
}

static int check_whole(struct h1_parser *p, struct h1_head *h, const struct seen *seen)
{
    if (seen->hosts > 1)
        return refuse(p, 400, "several Host fields");
    if (seen->hosts == 0 && h->minor > 0)
        return refuse(p, 400, "Host is missing");
    if (seen->transfer_encodings > 0) {
        if (h->content_length >= 0)
            return refuse(p, 400, "both Content-Length and Transfer-Encoding");
        if (seen->transfer_encodings > 1 || !h->chunked)
            return refuse(p, 400, "Transfer-Encoding is not chunked");
        if (h->minor == 0)
            return refuse(p, 400, "Transfer-Encoding with HTTP/1.0");
    }
    h->has_host = seen->hosts == 1;
    h->keep_alive = !seen->close && (h->minor > 0 || seen->keep_alive);
    h->upgrade = seen->upgrade && seen->connection_upgrade && h->minor > 0;
    h->expect_continue =
        seen->expect_continue && h->minor > 0 && (h->chunked || h->content_length > 0);
    return 0;
}

static int parse_fields(struct h1_parser *p, const char *data, struct h1_head *h)
{
    struct seen seen = {0};

    fields_reserve(&h->fields, p->line_count - 1);
    for (size_t i = 1; i < p->line_count; i++) {
        const char *line = data + p->line_end[i - 1];
        struct field f;

        if (parse_field(p, str_n(line, (size_t)(data + p->line_end[i] - 2 - line)), &f) != 0 ||
            check_field(p, &f, h, &seen) != 0)
            return ERR_PROTO;
        fields_add(&h->fields, f.name, f.value);
    }
    return check_whole(p, h, &seen);
}

static int pause_at_end(llhttp_t *l)
{
    return HPE_PAUSED;
}

/*
 * The second opinion.  llhttp gets a request line that it knows and the fields as they came, and
 * must find their end where we found it and the same length of the body.
 */
static int check_llhttp(
    struct h1_parser *p, const char *fields, size_t len, const struct h1_head *h)
{
    static const llhttp_settings_t settings = {.on_headers_complete = pause_at_end};
    static const struct str lines[] = {{"GET / HTTP/1.0\r\n", 16}, {"GET / HTTP/1.1\r\n", 16}};
    struct str line = lines[h->minor];
    bool chunked, has_length;
    const char *pos;
    llhttp_t l;

    llhttp_init(&l, HTTP_REQUEST, &settings);
    if (llhttp_execute(&l, line.p, line.len) != HPE_OK ||
        llhttp_execute(&l, fields, len) != HPE_PAUSED)
        return refuse(p, 400, "request head is malformed");
    pos = llhttp_get_error_pos(&l);
    chunked = (l.flags & F_CHUNKED) != 0;
    has_length = (l.flags & F_CONTENT_LENGTH) != 0;
    if (pos < fields + len - 1 || pos > fields + len || chunked != h->chunked ||
        has_length != (h->content_length >= 0) ||
        (has_length && l.content_length != (uint64_t)h->content_length))
        return refuse(p, 400, "length of the request body is ambiguous");
    return 0;
}

int h1_parse_head(
    struct h1_parser *p, const char *data, size_t len, struct h1_head *out, size_t *consumed)
{
    struct h1_head h = {.content_length = -1};
    size_t end = 0;
    int rc;

    if (p->scanned == 0 && (rc = scan_start(p, data, len)) != 0)
        return rc;
    if ((rc = scan_lines(p, data, len, &end)) != 0)
        return rc;
    if (p->line_count == 0)
        return refuse(p, 400, "request line is missing");
    fields_init(&h.fields, p->arena);
    if ((rc = parse_request_line(p, str_n(data + p->start, p->line_end[0] - 2 - p->start), &h)) !=
        0)
        return rc;
    if ((rc = parse_fields(p, data, &h)) != 0)
        return rc;
    if ((rc = check_llhttp(p, data + p->line_end[0], end - p->line_end[0], &h)) != 0)
        return rc;
    /* What follows a request without a body is the next one, which does not start with a lone CR.
     */
    if (!h.chunked && h.content_length <= 0 && len - end > 1 && data[end] == '\r' &&
        data[end + 1] != '\n')
        return refuse(p, 400, "CR without LF after the request head");
    *out = h;
    *consumed = end;
    return 0;
}
