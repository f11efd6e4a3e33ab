/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/mysql/packet.h"

#include <assert.h>
#include <string.h>

/* First bytes of a length-encoded integer. */
enum { LENENC_NULL = 0xfb, LENENC_2 = 0xfc, LENENC_3 = 0xfd, LENENC_8 = 0xfe };

static uint64_t packet_get(const char *p, unsigned n)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < n; i++)
        v |= (uint64_t)(unsigned char)p[i] << (8 * i);
    return v;
}

static void packet_set(char *p, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        p[i] = (char)(v >> (8 * i));
}

/* --- framing ---------------------------------------------------------------------------------- */

void mysql_framing_init(struct mysql_framing *f, uint8_t seq, size_t max)
{
    *f = (struct mysql_framing){.seq = seq, .max = max};
}

enum mysql_frame_result mysql_frame(struct mysql_framing *f, char *p, size_t *len)
{
    for (;;) {
        size_t chunk;
        uint8_t number;

        if (*len < f->at + MYSQL_HEADER) {
            f->need = f->at + MYSQL_HEADER - *len;
            return MYSQL_FRAME_MORE;
        }
        chunk = (size_t)packet_get(p + f->at, 3);
        number = (uint8_t)p[f->at + 3];
        if (number != f->seq || f->payload > f->max || chunk > f->max - f->payload) {
            bool order = number != f->seq;

            f->seq = (uint8_t)(number + 1); /* of the answer that says so */
            return order ? MYSQL_FRAME_ORDER : MYSQL_FRAME_LARGE;
        }
        if (*len - f->at - MYSQL_HEADER < chunk) {
            f->need = chunk - (*len - f->at - MYSQL_HEADER);
            return MYSQL_FRAME_MORE;
        }
        f->seq++;
        if (f->at > 0) { /* a further packet: its header goes */
            memmove(p + f->at, p + f->at + MYSQL_HEADER, *len - f->at - MYSQL_HEADER);
            *len -= MYSQL_HEADER;
        } else {
            f->at = MYSQL_HEADER;
        }
        f->at += chunk;
        f->payload += chunk;
        if (chunk < MYSQL_CHUNK)
            return MYSQL_FRAME_OK;
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool reader_has(struct mysql_reader *r, uint64_t n)
{
    if (!r->bad && n <= r->rest.len)
        return true;
    r->bad = true;
    r->rest = str_sub(r->rest, r->rest.len, 0);
    return false;
}

static void reader_skip(struct mysql_reader *r, size_t n)
{
    r->rest.p += n;
    r->rest.len -= n;
}

uint64_t mysql_read_int(struct mysql_reader *r, unsigned n)
{
    uint64_t v;

    if (!reader_has(r, n))
        return 0;
    v = packet_get(r->rest.p, n);
    reader_skip(r, n);
    return v;
}

struct str mysql_read_bytes(struct mysql_reader *r, uint64_t n)
{
    struct str s;

    if (!reader_has(r, n))
        return STR_NONE;
    s = str_n(r->rest.p, (size_t)n);
    reader_skip(r, (size_t)n);
    return s;
}

struct str mysql_read_nul(struct mysql_reader *r)
{
    ptrdiff_t n = str_chr(r->rest, '\0');
    struct str s;

    if (n < 0) {
        (void)reader_has(r, UINT64_MAX); /* which it has not */
        return STR_NONE;
    }
    s = str_n(r->rest.p, (size_t)n);
    reader_skip(r, (size_t)n + 1);
    return s;
}

struct str mysql_read_nul_or_end(struct mysql_reader *r)
{
    return str_chr(r->rest, '\0') < 0 ? mysql_read_rest(r) : mysql_read_nul(r);
}

uint64_t mysql_read_lenenc(struct mysql_reader *r)
{
    uint64_t first = mysql_read_int(r, 1);

    switch (first) {
    case LENENC_2:
        return mysql_read_int(r, 2);
    case LENENC_3:
        return mysql_read_int(r, 3);
    case LENENC_8:
        return mysql_read_int(r, 8);
    default:
        if (first < LENENC_NULL)
            return first;
        (void)reader_has(r, UINT64_MAX); /* as above */
        return 0;
    }
}

struct str mysql_read_lenstr(struct mysql_reader *r)
{
    return mysql_read_bytes(r, mysql_read_lenenc(r));
}

struct str mysql_read_rest(struct mysql_reader *r)
{
    return mysql_read_bytes(r, r->rest.len);
}

/* --- writing ---------------------------------------------------------------------------------- */

void mysql_put_int(struct buf *b, uint64_t v, unsigned n)
{
    packet_set(buf_reserve(b, n), v, n);
    b->len += n;
}

void mysql_put_lenenc(struct buf *b, uint64_t v)
{
    if (v < LENENC_NULL) {
        buf_add_char(b, (char)v);
    } else if (v <= UINT16_MAX) {
        buf_add_char(b, (char)LENENC_2);
        mysql_put_int(b, v, 2);
    } else if (v <= MYSQL_CHUNK) {
        buf_add_char(b, (char)LENENC_3);
        mysql_put_int(b, v, 3);
    } else {
        buf_add_char(b, (char)LENENC_8);
        mysql_put_int(b, v, 8);
    }
}

void mysql_put_lenstr(struct buf *b, struct str s)
{
    mysql_put_lenenc(b, s.len);
    buf_add(b, s.p, s.len);
}

size_t mysql_begin(struct buf *b)
{
    size_t mark = b->len;

    (void)buf_reserve(b, MYSQL_HEADER);
    b->len += MYSQL_HEADER;
    return mark;
}

void mysql_end(struct buf *b, size_t mark, uint8_t *seq)
{
    size_t payload = b->len - mark - MYSQL_HEADER, more = payload / MYSQL_CHUNK;
    char *p;

    assert(b->len >= mark + MYSQL_HEADER);
    (void)buf_reserve(b, more * MYSQL_HEADER);
    p = b->p + mark;
    /* From the last chunk on, each moves on by the headers before it. */
    for (size_t i = more; i > 0; i--) {
        char *from = p + MYSQL_HEADER + i * MYSQL_CHUNK, *to = from + i * MYSQL_HEADER;
        size_t n = i == more ? payload - i * MYSQL_CHUNK : MYSQL_CHUNK;

        memmove(to, from, n);
        packet_set(to - MYSQL_HEADER, n, 3);
        to[-1] = (char)(*seq + i);
    }
    packet_set(p, MIN(payload, (size_t)MYSQL_CHUNK), 3);
    p[3] = (char)*seq;
    b->len += more * MYSQL_HEADER;
    *seq = (uint8_t)(*seq + more + 1);
}
