/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_TESTS_UNIT_NET_STREAM_END_H
#define EPHPM_TESTS_UNIT_NET_STREAM_END_H

/* A stream on one end of a connection, a reader that can be slow on the other. */

#include "base/buf.h"
#include "net/stream.h"
#include "unit/net/net_pair.h"

struct end {
    struct net_loop *loop;
    struct stream s;
    sock_t peer;
    struct buf wrote; /* what stream_write() accepted */
    struct buf got;   /* what the peer read */
    size_t junk;      /* bytes before those, which filled the socket */
    bool small;       /* local sockets, whose buffers hold less than 1 MiB */
    size_t read_step; /* bytes that the peer reads each millisecond; 0: none */
    int readable, drained, progress, errors, code;
    bool inside; /* a function of stream.c is running: callbacks must not */
    /* Closes the stream in this callback. */
    bool close_readable, close_drained, close_progress, close_error;
};

extern const struct stream_cbs end_cbs;

/*
 * full: the socket takes nothing until the peer reads. A pair of local sockets where the system has
 * them: their small buffers take what is written next in several turns.
 */
void end_open(struct end *e, bool full);
void end_close(struct end *e);
/* n bytes that follow from where they stand in the output. */
int end_write(struct end *e, size_t n);
/* The same bytes in memory only, to be written through a file. */
void end_expect(struct end *e, const char *p, size_t n);
/* Runs until the peer has everything that was accepted, and compares. */
void end_run_to_end(struct end *e);
/* The peer reads up to n bytes; false when there are none. */
bool end_read(struct end *e, size_t n);
/* Writes until the stream says something else than 0. */
int end_fill(struct end *e, size_t step);
/* Bytes for files and writes: at any offset. */
const char *end_pattern(size_t at, size_t n);

#endif
