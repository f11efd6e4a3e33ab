/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* Prints the table of metrics; with a file name, looks whether the file holds it instead (status 1
 * when it does not). */

#include <stdio.h>

#include "engine/metric_table.h"
#include "platform/fs.h"

int main(int argc, char **argv)
{
    struct buf want = {0}, have = {0};
    int status = 0;

    metrics_reference(&metric_schema, &want);
    if (argc < 2) {
        (void)fwrite(want.p, 1, want.len, stdout);
    } else if (fs_read_file(argv[1], 1 << 20, &have) != 0 ||
               str_find(buf_str(&have), buf_str(&want)) < 0) {
        (void)fprintf(stderr,
            "%s is out of date: put in the table that gen-metrics-reference prints\n", argv[1]);
        status = 1;
    }
    buf_fini(&want);
    buf_fini(&have);
    return status;
}
