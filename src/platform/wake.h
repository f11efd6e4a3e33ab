/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_WAKE_H
#define EPHPM_PLATFORM_WAKE_H

/*
 * Waking another process or thread.
 *
 * futex: sleeping on a 32-bit word in shared memory.  doorbell: a descriptor that an event loop
 * polls for readability.  Both work between processes (on Windows a word wakes threads of one
 * process only, and there are no doorbells: ERR_UNSUPPORTED).
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

/* Sleeps while *word == seen, at most timeout_ms (-1: for ever). 0 when woken or the word differs
 * (also spuriously), ERR_TIMEOUT, ERR_INTR when a signal handler ran. */
int wake_wait(_Atomic uint32_t *word, uint32_t seen, int timeout_ms) MUST_CHECK;
/* Wakes up to n sleepers on the word. */
void wake_word(_Atomic uint32_t *word, int n);

/* A doorbell descriptor (eventfd). Ring from anywhere, clear on the polling side. */
int wake_bell_open(int *fd) MUST_CHECK;
void wake_bell_ring(int fd);
void wake_bell_clear(int fd);

#endif
