/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_MYSQL_MYSQL_H
#define EPHPM_DB_MYSQL_MYSQL_H

/*
 * The MySQL protocol, as a server: what lies between sockets and sessions (db/session.h).
 *
 * Pure parts, a component of their own (db_mysql_protocol): packet.h (packets, integers, strings),
 * handshake.h (greeting, login), value.h (rows, parameters).
 *
 * Then, in reading order: auth.h (passwords), io.h (a socket that may be TLS, with time limits),
 * server.h (accounts, listeners, threads), conn.h (one connection: its buffers and its life),
 * login.c (who is it?), command.c (the table of commands), statement.c (prepared statements and
 * cursors), answer.c (OK, errors, results).
 *
 * The loop accepts; then one thread serves one connection from greeting to end and blocks as it
 * likes, since everything it calls may: SQLite, the turn to write, the client. Threads wait for the
 * next connection in a cache. Whoever wants to end a connection from another thread shuts its
 * socket's reading side: the thread wakes, and finds out why.
 */

#endif
