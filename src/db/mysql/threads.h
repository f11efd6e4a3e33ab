/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_MYSQL_THREADS_H
#define EPHPM_DB_MYSQL_THREADS_H

/*
 * Threads that do jobs which block, one job each at a time. As many as there are jobs; afterwards
 * some wait for the next one, for a while. Jobs are given by one thread.
 */

#include <stdbool.h>

#include "base/attr.h"
#include "base/list.h"
#include "db/stats.h"

struct mysql_threads;

/* Does the job, in a thread of its own. */
typedef void mysql_job_cb(struct list *job);

struct mysql_threads *mysql_threads_new(mysql_job_cb *run, struct db_stats *stats);
/* The job's node is in no list, and stays in one of ours until it runs. ERR_NOMEM: no thread could
 * be made. */
int mysql_threads_run(struct mysql_threads *t, struct list *job) MUST_CHECK;
/* After the last job has ended: ends the threads. False when some are at work. */
bool mysql_threads_close(struct mysql_threads *t);
void mysql_threads_free(struct mysql_threads *t); /* after that; NULL is fine */

#endif
