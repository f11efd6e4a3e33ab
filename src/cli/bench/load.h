/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_BENCH_LOAD_H
#define EPHPM_CLI_BENCH_LOAD_H

/*
 * A load generator: one request, sent again and again over kept connections for some time.
 *
 * Without a rate each connection sends its next request when the answer to the last one is complete
 * (closed loop). With one, requests are due at fixed times, a thousandth of a second's worth at
 * once, and a connection that is free takes the next; a request's time then counts from when it was
 * due, so that a server that stalls is charged for those that had to wait.
 *
 * One thread, its own loop; bench_load_run() returns when the time is over. What is under way then
 * is not counted.
 */

#include "base/err.h"
#include "base/str.h"
#include "cli/bench/stats.h"
#include "platform/sock.h"

enum { BENCH_LOAD_CONNECTIONS = 20000, BENCH_LOAD_SECONDS = 86400, BENCH_LOAD_RATE = 1000000 };

enum bench_load_error {
    BENCH_LOAD_CONNECT, /* no connection */
    BENCH_LOAD_CUT,     /* it ended before the answer was complete */
    BENCH_LOAD_TIMEOUT,
    BENCH_LOAD_PROTOCOL, /* no HTTP answer */
    BENCH_LOAD_ERRORS
};

struct bench_load {
    struct sock_addr to;
    struct str request;
    unsigned connections;
    unsigned duration_ms;
    unsigned timeout; /* seconds */
    unsigned rate;    /* requests per second; 0: closed loop */
};

struct bench_load_result {
    struct bench_histogram latency;
    uint64_t requests; /* complete answers */
    uint64_t received; /* bytes */
    uint64_t statuses[1000];
    uint64_t errors[BENCH_LOAD_ERRORS];
    int connect_error;    /* the last one's code */
    uint64_t connections; /* made, those that took the place of closed ones included */
    uint64_t late;        /* with a rate: requests that were due and never sent */
    /* Sizes of the bodies of 2xx answers. */
    uint64_t sized, size_first, size_min, size_max, size_differs;
    uint64_t elapsed_ns, cpu_ns; /* cpu_ns: of this thread */
    uint64_t *slices;            /* answers in each whole second; nslices of them */
    size_t nslices;
    bool stopped; /* by a signal */
};

/* out is all zero before; it is to be finished in any case. Blocks until the time is over, or
 * SIGINT or SIGTERM comes. What servers do is no error; ERR_NOMEM, ERR_MFILE: there is no loop. */
int bench_load_run(
    const struct bench_load *load, struct bench_load_result *out, struct err *err) MUST_CHECK;
void bench_load_result_fini(struct bench_load_result *r);

#endif
