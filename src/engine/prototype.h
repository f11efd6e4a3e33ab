/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_PROTOTYPE_H
#define EPHPM_ENGINE_PROTOTYPE_H

/*
 * The prototype role: PHP started once, forked into workers.
 *
 * It is `ephpm-php`, started by the master with one message socket (descriptor PROTOTYPE_SOCKET),
 * and does what it is told there, one thing after the other. It has no thread and runs no request:
 * whatever needs PHP code runs in a forked child, which fills OPcache's shared segment and ends.
 *
 *   master asks                               prototype answers
 *            (at its start)                 hello: php_version, vm, vm_has_jit
 *   boot     settings, env items              booted: php_version, sapi, opcache, jit ... /
 * failed: error fork     worker; fds channel, socket,     forked: worker, pid / fork_failed:
 * worker, error bell scripts  fd of a file                     scripts_done: count; the file holds
 * path NUL path NUL ... compile  fd of such a file                compiled: count, failed, error
 * (first syntax error: file, line, text) status                                    status: opcache
 * and JIT numbers
 *
 * It ends when the socket is closed.
 */

enum { PROTOTYPE_SOCKET = 3 };

/* Runs until the socket is closed; returns the exit code. In a forked worker it returns that
 * worker's exit code. */
int prototype_main(void);

#endif
