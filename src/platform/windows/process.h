/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_WINDOWS_PROCESS_H
#define EPHPM_PLATFORM_WINDOWS_PROCESS_H

/* What process.c and process_spawn.c share. */

#include <windows.h>

/* Exit codes of processes that process_kill() ended: this plus the signal number. */
#define PROCESS_KILLED_CODE 0xe5160000u

/*
 * The children that were not reaped yet.  An open handle keeps the pid from being used again.
 * Safe from any thread.
 */
/* Takes the handle over. ERR_FULL (the handle stays the caller's). */
int process_children_add(DWORD pid, HANDLE h);

#endif
