/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/access_log.h"

#include <stdio.h>

#include "base/mem.h"
#include "http/cond.h"
#include "platform/fs.h"

enum { STDOUT_FD = 1, US_PER_S = 1000000, LOG_MODE = 0640 };

struct access_log {
    enum access_log_format format;
    char *path;
    int fd;
    bool own_fd;
    size_t flush_bytes;
    struct buf buf;
    uint64_t lines; /* in buf */
    uint64_t dropped;
};

int access_log_format_parse(struct str s, enum access_log_format *out)
{
    if (str_eq(s, STR("combined")))
        *out = ACCESS_LOG_COMBINED;
    else if (str_eq(s, STR("json")))
        *out = ACCESS_LOG_JSON;
    else
        return ERR_INVAL;
    return 0;
}

/* What could end the line or a quoted part, and what is not ASCII, as \xHH; "-" when empty. */
static void add_escaped(struct buf *b, struct str s)
{
    static const char hex[] = "0123456789ABCDEF";
    size_t start = 0;

    if (s.len == 0) {
        buf_add_char(b, '-');
        return;
    }
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c >= ' ' && c < 0x7f && c != '"' && c != '\\')
            continue;
        buf_add(b, s.p + start, i - start);
        buf_add(b, (const char[]){'\\', 'x', hex[c >> 4], hex[c & 15]}, 4);
        start = i + 1;
    }
    buf_add(b, s.p + start, s.len - start);
}

/* A part that is not quoted must hold no space either. */
static void add_word(struct buf *b, struct str s)
{
    if (str_chr(s, ' ') < 0) {
        add_escaped(b, s);
        return;
    }
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == ' ')
            buf_add_lit(b, "\\x20");
        else
            add_escaped(b, str_sub(s, i, 1));
    }
}

static void add_quoted(struct buf *b, struct str s)
{
    buf_add_char(b, '"');
    add_escaped(b, s);
    buf_add_char(b, '"');
}

/* [30/Nov/2026:18:08:29 +0000], from the parts of "Mon, 30 Nov 2026 18:08:29 GMT". */
static void add_clf_time(struct buf *b, uint64_t wall_us)
{
    char d[COND_DATE_LEN];

    cond_date_format((int64_t)(wall_us / US_PER_S), d);
    buf_add_char(b, '[');
    buf_add(b, d + 5, 2);
    buf_add_char(b, '/');
    buf_add(b, d + 8, 3);
    buf_add_char(b, '/');
    buf_add(b, d + 12, 4);
    buf_add_char(b, ':');
    buf_add(b, d + 17, 8);
    buf_add_lit(b, " +0000]");
}

static void add_combined(struct buf *b, const struct access_log_entry *e)
{
    add_word(b, e->remote);
    buf_add_lit(b, " - ");
    add_word(b, e->user);
    buf_add_char(b, ' ');
    add_clf_time(b, e->wall_us);
    buf_add_lit(b, " \"");
    if (e->method.len > 0 || e->target.len > 0) {
        add_escaped(b, e->method);
        buf_add_char(b, ' ');
        add_escaped(b, e->target);
        buf_add_char(b, ' ');
        add_escaped(b, e->protocol);
    }
    buf_add_lit(b, "\" ");
    buf_add_u64(b, (uint64_t)MAX(e->status, 0));
    buf_add_char(b, ' ');
    buf_add_u64(b, e->bytes);
    buf_add_char(b, ' ');
    add_quoted(b, e->referer);
    buf_add_char(b, ' ');
    add_quoted(b, e->user_agent);
    buf_add_char(b, '\n');
}

static void add_json_str(struct buf *b, const char *key, struct str s)
{
    if (s.len == 0)
        return;
    buf_add_lit(b, ",\"");
    buf_add_str(b, str_c(key));
    buf_add_lit(b, "\":");
    buf_add_json(b, s);
}

static void add_json_u64(struct buf *b, const char *key, uint64_t v)
{
    buf_add_lit(b, ",\"");
    buf_add_str(b, str_c(key));
    buf_add_lit(b, "\":");
    buf_add_u64(b, v);
}

/* Milliseconds with three decimals. */
static void add_json_ms(struct buf *b, const char *key, uint64_t us)
{
    buf_printf(b, ",\"%s\":%llu.%03u", key, (unsigned long long)(us / 1000), (unsigned)(us % 1000));
}

static int month_number(const char *name)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

    for (int i = 0; i < 12; i++) {
        if (memcmp(months + (size_t)i * 3, name, 3) == 0)
            return i + 1;
    }
    return 0;
}

static void add_json_line(struct buf *b, const struct access_log_entry *e)
{
    char d[COND_DATE_LEN];

    cond_date_format((int64_t)(e->wall_us / US_PER_S), d);
    buf_printf(b, "{\"time\":\"%.4s-%02d-%.2sT%.8s.%03uZ\"", d + 12, month_number(d + 8), d + 5,
        d + 17, (unsigned)(e->wall_us / 1000 % 1000));
    add_json_str(b, "site", e->site);
    add_json_str(b, "remote", e->remote);
    add_json_str(b, "user", e->user);
    add_json_str(b, "method", e->method);
    add_json_str(b, "target", e->target);
    add_json_str(b, "protocol", e->protocol);
    add_json_str(b, "host", e->host);
    add_json_u64(b, "status", (uint64_t)MAX(e->status, 0));
    add_json_u64(b, "bytes", e->bytes);
    add_json_str(b, "referer", e->referer);
    add_json_str(b, "user_agent", e->user_agent);
    add_json_str(b, "request_id", e->request_id);
    add_json_ms(b, "duration_ms", e->duration_us);
    if (e->php_us > 0)
        add_json_ms(b, "php_ms", e->php_us);
    if (e->worker_id >= 0)
        add_json_u64(b, "worker", (uint64_t)e->worker_id);
    buf_add_lit(b, "}\n");
}

void access_log_add(struct buf *b, enum access_log_format f, const struct access_log_entry *e)
{
    if (f == ACCESS_LOG_JSON)
        add_json_line(b, e);
    else
        add_combined(b, e);
}

int access_log_open(
    const char *path, enum access_log_format f, size_t flush_bytes, struct access_log **out)
{
    bool standard = strcmp(path, "-") == 0;
    struct access_log *l;
    int fd = STDOUT_FD;
    int err = standard ? 0 : fs_open_append(path, LOG_MODE, &fd);

    if (err)
        return err;
    l = mem_new(sizeof(*l));
    l->format = f;
    l->path = mem_dup_str(path, strlen(path));
    l->fd = fd;
    l->own_fd = !standard;
    l->flush_bytes = flush_bytes;
    *out = l;
    return 0;
}

void access_log_flush(struct access_log *l)
{
    if (l->buf.len == 0)
        return;
    if (fs_write(l->fd, l->buf.p, l->buf.len))
        l->dropped += l->lines;
    buf_clear(&l->buf);
    l->lines = 0;
}

void access_log_close(struct access_log *l)
{
    if (!l)
        return;
    access_log_flush(l);
    if (l->own_fd)
        fs_close(l->fd);
    buf_fini(&l->buf);
    mem_free(l->path);
    mem_free(l);
}

void access_log_write(struct access_log *l, const struct access_log_entry *e)
{
    access_log_add(&l->buf, l->format, e);
    l->lines++;
    if (l->buf.len >= l->flush_bytes)
        access_log_flush(l);
}

int access_log_reopen(struct access_log *l)
{
    int fd, err;

    access_log_flush(l);
    if (!l->own_fd)
        return 0;
    err = fs_open_append(l->path, LOG_MODE, &fd);
    if (err)
        return err;
    fs_close(l->fd);
    l->fd = fd;
    return 0;
}

uint64_t access_log_dropped(const struct access_log *l)
{
    return l->dropped;
}
