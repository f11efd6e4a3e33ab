/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_WORKER_H
#define EPHPM_ENGINE_WORKER_H

/*
 * The worker role: one process that runs one PHP request at a time.
 *
 * It is forked by its prototype with PHP started already, and talks to the front over its channel.
 * It takes a request block, runs PHP through php/embed.h, streams the answer back, says DONE, and
 * sleeps on the channel. It ends when it is told to stop, after max_requests, above its memory
 * ceiling (both between requests), or when its parent (the master) dies.
 */

#include <stdint.h>

#include "php/embed.h"

struct worker_options {
    const char *site;
    uint64_t generation;
    uint64_t id;                   /* unique while the server runs */
    int channel_fd;                /* taken over */
    int socket_fd;                 /* taken over: descriptors of spooled bodies come here */
    int bell_fd;                   /* the front's doorbell; taken over */
    uint64_t max_requests;         /* 0: no limit */
    uint64_t max_memory;           /* resident bytes, 0: no limit */
    const struct embed_field *env; /* the site's entries; must outlive the worker */
    size_t nenv;
};

/* The host callbacks for embed_startup(); they act for the worker of this process. */
extern const struct embed_host worker_host;

/* Runs until the worker's end and returns the exit code. PHP must be started with worker_host. */
int worker_run(const struct worker_options *opt);

#endif
