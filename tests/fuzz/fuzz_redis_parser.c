/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Requests of the Redis protocol: whatever the pieces, the commands are the same. */
#include "base/mem.h"
#include "kv/redis/parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct redis_parser_limits limits = {4096, 1024, 64};

/* What was read, as text; the first byte of the input says how large the pieces are. */
static void parse(struct str in, size_t step, struct buf *out)
{
    struct redis_parser p;
    size_t start = 0, end = 0;
    int r = ERR_AGAIN;

    redis_parser_init(&p);
    while (end < in.len || r == 0) {
        if (r == ERR_AGAIN)
            end = MIN(end + step, in.len);
        r = redis_parser_next(&p, str_n(in.p + start, end - start), &limits);
        if (r == ERR_PROTO) {
            ENSURE(p.error && strlen(p.error) > 0);
            break;
        }
        if (r) {
            ENSURE(r == ERR_AGAIN);
            continue;
        }
        ENSURE(p.used > 0 && p.used <= end - start && p.argc <= 64 + REDIS_INLINE_MAX / 2);
        start += p.used;
        buf_printf(out, "%zu:", p.argc);
        for (size_t i = 0; i < p.argc; i++) {
            buf_printf(out, "%zu,", p.argv[i].len);
            buf_add_str(out, p.argv[i]);
        }
    }
    redis_parser_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole = {0}, pieces = {0};
    struct str in;

    if (size < 2)
        return 0;
    in = str_n((const char *)data + 1, size - 1);
    parse(in, in.len, &whole);
    parse(in, 1 + data[0] % 16, &pieces);
    ENSURE(str_eq(buf_str(&whole), buf_str(&pieces)));
    buf_fini(&whole);
    buf_fini(&pieces);
    return 0;
}
