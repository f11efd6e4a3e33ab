/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Digests of any bytes: bounded, the same again, and no longer with less room. */
#include <stdint.h>

#include "base/mem.h"
#include "db/sql/digest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_n((const char *)data, size);
    uint32_t mode = size > 0 && data[0] & 1 ? DB_MODE_ANSI_QUOTES : 0;
    struct buf whole = {0}, cut = {0};
    size_t max = size > 1 ? data[1] : 10;
    uint64_t hash = sql_digest(&whole, text, mode, SIZE_MAX);

    ENSURE(sql_digest(&cut, text, mode, max) == hash);
    ENSURE(cut.len <= max);
    ENSURE(str_starts(buf_str(&whole), buf_str(&cut)));
    buf_fini(&whole);
    buf_fini(&cut);
    return 0;
}
