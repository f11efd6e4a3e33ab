/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/worker.h"

#include <signal.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "core/log.h"
#include "engine/channel.h"
#include "engine/message.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/process.h"
#include "platform/sock.h"
#include "platform/sysinfo.h"
#include "platform/wake.h"

enum {
    WORKER_WAIT_MS =
        1000,            /* how often a worker that waits for the front looks at the cancel word */
    WORKER_FD_MS = 5000, /* for the descriptor that was announced */
    WORKER_FIRST_MS = 5000, /* before the first request: how often to look whether one can come */
    WORKER_REAP_MS = 1000,  /* how often an idle worker looks for the ends of scripts' children */
    WORKER_MEMORY_EVERY = 100, /* requests between two looks at the resident size */
    WORKER_NOTE_MAX = 2048
};

/* One worker per process; PHP's own state is global as well, so this one may be. */
static struct worker {
    const struct worker_options *opt;
    struct channel *channel;
    sock_t socket;
    struct arena arena;
    struct embed_field *env; /* the site's entries, and who this worker is */
    size_t nenv;
    struct buf block;   /* the request block, copied out of the channel */
    struct buf scratch; /* encoded heads */
    uint64_t id;        /* of the running request */
    struct str request_id, uri;
    uint64_t served;
    int body_fd; /* spooled body, -1: none */
    uint64_t body_off;
    bool body_ended;
    bool finished; /* END was sent */
    bool client_gone;
    bool unbuffered; /* X-Accel-Buffering: no: what PHP writes is seen at once */
    bool stop;
    bool forked;       /* this is a child that the script made */
    bool has_children; /* scripts made some, and not all are known to have ended */
} worker = {.body_fd = -1};

static void worker_ring(void)
{
    if (worker.forked) /* the child's old cursor would take back what the worker said since */
        return;
    if (channel_publish(worker.channel))
        wake_bell_ring(worker.opt->bell_fd);
}

static bool worker_cancelled(void)
{
    if (channel_get_cancel(worker.channel, worker.id) != CHANNEL_CANCEL_NONE)
        worker.client_gone = true;
    return worker.client_gone;
}

/* Puts one message, waiting for room. ERR_CLOSED when the request was cancelled meanwhile. */
static int worker_put(uint16_t type, struct str data)
{
    if (worker.forked)
        return ERR_CLOSED;
    for (;;) {
        int rc = channel_put(worker.channel, type, 0, worker.id, &data, data.len ? 1 : 0);

        if (rc != ERR_AGAIN)
            return rc;
        worker_ring();
        rc = channel_wait_room(worker.channel, data.len, WORKER_WAIT_MS);
        if (rc == ERR_CORRUPT)
            return rc;
        if (worker_cancelled())
            return ERR_CLOSED;
    }
}

/* --- what PHP asks of its host ---------------------------------------------------------------- */

/* Copies what the front sent of the body, or ERR_AGAIN when there is none yet. */
static int worker_body_message(char *p, size_t n, size_t *got)
{
    struct channel_msg msg;
    const char *data;
    int rc = channel_peek(worker.channel, &msg, &data);

    if (rc)
        return rc;
    if (msg.type == CHANNEL_BODY && msg.id == worker.id) {
        size_t left = msg.len - (size_t)worker.body_off;
        size_t k = MIN(n, left);

        memcpy(p, data + worker.body_off, k);
        worker.body_off += k;
        *got = k;
        if (worker.body_off < msg.len)
            return 0;
        worker.body_off = 0;
    } else if (msg.type == CHANNEL_BODY_END && msg.id == worker.id) {
        worker.body_ended = true;
        *got = 0;
    } else if (msg.type == CHANNEL_STOP) {
        worker.stop = true;
    } else {
        return ERR_CORRUPT;
    }
    channel_take(worker.channel);
    if (channel_release(worker.channel))
        wake_bell_ring(worker.opt->bell_fd);
    return worker.stop && msg.type == CHANNEL_STOP ? ERR_AGAIN : 0;
}

static int worker_read_body(void *arg, char *p, size_t n, size_t *got)
{
    (void)arg;
    if (worker.body_fd >= 0) {
        int rc = fs_pread(worker.body_fd, p, n, worker.body_off, got);

        if (rc == 0)
            worker.body_off += *got;
        return rc;
    }
    if (worker.forked)
        return ERR_CLOSED;
    for (;;) {
        int rc;

        if (worker.body_ended) {
            *got = 0;
            return 0;
        }
        rc = worker_body_message(p, n, got);
        if (rc != ERR_AGAIN)
            return rc;
        if (worker_cancelled())
            return ERR_CLOSED;
        worker_ring(); /* what PHP said so far must not wait for what the client says next */
        rc = channel_wait_message(worker.channel, WORKER_WAIT_MS);
        if (rc == ERR_CORRUPT)
            return rc;
    }
}

static int worker_send_fields(uint16_t type, const struct embed_head *head)
{
    struct message_field *fields = NULL;
    struct message_head out = {.status = head->status, .reason = head->reason};
    size_t n = MIN(head->nfields, (size_t)MESSAGE_MAX_FIELDS);
    int rc;

    if (n)
        fields = mem_new_array(n, sizeof(*fields));
    for (size_t i = 0; i < n; i++) {
        if (head->fields[i].name.len)
            fields[out.nfields++] =
                (struct message_field){head->fields[i].name, head->fields[i].value};
    }
    out.fields = fields;
    buf_clear(&worker.scratch);
    rc = message_head_encode(&out, &worker.scratch);
    mem_free(fields);
    if (rc == 0)
        rc = worker_put(type, buf_str(&worker.scratch));
    if (rc == ERR_TOOBIG) {
        log_error("response_head_too_big", F_STR("request_id", worker.request_id),
            F_STR("uri", worker.uri), F_UINT("fields", head->nfields));
        out = (struct message_head){.status = 500};
        buf_clear(&worker.scratch);
        rc = message_head_encode(&out, &worker.scratch);
        if (rc == 0)
            rc = worker_put(type, buf_str(&worker.scratch));
    }
    return rc;
}

static int worker_send_head(void *arg, const struct embed_head *head)
{
    (void)arg;
    for (size_t i = 0; i < head->nfields; i++)
        if (str_ieq(head->fields[i].name, STR("X-Accel-Buffering")))
            worker.unbuffered = str_ieq(str_trim(head->fields[i].value), STR("no"));
    return worker_send_fields(CHANNEL_HEAD, head);
}

static int worker_send_informational(void *arg, const struct embed_head *head)
{
    int rc;

    (void)arg;
    rc = worker_send_fields(CHANNEL_INFO, head);
    worker_ring();
    return rc;
}

static int worker_write(void *arg, const char *p, size_t n)
{
    size_t max = channel_max_data(worker.channel) / 4;

    (void)arg;
    if (worker_cancelled())
        return ERR_CLOSED;
    while (n && !worker.finished) {
        size_t k = MIN(n, max);
        int rc = worker_put(CHANNEL_DATA, str_n(p, k));

        if (rc)
            return rc;
        p += k;
        n -= k;
    }
    if (worker.unbuffered)
        worker_ring();
    return 0;
}

static int worker_flush(void *arg)
{
    int rc;

    (void)arg;
    if (worker.finished)
        return 0;
    rc = worker_put(CHANNEL_FLUSH, STR_NONE);
    worker_ring();
    if (rc)
        return rc;
    return worker_cancelled() ? ERR_CLOSED : 0;
}

static int worker_end_response(void)
{
    if (worker.finished)
        return 0;
    worker.finished = true;
    return worker_put(CHANNEL_END, STR_NONE);
}

static int worker_finish(void *arg)
{
    int rc = worker_end_response();

    (void)arg;
    worker_ring();
    return rc;
}

static bool worker_aborted(void *arg)
{
    (void)arg;
    return worker_cancelled();
}

static void worker_log(
    void *arg, enum embed_log_kind kind, struct str message, const char *script, uint32_t line)
{
    bool php = kind == EMBED_LOG_PHP_MESSAGE;
    struct log_field at = script ? F_CSTR("script", script) : F_STR("script", STR_NONE);

    (void)arg;
    if (line)
        log_emit(LOG_WARN, php ? "php_message" : "php_error_log",
            (const struct log_field[]){F_STR("message", message),
                F_STR("request_id", worker.request_id), F_STR("uri", worker.uri), at,
                F_UINT("line", line), {.kind = LOG_KIND_END}});
    else
        log_emit(LOG_WARN, php ? "php_message" : "php_error_log",
            (const struct log_field[]){F_STR("message", message),
                F_STR("request_id", worker.request_id), F_STR("uri", worker.uri), at,
                {.kind = LOG_KIND_END}});
    if (php && worker.channel && worker.id)
        (void)worker_put(CHANNEL_NOTE, str_sub(message, 0, WORKER_NOTE_MAX)); /* it is logged */
}

/* A script's child must not speak for the worker. */
static void worker_forked(void *arg)
{
    (void)arg;
    worker.forked = true;
}

static void worker_opcache_reset(void *arg)
{
    (void)arg;
    log_info("opcache_reset", F_STR("request_id", worker.request_id), F_STR("uri", worker.uri));
}

const struct embed_host worker_host = {
    .read_body = worker_read_body,
    .send_head = worker_send_head,
    .send_informational = worker_send_informational,
    .write = worker_write,
    .flush = worker_flush,
    .finish = worker_finish,
    .aborted = worker_aborted,
    .log = worker_log,
    .forked = worker_forked,
    .opcache_reset = worker_opcache_reset,
};

/* --- one request ------------------------------------------------------------------------------ */

static void worker_fill(const struct message_request *m, struct embed_request *r)
{
    *r = (struct embed_request){
        .method = m->method,
        .uri = m->uri,
        .query = m->query,
        .script_filename = m->script_filename,
        .script_name = m->script_name,
        .path_info = m->path_info,
        .document_root = m->document_root,
        .document_uri = m->document_uri,
        .protocol = m->protocol,
        .scheme = m->scheme,
        .path = m->path,
        .server_name = m->server_name,
        .server_addr = m->server_addr,
        .server_port = m->server_port,
        .remote_addr = m->remote_addr,
        .remote_port = m->remote_port,
        .server_software = m->server_software,
        .content_type = m->content_type,
        .cookie = m->cookie,
        .authorization = m->authorization,
        .request_id = m->request_id,
        .content_length = m->content_length,
        .body_streaming = m->body_streaming,
        .time = m->time,
        .nheaders = m->nheaders,
        .env = worker.env,
        .nenv = worker.nenv,
    };
    _Static_assert(sizeof(struct message_field) == sizeof(struct embed_field), "same layout");
    r->headers = (const struct embed_field *)(const void *)m->headers;
}

/* Receives the descriptor of a spooled body: the channel announces it, the socket carries it. */
static int worker_take_body_fd(void)
{
    int fds[SOCK_MSG_FDS];
    struct channel_msg msg;
    const char *data;
    size_t nfds = 0, got = 0;
    char byte[16];
    int rc;

    while ((rc = channel_peek(worker.channel, &msg, &data)) == ERR_AGAIN) {
        rc = channel_wait_message(worker.channel, WORKER_FD_MS);
        if (rc && rc != ERR_INTR)
            return rc;
    }
    if (rc)
        return rc;
    if (msg.type != CHANNEL_BODY_FD || msg.id != worker.id)
        return ERR_CORRUPT;
    channel_take(worker.channel);
    if (channel_release(worker.channel))
        wake_bell_ring(worker.opt->bell_fd);
    rc = sock_wait_readable(worker.socket, WORKER_FD_MS);
    if (rc == 0)
        rc = sock_recv_msg(worker.socket, byte, sizeof(byte), &got, fds, &nfds);
    if (rc)
        return rc;
    if (nfds != 1) {
        for (size_t i = 0; i < nfds; i++)
            fs_close(fds[i]);
        return ERR_PROTO;
    }
    worker.body_fd = fds[0];
    return 0;
}

/*
 * Takes body messages that PHP did not read, so that the next message is a new request. The answer
 * is complete, so the front sends no more of them and says so with the cancel word: what the client
 * still sends is not this worker's business.
 */
static void worker_drop_body(void)
{
    bool gone = worker.client_gone;
    char sink[4096];
    size_t got;

    while (!worker.body_ended && worker.body_fd < 0 && !worker_cancelled())
        if (worker_read_body(NULL, sink, sizeof(sink), &got))
            break;
    while (!worker.body_ended && worker.body_fd < 0)
        if (worker_body_message(sink, sizeof(sink), &got))
            break;
    worker.client_gone = gone;
    fs_close(worker.body_fd);
    worker.body_fd = -1;
}

static void worker_say_done(const struct embed_result *res, uint64_t start_ns, uint64_t cpu_ns)
{
    struct message_done done = {
        .end = (enum message_end)res->end,
        .status = res->status,
        .memory_peak = res->memory_peak,
        .php_us = (clock_mono_ns() - start_ns) / 1000,
        .replace = res->replace ? MESSAGE_REPLACE_PHP : MESSAGE_STAYS,
        .client_gone = res->client_gone || worker.client_gone,
        .sessions = res->sessions.opened,
        .sessions_taken_over = res->sessions.taken_over,
        .sessions_not_written = res->sessions.not_written,
        .session_wait_us = res->sessions.waited_ns / 1000,
        .cpu_ns = cpu_ns,
    };
    const struct worker_options *o = worker.opt;

    worker.served++;
    if (o->max_requests && worker.served >= o->max_requests)
        done.replace = MESSAGE_REPLACE_REQUESTS;
    if (o->max_memory && worker.served % WORKER_MEMORY_EVERY == 0) {
        done.resident = sysinfo_resident(0);
        if (done.resident > o->max_memory)
            done.replace = MESSAGE_REPLACE_MEMORY;
    }
    if (done.replace)
        worker.stop = true;
    buf_clear(&worker.scratch);
    message_done_encode(&done, &worker.scratch);
    worker.id = 0;
    while (worker_put(CHANNEL_DONE, buf_str(&worker.scratch)) == ERR_CLOSED)
        ; /* the cancel word cannot name request 0: comes back only with room or a broken channel */
    worker_ring();
}

/* "ephpm: worker SITE/GENERATION GET /uri" */
static void worker_title(struct str what, struct str uri)
{
    char generation[20];
    struct str parts[] = {STR("ephpm: worker "), str_c(worker.opt->site), STR("/"),
        str_n(generation, str_put_u64(generation, worker.opt->generation)), STR(" "), what,
        STR(" "), uri};

    process_set_title_parts(parts, uri.len ? ARRAY_LEN(parts) : ARRAY_LEN(parts) - 2);
}

/* Takes what scripts left behind of their children. */
static void worker_reap(void)
{
    struct process_status st;
    int rc;

    do {
        rc = process_reap(&st);
    } while (rc == 0);
    worker.has_children = rc != ERR_NOTFOUND;
}

static int worker_serve(const struct channel_msg *msg, const char *data)
{
    struct message_request m;
    struct embed_request req;
    struct embed_result res = {0};
    uint64_t start = clock_mono_ns(), cpu;
    int rc;

    buf_clear(&worker.block);
    buf_add(&worker.block, data, msg->len);
    channel_take(worker.channel);
    if (channel_release(worker.channel)) /* the first body message may wait for this room */
        wake_bell_ring(worker.opt->bell_fd);
    arena_reset(&worker.arena);
    rc = message_request_decode(worker.block.p, worker.block.len, &worker.arena, &m);
    if (rc)
        return rc;
    worker.id = msg->id;
    worker.finished = worker.client_gone = worker.unbuffered = false;
    worker.body_off = 0;
    worker.body_ended = m.content_length <= 0 && !m.body_streaming && !m.body_fd;
    worker.request_id = m.request_id;
    worker.uri = m.uri;
    if (m.body_fd) {
        rc = worker_take_body_fd();
        if (rc)
            return rc;
    }
    worker_fill(&m, &req);
    worker_title(m.method, m.uri);
    cpu = m.measured ? clock_cpu_ns() : 0;
    embed_run(&req, &res);
    cpu = m.measured ? clock_cpu_ns() - cpu : 0;
    worker.has_children = worker.has_children || res.forked;
    if (worker.has_children)
        worker_reap();
    rc = worker_end_response();
    if (rc == ERR_CORRUPT)
        return rc;
    worker_drop_body();
    worker.request_id = worker.uri = STR_NONE;
    worker_say_done(&res, start, cpu);
    return 0;
}

static void worker_on_interrupt(int sig)
{
    (void)sig;
    embed_interrupt();
}

/* A broken pipe is an error of the write. Not ignored but caught, as programs that PHP starts would
 * ignore it, too. */
static void worker_on_pipe(int sig)
{
    (void)sig;
}

static void worker_idle_title(void)
{
    worker_title(STR("idle"), STR_NONE);
}

/* The site's entries of $_SERVER, EPHPM_GENERATION and EPHPM_WORKER; as long as the process. */
static void worker_make_env(const struct worker_options *opt)
{
    static struct buf generation, id;

    worker.env = mem_new_array(opt->nenv + 2, sizeof(*worker.env));
    for (size_t i = 0; i < opt->nenv; i++)
        worker.env[worker.nenv++] = opt->env[i];
    buf_add_u64(&generation, opt->generation);
    buf_add_u64(&id, opt->id);
    worker.env[worker.nenv++] = (struct embed_field){STR("EPHPM_GENERATION"), buf_str(&generation)};
    worker.env[worker.nenv++] = (struct embed_field){STR("EPHPM_WORKER"), buf_str(&id)};
}

static int worker_start(const struct worker_options *opt)
{
    struct message_ready ready = {.pid = (uint32_t)process_id()};
    struct embed_status st;
    int rc;

    worker.opt = opt;
    worker.socket = opt->socket_fd;
    worker_make_env(opt);
    rc = channel_open(opt->channel_fd, CHANNEL_WORKER, &worker.channel);
    fs_close(opt->channel_fd);
    if (rc)
        return rc;
    embed_after_fork();
    embed_install_crash_handler();
    rc = process_on_signal(SIGUSR1, worker_on_interrupt);
    if (rc == 0)
        rc = process_on_signal(SIGPIPE, worker_on_pipe);
    if (rc)
        return rc;
    embed_get_status_quick(&st);
    ready.opcache = st.opcache;
    ready.jit = st.jit;
    (void)snprintf(ready.php_version, sizeof(ready.php_version), "%s", embed_php_version());
    message_ready_encode(&ready, &worker.scratch);
    rc = worker_put(CHANNEL_READY, buf_str(&worker.scratch));
    worker_ring();
    worker_idle_title();
    return rc;
}

/* Nobody holds the other end of the socket: the master gave this worker up before the front knew
 * it. */
static bool worker_is_forgotten(void)
{
    int fds[SOCK_MSG_FDS];
    char byte[16];
    size_t got, nfds = 0;

    return sock_wait_readable(worker.socket, 0) == 0 &&
           sock_recv_msg(worker.socket, byte, sizeof(byte), &got, fds, &nfds) == ERR_EOF;
}

int worker_run(const struct worker_options *opt)
{
    int rc = worker_start(opt);

    while (rc == 0 && !worker.stop) {
        struct channel_msg msg;
        const char *data;

        rc = channel_peek(worker.channel, &msg, &data);
        if (rc == ERR_AGAIN) {
            rc = channel_wait_message(worker.channel, worker.has_children ? WORKER_REAP_MS
                                                      : worker.served     ? -1
                                                                          : WORKER_FIRST_MS);
            if (rc == ERR_TIMEOUT && !worker.served && worker_is_forgotten())
                worker.stop = true;
            if (worker.has_children)
                worker_reap();
            if (rc == ERR_INTR || rc == ERR_TIMEOUT)
                rc = 0;
            continue;
        }
        if (rc)
            break;
        if (msg.type == CHANNEL_STOP) {
            worker.stop = true;
        } else if (msg.type == CHANNEL_REQUEST && (msg.flags & CHANNEL_OFFERED) &&
                   !channel_claim(worker.channel, msg.id)) {
            channel_take(worker.channel); /* another worker was free earlier */
            if (channel_release(worker.channel))
                wake_bell_ring(opt->bell_fd);
        } else if (msg.type == CHANNEL_REQUEST) {
            rc = worker_serve(&msg, data);
            worker_idle_title();
        } else if (msg.type == CHANNEL_BODY || msg.type == CHANNEL_BODY_END) {
            channel_take(worker.channel); /* what an earlier request did not read of its body */
            if (channel_release(worker.channel))
                wake_bell_ring(opt->bell_fd);
        } else {
            rc = ERR_CORRUPT;
        }
    }
    if (rc) {
        log_error("worker_failed", F_UINT("worker", opt->id), F_ERR(rc));
        return 1;
    }
    return 0;
}
