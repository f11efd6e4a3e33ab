/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_NET_STREAM_H
#define EPHPM_NET_STREAM_H

/*
 * A client's socket: reading on demand, writing through a queue.
 *
 * Writing tries the socket at once; what it does not take is queued: in memory up to a bound, then
 * in a spool file without a name, so that a slow reader costs neither a waiting producer nor
 * memory. File parts are sent with sendfile. The owner embeds struct stream and is told through
 * callbacks, which run from the loop only (never inside a call).
 *
 * After stream_close() nothing is called any more. A write error shows as on_error once, from the
 * loop. Every callback may close the stream; on_readable and on_error may free its memory, too.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "net/loop.h"

struct stream;
struct stream_part;

struct stream_cbs {
    void (*on_readable)(struct stream *s);
    /* The queue became empty. */
    void (*on_drained)(struct stream *s);
    /* Some of the queue left (progress of a slow reader). May be NULL. */
    void (*on_progress)(struct stream *s);
    /* Writing failed: the peer is gone. */
    void (*on_error)(struct stream *s, int code);
};

/* Called when a file part is no longer needed (sent, or the stream closed). */
typedef void stream_release_cb(void *arg);

struct stream_limits {
    size_t memory;         /* queued bytes kept in memory */
    uint64_t spool;        /* size that the spool file may have; 0: none */
    const char *spool_dir; /* NULL: the system's; must outlive the stream */
};

struct stream {
    sock_t fd;
    uint64_t sent;     /* bytes the kernel took, ever */
    uint64_t received; /* bytes read, ever */
    int error;         /* first write error, 0 none */
    /* private to stream.c */
    struct net_loop *loop;
    struct net_watch *watch;
    const struct stream_cbs *cbs;
    struct stream_limits limits;
    struct list parts;
    size_t queued_memory;
    uint64_t queued_file; /* file parts and spool */
    int spool_fd;
    uint64_t spool_end;  /* next write offset; 0 whenever nothing is left in it */
    uint64_t spool_left; /* bytes in the spool not sent yet */
    bool want_read;
    bool told; /* on_error was called */
};

/* Takes the socket over. */
int stream_open(
    struct stream *s, struct net_loop *l, sock_t fd, const struct stream_cbs *cbs) MUST_CHECK;
void stream_set_limits(struct stream *s, const struct stream_limits *limits);
/* Drops the queue, closes the socket. Twice is fine. */
void stream_close(struct stream *s);
/* Closes with RST instead of FIN. */
void stream_abort(struct stream *s);

void stream_want_read(struct stream *s, bool on);
/* As sock_recv. */
int stream_read(struct stream *s, void *p, size_t n, size_t *got) MUST_CHECK;

/* Bytes that were accepted but not yet taken by the kernel. */
uint64_t stream_queued(const struct stream *s);
/* How much of them lies in the spool file. */
uint64_t stream_spooled(const struct stream *s);
/* May more be written without passing the limits? */
bool stream_has_room(const struct stream *s);

/*
 * Sends the parts in order, queueing what the socket does not take. The data is copied where
 * needed. ERR_CLOSED: the peer is gone (also from an earlier write). ERR_FULL: over the limits
 * (nothing was taken), ERR_NOSPACE: the spool cannot be written, its disk is full for instance
 * (nothing was taken): write again after on_drained. more: another write follows at once.
 */
int stream_write(struct stream *s, const struct str *parts, size_t n, bool more) MUST_CHECK;
/* Queues len bytes of a file; release runs when it is not needed any more (also on error, later).
 */
int stream_write_file(struct stream *s, int fd, uint64_t off, uint64_t len,
    stream_release_cb *release, void *arg) MUST_CHECK;

#endif
