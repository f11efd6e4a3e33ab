/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_BENCH_FILES_H
#define EPHPM_CLI_BENCH_FILES_H

/* The PHP programs of the benchmarks, which the build puts into the executable (embed.cmake). */

#include <stddef.h>

struct bench_file {
    const char *name; /* NULL: the end */
    const unsigned char *data;
    size_t size;
};

extern const struct bench_file bench_files[];

#endif
