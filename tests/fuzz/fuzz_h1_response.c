/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Answers of a server: what is made of them does not depend on the pieces that they come in, and an
 * answer ends within the input. */
#include "base/mem.h"
#include "http/h1_response.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Feeds pieces of the given size from an exact copy of each; the bytes up to the end of the answer.
 */
static int feed(struct h1_response *r, const uint8_t *data, size_t size, size_t piece, size_t *end)
{
    int rc = ERR_AGAIN;

    for (size_t at = 0; at < size && rc == ERR_AGAIN; at += piece) {
        size_t n = MIN(piece, size - at), used = 0;
        char *copy = mem_dup_str((const char *)data + at, n);

        rc = h1_response_feed(r, copy, n, &used);
        mem_free(copy);
        ENSURE(used <= n);
        *end = at + used;
    }
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct h1_response whole, parts;
    size_t end = 0, same = 0;
    int rc, again;

    if (size < 2)
        return 0;
    h1_response_init(&whole);
    h1_response_begin(&whole, data[0] & 1);
    rc = feed(&whole, data + 1, size - 1, size, &end);
    h1_response_init(&parts);
    h1_response_begin(&parts, data[0] & 1);
    again = feed(&parts, data + 1, size - 1, (data[0] >> 1) % 7 + 1, &same);
    ENSURE(rc == 0 || rc == ERR_AGAIN || rc == ERR_PROTO);
    ENSURE(again == rc);
    if (rc == 0) {
        ENSURE(end == same && end > 0);
        ENSURE(whole.status == parts.status && whole.body == parts.body);
        ENSURE(whole.keep_alive == parts.keep_alive);
    }
    ENSURE(h1_response_end(&whole) == 0 || h1_response_end(&parts) == ERR_CLOSED);
    return 0;
}
