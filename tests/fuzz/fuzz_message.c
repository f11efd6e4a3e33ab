/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Decoders of channel messages. What they accept has one encoding only: encoding it again gives the
 * same bytes. */
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "engine/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool recode(unsigned kind, const char *p, size_t n, struct arena *a, struct buf *b)
{
    struct message_request request;
    struct message_head head;
    struct message_done done;
    struct message_ready ready;

    switch (kind) {
    case 0:
        if (message_request_decode(p, n, a, &request) < 0)
            return false;
        ENSURE(message_request_encode(&request, b) == 0);
        return true;
    case 1:
        if (message_head_decode(p, n, a, &head) < 0)
            return false;
        ENSURE(message_head_encode(&head, b) == 0);
        return true;
    case 2:
        if (message_done_decode(p, n, &done) < 0)
            return false;
        message_done_encode(&done, b);
        return true;
    default:
        if (message_ready_decode(p, n, &ready) < 0)
            return false;
        message_ready_encode(&ready, b);
        return true;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct buf b = {0};
    char *copy;

    if (size == 0)
        return 0;
    copy = mem_new(size - 1); /* exact, so that reading beyond is seen */
    if (size > 1)
        memcpy(copy, data + 1, size - 1);
    if (recode(data[0] % 4u, copy, size - 1, &a, &b)) {
        ENSURE(b.len == size - 1);
        ENSURE(memcmp(b.p, copy, b.len) == 0);
    }
    arena_fini(&a);
    buf_fini(&b);
    mem_free(copy);
    return 0;
}
