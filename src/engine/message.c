/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/message.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"

/* Tags of items. Members are their place in member_offsets[] plus one. */
#define TAG_REASON 1
#define TAG_NAME   254
#define TAG_VALUE  255

#define ITEM_HEADER 4u
#define ITEM_EXTRA  (ITEM_HEADER + 1u) /* and the NUL */

enum request_flags {
    FLAG_HTTPS = 1,
    FLAG_HEAD_ONLY = 2,
    FLAG_BODY_STREAMING = 4,
    FLAG_BODY_FD = 8,
    FLAG_MEASURED = 16,
    FLAGS_ALL = 31
};

struct message_request_fixed {
    int64_t content_length;
    double time;
    uint32_t timeout_ms;
    uint32_t flags;
    uint32_t nheaders;
    uint32_t nenv;
};
static_assert(sizeof(struct message_request_fixed) == 32, "layout");

struct message_head_fixed {
    int32_t status;
    uint32_t nfields;
};
static_assert(sizeof(struct message_head_fixed) == 8, "layout");

struct message_done_fixed {
    uint64_t memory_peak;
    uint64_t resident;
    uint64_t php_us;
    uint64_t session_wait_us;
    uint64_t cpu_ns;
    int32_t status;
    uint16_t sessions;
    uint16_t sessions_taken_over;
    uint16_t sessions_not_written;
    uint8_t end;
    uint8_t replace;
    uint8_t client_gone;
    uint8_t zero[3];
};
static_assert(sizeof(struct message_done_fixed) == 56, "layout");

struct message_ready_fixed {
    uint32_t pid;
    uint8_t opcache;
    uint8_t jit;
    uint8_t zero[2];
    char php_version[32];
};
static_assert(sizeof(struct message_ready_fixed) == 40, "layout");

/* The order is part of the layout. */
#define M(name) offsetof(struct message_request, name)
static const uint16_t member_offsets[] = {M(method), M(uri), M(query), M(script_filename),
    M(script_name), M(path_info), M(document_root), M(document_uri), M(protocol), M(scheme),
    M(server_name), M(server_addr), M(server_port), M(remote_addr), M(remote_port),
    M(server_software), M(content_type), M(cookie), M(authorization), M(request_id), M(path)};
#undef M
static_assert(ARRAY_LEN(member_offsets) < TAG_NAME, "tags");
#define REQUIRED_MEMBERS 4 /* the first ones: method, uri, query, script_filename */

static const struct str *member_get(const struct message_request *req, size_t i)
{
    return (const struct str *)(const void *)((const char *)req + member_offsets[i]);
}

static void member_set(struct message_request *req, size_t i, struct str s)
{
    *(struct str *)(void *)((char *)req + member_offsets[i]) = s;
}

/* ---- encoding ---- */

/* Adds an item's size to *total. False when the string is too long. The total cannot overflow:
 * strings and counts are bounded. */
static bool item_size(struct str s, size_t *total)
{
    *total += ITEM_EXTRA + s.len;
    return s.len <= MESSAGE_MAX_STRING;
}

static int fields_size(const struct message_field *f, size_t n, size_t *total)
{
    for (size_t i = 0; i < n; i++) {
        if (f[i].name.len == 0)
            return ERR_INVAL;
        if (!item_size(f[i].name, total) || !item_size(f[i].value, total))
            return ERR_TOOBIG;
    }
    return 0;
}

static char *put_item(char *p, uint32_t tag, struct str s)
{
    uint32_t word = tag | (uint32_t)s.len << 8;

    memcpy(p, &word, sizeof(word));
    p += sizeof(word);
    if (s.len > 0)
        memcpy(p, s.p, s.len);
    p[s.len] = '\0';
    return p + s.len + 1;
}

static char *put_fields(char *p, const struct message_field *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        p = put_item(p, TAG_NAME, f[i].name);
        p = put_item(p, TAG_VALUE, f[i].value);
    }
    return p;
}

int message_request_encode(const struct message_request *req, struct buf *out)
{
    struct message_request_fixed fixed = {
        .content_length = req->content_length,
        .time = req->time,
        .timeout_ms = req->request_timeout_ms,
        .flags = (req->https ? FLAG_HTTPS : 0u) | (req->head_only ? FLAG_HEAD_ONLY : 0u) |
                 (req->body_streaming ? FLAG_BODY_STREAMING : 0u) |
                 (req->body_fd ? FLAG_BODY_FD : 0u) | (req->measured ? FLAG_MEASURED : 0u),
        .nheaders = (uint32_t)req->nheaders,
        .nenv = (uint32_t)req->nenv,
    };
    size_t total = sizeof(fixed);
    char *p;
    int r;

    if (req->nheaders > MESSAGE_MAX_FIELDS || req->nenv > MESSAGE_MAX_ENV)
        return ERR_TOOBIG;
    for (size_t i = 0; i < ARRAY_LEN(member_offsets); i++) {
        const struct str *s = member_get(req, i);

        if (!s->p && i < REQUIRED_MEMBERS)
            return ERR_INVAL;
        if (s->p && !item_size(*s, &total))
            return ERR_TOOBIG;
    }
    r = fields_size(req->headers, req->nheaders, &total);
    if (r == 0)
        r = fields_size(req->env, req->nenv, &total);
    if (r < 0)
        return r;
    p = buf_reserve(out, total);
    memcpy(p, &fixed, sizeof(fixed));
    p += sizeof(fixed);
    for (size_t i = 0; i < ARRAY_LEN(member_offsets); i++) {
        const struct str *s = member_get(req, i);

        if (s->p)
            p = put_item(p, (uint32_t)i + 1, *s);
    }
    p = put_fields(p, req->headers, req->nheaders);
    p = put_fields(p, req->env, req->nenv);
    out->len += total;
    assert(p == out->p + out->len);
    return 0;
}

int message_head_encode(const struct message_head *head, struct buf *out)
{
    struct message_head_fixed fixed = {head->status, (uint32_t)head->nfields};
    size_t total = sizeof(fixed);
    char *p;
    int r;

    if (head->nfields > MESSAGE_MAX_FIELDS)
        return ERR_TOOBIG;
    if (head->reason.p && !item_size(head->reason, &total))
        return ERR_TOOBIG;
    r = fields_size(head->fields, head->nfields, &total);
    if (r < 0)
        return r;
    if (total > MESSAGE_MAX_HEAD_BYTES)
        return ERR_TOOBIG;
    p = buf_reserve(out, total);
    memcpy(p, &fixed, sizeof(fixed));
    p += sizeof(fixed);
    if (head->reason.p)
        p = put_item(p, TAG_REASON, head->reason);
    p = put_fields(p, head->fields, head->nfields);
    out->len += total;
    assert(p == out->p + out->len);
    return 0;
}

void message_done_encode(const struct message_done *done, struct buf *out)
{
    struct message_done_fixed fixed = {
        .memory_peak = done->memory_peak,
        .resident = done->resident,
        .php_us = done->php_us,
        .session_wait_us = done->session_wait_us,
        .cpu_ns = done->cpu_ns,
        .status = done->status,
        .sessions = done->sessions,
        .sessions_taken_over = done->sessions_taken_over,
        .sessions_not_written = done->sessions_not_written,
        .end = (uint8_t)done->end,
        .replace = (uint8_t)done->replace,
        .client_gone = done->client_gone,
    };

    buf_add(out, &fixed, sizeof(fixed));
}

void message_ready_encode(const struct message_ready *ready, struct buf *out)
{
    struct message_ready_fixed fixed = {
        .pid = ready->pid,
        .opcache = ready->opcache,
        .jit = ready->jit,
    };

    memcpy(fixed.php_version, ready->php_version,
        strnlen(ready->php_version, sizeof(fixed.php_version) - 1));
    buf_add(out, &fixed, sizeof(fixed));
}

/* ---- decoding ---- */

struct reader {
    const char *p;
    const char *end;
};

static bool get_fixed(struct reader *r, void *out, size_t n)
{
    if ((size_t)(r->end - r->p) < n)
        return false;
    memcpy(out, r->p, n);
    r->p += n;
    return true;
}

/* The next item's tag, or 0 at the end. */
static uint32_t peek_tag(const struct reader *r)
{
    uint32_t word;

    if ((size_t)(r->end - r->p) < ITEM_EXTRA)
        return 0;
    memcpy(&word, r->p, sizeof(word));
    return word & 0xff;
}

/* An item with the given tag. Its length must fit and be followed by a NUL. */
static bool get_item(struct reader *r, uint32_t tag, struct str *out)
{
    size_t left = (size_t)(r->end - r->p), len;
    uint32_t word;

    if (left < ITEM_EXTRA)
        return false;
    memcpy(&word, r->p, sizeof(word));
    len = word >> 8;
    if ((word & 0xff) != tag || len > left - ITEM_EXTRA || r->p[ITEM_HEADER + len] != '\0')
        return false;
    *out = str_n(r->p + ITEM_HEADER, len);
    r->p += ITEM_EXTRA + len;
    return true;
}

/* n name and value items. The allocation is bounded by the limit and by what such items take at
 * least. */
static bool get_fields(
    struct reader *r, size_t n, size_t limit, struct arena *a, const struct message_field **out)
{
    struct message_field *f = NULL;

    if (n > limit || n > (size_t)(r->end - r->p) / (2 * ITEM_EXTRA))
        return false;
    if (n > 0)
        f = arena_new(a, n * sizeof(*f));
    for (size_t i = 0; i < n; i++)
        if (!get_item(r, TAG_NAME, &f[i].name) || f[i].name.len == 0 ||
            !get_item(r, TAG_VALUE, &f[i].value))
            return false;
    *out = f;
    return true;
}

int message_request_decode(const char *p, size_t n, struct arena *a, struct message_request *out)
{
    struct reader r = {p, p + n};
    struct message_request_fixed fixed;
    struct message_request req = {0};

    if (!get_fixed(&r, &fixed, sizeof(fixed)) || (fixed.flags & ~(uint32_t)FLAGS_ALL) != 0 ||
        fixed.content_length < -1)
        return ERR_CORRUPT;
    for (size_t i = 0; i < ARRAY_LEN(member_offsets); i++) {
        struct str s;

        if (i >= REQUIRED_MEMBERS && peek_tag(&r) != i + 1)
            continue;
        if (!get_item(&r, (uint32_t)i + 1, &s))
            return ERR_CORRUPT;
        member_set(&req, i, s);
    }
    if (!get_fields(&r, fixed.nheaders, MESSAGE_MAX_FIELDS, a, &req.headers) ||
        !get_fields(&r, fixed.nenv, MESSAGE_MAX_ENV, a, &req.env) || r.p != r.end)
        return ERR_CORRUPT;
    req.nheaders = fixed.nheaders;
    req.nenv = fixed.nenv;
    req.content_length = fixed.content_length;
    req.time = fixed.time;
    req.request_timeout_ms = fixed.timeout_ms;
    req.https = (fixed.flags & FLAG_HTTPS) != 0;
    req.head_only = (fixed.flags & FLAG_HEAD_ONLY) != 0;
    req.body_streaming = (fixed.flags & FLAG_BODY_STREAMING) != 0;
    req.body_fd = (fixed.flags & FLAG_BODY_FD) != 0;
    req.measured = (fixed.flags & FLAG_MEASURED) != 0;
    *out = req;
    return 0;
}

int message_head_decode(const char *p, size_t n, struct arena *a, struct message_head *out)
{
    struct reader r = {p, p + n};
    struct message_head_fixed fixed;
    struct message_head head = {0};

    if (n > MESSAGE_MAX_HEAD_BYTES || !get_fixed(&r, &fixed, sizeof(fixed)))
        return ERR_CORRUPT;
    if (peek_tag(&r) == TAG_REASON && !get_item(&r, TAG_REASON, &head.reason))
        return ERR_CORRUPT;
    if (!get_fields(&r, fixed.nfields, MESSAGE_MAX_FIELDS, a, &head.fields) || r.p != r.end)
        return ERR_CORRUPT;
    head.status = fixed.status;
    head.nfields = fixed.nfields;
    *out = head;
    return 0;
}

int message_done_decode(const char *p, size_t n, struct message_done *out)
{
    struct message_done_fixed fixed;

    if (n != sizeof(fixed))
        return ERR_CORRUPT;
    memcpy(&fixed, p, sizeof(fixed));
    if (fixed.end >= MESSAGE_END_COUNT || fixed.replace >= MESSAGE_REPLACE_COUNT ||
        fixed.client_gone > 1 || fixed.zero[0] || fixed.zero[1] || fixed.zero[2])
        return ERR_CORRUPT;
    *out = (struct message_done){
        .end = (enum message_end)fixed.end,
        .status = fixed.status,
        .memory_peak = fixed.memory_peak,
        .resident = fixed.resident,
        .php_us = fixed.php_us,
        .replace = (enum message_replace)fixed.replace,
        .client_gone = fixed.client_gone != 0,
        .sessions = fixed.sessions,
        .sessions_taken_over = fixed.sessions_taken_over,
        .sessions_not_written = fixed.sessions_not_written,
        .session_wait_us = fixed.session_wait_us,
        .cpu_ns = fixed.cpu_ns,
    };
    return 0;
}

int message_ready_decode(const char *p, size_t n, struct message_ready *out)
{
    struct message_ready_fixed fixed;
    struct message_ready ready = {0};
    size_t len;

    if (n != sizeof(fixed))
        return ERR_CORRUPT;
    memcpy(&fixed, p, sizeof(fixed));
    len = strnlen(fixed.php_version, sizeof(fixed.php_version));
    if (len == sizeof(fixed.php_version) || fixed.opcache > 1 || fixed.jit > 1 ||
        fixed.zero[0] != 0 || fixed.zero[1] != 0)
        return ERR_CORRUPT;
    for (size_t i = 0; i < sizeof(fixed.php_version); i++) {
        char ch = fixed.php_version[i];

        if (i < len ? ch <= ' ' || ch > '~' : ch != '\0')
            return ERR_CORRUPT;
    }
    ready.pid = fixed.pid;
    ready.opcache = fixed.opcache != 0;
    ready.jit = fixed.jit != 0;
    memcpy(ready.php_version, fixed.php_version, len);
    *out = ready;
    return 0;
}
