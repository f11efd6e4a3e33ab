/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/mysql/conn.h"

#include "base/mem.h"
#include "core/log.h"
#include "platform/clock.h"

enum {
    CONN_READ = 4096,     /* bytes asked of the socket at least */
    CONN_DRAIN_MS = 1000, /* for a client that still sends what was refused */
    CONN_DRAIN_MAX = 64 << 20,
    CONN_WAIT_MAX_S = 86400 * 365
};

/* --- bytes ------------------------------------------------------------------------------------ */

int mysql_conn_flush(struct mysql_conn *c)
{
    if (!c->failed && c->out.len)
        c->failed = mysql_io_send(&c->io, buf_str(&c->out));
    buf_clear(&c->out);
    return c->failed;
}

/* Room for need more bytes, or as many as are there already, whichever is less: what a header
 * promises is taken when it comes. ERR_NOMEM. */
static int conn_grow(struct mysql_conn *c, size_t need, size_t *room)
{
    size_t n = MAX(MIN(need, MAX(c->in.len, (size_t)CONN_READ)), (size_t)CONN_READ);
    char *p;

    if (c->in.cap - c->in.len < n) {
        p = mem_try_resize(c->in.p, c->in.len + n);
        if (!p)
            return ERR_NOMEM;
        c->in.p = p;
        c->in.cap = c->in.len + n;
    }
    *room = c->in.cap - c->in.len;
    return 0;
}

static int conn_receive(struct mysql_conn *c, size_t need, bool exact)
{
    size_t room = 0, got = 0;
    int rc = conn_grow(c, need, &room);

    if (rc == 0)
        rc = mysql_io_recv(&c->io, c->in.p + c->in.len, exact ? MIN(need, room) : room, &got);
    if (rc == 0)
        c->in.len += got;
    return rc;
}

static void conn_say(struct mysql_conn *c, enum db_error_name name)
{
    struct db_error e;

    (void)db_error_set(&e, name);
    mysql_answer_error(c, &e);
}

/* A client that is still sending would not see the error if the connection were cut. */
static void conn_drain(struct mysql_conn *c)
{
    uint64_t end = clock_mono_ms() + CONN_DRAIN_MS;
    char waste[4096];
    size_t total = 0, got;

    (void)mysql_conn_flush(c);
    if (mysql_io_is_tls(&c->io))
        return;
    sock_shutdown_send(c->fd);
    mysql_io_set_timeouts(&c->io, CONN_DRAIN_MS, CONN_DRAIN_MS);
    while (total < CONN_DRAIN_MAX && clock_mono_ms() < end &&
           sock_recv(c->fd, waste, sizeof(waste), &got) == 0)
        total += got;
}

static int conn_refuse(struct mysql_conn *c, enum db_error_name name, int rc)
{
    conn_say(c, name);
    log_warn("db_bad_packet", F_CSTR("host", c->host), F_UINT("connection", c->id),
        F_CSTR("reason", name == DB_E_PACKETS_ORDER ? "wrong sequence number" : "too long"));
    conn_drain(c);
    return rc;
}

int mysql_conn_read(struct mysql_conn *c, size_t max, bool exact, struct str *payload)
{
    struct mysql_framing f;

    buf_consume(&c->in, c->used);
    c->used = 0;
    mysql_framing_init(&f, c->seq, max);
    for (;;) {
        size_t len = c->in.len;
        enum mysql_frame_result r = mysql_frame(&f, c->in.p, &len);
        int rc;

        c->in.len = len;
        c->seq = f.seq;
        if (r == MYSQL_FRAME_OK) {
            c->used = MYSQL_HEADER + f.payload;
            *payload = str_n(c->in.p + MYSQL_HEADER, f.payload);
            return 0;
        }
        if (r == MYSQL_FRAME_ORDER)
            return conn_refuse(c, DB_E_PACKETS_ORDER, ERR_PROTO);
        if (r == MYSQL_FRAME_LARGE)
            return conn_refuse(c, DB_E_PACKET_TOO_LARGE, ERR_TOOBIG);
        /* The first byte may take as long as the session likes, the others not. */
        if (c->session && c->in.len)
            mysql_io_set_timeouts(
                &c->io, mysql_server_options(c->server)->timeouts.read * 1000, c->io.send_ms);
        rc = conn_receive(c, f.need, exact);
        if (rc == ERR_NOMEM)
            conn_say(c, DB_E_OUT_OF_MEMORY);
        if (rc)
            return rc;
    }
}

/* --- life ------------------------------------------------------------------------------------- */

static void conn_shrink(struct mysql_conn *c)
{
    if (c->out.cap > MYSQL_KEEP)
        buf_fini(&c->out);
    if (c->in.cap > MYSQL_KEEP && c->used == c->in.len) {
        buf_fini(&c->in);
        c->used = 0;
    }
    if (arena_used(&c->arena))
        arena_reset(&c->arena);
}

/* Between two commands: as long as the session may be silent. */
static void conn_arm(struct mysql_conn *c)
{
    uint32_t wait = MIN(db_session_wait_timeout(c->session), (uint32_t)CONN_WAIT_MAX_S);

    mysql_io_set_timeouts(&c->io, MIN(wait, UINT32_MAX / 1000) * 1000,
        mysql_server_options(c->server)->timeouts.write * 1000);
}

/* Why it ended; clean: the client said so. */
static bool conn_serve(struct mysql_conn *c, int *why)
{
    struct str payload;

    while (!c->ending) {
        conn_arm(c);
        c->seq = 0;
        *why = mysql_conn_read(c, db_session_max_packet(c->session), false, &payload);
        if (*why)
            return false;
        if (!mysql_command(c, payload))
            return true;
        if (mysql_conn_flush(c)) {
            *why = c->failed;
            return false;
        }
        conn_shrink(c);
        if (!c->session || db_session_killed(c->session))
            break;
    }
    *why = 0;
    return true;
}

void mysql_conn_run(struct mysql_conn *c)
{
    int why;
    bool clean;

    mysql_io_init(&c->io, c->fd, mysql_server_options(c->server)->stats);
    mysql_io_set_timeouts(&c->io, 0, mysql_server_options(c->server)->timeouts.write * 1000);
    why = mysql_login_first(c);
    clean = why == 0 && mysql_conn_flush(c) == 0 && conn_serve(c, &why);
    if (!clean) {
        if (why != ERR_ACCESS)
            db_count(&c->io.stats->aborted, 1);
        log_debug(
            "db_connection_lost", F_CSTR("host", c->host), F_UINT("connection", c->id), F_ERR(why));
    }
    (void)mysql_conn_flush(c);
    if (c->session) {
        mysql_statement_close_all(c, false);
        db_session_free(c->session);
        c->session = NULL;
    }
    mysql_statement_close_all(c, true);
    mysql_io_fini(&c->io);
    buf_fini(&c->in);
    buf_fini(&c->out);
    arena_fini(&c->arena);
}
