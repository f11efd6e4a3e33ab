/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
/* A header in front of a connection; a shorter start of it must never be one already. */
#include "base/mem.h"
#include "http/proxy_protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    struct proxy_header h;
    size_t used = 0, shorter = 0;
    int rc = proxy_protocol_parse(bytes, size, &used, &h);

    ENSURE(rc == 0 || rc == ERR_AGAIN || rc == ERR_PROTO);
    if (rc == 0) {
        ENSURE(used > 0 && used <= size && used <= PROXY_V2_MAX);
        ENSURE(proxy_protocol_parse(bytes, used - 1, &shorter, &h) == ERR_AGAIN);
    }
    return 0;
}
