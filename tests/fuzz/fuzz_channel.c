/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/*
 * The front's side of a channel whose worker writes anything anywhere at any time. The input is a
 * program: an operation byte and its operands, until it ends.
 */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "engine/channel.h"
#include "platform/fs.h"
#include "platform/shm.h"

#define RING  CHANNEL_RING_MIN
#define BYTES (CHANNEL_RINGS_OFFSET + 2 * (size_t)RING)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    const uint8_t *p;
    size_t left;
};

struct bed {
    int fd;
    struct channel_header *raw;
    uint8_t *response;
    struct channel *front; /* NULL when the header was refused */
};

/* Up to 8 bytes, zero-extended. */
static uint64_t get(struct input *in, size_t n)
{
    uint64_t v = 0;

    n = MIN(n, in->left);
    memcpy(&v, in->p, n);
    in->p += n;
    in->left -= n;
    return v;
}

static void overwrite(struct input *in, uint8_t *to, size_t room)
{
    size_t n = (size_t)get(in, 2);

    n = MIN(MIN(n, in->left), room);
    memcpy(to, in->p, n);
    in->p += n;
    in->left -= n;
}

/* What one look at the ring delivers fits into the ring, is inside of the mapping, and after an
 * error nothing comes. */
static void drain(struct channel *c)
{
    struct channel_msg msg;
    const char *data;
    volatile char sink = 0;
    size_t total = 0;
    int r;

    while ((r = channel_peek(c, &msg, &data)) == 0) {
        total += CHANNEL_MSG_HEADER + msg.len;
        ENSURE(total <= RING);
        ENSURE((uintptr_t)data % 16 == 0);
        for (size_t i = 0; i < msg.len; i++)
            sink ^= data[i];
        channel_take(c);
    }
    ENSURE(r == ERR_AGAIN || r == ERR_CORRUPT);
    ENSURE(channel_peek(c, &msg, &data) == r);
}

static void put(struct channel *c, struct input *in)
{
    size_t n = (size_t)get(in, 2);
    struct str part = {(const char *)in->p, MIN(n, in->left)};
    bool room = channel_has_room(c, part.len);
    size_t most = channel_room(c);
    int r;

    r = channel_put(c, CHANNEL_BODY, 0, 1, &part, 1);
    ENSURE(most <= channel_max_data(c));
    ENSURE(r == ERR_CORRUPT || (r == 0) == room);
    ENSURE(r == ERR_CORRUPT || !room || part.len <= most);
    (void)!channel_publish(c);
}

static void worker_step(struct bed *b, struct input *in, unsigned op)
{
    struct channel_ring *rings = b->raw->rings;

    switch (op) {
    case 0:
        overwrite(in, (uint8_t *)b->raw, sizeof(*b->raw));
        break;
    case 1: {
        size_t at = (size_t)get(in, 2) * 16 % RING;

        overwrite(in, b->response + at, RING - at);
        break;
    }
    case 2:
        atomic_fetch_add(&rings[1].head, get(in, 2) * 16);
        break;
    case 3:
        atomic_store(&rings[1].head, get(in, 8));
        break;
    case 4:
        atomic_fetch_add(&rings[0].tail, get(in, 2) * 16);
        break;
    case 5:
        atomic_store(&rings[0].tail, get(in, 8));
        break;
    default:
        atomic_store(&rings[in->left % 2].need, (uint32_t)get(in, 4));
        break;
    }
}

static void front_step(struct bed *b, struct input *in, unsigned op)
{
    switch (op) {
    case 0:
        put(b->front, in);
        break;
    case 1:
        (void)!channel_release(b->front);
        break;
    case 2:
        (void)!channel_prepare_sleep(b->front);
        (void)!channel_prepare_room(b->front, (size_t)get(in, 4));
        channel_cancel_sleep(b->front);
        break;
    default:
        drain(b->front);
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct bed b = {0};
    void *p;

    ENSURE(channel_create((struct channel_sizes){RING, RING}, &b.fd) == 0);
    ENSURE(shm_map(b.fd, BYTES, &p) == 0);
    b.raw = p;
    b.response = (uint8_t *)p + CHANNEL_RINGS_OFFSET + RING;
    if (get(&in, 1) % 4 == 0)
        overwrite(&in, (uint8_t *)b.raw, sizeof(*b.raw));
    if (channel_open(b.fd, CHANNEL_FRONT, &b.front) == 0) {
        while (in.left > 0) {
            unsigned op = (unsigned)get(&in, 1) % 16;

            if (op < 7)
                worker_step(&b, &in, op);
            else
                front_step(&b, &in, op - 7);
        }
        drain(b.front);
        channel_close(b.front);
    }
    shm_unmap(p, BYTES);
    fs_close(b.fd);
    return 0;
}
