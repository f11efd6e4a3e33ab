/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Packets: the same payload whatever the pieces that its bytes come in, never beyond them. */
#include "base/mem.h"
#include "db/mysql/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX = 6000 };

/* Feeds pieces until it is decided; an exact copy each time, so that reading beyond it shows. */
static enum mysql_frame_result feed(const uint8_t *data, size_t size, size_t piece, uint8_t seq,
    struct mysql_framing *f, char **out)
{
    enum mysql_frame_result r = MYSQL_FRAME_MORE;
    char *have = mem_new(0);
    size_t len = 0, at = 0;

    mysql_framing_init(f, seq, MAX);
    for (;;) {
        size_t n = MIN(piece, size - at);
        char *copy = mem_new(len + n);

        memcpy(copy, have, len);
        memcpy(copy + len, data + at, n);
        mem_free(have);
        have = copy;
        len += n;
        at += n;
        r = mysql_frame(f, have, &len);
        if (r != MYSQL_FRAME_MORE || at == size)
            break;
        ENSURE(f->need > 0);
    }
    if (r == MYSQL_FRAME_OK)
        ENSURE(MYSQL_HEADER + f->payload <= len && f->payload <= MAX);
    *out = have;
    return r;
}

static void read_all(struct str payload)
{
    struct mysql_reader r = mysql_reader(payload);

    while (r.rest.len && !r.bad) {
        struct str s;

        switch (mysql_read_int(&r, 1) % 5) {
        case 0:
            s = mysql_read_lenstr(&r);
            break;
        case 1:
            s = mysql_read_nul(&r);
            break;
        case 2:
            s = mysql_read_nul_or_end(&r);
            break;
        case 3:
            s = mysql_read_bytes(&r, mysql_read_int(&r, 8));
            break;
        default:
            (void)mysql_read_lenenc(&r);
            s = STR_NONE;
        }
        ENSURE(s.len <= payload.len);
        (void)str_chr(s, 'x'); /* looks at each byte */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mysql_framing whole, parts;
    enum mysql_frame_result r, again;
    char *a, *b;

    if (size < 2)
        return 0;
    r = feed(data + 2, size - 2, size, data[0], &whole, &a);
    again = feed(data + 2, size - 2, data[1] % 31 + 1, data[0], &parts, &b);
    ENSURE(r == again);
    if (r == MYSQL_FRAME_OK) {
        ENSURE(whole.payload == parts.payload && whole.seq == parts.seq);
        ENSURE(memcmp(a + MYSQL_HEADER, b + MYSQL_HEADER, whole.payload) == 0);
        read_all(str_n(a + MYSQL_HEADER, whole.payload));
    }
    mem_free(a);
    mem_free(b);
    return 0;
}
