/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_DBJOB_H
#define EPHPM_ENGINE_DBJOB_H

/*
 * What the role db does with a whole database file, in a thread of its own so that its loop goes
 * on: opening it, a backup, a check. Started on the loop's thread, and told there when it is over.
 */

#include "base/buf.h"
#include "base/err.h"
#include "db/error.h"
#include "net/loop.h"

struct db_server;
struct dbjobs;

enum dbjob_kind { DBJOB_OPEN, DBJOB_BACKUP, DBJOB_CHECK };

struct dbjob {
    enum dbjob_kind kind;
    uint64_t number; /* the caller's */
    struct str database;
    struct str path; /* BACKUP */
};

/* e->number 0: it went well. report: of a check. Both are valid during the call. */
typedef void dbjob_done_cb(
    void *arg, const struct dbjob *job, const struct db_error *e, struct str report);

int dbjobs_new(struct net_loop *loop, struct db_server *engine, dbjob_done_cb *done, void *arg,
    struct dbjobs **out) MUST_CHECK;
/* The strings are copied. ERR_NOMEM, ERR_BUSY: there are too many. */
int dbjobs_start(struct dbjobs *j, const struct dbjob *job) MUST_CHECK;
/* Waits for those that run, and calls nobody any more. NULL is fine. */
void dbjobs_free(struct dbjobs *j);

#endif
