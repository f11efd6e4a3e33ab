/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_BENCH_HTTP_H
#define EPHPM_CLI_BENCH_HTTP_H

/* `ephpm bench http`: the load generator of load.h as a command. */

#include <stdbool.h>

#include "base/buf.h"
#include "cli/bench/load.h"

enum { BENCH_HTTP_HEADERS = 32 };

struct bench_http {
    const char *url;
    const char *headers[BENCH_HTTP_HEADERS];
    size_t nheaders;
    unsigned connections, duration_ms, rate, timeout;
    bool json;
};

/* Arguments behind `ephpm bench`, "http" the first; returns the exit code. */
int bench_http_main(int argc, char **argv);
void bench_http_table(
    const struct bench_http *h, const struct bench_load_result *r, struct buf *out);
void bench_http_json(
    const struct bench_http *h, const struct bench_load_result *r, struct buf *out);
/* What makes the figures no good, as a sentence; "" when nothing does. */
void bench_http_verdict(const struct bench_load_result *r, struct buf *out);

#endif
