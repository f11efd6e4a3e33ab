/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/net/stream_end.h"

enum { PATTERN = 1 << 20, PERIOD = 251 };

const char *end_pattern(size_t at, size_t n)
{
    static char bytes[PATTERN + PERIOD];

    if (bytes[1] == 0) {
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (char)(i % PERIOD);
    }
    CHECK(n <= PATTERN);
    return bytes + at % PERIOD;
}

static struct end *end_of(struct stream *s, bool closes)
{
    struct end *e = CONTAINER_OF(s, struct end, s);

    CHECK(!e->inside);
    if (closes)
        stream_close(s);
    return e;
}

static void end_on_readable(struct stream *s)
{
    struct end *e = CONTAINER_OF(s, struct end, s);
    char bytes[4096];
    size_t got = 0;

    e->readable++;
    if (!e->close_readable)
        (void)!stream_read(s, bytes, sizeof(bytes), &got);
    (void)end_of(s, e->close_readable);
}

static void end_on_drained(struct stream *s)
{
    struct end *e = CONTAINER_OF(s, struct end, s);

    e->drained++;
    CHECK_INT(stream_queued(s), 0);
    (void)end_of(s, e->close_drained);
}

static void end_on_progress(struct stream *s)
{
    struct end *e = CONTAINER_OF(s, struct end, s);

    e->progress++;
    CHECK(stream_queued(s) > 0);
    (void)end_of(s, e->close_progress);
}

static void end_on_error(struct stream *s, int code)
{
    struct end *e = CONTAINER_OF(s, struct end, s);

    e->errors++;
    e->code = code;
    (void)end_of(s, e->close_error);
}

const struct stream_cbs end_cbs = {
    .on_readable = end_on_readable,
    .on_drained = end_on_drained,
    .on_progress = end_on_progress,
    .on_error = end_on_error,
};

/* What was sent before the stream had the socket. */
static void end_fill_socket(struct end *e, sock_t s)
{
    struct str junk = str_n(end_pattern(0, PATTERN), PATTERN);
    size_t sent;

    while (sent = 0, sock_sendv(s, &junk, 1, false, &sent) == 0)
        e->junk += sent;
}

void end_open(struct end *e, bool full)
{
    sock_t pair[2];

    memset(e, 0, sizeof(*e));
    e->read_step = 1 << 20;
    CHECK_INT(net_loop_new(&e->loop), 0);
    e->small = full && sock_stream_pair(pair) == 0;
    if (!e->small)
        net_tcp_pair(pair);
    if (full)
        end_fill_socket(e, pair[0]);
    e->peer = pair[1];
    CHECK_INT(stream_open(&e->s, e->loop, pair[0], &end_cbs), 0);
}

void end_close(struct end *e)
{
    stream_close(&e->s);
    stream_close(&e->s);
    sock_close(e->peer);
    buf_fini(&e->wrote);
    buf_fini(&e->got);
    net_loop_free(e->loop);
}

void end_expect(struct end *e, const char *p, size_t n)
{
    buf_add(&e->wrote, p, n);
}

int end_write(struct end *e, size_t n)
{
    const char *p = end_pattern(e->wrote.len, n);
    /* In pieces, one of them empty. */
    struct str parts[] = {str_n(p, n / 3), str_n(p, 0), str_n(p + n / 3, n - n / 3)};
    int rc;

    e->inside = true;
    rc = stream_write(&e->s, parts, ARRAY_LEN(parts), false);
    e->inside = false;
    if (rc == 0)
        end_expect(e, p, n);
    return rc;
}

int end_fill(struct end *e, size_t step)
{
    int rc = 0;

    for (int i = 0; i < 100000 && rc == 0; i++)
        rc = end_write(e, step);
    return rc;
}

bool end_read(struct end *e, size_t n)
{
    size_t got = 0, skip;

    if (sock_recv(e->peer, buf_reserve(&e->got, n), n, &got))
        return false;
    e->got.len += got;
    skip = MIN(e->junk, e->got.len);
    e->junk -= skip;
    buf_consume(&e->got, skip);
    return true;
}

static bool end_step(void *arg)
{
    struct end *e = arg;

    for (size_t left = e->read_step; left > 0;) {
        size_t n = MIN(left, (size_t)65536);

        if (!end_read(e, n))
            break;
        left -= n;
    }
    return e->got.len >= e->wrote.len && stream_queued(&e->s) == 0;
}

void end_run_to_end(struct end *e)
{
    net_run_until(e->loop, end_step, e);
    CHECK_INT(e->got.len, e->wrote.len);
    CHECK(str_eq(buf_str(&e->got), buf_str(&e->wrote)));
}
