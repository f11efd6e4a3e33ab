/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_DBROLE_H
#define EPHPM_ENGINE_DBROLE_H

/*
 * The db role: one process that has the database files of all sites open and serves them by the
 * MySQL protocol. Its loop talks to the master and accepts; each connection has a thread
 * (db/mysql/mysql.h). What takes long and is asked for by the master, a backup or a check, has one,
 * too. Its death costs its clients their connections and what they had not committed; the master
 * starts another, on the same sockets.
 *
 * Started by the master as `ephpm` with a role argument. Descriptors: DBROLE_SOCKET (messages),
 * DBROLE_METRICS (the segment of metric_table.h). It has dropped to run_as_user.
 *
 *   master tells                                  it tells
 *   config   text; socket, port: where clients    ready
 *            connect
 *   site     site, user, password, database,
 *            path: of the file
 *   site_gone  site
 *   listen   fd: for clients
 *   status                                        status   json
 *   sample   (sets its metrics)                   sampled
 *   backup   number, database, path               done     number; error; text (long): a report
 *   check    number, database
 *
 * The master's end of the socket closing means the end.
 */

enum { DBROLE_SOCKET = 3, DBROLE_METRICS = 4 };

/* Runs until the master closes the socket; returns the exit code. */
int dbrole_main(void);

#endif
