/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_PLATFORM_CLOCK_H
#define EPHPM_PLATFORM_CLOCK_H

/* Clocks. Monotonic time never jumps; wall time is UTC since 1970. */

#include <stdint.h>

uint64_t clock_mono_ns(void);
/* Milliseconds of the coarse monotonic clock (resolution a few ms, no system call). */
uint64_t clock_mono_ms(void);
/* Microseconds of wall time. */
uint64_t clock_wall_us(void);
/* CPU time of the calling thread, user and system; a system call. Windows: in steps of 15 ms. */
uint64_t clock_cpu_ns(void);
/* Sleeps; for command-line tools and shutdown paths, never on a loop. */
void clock_sleep_ms(unsigned ms);

#endif
