/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_UNIT_ENGINE_CHANNEL_PAIR_H
#define EPHPM_TESTS_UNIT_ENGINE_CHANNEL_PAIR_H

/* A channel with both sides in this process, and its raw segment for playing a hostile peer. */

#include "engine/channel.h"
#include "platform/fs.h"
#include "platform/shm.h"
#include "unit/test.h"

struct pair {
    int fd;
    struct channel *front;
    struct channel *worker;
    size_t bytes;
    struct channel_header *raw;
    char *request; /* the rings, raw */
    char *response;
};

static inline void pair_open(struct pair *t, uint32_t request, uint32_t response)
{
    struct channel_sizes sizes = {request, response};
    void *p = NULL;

    memset(t, 0, sizeof(*t));
    t->bytes = CHANNEL_RINGS_OFFSET + (size_t)request + response;
    CHECK_INT(channel_create(sizes, &t->fd), 0);
    CHECK_INT(channel_open(t->fd, CHANNEL_FRONT, &t->front), 0);
    CHECK_INT(channel_open(t->fd, CHANNEL_WORKER, &t->worker), 0);
    CHECK_INT(shm_map(t->fd, t->bytes, &p), 0);
    t->raw = p;
    t->request = (char *)p + CHANNEL_RINGS_OFFSET;
    t->response = t->request + request;
}

static inline void pair_close(struct pair *t)
{
    channel_close(t->worker);
    channel_close(t->front);
    shm_unmap(t->raw, t->bytes);
    fs_close(t->fd);
}

/* xorshift64*: repeatable. */
static inline uint64_t pair_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

/* Message id has a length and bytes that follow from the id alone. pattern holds 128 KiB. */
#define PAIR_PATTERN (128u << 10)

static inline void pair_pattern(char *pattern)
{
    uint64_t state = 88172645463325252u;

    for (size_t i = 0; i < PAIR_PATTERN; i++)
        pattern[i] = (char)(pair_random(&state) >> 40);
}

/* Mostly small, some up to max. */
static inline struct str pair_data(const char *pattern, uint64_t id, size_t max)
{
    uint64_t state = id * 0x9e3779b97f4a7c15u | 1;
    uint64_t r = pair_random(&state);
    size_t len = (size_t)(r >> 8) % (r % 64 == 0 ? max + 1 : 400);
    size_t at = (size_t)(pair_random(&state) >> 20) % (PAIR_PATTERN - len);

    return str_n(pattern + at, len);
}

#endif
