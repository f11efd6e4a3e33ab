/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_CHANNEL_H
#define EPHPM_ENGINE_CHANNEL_H

/*
 * The channel: one shared-memory segment between the front and one worker.
 *
 * Two byte rings of framed messages, one per direction, each with one producer and one consumer:
 *
 *   offset 0                    page        + ring_bytes(request)         end
 *   +---------------------------+-----------------------+------------------------+
 *   | header: magic, version,   | request ring          | response ring          |
 *   | fingerprint, sizes, pids, | front -> worker       | worker -> front        |
 *   | cancel word, two cursors  |                       |                        |
 *   +---------------------------+-----------------------+------------------------+
 *
 *   message: | u32 length | u16 type | u16 flags | u64 id | data ... | pad to 16 |
 *
 * A message never wraps: what is left at the ring's end is skipped by a pad message. Cursors are 64-bit byte counts that only
 * grow; position = cursor mod size; sizes are powers of two. The producer copies messages behind its private cursor and makes
 * them visible together with channel_publish() (release store), so a small response costs one wake-up.
 *
 * Trust: each side keeps its own cursor privately and treats everything in the segment as input: a peer's cursor that runs
 * backwards or too far, a length that leaves the published part, an unknown layout are ERR_CORRUPT, after which the owner ends that
 * worker. A header is copied to the stack, checked, then used; the data may still change under the reader, so whoever parses it copies
 * it first.
 *
 * Waking: the consumer that finds nothing sets its ring's `waiting` word and looks again; the producer that published
 * exchanges it with 0 and rings only when it was set. Same for a producer that waits for room. A worker sleeps on a futex; the
 * front sleeps in its event loop and is rung by doorbell. The side that is told "ring" by a return value does the ringing.
 *
 * struct channel is this process's view (private cursors, mapping); one thread per side.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum channel_side { CHANNEL_FRONT, CHANNEL_WORKER };

/* Message types; the payloads are described in engine/message.h. */
enum channel_type {
    CHANNEL_REQUEST = 1,  /* front: a request block */
    CHANNEL_BODY,         /* front: body bytes */
    CHANNEL_BODY_FD,      /* front: the body is a file; its descriptor comes over the worker's socket */
    CHANNEL_BODY_END,     /* front: body complete */
    CHANNEL_STOP,         /* front: end when idle */
    CHANNEL_HEAD = 32,    /* worker: final response head */
    CHANNEL_INFO,         /* worker: informational (1xx) head */
    CHANNEL_DATA,         /* worker: response body bytes */
    CHANNEL_FLUSH,        /* worker: send what you have now */
    CHANNEL_END,          /* worker: response complete */
    CHANNEL_DONE,         /* worker: ready for the next request; carries statistics */
    CHANNEL_READY,        /* worker: started, first message of its life */
};

struct channel_msg {
    uint16_t type;
    uint16_t flags;
    uint32_t len; /* of the data */
    uint64_t id;  /* request the message belongs to */
};

struct channel_sizes {
    uint32_t request;  /* bytes, power of two, 64 KiB to 64 MiB */
    uint32_t response;
};

struct channel;

/* Makes a segment; the descriptor is passed to both sides. ERR_INVAL for sizes, ERR_NOSPACE, ERR_MFILE, ERR_NOMEM. */
int channel_create(struct channel_sizes sizes, int *fd) MUST_CHECK;
/* Maps it. Both sides check magic, version, fingerprint and sizes: ERR_VERSION, ERR_CORRUPT. The fd may be closed afterwards. */
int channel_open(int fd, enum channel_side side, struct channel **out) MUST_CHECK;
void channel_close(struct channel *c); /* NULL is fine */

/* Largest data length that one message can carry in the ring this side writes. */
size_t channel_max_data(const struct channel *c);
/* Room for a message of n data bytes right now? */
bool channel_has_room(struct channel *c, size_t n);
/* Room left for data in one message now (0 when none). */
size_t channel_room(struct channel *c);

/*
 * Copies a message made of parts behind the producer's cursor; not visible yet.
 * ERR_AGAIN: no room now. ERR_TOOBIG: never fits. ERR_CORRUPT: the peer's cursor is impossible.
 */
int channel_put(struct channel *c, uint16_t type, uint16_t flags, uint64_t id, const struct str *parts, size_t nparts) MUST_CHECK;
/* Makes all put messages visible. True: the consumer sleeps, ring it. */
bool channel_publish(struct channel *c);
/* Something was put and not yet published. */
bool channel_unpublished(const struct channel *c);

/* The next message without taking it: header by value, data valid until channel_take(). ERR_AGAIN when there is none, ERR_CORRUPT. */
int channel_peek(struct channel *c, struct channel_msg *msg, const char **data) MUST_CHECK;
/* Takes the message last peeked. The room is given back by channel_release(). */
void channel_take(struct channel *c);
/* Gives room of taken messages back to the producer. True: the producer waits for room, ring it. */
bool channel_release(struct channel *c);

/* Consumer announces sleep; false when a message came meanwhile (do not sleep). */
bool channel_prepare_sleep(struct channel *c);
/* Consumer is awake again, no ringing needed. */
void channel_cancel_sleep(struct channel *c);
/* Producer announces that it waits for room of n data bytes; false when there is room by now. */
bool channel_prepare_room(struct channel *c, size_t n);

/* Worker side only: sleeps until a message is there. ERR_TIMEOUT, ERR_INTR (a signal ran), ERR_CORRUPT. timeout_ms -1: for ever. */
int channel_wait_message(struct channel *c, int timeout_ms) MUST_CHECK;
/* Worker side only: sleeps until n data bytes fit. ERR_TIMEOUT, ERR_INTR, ERR_CORRUPT. */
int channel_wait_room(struct channel *c, size_t n, int timeout_ms) MUST_CHECK;
/* Front side only: wakes the worker, whichever of the two it sleeps for. */
void channel_ring_worker(struct channel *c);

/* The cancel word: the front names the request that shall stop (0: none) and why; the worker reads it at every write. */
enum channel_cancel { CHANNEL_CANCEL_NONE, CHANNEL_CANCEL_CLIENT_GONE, CHANNEL_CANCEL_TIMEOUT };
void channel_set_cancel(struct channel *c, uint64_t id, enum channel_cancel why);
enum channel_cancel channel_get_cancel(const struct channel *c, uint64_t id);

#endif
