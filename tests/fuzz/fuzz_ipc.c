/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Control messages as a process sends them that is not itself any more. */
#include "engine/ipc.h"

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sock_t pair[2] = {SOCK_NONE, SOCK_NONE};
    struct str key, value;
    struct ipc_in in;
    size_t it = 0, bytes = 0;

    if (size == 0)
        return 0;
    if (pair[0] == SOCK_NONE)
        ENSURE(sock_pair(pair) == 0);
    ENSURE(sock_send_msg(pair[0], data, size, NULL, 0) == 0);
    if (ipc_recv(pair[1], &in))
        return 0;
    while (ipc_next(&in, &it, &key, &value)) {
        ENSURE(value.p[value.len] == '\0');
        bytes += key.len + value.len + 7;
    }
    ENSURE(bytes == in.items.len);
    ENSURE(bytes + 2 + in.op.len == size);
    (void)ipc_get_u64(&in, "id");
    (void)ipc_is(&in, "fork");
    ipc_done(&in);
    return 0;
}
