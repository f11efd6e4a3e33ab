/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "cli/resp.h"

#include "base/mem.h"

enum {
    RESP_PATIENCE_MS = 30000,
    RESP_READ = 65536,
    RESP_LINE_MAX = 65536,
    RESP_ITEM_MIN = 3 /* bytes of the shortest reply */
};

/* --- replies ---------------------------------------------------------------------------------- */

/* The line at *at without its type and end; *at is behind it then. */
static int resp_line(struct str in, size_t *at, struct str *out)
{
    struct str rest = str_sub(in, *at, in.len);
    ptrdiff_t end = str_find(rest, STR("\r\n"));

    if (end < 0)
        return rest.len > RESP_LINE_MAX ? ERR_PROTO : ERR_AGAIN;
    if (end == 0 || end > RESP_LINE_MAX)
        return ERR_PROTO;
    *out = str_n(rest.p + 1, (size_t)end - 1);
    *at += (size_t)end + 2;
    return 0;
}

static int resp_bulk(struct str in, size_t *at, int64_t len, struct resp_value *out)
{
    if (len == -1) {
        out->kind = RESP_NIL;
        return 0;
    }
    if (len < 0 || len > RESP_BULK_MAX)
        return ERR_PROTO;
    if (in.len - *at < (size_t)len + 2)
        return ERR_AGAIN;
    if (in.p[*at + (size_t)len] != '\r' || in.p[*at + (size_t)len + 1] != '\n')
        return ERR_PROTO;
    out->kind = RESP_BULK;
    out->s = str_n(in.p + *at, (size_t)len);
    *at += (size_t)len + 2;
    return 0;
}

static int resp_value_at(
    struct arena *a, struct str in, size_t *at, int depth, struct resp_value *out);

static int resp_array(
    struct arena *a, struct str in, size_t *at, int64_t n, int depth, struct resp_value *out)
{
    int rc = 0;

    if (n == -1) {
        out->kind = RESP_NIL;
        return 0;
    }
    if (n < 0 || n > RESP_ITEMS_MAX || depth >= RESP_DEPTH_MAX)
        return ERR_PROTO;
    if (in.len - *at < (size_t)n * RESP_ITEM_MIN)
        return ERR_AGAIN; /* before memory is taken for what may never come */
    out->kind = RESP_ARRAY;
    out->n = (size_t)n;
    out->items = arena_new(a, ((size_t)n + 1) * sizeof(*out->items));
    for (size_t i = 0; i < out->n && rc == 0; i++)
        rc = resp_value_at(a, in, at, depth + 1, &out->items[i]);
    return rc;
}

static int resp_value_at(
    struct arena *a, struct str in, size_t *at, int depth, struct resp_value *out)
{
    struct str line;
    char type;
    int rc;

    *out = (struct resp_value){0};
    if (*at >= in.len)
        return ERR_AGAIN;
    type = in.p[*at];
    if (!strchr("+-:$*", type) || type == '\0')
        return ERR_PROTO;
    rc = resp_line(in, at, &line);
    if (rc)
        return rc;
    if (type == '+' || type == '-') {
        out->kind = type == '+' ? RESP_SIMPLE : RESP_ERROR;
        out->s = line;
        return 0;
    }
    if (str_i64(line, &out->i))
        return ERR_PROTO;
    if (type == '$')
        return resp_bulk(in, at, out->i, out);
    if (type == '*')
        return resp_array(a, in, at, out->i, depth, out);
    out->kind = RESP_INT;
    return 0;
}

int resp_parse(struct arena *a, struct str in, size_t *used, struct resp_value *out)
{
    struct resp_value v;
    size_t at = 0;
    int rc = resp_value_at(a, in, &at, 0, &v);

    if (rc)
        return rc;
    *used = at;
    *out = v;
    return 0;
}

/* --- calls ------------------------------------------------------------------------------------ */

void resp_open(struct resp_client *c, sock_t fd)
{
    *c = (struct resp_client){.fd = fd};
    arena_init(&c->arena);
}

void resp_close(struct resp_client *c)
{
    sock_close(c->fd);
    buf_fini(&c->in);
    buf_fini(&c->out);
    arena_fini(&c->arena);
}

static int resp_send(struct resp_client *c)
{
    struct str left = buf_str(&c->out);
    size_t sent = 0;
    int rc = 0;

    for (; left.len && rc == 0; left = str_sub(left, sent, left.len))
        rc = sock_sendv(c->fd, &left, 1, false, &sent);
    return rc;
}

static int resp_read(struct resp_client *c)
{
    size_t got = 0;
    int rc = sock_wait_readable(c->fd, RESP_PATIENCE_MS);

    if (rc == 0)
        rc = sock_recv(c->fd, buf_reserve(&c->in, RESP_READ), RESP_READ, &got);
    c->in.len += got;
    return rc;
}

int resp_call(struct resp_client *c, const struct str *argv, size_t argc,
    const struct resp_value **out, struct err *err)
{
    struct resp_value *v;
    size_t used = 0;
    int rc;

    buf_clear(&c->in); /* one call at a time: nothing but the last reply was there */
    buf_clear(&c->out);
    buf_printf(&c->out, "*%zu\r\n", argc);
    for (size_t i = 0; i < argc; i++) {
        buf_printf(&c->out, "$%zu\r\n", argv[i].len);
        buf_add_str(&c->out, argv[i]);
        buf_add_lit(&c->out, "\r\n");
    }
    rc = resp_send(c);
    if (rc)
        return err_set(err, rc, "the server does not take the command: %s", err_text(rc));
    for (;;) {
        arena_reset(&c->arena);
        v = arena_new(&c->arena, sizeof(*v));
        rc = resp_parse(&c->arena, buf_str(&c->in), &used, v);
        if (rc != ERR_AGAIN)
            break;
        rc = resp_read(c);
        if (rc)
            return err_set(err, rc, "the server does not answer: %s", err_text(rc));
    }
    if (rc)
        return err_set(err, rc, "the answer is not of the Redis protocol");
    *out = v;
    return 0;
}
