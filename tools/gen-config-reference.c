/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Prints docs/configuration.md from the tables; with a file name, compares instead (status 1 when
 * it is out of date). */

#include <stdio.h>

#include "engine/config.h"
#include "platform/fs.h"

int main(int argc, char **argv)
{
    struct buf want = {0}, have = {0};
    int status = 0;

    config_reference(&want);
    if (argc < 2) {
        (void)fwrite(want.p, 1, want.len, stdout);
    } else if (fs_read_file(argv[1], 1 << 20, &have) != 0 ||
               !str_eq(buf_str(&want), buf_str(&have))) {
        (void)fprintf(
            stderr, "%s is out of date: print it again with gen-config-reference\n", argv[1]);
        status = 1;
    }
    buf_fini(&want);
    buf_fini(&have);
    return status;
}
