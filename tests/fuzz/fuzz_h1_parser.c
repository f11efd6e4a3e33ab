/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/*
 * A connection's bytes as requests, one behind the other, twice: whole, and in pieces whose size
 * the first byte names.  Both ways must see the same requests and bodies.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "http/h1_parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a reading of the bytes saw: everything that was accepted, in order. */
struct log {
    struct buf seen;
    size_t consumed; /* by whole requests */
};

static void check_head(const struct h1_head *h, const char *data, size_t used)
{
    ENSURE(used >= 4 && memcmp(data + used - 4, "\r\n\r\n", 4) == 0);
    ENSURE(field_is_token(h->method) && h->target.len > 0);
    ENSURE(h->minor == 0 || h->minor == 1);
    ENSURE(!h->chunked || (h->content_length < 0 && h->minor == 1));
    ENSURE(h->has_host || h->minor == 0);
    for (size_t i = 0; i < h->fields.count; i++) {
        const struct field *f = &h->fields.items[i];

        ENSURE(field_is_token(f->name) && !field_value_is_bad(f->value));
        ENSURE(f->name.p >= data && f->value.p + f->value.len <= data + used);
    }
}

/* Of the bytes from *at, of which *have are there. False: the connection is over. */
static bool next_bytes(size_t *have, size_t size, size_t step)
{
    if (*have == size)
        return false;
    *have = MIN(*have + step, size);
    return true;
}

static bool read_body(const struct h1_head *h, const char *data, size_t size, size_t step,
    size_t *at, size_t *have, struct log *log)
{
    struct h1_body b;
    bool done = false;

    h1_body_init(&b, h->content_length, h->chunked);
    for (;;) {
        size_t used = 0;
        struct str piece = STR_NONE;

        if (h1_body_next(&b, data + *at, *have - *at, &used, &piece, &done) != 0)
            return false;
        ENSURE(used <= *have - *at && piece.len <= used);
        buf_add_str(&log->seen, piece);
        *at += used;
        if (done) {
            log->consumed = *at;
            return true;
        }
        if (used == 0 && !next_bytes(have, size, step))
            return false;
    }
}

static void read_all(const char *data, size_t size, size_t step, struct log *log)
{
    static const struct h1_limits limits = {.head_bytes = 2048, .fields = 20, .uri_bytes = 512};
    struct arena a = {0};
    struct h1_parser p;
    size_t at = 0, have = 0;

    for (;;) {
        struct h1_head h;
        size_t used = 0;
        int rc = ERR_AGAIN;

        h1_parser_init(&p, &limits, &a);
        while (rc == ERR_AGAIN) {
            rc = h1_parse_head(&p, data + at, have - at, &h, &used);
            if (rc == ERR_AGAIN && !next_bytes(&have, size, step))
                break;
        }
        ENSURE(rc == 0 || rc == ERR_AGAIN || (rc == ERR_PROTO && p.status >= 400 && p.reason));
        if (rc != 0)
            break;
        check_head(&h, data + at, used);
        buf_add_str(&log->seen, h.method);
        buf_add_str(&log->seen, h.target);
        at += used;
        if (!read_body(&h, data, size, step, &at, &have, log))
            break;
        arena_reset(&a);
    }
    arena_fini(&a);
}

/*
 * A CR behind a head without a body is refused together with that head when it is already there,
 * and on its own when it comes later; nothing else may differ.
 */
static bool has_lone_cr(const char *data, size_t size)
{
    for (size_t i = 0; i + 1 < size; i++) {
        if (data[i] == '\r' && data[i + 1] != '\n')
            return true;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct log whole = {.consumed = 0}, pieces = {.consumed = 0};
    const char *bytes = (const char *)data + 1;

    if (size < 1)
        return 0;
    size--;
    read_all(bytes, size, SIZE_MAX / 2, &whole);
    read_all(bytes, size, 1 + data[0] % 16, &pieces);
    if (!has_lone_cr(bytes, size)) {
        ENSURE(whole.consumed == pieces.consumed);
        ENSURE(str_eq(buf_str(&whole.seen), buf_str(&pieces.seen)));
    }
    buf_fini(&whole.seen);
    buf_fini(&pieces.seen);
    return 0;
}
