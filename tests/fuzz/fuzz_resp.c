/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* Replies of a server: never beyond the input, and a reply that is complete stays the same when
 * more follows. */
#include "base/mem.h"
#include "cli/resp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str in = str_n((const char *)data, size);
    struct resp_value v, again;
    struct arena a = {0};
    size_t used = 0, same = 0;
    int rc = resp_parse(&a, in, &used, &v);

    ENSURE(rc == 0 || rc == ERR_AGAIN || rc == ERR_PROTO);
    if (rc == 0) {
        ENSURE(used > 0 && used <= size);
        ENSURE(resp_parse(&a, str_sub(in, 0, used), &same, &again) == 0);
        ENSURE(same == used && again.kind == v.kind && again.n == v.n && str_eq(again.s, v.s));
        ENSURE(resp_parse(&a, str_sub(in, 0, used - 1), &same, &again) == ERR_AGAIN);
    }
    arena_fini(&a);
    return 0;
}
