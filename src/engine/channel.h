/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_CHANNEL_H
#define EPHPM_ENGINE_CHANNEL_H

/*
 * The channel: one shared-memory segment between the front and one worker.
 *
 * Two byte rings of framed messages, one per direction, each with one producer and one consumer:
 *
 *   0                       4096           + sizes.request      + sizes.response
 *   +-----------------------+--------------+--------------------+
 *   | struct channel_header | request ring | response ring      |
 *   | zeros up to 4096      | front->worker| worker->front      |
 *   +-----------------------+--------------+--------------------+
 *
 *   header
 *     0 u64 magic         8 u64 fingerprint  16 u32 version  20 u32 request  24 u32 response
 *    64 u64 cancel_id    72 u32 cancel_why   76 u32 worker_bell  80 u64 offer
 *   128 struct channel_ring of the request ring
 *   320 struct channel_ring of the response ring
 *   ring
 *     0 u64 head: bytes ever published
 *    64 u64 tail: bytes ever given back
 *   128 u32 waiting: the consumer sleeps
 *   132 u32 need: the producer sleeps until so many bytes are free
 *   message
 *     0 u32 length        4 u16 type          6 u16 flags     8 u64 id        16 data, pad to 16
 *
 * A message never wraps: what is left at the ring's end is skipped by a pad message (type 0), which
 * goes before the message that did not fit there. So a message takes at most half of its ring, else
 * it might fit at no position. Cursors are 64-bit byte counts that only grow; position = cursor mod
 * size; sizes are powers of two. The producer copies messages behind its private cursor and makes
 * them visible together with channel_publish(), so a small response costs one wake-up. Each cursor
 * and the pair of sleep words have a cache line of their own.
 *
 * Trust: each side keeps its own cursors and the sizes privately and treats everything in the
 * segment as input: a peer's cursor that runs backwards, too far or off the grid, a length that
 * leaves the published part, an unknown layout are ERR_CORRUPT, and stay so for this view; after
 * which the owner ends that worker. A message's header is copied to the stack, checked, then used;
 * its data may still change under the reader, so whoever parses it copies it first.
 *
 * Waking: the consumer that finds nothing sets its ring's `waiting` word and looks again; the
 * producer that published exchanges it with 0 and rings only when it was set. Same, with `need`,
 * for a producer that waits for room. A worker sleeps on the futex word worker_bell; the front
 * sleeps in its event loop and is rung by doorbell. The side that is told "ring" by a return value
 * does the ringing. No function here makes a system call but create, open, close, the two waits,
 * channel_ring_worker() and channel_set_cancel().
 *
 * Death: a worker holds nothing outside its segment. When its process is gone the front may still
 * peek what was published (what was not is never seen), then closes its view; the kernel frees the
 * memory with the last mapping. A new worker gets a new segment.
 *
 * struct channel is this process's view (private cursors, mapping); one thread per side.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum channel_side { CHANNEL_FRONT, CHANNEL_WORKER };

/* Message types; the payloads are described in engine/message.h. */
enum channel_type {
    CHANNEL_REQUEST = 1, /* front: a request block */
    CHANNEL_BODY,        /* front: body bytes */
    CHANNEL_BODY_FD,     /* front: the body is a file; descriptor over the worker's socket */
    CHANNEL_BODY_END,    /* front: body complete */
    CHANNEL_STOP,        /* front: end when idle */
    CHANNEL_HEAD = 32,   /* worker: final response head */
    CHANNEL_INFO,        /* worker: informational (1xx) head */
    CHANNEL_DATA,        /* worker: response body bytes */
    CHANNEL_FLUSH,       /* worker: send what you have now */
    CHANNEL_END,         /* worker: response complete */
    CHANNEL_DONE,        /* worker: ready for the next request; carries statistics */
    CHANNEL_READY,       /* worker: started, first message of its life */
    CHANNEL_NOTE,        /* worker: text of a PHP message of the running request */
};

/* The layout. Only channel.c and tests touch these. */
struct channel_ring {
    _Atomic uint64_t head;
    char pad0[56];
    _Atomic uint64_t tail;
    char pad1[56];
    _Atomic uint32_t waiting;
    _Atomic uint32_t need;
    char pad2[56];
};

struct channel_header {
    uint64_t magic;
    uint64_t fingerprint;
    uint32_t version;
    uint32_t request;
    uint32_t response;
    char pad0[36];
    _Atomic uint64_t cancel_id;
    _Atomic uint32_t cancel_why;
    _Atomic uint32_t worker_bell;
    _Atomic uint64_t offer;
    char pad1[40];
    struct channel_ring rings[2]; /* request, response */
};

#define CHANNEL_RINGS_OFFSET 4096
#define CHANNEL_MSG_HEADER   16
#define CHANNEL_OFFERED      1 /* flag of CHANNEL_REQUEST: to be claimed before it is served */
#define CHANNEL_RING_MIN     (64u << 10)
#define CHANNEL_RING_MAX     (64u << 20)

struct channel_msg {
    uint16_t type;
    uint16_t flags;
    uint32_t len; /* of the data */
    uint64_t id;  /* request the message belongs to */
};

struct channel_sizes {
    uint32_t request; /* bytes, power of two, 64 KiB to 64 MiB */
    uint32_t response;
};

struct channel;

/* Makes a segment; the descriptor is passed to both sides. ERR_INVAL for sizes, ERR_NOSPACE,
 * ERR_MFILE, ERR_NOMEM. */
int channel_create(struct channel_sizes sizes, int *fd) MUST_CHECK;
/* Maps it. Both sides check magic, version, fingerprint and sizes: ERR_VERSION, ERR_CORRUPT. The fd
 * may be closed afterwards. */
int channel_open(int fd, enum channel_side side, struct channel **out) MUST_CHECK;
/* The other side on c's mapping, for two threads of one process: only there can the thread
 * sanitizer see that both touch the same memory. Close it before c. */
struct channel *channel_open_other(const struct channel *c) MUST_CHECK;
void channel_close(struct channel *c); /* NULL is fine */

/* Largest data length that one message can carry in the ring this side writes: half of it. */
size_t channel_max_data(const struct channel *c);
/*
 * Room for a message of n data bytes right now? And: the largest n for which there is, 0 also when
 * not even an empty message fits. Both answer "yes, the largest" once the peer broke the protocol,
 * so that the put that follows says it.
 */
bool channel_has_room(struct channel *c, size_t n);
size_t channel_room(struct channel *c);

/*
 * Copies a message made of parts behind the producer's cursor; not visible yet.
 * ERR_AGAIN: no room now. ERR_TOOBIG: never fits. ERR_CORRUPT: the peer's cursor is impossible.
 */
int channel_put(struct channel *c, uint16_t type, uint16_t flags, uint64_t id,
    const struct str *parts, size_t nparts) MUST_CHECK;
/* Makes all put messages visible. True: the consumer sleeps, ring it. */
bool channel_publish(struct channel *c) MUST_CHECK;
/*
 * The place of the message that is put next; and: did the consumer give back room beyond that
 * place, that is, did it take that message? For a dead peer, whose work is to be done again.
 */
uint64_t channel_mark(const struct channel *c);
bool channel_passed(struct channel *c, uint64_t mark);
/* Something was put and not yet published. */
bool channel_unpublished(const struct channel *c);

/*
 * The next message without taking it: header by value; data (never NULL, 16-aligned) stays valid
 * until the channel_release() that follows its channel_take(). ERR_AGAIN when there is none,
 * ERR_CORRUPT.
 */
int channel_peek(struct channel *c, struct channel_msg *msg, const char **data) MUST_CHECK;
/* Takes the message last peeked (once; without a peek nothing happens). Its room is given back by
 * channel_release(). */
void channel_take(struct channel *c);
/* Gives room of taken messages back to the producer. True: the producer waits for room, ring it.
 * This is said once: an answer ignored is a producer that sleeps for ever. */
bool channel_release(struct channel *c) MUST_CHECK;

/* Consumer announces sleep; false when a message came meanwhile or the channel is corrupt: do not
 * sleep, peek. Release first: the producer may sleep for the room of what was taken. */
bool channel_prepare_sleep(struct channel *c) MUST_CHECK;
/* Consumer is awake again, no ringing needed. */
void channel_cancel_sleep(struct channel *c);
/*
 * Producer announces that it waits for room of n data bytes; false when there is room by now or the
 * channel is corrupt: do not sleep, put. Before or after it, but before sleeping, publish: what was
 * put and never published is never given back. n is at most channel_max_data().
 */
bool channel_prepare_room(struct channel *c, size_t n) MUST_CHECK;

/*
 * Worker side only: sleeps until a message is there (release first), or until n data bytes fit
 * (publish first). timeout_ms -1: for ever. ERR_TIMEOUT; ERR_CORRUPT; ERR_TOOBIG for an n that
 * never fits; ERR_INTR: a signal handler ran or the front rang for another reason: look at the
 * cancel word, then call again. ERR_INTR may also come for no reason.
 */
int channel_wait_message(struct channel *c, int timeout_ms) MUST_CHECK;
int channel_wait_room(struct channel *c, size_t n, int timeout_ms) MUST_CHECK;
/* Front side only: wakes the worker, whichever of the two it sleeps for. Thread-safe. */
void channel_ring_worker(struct channel *c);

/*
 * The offer word: a request that is put behind a running one, so that the worker finds it without
 * going to sleep, and that the front may take back until the worker claims it. Both sides exchange
 * the id with 0; who succeeds has the request. The front offers before it publishes the message.
 */
void channel_offer(struct channel *c, uint64_t id);
/* Front: is an offer still neither claimed nor revoked? Then there must not be another one. */
bool channel_is_offered(const struct channel *c);
/* Front: true when the worker has not claimed it and never will. */
bool channel_revoke(struct channel *c, uint64_t id);
/* Worker: true when it is still wanted. */
bool channel_claim(struct channel *c, uint64_t id);

/*
 * The cancel word: the front names the request that shall stop (id 0: none) and why, and wakes the
 * worker if it sleeps; the worker reads it at every write (one load). Ids are not used twice, so a
 * late cancel of an earlier request does not hit the next one.
 */
enum channel_cancel { CHANNEL_CANCEL_NONE, CHANNEL_CANCEL_CLIENT_GONE, CHANNEL_CANCEL_TIMEOUT };
void channel_set_cancel(struct channel *c, uint64_t id, enum channel_cancel why);
enum channel_cancel channel_get_cancel(const struct channel *c, uint64_t id);

#endif
