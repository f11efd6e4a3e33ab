/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_KV_H
#define EPHPM_CLI_KV_H

/*
 * Commands on a store: by the Redis protocol over TCP or a Unix socket, or, when neither is named,
 * over the control socket of the server on this machine, which needs no password and works
 * without listeners for Redis clients.
 */

#include "cli/resp.h"

struct cli;

/* Do the flags name a server by --host, --port or --socket? */
bool kv_is_remote(const struct cli *c);
/* user NULL: the one that a password alone is for. Prints why when it fails, and returns the exit
 * code. */
int kv_connect(struct cli *c, const char *user, struct resp_client *out) MUST_CHECK;

#endif
