/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/channel.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "platform/fs.h"
#include "platform/shm.h"
#include "platform/wake.h"

#define MAGIC   0x3168636d70687065u /* "ephpmch1" on little-endian machines */
#define VERSION 1
#define PAD     0 /* message type that skips the end of the ring */
#define GRID    16

static_assert(sizeof(struct channel_ring) == 192, "layout");
static_assert(offsetof(struct channel_ring, tail) == 64, "layout");
static_assert(offsetof(struct channel_ring, waiting) == 128, "layout");
static_assert(offsetof(struct channel_ring, need) == 132, "layout");
static_assert(sizeof(struct channel_header) == 512, "layout");
static_assert(offsetof(struct channel_header, cancel_id) == 64, "layout");
static_assert(offsetof(struct channel_header, worker_bell) == 76, "layout");
static_assert(offsetof(struct channel_header, offer) == 80, "layout");
static_assert(offsetof(struct channel_header, rings) == 128, "layout");
static_assert(sizeof(struct channel_header) <= CHANNEL_RINGS_OFFSET, "layout");
static_assert(sizeof(struct channel_msg) == CHANNEL_MSG_HEADER, "layout");
static_assert(CHANNEL_MSG_HEADER == GRID, "the end of a ring holds at least a pad's header");
static_assert(ATOMIC_LLONG_LOCK_FREE == 2 && ATOMIC_INT_LOCK_FREE == 2, "between processes");

/* A message's header as it lies in the ring: two words, so that each is read once. */
union msg_words {
    uint64_t word[2];
    struct {
        uint32_t len;
        uint16_t type;
        uint16_t flags;
        uint64_t id;
    } f;
};
static_assert(sizeof(union msg_words) == CHANNEL_MSG_HEADER, "layout");

/* The ring that this side writes. */
struct producer {
    struct channel_ring *shared;
    char *base;
    uint64_t size;
    uint64_t head;      /* behind the last message put */
    uint64_t published; /* what the shared head says */
    uint64_t tail;      /* the shared tail, as last seen and found good */
};

/* The ring that this side reads. */
struct consumer {
    struct channel_ring *shared;
    const char *base;
    uint64_t size;
    uint64_t tail;     /* behind the last message taken */
    uint64_t released; /* what the shared tail says */
    uint64_t head;     /* the shared head, as last seen and found good */
    uint64_t peeked;   /* bytes that take() skips: a pad and a message; 0: nothing was peeked */
};

struct channel {
    struct channel_header *h;
    struct channel_sizes sizes;
    enum channel_side side;
    bool owns_map;
    bool corrupt;  /* the peer broke the protocol; for good */
    uint32_t bell; /* worker: worker_bell as of the end of the last sleep; a ring since then ends
                      the next one at once */
    struct producer out;
    struct consumer in;
};

/* FNV-1a over everything that both sides must agree on and a version number could forget. */
static uint64_t layout_fingerprint(void)
{
    const uint64_t parts[] = {sizeof(struct channel_header), sizeof(struct channel_ring),
        sizeof(union msg_words), CHANNEL_RINGS_OFFSET, GRID, offsetof(struct channel_header, rings),
        offsetof(struct channel_header, cancel_id), offsetof(struct channel_header, worker_bell),
        offsetof(struct channel_ring, tail), offsetof(struct channel_ring, waiting),
        offsetof(struct channel_ring, need), sizeof(void *), CHANNEL_REQUEST, CHANNEL_STOP,
        CHANNEL_HEAD, CHANNEL_READY, CHANNEL_CANCEL_TIMEOUT};
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        hash = (hash ^ parts[i]) * 0x100000001b3u;
    return hash;
}

static bool size_ok(uint32_t n)
{
    return n >= CHANNEL_RING_MIN && n <= CHANNEL_RING_MAX && (n & (n - 1)) == 0;
}

static size_t segment_bytes(uint32_t request, uint32_t response)
{
    return CHANNEL_RINGS_OFFSET + (size_t)request + (size_t)response;
}

int channel_create(struct channel_sizes sizes, int *fd)
{
    size_t bytes = segment_bytes(sizes.request, sizes.response);
    struct channel_header *h;
    void *p;
    int f, r;

    if (!size_ok(sizes.request) || !size_ok(sizes.response))
        return ERR_INVAL;
    r = shm_create("ephpm-channel", bytes, &f);
    if (r < 0)
        return r;
    r = shm_map(f, bytes, &p);
    if (r < 0) {
        fs_close(f);
        return r;
    }
    h = p;
    h->magic = MAGIC;
    h->fingerprint = layout_fingerprint();
    h->version = VERSION;
    h->request = sizes.request;
    h->response = sizes.response;
    shm_unmap(p, bytes);
    *fd = f;
    return 0;
}

/* The sizes out of a header that nobody vouches for. */
static int read_sizes(int fd, struct channel_sizes *out)
{
    struct channel_sizes sizes;
    struct channel_header *h;
    uint64_t magic, fingerprint;
    uint32_t version;
    void *p;
    int r = shm_map(fd, CHANNEL_RINGS_OFFSET, &p);

    if (r < 0)
        return r;
    h = p;
    magic = h->magic;
    fingerprint = h->fingerprint;
    version = h->version;
    sizes.request = *(volatile uint32_t *)&h->request; /* read once, checked, then used */
    sizes.response = *(volatile uint32_t *)&h->response;
    shm_unmap(p, CHANNEL_RINGS_OFFSET);
    if (magic != MAGIC)
        return ERR_CORRUPT;
    if (version != VERSION || fingerprint != layout_fingerprint())
        return ERR_VERSION;
    if (!size_ok(sizes.request) || !size_ok(sizes.response))
        return ERR_CORRUPT;
    *out = sizes;
    return 0;
}

/* A view of a mapping. */
static struct channel *view_new(void *map, struct channel_sizes sizes, enum channel_side side)
{
    struct channel *c = mem_new(sizeof(*c));
    char *request = (char *)map + CHANNEL_RINGS_OFFSET, *response = request + sizes.request;
    bool front = side == CHANNEL_FRONT;

    c->h = map;
    c->sizes = sizes;
    c->side = side;
    c->out.shared = &c->h->rings[front ? 0 : 1];
    c->out.base = front ? request : response;
    c->out.size = front ? sizes.request : sizes.response;
    c->in.shared = &c->h->rings[front ? 1 : 0];
    c->in.base = front ? response : request;
    c->in.size = front ? sizes.response : sizes.request;
    return c;
}

int channel_open(int fd, enum channel_side side, struct channel **out)
{
    struct channel_sizes sizes;
    void *p;
    int r = read_sizes(fd, &sizes);

    if (r < 0)
        return r;
    r = shm_map(fd, segment_bytes(sizes.request, sizes.response), &p);
    if (r < 0)
        return r;
    *out = view_new(p, sizes, side);
    (*out)->owns_map = true;
    return 0;
}

struct channel *channel_open_other(const struct channel *c)
{
    return view_new(c->h, c->sizes, c->side == CHANNEL_FRONT ? CHANNEL_WORKER : CHANNEL_FRONT);
}

void channel_close(struct channel *c)
{
    if (!c)
        return;
    if (c->owns_map)
        shm_unmap(c->h, segment_bytes(c->sizes.request, c->sizes.response));
    mem_free(c);
}

/* ---- producer ---- */

/* Bytes of a message in the ring. */
static uint64_t msg_bytes(uint64_t n)
{
    return CHANNEL_MSG_HEADER + ((n + GRID - 1) & ~(uint64_t)(GRID - 1));
}

size_t channel_max_data(const struct channel *c)
{
    return (size_t)(c->out.size / 2 - CHANNEL_MSG_HEADER);
}

/* Bytes from the producer's position to the end of the ring. */
static uint64_t to_end(const struct producer *o)
{
    return o->size - (o->head & (o->size - 1));
}

/* Bytes that must be free for a message of n data bytes: itself, and a pad when it does not fit
 * before the end. */
static uint64_t bytes_needed(const struct producer *o, uint64_t n)
{
    uint64_t bytes = msg_bytes(n), end = to_end(o);

    return bytes <= end ? bytes : bytes + end;
}

static uint64_t bytes_free(const struct producer *o)
{
    return o->size - (o->head - o->tail);
}

/* Looks at the consumer's cursor anew. */
static void refresh_tail(struct channel *c)
{
    struct producer *o = &c->out;
    /* seq_cst: what the consumer read before its store in channel_release() may be overwritten
     * after this load; and it is ordered after the store of `need` in channel_prepare_room(). */
    uint64_t tail = atomic_load_explicit(&o->shared->tail, memory_order_seq_cst);

    if (tail - o->tail > o->published - o->tail || tail % GRID != 0)
        c->corrupt = true;
    else
        o->tail = tail;
}

/* The last known cursor first: it saves the cache line of the other side. */
static bool have_free(struct channel *c, uint64_t bytes)
{
    if (bytes_free(&c->out) >= bytes)
        return true;
    refresh_tail(c);
    return bytes_free(&c->out) >= bytes;
}

bool channel_has_room(struct channel *c, size_t n)
{
    if (n > channel_max_data(c))
        return c->corrupt;
    return have_free(c, bytes_needed(&c->out, n)) || c->corrupt;
}

size_t channel_room(struct channel *c)
{
    size_t max = channel_max_data(c);
    uint64_t space, end, most;

    if (channel_has_room(c, max))
        return max;
    space = bytes_free(&c->out);
    end = to_end(&c->out);
    /* Either before the end, or after a pad at the start. */
    most = space <= end ? space : MAX(end, space - end);
    if (most < CHANNEL_MSG_HEADER)
        return 0;
    return MIN((size_t)(most - CHANNEL_MSG_HEADER), max);
}

/* relaxed: channel_publish() makes it visible, channel_peek() reads it after that. */
static void write_header(char *at, const union msg_words *m)
{
    _Atomic uint64_t *to = (_Atomic uint64_t *)(void *)at;

    atomic_store_explicit(&to[0], m->word[0], memory_order_relaxed);
    atomic_store_explicit(&to[1], m->word[1], memory_order_relaxed);
}

int channel_put(struct channel *c, uint16_t type, uint16_t flags, uint64_t id,
    const struct str *parts, size_t nparts)
{
    struct producer *o = &c->out;
    union msg_words m = {0};
    uint64_t end;
    size_t n = 0;
    char *p;

    assert(type != PAD);
    for (size_t i = 0; i < nparts; i++)
        if (!mem_add(n, parts[i].len, &n))
            return ERR_TOOBIG;
    if (n > channel_max_data(c))
        return ERR_TOOBIG;
    if (!c->corrupt && !have_free(c, bytes_needed(o, n)))
        return c->corrupt ? ERR_CORRUPT : ERR_AGAIN;
    if (c->corrupt)
        return ERR_CORRUPT;
    end = to_end(o);
    if (msg_bytes(n) > end) {
        m.f.len = (uint32_t)(end - CHANNEL_MSG_HEADER);
        write_header(o->base + (o->size - end), &m);
        o->head += end;
    }
    p = o->base + (o->head & (o->size - 1));
    m.f.len = (uint32_t)n;
    m.f.type = type;
    m.f.flags = flags;
    m.f.id = id;
    write_header(p, &m);
    p += CHANNEL_MSG_HEADER;
    for (size_t i = 0; i < nparts; i++) {
        if (parts[i].len > 0)
            memcpy(p, parts[i].p, parts[i].len);
        p += parts[i].len;
    }
    o->head += msg_bytes(n);
    return 0;
}

bool channel_publish(struct channel *c)
{
    struct producer *o = &c->out;

    if (o->head == o->published)
        return false;
    o->published = o->head;
    /* seq_cst: releases the message bytes to refresh_head(); and store head, load waiting here
     * against store waiting, load head in channel_prepare_sleep(): at least one side sees the
     * other. */
    atomic_store_explicit(&o->shared->head, o->head, memory_order_seq_cst);
    /* seq_cst: see above. The load spares a running consumer the exchange. */
    if (atomic_load_explicit(&o->shared->waiting, memory_order_seq_cst) == 0)
        return false;
    /* relaxed: only decides who rings; the consumer's sleep is ended by its own futex word or
     * doorbell. */
    return atomic_exchange_explicit(&o->shared->waiting, 0, memory_order_relaxed) != 0;
}

uint64_t channel_mark(const struct channel *c)
{
    return c->out.head;
}

bool channel_passed(struct channel *c, uint64_t mark)
{
    refresh_tail(c);
    return c->corrupt || c->out.tail > mark;
}

bool channel_unpublished(const struct channel *c)
{
    return c->out.head != c->out.published;
}

bool channel_prepare_room(struct channel *c, size_t n)
{
    struct producer *o = &c->out;

    if (n > channel_max_data(c) || channel_has_room(c, n))
        return false;
    /* seq_cst: store need, load tail here against store tail, load need in channel_release(). */
    atomic_store_explicit(&o->shared->need, (uint32_t)bytes_needed(o, n), memory_order_seq_cst);
    if (!channel_has_room(c, n))
        return true;
    /* relaxed: a consumer that still sees it rings for nothing. */
    atomic_store_explicit(&o->shared->need, 0, memory_order_relaxed);
    return false;
}

/* ---- consumer ---- */

/* Looks at the producer's cursor anew. */
static void refresh_head(struct channel *c)
{
    struct consumer *i = &c->in;
    /* seq_cst: acquires the message bytes that channel_publish() released; and it is ordered after
     * the store of `waiting` in channel_prepare_sleep(). */
    uint64_t head = atomic_load_explicit(&i->shared->head, memory_order_seq_cst);

    if (head - i->released > i->size || head - i->released < i->head - i->released ||
        head % GRID != 0)
        c->corrupt = true;
    else
        i->head = head;
}

static bool have_message(struct channel *c)
{
    if (c->in.tail == c->in.head && !c->corrupt)
        refresh_head(c);
    return c->corrupt || c->in.tail != c->in.head;
}

/* Copies the header at the cursor; it and the bytes that it announces must lie in the published
 * part and before the ring's end. */
static bool read_header(const struct consumer *i, uint64_t cursor, union msg_words *m)
{
    uint64_t pos = cursor & (i->size - 1);
    uint64_t left = MIN(i->head - cursor, i->size - pos);
    const _Atomic uint64_t *from = (const _Atomic uint64_t *)(const void *)(i->base + pos);

    if (left < CHANNEL_MSG_HEADER)
        return false;
    /* relaxed: written before the head that refresh_head() acquired; atomic so that a hostile
     * change cannot split the read. */
    m->word[0] = atomic_load_explicit(&from[0], memory_order_relaxed);
    m->word[1] = atomic_load_explicit(&from[1], memory_order_relaxed);
    return m->f.len <= i->size / 2 - CHANNEL_MSG_HEADER && msg_bytes(m->f.len) <= left;
}

int channel_peek(struct channel *c, struct channel_msg *msg, const char **data)
{
    struct consumer *i = &c->in;
    union msg_words m;
    uint64_t at = i->tail;

    if (!have_message(c))
        return ERR_AGAIN;
    if (c->corrupt || !read_header(i, at, &m))
        goto corrupt;
    if (m.f.type == PAD) {
        /* Reaches exactly to the end of the ring and is followed by a message that was published
         * with it. */
        at += msg_bytes(m.f.len);
        if ((at & (i->size - 1)) != 0 || !read_header(i, at, &m) || m.f.type == PAD)
            goto corrupt;
    }
    i->peeked = at + msg_bytes(m.f.len) - i->tail;
    *msg = (struct channel_msg){m.f.type, m.f.flags, m.f.len, m.f.id};
    *data = i->base + (at & (i->size - 1)) + CHANNEL_MSG_HEADER;
    return 0;
corrupt:
    c->corrupt = true;
    i->peeked = 0;
    return ERR_CORRUPT;
}

void channel_take(struct channel *c)
{
    c->in.tail += c->in.peeked;
    c->in.peeked = 0;
}

bool channel_release(struct channel *c)
{
    struct consumer *i = &c->in;
    uint32_t need;

    if (i->tail == i->released)
        return false;
    i->released = i->tail;
    /* seq_cst: our reads of the messages come before the producer overwrites them, which it does
     * after refresh_tail(); and store tail, load need here against store need, load tail in
     * channel_prepare_room(). */
    atomic_store_explicit(&i->shared->tail, i->tail, memory_order_seq_cst);
    /* seq_cst: see above. */
    need = atomic_load_explicit(&i->shared->need, memory_order_seq_cst);
    /* Our head may be old, then we see more room than there is and ring early, never late. */
    if (need == 0 || i->size - (i->head - i->tail) < need)
        return false;
    /* relaxed: only decides who rings. */
    return atomic_exchange_explicit(&i->shared->need, 0, memory_order_relaxed) != 0;
}

bool channel_prepare_sleep(struct channel *c)
{
    if (have_message(c))
        return false;
    /* seq_cst: store waiting, load head here against store head, load waiting in channel_publish().
     */
    atomic_store_explicit(&c->in.shared->waiting, 1, memory_order_seq_cst);
    if (!have_message(c))
        return true;
    channel_cancel_sleep(c);
    return false;
}

void channel_cancel_sleep(struct channel *c)
{
    /* relaxed: a producer that still sees it rings for nothing. */
    atomic_store_explicit(&c->in.shared->waiting, 0, memory_order_relaxed);
}

/* ---- sleeping ---- */

/*
 * Sleeps unless there was a ring since the last sleep ended. So neither a ring between the
 * announcement and the futex call is lost, nor a cancel between the caller's look at the cancel
 * word and this call.
 */
static int sleep_on_bell(struct channel *c, int timeout_ms)
{
    int r = wake_wait(&c->h->worker_bell, c->bell, timeout_ms);

    /* acquire: pairs with channel_ring_worker(); what the front stored before the ring is seen by
     * the looks that follow. */
    c->bell = atomic_load_explicit(&c->h->worker_bell, memory_order_acquire);
    return r;
}

int channel_wait_message(struct channel *c, int timeout_ms)
{
    int r;

    assert(c->side == CHANNEL_WORKER);
    if (channel_prepare_sleep(c)) {
        r = sleep_on_bell(c, timeout_ms);
        channel_cancel_sleep(c);
        if (!have_message(c))
            return r < 0 ? r : ERR_INTR;
    }
    return c->corrupt ? ERR_CORRUPT : 0;
}

int channel_wait_room(struct channel *c, size_t n, int timeout_ms)
{
    int r;

    assert(c->side == CHANNEL_WORKER);
    if (n > channel_max_data(c))
        return ERR_TOOBIG;
    assert(!channel_unpublished(c) || c->corrupt);
    if (channel_prepare_room(c, n)) {
        r = sleep_on_bell(c, timeout_ms);
        /* relaxed: as in channel_prepare_room(). */
        atomic_store_explicit(&c->out.shared->need, 0, memory_order_relaxed);
        if (!channel_has_room(c, n))
            return r < 0 ? r : ERR_INTR;
    }
    return c->corrupt ? ERR_CORRUPT : 0;
}

void channel_ring_worker(struct channel *c)
{
    /* release: pairs with the acquire in sleep_on_bell(). The kernel compares the word under its
     * own lock. */
    atomic_fetch_add_explicit(&c->h->worker_bell, 1, memory_order_release);
    wake_word(&c->h->worker_bell, 1);
}

void channel_set_cancel(struct channel *c, uint64_t id, enum channel_cancel why)
{
    /* relaxed, then release: who sees the id sees its reason (acquire in channel_get_cancel()). */
    atomic_store_explicit(&c->h->cancel_why, (uint32_t)why, memory_order_relaxed);
    atomic_store_explicit(&c->h->cancel_id, id, memory_order_release);
    if (id != 0)
        channel_ring_worker(c);
}

void channel_offer(struct channel *c, uint64_t id)
{
    /* relaxed: channel_publish() releases it together with the message it belongs to. */
    atomic_store_explicit(&c->h->offer, id, memory_order_relaxed);
}

bool channel_is_offered(const struct channel *c)
{
    /* relaxed: a claim seen late puts off the next offer, no more. */
    return atomic_load_explicit(&c->h->offer, memory_order_relaxed) != 0;
}

/* acq_rel: exactly one side wins, and it sees what the other did before. */
static bool offer_settle(struct channel *c, uint64_t id)
{
    return id != 0 && atomic_compare_exchange_strong_explicit(
                          &c->h->offer, &id, 0, memory_order_acq_rel, memory_order_acquire);
}

bool channel_revoke(struct channel *c, uint64_t id)
{
    return offer_settle(c, id);
}

bool channel_claim(struct channel *c, uint64_t id)
{
    return offer_settle(c, id);
}

enum channel_cancel channel_get_cancel(const struct channel *c, uint64_t id)
{
    uint32_t why;

    /* acquire: pairs with the release in channel_set_cancel(). */
    if (id == 0 || atomic_load_explicit(&c->h->cancel_id, memory_order_acquire) != id)
        return CHANNEL_CANCEL_NONE;
    /* relaxed: ordered by the load above. */
    why = atomic_load_explicit(&c->h->cancel_why, memory_order_relaxed);
    return why <= CHANNEL_CANCEL_TIMEOUT ? (enum channel_cancel)why : CHANNEL_CANCEL_NONE;
}
