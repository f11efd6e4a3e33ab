/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_STORE_STATUS_H
#define EPHPM_DB_STORE_STATUS_H

/* SHOW STATUS: MySQL's names for what db/stats.h counts. */

#include "db/ddl/info.h"

struct db_server;

struct info_pairs store_status(struct db_server *server, struct arena *arena) MUST_CHECK;

#endif
