/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* For ini_peer.php: prints each argument as the value of a PHP setting v1, v2, ... */
#include <stdio.h>

#include "engine/ini.h"

int main(int argc, char **argv)
{
    struct buf out = {0};

    for (int i = 1; i < argc; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "v%d", i);
        ini_add(&out, name, str_c(argv[i]));
    }
    (void)fwrite(out.p, 1, out.len, stdout);
    buf_fini(&out);
    return 0;
}
