/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "net/stream.h"

#include "base/mem.h"
#include "platform/fs.h"

enum {
    STREAM_IOV = 16,           /* parts per system call */
    STREAM_FILE_STEP = 1 << 20 /* bytes of a file per turn, so that others get theirs */
};

enum stream_kind { STREAM_MEMORY, STREAM_FILE, STREAM_SPOOL };

struct stream_part {
    struct list node;
    enum stream_kind kind;
    uint64_t off; /* in the file, or into data */
    uint64_t len; /* left to send */
    int fd;       /* STREAM_FILE */
    stream_release_cb *release;
    void *arg;
    char data[]; /* STREAM_MEMORY */
};

/* n bytes of p leave the queue. */
static void stream_count_gone(struct stream *s, const struct stream_part *p, uint64_t n)
{
    if (p->kind == STREAM_MEMORY)
        s->queued_memory -= (size_t)n;
    else
        s->queued_file -= n;
    if (p->kind == STREAM_SPOOL) {
        s->spool_left -= n;
        if (s->spool_left == 0) {
            /* A new file next time: the socket's queue still refers to this one's pages (sendfile
             * does not copy), so what was sent must not be written over. */
            fs_close(s->spool_fd);
            s->spool_fd = -1;
            s->spool_end = 0;
        }
    }
}

static void stream_part_free(struct stream *s, struct stream_part *p)
{
    list_remove(&p->node);
    stream_count_gone(s, p, p->len);
    if (p->release)
        p->release(p->arg);
    mem_free(p);
}

static void stream_update_watch(struct stream *s)
{
    int ev = s->want_read ? NET_READ : 0;

    if (!list_empty(&s->parts) || s->error)
        ev |= NET_WRITE;
    net_watch_set(s->watch, ev);
}

/* Takes n sent bytes off the front of the queue. */
static void stream_sent(struct stream *s, size_t n)
{
    s->sent += n;
    while (n) {
        struct stream_part *p = CONTAINER_OF(list_first(&s->parts), struct stream_part, node);
        uint64_t k = MIN(p->len, (uint64_t)n);

        p->off += k;
        p->len -= k;
        stream_count_gone(s, p, k);
        n -= (size_t)k;
        if (p->len == 0)
            stream_part_free(s, p);
    }
}

static int stream_send_memory(struct stream *s, size_t *sent)
{
    struct str iov[STREAM_IOV];
    size_t n = 0;
    bool more = false;

    list_each (it, &s->parts) {
        struct stream_part *p = CONTAINER_OF(it, struct stream_part, node);

        if (p->kind != STREAM_MEMORY || n == STREAM_IOV) {
            more = true;
            break;
        }
        iov[n++] = str_n(p->data + p->off, (size_t)p->len);
    }
    return sock_sendv(s->fd, iov, n, more, sent);
}

/* Sends as much of the queue as the socket takes. ERR_AGAIN when it is full. */
static int stream_flush(struct stream *s)
{
    uint64_t file_budget = STREAM_FILE_STEP;

    while (!list_empty(&s->parts)) {
        struct stream_part *p = CONTAINER_OF(list_first(&s->parts), struct stream_part, node);
        size_t sent = 0;
        int rc;

        if (p->kind == STREAM_MEMORY) {
            rc = stream_send_memory(s, &sent);
        } else {
            int fd = p->kind == STREAM_SPOOL ? s->spool_fd : p->fd;
            size_t n = (size_t)MIN(p->len, file_budget);

            if (n == 0)
                return ERR_AGAIN;
            rc = sock_sendfile(s->fd, fd, p->off, n, &sent);
            if (rc == 0 && sent == 0)
                rc = ERR_IO; /* the file became shorter: the promised length cannot be kept */
            file_budget -= sent;
        }
        if (rc)
            return rc;
        stream_sent(s, sent);
    }
    return 0;
}

static void stream_fail(struct stream *s, int code)
{
    if (!s->error)
        s->error = code == ERR_AGAIN ? ERR_IO : code;
    while (!list_empty(&s->parts))
        stream_part_free(s, CONTAINER_OF(list_first(&s->parts), struct stream_part, node));
    stream_update_watch(s); /* the loop will report it */
}

static void stream_ready(void *arg, int events)
{
    struct stream *s = arg;
    struct net_watch *w = s->watch;

    if (events & NET_WRITE) {
        uint64_t before = s->sent;
        int rc;

        if (s->error) {
            s->told = true;
            s->want_read = false;
            net_watch_set(s->watch, 0);
            s->cbs->on_error(s, s->error);
            return;
        }
        rc = stream_flush(s);
        if (rc && rc != ERR_AGAIN) {
            stream_fail(s, rc);
            return;
        }
        stream_update_watch(s);
        if (rc == 0)
            s->cbs->on_drained(s);
        else if (s->sent != before && s->cbs->on_progress)
            s->cbs->on_progress(s);
        if (s->watch != w) /* closed meanwhile */
            return;
    }
    if ((events & NET_READ) && s->want_read)
        s->cbs->on_readable(s);
}

int stream_open(struct stream *s, struct net_loop *l, sock_t fd, const struct stream_cbs *cbs)
{
    struct net_watch *w;
    int rc = net_watch_open(l, fd, stream_ready, s, &w);

    if (rc)
        return rc;
    *s = (struct stream){.fd = fd, .loop = l, .watch = w, .cbs = cbs, .spool_fd = -1};
    s->limits.memory = 1 << 20;
    list_init(&s->parts);
    return 0;
}

void stream_set_limits(struct stream *s, const struct stream_limits *limits)
{
    s->limits = *limits;
}

void stream_close(struct stream *s)
{
    if (!s->watch)
        return;
    net_watch_close(s->watch);
    s->watch = NULL;
    while (!list_empty(&s->parts))
        stream_part_free(s, CONTAINER_OF(list_first(&s->parts), struct stream_part, node));
    fs_close(s->spool_fd);
    s->spool_fd = -1;
    sock_close(s->fd);
    s->fd = SOCK_NONE;
}

void stream_abort(struct stream *s)
{
    if (s->watch)
        sock_set_reset_on_close(s->fd);
    stream_close(s);
}

void stream_want_read(struct stream *s, bool on)
{
    s->want_read = on;
    if (s->watch && !s->told)
        stream_update_watch(s);
}

int stream_read(struct stream *s, void *p, size_t n, size_t *got)
{
    int rc = sock_recv(s->fd, p, n, got);

    if (rc == 0)
        s->received += *got;
    return rc;
}

uint64_t stream_queued(const struct stream *s)
{
    return s->queued_memory + s->queued_file;
}

uint64_t stream_spooled(const struct stream *s)
{
    return s->spool_left;
}

bool stream_has_room(const struct stream *s)
{
    /* Nothing goes to memory again before the spool is empty: the order would be lost. */
    if (s->spool_left == 0 && s->queued_memory < s->limits.memory)
        return true;
    return s->spool_end < s->limits.spool;
}

static void stream_queue_memory(struct stream *s, struct str data)
{
    struct stream_part *p = mem_resize(NULL, sizeof(*p) + data.len);

    *p = (struct stream_part){.kind = STREAM_MEMORY, .len = data.len, .fd = -1};
    memcpy(p->data, data.p, data.len);
    list_push(&s->parts, &p->node);
    s->queued_memory += data.len;
}

static int stream_queue_spool(struct stream *s, const struct str *parts, size_t n, size_t total)
{
    struct list *last = s->parts.prev;
    struct stream_part *p = NULL;
    bool grows = false; /* the last part goes on where the file ends */
    uint64_t at = s->spool_end;
    int rc = 0;

    if (s->spool_fd < 0)
        rc = fs_open_spool(s->limits.spool_dir, &s->spool_fd);
    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = fs_pwrite(s->spool_fd, parts[i].p, parts[i].len, at);
        at += parts[i].len;
    }
    if (rc)
        return ERR_NOSPACE;
    if (last != &s->parts) {
        p = CONTAINER_OF(last, struct stream_part, node);
        grows = p->kind == STREAM_SPOOL && p->off + p->len == s->spool_end;
    }
    if (!grows) {
        p = mem_new(sizeof(*p));
        p->kind = STREAM_SPOOL;
        p->fd = -1;
        p->off = s->spool_end;
        list_push(&s->parts, &p->node);
    }
    p->len += total;
    s->spool_end += total;
    s->spool_left += total;
    s->queued_file += total;
    return 0;
}

/* Queues everything or, when the spool fails, nothing. */
static int stream_queue(struct stream *s, const struct str *parts, size_t n, size_t total)
{
    bool alone = list_empty(&s->parts);

    /* Without a spool stream_write() checked that there was room at all. */
    if (s->limits.spool && (s->spool_left || s->queued_memory + total > s->limits.memory)) {
        int rc = stream_queue_spool(s, parts, n, total);

        /* Nothing queued and no disk: this one write is kept in memory, the next ones wait. */
        if (rc == 0 || !alone)
            return rc;
    }
    for (size_t i = 0; i < n; i++)
        stream_queue_memory(s, parts[i]);
    return 0;
}

int stream_write(struct stream *s, const struct str *parts, size_t n, bool more)
{
    struct str rest[STREAM_IOV];
    size_t total = 0, sent = 0, k = 0;
    int rc;

    ENSURE(n <= STREAM_IOV);
    if (s->error || !s->watch)
        return ERR_CLOSED;
    for (size_t i = 0; i < n; i++)
        total += parts[i].len;
    if (total == 0)
        return 0;
    if (list_empty(&s->parts)) {
        rc = sock_sendv(s->fd, parts, n, more, &sent);
        if (rc && rc != ERR_AGAIN) {
            stream_fail(s, rc);
            return ERR_CLOSED;
        }
        s->sent += sent;
        if (sent == total)
            return 0;
    } else if (!stream_has_room(s)) {
        return ERR_FULL;
    }
    total -= sent;
    for (size_t i = 0; i < n; i++) {
        size_t cut = MIN(sent, parts[i].len);

        sent -= cut;
        if (cut < parts[i].len)
            rest[k++] = str_n(parts[i].p + cut, parts[i].len - cut);
    }
    rc = stream_queue(s, rest, k, total);
    stream_update_watch(s);
    return rc;
}

int stream_write_file(
    struct stream *s, int fd, uint64_t off, uint64_t len, stream_release_cb *release, void *arg)
{
    struct stream_part *p;
    int rc;

    if (s->error || !s->watch || len == 0) {
        if (release)
            release(arg);
        return len == 0 && s->watch && !s->error ? 0 : ERR_CLOSED;
    }
    p = mem_new(sizeof(*p));
    *p = (struct stream_part){
        .kind = STREAM_FILE, .off = off, .len = len, .fd = fd, .release = release, .arg = arg};
    list_push(&s->parts, &p->node);
    s->queued_file += len;
    rc = stream_flush(s);
    if (rc && rc != ERR_AGAIN) {
        stream_fail(s, rc);
        return ERR_CLOSED;
    }
    stream_update_watch(s);
    return 0;
}
