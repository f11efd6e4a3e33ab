/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/*
 * A connection: reads, runs what is complete, sends all answers of a batch at once.
 *
 * Requests are read into the server's buffer, and only what is left of an incomplete one is kept
 * with the client. Who sent much has a turn, then others have theirs: a row of slow commands delays
 * others by one of them. Closing only marks: the memory goes when the server's current work
 * is done.
 */
#include "base/mem.h"
#include "core/log.h"
#include "kv/redis/state.h"
#include "platform/clock.h"
#include "platform/random.h"

enum {
    ARGS_BEFORE_AUTH = 10,
    BULK_BEFORE_AUTH = 16384,
    KEEP_BUFFER = 256 << 10, /* larger ones are given back */
};

bool redis_client_subscribed(const struct redis_client *c)
{
    return c->nchannels + c->npatterns > 0;
}

void redis_client_touch(struct redis_client *c)
{
    c->active = net_loop_now(c->server->loop);
    if (c->state == REDIS_BLOCKED || redis_client_subscribed(c))
        deadline_disarm(&c->idle);
    else
        deadline_arm(&c->idle, &c->server->idle);
}

/* ---- the end ---- */

void redis_client_close(struct redis_client *c, const char *reason)
{
    struct redis_server *s = c->server;

    if (c->state == REDIS_CLOSED)
        return;
    log_debug(
        "redis_closed", F_UINT("client", c->id), F_CSTR("from", c->addr), F_CSTR("reason", reason));
    redis_block_cancel(c);
    redis_pubsub_reset(c);
    redis_multi_reset(c);
    c->state = REDIS_CLOSED;
    deadline_disarm(&c->idle);
    stream_close(&c->stream);
    list_remove(&c->dirty);
    list_remove(&c->later);
    list_remove(&c->node);
    list_push(&s->dead, &c->node);
    s->nclients--;
}

void redis_client_end(struct redis_client *c)
{
    if (c->state == REDIS_CLOSED)
        return;
    redis_block_cancel(c);
    list_remove(&c->later);
    c->state = REDIS_ENDING;
    stream_want_read(&c->stream, false);
    redis_client_flush(c);
    if (c->state == REDIS_ENDING && stream_queued(&c->stream) == 0)
        redis_client_close(c, "quit");
}

void redis_client_free(struct redis_client *c)
{
    list_remove(&c->node);
    redis_parser_fini(&c->parser);
    map_fini(&c->channels_by_name);
    map_fini(&c->patterns_by_name);
    map_fini(&c->watched_by_key);
    buf_fini(&c->in);
    buf_fini(&c->reply.out);
    mem_free(c);
}

/* ---- writing ---- */

static bool too_much_unread(struct redis_client *c, size_t more)
{
    size_t queued = (size_t)stream_queued(&c->stream) + more, total = 0;
    size_t max = redis_client_subscribed(c) ? REDIS_OUTPUT_PUBSUB_MAX : REDIS_OUTPUT_MAX;

    if (queued > max)
        return true;
    if (queued < REDIS_OUTPUT_PUBSUB_MAX / 4)
        return false;
    list_each (it, &c->server->clients)
        total += (size_t)stream_queued(&CONTAINER_OF(it, struct redis_client, node)->stream);
    return total + more > REDIS_OUTPUT_TOTAL_MAX;
}

void redis_client_flush(struct redis_client *c)
{
    struct str out = buf_str(&c->reply.out);
    int r;

    if (c->state == REDIS_CLOSED || (out.len == 0 && !c->reply.overflow))
        return;
    if (c->reply.overflow || (stream_queued(&c->stream) && too_much_unread(c, out.len))) {
        log_warn("redis_client_too_slow", F_UINT("client", c->id), F_CSTR("from", c->addr),
            F_UINT("unread", stream_queued(&c->stream) + out.len));
        redis_client_close(c, "output limit");
        return;
    }
    c->server->stats.bytes_out += out.len;
    r = stream_write(&c->stream, &out, 1, false);
    if (c->reply.out.cap > KEEP_BUFFER)
        buf_fini(&c->reply.out);
    else
        buf_clear(&c->reply.out);
    if (r)
        redis_client_close(c, err_text(r));
}

/* ---- reading ---- */

static void limits_of(const struct redis_client *c, struct redis_parser_limits *out)
{
    size_t max = c->server->opt.max_input_buffer;

    if (c->authenticated)
        *out = (struct redis_parser_limits){max, MIN(max, (size_t)KV_VALUE_MAX), REDIS_ARGS_MAX};
    else
        *out =
            (struct redis_parser_limits){max, MIN(max, (size_t)BULK_BEFORE_AUTH), ARGS_BEFORE_AUTH};
}

static void protocol_error(struct redis_client *c)
{
    log_debug("redis_protocol_error", F_UINT("client", c->id), F_CSTR("from", c->addr),
        F_CSTR("error", c->parser.error));
    c->server->stats.errors++;
    c->reply.muted = false;
    reply_errorf(&c->reply, "ERR %s", c->parser.error);
    redis_client_end(c);
}

/* The rest of what it sent is run in another round of the loop; nothing more is read until then. */
static void put_off(struct redis_client *c)
{
    stream_want_read(&c->stream, false);
    list_push(&c->server->later, &c->later);
    /* Not 0 ms: the loop would run the timer again before it looks at sockets. */
    net_timer_start(c->server->turn, 1, 0);
}

/* Runs what is complete in `in`, as long as its turn is; how many bytes that took. */
static size_t run(struct redis_client *c, struct str in)
{
    uint64_t end = clock_mono_ns() + REDIS_TURN_NS;
    struct redis_parser_limits limits;
    size_t used = 0;
    int r;

    while (c->state == REDIS_READY) {
        limits_of(c, &limits);
        r = redis_parser_next(&c->parser, str_n(in.p + used, in.len - used), &limits);
        if (r == ERR_AGAIN)
            break;
        if (r) {
            protocol_error(c);
            break;
        }
        used += c->parser.used;
        if (c->parser.argc)
            redis_command_run(c, c->parser.argv, c->parser.argc);
        if (c->reply.out.len > REDIS_FLUSH)
            redis_client_flush(c);
        if (used < in.len && c->state == REDIS_READY && clock_mono_ns() >= end) {
            put_off(c);
            break;
        }
    }
    return used;
}

/* Bytes of requests that wait, or of an incomplete one, are bounded. */
static void check_input(struct redis_client *c)
{
    if (c->state == REDIS_CLOSED || c->state == REDIS_ENDING)
        return;
    if (c->in.len > c->server->opt.max_input_buffer + REDIS_READ) {
        c->parser.error = "Protocol error: request larger than max_input_buffer";
        protocol_error(c);
    }
}

static void after_input(struct redis_client *c)
{
    redis_client_flush(c);
    check_input(c);
    if (c->state == REDIS_READY || c->state == REDIS_BLOCKED)
        redis_client_touch(c);
}

/* Runs from the client's own bytes. */
static void run_kept(struct redis_client *c)
{
    size_t used = run(c, buf_str(&c->in));

    buf_consume(&c->in, used);
    if (c->in.len == 0)
        buf_fini(&c->in);
}

static int read_kept(struct redis_client *c, size_t *got)
{
    size_t want = redis_parser_wants(&c->parser, c->in.len), n = MAX(want, (size_t)REDIS_READ);
    int r;

    /* The word's length has been checked against the limits. */
    r = stream_read(&c->stream, buf_reserve(&c->in, n), n, got);
    if (r == 0)
        c->in.len += *got;
    return r;
}

static void on_readable(struct stream *stream)
{
    struct redis_client *c = CONTAINER_OF(stream, struct redis_client, stream);
    struct redis_server *s = c->server;
    bool kept = c->in.len > 0 || c->state == REDIS_BLOCKED;
    size_t got = 0;
    int r;

    redis_server_enter(s);
    r = kept ? read_kept(c, &got) : stream_read(stream, s->read_buf, REDIS_READ, &got);
    if (r && r != ERR_AGAIN) {
        redis_client_close(c, r == ERR_EOF ? "closed by the client" : err_text(r));
    } else if (r == 0) {
        s->stats.bytes_in += got;
        if (kept) {
            run_kept(c);
        } else {
            size_t used = run(c, str_n(s->read_buf, got));

            if (used < got && c->state != REDIS_CLOSED)
                buf_add(&c->in, s->read_buf + used, got - used);
        }
        after_input(c);
    }
    redis_server_leave(s);
}

void redis_client_resume(struct redis_client *c)
{
    if (c->state != REDIS_READY)
        return;
    if (c->in.len)
        run_kept(c);
    after_input(c);
}

void redis_client_turn(void *server)
{
    struct redis_server *s = server;
    struct list now, *it;

    redis_server_enter(s);
    list_init(&now);
    while ((it = list_pop(&s->later)) != NULL)
        list_push(&now, it);
    while ((it = list_pop(&now)) != NULL) {
        struct redis_client *c = CONTAINER_OF(it, struct redis_client, later);

        stream_want_read(&c->stream, true);
        redis_client_resume(c);
    }
    redis_server_leave(s);
}

static void on_drained(struct stream *stream)
{
    struct redis_client *c = CONTAINER_OF(stream, struct redis_client, stream);

    /* The stream is looked at after this: the memory goes with the next work. */
    if (c->state == REDIS_ENDING)
        redis_client_close(c, "quit");
}

static void on_error(struct stream *stream, int code)
{
    struct redis_client *c = CONTAINER_OF(stream, struct redis_client, stream);
    struct redis_server *s = c->server;

    redis_server_enter(s);
    redis_client_close(c, err_text(code));
    redis_server_leave(s);
}

static const struct stream_cbs callbacks = {
    .on_readable = on_readable, .on_drained = on_drained, .on_error = on_error};

/* ---- the beginning ---- */

struct redis_client *redis_client_new(struct redis_server *s, sock_t fd)
{
    struct redis_client *c = mem_new(sizeof(*c));
    struct sock_addr a;

    if (stream_open(&c->stream, s->loop, fd, &callbacks) != 0) {
        mem_free(c);
        return NULL;
    }
    stream_set_limits(&c->stream, &(struct stream_limits){.memory = SIZE_MAX / 4});
    c->server = s;
    c->id = ++s->next_id;
    c->since = c->active = net_loop_now(s->loop);
    if (sock_peer_addr(fd, &a) == 0)
        (void)sock_addr_format(&a, c->addr);
    if (sock_local_addr(fd, &a) == 0)
        (void)sock_addr_format(&a, c->laddr);
    c->reply.resp = 2;
    c->reply.limit = REDIS_OUTPUT_MAX;
    redis_parser_init(&c->parser);
    redis_multi_init(c);
    list_init(&c->dirty);
    list_init(&c->later);
    list_init(&c->channels);
    list_init(&c->patterns);
    map_init(&c->channels_by_name, random_u64());
    map_init(&c->patterns_by_name, random_u64());
    deadline_init(&c->idle);
    redis_auth_reset(c);
    list_push(&s->clients, &c->node);
    s->nclients++;
    s->stats.connections++;
    stream_want_read(&c->stream, true);
    redis_client_touch(c);
    return c;
}
