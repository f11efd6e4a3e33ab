/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_KVROLE_H
#define EPHPM_ENGINE_KVROLE_H

/*
 * The kv role: one process that maps the stores of all sites and does with them what is neither
 * HTTP nor PHP, so that none of it delays a request: it serves Redis clients, keeps snapshots
 * (kvsave.h), frees what nobody asks for any more, expired keys and locks of dead workers, and
 * counts for `ephpm status`. Its death costs nothing that is in a store, and its clients their
 * connections; the master starts another.
 *
 * Started by the master as `ephpm` with a role argument. Descriptors: KVROLE_SOCKET (messages),
 * KVROLE_METRICS (the segment of metric_table.h), and with kv.persist KVROLE_LOCK (the lock of the
 * folder, which is held until the last of master and role is gone). It has dropped to run_as_user.
 *
 *   master tells                            it tells
 *   config   text: as the server started    ready
 *   site     name; fd of its store; load    status   json
 *                                           loaded   site; error: only if it may not be used
 *   site_gone  site, number: its store is    gone     number: it was
 *              saved and let go
 *   listen   fd: for Redis clients
 *   client   site; fd: a client that may
 *   status
 *   sample   (sets its metrics)             sampled
 *   revision site, text                     deploy   site, version: a client set it
 *
 * A site's version is set as opcache:version:SITE, in whatever store the client may write to; _all
 * are all sites, _default is the site "default". A client that is a site may only name itself.
 *
 * The master's end of the socket closing means the end.
 */

#include "engine/config.h"
#include "engine/ipc.h"
#include "kv/store.h"
#include "net/loop.h"

enum { KVROLE_SOCKET = 3, KVROLE_METRICS = 4, KVROLE_LOCK = 5 };

/* Runs until the master closes the socket; returns the exit code. */
int kvrole_main(void);

#endif
