/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_CLI_DUMP_H
#define EPHPM_CLI_DUMP_H

/*
 * A database as statements that make it again, here or in MySQL or MariaDB: tables with their rows,
 * then views. In one transaction, so it is the database of one moment.
 */

#include "cli/sqlclient.h"

/* Called with pieces of the text; not 0 ends the dump. */
typedef int dump_write_cb(void *arg, struct str text);

/* ERR_INVAL and the like: c->error says why; what write() returned otherwise. */
int dump_database(
    struct sqlclient *c, const char *database, dump_write_cb *write, void *arg) MUST_CHECK;

#endif
