/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_DBMETRICS_H
#define EPHPM_ENGINE_DBMETRICS_H

/*
 * The role db's part of the metrics. What it counts begins at 0 with its process, the metrics do
 * not: what came since the last sample is added. On the role's loop.
 */

#include "db/stats.h"
#include "engine/config.h"
#include "engine/metric_table.h"

struct db_server;
struct dbmetrics;

/* All of it outlives this. */
struct dbmetrics *dbmetrics_new(struct metrics *m, const struct db_stats *stats,
    struct db_server *engine, const struct config *cfg);
void dbmetrics_free(struct dbmetrics *d); /* NULL is fine */
void dbmetrics_sample(struct dbmetrics *d);

#endif
