/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */

/* What the front records for one PHP request, many times: time per request. Under callgrind, the
 * difference between two numbers of requests is their instructions. */

#include <stdio.h>
#include <stdlib.h>

#include "engine/metric_table.h"
#include "platform/clock.h"

enum { REQUESTS = 1000000, PHP = 2 };

static void request(struct metrics *m, unsigned site)
{
    unsigned method = metric_method(STR("GET"));

    metric_observe(m, METRIC_WORKER_WAIT, site, 0, 700);
    metric_observe(m, METRIC_PHP_OUTPUT, site, 0, 5000);
    metric_count(m, METRIC_PHP_EXECUTIONS, site, METRIC_PHP_OK);
    metric_observe(m, METRIC_PHP_DURATION, site, 0, 2000000);
    metric_observe(m, METRIC_PHP_MEMORY_PEAK, site, 0, 2097152);
    metrics_add(m, METRIC_HTTP_REQUESTS,
        metrics_at(m, METRIC_HTTP_REQUESTS, method, metric_status(200), PHP), 1);
    metric_observe(m, METRIC_HTTP_DURATION, method, PHP, 2500000);
    metric_observe(m, METRIC_HTTP_RESPONSE_BODY, PHP, 0, 5000);
    metric_count(m, METRIC_SITE_REQUESTS, site, 1);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : REQUESTS;
    struct metrics *m;
    uint64_t start;
    unsigned site;
    int fd;

    if (metrics_create(&metric_schema, &fd) || metrics_open(&metric_schema, fd, &m))
        return 1;
    site = metrics_claim(m, METRIC_LABEL_SITE, STR("default"));
    start = clock_mono_ns();
    for (long i = 0; i < n; i++)
        request(m, site);
    printf("%.1f ns per request\n", (double)(clock_mono_ns() - start) / (double)(n ? n : 1));
    metrics_close(m);
    return 0;
}
