/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_MYSQL_PACKET_H
#define EPHPM_DB_MYSQL_PACKET_H

/*
 * Packets of the MySQL protocol, and the integers and strings in them. Pure: bytes in, bytes out.
 *
 *   | length u24 | sequence u8 | payload, length bytes |
 *
 * A payload of 2^24-1 bytes and more goes as several packets: each that is full is followed by
 * another one, which may be empty. Sequence numbers count all packets of a command, in both
 * directions.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    MYSQL_HEADER = 4,
    MYSQL_CHUNK = 0xffffff, /* a packet so long is followed by another one */
};

/* --- framing: bytes to payloads --------------------------------------------------------------- */

enum mysql_frame_result {
    MYSQL_FRAME_MORE,  /* not complete: `need` bytes at least are missing */
    MYSQL_FRAME_OK,    /* payload is there */
    MYSQL_FRAME_ORDER, /* a wrong sequence number */
    MYSQL_FRAME_LARGE, /* more than `max`; known from the header, before its bytes come */
};

/*
 * The state of one payload that is being read. The caller keeps all of its bytes in one buffer,
 * from the first header on; headers of further packets are taken out of it as they come.
 */
struct mysql_framing {
    uint8_t seq;    /* of the next header; after ORDER and LARGE, of an answer */
    size_t max;     /* longest payload */
    size_t payload; /* its length so far; when OK: all of it, at MYSQL_HEADER of the buffer */
    size_t need;    /* when MORE */
    /* private to packet.c */
    size_t at; /* where the next header begins */
};

/* For the next payload, whose first packet has that number. */
void mysql_framing_init(struct mysql_framing *f, uint8_t seq, size_t max);
/* Looks at the *len bytes at p, again from the first header on each time; may take headers out of
 * them, and *len is what is left then. After OK the payload is followed by what else came. */
enum mysql_frame_result mysql_frame(struct mysql_framing *f, char *p, size_t *len);

/* --- reading a payload ------------------------------------------------------------------------ */

/* Reading past the end sets bad, gives zeros and empty strings, and stays at the end. */
struct mysql_reader {
    struct str rest;
    bool bad;
};

static inline struct mysql_reader mysql_reader(struct str payload)
{
    return (struct mysql_reader){.rest = payload};
}

/* Little-endian, n bytes (1 to 8). */
uint64_t mysql_read_int(struct mysql_reader *r, unsigned n);
struct str mysql_read_bytes(struct mysql_reader *r, uint64_t n);
/* Up to a NUL, which is skipped; without one it is bad. */
struct str mysql_read_nul(struct mysql_reader *r);
/* Up to a NUL, or to the end. */
struct str mysql_read_nul_or_end(struct mysql_reader *r);
/* Length-encoded. NULL (0xfb) and 0xff are bad. */
uint64_t mysql_read_lenenc(struct mysql_reader *r);
struct str mysql_read_lenstr(struct mysql_reader *r);
struct str mysql_read_rest(struct mysql_reader *r);

/* --- writing ---------------------------------------------------------------------------------- */

void mysql_put_int(struct buf *b, uint64_t v, unsigned n);
void mysql_put_lenenc(struct buf *b, uint64_t v);
void mysql_put_lenstr(struct buf *b, struct str s);
static inline void mysql_put_null(struct buf *b)
{
    buf_add_char(b, (char)0xfb);
}

/*
 * A packet is written in place: mark = mysql_begin(b); ... put ...; mysql_end(b, mark, &seq).
 * The end fills in the header, or divides what is too long, and counts seq on.
 */
size_t mysql_begin(struct buf *b);
void mysql_end(struct buf *b, size_t mark, uint8_t *seq);

#endif
